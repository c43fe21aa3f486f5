"""Writes a backup of everything while the server goes on, whole or not at all."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from ..config.settings import Settings
from ..core.causes import backup as causes
from ..core.causes.store import STORE_UNFINISHED
from ..core.folder_use import LOCK_FILE, FolderUse
from ..core.kept_files import tell_missing
from ..core.secret import Secret
from ..store import migrations
from ..store.connections import parse
from ..store.file_copy import FileCopy, check_copy, copy_database
from ..store.transfer import copy_store
from .inventory import Inventory, KeptFile, in_order, inventory
from .manifest import MANIFEST, Entry, Manifest
from .names import STORE, is_database, is_upload
from .packing import is_packed, pack
from .staging import Told, copy_stream, hash_of, new_folder, sync_folder, sync_folders

_PACKED = ".packed"


@dataclass(frozen=True, slots=True)
class Written:
    """A backup that was written."""

    path: Path
    manifest: Manifest


def write_backup(settings: Settings, target: Path, told: Told) -> Written:
    """Write a backup to a new folder, or to a file by the end of its name: ``.tar.gz``, ``.tgz``, ``.tar``, ``.zip``.

    Everything that was stored before the start is in it; a server may go on writing.
    """
    target = target.absolute()
    part = target.with_name(f"{target.name}.part")
    try:
        _check_place(settings, target)
        with closing(_use_of(settings)), closing(FolderUse.exclusive(part, causes.BACKUP_UNDER_WAY)):
            try:
                _empty(part)
                manifest = _fill(settings, part, told)
                _put_in_place(part, target, manifest, told)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        where = error.filename or target
        raise causes.BACKUP_NOT_WRITTEN(where=where, why=error.strerror or error) from None
    return Written(target, manifest)


def _check_place(settings: Settings, target: Path) -> None:
    is_free = not os.path.lexists(target)
    if not is_free and (is_packed(target) or not target.is_dir() or any(target.iterdir())):
        raise causes.BACKUP_EXISTS(where=target)
    data = settings.data_dir
    if data is not None and Path(os.path.realpath(target)).is_relative_to(os.path.realpath(data)):
        raise causes.BACKUP_INSIDE(where=data)


def _use_of(settings: Settings) -> FolderUse:
    """What keeps a restore away for as long."""
    data = settings.data_dir
    return FolderUse.shared(data if data is not None and data.is_dir() else None)


def _empty(part: Path) -> None:
    """Remove what an earlier backup has left that was ended before it was whole."""
    part.chmod(0o700)
    for each in part.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        elif each.name != LOCK_FILE:
            each.unlink()


def _fill(settings: Settings, part: Path, told: Told) -> Manifest:
    # A backup without the conversations must not look like one of everything.
    tell_missing(settings.kept_folders)
    found = inventory(settings)
    copied = _Copied(part, found, told)
    if settings.shares_store:
        copied.add_rows(settings.store_address)
    for source in in_order(found.files):
        if not is_upload(source.name):
            copied.add(source)
    # A person, or a document, may have come since: no list of documents names a file that is missing.
    copied.add_all(source for source in inventory(settings).files if is_database(source.name))
    copied.add_all(source for source in inventory(settings).files if is_upload(source.name))
    if not copied.entries:
        raise causes.NOTHING_TO_BACK_UP(where=settings.data_dir or "")
    created = datetime.now(UTC).isoformat(timespec="seconds")
    has_store = any(entry.name == STORE for entry in copied.entries)
    kind = parse(settings.store_address)[0].get_backend_name() if has_store else ""
    # The settings come first: they say where the conversations go.
    entries = sorted(copied.entries, key=lambda entry: (not entry.name.startswith("config/"), entry.name))
    manifest = Manifest(created, kind, tuple(entries), tuple(found.left_out))
    copy_stream(BytesIO(manifest.as_bytes()), part / MANIFEST)
    return manifest


class _Copied:
    """The files that are in the unfinished backup so far."""

    def __init__(self, part: Path, found: Inventory, told: Told) -> None:
        self.entries: list[Entry] = []
        self._part = part
        self._told = told
        self._done = 0
        self._total = sum(map(_size, found.files))

    def add(self, source: KeptFile) -> None:
        """Copy a file; one that has been removed since is left out."""
        self._told(source.name, self._done, self._total)
        try:
            modified = source.path.stat().st_mtime_ns
            if is_database(source.name):
                self._add_database(source, modified)
                return
            with source.path.open("rb") as opened:
                size, sha256 = copy_stream(opened, self._part / source.name)
        except FileNotFoundError:
            if source.path.exists():
                raise
            return
        self._keep(Entry(source.name, size, sha256, modified))

    def add_all(self, sources: Iterable[KeptFile]) -> None:
        """Copy those that are not there yet."""
        known = {entry.name for entry in self.entries}
        for source in sources:
            if source.name not in known:
                self.add(source)

    def add_rows(self, server: Secret) -> None:
        """Copy the rows of a database server to a file."""
        target = self._part / STORE
        new_folder(target.parent)
        copy_store(server, f"sqlite:///{quote(str(target))}", told=self._told)
        self._keep_database(STORE, target, check_copy(target), time.time_ns())

    def _add_database(self, source: KeptFile, modified: int) -> None:
        target = self._part / source.name
        new_folder(target.parent)
        size = _size(source)

        def step(done: int, total: int) -> None:
            self._told(source.name, self._done + size * done // max(total, 1), self._total)

        copy = copy_database(source.path, target, step)
        if source.name == STORE and migrations.is_unfinished(copy.schema):
            raise STORE_UNFINISHED(where=source.path)
        self._keep_database(source.name, target, copy, modified)

    def _keep_database(self, name: str, target: Path, copy: FileCopy, modified: int) -> None:
        size, sha256 = hash_of(target)
        self._keep(Entry(name, size, sha256, modified, copy.schema, copy.rows))

    def _keep(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._done = min(self._done + entry.size, self._total)
        self._told(entry.name, self._done, self._total)


def _size(source: KeptFile) -> int:
    try:
        return source.path.stat().st_size
    except FileNotFoundError:
        return 0


def _put_in_place(part: Path, target: Path, manifest: Manifest, told: Told) -> None:
    if is_packed(target):
        packed = part / _PACKED
        pack(part, [MANIFEST, *(entry.name for entry in manifest.entries)], packed, target.name, told)
        packed.replace(target)
    else:
        (part / LOCK_FILE).unlink(missing_ok=True)
        sync_folders(part)
        part.replace(target)
    sync_folder(target.parent)
