"""Whether a server would let everybody in although its store has accounts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, unquote

from ..config.settings import Settings
from ..core.causes.web import ACCOUNTS_UNUSED

_USERS = "server.users"
_FILE_ADDRESS = "sqlite:///"


def check_accounts(settings: Settings) -> None:
    """Raise the cause where the store has accounts, and no setting says whether the server has them.

    What would have said so may be lost: the configuration, its folder, or the variable.
    """
    is_said = settings.origin(_USERS) != "default"
    if is_said or settings.server.users or not settings.store_address:
        return
    address = settings.store_address.reveal()
    file = Path(unquote(address.removeprefix(_FILE_ADDRESS))) if address.startswith(_FILE_ADDRESS) else None
    count = _in_database(settings) if file is None else _in_file(file)
    if count:
        looked_for = settings.config_file or (settings.agents_file and settings.agents_file.with_name("config.json"))
        raise ACCOUNTS_UNUSED(where=file or "store.url", count=count, file=looked_for)


def _in_file(file: Path) -> int:
    """The accounts in a file of SQLite, read by the standard library: most servers have none, and start sooner so."""
    if not file.exists():
        return 0
    try:
        # Never created, and opened by SQLite alone.
        address = f"file:{quote(str(file.absolute()))}?mode=rw"
        with closing(sqlite3.connect(address, uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM suyuan_people").fetchone()[0])
    except sqlite3.Error:
        # Of a version before there were accounts; or damaged, which whoever opens it tells.
        return 0


def _in_database(settings: Settings) -> int:
    """The accounts in a database server; raises where it does not answer, since nobody knows then."""
    from ..store.conversations import Store

    store = Store(settings.store_address)
    try:
        return len(store.people.all())
    finally:
        store.close()
