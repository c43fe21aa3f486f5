"""``OwnWords``: what a query may say once a private document was read."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suyuan.chat.own_words import OwnWords, normal, runs

MESSAGES = (
    "When does the merger with Acme close, and which banks finance it?",
    "Is C++ 3.14 or C# the better choice for the founders of a web search in Åmål?",
    "港珠澳大桥的合并什么时候完成？",
)


def words_of(*messages: str) -> OwnWords:
    made = OwnWords(lambda: date(2026, 5, 1))
    for message in messages:
        made.add(message)
    return made


OWN = words_of(*MESSAGES)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        (MESSAGES[0], MESSAGES[0]),
        ("acme merger banks", "acme merger banks"),
        ("ACME   Merger", "acme merger"),
        ("Acme-merger_banks", "acme merger banks"),
        ("merger closing financed by a bank", "merger close finance banks"),
        ("founder of web search", "founders web search"),
        ("websearch", "web search"),
        ("C++ founders 3.14", "C++ founders 3.14"),
        ("latest Acme news 2026", "latest acme news 2026"),
        ("the best of Åmål", "best åmål"),
        ("港珠澳大桥 完成", "港珠澳大桥 完成"),
        ("港珠澳大桥最新消息", "港珠澳大桥 最新 消息"),
        ("合并完成的新闻", "合并 完成 新闻"),
        ("banks banks merger BANKS", "banks merger"),
    ],
)
def test_words_of_the_user_are_sent_as_the_user_has_them(asked: str, sent: str) -> None:
    assert OWN.only(asked) == sent


@pytest.mark.parametrize(
    "asked",
    [
        "Northwind merger",
        "merger 4271",
        "merger 2031",
        "mergerx",
        "merger b",
        "a c m e",
        "latest official current newest",
        "北风公司 合并",
        "北合并",
        "3 merger",
        "of the",
        "YWNtZQ==",
        "61636d65",
        "emca",
        "m e r g e r",
        " ".join(["merger", "acme", "close", "banks", "finance", "better", "choice", "founders", "web", "search", "åmål",
                  "C++", "3.14"]),
    ],
)  # fmt: skip
def test_all_else_is_not(asked: str) -> None:
    assert OWN.only(asked) is None


def test_a_long_message_may_be_searched_by_its_beginning_but_not_by_a_few_letters() -> None:
    long = "Please find out everything about the merger. " * 10
    own = words_of(long)
    assert own.only(long[:300]) == " ".join(long[:300].split()) and own.only(long[:3]) is None


@given(st.text(max_size=60))
def test_whatever_is_asked_only_known_words_leave_and_each_of_them_once(text: str) -> None:
    sent = OWN.only(text)
    known = normal(" ".join(MESSAGES))
    if sent is not None and sent not in MESSAGES:
        assert len(set(sent.split())) == len(sent.split())
        steering = OWN_STEERING
        assert all(word[:3] in known or word in steering or word in ("2025", "2026", "2027") for word in runs(sent))


OWN_STEERING = {word for word in ["latest", "newest", "current", "recent", "new", "today", "now", "news", "official", "site", "website", "page", "homepage", "docs", "documentation", "release", "version", "notes", "review", "reviews", "compare", "comparison", "vs", "versus", "guide", "tutorial", "example", "examples", "overview", "definition", "explained", "history", "wikipedia", "github", "best", "what", "when", "where", "who", "why", "how", "which", "最新", "目前", "现在", "今天", "新闻", "消息", "官方", "官网", "网站", "公告", "文档", "发布", "版本", "评测", "比较", "对比", "区别", "教程", "示例", "介绍", "定义", "历史", "百科", "是什么", "为什么", "怎么", "如何", "多少"]}  # fmt: skip


@given(st.permutations(["merger", "acme", "banks", "close"]), st.sampled_from([" ", "_", "-", ".", "\u200b ", ", ", "/"]),
       st.lists(st.booleans(), min_size=30, max_size=30))  # fmt: skip
def test_case_and_signs_carry_nothing(order: list[str], between: str, case: list[bool]) -> None:
    joined = between.join(order)
    written = "".join(c.upper() if up else c for c, up in zip(joined, [*case, *case], strict=False))
    assert OWN.only(written) == " ".join(order)
