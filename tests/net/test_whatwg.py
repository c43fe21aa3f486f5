"""The guard with public test data: SSRF payloads, and the test cases of the URL standard."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from suyuan.core.errors import SuyuanError
from suyuan.net.fetch_client import checked_addresses
from suyuan.net.guard import Guard, parse

BENCH = Path(__file__).parents[3] / "shared" / "bench"

pytestmark = pytest.mark.skipif(
    not BENCH.is_dir(), reason="the public test data (shared/bench) are not on this machine"
)

# Deliberately stricter than the standard: see `parse`.
_TRICKS = re.compile(r"[\x00-\x1f\x7f-\x9f]|^[^?#]*\\")
_DNS_NAME = re.compile(r"(?=.{1,253}\.?$)([a-z0-9_-]{1,63})(\.[a-z0-9_-]{1,63})*\.?")


async def all_names_are_loopback(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


async def outcome(url: str) -> str:
    """What the guard says about ``url`` if every name resolves to this machine; ``through`` if it is allowed."""
    guard = Guard()
    try:
        address = guard.check_url(url)
        if address.ip is None:
            await checked_addresses(guard, all_names_are_loopback, address.host, address.port)
    except SuyuanError as error:
        return error.detail_code
    return "through"


def ssrf_urls() -> list[str]:
    lines = (BENCH / "sec-ssrf" / "ssrf_urls.tsv").read_text("utf-8").split("\n")
    return [line.split("\t")[2] for line in lines[1:] if line]


@pytest.mark.parametrize("variant", ["as written", "escapes made real", "without user"])
async def test_no_ssrf_payload_is_allowed(variant: str) -> None:
    urls = ssrf_urls()
    if variant == "escapes made real":
        urls = [url.replace("\\t", "\t").replace("\\r", "\r").replace("\\n", "\n") for url in urls]
    elif variant == "without user":
        # Most contain a user name and are refused for that alone; their hosts must be refused too.
        urls = [re.sub(r"^(\w+://)[^/?#]*@", r"\1", url) for url in urls]
    found = Counter([await outcome(url) for url in urls])
    assert found["through"] == 0, [url for url in urls if await outcome(url) == "through"]
    assert found.total() == 1050 and set(found) <= {"bad_url", "guard_refused", "through"}


def cases(name: str) -> Iterator[dict[str, Any]]:
    for case in json.loads((BENCH / "url-wpt" / name).read_text("utf-8")):
        if isinstance(case, dict):
            yield case


def stricter(url: str, href: str) -> bool:
    """Whether ``url`` is valid by the standard but refused by us."""
    parts = urlsplit(href)
    if _TRICKS.search(url) or parts.scheme not in ("http", "https") or "@" in parts.netloc:
        return True
    return "[" not in parts.netloc and not _DNS_NAME.fullmatch(parts.netloc.rsplit(":", 1)[0])


def parsed(url: str, base: str = "") -> str | None:
    """The normalised ``url``; None if it is refused."""
    try:
        return parse(url, base).href
    except SuyuanError as error:
        assert error.detail_code == "bad_url"
        return None


@pytest.mark.parametrize("name", ["urltestdata.json", "ada_extra_urltestdata.json", "ada_long_urltestdata.json"])
def test_urls_are_parsed_as_the_standard_says(name: str) -> None:
    seen: Counter[str] = Counter()
    for case in cases(name):
        url, base, href = case["input"], case.get("base") or "", case.get("href", "")
        if case.get("failure"):
            seen["failure"] += 1
            assert parsed(url, base) is None, case
        elif stricter(url, href):
            seen["stricter"] += 1
            assert parsed(url, base) is None, case
        else:
            seen["equal"] += 1
            assert parsed(url, base) == href, case
    assert seen.total(), seen


@pytest.mark.parametrize("name", ["IdnaTestV2.json", "toascii.json", "IdnaTestV2-removed.json"])
def test_international_names_are_parsed_as_the_standard_says(name: str) -> None:
    seen: Counter[str] = Counter()
    for case in cases(name):
        if not case["input"]:
            # "https:///x" has the host x.
            continue
        # As in the standard's own tests, characters that would end the host are escaped.
        host = re.sub(r"[:/?#\\]", lambda found: f"%{ord(found[0]):02X}", case["input"])
        url, output = f"https://{host}/x", case["output"]
        expected = None if not output or stricter(url, f"https://{output}/x") else f"https://{output}/x"
        seen["failure" if expected is None else "equal"] += 1
        assert parsed(url) == expected, case
    assert seen.total(), seen


def test_names_too_long_for_dns_are_refused() -> None:
    seen = [
        bool(case.get("failure")) == (parsed(case["input"]) is None) for case in cases("verifydnslength_tests.json")
    ]
    assert seen and all(seen)
