"""Every built-in engine passes the check for engines of other packages, and the check notices what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engines.answers import ANSWERS, OPTIONS
from suyuan.engines import registry
from suyuan.engines.kit import (
    Engine,
    EngineResults,
    EngineSettings,
    Exchange,
    JsonEngine,
    Request,
    Response,
    SearchQuery,
    SearchResult,
)
from suyuan.testing import check_engine

OTHERS = [name for name in registry.BUILT_IN if name != "stub"]


@pytest.mark.req("T7.1", "T7.2", "T7.3", "G4.2")
@pytest.mark.parametrize("name", OTHERS)
def test_every_answer_of_a_server_is_reported_as_it_is(name: str) -> None:
    ok, empty = ANSWERS[name]
    cases = [one.name for one in check_engine(registry.load(name), ok=ok, empty=empty, options=OPTIONS.get(name))]
    assert cases[:2] == ["ok", "empty"]
    assert {"401", "403", "429", "500", "captcha", "garbage", "empty body", "redirect", "slow"} <= set(cases)


class Kettle(Engine):
    """Reads a list and checks nothing, as the simplest engine of another package does."""

    name = "kettle"
    title = "Kettle"
    default_url = "https://kettle.example"

    def exchange(self, query: SearchQuery) -> Exchange:
        response = yield Request.get(f"{self.base_url}/", {"q": query.text})
        return self.parse(response, query)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        rows = response.json()["rows"]
        return EngineResults(tuple(SearchResult(row["t"], row["u"], "", self.name) for row in rows))


class CarelessKettle(Kettle):
    """Finds nothing wherever it finds no list."""

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        try:
            return super().parse(response, query)
        except (ValueError, LookupError, TypeError):
            return EngineResults()


class OwnNetwork:
    """Asks no server that it was told to ask."""

    name = "own_network"

    def __init__(self, settings: EngineSettings | None = None) -> None:
        self.settings = settings

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        return [SearchResult("", "ftp://x.example/", "", "another")]


def complaints(engine: type, **answers: object) -> dict[str, str]:
    """What the check finds wrong, by case."""
    with pytest.raises(AssertionError) as caught:
        check_engine(engine, **answers)  # type: ignore[arg-type]
    lines = str(caught.value).splitlines()[1:]
    return dict(line.strip().split(": ", 1) for line in lines)


@pytest.mark.req("T7.1", "T7.2", "G4.2")
def test_a_status_is_reported_as_such_even_if_the_engine_does_not_look_at_it() -> None:
    found = complaints(Kettle, ok={"rows": [{"t": "Tea", "u": "https://pots.example/"}]}, empty={"rows": []})
    # Its own faults are left: it takes any answer for a list.
    assert set(found) == {"garbage", "empty body", "another page", "other JSON"}
    assert all("a fault in the engine's code" in problem for problem in found.values())


@pytest.mark.req("T7.2")
def test_nothing_found_is_not_an_excuse() -> None:
    found = complaints(CarelessKettle)
    assert set(found) == {"captcha", "garbage", "empty body", "another page", "other JSON"}
    assert found["garbage"] == "expected WebParseError, found outcome empty"


def test_an_engine_that_asks_another_server_is_noticed() -> None:
    found = complaints(OwnNetwork, ok={})
    assert "asked nothing" in found["429"] or "expected WebBlocked" in found["429"]
    assert "expected outcome ok" in found["ok"]


class Missing(JsonEngine):
    name = "missing"
    title = "Missing"
    default_url = "https://missing.example"
    rows = "rows"

    def request(self, query: SearchQuery, text: str) -> Request:
        return Request.get(f"{self.base_url}/", {"q": text})

    def result(self, row: dict[str, str]) -> SearchResult:
        return SearchResult(row["t"], row["u"], "", "another")


def test_results_must_be_whole() -> None:
    rows = [{"t": "", "u": "https://pots.example/"}]
    assert "without a title" in complaints(Missing, ok={"rows": rows})["ok"]
    assert "whose engine is 'another'" in complaints(Missing, ok={"rows": [{**rows[0], "t": "Tea"}]})["ok"]
    assert "expected outcome ok, found outcome empty" in complaints(Missing, ok={"rows": []})["ok"]
