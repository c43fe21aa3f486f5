"""Restores a backup: everything is unpacked and checked beside what is there, and then put in place."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import EBUSY
from pathlib import Path
from urllib.parse import quote

from ..config.load import load_settings
from ..config.settings import Settings
from ..core.causes import backup as causes
from ..core.folder_use import FolderUse
from ..store.aside import is_in_use
from ..store.database import Database
from ..store.transfer import copy_store, is_empty
from . import names
from .inventory import apart, config_folder, store_file
from .journal import Journal, Move, ServerStore
from .manifest import Manifest
from .names import CONFIG, DATA, STAGE, STATE, STORE
from .reading import Backup, opened, unpack
from .staging import Told, copy_stream, hash_of, new_folder, sync_folders


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup that was restored."""

    manifest: Manifest
    asides: list[str]
    """Where what was there before is."""


def restore(settings: Settings, source: Path, told: Told, *, replace: bool = False) -> Restored:
    """Put everything in a backup in place; with ``replace`` what is there makes room, and nothing of it is deleted.

    Until all of it is unpacked and checked nothing is changed. A restore that was ended after that is completed first.
    """
    data = settings.data_dir
    assert data is not None, "loaded settings always have a data folder"
    source = source.absolute()
    try:
        with closing(FolderUse.exclusive(data)):
            begun = Journal.read(data)
            if begun is not None:
                begun.carry_out(data, told)
            with opened(source) as backup:
                if begun is not None and begun.backup == backup.manifest.id:
                    return Restored(backup.manifest, begun.asides())
                journal = _Restore(settings, data, source, replace).prepare(backup, told)
            journal.carry_out(data, told)
            return Restored(backup.manifest, journal.asides())
    except OSError as error:
        raise causes.RESTORE_NOT_WRITTEN(where=error.filename or data, why=error.strerror or error) from None


