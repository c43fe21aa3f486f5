"""Check of the archive, the stored conversations, and free space on the disk."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from ..client import AsyncClient
from ..core.causes.doctor import ARCHIVE_FAULTY, DISK_FULL, STORE_FAULTY
from ..core.errors import SuyuanError
from ..messages.catalog import Text
from .finding import ERROR, WARNING, Finding

StoreCheck = Callable[[], list[str]]
"""Return the faults of the stored conversations; raises SuyuanError where they cannot be opened."""
Free = Callable[[Path], int]
_WARN_MEGABYTES, _ERROR_MEGABYTES = 1000, 100


async def check(
    client: AsyncClient, *, store_check: StoreCheck | None = None, free: Free | None = None
) -> list[Finding]:
    """Check archive, conversations and disk."""
    findings = [await asyncio.to_thread(_archive, client)]
    if store_check is not None:
        findings.append(await asyncio.to_thread(_store, store_check))
    findings += _disk(client, free or _free)
    return findings


def _archive(client: AsyncClient) -> Finding:
    if client.archive is None:
        return Finding.ok("archive", Text("doctor.ok.archive_off"))
    path = client.archive.path
    try:
        archive = client.archive.open()
        result = archive.check()
        size = len(archive)
    except SuyuanError as error:
        return Finding.problem("archive", error)
    if archive.notice is not None:
        return Finding.problem("archive", archive.notice, WARNING)
    if result != "ok":
        return Finding.problem("archive", ARCHIVE_FAULTY(where=path, why=result[:200]))
    return Finding.ok("archive", Text("doctor.ok.archive", {"count": size, "path": path}))


def _store(store_check: StoreCheck) -> Finding:
    try:
        faults = store_check()
    except SuyuanError as error:
        return Finding.problem("store", error)
    if faults:
        return Finding.problem("store", STORE_FAULTY(why="; ".join(faults)[:300]))
    return Finding.ok("store", Text("doctor.ok.store"))


def _disk(client: AsyncClient, free: Free) -> list[Finding]:
    folder = client.settings.data_dir
    if folder is None:
        return []
    existing = next((path for path in (folder, *folder.parents) if path.is_dir()), Path("/"))
    try:
        megabytes = free(existing) // 1_000_000
    except OSError:
        return []
    if megabytes < _WARN_MEGABYTES:
        level = ERROR if megabytes < _ERROR_MEGABYTES else WARNING
        return [Finding.problem("disk", DISK_FULL(free=megabytes, where=folder), level)]
    return [Finding.ok("disk", Text("doctor.ok.disk", {"gigabytes": megabytes / 1000}))]


def _free(folder: Path) -> int:
    return shutil.disk_usage(folder).free
