"""Markdown on a terminal, block by block."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from suyuan.cli.markdown import MarkdownRenderer, can_link, finished_length

URLS = {1: "https://a.example/one", 2: "https://a.example/two"}


def rendered(text: str, width: int = 40, *, links: bool = False) -> str:
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=links,
        color_system="truecolor" if links else None,
        legacy_windows=False,
    )
    console.print(MarkdownRenderer(URLS, links=links).render(text))
    assert isinstance(console.file, StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## A *heading*", "A heading"),
        ("one\ntwo", "one two"),
        ("第一行\n第二行", "第一行第二行"),
        ("one  \ntwo", "one\ntwo"),
        ("- a\n- b\n  - c", " • a\n • b\n    • c"),
        ("9. a\n10. b", "  9. a\n 10. b"),
        ("- a\n\n- b", " • a\n\n • b"),
        ("> quoted\n>\n> twice", "│ quoted\n│\n│ twice"),
        ("```\nx = [1]\n  y\n```", "  x = [1]\n    y"),
        ("a `code` ~~b~~ <b>c</b>", "a code b <b>c</b>"),
        ("![a picture](https://a.example/p.png)", "a picture (https://a.example/p.png)"),
        ("<https://a.example/>", "https://a.example/"),
        ("[x](javascript:alert)", "[x](javascript:alert)"),
        ("[1]: https://evil.example\n\n[1]", "[1]: https://evil.example\n\n[1]"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("a\x1b[31m\x07b", "a[31mb"),
    ],
)
def test_blocks(text: str, shown: str) -> None:
    assert rendered(text) == shown


def test_long_items_are_indented() -> None:
    assert rendered("1. 港珠澳大桥全长约五十五公里，于二零一八年通车[1]。", 24) == (
        " 1. 港珠澳大桥全长约五十\n    五公里，于二零一八年\n    通车[1]。"
    )


def test_a_wide_table_fits() -> None:
    table = "| 项目 | 说明 |\n|---|---:|\n| 全长 | 包括主桥、海底隧道以及连接线 |"
    assert rendered(table, 24).split("\n") == [
        "项目                说明",
        "────────────────────────",
        "全长    包括主桥、海底隧",
        "            道以及连接线",
    ]


@pytest.mark.req("C12.2", "C11.1")
def test_links_and_citations() -> None:
    shown = rendered("See [1][2], [3] and [here](https://b.example/).", links=True)
    for url, text in ((URLS[1], "[1]"), (URLS[2], "[2]"), ("https://b.example/", "here")):
        assert f";{url}\x1b\\\x1b[" in shown or f";{url}\x1b\\{text}" in shown
    assert shown.count("\x1b]8;;\x1b\\") == 3, "an unknown number is no link"


@pytest.mark.req("C12.2", "C11.1")
@pytest.mark.parametrize("number", [1, 9, 10, 12, 100])
def test_a_number_of_any_length_leads_to_its_source(number: int) -> None:
    urls = {n: f"https://s{n}.example/" for n in range(1, 101)}
    console = Console(file=StringIO(), width=40, force_terminal=True, color_system="truecolor", legacy_windows=False)
    console.print(MarkdownRenderer(urls, links=True).render(f"See [{number}]."))
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert f";https://s{number}.example/\x1b" in shown and f"[{number}]" in shown
    assert shown.count("\x1b]8;;\x1b") == 1


def test_a_terminal_with_few_colours_gets_no_hyperlinks() -> None:
    for term, linked in (("xterm-256color", True), ("linux", False), ("dumb", False)):
        console = Console(file=StringIO(), force_terminal=True, _environ={"TERM": term})
        assert can_link(console) == linked


DOCUMENT = """# Title

A paragraph with **bold**
over two lines.

- one

- two
  1. three

> quote

| a | b |
|---|---|
| 1 | 2 |

```python
x = 1

y = 2
```
after

last"""


@given(st.lists(st.integers(0, len(DOCUMENT)), max_size=12))
def test_a_streamed_text_is_rendered_like_a_whole_one(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(DOCUMENT)]
    blocks, pending = [], ""
    for a, b in zip(edges, edges[1:], strict=False):
        pending += DOCUMENT[a:b]
        length = finished_length(pending)
        if length:
            blocks.append(rendered(pending[:length]))
            pending = pending[length:]
    assert "\n\n".join([*blocks, rendered(pending)]) == rendered(DOCUMENT)


def test_a_block_is_finished_only_when_the_next_one_is_certain() -> None:
    assert finished_length("- a\n\n") == 0
    assert finished_length("- a\n\n-") == 0, "it may become the next item"
    assert finished_length("- a\n\nb") == 0 and finished_length("- a\n\nb\n") == 5
