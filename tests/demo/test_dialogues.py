"""The dialogues of the follow-up benchmark fit the pages of the demo web."""

from __future__ import annotations

import json
from pathlib import Path

from suyuan.demo.page import demo_pages

DIALOGUES = Path(__file__).parents[2] / "benchmarks" / "followups.jsonl"


def test_every_expected_answer_is_on_its_page_and_only_the_first_question_names_the_subject() -> None:
    dialogues = [json.loads(line) for line in DIALOGUES.read_text(encoding="utf-8").splitlines()]
    pages = {page.url: page for page in demo_pages()}
    assert [sum(each["lang"] == lang for each in dialogues) for lang in ("zh", "en")] == [30, 30]
    assert len({(each["first"], each["follow_up"]) for each in dialogues}) == 60
    for each in dialogues:
        page = pages[each["source"]]
        assert page.lang == each["lang"] and page.kind != "gone"
        assert all(any(words in page.text for words in group) for group in each["answers"]), each
        # Otherwise the second question could be asked alone.
        assert page.topic not in each["follow_up"], each
