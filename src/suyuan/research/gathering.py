"""Searching and reading for a job: every search and every page is a step; what is missing is searched again."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ..core.causes.page import READ_LATE
from ..core.causes.people import PERSON_QUOTA_SPENT
from ..core.document import Cut, Document
from ..core.errors import SuyuanError
from ..core.result import ARCHIVE, GUIDES, SearchPage
from ..core.urls import domain_of, page_key, within
from ..core.views import receipt
from ..embedded.evidence import Evidence
from ..embedded.quotes import pick_quotes
from ..embedded.source_ranking import coverage
from ..pages.passages import select
from .fair_slots import FairSlots
from .plan import ResearchPlan, SubQuestion, other_words
from .request import ResearchRequest
from .spending import Spending
from .step_log import Done, StepLog
from .turns import in_turn
from .web import Web

LONGEST_TEXT = 200_000
"""The characters of a page that are kept with a job."""
_FUSION = 10
"""The constant of reciprocal rank fusion."""
_MAX_WAIT = 30.0
"""The seconds that a search waits for an engine that asks for it."""
_LEAST_COVERAGE = 0.6
_ENOUGH_ORIGINS = 2
_JUDGED_TOKENS = 600


@dataclass(slots=True)
class _Found:
    """A page that searches have found, and how good its places were for each sub-question."""

    url: str
    engine: str
    query: str
    published_at: str | None
    scores: dict[int, float] = field(default_factory=dict)


class EvidenceGathering:
    """The searches and the pages of one job."""

    def __init__(
        self,
        job: str,
        request: ResearchRequest,
        plan: ResearchPlan,
        log: StepLog,
        spending: Spending,
        web: Web,
        slots: FairSlots,
        content_farms: Sequence[str] = (),
    ) -> None:
        self._job = job
        self._request = request
        self._plan = plan
        self._log = log
        self._spending = spending
        self._web = web
        self._slots = slots
        self._farms = content_farms
        self._found: dict[str, _Found] = {}
        self._tried: dict[int, list[str]] = {}
        self.searches: list[Done] = []
        """The searches in the order of the plan."""
        self.pages: list[Done] = []
        """The pages that were read or could not be, in the order in which they were chosen."""
        self.skipped: list[str] = []
        """Addresses on the list of content farms."""

    async def gather(self, inherited: Iterable[Done] = ()) -> None:
        """Search and read until there is enough or the budget is used up; earlier pages are looked at first."""
        self._spending.begin()
        self.pages += inherited
        parts = list(enumerate(self._plan.sub_questions))
        if self.pages:
            parts = await asyncio.to_thread(self._unanswered, parts)
        for round_ in range(self._request.effort.rounds):
            if not parts:
                break
            # Where the budget is used up, this only finds again what was done before.
            await self._search(round_, parts)
            await self._read(parts)
            parts = await asyncio.to_thread(self._unanswered, parts)

    # --- searching -----------------------------------------------------------------------------------------------
    async def _search(self, round_: int, parts: Sequence[tuple[int, SubQuestion]]) -> None:
        wanted = in_turn([(at, part, query) for query in self._queries(round_, at, part)] for at, part in parts)
        allowed = [each for each in wanted if self._spending.take_search()]
        done = await asyncio.gather(*(self._searched(round_, at, part, query) for at, part, query in allowed))
        for (at, _, query), outcome in zip(allowed, done, strict=True):
            self._tried.setdefault(at, []).append(query)
            if outcome is not None:
                self.searches.append(outcome)
                self._take_results(at, query, outcome)
        self.pages = list(map(self._with_parts, self.pages))

    def _queries(self, round_: int, at: int, part: SubQuestion) -> Iterable[str]:
        return part.queries if round_ == 0 else other_words(part.question, self._tried.get(at, ()))[:2]

    async def _searched(self, round_: int, at: int, part: SubQuestion, text: str) -> Done | None:
        key = f"search:{round_}:{at}:{_short_hash(text)}"
        known = self._log.known(key)
        if known is not None or not self._spending.note():
            return known
        async with self._slots.slot(self._job):
            started = time.monotonic()
            base = {"sub_question": at, "query": text, "round": round_}
            try:
                page = await self._asked(part, text)
            except SuyuanError as error:
                if error.detail_code == PERSON_QUOTA_SPENT.detail_code:
                    self._spending.spend_quota("searches")
                    return None
                failure = {"failure": error.failure.as_dict(self._request.lang), "results": [], "count": 0}
                data = {**base, **failure, "engines": receipt(error.attempts, self._request.lang)}
            except TimeoutError:
                self._spending.run_out()
                return None
            else:
                data = {**base, **_results(page, self._request.lang)}
        return await self._log.add(key, "search", {**data, "took_ms": _ms(started)})

    async def _asked(self, part: SubQuestion, text: str) -> SearchPage:
        async with asyncio.timeout(self._spending.seconds_left):
            query = self._request.query(text, focus=part.focus)
            wait = min(_MAX_WAIT, self._spending.seconds_left / 4)
            return await self._web.search(query, engines=self._request.scope.engines, max_wait=wait)

    def _take_results(self, at: int, query: str, outcome: Mapping[str, Any]) -> None:
        for result in outcome["results"]:
            # What is known without the web cannot be read from it either.
            if result["engine"] in (ARCHIVE, GUIDES):
                continue
            url = str(result["url"])
            if any(within(domain_of(url), farm) for farm in self._farms):
                self.skipped += [url] if url not in self.skipped else []
                continue
            found = self._found.setdefault(page_key(url), _Found(url, result["engine"], query, result["published_at"]))
            found.scores[at] = found.scores.get(at, 0.0) + 1 / (_FUSION + result["rank"])

    def _with_parts(self, page: Done) -> Done:
        """A page that was read, with all sub-questions for which it was found by now."""
        found = self._found.get(page_key(str(page["url"])))
        return {**page, "sub_questions": sorted({*page["sub_questions"], *found.scores})} if found else page

    # --- reading -------------------------------------------------------------------------------------------------
    async def _read(self, parts: Sequence[tuple[int, SubQuestion]]) -> None:
        chosen = [found for found in self._chosen([at for at, _ in parts]) if self._spending.take_page()]
        done = await asyncio.gather(*(self._page(found) for found in chosen))
        self.pages += [page for page in done if page is not None]

    def _chosen(self, parts: Sequence[int]) -> list[_Found]:
        """The best pages that were not read yet, of each sub-question in turn."""
        addresses = chain.from_iterable((page.get("url"), page.get("final_url")) for page in self.pages)
        seen = {page_key(str(address)) for address in addresses if address}
        unread = [found for key, found in self._found.items() if key not in seen]
        ranked = [
            sorted((each for each in unread if at in each.scores), key=lambda each: -each.scores[at]) for at in parts
        ]
        best = in_turn(each[: self._request.effort.pages] for each in ranked)
        return list({found.url: found for found in best}.values())

    async def _page(self, found: _Found) -> Done | None:
        key = f"page:{_short_hash(page_key(found.url))}"
        known = self._log.known(key)
        if known is not None or not self._spending.note():
            return known
        async with self._slots.slot(self._job):
            if not self._spending.note():
                return None
            started = time.monotonic()
            places = {"sub_questions": sorted(found.scores), "engine": found.engine, "query": found.query}
            try:
                async with asyncio.timeout(self._spending.seconds_left):
                    document = await self._web.read(found.url)
            except SuyuanError as error:
                data: dict[str, Any] = {"url": found.url, "failure": error.failure.as_dict(self._request.lang)}
            except TimeoutError:
                self._spending.run_out()
                late = READ_LATE.failure(seconds=_ms(started) / 1000)
                data = {"url": found.url, "failure": late.as_dict(self._request.lang)}
            else:
                data = {**_kept(document), "published_at": document.published_at or found.published_at}
        return await self._log.add(key, "page", {**data, **places, "took_ms": _ms(started)})

    # --- judging -------------------------------------------------------------------------------------------------
    def _unanswered(self, parts: Sequence[tuple[int, SubQuestion]]) -> list[tuple[int, SubQuestion]]:
        """The sub-questions that need more; many long texts are looked at, so this is done in a thread."""
        return [(at, part) for at, part in parts if not self._is_answered(at, part)]

    def _is_answered(self, at: int, part: SubQuestion) -> bool:
        """Whether what was read answers a sub-question, by the words of at least two origins."""
        read = [page for page in self.pages if page.get("text") and at in page["sub_questions"]]
        evidence = [
            Evidence(number, page["title"], _best_part(page["text"], part.question)) for number, page in enumerate(read)
        ]
        if coverage(part.question, (f"{each.title}\n{each.text}" for each in evidence)) < _LEAST_COVERAGE:
            return False
        origins = set[int]()
        for quote in pick_quotes(part.question, evidence):
            origins.update(quote.numbers, *(other.numbers for other in quote.others))
        return len(origins) >= _ENOUGH_ORIGINS


def _results(page: SearchPage, lang: str) -> dict[str, Any]:
    results = [
        {
            "title": each.title,
            "url": each.url,
            "snippet": each.snippet,
            "engine": each.engine,
            "rank": each.rank,
            "published_at": each.published_at,
        }
        for each in page.results
    ]
    return {
        "engine": page.engine,
        "count": len(results),
        "cached": page.cached,
        "results": results,
        "engines": receipt(page.attempts, lang),
        "failure": None,
    }


def _best_part(text: str, question: str) -> str:
    return "\n".join(passage.text for passage in select(text, question, _JUDGED_TOKENS).passages)


def _kept(document: Document) -> dict[str, Any]:
    """A page as its step keeps it; the hash is that of the whole text."""
    cut = _cut(document)
    text = {"text": document.text[:LONGEST_TEXT], "length": len(document.text), "cut": cut.as_dict() if cut else None}
    return {**document.as_dict(), **text, "failure": None}


def _cut(document: Document) -> Cut | None:
    """How much of a page is kept, of what was read of it."""
    cut, length = document.cut, len(document.text)
    if length <= LONGEST_TEXT:
        return cut
    if cut is None:
        return Cut("characters", LONGEST_TEXT, length)
    return replace(cut, read=cut.read * LONGEST_TEXT // length)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
