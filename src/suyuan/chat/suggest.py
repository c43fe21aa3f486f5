"""Questions to ask next: what the sources of an answer answer as well, and nobody has asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..citations.registry import Source
from ..embedded.answer_type import answer_type
from ..messages.catalog import text
from ..text.keywords import content_stems
from ..text.language import script_language
from ..text.scripts import HAN
from ..text.sentences import split_sentences
from ..text.words import stems, words

# The name of the site after the title.
_SITE = re.compile(r"(?<!\s)\s*+(?<![-_|–—·»])[-_|–—·»]++[^-_|–—·»]{1,30}$")
_MOST = 3
_LONGEST = 60
_SAME = 0.6
# What is clicked is the user's word: no page may put an address into it.
_ADDRESS = re.compile(r"//|www\.|[^\s.]\.[^\W\d_]{2,}[/:?]\S|@", re.I)
_LONGEST_TEXT = 20_000
# A page may consist of questions; after this many different ones the rest is not looked at.
_MOST_JUDGED = 200
_HEADING = re.compile(r"^\s*+(?:#{1,6}|\*\*)\s*+")
_NAME = r"(?P<name>(?:[Tt]he )?[A-Z][\w'’.-]{0,40}+(?: (?:(?:of|the|de|and) )?[A-Z\d][\w'’.-]{0,40}+){0,5})"
_DONE = (
    r"(?:was|were) (?:first )?(?P<done>built|designed|founded|invented|created|opened|completed|released|written"
    r"|directed|acquired|discovered|named|launched|published)"
)
_HAN_NAME = rf"^(?P<name>《[^》]{{1,20}}》|[{HAN}A-Za-z0-9·]{{2,12}}?)"
# What a sentence says, and the question that it answers.
_FORMS = {
    "en": {
        rf"{_NAME} {_DONE} (?:in|on) (?:\w+ )?(?:\w+ )?\d{{4}}": "When was {name} {done}?",
        rf"{_NAME} {_DONE} by [A-Z]": "Who was {name} {done} by?",
        rf"{_NAME} (?:is|lies|stands) (?:located |situated )?(?:in|on|near) (?:the )?[A-Z]": "Where is {name}?",
        rf"{_NAME} (?:is|measures) [\d.,]+ (?:metres|meters|km|miles|feet) (?P<done>long|tall|high|wide|deep)":
            "How {done} is {name}?",
        rf"{_NAME} has (?:a population of |about |some )?[\d.,]+ (?:\w+ )?(?:people|inhabitants|residents)":
            "How many people live in {name}?",
        rf"{_NAME} (?:is|was) (?:an?|the) (?!few|lot)[a-z]": "What is {name}?",
    },
    "zh": {
        rf"{_HAN_NAME}(?:已经?)?(?:于|在)\d{{4}}年[^，。]{{0,12}}"
        "(?P<done>建成|通车|成立|发布|上映|开通|启用|创立|创办|出版|竣工|开业)": "{name}是什么时候{done}的？",
        rf"{_HAN_NAME}由[{HAN}A-Za-z·]{{2,12}}?(?P<done>设计|创立|创办|执导|发明|建造|开发|编写|主演)":
            "{name}是谁{done}的？",
        rf"{_HAN_NAME}(?:位于|坐落于|地处)": "{name}在哪里？",
        rf"{_HAN_NAME}的?(?P<done>全长|总长|人口|面积|高度|造价|票房)(?:约|达|为|是|有|超过)*[\d一二三四五六七八九十百千万亿]":
            "{name}的{done}是多少？",
        rf"{_HAN_NAME}(?:因|由于)[^，。]{{2,30}}(?:而|被)(?P<done>停用|关闭|闻名|得名|取消|推迟)":
            "{name}为什么{done}？",
    },
}  # fmt: skip
_PATTERNS = {lang: [(re.compile(said), question) for said, question in forms.items()] for lang, forms in _FORMS.items()}
_PRONOUN = re.compile(
    r"^(?:the )?(?:it|this|that|these|those|he|she|they|there|its|in|on|at|what|who|his|her)\b|^[其该它他她此这那]",
    re.I,
)


def suggestions(
    question: str, sources: Sequence[Source], cited: Sequence[int], lang: str, pages: Mapping[int, str] | None = None
) -> tuple[str, ...]:
    """Up to three whole questions that the sources answer and ``question`` does not ask, uncited sources first."""
    ordered = sorted(sources, key=lambda each: (each.number in cited, each.number))
    known = [_Question(question)]
    seen: set[str] = set()
    for asked in _questions(question, ordered, lang, pages or {}):
        if asked in seen or _ADDRESS.search(asked):
            continue
        seen.add(asked)
        candidate = _Question(asked)
        if not any(map(candidate.asks_the_same, known)):
            known.append(candidate)
        if len(known) > _MOST or len(seen) == _MOST_JUDGED:
            break
    return tuple(each.text for each in known[1:]) or tuple(_titles(question, ordered, lang))


def _questions(question: str, sources: Sequence[Source], lang: str, pages: Mapping[int, str]) -> Iterator[str]:
    """The questions that titles and headings ask, then those that single sentences about the subject answer."""
    asked = set(content_stems(question))
    texts = [f"{source.snippet}\n{pages.get(source.number, '')}"[:_LONGEST_TEXT] for source in sources]
    for source, told in zip(sources, texts, strict=True):
        for line in (_short(source.title), *dict.fromkeys(told.splitlines())):
            bare = _HEADING.sub("", line).strip(" *#")
            if (
                bare.endswith(("?", "？"))
                and len(bare) <= _LONGEST
                and (script_language(bare) == "zh") == (lang == "zh")
            ):
                yield bare
    for told in texts:
        for sentence in dict.fromkeys(split_sentences(told)):
            for said, form in _PATTERNS["zh" if lang == "zh" else "en"]:
                match = said.match(sentence)
                if match and not _PRONOUN.match(match["name"]) and asked.intersection(content_stems(match["name"])):
                    # The article began the sentence; in the question it does not.
                    yield form.format(**match.groupdict()).replace(" The ", " the ", 1)


class _Question:
    """A question with what is compared of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stems = set(content_stems(text))
        self._kinds = answer_type(text).kinds

    def asks_the_same(self, other: _Question) -> bool:
        """Whether both ask for the same kind of thing in the same words."""
        shared = len(self._stems & other._stems)
        return self._kinds == other._kinds and shared > _SAME * min(len(self._stems), len(other._stems))


def _titles(question: str, sources: Sequence[Source], lang: str) -> list[str]:
    """Where no sentence answers another question: what else the sources are about."""
    asked, subject = set(words(question)), set(content_stems(question))
    found: list[str] = []
    seen: list[set[str]] = []
    for source in sources:
        title = _short(source.title)
        told = set(words(title))
        if (
            (source.snippet and not subject.intersection(stems(f"{title} {source.snippet}")))
            or len(told - asked) < 2
            or len(title) > _LONGEST
            or _ADDRESS.search(title)
            or any(len(told & other) * 2 > min(len(told), len(other)) for other in seen)
        ):
            continue
        seen.append(told)
        found.append(text(lang, "chat.suggestion", title=title))
    return found[:_MOST]


def _short(title: str) -> str:
    title = " ".join(title.split())
    short = _SITE.sub("", title)
    return short if len(short) >= 8 else title
