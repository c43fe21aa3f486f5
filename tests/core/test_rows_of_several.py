"""Files that several processes and threads change at once: every change that was made is kept, and seen by all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suyuan.core.notices import Notices
from suyuan.core.private_rows import PrivateRows
from suyuan.llm.connected_models import ConnectedModels
from suyuan.llm.settings import ModelSettings
from suyuan.search.connected_engines import ConnectedEngines
from suyuan.search.engine_state import load_states, save_states

_PROCESSES, _EACH = 4, 12
_FILES = {"models": "models.json", "engines": "engine-keys.json", "notices": "notices.json", "states": "engines.json"}


def _model(folder: Path, name: str) -> None:
    models = ConnectedModels(folder / _FILES["models"], ModelSettings())
    models.add(models.settings("http://127.0.0.1:9", name, "key"))


def _engine(folder: Path, name: str) -> None:
    ConnectedEngines(folder / _FILES["engines"], {}).add(name, {"api_key": "key"})


def _notice(folder: Path, name: str) -> None:
    from suyuan.core.causes.files import FILE_DAMAGED

    Notices(folder).add(FILE_DAMAGED(where=name, why="", aside="", kept=0), name)


def _state(folder: Path, name: str) -> None:
    save_states(folder, {name: {"latency": 1.0}})


_CHANGES: dict[str, Callable[[Path, str], None]] = {
    "models": _model,
    "engines": _engine,
    "notices": _notice,
    "states": _state,
}
_KEPT: dict[str, Callable[[Path], set[str]]] = {
    "models": lambda folder: set(ConnectedModels(folder / _FILES["models"], ModelSettings()).all()),
    "engines": lambda folder: set(ConnectedEngines(folder / _FILES["engines"], {}).names()),
    "notices": lambda folder: {notice.file for notice in Notices(folder).open()},
    "states": lambda folder: set(load_states(folder)),
}


def main(kind: str, folder: str, own: str) -> None:
    """What each of the processes does: it waits for the others, and makes its changes."""
    sys.stdin.readline()
    for number in range(_EACH):
        _CHANGES[kind](Path(folder), f"{own}-{number}")


@pytest.mark.parametrize("kind", _CHANGES)
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path, kind: str) -> None:
    code = "import sys; from core.test_rows_of_several import main; main(*sys.argv[1:])"
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, kind, str(tmp_path), str(own)], stdin=subprocess.PIPE, env=environ
        )
        for own in range(_PROCESSES)
    ]
    for each in started:
        each.communicate(b"go\n", timeout=60)
    assert [each.returncode for each in started] == [0] * _PROCESSES
    assert _KEPT[kind](tmp_path) == {f"{own}-{number}" for own in range(_PROCESSES) for number in range(_EACH)}
    own = {_FILES[kind], f".{_FILES[kind]}.lock", ".kept.json", ".kept.json.lock"}
    beside = {path.name for path in tmp_path.iterdir()} - own
    assert not beside, "nothing half written is left behind"


def test_threads_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    models = ConnectedModels(tmp_path / "models.json", ModelSettings())

    def add(own: int) -> None:
        for number in range(_EACH):
            models.add(models.settings("http://127.0.0.1:9", f"{own}-{number}", "key"))

    threads = [threading.Thread(target=add, args=(own,)) for own in range(_PROCESSES)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(models.all()) == len(ConnectedModels(tmp_path / "models.json", ModelSettings()).all()) == 48


def _same(row: Any) -> Any:
    return row


def _replaced(file: Path) -> None:
    """Another file of the same size and time."""
    before = file.stat()
    other = file.with_name("other")
    other.write_text(file.read_text().replace("first", "other"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)


def _written_to(file: Path) -> None:
    """The same file with another content of the same size, and the time that it had."""
    before = file.stat()
    file.write_text(file.read_text().replace("first", "other"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("change", [_replaced, _written_to, Path.unlink], ids=["replaced", "written to", "removed"])
def test_a_change_is_seen_however_it_was_made(tmp_path: Path, change: Callable[[Path], None]) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([{"name": "first"}]))
    rows: PrivateRows[Any] = PrivateRows(file, _same, _same)
    assert rows.current() == [{"name": "first"}]
    change(file)
    assert rows.current() == ([{"name": "other"}] if file.exists() else [])
