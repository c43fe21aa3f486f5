"""Why everything that is kept cannot be backed up or restored."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, SuyuanError


class BackupError(SuyuanError):
    """A backup cannot be written or read."""


FOLDER_IN_USE = Cause(BackupError, "backup.in_use", "folder_in_use", retryable=True)
FOLDER_RESTORING = Cause(BackupError, "backup.restoring", "folder_restoring", retryable=True)
RESTORE_UNFINISHED = Cause(BackupError, "backup.unfinished", "restore_unfinished")
STORE_IN_USE = Cause(BackupError, "backup.store_in_use", "store_in_use", retryable=True)
BACKUP_EXISTS = Cause(InvalidInput, "backup.exists", "backup_exists")
BACKUP_INSIDE = Cause(InvalidInput, "backup.inside", "backup_inside")
BACKUP_UNDER_WAY = Cause(BackupError, "backup.under_way", "backup_under_way", retryable=True)
BACKUP_SOURCE_DAMAGED = Cause(BackupError, "backup.source_damaged", "backup_source_damaged")
BACKUP_NOT_WRITTEN = Cause(BackupError, "backup.not_written", "backup_not_written", retryable=True)
NOTHING_TO_BACK_UP = Cause(InvalidInput, "backup.nothing", "nothing_to_back_up")
NO_BACKUP = Cause(InvalidInput, "backup.none", "no_backup")
BACKUP_NOT_OURS = Cause(InvalidInput, "backup.not_ours", "backup_not_ours")
BACKUP_TOO_NEW = Cause(InvalidInput, "backup.too_new", "backup_too_new")
BACKUP_DAMAGED = Cause(InvalidInput, "backup.damaged", "backup_damaged")
BACKUP_INCOMPLETE = Cause(InvalidInput, "backup.incomplete", "backup_incomplete")
BACKUP_UNSAFE = Cause(InvalidInput, "backup.unsafe", "backup_unsafe")
FOLDER_NOT_EMPTY = Cause(InvalidInput, "backup.not_empty", "folder_not_empty")
RESTORE_NOT_WRITTEN = Cause(BackupError, "backup.not_restored", "restore_not_written", retryable=True)
RESTORE_STOPPED = Cause(BackupError, "backup.stopped", "restore_stopped", retryable=True)
