"""Writes the answers of the embedded model: quotes with their numbers, and plain sentences where nothing fits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..messages.catalog import Texts
from .answer_form import wanted_form
from .answer_table import find_table
from .evidence import Evidence
from .follow_up_order import answer_first
from .planner import is_small_talk
from .quote import Quote, join_neighbours
from .quotes import find_quotes
from .source_ranking import rank_sources
from .turn_input import TurnInput

_FORMS_OF_TABLES = ("auto", "list", "table")


def write_answer(turn: TurnInput, most_quotes: int) -> str:
    """Return the answer to a turn: quotes, the nearest sources, or why there is nothing to quote."""
    resolved, evidence = turn.resolved, turn.evidence
    t = Texts("embedded", turn.lang)
    form = wanted_form(turn.question, turn.length)
    table = find_table(turn.full_question, evidence, t, form) if form in _FORMS_OF_TABLES else None
    if table:
        return table.markdown()
    found = find_quotes(resolved.question, evidence, most_quotes, resolved.about, form)
    if not found.quotes:
        return _without_quotes(turn, evidence, t)
    said = turn.history[-1].answer if turn.history else ""
    titles = {source.number: source.title for source in evidence}
    quotes = join_neighbours(answer_first(found.quotes, resolved, said, titles))
    written = _written(quotes, t)
    return written if found.outcome == "answer" else f"{t('near')}\n\n{written}"


def _without_quotes(turn: TurnInput, evidence: Sequence[Evidence], t: Texts) -> str:
    """Return the nearest sources, or why there are none."""
    if evidence:
        nearest = rank_sources(turn.full_question, evidence)[:3]
        lines = [f"- {_plain_title(source.title)} [{source.number}]" for source in nearest]
        return "\n".join([t("nothing_fits"), "", *lines])
    if turn.failed:
        return t("search_failed")
    if is_small_talk(turn):
        return t("hello")
    return t("no_results") if turn.queries else t("no_search")


def _written(quotes: tuple[Quote, ...], t: Texts) -> str:
    """Return quotes as the lines of an answer."""
    lines = [t("as_of", date=quotes[0].date)] if quotes[0].date else []
    after_sides = False
    for quote in quotes:
        if quote.others:
            lines += _sides(quote, t)
        elif after_sides:
            # Without a word between them it would be read as one more side.
            lines += ["", t("also"), "", f"- {quote.written}"]
        else:
            lines.append(f"- {quote.written}")
        after_sides = bool(quote.others)
    return lines[0].removeprefix("- ") if len(lines) == 1 else "\n".join(lines)


def _sides(quote: Quote, t: Texts) -> list[str]:
    """What sources say differently; where the newest is asked for, what is older is shown as older."""
    between = "、" if t.lang == "zh" else " / "
    quotes = (quote, *quote.others)
    first, *others = [f"- {side.written}" for side in quotes]
    if quote.date and all("" < other.date < quote.date for other in quote.others):
        older = between.join(f"{other.says}, {other.date}" for other in quote.others)
        return [first, t("older", sides=older), *others]
    disagreement = t("disagree", sides=between.join(side.says for side in quotes))
    return [disagreement, first, *others]


def _plain_title(title: str) -> str:
    """Return a title without brackets, which would be taken for numbers or links."""
    return re.sub(r"[\[\]【】［］]", " ", title).strip()
