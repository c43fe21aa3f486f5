"""The archive in PostgreSQL: the pages that people have read, each person's theirs alone, found by our own words."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Float, and_, cast, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import ARRAY, REAL, TSQUERY, insert

from ..core.document import Document
from ..core.secret import Secret
from ..pages.address import address_key
from ..pages.archive import Archive
from ..pages.archive_search import asked_words, make_hit
from ..pages.archive_tidying import is_believed
from ..pages.page_archive import ArchiveEntry, ArchiveHit
from ..pages.stored_document import document_from_json, document_to_json
from ..text.words import words
from .database import Database
from .tables import addresses, pages
from .values import plain

# What an index entry of PostgreSQL can hold.
_MOST_WORDS = 40_000
_MOST_TIMES = 250
_LONGEST_WORD = 200
_ASKED = 24
_PLACES = ["", *(",".join(map(str, range(2, times + 2))) for times in range(1, _MOST_TIMES + 1))]
"""The places of a word, by how often it occurs."""
_TITLE, _BODY = 1.0, 0.25
"""A word of the title counts as much as four of the text, as in the archive of one machine."""
_BY_LENGTH = 1
_PRUNED_EVERY = 50
_REMOVED_AT_ONCE = 200
_CITED_SECONDS = 10.0


@dataclass(slots=True)
class _Cited:
    """What is known of the texts that a person's answers cite."""

    hashes: set[str] = field(default_factory=set)
    since: str = ""
    """What was stored until then is known."""
    looked: float = float("-inf")


class StoredArchives:
    """The archives of all people in one database; opened when the first is used."""

    def __init__(
        self,
        address: Secret | str,
        *,
        max_bytes: int,
        max_days: int,
        cited: Callable[[str, str], Collection[str]] = lambda person, since: (),
    ) -> None:
        self._address = address
        self._find_cited = cited
        self._cited: dict[str, _Cited] = {}
        self.max_bytes = max_bytes
        self.max_days = max_days
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._guides: Archive | None = None

    @property
    def database(self) -> Database:
        """The database; raises the cause if it cannot be opened."""
        with self._lock:
            if self._database is None:
                self._database = Database.opened(self._address)
            return self._database

    @property
    def guides(self) -> Archive:
        """The product's own pages: the same for all, and not worth a database."""
        with self._lock:
            if self._guides is None:
                self._guides = Archive(":memory:")
            return self._guides

    def cited(self, person: str) -> Collection[str]:
        """The hashes of the texts that a person's answers and reports cite."""
        known = self._cited.setdefault(person, _Cited())
        if time.monotonic() - known.looked >= _CITED_SECONDS:
            known.looked, since, known.since = time.monotonic(), known.since, datetime.now(UTC).isoformat()
            known.hashes.update(self._find_cited(person, since))
        return known.hashes

    def of(self, person: str) -> StoredArchive:
        """The archive of one person."""
        return StoredArchive(self, person)

    def close(self) -> None:
        """Close what was opened."""
        with self._lock:
            for each in (self._database, self._guides):
                if each is not None:
                    each.close()
            self._database = self._guides = None


