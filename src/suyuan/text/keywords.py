"""A question's own words, without those that every question has."""

from __future__ import annotations

import re

from .words import words

_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a an the of in on at to for and or is are was were be been being do doe does did has have had it its this that these those with "
        "from by as what when where who whom whose which why how many much long tell me please about can could would will should you i we "
        "they he she my our your search find there their his her if into than then so not no s",
    )
)
_ASKING = re.compile(
    r"请问|请?告诉我|我想知道|帮我|查一下|搜索一下|什么时候|什么时间|为什么|是什么|什么样|什么|有哪些|哪一[年天个位家座]|哪[个些里年位家座种儿]|哪"
    r"|是多少|多少|多久|多长|怎么样|怎么|怎样|如何|是否|是不是|是谁|谁|几个|分别|一下|吗|呢|吧|啊|的|了|是|在|有|和|与|及|或|被|把|即算"
)
_MARKS = re.compile(r"[?？!！。,，;；:：“”\"]")


def telling(question: str) -> list[str]:
    """The comparable words of a question that its answer should contain, each once."""
    found = words(_ASKING.sub(" ", question)) or words(question)
    return list(dict.fromkeys(word for word in found if word not in _EMPTY))


def keywords(question: str) -> list[str]:
    """The words of a question for a search engine, as they are written."""
    own = _ASKING.sub(" ", _MARKS.sub(" ", question))
    return [word for word in own.split() if word.lower() not in _EMPTY]
