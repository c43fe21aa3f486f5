"""What is kept on this machine: the archive, the conversations, and room on the disk."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from ..client import AsyncClient
from ..core.causes.doctor import ARCHIVE_DAMAGED, ARCHIVE_UNUSABLE, DISK_FULL, STORE_FAULTY
from ..core.errors import SuyuanError
from ..messages.catalog import Text
from .finding import ERROR, WARNING, Finding

StoreCheck = Callable[[], list[str]]
"""What is wrong with the kept conversations; raises one of our errors where they cannot be opened."""
Free = Callable[[Path], int]
_LITTLE, _NONE = 1000, 100


async def examine(
    client: AsyncClient, *, store_check: StoreCheck | None = None, free: Free | None = None
) -> list[Finding]:
    """Archive, conversations, disk."""
    findings = [await asyncio.to_thread(_archive, client)]
    if store_check is not None:
        findings.append(await asyncio.to_thread(_store, store_check))
    findings += _disk(client, free or _free)
    return findings


def _archive(client: AsyncClient) -> Finding:
    path = client.settings.archive_file
    if path is None:
        return Finding.well("archive", Text("doctor.ok.archive_off"))
    try:
        archive = client.archive
        verdict = archive.check() if archive else "ok"
        size = len(archive) if archive else 0
    except sqlite3.OperationalError as error:
        # Locked, or a folder that cannot be written: the file itself may be sound.
        return Finding.ill("archive", ARCHIVE_UNUSABLE(where=path, why=error))
    except sqlite3.DatabaseError as error:
        return Finding.ill("archive", ARCHIVE_DAMAGED(where=path, why=error))
    except OSError as error:
        return Finding.ill("archive", ARCHIVE_UNUSABLE(where=path, why=error.strerror or error))
    if verdict != "ok":
        return Finding.ill("archive", ARCHIVE_DAMAGED(where=path, why=verdict[:200]))
    return Finding.well("archive", Text("doctor.ok.archive", {"count": size, "path": str(path)}))


def _store(check: StoreCheck) -> Finding:
    try:
        wrong = check()
    except SuyuanError as error:
        return Finding.ill("store", error)
    if wrong:
        return Finding.ill("store", STORE_FAULTY(why="; ".join(wrong)[:300]))
    return Finding.well("store", Text("doctor.ok.store"))


def _disk(client: AsyncClient, free: Free) -> list[Finding]:
    folder = client.settings.data_dir
    if folder is None:
        return []
    there = next((place for place in (folder, *folder.parents) if place.is_dir()), Path("/"))
    try:
        megabytes = free(there) // 1_000_000
    except OSError:
        return []
    if megabytes < _LITTLE:
        return [Finding.ill("disk", DISK_FULL(free=megabytes, where=folder), ERROR if megabytes < _NONE else WARNING)]
    return [Finding.well("disk", Text("doctor.ok.disk", {"gigabytes": megabytes / 1000}))]


def _free(folder: Path) -> int:
    return shutil.disk_usage(folder).free
