"""Fills a data folder by the product's own code: archived pages, conversations, research jobs, and a library."""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from suyuan.chat.events import Answer, ClaimCheck, Event, SearchFinished, SearchStarted, TurnStarted, Usage
from suyuan.citations.registry import Source
from suyuan.core.document import Document
from suyuan.core.wire import Response
from suyuan.pages.archive import Archive
from suyuan.pages.convert import read_page
from suyuan.pages.document_parts import parts_of
from suyuan.pages.library_files import LibraryFile, LibraryFiles, Root, file_id
from suyuan.pages.local_files import TYPES, bytes_of, files_below
from suyuan.pages.reading import ReceivedPage
from suyuan.research.plan import make_plan
from suyuan.research.request import ResearchRequest
from suyuan.store.conversations import Store
from suyuan.store.research import ResearchStore
from suyuan.text.words import words

from . import _kept_text as invented

CONVERSATIONS, JOBS, PAGES, DOCUMENTS = 500, 20, 1_000, 200
"""How many there are at the size 1."""
TURNS = 2
PARTS = ("archive", "chat", "library")
PAGE_BYTES, DOCUMENT_BYTES = 8_000, 3_000
_TOGETHER = 1_000
"""What is written in one transaction."""
_DAYS = 200
"""All of it is from the last days, so that nothing is too old to be kept."""
_DAY = 86_400.0
_SOURCES = 4

T = TypeVar("T")
Say = Callable[[str], None]


def fill(folder: Path, size: int, only: Iterable[str] = PARTS, *, now: float | None = None, say: Say = print) -> None:
    """Fill a data folder to ``size`` times the smallest; the same content each time, with times before ``now``."""
    end = now or time.time()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    by_name = {"archive": fill_archive, "chat": fill_chat, "library": fill_library}
    for name in PARTS if size else ():
        if name in only:
            begun = time.monotonic()
            by_name[name](folder, size, end)
            say(f"{name} × {size}: {time.monotonic() - begun:.0f} s")


def _moment(number: int, count: int, end: float) -> float:
    """When the one of this number was made: evenly over the days, the last one an hour ago."""
    return end - 3_600 - _DAYS * _DAY * (count - number) / count


# --- the archive -------------------------------------------------------------------------------------------------------
def fill_archive(folder: Path, size: int, end: float) -> None:
    """Put pages into the archive; other processes write their texts."""
    count = PAGES * size
    # Nothing is removed, whatever the settings allow.
    with closing(Archive(folder / "archive.sqlite", max_bytes=1 << 50, max_days=36_500)) as archive:
        for pages in _made_elsewhere(count, end):
            archive.put_all(pages)


