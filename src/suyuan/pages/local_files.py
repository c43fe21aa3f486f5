"""Files of this machine: those that can be read, their times and sizes, and their content."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..core.causes.library import FILE_TOO_LARGE, FILE_UNREADABLE
from .document_parts import PDF

MAX_FILE = 100_000_000
TYPES = {
    ".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain", ".text": "text/plain",
    ".rst": "text/plain", ".org": "text/plain", ".csv": "text/csv", ".html": "text/html", ".htm": "text/html",
    ".xhtml": "application/xhtml+xml", ".pdf": PDF, ".epub": "application/epub+zip",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}  # fmt: skip
"""The files of a folder that are read, by the end of their names."""


def files_below(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """The file ``root``, or those of the folder, with times and sizes; hidden ones and links are left out."""
    if root.is_file():
        stat = root.stat()
        yield str(root), (stat.st_mtime_ns, stat.st_size)
    waiting = [str(root)] if root.is_dir() else []
    while waiting:
        # It may be gone by now, or closed to us.
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.startswith((".", "~$")) or entry.is_symlink():
                    continue
                if entry.is_dir():
                    waiting.append(entry.path)
                elif os.path.splitext(entry.name)[1].lower() in TYPES:
                    with suppress(OSError):
                        stat = entry.stat()
                        yield entry.path, (stat.st_mtime_ns, stat.st_size)


def check_name(path: str) -> None:
    """Raise a cause where the name of a file is no text, as of one from an archive with an older encoding."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise FILE_UNREADABLE(path=printable(path), why=os.strerror(errno.EILSEQ)) from None


def printable(path: str) -> str:
    """A path in which bytes that are no text are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()


def bytes_of(path: Path) -> bytes:
    """The content of a file; raises a cause where it is too large or cannot be read."""
    try:
        if path.stat().st_size > MAX_FILE:
            raise FILE_TOO_LARGE(path=path.name, limit=MAX_FILE // 1_000_000)
        return path.read_bytes()
    except OSError as error:
        raise FILE_UNREADABLE(path=path.name, why=error.strerror or error) from None
