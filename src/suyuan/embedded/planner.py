"""What the embedded model does next, by rules: which searches to make and which pages to read before it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.urls import page_key
from ..text.keywords import content_stems, keywords, without_request
from .evidence import Evidence
from .question_splitter import split_question
from .source_ranking import coverage, rank_sources
from .turn_input import TurnInput

_MAX_PAGES = 2
_MAX_SEARCHES = 2
_LOW_COVERAGE = 0.5
"""With less of the question's words in what was found, other words are tried."""
_SMALL_TALK = re.compile(
    r"\s*(?:hi|hello|hey|good (?:morning|evening|afternoon)|thanks?(?: you)?(?: very much)?|thx|ok(?:ay)?|bye"
    r"|who are you|what are you|what can you do"
    r"|你好|您好|嗨|哈喽|早上好|晚上好|下午好|谢谢(?:你|您)?|多谢|再见|好的|你是谁|你能做什么|你会什么)[\s!！.。?？,，~～]*",
    re.I,
)
_URL = re.compile(r"https?://[^\s<>\"'，。；、）)]+")
_QUOTED = re.compile(r"《([^《》]+)》|“([^“”]+)”|\"([^\"]+)\"")


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool to call."""

    name: str
    arguments: Mapping[str, str]


def is_small_talk(turn: TurnInput) -> bool:
    """Whether a message asks nothing that could be searched, not even with what was said before."""
    return bool(_SMALL_TALK.fullmatch(turn.question)) or not content_stems(turn.full_question)


def plan_calls(turn: TurnInput, tools: frozenset[str]) -> list[PlannedCall]:
    """Return the tools to call now; none means that the answer can be written."""
    if not tools & {"web_search", "web_fetch"} or is_small_talk(turn):
        return []
    if not turn.queries and not turn.read_urls:
        return _first_calls(turn, tools)
    if "web_fetch" in tools and (urls := _pages_to_read(turn)):
        return _fetches(turn, urls)
    return _another_search(turn) if "web_search" in tools else []


def _first_calls(turn: TurnInput, tools: frozenset[str]) -> list[PlannedCall]:
    calls = _fetches(turn, _URL.findall(turn.question)[:_MAX_PAGES]) if "web_fetch" in tools else []
    if "web_search" in tools:
        calls += [PlannedCall("web_search", {"query": query}) for query in _first_queries(turn)]
    return calls


def _fetches(turn: TurnInput, urls: list[str]) -> list[PlannedCall]:
    return [PlannedCall("web_fetch", {"url": url, "question": turn.question}) for url in urls]


def _first_queries(turn: TurnInput) -> list[str]:
    question = " ".join(turn.question.split())
    for url in _URL.findall(question):
        question = question.replace(url, " ")
    found = [without_request(part).strip(" ?？。.!！") for part in split_question(question)[:_MAX_SEARCHES]]
    if context := turn.resolved.query:
        found = [context]
    return [query[:300].strip() for query in found if query]


def _pages_to_read(turn: TurnInput) -> list[str]:
    """Return the best pages that were not read yet, where more are worth reading."""
    seen = {page_key(url) for url in turn.read_urls}
    left = _MAX_PAGES * (1 if len(turn.queries) < 2 else 2) - len(turn.read_urls)
    unread = [source for source in turn.sources.values() if page_key(source.url) not in seen]
    if left <= 0 or not unread or (turn.read_urls and not _covers_little(turn)):
        return []
    urls = {source.number: source.url for source in unread}
    snippets = [Evidence(source.number, source.title, source.snippet) for source in unread]
    return [urls[found.number] for found in rank_sources(turn.full_question, snippets)[: min(left, _MAX_PAGES)]]


def _another_search(turn: TurnInput) -> list[PlannedCall]:
    """Return one more search in other words, where what was found has little to do with the question."""
    if len(turn.queries) > len(_first_queries(turn)) or turn.failed or not _covers_little(turn):
        return []
    tried = {query.casefold() for query in turn.queries}
    names = [name for groups in _QUOTED.findall(turn.question) for name in groups if name]
    plain = keywords(turn.full_question)
    for words in (plain, names, sorted(plain, key=len, reverse=True)[:3]):
        query = " ".join(words)[:200].strip()
        if query and query.casefold() not in tried:
            return [PlannedCall("web_search", {"query": query})]
    return []


def _covers_little(turn: TurnInput) -> bool:
    return coverage(turn.full_question, (f"{found.title}\n{found.text}" for found in turn.evidence)) < _LOW_COVERAGE
