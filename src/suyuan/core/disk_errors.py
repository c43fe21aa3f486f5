"""``disk_error``: what an error of the operating system about a file means, and what helps."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from .causes.files import DISK_FULL_NOW, FILE_REFUSED, FILE_UNWRITABLE, FOLDER_READ_ONLY
from .errors import SuyuanError

# EFBIG: the limit on the size of files that a process may have.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (errno.EACCES, errno.EPERM)


def disk_error(error: OSError, where: Path | str = "") -> SuyuanError:
    """The cause that fits the number of the error."""
    place = where or error.filename or "?"
    if is_full(error):
        return DISK_FULL_NOW(where=place)
    if error.errno == errno.EROFS:
        return FOLDER_READ_ONLY(where=place)
    if error.errno in _REFUSED:
        return FILE_REFUSED(where=place)
    return FILE_UNWRITABLE(where=place, why=error.strerror or os.strerror(error.errno or errno.EIO))


def is_full(error: OSError) -> bool:
    """Whether there is no room for what was to be written."""
    return error.errno in _FULL


def is_of_disk(error: OSError) -> bool:
    """Whether an error that nobody has expected is one of a file, not of a connection."""
    if error.errno in (*_FULL, errno.EROFS):
        return True
    return error.errno in _REFUSED and error.filename is not None
