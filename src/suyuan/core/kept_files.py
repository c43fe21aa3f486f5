"""``KeptFiles``: what is kept in a data folder, so that a file that is gone or has lost its content is missed."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

from .cause import Cause
from .causes.archive import ARCHIVE_EMPTIED, ARCHIVE_LOST
from .causes.files import FILE_EMPTIED, FILE_LOST
from .causes.library import LIBRARY_EMPTIED, LIBRARY_LOST
from .causes.store import STORE_EMPTIED, STORE_LOST
from .file_lock import file_lock
from .notices import Notices, StoredNotice
from .private_file import write_private

log = logging.getLogger("suyuan.notices")

FILE_NAME = ".kept.json"
Kind = Literal["store", "archive", "library", "rows"]
"""What a file holds; ``rows`` is what was entered on the page."""
_State = Literal["there", "new", "emptied", "lost"]
_LOST: dict[Kind, Cause] = {"store": STORE_LOST, "archive": ARCHIVE_LOST, "library": LIBRARY_LOST, "rows": FILE_LOST}
_EMPTIED: dict[Kind, Cause] = {
    "store": STORE_EMPTIED, "archive": ARCHIVE_EMPTIED, "library": LIBRARY_EMPTIED, "rows": FILE_EMPTIED,
}  # fmt: skip
_BESIDE = ("-wal", "-shm", "-journal")
_changing = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Mark:
    """What is known of one database."""

    kind: Kind
    since: str
    """Since when it is there; empty while it is being made."""


class KeptFiles:
    """The files of one data folder, shared by all processes that use it; nothing is known where there is no folder.

    A file without content is not enough to go by: it may be one that another process is making. So a database is made
    by one process at a time, which says so before and after.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @contextmanager
    def opening(self, file: Path, kind: Kind) -> Iterator[None]:
        """Open or make a database in the block, which closes it if that fails; what was lost before is a notice."""
        folder = self._folder
        if folder is None:
            yield
            return
        if self._state(file) == "there" and self._is_known(file):
            yield
            return
        with file_lock(folder / f".{file.name}.kept.lock"):
            state = self._state(file)
            if state == "new":
                self._mark(file, _Mark(kind, ""))
            try:
                yield
            except BaseException:
                if state == "new":
                    _remove_empty(file)
                raise
            self._mark(file, _Mark(kind, _now()))
        if state == "emptied":
            Notices(folder).add(_EMPTIED[kind](where=file), file)
        if state == "lost":
            self.tell_lost(file, kind)

    def note_rows(self, file: Path, *, any_rows: bool) -> None:
        """Record whether a file has entries, by the process that alone may write to it."""
        mark = self._read().get(self._name(file))
        if any_rows and mark is None:
            self._mark(file, _Mark("rows", _now()))
        if not any_rows and mark is not None:
            self._forget(self._name(file), mark)

    def knows(self, file: Path) -> bool:
        """Whether a file is in the record."""
        return self._folder is not None and self._name(file) in self._read()

    def look_for_rows(self, file: Path) -> None:
        """Keep a notice if a file had entries, and has none any more; once."""
        mark = self._read().get(self._name(file))
        if mark is None:
            return
        lost = _EMPTIED if _is_there(file) else _LOST
        Notices(self._folder).add(lost[mark.kind](where=file), file)
        self._forget(self._name(file), mark)

    def tell_lost(self, file: Path, kind: Kind) -> StoredNotice:
        """Keep a notice that a database is gone."""
        return Notices(self._folder).add(_LOST[kind](where=file), file)

    def tell_missing(self) -> list[StoredNotice]:
        """Keep a notice about each database that is gone, once: from then on it is missed no longer."""
        if self._folder is None:
            return []
        notices = []
        for name, mark in self._read().items():
            file = self._folder / name
            if mark.since and not _is_there(file):
                notices.append(self.tell_lost(file, mark.kind))
                self._forget(name, mark)
        return notices

    def _state(self, file: Path) -> _State:
        size = _size(file)
        if size:
            return "there"
        mark = self._read().get(self._name(file))
        if mark is None:
            return "new" if size is None else "emptied"
        if not mark.since:
            return "new"
        return "lost" if size is None else "emptied"

    def _is_known(self, file: Path) -> bool:
        mark = self._read().get(self._name(file))
        return mark is not None and mark.since != ""

    def _name(self, file: Path) -> str:
        """The name of a file in the record, which does not change when the folder is moved."""
        assert self._folder is not None, "there is no record without a folder"
        return Path(os.path.relpath(os.path.realpath(file), os.path.realpath(self._folder))).as_posix()

    def _mark(self, file: Path, mark: _Mark) -> None:
        name = self._name(file)
        self._change(lambda marks: marks.update({name: mark}))

    def _forget(self, name: str, mark: _Mark) -> None:
        def forget(marks: dict[str, _Mark]) -> None:
            # It may have been made anew meanwhile.
            if marks.get(name) == mark:
                del marks[name]

        self._change(forget)

    def _change(self, change: Callable[[dict[str, _Mark]], object]) -> None:
        assert self._folder is not None, "there is no record without a folder"
        path = self._folder / FILE_NAME
        with _changing, file_lock(self._folder / f"{FILE_NAME}.lock"):
            marks = self._read()
            change(marks)
            rows = {name: {"kind": mark.kind, "since": mark.since} for name, mark in marks.items()}
            try:
                write_private(path, json.dumps(rows, indent=1))
            except OSError as error:
                # The database itself says what cannot be written.
                log.info("%s cannot be written: %s", path, error)

    def _read(self) -> dict[str, _Mark]:
        assert self._folder is not None, "there is no record without a folder"
        path = self._folder / FILE_NAME
        try:
            rows = json.loads(path.read_text("utf-8"))
            marks = {str(name): _Mark(row["kind"], str(row["since"])) for name, row in rows.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("%s cannot be read, so a database that is gone is not missed: %s", path, error)
            return {}
        return {name: mark for name, mark in marks.items() if mark.kind in get_args(Kind)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def tell_missing(folders: Iterable[Path]) -> list[StoredNotice]:
    """Keep a notice about each database that is gone, of several data folders."""
    return list(chain.from_iterable(KeptFiles(folder).tell_missing() for folder in folders))


def still_missing(folders: Iterable[Path]) -> list[StoredNotice]:
    """The open notices about databases that are gone, and that nobody has begun anew."""
    codes = {cause.detail_code for cause in _LOST.values()}
    notices = chain.from_iterable(Notices(folder).open() for folder in folders)
    about_databases = [notice for notice in notices if notice.failure.detail_code in codes]
    return [notice for notice in about_databases if not _is_there(Path(notice.file))]


def _size(file: Path) -> int | None:
    """The size of a file; None where there is none. It is not opened: that would cost SQLite its locks."""
    try:
        return file.stat().st_size
    except OSError:
        return None


def _is_there(file: Path) -> bool:
    """Whether there is a file; one that cannot be looked at may be there."""
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _remove_empty(file: Path) -> None:
    """Remove what was begun and has no content: it would look like a file that has lost it."""
    with suppress(OSError):
        if file.stat().st_size == 0:
            for suffix in ("", *_BESIDE):
                file.with_name(file.name + suffix).unlink(missing_ok=True)
