"""A backup beside a server that writes, on a full disk, and in places where it cannot be."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from backup.filled import fill, tree
from backup.machines import Machine, rows
from store.test_beside_the_server import Kept, kept, site
from support.timing import until
from suyuan.cli.main import main
from suyuan.core.errors import SuyuanError
from suyuan.core.folder_use import FolderUse

__all__ = ["kept", "site"]


def test_everything_that_was_acknowledged_before_is_in_a_backup_beside_a_server_that_writes(
    kept: Kept, tmp_path: Path
) -> None:
    stop, failures = threading.Event(), []

    def write() -> None:
        while not stop.is_set():
            try:
                kept.store_more()
            except AssertionError as error:
                failures.append(error)

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    environ = kept.worker.environ
    try:
        for number in range(4):
            seen = len(kept.documents)
            assert until(lambda seen=seen: len(kept.documents) > seen + 3)  # type: ignore[misc]
            before = [list(kept.conversations), list(kept.pages), list(kept.documents)]
            target = tmp_path / f"backup-{number}"
            done = subprocess.run([sys.executable, "-m", "suyuan", "backup", str(target)], env=environ, check=False)
            assert done.returncode == 0
            _is_whole(target, *before)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert failures == [], "and the server goes on as ever"
    kept.worker.end(signal.SIGKILL)
    assert kept.lost() == {"chat": set(), "archive": set(), "library": set()}


def _is_whole(backup: Path, conversations: list[str], pages: list[str], documents: list[str]) -> None:
    found = rows(backup / "store" / "chat.sqlite")
    assert {row[0] for row in found["suyuan_conversations"]} >= set(conversations)
    archive = rows(backup / "data" / "archive.sqlite")
    read = {json.loads(row[6])["final_url"] for row in archive["documents"]}
    assert read >= set(pages)
    library = rows(backup / "data" / "library" / "library.sqlite")
    files = {row[0]: Path(row[2]) for row in library["files"]}
    assert files.keys() >= set(documents)
    uploads = backup / "data" / "library" / "uploads"
    assert all((uploads / path.parent.name / path.name).exists() for path in files.values()), "each with its file"


def test_a_restore_is_refused_while_anybody_uses_the_folder(kept: Kept, tmp_path: Path) -> None:
    environ = kept.worker.environ
    machine = Machine(Path(environ["HOME"]), {name: environ[name] for name in environ if name.startswith("SUYUAN")})
    machine.run("backup", tmp_path / "b.zip")
    for more in ([], ["--replace"]):
        assert "folder_in_use" in machine.run("restore", tmp_path / "b.zip", *more, code=3)
    kept.worker.end(signal.SIGKILL)
    # The lock of a process that was killed is gone; that of another command counts too.
    mcp = subprocess.Popen(
        [sys.executable, "-m", "suyuan", "mcp"], env=environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert mcp.stdin is not None
    try:
        assert until(lambda: _in_use(kept.data))
        assert "folder_in_use" in machine.run("restore", tmp_path / "b.zip", "--replace", code=3)
    finally:
        mcp.stdin.close()
        mcp.wait()
    assert "before-restore-" in machine.run("restore", tmp_path / "b.zip", "--replace")


def _in_use(folder: Path) -> bool:
    try:
        FolderUse.exclusive(folder).close()
    except SuyuanError:
        return True
    return False


def test_nobody_uses_a_folder_that_is_being_restored(_own_home: Path) -> None:
    fill("quay")
    use = FolderUse.exclusive(_own_home / "data")
    assert main(["archive", "list"]) == 3 and main(["backup", str(_own_home / "b")]) == 3
    use.close()
    use.close()
    assert main(["archive", "list"]) == 0


def test_on_a_full_disk_there_is_no_backup_and_the_next_one_succeeds(_own_home: Path, tmp_path: Path) -> None:
    fill("quay", conversations=300)
    before = tree(_own_home)
    largest = max(len(content) for content in before.values())
    for name in ("full", "full.tar.gz", "full.zip"):
        for limit in (0, 1_000, largest // 2, largest - 1):
            target = tmp_path / "disk" / name
            done = _limited(["backup", str(target)], limit)
            assert done.returncode == 3 and ("not_written" in done.stderr or "store_full" in done.stderr), done.stderr
            assert tree(_own_home) == before and os.listdir(target.parent) == []
        assert main(["backup", str(target)]) == 0 and os.listdir(target.parent) == [name]
        target.rename(tmp_path / name)


def test_on_a_full_disk_nothing_is_restored_and_the_next_time_everything(_own_home: Path, tmp_path: Path) -> None:
    fill("quay", conversations=300)
    for name in ("b", "b.tar.gz"):
        assert main(["backup", str(tmp_path / name)]) == 0
    whole = rows(_own_home / "data" / "chat.sqlite")
    largest = max(len(content) for content in tree(_own_home).values())
    before = tree(_own_home)
    for name in ("b", "b.tar.gz"):
        for limit in (0, 1_000, largest // 2, largest - 1):
            done = _limited(["restore", "--replace", str(tmp_path / name)], limit)
            assert done.returncode == 3 and "Nothing was changed" in done.stderr, done.stderr
            assert tree(_own_home) == before
        assert main(["restore", "--replace", str(tmp_path / name)]) == 0
        assert rows(_own_home / "data" / "chat.sqlite") == whole
        before = tree(_own_home)


def _limited(arguments: list[str], limit: int) -> subprocess.CompletedProcess[str]:
    """A command for which no file can grow beyond ``limit`` bytes."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    command = [sys.executable, "-m", "suyuan", *arguments]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, check=False)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda folder: (folder / "there").write_text("x"), "backup_exists"),
        (lambda folder: (folder / "there").mkdir() or (folder / "there/x").touch(), "backup_exists"),
        (lambda folder: (folder / "there").symlink_to(folder / "nowhere"), "backup_exists"),
    ],
)
def test_nothing_is_overwritten(
    _own_home: Path, tmp_path: Path, make: Callable[[Path], object], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fill("quay")
    make(tmp_path)
    before = tree(tmp_path)
    assert main(["backup", str(tmp_path / "there")]) == 2 and code in capsys.readouterr().err
    assert tree(tmp_path) == before


def test_places_where_no_backup_can_be(_own_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup", str(tmp_path / "b")]) == 2 and "nothing_to_back_up" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [], "nothing is made where nothing is to be saved"
    fill("quay")
    (tmp_path / "link").symlink_to(_own_home / "data")
    for inside in (_own_home / "data" / "b", tmp_path / "link" / "b.zip"):
        assert main(["backup", str(inside)]) == 2 and "backup_inside" in capsys.readouterr().err
    (tmp_path / "file").write_text("x")
    assert main(["backup", str(tmp_path / "file" / "b")]) == 3
    # An empty folder is a place, as is one below folders that are not there yet.
    (tmp_path / "empty").mkdir()
    assert main(["backup", str(tmp_path / "empty")]) == 0 and main(["backup", str(tmp_path / "a/b/c")]) == 0
    other = FolderUse.exclusive(tmp_path / "busy.part")
    assert main(["backup", str(tmp_path / "busy")]) == 3 and "backup_under_way" in capsys.readouterr().err
    other.close()


def test_what_is_not_in_use_any_more_is_left_out_and_told(
    _own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill("quay")
    monkeypatch.setenv("SUYUAN_STORE_URL", f"sqlite:///{tmp_path / 'elsewhere' / 'mine.db'}")
    fill("pier")
    assert main(["backup", str(tmp_path / "b")]) == 0
    assert f"not in use: {_own_home / 'data' / 'chat.sqlite'}" in capsys.readouterr().out
    # Restored to the place that the settings name, wherever that is.
    monkeypatch.setenv("SUYUAN_STORE_URL", f"sqlite:///{tmp_path / 'new' / 'other.db'}")
    monkeypatch.setenv("SUYUAN_DATA_DIR", str(tmp_path / "data2"))
    assert main(["restore", str(tmp_path / "b")]) == 0
    titles = {row[1].split()[0] for row in rows(tmp_path / "new" / "other.db")["suyuan_conversations"]}
    assert titles == {"pier"} and not (tmp_path / "data2" / "chat.sqlite").exists()
    monkeypatch.setenv("SUYUAN_DATA_DIR", str(tmp_path / "data3"))
    assert main(["restore", str(tmp_path / "b")]) == 2 and "folder_not_empty" in capsys.readouterr().err
    assert main(["restore", str(tmp_path / "b"), "--replace"]) == 0
    assert list((tmp_path / "new").glob("before-restore-*/other.db"))


def test_a_damaged_database_is_no_backup(_own_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill("quay", conversations=500)
    store = _own_home / "data" / "chat.sqlite"
    whole = store.read_bytes()
    for place in range(4096, len(whole), len(whole) // 6):
        store.write_bytes(whole[:place] + b"\xa5" * 2000 + whole[place + 2000 :])
        code = main(["backup", str(tmp_path / f"b{place}")])
        said = capsys.readouterr().err
        assert (code == 3 and "amage" in said and not (tmp_path / f"b{place}").exists()) or code == 0, said
        assert not (tmp_path / f"b{place}.part").exists()
    store.write_bytes(b"no database" * 1000)
    assert main(["backup", str(tmp_path / "none")]) == 3 and "store_not_a_database" in capsys.readouterr().err


def test_three_folders_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"SUYUAN_{name}_DIR", str(tmp_path / "all"))
    fill("quay")
    (tmp_path / "all" / "chrome-profile").mkdir()
    (tmp_path / "all" / "chrome-profile" / "Cookies").write_text("x")
    assert main(["backup", str(tmp_path / "b")]) == 0
    names = set(tree(tmp_path / "b"))
    assert "config/config.json" in names and not any("chrome" in name or "engines.json" in name for name in names)
    assert "data/config.json" not in names
    assert main(["restore", str(tmp_path / "b"), "--replace"]) == 0
    assert (tmp_path / "all" / "chrome-profile" / "Cookies").exists(), "what is not in a backup stays"
    assert "quay" in (tmp_path / "all" / "config.json").read_text()
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"SUYUAN_{name}_DIR", str(tmp_path / "new"))
    assert main(["restore", str(tmp_path / "b")]) == 0
    assert set(tree(tmp_path / "new")) >= {"config.json", "chat.sqlite", "archive.sqlite", "models.json"}
