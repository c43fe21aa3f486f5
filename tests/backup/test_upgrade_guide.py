"""The commands in docs/howto/upgrade.md do what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backup.filled import fill
from backup.machines import Machine
from pages.test_archive import doc
from support.documentation import DOCS, FENCE
from suyuan.pages.archive import Archive

PAGE = (DOCS / "howto" / "upgrade.md").read_text(encoding="utf-8")


def blocks(title: str) -> list[str]:
    """The shell blocks of a section."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    assert section is not None, title
    return [match[3] for match in FENCE.finditer(section[1]) if match[2] == "sh"]


def run(machine: Machine, script: str, programs: Path) -> str:
    """What the commands of a block write, after each has ended as it should."""
    environ = {**machine.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the program ``suyuan``."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "suyuan").write_text(f'#!/bin/sh\nexec {sys.executable} -m suyuan "$@"\n')
    (folder / "suyuan").chmod(0o755)
    return folder


def test_the_commands_work_one_after_the_other(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = Machine(tmp_path / "old"), Machine(tmp_path / "new")
    monkeypatch.setenv("SUYUAN_DATA_DIR", str(old.data))
    monkeypatch.setenv("SUYUAN_CONFIG_DIR", str(old.config))
    monkeypatch.setenv("SUYUAN_STATE_DIR", str(old.home / ".local/state/suyuan"))
    fill("quay")
    (old.config / "config.json").write_text("{}")
    [back_up], [restore] = blocks("Back up"), blocks("Restore")
    assert "keys" in run(old, back_up, programs) and (old.home / "backups/suyuan-2026-11-18.tar.gz").is_file()
    assert "before-restore-" in run(old, restore, programs)
    there, here = blocks("Move to another machine")
    run(old, there, programs)
    new.home.mkdir()
    shutil.copy(old.home / "suyuan.tar.gz", new.home)
    assert "Restored" in run(new, here, programs)
    assert "quay.txt" in new.run("library", "list")
    archive = Archive(new.data / "archive.sqlite")
    archive.put(doc("https://one-more.example/"))
    archive.close()
    [export] = blocks("Exports")
    assert "Read 6 pages; the archive has 6, before it had 6." in run(new, export, programs)
    [check] = blocks("Upgrade")
    run(new, check, programs)
    assert len(re.findall("^```sh", PAGE, re.M)) == 6, "no block is left out"
