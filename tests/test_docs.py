"""The documentation tells the truth."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if target != "url" and not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_two_commands_stand_at_the_top_of_the_readme_and_in_the_makefile() -> None:
    top = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:25])
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("run", "test"):
        assert f"make {command}" in top and re.search(rf"^{command}:", makefile, re.M)


def test_every_command_in_the_readme_is_understood() -> None:
    from suyuan.cli.main import build_parser
    from suyuan.messages.catalog import Texts

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^suyuan ([^#\n]+?)(?:\s+#.*)?$", text, re.M)
    assert len(commands) >= 5
    import shlex

    for command in commands:
        build_parser(Texts("cli", "en")).parse_args(shlex.split(command))


def test_tests_name_only_requirements_that_exist() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "requirements.py")], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


def test_generated_parts_are_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "docs.py"))
    guide = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert f"{tool['BEGIN']}\n{tool['settings_table']()}\n{tool['END']}" in guide, "run `make docs`"


def test_nothing_names_this_machine() -> None:
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()
    for name in files:
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".txt", ".json", ".sh", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert str(Path.home()) + "/" not in text and str(ROOT.parent) + "/" not in text, name
