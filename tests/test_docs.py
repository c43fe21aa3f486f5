"""The documentation is true: links, commands, code, names and generated parts."""

from __future__ import annotations

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import getsource
from pathlib import Path

import pytest
import yaml

import suyuan
from support.documentation import (
    CURRENT,
    DOCS,
    FENCE,
    PAGES,
    READMES,
    ROOT,
    anchor,
    blocks,
    commands,
    headings,
    inline_code,
    links,
    name_of,
    tables,
    text_of,
)
from suyuan.engines.registry import BUILT_IN

EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
_FILE = re.compile(r"`((?:\.?[\w-]+/)+[\w.-]+\.(?:py|json|md|yml|conf|sh|service))`")
_HANZI = "[\u4e00-\u9fff]"

PYTHON_BLOCKS = [
    pytest.param(block, id=f"{name_of(page)}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page, "python"))
]


# --- links and files --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page: Path) -> None:
    for link in links(page):
        target, _, part = link.partition("#")
        if link == "url" or target.startswith(("http://", "https://", "mailto:")):
            continue
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name}: {link}"
        if part and file.suffix == ".md":
            assert part in {anchor(title) for _, title in headings(file)}, f"{page.name}: {link}"


@pytest.mark.parametrize("page", CURRENT, ids=name_of)
def test_files_that_are_named_exist(page: Path) -> None:
    folders = (ROOT, ROOT / "src" / "suyuan", DOCS)
    for name in _FILE.findall(text_of(page)):
        # Files of other programs, and names that stand for any.
        if not name.startswith(("core-config/", ".vscode/", ".cursor/", "~")) and not re.search(r"/[A-Z]+\.py$", name):
            assert any((folder / name).exists() for folder in folders), f"{page.name}: {name}"


def test_nothing_names_this_machine() -> None:
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()
    for name in files:
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".txt", ".json", ".sh", ".yml", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert str(Path.home()) + "/" not in text and str(ROOT.parent) + "/" not in text, name


# --- commands ---------------------------------------------------------------------------------------------------------
def test_the_two_commands_are_at_the_top_of_the_readme_and_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for readme in READMES:
        top = "\n".join(readme.read_text(encoding="utf-8").splitlines()[:25])
        for command in ("run", "test"):
            assert f"make {command}" in top and re.search(rf"^{command}:", makefile, re.M)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    parser = runpy.run_path(str(ROOT / "tools" / "cli_reference.py"))["english_parser"]()
    for command in commands(page):
        program, *arguments = shlex.split(command)
        if program == "suyuan":
            parser.parse_args(arguments)
        elif program == "make":
            assert all(re.search(rf"^{target}:", makefile, re.M) for target in arguments), command


def test_both_readmes_have_the_same_commands() -> None:
    english, chinese = READMES
    assert len(commands(english)) >= 10
    assert commands(english) == commands(chinese)


def test_both_readmes_have_the_same_parts() -> None:
    """Headings, lists, links, tables with their code: what a translation does not change."""
    english, chinese = (
        {
            "headings": [level for level, _ in headings(page)],
            "points": len(re.findall(r"^- ", text_of(page), re.M)),
            "links": sorted(translated(link) for link in links(page)),
            "tables": [
                [[sorted(re.findall(r"`[^`]+`", cell)) for cell in row] for row in table] for table in tables(page)
            ],
            "code": sorted(set(inline_code(page))),
        }
        for page in READMES
    )
    for part, value in english.items():
        assert value == chinese[part], part


def translated(link: str) -> str:
    """A link as it is in English; the pages on SearXNG, the pictures and the other README exist in both languages."""
    same = {"README.zh.md": "README.md", "docs/deploy/searxng.md": "docs/deploy/searxng.en.md"}
    return same.get(link, link.replace("#故障排查", ""))


def test_both_readmes_show_the_same_code() -> None:
    english, chinese = ("\n".join(_calls(block) for block in blocks(page, "python")) for page in READMES)
    assert english == chinese


def _calls(code: str) -> str:
    """The code with every text replaced, since only the texts are translated."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


# --- code -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("block", PYTHON_BLOCKS)
def test_python_in_the_documentation_compiles(block: str) -> None:
    compile(block, "<documentation>", "exec")


@pytest.mark.parametrize(
    "code", [*PYTHON_BLOCKS, *(pytest.param(path.read_text(encoding="utf-8"), id=name_of(path)) for path in EXAMPLES)]
)
def test_every_name_is_documented_and_exists(code: str) -> None:
    documented = documented_names()
    for module, name in names_used(code):
        assert name in documented.get(module, ()), f"{module}.{name} is not documented in docs/api"
        assert hasattr(import_module(module), name), f"{module}.{name}"


def names_used(code: str) -> Iterator[tuple[str, str]]:
    """The names of Suyuan that ``code`` imports or takes from ``suyuan``, with their module."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "suyuan":
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "suyuan":
            yield "suyuan", node.attr


def documented_names() -> dict[str, set[str]]:
    """The public names by module, as the pages of ``docs/api`` list them."""
    found: dict[str, set[str]] = {}
    for page in (DOCS / "api").glob("*.md"):
        for block in re.findall(r"^::: (\S+\n(?: +.*\n)*)", page.read_text(encoding="utf-8") + "\n", re.M):
            path, _, rest = block.partition("\n")
            options = (yaml.safe_load(rest) or {}).get("options", {})
            if "members" in options and path.rpartition(".")[2].islower():
                found[path] = set(options["members"])
            else:
                found.setdefault("suyuan", set()).add(path.rpartition(".")[2])
    return found


