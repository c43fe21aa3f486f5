"""``PrivateRows``: rows of JSON in a file that nobody else on the machine can read."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from .causes.files import FILE_DAMAGED, FILE_UNREADABLE_NOW
from .disk_errors import disk_error
from .errors import SuyuanError
from .file_lock import file_lock
from .kept_files import KeptFiles
from .notices import Notices
from .private_file import Fingerprint, fingerprint, set_aside, write_private

T = TypeVar("T")
Row = Mapping[str, Any]


class PrivateRows(Generic[T]):
    """Rows in a file that several processes may change; in memory only where there is no path.

    Whoever asks gets what the file has now, and a change is made to what the file has then: nothing that another
    process has written is lost. A file that cannot be understood is set aside, never overwritten: what can be read of
    it is brought back, and a notice tells the rest.
    """

    def __init__(self, path: Path | None, parse: Callable[[Row], T], row: Callable[[T], dict[str, Any]]) -> None:
        """``parse`` reads a row, and raises KeyError, TypeError or ValueError for a bad one; ``row`` is its reverse."""
        self._path = path
        self._parse = parse
        self._row = row
        self._rows: list[T] = []
        self._seen: Fingerprint | None = None
        self._unreadable: OSError | None = None
        # One that is gone is told by whoever looks first.
        self._missed = path is not None and not path.exists() and KeptFiles(path.parent).knows(path)
        self._lock = threading.Lock()

    def current(self) -> list[T]:
        """The rows that the file has now: it is read again if it is another one than before."""
        if self._path is not None and self._is_another(self._path):
            with self._alone(self._path):
                self._load(self._path)
        return list(self._rows)

    def change(self, change: Callable[[list[T]], list[T]]) -> None:
        """Replace the rows by those that ``change`` makes of them, while no other process can write.

        Raises the cause if there are rows in the file that cannot be read at the moment.
        """
        if self._path is None:
            with self._lock:
                self._rows = change(list(self._rows))
            return
        with self._alone(self._path):
            if self._is_another(self._path):
                self._load(self._path)
            if self._unreadable is not None:
                raise _unreadable(self._path, self._unreadable)
            rows = change(list(self._rows))
            try:
                self._write(self._path, [self._row(row) for row in rows])
            except OSError as error:
                raise disk_error(error, self._path) from None
            self._rows = rows

    @contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        """Without other threads and processes that read or write."""
        with self._lock, file_lock(path.with_name(f".{path.name}.lock")):
            yield

    def _is_another(self, path: Path) -> bool:
        return self._missed or self._unreadable is not None or fingerprint(path) != self._seen

    def _load(self, path: Path) -> None:
        """Read the file; what cannot be read now may be so later, and until then what was read before counts."""
        seen = fingerprint(path)
        self._missed = False
        try:
            self._rows = self._read(path)
        except FileNotFoundError:
            self._rows = []
            KeptFiles(path.parent).look_for_rows(path)
        except OSError as error:
            if self._unreadable is None:
                # It stays where it is, and nothing replaces it.
                Notices(path.parent).add(_unreadable(path, error), path)
            self._unreadable = error
            return
        self._unreadable = None
        # A file that was set aside has left another one, or none.
        self._seen = seen if seen == fingerprint(path) else None

    def _read(self, path: Path) -> list[T]:
        try:
            rows = json.loads(path.read_bytes().decode("utf-8"))
            if not isinstance(rows, list):
                raise ValueError("not a list")
        except (ValueError, RecursionError) as error:
            self._restart(path, [], str(error))
            return []
        good: list[Any] = []
        parsed: list[T] = []
        reason = ""
        for row in rows:
            try:
                parsed.append(self._parse(row))
                good.append(row)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                reason = f"{type(error).__name__}: {error}"
        if reason:
            self._restart(path, good, reason)
        kept = KeptFiles(path.parent)
        if parsed:
            kept.note_rows(path, any_rows=True)
        else:
            kept.look_for_rows(path)
        return parsed

    def _restart(self, path: Path, good: list[Any], reason: str) -> None:
        """Set the file aside, and write what could be read of it to a new one."""
        aside = set_aside(path)
        # What is told here is not told as missing.
        KeptFiles(path.parent).note_rows(path, any_rows=bool(good))
        try:
            if good:
                self._write(path, good)
        except OSError:
            # As on a full disk: it stays as it was until this can be done.
            aside.replace(path)
            raise
        lost = FILE_DAMAGED(where=path, why=reason, aside=aside, kept=len(good))
        Notices(path.parent).add(lost, path)

    def _write(self, path: Path, rows: list[Any]) -> None:
        kept = KeptFiles(path.parent)
        if not rows:
            # Before: a process that ends in between has lost nothing.
            kept.note_rows(path, any_rows=False)
        write_private(path, json.dumps(rows, ensure_ascii=False, indent=1))
        if rows:
            kept.note_rows(path, any_rows=True)
        self._seen = fingerprint(path)


def _unreadable(path: Path, error: OSError) -> SuyuanError:
    return FILE_UNREADABLE_NOW(where=path, why=error.strerror or str(error))
