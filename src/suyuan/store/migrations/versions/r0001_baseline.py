"""The first schema, as it was before alembic."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    schema = op.create_table("suyuan_schema", sa.Column("version", sa.Integer, nullable=False))
    op.bulk_insert(schema, [{"version": 1}])
    op.create_table(
        "suyuan_conversations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("mode", sa.Text, nullable=False),
        sa.Column("search", sa.Boolean, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("lang", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Text, nullable=False),
        sa.Column("deleted_at", sa.Text),
    )
    op.create_index("suyuan_conversations_by_time", "suyuan_conversations", ["updated_at"])
    op.create_table(
        "suyuan_messages",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "conversation", sa.Text, sa.ForeignKey("suyuan_conversations.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("kept_at", sa.Text, nullable=False),
        sa.UniqueConstraint("conversation", "position"),
    )
    op.create_index("suyuan_messages_by_state", "suyuan_messages", ["state"])
    op.create_table(
        "suyuan_events",
        sa.Column("run", sa.Text, sa.ForeignKey("suyuan_messages.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("event", sa.Text, nullable=False),
    )
