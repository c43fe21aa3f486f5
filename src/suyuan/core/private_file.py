"""Files that nobody else on the machine can read, written whole or not at all; ``PrivateFile`` holds rows of JSON."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

log = logging.getLogger("suyuan.files")


def write_private(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace the file at ``path``: a reader sees the old text or the new one, even where the process is killed.

    ``durable``: the text is on the disk when this returns. A device or a pipe, such as /dev/stdout, is written to.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            if durable:
                os.fsync(out.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


class PrivateFile:
    """Rows in a file that several processes may change; nothing is kept where there is no path."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._seen = -1.0

    def changed(self) -> bool:
        """Whether the file is another one than at the last call, as after a change by another process."""
        seen, self._seen = self._seen, self._changed_at()
        return seen != self._seen

    def read(self) -> list[dict[str, Any]]:
        """The rows; none where the file is missing or cannot be read, which is logged."""
        if self._path is None or not self._path.exists():
            return []
        try:
            rows = json.loads(self._path.read_text("utf-8"))
            return [dict(row) for row in rows]
        except (OSError, ValueError, TypeError):
            log.warning("%s cannot be read: what was entered on the page is missing", self._path)
            return []

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Replace the rows."""
        if self._path is None:
            return
        write_private(self._path, json.dumps(rows, ensure_ascii=False, indent=1))
        self._seen = self._changed_at()

    def _changed_at(self) -> float:
        try:
            return self._path.stat().st_mtime if self._path else 0.0
        except OSError:
            return 0.0
