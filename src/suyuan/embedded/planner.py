"""What the embedded model does next: rules in place of thought."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.urls import page_key
from ..text.keywords import keywords
from .answer_type import content
from .prompt_reader import PromptContents, addresses
from .question_splitter import parts_of
from .quotes import Evidence, best_sources, coverage

MOST_PAGES = 2
MOST_SEARCHES = 2
# Less of the question's words than this in what was found, and other words are tried.
POOR = 0.5

_SMALL_TALK = re.compile(
    r"\s*(?:hi|hello|hey|good (?:morning|evening|afternoon)|thanks?(?: you)?(?: very much)?|thx|ok(?:ay)?|bye|who are you"
    r"|what are you|what can you do"
    r"|你好|您好|嗨|哈喽|早上好|晚上好|下午好|谢谢(?:你|您)?|多谢|再见|好的|你是谁|你能做什么|你会什么)[\s!！.。?？,，~～]*",
    re.I,
)
_POLITE = re.compile(
    r"^(?:请问|请?告诉我|我想知道|帮我(?:查|搜)(?:一下|索)?|please|tell me(?: about)?|can you tell me|could you tell me)[\s,，:：]*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to be called."""

    name: str
    arguments: Mapping[str, str]


def is_small_talk(text: str) -> bool:
    """Whether ``text`` asks nothing that could be searched."""
    return bool(_SMALL_TALK.fullmatch(text)) or not content(text)


def plan(reading: PromptContents, tools: frozenset[str]) -> list[Call]:
    """The tools to call now; none means: answer."""
    if not tools & {"web_search", "web_fetch"} or is_small_talk(reading.question):
        return []
    if not reading.queries and not reading.asked_pages:
        return _first(reading, tools)
    if "web_fetch" in tools and (pages := _pages_to_read(reading)):
        return [Call("web_fetch", {"url": url, "question": reading.question}) for url in pages]
    return _again(reading) if "web_search" in tools else []


def _first(reading: PromptContents, tools: frozenset[str]) -> list[Call]:
    calls = []
    if "web_fetch" in tools:
        calls = [
            Call("web_fetch", {"url": url, "question": reading.question})
            for url in addresses(reading.question)[:MOST_PAGES]
        ]
    if "web_search" in tools:
        calls += [Call("web_search", {"query": query}) for query in _queries(reading)]
    return calls


def _queries(reading: PromptContents) -> list[str]:
    question = " ".join(reading.question.split())
    for url in addresses(question):
        question = question.replace(url, " ")
    found = [_POLITE.sub("", part).strip(" ?？。.!！") for part in parts_of(question)[:MOST_SEARCHES]]
    return [f"{reading.subject} {query}".strip()[:300].strip() for query in found if query]


def _pages_to_read(reading: PromptContents) -> list[str]:
    """The best pages that were not read yet, within the number of pages that are worth it."""
    seen = {page_key(url) for url in reading.asked_pages}
    left = MOST_PAGES * (1 if len(reading.queries) < 2 else 2) - len(reading.asked_pages)
    unread = [source for source in reading.sources.values() if page_key(source.url) not in seen]
    if left <= 0 or not unread or (reading.asked_pages and not _poor(reading)):
        return []
    by_number = {source.number: source.url for source in unread}
    ranked = best_sources(
        reading.whole_question, [Evidence(source.number, source.title, source.snippet) for source in unread]
    )
    return [by_number[found.number] for found in ranked[: min(left, MOST_PAGES)]]


def _again(reading: PromptContents) -> list[Call]:
    """One more search in other words, where what was found has little to do with the question."""
    if len(reading.queries) > len(_queries(reading)) or reading.failures or not _poor(reading):
        return []
    asked = {query.casefold() for query in reading.queries}
    names = re.findall(r"《([^》]+)》|“([^”]+)”|\"([^\"]+)\"", reading.question)
    plain = keywords(reading.whole_question)
    for words in (plain, [name for group in names for name in group if name], sorted(plain, key=len, reverse=True)[:3]):
        query = " ".join(words)[:200].strip()
        if query and query.casefold() not in asked:
            return [Call("web_search", {"query": query})]
    return []


def _poor(reading: PromptContents) -> bool:
    return coverage(reading.whole_question, (f"{found.title}\n{found.text}" for found in reading.evidence)) < POOR
