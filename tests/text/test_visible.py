"""What is shown: every character that could pretend, addresses, links in Markdown, cells."""

from __future__ import annotations

import re
import sys
import time
import unicodedata

import pytest
from ada_url import URL
from markdown_it import MarkdownIt

from support.pretending import HOSTILE
from suyuan.text import markdown_links
from suyuan.text.cells import cell
from suyuan.text.shown_address import other_host, shown_address, shown_host
from suyuan.text.visible import shown_line, shown_piece, shown_text

LOOKALIKE = "аррӏе"
SELECTORS = [chr(code) for code in range(sys.maxunicode + 1) if "VARIATION SELECTOR" in unicodedata.name(chr(code), "")]


def test_no_character_that_pretends_is_left() -> None:
    assert len(HOSTILE) > 200
    for one in HOSTILE:
        for clean in (shown_line, shown_text, shown_piece):
            # What ends a line may stay a blank between two words.
            assert re.fullmatch(r"a\s?b", clean(f"a{one}b")), (clean, ascii(one))
            assert not set(clean(f"名{one}字 مر{one}حبا")) & set(HOSTILE), (clean, ascii(one))


def test_what_is_read_stays() -> None:
    for text in (
        "می‌خواهم", "👩‍🚀 ❤️‍🔥 1️⃣", "שלום עולם, מה?", "مرحبا (بالعالم)", "क्‍ष", "Ärger – “naïve” 茶壶　茶杯", "e\u0301",
    ):  # fmt: skip
        assert shown_text(text) == text and shown_piece(text) == text
    assert shown_line(" one\r\n two\u2028three\t") == "one two three" and shown_text("a\r\nb\rc\x85d") == "a\nb\nc\nd"


@pytest.mark.parametrize("carrier", [*("a", "名", "م", "😀", " ")])
def test_what_has_no_width_carries_nothing(carrier: str) -> None:
    """A message in selectors and joiners is gone: of a run no more is left than an emoji needs."""
    hidden = "".join(SELECTORS) + "\u200c\u200d" * 50 + "\u200d\ufe0f" * 50
    left = shown_text(carrier + hidden + "b").removeprefix(carrier).removesuffix("b")
    assert len(left) <= 2, ascii(left)


def test_it_is_linear() -> None:
    for one in ("\u202e", "\u200d", "\ufe0f", "\u200d\ufe0f", "a\u200d", "\r", "\U000e0041"):
        started = time.process_time()
        for clean in (shown_line, shown_text, shown_piece):
            clean(one * 500_000)
        assert time.process_time() - started < 5, ascii(one)


PRETENDING = {
    "https://bank.example@evil.example/": "evil.example",
    "https://bank.example%2f@evil.example/": "evil.example",
    "https://bank.example:443@evil.example:8443/x": "evil.example",
    "https://a@b@c@evil.example?q=@bank.example": "evil.example",
    "https://bank.example\\@evil.example/": "bank.example",
    f"https://{LOOKALIKE}.com/": "xn--80ak6aa92e.com",
    "https://bаnk.example/": "xn--bnk-6cd.example",
    "https://bank.example．evil.example/": "bank.example.evil.example",
    "https://ｂａｎｋ.example/": "bank.example",
    "http://2130706433/": "127.0.0.1",
    "http://0x7f.1/": "127.0.0.1",
    "http://0177.0.0.1/": "127.0.0.1",
    "https://BANK.example./": "bank.example.",
    "https://evil.example/\u202emoc.knab": "evil.example",
    "https://evil.example#@bank.example/": "evil.example",
    "https://bank.exam\u00adple/": "bank.example",
}


@pytest.mark.parametrize("url", PRETENDING)
def test_the_host_that_is_shown_is_the_one_that_is_opened(url: str) -> None:
    shown = shown_address(url)
    assert shown_host(url) == PRETENDING[url]
    assert URL(shown).hostname == URL(url).hostname and not URL(shown).username and not URL(shown).password
    assert shown.partition("://")[2].startswith(PRETENDING[url]), shown
    assert shown_address(shown) == shown


def test_every_hostile_character_in_every_place_of_an_address() -> None:
    for one in [*HOSTILE, *SELECTORS, "\u05d0", "\u0627", "\u3164", "\u2800", " ", "\u3000", '"', "<", "@"]:
        for url in (f"https://a{one}.example/", f"https://{one}@a.example/", f"https://a.example/{one}?{one}#{one}"):
            shown = shown_address(url)
            assert shown == "" or re.fullmatch(r"https://[a-z0-9.-]+/[!-~]*", shown), ascii(url)
    for url in ("javascript:alert(1)", "ftp://a.example/", "https://", "https:///a.example/", "https://[::1", "x"):
        assert shown_address(url) == ""


def test_an_address_that_pretends_nothing_is_not_changed() -> None:
    for url in (
        "https://www.example.com:8443/a%2Fb/?q=%E4%BD%A0&x=(1)#frag", "https://zh.wikipedia.example/wiki/茶壶",
        "http://[2001:db8::1]/x", "http://127.0.0.1:8642/library/1/a.pdf", "https://a.example",
        "https://a.example/x#:~:text=a,-b",
    ):  # fmt: skip
        assert shown_address(url) == url


def test_links_of_markdown() -> None:
    parser = MarkdownIt("commonmark", {"html": False})
    markdown_links.install(parser)
    for url, host in PRETENDING.items():
        if "\\" in url or "\u202e" in url:
            continue
        for text in (f"[x]({url})", f"<{url}>", f"[x]({url.removeprefix('https:')})"):
            html = parser.render(text)
            for href in re.findall(r'href="([^"]*)"', html):
                assert href.partition("://")[2].startswith(host), html
            assert not [link for link in re.findall(r"<a .*?</a>", html) if "а" in link or LOOKALIKE in link], html
    html = parser.render("[https://bank.example/login](https://evil.example/)")
    assert ">https://bank.example/login</a> (evil.example)" in html
    for honest in ("[bank.example](https://bank.example/login)", "[the bank](https://evil.example/)"):
        assert "</a></p>" in parser.render(honest)
    assert other_host("bаnk.example", "https://bank.example/") == "bank.example"


@pytest.mark.parametrize("sign", [*"=+-@＝＋－＠−|%\t\r\n"])
@pytest.mark.parametrize("before", ["", " ", "\u3000"])
def test_a_cell_begins_no_formula(sign: str, before: str) -> None:
    # A blank is harmless by itself, but hides no formula behind it.
    formula = f"={sign}" if before and sign.isspace() else sign
    assert cell(f"{before}{formula}cmd|' /C calc'!A0")[0] == "'"
    assert [cell(text) for text in ("-5", "+1.5%", "a=b", "", "茶=壶")] == ["-5", "+1.5%", "a=b", "", "茶=壶"]
