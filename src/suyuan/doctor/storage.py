"""Check of the archive, the stored conversations, and free space on the disk."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from ..client import AsyncClient
from ..core.causes.doctor import ARCHIVE_FAULTY, DISK_FULL, STORE_FAULTY
from ..core.causes.files import FOLDER_READ_ONLY
from ..core.errors import SuyuanError
from ..core.read_only import is_read_only
from ..messages.catalog import Text
from .finding import ERROR, WARNING, Finding

StoreCheck = Callable[[], Sequence[str | SuyuanError]]
"""Return the faults of the stored conversations, and what was mended; raises SuyuanError where they cannot be read."""
Free = Callable[[Path], int]
_WARN_MEGABYTES, _ERROR_MEGABYTES = 1000, 100


async def check(
    client: AsyncClient, *, store_check: StoreCheck | None = None, free: Free | None = None
) -> list[Finding]:
    """Check archive, conversations and disk."""
    # Before what is gone is begun anew here.
    await asyncio.to_thread(client.tell_missing)
    findings = [await asyncio.to_thread(_archive, client), await asyncio.to_thread(_library, client)]
    store = await asyncio.to_thread(_store, store_check) if store_check is not None else []
    # What is mended or lost here is told too, but not twice.
    told = {finding.code for finding in store}
    notices = await asyncio.to_thread(_notices, client)
    findings += [*store, *(notice for notice in notices if notice.code not in told)]
    findings += _disk(client, free or _free)
    return findings


def _notices(client: AsyncClient) -> list[Finding]:
    """What was set aside, cut, dropped or started anew, and that nobody has dismissed yet."""
    # What was entered on the page is read, since only this tells that it is damaged.
    client.connected_models.all()
    client.connected_engines.names()
    open_notices = chain.from_iterable(notices.open() for notices in client.notices())
    return [
        Finding("notice", WARNING, notice.failure.detail_code or notice.failure.code, notice.failure, notice.at)
        for notice in open_notices
    ]


def _archive(client: AsyncClient) -> Finding:
    if client.archive is None:
        return Finding.ok("archive", Text("doctor.ok.archive_off"))
    path = client.archive.path
    try:
        archive = client.archive.open()
        result = archive.check()
        count, cited = len(archive), archive.cited_count()
    except SuyuanError as error:
        return Finding.problem("archive", error)
    if result != "ok":
        return Finding.problem("archive", ARCHIVE_FAULTY(where=path, why=result[:200]))
    return Finding.ok("archive", Text("doctor.ok.archive", {"count": count, "cited": cited, "path": path}))


def _library(client: AsyncClient) -> Finding:
    if client.settings.library_dir is None:
        return Finding.ok("library", Text("doctor.ok.library_off"))
    library = client.library
    try:
        result, count = library.check()
    except SuyuanError as error:
        return Finding.problem("library", error)
    if result != "ok":
        return Finding.problem("library", ARCHIVE_FAULTY(where=library.path, why=result[:200]))
    return Finding.ok("library", Text("doctor.ok.library", {"count": count, "path": library.path}))


def _store(store_check: StoreCheck) -> list[Finding]:
    try:
        found = store_check()
    except SuyuanError as error:
        return [Finding.problem("store", error)]
    mended = [Finding.problem("store", each, WARNING) for each in found if isinstance(each, SuyuanError)]
    if faults := [each for each in found if isinstance(each, str)]:
        return [*mended, Finding.problem("store", STORE_FAULTY(why="; ".join(faults)[:300]))]
    return mended or [Finding.ok("store", Text("doctor.ok.store"))]


def _disk(client: AsyncClient, free: Free) -> list[Finding]:
    folder = client.settings.data_dir
    if folder is None:
        return []
    if is_read_only(folder):
        return [Finding.problem("disk", FOLDER_READ_ONLY(where=folder))]
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
