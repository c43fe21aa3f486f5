"""What 0.3 adds: the clock, what people chose, who made a token, indexes in the order of the list of conversations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_CONVERSATIONS = "suyuan_conversations"
_DELETED, _PINNED = "deleted_at IS NOT NULL", "deleted_at IS NULL AND pinned_at IS NOT NULL"
_LISTED = "deleted_at IS NULL AND pinned_at IS NULL"


def upgrade() -> None:
    """Add two tables, a column and the indexes, one of them in place of another one."""
    op.create_table(
        "suyuan_clock",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("since", sa.Float, nullable=False),
        sa.Column("seen", sa.Float, nullable=False),
    )
    op.create_table(
        "suyuan_choices",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("search", sa.Boolean, nullable=False),
    )
    op.add_column("suyuan_tokens", sa.Column("made_by", sa.Text))
    op.drop_index("suyuan_conversations_by_person", _CONVERSATIONS)
    _create("listed", ["person", "updated_at", "created_at", "id"], _LISTED)
    _create("pinned", ["person", "updated_at"], _PINNED)
    _create("deleted", ["person", "updated_at"], _DELETED)
    op.execute("UPDATE suyuan_schema SET version = 10")


def _create(name: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(
        f"suyuan_conversations_{name}",
        _CONVERSATIONS,
        columns,
        sqlite_where=condition,
        postgresql_where=condition,
    )
