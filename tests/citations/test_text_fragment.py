"""Links to a passage of a page."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from suyuan.citations.text_fragment import fragment_link

PAGE = "https://a.example/x"


@pytest.mark.parametrize(
    ("url", "quote", "link"),
    [
        (PAGE, "A well-known, old fact & more.", f"{PAGE}#:~:text=A%20well%2Dknown%2C%20old%20fact%20%26%20more"),
        (f"{PAGE}#part", "words", f"{PAGE}#part:~:text=words"),
        (f"{PAGE}#part:~:text=old", "words", f"{PAGE}#part:~:text=words"),
        (f"{PAGE}#", "words", f"{PAGE}#:~:text=words"),
        (PAGE, " \n.", PAGE),
        (PAGE, "", PAGE),
        (PAGE, "\ud800", PAGE),
        (PAGE, "a\ud800b", f"{PAGE}#:~:text=ab"),
    ],
)
def test_fragments(url: str, quote: str, link: str) -> None:
    assert fragment_link(url, quote) == link


def test_a_chinese_sentence_is_used_whole() -> None:
    assert unquote(fragment_link(PAGE, "大桥的设计使用寿命为120年。")) == f"{PAGE}#:~:text=大桥的设计使用寿命为120年"


def test_a_long_quote_is_reduced_to_its_beginning_and_end() -> None:
    link = fragment_link(PAGE, " ".join(f"word{n}" for n in range(30)) + ".")
    assert unquote(link).endswith("#:~:text=word0 word1 word2 word3 word4,word25 word26 word27 word28 word29")
    start, end = unquote(fragment_link(PAGE, "港珠澳大桥" * 20)).split("text=")[1].split(",")
    assert 8 <= len(start) <= 20 and 8 <= len(end) <= 20


def test_only_the_longest_paragraph_is_used() -> None:
    assert unquote(fragment_link(PAGE, "Heading\nThe longer line below it")).endswith("text=The longer line below it")


def test_markup_is_removed_and_words_are_not_cut() -> None:
    quote = (
        "用 Docker 部署 SearXNG 需要两条命令:先运行 `suyuan searxng init` 生成配置,"
        "再 **suyuan** [searxng](http://x.example/) up 启动。"
    )
    target = unquote(fragment_link("http://e.example/", quote).partition("text=")[2])
    assert "`" not in target and "*" not in target and "](" not in target
    head, tail = target.split(",", 1)
    assert quote.startswith(head) and head.endswith("SearXNG") and tail == "searxng up 启动"
