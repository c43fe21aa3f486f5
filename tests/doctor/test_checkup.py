"""The whole examination: every illness of a house is named by its code, and a well house has none."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from doctor.fake_servers import FORBIDDEN, engines, model, searxng, ward
from support import pages
from support.site import Handler, free_port, json_reply, reply, stall
from support.timing import quickest
from suyuan.core.causes import model as causes
from suyuan.core.causes.store import STORE_NOT_A_DATABASE
from suyuan.core.errors import SuyuanError
from suyuan.doctor import engines as engine_organ
from suyuan.doctor import model as model_organ
from suyuan.doctor import network as network_organ
from suyuan.doctor import storage as places
from suyuan.doctor.checkup import count, examine, exit_code, startup_notice
from suyuan.doctor.finding import Finding
from suyuan.doctor.json_location import line_of

NOWHERE = f"http://127.0.0.1:{free_port()}"
KEY = "sk-very-secret-0123456789"


def ill(findings: Sequence[Finding]) -> dict[str, str]:
    """Codes of what is wrong, with their levels."""
    return {finding.code: finding.level for finding in findings if finding.level != "ok"}


async def test_a_well_house(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"tools": {"webSearch": {"maxResults": 5}}}')
    async with ward(tmp_path) as here, here.client() as client:
        findings = await examine(client, store_check=list)
    assert ill(findings) == {} and exit_code(findings) == 0 and count(findings) == (0, 0)
    assert {f.organ for f in findings} == {
        "config", "searxng", "engine", "network", "browser", "model", "archive", "store", "disk", "package",
    }  # fmt: skip
    assert all(f.say("en")[0] and f.say("zh")[0] for f in findings)


async def test_offline_opens_no_connection(tmp_path: Path) -> None:
    async with ward(tmp_path) as here, here.client() as client:
        findings = await examine(client, offline=True)
        assert here.searxng.seen == here.engines.seen == here.model.seen == []
    assert ill(findings) == {} and any("not tested" in f.say("en")[0] for f in findings)


@dataclass(frozen=True)
class Ill:
    """One way in which a house is not well."""

    code: str
    level: str = "error"
    variables: dict[str, str] = field(default_factory=dict)
    config: Any = None
    agents: Any = None
    search: Handler | None = None
    web: Handler | None = None
    brain: Handler | None = None


def _refusing(status: int, text: str) -> Handler:
    return model({"chat": json_reply(json.dumps({"error": {"message": text}}), status)})


ILLNESSES = {
    # configuration
    "no JSON": Ill("config_unreadable", config="{oops"),
    "a list in place of an object": Ill("config_unreadable", config="[]"),
    "a number too large": Ill("config_bad_value", "warning", config={"tools": {"webSearch": {"maxResults": 99}}}),
    "a number too large in a variable": Ill("config_bad_value", "warning", {"WEB_SEARCH_TIMEOUT_MS": "soon"}),
    "a setting misspelt": Ill("config_unknown_setting", "warning", config={"web": {"fetch": {"porxy": "http://x:1"}}}),
    "an unknown engine": Ill("unknown_engine", variables={"WEB_SEARCH_BACKEND": "altavista"}),
    "an engine without its key": Ill("key_missing", variables={"WEB_SEARCH_BACKEND": "brave"}),
    "a chain with an engine without its key": Ill("key_missing", variables={"WEB_SEARCH_BACKEND": "brave,ddg_html"}),
    "a key that others may read": Ill("config_readable_by_others", "warning", config={"model": {"apiKey": KEY}}),
    "a key in agents.json": Ill("config_bad_value", "warning", agents={"agents": [{"id": "a", "webSearch": {"apiKey": KEY}}]}),
    "open without a token": Ill("server_without_token", variables={"SUYUAN_HOST": "0.0.0.0"}),
    "a SOCKS proxy": Ill("config_bad_value", "warning", {"ALL_PROXY": "socks5://127.0.0.1:1"}),
    # SearXNG and the engines
    "SearXNG down": Ill("searxng_down", variables={"SEARXNG_BASE_URL": NOWHERE}),
    "SearXNG without JSON": Ill("json_api_off", search=searxng({"empty": reply(FORBIDDEN, 403)})),
    "SearXNG with its limiter": Ill("http_429", search=searxng({"empty": reply("Too Many Requests", 429)})),
    "SearXNG with dead engines": Ill("searxng_engines_resting", "warning", search=searxng(
        {"search": json_reply(pages.searxng(3, dead=[["bing", "timeout"]]))})),
    "an engine with a CAPTCHA": Ill("captcha_required", "warning", web=engines({"ddg": reply(pages.DDG_CHALLENGE, 202)})),
    "an engine that refuses": Ill("http_403", "warning", web=engines({"bing": reply("", 403)})),
    "an engine out of order": Ill("http_5xx", "warning", web=engines({"bing": reply("", 500)})),
    "an engine that is changed": Ill("layout_changed", "warning", web=engines({"bing": reply("<html><body><p>new</p></body></html>")})),
    "no engine at all": Ill("no_engine_answers", variables={"WEB_SEARCH_BACKEND": "ddg_html,bing_html"},
        web=engines({"ddg": reply("", 403), "bing": reply("", 403)})),
    "no network": Ill("no_network", variables={"WEB_SEARCH_BACKEND": "ddg_html,bing_html", "DDG_BASE_URL": "http://a.invalid",
        "BING_BASE_URL": "http://b.invalid"}),
    "the proxy down": Ill("proxy_unusable", variables={"WEB_SEARCH_BACKEND": "ddg_html", "DDG_BASE_URL": "http://ddg.example",
        "WEB_FETCH_PROXY": f"http://user:{KEY}@{NOWHERE[7:]}"}),
    "no such Chrome": Ill("chrome_missing", variables={"SUYUAN_CHROME": "/nowhere/chrome"}),
    # the model
    "model server down": Ill(causes.MODEL_UNREACHABLE.detail_code, variables={"SUYUAN_MODEL_BASE_URL": f"{NOWHERE}/v1"}),
    "Ollama down": Ill(causes.OLLAMA_DOWN.detail_code, variables={"SUYUAN_MODEL_PROVIDER": "ollama", "SUYUAN_MODEL_BASE_URL": NOWHERE}),
    "model server unknown to the DNS": Ill(causes.MODEL_DNS.detail_code, variables={"SUYUAN_MODEL_BASE_URL": "http://llm.invalid/v1"}),
    "no key for OpenAI": Ill(causes.MODEL_KEY_MISSING.detail_code, variables={"SUYUAN_MODEL_BASE_URL": ""}),
    "key refused": Ill(causes.MODEL_KEY_REFUSED.detail_code, variables={"SUYUAN_MODEL_API_KEY": KEY},
        brain=model({"models": json_reply("{}", 401)})),
    "no such model": Ill(causes.MODEL_NOT_FOUND.detail_code, brain=model(names=("another-model",))),
    "no such model, said late": Ill(causes.MODEL_NOT_FOUND.detail_code, brain=model({"models": reply("", 404), "chat": json_reply(
        '{"error": {"message": "The model `test-model` does not exist", "code": "model_not_found"}}', 404)})),
    "not under /v1": Ill(causes.MODEL_ADDRESS.detail_code, variables={}, brain=lambda _: json_reply('{"detail": "Not Found"}', 404)),
    "a page in place of a model": Ill(causes.MODEL_BAD_ANSWER.detail_code, brain=lambda _: reply("<html>Open WebUI</html>")),
    "no credit": Ill(causes.MODEL_QUOTA.detail_code, brain=_refusing(402, "Insufficient Balance")),
    "model server broken": Ill(causes.MODEL_BROKEN.detail_code, brain=model({"models": reply("", 500)})),
    "no streaming": Ill("model_no_stream", "warning", brain=model({"stream": json_reply('{"choices": []}')})),
    "no tools": Ill(causes.MODEL_NO_TOOLS.detail_code, "warning",
        brain=model({"tools": json_reply('{"choices": [{"message": {"content": "12:00"}}]}')})),
    "tools refused": Ill(causes.MODEL_NO_TOOLS.detail_code, "warning", brain=model({"tools": json_reply(
        '{"error": {"message": "test-model does not support tools"}}', 400)})),
}  # fmt: skip


@pytest.mark.req("C2.5", "C6.1", "C6.3", "C9.1", "C9.2", "G6.3", "P2.3", "T7.2")
@pytest.mark.parametrize("case", ILLNESSES.values(), ids=list(ILLNESSES))
async def test_every_illness_is_named(case: Ill, tmp_path: Path) -> None:
    for name, content in (("config.json", case.config), ("agents.json", case.agents)):
        if content is not None:
            (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
            (tmp_path / name).chmod(0o644)
    findings: list[Finding] = []

    async def look() -> float:
        started = time.monotonic()
        async with (
            ward(tmp_path, search=case.search, web=case.web, brain=case.brain) as here,
            here.client(**case.variables) as client,
        ):
            findings[:] = await examine(client)
        return time.monotonic() - started

    assert await quickest(look, 6.5) < 6.5
    assert ill(findings).get(case.code) == case.level, ill(findings)
    assert exit_code(findings) == (1 if case.level == "error" else 0), ill(findings)
    shown = json.dumps([finding.as_dict(lang) for finding in findings for lang in ("en", "zh")], ensure_ascii=False)
    assert KEY not in shown
    found = next(finding for finding in findings if finding.code == case.code)
    (message, hint), (message_zh, hint_zh) = found.say("en"), found.say("zh")
    assert hint and hint_zh and message_zh != message


def test_there_are_many_of_them() -> None:
    assert len(ILLNESSES) >= 25


@pytest.mark.req("C6.3")
async def test_the_line_of_a_wrong_setting_is_told(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    lines = [
        "{",
        '"tools": {"webSearch": {',
        '"timeoutSeconds": 5,',
        '"maxResults": 99',
        "}},",
        '"web": {"fetch":',
        '{"proxi": "x"}}',
        "}",
    ]
    file.write_text("\n".join(lines))
    async with ward(tmp_path) as here, here.client() as client:
        findings = await examine(client, offline=True)
    told = " ".join(finding.say("en")[0] for finding in findings if finding.level != "ok")
    assert f"{file}:4: tools.webSearch.maxResults = 99" in told and f"{file}:7: web.fetch.proxi" in told


def test_lines() -> None:
    text = '{"a": {"b": [1, {"c": 2}],\n "d": "x{:\\"",\n\n"e": 3}, "f": {"b":\n1}}'
    assert [line_of(text, path) for path in ("a", "a.b", "a.b.c", "a.d", "a.e", "f.b", "b", "a.x")] == [
        1,
        1,
        1,
        2,
        4,
        4,
        None,
        None,
    ]
    assert line_of("not json at all", "a") is None and line_of('{"a', "a") is None


@pytest.mark.parametrize(
    ("content", "code"), [(b"not a database at all, only text " * 40, "archive_damaged"), (None, "archive_unusable")]
)
async def test_the_archive(tmp_path: Path, content: bytes | None, code: str) -> None:
    file = tmp_path / "data" / "archive.sqlite"
    file.parent.mkdir()
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    async with ward(tmp_path) as here, here.client() as client:
        findings = await places.examine(client)
    assert ill(findings) == {code: "error"} and str(file) in findings[0].say("en")[0]


async def test_a_damaged_page_of_the_archive(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        async with here.client() as client:
            assert client.archive is not None
        file = tmp_path / "data" / "archive.sqlite"
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA writable_schema=ON")
            db.execute("UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'by_time'")
        db.close()
        async with here.client() as client:
            findings = await places.examine(client)
    assert "archive_damaged" in ill(findings)


def _unreadable() -> list[str]:
    raise STORE_NOT_A_DATABASE(where="chat.sqlite")


@pytest.mark.parametrize(
    ("check", "code"), [(lambda: ["row 3 missing from index"], "store_faulty"), (_unreadable, "store_not_a_database")]
)
async def test_the_conversations(tmp_path: Path, check: places.StoreCheck, code: str) -> None:
    async with ward(tmp_path) as here, here.client() as client:
        assert ill(await places.examine(client, store_check=check)) == {code: "error"}


@pytest.mark.parametrize(("free", "level"), [(50_000_000, "error"), (500_000_000, "warning"), (5_000_000_000, None)])
async def test_the_disk(tmp_path: Path, free: int, level: str | None) -> None:
    async with ward(tmp_path) as here, here.client() as client:
        assert ill(await places.examine(client, free=lambda _: free)).get("disk_full") == level


async def test_fake_addresses(tmp_path: Path) -> None:
    async def lookup(host: str, port: int) -> list[str]:
        return ["198.18.0.7"]

    async with ward(tmp_path) as here:
        async with here.client() as client:
            assert ill(await network_organ.examine(client, lookup=lookup)) == {"fake_ip": "warning"}
        async with here.client(WEB_FETCH_FAKE_IP="true") as client:
            assert ill(await network_organ.examine(client, lookup=lookup)) == {}


async def test_the_password_of_a_proxy_is_not_shown(tmp_path: Path) -> None:
    async with ward(tmp_path) as here, here.client(WEB_FETCH_PROXY=f"http://me:{KEY}@proxy.example:3128") as client:
        findings = await network_organ.examine(client, offline=True)
    assert (
        "proxy.example:3128" in findings[0].say("en")[0]
        and KEY not in findings[0].say("en")[0]
        and "me" not in findings[0].say("en")[0].split("proxy")[0]
    )


async def test_a_model_that_says_nothing(tmp_path: Path) -> None:
    async with ward(tmp_path, brain=lambda _: stall) as here, here.client() as client:
        assert ill(await model_organ.examine(client, seconds=0.3)) == {causes.MODEL_SILENT.detail_code: "error"}


async def test_the_embedded_model_needs_nothing(tmp_path: Path) -> None:
    async with ward(tmp_path) as here, here.client(SUYUAN_MODEL="", SUYUAN_MODEL_BASE_URL="") as client:
        findings = await model_organ.examine(client)
        assert ill(findings) == {} and "quoting" in findings[0].say("en")[0] and here.model.seen == []


async def test_a_model_that_knows_the_limit_by_its_new_name_only(tmp_path: Path) -> None:
    refuse = json_reply('{"error": {"message": "Unsupported parameter: use max_completion_tokens"}}', 400)

    def brain(seen: Any) -> Any:
        return refuse if b'"max_tokens"' in seen.body else model()(seen)

    async with ward(tmp_path, brain=brain) as here, here.client() as client:
        assert ill(await model_organ.examine(client)) == {}


async def test_all_engines_together_take_no_longer_than_one(tmp_path: Path) -> None:
    async def look() -> float:
        started = time.monotonic()
        async with ward(tmp_path, search=lambda _: stall, web=lambda _: stall) as here, here.client() as client:
            findings = await engine_organ.examine(client)
        assert ill(findings)["engine_timeout"] == "warning" and "no_engine_answers" in ill(findings)
        return time.monotonic() - started

    assert await quickest(look, 6.5) < 6.5


class TestStart:
    @pytest.mark.req("C2.1", "C2.5")
    async def test_a_misconfigured_searxng_is_found_with_the_fix_and_the_guide(self, tmp_path: Path) -> None:
        async with ward(tmp_path, search=searxng({"empty": reply(FORBIDDEN, 403)})) as here, here.client() as client:
            notice = await startup_notice(client)
        assert notice is not None and (notice.code, notice.guide) == ("json_api_off", "searxng")
        assert "formats" in notice.say("en")[1] and "docker compose restart searxng" in notice.say("zh")[1]

    @pytest.mark.req("C2.1")
    async def test_a_well_one_is_no_news(self, tmp_path: Path) -> None:
        async with ward(tmp_path) as here, here.client() as client:
            assert await startup_notice(client) is None

    @pytest.mark.req("C6.4")
    async def test_one_that_is_down_is_news_only_where_somebody_set_it_up(self, tmp_path: Path) -> None:
        async with ward(tmp_path) as here:
            async with here.client(SEARXNG_BASE_URL=NOWHERE) as client:
                notice = await startup_notice(client)
                assert notice is not None and notice.code == "searxng_down"
                assert "suyuan searxng init" in notice.say("en")[1]
            async with here.client(SEARXNG_BASE_URL="") as client:
                # Whatever this machine has at port 8080: nothing, or another program.
                assert await startup_notice(client) is None


def test_a_finding_of_an_error() -> None:
    finding = Finding.ill("config", SuyuanError("what", hint="do", detail_code="x"))
    assert finding.as_dict("zh") == {
        "organ": "config", "name": None, "level": "error", "code": "x", "message": "what", "hint": "do", "guide": None,
    }  # fmt: skip
