"""An answer as a table: rows of a table of the sources, or what each of several things has, with its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..core.answer_length import AnswerLength
from ..messages.catalog import Texts
from ..text.keywords import content_stems
from ..text.quantities import find_quantities
from ..text.words import stems
from .answer_type import answer_type
from .evidence import Candidate, Evidence, find_candidates
from .question_splitter import Part, split_parts
from .quote import cited
from .quotes import find_quotes

_COMPARES = re.compile(r"\bcompare\b|\bcomparison\b|比较|对比", re.I)
_REQUEST = frozenset(("list", "compar", "show", "列出", "列", "出", "比较", "比", "较"))
_MOST_ROWS, _MOST_COLUMNS = 12, 5
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """The cells of a table and the source of each row."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[tuple[int, ...], ...]

    def markdown(self) -> str:
        """Write it, with the numbers of the sources in the last cell of each row."""
        lines = [self.header, ("---",) * len(self.header)]
        lines += [
            (*cells[:-1], cited(cells[-1], numbers)) for cells, numbers in zip(self.rows, self.numbers, strict=True)
        ]
        return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def find_table(question: str, evidence: Sequence[Evidence], t: Texts, form: AnswerLength) -> AnswerTable | None:
    """Return the answer as a table where there is one; unless it is wanted, only for figures of several things.

    What is to be listed or compared may be the table of a source; it is not put together from sentences.
    """
    wanted = form == "table"
    if found := _quoted_table(question, evidence, wanted or form == "list" or bool(_COMPARES.search(question))):
        return found
    return _table_of_parts(split_parts(question), evidence, t, wanted) if form != "list" else None


def _quoted_table(question: str, evidence: Sequence[Evidence], wanted: bool) -> AnswerTable | None:
    """The rows and columns of the table of a source that the question names; of several tables the best."""
    asked, said, unit = set(content_stems(question)) - _REQUEST, set(stems(question)), answer_type(question).unit
    best: tuple[int, AnswerTable] | None = None
    for source in evidence:
        if "|" not in source.text:
            continue
        rows = [candidate for candidate in find_candidates(source) if candidate.row]
        for _, group in groupby(rows, key=lambda candidate: candidate.row.table if candidate.row else 0):
            found = _fitting(asked, said, unit, list(group), wanted)
            if found and (best is None or found[0] > best[0]):
                best = found
    return best[1] if best else None


def _fitting(
    asked: set[str], said: set[str], unit: re.Pattern[str] | None, group: list[Candidate], wanted: bool
) -> tuple[int, AnswerTable] | None:
    rows = [candidate.row for candidate in group if candidate.row]
    header = rows[0].header
    columns = [
        at
        for at, name in enumerate(header)
        if at and (asked.intersection(stems(name)) or (unit and any(map(unit.search, rows[0].cells[at : at + 1]))))
    ]
    named = [row for row in rows if row.cells and (own := set(stems(row.cells[0]))) and own <= said]
    is_titled = bool(asked) and asked <= group[0].nearby
    if not ((len(named) > 1 and (columns or wanted)) or (wanted and (columns or is_titled))):
        return None
    shown = [0, *(columns or range(1, min(len(header), _MOST_COLUMNS)))]
    cells = [tuple(row.cells[at] for at in shown if at < len(row.cells)) for row in (named or rows)[:_MOST_ROWS]]
    numbers = ((group[0].number,),) * len(cells)
    return len(named) + len(columns), AnswerTable(tuple(header[at] for at in shown), tuple(cells), numbers)


def _table_of_parts(parts: list[Part], evidence: Sequence[Evidence], t: Texts, wanted: bool) -> AnswerTable | None:
    """What each thing has, and the sentence that says so; none where a part has no answer or several."""
    if len(parts) < 2 or not all(part.name and (wanted or answer_type(part.question).is_exact) for part in parts):
        return None
    rows, numbers = [], []
    for part in parts:
        found = find_quotes(part.question, evidence, form="short")
        if found.outcome != "answer" or found.quotes[0].others:
            return None
        figure = _figure(part, found.quotes[0].text)
        # Unless a table is wanted, each of its rows must be beyond doubt.
        if not wanted and not (figure and part.name in found.quotes[0].text):
            return None
        rows.append((part.name, figure, found.quotes[0].text))
        numbers.append(found.quotes[0].numbers)
    if not wanted and len({sentence for *_, sentence in rows}) < len(rows):
        return None
    return AnswerTable(("", t("figure"), t("in_source")), tuple(rows), tuple(numbers))


def _figure(part: Part, sentence: str) -> str:
    """The figure or date of a sentence that answers; empty where there are several, of which one may be wrong."""
    found = {text for text in _figures(part, sentence) if text not in part.question}
    return found.pop() if len(found) == 1 else ""


def _figures(part: Part, sentence: str) -> Iterator[str]:
    expected = answer_type(part.question)
    for quantity in find_quantities(sentence):
        text = quantity.written(sentence)
        is_wanted = expected.unit is None or quantity.date is not None or expected.unit.search(text)
        if (quantity.date is not None) == ("time" in expected.kinds) and is_wanted and _DIGIT.search(text):
            yield text
