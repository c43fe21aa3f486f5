"""Files that nobody else on the machine can read, written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

Fingerprint = tuple[int, ...]
"""What tells one version of a file from another."""


def write_private(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace the file at ``path``: a reader sees the old text or the new one, even where the process is killed.

    ``durable``: the text is on the disk when this returns. A device or a pipe, such as /dev/stdout, is written to.
    """
    with private_writer(path, durable=durable) as out:
        out.write(text)


def private_folder(path: Path) -> None:
    """Create a folder that nobody else can look into, with those above it; what is there stays as it is."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    # Not by ``parents=True``, which gives the folders above the usual mode.
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    # Says so where it is a file.
    path.mkdir(mode=0o700, exist_ok=True)


def new_private_file(path: Path, body: bytes = b"") -> None:
    """Write a file that is not there yet."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(body)


@contextmanager
def private_writer(path: Path, *, durable: bool = True) -> Iterator[TextIO]:
    """What is written in the block replaces the file at its end, as with :func:`write_private`."""
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8") as device:
            yield device
        return
    path = path.resolve()
    private_folder(path.parent)
    # A name of its own for every writer: threads share a process number, and so do containers.
    part = path.with_name(f"{path.name}.{secrets.randbits(62)}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            yield out
            out.flush()
            if durable:
                os.fsync(out.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def fingerprint(path: Path) -> Fingerprint | None:
    """What changes whenever the file is replaced or written to; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def free_name(path: Path, what: str = "damaged") -> Path:
    """A place beside a file that cannot be used, under a name that no other file has and that says what it is."""
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.{what}-{moment}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.{what}-{moment}-{number}")
    return aside


def set_aside(path: Path) -> Path:
    """Move a file that cannot be used away, under a name that no other has, and return its new place."""
    aside = free_name(path)
    path.rename(aside)
    return aside
