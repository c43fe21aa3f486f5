"""Engines of other packages: made as they can be, and whatever their code raises is their own failure."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from support.site import free_port
from suyuan.client import AsyncClient
from suyuan.config.settings import Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError
from suyuan.core.foreign_engine import adapted
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.doctor.engines import check
from suyuan.engines import registry

ROW = {"title": "Tea", "url": "https://tea.example/", "snippet": "Leaves."}
RESULT = SearchResult("Tea", "https://tea.example/", "Leaves.")


def plain(answer: Any) -> Callable[..., Any]:
    """A class with nothing but what the interface asks for, whose search gives ``answer``."""

    class Plain:
        name = "mine"

        def search(self, query: str, num_results: int) -> Any:
            if isinstance(answer, type) and issubclass(answer, BaseException):
                raise answer("of its own")
            return answer

    return Plain


def with_attribute(name: str, value: Any) -> Callable[..., Any]:
    base: Any = plain([ROW])
    return type("Odd", (base,), {name: value})


def raising(*_: Any) -> Any:
    raise RuntimeError("of its own")


async def searched(factory: Any) -> Any:
    async with AsyncClient(Settings(), engines={"mine": factory}) as client:
        return await client.search("tea leaves", engines="mine")


class Asynchronous:
    name = "another_name"

    async def search(self, query: str, num_results: int) -> list[dict[str, str]]:
        return [ROW]


class Nameless:
    def search(self, query: str, num_results: int) -> list[dict[str, str]]:
        return [ROW]


class WithSettings(Nameless):
    def __init__(self, settings: EngineSettings) -> None:
        assert isinstance(settings, EngineSettings)


class WithAnnotation(Nameless):
    def __init__(self, own: EngineSettings | None = None) -> None:
        assert isinstance(own, EngineSettings)


class WithOwnDefault(Nameless):
    def __init__(self, address: str = "https://tea.example") -> None:
        assert isinstance(address, str)


class WithKeywords(Nameless):
    def __init__(self, *rest: object, **more: object) -> None:
        assert not rest and not more


CONSTRUCTIONS = [
    plain([ROW]), Asynchronous, Nameless, WithSettings, WithAnnotation, WithOwnDefault, WithKeywords,
    Nameless(), Nameless, lambda: Nameless(), lambda settings: WithSettings(settings),
]  # fmt: skip


@pytest.mark.req("G4.1", "G4.2")
@pytest.mark.parametrize("factory", CONSTRUCTIONS)
async def test_an_engine_gets_the_settings_if_it_takes_them(factory: Any) -> None:
    page = await searched(factory)
    assert [(one.title, one.url, one.snippet, one.engine) for one in page.results] == [
        ("Tea", "https://tea.example/", "Leaves.", "mine")
    ]


@pytest.mark.req("G4.1", "G4.2", "T1.1")
@pytest.mark.parametrize(
    ("answer", "count"),
    [([ROW], 1), ((ROW, RESULT), 1), ([], 0), (iter([ROW]), 1), (EngineResults((RESULT,)), 1),
     ([{"url": "https://tea.example/"}], 1), ([{**ROW, "title": None}], 1), ([ROW, {**ROW, "url": 5}], 1)],
)  # fmt: skip
async def test_results_are_ours_or_mappings(answer: Any, count: int) -> None:
    assert len((await searched(plain(answer))).results) == count


WRONG_ANSWERS: list[Any] = [
    None,
    5,
    "text",
    b"bytes",
    {"results": []},
    [5],
    ["text"],
    [{"title": "no address"}],
    [None],
    [[ROW]],
]


@pytest.mark.req("G4.1", "G1.3")
@pytest.mark.parametrize("answer", WRONG_ANSWERS)
async def test_any_other_result_is_named_with_what_is_expected(answer: Any) -> None:
    with pytest.raises(SuyuanError) as caught:
        await searched(plain(answer))
    assert caught.value.detail_code == "engine_bug" and "suyuan.SearchResult" in caught.value.message
    assert "title, url and snippet" in caught.value.message


BROKEN = [
    raising,
    type("Searchless", (), {"name": "mine"}),
    *(plain(fault) for fault in (RuntimeError, StopIteration, SystemExit, TypeError, KeyError)),
    *(with_attribute(name, property(raising)) for name in ("title", "configured", "base_url", "burst", "live_web")),
    *(with_attribute(name, object()) for name in ("title", "base_url", "burst", "supported_params", "rate_per_minute")),
]


@pytest.mark.req("G4.2", "G1.3")
@pytest.mark.parametrize("factory", BROKEN)
async def test_whatever_it_raises_is_its_own_failure(factory: Any) -> None:
    engines = {"mine": factory, "good": plain([ROW])}
    async with AsyncClient(Settings(), engines=engines) as client:
        with pytest.raises(SuyuanError) as caught:
            await client.search("tea leaves", engines="mine")
        assert caught.value.detail_code == "engine_bug" and caught.value.engine == "mine"
        assert (await client.search("tea leaves", engines="mine,good")).results
        assert client.engines.status("good").ready
        assert client.engines.status("mine").state in ("ready", "broken")
        found = {finding.name: finding for finding in await check(client)}
        assert found["mine"].code == "engine_bug" and found["good"].code == "ok"


# --- installed
MODULES = {
    "works": "class Made:\n    name = 'works'\n    def search(self, query, num_results):\n"
    "        return [{'title': 'Tea', 'url': 'https://tea.example/', 'snippet': 'Leaves.'}]\n",
    "at_import": "raise RuntimeError('of its own')\n",
    "exits_at_import": "raise SystemExit(3)\n",
    "not_there": "",
    "when_made": "class Made:\n    name = 'when_made'\n    def __init__(self):\n        raise RuntimeError('of its own')\n",
    "by_an_attribute": "class Made:\n    name = 'by_an_attribute'\n    @property\n    def configured(self):\n"
    "        raise RuntimeError('of its own')\n    def search(self, query, num_results):\n        return []\n",
    "by_its_class": "class Meta(type):\n    def __getattr__(cls, name):\n        raise RuntimeError('of its own')\n"
    "class Made(metaclass=Meta):\n    name = 'by_its_class'\n    options = 5\n    def search(self, query, num_results):\n"
    "        raise RuntimeError('of its own')\n",
    "by_its_answer": "class Made:\n    name = 'by_its_answer'\n    def search(self, query, num_results):\n"
    "        return 'text'\n",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a program beside which these engines are installed."""
    folder = tmp_path_factory.mktemp("installed")
    about = folder / "other_engines-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other-engines\nVersion: 1.0\n")
    entries = "\n".join(f"{name} = engine_{name}:Made" for name in MODULES)
    (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{entries}\n")
    for name, code in MODULES.items():
        (folder / f"engine_{name}.py").write_text(code)
    home = tmp_path_factory.mktemp("home")
    keep = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(folder), "LANG": "C.UTF-8"}
    return {**keep, "SUYUAN_LANG": "en", "SEARXNG_BASE_URL": "http://127.0.0.1:9"}


