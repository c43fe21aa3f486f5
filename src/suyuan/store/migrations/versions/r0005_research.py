"""Research jobs and their steps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the tables of research jobs."""
    op.create_table(
        "suyuan_research",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("plan", sa.Text),
        sa.Column("result", sa.Text),
        sa.Column("stopping", sa.Boolean, nullable=False),
        sa.Column("person", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Text, nullable=False),
        sa.Column("owner", sa.Text),
    )
    op.create_index("suyuan_research_by_time", "suyuan_research", ["created_at"])
    op.create_table(
        "suyuan_research_steps",
        sa.Column("job", sa.Text, sa.ForeignKey("suyuan_research.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.UniqueConstraint("job", "key"),
    )
    op.execute("UPDATE suyuan_schema SET version = 5")
