"""Finding the pages of a site: links, sitemaps and patterns for paths, and that none of them can be made slow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import pytest

from suyuan.core.causes.page import NOT_FOUND
from suyuan.core.document import Document
from suyuan.core.errors import InvalidInput
from suyuan.core.wire import Response
from suyuan.pages.fetch import GetResult
from suyuan.pages.page_links import page_links, sitemap_links

pytest.importorskip("pydantic_core", reason="the optional extra suyuan[web] is not installed")

from suyuan.pages.crawl import Crawl, CrawlLimits, PathPatterns

CPU_SECONDS = 2.0
"""What takes longer would stop everything else that the server does."""


@dataclass(frozen=True)
class Got:
    response: Response
    notes: tuple[str, ...] = ()


def at(body: bytes) -> Response:
    return Response(200, body, "https://x.example/docs/", {})


def test_links_are_found_wherever_they_stand() -> None:
    body = b"""<a class=x\nhref = "a?b=1&amp;c=2#top">A</a> <A HREF='/b'>B</A><area alt="" href=c><a name=d>no</a>
        <base href="https://y.example/"><a href=" e ">E</a><a href="javascript:x()">no</a><a href="mailto:a@b">no</a>"""
    assert page_links(at(body)) == [
        "https://x.example/docs/a?b=1&c=2", "https://x.example/b", "https://x.example/docs/c", "https://y.example/e",
    ]  # fmt: skip
    sitemap = b"<urlset><url><loc>\n https://x.example/a?b&amp;c \n</loc></url><url><LOC>/d</LOC></url></urlset>"
    assert sitemap_links(at(sitemap)) == ["https://x.example/a?b&c", "https://x.example/d"]


@pytest.mark.parametrize(
    "body",
    [
        b"<loc>" + b" " * 1_900_000, b"<loc> " * 300_000, b"<loc>" * 400_000, b"<a " * 660_000, b"<a href='" * 220_000,
        b'<a href="' + b"<a " * 660_000, b"<a href=b>" * 200_000, b"<a href" + b" " * 1_900_000, b"<loc>/a</loc>" * 150_000,
        b"<a " + b"href " * 380_000, b"<a " + b"href=" * 380_000,
    ],
    ids=lambda body: body[:12].decode(),
)  # fmt: skip
def test_no_page_makes_looking_for_links_slow(body: bytes) -> None:
    started = time.thread_time()
    page_links(at(body))
    sitemap_links(at(body))
    assert time.thread_time() - started < CPU_SECONDS


def test_patterns_for_paths_are_searched_and_kept() -> None:
    patterns = PathPatterns(["^/docs/.*", "(?i)BLOG"])
    assert [patterns.found_in(path) for path in ("/docs/a", "/x/blog/1", "/x")] == [True, True, False]
    assert not PathPatterns() and not PathPatterns().found_in("/x")
    again = CrawlLimits.from_dict(CrawlLimits(include=patterns).as_dict())
    assert again.include.patterns == patterns.patterns and again.include.found_in("/docs/a") and not again.exclude


@pytest.mark.parametrize(
    "pattern", ["a?" * 60 + "a" * 60, "(a+)+$", "(a|a)" * 39, "a*a*a*a*b", "(a{1,99}){1,99}b", r"\w{99}" * 33, ".*" * 90]
)  # fmt: skip
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    started = time.thread_time()
    try:
        PathPatterns([pattern] * 20).found_in("/" + "a" * 5000)
    except InvalidInput as error:
        assert error.detail_code == "bad_argument"
    assert time.thread_time() - started < CPU_SECONDS


@pytest.mark.parametrize("pattern", ["(", "a)|(b", "[", "a" * 201, "(?x)a#", r"(a)\1", "(?=a)b"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput):
        PathPatterns(["/docs", pattern])


async def test_the_delay_that_a_site_asks_for_is_kept_after_a_page_that_fails() -> None:
    asked = []

    async def get(url: str, headers: Mapping[str, str]) -> GetResult:
        return Got(Response(200, b"User-agent: *\nCrawl-delay: 1", url, {}))

    async def read(url: str) -> tuple[Document | None, Response]:
        asked.append(time.monotonic())
        raise NOT_FOUND(where=url, status=404)

    pages = ("https://x.example/b", "https://x.example/c")
    await Crawl("https://x.example/a", CrawlLimits(pages=3), read, get, pages).run(30)
    assert len(asked) == 3 and min(after - before for before, after in pairwise(asked)) > 0.9
