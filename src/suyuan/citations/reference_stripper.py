"""The list of sources that a model writes itself, at the end of its answer: ours stands there, so this one is taken out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from .code_spans import CodeLines
from .registry import Source

_LABELS = (
    "sources", "source", "references", "reference", "citations", "bibliography", "works cited", "source list", "reference list",
    "参考文献", "参考资料", "参考来源", "参考链接", "参考", "来源", "引用", "引用来源", "资料来源", "信息来源", "数据来源", "来源列表",
)  # fmt: skip
_LABEL_PARTS = frozenset(label[:n] for label in _LABELS for n in range(len(label) + 1))
# Signs around the label: of a heading, bold type, a picture, a quotation.
_LEAD = re.compile(r"[\W_]*")
_MAX_LEAD = 16
_TRAIL = re.compile(r"[ \t]*(?:[:：][ \t]*)?(?:\*\*|__|\*)?[ \t]*(?:[:：][ \t]*)?#*[ \t]*")
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
_MAX_BARE = 240
_MAX_HEADING = 60
_NOISE = re.compile(r"[\W_]+")


class ReferenceStripper:
    """Passes on a text that comes in chunks, without the list of sources at its end; how it was chunked makes no difference.

    Lines that may belong to such a list are held until one comes that does not, or the text ends.
    """

    def __init__(self, sources: Callable[[], Mapping[int, Source]]) -> None:
        self._sources = sources
        self._lines = CodeLines()
        self._gap: list[str] = []
        """Blank lines and rules: they go with the list, if one follows."""
        self._held: list[str] = []
        self._items = 0
        self._line = ""
        self._passing = False
        """Inside a line that is no part of a list."""
        self._spoken = False
        self._out: list[str] = []

    def feed(self, chunk: str) -> str:
        """Take more text; return what is decided by now."""
        start = 0
        while (end := chunk.find("\n", start) + 1) > 0:
            self._more(chunk[start:end])
            start = end
        if start < len(chunk):
            self._more(chunk[start:])
        out, self._out = self._out, []
        return "".join(out)

    def close(self) -> str:
        """Return the rest: the text is complete."""
        if self._line:
            self._whole_line()
        # An answer that is nothing but a list is an answer.
        if self._items and self._spoken:
            self._gap, self._held = [], []
        self._release()
        out, self._out = self._out, []
        return "".join(out)

    def _more(self, part: str) -> None:
        """Take a part of a line, with its end or without."""
        if self._passing:
            self._say(part)
            self._passing = not part.endswith("\n")
            return
        self._line += part
        if part.endswith("\n"):
            self._whole_line()
        elif not self._may_belong(self._line):
            self._pass_on()
            self._passing = True

    def _whole_line(self) -> None:
        line = self._line.rstrip("\r\n")
        if len(line) > _MAX_ITEM:
            self._pass_on()
        elif not line.strip() or _RULE.fullmatch(line):
            self._neutral()
        elif self._code(line):
            self._pass_on(entered=True)
        elif _opens(line):
            self._held.append(self._take())
        elif self._defines(line) or (self._held and self._item(line)):
            self._items += 1
            self._held.append(self._take())
        else:
            self._pass_on(entered=True)

    def _neutral(self) -> None:
        self._code(self._line)
        (self._held if self._held else self._gap).append(self._take())

    def _pass_on(self, *, entered: bool = False) -> None:
        """This line is no part of a list, and so neither are those that were held."""
        if not entered:
            self._code(self._line)
        self._release()
        self._say(self._take())

    def _say(self, part: str) -> None:
        """Pass on a part of a line; its end is held, to go with the list if that is what follows."""
        body = part.rstrip("\r\n")
        if body:
            self._out += [*self._gap, body]
            self._gap = []
            self._spoken = True
        if len(body) < len(part):
            self._gap.append(part[len(body) :])

    def _release(self) -> None:
        self._out += self._gap
        # A link definition shows nothing; left in, it would turn our markers into links to the model's address.
        self._out += [line for line in self._held if not self._link_definition(line)]
        self._gap, self._held, self._items = [], [], 0

    def _take(self) -> str:
        line, self._line = self._line, ""
        return line

    def _code(self, line: str) -> bool:
        return self._lines.enter(line)

    def _may_belong(self, line: str) -> bool:
        """Whether this beginning of a line may turn out to be a part of a list, or of the gap before one."""
        if len(line) > _MAX_ITEM + 2:
            return False
        if not self._lines.decided(line) or _MAY_BE_RULE.fullmatch(line):
            return True
        if _may_open(line) or _MAY_BE_DEFINITION.fullmatch(line):
            return True
        if definition := _DEFINITION.match(line):
            return int(definition[2]) in self._sources()
        return bool(self._held) and self._may_be_item(line)

    def _defines(self, line: str) -> bool:
        """Whether ``line`` is a footnote or link definition for one of the sources."""
        found = _DEFINITION.match(line) if len(line) <= _MAX_ITEM else None
        return bool(self._spoken and found and (found[1] or found[3]) and int(found[2]) in self._sources())

    def _link_definition(self, line: str) -> bool:
        found = _DEFINITION.match(line)
        return bool(self._spoken and found and not found[1] and found[3] and int(found[2]) in self._sources())

    def _item(self, line: str) -> bool:
        """Whether ``line`` names a source."""
        # A linked marker counts as a marker, not as an address: linking must not make an item of a line that was none.
        line = _MARKER_LINK.sub(r"[[\1]]", line)
        sources = self._sources()
        numbered = _NUMBERED.match(line)
        if numbered and int(numbered[1]) in sources and (len(line) <= _MAX_BARE or _URL.search(line)):
            return True
        if _LINKED.match(line):
            return True
        bullet = _BULLET.match(line)
        if bullet and (
            _URL.search(line) or ((inner := _NUMBERED.match(line, bullet.end())) and int(inner[1]) in sources)
        ):
            return True
        return self._titled(line, anywhere=bullet is not None)

    def _may_be_item(self, line: str) -> bool:
        if _BULLET.match(line) or _NUMBERED.match(line) or _LINKED.match(line):
            return True
        may_be = (_MAY_BE_BULLET, _MAY_BE_NUMBERED, _MAY_BE_LINKED)
        return any(form.fullmatch(line) for form in may_be) or self._titled(line, partly=True)

    def _titled(self, line: str, *, anywhere: bool = False, partly: bool = False) -> bool:
        """Whether ``line`` begins with the title of a source; ``anywhere``: holds it, or the domain; ``partly``: may come to do so."""
        plain = _plain(line)
        for source in self._sources().values():
            title = _plain(source.title)
            if len(title) > 3 and plain.startswith(title) and len(plain) <= len(title) + _MAX_BARE:
                return True
            if partly and title.startswith(plain):
                return True
            if anywhere and ((len(title) > 3 and title in plain) or (source.domain and source.domain in line)):
                return True
        return False


def _opens(line: str) -> bool:
    """Whether ``line`` is a heading of a list of sources."""
    rest = _behind_lead(line.strip())
    return rest is not None and any(rest.startswith(label) and _TRAIL.fullmatch(rest, len(label)) for label in _LABELS)


def _may_open(line: str) -> bool:
    """Whether ``line`` may still become such a heading."""
    rest = _behind_lead(line.lstrip())
    if rest is None or rest in _LABEL_PARTS:
        return rest is not None
    return any(rest.startswith(label) and not rest[len(label) :].strip(" \t\r:：*_#") for label in _LABELS)


def _behind_lead(line: str) -> str | None:
    """What stands behind the signs of a heading, lower-case; None where the line is too long for one."""
    text = line.lower()
    lead = _LEAD.match(text)
    rest = text[lead.end() :] if lead else text
    return rest if len(text) <= _MAX_HEADING and len(text) - len(rest) <= _MAX_LEAD else None


def _plain(text: str) -> str:
    return _NOISE.sub("", text.lower())
