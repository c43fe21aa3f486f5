"""``ResearchPlan``: the sub-questions of a research question with their searches, by rules or from an editor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..core.causes.research import BAD_RESEARCH
from ..embedded.answer_type import answer_type
from ..embedded.question_splitter import split_question
from ..text.keywords import content_words, keywords, without_request
from ..text.language import script_language
from ..text.visible import shown_line
from .request import ResearchRequest, label

MAX_SUB_QUESTIONS = 12
MAX_QUERIES = 8
_LONGEST_QUERY = 300
_MAX_CLARIFICATIONS = 3
_ASKS = re.compile(r"[?？]|\bhow\b|如何|怎么|吗|呢", re.I)
_LATIN_NAME = re.compile(r"[A-Za-z][\w.+#-]*(?:\s+[A-Z0-9][\w.+#-]*)*")
_COMPARED = re.compile(
    r"(?P<a>[\w\s.+#·《》-]{2,40}?)\s{0,8}(?:和|与|跟|同|\bvs\.?|\bversus\b|\band\b|\bor\b)\s{0,8}+(?P<b>[\w.+#·《》-]{1,60}(?:\s[A-Z][\w.+#-]{0,40}){0,8}?)"
    r"\s{0,8}+(?:有(?:什么|何|哪些)|之间|的)?(?:区别|差别|差异|不同|异同|对比|比较|哪个更?好|谁更|$|[?？])"
)
_COMPARISON = re.compile(
    r"区别|差别|差异|不同|异同|对比|比较|哪个更|谁更|\b(?:compare|comparison|difference|versus|vs)\b", re.I
)
_COMPARE_WORDS = re.compile(
    r"^(?:请?(?:比较|对比)(?:一下)?|compare|what(?:'s| is| are)? the differences? between|difference between)\s*", re.I
)
_FACETS = {
    "zh": ("{topic}是什么", "{topic} 时间 经过", "{topic} 数据 统计", "{topic} 争议 评价"),
    "en": (
        "What is {topic}?",
        "{topic} history timeline",
        "{topic} figures statistics",
        "{topic} criticism controversy",
    ),
}
_FACET_TITLES = {
    "zh": ("{topic}：是什么", "{topic}：经过与时间", "{topic}：数据", "{topic}：评价与争议"),
    "en": ("{topic}: what it is", "{topic}: history", "{topic}: figures", "{topic}: assessments and disputes"),
}


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of the question, and the searches for it."""

    question: str
    queries: tuple[str, ...]
    focus: str = ""
    """The kind of source that is wanted, where the scope leaves it open."""


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question back, where the research question is very broad; it need not be answered."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class ResearchPlan:
    """What will be searched for. The outline of the report follows the sub-questions."""

    sub_questions: tuple[SubQuestion, ...]
    clarifications: tuple[Clarification, ...] = ()
    by: str = "rules"
    """Who made it: ``rules``, ``user``, or the name of a model."""

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON."""
        return asdict(self)


def plan_from(data: Mapping[str, Any]) -> ResearchPlan:
    """Read a plan that a person, a model or the store has written; raises ``InvalidInput`` where it is none."""
    try:
        parts = [_sub_question(each) for each in data["sub_questions"]]
        back = [
            Clarification(shown_line(str(each["question"]))[:300], shown_line(str(each.get("answer") or ""))[:300])
            for each in data.get("clarifications") or ()
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise BAD_RESEARCH(name="plan", value=f"{type(error).__name__}: {error}") from None
    parts = [part for part in parts if part.question]
    if not parts:
        raise BAD_RESEARCH(name="plan.sub_questions", value="[]")
    return ResearchPlan(
        tuple(parts[:MAX_SUB_QUESTIONS]), tuple(back[:_MAX_CLARIFICATIONS]), str(data.get("by") or "rules")
    )


def make_plan(request: ResearchRequest) -> ResearchPlan:
    """The plan by rules: the parts of the question, what is compared, or the usual sides of a broad topic."""
    question = without_request(" ".join(request.question.split()))
    if request.outline:
        parts = [_with_topic(heading, question) for heading in request.outline]
        return ResearchPlan(tuple(_planned(part, title) for part, title in zip(parts, request.outline, strict=True)))
    if is_broad(question):
        lang = "zh" if script_language(question) == "zh" else "en"
        topic = " ".join(keywords(question)) or question
        titles = [title.format(topic=topic) for title in _FACET_TITLES[lang]]
        queries = [query.format(topic=topic) for query in _FACETS[lang]]
        count = 2 if request.depth == "quick" else len(titles)
        made = [SubQuestion(title, (query,)) for title, query in zip(titles, queries, strict=True)][:count]
        return ResearchPlan(tuple(made), _clarifications(topic, request.lang))
    return ResearchPlan(
        tuple(_planned(part) for part in [*_compared(question), *split_question(question)][:MAX_SUB_QUESTIONS])
    )


def is_broad(question: str) -> bool:
    """Whether a question only names a topic: few words, and nothing that is asked for."""
    if answer_type(question).kinds or _ASKS.search(question):
        return False
    most = 12 if script_language(question) == "zh" else 3
    return len(content_words(question)) <= most


def refined(question: str, plan: ResearchPlan) -> str:
    """The question with what was answered to the questions back."""
    told = [back.answer.strip() for back in plan.clarifications if back.answer.strip()]
    return " ".join([question, *told])


def with_answers(question: str, plan: ResearchPlan) -> ResearchPlan:
    """The plan with a sub-question of its own, before the others, for what was answered to the questions back."""
    asked = refined(question, plan)
    if asked == question or any(part.question == asked for part in plan.sub_questions):
        return plan
    return replace(plan, sub_questions=(_planned(asked), *plan.sub_questions)[:MAX_SUB_QUESTIONS])


def other_words(question: str, tried: Sequence[str]) -> list[str]:
    """Further searches for a sub-question whose first ones found too little."""
    own = keywords(question)
    longest = sorted(own, key=len, reverse=True)[:3]
    found = [" ".join(own), " ".join(longest)]
    if not question.isascii():
        found += _LATIN_NAME.findall(question)
    known = {query.casefold() for query in tried}
    return list(dict.fromkeys(text for text in found if len(text) > 1 and text.casefold() not in known))


def _clarifications(topic: str, lang: str) -> tuple[Clarification, ...]:
    return tuple(Clarification(label(f"clarify.{key}", lang, topic=topic)) for key in ("aspect", "time", "place"))


def _planned(part: str, title: str = "") -> SubQuestion:
    """A sub-question with its searches: as it is asked and, where it is Chinese with Latin names, by these names."""
    query = part.strip(" ?？。.!！")[:_LONGEST_QUERY]
    queries = [query]
    if not part.isascii():
        names = " ".join(dict.fromkeys(_LATIN_NAME.findall(part)))
        # English pages have the names that a Chinese question has in Latin letters.
        if len(names) > 3:
            queries.append(names)
    return SubQuestion(title or part.strip(), tuple(dict.fromkeys(queries)))


def _compared(question: str) -> list[str]:
    """A question about each of two things that are compared."""
    if not _COMPARISON.search(question):
        return []
    found = _COMPARED.search(_COMPARE_WORDS.sub("", question))
    return [found["a"].strip(), found["b"].strip()] if found else []


def _with_topic(heading: str, question: str) -> str:
    topic = " ".join(keywords(question))
    return heading if all(word in heading for word in topic.split()) else f"{topic} {heading}"


def _sub_question(data: Mapping[str, Any] | str) -> SubQuestion:
    if isinstance(data, str):
        return _planned(shown_line(data))
    question = shown_line(str(data["question"]))[:_LONGEST_QUERY]
    given = [shown_line(str(each))[:_LONGEST_QUERY] for each in data.get("queries") or ()]
    queries = tuple(dict.fromkeys(each for each in given if each))[:MAX_QUERIES]
    return SubQuestion(question, queries or _planned(question).queries, shown_line(str(data.get("focus") or "")))
