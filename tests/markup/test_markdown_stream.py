"""Markdown of an answer as clean HTML, whole and piece by piece."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from suyuan.markup import blocks as markup_blocks
from suyuan.markup.blocks import Labels, Mark, MarkdownStream, render

SHARED = Path(__file__).resolve().parents[3] / "shared" / "bench"
SOURCES = {1: "https://one.example/a?b=1&c=2", 2: "http://two.example/", 12: "https://twelve.example/"}
PIECES = [
    "# 标题一\n", "普通文字 [1] 和 [9]。", "**粗体 text**", "*斜*", "`code [1]`", "\n\n", "\n", "- 点一\n",
    "  - 点二 [2]\n", "1. one\n", "   two\n",
    "```py\nx = [1]\n\ny\n```\n", "~~~\n", "```", "| a | b |\n|---|:-:|\n| [1] | 2 |\n", "| x |",
    "> 引用\n", "> - a\n", "---\n", "===\n", "    code\n",
    "[link](https://x.example/a)", "![alt [1]](https://x.example/p.png)", "<b>no</b>", "a < b & c", "\\[1\\]", 
    "[[12]](https://q.example)", "  \n",
    "<https://auto.example/>", "[x](javascript:alert(1))", "\t", " ", "\r\n", "*", "_", "~~s~~", "#",
    "2) two\n", "+ p\n", "&amp;",
    "[", "]", "(",
    "text\n", "文", "&#x41;", "[ref]: https://x.example\n", "[ref]", "!", "\r",
]  # fmt: skip


def streamed(text: str, sizes: Iterator[int], sources: dict[int, str] | None = None) -> list[str]:
    """The blocks as a page has them after the last piece, made from the updates alone."""
    stream = MarkdownStream(lambda: SOURCES if sources is None else sources)
    page: list[str] = []
    updates = []
    position = 0
    while position < len(text):
        size = next(sizes)
        updates.append(stream.feed(text[position : position + size]))
        position += size
    updates.append(stream.close())
    for update in updates:
        for index, html in update.set:
            page[index : index + 1] = [html]
        del page[update.total :]
        assert len(page) == update.total
    assert page == stream.blocks
    return page


def sizes(rng: random.Random) -> Iterator[int]:
    longest = rng.choice((1, 3, 8, 40))
    while True:
        yield rng.randint(1, longest)


@pytest.mark.req("C5.3", "C11.3")
@pytest.mark.parametrize("number", range(1, 13))
def test_each_number_is_a_superscript_that_opens_its_own_source(number: int) -> None:
    sources = {n: f"https://s{n}.example/" for n in range(1, 13)}
    page = LexborHTMLParser("".join(render(f"雨水[{number}]。", sources)))
    (cite,) = page.css("sup a.cite")
    assert (cite.text(), cite.attributes["href"]) == (str(number), sources[number])
    assert cite.attributes["target"] == "_blank", "the conversation stays where it is"


@pytest.mark.req("C11.2", "C5.3", "C11.3")
def test_a_marker_of_a_known_source_becomes_a_superscript_link() -> None:
    assert render("雨水[1]。", SOURCES, Labels("来源")) == [
        '<p>雨水<sup><a class="cite" data-cite="1" href="https://one.example/a?b=1&amp;c=2" aria-label="来源 1" '
        'target="_blank" rel="noopener noreferrer nofollow">1</a></sup>。</p>\n'
    ]


@pytest.mark.req("C11.6", "C12.2")
@pytest.mark.parametrize(
    "text", ["[9]", "[abc]", "[0]", "[-1]", "`[1]`", "    [1]", "```\n[1]\n```", "\\[1\\]", "[12345]"]
)
def test_other_brackets_stay_as_they_are(text: str) -> None:
    html = "".join(render(text, SOURCES))
    assert "cite" not in html
    assert text.strip("` \n").replace("\\", "") in LexborHTMLParser(html).text()


def test_a_marker_inside_a_link_creates_no_nested_link() -> None:
    html = "".join(render("[see [1] there](https://x.example/)", SOURCES))
    assert html.count("<a ") == 1 and 'data-cite="1"' in html


def test_marks_belong_to_the_citations_in_order_if_there_are_as_many() -> None:
    text = "A [1]. `[1]` B [2]."
    marked = "".join(render(text, SOURCES, marks=[Mark(0, "supported"), None]))
    assert re.findall(r'data-cite="(\d)"(?: data-claim="(\d)" data-verdict="(\w+)")?', marked) == [
        ("1", "0", "supported"),
        ("2", "", ""),
    ]
    assert "data-claim" not in "".join(render(text, SOURCES, marks=[Mark(0, "supported")]))


def test_headings_tables_and_code_fit_into_the_page() -> None:
    html = "".join(render("# T\n\n|a|b|\n|-|-:|\n|1|2|\n\n```py x\na<b\n```\n", SOURCES))
    assert "<h3>T</h3>" in html and '<div class="table" tabindex="0"><table>' in html
    assert '<td class="right">2</td>' in html and '<code class="language-py"><span class="n">a</span>' in html
    assert "style" not in html


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Rate $p \\approx e^{-k}$, best.", ['<math display="inline">', "<mo>≈</mo>", "<msup>"]),
        ("$$\nk = \\frac{m}{n}\n$$\n", ['<math display="block">', "<mfrac>"]),
        ("So \\(a_1\\) and \\[b^2\\].", ["<msub>", '<math display="block">', "<msup>"]),
        ("It costs $5 and $10, or $3–$4.", ["$5 and $10, or $3–$4"]),
        ("Broken $\\frac{$ here.", ["<code>\\frac{</code>"]),
        ("$\\text{<script>alert(1)</script><a href=x>y</a>}$", ["<mtext>y</mtext>"]),
        ("```mermaid\ngraph TD\n```\n", ["graph TD", "shown as text"]),
        ("```python\nx = 1\n```\n", ["<span>python</span>", 'data-action="copy-code"', '<span class="mi">1</span>']),
        ("```nonsense\na < b\n", ["a &lt; b", 'class="language-nonsense"']),
    ],
)
def test_formulas_are_mathml_and_code_has_colours(text: str, parts: list[str]) -> None:
    html = "".join(render(text, SOURCES, Labels(copy="Copy", as_text="shown as text")))
    assert [part for part in parts if part not in html] == [], html
    assert "script" not in html and "style" not in html


def test_where_nothing_can_be_copied_there_is_no_button() -> None:
    text = "```python\nx = 1\n```\n\n|a|\n|-|\n|1|\n\n```mermaid\ngraph TD\n```\n"
    assert "<button" not in "".join(render(text, {}))
    assert "".join(render(text, {}, Labels(copy="Copy", csv="CSV"))).count("<button") == 3


def test_a_formula_is_shown_when_it_is_complete() -> None:
    stream, shown = MarkdownStream(lambda: SOURCES), []
    for char in (text := "First.\n\n$$\nk = \\frac{m}{n}\n$$\n\nThen more.\n"):
        stream.feed(char)
        shown.append("".join(stream.blocks))
    stream.close()
    assert stream.blocks == render(text, SOURCES) and not any("$" in each or "frac{" in each for each in shown)


def test_a_picture_is_its_description_and_html_is_text() -> None:
    assert render('![a "b" <c>](https://x.example/p.png) <img src=x onerror=alert(1)>', SOURCES) == [
        '<p>a "b" &lt;c&gt; &lt;img src=x onerror=alert(1)&gt;</p>\n'
    ]


@pytest.mark.parametrize(
    "tex", ["%", "%3C", "\\", "{", "\\begin{x}", "^", "\\href{javascript:alert(1)}{x}", "\\text{<img src=x>}"]
)
def test_a_broken_formula_is_shown_and_runs_nothing(tex: str) -> None:
    for text in (f"so ${tex}$ it is", f"$$\n{tex}\n$$\n", f"\\({tex}\\)"):
        html = "".join(render(text, {}))
        assert html and "<img" not in html and "href" not in html


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://x.example/",
        "/local",
        "//x.example",
        "mailto:a@b.example",
        "vbscript:x",
    ],
)
def test_only_web_addresses_are_links(url: str) -> None:
    html = "".join(render(f"[x]({url}) <{url}>", {1: url}))
    assert "<a " not in html
    assert "cite" not in "".join(render("[1]", {1: url}))


def test_a_text_in_pieces_has_the_same_blocks_as_the_whole() -> None:
    rng = random.Random(7)
    for number in range(400):
        text = "".join(rng.choices(PIECES, k=rng.randint(1, 14)))
        assert streamed(text, sizes(rng)) == render(text, SOURCES), (number, text)


@pytest.mark.skipif(
    not (SHARED / "md-commonmark").exists(), reason="the CommonMark examples are not beside the project"
)
def test_every_example_of_commonmark_streams_to_the_same_blocks() -> None:
    rng = random.Random(8)
    examples = json.loads((SHARED / "md-commonmark" / "commonmark_0.31.json").read_text("utf-8"))
    assert len(examples) > 600
    for example in examples:
        text = example["markdown"]
        assert streamed(text, sizes(rng)) == render(text, SOURCES), text
        assert streamed("para [1]\n\n" + text + "\nend", sizes(rng)) == render(
            "para [1]\n\n" + text + "\nend", SOURCES
        ), text


@pytest.mark.skipif(not (SHARED / "sec-xss").exists(), reason="the payloads are not beside the project")
def test_no_payload_leaves_anything_that_could_run() -> None:
    files = [file for file in (SHARED / "sec-xss").rglob("*") if file.is_file()]
    payloads = [line for file in files for line in file.read_text("utf-8", "replace").splitlines() if line.strip()]
    assert len(payloads) > 100
    for payload in payloads[:: max(1, len(payloads) // 700)]:
        for text in (f"{payload} [1]", f"[x]({payload})"):
            tree = LexborHTMLParser("".join(render(text, SOURCES)))
            for node in tree.css("body *"):
                assert node.tag not in ("script", "img", "svg", "iframe", "style", "object", "form", "input"), payload
                assert not any(name.startswith("on") or name in ("style", "src") for name in node.attributes), payload
                assert node.tag != "a" or re.match("https?://|$", node.attributes.get("href") or ""), payload


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("so [", "["), ("so [1", "["), ("see [the page](https://x.exa", "["), ("a **bo", "**"), ("a **bold*", "*bo"),
        ("run `ls -", "`"),
        ("a *sla", "*"),
        ("a\n==", "h3"), ("a\n-", "h3"), ("| a | b |", "|"), ("| a | b |\n|--", "|"), ("x &am", "&"),
        ("x <https://a.b", "&lt;"),
        ("```py\nx\n``", "``"),
        ("~~go", "~~"),
    ],
)  # fmt: skip
def test_an_unfinished_end_is_not_shown(text: str, hidden: str) -> None:
    stream = MarkdownStream(lambda: SOURCES)
    for char in text:
        stream.feed(char)
        assert hidden not in "".join(stream.blocks)
    stream.close()
    assert stream.blocks == render(text, SOURCES)


@pytest.mark.req("C11.1")
def test_a_whole_marker_is_shown_at_once() -> None:
    stream = MarkdownStream(lambda: SOURCES)
    stream.feed("雨[1")
    assert "1" not in "".join(stream.blocks)
    stream.feed("]")
    assert 'data-cite="1"' in "".join(stream.blocks)


def test_a_source_found_on_the_way_can_be_cited_from_then_on() -> None:
    known: dict[int, str] = {}
    stream = MarkdownStream(lambda: known)
    stream.feed("text ")
    known[3] = "https://three.example/"
    stream.feed("[3] ")
    assert 'data-cite="3"' in "".join(stream.blocks)


def test_the_cost_grows_with_the_length_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    paragraph = "这是一段话,里面有一个出处[1],还有一些字。\n\n"

    parsed, blocks = 0, markup_blocks._blocks

    def counted(text: str, *args: Any) -> Any:
        nonlocal parsed
        parsed += len(text)
        return blocks(text, *args)

    monkeypatch.setattr(markup_blocks, "_blocks", counted)

    def cost(count: int) -> int:
        nonlocal parsed
        parsed = 0
        stream = MarkdownStream(lambda: SOURCES)
        for i in range(0, len(text := paragraph * count), 5):
            stream.feed(text[i : i + 5])
        stream.close()
        return parsed

    assert cost(200) < 2.3 * cost(100)


def test_an_update_contains_only_what_changed() -> None:
    stream = MarkdownStream(lambda: SOURCES)
    stream.feed("one\n\ntwo\n\n")
    update = stream.feed("three")
    assert [index for index, _ in update.set] == [2] and update.total == 3
