"""What alembic runs for a command: the migrations, in the transaction of the caller."""

from __future__ import annotations

from alembic import context

from suyuan.store.tables import metadata, revisions


def run() -> None:
    """Run the migrations."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=metadata, version_table=revisions.name)
    with context.begin_transaction():
        context.run_migrations()


# The name under which alembic loads this file.
if __name__ == "env_py":
    run()
