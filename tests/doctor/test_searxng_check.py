"""Every problem of a SearXNG, each served by a real server on loopback, is reported by its code."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from doctor.fake_servers import FORBIDDEN, certificate, network, searxng, secure
from support import pages
from support.client import client
from support.site import Handler, Reply, free_port, json_reply, raw, redirect, reply, reset, serve, stall
from support.timing import quickest, seconds_of
from suyuan.core.causes.network import NO_SUCH_HOST, TLS_FAILED
from suyuan.core.errors import SuyuanError
from suyuan.core.secret import Secret
from suyuan.core.wire import Request, Response
from suyuan.doctor.searxng import SearxngStatus, check_searxng
from suyuan.engines.searxng_diagnosis import explained
from suyuan.net.tls import tls_verdict

UNRESPONSIVE = [["bing", "timeout"], ["brave", "Suspended: CAPTCHA"]]


async def check(address: str, **options: object) -> SearxngStatus:
    async with network() as http:
        return await check_searxng(address, http.send, **options)  # type: ignore[arg-type]


async def check_served(handler: Handler, path: str = "", **options: object) -> SearxngStatus:
    async with serve(handler) as site:
        return await check(site.url + path, **options)


@pytest.mark.req("C2.1", "C8.3")
async def test_a_working_instance() -> None:
    status = await check_served(searxng())
    assert status.ok and status.error is None and status.warnings == () and status.unresponsive_engines == ()
    assert (status.results, status.engines, status.version) == (8, ("bing",), "2026.9.25+12f8b6515")
    assert status.took_ms < 2000 and status.as_dict()["ok"] is True


@pytest.mark.req("C9.1", "C6.4", "C2.4")
@pytest.mark.parametrize("lang", ["zh", "en"])
async def test_where_nothing_answers_each_thing_to_check_has_its_command(lang: str) -> None:
    """Container, port, network; then how to deploy it with Docker, and where the guide is."""
    where = f"http://127.0.0.1:{free_port()}"
    error = (await check(where)).error
    assert error is not None and error.detail_code == "searxng_down"
    hint = error.say(lang)[1]
    for needed in (
        "docker ps --filter name=searxng", "docker compose up -d", "docker compose logs", f"curl -i {where}/healthz",
        "http://host.docker.internal:8080", "suyuan searxng init", "suyuan searxng up", "suyuan searxng guide",
    ):  # fmt: skip
        assert needed in hint, needed
    unknown = explained(NO_SUCH_HOST(engine="searxng", where="searx.example"), "http://searx.example:8080")
    for needed in ("SEARXNG_BASE_URL", "getent hosts searx.example", "http://localhost:8080"):
        assert needed in unknown.say(lang)[1], needed


@pytest.mark.req("C9.2", "C2.5", "C8.3")
@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize(
    ("replaced", "code", "fix"),
    [
        (
            {"empty": reply(FORBIDDEN, 403)},
            "json_api_off",
            ("`search: formats:`", "`json`", "settings.yml", "docker compose restart"),
        ),
        ({"empty": reply("", 403), "page": reply("", 403)}, "searxng_api_off", ("/search", "curl -i")),
        (
            {"healthz": reply("no", 404), "empty": reply("", 404), "page": reply("", 404)},
            "not_searxng",
            ("docker ps --filter name=searxng", "SEARXNG_BASE_URL"),
        ),
    ],
    ids=["JSON off", "API off", "wrong port"],
)
async def test_each_common_fault_has_a_fix_of_its_own(
    replaced: dict[str, Reply], code: str, fix: tuple[str, ...], lang: str
) -> None:
    error = (await check_served(searxng(replaced))).error
    assert error is not None and error.detail_code == code
    hint = error.say(lang)[1]
    assert [needed for needed in fix if needed not in hint] == []


@pytest.mark.req("C8.3")
async def test_an_instance_whose_searches_find_nothing_is_not_well() -> None:
    status = await check_served(searxng({"search": json_reply(pages.searxng(0))}))
    assert not status.ok and status.error is not None and status.error.detail_code == "searxng_no_engines"


async def test_a_working_instance_under_a_path_with_a_final_slash() -> None:
    assert (await check_served(searxng(prefix="/searxng"), "/searxng/")).ok


TABLE: list[tuple[str, dict[str, Reply], str]] = [
    ("JSON is off", {"empty": reply(FORBIDDEN, 403), "search": reply(FORBIDDEN, 403)}, "json_api_off"),
    (
        "its search is closed",
        {"empty": reply("", 403), "page": reply("", 403), "search": reply("", 403)},
        "searxng_api_off",
    ),
    (
        "its search is not there",
        {"empty": reply("", 404), "page": reply("", 404), "search": reply("", 404)},
        "searxng_api_off",
    ),
    ("the limiter", {"empty": reply("Too Many Requests", 429), "search": reply("Too Many Requests", 429)}, "http_429"),
    ("a limit in front of it", {"healthz": reply("", 429)}, "http_429"),
    ("a password", {"healthz": reply("", 401, {"WWW-Authenticate": "Basic"})}, "searxng_login"),
    ("a firewall", {"healthz": reply("<title>Attention Required! | Cloudflare</title>", 403)}, "searxng_forbids"),
    ("a gateway without it", {"healthz": reply("<title>502 Bad Gateway</title>", 502)}, "http_5xx"),
    ("a fault inside", {"search": reply("<title>500</title>", 500)}, "http_5xx"),
    ("sent on to a log-in page", {"healthz": redirect("https://sso.example/login")}, "searxng_redirected"),
    ("sent on to https", {"healthz": redirect("https://127.0.0.1/healthz", 301)}, "searxng_needs_https"),
    ("all engines dead", {"search": json_reply(pages.searxng(0, dead=UNRESPONSIVE))}, "engines_offline"),
    (
        "no engine at all",
        {"search": json_reply(pages.searxng(0)), "config": json_reply('{"engines": []}')},
        "searxng_no_engines",
    ),
    (
        "another program says OK",
        {"empty": reply("<title>Jupyter</title>"), "search": reply("<title>Jupyter</title>")},
        "not_searxng",
    ),
    ("another interface", {"search": json_reply('{"detail": "no"}')}, "not_searxng"),
    ("it hangs", {"healthz": stall}, "searxng_silent"),
    ("it hangs when it searches", {"search": stall}, "searxng_search_silent"),
]


@pytest.mark.req("C2.5", "C8.3", "C9.1", "C9.2", "T7.2", "T7.3")
@pytest.mark.parametrize(("what", "replaced", "code"), TABLE, ids=[row[0] for row in TABLE])
async def test_each_problem_has_its_own_code(what: str, replaced: dict[str, Reply], code: str) -> None:
    status = await check_served(searxng(replaced), seconds=2.5 if stall in replaced.values() else 60.0)
    assert status.error is not None and status.error.detail_code == code
    for lang in ("en", "zh"):
        message, hint = status.error.say(lang)
        assert message and hint and "{" not in message


@pytest.mark.req("C9.1", "C6.4")
async def test_nothing_listens() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    status = await check(url)
    assert status.error is not None and status.error.detail_code == "searxng_down"
    for _, hint in (status.error.say("en"), status.error.say("zh")):
        for command in (
            "docker ps",
            "docker compose logs",
            f"curl -i {url}/healthz",
            "suyuan searxng init",
            "suyuan searxng up",
        ):
            assert command in hint


async def test_an_unknown_host_name() -> None:
    status = await check("http://searxng.invalid:8080")
    assert (
        status.error is not None
        and status.error.detail_code == "searxng_dns"
        and "searxng.invalid" in status.error.message
    )


@pytest.mark.req("C6.1")
@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost:8080",
        "ftp://x",
        "http://",
        "http://localhost:8080/search",
        "http://localhost:8080/?q=x",
        "http://a b",
    ],
)
async def test_a_malformed_address(address: str) -> None:
    status = await check(address)
    assert status.error is not None and status.error.detail_code == "searxng_bad_address"


@pytest.mark.req("C9.2")
async def test_another_server_is_named() -> None:
    status = await check_served(
        lambda _: reply("<html><title>Welcome to nginx!</title></html>", headers={"Server": "nginx/1.27"})
    )
    assert status.error is not None and status.error.detail_code == "not_searxng"
    assert "Welcome to nginx!" in status.error.message and "nginx/1.27" in status.error.say("zh")[0]
    assert "docker ps" in status.error.hint


@pytest.mark.parametrize("answer", [raw(b"SSH-2.0-OpenSSH_9.6\r\n"), reset], ids=["ssh", "hangs up"])
async def test_a_server_that_is_not_http(answer: Reply) -> None:
    status = await check_served(lambda _: answer)
    assert (
        status.error is not None
        and status.error.detail_code == "not_searxng"
        and "does not speak HTTP" in status.error.message
    )
    assert "不使用 HTTP" in status.error.say("zh")[0]


@pytest.mark.req("C9.2")
@pytest.mark.parametrize(
    ("given", "right"), [("", "/searxng"), ("", "/searx"), ("", "/sx"), ("/wrong", ""), ("/wrong", "/searxng")]
)
async def test_the_right_path_is_found(given: str, right: str) -> None:
    async with serve(searxng(prefix=right)) as site:
        status = await check(site.url + given)
    assert status.error is not None and status.error.detail_code == "searxng_wrong_path"
    assert f"SEARXNG_BASE_URL={site.url}{right}" in status.error.hint


async def test_the_path_that_the_front_page_leads_to_is_found() -> None:
    inner = searxng(prefix="/tools/find")
    async with serve(lambda seen: redirect("/tools/find/") if seen.path == "/" else inner(seen)) as site:
        status = await check(site.url)
    assert (
        status.error is not None
        and status.error.detail_code == "searxng_wrong_path"
        and "/tools/find" in status.error.hint
    )


async def test_a_path_to_which_the_front_page_links_is_found() -> None:
    inner = searxng(prefix="/tools/find")
    front = reply('<html><link href="/style.css"><a href="https://other.example/">x</a><a href="/tools/find/">Find</a>')
    async with serve(lambda seen: front if seen.path == "/" else inner(seen)) as site:
        status = await check(f"{site.url}/wrong")
    assert status.error is not None and f"SEARXNG_BASE_URL={site.url}/tools/find" in status.error.hint


EVERYWHERE: list[tuple[str, Handler, str, str]] = [
    ("a password", lambda _: reply("", 401), "", "searxng_login"),
    ("a firewall", lambda _: reply("<title>Attention Required! | Cloudflare</title>", 403), "", "searxng_forbids"),
    ("JSON is off", searxng({"empty": reply(FORBIDDEN, 403), "search": reply(FORBIDDEN, 403)}), "", "json_api_off"),
    (
        "a proxy closes the search",
        searxng({"empty": reply("", 403), "page": reply("", 403), "search": reply(FORBIDDEN, 403)}),
        "",
        "searxng_api_off",
    ),
    ("the wrong path", searxng(prefix="/sx"), "", "searxng_wrong_path"),
    ("a path too many", searxng(), "/searxng", "searxng_wrong_path"),
    ("sent on to https", lambda _: redirect("https://127.0.0.1/search", 301), "", "searxng_needs_https"),
    ("sent on to a log-in page", lambda _: redirect("https://sso.example/login"), "", "searxng_redirected"),
    ("another program", lambda _: reply("<title>Jupyter</title>"), "", "not_searxng"),
    ("another program that knows no such page", lambda _: reply("<title>nginx</title>", 404), "", "not_searxng"),
    ("not HTTP", lambda _: raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "", "not_searxng"),
    ("a gateway without it", lambda _: reply("<title>502 Bad Gateway</title>", 502), "", "http_5xx"),
    ("the limiter", lambda _: reply("Too Many Requests", 429), "", "http_429"),
    (
        "no engine at all",
        searxng({"search": json_reply(pages.searxng(0)), "config": json_reply('{"engines": []}')}),
        "",
        "searxng_no_engines",
    ),
]


@pytest.mark.req("C2.5", "C9.2", "T7.2", "T7.3")
@pytest.mark.parametrize(("what", "handler", "path", "code"), EVERYWHERE, ids=[row[0] for row in EVERYWHERE])
async def test_a_search_and_the_health_check_name_the_same_cause(
    what: str, handler: Handler, path: str, code: str
) -> None:
    async with serve(handler) as site, client({"searxng": site.url + path}, seconds=60.0) as searching:
        status = await check(site.url + path, seconds=60.0)
        with pytest.raises(SuyuanError) as caught:
            await searching.search_service.search("some words", engines="searxng")
    assert status.error is not None and (status.error.detail_code, caught.value.detail_code) == (code, code)
    assert caught.value.say("en") == status.error.say("en") and caught.value.say("zh") == status.error.say("zh")


async def test_nothing_found_is_not_the_same_as_no_engine() -> None:
    handler = searxng({"search": json_reply(pages.searxng(0))})
    async with serve(handler) as site, client({"searxng": site.url}) as searching:
        page = await searching.search_service.search("some words", engines="searxng")
    assert page.results == () and page.attempts[0].outcome == "empty"


@pytest.mark.req("C8.3", "C9.1")
async def test_a_busy_instance_is_not_one_that_hangs() -> None:
    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1.2)
        await reply("OK", kind="text/plain")(writer)

    status = await check_served(searxng({"healthz": late}), seconds=60.0)
    assert status.ok and [warning.detail_code for warning in status.warnings] == ["searxng_busy"]
    assert "GRANIAN_BLOCKING_THREADS" in status.warnings[0].hint and "restarted" in status.warnings[0].hint
    never = await check_served(searxng({"healthz": late, "search": stall}), seconds=3.5)
    assert never.error is not None and never.error.detail_code == "searxng_busy"


@pytest.mark.parametrize(
    ("host", "limiter", "warned"),
    [
        ("search.example.org", False, True),
        ("search.example.org", True, False),
        ("search.example.org", None, False),
        ("203.0.113.9", False, False),
        ("93.184.216.34", False, True),
        ("127.0.0.1", False, False),
        ("searxng", False, False),
        ("host.docker.internal", False, False),
        ("192.168.1.4", False, False),
    ],
)
async def test_an_instance_that_everybody_can_use_is_a_warning(host: str, limiter: bool | None, warned: bool) -> None:
    config = json.dumps({"limiter": {"enabled": limiter}} if limiter is not None else {})
    async with serve(searxng({"config": json_reply(config)})) as site, network() as http:

        async def here(request: Request, engine: str) -> Response:
            return await http.send(replace(request, url=request.url.replace(f"http://{host}", site.url)), engine)

        status = await check_searxng(f"http://{host}", here, seconds=60.0)
    assert status.ok and status.limiter is limiter
    assert [warning.detail_code for warning in status.warnings] == ["searxng_unprotected"] * warned


async def test_some_unresponsive_engines_are_a_warning() -> None:
    status = await check_served(searxng({"search": json_reply(pages.searxng(3, dead=UNRESPONSIVE))}))
    assert status.ok and [warning.detail_code for warning in status.warnings] == ["searxng_engines_resting"]
    assert status.unresponsive_engines == ("bing: timeout", "brave: Suspended: CAPTCHA")


async def test_a_slow_search_is_a_warning() -> None:
    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(3.1)
        await json_reply(pages.searxng(3))(writer)

    status = await check_served(searxng({"search": late}), seconds=60.0)
    assert status.ok and [warning.detail_code for warning in status.warnings] == ["searxng_slow"]


async def test_the_time_limit_holds() -> None:
    silent = searxng({"empty": stall, "config": stall, "search": stall})
    assert await quickest(lambda: seconds_of(check_served(silent, seconds=2.0)), 4.0) < 4


class TestTls:
    pytestmark = pytest.mark.skipif(
        shutil.which("openssl") is None, reason="openssl, which makes the certificates, is not installed"
    )

    async def test_plain_http_behind_https(self) -> None:
        async with serve(searxng()) as site:
            status = await check(site.url.replace("http://", "https://"))
        assert status.error is not None and status.error.detail_code == "searxng_plain_http"
        assert f"SEARXNG_BASE_URL={site.url}" in status.error.hint

    async def test_https_behind_plain_http(self, tmp_path: Path) -> None:
        async with secure(searxng(), certificate(tmp_path, 2)) as port:
            status = await check(f"http://127.0.0.1:{port}")
            async with client({"searxng": f"http://127.0.0.1:{port}"}, seconds=60.0) as searching:
                with pytest.raises(SuyuanError) as caught:
                    await searching.search_service.search("some words", engines="searxng")
        assert caught.value.detail_code == "searxng_needs_https"
        assert status.error is not None and status.error.detail_code == "searxng_needs_https"
        assert f"SEARXNG_BASE_URL=https://127.0.0.1:{port}" in status.error.hint

    async def test_self_signed(self, tmp_path: Path) -> None:
        async with secure(searxng(), certificate(tmp_path, 2)) as port:
            status = await check(f"https://127.0.0.1:{port}")
        assert status.error is not None and status.error.detail_code == "searxng_self_signed"

    @pytest.mark.parametrize(
        ("days", "name", "code"),
        [(-1, "IP:127.0.0.1", "searxng_certificate_expired"), (2, "DNS:other.example", "searxng_certificate_name")],
    )
    async def test_trusted_but_wrong(self, tmp_path: Path, days: int, name: str, code: str) -> None:
        context = certificate(tmp_path, days, name)
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        async with secure(searxng(), context) as port:
            with pytest.raises(ssl.SSLCertVerificationError) as caught:
                await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        failed = TLS_FAILED(engine="searxng", where="127.0.0.1", why=tls_verdict(caught.value))
        assert explained(failed, f"https://127.0.0.1:{port}").detail_code == code


@pytest.mark.req("P9.3")
async def test_the_key_is_sent_and_never_shown() -> None:
    key = Secret("Basic c2VjcmV0LWtleQ==")
    async with serve(searxng({"healthz": reply("", 401)})) as site:
        refused = await check(site.url, api_key=key)
    assert site.seen[0].headers["authorization"] == key.reveal()
    assert refused.error is not None and refused.error.detail_code == "key_rejected"
    assert key.reveal() not in json.dumps(refused.as_dict())


KEYS = [("sk-0123456789", "Bearer sk-0123456789"), ("Bearer abcdefgh", "Bearer abcdefgh"), ("Basic YTpi", "Basic YTpi")]
CLOSED = {"empty": reply("", 403), "page": reply("", 403), "search": reply("", 403)}


@pytest.mark.req("T5.4", "C8.3", "C2.1")
@pytest.mark.parametrize(("key", "sent_as"), KEYS)
@pytest.mark.parametrize("problem", [{}, CLOSED, {"healthz": reply("no", 404)}, {"search": reply("no", 500)}])
async def test_every_request_of_the_check_has_the_key_as_a_search_has_it(
    problem: dict[str, Reply], key: str, sent_as: str
) -> None:
    async with serve(searxng(problem)) as site:
        await check(site.url, api_key=Secret(key))
        asked = [(request.path, request.headers.get("authorization")) for request in site.seen]
    assert asked and [sent for _, sent in asked] == [sent_as] * len(asked), asked
