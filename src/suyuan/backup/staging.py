"""Files that are copied to a private place, counted, hashed and on the disk when the copy returns."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_BLOCK = 1 << 20

Told = Callable[[str, int, int], None]
"""Told what is being done, how many bytes are done, and of how many."""


def new_folder(folder: Path) -> None:
    """Create a folder that only its owner can read, with those above it."""
    if not folder.is_dir():
        # The mode that is given is that of the last folder alone.
        new_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def copy_stream(source: BinaryIO, target: Path, limit: int | None = None) -> tuple[int, str]:
    """Write a new private file and return its size and hash; with a ``limit`` hardly more than that is read."""
    new_folder(target.parent)
    digest, size = hashlib.sha256(), 0
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        while (limit is None or size <= limit) and (block := source.read(_BLOCK)):
            digest.update(block)
            out.write(block)
            size += len(block)
        out.flush()
        os.fsync(out.fileno())
    return size, digest.hexdigest()


def hash_of(file: Path) -> tuple[int, str]:
    """The size and the hash of a file that no database has open, after it is on the disk."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        digest = hashlib.file_digest(opened, "sha256")
        return opened.tell(), digest.hexdigest()


def sync_folder(folder: Path) -> None:
    """Let the names in a folder be on the disk, where the system can do that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folders(folder: Path) -> None:
    """The same for a folder with all that are in it."""
    for each, _, _ in os.walk(folder):
        sync_folder(Path(each))
