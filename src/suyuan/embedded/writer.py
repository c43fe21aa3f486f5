"""Writes the answers of the embedded model: quotes with their numbers, and plain sentences where nothing fits."""

from __future__ import annotations

import re

from ..messages.catalog import Texts
from .answer_form import wanted_form
from .answer_table import find_table
from .follow_up_order import answer_first
from .planner import is_small_talk
from .quote import Quote, join_neighbours
from .quotes import find_quotes
from .source_ranking import rank_sources
from .turn_input import TurnInput


def write_answer(turn: TurnInput, most_quotes: int) -> str:
    """Return the answer to a turn: quotes, the nearest sources, or why there is nothing to quote."""
    resolved, evidence = turn.resolved, turn.evidence
    t = Texts("embedded", turn.lang)
    form = wanted_form(turn.question, turn.length)
    if form in ("auto", "list", "table") and (answer := find_table(turn.full_question, evidence, t, form)):
        return answer.markdown()
    found = find_quotes(resolved.question, evidence, most_quotes, resolved.about, form)
    if found.quotes:
        said = turn.history[-1].answer if turn.history else ""
        titles = {source.number: source.title for source in evidence}
        written = _written(join_neighbours(answer_first(found.quotes, resolved, said, titles)), t)
        return written if found.outcome == "answer" else f"{t('near')}\n\n{written}"
    if evidence:
        nearest = rank_sources(turn.full_question, evidence)[:3]
        lines = [f"- {_plain_title(source.title)} [{source.number}]" for source in nearest]
        return "\n".join([t("nothing_fits"), "", *lines])
    if turn.failed:
        return t("search_failed")
    if is_small_talk(turn):
        return t("hello")
    return t("no_results" if turn.queries else "no_search")


def _written(quotes: tuple[Quote, ...], t: Texts) -> str:
    lines = [t("as_of", date=quotes[0].date)] if quotes[0].date else []
    after_sides = False
    for quote in quotes:
        if after_sides and not quote.others:
            # Without a word between them it would be read as one more side.
            lines += ["", t("also"), ""]
        lines += _sides(quote, t) if quote.others else [f"- {quote.written}"]
        after_sides = bool(quote.others)
    return lines[0].removeprefix("- ") if len(lines) == 1 else "\n".join(lines)


def _sides(quote: Quote, t: Texts) -> list[str]:
    """What sources say differently; where the newest is asked for, what is older is shown as older."""
    said = "、".join if t.lang == "zh" else " / ".join
    sides = [f"- {each.written}" for each in (quote, *quote.others)]
    if quote.date and all(other.date and other.date < quote.date for other in quote.others):
        older = t("older", sides=said([f"{each.says}, {each.date}" for each in quote.others]))
        return [sides[0], older, *sides[1:]]
    return [t("disagree", sides=said([quote.says, *(each.says for each in quote.others)])), *sides]


def _plain_title(title: str) -> str:
    """Return a title without brackets, which would be taken for numbers or links."""
    return re.sub(r"[\[\]【】［］]", " ", title).strip()
