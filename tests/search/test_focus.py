"""A focus chooses engines, domains, language and age of a search that names none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suyuan.client import AsyncClient
from suyuan.config.load import load_settings
from suyuan.config.schema import config_schema
from suyuan.core.errors import InvalidInput, SuyuanError
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import LIBRARY
from suyuan.engines import registry
from suyuan.search.focus import FOCUSES, Focus, focus_of
from suyuan.tools.specs import WEB_SEARCH, web_search_contract

NEWS = FOCUSES["news"]

NEED_KEY = {name for name in registry.BUILT_IN if registry.needs_key(name)}


def client(folder: Path, **focuses: Any) -> AsyncClient:
    data = {"tools": {"webSearch": {"focus": focuses, "defaultProvider": "stub"}}}
    (folder / "config.json").write_text(json.dumps(data), encoding="utf-8")
    environ = {f"SUYUAN_{name}_DIR": str(folder) for name in ("STATE", "DATA")}
    return AsyncClient(load_settings(environ, folder))


def names_in(focus: Focus) -> set[str]:
    return set(focus.engines.replace("+", ",").split(",")) - {""}


def test_every_kind_of_source_has_engines_that_exist() -> None:
    assert list(FOCUSES) == [
        "web",
        "news",
        "academic",
        "code",
        "discussions",
        "encyclopedia",
        "images",
        "mine",
        "china",
    ]
    for focus in FOCUSES.values():
        assert names_in(focus) <= {*registry.BUILT_IN, LIBRARY}
        # At least one of them needs no key.
        assert not names_in(focus) or names_in(focus) - NEED_KEY


def test_what_the_query_asks_for_is_stronger() -> None:
    day = Freshness.parse("day")
    focus = Focus(domains=("a.example",), lang="zh", freshness=Freshness.parse("month"))
    plain = focus.applied(SearchQuery("tea"))
    assert (plain.lang, plain.freshness, plain.allowed_domains) == ("zh", focus.freshness, ("a.example",))
    asked = focus.applied(SearchQuery("tea", lang="en", freshness=day, allowed_domains=("b.example",)))
    assert (asked.lang, asked.freshness, asked.allowed_domains) == ("en", day, ("b.example",))


def test_engines_that_cannot_be_asked_here_are_left_out() -> None:
    assert NEWS.plan(registry.BUILT_IN, lambda name: name != "gdelt") == "ddg_news+bing_news"
    assert FOCUSES["china"].plan(registry.BUILT_IN, lambda name: name != "bocha") == "baidu_html,so360,sogou,bing_html"
    assert FOCUSES["web"].plan(registry.BUILT_IN, bool) == ""
    with pytest.raises(SuyuanError) as caught:
        NEWS.plan((), bool)
    assert caught.value.detail_code == "no_focus_engine"


def test_an_unknown_focus_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput) as caught:
        focus_of("sports", FOCUSES)
    assert caught.value.detail_code == "unknown_focus"
    assert "'sports'" in caught.value.message and "academic" in caught.value.hint
    assert focus_of(" News ", FOCUSES) is NEWS


async def test_a_focus_of_the_configuration(tmp_path: Path) -> None:
    own = {"engines": "stub", "domains": ["example.org"], "language": "en", "freshness": "week"}
    async with client(tmp_path, mine=own) as made:
        assert not made.settings.problems
        page = await made.search("tea", focus="mine")
        assert [result.source for result in page.results] == ["example.org"]
        assert (page.query.lang, page.query.freshness) == ("en", Freshness.parse("week"))
        assert len((await made.search("tea", focus="web")).results) == 3
        with pytest.raises(InvalidInput, match="no focus named"):
            await made.search("tea", focus="yours")


async def test_a_plan_that_names_engines_is_stronger_and_auto_is_not(tmp_path: Path) -> None:
    async with client(tmp_path, mine={"engines": "stub"}) as made:
        assert (await made.search("tea", engines="stub", focus="academic")).engine == "stub"
        assert (await made.search("tea", engines="auto", focus="mine")).engine == "stub"


@pytest.mark.parametrize(
    ("own", "path"),
    [
        ({"engines": "altavista"}, "tools.webSearch.focus.mine.engines"),
        ({"freshness": "soon"}, "tools.webSearch.focus.mine.freshness"),
        ({"language": "English!"}, "tools.webSearch.focus.mine.language"),
        ({"domains": ["not a domain"]}, "tools.webSearch.focus.mine.domains"),
        ({"flavour": "x"}, "tools.webSearch.focus.mine.flavour"),
    ],
)
async def test_mistakes_are_reported(tmp_path: Path, own: dict[str, Any], path: str) -> None:
    async with client(tmp_path, mine=own) as made:
        assert [problem.path for problem in made.settings.problems] == [path]


def test_the_schema_knows_them() -> None:
    focus = config_schema()["properties"]["tools"]["properties"]["webSearch"]["properties"]["focus"]
    assert set(focus["additionalProperties"]["properties"]) == {"engines", "domains", "language", "freshness"}


def test_models_choose_from_a_list() -> None:
    (parameter,) = [one for one in WEB_SEARCH.parameters if one.name == "focus"]
    assert parameter.schema["enum"] == list(FOCUSES)
    assert "focus" in web_search_contract()["properties"]
