"""``Choices``: what a person has chosen once, and finds again in the next conversation."""

from __future__ import annotations

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from ..core.person import owner
from .database import Database
from .tables import choices


class Choices:
    """The choices of the person who asks; of everybody where there are no accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(self) -> bool | None:
        """How the person left the search switch; None where they never touched it."""
        row = self._database.row(select(choices.c.search).where(choices.c.person == owner()))
        return None if row is None else bool(row.search)

    def keep_search(self, on: bool) -> None:
        """Keep how the person left the search switch."""
        if self._changed(on):
            return
        try:
            with self._database.write() as connection:
                connection.execute(insert(choices).values(person=owner(), search=on))
        except IntegrityError:
            # Another window was quicker; the later choice counts.
            self._changed(on)

    def _changed(self, on: bool) -> bool:
        with self._database.write() as connection:
            changed = update(choices).where(choices.c.person == owner()).values(search=on)
            return connection.execute(changed).rowcount > 0