def _made_elsewhere(count: int, end: float) -> Iterator[list[tuple[Document, str]]]:
    ahead = max(1, (os.cpu_count() or 2) - 1)
    waiting: deque[Future[list[tuple[Document, str]]]] = deque()
    with ProcessPoolExecutor(ahead) as pool:
        for numbers in _parts(range(count), _TOGETHER):
            waiting.append(pool.submit(_pages, numbers, count, end))
            # So many may wait for the disk; more would fill the memory.
            if len(waiting) > ahead + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _parts(all: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(all)
    while part := list(islice(left, size)):
        yield part


def _pages(numbers: Sequence[int], count: int, end: float) -> list[tuple[Document, str]]:
    documents = (page(number, _moment(number, count, end)) for number in numbers)
    return [(document, " ".join(words(document.text))) for document in documents]


def page(number: int, moment: float) -> Document:
    """A page that was read."""
    url = f"https://site{number % 997}.example/{number // 997}/{quote(invented.title(number)[:20])}"
    language = "zh" if invented.is_chinese(number) else "en"
    written = datetime.fromtimestamp(moment - _DAY, UTC).isoformat(timespec="seconds")
    read = datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
    text, title = invented.text(number, PAGE_BYTES), invented.title(number)
    return Document(url, url, title, text, "text/html", read, published_at=written, language=language)


# --- conversations and research ----------------------------------------------------------------------------------------
class _Clock:
    """Stands where it is put."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def fill_chat(folder: Path, size: int, end: float) -> None:
    """Write conversations with their answers and events, and research jobs with their steps."""
    address, clock = store_of(folder), _Clock()
    count, jobs = CONVERSATIONS * size, JOBS * size
    with closing(Store(address, clock=clock)) as store, closing(ResearchStore(address, clock=clock)) as research:
        conversations = (
            partial(_conversation, store, clock, number, _moment(number, count, end)) for number in range(count)
        )
        made = (partial(_job, research, clock, number, _moment(number, jobs, end)) for number in range(jobs))
        with store.writer() as pen:
            # What waits for the writer is written in one transaction.
            for part in _parts(chain(conversations, made), _TOGETHER):
                for done in [pen.submit(each) for each in part]:
                    done.result()


def store_of(folder: Path) -> str:
    """The address of the store in a data folder."""
    return f"sqlite:///{quote(str(folder.absolute() / 'chat.sqlite'))}"


def _conversation(store: Store, clock: _Clock, number: int, moment: float) -> None:
    clock.now = moment
    lang = "zh" if invented.is_chinese(number) else "en"
    conversation = store.create(mode="chat", search=True, engine="", model="", lang=lang)
    for turn in range(TURNS):
        # Questions of one language have numbers of one parity.
        at = (number * TURNS + turn) // 2 * 2 + number % 2 + turn * 2 * 10_000_000
        run = f"run{number:09d}{turn:04d}"
        question = f"{invented.title(at, 'question')} {invented.serial(number, 'talk')}?"
        store.begin_turn(conversation.id, question, run)
        clock.now += 2
        answer = _answer(at, lang)
        store.keep_events(run, enumerate(event.as_dict() for event in _events(run, question, answer)))
        store.finish(run, state="done", text=answer.markdown, answer=answer.as_dict())
        clock.now += 60


def _answer(at: int, lang: str) -> Answer:
    chance = random.Random(f"answer {at}")
    sources = tuple(_source(chance, at, number) for number in range(1, _SOURCES + 1))
    sentences = [f"{invented.title(at * 8 + 2 * place, 'sentence')} [{1 + place % _SOURCES}]" for place in range(6)]
    body = "\n\n".join([". ".join(sentences), invented.text(at, 500, "answer")])
    claims = tuple(
        ClaimCheck(body.index(each), body.index(each) + len(each), 1 + place % _SOURCES, "supported", "snippet", each)
        for place, each in enumerate(sentences)
    )
    listed = "\n".join(f"- \\[{source.number}\\] [{source.title}]({source.url})" for source in sources)
    return Answer(
        body, f"{body}\n\n## Sources\n\n{listed}\n", "chat", "embedded", lang, sources,
        ((1, sentences[0], tuple(source.number for source in sources)),), tuple(source.number for source in sources),
        claims=claims, took_ms=1_800, usage=Usage(searches=1),
    )  # fmt: skip


def _source(chance: random.Random, at: int, number: int) -> Source:
    other = chance.randrange(PAGES) // 2 * 2 + at % 2
    url = f"https://site{other % 997}.example/{other // 997}/{number}"
    return Source(number, invented.title(other), url, invented.text(other, 200, "snippet"), "duckduckgo")


def _events(run: str, question: str, answer: Answer) -> list[Event]:
    receipt = {"engine": "duckduckgo", "state": "ok", "count": 10, "took_ms": 700, "error": None}
    return [
        TurnStarted(run, "chat", True, "embedded", ""),
        SearchStarted(1, question, "auto"),
        SearchFinished(1, question, "duckduckgo", 10, 700, False, False, (receipt,)),
    ]


def _job(store: ResearchStore, clock: _Clock, number: int, moment: float) -> None:
    clock.now = moment
    question = f"{invented.title(number, 'research')} {invented.serial(number, 'job')}?"
    request = ResearchRequest.of(question, {"depth": "quick"})
    job = store.create(request.question, request.as_dict())
    plan = make_plan(request).as_dict()
    pages = [_read_page(number * 8 + 2 * place, moment) for place in range(4)]
    searches = [_search(question, place) for place in range(4)]
    ledger = {"rows": [], "sources": [{"number": place + 1, "url": each["url"]} for place, each in enumerate(pages)]}
    section = {"section": {"title": question, "sentences": [], "dropped": [], "by": "embedded"}, "disagreements": []}
    store.keep(job.id, [("plan", "plan", plan)])
    store.keep(job.id, [(f"search:0:{place}", "search", each) for place, each in enumerate(searches)])
    store.keep(job.id, [(f"page:{place}", "page", each) for place, each in enumerate(pages)])
    clock.now += 40
    report = f"# {question}\n\n{invented.text(number, 2_000, 'report')}"
    result = {"report": report, "sources": ledger["sources"], "ledger": [], "claims": []}
    store.keep(job.id, [("ledger", "ledger", ledger), ("section:1", "section", section)])
    store.change(job.id, state="done", plan=plan, result=result)


def _read_page(at: int, moment: float) -> dict[str, Any]:
    document = replace(page(at, moment), text=invented.text(at, 2_000, "research"))
    kept = {**document.as_dict(), "length": len(document.text), "failure": None}
    return {**kept, "sha256": document.sha256, "sub_questions": [0], "engine": "duckduckgo", "took_ms": 300}


def _search(question: str, place: int) -> dict[str, Any]:
    results = [
        {"rank": rank, "url": f"https://site{rank}.example/{place}", "engine": "duckduckgo"} for rank in range(10)
    ]
    return {"sub_question": 0, "query": question, "round": 0, "results": results, "count": 10, "took_ms": 700}


# --- the library -------------------------------------------------------------------------------------------------------
def fill_library(folder: Path, size: int, end: float) -> None:
    """Write documents to a folder of their own, and put what they say into the library, as one that was just read."""
    documents = folder.absolute() / "documents"
    write_documents(documents, DOCUMENTS * size)
    (folder / "library").mkdir(exist_ok=True)
    read_at = datetime.fromtimestamp(end, UTC).isoformat(timespec="seconds")
    with closing(Archive(folder / "library" / "library.sqlite", max_bytes=1 << 50, max_days=36_500)) as archive:
        files = LibraryFiles(archive)
        files.add_root(Root(str(documents), "folder", read_at))
        for path, (modified, length) in files_below(documents):
            body = bytes_of(Path(path))
            digest = hashlib.sha256(body).hexdigest()
            file = LibraryFile(file_id(path), str(documents), path, modified, length, digest, read_at)
            document = _read(file, body)
            files.store(file, document, parts_of(document))


def _read(file: LibraryFile, body: bytes) -> Document:
    """What the product's readers give, without processes of their own."""
    kind = {"content-type": TYPES[Path(file.path).suffix]}
    document = read_page(ReceivedPage(file.address, Response(200, body, file.address, kind))).document
    return replace(document, title=body.decode().partition("\n")[0].removeprefix("# "), private=True)


def write_documents(folder: Path, count: int) -> None:
    """So many files, a thousand in each folder."""
    for number in range(count):
        kind = "md" if number % 4 else "txt"
        path = folder / f"{number // 1_000:03d}" / f"{invented.serial(number, 'file')}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = invented.text(number, DOCUMENT_BYTES, "document")
        path.write_text(f"# {invented.title(number, 'document')}\n\n{body}\n", encoding="utf-8")
