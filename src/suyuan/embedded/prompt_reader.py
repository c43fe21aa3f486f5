"""What the messages of a turn hold for the embedded model: the question, the numbered sources, and what failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from ..core.urls import page_key
from ..text.keywords import keywords
from ..text.language import script_language
from .question_splitter import subject_of
from .quotes import Evidence

_BLOCK = re.compile(r"<<<web ([0-9a-f]+)\n(.*?)\nweb \1>>>", re.S)
_ENTRY = re.compile(r"^\[(\d+)\] (.*)\n(https?://\S+)(?:\n(?!\[\d+\] )(.*))?$", re.M)
_URL = re.compile(r"https?://[^\s<>\"'，。；、）)]+")
_REFERS = re.compile(
    r"\b(?:it|its|they|their|he|she|his|her|that one)\b|它|[他她]们?|(?<!应)该|这个|那个|其中|那里", re.I
)
_FAILED = re.compile(r"^(?:搜索失败|The search failed)[^\n]*")
_NOT_FOR_US = re.compile(r"\s*(?:不要假装|Do not pretend)[^\n]*")


@dataclass(slots=True)
class FoundSource:
    """A source of this turn."""

    number: int
    title: str
    url: str
    snippet: str
    page: str = ""
    """What was read of the page itself."""

    def evidence(self) -> Evidence:
        """Everything that is known of it, the snippet last: it is mostly a part of the page."""
        return Evidence(self.number, self.title, f"{self.page}\n{self.snippet}".strip())


@dataclass(slots=True)
class PromptContents:
    """One turn, as far as it has come."""

    question: str = ""
    earlier: str = ""
    """The question of the turn before."""
    sources: dict[int, FoundSource] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    asked_pages: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """What failed searches said, without what they tell the model."""
    loose: list[str] = field(default_factory=list)
    """Texts of pages that are no numbered source."""

    @property
    def lang(self) -> str:
        """The language to answer in."""
        return "zh" if script_language(self.question) == "zh" else "en"

    @property
    def subject(self) -> str:
        """What "it" in the question stands for: the words of the question before; empty where the question stands alone."""
        if not self.earlier or subject_of(self.question) or not _REFERS.search(self.question):
            return ""
        return " ".join(keywords(self.earlier)[:5])

    @property
    def whole_question(self) -> str:
        """The question with what it is about."""
        return f"{self.subject} {self.question}".strip()

    @property
    def evidence(self) -> list[Evidence]:
        """The sources by number."""
        return [self.sources[number].evidence() for number in sorted(self.sources)]


def read(messages: Sequence[BaseMessage]) -> PromptContents:
    """Read the last turn; numbers of turns before are not valid in it."""
    starts = [at for at in range(len(messages)) if _begins_a_turn(messages, at)]
    if not starts:
        return PromptContents()
    turn = messages[starts[-1] :]
    reading = PromptContents(_question(turn[0].text), _question(messages[starts[-2]].text) if len(starts) > 1 else "")
    calls = _take_calls(reading, turn)
    texts = [(turn[0].text, "")]
    texts += [
        (message.text, calls.get(message.tool_call_id, "")) for message in turn if isinstance(message, ToolMessage)
    ]
    for text, _ in texts:
        _take_sources(reading, text)
    # Pages come second, so that a page finds its number also where it was read before it was searched.
    for text, url in texts:
        _take_pages(reading, text, url)
    return reading


def _begins_a_turn(messages: Sequence[BaseMessage], at: int) -> bool:
    """Whether a person speaks here; what follows a tool or another message of theirs is the house telling the model something."""
    if not isinstance(messages[at], HumanMessage):
        return False
    before = messages[at - 1] if at else None
    return not (isinstance(before, ToolMessage | HumanMessage) or (isinstance(before, AIMessage) and before.tool_calls))


def _question(text: str) -> str:
    """What the person asked: the last paragraph outside the text from the web."""
    outside = _BLOCK.sub("\n\n", text)
    before, *labelled = re.split(r"(?m)^(?:问题|Question)[ \t]*[:：][ \t]*", outside, maxsplit=1)
    if labelled and before.strip():
        return labelled[0].strip()
    if "<<<web" not in text:
        return outside.strip()
    paragraphs = [paragraph.strip() for paragraph in re.split(r"\n\s*\n", outside) if paragraph.strip()]
    return paragraphs[-1] if paragraphs else ""


def _take_calls(reading: PromptContents, turn: Sequence[BaseMessage]) -> dict[str, str]:
    """Note what was searched and read; the addresses of pages by the id of their call."""
    pages: dict[str, str] = {}
    for message in turn:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            if call["name"] == "web_search":
                reading.queries.append(str(call["args"].get("query", "")))
            elif call["name"] == "web_fetch":
                url = str(call["args"].get("url", ""))
                reading.asked_pages.append(url)
                pages[call["id"] or ""] = url
    return pages


def _take_sources(reading: PromptContents, text: str) -> None:
    if failed := _FAILED.match(text):
        reading.failures.append(_NOT_FOR_US.sub("", failed[0]).strip())
        return
    for block in _BLOCK.finditer(text):
        if _page_address(text, block):
            continue
        for number, title, url, snippet in _ENTRY.findall(block[2]):
            title = re.sub(r"\s*\([^()]*\)$", "", title)
            known = reading.sources.get(int(number))
            if known is None:
                reading.sources[int(number)] = FoundSource(int(number), title, url, snippet)
            elif snippet not in known.snippet:
                known.snippet = f"{known.snippet}\n{snippet}".strip()


def _take_pages(reading: PromptContents, text: str, asked: str) -> None:
    numbers = {page_key(source.url): number for number, source in reading.sources.items()}
    for block in _BLOCK.finditer(text):
        address = _page_address(text, block)
        if not address:
            continue
        number = numbers.get(page_key(asked)) or numbers.get(page_key(address))
        if number is None:
            reading.loose.append(block[2])
        else:
            source = reading.sources[number]
            source.page = f"{source.page}\n{block[2]}".strip()


def _page_address(text: str, block: re.Match[str]) -> str:
    """The address on a line of its own right above the block: so a page's text is told from a list of results."""
    for line in _lines_above(text[: block.start()]):
        if _URL.fullmatch(line):
            return line
    return ""


def _lines_above(text: str) -> Iterator[str]:
    for line in reversed(text.rstrip("\n").splitlines()[-5:]):
        if not line.strip():
            return
        yield line.strip()


def addresses(text: str) -> list[str]:
    """The addresses that a person wrote."""
    return _URL.findall(text)
