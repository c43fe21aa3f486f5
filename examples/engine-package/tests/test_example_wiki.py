"""The engine reads its answers, and reports everything else as it is."""

from __future__ import annotations

from suyuan_example import ExampleWiki

from suyuan.testing import check_engine


def test_every_answer_of_a_server_is_reported_as_it_is() -> None:
    """Results, none, refusals, a CAPTCHA, garbage, no answer at all: none is taken for another."""
    check_engine(ExampleWiki, ok={"query": {"search": [{"title": "Ada Lovelace"}]}}, empty={"query": {"search": []}})
