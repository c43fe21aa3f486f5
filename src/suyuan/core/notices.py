"""``Notices``: what was set aside, cut, dropped or started anew, kept until somebody has seen it.

Whatever loses something, or may have, records a notice here. The command that met it prints it, ``suyuan doctor`` and
the page show it until it is dismissed.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from .errors import SuyuanError
from .failure import Failure
from .file_lock import file_lock
from .private_file import write_private

log = logging.getLogger("suyuan.notices")

FILE_NAME = "notices.json"
_MAX_KEPT = 200
_met: list[StoredNotice] = []
_met_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """One event that the user must hear of, with the file that it is about and the remedy in the failure's hint."""

    id: str
    at: str
    """ISO 8601, UTC."""
    file: str
    failure: Failure
    dismissed: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The stored form, from which it can be rendered again in any language."""
        return {
            "id": self.id,
            "at": self.at,
            "file": self.file,
            "failure": self.failure.as_dict(),
            "dismissed": self.dismissed,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``as_dict`` has written."""
        failure = Failure.from_dict(data["failure"])
        return cls(str(data["id"]), str(data["at"]), str(data["file"]), failure, bool(data.get("dismissed")))

    def published(self, lang: str = "en") -> dict[str, Any]:
        """The JSON form that programs read."""
        message, hint = self.failure.say(lang)
        return {
            "id": self.id,
            "at": self.at,
            "file": self.file,
            "code": self.failure.detail_code or self.failure.code,
            "message": message,
            "hint": hint or None,
        }


class Notices:
    """The notices of one data folder, shared by all processes that use it; in memory only where there is no folder."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._path = folder / FILE_NAME if folder is not None else None
        self._unsaved: list[StoredNotice] = []
        self._lock = threading.Lock()

    def add(self, what: SuyuanError | Failure, file: Path | str) -> StoredNotice:
        """Keep a notice, log it, and remember that this process has met it.

        An open notice of the same kind about the same file is replaced by the new one.
        """
        failure = what.failure if isinstance(what, SuyuanError) else what
        now = datetime.now(UTC).isoformat(timespec="seconds")
        notice = StoredNotice(os.urandom(6).hex(), now, str(file), failure)
        log.warning("%s", failure.message())
        with _met_lock:
            _met[:] = [other for other in _met if not _is_about_the_same(other, notice)] + [notice]

        def with_new(kept: list[StoredNotice]) -> list[StoredNotice]:
            others = [other for other in kept if other.dismissed or not _is_about_the_same(other, notice)]
            return [*others, notice][-_MAX_KEPT:]

        self._change(with_new)
        return notice

    def open(self) -> list[StoredNotice]:
        """The notices that nobody has dismissed yet, newest first."""
        return [notice for notice in reversed(self._all()) if not notice.dismissed]

    def find(self, detail_code: str, file: Path | str) -> StoredNotice | None:
        """The open notice of this kind about ``file``, as the base of the one that replaces it."""
        wanted = (detail_code, str(file))
        return next((notice for notice in self.open() if (notice.failure.detail_code, notice.file) == wanted), None)

    def dismiss(self, id: str = "") -> int:
        """Mark one notice as seen, or all of them; return how many there were."""
        chosen = [notice.id for notice in self.open() if not id or notice.id == id]
        if chosen:
            self._change(lambda kept: [replace(item, dismissed=item.dismissed or item.id in chosen) for item in kept])
        return len(chosen)

    def _all(self) -> list[StoredNotice]:
        return [*self._read(), *self._unsaved]

    def _change(self, change: Callable[[list[StoredNotice]], list[StoredNotice]]) -> None:
        with self._lock, self._other_processes():
            changed = change(self._all())
            if self._path is None:
                self._unsaved = changed
                return
            try:
                self._write(self._path, changed)
                self._unsaved = []
            except OSError as error:
                log.warning("notices cannot be written to %s: %s", self._path, error)
                saved = {notice.id for notice in self._read()}
                self._unsaved = [notice for notice in changed if notice.id not in saved]

    def _other_processes(self) -> AbstractContextManager[None]:
        """The lock of the file between processes."""
        if self._path is None:
            return nullcontext()
        return file_lock(self._path.with_name(f".{FILE_NAME}.lock"))

    def _read(self) -> list[StoredNotice]:
        if self._path is None:
            return []
        try:
            rows = json.loads(self._path.read_text("utf-8"))
            return [StoredNotice.from_dict(row) for row in rows]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("notices cannot be read from %s: %s", self._path, error)
            return []

    def _write(self, path: Path, notices: list[StoredNotice]) -> None:
        rows = [notice.as_dict() for notice in notices]
        write_private(path, json.dumps(rows, ensure_ascii=False, indent=1))


def met() -> list[StoredNotice]:
    """The notices that this process has recorded, oldest first."""
    with _met_lock:
        return list(_met)


def take_met() -> list[StoredNotice]:
    """The notices that this process has recorded, for whoever shows them to the user: each of them once."""
    with _met_lock:
        taken = list(_met)
        _met.clear()
    return taken


def _is_about_the_same(one: StoredNotice, other: StoredNotice) -> bool:
    return (one.failure.detail_code, one.file) == (other.failure.detail_code, other.file)
