"""``auto`` orders engines by what was seen here, with the documented order as prior."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import pages
from support.client import client
from support.site import Handler, Reply, Seen, reply, serve
from suyuan.search.engine_state import EngineState, forget_states, load_states
from suyuan.search.experience import Experience, learned_order
from suyuan.search.rate_limit import RateLimiter

DAY = 86_400.0
NAMES = ("ddg_html", "bing_html", "baidu_html")


class Asked:
    def __init__(self, name: str, worths: tuple[float, ...] = (), latency: float = 0.5) -> None:
        self.name, self.state, self.now = name, EngineState(latency=latency, measured=True), 1000.0
        self.state.experience.clock = lambda: self.now
        for worth in worths:
            self.state.experience.learn(worth)


def order(*asked: Any) -> list[str]:
    return [one.name for one in learned_order(asked, frozenset(NAMES))]


def test_the_documented_order_is_where_it_begins() -> None:
    assert order(*map(Asked, NAMES)) == list(NAMES)
    # One refusal may be chance; two are not.
    assert order(Asked("ddg_html", (0.0,)), Asked("bing_html")) == ["ddg_html", "bing_html"]
    assert order(Asked("ddg_html", (0.0, 0.0)), Asked("bing_html")) == ["bing_html", "ddg_html"]


def test_blocks_poor_results_and_slowness_cost_places() -> None:
    good = (0.95,) * 20
    assert order(Asked("ddg_html", (0.9, 0.0) * 10), Asked("bing_html", good)) == ["bing_html", "ddg_html"]
    assert order(Asked("ddg_html", (0.6,) * 20), Asked("bing_html", good)) == ["bing_html", "ddg_html"]
    assert order(Asked("ddg_html", good, latency=3.0), Asked("bing_html", good, latency=0.3)) == [
        "bing_html",
        "ddg_html",
    ]
    assert order(Asked("ddg_html", good), Asked("bing_html", good)) == ["ddg_html", "bing_html"]


def test_what_was_seen_long_ago_is_forgotten() -> None:
    refused = Asked("ddg_html", (0.0,) * 20)
    assert order(refused, Asked("bing_html")) == ["bing_html", "ddg_html"]
    refused.now += 5 * DAY
    assert order(refused, Asked("bing_html")) == ["ddg_html", "bing_html"]


def test_engines_that_the_plan_names_keep_their_places() -> None:
    asked = [Asked("library"), Asked("ddg_html", (0.0,) * 9), Asked("mojeek"), Asked("bing_html")]
    assert order(*asked) == ["library", "bing_html", "mojeek", "ddg_html"]


@given(
    st.dictionaries(
        st.sampled_from(["worth", "seen", "at", "latency", "until"]),
        st.one_of(st.floats(), st.integers(), st.text(max_size=4), st.none(), st.lists(st.integers(), max_size=2)),
    )
)
@settings(max_examples=60, deadline=None)
def test_whatever_is_in_the_file_an_experience_is_sound(kept: dict[str, Any]) -> None:
    state = EngineState.from_kept(kept, RateLimiter(None))
    assert 0 <= state.experience.worth <= 1 and 0 <= state.experience.strength() <= 20
    json.dumps(state.kept(), allow_nan=False)


@pytest.mark.parametrize("at", [math.inf, math.nan, -1.0, 4e18])
def test_a_time_that_cannot_be_is_no_experience(at: float) -> None:
    assert Experience.from_state({"worth": 0.0, "seen": 20, "at": at}).seen == 0


async def test_an_engine_that_refuses_is_asked_last_by_the_next_process(tmp_path: Path) -> None:
    asked: list[str] = []

    def engine(name: str, body: str, status: int = 200) -> Handler:
        def answer(seen: Seen) -> Reply:
            asked.append(name)
            return reply(body, status)

        return answer

    async with serve(engine("ddg_html", "no", 403)) as ddg, serve(engine("bing_html", pages.bing())) as bing:
        urls = {"ddg_html": ddg.url, "bing_html": bing.url}
        for number in range(3):
            async with client(urls, state_dir=tmp_path) as one:
                # As if the refusal of the last search were over.
                one.engines["ddg_html"].breaker.succeeded()
                page = await one.search(f"result snippet {number}")
                assert page.engine == "bing_html"
                order = [runner.name for runner in one.search_service.auto_order()]
            forget_states()
    assert asked[:2] == ["ddg_html", "bing_html"] and asked[-2:] != ["ddg_html", "bing_html"]
    assert order.index("bing_html") < order.index("ddg_html")
    kept = load_states(tmp_path)
    assert kept["ddg_html@direct"]["worth"] == 0 and kept["bing_html@direct"]["seen"] >= 2
