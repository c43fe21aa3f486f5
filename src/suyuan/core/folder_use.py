"""``FolderUse``: who uses a data folder: many processes at once, or one that restores it."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Self

from .cause import Cause
from .causes.backup import FOLDER_IN_USE, FOLDER_RESTORING, RESTORE_UNFINISHED
from .private_file import private_folder

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where a file that is in use cannot be moved away
    fcntl = None  # type: ignore[assignment]

LOCK_FILE = ".lock"
JOURNAL_FILE = "restore.json"
"""What is left to do of a restore; the folder is usable when it is gone."""


class FolderUse:
    """A lock on a data folder, which the operating system takes back when the process ends, however it ends."""

    def __init__(self, folder: Path | None, taken: Cause, *, exclusive: bool = False) -> None:
        descriptor = _opened(folder) if folder is not None and fcntl is not None else None
        # Also for those who are not closed.
        self._close = weakref.finalize(self, os.close, descriptor) if descriptor is not None else None
        if folder is None or descriptor is None:
            return
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise taken(where=folder) from None
        except OSError:
            # A file system without locks.
            self.close()

    @classmethod
    def shared(cls, folder: Path | None) -> Self:
        """Use the folder together with others; raises the cause while it is being restored."""
        use = cls(folder, FOLDER_RESTORING)
        if folder is not None and (folder / JOURNAL_FILE).exists():
            use.close()
            raise RESTORE_UNFINISHED(where=folder)
        return use

    @classmethod
    def exclusive(cls, folder: Path, taken: Cause = FOLDER_IN_USE) -> Self:
        """Use the folder alone; raises the cause ``taken`` while anybody else uses it."""
        return cls(folder, taken, exclusive=True)

    def close(self) -> None:
        """Let others use it."""
        if self._close is not None:
            self._close()


def _opened(folder: Path) -> int | None:
    """The file that is locked; None in a folder where nothing can be written, and so nothing be restored."""
    path = folder / LOCK_FILE
    try:
        private_folder(folder)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
