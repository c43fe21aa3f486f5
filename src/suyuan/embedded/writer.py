"""Writes the answers of the embedded model: quotes with their numbers, and plain sentences where nothing fits."""

from __future__ import annotations

import re

from .answer_form import wanted_form
from .answer_table import find_table
from .follow_up_order import answer_first
from .planner import is_small_talk
from .quote import Quote, join_neighbours
from .quotes import find_quotes
from .source_ranking import rank_sources
from .turn_input import TurnInput

_TEXTS = {
    "hello": {
        "zh": "你好！我是溯源的内置模型：我会搜索网页，并引用其中能回答问题的句子，每句都注明来源。请直接提问。",
        "en": "Hello! I am the built-in model of Suyuan: I search the web and quote the sentences that answer a "
        "question, each with its source. Just ask.",
    },
    "nothing_fits": {
        "zh": "这些来源里没有回答这个问题的句子。最接近的来源：",
        "en": "No sentence in these sources answers this question. The nearest sources:",
    },
    "near": {
        "zh": "这些来源里没有直接回答这个问题的句子，只有相近的内容：",
        "en": "No sentence in these sources answers this question directly; they only come near:",
    },
    "no_results": {
        "zh": "没有搜索到任何结果。请换一种说法或更具体的关键词再问。",
        "en": "The search found nothing. Ask again in other words, or more specifically.",
    },
    "no_search": {
        "zh": "我是内置模型，只引用搜索到的句子，不凭记忆回答；而现在搜索是关闭的。\n\n"
        "- 打开搜索：输入 `/search on`，或点击 🔍 开关。\n"
        "- 换用更强的模型：设置 `SUYUAN_MODEL`、`SUYUAN_MODEL_BASE_URL` 和 `SUYUAN_MODEL_API_KEY`，"
        "例如 `SUYUAN_MODEL=qwen3 SUYUAN_MODEL_BASE_URL=http://localhost:11434/v1`。",
        "en": "I am the built-in model: I only quote what a search has found and answer nothing from memory, "
        "and the search is off.\n\n"
        "- Switch the search on: type `/search on`, or use the 🔍 switch.\n"
        "- Connect a stronger model: set `SUYUAN_MODEL`, `SUYUAN_MODEL_BASE_URL` and `SUYUAN_MODEL_API_KEY`, "
        "e.g. `SUYUAN_MODEL=qwen3 SUYUAN_MODEL_BASE_URL=http://localhost:11434/v1`.",
    },
    "disagree": {"zh": "来源说法不一（{sides}）：", "en": "Sources disagree ({sides}):"},
    "as_of": {"zh": "截至 {date}（关于此事的最新来源）：", "en": "As of {date}, by the newest source about it:"},
    "older": {"zh": "较早的来源说法不同（{sides}）：", "en": "Older sources say otherwise ({sides}):"},
    "also": {"zh": "来源还提到：", "en": "The sources also say:"},
    "search_failed": {
        "zh": "搜索没有成功，所以没有可以引用的来源。我是内置模型，只引用搜索到的句子，不凭记忆回答。",
        "en": "The search failed, so there is nothing to quote. I am the built-in model: I answer nothing from memory.",
    },
}


def write_answer(turn: TurnInput, most_quotes: int) -> str:
    """Return the answer to a turn: quotes, the nearest sources, or why there is nothing to quote."""
    lang, resolved, evidence = turn.lang, turn.resolved, turn.evidence
    form = wanted_form(turn.question, turn.length)
    if form in ("auto", "list", "table") and (answer := find_table(turn.full_question, evidence, lang, form)):
        return answer.markdown()
    found = find_quotes(resolved.question, evidence, most_quotes, resolved.about, form)
    if found.quotes:
        said = turn.history[-1].answer if turn.history else ""
        titles = {source.number: source.title for source in evidence}
        written = _written(join_neighbours(answer_first(found.quotes, resolved, said, titles)), lang)
        return written if found.outcome == "answer" else f"{_TEXTS['near'][lang]}\n\n{written}"
    if evidence:
        nearest = rank_sources(turn.full_question, evidence)[:3]
        lines = [f"- {_plain_title(source.title)} [{source.number}]" for source in nearest]
        return "\n".join([_TEXTS["nothing_fits"][lang], "", *lines])
    if turn.failed:
        return _TEXTS["search_failed"][lang]
    if is_small_talk(turn):
        return _TEXTS["hello"][lang]
    return _TEXTS["no_results" if turn.queries else "no_search"][lang]


def _written(quotes: tuple[Quote, ...], lang: str) -> str:
    lines = [_TEXTS["as_of"][lang].format(date=quotes[0].date)] if quotes[0].date else []
    after_sides = False
    for quote in quotes:
        if after_sides and not quote.others:
            # Without a word between them it would be read as one more side.
            lines += ["", _TEXTS["also"][lang], ""]
        lines += _sides(quote, lang) if quote.others else [f"- {quote.written}"]
        after_sides = bool(quote.others)
    return lines[0].removeprefix("- ") if len(lines) == 1 else "\n".join(lines)


def _sides(quote: Quote, lang: str) -> list[str]:
    """What sources say differently; where the newest is asked for, what is older is shown as older."""
    said = "、".join if lang == "zh" else " / ".join
    sides = [f"- {each.written}" for each in (quote, *quote.others)]
    if quote.date and all(other.date and other.date < quote.date for other in quote.others):
        older = _TEXTS["older"][lang].format(sides=said([f"{each.says}, {each.date}" for each in quote.others]))
        return [sides[0], older, *sides[1:]]
    return [_TEXTS["disagree"][lang].format(sides=said([quote.says, *(each.says for each in quote.others)])), *sides]


def _plain_title(title: str) -> str:
    """Return a title without brackets, which would be taken for numbers or links."""
    return re.sub(r"[\[\]【】［］]", " ", title).strip()
