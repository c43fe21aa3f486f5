"""Why the archive cannot be used. It is a cache: reading and searching go on without it."""

from __future__ import annotations

from ..cause import Cause
from ..errors import SuyuanError


class ArchiveError(SuyuanError):
    """The archive of the pages that were read cannot be used."""


ARCHIVE_DAMAGED = Cause(ArchiveError, "archive.damaged", "archive_damaged")
ARCHIVE_FULL = Cause(ArchiveError, "archive.full", "archive_full", retryable=True)
ARCHIVE_LOCKED = Cause(ArchiveError, "archive.locked", "archive_locked", retryable=True)
ARCHIVE_READ_ONLY = Cause(ArchiveError, "archive.read_only", "archive_read_only")
ARCHIVE_UNUSABLE = Cause(ArchiveError, "archive.unusable", "archive_unusable")
ARCHIVE_NOT_OURS = Cause(ArchiveError, "archive.not_ours", "archive_not_ours")
ARCHIVE_TOO_NEW = Cause(ArchiveError, "archive.too_new", "archive_too_new")
ARCHIVE_INDEXING = Cause(ArchiveError, "archive.indexing", "archive_indexing", retryable=True)

# Not raised, but told:
ARCHIVE_EMPTIED = Cause(ArchiveError, "archive.emptied", "archive_emptied")
ARCHIVE_LOST = Cause(ArchiveError, "archive.lost", "archive_lost")
ARCHIVE_OVERWRITTEN = Cause(ArchiveError, "archive.overwritten", "archive_overwritten")
ARCHIVE_REPLACED = Cause(ArchiveError, "archive.replaced", "archive_replaced")
ARCHIVE_INDEX_DAMAGED = Cause(ArchiveError, "archive.index_damaged", "archive_index_damaged")
ARCHIVE_PRUNED = Cause(ArchiveError, "archive.pruned", "archive_pruned")
