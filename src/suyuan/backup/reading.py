"""Reads a backup: its manifest, and every file, each checked before it is used."""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from ..core.causes import backup as causes
from .manifest import MANIFEST, Entry, Manifest, is_safe
from .packing import is_packed
from .staging import Told, copy_stream

_LARGEST_MANIFEST = 1 << 29
_ZIP = b"PK\x03\x04"
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)

Member = tuple[str, BinaryIO]


class Backup(Protocol):
    """A backup that is open for reading."""

    manifest: Manifest

    def members(self) -> Iterator[Member]:
        """The files, the manifest not included, each to be read before the next one."""


@contextmanager
def opened(path: Path) -> Iterator[Backup]:
    """Open a backup and check its manifest; raises the cause if it is none, or cannot be used."""
    if not os.path.lexists(path):
        raise causes.NO_BACKUP(where=path)
    try:
        if path.is_dir():
            yield _Folder(path)
        elif _starts_with(path, _ZIP):
            with zipfile.ZipFile(path) as packed:
                yield _Zip(path, packed)
        else:
            with tarfile.open(path) as packed_too:
                yield _Tar(path, packed_too)
    except _BROKEN as error:
        if is_packed(path):
            raise causes.BACKUP_DAMAGED(where=path, name=path.name, why=error) from None
        raise causes.BACKUP_NOT_OURS(where=path) from None


def unpack(backup: Backup, where: Path, into: Path, told: Told) -> None:
    """Copy every file to a new private folder; raises the cause unless each is what the manifest says."""
    missing = {entry.name: entry for entry in backup.manifest.entries}
    done = 0
    for name, stream in backup.members():
        entry = missing.pop(name, None)
        if entry is None:
            raise causes.BACKUP_UNSAFE(where=where, name=name)
        told(name, done, backup.manifest.size)
        target = into / name
        if copy_stream(stream, target, entry.size) != (entry.size, entry.sha256):
            raise causes.BACKUP_DAMAGED(where=where, name=name, why="sha256")
        # A document whose time has changed would be read again.
        os.utime(target, ns=(entry.modified, entry.modified))
        done += entry.size
    if missing:
        raise causes.BACKUP_INCOMPLETE(where=where, name=next(iter(missing)), count=len(missing))
    told("", done, backup.manifest.size)


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path
        if not (path / MANIFEST).is_file():
            raise causes.BACKUP_NOT_OURS(where=path)
        self.manifest = Manifest.parse((path / MANIFEST).read_bytes(), path)

    def members(self) -> Iterator[Member]:
        for entry in self.manifest.entries:
            file = self._path / entry.name
            if not os.path.lexists(file):
                continue
            self._check(file, entry)
            with file.open("rb") as stream:
                yield entry.name, stream

    def _check(self, file: Path, entry: Entry) -> None:
        """Follow no link: it could lead to any file of this machine."""
        below = [folder for folder in file.parents if folder.is_relative_to(self._path) and folder != self._path]
        if any(folder.is_symlink() for folder in below) or not stat.S_ISREG(file.lstat().st_mode):
            raise causes.BACKUP_UNSAFE(where=self._path, name=entry.name)


class _Zip:
    def __init__(self, path: Path, packed: zipfile.ZipFile) -> None:
        self._packed = packed
        infos = [info for info in packed.infolist() if not info.is_dir()]
        for info in packed.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if not is_safe(info.filename.rstrip("/")) or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise causes.BACKUP_UNSAFE(where=path, name=info.filename)
        self._names = [info.filename for info in infos if info.filename != MANIFEST]
        if MANIFEST not in packed.namelist():
            raise causes.BACKUP_NOT_OURS(where=path)
        with packed.open(MANIFEST) as stream:
            self.manifest = Manifest.parse(stream.read(_LARGEST_MANIFEST), path)

    def members(self) -> Iterator[Member]:
        for name in self._names:
            with self._packed.open(name) as stream:
                yield name, cast(BinaryIO, stream)


class _Tar:
    def __init__(self, path: Path, packed: tarfile.TarFile) -> None:
        self._path = path
        self._all = self._members(packed)
        name, stream = next(self._all, ("", None))
        if name != MANIFEST or stream is None:
            raise causes.BACKUP_NOT_OURS(where=path)
        self.manifest = Manifest.parse(stream.read(_LARGEST_MANIFEST), path)

    def members(self) -> Iterator[Member]:
        return self._all

    def _members(self, packed: tarfile.TarFile) -> Iterator[Member]:
        for info in packed:
            if not is_safe(info.name) or not (info.isreg() or info.isdir()):
                raise causes.BACKUP_UNSAFE(where=self._path, name=info.name)
            stream = packed.extractfile(info)
            if stream is not None:
                yield info.name, cast(BinaryIO, stream)


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic
