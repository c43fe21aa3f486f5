"""The sources of settings, their precedence, and invalid values."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from suyuan.client import AsyncClient
from suyuan.config.agents import agent_web_search
from suyuan.config.engine_settings import engine_settings
from suyuan.config.load import backend_from_environment, load_settings
from suyuan.config.schema import agents_schema, config_schema
from suyuan.config.settings import PageSettings, SearchSettings, Settings
from suyuan.core.foreign_engine import adapted
from suyuan.core.setting import declarations
from suyuan.engines import registry


def load(tmp_path: Path, config: Any = None, agents: Any = None, overrides: Any = None, **environ: Any) -> Settings:
    if config is not None:
        (tmp_path / "config.json").write_text(
            config if isinstance(config, str) else json.dumps(config), encoding="utf-8"
        )
    if agents is not None:
        (tmp_path / "agents.json").write_text(json.dumps(agents), encoding="utf-8")
    return load_settings({"HOME": str(tmp_path), **environ}, tmp_path, overrides)


def web_search(**values: Any) -> dict[str, Any]:
    return {"tools": {"webSearch": values}}


@pytest.mark.req("P2.1", "C6.2", "P8.1", "G6.1")
def test_defaults(tmp_path: Path) -> None:
    settings = load(tmp_path)
    s = settings.search
    assert (s.default, s.seconds, s.cache_minutes, s.max_results, s.lang, s.snippet_length) == (
        "auto",
        5.0,
        5.0,
        5,
        "",
        200,
    )
    assert settings.problems == () and not settings.net.proxy


@pytest.mark.req("C4.3")
@pytest.mark.parametrize(("most", "longest", "given"), [("10", "900", (5, 200)), ("3", "80", (3, 80))])
def test_a_prompt_gets_at_most_five_results_of_200_characters(
    tmp_path: Path, most: str, longest: str, given: tuple[int, int]
) -> None:
    settings = load(tmp_path, WEB_SEARCH_MAX_RESULTS=most, WEB_SEARCH_SNIPPET_LENGTH=longest)
    assert settings.search.max_results == int(most) and settings.problems == ()
    assert (settings.chat.results, settings.chat.snippet_length) == given


@pytest.mark.req("C6.3")
def test_loading_is_logged_with_the_file_and_the_problems(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    load(tmp_path, web_search(maxResults=99))
    (told,) = [each for each in caplog.records if "configuration loaded" in each.getMessage()]
    assert told.levelno == logging.INFO
    assert str(tmp_path / "config.json") in told.getMessage() and "problems=1" in told.getMessage()
    assert any(each.levelno == logging.WARNING and "maxResults" in each.getMessage() for each in caplog.records)


@pytest.mark.req("C6.3")
@pytest.mark.parametrize("seconds", [0, 0.1, -5, 121, 1000, "soon", None, True, []])
def test_a_time_limit_that_cannot_be_is_the_default(tmp_path: Path, seconds: Any) -> None:
    settings = load(tmp_path, web_search(timeoutSeconds=seconds))
    assert settings.search.seconds == 5.0
    assert seconds is None or "timeoutSeconds" in str(settings.problems[0])


@pytest.mark.req("P2.1")
def test_config_json(tmp_path: Path) -> None:
    config = web_search(
        defaultProvider="brave",
        timeoutSeconds=8,
        cacheTtlMinutes=0,
        maxResults=7,
        providers={"brave": {"apiKey": "k1"}},
    )
    settings = load(tmp_path, config)
    s = settings.search
    assert (s.default, s.seconds, s.cache_minutes, s.max_results) == ("brave", 8.0, 0.0, 7)
    assert settings.engines["brave"].api_key.reveal() == "k1" and settings.problems == ()


@pytest.mark.req("T6.1", "C6.1", "T5.4", "T5.5")
def test_the_environment_comes_before_the_file_and_an_argument_before_both(tmp_path: Path) -> None:
    config = {**web_search(timeoutSeconds=8), "web": {"providers": {"searxng": {"baseUrl": "http://file:1"}}}}
    environ = {
        "WEB_SEARCH_TIMEOUT_MS": "7000", "SEARXNG_BASE_URL": "http://env:2/", "SEARXNG_TIMEOUT_MS": "1500",
        "SEARXNG_API_KEY": "sx",
        "BOCHA_API_KEY": "bk", "BOCHA_BASE_URL": "http://bocha:3", "BOCHA_TIMEOUT_MS": "900",
        "BOCHA_TOP_K_DEFAULT": "8",
    }  # fmt: skip
    settings = load(tmp_path, config, **environ)
    assert settings.search.seconds == 7.0
    assert settings.engines["searxng"].base_url == "http://env:2" and settings.engines["searxng"].timeout_ms == 1500
    assert settings.engines["searxng"].api_key.reveal() == "sx"
    bocha = settings.engines["bocha"]
    assert (bocha.api_key.reveal(), bocha.base_url, bocha.timeout_ms) == ("bk", "http://bocha:3", 900)
    assert bocha.options == {"topKDefault": 8}
    assert load(tmp_path, config, overrides={"tools.webSearch.timeoutSeconds": 2}, **environ).search.seconds == 2.0


@pytest.mark.req("P2.2")
def test_keys_come_from_the_file_first(tmp_path: Path) -> None:
    config = web_search(providers={"brave": {"apiKey": "file-key"}})
    assert load(tmp_path, config, BRAVE_API_KEY="env-key").engines["brave"].api_key.reveal() == "file-key"
    assert load(tmp_path, {}, BRAVE_API_KEY="env-key").engines["brave"].api_key.reveal() == "env-key"


@pytest.mark.req("P2.2", "P3.3")
@pytest.mark.parametrize("empty", ["", "  ", None])
def test_an_empty_key_in_the_file_is_none(tmp_path: Path, empty: str | None) -> None:
    config = web_search(defaultProvider="brave", providers={"brave": {"apiKey": empty}})
    settings = load(tmp_path, config, BRAVE_API_KEY="env-key")
    assert settings.engines["brave"].api_key.reveal() == "env-key" and settings.search.default == "brave"
    # Blanks may be a slip; nothing at all is how people leave a field of a template.
    assert [problem.path for problem in settings.problems] == ["web.providers.brave.apiKey"] * (empty == "  ")


@pytest.mark.req("P2.1")
@pytest.mark.parametrize(
    ("name", "fine", "wrong"),
    [("maxResults", (1, 10), (0, 11)), ("cacheTtlMinutes", (0, 0.5, 1440), (-1, "often")),
     ("timeoutSeconds", (1, 15, 60), (0, -5, "soon"))],
)  # fmt: skip
def test_the_borders_of_the_numbers(
    tmp_path: Path, name: str, fine: tuple[float, ...], wrong: tuple[object, ...]
) -> None:
    fields = {"maxResults": "max_results", "cacheTtlMinutes": "cache_minutes", "timeoutSeconds": "seconds"}
    for value in fine:
        settings = load(tmp_path, web_search(**{name: value}))
        assert getattr(settings.search, fields[name]) == value and settings.problems == ()
    for invalid in wrong:
        settings = load(tmp_path, web_search(**{name: invalid}))
        assert settings.search == SearchSettings() and name in str(settings.problems[0])


@pytest.mark.req("P2.3")
def test_a_default_without_its_key_falls_back_to_duckduckgo_and_is_reported(tmp_path: Path) -> None:
    settings = load(tmp_path, web_search(defaultProvider="brave"))
    assert settings.search.default == "duck-duck-scrape"
    assert "BRAVE_API_KEY" in str(settings.problems[0]) and "duck-duck-scrape" in str(settings.problems[0])


def test_other_products_names_are_understood(tmp_path: Path) -> None:
    settings = load(tmp_path, web_search(defaultProvider="duck-duck-scrape"))
    assert settings.search.default == "duck-duck-scrape" and settings.problems == ()


@pytest.mark.req("C6.3", "C6.1", "T6.1")
@pytest.mark.parametrize(
    ("config", "environ", "key", "value"),
    [
        (web_search(maxResults=50), {}, "tools.webSearch.maxResults", "50"),
        (web_search(maxResults=2.5), {}, "tools.webSearch.maxResults", "2.5"),
        (web_search(maxResults=True), {}, "tools.webSearch.maxResults", "True"),
        (web_search(timeoutSeconds="soon"), {}, "tools.webSearch.timeoutSeconds", "soon"),
        (web_search(language="klingon language"), {}, "tools.webSearch.language", "klingon language"),
        (web_search(defaultProvider="altavista"), {}, "tools.webSearch.defaultProvider", "altavista"),
        ({}, {"WEB_SEARCH_BACKEND": "altavista"}, "tools.webSearch.defaultProvider", "altavista"),
        ({}, {"SEARXNG_BASE_URL": "localhost:8080"}, "web.providers.searxng.baseUrl", "localhost:8080"),
        ({}, {"SEARXNG_BASE_URL": "http://"}, "web.providers.searxng.baseUrl", "http://"),
        ({}, {"SEARXNG_BASE_URL": "http://host:99999"}, "web.providers.searxng.baseUrl", "http://host:99999"),
        ({}, {"WEB_SEARCH_TIMEOUT_MS": "5 s"}, "tools.webSearch.timeoutSeconds", "5 s"),
        ({}, {"WEB_FETCH_ALLOW_HOSTS": "a.example,b c"}, "web.fetch.allowHosts", "a.example,b c"),
        ({}, {"WEB_FETCH_ALLOW_NETWORKS": "10.0.0.0/99"}, "web.fetch.allowNetworks", "10.0.0.0/99"),
        ({}, {"BOCHA_TOP_K_DEFAULT": "500"}, "web.providers.bocha.topKDefault", "500"),
    ],
)
def test_an_invalid_value_is_reported_and_its_default_used(
    tmp_path: Path, config: Any, environ: dict[str, str], key: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = load(tmp_path, config, **environ)
    assert [(p.path, p.value) for p in settings.problems] == [(key, value)]
    assert settings.search == load(tmp_path / "none").search and settings.engines["searxng"].base_url == ""
    assert settings.pages == PageSettings() and settings.engines["bocha"].options == {}
    problem = settings.problems[0]
    assert ("environment" if environ else "config.json") in problem.origin and problem.reason and problem.fallback
    assert any(key in record.message for record in caplog.records if record.levelno == logging.WARNING)


@pytest.mark.parametrize("plan", ["stub,archive", "library+auto", "auto,archive", "library", "bing, ddg"])
def test_every_plan_that_a_search_takes_may_be_the_default(tmp_path: Path, plan: str) -> None:
    settings = load(tmp_path, web_search(defaultProvider=plan))
    assert settings.search.default == plan and settings.problems == ()


def test_what_is_shown_is_what_is_used(tmp_path: Path) -> None:
    shown = {
        value.path: (value.value, value.origin) for value in load(tmp_path, web_search(defaultProvider="brave")).values
    }
    assert shown["tools.webSearch.defaultProvider"] == ("duck-duck-scrape", "fallback")
    assert shown["web.fetch.timeoutMs"] == ("15000", "default")
    shown = {value.path: (value.value, value.origin) for value in load(tmp_path, {}, SUYUAN_MODEL="m").values}
    assert shown["model.provider"] == ("openai", "model.name")


def test_an_unknown_setting_is_reported_with_the_nearest_known_one(tmp_path: Path) -> None:
    settings = load(tmp_path, {**web_search(maxResult=3), "other program": {"x": 1}})
    assert len(settings.problems) == 1
    assert "did you mean tools.webSearch.maxResults" in str(settings.problems[0])


@pytest.mark.parametrize("text", ['{"tools": ', "[]", "\x00", '"x"'])
def test_a_broken_file_is_reported_with_its_position_and_the_rest_still_works(tmp_path: Path, text: str) -> None:
    settings = load(tmp_path, text, BRAVE_API_KEY="k")
    assert "config.json" in settings.problems[0].origin and settings.engines["brave"].api_key
    if text.startswith("{"):
        assert settings.problems[0].origin.endswith(":1:11")


@pytest.mark.req("P9.3")
def test_no_secret_in_what_is_shown(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        web_search(providers={"brave": {"apiKey": "kkkk-s3cr3t"}}),
        HTTPS_PROXY="http://u:pppp-s3cr3t@h:1",
        BOCHA_API_KEY="bbbb-s3cr3t",
    )
    assert "s3cr3t" not in repr(settings)
    assert settings.net.proxy.reveal() == "http://u:pppp-s3cr3t@h:1"


@pytest.mark.req("T6.2")
def test_search_and_fetch_share_the_network_settings(tmp_path: Path) -> None:
    fetch = {
        "timeoutMs": 3000,
        "proxy": "http://proxy.example:3128",
        "userAgent": "me/1.0",
        "noProxy": ["intra.example"],
    }
    settings = load(tmp_path, {"web": {"fetch": fetch}})
    assert settings.net.user_agent == "me/1.0" and settings.net.proxy_for("www.bing.com") == "http://proxy.example:3128"
    assert settings.net.proxy_for("localhost") is None and settings.net.proxy_for("a.intra.example") is None
    assert {settings.engines[name].timeout_ms for name in ("ddg_html", "baidu_html", "bing_html")} == {3000}
    assert settings.engines["brave"].timeout_ms is None


def test_an_unsupported_kind_of_proxy_is_reported(tmp_path: Path) -> None:
    settings = load(tmp_path, ALL_PROXY="socks5://127.0.0.1:1080")
    assert not settings.net.proxy and "http://" in str(settings.problems[0])


@pytest.mark.req("T6.1", "T5.1")
@pytest.mark.parametrize(
    ("value", "name", "warned"),
    [("", "stub", False), ("  ", "stub", False), ("ddg_html", "ddg_html", False), ("altavista", "stub", True)],
)
def test_the_backend_of_the_bare_provider(
    value: str, name: str, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    found, problem = backend_from_environment({"WEB_SEARCH_BACKEND": value})
    assert found == name and (problem is not None) is warned
    assert bool(caplog.records) is warned


class TestAgents:
    def resolve(self, tmp_path: Path, own: Any, config: Any = None, **environ: str) -> Any:
        settings = load(tmp_path, config or {}, {"agents": [{"id": "a", "webSearch": own}]}, **environ)
        return agent_web_search("a", settings)

    @pytest.mark.req("P2.4", "P2.5", "P8.1", "P1.2", "P10.1")
    def test_not_enabled_unless_asked_for(self, tmp_path: Path) -> None:
        for own in ({}, {"enabled": False}, {"provider": "brave"}):
            assert not self.resolve(tmp_path, own)[0].enabled
        assert not agent_web_search("someone else", load(tmp_path))[0].enabled

    @pytest.mark.req("P2.4", "P2.5")
    def test_the_agent_wins_over_the_default(self, tmp_path: Path) -> None:
        config = web_search(defaultProvider="bing_html", maxResults=3, cacheTtlMinutes=1)
        agent, problems = self.resolve(tmp_path, {"enabled": True, "provider": "brave"}, config, BRAVE_API_KEY="k")
        assert (agent.provider, agent.api_key.reveal(), agent.max_results, agent.cache_ttl_minutes) == (
            "brave",
            "k",
            3,
            1.0,
        )
        assert self.resolve(tmp_path, {"enabled": True}, config)[0].provider == "bing_html" and problems == ()

    @pytest.mark.req("P2.3", "P10.1")
    def test_no_key_means_duckduckgo(self, tmp_path: Path) -> None:
        agent, problems = self.resolve(tmp_path, {"enabled": True, "provider": "brave"})
        assert agent.provider == "duck-duck-scrape" and not agent.api_key and "BRAVE_API_KEY" in str(problems[0])

    @pytest.mark.req("P2.2", "P2.3", "P2.5", "P10.1")
    def test_the_fallback_is_logged(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        self.resolve(tmp_path, {"enabled": True, "provider": "brave"})
        warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
        assert len(warnings) == 1
        assert all(said in warnings[0] for said in ("brave", "duck-duck-scrape", "BRAVE_API_KEY", "agents.json"))

    @pytest.mark.req("P2.3", "P2.4", "P2.5")
    @pytest.mark.parametrize(
        ("own", "default", "key", "provider"),
        [
            ({}, None, "", ("auto", "")), ({}, "brave", "", ("duck-duck-scrape", "")), ({}, "brave", "k", ("brave", "k")),
            ({"provider": "brave"}, None, "k", ("brave", "k")), ({"provider": "brave"}, None, "", ("duck-duck-scrape", "")),
            ({"provider": "duck-duck-scrape"}, "brave", "k", ("duck-duck-scrape", "")),
            ({"provider": None}, "brave", "k", ("brave", "k")), ({"provider": "brave"}, "bing_html", "", ("duck-duck-scrape", "")),
        ],
    )  # fmt: skip
    def test_agent_then_default_then_key(
        self, tmp_path: Path, own: dict[str, Any], default: str | None, key: str, provider: tuple[str, str]
    ) -> None:
        config = web_search(defaultProvider=default) if default else {}
        agent, _ = self.resolve(tmp_path, {"enabled": True, **own}, config, BRAVE_API_KEY=key)
        assert (agent.provider, agent.api_key.reveal()) == provider

    @pytest.mark.req("P2.5", "P2.4", "P1.2")
    def test_each_agent_has_its_own(self, tmp_path: Path) -> None:
        agents = [
            {"id": "a", "webSearch": {"enabled": True, "provider": "bing_html"}}, {"id": "b"},
            {"id": "c", "webSearch": {"enabled": True}},
        ]  # fmt: skip
        settings = load(tmp_path, web_search(defaultProvider="stub", cacheTtlMinutes=0), {"agents": agents})
        found = {name: agent_web_search(name, settings)[0] for name in "abc"}
        assert [found[name].enabled for name in "abc"] == [True, False, True]
        assert (found["a"].provider, found["c"].provider) == ("bing_html", "stub")
        assert {found[name].cache_ttl_minutes for name in "abc"} == {0.0}

    def test_an_agent_may_have_a_plan_of_several_engines(self, tmp_path: Path) -> None:
        agent, problems = self.resolve(tmp_path, {"enabled": True, "provider": "brave,ddg_html"})
        assert agent.provider == "brave,ddg_html" and problems == ()
        agent, problems = self.resolve(tmp_path, {"enabled": True}, web_search(defaultProvider="stub+library"))
        assert agent.provider == "stub+library" and problems == ()

    @pytest.mark.req("P2.1", "P2.5")
    def test_an_agent_has_fifteen_seconds_unless_configured_otherwise(self, tmp_path: Path) -> None:
        assert self.resolve(tmp_path, {"enabled": True})[0].timeout_seconds == 15.0
        assert self.resolve(tmp_path, {"enabled": True}, web_search(timeoutSeconds=4))[0].timeout_seconds == 4.0
        agent, _ = self.resolve(tmp_path, {"enabled": True}, WEB_SEARCH_TIMEOUT_MS="4000")
        assert agent.timeout_seconds == 4.0

    @pytest.mark.req("P2.2")
    def test_a_key_in_agents_json_is_refused(self, tmp_path: Path) -> None:
        agent, problems = self.resolve(tmp_path, {"enabled": True, "provider": "brave", "apiKey": "leaked"})
        assert not agent.api_key and "config.json" in str(problems[0]) and "leaked" not in str(problems)

    @pytest.mark.parametrize("own", ["yes", {"enabled": "yes"}, {"enabled": True, "provider": "altavista"}])
    def test_invalid_entries_are_reported(self, tmp_path: Path, own: Any) -> None:
        agent, problems = self.resolve(tmp_path, own)
        assert problems and agent.provider == "duck-duck-scrape"


class TestSchema:
    docs = Path(__file__).parents[2] / "docs" / "schema"

    @pytest.mark.parametrize(("name", "schema"), [("config", config_schema()), ("agents", agents_schema())])
    def test_the_published_schema_is_up_to_date(self, name: str, schema: dict[str, Any]) -> None:
        assert json.loads((self.docs / f"{name}.schema.json").read_text(encoding="utf-8")) == schema, "run `make docs`"
        jsonschema.Draft202012Validator.check_schema(schema)

    def test_every_setting_is_in_the_schema_and_in_the_guide(self) -> None:
        text = json.dumps(config_schema())
        guide = (self.docs.parent / "configuration.md").read_text(encoding="utf-8")
        for one in (*declarations(Settings), *engine_settings("brave")):
            assert f'"{one.path.rpartition(".")[2]}"' in text
            assert one.path.replace("brave", "NAME") in guide
        for one in (*engine_settings("bocha"), *engine_settings("searxng")):
            assert f"Variable: {one.env}." in text
        assert "web.providers.bocha.topKDefault" in guide and "BOCHA_TOP_K_DEFAULT" in guide

    @pytest.mark.parametrize(
        ("config", "fine"),
        [
            (web_search(maxResults=5, providers={"brave": {"apiKey": "k"}}), True),
            ({"web": {"providers": {"bocha": {"apiKey": "k", "topKDefault": 5}}}, "another": 1}, True),
            (web_search(maxResults=50), False),
            (web_search(maxresults=5), False),
        ],
    )
    def test_schema_and_loader_agree(self, tmp_path: Path, config: Any, fine: bool) -> None:
        assert (not list(jsonschema.Draft202012Validator(config_schema()).iter_errors(config))) is fine
        assert (load(tmp_path, config).problems == ()) is fine


@pytest.mark.req("T6.2")
def test_all_engines_that_read_result_pages_share_the_time_of_fetched_pages(tmp_path: Path) -> None:
    settings = load(tmp_path, {"web": {"fetch": {"timeoutMs": 7000}}})
    for name in registry.BUILT_IN:
        engine = adapted(registry.load(name)(None))
        expected = 7000 if engine.reads_pages or engine.needs_browser else None
        assert settings.engines[name].timeout_ms == expected, name


@pytest.mark.req("G6.3")
def test_only_an_engine_that_needs_a_browser_makes_a_plan_need_one() -> None:
    for name in registry.BUILT_IN:
        client = AsyncClient(Settings(search=SearchSettings(default=name)))
        assert client.needs_browser == adapted(registry.load(name)(None)).needs_browser, name


@pytest.mark.req("G6.3")
@pytest.mark.parametrize(("plan", "told"), [("google", True), ("ddg_html,google", True), ("ddg_html", False)])
def test_a_missing_browser_is_told_at_the_start_where_the_plan_needs_one(
    plan: str, told: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("suyuan.net.chrome._LINUX_PATHS", "")
    client = AsyncClient(load(tmp_path, web_search(defaultProvider=plan)))
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert bool(warnings) is told
    for warning in warnings:
        assert "Chrome" in warning and "nstall" in warning
    client.close_sync()
