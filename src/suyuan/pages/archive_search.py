"""Finds the documents of an archive that match a question, in about the same time however many there are.

The rarest words of the question choose the documents; all of its words decide their order. Only where even the rarest
word is in thousands of documents, the newest of these with all of the words are compared.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..core.document import Document
from ..text.keywords import content_words
from ..text.sentences import sentence_ends
from ..text.words import words
from .page_archive import ArchiveHit
from .passages import cut, rank

_MOST_MATCHES = 4000
"""How many parts of documents are compared by the words that they have in common with the question."""
_COMPARED = 60
"""How many of them are compared by all the words of the question."""
_TITLE, _BODY = 4.0, 1.0
_K1, _B = 1.2, 0.75
_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab ('main', 'fulltext', 'row')"


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A part of a document that matches."""

    row: int
    document: int
    page: str
    first: int
    last: int


def asked_words(question: str) -> list[str]:
    """The words of a question that documents are searched for."""
    return content_words(question) or words(question)


def find_parts(db: sqlite3.Connection, asked: Sequence[str], limit: int, *, guides: bool) -> list[FoundPart]:
    """The best parts for these words, one for each page, best first; of the product's own pages, or of all others."""
    counts = _counts(db, _telling(asked))
    if not counts:
        return []
    match, newest_only = _match(db, counts)
    found = _matching(db, match, guides=guides, newest_only=newest_only, limit=max(_COMPARED, limit * 3))
    if not found and newest_only:
        # No document has all of the words.
        rarest = min(counts, key=lambda word: counts[word])
        found = _matching(db, _quoted(rarest), guides=guides, newest_only=True, limit=max(_COMPARED, limit * 3))
    scores = _scores(db, found, counts)
    best: dict[str, FoundPart] = {}
    for part in sorted(found, key=lambda one: -scores[one.row]):
        best.setdefault(part.page, part)
    return list(best.values())[:limit]


def make_hit(document: Document, first: int, last: int, question: str, asked: list[str]) -> ArchiveHit:
    """A document that was found by this part of its text."""
    part = replace(document, text=document.text[first:last])
    snippet, start = _snippet(part, question)
    return ArchiveHit(document, _coverage(asked, part), snippet, first + start)


def _telling(asked: Sequence[str]) -> list[str]:
    """The words without the single characters of longer Chinese words, which nearly every text has."""
    pairs = "".join(word for word in asked if len(word) > 1)
    return [word for word in dict.fromkeys(asked) if (len(word) > 1 or word not in pairs) and '"' not in word]


def _counts(db: sqlite3.Connection, asked: Sequence[str]) -> dict[str, int]:
    """In how many parts each word is; without the words that are in none."""
    db.execute(_VOCABULARY)
    bounded = f"SELECT count(*) FROM (SELECT 1 FROM fulltext WHERE fulltext MATCH ? LIMIT {_MOST_MATCHES + 1})"
    counts = {}
    for word in asked:
        count = db.execute(bounded, (_quoted(word),)).fetchone()[0]
        if count > _MOST_MATCHES:
            # The index splits a few words, as those with an apostrophe, that its vocabulary then does not have.
            known = db.execute("SELECT doc FROM temp.vocabulary WHERE term = ?", (word,)).fetchone()
            count = known[0] if known is not None else count
        if count:
            counts[word] = int(count)
    return counts


def _match(db: sqlite3.Connection, counts: Mapping[str, int]) -> tuple[str, bool]:
    """What to search the index for, and whether it is so much that only the newest of it can be compared."""
    by_rarity = sorted(counts, key=lambda word: counts[word])
    chosen: list[str] = []
    matches = 0
    for word in by_rarity:
        matches += counts[word]
        if matches > _MOST_MATCHES:
            break
        chosen.append(word)
    if chosen:
        return " OR ".join(map(_quoted, chosen)), False
    return " AND ".join(map(_quoted, by_rarity)), True


def _matching(db: sqlite3.Connection, match: str, *, guides: bool, newest_only: bool, limit: int) -> list[FoundPart]:
    own = "IN" if guides else "NOT IN"
    newest = f"ORDER BY rowid DESC LIMIT {_MOST_MATCHES}" if newest_only else ""
    query = (
        f"SELECT f.id, d.id, d.page, p.first, p.last FROM (SELECT rowid AS id, bm25(fulltext, {_TITLE}, {_BODY}) "
        f"AS score FROM fulltext WHERE fulltext MATCH ? {newest}) f JOIN parts p ON p.id = f.id "
        f"JOIN documents d ON d.id = p.document WHERE d.page {own} (SELECT page FROM pinned) "
        "ORDER BY f.score LIMIT ?"
    )
    return [FoundPart(*row) for row in db.execute(query, (match, limit))]


def _scores(db: sqlite3.Connection, found: Sequence[FoundPart], counts: Mapping[str, int]) -> dict[int, float]:
    """BM25 of each part for all words of the question."""
    texts: dict[int, Counter[str]] = {}
    for part in found:
        row = db.execute("SELECT title, body FROM fulltext WHERE rowid = ?", (part.row,)).fetchone()
        title, body = row if row is not None else ("", "")
        texts[part.row] = _weighed(title.split(), body.split(), counts)
    total = db.execute("SELECT count(*) FROM parts").fetchone()[0]
    rarity = {word: math.log(1 + (max(0, total - count) + 0.5) / (count + 0.5)) for word, count in counts.items()}
    average = sum(text.total() for text in texts.values()) / max(1, len(texts)) or 1.0
    return {row: _score(text, rarity, average) for row, text in texts.items()}


_LENGTH = ""
"""The key of a counter that stands for all words that were not asked for."""


def _weighed(title: Sequence[str], body: Sequence[str], asked: Mapping[str, int]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for word in body:
        counted[word if word in asked else _LENGTH] += 1
    for word in title:
        if word in asked:
            counted[word] += int(_TITLE)
    return counted


def _score(text: Counter[str], rarity: Mapping[str, float], average: float) -> float:
    norm = _K1 * (1 - _B + _B * text.total() / average)
    return sum(weight * text[word] * (_K1 + 1) / (text[word] + norm) for word, weight in rarity.items() if text[word])


def _quoted(word: str) -> str:
    return f'"{word}"'


def _coverage(asked: list[str], document: Document) -> float:
    """The share of the query words in the document; single characters of longer Chinese words are not counted."""
    present = set(words(f"{document.title} {document.text}"))
    whole = _telling(asked)
    return sum(word in present for word in whole) / len(whole) if whole else 0.0


def _snippet(document: Document, question: str) -> tuple[str, int]:
    """The text from the sentence of the best passages that has most words of the question, and where it starts."""
    asked = set(content_words(question))
    best, at, most = document.text[:1000], 0, 0
    for _, passage in rank(cut(document.text), question)[:5]:
        for start, end in pairwise([0, *sentence_ends(passage.text)]):
            if (common := len(asked.intersection(words(passage.text[start:end])))) > most:
                best, at, most = passage.text[start:], passage.start + start, common
    return " ".join(best.split())[:300], at
