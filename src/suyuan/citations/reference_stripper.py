"""Removes the list of sources that a model writes at the end of its answer; the product adds its own list."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import accumulate, chain

from .code_lines import CodeLines
from .registry import Source

_LABELS = (
    "sources", "source", "references", "reference", "citations", "bibliography", "works cited", "source list",
    "reference list", "参考文献", "参考资料", "参考来源", "参考链接", "参考", "来源", "引用", "引用来源", "资料来源",
    "信息来源", "数据来源", "来源列表",
)  # fmt: skip
_LABEL_STARTS = frozenset(("", *chain.from_iterable(accumulate(label) for label in _LABELS)))
"""What may still become a label."""
# Characters before the label: of a heading, bold type, an image or a quotation.
_LEAD = re.compile(r"[\W_]*")
_MAX_LEAD = 16
_TRAIL = re.compile(r"[ \t]*+(?:[:：][ \t]*+)?+(?:\*\*|__|\*)?+[ \t]*+(?:[:：][ \t]*+)?+#*+[ \t]*+")
_RULE = re.compile(r"[ ]{0,3}(?:-[ \t]*){3,}|[ ]{0,3}(?:\*[ \t]*){3,}|[ ]{0,3}(?:_[ \t]*){3,}")
_MAY_BE_RULE = re.compile(r"[ ]{0,3}(?:[- \t]*|[* \t]*|[_ \t]*)")
_BULLET = re.compile(r"[ \t>]*(?:[-*+•·][ \t]+|\d{1,3}[.)、．][ \t]*)")
_MAY_BE_BULLET = re.compile(r"[ \t>]*(?:[-*+•·][ \t]*|\d{0,3}[.)、．]?[ \t]*)")
_NUMBERED = re.compile(r"[ \t>*_]*[\[【［]{1,2}(?:\^|来源|source)?[ ]?(\d{1,4})[^\]】］\n]{0,60}[\]】］]{1,2}", re.I)
_MAY_BE_NUMBERED = re.compile(r"[ \t>*_]*(?:[\[【［].*)?")
_LINKED = re.compile(r"[ \t>*_]*(?:https?://|<https?://|www\.|\[[^\]\n]{0,300}\]\(https?://)", re.I)
_MAY_BE_LINKED = re.compile(r"[ \t>*_]*(?:<?h?t?t?p?s?:?/?/?|w{0,3}\.?)", re.I)
_MARKER_LINK = re.compile(r"\[\[(\d{1,4})\]\]\([^()\s]*\)")
_URL = re.compile(r"https?://|\bwww\.", re.I)
_DEFINITION = re.compile(r"[ ]{0,3}\[(\^?)(\d{1,4})\]:[ \t]*(<?https?://)?", re.I)
_MAY_BE_DEFINITION = re.compile(r"[ ]{0,3}(?:\[(?:\^?(?:\d{1,4}(?:\](?::[ \t]*(?:<?h?t?t?p?s?:?/?/?))?)?)?)?)?", re.I)
_MAX_ITEM = 1000
_MAX_WITHOUT_URL = 240
_MAX_HEADING = 60
_MIN_TITLE = 4
_LINE_PART = re.compile(r"[^\n]*\n|[^\n]+")
_NOT_A_LETTER = re.compile(r"[\W_]+")


class ReferenceStripper:
    """Passes a streamed text on without the list of sources at its end; the chunks make no difference.

    Lines that may belong to such a list are held back until a line follows that does not, or the text ends.
    """

    def __init__(self, sources: Callable[[], Mapping[int, Source]]) -> None:
        self._sources = sources
        self._code_lines = CodeLines()
        self._gap: list[str] = []
        """Blank lines and rules, which are removed with the list if one follows."""
        self._held: list[str] = []
        """The lines of a possible list."""
        self._items = 0
        self._line = ""
        self._passing = False
        """Whether the rest of the current line is passed on: it does not belong to a list."""
        self._started = False
        """Whether any text was passed on."""
        self._out: list[str] = []

    def feed(self, chunk: str) -> str:
        """Take more text; return the part that is certain."""
        for part in _LINE_PART.findall(chunk):
            self._feed_part(part)
        return self._take_output()

    def close(self) -> str:
        """Return the rest; the text is complete."""
        if self._line:
            self._end_line()
        # An answer that consists of nothing but a list is kept.
        if self._items and self._started:
            self._gap, self._held = [], []
        self._release()
        return self._take_output()

    def _feed_part(self, part: str) -> None:
        """Take a part of a line, with its line break or without."""
        ended = part.endswith("\n")
        if self._passing:
            self._pass_on(part)
            self._passing = not ended
            return
        self._line += part
        if ended:
            self._end_line()
        elif not self._may_belong(self._line):
            self._passing = True
            self._code_lines.classify(self._line)
            self._reject()

    def _end_line(self) -> None:
        """Classify the line, which is complete."""
        line = self._line.rstrip("\r\n")
        code = self._code_lines.classify(line)
        if len(line) > _MAX_ITEM:
            self._reject()
        elif not line.strip() or _RULE.fullmatch(line):
            lines = self._held or self._gap
            lines.append(self._take_line())
        elif code:
            self._reject()
        elif _is_heading(line):
            self._held.append(self._take_line())
        elif self._defines_source(line) or (self._held and self._is_item(line)):
            self._items += 1
            self._hold_item()
        else:
            self._reject()

    def _hold_item(self) -> None:
        """Hold the line back: it names a source."""
        line = self._take_line()
        if self._defines_link(line):
            # It is invisible, and would turn our markers into links to the model's address.
            line = ""
        self._held.append(line)

    def _reject(self) -> None:
        """Pass on the line and those held back: they do not belong to a list."""
        self._release()
        self._pass_on(self._take_line())

    def _pass_on(self, part: str) -> None:
        """Pass on a part of a line; its line break is held back, since it is removed if a list follows."""
        body = part.rstrip("\r\n")
        if body:
            self._out += [*self._gap, body]
            self._gap = []
            self._started = True
        if len(body) < len(part):
            self._gap.append(part[len(body) :])

    def _release(self) -> None:
        self._out += self._gap
        self._out += self._held
        self._gap, self._held, self._items = [], [], 0

    def _take_line(self) -> str:
        line, self._line = self._line, ""
        return line

    def _take_output(self) -> str:
        out, self._out = self._out, []
        return "".join(out)

    def _may_belong(self, line: str) -> bool:
        """Whether this beginning of a line may become a part of a list, or of the gap before one."""
        if len(line) > _MAX_ITEM + 2:
            return False
        if not self._code_lines.is_decided(line) or _MAY_BE_RULE.fullmatch(line):
            return True
        if _may_be_heading(line) or _MAY_BE_DEFINITION.fullmatch(line):
            return True
        if definition := _DEFINITION.match(line):
            return int(definition[2]) in self._sources()
        return bool(self._held) and self._may_be_item(line)

    def _defines_source(self, line: str) -> bool:
        """Whether ``line`` is a footnote or link definition for one of the sources."""
        if not self._started:
            return False
        definition = _DEFINITION.match(line)
        if definition is None or int(definition[2]) not in self._sources():
            return False
        return bool(definition[1] or definition[3])

    def _defines_link(self, line: str) -> bool:
        """Whether ``line`` is a link definition for one of the sources."""
        found = _DEFINITION.match(line)
        return bool(found and not found[1] and self._defines_source(line))

    def _is_item(self, line: str) -> bool:
        """Whether ``line`` names a source."""
        # A linked marker counts as a marker, not as an address: otherwise linking could turn a line into an item.
        line = _MARKER_LINK.sub(r"[[\1]]", line)
        if _LINKED.match(line):
            return True
        has_url = _URL.search(line) is not None
        is_short = len(line) <= _MAX_WITHOUT_URL
        if self._begins_with_number(line) and (is_short or has_url):
            return True
        bullet = _BULLET.match(line)
        if bullet is None:
            return self._has_title(line)
        if has_url or self._begins_with_number(line, bullet.end()):
            return True
        return self._has_title(line, anywhere=True)

    def _begins_with_number(self, line: str, at: int = 0) -> bool:
        """Whether the number of a source in brackets stands at ``at``."""
        numbered = _NUMBERED.match(line, at)
        return numbered is not None and int(numbered[1]) in self._sources()

    def _may_be_item(self, line: str) -> bool:
        if _BULLET.match(line) or _NUMBERED.match(line) or _LINKED.match(line):
            return True
        beginnings = (_MAY_BE_BULLET, _MAY_BE_NUMBERED, _MAY_BE_LINKED)
        return any(beginning.fullmatch(line) for beginning in beginnings) or self._has_title(line, partly=True)

    def _has_title(self, line: str, *, anywhere: bool = False, partly: bool = False) -> bool:
        """Whether ``line`` begins with the title of a source.

        ``anywhere``: or contains the title or the domain; ``partly``: or is the beginning of the title.
        """
        letters = _letters(line)
        for source in self._sources().values():
            title = _title_letters(source.title)
            if partly and title.startswith(letters):
                return True
            if anywhere and source.domain and source.domain in line:
                return True
            if len(title) < _MIN_TITLE:
                continue
            rest = len(letters) - len(title)
            if letters.startswith(title) and rest <= _MAX_WITHOUT_URL:
                return True
            if anywhere and title in letters:
                return True
        return False


def _is_heading(line: str) -> bool:
    """Whether ``line`` is the heading of a list of sources."""
    rest = _without_lead(line.strip())
    return rest is not None and any(rest.startswith(label) and _TRAIL.fullmatch(rest, len(label)) for label in _LABELS)


def _may_be_heading(line: str) -> bool:
    """Whether ``line`` may still become such a heading."""
    rest = _without_lead(line.lstrip())
    if rest is None:
        return False
    if rest in _LABEL_STARTS:
        return True
    return any(rest.startswith(label) and not rest[len(label) :].strip(" \t\r:：*_#") for label in _LABELS)


def _without_lead(line: str) -> str | None:
    """The line in lower case without the characters before a label; None if it is too long for a heading."""
    text = line.lower()
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    if len(text) > _MAX_HEADING or start > _MAX_LEAD:
        return None
    return text[start:]


def _letters(text: str) -> str:
    return _NOT_A_LETTER.sub("", text.lower())


@lru_cache(512)
def _title_letters(title: str) -> str:
    """The letters of a title, with which many lines are compared."""
    return _letters(title)
