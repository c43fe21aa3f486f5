"""Research jobs are leased by the process that works on them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("suyuan_research", sa.Column("lease", sa.Float))
    op.add_column("suyuan_research", sa.Column("progress", sa.Text))
    op.create_index("suyuan_research_by_state", "suyuan_research", ["state"])
    op.execute("UPDATE suyuan_schema SET version = 7")
