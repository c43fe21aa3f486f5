"""What to ask next."""

from __future__ import annotations

from suyuan.chat.suggest import suggestions
from suyuan.citations.registry import Source


def source(number: int, title: str) -> Source:
    return Source(number, title, f"https://e.example/{number}")


def test_what_was_not_cited_comes_first_and_site_names_go() -> None:
    found = suggestions(
        "How long is the bridge?",
        [
            source(1, "The longest bridges in the world - Example News"),
            source(2, "Building an undersea tunnel | Engineering Weekly"),
        ],
        [1],
        "en",
    )
    assert found == (
        "Tell me more about “Building an undersea tunnel”",
        "Tell me more about “The longest bridges in the world”",
    )


def test_titles_that_say_what_was_asked_or_the_same_twice_are_left_out() -> None:
    sources = [
        source(1, "港珠澳大桥有多长"),
        source(2, "港珠澳大桥海底隧道的建设"),
        source(3, "港珠澳大桥海底隧道建设纪实"),
        source(4, "x" * 300),
    ]
    assert suggestions("港珠澳大桥有多长", sources, [], "zh") == ("介绍一下“港珠澳大桥海底隧道的建设”",)


def test_questions_are_asked_as_they_are_and_there_are_three_at_most() -> None:
    titles = ("Why do bridges sway?", "Famous tunnels of Europe", "Concrete and its history", "Steel cables explained")
    found = suggestions("ships", [source(n, title) for n, title in enumerate(titles, 1)], [], "en")
    assert found[0] == "Why do bridges sway?" and len(found) == 3
