"""What 0.2 adds: people, research jobs, the shared archive; leases, focus, pins and versions of answers.

The numbers between were never released.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

from suyuan.store.columns import key, owner, texts

revision = "0009"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns to the tables of 0.1, and create the others."""
    for name in ("person", "focus"):
        op.add_column("suyuan_conversations", sa.Column(name, sa.Text, nullable=False, server_default=""))
    op.add_column("suyuan_conversations", sa.Column("pinned_at", sa.Text))
    op.create_index("suyuan_conversations_by_person", "suyuan_conversations", ["person", "updated_at"])
    op.add_column("suyuan_messages", sa.Column("lease", sa.Float))
    op.add_column("suyuan_messages", sa.Column("stopping", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("suyuan_messages", sa.Column("version_of", sa.Text))
    _create_people()
    _create_records()
    _create_research()
    _create_archive()
    op.execute("UPDATE suyuan_schema SET version = 9")


def _create_people() -> None:
    op.create_table(
        "suyuan_people",
        key("id"),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        *texts("role", "password", "quotas", "created_at"),
        sa.Column("disabled_at", sa.Text),
        sa.Column("subject", sa.Text),
    )
    op.create_index("suyuan_people_by_subject", "suyuan_people", ["subject"], unique=True)
    op.create_table(
        "suyuan_logins",
        key("digest"),
        sa.Column("expires", sa.Float, nullable=False),
        sa.Column("person", sa.Text, nullable=False, server_default=""),
        sa.Column("begun", sa.Float, nullable=False, server_default="0"),
    )
    op.create_index("suyuan_logins_by_person", "suyuan_logins", ["person"])
    op.create_table(
        "suyuan_tokens",
        key("id"),
        owner("person", "suyuan_people"),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        *texts("label", "scopes", "created_at"),
        sa.Column("expires", sa.Float),
        sa.Column("used_at", sa.Text),
    )
    op.create_index("suyuan_tokens_by_person", "suyuan_tokens", ["person"])


def _create_records() -> None:
    op.create_table(
        "suyuan_shares",
        key("id"),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        owner("conversation", "suyuan_conversations"),
        *texts("created_at", "until"),
        sa.Column("expires", sa.Float),
    )
    op.create_index("suyuan_shares_by_conversation", "suyuan_shares", ["conversation"])
    counted = [sa.Column(name, sa.Integer, nullable=False) for name in ("searches", "answers", "tokens")]
    op.create_table("suyuan_usage", key("person"), key("day"), *counted, sa.Column("money", sa.Float, nullable=False))
    op.create_table("suyuan_audit", key("id"), *texts("at", "person", "action", "what", "address"))
    op.create_index("suyuan_audit_by_time", "suyuan_audit", ["at"])


def _create_research() -> None:
    op.create_table(
        "suyuan_research",
        key("id"),
        *texts("question", "state", "request", "created_at", "updated_at"),
        *(sa.Column(name, sa.Text) for name in ("plan", "result", "owner", "progress")),
        sa.Column("stopping", sa.Boolean, nullable=False),
        sa.Column("person", sa.Text, nullable=False, server_default=""),
        sa.Column("lease", sa.Float),
    )
    op.create_index("suyuan_research_by_time", "suyuan_research", ["created_at"])
    op.create_index("suyuan_research_by_state", "suyuan_research", ["state"])
    op.create_table(
        "suyuan_research_steps",
        owner("job", "suyuan_research", primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        *texts("key", "kind", "data", "sha256", "at"),
        sa.UniqueConstraint("job", "key"),
    )


def _create_archive() -> None:
    op.create_table(
        "suyuan_pages",
        key("person"),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        *texts("page", "sha256", "fetched_at", "title", "document"),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("words", sa.Text().with_variant(TSVECTOR(), "postgresql"), nullable=False),
        sa.UniqueConstraint("person", "page", "sha256"),
    )
    op.create_index("suyuan_pages_by_time", "suyuan_pages", ["person", "fetched_at"])
    op.create_index("suyuan_pages_by_words", "suyuan_pages", ["words"], postgresql_using="gin")
    op.create_table("suyuan_addresses", key("person"), key("address"), *texts("page"))
