"""A backup in one file: tar or zip, by the end of its name."""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

from .staging import Told

_ZIP = ".zip"
_TAR = (".tar.gz", ".tgz", ".tar")
# Most of a backup is text, of which little more is saved by trying for longer.
_LEVEL = 1
_BLOCK = 1 << 20

Add = Callable[[Path, str], None]


def is_packed(target: Path) -> bool:
    """Whether the name is that of one file rather than of a folder."""
    return target.name.lower().endswith((*_TAR, _ZIP))


def pack(folder: Path, names: Sequence[str], packed: Path, ending: str, told: Told) -> None:
    """Write the files of a folder to one file, in this order, which is on the disk when this returns."""
    sizes = [(folder / name).stat().st_size for name in names]
    done = 0
    with os.fdopen(os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        with (_zip if ending.lower().endswith(_ZIP) else _tar)(out, ending.lower()) as add:
            for name, size in zip(names, sizes, strict=True):
                told(ending, done, sum(sizes))
                add(folder / name, name)
                done += size
        out.flush()
        os.fsync(out.fileno())


@contextmanager
def _zip(out: IO[bytes], _ending: str) -> Iterator[Add]:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as made:

        def add(path: Path, name: str) -> None:
            with path.open("rb") as opened, made.open(name, "w", force_zip64=True) as entry:
                shutil.copyfileobj(opened, entry, _BLOCK)

        yield add


@contextmanager
def _tar(out: IO[bytes], ending: str) -> Iterator[Add]:
    plain = nullcontext(out)
    with (
        plain if ending.endswith(".tar") else gzip.GzipFile("", "wb", _LEVEL, out) as stream,
        tarfile.open(fileobj=stream, mode="w") as made,
    ):

        def add(path: Path, name: str) -> None:
            about = tarfile.TarInfo(name)
            status = path.stat()
            about.size, about.mtime, about.mode = status.st_size, int(status.st_mtime), 0o600
            with path.open("rb") as opened:
                made.addfile(about, opened)

        yield add
