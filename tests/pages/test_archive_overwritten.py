"""An archive or a library that is overwritten in use: what is open is rescued, and nothing is dropped in silence."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from suyuan.core.document import Document
from suyuan.core.notices import Notices
from suyuan.pages.archive import Archive

_PAGES = 30
# Whatever writes to the file is another process: one that closed it here would cost SQLite its locks.
_WRITE = "import os, sys; f = os.open(sys.argv[1], os.O_WRONLY); {work}"
_RESTORE = """
import sqlite3, sys
to, by = sqlite3.connect(sys.argv[1], timeout=30), sqlite3.connect(sys.argv[2])
by.backup(to)
"""
_CHECKPOINT = """
import sqlite3, sys
sqlite3.connect(sys.argv[1], timeout=30).execute(f"PRAGMA wal_checkpoint({sys.argv[2]})").fetchall()
"""


def _python(code: str, *words: object) -> None:
    subprocess.run([sys.executable, "-c", code, *map(str, words)], check=True)


def _document(name: str) -> Document:
    text = f"Page {name} about the lighthouse, which is long enough to be kept. " * 20
    url, moment = f"https://{name}.example/", "2026-11-01T10:00:00+00:00"
    return Document(url=url, final_url=url, title="", text=text, content_type="text/html", fetched_at=moment)


def _filled(file: Path, name: str) -> None:
    with closing(Archive(file)) as archive:
        for number in range(_PAGES):
            archive.put(_document(f"{name}{number}"))


def _copied(name: str) -> Callable[[Path], None]:
    def copied(file: Path) -> None:
        subprocess.run(["cp", str(file.with_name(name)), str(file)], check=True)

    return copied


def _copied_behind(mode: str, name: str) -> Callable[[Path], None]:
    def copied(file: Path) -> None:
        _python(_CHECKPOINT, file, mode)
        _copied(name)(file)

    return copied


def _restored(name: str) -> Callable[[Path], None]:
    return lambda file: _python(_RESTORE, file, file.with_name(name))


def _truncated(size: int) -> Callable[[Path], None]:
    return lambda file: _python(_WRITE.format(work=f"os.ftruncate(f, {size})"), file)


def _noise(start: int) -> Callable[[Path], None]:
    content = random.Random(start).randbytes(100)
    return lambda file: _python(_WRITE.format(work=f"os.pwrite(f, {content!r}, {start})"), file)


def _text(file: Path) -> None:
    _python(_WRITE.format(work="os.ftruncate(f, 0); os.write(f, b'not a database')"), file)


HARMS = {
    "text": _text,
    **{f"cut to {size}": _truncated(size) for size in (0, 1, 100, 4096, 20_480)},
    **{f"from {start}": _noise(start) for start in (0, 16, 60)},
    "a copy of the older": _copied("older.sqlite"), "a copy of the other": _copied("other.sqlite"),
    "the older restored": _restored("older.sqlite"), "the other restored": _restored("other.sqlite"),
    **{
        f"a copy of the older after {mode}": _copied_behind(mode, "older.sqlite")
        for mode in ("TRUNCATE", "RESTART", "PASSIVE")
    },
}  # fmt: skip
TOLD = {f"{kind}_{what}" for kind in ("archive", "library") for what in ("overwritten", "damaged", "replaced")}


def _codes(folder: Path) -> set[str]:
    return {notice.failure.detail_code for notice in Notices(folder).open()}


def _go_on(archive: Archive, beside: Archive, seen_by: str) -> list[str]:
    """Use what was overwritten, and return what has been acknowledged since."""
    if seen_by == "the end":
        return []
    stored = ["after", "beside"] if seen_by == "a write" else []
    for name, taken_by in zip(stored, (archive, beside), strict=False):
        taken_by.put(_document(name))
    archive.get("https://late1.example/")
    assert _codes(Path(archive.path).parent) & TOLD, "at once"
    for name in ("new0", "new1", "new2"):
        archive.put(_document(name))
        assert beside.get(f"https://{name}.example/")
        stored.append(name)
    assert archive.check() == beside.check() == "ok"
    return stored


@pytest.mark.parametrize("kind", ["archive", "library"])
@pytest.mark.parametrize("seen_by", ["a write", "a read", "the end"])
@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_one_that_is_overwritten_in_use_goes_on_and_says_so(
    tmp_path: Path, harm: Callable[[Path], None], seen_by: str, kind: Any
) -> None:
    file = tmp_path / "a.sqlite"
    _filled(file.with_name("other.sqlite"), "other")
    with closing(Archive(file, kind=kind)) as archive, closing(Archive(file, kind=kind)) as beside:
        for number in range(_PAGES):
            archive.put(_document(f"early{number}"))
        _python(_CHECKPOINT, file, "TRUNCATE")
        subprocess.run(["cp", str(file), str(file.with_name("older.sqlite"))], check=True)
        for number in range(_PAGES):
            archive.put(_document(f"late{number}"))
        beside.get("https://late1.example/")
        harm(file)
        stored = _go_on(archive, beside, seen_by)
    assert _codes(tmp_path) & TOLD
    with closing(Archive(file, kind=kind)) as again:
        assert [name for name in stored if again.get(f"https://{name}.example/")] == stored
    assert not list(tmp_path.glob("*.rescued*"))


@pytest.mark.parametrize("harm", ["text", "cut to 0", "a copy of the other"])
def test_what_is_only_in_the_log_is_kept(tmp_path: Path, harm: str) -> None:
    file = tmp_path / "a.sqlite"
    _filled(file.with_name("other.sqlite"), "other")
    with closing(Archive(file)) as archive:
        archive.put(_document("first"))
        _python(_CHECKPOINT, file, "TRUNCATE")
        late = [f"late{number}" for number in range(5)]
        for name in late:
            archive.put(_document(name))
        HARMS[harm](file)
        assert [name for name in late if archive.get(f"https://{name}.example/")] == late
    (told,) = Notices(tmp_path).open()
    assert told.failure.detail_code == "archive_overwritten" and "a.sqlite.damaged-" in told.failure.say("en")[0]


def test_what_sqlite_itself_does_with_it_is_not_taken_for_that(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    run = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=30).executescript(sys.argv[2])"
    with closing(Archive(file)) as archive, closing(Archive(file)) as beside:
        for number, statement in enumerate(("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)", "ANALYZE", "REINDEX") * 3):
            archive.put(_document(f"one{number}"))
            _python(run, file, statement)
            beside.put(_document(f"two{number}"))
            assert archive.get(f"https://two{number}.example/") and archive.check() == "ok"
            archive.prune()
    assert _codes(tmp_path) == set()