def test_everything_public_is_documented_and_exists() -> None:
    documented = documented_names()
    assert documented["suyuan"] == set(suyuan.__all__) - {"__version__"}
    for module, names in documented.items():
        assert all(hasattr(import_module(module), name) for name in names), module
    for name, listed in re.findall(
        r"^::: suyuan\.(\w*Client)\n(?: +.*\n)*? +members: \[(.*)\]", text_of(DOCS / "api" / "client.md"), re.M
    ):
        client, members = getattr(suyuan, name), listed.split(", ")
        assert [one for one in members if not hasattr(client, one) and f"self.{one} " not in getsource(client)] == []
        # What the pages call is among them.
        called = set(re.findall(r"\bclient\.([a-z_]+)\(", "".join(text_of(page) for page in DOCS.rglob("*.md"))))
        assert called & set(dir(client)) <= set(members)


def test_code_that_needs_no_network_runs(tmp_path: Path) -> None:
    run = [str(block.values[0]) for block in PYTHON_BLOCKS if re.search(r"stub", str(block.values[0]), re.I)]
    run = [code for code in run if "__main__" not in code]
    assert len(run) >= 3
    for code in run:
        _run(code, tmp_path)


def test_the_engines_of_the_guide_run(tmp_path: Path) -> None:
    smallest, with_api, with_page, its_test, with_options = blocks(DOCS / "howto" / "write-an-engine.md", "python")
    (tmp_path / "my_package.py").write_text(with_api, encoding="utf-8")
    _run(f"{its_test}\ntest_every_answer_of_a_server_is_reported_as_it_is()", tmp_path)
    _run(f"{with_page}\nfrom suyuan.testing import check_engine\ncheck_engine(Pots)", tmp_path)
    _run(
        f"import asyncio\n{smallest}\nfound = asyncio.run(Notes().search(SearchQuery('my receipt'), 5))\n"
        "assert found[0].url == 'https://notes.example/receipt'",
        tmp_path,
    )
    _run(f"{with_options}\nassert Wiki().option('namespace') == 0", tmp_path)


def _run(code: str, folder: Path) -> None:
    environ = os.environ | {f"SUYUAN_{name}_DIR": str(folder) for name in ("CONFIG", "DATA", "STATE")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder, env=environ, timeout=60
    )
    assert done.returncode == 0, f"{code}\n{done.stderr}"


def test_the_architecture_names_every_package() -> None:
    [table] = [table for table in tables(DOCS / "architecture.md") if "src/suyuan/" in table[0][0]]
    named = re.findall(r"`([\w.]+?)/?`", " ".join(row[0] for row in table[1:]))
    source = [
        path for path in (ROOT / "src" / "suyuan").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    ]
    assert sorted(named) == sorted(path.name for path in source)


# --- generated parts --------------------------------------------------------------------------------------------------
def test_generated_parts_are_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "docs.py"))
    guide = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert f"{tool['BEGIN']}\n{tool['settings_table']()}\n{tool['END']}" in guide, "run `make docs`"
    for page, text in tool["made_pages"]().items():
        assert page.read_text(encoding="utf-8") == text, f"run `make docs`: {page.name}"


def test_every_engine_is_documented() -> None:
    assert [name for name in BUILT_IN if f"| `{name}` |" not in text_of(DOCS / "engines.md")] == []
    for readme in READMES:
        assert [name for name in BUILT_IN if f"`{name}`" not in text_of(readme)] == []


def test_the_command_line_reference_is_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "cli_reference.py"))
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == tool["cli_reference"](), "run `make docs`"


def test_codes_that_are_named_exist() -> None:
    # This page is generated from the causes.
    known = set(re.findall(r"^\| `\w+/(\w+)` \|", (DOCS / "troubleshooting.md").read_text(encoding="utf-8"), re.M))
    for page in (DOCS / "models.md", *(DOCS / "howto").glob("*.md")):
        named = re.findall(r"`((?:context|model|ollama|store|tools)_[a-z_]+)`", page.read_text(encoding="utf-8"))
        assert set(named) <= known, page.name
    _, _, fetching = (DOCS / "tools.md").read_text(encoding="utf-8").partition("| code | detail_code | when |")
    codes = re.findall(r"^\| `[^|]+` \| (`[^|]+`) \|", fetching, re.M)
    assert len(codes) >= 5 and set(re.findall(r"`(\w+)`", " ".join(codes))) <= known


def test_tests_name_only_requirements_that_exist() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "requirements.py")], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


# --- the site ---------------------------------------------------------------------------------------------------------
def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    # Any request goes to a proxy that does not exist.
    nowhere = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")}
    environ = {**os.environ, **nowhere, "NO_PROXY": "", "no_proxy": "", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        capture_output=True, text=True, check=False, cwd=ROOT, env=environ, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) >= 30
    index = (tmp_path / "site" / "adr" / "index.html").read_text(encoding="utf-8")
    assert all(f'href="{record.stem}/"' in index for record in (DOCS / "adr").glob("[0-9]*.md"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]+)\"", text)
        loaded += re.findall(r"<link\b(?![^>]*rel=\"canonical\")[^>]*\bhref=\"([^\"]+)\"", text)
        assert not [url for url in loaded if url.startswith(("http:", "https:", "//"))], page
        # The theme would load its diagrams and its shim for files from another host.
        assert 'class="mermaid"' not in text and "unpkg.com" not in text, page


def test_chinese_text_has_full_width_punctuation() -> None:
    text = FENCE.sub("", READMES[1].read_text(encoding="utf-8"))
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`", text))
    assert not re.findall(rf"{_HANZI}[,:;?!()]|[,:;?!()]{_HANZI}", text)


def test_each_decision_record_has_a_number_of_its_own() -> None:
    records = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))
    numbers = [record.name[:3] for record in records]
    assert len(set(numbers)) == len(numbers)
    assert all(record.read_text("utf-8").startswith(f"# {record.name[:3]}: ") for record in records)