class StoredArchive:
    """The archive of one person."""

    def __init__(self, archives: StoredArchives, person: str) -> None:
        self._archives = archives
        self._database = archives.database
        self._person = person
        self._stored = 0

    def put(self, document: Document) -> int:
        """Store a document and return its number; the same text of a page is stored once, with its latest time."""
        return self._put([(document, "")])[0]

    def put_all(self, documents: Iterable[tuple[Document, str]]) -> None:
        """Store documents, each with the words of its text, in one transaction."""
        self._put(documents)

    def _put(self, documents: Iterable[tuple[Document, str]]) -> list[int]:
        with self._database.write() as connection:
            numbers = [store_document(connection, self._person, document, index) for document, index in documents]
        self._stored += len(numbers)
        return numbers

    def pin(self, documents: Iterable[Document]) -> bool:
        """Make these the product's own pages."""
        return self._archives.guides.pin(documents)

    def get(self, url: str) -> Document | None:
        """The latest version of the page at ``url``, or at the address it redirects to."""
        key = address_key(url)
        led = select(addresses.c.page).where(addresses.c.person == self._person, addresses.c.address == key)
        page = func.coalesce(led.scalar_subquery(), key)
        return self._one(pages.c.page == page) or self._archives.guides.get(url)

    def version(self, sha256: str) -> Document | None:
        """The document with exactly this text, even if the page has changed since."""
        return self._one(pages.c.sha256 == sha256) or self._archives.guides.version(sha256)

    def by_number(self, number: int) -> Document | None:
        """The document with this number."""
        return self._one(pages.c.number == number)

    def newest(self, limit: int = 50) -> list[ArchiveEntry]:
        """The latest documents."""
        entry = select(pages.c.number, pages.c.page, pages.c.title, pages.c.fetched_at, pages.c.size)
        query = entry.where(self._mine).order_by(pages.c.fetched_at.desc(), pages.c.number.desc()).limit(limit)
        return [ArchiveEntry(*row) for row in self._database.rows(query)]

    def export(self) -> Iterator[Document]:
        """All documents, oldest first."""
        query = select(pages.c.number).where(self._mine).order_by(pages.c.fetched_at, pages.c.number)
        for row in self._database.rows(query):
            if (document := self.by_number(row.number)) is not None:
                yield document

    def search(self, question: str, limit: int = 10, *, guides: bool = False) -> list[ArchiveHit]:
        """The pages that were read, or the product's ``guides``, that match ``question``: best first, each once."""
        if guides:
            return self._archives.guides.search(question, limit, guides=True)
        asked = asked_words(question)
        wanted = list(dict.fromkeys(_indexed(" ".join(asked))))[:_ASKED]
        if not wanted:
            return []
        with self._database.read() as connection:
            found = [document_from_json(text) for text in self._ranked(connection, wanted, limit * 3)]
        first = {address_key(document.final_url): document for document in reversed(found)}
        best = [document for document in found if first[address_key(document.final_url)] is document][:limit]
        return [make_hit(document, 0, len(document.text), question, asked) for document in best]

    def forget(self, url: str) -> int:
        """Remove all versions of the page at ``url``; return their number."""
        page = address_key(url)
        with self._database.write() as connection:
            connection.execute(delete(addresses).where(addresses.c.person == self._person, addresses.c.page == page))
            return connection.execute(delete(pages).where(self._mine, pages.c.page == page)).rowcount

    def tidy(self) -> bool:
        """Remove some of what is too much, now and then; return whether there may be more to do."""
        if self._stored < _PRUNED_EVERY:
            return False
        more = self._prune_some(None) > 0
        if not more:
            self._stored = 0
        return more

    def prune(self, now: datetime | None = None) -> int:
        """Remove everything that is too old or too much, the oldest first; return the number of documents."""
        removed = 0
        while some := self._prune_some(now):
            removed += some
        return removed

    def cited_count(self) -> int:
        """How many documents are kept because answers cite them."""
        query = select(pages.c.sha256).where(self._mine)
        cited = self._archives.cited(self._person)
        return sum(row.sha256 in cited for row in self._database.rows(query))

    def _prune_some(self, now: datetime | None) -> int:
        """Remove some of the oldest pages that are too old or too much; what answers cite is kept beside the limit."""
        moment = now or datetime.now(UTC)
        everything = select(pages.c.number, pages.c.sha256, pages.c.size, pages.c.fetched_at).where(self._mine)
        total = self._database.value(select(func.sum(pages.c.size)).where(self._mine)) or 0
        oldest = self._oldest_wanted(moment)
        first = self._database.value(select(func.min(pages.c.fetched_at)).where(self._mine)) or ""
        if total <= self._archives.max_bytes and first >= oldest:
            return 0
        cited = self._archives.cited(self._person)
        ordered = self._database.rows(everything.order_by(pages.c.fetched_at, pages.c.number))
        free = [row for row in ordered if row.sha256 not in cited]
        left = sum(row.size for row in free)
        chosen = []
        for row in free[:_REMOVED_AT_ONCE]:
            if row.fetched_at >= oldest and left <= self._archives.max_bytes:
                break
            left -= row.size
            chosen.append(row.number)
        return self._remove(chosen)

    def _oldest_wanted(self, moment: datetime) -> str:
        """The time before which pages are too old; none is where the clock may be wrong."""
        day = func.substr(pages.c.fetched_at, 1, 10)
        days = select(day).where(self._mine).distinct().order_by(day.desc()).limit(60)
        if not is_believed(moment, [row[0] for row in self._database.rows(days)]):
            return ""
        return (moment - timedelta(days=self._archives.max_days)).isoformat()

    def _remove(self, numbers: Sequence[int]) -> int:
        if not numbers:
            return 0
        with self._database.write() as connection:
            gone = connection.execute(delete(pages).where(self._mine, pages.c.number.in_(numbers))).rowcount
            kept = select(pages.c.page).where(self._mine)
            unused = and_(addresses.c.person == self._person, addresses.c.page.not_in(kept))
            connection.execute(delete(addresses).where(unused))
        return gone

    def check(self) -> str:
        """``ok``; raises the cause if the database cannot be read."""
        len(self)
        return "ok"

    def __len__(self) -> int:
        return int(self._database.value(select(func.count()).select_from(pages).where(self._mine)))

    def close(self) -> None:
        """Do nothing: the database is that of all people."""

    @property
    def _mine(self) -> Any:
        return pages.c.person == self._person

    def _one(self, *where: Any) -> Document | None:
        query = select(pages.c.document).where(self._mine, *where).order_by(pages.c.fetched_at.desc()).limit(1)
        text = self._database.value(query)
        return None if text is None else document_from_json(text)

    def _ranked(self, connection: Connection, wanted: Sequence[str], limit: int) -> list[str]:
        """The documents with any of the words: rare words count more, and so do those of the title."""
        each = [cast(literal(f"'{word}'"), TSQUERY) for word in wanted]
        either = cast(literal(" | ".join(f"'{word}'" for word in wanted)), TSQUERY)
        found = pages.c.words.op("@@")(either)
        counted = [func.count().filter(pages.c.words.op("@@")(word)) for word in each]
        has = connection.execute(select(*counted).where(self._mine, found)).one()
        every = connection.execute(select(func.count()).select_from(pages).where(self._mine)).scalar() or 0
        weights = cast(literal([_BODY, _BODY, _BODY, _TITLE], ARRAY(REAL)), ARRAY(REAL))
        score: Any = literal(0.0, Float)
        for word, count in zip(each, has, strict=True):
            if count:
                rarity = math.log(1 + (every - count + 0.5) / (count + 0.5))
                score = score + func.ts_rank(weights, pages.c.words, word, _BY_LENGTH) * rarity
        query = select(pages.c.document).where(self._mine, found)
        return list(connection.execute(query.order_by(score.desc(), pages.c.number).limit(limit)).scalars())


