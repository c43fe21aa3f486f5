"""A conversation as a file: everything is there, and nothing in it can act."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from suyuan.chat.bibtex import bibtex_entry
from suyuan.chat.events import Answer, ClaimCheck
from suyuan.chat.export import Form, export, harmless, render
from suyuan.citations.claims import Disagreement, Side
from suyuan.citations.registry import Source
from suyuan.core.causes.asked import EMPTY_QUERY
from suyuan.core.errors import InvalidInput
from suyuan.store.conversation import Conversation, Message

TIME = "2026-11-16T08:00:00.000000+00:00"
TALK = Conversation("c1", "月球", "chat", True, "bing_html", "qwen", "zh", TIME, TIME)
SOURCES = (Source(1, "Moon", "https://example.org/moon?a=1&b=2", "s"), Source(2, "月", "https://example.cn/月", "s"))
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://evil.example/track.png)",
    "[x](javascript:alert(1))",
    "<javascript:alert(1)>",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    '"><svg onload=alert(1)>',
    "</style></title></textarea><script>alert(1)</script>",
    "`</code><script>alert(1)</script>`",
    "\\`<img src=x onerror=alert(1)>\\`",
    "```\n</pre><script>alert(1)</script>\n```",
    "<div>\n```\n</div>\n\n<script>alert(1)</script>\n\n```\n<img src=x>\n",
    "[a]: https://evil.example/track.png\n\n![a]",
    "<!-- --><iframe src=//evil.example></iframe>",
    "> <details open ontoggle=alert(1)>\n- <b>x",
    '<a href="https://x" style="position:fixed">x</a>',
]


def question(text: str = "月球有多远?") -> Message:
    return Message("q1", "c1", "user", text, "done", TIME, None, 0)


def reply(
    text: str = "384 400 km [1]", markdown: str = "384 400 km [[1]](https://example.org/moon?a=1&b=2)", **fields: Any
) -> Message:
    given = {"mode": "chat", "model": "qwen", "lang": "zh", "sources": SOURCES, "cited": (1,)} | fields
    # As the store gives it back: through JSON, tuples as lists.
    answer = json.loads(json.dumps(Answer(text, markdown, **given).as_dict(), ensure_ascii=False))
    return Message("a1", "c1", "assistant", markdown, "done", TIME, answer, 1)


class Elements(HTMLParser):
    """The elements of a page as a browser would see them, and what could act in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def active(self) -> list[str]:
        return [
            f"{tag} {name}={value}"
            for tag, attrs in self.tags
            for name, value in [("", ""), *attrs.items()]
            if tag in ("script", "img", "svg", "iframe", "details", "form", "object", "base", "link", "b")
            or name.startswith("on")
            or (name == "style")
            or (name in ("href", "src") and not (value or "").startswith(("http://", "https://", "mailto:")))
        ]


def markup(markdown: str) -> list[str]:
    """What of ``markdown`` a viewer that allows HTML would run or load."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown)
    flat = [child for token in tokens for child in [token, *(token.children or [])]]
    links = [str(token.attrGet("href")) for token in flat if token.type == "link_open"]
    bad = [link for link in links if not link.startswith(("http://", "https://", "mailto:"))]
    return [token.content for token in flat if token.type in ("html_block", "html_inline", "image")] + bad


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("cited", [(1,), ()])
def test_nothing_in_an_exported_file_can_act(attack: str, cited: tuple[int, ...]) -> None:
    sources = (
        Source(1, attack, "https://example.org/" + attack.replace("\n", "")),
        Source(2, attack, "javascript:alert(1)"),
    )
    failure = InvalidInput(attack, hint=attack, detail_code="x").failure
    answer = reply(
        attack,
        f"{attack}\n\n参考文献\n\n1. [{attack}](https://example.org)",
        sources=sources,
        cited=cited,
        failure=failure,
        model=attack,
    )
    talk = replace(TALK, title=attack, model=attack)
    for lang in ("zh", "en"):
        page = Elements(export(talk, [question(attack), answer], "html", lang))
        assert page.active == [] and sum(tag in ("html", "body", "main", "style", "title") for tag, _ in page.tags) == 5
        assert markup(export(talk, [question(attack), answer], "md", lang)) == []
    assert json.loads(export(talk, [question(attack), answer], "json", "zh"))["conversation"]["title"] == attack


@pytest.mark.req("C11.2", "C11.3")
@pytest.mark.parametrize("form", ["md", "html"])
@pytest.mark.parametrize(
    ("lang", "told"),
    [("zh", ("未经搜索验证", "已停止", "访问日期：2026", "查询为空", "模式：Chat")),
     ("en", ("not verified by search", "stopped", "Accessed: 2026", "The query is empty", "Mode: Chat"))],
)  # fmt: skip
def test_what_the_reader_must_know_is_there(form: Form, lang: str, told: tuple[str, ...]) -> None:
    failed = replace(reply(unverified=True, stopped=True, failure=EMPTY_QUERY.failure()), state="stopped")
    made = export(TALK, [question(), failed], form, lang)
    shown = Elements(made).text if form == "html" else made.replace("\\", "")
    for text in (*told, "月球有多远?", "qwen", "384 400 km", "2026-11-16"):
        assert text in shown
    assert (
        'href="https://example.org/moon?a=1&amp;b=2"' if form == "html" else "[[1]](https://example.org/moon?a=1&b=2)"
    ) in made
    well = export(TALK, [question(), reply()], form, lang)
    assert not any(text in well for text in told[:2])


def test_a_page_needs_nothing_else_and_allows_nothing() -> None:
    page = export(TALK, [question(), reply()], "html", "zh")
    assert (
        """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
        in page
    )
    assert (
        page.index("Content-Security-Policy") < page.index("<style>")
        and '<html lang="zh-CN">' in page
        and "<script" not in page
    )
    assert not re.search(r"url\(|@import|<link|src=", page)


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_the_verdicts_are_kept(form: Form) -> None:
    check = ClaimCheck(0, 14, 1, "contradicted", "page", "It is 36 <km>.", "", "384 400", "36 <km>")
    sides = (Side("384 400", (2,)), Side("36 <km>", (1,)))
    message = reply(claims=(check,), disagreements=(Disagreement(0, 14, sides),))
    made = export(TALK, [question(), message], form, "en")
    if form == "json":
        kept = json.loads(made)["messages"][1]["answer"]
        assert kept["claims"][0]["verdict"] == "contradicted" and kept["claims"][0]["says"] == "36 <km>"
        assert [side["numbers"] for side in kept["disagreements"][0]["sides"]] == [[2], [1]]
        return
    shown = Elements(made if form == "html" else render(made)).text
    assert "Contradicted: the source says “36 <km>”" in shown
    assert "Sources disagree: 384 400 [2]; 36 <km> [1]" in shown
    assert "compared" not in export(TALK, [question(), reply()], form, "en")


