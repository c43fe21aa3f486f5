"""Why conversations cannot be stored or read."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, SuyuanError


class StoreError(SuyuanError):
    """The place where conversations are kept cannot be used."""


STORE_BAD_ADDRESS = Cause(InvalidInput, "store.bad_address", "store_bad_address")
STORE_NO_DRIVER = Cause(StoreError, "store.no_driver", "store_no_driver")
STORE_NOT_A_DATABASE = Cause(StoreError, "store.not_a_database", "store_not_a_database")
STORE_NOT_OURS = Cause(StoreError, "store.not_ours", "store_not_ours")
STORE_TOO_NEW = Cause(StoreError, "store.too_new", "store_too_new")
STORE_NOT_WRITABLE = Cause(StoreError, "store.not_writable", "store_not_writable")
STORE_FULL = Cause(StoreError, "store.full", "store_full", retryable=True)
STORE_DAMAGED = Cause(StoreError, "store.damaged", "store_damaged")
STORE_INDEX_DAMAGED = Cause(StoreError, "store.index_damaged", "store_index_damaged")
STORE_EMPTIED = Cause(StoreError, "store.emptied", "store_emptied")
STORE_LOST = Cause(StoreError, "store.lost", "store_lost")
STORE_GONE = Cause(StoreError, "store.gone", "store_gone")
STORE_RESCUED = Cause(StoreError, "store.rescued", "store_rescued")
STORE_OVERWRITTEN = Cause(StoreError, "store.overwritten", "store_overwritten")
STORE_OVERWRITTEN_SAVED = Cause(StoreError, "store.overwritten_saved", "store_overwritten_saved")
STORE_SALVAGED = Cause(StoreError, "store.salvaged", "store_salvaged")
STORE_CLOCK_JUMPED = Cause(StoreError, "store.clock_jumped", "store_clock_jumped")
STORE_BUSY = Cause(StoreError, "store.busy", "store_busy", retryable=True)
STORE_UNREACHABLE = Cause(StoreError, "store.unreachable", "store_unreachable", retryable=True)
STORE_NOT_EMPTY = Cause(StoreError, "store.not_empty", "store_not_empty")
STORE_INCOMPLETE = Cause(StoreError, "store.incomplete", "store_incomplete", retryable=True)
STORE_UNFINISHED = Cause(StoreError, "store.unfinished", "store_unfinished")
STORE_NO_BACKUP = Cause(InvalidInput, "store.no_backup", "store_no_backup")
STORE_SLOW = Cause(StoreError, "store.slow", "store_slow", retryable=True)
