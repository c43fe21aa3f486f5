"""Focus and pin of a conversation, and the earlier versions of an answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("suyuan_conversations", sa.Column("focus", sa.Text, nullable=False, server_default=""))
    op.add_column("suyuan_conversations", sa.Column("pinned_at", sa.Text))
    op.add_column("suyuan_messages", sa.Column("version_of", sa.Text))
    op.execute("UPDATE suyuan_schema SET version = 6")
