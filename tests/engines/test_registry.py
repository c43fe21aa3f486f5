"""The engines, their names and aliases, and that none is imported before it is loaded."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import grimp
import pytest
from docs import engine_catalogue

from engines.answers import OPTIONS, requests
from support import pages
from suyuan.core.engine import Engine, EngineSettings, SearchEngine
from suyuan.core.errors import InvalidInput, WebBlocked
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.secret import Secret
from suyuan.core.wire import Request, Response
from suyuan.engines import registry
from suyuan.engines.catalogue import ENGINES

NAMES = tuple(registry.BUILT_IN)


@pytest.mark.req("T5.1", "T5.2", "T5.3", "T5.4", "T5.5", "T5.6")
def test_the_built_in_engines_are_there_and_come_first() -> None:
    names = registry.names()
    assert set(NAMES) <= set(names)
    assert names[: len(registry.BUILT_IN)] == tuple(registry.BUILT_IN)
    assert len(set(names)) == len(names)


@pytest.mark.req("P3.4", "G4.1", "G4.2")
@pytest.mark.parametrize("name", sorted(registry.BUILT_IN))
def test_every_name_makes_its_engine(name: str) -> None:
    settings = EngineSettings(base_url="http://127.0.0.1:9/")
    engine = registry.load(name)(settings)
    assert isinstance(engine, SearchEngine)
    assert isinstance(engine, Engine)
    assert (engine.name, engine.base_url, engine.settings) == (name, "http://127.0.0.1:9", settings)
    assert engine.title
    assert registry.load(name)(None).name == name


@pytest.mark.req("G4.1")
@pytest.mark.parametrize("wanted", [1, 3, 10])
async def test_a_built_in_engine_has_the_interface_of_every_engine(wanted: int) -> None:
    engine: Any = registry.load("ddg_html")(None)

    async def send(_: Request) -> Response:
        return Response(200, pages.ddg(12).encode(), headers={"content-type": "text/html; charset=utf-8"})

    engine.send = send
    assert len(await engine.search("tea", wanted)) == wanted

    async def refuse(_: Request) -> Response:
        return Response(403, b"")

    engine.send = refuse
    with pytest.raises(WebBlocked):
        await engine.search("tea", wanted)


@pytest.mark.req("P3.1", "T3.2")
@pytest.mark.parametrize("name", [name for name in NAMES if name != "stub"])
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("lang", "de"), ("country", "AT"), ("freshness", Freshness.parse("week")), ("need_summary", True),
        ("allowed_domains", ("a.example",)), ("blocked_domains", ("a.example",)), ("page", 2),
    ],
)  # fmt: skip
def test_an_engine_passes_on_its_supported_params_and_no_others(name: str, parameter: str, value: Any) -> None:
    settings = EngineSettings(api_key=Secret("sk-0123456789"), options=OPTIONS.get(name, {}))
    engine = registry.load(name)(settings)
    assert isinstance(engine, Engine)
    plain, asked = (requests(engine, query) for query in (SearchQuery("tea"), SearchQuery("tea", **{parameter: value})))
    assert (plain != asked) == (parameter in engine.supported_params)


@pytest.mark.req("P9.1", "P9.2")
@pytest.mark.parametrize(
    "name",
    ["ddg_html", "baidu_html", "bing_html", "brave_html", "yahoo", "so360", "sogou", "mojeek", "startpage", "ecosia"],
)
def test_engines_without_a_key_have_a_low_rate_and_stay_on_their_hosts(name: str) -> None:
    engine = registry.load(name)(None)
    assert isinstance(engine, Engine)
    assert engine.rate_per_minute is not None
    assert 1 <= engine.burst <= engine.rate_per_minute <= 30
    assert engine.default_url.startswith("https://")
    assert engine.redirect_hosts
    family = ".".join(engine.default_url.removeprefix("https://").split(".")[-2:])
    assert all(f".{friend}".endswith(f".{family}") for friend in engine.redirect_hosts)


@pytest.mark.req("P3.4", "P2.1")
@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("duck-duck-scrape", "ddg_html"),
        ("duckduckgo", "ddg_html"),
        ("DDG", "ddg_html"),
        ("Baidu", "baidu_html"),
        ("bing", "bing_html"),
        (" bing_html ", "bing_html"),
        ("searx", "searxng"),
        ("brave_search", "brave"),
        ("stub", "stub"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    assert registry.canonical(alias) == name
    assert registry.load(alias)(None).name == name


def test_an_alias_means_one_engine_and_is_the_name_of_none() -> None:
    aliases = [alias for info in ENGINES for alias in info.aliases]
    assert len(aliases) == len(set(aliases)) > 10
    assert not set(aliases) & set(registry.BUILT_IN)


def test_engines_do_not_know_one_another() -> None:
    graph = grimp.build_graph("suyuan", cache_dir=None)
    engines = {f"suyuan.engines.{name}" for name in registry.BUILT_IN}
    for engine in engines:
        assert not graph.find_modules_directly_imported_by(engine) & engines, engine


def test_the_catalogue_is_what_the_engines_say_of_themselves() -> None:
    text = engine_catalogue()
    made: dict[str, Any] = {}
    exec(text.replace("from .", "from suyuan.engines."), made)
    assert made["ENGINES"] == ENGINES, "run `make docs`"


@pytest.mark.req("T7.1")
@pytest.mark.parametrize("name", ["altavista", "", "stub ; rm", "__init__", "registry", "STUBB"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        registry.load(name)
    assert caught.value.detail_code == "unknown_engine"
    assert repr(name) in caught.value.message
    assert all(known in caught.value.hint for known in NAMES)


@pytest.mark.parametrize(
    ("wanted", "loaded"),
    [
        ("import suyuan.engines.registry", False),
        ("from suyuan.engines import registry; registry.load('ddg_html')", True),
    ],
)
def test_an_engine_is_imported_only_when_it_is_loaded(wanted: str, loaded: bool) -> None:
    loaded_names = "[n for n in sys.modules if n.startswith('selectolax') or n == 'suyuan.engines.ddg_html']"
    code = f"{wanted}\nimport sys\nprint({loaded_names} != [])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == str(loaded)


def test_which_engines_need_a_key_is_known_without_importing_them() -> None:
    assert [name for name in NAMES if getattr(registry.load(name), "api_key_env", "")] == [
        name for name in NAMES if registry.needs_key(name)
    ]
