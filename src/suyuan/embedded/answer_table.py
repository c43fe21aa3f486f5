"""An answer as a table: rows of a table of the sources, or what each of several things has, with its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from ..core.answer_length import AnswerLength
from ..messages.catalog import Texts
from ..text.keywords import content_stems
from ..text.quantities import find_quantities
from ..text.words import stems
from .answer_type import answer_type
from .evidence import Candidate, Evidence, TableRow, find_candidates
from .question_splitter import Part, split_parts
from .quote import cited
from .quotes import find_quotes

_COMPARES = re.compile(r"\bcompare\b|\bcomparison\b|比较|对比", re.I)
_REQUEST = frozenset(("list", "compar", "show", "列出", "列", "出", "比较", "比", "较"))
_MAX_ROWS, _MAX_COLUMNS = 12, 5
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
    is_wanted = form in ("table", "list") or _COMPARES.search(question) is not None
    quoted = _quoted_table(question, evidence, is_wanted)
    if quoted or form == "list":
        return quoted
    return _table_of_parts(split_parts(question), evidence, t, wanted=form == "table")


@dataclass(frozen=True, slots=True)
class _TableQuestion:
    """A question as far as a table of a source may answer it."""

    words: set[str]
    """The words that its answer should contain."""
    stems: set[str]
    """All of its words."""
    unit: re.Pattern[str] | None
    is_wanted: bool
    """Whether it asks for a list, a table or a comparison."""

    def columns(self, first_row: TableRow) -> list[int]:
        """Return the columns that it asks for; the first one only names the rows."""
        header, cells = first_row.header, first_row.cells
        return [at for at in range(1, len(header)) if self._asks_for(header[at], cells[at : at + 1])]

    def _asks_for(self, name: str, cells: Sequence[str]) -> bool:
        """Whether it asks for a column, by the name of it or the unit of its first cell."""
        if not self.words.isdisjoint(stems(name)):
            return True
        return self.unit is not None and any(map(self.unit.search, cells))

    def is_about(self, candidate: Candidate) -> bool:
        """Whether the title of a row, or the heading above it, has what it asks."""
        return bool(self.words) and self.words <= candidate.nearby

    def names(self, row: TableRow) -> bool:
        """Whether it names the thing of a row."""
        words = set(stems("".join(row.cells[:1])))
        return bool(words) and words <= self.stems


def _quoted_table(question: str, evidence: Sequence[Evidence], is_wanted: bool) -> AnswerTable | None:
    """Return the rows and columns of the table of a source that the question names; of several tables the best."""
    words = set(content_stems(question)) - _REQUEST
    asked = _TableQuestion(words, set(stems(question)), answer_type(question).unit, is_wanted)
    tables = (_matching_part(asked, rows) for rows in chain.from_iterable(map(_tables, evidence)))
    best = max(filter(None, tables), key=lambda rated: rated.score, default=None)
    return best.table if best else None


def _tables(source: Evidence) -> Iterator[list[Candidate]]:
    """Yield the rows of each table of a source."""
    if "|" not in source.text:
        return
    by_table: dict[int, list[Candidate]] = {}
    for candidate in find_candidates(source):
        if candidate.row:
            by_table.setdefault(candidate.row.table, []).append(candidate)
    yield from by_table.values()


@dataclass(frozen=True, slots=True)
class _RatedTable:
    """A part of a table, and how many of its rows and columns the question names."""

    score: int
    table: AnswerTable


def _matching_part(asked: _TableQuestion, candidates: Sequence[Candidate]) -> _RatedTable | None:
    """Return the rows and columns of a table that are asked for; None where it does not answer."""
    rows = [candidate.row for candidate in candidates if candidate.row]
    columns = asked.columns(rows[0])
    named = [row for row in rows if asked.names(row)]
    has_several = len(named) > 1
    if asked.is_wanted:
        is_answer = bool(columns) or has_several or asked.is_about(candidates[0])
    else:
        is_answer = bool(columns) and has_several
    if not is_answer:
        return None
    first_columns = range(1, min(len(rows[0].header), _MAX_COLUMNS))
    table = _selected(named or rows, columns or first_columns, candidates[0].number)
    return _RatedTable(len(named) + len(columns), table)


def _selected(rows: Sequence[TableRow], columns: Sequence[int], number: int) -> AnswerTable:
    """Return the first column and some others of the rows of a source."""
    shown = (0, *columns)
    cells = [tuple(row.cells[at] for at in shown if at < len(row.cells)) for row in rows[:_MAX_ROWS]]
    header = tuple(rows[0].header[at] for at in shown)
    return AnswerTable(header, tuple(cells), ((number,),) * len(cells))


def _table_of_parts(parts: list[Part], evidence: Sequence[Evidence], t: Texts, wanted: bool) -> AnswerTable | None:
    """Return what each thing has, and the sentence that says so; None where a part has no answer or several."""
    if len(parts) < 2 or not all(part.name for part in parts):
        return None
    if not wanted and not all(answer_type(part.question).is_exact for part in parts):
        return None
    rows = list(_part_rows(parts, evidence))
    if len(rows) < len(parts):
        return None
    if not wanted and not _are_certain(rows):
        return None
    cells = tuple((row.name, row.figure, row.sentence) for row in rows)
    return AnswerTable(("", t("figure"), t("in_source")), cells, tuple(row.numbers for row in rows))


@dataclass(frozen=True, slots=True)
class _PartRow:
    """What a thing has, and the sentence that says so."""

    name: str
    figure: str
    sentence: str
    numbers: tuple[int, ...]

    @property
    def is_certain(self) -> bool:
        """Whether its sentence names the thing and gives one figure."""
        return bool(self.figure) and self.name in self.sentence


def _part_rows(parts: Sequence[Part], evidence: Sequence[Evidence]) -> Iterator[_PartRow]:
    """Yield a row for each part, up to the first that has no answer or several."""
    for part in parts:
        found = find_quotes(part.question, evidence, form="short")
        if found.outcome != "answer" or found.quotes[0].others:
            return
        best = found.quotes[0]
        yield _PartRow(part.name, _figure(part, best.text), best.text, best.numbers)


def _are_certain(rows: Sequence[_PartRow]) -> bool:
    """Whether rows are beyond doubt: each of them, and no two of them from one sentence."""
    return all(row.is_certain for row in rows) and len({row.sentence for row in rows}) == len(rows)


def _figure(part: Part, sentence: str) -> str:
    """The figure or date of a sentence that answers; empty where there are several, of which one may be wrong."""
    figures = {text for text in _figures(part.question, sentence) if text not in part.question}
    return figures.pop() if len(figures) == 1 else ""


def _figures(question: str, sentence: str) -> Iterator[str]:
    """Yield the figures of a sentence in the unit that is asked for, or its dates."""
    expected = answer_type(question)
    asks_for_date = "time" in expected.kinds
    for quantity in find_quantities(sentence):
        text = quantity.written(sentence)
        is_date = quantity.date is not None
        has_unit = is_date or expected.unit is None or expected.unit.search(text)
        if is_date == asks_for_date and has_unit and _DIGIT.search(text):
            yield text
