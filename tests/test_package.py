"""The package as others get it: the wheel, what an import costs, engines from other packages, the examples."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import suyuan
from support.site import json_reply, serve

ROOT = Path(__file__).parents[1]


def run(*args: str, path: Path | None = None, **environ: str) -> str:
    """Run Python somewhere else than in the project, with ``path`` in front of what is installed."""
    env = {**os.environ, **environ}
    if path:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        check=False,
        env=env,
        cwd=path.parent if path else ROOT.parent,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def install(what: Path, target: Path) -> None:
    run(
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--disable-pip-version-check",
        "--target",
        str(target),
        str(what),
    )


class TestWheel:
    @pytest.fixture(scope="class")
    @classmethod
    def wheel(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("dist")
        run("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
        return next(folder.glob("*.whl"))

    def test_it_holds_the_package_and_nothing_else(self, wheel: Path) -> None:
        names = zipfile.ZipFile(wheel).namelist()
        assert "suyuan/py.typed" in names and "suyuan/engines/ddg_html.py" in names
        assert sum(name.startswith("suyuan/demo/pages/") for name in names) >= 60
        assert all(name.startswith(("suyuan/", f"suyuan-{suyuan.__version__}.dist-info/")) for name in names)

    def test_it_works_where_it_is_installed(self, wheel: Path, tmp_path: Path) -> None:
        install(wheel, tmp_path)
        assert str(tmp_path) in run("-c", "import suyuan; print(suyuan.__file__)", path=tmp_path)
        assert "Example Domain" in run("-m", "suyuan", "search", "-e", "stub", "hello", path=tmp_path)
        assert (tmp_path / "bin" / "suyuan").exists()

    def test_the_store_is_migrated_where_it_is_installed(self, wheel: Path, tmp_path: Path) -> None:
        pytest.importorskip("alembic", reason="the optional extra suyuan[chat] is not installed")
        install(wheel, tmp_path)
        code = """
from suyuan.store import migrations
from suyuan.store.database import Database
with Database("").write() as connection:
    migrations.upgrade(connection)
    print(migrations.__file__, migrations.revision(connection) == migrations.HEAD)
