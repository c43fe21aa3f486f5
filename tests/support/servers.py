"""The database servers that tests share, each started once where it is installed; otherwise the tests are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.postgres import Postgres, binaries, postgres
from support.redis import Redis, program, redis_server


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    if (programs := binaries()) is None:
        pytest.skip("PostgreSQL is not installed on this machine (apt-get install postgresql)")
    with postgres(programs) as running:
        yield running


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    pytest.importorskip("redis", reason="the optional extra suyuan[team] is not installed")
    if (found := program()) is None:
        pytest.skip("neither Redis nor Valkey is installed on this machine (apt-get install redis-server)")
    with redis_server(found) as running:
        yield running