def suyuan(installed: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "suyuan", *arguments]
    return subprocess.run(command, env=installed, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.req("G4.2", "G1.3")
@pytest.mark.parametrize("name", MODULES)
def test_an_installed_engine_is_searched_or_says_that_its_code_fails(installed: dict[str, str], name: str) -> None:
    done = suyuan(installed, "search", "-e", name, "--json", "tea leaves")
    assert "Traceback" not in done.stdout and done.returncode in (0, 3)
    if name == "works":
        assert "https://tea.example/" in done.stdout
    else:
        assert "engine_bug" in done.stdout + done.stderr and name in done.stdout + done.stderr


@pytest.mark.req("G4.2")
@pytest.mark.parametrize(
    "command", [("engines",), ("engines", "--json"), ("doctor", "--offline"), ("doctor", "--json", "--offline")]
)
def test_every_engine_is_listed_beside_those_that_fail(installed: dict[str, str], command: tuple[str, ...]) -> None:
    done = suyuan(installed, *command)
    assert "Traceback" not in done.stderr, done.stderr
    assert [name for name in MODULES if name not in done.stdout] == []
    assert "of its own" in done.stdout


@pytest.mark.req("G4.2", "C8.3")
@pytest.mark.parametrize("plan", ["auto", "when_made", "at_import", "by_its_class"])
def test_the_server_serves_whatever_an_installed_engine_does(installed: dict[str, str], plan: str) -> None:
    port = free_port()
    command = [sys.executable, "-m", "suyuan", "serve", "--no-open", "--no-supervise", "--port", str(port)]
    process = subprocess.Popen(command, env={**installed, "WEB_SEARCH_BACKEND": plan})
    try:
        for path in ("/api/health", "/", "/settings", "/api/health"):
            assert _status(f"http://127.0.0.1:{port}{path}") == 200, path
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=30) as answer:
            states = {engine["name"]: engine["state"] for engine in json.load(answer)["engines"]}
        assert states["works"] == "ready" and states["at_import"] == states["when_made"] == "broken"
    finally:
        process.terminate()
        process.wait(30)


def _status(url: str) -> int:
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            time.sleep(0.1)
    return 0


class Escaping(BaseException):
    """What no handler of errors catches."""


@pytest.mark.req("G1.3", "G4.2", "C7.1")
@pytest.mark.parametrize(
    "kind", [asyncio.CancelledError, KeyboardInterrupt, SystemExit, Escaping, StopIteration, RecursionError]
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_whatever_a_search_raises_ends_nothing_but_this_engine(kind: type[BaseException], is_async: bool) -> None:
    if is_async and kind is StopIteration:
        pytest.skip("Python itself turns it into a RuntimeError there")

    class Raising:
        name = "raising"

        def search(self, query: str, num_results: int) -> Any:
            raise kind()

    class RaisingAsync:
        name = "raising"

        async def search(self, query: str, num_results: int) -> Any:
            raise kind()

    with pytest.raises(SuyuanError) as caught:
        await searched(RaisingAsync if is_async else Raising)
    assert caught.value.detail_code == "engine_bug"


async def test_a_search_that_is_cancelled_is_cancelled() -> None:
    class Slow:
        name = "slow"

        async def search(self, query: str, num_results: int) -> Any:
            await asyncio.sleep(60)

    task = asyncio.ensure_future(searched(Slow))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class Row:
    """A result of somebody else's class."""

    def __init__(self, url: Any) -> None:
        self.title, self.snippet, self._url = "Tea", "about tea", url

    @property
    def url(self) -> str:
        if isinstance(self._url, Exception):
            raise self._url
        return str(self._url)


@pytest.mark.req("C7.2", "G4.1")
@pytest.mark.parametrize("bad", [None, 5, "text", [ROW], {"title": "no address"}, Row(KeyError("x")), object()])
async def test_a_bad_row_costs_only_itself(bad: Any) -> None:
    engine = adapted(plain([ROW, bad, Row("https://row.example/")])())
    results = await engine.results_of(SearchQuery("tea leaves"))
    assert [result.url for result in results.results] == [ROW["url"], "https://row.example/"]
    assert [row.number for row in results.skipped] == [2]