"""
        folder, migrated = run("-c", code, path=tmp_path).split()
        assert folder.startswith(str(tmp_path)) and migrated == "True"


class TestImport:
    def loaded(self, code: str) -> set[str]:
        return set(run("-c", code + "; import sys; print(' '.join(sys.modules))").split())

    def test_import_suyuan_loads_next_to_nothing(self) -> None:
        assert not self.loaded("import suyuan") & {
            "aiohttp",
            "selectolax",
            "asyncio",
            "argparse",
            "json",
            "ssl",
            "dataclasses",
        }

    def test_a_search_without_a_network_loads_no_client(self) -> None:
        code = "from suyuan.cli.main import main; main(['search', '-e', 'stub', 'x'])"
        clients = {"aiohttp", "selectolax", "curl_cffi", "playwright"}
        others = {"email", "importlib.metadata", "suyuan.cli.serve", "suyuan.pages", "suyuan.text.words", "rich"}
        assert not self.loaded(code) & (clients | others)

    def test_a_search_on_the_network_loads_no_client_for_pages(self) -> None:
        code = (
            "import os; os.environ['DDG_BASE_URL'] = 'http://127.0.0.1:9'; from suyuan.cli.main import main; "
            "assert main(['search', '-e', 'ddg_html', 'x']) > 1"
        )
        loaded = self.loaded(code)
        assert "suyuan.net.http" in loaded and not loaded & {"aiohttp", "yarl", "curl_cffi", "playwright", "email"}

    def test_the_server_loads_what_few_requests_need_with_them(self) -> None:
        pytest.importorskip("fastapi")
        models, pages = {"langchain_core", "httpx2", "suyuan.embedded.writer"}, {"aiohttp", "latex2mathml", "pygments"}
        others = {"alembic", "redis", "argon2", "mcp", "playwright", "pypdf"}
        loaded = self.loaded("import suyuan.server.app, suyuan.server.listen, suyuan.server.demo_server")
        assert not loaded & (models | pages | others)

    @pytest.mark.parametrize(
        "code",
        ["import suyuan.client, suyuan.cli.main", "import suyuan.integrations.providers, suyuan.integrations.agents"],
    )
    def test_langchain_and_mcp_load_only_when_they_are_used(self, code: str) -> None:
        assert not self.loaded(code) & {"langchain", "langchain_core", "mcp", "pydantic", "playwright"}

    def test_every_promised_name_is_there(self) -> None:
        for name in suyuan.__all__:
            assert getattr(suyuan, name) is not None
        with pytest.raises(AttributeError):
            suyuan.nothing_of_that_name  # noqa: B018


class TestOtherPackages:
    @pytest.fixture(scope="class")
    @classmethod
    def installed(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        target = tmp_path_factory.mktemp("site")
        install(ROOT / "examples" / "engine-package", target)
        return target

    @pytest.mark.req("G4.1", "G4.2", "P3.4")
    def test_an_engine_that_only_has_search(self, installed: Path) -> None:
        out = run("-m", "suyuan", "search", "-e", "example_notes", "my receipt", path=installed)
        assert "https://notes.example/receipt" in out

    @pytest.mark.req("G4.2")
    def test_the_default_is_switched_by_configuration(self, installed: Path) -> None:
        out = run("-m", "suyuan", "search", "my deadline", path=installed, WEB_SEARCH_BACKEND="example_notes")
        assert "https://notes.example/deadline" in out

    @pytest.mark.req("G4.2", "P1.1")
    async def test_an_engine_without_sockets_gets_address_and_network_from_the_house(self, installed: Path) -> None:
        import asyncio

        async with serve(lambda _: json_reply('{"query": {"search": [{"title": "Ada Lovelace"}]}}')) as site:
            out = await asyncio.to_thread(
                run,
                "-m",
                "suyuan",
                "search",
                "-e",
                "example_wiki",
                "ada",
                path=installed,
                EXAMPLE_WIKI_BASE_URL=site.url,
            )
        assert f"{site.url}/wiki/Ada_Lovelace" in out and site.seen[0].params["srsearch"] == "ada"

    async def test_an_engine_has_settings_of_its_own(self, installed: Path) -> None:
        import asyncio

        show = ("-m", "suyuan", "config", "show")
        assert "example_wiki.namespace" in run(*show, path=installed, EXAMPLE_WIKI_NAMESPACE="14")
        async with serve(lambda _: json_reply('{"query": {"search": [{"title": "Ada Lovelace"}]}}')) as site:
            for value in ({"EXAMPLE_WIKI_NAMESPACE": "14"}, {"EXAMPLE_WIKI_NAMESPACE": "99"}, {}):
                environ = {"EXAMPLE_WIKI_BASE_URL": site.url, **value}
                search = ("-m", "suyuan", "search", "-e", "example_wiki", "ada")
                await asyncio.to_thread(run, *search, path=installed, **environ)
        assert [seen.params["srnamespace"] for seen in site.seen] == ["14", "0", "0"]

    def test_they_are_listed(self, installed: Path) -> None:
        assert "example_wiki" in run("-m", "suyuan", "engines", path=installed)

    def test_one_that_cannot_be_imported_harms_no_other(self, tmp_path: Path) -> None:
        info = tmp_path / "broken-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[suyuan.engines]\nbroken = no_such_module:Engine\n")
        assert "cannot be loaded" in run("-m", "suyuan", "engines", path=tmp_path)
        assert "Example Domain" in run("-m", "suyuan", "search", "-e", "stub", "x", path=tmp_path)


@pytest.mark.parametrize(
    ("example", "needs", "said"),
    [
        ("plain_python.py", "suyuan", "[stub: ok"),
        ("langchain_agent.py", "langchain", "The best source is Example Domain (example.com) [1]."),
        ("langgraph_agent.py", "langgraph", "The best source is Example Domain (example.com) [1]."),
        ("pydantic_ai_agent.py", "pydantic_ai", "The best source is Example Domain (example.com) [1]."),
        ("openai_agents_agent.py", "agents", "The best source is Example Domain (example.com) [1]."),
        ("mcp_client.py", "mcp", "[3] Example Network (example.net)"),
    ],
)
def test_the_examples_run(example: str, needs: str, said: str) -> None:
    pytest.importorskip(needs, reason=f"the package {needs} is not installed")
    assert said in run(str(ROOT / "examples" / example), "stub", "what", "is", "this")


def test_no_two_classes_have_the_same_name() -> None:
    source = Path(suyuan.__file__).parent
    found = Counter(
        node.name
        for file in source.rglob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in found.items() if count > 1} == set(), "one meaning, one name"
