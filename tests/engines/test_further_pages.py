"""Further pages: the engines that have them ask for the right one."""

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
