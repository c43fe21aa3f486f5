"""``Journal``: what a restore has still to do, on the disk: one that is ended in between is completed by the next."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self
from urllib.parse import quote

from ..core.causes.backup import RESTORE_STOPPED
from ..core.folder_use import JOURNAL_FILE
from ..core.private_file import write_private
from ..store.aside import move_tables
from ..store.database import Database
from ..store.transfer import copy_store, finish_copy
from ..store.transfer_units import archives_below
from .staging import Told, new_folder, sync_folder


@dataclass(frozen=True, slots=True)
class Move:
    """A file or folder that is put in place, or makes room."""

    staged: str
    """Where it was prepared; empty where only room is made."""
    final: str
    aside: str
    """Where what is there goes."""


@dataclass(frozen=True, slots=True)
class ServerStore:
    """The rows for a database server."""

    address: str
    staged: str
    """The file that has them."""
    archives: str
    """The prepared data folder, whose archives go to the server too; empty where the rows have them."""
    aside: str = ""
    """The schema for what is at the server; empty where nothing is."""
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Journal:
    """Everything that is left to do when all is prepared and checked."""

    backup: str
    """The id of the backup."""
    moves: tuple[Move, ...]
    stages: tuple[str, ...]
    """The folders in which things were prepared."""
    server: ServerStore | None = None

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The journal that was left in a data folder, if there is one."""
        try:
            data = json.loads((folder / JOURNAL_FILE).read_text("utf-8"))
        except FileNotFoundError:
            return None
        moves = tuple(Move(**move) for move in data["moves"])
        server = ServerStore(**data["server"]) if data["server"] else None
        return cls(data["backup"], moves, tuple(data["stages"]), server)

    def write(self, folder: Path) -> None:
        """Keep it: from now on the restore is completed, and nothing else uses the folder until it is."""
        write_private(folder / JOURNAL_FILE, json.dumps(asdict(self), indent=1))
        sync_folder(folder)

    def asides(self) -> list[str]:
        """The places where what was there before is."""
        folders = {os.path.dirname(move.aside) for move in self.moves if os.path.lexists(move.aside)}
        schemas = [self.server.aside] if self.server and self.server.aside else []
        return [*sorted(folders), *schemas]

    def carry_out(self, folder: Path, told: Told) -> None:
        """Do what is left to do; what was done is not done again."""
        try:
            self._copy_rows(folder, told)
            for move in self.moves:
                _carry_out(move)
            for place in {os.path.dirname(move.final) for move in self.moves}:
                sync_folder(Path(place))
            if self.server is not None:
                with closing(Database.opened(self.server.address, unfinished=True)) as database:
                    finish_copy(database)
            for stage in self.stages:
                shutil.rmtree(stage, ignore_errors=True)
            (folder / JOURNAL_FILE).unlink()
            sync_folder(folder)
        except OSError as error:
            where = error.filename or folder
            raise RESTORE_STOPPED(where=where, why=error.strerror or error) from None

    def _copy_rows(self, folder: Path, told: Told) -> None:
        """Bring the rows to the database server, where nobody can use them yet."""
        server = self.server
        if server is None:
            return
        archives = archives_below(Path(server.archives)) if server.archives else {}
        if not server.copied:
            if server.aside:
                move_tables(server.address, server.aside)
            copy_store(f"sqlite:///{quote(server.staged)}", server.address, archives=archives, told=told, finish=False)
            replace(self, server=replace(server, copied=True)).write(folder)
        for file in archives.values():
            file.unlink(missing_ok=True)


def _carry_out(move: Move) -> None:
    final, aside = Path(move.final), Path(move.aside)
    if not move.staged:
        # What is there after that is new.
        if os.path.lexists(final) and not os.path.lexists(aside):
            _make_room(final, aside)
    elif os.path.lexists(move.staged):
        while os.path.lexists(aside):
            aside = aside.with_name(f"{aside.name}-again")
        if os.path.lexists(final):
            _make_room(final, aside)
        new_folder(final.parent)
        Path(move.staged).rename(final)


def _make_room(final: Path, aside: Path) -> None:
    new_folder(aside.parent)
    final.rename(aside)
