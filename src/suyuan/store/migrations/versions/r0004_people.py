"""Whose conversations are whose, who may log in, and until when a running answer counts as such."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the owners and the leases, and create the tables of people."""
    for table in ("suyuan_conversations", "suyuan_logins"):
        op.add_column(table, sa.Column("person", sa.Text, nullable=False, server_default=""))
    op.create_index("suyuan_conversations_by_person", "suyuan_conversations", ["person", "updated_at"])
    op.add_column("suyuan_logins", sa.Column("begun", sa.Float, nullable=False, server_default="0"))
    op.create_index("suyuan_logins_by_person", "suyuan_logins", ["person"])
    op.add_column("suyuan_messages", sa.Column("lease", sa.Float))
    op.add_column("suyuan_messages", sa.Column("stopping", sa.Boolean, nullable=False, server_default=sa.false()))
    _create_people()
    _create_records()
    op.execute("UPDATE suyuan_schema SET version = 4")


def _create_people() -> None:
    op.create_table(
        "suyuan_people",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("password", sa.Text, nullable=False),
        sa.Column("quotas", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("disabled_at", sa.Text),
    )
    op.create_table(
        "suyuan_tokens",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, sa.ForeignKey("suyuan_people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("expires", sa.Float),
        sa.Column("used_at", sa.Text),
    )
    op.create_index("suyuan_tokens_by_person", "suyuan_tokens", ["person"])


def _create_records() -> None:
    op.create_table(
        "suyuan_shares",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column(
            "conversation", sa.Text, sa.ForeignKey("suyuan_conversations.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("until", sa.Text, nullable=False),
        sa.Column("expires", sa.Float),
    )
    op.create_index("suyuan_shares_by_conversation", "suyuan_shares", ["conversation"])
    op.create_table(
        "suyuan_usage",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("day", sa.Text, primary_key=True),
        sa.Column("searches", sa.Integer, nullable=False),
        sa.Column("answers", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("money", sa.Float, nullable=False),
    )
    op.create_table(
        "suyuan_audit",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
    )
    op.create_index("suyuan_audit_by_time", "suyuan_audit", ["at"])
