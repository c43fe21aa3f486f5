"""``OwnWords``: the words that a user has written, and a query that consists of nothing else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from datetime import date

from ..text.keywords import STOP_WORDS
from ..text.scripts import CJK
from ..text.unicode_forms import in_form
from ..text.words import stem_word

# Words that steer a search and say nothing about what is searched for. The list is closed, and a query may have few of
# them: with words that it can choose freely a model could write.
_STEERING_WORDS = """latest newest current recent new today now news official site website page homepage documentation
docs release version notes review reviews compare comparison vs versus guide tutorial example examples overview
definition explained history wikipedia github best what when where who why how which"""
_STEERING = frozenset(_STEERING_WORDS.split())
_STEERING_CJK = (
    "最新", "目前", "现在", "今天", "新闻", "消息", "官方", "官网", "网站", "公告", "文档", "发布", "版本", "评测",
    "比较", "对比", "区别", "教程", "示例", "介绍", "定义", "历史", "百科", "是什么", "为什么", "怎么", "如何", "多少",
)  # fmt: skip
_JOINING_CJK = frozenset("的了是在和与及或吗呢年月日")
_MOST_STEERING = 3
_MOST_WORDS = 12
"""The words of a query that is no message of the user: ordinary ones have fewer."""
# A single letter or digit would spell other words: it counts only where it stands beside the same word as in a message.
_SINGLE = 1
_LONGEST_CJK = 60
# A message that is longer may be searched by its beginning.
_BEGINNING = 100
_LONGEST_NAME = 100
_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_IS_CJK = re.compile(f"[{CJK}]")
_AROUND = ".,;:!?…\"'“”‘’()[]{}<>«»。，；：！？、（）《》【】「」"


def normal(text: str) -> str:
    """``text`` as it is compared: one form for each character, no case, nothing invisible."""
    plain = in_form("NFKC", text).casefold()
    return "".join(char for char in plain if unicodedata.category(char) != "Cf")


def runs(text: str) -> list[str]:
    """The runs of letters and digits in ``text``, Chinese, Japanese and Korean ones apart; whatever joins them."""
    return _RUN.findall(normal(text))


class OwnWords:
    """What a user has written, in all messages of a conversation."""

    def __init__(self, today: Callable[[], date] = date.today) -> None:
        self._today = today
        self._messages: list[str] = []
        self._names: dict[str, str] = {}
        """What has signs of its own, as it is written: C++, node.js, 3.14."""
        self._runs: set[str] = set()
        self._joined: dict[str, tuple[str, str]] = {}
        """Two words beside each other, by what they are as one: it is sent as the user has written it."""
        self._stems: dict[str, str] = {}
        """The word that the user has written, by its stem."""
        self._neighbours: set[tuple[str, str]] = set()
        self._cjk = ""

    def add(self, text: str) -> None:
        """Take a message of the user."""
        self._messages.append(_line(text))
        written = runs(text)
        neighbours = list(zip(written, written[1:], strict=False))
        self._neighbours.update(_touching(*pair) for pair in neighbours)
        self._runs.update(written)
        self._joined.update({"".join(pair): pair for pair in neighbours})
        for word in written:
            self._stems.setdefault(stem_word(word), word)
        self._cjk += "\n".join(["", *filter(_IS_CJK.match, written)])
        for chunk in text.split():
            name = chunk.strip(_AROUND)
            if _SINGLE < len(name) <= _LONGEST_NAME and runs(name) != [normal(name)]:
                self._names.setdefault(normal(name), name)

    def only(self, text: str) -> str | None:
        """``text`` made anew of the user's words; None where it has others, or more than a search needs.

        Nothing but these words is kept, in their order and each of them once: case, signs, blanks and repetitions could
        carry something. A message of the user, or its beginning, stays as it is.
        """
        line = _line(text)
        if any(_begins(message, line) for message in self._messages):
            return line
        kept = self._kept(line)
        if kept is None or len(kept) > _MOST_WORDS or sum(map(_steers, kept)) > _MOST_STEERING:
            return None
        return " ".join(kept) or None

    def _kept(self, line: str) -> list[str] | None:
        """The words of ``line`` that are sent, each once; None where one of them is not the user's."""
        words = list(self._words(line))
        kept: list[str] = []
        for at, word in enumerate(words):
            before, after = words[at - 1 : at], words[at + 1 : at + 2]
            pieces = self._pieces(word) if _IS_CJK.match(word) else self._own(word, before, after)
            if pieces is None:
                return None
            kept += pieces
        return list(dict.fromkeys(kept))

    def _words(self, line: str) -> Iterator[str]:
        for chunk in line.split():
            name = self._names.get(normal(chunk.strip(_AROUND)))
            yield from [name] if name is not None else runs(chunk)

    def _own(self, word: str, before: Iterable[str], after: Iterable[str]) -> list[str] | None:
        """A word as it is sent; nothing for a function word, None for a word that is not the user's."""
        if word in STOP_WORDS:
            return []
        if normal(word) in self._names or _steers(word) or self._is_near_year(word):
            return [word]
        if len(word) == _SINGLE:
            pairs = [_touching(each, word) for each in before] + [_touching(word, each) for each in after]
            return None if self._neighbours.isdisjoint(pairs) else [word]
        # Another ending is a choice too: what is sent has the user's.
        own = word if word in self._runs else self._stems.get(stem_word(word))
        return [own] if own else list(self._joined.get(word, ())) or None

    def _pieces(self, run: str) -> list[str] | None:
        """A run without blanks as pieces of the messages and words that steer a search; None where it has others."""
        if len(run) > _LONGEST_CJK:
            return None
        # From the end, so that a long piece does not take what a later one needs.
        found: list[list[str] | None] = [*([None] * len(run)), []]
        for at in reversed(range(len(run))):
            found[at] = next(
                ([*piece, *rest] for end, piece in self._pieces_at(run, at) if (rest := found[end]) is not None), None
            )
        return found[0]

    def _pieces_at(self, run: str, at: int) -> Iterator[tuple[int, list[str]]]:
        """The pieces that may begin at a place, the longest first, each with where it ends."""
        for end in range(len(run), at, -1):
            piece = run[at:end]
            if piece in _JOINING_CJK:
                yield end, []
            elif piece in self._cjk or piece in _STEERING_CJK:
                yield end, [piece]

    def _is_near_year(self, word: str) -> bool:
        """Whether ``word`` is the year of today or one beside it, which everybody knows."""
        year = self._today().year
        return word in (str(year - 1), str(year), str(year + 1))


def _touching(before: str, after: str) -> tuple[str, str]:
    """Two neighbours as they are compared: of what is written without blanks, only the character that touches."""
    left = before[-1:] if _IS_CJK.match(before) else normal(before)
    right = after[:1] if _IS_CJK.match(after) else normal(after)
    return left, right


def _steers(word: str) -> bool:
    return word in _STEERING or word in _STEERING_CJK


def _line(text: str) -> str:
    return " ".join(text.split())


def _begins(message: str, line: str) -> bool:
    """Whether a message is ``line``, or is long and begins with it; a few letters of it would be a choice."""
    return message == line or (len(line) >= _BEGINNING and message.startswith(line))