@pytest.mark.req("C11.5")
@pytest.mark.parametrize("form", ["md", "html"])
def test_sources_that_are_not_cited_are_listed(form: Form) -> None:
    made = export(TALK, [question(), reply("about so", "about so", cited=())], form, "en")
    assert "Sources" in made and "https://example.cn/月" in made and "Moon" in made
    assert "Sources" not in export(TALK, [question(), reply()], form, "en")
    assert "Sources" not in export(TALK, [question(), reply("x", "x", mode="agent", cited=())], form, "en")


@pytest.mark.parametrize(
    ("state", "mark"), [("interrupted", "已中断"), ("failed", "失败"), ("running", "仍在生成"), ("stopped", "已停止")]
)
def test_an_answer_that_was_cut_off_is_there_as_far_as_it_came(state: Any, mark: str) -> None:
    half = Message("a1", "c1", "assistant", "384 400", state, TIME, None, 1)
    for form in ("md", "html"):
        made = export(TALK, [question(), half], form, "zh")
        assert "384 400" in made and mark in made and "qwen" in made


def test_json_has_everything() -> None:
    messages = [question(), reply(unverified=True)]
    data = json.loads(export(TALK, messages, "json", "en"))
    assert data["schema_version"] == 1 and data["conversation"] == asdict(TALK)
    assert data["messages"] == [asdict(message) for message in messages]


def test_a_question_is_shown_as_it_was_typed() -> None:
    typed = (
        "def f(x):\n    return x*2*3  # <b>\n\n1. one_two_three\n2) two\n- [ ] & ~~no~~ https://example.org\n"
        "# no heading\n===\n\n---\n+ x\n> y"
    )
    shown = Elements(MarkdownIt("commonmark").render(export(TALK, [question(typed)], "md", "en"))).text.replace(
        "\u00a0", " "
    )
    lines = [" ".join(line.split()) for line in typed.splitlines() if line]
    assert [line for line in lines if line not in " ".join(shown.split())] == [] and "\\" not in shown
    assert typed in Elements(export(TALK, [question(typed)], "html", "en")).text


def test_code_in_an_answer_stays_as_it_is() -> None:
    code = (
        "Use `a < b` and `<div>`:\n\n```html\n<script>x</script> ![a](b)\n```\n\nif 1 < 2, see <https://example.org>\n"
    )
    assert harmless(code) == code
    mixed = harmless("<b>x</b>\n\n" + code)
    assert "<script>x</script> ![a](b)" in mixed and "&lt;b>" in mixed
    assert render("a <b>x</b>") == "<p>a &lt;b&gt;x&lt;/b&gt;</p>\n"
    assert "&lt;script&gt;x&lt;/script&gt;" in render(code) and '<a href="https://example.org"' in render(code)


def test_tables_and_lists_are_rendered() -> None:
    page = render("| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n3. x\n")
    assert "<td>1</td>" in page and "<s>2</s>" in page and '<ol start="3">' in page


def test_half_of_a_character_pair_does_not_stop_an_export() -> None:
    for form in ("md", "html", "json"):
        assert export(replace(TALK, title="\ud800"), [question("\udfff")], form, "zh").encode()


def test_an_address_in_bibtex_leads_to_the_same_page() -> None:
    entry = bibtex_entry(
        "a", title="A {b}", url="https://x.example/{id}?q=a\\b", site="x.example", published_at="", read_at=""
    )
    assert "  url = {https://x.example/%7Bid%7D?q=a%5Cb},\n" in entry and "year" not in entry
