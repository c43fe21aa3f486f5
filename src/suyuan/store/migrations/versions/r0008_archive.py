"""The archive of the pages that were read, where several machines share it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "suyuan_pages",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("page", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("fetched_at", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("words", sa.Text().with_variant(TSVECTOR(), "postgresql"), nullable=False),
        sa.UniqueConstraint("person", "page", "sha256"),
    )
    op.create_index("suyuan_pages_by_time", "suyuan_pages", ["person", "fetched_at"])
    op.create_index("suyuan_pages_by_words", "suyuan_pages", ["words"], postgresql_using="gin")
    op.create_table(
        "suyuan_addresses",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("address", sa.Text, primary_key=True),
        sa.Column("page", sa.Text, nullable=False),
    )
    op.execute("UPDATE suyuan_schema SET version = 8")
