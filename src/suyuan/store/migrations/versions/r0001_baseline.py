"""The schema of 0.1, as it was before alembic."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from suyuan.store.columns import key, owner, texts

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    schema = op.create_table("suyuan_schema", sa.Column("version", sa.Integer, nullable=False))
    op.bulk_insert(schema, [{"version": 1}])
    op.create_table(
        "suyuan_conversations",
        key("id"),
        *texts("title", "mode"),
        sa.Column("search", sa.Boolean, nullable=False),
        *texts("engine", "model", "lang", "created_at", "updated_at"),
        sa.Column("deleted_at", sa.Text),
    )
    op.create_index("suyuan_conversations_by_time", "suyuan_conversations", ["updated_at"])
    op.create_table(
        "suyuan_messages",
        key("id"),
        owner("conversation", "suyuan_conversations"),
        *texts("role", "text", "state", "created_at", "kept_at"),
        sa.Column("answer", sa.Text),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text),
        sa.UniqueConstraint("conversation", "position"),
    )
    op.create_index("suyuan_messages_by_state", "suyuan_messages", ["state"])
    op.create_table(
        "suyuan_events",
        owner("run", "suyuan_messages", primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        *texts("event"),
    )
