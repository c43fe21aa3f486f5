"""Which sentences of the sources answer a question: chosen by words, by what is asked for, and without repetition."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..text.language import script_language
from ..text.sentences import sentence_ends
from .answer_type import AnswerType, content, terms, wanted
from .question_splitter import parts_of

# Sentences shorter or longer than this are no answers; a page's table or menu is one long "sentence".
_SHORTEST, _LONGEST = 6, 320
# How much of the question's words the best sentence must hold, those of its title and neighbour counted half.
_FITS = 0.3
# A further sentence must come this near to the best one, and nearer where the best seems to be the whole answer.
_NEAR, _NEARER = 0.3, 0.4
_WHOLE = 0.7
# Sentences for a question of one part; each of several parts gets two.
_EACH = 3
# So much of the shorter sentence's words in common, and both say the same.
_SAME = 0.62
_K1, _B = 1.0, 0.4
_NEARBY, _FAR = 0.4, 0.6
_AGREEMENT = 0.2
_CUT_OFF = 0.8


@dataclass(frozen=True, slots=True)
class Evidence:
    """A source under its number, with all of its text that is known."""

    number: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence out of the sources, and the numbers of those that say it."""

    text: str
    numbers: tuple[int, ...]
    score: float


@dataclass(slots=True)
class _Line:
    """A sentence that may be quoted."""

    text: str
    number: int
    title: str
    before: _Line | None
    terms: Counter[str]
    around: frozenset[str]
    """Words that stand near: in the title and in the sentence before."""
    whole: frozenset[str]
    """Words of the whole source."""
    place: int
    cut_off: bool
    """Whether the source breaks off in it, as snippets do."""
    scores: list[float] = field(default_factory=list)
    fits: list[float] = field(default_factory=list)
    answers: list[bool] = field(default_factory=list)


def pick_quotes(question: str, evidence: Sequence[Evidence], most: int = 4) -> tuple[Quote, ...]:
    """The few sentences that answer ``question`` best, the best first; nothing where no sentence fits."""
    lines = [line for source in evidence for line in _lines(source)]
    readable = [line for line in lines if (script_language(line.text) == "zh") == (script_language(question) == "zh")]
    # Who asks in Chinese would rather read Chinese; sentences in another language are for when there are no others.
    return _quotes(question, readable, most) or (_quotes(question, lines, most) if len(readable) < len(lines) else ())


def _quotes(question: str, lines: list[_Line], most: int) -> tuple[Quote, ...]:
    parts = parts_of(question)
    if not lines or not parts:
        return ()
    for line in lines:
        line.scores, line.fits, line.answers = [], [], []
    for part in parts:
        _score(part, wanted(part), lines)
        _agree(part, lines)
    picks = _chosen(lines, parts, most)
    if _HOW.search(question):
        picks = _in_order(picks)
    return tuple(Quote(pick.text, tuple(sorted(pick.numbers)), pick.score) for pick in picks)


# What is asked for are steps, and steps have an order.
_HOW = re.compile(r"如何|怎么|怎样|步骤|\bhow (?:do|to|can|does|should)\b|\bsteps\b", re.I)


def _in_order(picks: list[_Pick]) -> list[_Pick]:
    """The picks, best first, except that those of one source keep the order in which it says them."""
    ordered = list(picks)
    for number in {pick.line.number for pick in picks}:
        places = [at for at, pick in enumerate(picks) if pick.line.number == number]
        told = sorted((picks[at] for at in places), key=lambda pick: pick.line.place)
        for at, pick in zip(places, told, strict=True):
            ordered[at] = pick
    return ordered


def coverage(question: str, texts: Iterable[str]) -> float:
    """The share of the question's own words that occur in ``texts``."""
    asked = content(question)
    if not asked:
        return 1.0
    there = {term for text in texts for term in terms(text)}
    return sum(weight for term, weight in asked.items() if term in there) / sum(asked.values())


