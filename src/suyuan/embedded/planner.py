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
_MAX_QUERY, _MAX_OTHER_QUERY = 300, 200
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
    if tools.isdisjoint(("web_search", "web_fetch")) or is_small_talk(turn):
        return []
    if not turn.queries and not turn.read_urls:
        return _first_calls(turn, tools)
    urls = _pages_to_read(turn) if "web_fetch" in tools else []
    if urls:
        return _fetches(turn, urls)
    return _another_search(turn) if "web_search" in tools else []


def _first_calls(turn: TurnInput, tools: frozenset[str]) -> list[PlannedCall]:
    """Return the pages that the message names, and the searches for what it asks."""
    calls = []
    if "web_fetch" in tools:
        calls += _fetches(turn, _URL.findall(turn.question)[:_MAX_PAGES])
    if "web_search" in tools:
        calls += [PlannedCall("web_search", {"query": query}) for query in _first_queries(turn)]
    return calls


def _fetches(turn: TurnInput, urls: list[str]) -> list[PlannedCall]:
    """Return a call for each of several pages."""
    return [PlannedCall("web_fetch", {"url": url, "question": turn.question}) for url in urls]


def _first_queries(turn: TurnInput) -> list[str]:
    """Return the searches for the parts of a question."""
    context = turn.resolved.query
    if context:
        return [context[:_MAX_QUERY].strip()]
    question = " ".join(turn.question.split())
    for url in _URL.findall(question):
        question = question.replace(url, " ")
    queries = (without_request(part).strip(" ?？。.!！") for part in split_question(question)[:_MAX_SEARCHES])
    return [query[:_MAX_QUERY].strip() for query in queries if query]


def _pages_to_read(turn: TurnInput) -> list[str]:
    """Return the best pages that were not read yet, where more are worth reading."""
    rounds = 1 if len(turn.queries) < 2 else 2
    left = _MAX_PAGES * rounds - len(turn.read_urls)
    if left <= 0:
        return []
    if turn.read_urls and not _covers_little(turn):
        return []
    seen = set(map(page_key, turn.read_urls))
    unread = [source for source in turn.sources.values() if page_key(source.url) not in seen]
    snippets = [Evidence(source.number, source.title, source.snippet) for source in unread]
    best = rank_sources(turn.full_question, snippets)[: min(left, _MAX_PAGES)]
    return [turn.sources[source.number].url for source in best]


def _another_search(turn: TurnInput) -> list[PlannedCall]:
    """Return one more search in other words, where what was found has little to do with the question."""
    has_searched_again = len(turn.queries) > len(_first_queries(turn))
    if turn.failed or has_searched_again or not _covers_little(turn):
        return []
    tried = {query.casefold() for query in turn.queries}
    names = [match[match.lastindex or 0] for match in _QUOTED.finditer(turn.question)]
    plain = keywords(turn.full_question)
    for words in (plain, names, sorted(plain, key=len, reverse=True)[:3]):
        query = " ".join(words)[:_MAX_OTHER_QUERY].strip()
        if query and query.casefold() not in tried:
            return [PlannedCall("web_search", {"query": query})]
    return []


def _covers_little(turn: TurnInput) -> bool:
    """Whether the sources have few words of the question."""
    texts = (f"{source.title}\n{source.text}" for source in turn.evidence)
    return coverage(turn.full_question, texts) < _LOW_COVERAGE
