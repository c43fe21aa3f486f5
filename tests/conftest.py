"""What all tests share: no test reads this machine's configuration or reaches beyond loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from suyuan.pages.reader_pool import shared_readers
from suyuan.search.engine_state import forget_states
from suyuan.shared import close_all

# A test says what is right; how long it takes depends on what else the machine does.
hypothesis.settings.register_profile("suyuan", deadline=None)
hypothesis.settings.load_profile("suyuan")

# The longest first, so that no process has to wait for one of them at the end.
_LONGEST = (
    "test_page", "test_page_layout", "test_page_settings", "test_browser_life", "test_guarded_proxy",
    "test_two_workers", "test_ask", "test_browser", "test_transfer", "test_package", "test_beside_the_server", "test_docs",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--req ID``: run only the tests that show a requirement."""
    parser.addoption("--req", action="append", default=[], help="run only tests of this requirement (may be repeated)")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select what was asked for, and begin with what takes long."""
    if wanted := set(config.getoption("--req")):
        chosen = [item for item in items if any(wanted & set(mark.args) for mark in item.iter_markers("req"))]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen
    items.sort(key=lambda item: _LONGEST.index(item.path.stem) if item.path.stem in _LONGEST else len(_LONGEST))


@pytest.fixture(scope="session", autouse=True)
def _shared_readers() -> Iterator[None]:
    """Readers that tests have started serve the next tests as well: each would start its own otherwise."""
    shared_readers.acquire()
    yield
    shared_readers.release()


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own for every test, and no proxy, key or language of the machine."""
    home = tmp_path_factory.mktemp("home")
    for variable in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    for variable in (
        "BRAVE_API_KEY",
        "BOCHA_API_KEY",
        "SEARXNG_BASE_URL",
        "WEB_SEARCH_BACKEND",
        "LC_ALL",
        "LC_MESSAGES",
        "LANG",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    # Tests may run as root, and load no pages but their own.
    monkeypatch.setenv("SUYUAN_CHROME_ALLOW_UNSANDBOXED", "1")
    monkeypatch.setenv("SUYUAN_CONFIG_DIR", str(home / "config"))
    monkeypatch.setenv("SUYUAN_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("SUYUAN_DATA_DIR", str(home / "data"))
    yield home
    close_all()
    forget_states()
