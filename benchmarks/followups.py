"""Follow-up questions that lean on the question before, over the demo web: 60 dialogues of two turns in ``followups.jsonl``.

The first question is asked, then the second with the first exchange as history, by the embedded model in both modes. The web has several
things of each kind (bridges, tablets, inventions), so a reply may list the right one among others. Therefore a follow-up is answered if
every expected group of words is in the first line of the reply, and right if that line cites the expected source too; how often the words
are anywhere in the reply is shown beside it. The baseline is the same second question without a history. The 20 dialogues of
``followups_later.jsonl`` were written when the rules were finished; they are printed first.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from suyuan.chat.events import Answer
from suyuan.chat.session import PastTurn
from suyuan.client import AsyncClient
from suyuan.core.urls import page_key
from suyuan.demo.web import DemoWeb

from ._report import Target, table
from .answers import holds

DIALOGUES = Path(__file__).with_name("followups.jsonl")
LATER = Path(__file__).with_name("followups_later.jsonl")
_COLUMNS = ("mode and language", "first cited", "anywhere", "answered", "and source", "without history")
_MARK = re.compile(r"\[(\d+)\]")


class Outcome(NamedTuple):
    """What one dialogue gave."""

    lang: str
    first: bool
    """Whether the first question was answered with a citation at all."""
    anywhere: bool
    answered: bool
    right: bool
    alone: bool
    """Whether the second question is answered without the first."""


def run() -> list[Target]:
    """Print the share of follow-ups that are answered, by language and mode."""
    _measured("follow-ups, dialogues that were written later", LATER)
    shares = _measured("follow-ups", DIALOGUES)
    return [Target("follow-ups: answered, the worse mode", min(shares), 0.85, at_least=True)]


def _measured(title: str, path: Path) -> list[float]:
    """Print the figures of a set, and return the share that is answered in each mode."""
    rows, shares = [], []
    for mode in ("chat", "agent"):
        outcomes = asyncio.run(measure(mode, path))
        for lang in ("en", "zh"):
            of_lang = [outcome for outcome in outcomes if outcome.lang == lang]
            means = [fmean(bool(outcome[at]) for outcome in of_lang) for at in range(1, 6)]
            rows.append((f"{mode} {lang} ({len(of_lang)})", *(f"{mean:.2f}" for mean in means)))
        shares.append(fmean(outcome.answered for outcome in outcomes))
    table(title, _COLUMNS, rows)
    return shares


def dialogues(path: Path = DIALOGUES) -> list[dict[str, Any]]:
    """All dialogues of a set."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def measure(mode: Literal["chat", "agent"], path: Path = DIALOGUES) -> list[Outcome]:
    """Run all dialogues in one mode."""
    with DemoWeb() as web:
        async with web.client() as client:
            return [await _one(client, dialogue, mode) for dialogue in dialogues(path)]


async def _one(client: AsyncClient, dialogue: dict[str, Any], mode: Literal["chat", "agent"]) -> Outcome:
    groups = tuple(tuple(group) for group in dialogue["answers"])
    first = await client.ask(dialogue["first"], mode=mode)
    cited = tuple((citation.title, citation.url) for citation in first.citations)
    history = (PastTurn(dialogue["first"], first.text, cited),)
    second = await client.ask(dialogue["follow_up"], mode=mode, history=history)
    alone = await client.ask(dialogue["follow_up"], mode=mode)
    line = _first_line(second)
    numbers = {int(number) for number in _MARK.findall(line)}
    sources = {page_key(citation.url) for citation in second.citations if citation.number in numbers}
    answered = holds(_MARK.sub("", line), groups)
    return Outcome(
        dialogue["lang"],
        bool(cited),
        holds(_MARK.sub("", second.text), groups),
        answered,
        answered and page_key(dialogue["source"]) in sources,
        holds(_MARK.sub("", _first_line(alone)), groups),
    )


def _first_line(answer: Answer) -> str:
    """The first line with a citation."""
    return next((line for line in answer.text.splitlines() if _MARK.search(line)), "")


if __name__ == "__main__":
    run()
