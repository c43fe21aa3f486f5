"""The files that were sent to the library: below its own folder, wherever that has been moved to, and in its list."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from .archive import Archive

UPLOADS = "uploads"
_FOLDER = re.compile(r"[0-9a-f]{16}")
"""Each file that was sent has one for itself."""


def relocate(archive: Archive, folder: Path) -> None:
    """Let the list name the files that were sent where they are now.

    A folder that was restored, renamed or copied has them below it, while the list still names the old one.
    """
    below = f"{folder / UPLOADS}/"
    query = "SELECT root FROM roots WHERE kind = 'upload' AND substr(root, 1, ?) <> ?"

    def moved(db: sqlite3.Connection) -> list[tuple[str, str]]:
        rows = [row[0] for row in db.execute(query, (len(below), below))]
        places = [(str(Path(below, *re.split(r"[\\/]", root)[-2:])), root) for root in rows]
        return [(new, root) for new, root in places if Path(new).exists()]

    def work(db: sqlite3.Connection) -> None:
        for new, root in moved(db):
            # The id stays: it is a part of the address by which answers cite the document.
            db.execute("UPDATE OR REPLACE roots SET root = ? WHERE root = ?", (new, root))
            db.execute("UPDATE OR REPLACE files SET root = ?, path = ? WHERE root = ?", (new, new, root))

    if archive.run(moved):
        archive.run(work, write=True)


def adopt(archive: Archive, folder: Path) -> int:
    """Put files that were sent and are missing in the list back into it, to be read; return how many there were.

    They are missing where the list was damaged, deleted or emptied: nothing else takes a file out of it that is there.
    """
    sent = list(_sent(folder / UPLOADS))

    def missing(db: sqlite3.Connection) -> list[Path]:
        known = {row[0] for row in db.execute("SELECT root FROM roots WHERE kind = 'upload'")}
        # One may have been removed since.
        return [path for path in sent if str(path) not in known and path.exists()]

    def work(db: sqlite3.Connection) -> int:
        found = [(str(path), _time_of(path)) for path in missing(db)]
        db.executemany("INSERT OR IGNORE INTO roots VALUES (?, 'upload', ?)", found)
        return len(found)

    return archive.run(work, write=True) if sent and archive.run(missing) else 0


def has_files(folder: Path) -> bool:
    """Whether any file is there that was sent."""
    return next(_sent(folder / UPLOADS), None) is not None


def _sent(uploads: Path) -> Iterator[Path]:
    try:
        folders = sorted(each for each in os.listdir(uploads) if _FOLDER.fullmatch(each))
    except OSError:
        return
    for name in folders:
        yield from (path for path in sorted((uploads / name).glob("*")) if path.is_file() and not path.is_symlink())


def _time_of(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
