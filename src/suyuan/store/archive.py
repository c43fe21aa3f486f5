"""The archive in PostgreSQL: the pages that people have read, each person's theirs alone, found by our own words."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Connection, Float, and_, cast, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import ARRAY, REAL, TSQUERY, insert

from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.secret import Secret
from ..pages.address import address_key
from ..pages.archive import Archive, document_from_json, document_to_json, make_hit
from ..pages.page_archive import ArchiveEntry, ArchiveHit
from ..text.keywords import content_words
from ..text.words import words
from .database import Database
from .tables import addresses, pages
from .values import plain

# What an index entry of PostgreSQL can hold.
_MOST_WORDS = 40_000
_MOST_TIMES = 250
_LONGEST_WORD = 200
_ASKED = 24
_TITLE, _BODY = 1.0, 0.25
"""A word of the title counts as much as four of the text, as in the archive of one machine."""
_BY_LENGTH = 1
_PRUNED_EVERY = 50


class StoredArchives:
    """The archives of all people in one database; opened when the first is used."""

    def __init__(self, address: Secret | str, *, max_bytes: int, max_days: int) -> None:
        self._address = address
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

    notice: SuyuanError | None = None

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
        if self._stored >= _PRUNED_EVERY:
            self._stored = 0
            self.prune()
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
        asked = content_words(question) or words(question)
        wanted = list(dict.fromkeys(_indexed(asked)))[:_ASKED]
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

    def prune(self, now: datetime | None = None) -> int:
        """Remove documents that are too old, then the oldest ones until the size fits; return their number."""
        oldest = ((now or datetime.now(UTC)) - timedelta(days=self._archives.max_days)).isoformat()
        newer = func.sum(pages.c.size).over(order_by=(pages.c.fetched_at.desc(), pages.c.number.desc()))
        sizes = select(pages.c.number, newer.label("newer")).where(self._mine).subquery()
        too_much = select(sizes.c.number).where(sizes.c.newer > literal(self._archives.max_bytes, BigInteger))
        with self._database.write() as connection:
            gone = connection.execute(delete(pages).where(self._mine, pages.c.fetched_at < oldest)).rowcount
            gone += connection.execute(delete(pages).where(self._mine, pages.c.number.in_(too_much))).rowcount
            if gone:
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
        each = [cast(literal(_quoted(word)), TSQUERY) for word in wanted]
        either = cast(literal(" | ".join(map(_quoted, wanted))), TSQUERY)
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
    known = update(pages).where(*same).values(fetched_at=document.fetched_at, document=kept).returning(pages.c.number)
    number = connection.execute(known).scalar()
    if number is None:
        last = connection.execute(select(func.max(pages.c.number)).where(pages.c.person == person)).scalar()
        number = (last or 0) + 1
        row = {
            "person": person, "number": number, "page": page, "sha256": document.sha256,
            "fetched_at": document.fetched_at, "title": plain(document.title),
            "size": len(document.text.encode("utf-8", "replace")), "document": kept,
            "words": _index(document, index.split() if index else words(document.text)),
        }  # fmt: skip
        connection.execute(insert(pages).values(**row))
    # Only addresses that were really requested: what a page says about its address proves nothing.
    for address in {plain(address_key(document.url)), page}:
        led = insert(addresses).values(person=person, address=address, page=page)
        same_address = [addresses.c.person, addresses.c.address]
        connection.execute(led.on_conflict_do_update(index_elements=same_address, set_={"page": page}))
    return int(number)


def _index(document: Document, body: Iterable[str]) -> str:
    """The words as PostgreSQL takes them without a parser of its own, with as many places as they occur."""
    title = set(_indexed(words(document.title)))
    counted = Counter(_indexed(body))
    entries = [f"{_quoted(word)}:1A" for word in title if word not in counted]
    for word, times in counted.most_common(_MOST_WORDS):
        # The first place stands for the title, whether the word is in it or not.
        places = [*(["1A"] if word in title else []), *map(str, range(2, min(times, _MOST_TIMES) + 2))]
        entries.append(f"{_quoted(word)}:{','.join(places)}")
    return " ".join(entries)


def _indexed(found: Iterable[str]) -> Iterator[str]:
    return filter(None, (plain(word)[:_LONGEST_WORD] for word in found))


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
