"""Why the user's own documents cannot be searched, or one of them not be added."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, SuyuanError


class LibraryError(SuyuanError):
    """The library of the user's own documents cannot answer."""


LIBRARY_EMPTY = Cause(LibraryError, "library.empty", "library_empty")
LIBRARY_LOST = Cause(LibraryError, "library.lost", "library_lost")
LIBRARY_DAMAGED = Cause(LibraryError, "library.damaged", "library_damaged")
LIBRARY_EMPTIED = Cause(LibraryError, "library.emptied", "library_emptied")
LIBRARY_OVERWRITTEN = Cause(LibraryError, "library.overwritten", "library_overwritten")
LIBRARY_DISK_FULL = Cause(LibraryError, "library.disk_full", "library_disk_full", retryable=True)
LIBRARY_LOCKED = Cause(LibraryError, "library.locked", "library_locked", retryable=True)
LIBRARY_READ_ONLY = Cause(LibraryError, "library.read_only", "library_read_only")
LIBRARY_UNUSABLE = Cause(LibraryError, "library.unusable", "library_unusable")
LIBRARY_OFF = Cause(LibraryError, "library.off", "library_off")
NOT_IN_LIBRARY = Cause(InvalidInput, "library.unknown", "not_in_library")
NO_SUCH_FILE = Cause(InvalidInput, "library.no_such_file", "no_such_file")
FILE_TOO_LARGE = Cause(InvalidInput, "library.too_large", "file_too_large")
LIBRARY_FULL = Cause(InvalidInput, "library.full", "library_full")
FILE_INTERRUPTED = Cause(LibraryError, "library.interrupted", "file_interrupted")
FILE_UNREADABLE = Cause(LibraryError, "library.unreadable", "file_unreadable")
