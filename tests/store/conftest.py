"""The databases of these tests: SQLite, and a PostgreSQL server where one is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.postgres import Postgres, binaries, postgres


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    if (programs := binaries()) is None:
        pytest.skip("PostgreSQL is not installed on this machine")
    with postgres(programs) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'data' / 'chat.sqlite'}"
    running: Postgres = request.getfixturevalue("server")
    return running.fresh()
