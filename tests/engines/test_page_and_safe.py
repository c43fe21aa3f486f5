"""Further pages, and adult content: the engines that know them ask for the right thing."""

from __future__ import annotations

import pytest

from engines.exchanges import first_request, sent
from suyuan.core.engine import Engine, EngineSettings
from suyuan.core.errors import InvalidInput
from suyuan.core.query import SearchQuery
from suyuan.core.secret import Secret
from suyuan.engines.baidu_html import Baidu
from suyuan.engines.bing_html import Bing
from suyuan.engines.brave import Brave
from suyuan.engines.ddg_html import DuckDuckGo
from suyuan.engines.searxng import SearXNG


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        (Bing, "first", [None, "11", "21"]),
        (Baidu, "pn", ["0", "10", "20"]),
        (Brave, "offset", [None, "1", "2"]),
        (SearXNG, "pageno", ["1", "2", "3"]),
    ],
)
def test_the_parameter_of_each_page(kind: type[Engine], name: str, values: list[str | None]) -> None:
    engine = kind(EngineSettings(api_key=Secret("key")))
    assert "page" in engine.supported_params
    asked = [sent(first_request(engine, SearchQuery("tea", page=page))).get(name) for page in (1, 2, 3)]
    assert asked == values


@pytest.mark.parametrize("page", [0, -1, 21, True, 1.5, "2"])
def test_a_bad_page_is_invalid_input(page: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchQuery("tea", page=page)
    assert caught.value.detail_code == "bad_page"


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        (Bing, "adlt", [None, "moderate", "strict"]),
        (Brave, "safesearch", [None, "moderate", "strict"]),
        (DuckDuckGo, "kp", [None, "-1", "1"]),
        (SearXNG, "safesearch", [None, "1", "2"]),
    ],
)
def test_the_parameter_of_each_filter(kind: type[Engine], name: str, values: list[str | None]) -> None:
    engine = kind(EngineSettings(api_key=Secret("key")))
    assert "safe" in engine.supported_params
    asked = [sent(first_request(engine, SearchQuery("tea", safe=safe))).get(name) for safe in (0, 1, 2)]
    assert asked == values


@pytest.mark.parametrize("safe", [-1, 3, True, "1"])
def test_a_bad_filter_is_invalid_input(safe: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchQuery("tea", safe=safe)
    assert caught.value.detail_code == "bad_safe"
