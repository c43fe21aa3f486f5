"""Accounts of people who log in at an OpenID provider."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the column."""
    op.add_column("suyuan_people", sa.Column("subject", sa.Text))
    op.create_index("suyuan_people_by_subject", "suyuan_people", ["subject"], unique=True)
    op.execute("UPDATE suyuan_schema SET version = 9")
