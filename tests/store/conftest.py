"""The databases of these tests: SQLite, and a PostgreSQL server where one is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.postgres import Postgres
from support.servers import server

__all__ = ["server"]


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'data' / 'chat.sqlite'}"
    running: Postgres = request.getfixturevalue("server")
    return running.fresh()