def best_sources(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """``evidence`` with what fits the question best first, by title and text; equal ones stay in order."""
    asked = content(question)
    bags = [Counter(terms(f"{source.title} {source.title} {source.text}")) for source in evidence]
    weights = _weights(asked, [frozenset(bag) for bag in bags])
    size = sum(bag.total() for bag in bags) / max(1, len(bags))
    ranked = sorted(zip(evidence, bags, strict=True), key=lambda pair: -_bm25(weights, pair[1], size))
    return [source for source, _ in ranked]


# The name of the site at the end of a title.
_SITE = re.compile(r"(?:\s[-–—·]\s|\s*[_|])[^-–—·_|]{1,24}$")


# A command or a listing is no sentence.
_CODE = re.compile(r"^(```|~~~).*?(?:^\1\s*$|\Z)", re.S | re.M)


def _lines(source: Evidence) -> Iterator[_Line]:
    title = _SITE.sub("", source.title).strip()
    title_words = frozenset(terms(title))
    whole = frozenset(terms(source.text)) | title_words
    before: _Line | None = None
    place = 0
    for paragraph in re.split(r"\n+|(?<=[。！？…])\s{2,}", _CODE.sub("\n", source.text)):
        paragraph = _plain(paragraph)
        for text in _sentences(paragraph):
            if not (_SHORTEST <= len(text) <= _LONGEST) or _is_junk(text):
                before = None
                continue
            near = title_words | (frozenset(before.terms) if before else frozenset())
            cut_off = text.endswith(("…", "...")) or (text[-1].isalnum() and source.text.rstrip().endswith(text))
            before = _Line(text, source.number, title, before, Counter(terms(text)), near, whole, place, cut_off)
            place += 1
            yield before


_PAIRS = (("《", "》"), ("「", "」"), ("“", "”"), ("（", "）"), ("(", ")"))


def _sentences(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph; one does not end within a title or a quotation, and a very long one ends at a semicolon."""
    start = 0
    for end in sentence_ends(paragraph):
        text = paragraph[start:end]
        if (
            end < len(paragraph)
            and len(text) < _LONGEST
            and any(text.count(left) > text.count(right) for left, right in _PAIRS)
        ):
            continue
        start = end
        if len(text) <= _LONGEST:
            yield text.strip()
        else:
            yield from (piece.strip() for piece in re.split(r"(?<=[；;])", text))


def _score(part: str, kind: AnswerType, lines: list[_Line]) -> None:
    """Add to every line how well it answers ``part``."""
    asked = content(part)
    weights = _weights(asked, [frozenset(line.terms) for line in lines])
    total = sum(weights.values()) or 1.0
    size = sum(line.terms.total() for line in lines) / len(lines)
    for line in lines:
        own = _bm25(weights, line.terms, size)
        near = sum(weight for term, weight in weights.items() if term not in line.terms and term in line.around)
        fit = sum(
            asked[term] * (1.0 if term in line.terms else 0.5)
            for term in asked
            if term in line.terms or term in line.around
        )
        far = sum(weight for term, weight in weights.items() if term in line.whole) / total
        answers = kind.answered(line.text, part)
        line.answers.append(answers)
        line.fits.append(fit / sum(asked.values()))
        trust = kind.factor(answers) * (_CUT_OFF if line.cut_off else 1.0) / (1 + 0.01 * min(line.place, 20))
        line.scores.append((own + _NEARBY * near) * (1 - _FAR + _FAR * far) * trust)


# A figure, or a name of several words.
_FACT = re.compile(r"\d+(?:[.,]\d+)*\s*[万亿%‰]?|[A-Z][a-zà-ž]+(?: [A-Z][a-zà-ž]+)+")


def _agree(part: str, lines: list[_Line]) -> None:
    """Raise lines whose figures or names stand in several sources, and not in the question."""
    told: dict[str, set[int]] = {}
    facts = [{fact for fact in _FACT.findall(line.text) if fact not in part} for line in lines]
    for line, own in zip(lines, facts, strict=True):
        for fact in own:
            told.setdefault(fact, set()).add(line.number)
    for line, own in zip(lines, facts, strict=True):
        if own and line.answers[-1]:
            line.scores[-1] *= 1 + _AGREEMENT * min(3, max(len(told[fact]) for fact in own) - 1)


def _weights(asked: dict[str, float], bags: Sequence[frozenset[str]]) -> dict[str, float]:
    """The question's words, rare ones weighing more."""
    seen = Counter(term for bag in bags for term in bag if term in asked)
    count = len(bags)
    return {
        term: weight * math.log(1 + (count - seen[term] + 0.5) / (seen[term] + 0.5)) for term, weight in asked.items()
    }


def _bm25(weights: dict[str, float], bag: Counter[str], size: float) -> float:
    norm = _K1 * (1 - _B + _B * bag.total() / (size or 1))
    return sum(weight * (bag[term] * (_K1 + 1)) / (bag[term] + norm) for term, weight in weights.items() if term in bag)


@dataclass(slots=True)
class _Pick:
    """A line that was chosen, the sources that say it, and what goes before or after it so that it can be understood."""

    line: _Line
    numbers: list[int]
    score: float
    text: str

    def holds(self, line: _Line) -> bool:
        """Whether ``line`` is said by it, in its own words or in others."""
        return line.text in self.text or _says_the_same(line, self.line)


def _chosen(lines: list[_Line], parts: list[str], most: int) -> list[_Pick]:
    """The best line for every part of the question, then others that are nearly as good and say something else."""
    picks: list[_Pick] = []
    each = min(most, _EACH if len(parts) == 1 else 2)
    for at in range(len(parts)):
        row = sorted(lines, key=lambda line: -line.scores[at])
        best = row[0]
        if max(line.fits[at] for line in row) < _FITS:
            continue
        near = _NEARER if best.answers[at] and best.fits[at] >= _WHOLE else _NEAR
        taken = 0
        for line in row:
            if line.scores[at] < near * best.scores[at] or taken >= each or len(picks) >= most:
                break
            if best.answers[at] and not line.answers[at] and wanted(parts[at]).sure:
                # What was asked for is there: a sentence without it is one too many.
                continue
            taken += _take(line, line.scores[at], picks)
    return picks


def _take(line: _Line, score: float, picks: list[_Pick]) -> bool:
    """Add ``line`` to the picks, or to one of them; tells whether there is one more."""
    same = next((pick for pick in picks if pick.holds(line)), None)
    if same is not None:
        if line.number not in same.numbers and _supports(line, same):
            same.numbers.append(line.number)
        return False
    if line.before is not None and _DANGLING.match(line.text):
        told = next((pick for pick in picks if pick.holds(line.before)), None)
        if told is not None:
            # What it goes on from is quoted already: it is added there, or left where another source's words stand.
            if told.text.endswith(line.before.text) and told.numbers == [line.number]:
                told.text = _joined(told.text, line.text)
            return False
    picks.append(_Pick(line, [line.number], score, _understandable(line)))
    return True


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def _says_the_same(line: _Line, other: _Line) -> bool:
    mine, theirs = set(line.terms), set(other.terms)
    common = len(mine & theirs) / max(1, min(len(mine), len(theirs)))
    if common < _SAME:
        return False
    return common > 0.9 or set(_NUMBER.findall(line.text)) <= set(_NUMBER.findall(other.text))


def _supports(line: _Line, pick: _Pick) -> bool:
    """Whether ``line`` may be cited for what was picked: it has most of the words, and every figure."""
    shown = set(pick.line.terms)
    common = len(shown & set(line.terms)) / max(1, len(shown))
    return common >= _SAME and set(_NUMBER.findall(pick.text)) <= set(_NUMBER.findall(line.text))


_DANGLING = re.compile(
    r"(?:It|Its|They|Their|He|She|His|Her|This|These|That|Those|Such|The (?:former|latter)|However|But|And|Also|Then)\b"
    r"|[其该它他她此这那](?!他|它|外|次|时|后|前|种是)|两者|二者|同时|此外|另外|但|而且|因此|所以|随后|之后|目前为止"
)


def _understandable(line: _Line) -> str:
    """The line; where it begins with a word for something said before, with that before it or with its title."""
    if not _DANGLING.match(line.text):
        return line.text
    before = line.before
    if before is not None and len(before.text) + len(line.text) <= _LONGEST and not _DANGLING.match(before.text):
        return _joined(before.text, line.text)
    if line.title and line.title not in line.text:
        return f"{line.title}: {line.text}"
    return line.text


def _joined(first: str, second: str) -> str:
    return first + ("" if first[-1] in "。！？”…" else " ") + second


_MARKS = re.compile(r"[\[【［]\^?\d+(?:\s*[,，、\-–]\s*\d+)*[\]】］]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_SIGNS = re.compile(r"<[a-zA-Z/][^<>]{0,200}>|^\s*(?:#{1,6}\s+|[-*+•]\s+|>\s*|\d+[.)]\s+)|\*\*|__|`+")
# A snippet's date stamp, as engines put before it.
_STAMP = re.compile(r"^\s*(?:[A-Z][a-z]{2,8} \d{1,2}, \d{4}|\d{4}年\d{1,2}月\d{1,2}日)\s*(?:\.{3}|…|—|·|-)\s*")


def _plain(text: str) -> str:
    """The words of a line of Markdown; other people's citation marks would be taken for ours."""
    text = _MARKS.sub("", _LINK.sub(r"\1", text))
    return " ".join(_STAMP.sub("", _SIGNS.sub("", text)).split())


_JUNK = re.compile(
    r"cookie|subscribe|sign (?:in|up)|log ?in\b|all rights reserved|privacy policy|terms of (?:use|service)|click here|javascript"
    r"|newsletter|登录|注册|版权|备案|ICP|扫码|扫一扫|点击|关注公众号|微信搜索|责任编辑|责编|转载|分享到|上一篇|下一篇|相关阅读|广告|举报|客户端下载"
    r"|(?:ignore|disregard).{0,30}(?:instruction|prompt)|system prompt|忽略.{0,10}(?:指令|提示)",
    re.I,
)


def _is_junk(text: str) -> bool:
    """Menus, notices, questions, what only leads to a listing, and orders to whoever reads."""
    if text.endswith(("?", "？", ":", "：")) or text.startswith("^") or _JUNK.search(text):
        return True
    letters = sum(char.isalnum() for char in text)
    return letters < 0.6 * len(text.replace(" ", "")) or text.count("|") > 2
