"""All checks: every problem is reported by its code, and a working installation has none."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from doctor.fake_servers import FORBIDDEN, engines, fake_servers, model, searxng
from support import pages
from support.site import Handler, Reply, free_port, json_reply, reply, stall
from support.timing import quickest
from suyuan.core.causes import model as causes
from suyuan.core.causes.store import STORE_NOT_A_DATABASE
from suyuan.core.errors import SuyuanError
from suyuan.doctor import engines as engine_check
from suyuan.doctor import model as model_check
from suyuan.doctor import network as network_check
from suyuan.doctor import storage as storage_check
from suyuan.doctor.checks import check_all, count, startup_findings
from suyuan.doctor.finding import Finding
from suyuan.doctor.json_location import line_of
from suyuan.engines.searxng import SearXNG
from suyuan.server.health import Health

NOWHERE = f"http://127.0.0.1:{free_port()}"
KEY = "sk-very-secret-0123456789"


def problems(findings: Sequence[Finding]) -> dict[str, str]:
    """The codes of all problems, with their levels."""
    return {finding.code: finding.level for finding in findings if finding.level != "ok"}


async def test_a_working_installation(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"tools": {"webSearch": {"maxResults": 5}}}')
    async with fake_servers(tmp_path) as servers, servers.client() as client:
        findings = await check_all(client, store_check=list)
    assert problems(findings) == {} and count(findings) == (0, 0)
    assert {f.area for f in findings} == {
        "config", "searxng", "engine", "network", "browser", "model", "archive", "library", "store", "disk", "package",
    }  # fmt: skip
    assert all(f.say("en")[0] and f.say("zh")[0] for f in findings)


async def test_offline_opens_no_connection(tmp_path: Path) -> None:
    async with fake_servers(tmp_path) as servers, servers.client() as client:
        findings = await check_all(client, offline=True)
        assert servers.searxng.seen == servers.engines.seen == servers.model.seen == []
    assert problems(findings) == {} and any("not tested" in f.say("en")[0] for f in findings)


@dataclass(frozen=True)
class Case:
    """One problem: its code, its level, and what causes it."""

    code: str
    level: str = "error"
    variables: dict[str, str] = field(default_factory=dict)
    config: Any = None
    agents: Any = None
    search: Handler | None = None
    web: Handler | None = None
    llm: Handler | None = None


def _refusing(status: int, text: str) -> Handler:
    return model({"chat": json_reply(json.dumps({"error": {"message": text}}), status)})


PROBLEMS = {
    # configuration
    "no JSON": Case("config_unreadable", config="{oops"),
    "a list in place of an object": Case("config_unreadable", config="[]"),
    "a number too large": Case("config_bad_value", "warning", config={"tools": {"webSearch": {"maxResults": 99}}}),
    "a number too large in a variable": Case("config_bad_value", "warning", {"WEB_SEARCH_TIMEOUT_MS": "soon"}),
    "a focus that cannot be": Case("config_bad_value", "warning",
        config={"tools": {"webSearch": {"focus": {"mine": {"freshness": "soon"}}}}}),
    "a setting misspelt": Case("config_unknown_setting", "warning", config={"web": {"fetch": {"porxy": "http://x:1"}}}),
    "an unknown engine": Case("unknown_engine", variables={"WEB_SEARCH_BACKEND": "altavista"}),
    "an engine without its key": Case("key_missing", variables={"WEB_SEARCH_BACKEND": "brave"}),
    "a chain with an engine without its key": Case("key_missing", variables={"WEB_SEARCH_BACKEND": "brave,ddg_html"}),
    "a key that others may read": Case("config_readable_by_others", "warning", config={"model": {"apiKey": KEY}}),
    "a key in agents.json": Case("config_bad_value", "warning",
        agents={"agents": [{"id": "a", "webSearch": {"apiKey": KEY}}]}),
    "open without a token": Case("server_without_token", variables={"SUYUAN_HOST": "0.0.0.0"}),
    "a token that can be guessed": Case("token_weak", variables={"SUYUAN_TOKEN": "1234567"}),
    "a SOCKS proxy": Case("config_bad_value", "warning", {"ALL_PROXY": "socks5://127.0.0.1:1"}),
    # SearXNG and the engines
    "SearXNG down": Case("searxng_down", variables={"SEARXNG_BASE_URL": NOWHERE}),
    "SearXNG without JSON": Case("json_api_off", search=searxng({"empty": reply(FORBIDDEN, 403)})),
    "SearXNG with its limiter": Case("http_429", search=searxng({"empty": reply("Too Many Requests", 429)})),
    "SearXNG with dead engines": Case("searxng_engines_resting", "warning", search=searxng(
        {"search": json_reply(pages.searxng(3, dead=[["bing", "timeout"]]))})),
    "an engine with a CAPTCHA": Case("captcha_required", "warning",
        web=engines({"ddg": reply(pages.DDG_CHALLENGE, 202)})),
    "an engine that refuses": Case("http_403", "warning", web=engines({"bing": reply("", 403)})),
    "an engine out of order": Case("http_5xx", "warning", web=engines({"bing": reply("", 500)})),
    "an engine with a new layout": Case("layout_changed", "warning",
        web=engines({"bing": reply("<html><body><p>new</p></body></html>")})),
    "no engine at all": Case("no_engine_answers", variables={"WEB_SEARCH_BACKEND": "ddg_html,bing_html"},
        web=engines({"ddg": reply("", 403), "bing": reply("", 403)})),
    "no network": Case("no_network", variables={"WEB_SEARCH_BACKEND": "ddg_html,bing_html",
        "DDG_BASE_URL": "http://a.invalid", "BING_BASE_URL": "http://b.invalid"}),
    "the proxy down": Case("proxy_unusable", variables={"WEB_SEARCH_BACKEND": "ddg_html",
        "DDG_BASE_URL": "http://ddg.example", "WEB_FETCH_PROXY": f"http://user:{KEY}@{NOWHERE[7:]}"}),
    "no such Chrome": Case("chrome_missing", variables={"SUYUAN_CHROME": "/nowhere/chrome"}),
    # the model
    "model server down": Case(causes.MODEL_UNREACHABLE.detail_code,
        variables={"SUYUAN_MODEL_BASE_URL": f"{NOWHERE}/v1"}),
    "Ollama down": Case(causes.OLLAMA_DOWN.detail_code,
        variables={"SUYUAN_MODEL_PROVIDER": "ollama", "SUYUAN_MODEL_BASE_URL": NOWHERE}),
    "model server unknown to the DNS": Case(causes.MODEL_DNS.detail_code,
        variables={"SUYUAN_MODEL_BASE_URL": "http://llm.invalid/v1"}),
    "no key for OpenAI": Case(causes.MODEL_KEY_MISSING.detail_code, variables={"SUYUAN_MODEL_BASE_URL": ""}),
    "key refused": Case(causes.MODEL_KEY_REFUSED.detail_code, variables={"SUYUAN_MODEL_API_KEY": KEY},
        llm=model({"models": json_reply("{}", 401)})),
    "no such model": Case(causes.MODEL_NOT_FOUND.detail_code, llm=model(names=("another-model",))),
    "no such model, without a list": Case(causes.MODEL_NOT_FOUND.detail_code,
        llm=model({"models": reply("", 404), "chat": json_reply(
            '{"error": {"message": "The model `test-model` does not exist", "code": "model_not_found"}}', 404)})),
    "not under /v1": Case(causes.MODEL_ADDRESS.detail_code, llm=lambda _: json_reply('{"detail": "Not Found"}', 404)),
    "a page in place of a model": Case(causes.MODEL_BAD_ANSWER.detail_code,
        llm=lambda _: reply("<html>Open WebUI</html>")),
    "no credit": Case(causes.MODEL_QUOTA.detail_code, llm=_refusing(402, "Insufficient Balance")),
    "model server broken": Case(causes.MODEL_BROKEN.detail_code, llm=model({"models": reply("", 500)})),
    "no streaming": Case("model_no_stream", "warning", llm=model({"stream": json_reply('{"choices": []}')})),
    "no tools": Case(causes.MODEL_NO_TOOLS.detail_code, "warning",
        llm=model({"tools": json_reply('{"choices": [{"message": {"content": "12:00"}}]}')})),
    "tools refused": Case(causes.MODEL_NO_TOOLS.detail_code, "warning", llm=model({"tools": json_reply(
        '{"error": {"message": "test-model does not support tools"}}', 400)})),
}  # fmt: skip


@pytest.mark.req("C2.5", "C6.1", "C6.3", "C9.1", "C9.2", "G6.3", "P2.3", "T7.2")
@pytest.mark.parametrize("case", PROBLEMS.values(), ids=list(PROBLEMS))
async def test_every_problem_is_reported(case: Case, tmp_path: Path) -> None:
    for name, content in (("config.json", case.config), ("agents.json", case.agents)):
        if content is not None:
            (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
            (tmp_path / name).chmod(0o644)
    findings: list[Finding] = []

    async def check() -> float:
        started = time.monotonic()
        async with (
            fake_servers(tmp_path, search=case.search, web=case.web, llm=case.llm) as servers,
            servers.client(**case.variables) as client,
        ):
            findings[:] = await check_all(client)
        return time.monotonic() - started

    assert await quickest(check, 6.5) < 6.5
    assert problems(findings).get(case.code) == case.level, problems(findings)
    assert bool(count(findings)[0]) is (case.level == "error"), problems(findings)
    shown = json.dumps([finding.as_dict(lang) for finding in findings for lang in ("en", "zh")], ensure_ascii=False)
    assert KEY not in shown
    found = next(finding for finding in findings if finding.code == case.code)
    (message, hint), (message_zh, hint_zh) = found.say("en"), found.say("zh")
    assert hint and hint_zh and message_zh != message


def test_at_least_25_problems_are_tested() -> None:
    assert len(PROBLEMS) >= 25


@pytest.mark.req("C6.3")
async def test_the_line_of_a_wrong_setting_is_reported(tmp_path: Path) -> None:
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
    async with fake_servers(tmp_path) as servers, servers.client() as client:
        findings = await check_all(client, offline=True)
    messages = " ".join(finding.say("en")[0] for finding in findings if finding.level != "ok")
    assert f"{file}:4: tools.webSearch.maxResults = 99" in messages and f"{file}:7: web.fetch.proxi" in messages


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
    async with fake_servers(tmp_path) as servers, servers.client() as client:
        findings = await storage_check.check(client)
    assert problems(findings) == {code: "warning" if content else "error"} and str(file) in findings[0].say("en")[0]


@pytest.mark.parametrize("name", ["models.json", "engine-keys.json"])
@pytest.mark.parametrize("content", ["{", "", '[{"name": 7}]', "\0"])
async def test_what_was_entered_on_the_page_and_is_damaged(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / "data" / name
    file.parent.mkdir()
    file.write_text(content)
    if name == "engine-keys.json" and content.startswith("["):
        file.write_text('[{"name": "brave", "options": 7}]')
    async with fake_servers(tmp_path) as servers, servers.client() as client:
        found = await storage_check.check(client)
    assert problems(found).get("file_damaged") == "warning" and str(file) in str([each.say("en") for each in found])


async def test_a_damaged_page_of_the_archive(tmp_path: Path) -> None:
    async with fake_servers(tmp_path) as servers:
        async with servers.client() as client:
            assert client.archive is not None and client.archive.open().check() == "ok"
        file = tmp_path / "data" / "archive.sqlite"
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA writable_schema=ON")
            db.execute("UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'by_time'")
        db.close()
        async with servers.client() as client:
            findings = await storage_check.check(client)
    assert "archive_damaged" in problems(findings)


def _unreadable() -> list[str]:
    raise STORE_NOT_A_DATABASE(where="chat.sqlite")


@pytest.mark.parametrize(
    ("check", "code"), [(lambda: ["row 3 missing from index"], "store_faulty"), (_unreadable, "store_not_a_database")]
)
async def test_the_conversations(tmp_path: Path, check: storage_check.StoreCheck, code: str) -> None:
    async with fake_servers(tmp_path) as servers, servers.client() as client:
        assert problems(await storage_check.check(client, store_check=check)) == {code: "error"}


@pytest.mark.parametrize(("free", "level"), [(50_000_000, "error"), (500_000_000, "warning"), (5_000_000_000, None)])
async def test_disk_space(tmp_path: Path, free: int, level: str | None) -> None:
    async with fake_servers(tmp_path) as servers, servers.client() as client:
        assert problems(await storage_check.check(client, free=lambda _: free)).get("disk_full") == level


async def test_fake_addresses(tmp_path: Path) -> None:
    async def lookup(host: str, port: int) -> list[str]:
        return ["198.18.0.7"]

    async with fake_servers(tmp_path) as servers:
        async with servers.client() as client:
            assert problems(await network_check.check(client, lookup=lookup)) == {"fake_ip": "warning"}
        async with servers.client(WEB_FETCH_FAKE_IP="true") as client:
            assert problems(await network_check.check(client, lookup=lookup)) == {}


async def test_the_password_of_a_proxy_is_not_shown(tmp_path: Path) -> None:
    async with (
        fake_servers(tmp_path) as servers,
        servers.client(WEB_FETCH_PROXY=f"http://me:{KEY}@proxy.example:3128") as client,
    ):
        findings = await network_check.check(client, offline=True)
    message = findings[0].say("en")[0]
    assert "proxy.example:3128" in message and KEY not in message and "me" not in message.split("proxy")[0]


async def test_a_model_that_does_not_answer(tmp_path: Path) -> None:
    async with fake_servers(tmp_path, llm=lambda _: stall) as servers, servers.client() as client:
        assert problems(await model_check.check(client, seconds=0.3)) == {causes.MODEL_SILENT.detail_code: "error"}


async def test_the_embedded_model_needs_nothing(tmp_path: Path) -> None:
    async with fake_servers(tmp_path) as servers, servers.client(SUYUAN_MODEL="", SUYUAN_MODEL_BASE_URL="") as client:
        findings = await model_check.check(client)
        assert problems(findings) == {} and "quoting" in findings[0].say("en")[0] and servers.model.seen == []


async def test_a_model_that_accepts_only_the_new_name_of_the_token_limit(tmp_path: Path) -> None:
    refuse = json_reply('{"error": {"message": "Unsupported parameter: use max_completion_tokens"}}', 400)

    def llm(seen: Any) -> Any:
        return refuse if b'"max_tokens"' in seen.body else model()(seen)

    async with fake_servers(tmp_path, llm=llm) as servers, servers.client() as client:
        assert problems(await model_check.check(client)) == {}


async def test_all_engines_together_take_no_longer_than_one(tmp_path: Path) -> None:
    async def check() -> float:
        started = time.monotonic()
        async with (
            fake_servers(tmp_path, search=lambda _: stall, web=lambda _: stall) as servers,
            servers.client() as client,
        ):
            found = problems(await engine_check.check(client))
        assert found["engine_timeout"] == "warning" and "no_engine_answers" in found
        return time.monotonic() - started

    assert await quickest(check, 6.5) < 6.5


class TestStart:
    @pytest.mark.req("C2.1", "C2.5")
    async def test_a_misconfigured_searxng_is_found_with_the_fix_and_the_guide(self, tmp_path: Path) -> None:
        async with (
            fake_servers(tmp_path, search=searxng({"empty": reply(FORBIDDEN, 403)})) as servers,
            servers.client() as client,
        ):
            [notice] = await startup_findings(client)
        assert (notice.code, notice.guide) == ("json_api_off", "searxng")
        assert "formats" in notice.say("en")[1] and "docker compose restart" in notice.say("zh")[1]

    @pytest.mark.req("C2.1", "C2.5", "C6.3")
    async def test_the_one_at_the_usual_address_is_checked_also_where_nothing_is_configured(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with fake_servers(tmp_path, search=searxng({"empty": reply(FORBIDDEN, 403)})) as servers:
            monkeypatch.setattr(SearXNG, "default_url", servers.searxng.url)
            async with servers.client(SEARXNG_BASE_URL="") as client:
                [notice] = await startup_findings(client)
        assert (notice.code, notice.guide) == ("json_api_off", "searxng")
        assert servers.searxng.url in notice.say("zh")[0]

    @pytest.mark.req("C2.1")
    async def test_a_working_searxng_gives_no_notice(self, tmp_path: Path) -> None:
        async with fake_servers(tmp_path) as servers, servers.client() as client:
            assert await startup_findings(client) == []

    @pytest.mark.req("C8.3", "C9.2")
    @pytest.mark.parametrize(
        ("answers", "state", "code"),
        [
            ({}, "ok", None),
            ({"empty": reply(FORBIDDEN, 403)}, "misconfigured", "json_api_off"),
            ({"empty": reply("", 403), "page": reply("", 403)}, "misconfigured", "searxng_api_off"),
            ({"healthz": reply("", 503)}, "down", "http_5xx"),
        ],
    )
    async def test_the_health_of_the_server_tells_what_a_search_would_meet(
        self, tmp_path: Path, answers: dict[str, Reply], state: str, code: str | None
    ) -> None:
        async with fake_servers(tmp_path, search=searxng(answers)) as servers, servers.client() as client:
            health = Health(client)
            await health._probe()
            told = health.report("en")["searxng"]
            await health.close()
        assert told["state"] == state and (told["error"] or {"detail_code": None})["detail_code"] == code

    @pytest.mark.req("C6.4")
    async def test_a_searxng_that_is_down_gives_a_notice_only_where_it_is_configured(self, tmp_path: Path) -> None:
        async with fake_servers(tmp_path) as servers:
            async with servers.client(SEARXNG_BASE_URL=NOWHERE) as client:
                [notice] = await startup_findings(client)
                assert notice.code == "searxng_down"
                assert "suyuan searxng init" in notice.say("en")[1]
            async with servers.client(SEARXNG_BASE_URL="") as client:
                # Port 8080 of this machine may be free or used by another program.
                assert await startup_findings(client) == []


def test_a_finding_of_an_error() -> None:
    finding = Finding.problem("config", SuyuanError("what", hint="do", detail_code="x"))
    assert finding.as_dict("zh") == {
        "area": "config", "name": None, "level": "error", "code": "x", "message": "what", "hint": "do", "guide": None,
    }  # fmt: skip
