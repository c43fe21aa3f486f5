"""Markers become links, whether the answer arrives whole or in chunks."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Mapping

import pytest

from support.timing import without_garbage_collection
from suyuan.citations.linker import LinkedAnswer, Linker, safe_url
from suyuan.citations.markers import Marker, find_markers
from suyuan.citations.references import references
from suyuan.citations.registry import Source

SOURCES = {n: Source(n, f"Title {n} of the page", f"https://s{n}.example/a_(b)?x={n}") for n in range(1, 13)}

MANY = {n: Source(n, f"Title {n}", f"https://s{n}.example/") for n in range(1, 1001)}

# Answers, their text in the one form, and the sources that they cite.
CANONICAL: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("Paris is the capital [1].", "Paris is the capital [1].", (1,)),
    ("Paris[1] and Rome[2][1].", "Paris[1] and Rome[2][1].", (1, 2)),
    ("A [1, 2] B [3,4] C [5、6]", "A [1][2] B [3][4] C [5][6]", (1, 2, 3, 4, 5, 6)),
    ("A [1-3] B [5–6]", "A [1][2][3] B [5][6]", (1, 2, 3, 5, 6)),
    ("甲【1】乙【2†source】丙［3］丁［４］", "甲[1]乙[2]丙[3]丁[4]", (1, 2, 3, 4)),
    (
        "A[^1] B[[2]] C[[3]](https://made.up/x) D[4](https://s4.example/a_(b)?x=4)。",
        "A[1] B[2] C[3] D[4]。",
        (1, 2, 3, 4),
    ),
    ("甲[来源1]乙[来源 2]丙[source 3][Sources: 4, 5]", "甲[1]乙[2]丙[3][4][5]", (1, 2, 3, 4, 5)),
    ("word.[1] Next. 中文。[2]下一句", "word.[1] Next. 中文。[2]下一句", (1, 2)),
    ("[abc] [ ] [x] [^note] [1a] [] [1", "[abc] [ ] [x] [^note] [1a] [] [1", ()),
    ("`[1]` ``a ` [1]`` `open [1]", "`[1]` ``a ` [1]`` `open [1]", (1,)),
    ("```py\na[1]\n[1]\n```\nout [2]\n~~~\n[3]\n~~~", "```py\na[1]\n[1]\n```\nout [2]\n~~~\n[3]\n~~~", (2,)),
    (
        "Text\n\n    code [1]\n\nText [2]\n    still text [3]",
        "Text\n\n    code [1]\n\nText [2]\n    still text [3]",
        (2, 3),
    ),
    ("- item\n\n    in the item [1]", "- item\n\n    in the item [1]", (1,)),
    ("> ```\n> [1]\nout [2]", "> ```\n> [1]\nout [2]", (2,)),
    ("x[1] my_list[2] $v[3] a[0][4] item x[5] end", "x[1] my_list[2] $v[3] a[0][4] item x[5] end", (1, 2, 3, 4, 5)),
    ("`x[1]` items[1] = 3 items[2].size", "`x[1]` items[1] = 3 items[2].size", (1, 2)),
    ("it's[1] _Nature_[2] 5 m[3] U.S.[4] naïf[5]", "it's[1] _Nature_[2] 5 m[3] U.S.[4] naïf[5]", (1, 2, 3, 4, 5)),
    (
        "![1](https://p.example/i.png) [text](https://x.example/[1])",
        "![1](https://p.example/i.png) [text](https://x.example/[1])",
        (),
    ),
    ("Great![1] Yes", "Great! [1] Yes", (1,)),
    ("As he says[1](2020)", "As he says[1] (2020)", (1,)),
    (r"\[1] \【2】 \\[3]", r"\[1] \【2】 \\[3]", (3,)),
    ("[2024] was [0] a year [1-99] [0, 1] [5-2]", "[2024] was [0] a year [1-99] [0, 1] [5-2]", ()),
    (
        "| a | b |\r\n|---|---|\r\n| Rome[1] | 中[2, 3] |\r\n",
        "| a | b |\r\n|---|---|\r\n| Rome[1] | 中[2][3] |\r\n",
        (1, 2, 3),
    ),
    ("[^1]: a footnote [2] of its own\ntext", "[^1]: a footnote [2] of its own\ntext", (2,)),
    ("A [1]\n\n[1]: https://made.up/\nmore", "A [1]\n\nmore", (1,)),
    ("known [1, 99] unknown [99] [98-99] 【99】", "known [1][99] unknown [99] [98-99] 【99】", (1,)),
    ("", "", ()),
)

# Lists of sources that a model wrote at the end of its answer.
OWN_LISTS = (
    "\n\n## Sources\n\n1. [Title 1 of the page](https://x.example)\n2. Something https://y.example\n",
    "\n\n---\n**参考文献**：\n[1] 某某 https://a.example\n【2】某某\n",
    "\r\n\r\n### References:\r\n\r\n- [1] Title\r\n- [2](https://made.up) Title\r\n",
    "\n来源:\n- Title 3 of the page\n- s4.example",
    "\n\nSources\n\nTitle 1 of the page (2020)\nhttps://y.example/z\n\n## References\n* <https://x.example>",
    "\n\n[1]: https://made.up/\n[^2]: Title 2 of the page\n",
    "\n\n**Bibliography**\n[[1]](https://s1.example/) Title",
)

# Endings that look like such a list but are not one.
NO_LISTS = (
    "\n\n## Sources\n\n- [1] Title\n\nBut there is more to say.",
    "\n\nSources:\n\nThe river has two sources, and both are cold [1].",
    "\n\n来源:这句话出自《论语》[1]。",
    "\n\n## 来源\n- 这句话出自《论语》[1]。",
    "\n\n## Sources of error\n- [1] Title",
    "\n\n```\nSources:\n- [1] Title\n```",
    "\n\n## References\n",
    "\n\nSources:\n- " + "long " * 300 + "https://x.example",
)

ALL = (
    *(text for text, _, _ in CANONICAL),
    *(f"Known [1]。{tail}" for tail in (*OWN_LISTS, *NO_LISTS)),
    "Sources:\n- [1] https://x.example",
    "`" + "[1] " * 20 + "\n\nnext [2] `[3]`",
    "Long\n" + "#" * 500 + " [1]\n" + " " * 500 + "[2]\n```" + "x" * 500 + "`[3]`\n",
)


def streamed(*chunks: str, sources: Mapping[int, Source] = SOURCES) -> LinkedAnswer:
    """The result for an answer that arrives in ``chunks``; what is shown on the way is its text."""
    linker = Linker(lambda: sources)
    shown = "".join([linker.feed(chunk) for chunk in chunks] + [linker.close()])
    assert shown == linker.answer.text
    return linker.answer


def link(text: str, sources: Mapping[int, Source] = SOURCES) -> LinkedAnswer:
    """The result for an answer that arrives whole."""
    return streamed(text, sources=sources)


@pytest.mark.req("C12.2", "C11.1")
@pytest.mark.parametrize("number", [1, 9, 10, 12, 99, 100, 120, 1000])
def test_a_number_of_any_length_is_a_marker(number: int) -> None:
    linker = Linker(lambda: MANY)
    shown = linker.feed(f"Tea[{number}].") + linker.close()
    assert shown == f"Tea[{number}]." and linker.answer.cited == (number,)
    assert linker.answer.markdown == f"Tea[[{number}]](https://s{number}.example/)."


@pytest.mark.req("C12.3", "C11.1")
@pytest.mark.parametrize("url", ["javascript:alert(1)", "", "ftp://x.example/", "/leaf", "http://"])
def test_a_source_without_the_address_of_a_page_keeps_its_marker(url: str) -> None:
    linker = Linker(lambda: {1: Source(1, "Tea", url), 2: Source(2, "Pots", "https://pots.example/")})
    linker.feed("Leaves[1], pots[2].")
    linker.close()
    assert linker.answer.markdown == "Leaves[1], pots[[2]](https://pots.example/)."


@pytest.mark.req("C11.1", "C12.2", "C15.2")
@pytest.mark.parametrize(("text", "canonical", "cited"), CANONICAL)
def test_markers_are_written_in_one_form(text: str, canonical: str, cited: tuple[int, ...]) -> None:
    linked = link(text)
    assert (linked.text, linked.cited) == (canonical, cited)


@pytest.mark.req("C11.2", "C12.3", "C5.3")
def test_known_numbers_become_links() -> None:
    linked = link("One [1], two 【2, 99】.")
    assert linked.markdown == (
        "One [[1]](https://s1.example/a_%28b%29?x=1), two [[2]](https://s2.example/a_%28b%29?x=2)[99]."
    )


@pytest.mark.req("C11.6", "C11.2")
def test_unknown_numbers_are_unchanged_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "suyuan.citations"):
        linked = link("A [1] B 【77】 C [[88]](https://x.example) D [2024]")
    assert linked.text == "A [1] B 【77】 C [[88]](https://x.example) D [2024]"
    assert linked.cited == (1,) and linked.unknown == (77, 88)
    assert [(r.name, r.levelname) for r in caplog.records] == [
        ("suyuan.citations", "WARNING")
    ] and "[77], [88]" in caplog.text


@pytest.mark.req("C11.5")
def test_without_markers_nothing_changes() -> None:
    linked = link("No [markers] here.")
    assert (linked.text, linked.markdown, linked.cited, linked.unknown) == ("No [markers] here.",) * 2 + ((), ())


def test_a_year_that_is_a_source_is_cited() -> None:
    assert link("[2024]", {2024: Source(2024, "t", "https://a.example")}).cited == (2024,)


@pytest.mark.req("C11.4")
@pytest.mark.parametrize("tail", OWN_LISTS)
def test_the_models_own_list_is_removed(tail: str) -> None:
    assert link(f"Known [1]。{tail}").text == "Known [1]。"


@pytest.mark.parametrize("tail", NO_LISTS)
def test_other_endings_are_kept(tail: str) -> None:
    assert link(f"Known [1]。{tail}").text == f"Known [1]。{tail}"


def test_an_answer_that_consists_of_a_list_is_kept() -> None:
    assert link("Sources:\n- [1] https://x.example").text == "Sources:\n- [1] https://x.example"


@pytest.mark.parametrize("text", ALL)
def test_linking_a_linked_answer_changes_nothing(text: str) -> None:
    once = link(text)
    assert link(once.markdown) == once


def test_our_own_list_is_not_repeated() -> None:
    once = link("A [1]。")
    assert link(f"{once.markdown}\n\n{references(SOURCES, once.cited, lang='zh')}") == once


@pytest.mark.req("C11.1", "C15.2")
@pytest.mark.parametrize("text", ALL)
def test_chunks_make_no_difference(text: str) -> None:
    whole = link(text)
    assert streamed(*text) == whole
    step = 1 if len(text) < 400 else 7
    for at in range(0, len(text) + 1, step):
        assert streamed(text[:at], text[at:]) == whole, at


@pytest.mark.req("C12.2")
@pytest.mark.parametrize("text", ALL)
def test_the_recorded_markers_are_those_of_the_final_text(text: str) -> None:
    linked = link(text)
    assert linked.markers == find_markers(linked.text)


def test_random_answers_in_random_chunks() -> None:
    rnd = random.Random(7)
    tokens = [token for text in ALL if len(text) < 200 for token in text.split(" ")] + [
        "`",
        "```\n",
        "\n",
        "\n\n",
        "    ",
        "[",
        "]",
        "(",
        "\r\n",
    ]
    for _ in range(400):
        text = "".join(rnd.choice(tokens) + rnd.choice(("", " ")) for _ in range(rnd.randint(1, 25)))
        cuts = sorted(rnd.randint(0, len(text)) for _ in range(5))
        chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        whole = link(text)
        assert streamed(*chunks) == streamed(*text) == whole, text
        assert set(find_markers(whole.text)) <= set(whole.markers), text
        for marker in whole.markers:
            alone = find_markers(whole.text[marker.start : marker.end])
            assert [found.numbers for found in alone] == [marker.numbers], text


def test_a_marker_is_shown_whole_and_little_text_is_held_back() -> None:
    linker = Linker(lambda: SOURCES)
    shown = [linker.feed(char) for char in "So [1, 2] it [abc] is.\nS"]
    assert "".join(shown) == "So [1][2] it [abc] is."
    assert shown[3:10] == ["", "", "", "", "", "", "[1][2] "]
    assert shown[13:15] == ["", "[a"], "this cannot become a marker"
    assert linker.feed("o") == "" and linker.feed(" ") == "\nSo ", "this could have been the heading of a list"
    assert linker.feed("`code") == "`code", "a code span is shown as it arrives"
    assert linker.feed(" [1]") == " " and linker.feed("`") == "" and linker.feed(" ") == "[1]` "


def test_the_cost_is_linear() -> None:
    texts = (
        ("巴黎是首都[1], as Paris[2] is `x[1]` [3, 4].\n\n- **b**[5]\n\n```py\na[1]\n```\n" * 2000)[:100_000],
        "[" * 50_000,
        "`[1] " * 10_000,
        "`" + "[1] word " * 6_000,
        "## Sources\n" + "- [1] T\n" * 6_000,
        "[1](http://" + "a" * 50_000,
    )
    for text in texts:
        started = time.process_time()
        streamed(*(text[at : at + 4] for at in range(0, len(text), 4)))
        assert time.process_time() - started < 4, text[:20]


LINES = (
    "\n",
    "a\n=\n",
    "a\n\n",
    " \n",
    "- [1]\n",
    "[1]: http://a\n",
    "[^1]: \n",
    "`a ",
    "[1] ",
    "![",
    "| | |\n",
    "](",
    "x\n~~~\n",
)
BEGINNINGS = ("", "a", "```\n", "Sources\n", "known\n\nSources\n", "`")


@pytest.mark.parametrize("line", LINES)
def test_a_part_takes_a_few_milliseconds_whatever_the_text_is(line: str) -> None:
    for beginning in BEGINNINGS:
        text = beginning + line * (20_000 // len(line))
        linker, took = Linker(lambda: SOURCES), list[float]()
        with without_garbage_collection():
            for parts in (linker.parts(text), linker.rest()):
                begun = time.thread_time()
                for _ in parts:
                    now = time.thread_time()
                    took.append(now - begun)
                    begun = now
        # Half of all the time is far more than any of these parts needs, and less than the whole text at once.
        assert len(took) > 30 and max(took) < max(0.03, 0.5 * sum(took)) and max(took) < 0.1, beginning


@pytest.mark.parametrize("line", LINES)
def test_parts_are_the_text(line: str) -> None:
    for beginning in BEGINNINGS:
        text = beginning + line * (1_700 // len(line)) + "b"
        linker = Linker(lambda: SOURCES)
        shown = "".join([*linker.parts(text), *linker.rest()])
        assert linker.answer == streamed(*text) and shown == linker.answer.text


@pytest.mark.req("C11.3")
def test_addresses_cannot_break_out_of_a_link() -> None:
    evil = "https://a.example/x) <b onload='1'> \"q\" [y](javascript:1) `c` |\n\\\u202e\x00&copy;"
    safe = safe_url(evil)
    assert safe.startswith("https://a.example/x%29%20%3Cb%20onload=%271%27%3E")
    assert not set(safe) & set("()<>[]\"'` |\n\\\u202e\x00") and "&copy;" not in safe
    assert safe_url("https://zh.example/路径?q=中文&a=1") == "https://zh.example/路径?q=中文&a=1"
    for url in ("javascript:alert(1)", "data:text/html,x", "ftp://a.example/", "", "https://" + "a" * 5000):
        linked = link("x [1]", {1: Source(1, "t", url)})
        assert safe_url(url) == "" and linked.markdown == "x [1]" and linked.cited == (1,)


@pytest.mark.req("C12.2")
def test_markers_have_their_positions() -> None:
    text = "甲[1]乙 `[2]` [[3-4]](https://x.example) [5](https://x.example) [abc]"
    found = find_markers(text)
    assert [(text[m.start : m.end], m.numbers) for m in found] == [
        ("[1]", (1,)),
        ("[[3-4]](https://x.example)", (3, 4)),
    ]
    assert found[0] == Marker(1, 4, (1,))


@pytest.mark.req("C12.2", "C12.3", "C11.2")
@pytest.mark.parametrize("number", [1, 9, 12])
@pytest.mark.parametrize("after", ["", " end", ".", "。", "[2]", " = 3", ".size", "(2020)", "\n\nnext"])
@pytest.mark.parametrize("before", ["x", "item x", "long", "a_b", "$v", "f()", "a[0]", "甲", "甲x", "", "1.5"])
def test_every_known_number_in_a_sentence_is_linked_and_none_within_code(before: str, number: int, after: str) -> None:
    marked = f"{before}[{number}]{after}"
    plain = link(marked)
    assert number in plain.cited and f"[[{number}]](https://s{number}.example/" in plain.markdown
    inline = marked.replace("\n\n", " ")
    for code in (f"`{inline}`", f"```\n{marked}\n```", f"text\n\n    {inline}"):
        assert (link(code).text, link(code).cited) == (code, ())
    assert streamed(*marked) == plain


LINKS = ("https://x.example", "http://x.example/[1]", "https://s1.example/other", "/page", "#n", "mailto:a@b.example")


@pytest.mark.req("C11.2", "C12.3")
@pytest.mark.parametrize("title", ["", ' "A title"'])
@pytest.mark.parametrize("label", ["1", "2", "1, 2", "99"])
@pytest.mark.parametrize("address", LINKS)
def test_a_link_that_the_model_has_written_keeps_its_address(address: str, label: str, title: str) -> None:
    text = f"As told [{label}]({address}{title}), and [3]."
    linked = streamed(*text)
    assert linked.text == text and linked.cited == (3,) and linked.unknown == ()
    assert f"[{label}]({address}{title})" in linked.markdown
    assert [marker.numbers for marker in find_markers(linked.text)] == [(3,)]


@pytest.mark.req("C11.2", "C11.3")
@pytest.mark.parametrize(
    "address",
    ["https://s1.example/a_(b)?x=1", "<https://s1.example/a_(b)?x=1>", "http://www.s1.example/a_%28b%29?x=1#part"],
)
def test_a_link_to_the_source_of_its_number_is_its_marker(address: str) -> None:
    assert (link(f"So [1]({address}).").text, link(f"So [1]({address}).").cited) == ("So [1].", (1,))
