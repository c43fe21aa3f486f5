"""One demo web for all tests of research."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the optional extra suyuan[chat] is not installed")

from research.researchers import Researchers
from suyuan.demo.web import DemoWeb


@pytest.fixture(scope="session")
def demo_web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


@pytest.fixture
def researchers(demo_web: DemoWeb, tmp_path: Path) -> Researchers:
    return Researchers(demo_web, tmp_path)
