"""What there is to back up: every file of the data folder, the settings, and the lines typed in the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..config.settings import Settings
from ..store.connections import parse
from . import names
from .names import CONFIG, DATA, STATE, STORE, is_own

_NOT_STATE = ("engines.json", "chrome-profile")
"""What was learned about engines from this machine, and a browser profile."""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file, and its name in the backup."""

    name: str
    path: Path


@dataclass(slots=True)
class Inventory:
    """The files to back up, and those of the data folder that are not."""

    files: list[KeptFile] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def inventory(settings: Settings) -> Inventory:
    """Everything that is kept, except the rows of a database server."""
    found = Inventory()
    for name, path in _named(settings):
        if path.is_file():
            found.files.append(KeptFile(name, path))
    if (store := store_file(settings)) is not None and store.is_file():
        found.files.append(KeptFile(STORE, store))
    if settings.data_dir is not None:
        _walk(settings, settings.data_dir, found)
    return found


def store_file(settings: Settings) -> Path | None:
    """The file of the conversations; None if they are at a database server, or in memory only."""
    return parse(settings.store_address)[1]


def config_folder(settings: Settings) -> Path | None:
    """The folder of the settings."""
    return settings.agents_file.parent if settings.agents_file else None


def apart(settings: Settings) -> set[Path]:
    """What is in the data folder on some machines, and is backed up under other names or not at all."""
    places = {path for _, path in _named(settings)}
    for folder, own in ((settings.state_dir, _NOT_STATE), (config_folder(settings), ())):
        if folder is None:
            continue
        places |= {folder / name for name in own}
        if settings.data_dir is None or _real(folder) != _real(settings.data_dir):
            places.add(folder)
    return {_real(place) for place in places}


def _named(settings: Settings) -> Iterator[tuple[str, Path]]:
    for place, folder, own in (
        (CONFIG, config_folder(settings), names.CONFIG_FILES),
        (STATE, settings.state_dir, names.STATE_FILES),
    ):
        if folder is not None:
            yield from ((f"{place}/{name}", folder / name) for name in own)


def _walk(settings: Settings, data: Path, found: Inventory) -> None:
    elsewhere = apart(settings)
    store, unused = store_file(settings), _unused_databases(settings, data)
    entered = {_real(data)}
    # A library may be on another disk, to which a link leads.
    for folder, folders, found_names in os.walk(data, followlinks=True):
        at_top = Path(folder) == data
        for name in sorted(folders):
            real = _real(Path(folder, name))
            if real in entered | elsewhere or (at_top and is_own(name)):
                folders.remove(name)
            entered.add(real)
        for name in sorted(found_names):
            path = Path(folder, name)
            real = _real(path)
            if names.is_passing(path) or (at_top and is_own(name)) or real in elsewhere or real == store:
                continue
            if real in unused or not path.is_file():
                found.left_out.append(str(path))
            else:
                found.files.append(KeptFile(f"{DATA}/{path.relative_to(data).as_posix()}", path))


def _unused_databases(settings: Settings, data: Path) -> set[Path]:
    """The databases that stay behind when the store moves elsewhere: what is in them is there."""
    unused = {_real(data / "chat.sqlite")}
    if settings.shares_store:
        unused |= {_real(path) for path in (data / names.ARCHIVE_FILE, *data.glob(f"people/*/{names.ARCHIVE_FILE}"))}
    return unused


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def in_order(files: list[KeptFile]) -> list[KeptFile]:
    """The files in an order in which each is newer than those that refer to it.

    An answer that could not be stored yet comes before the store, and an archive after the answers that cite it.
    """

    def place(source: KeptFile) -> int:
        if source.name == STORE:
            return 1
        return 2 if names.is_database(source.name) else 0

    return sorted(files, key=lambda source: (place(source), source.name))
