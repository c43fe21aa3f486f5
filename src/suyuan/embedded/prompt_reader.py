"""Reads a turn out of the messages that a language model would get."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from ..core.urls import page_key
from .turn_input import FoundSource, TurnInput

_WEB_TEXT = re.compile(r"<<<web ([0-9a-f]+)\n(.*?)\nweb \1>>>", re.S)
_RESULT = re.compile(r"^\[(\d+)\] (.*)\n(https?://\S+)(?:\n(?!\[\d+\] )(.*))?$", re.M)
_URL = re.compile(r"https?://[^\s<>\"'，。；、）)]+")
_QUESTION_LABEL = re.compile(r"^(?:问题|Question)[ \t]*[:：][ \t]*", re.M)
_SEARCH_FAILED = re.compile(r"^(?:搜索失败|The search failed)[^\n]*")
_FOR_THE_MODEL = re.compile(r"\s*(?:不要假装|Do not pretend)[^\n]*")


def read_messages(messages: Sequence[BaseMessage]) -> TurnInput:
    """Read the last turn; the numbers of earlier turns are not valid in it."""
    starts = [at for at in range(len(messages)) if _begins_turn(messages, at)]
    if not starts:
        return TurnInput()
    turn = messages[starts[-1] :]
    found = TurnInput(_question(turn[0].text), _question(messages[starts[-2]].text) if len(starts) > 1 else "")
    urls = _add_calls(found, turn)
    results = [message for message in turn if isinstance(message, ToolMessage)]
    texts = [(turn[0].text, ""), *((result.text, urls.get(result.tool_call_id, "")) for result in results)]
    for text, _ in texts:
        _add_sources(found, text)
    # Pages come second, so that a page finds its number also where it was read before it was searched.
    for text, url in texts:
        _add_pages(found, text, url)
    return found


def find_urls(text: str) -> list[str]:
    """Return the addresses that a person wrote."""
    return _URL.findall(text)


def _begins_turn(messages: Sequence[BaseMessage], at: int) -> bool:
    """Whether a person speaks here: after a tool or another such message it is an instruction to the model."""
    if not isinstance(messages[at], HumanMessage):
        return False
    before = messages[at - 1] if at else None
    return not (isinstance(before, ToolMessage | HumanMessage) or (isinstance(before, AIMessage) and before.tool_calls))


def _question(text: str) -> str:
    """Return what the person asked: the last paragraph outside the text from the web."""
    outside = _WEB_TEXT.sub("\n\n", text)
    before, *labelled = _QUESTION_LABEL.split(outside, maxsplit=1)
    if labelled and before.strip():
        return labelled[0].strip()
    if "<<<web" not in text:
        return outside.strip()
    paragraphs = [paragraph.strip() for paragraph in re.split(r"\n\s*\n", outside) if paragraph.strip()]
    return paragraphs[-1] if paragraphs else ""


def _add_calls(found: TurnInput, turn: Sequence[BaseMessage]) -> dict[str, str]:
    """Add what was searched and read; return the addresses of pages by the id of their call."""
    urls: dict[str, str] = {}
    for message in turn:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            if call["name"] == "web_search":
                found.queries.append(str(call["args"].get("query", "")))
            elif call["name"] == "web_fetch":
                url = str(call["args"].get("url", ""))
                found.read_urls.append(url)
                urls[call["id"] or ""] = url
    return urls


def _add_sources(found: TurnInput, text: str) -> None:
    """Add the results listed in ``text``, or the failure that it reports."""
    if failed := _SEARCH_FAILED.match(text):
        found.failures.append(_FOR_THE_MODEL.sub("", failed[0]).strip())
        return
    for block in _WEB_TEXT.finditer(text):
        if _page_url(text, block):
            continue
        for digits, title, url, snippet in _RESULT.findall(block[2]):
            number, title = int(digits), re.sub(r"\s*\([^()]*\)$", "", title)
            known = found.sources.setdefault(number, FoundSource(number, title, url, snippet))
            if snippet not in known.snippet:
                known.snippet = f"{known.snippet}\n{snippet}".strip()


def _add_pages(found: TurnInput, text: str, asked: str) -> None:
    """Add the pages in ``text`` to their sources."""
    numbers = {page_key(source.url): number for number, source in found.sources.items()}
    for block in _WEB_TEXT.finditer(text):
        url = _page_url(text, block)
        if not url:
            continue
        number = numbers.get(page_key(asked)) or numbers.get(page_key(url))
        if number is None:
            found.unnumbered.append(block[2])
        else:
            source = found.sources[number]
            source.page = f"{source.page}\n{block[2]}".strip()


def _page_url(text: str, block: re.Match[str]) -> str:
    """Return the address on a line of its own right above the block, which only a page's text has; empty without."""
    for line in reversed(text[: block.start()].rstrip("\n").splitlines()[-5:]):
        if not line.strip():
            break
        if _URL.fullmatch(line.strip()):
            return line.strip()
    return ""
