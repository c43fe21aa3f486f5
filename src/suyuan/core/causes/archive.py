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
