"""The browsers that are logged in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table of logins."""
    op.create_table(
        "suyuan_logins", sa.Column("digest", sa.Text, primary_key=True), sa.Column("expires", sa.Float, nullable=False)
    )
    op.execute("UPDATE suyuan_schema SET version = 3")
