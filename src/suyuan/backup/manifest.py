"""``Manifest``: what is in a backup, by which it is checked before anything is restored."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Self

from .. import __version__
from ..core.causes import backup as causes
from ..pages.archive_schema import VERSION
from ..store import migrations
from .names import STORE, is_restorable, what_is

MANIFEST = "manifest.json"
FORMAT = 1
_PRODUCT = "suyuan"


def _release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with, by which releases are in order."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in found.group().split(".")) if found else ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a backup."""

    name: str
    """Its path in the backup."""
    size: int
    sha256: str
    modified: int
    """When it was changed last, in ns since 1970."""
    schema: str = ""
    """The revision of a database."""
    rows: Mapping[str, int] = field(default_factory=dict)
    """How many there are of each table of a database."""

    @property
    def is_too_new(self) -> bool:
        """Whether it is a database that this release does not know."""
        if self.name == STORE:
            return self.schema > migrations.HEAD
        return self.schema.isdecimal() and int(self.schema) > VERSION

    def as_dict(self) -> dict[str, Any]:
        """The form in the manifest, with what the file is for people."""
        return {**asdict(self), "what": what_is(self.name)}


@dataclass(frozen=True, slots=True)
class Manifest:
    """The list of the files of one backup."""

    created_at: str
    """ISO 8601, UTC."""
    store: str
    """Where the conversations were: ``sqlite`` or ``postgresql``; empty where there were none."""
    entries: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()
    """The files of the data folder that are not in the backup."""
    version: str = __version__

    @property
    def size(self) -> int:
        """How many bytes all files have."""
        return sum(entry.size for entry in self.entries)

    @property
    def rows(self) -> dict[str, int]:
        """How many rows there are in each database, those of its tables together."""
        return {entry.name: sum(entry.rows.values()) for entry in self.entries if entry.rows}

    @property
    def id(self) -> str:
        """What tells this backup from any other."""
        return hashlib.sha256(self.as_bytes()).hexdigest()

    def as_bytes(self) -> bytes:
        """The content of the file."""
        about = {"format": FORMAT, "product": _PRODUCT, "version": self.version, "created_at": self.created_at}
        files = [entry.as_dict() for entry in self.entries]
        data = {**about, "store": self.store, "files": files, "left_out": self.left_out}
        return json.dumps(data, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape")

    @classmethod
    def parse(cls, content: bytes, where: Path) -> Self:
        """Read the file; raises the cause of a backup that is damaged, of another program, unsafe or too new."""
        try:
            data = json.loads(content)
            if data["product"] != _PRODUCT:
                raise causes.BACKUP_NOT_OURS(where=where)
            if data["format"] > FORMAT or _release(str(data["version"])) > _release(__version__):
                raise causes.BACKUP_TOO_NEW(where=where, version=data["version"])
            entries = tuple(_entry(row) for row in data["files"])
            made = cls(
                str(data["created_at"]), str(data["store"]), entries, tuple(data["left_out"]), str(data["version"])
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise causes.BACKUP_DAMAGED(where=where, name=MANIFEST, why=error) from None
        names = [entry.name for entry in entries]
        unsafe = next((name for name in names if not is_safe(name) or not is_restorable(name)), "")
        if unsafe or len(set(names)) < len(names):
            raise causes.BACKUP_UNSAFE(where=where, name=unsafe or MANIFEST)
        if any(entry.is_too_new for entry in entries):
            raise causes.BACKUP_TOO_NEW(where=where, version=made.version)
        return made


def is_safe(name: str) -> bool:
    """Whether a name in a backup leads to a place below the folder that it is unpacked to."""
    path = Path(name)
    parts = name.split("/")
    plain = "\\" not in name and "\0" not in name and not {"", ".", ".."}.intersection(parts)
    return plain and not path.is_absolute() and not path.drive and PurePosixPath(name).as_posix() == name


def _entry(row: Mapping[str, Any]) -> Entry:
    rows = {str(table): int(count) for table, count in row["rows"].items()}
    name, sha256, schema = str(row["name"]), str(row["sha256"]), str(row["schema"])
    return Entry(name, int(row["size"]), sha256, int(row["modified"]), schema, rows)
