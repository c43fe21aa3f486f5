"""Disks that are mounted read-only: what is kept on them is read as it is, and nothing is written."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


def is_read_only(path: Path | str) -> bool:
    """Whether a file, or the folder in which it would be made, is on a disk that is mounted read-only."""
    if not hasattr(os, "statvfs"):
        return False
    place = Path(path).absolute()
    for existing in (place, *place.parents):
        try:
            return bool(os.statvfs(existing).f_flag & os.ST_RDONLY)
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return False


def address_for_reading(file: Path | str) -> str:
    """The address by which SQLite reads a file on a read-only disk, where it can make no files of its own beside it.

    Nobody can change such a file, so it may be read without locks (``immutable``); but then its log would be left out,
    which a process that was killed has left behind. With a log SQLite reads both.
    """
    path = Path(file).absolute()
    log = path.with_name(path.name + "-wal")
    has_log = log.is_file() and log.stat().st_size > 0
    how = "mode=ro" if has_log else "mode=ro&immutable=1"
    return f"file:{quote(str(path))}?{how}"
