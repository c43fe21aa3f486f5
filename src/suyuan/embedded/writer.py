"""The words of the embedded model: quotes with their numbers, and plain sentences where there is nothing to quote."""

from __future__ import annotations

import re

from .planner import is_small_talk
from .prompt_reader import PromptContents
from .quotes import Evidence, Quote, best_sources, pick_quotes

_TEXTS = {
    "hello": {
        "zh": "你好!我是溯源的内置模型:我会搜索网页,并引用其中能回答问题的句子,每句都注明来源。请直接提问。",
        "en": "Hello! I am the built-in model of Suyuan: I search the web and quote the sentences that answer a question, "
        "each with its source. Just ask.",
    },
    "nothing": {
        "zh": "搜索结果里没有能直接回答这个问题的句子。最接近的来源:",
        "en": "No sentence in the results answers this question directly. The nearest sources:",
    },
    "empty": {
        "zh": "没有搜索到任何结果。请换一种说法或更具体的关键词再问。",
        "en": "The search found nothing. Ask again in other words, or more specifically.",
    },
    "no_sources": {
        "zh": "我是内置模型,只引用搜索到的句子,不凭记忆回答;而这次没有搜索结果:搜索已关闭、失败,或没有找到。\n\n"
        "- 打开搜索:输入 `/search on`,或点击 🔍 开关。\n"
        "- 换用更强的模型:设置 `SUYUAN_MODEL`、`SUYUAN_MODEL_BASE_URL` 和 `SUYUAN_MODEL_API_KEY`,"
        "例如 `SUYUAN_MODEL=qwen3 SUYUAN_MODEL_BASE_URL=http://localhost:11434/v1`。",
        "en": "I am the built-in model: I only quote what a search has found and answer nothing from memory; "
        "and this time there are no results: the search is off, failed, or found nothing.\n\n"
        "- Switch the search on: type `/search on`, or use the 🔍 switch.\n"
        "- Connect a stronger model: set `SUYUAN_MODEL`, `SUYUAN_MODEL_BASE_URL` and `SUYUAN_MODEL_API_KEY`, "
        "e.g. `SUYUAN_MODEL=qwen3 SUYUAN_MODEL_BASE_URL=http://localhost:11434/v1`.",
    },
    "failed": {
        "zh": "搜索没有成功,所以没有可以引用的来源。{why}",
        "en": "The search did not work, so there is nothing to quote. {why}",
    },
}
_END = re.compile(r"[。．.!！?？;；]?$")
_CUT = re.compile(r"\s*(?:\.{3,}|…+)$")
# A sentence that is whole although more was cut off behind it.
_WHOLE = re.compile(r"(?<=[。！？.!?])…$")


def compose(reading: PromptContents, most: int) -> str:
    """The answer to what was read."""
    lang, evidence = reading.lang, reading.evidence
    if quotes := pick_quotes(reading.whole_question, evidence, most):
        return _quoted(quotes)
    if loose := pick_quotes(reading.whole_question, [Evidence(0, "", text) for text in reading.loose], most):
        return _quoted(loose)
    if evidence:
        nearest = best_sources(reading.whole_question, evidence)[:3]
        return "\n".join(
            [_TEXTS["nothing"][lang], "", *(f"- {_title(source.title)} [{source.number}]" for source in nearest)]
        )
    if reading.failures:
        return _TEXTS["failed"][lang].format(why=reading.failures[0])
    if is_small_talk(reading.question):
        return _TEXTS["hello"][lang]
    return _TEXTS["empty" if reading.queries else "no_sources"][lang]


def _quoted(quotes: tuple[Quote, ...]) -> str:
    said = [_cited(quote) for quote in quotes]
    return said[0] if len(said) == 1 else "\n".join(f"- {sentence}" for sentence in said)


def _cited(quote: Quote) -> str:
    """The sentence with its numbers before the full stop, so that they belong to it and not to the next."""
    marks = "".join(f"[{number}]" for number in quote.numbers if number)
    text = _WHOLE.sub("", _CUT.sub("…", quote.text))
    end = _END.search(text)
    at = end.start() if end else len(text)
    return text[:at] + marks + text[at:]


def _title(title: str) -> str:
    """A title as plain text: its brackets would be taken for numbers or links."""
    return re.sub(r"[\[\]【】［］]", " ", title).strip()
