"""Splitting documents into passages and selecting them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suyuan.core.document import Passage
from suyuan.pages.passages import cut, rank, select
from suyuan.text.sentences import sentence_ends

PAGE = (
    """# Teapots

A teapot is a vessel. It is used for tea.

## History

"""
    + "The first teapots were made in China. " * 40
    + """

| year | place |
|------|-------|
| 1500 | Yixing |

```python
def pour():

    return "tea"
```

## 保养

紫砂壶不能用洗洁精清洗。应当用开水冲洗,然后自然晾干。
"""
)


def test_passages_are_parts_of_the_text_with_their_headings() -> None:
    passages = cut(PAGE)
    for p in passages:
        assert PAGE[p.start : p.end] == p.text and p.text.strip() == p.text
    assert [p.start for p in passages] == sorted(p.start for p in passages)
    assert {p.heading for p in passages} == {"Teapots", "History", "保养"}
    assert max(len(p.text) for p in passages) <= 700
    code = next(p for p in passages if p.text.startswith("```"))
    assert code.text.endswith("```") and "\n\n" in code.text, "a code block is never torn"
    table = next(p for p in passages if p.text.startswith("|"))
    assert table.text.count("\n") == 2


def test_ids_depend_on_the_text_alone() -> None:
    before, after = {p.id for p in cut(PAGE)}, {p.id for p in cut("An introduction.\n\n" + PAGE)}
    assert before < after


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how to clean a 紫砂壶 怎么清洗", "洗洁精"),
        ("where were the first teapots made", "China"),
        ("1500 Yixing", "Yixing"),
    ],
)
def test_the_right_passage_comes_first(question: str, expected: str) -> None:
    assert expected in rank(cut(PAGE), question)[0][1].text


def test_the_budget_is_never_exceeded_and_the_total_is_reported() -> None:
    chosen = select(PAGE, "紫砂壶 清洗", 60)
    assert chosen.cut and chosen.tokens <= 60 < chosen.total_tokens
    assert any("洗洁精" in p.text for p in chosen.passages)
    assert [p.start for p in chosen.passages] == sorted(p.start for p in chosen.passages)
    beginning = select(PAGE, "", 60)
    assert beginning.passages[0].text == "# Teapots" and beginning.cut
    assert not select(PAGE, "x", 100_000).cut


@given(st.text(max_size=400), st.text(max_size=40), st.integers(0, 200))
@example("\x08", "0", 0)
@settings(derandomize=True, max_examples=200, deadline=None)
def test_any_text_can_be_split(text: str, question: str, budget: int) -> None:
    for p in cut(text):
        assert text[p.start : p.end] == p.text
    chosen = select(text, question, budget)
    assert chosen.tokens <= max(budget, 0) or not chosen.cut


def test_ranking_on_public_chinese_questions() -> None:
    """Best sentence for a question on CMRC 2018: plain BM25 reaches .725."""
    folder = Path(__file__).parents[3] / "shared" / "bench" / "ir-cmrc2018"
    if not folder.is_dir():
        pytest.skip("the benchmark data is not available")
    data = json.loads(next(folder.glob("*.json")).read_text(encoding="utf-8"))
    right = count = 0
    for article in (data["data"] if isinstance(data, dict) else data)[:120]:
        for paragraph in article["paragraphs"]:
            text, start, sentences = paragraph["context"], 0, []
            for end in sentence_ends(text):
                sentences.append(Passage(str(start), start, end, text[start:end]))
                start = end
            for qa in paragraph["qas"]:
                best = rank(sentences, qa["question"])[:1]
                count += 1
                right += any(answer["text"] in p.text for _, p in best for answer in qa["answers"])
    assert right / count > 0.70, f"{right} of {count}"


def test_a_long_text_takes_time_by_its_length_only() -> None:
    text = "\n\n".join(f"Teapot number {number} of a long list." for number in range(8_000))
    started = time.thread_time()
    assert select(text, "teapot", 200).cut
    assert time.thread_time() - started < 4.0
