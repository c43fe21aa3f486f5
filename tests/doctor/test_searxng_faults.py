"""SearXNG's illnesses, each played by a real server on loopback and named right."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from doctor.fake_servers import FORBIDDEN, certificate, network, searxng, secure
from support import pages
from support.site import Handler, Reply, free_port, json_reply, raw, redirect, reply, reset, serve, stall
from support.timing import quickest, seconds_of
from suyuan.core.secret import Secret
from suyuan.doctor.searxng import SearxngVerdict, check_searxng

DEAD = [["bing", "timeout"], ["brave", "Suspended: CAPTCHA"]]


async def examined(address: str, **options: object) -> SearxngVerdict:
    async with network() as client:
        return await check_searxng(address, client.send, **options)  # type: ignore[arg-type]


async def played(handler: Handler, path: str = "", **options: object) -> SearxngVerdict:
    async with serve(handler) as site:
        return await examined(site.url + path, **options)


@pytest.mark.req("C2.1", "C8.3")
async def test_a_well_one() -> None:
    verdict = await played(searxng())
    assert verdict.ok and verdict.cause is None and verdict.remarks == () and verdict.engines_dead == ()
    assert (verdict.results, verdict.engines, verdict.version) == (8, ("bing",), "2026.9.25+12f8b6515")
    assert verdict.took_ms < 2000 and verdict.as_dict()["ok"] is True


async def test_a_well_one_under_a_path_with_a_slash_at_its_end() -> None:
    assert (await played(searxng(prefix="/searxng"), "/searxng/")).ok


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
    ("all engines dead", {"search": json_reply(pages.searxng(0, dead=DEAD))}, "engines_dead"),
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
@pytest.mark.parametrize(("what", "ill", "code"), TABLE, ids=[row[0] for row in TABLE])
async def test_told_apart(what: str, ill: dict[str, Reply], code: str) -> None:
    verdict = await played(searxng(ill), seconds=2.5 if stall in ill.values() else 60.0)
    assert verdict.cause is not None and verdict.cause.detail_code == code
    for lang in ("en", "zh"):
        message, hint = verdict.cause.say(lang)
        assert message and hint and "{" not in message


@pytest.mark.req("C9.1", "C6.4")
async def test_nothing_listens() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    verdict = await examined(url)
    assert verdict.cause is not None and verdict.cause.detail_code == "searxng_down"
    for _, hint in (verdict.cause.say("en"), verdict.cause.say("zh")):
        for command in (
            "docker ps",
            "docker compose logs searxng",
            f"curl -i {url}/healthz",
            "suyuan searxng init",
            "suyuan searxng up",
        ):
            assert command in hint


async def test_a_name_that_nobody_knows() -> None:
    verdict = await examined("http://searxng.invalid:8080")
    assert (
        verdict.cause is not None
        and verdict.cause.detail_code == "searxng_dns"
        and "searxng.invalid" in verdict.cause.message
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
async def test_what_is_no_address(address: str) -> None:
    verdict = await examined(address)
    assert verdict.cause is not None and verdict.cause.detail_code == "searxng_bad_address"


@pytest.mark.req("C9.2")
async def test_another_server_is_named() -> None:
    verdict = await played(
        lambda _: reply("<html><title>Welcome to nginx!</title></html>", headers={"Server": "nginx/1.27"})
    )
    assert verdict.cause is not None and verdict.cause.detail_code == "not_searxng"
    assert "Welcome to nginx!" in verdict.cause.message and "nginx/1.27" in verdict.cause.say("zh")[0]
    assert "docker ps" in verdict.cause.hint


@pytest.mark.parametrize("answer", [raw(b"SSH-2.0-OpenSSH_9.6\r\n"), reset], ids=["ssh", "hangs up"])
async def test_what_does_not_speak_http(answer: Reply) -> None:
    verdict = await played(lambda _: answer)
    assert (
        verdict.cause is not None
        and verdict.cause.detail_code == "not_searxng"
        and "does not speak HTTP" in verdict.cause.message
    )
    assert "不使用 HTTP" in verdict.cause.say("zh")[0]


@pytest.mark.req("C9.2")
@pytest.mark.parametrize(("asked", "right"), [("", "/searxng"), ("", "/searx"), ("/wrong", ""), ("/wrong", "/searxng")])
async def test_the_right_path_is_found(asked: str, right: str) -> None:
    async with serve(searxng(prefix=right)) as site:
        verdict = await examined(site.url + asked)
    assert verdict.cause is not None and verdict.cause.detail_code == "searxng_wrong_path"
    assert f"SEARXNG_BASE_URL={site.url}{right}" in verdict.cause.hint


async def test_the_path_that_the_front_page_leads_to_is_found() -> None:
    inner = searxng(prefix="/tools/find")
    async with serve(lambda seen: redirect("/tools/find/") if seen.path == "/" else inner(seen)) as site:
        verdict = await examined(site.url)
    assert (
        verdict.cause is not None
        and verdict.cause.detail_code == "searxng_wrong_path"
        and "/tools/find" in verdict.cause.hint
    )


async def test_some_engines_dead_is_a_remark() -> None:
    verdict = await played(searxng({"search": json_reply(pages.searxng(3, dead=DEAD))}))
    assert verdict.ok and [remark.detail_code for remark in verdict.remarks] == ["searxng_engines_resting"]
    assert verdict.engines_dead == ("bing: timeout", "brave: Suspended: CAPTCHA")


async def test_slow_is_a_remark() -> None:
    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(3.1)
        await json_reply(pages.searxng(3))(writer)

    verdict = await played(searxng({"search": late}), seconds=60.0)
    assert verdict.ok and [remark.detail_code for remark in verdict.remarks] == ["searxng_slow"]


async def test_it_never_takes_longer_than_it_may() -> None:
    silent = searxng({"empty": stall, "config": stall, "search": stall})
    assert await quickest(lambda: seconds_of(played(silent, seconds=2.0)), 4.0) < 4


class TestTls:
    pytestmark = pytest.mark.skipif(
        shutil.which("openssl") is None, reason="openssl, which makes the certificates, is not installed"
    )

    async def test_plain_http_behind_https(self) -> None:
        async with serve(searxng()) as site:
            verdict = await examined(site.url.replace("http://", "https://"))
        assert verdict.cause is not None and verdict.cause.detail_code == "searxng_plain_http"
        assert f"SEARXNG_BASE_URL={site.url}" in verdict.cause.hint

    async def test_https_behind_plain_http(self, tmp_path: Path) -> None:
        async with secure(searxng(), certificate(tmp_path, 2)) as port:
            verdict = await examined(f"http://127.0.0.1:{port}")
        assert verdict.cause is not None and verdict.cause.detail_code == "searxng_needs_https"
        assert f"SEARXNG_BASE_URL=https://127.0.0.1:{port}" in verdict.cause.hint

    async def test_self_signed(self, tmp_path: Path) -> None:
        async with secure(searxng(), certificate(tmp_path, 2)) as port:
            verdict = await examined(f"https://127.0.0.1:{port}")
        assert verdict.cause is not None and verdict.cause.detail_code == "searxng_self_signed"

    @pytest.mark.parametrize(
        ("days", "name", "code"),
        [(-1, "IP:127.0.0.1", "searxng_certificate_expired"), (2, "DNS:other.example", "searxng_certificate_name")],
    )
    async def test_trusted_but_wrong(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, name: str, code: str
    ) -> None:
        context = certificate(tmp_path, days, name)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        async with secure(searxng(), context) as port:
            verdict = await examined(f"https://127.0.0.1:{port}")
        assert verdict.cause is not None and verdict.cause.detail_code == code


@pytest.mark.req("P9.3")
async def test_the_key_is_sent_and_never_shown() -> None:
    key = Secret("Basic c2VjcmV0LWtleQ==")
    async with serve(searxng({"healthz": reply("", 401)})) as site:
        refused = await examined(site.url, api_key=key)
    assert site.seen[0].headers["authorization"] == key.reveal()
    assert refused.cause is not None and refused.cause.detail_code == "key_rejected"
    assert key.reveal() not in json.dumps(refused.as_dict())
