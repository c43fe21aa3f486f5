"""The metadata of a page."""

from __future__ import annotations

from suyuan.pages.extract import extract

URL = "https://example.org/2024/03/05/harbour"


def test_the_head_is_read() -> None:
    head = """<title>The harbour | Example News</title><meta property="og:title" content="The harbour">
    <meta property="og:site_name" content="Example News"><meta name="author" content="By Ann Quay">
    <meta property="article:published_time" content="2024-03-04T10:20:30Z"><link rel=canonical href="/harbour?x=1">"""
    found = extract(f"<html lang='en-GB'><head>{head}</head><body><p>Text.</p></body></html>", URL)
    assert (found.title, found.site_name, found.author) == ("The harbour", "Example News", "Ann Quay")
    assert (found.published_at, found.language, found.canonical_url) == (
        "2024-03-04T10:20:30+00:00",
        "en-GB",
        "https://example.org/harbour?x=1",
    )


def test_json_ld_is_read_and_invalid_json_is_ignored() -> None:
    data = (
        '{"@graph": [{"@type": "Article", "headline": "H", "datePublished": "2023-01-02", '
        '"author": [{"name": "A"}, {"name": "B"}]}]}'
    )
    html = f'<script type="application/ld+json">{{broken</script><script type="application/ld+json">{data}</script><p>x'
    found = extract(html, "https://example.org/")
    assert (found.author, found.published_at) == ("A, B", "2023-01-02")


def test_a_page_without_metadata() -> None:
    found = extract("<p>Hello</p>", "https://example.org/")
    assert (found.title, found.author, found.published_at, found.canonical_url) == ("", "", None, "")


def test_the_site_name_is_removed_from_the_title_and_the_date_is_read_from_the_address() -> None:
    found = extract("<title>Long story - Site</title><meta property=og:site_name content=Site><p>x", URL)
    assert (found.title, found.published_at) == ("Long story", "2024-03-05")
