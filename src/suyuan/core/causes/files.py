"""Why a file with what was entered on the page, or with an answer, cannot be used."""

from __future__ import annotations

from ..cause import Cause
from ..errors import SuyuanError


class FileError(SuyuanError):
    """A file of the data folder cannot be used."""


FILE_DAMAGED = Cause(FileError, "files.damaged", "file_damaged")
FILE_LOST = Cause(FileError, "files.lost", "file_lost")
FILE_EMPTIED = Cause(FileError, "files.emptied", "file_emptied")
FILE_UNREADABLE_NOW = Cause(FileError, "files.unreadable", "file_unreadable_now", retryable=True)
DISK_FULL_NOW = Cause(FileError, "files.disk_full", "disk_full_now", retryable=True)
FOLDER_READ_ONLY = Cause(FileError, "files.read_only", "folder_read_only", retryable=True)
FILE_REFUSED = Cause(FileError, "files.refused", "file_refused", retryable=True)
FILE_UNWRITABLE = Cause(FileError, "files.unwritable", "file_unwritable", retryable=True)
ANSWER_DAMAGED = Cause(FileError, "files.answer_damaged", "answer_damaged")
