"""A backup or a restore that is killed at any moment loses nothing, and the next one succeeds."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backup.filled import fill, tree
from backup.machines import Machine, rows
from support.killed import ALL, run_killed
from suyuan.store.database import Database


def machine(home: Path, label: str, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine that has been used."""
    made = Machine(home)
    monkeypatch.setenv("SUYUAN_DATA_DIR", str(made.data))
    monkeypatch.setenv("SUYUAN_CONFIG_DIR", str(made.config))
    monkeypatch.setenv("SUYUAN_STATE_DIR", str(home / ".local/state/suyuan"))
    fill(label)
    for name in ("DATA", "CONFIG", "STATE"):
        monkeypatch.delenv(f"SUYUAN_{name}_DIR")
    return made


def moments(total: int, anywhere: int, at_the_end: int) -> list[int]:
    """Some acts of a run, and more of the last ones, in which things are put in place."""
    chosen = random.Random(total)
    last = range(max(1, total - at_the_end + 1), total + 1)
    return sorted({*(chosen.randint(1, total) for _ in range(anywhere)), *last})


@pytest.mark.parametrize("name", ["out", "out.tar.gz", "out.zip"])
def test_a_backup_that_is_killed_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    used = machine(tmp_path / "home", "quay", monkeypatch)
    before, target = tree(used.home), tmp_path / name
    code, total = run_killed(ALL, ["backup", str(target)], used.environ)
    assert code == 0 and total > 10
    whole = tree(tmp_path)
    for act in moments(total, 4, 3):
        shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
        code, _ = run_killed(act, ["backup", str(target)], used.environ)
        assert tree(used.home) == before, "what is backed up is as it was"
        if target.exists():
            assert tree(tmp_path).keys() >= whole.keys(), "only a whole backup has the name"
            shutil.rmtree(target) if target.is_dir() else target.unlink()
    code, _ = run_killed(ALL, ["backup", str(target)], used.environ)
    assert code == 0 and tree(tmp_path).keys() == whole.keys(), "and the next one leaves nothing of them behind"
    new = Machine(tmp_path / "new")
    new.run("restore", target)
    assert rows(new.data / "chat.sqlite") == rows(used.data / "chat.sqlite")


def labels(folder: Path) -> set[str]:
    """Whose conversations, documents and settings are below a folder: the first words of all titles and names."""
    found = set()
    for file in folder.rglob("chat.sqlite"):
        if ".restoring" not in file.parts:
            with closing(sqlite3.connect(file)) as db:
                tables = db.execute("SELECT name FROM sqlite_master WHERE name = 'suyuan_conversations'").fetchall()
                titles = db.execute("SELECT title FROM suyuan_conversations").fetchall() if tables else []
            found |= {title.split()[0] for (title,) in titles}
    return found


def test_a_restore_that_is_killed_loses_nothing_and_is_completed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, used = (machine(tmp_path / name, name, monkeypatch) for name in ("quay", "pier"))
    backup = tmp_path / "backup.tar.gz"
    old.run("backup", backup)
    trial = Machine(tmp_path / "trial")
    shutil.copytree(used.home, trial.home)
    code, total = run_killed(ALL, ["restore", "--replace", str(backup)], trial.environ)
    assert code == 0 and total > 20
    expected = rows(trial.data / "chat.sqlite")
    unfinished = 0
    for act in moments(total, 5, 9):
        shutil.rmtree(trial.home)
        shutil.copytree(used.home, trial.home)
        code, _ = run_killed(act, ["restore", "--replace", str(backup)], trial.environ)
        assert "pier" in labels(trial.data), f"what was there before is there, after a kill at act {act}"
        if (trial.data / "restore.json").exists():
            unfinished += 1
            said = trial.run("archive", "list", code=3)
            assert "restore_unfinished" in said, "nobody uses the half of it"
        told = trial.run("restore", "--replace", backup)
        assert rows(trial.data / "chat.sqlite") == expected and "before-restore-" in told
        assert json.loads((trial.config / "config.json").read_text()) == {"focus": "quay"}
        asides = list(trial.data.glob("before-restore-*"))
        assert asides and labels(trial.data) == {"quay", "pier"}
        assert not (trial.data / ".restoring").exists() and not (trial.data / "restore.json").exists()
        assert "quay.txt" in trial.run("library", "list")
    assert unfinished > 2, "also between the steps in which things are put in place"


def test_what_is_made_room_for_twice_is_kept_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = machine(tmp_path / "home", "quay", monkeypatch)
    used.run("backup", tmp_path / "b")
    for _ in range(3):
        used.run("restore", "--replace", tmp_path / "b")
    assert len(list(used.data.glob("before-restore-*/chat.sqlite"))) == 3
    # A backup does not grow by what restores have set aside.
    used.run("backup", tmp_path / "again")
    assert {*os.listdir(tmp_path / "again/data")} == {*os.listdir(tmp_path / "b/data")}
    Database.opened(f"sqlite:///{used.data / 'chat.sqlite'}").close()
