"""Tables at a database server that make room for others: moved, never deleted."""

from __future__ import annotations

from sqlalchemy import inspect, text

from ..core.secret import Secret
from .connections import SESSION_NAME
from .database import Database
from .tables import metadata

_OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'suyuan %' "
    "AND application_name <> :own"
)


def is_in_use(database: Database) -> bool:
    """Whether other processes of ours are connected to a database server."""
    with database.read() as connection:
        return bool(connection.execute(_OTHERS, {"own": SESSION_NAME}).scalar())


def move_tables(address: Secret | str, schema: str) -> None:
    """Move all tables with their indexes to a new schema of the same database; does nothing where that was done."""
    database = Database(address)
    try:
        with database.write() as connection:
            if schema in inspect(connection).get_schema_names():
                return
            present = set(inspect(connection).get_table_names()) & set(metadata.tables)
            connection.exec_driver_sql(f'CREATE SCHEMA "{schema}"')
            for name in sorted(present):
                connection.exec_driver_sql(f'ALTER TABLE "{name}" SET SCHEMA "{schema}"')
    finally:
        database.close()
