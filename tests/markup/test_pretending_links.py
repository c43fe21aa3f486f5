"""What a model writes as Markdown pretends nothing, also by character references and in the texts of links."""

from __future__ import annotations

import re
from html import unescape
from itertools import product

import pytest
from rich.console import Console

from suyuan.chat.suggest import suggestions
from suyuan.citations.registry import Source
from suyuan.cli.markdown import MarkdownRenderer
from suyuan.markup.blocks import render
from suyuan.text.shown_address import other_host
from suyuan.text.visible import visible_text

UNSEEN = (0x202E, 0x2066, 0x200B, 0x00AD, 0x200F, 0x200E, 0xFEFF, 0x2060, 0x1B, 0x9B, 0x7, 0xE0041, 0x3164)
NAMES = ("&shy;", "&rlm;", "&lrm;", "&ZeroWidthSpace;", "&zwnj;", "&NoBreak;")
REFERENCES = [form.format(code) for code in UNSEEN for form in ("&#x{:x};", "&#X{:X};", "&#{};", "&#0{};")] + [*NAMES]
PLACES = ("see{}it", "**see{}it**", "# see{}it", "- see{}it", "> see{}it", "|a|\n|-|\n|see{}it|", "[see{}it](https://a.example/)",
          "![see{}it](https://a.example/x.png)", "*a[b{}c](https://a.example/)*")  # fmt: skip


def on_terminal(text: str) -> str:
    console = Console(width=200, color_system=None, record=True, file=None, quiet=True)
    return "".join(segment.text for segment in console.render(MarkdownRenderer({}, links=False).render(text)))


@pytest.mark.parametrize("place", PLACES)
def test_a_character_reference_brings_nothing_back(place: str) -> None:
    for reference in REFERENCES:
        text = place.format(reference)
        shown = unescape("".join(render(text, {}))), on_terminal(text)
        for each in shown:
            bare = re.sub(r"\s", "", each)
            assert bare == re.sub(r"\s", "", visible_text(each)), (text, each)
            assert not set(map(chr, UNSEEN)) & set(each), (text, each)


NAMED = ("google.com", "accounts.google.com", "8.8.8.8", "[2001:db8::1]", "localhost", "localhost:8650", "gооgle.com", "例子.中国",
         "https://google.com", "HTTPS:/google.com/x", "http://google.com@evil.example")  # fmt: skip
AROUND = ("{}", "{} – Sign in", "see {} for it", "»{}«", "Sign in ({})", "{}/login?x=1", "{}.", "The best,{}")
DOTS = (".", "·", "．", "。", "｡", "․", "•", "‧", " .", "&#8203;.", ".&shy;", "&period;")
MARKERS = ("[1]", "1", "[12]", "【1】", "¹", "[1][2]", "[1, 2]", "(1)", "[ 1 ]")


@pytest.mark.parametrize("around", AROUND)
def test_the_host_stands_behind_a_text_that_names_another(around: str) -> None:
    for named, dot in product(NAMED, DOTS):
        if dot != "." and re.search(r"//|:/|\[", named):
            continue
        label = around.format(named.replace(".", dot)).replace("[", "\\[").replace("]", "\\]")
        text = f"[{label}](http://evil.example/x)"
        assert "(evil.example)" in unescape("".join(render(text, {}))), text
        assert "evil.example" in on_terminal(text), text


@pytest.mark.parametrize("slash", ["∕", "⁄", "／", "⧸", "\\\\"])
def test_other_slashes_end_no_name(slash: str) -> None:
    assert "(evil.example)" in "".join(render(f"[google.com{slash}x](http://evil.example/)", {}))


@pytest.mark.parametrize("marker", MARKERS)
def test_a_link_does_not_look_like_a_citation(marker: str) -> None:
    assert "(evil.example)" in "".join(render(f"[{marker}](http://evil.example/)", {}))


@pytest.mark.parametrize("label", ["evil.example", "www.evil.example/x", "Sign in", "Version 3.14 is out", "It ends. Then it begins",
                                   "http://evil.example/index.html?a=b.com", "EVIL.example", "Chapter 3"])  # fmt: skip
def test_honest_links_stay_as_they_are(label: str) -> None:
    assert other_host(label, "http://evil.example/x") == ""


@pytest.mark.parametrize("piece", ["a.", ".", "a ", "[1", "http:", "1.1.", "a.bc/", "·"])
def test_any_label_is_looked_at_in_little_time(piece: str) -> None:
    import time

    for length in (400, 500, 100_000):
        started = time.process_time()
        other_host((piece * length)[:length], "http://evil.example/")
        assert time.process_time() - started < 0.2


@pytest.mark.parametrize("letter", ["a", "é", "Ā", "ß", "я", "ω", "ễ", "א"])
def test_a_letter_has_no_selector(letter: str) -> None:
    assert visible_text(f"{letter}\ufe0f") == letter
    for kept in ("❤\ufe0f", "©\ufe0f", "®\ufe0f", "1\ufe0f\u20e3", "☎\ufe0f"):
        assert visible_text(kept) == kept


@pytest.mark.parametrize("address", ["http://evil.example/x", "HTTPS://EVIL.example", "//evil.example", "www.evil.example",
                                     "evil.example/steal", "evil.example:80/x", "me@evil.example"])  # fmt: skip
@pytest.mark.parametrize("title", ["The merger of {} in detail", "Is the merger at {} done?"])
def test_a_suggestion_has_no_address(address: str, title: str) -> None:
    source = Source(1, title.format(address), "https://a.example/", "What the papers write about the merger.", "x")
    assert not [
        each for each in suggestions("When does the merger close?", [source], (), "en") if "evil" in each.lower()
    ]
