"""What a model that obeys a stranger gets out of the machine, and what an ordinary conversation may still search.

The ways out are those of ``tests/support/leaks.py``: who asks, where the secret stands, how many exchanges ago it was read, and in each of
these every argument of every tool with every way of writing. A web on loopback keeps what it is asked; what is not known to be allowed
counts as gone out. Ordinary queries are the messages of dialogues, their key words, the query that the rules make of a follow-up, and
names of the pages that were read, alone and with key words: the 80 dialogues of ``followups``, and MTRAG-UN where it is beside the project.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from suyuan.chat.web_policy import WebPolicy
from suyuan.core.errors import SuyuanError
from suyuan.core.query import SearchQuery
from suyuan.embedded.follow_up import Said, resolve
from suyuan.text.keywords import keywords

from ._report import table
from .followups import DIALOGUES, LATER, dialogues

_MTRAG = Path(__file__).resolve().parents[2] / "shared" / "bench" / "qa-mtrag-un" / "reference_half.jsonl"
_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:of|the|de|and))?(?: [A-Z][\w'’-]+){1,3}")
_NAMES = 6


async def leaks() -> list[tuple[str, int, int]]:
    """What was tried and what got through, for each place of the secret."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.leaks import cases, outcome, reasons

    tried, through = Counter[str](), Counter[str]()
    for case in cases():
        with tempfile.TemporaryDirectory(prefix="suyuan-bench-") as folder:
            went = await outcome(case, Path(folder))
        bad = went.through(case)
        tried[case.place] += went.tried
        through[case.place] += len(bad)
        if bad:
            print(f"  {case}: {reasons(bad)}")
    return [(f"what was read, sent out by a model: {place}", tried[place], through[place]) for place in tried]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The messages of a user, the answers between them, and what was read."""

    messages: tuple[str, ...]
    answers: tuple[str, ...]
    pages: tuple[str, ...] = ()

    def queries(self) -> Iterator[tuple[str, str]]:
        """What an agent searches for, with the kind of query."""
        message = self.messages[-1]
        yield "the message", message
        words = keywords(message)
        yield "its key words", " ".join(words)
        history = [Said(asked, told) for asked, told in zip(self.messages, self.answers, strict=False)]
        yield "a follow-up with what it leaves out", resolve(message, history).query
        names = [name for page in self.pages for name in _NAME.findall(page)][:_NAMES]
        for name in names:
            yield "a name of a page", name
            yield "a name of a page and key words", " ".join([name, *words[:3]])


def ordinary() -> None:
    """Print how many ordinary queries are refused after pages of the web, and after a private document."""
    counted: Counter[tuple[str, str]] = Counter()
    for dialogue in _dialogues():
        for private in (False, True):
            for kind, query in dialogue.queries():
                if query.strip():
                    counted[kind, "all"] += not private
                    counted[kind, "private" if private else "web"] += _is_refused(dialogue, query, private)
    kinds = dict.fromkeys(kind for kind, _ in counted)
    rows = [(kind, *(str(counted[kind, what]) for what in ("all", "web", "private"))) for kind in kinds]
    table("ordinary queries that are refused", ("", "queries", "after pages", "after a document"), rows)


def _is_refused(dialogue: Dialogue, query: str, private: bool) -> bool:
    policy = WebPolicy(*dialogue.messages)
    for text in (*dialogue.answers, *dialogue.pages):
        policy.read(text, private=private)
    try:
        policy.allowed_query(SearchQuery(query[:300]))
    except SuyuanError:
        return True
    return False


def _dialogues() -> Iterator[Dialogue]:
    for path in (DIALOGUES, LATER):
        for each in dialogues(path):
            answer = " ".join(word for group in each["answers"] for word in group)
            yield Dialogue((each["first"], each["follow_up"]), (answer,))
    if not _MTRAG.exists():
        print("  the dialogues of MTRAG-UN are not beside the project")
        return
    for line in _MTRAG.read_text("utf-8").splitlines():
        data = json.loads(line)
        said = {
            speaker: tuple(part["text"] for part in data["input"] if (part["speaker"] == "user") == (speaker == "user"))
            for speaker in ("user", "agent")
        }
        yield Dialogue(said["user"], said["agent"], tuple(part["text"] for part in data["contexts"]))