def store_document(connection: Connection, person: str, document: Document, index: str = "") -> int:
    """Store a document in the archive of a person, in the caller's transaction; return its number."""
    # Its numbers are given one after the other.
    connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"suyuan archive {person}"))))
    page = plain(address_key(document.final_url))
    kept = plain(document_to_json(replace(document, from_archive=False)))
    same = (pages.c.person == person, pages.c.page == page, pages.c.sha256 == document.sha256)
    number = connection.execute(select(pages.c.number).where(*same)).scalar()
    if number is not None:
        # An older reading, as from a file, does not take the place of a later one.
        newer = update(pages).where(*same, pages.c.fetched_at <= document.fetched_at)
        connection.execute(newer.values(fetched_at=document.fetched_at, document=kept))
    else:
        last = connection.execute(select(func.max(pages.c.number)).where(pages.c.person == person)).scalar()
        number = (last or 0) + 1
        row = {
            "person": person, "number": number, "page": page, "sha256": document.sha256,
            "fetched_at": document.fetched_at, "title": plain(document.title),
            "size": len(document.text.encode("utf-8", "replace")), "document": kept,
            "words": index_of(" ".join(words(document.title)), index or " ".join(words(document.text))),
        }  # fmt: skip
        connection.execute(insert(pages).values(**row))
    # Only addresses that were really requested: what a page says about its address proves nothing.
    for address in {plain(address_key(document.url)), page}:
        led = insert(addresses).values(person=person, address=address, page=page)
        same_address = [addresses.c.person, addresses.c.address]
        connection.execute(led.on_conflict_do_update(index_elements=same_address, set_={"page": page}))
    return int(number)


def index_of(title: str, body: str) -> str:
    """The words as PostgreSQL takes them without a parser of its own, with as many places as they occur.

    Both texts are words that are separated by blanks.
    """
    in_title = set(_indexed(title))
    counted = Counter(_indexed(body))
    entries = [f"'{word}':1A" for word in in_title if word not in counted]
    most = counted.most_common(_MOST_WORDS) if len(counted) > _MOST_WORDS else counted.items()
    for word, times in most:
        # The first place stands for the title, whether the word is in it or not.
        first = "1A," if word in in_title else ""
        entries.append(f"'{word}':{first}{_PLACES[min(times, _MOST_TIMES)]}")
    return " ".join(entries)


def _indexed(text: str) -> list[str]:
    """The words as they stand between the quotes of an entry."""
    found = plain(text).split()
    if max(map(len, found), default=0) > _LONGEST_WORD:
        found = [word[:_LONGEST_WORD] for word in found]
    if "'" in text or "\\" in text:
        found = [word.replace("\\", "\\\\").replace("'", "''") for word in found]
    return found