class _Restore:
    """Prepares one restore, and changes nothing that is in use."""

    def __init__(self, settings: Settings, data: Path, source: Path, replace: bool) -> None:
        self._settings = settings
        self._data = Path(os.path.realpath(data))
        self._source = source
        self._replace = replace
        self._stage = self._data / STAGE
        self._stages = {self._stage}
        self._moves: list[Move] = []
        self._aside = names.ASIDE + datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        while (self._data / self._aside).exists():
            self._aside += "-again"

    def prepare(self, backup: Backup, told: Told) -> Journal:
        """Unpack and check everything; what is returned is on the disk, and need only be carried out."""
        old = self._old()
        self._check_room(backup.manifest, old)
        try:
            self._remove_stages()
            unpack(backup, self._source, self._stage, told)
            for name in old:
                self._move("", self._data / name)
            server = self._store(backup.manifest, told)
            self._data_moves(server)
            for place, folder in ((CONFIG, config_folder(self._settings)), (STATE, self._settings.state_dir)):
                if folder is not None:
                    self._named_moves(backup.manifest, place, folder)
            for stage in self._stages:
                sync_folders(stage)
            stages = tuple(str(stage) for stage in self._stages)
            journal = Journal(backup.manifest.id, tuple(self._moves), stages, server)
            journal.write(self._data)
        except BaseException:
            self._remove_stages()
            raise
        return journal

    def _old(self) -> list[str]:
        """What is in the data folder."""
        elsewhere = apart(self._settings)
        found = [name for name in sorted(os.listdir(self._data)) if not names.is_own(name)]
        return [name for name in found if Path(os.path.realpath(self._data / name)) not in elsewhere]

    def _check_room(self, manifest: Manifest, old: list[str]) -> None:
        occupied = [str(self._data / name) for name in old]
        for entry in manifest.entries:
            place, _, name = entry.name.partition("/")
            folder = {CONFIG: config_folder(self._settings), STATE: self._settings.state_dir}.get(place)
            if folder is not None and (folder / name).is_file() and hash_of(folder / name)[1] != entry.sha256:
                occupied.append(str(folder / name))
        if occupied and not self._replace:
            raise causes.FOLDER_NOT_EMPTY(what=", ".join(occupied[:5]), count=len(occupied))
        mounted = next((place for place in occupied if os.path.ismount(place)), None)
        if mounted is not None:
            raise OSError(EBUSY, os.strerror(EBUSY), mounted)

    def _remove_stages(self) -> None:
        """Remove what was prepared, also by a restore that was ended before it changed anything."""
        for stage in self._stages:
            if stage.exists():
                shutil.rmtree(stage)

    def _store(self, manifest: Manifest, told: Told) -> ServerStore | None:
        """Let the conversations go where they are looked for with the settings that are restored."""
        staged = self._stage / STORE
        if not staged.exists():
            return None
        folder = self._stage / CONFIG
        settings = load_settings(config_dir=folder) if (folder / names.CONFIG_FILES[0]).exists() else self._settings
        entry = next(entry for entry in manifest.entries if entry.name == STORE)
        if settings.shares_store:
            archives = "" if entry.rows.get("suyuan_pages") else str(self._stage / DATA)
            return ServerStore(settings.store_address.reveal(), str(staged), archives, self._server_aside(settings))
        if entry.rows.get("suyuan_pages"):
            # On one machine the pages that people have read are in files.
            whole = staged.with_name("whole.sqlite")
            copy_store(_address(staged), _address(whole), folder=self._stage / DATA, told=told)
            whole.replace(staged)
        self._file_move(staged, store_file(settings) or self._data / "chat.sqlite")
        return None

    def _server_aside(self, settings: Settings) -> str:
        """The schema to which the rows at the server make room; empty where there are none."""
        with closing(Database.opened(settings.store_address)) as database:
            if is_in_use(database):
                raise causes.STORE_IN_USE(where=database.where)
            if is_empty(database):
                return ""
            if not self._replace:
                raise causes.FOLDER_NOT_EMPTY(what=database.where, count=1)
        return "suyuan_" + self._aside.replace("-", "_")

    def _file_move(self, staged: Path, final: Path) -> None:
        if not final.is_relative_to(self._data):
            staged = self._staged_at(staged, final)
            old = [final.with_name(final.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]
            present = [file for file in old if file.exists()]
            if present and not self._replace:
                raise causes.FOLDER_NOT_EMPTY(what=final, count=1)
            for file in present:
                self._move("", file)
        self._move(str(staged), final)

    def _data_moves(self, server: ServerStore | None) -> None:
        staged = self._stage / DATA
        new = sorted(os.listdir(staged)) if staged.exists() else []
        if server is not None and server.archives:
            # These go to the server.
            new = [name for name in new if name != names.ARCHIVE_FILE]
        for name in new:
            self._move(str(staged / name), self._data / name)

    def _named_moves(self, manifest: Manifest, place: str, folder: Path) -> None:
        """The settings: those that are the same stay."""
        for entry in manifest.entries:
            staged, final = self._stage / entry.name, folder / entry.name.partition("/")[2]
            is_same = final.is_file() and hash_of(final)[1] == entry.sha256
            if entry.name.startswith(f"{place}/") and not is_same:
                self._move(str(self._staged_at(staged, final)), final)

    def _staged_at(self, staged: Path, final: Path) -> Path:
        """The same file, prepared where a rename is enough to put it in place."""
        stage = final.parent / STAGE
        if stage in self._stages:
            return staged
        new_folder(final.parent)
        target = stage / final.name
        target.unlink(missing_ok=True)
        with staged.open("rb") as opened_file:
            copy_stream(opened_file, target)
        self._stages.add(stage)
        return target

    def _move(self, staged: str, final: Path) -> None:
        is_below = final.is_relative_to(self._data)
        aside = (self._data if is_below else final.parent) / self._aside / final.name
        self._moves.append(Move(staged, str(final), str(aside)))


def _address(file: Path) -> str:
    return f"sqlite:///{quote(str(file))}"
