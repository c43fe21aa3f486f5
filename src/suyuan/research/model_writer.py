"""Plans and writes with a language model. It may cite rows of the ledger only, and code decides what of it is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from ..citations.markers import segments
from ..core.document import cut_from
from ..core.errors import SuyuanError
from ..text.sentences import split_sentences
from ..text.words import count_tokens
from ..tools.text import fenced
from .checking import SentenceChecker
from .ledger import LedgerRow, rows_by_page
from .plan import ResearchPlan, plan_from
from .prompts import LANGUAGES, PLAN, REWRITE, TOPIC, WRITE
from .request import ResearchRequest
from .sentence import ReportSentence, Section
from .turns import in_turn

_MARKS = r"(?:\[\d+\])+"
_AFTER_STOP = re.compile(rf"((?<![。！？.!?])[。！？.!?]++[”\"’]?)[ \t]*+({_MARKS})")
_LEAD = re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+•][ \t]+|\d{1,3}[.)、][ \t]+)?")
_LINK = re.compile(r"!?\[([^\[\]\d][^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_ADDRESS = re.compile(r"[(（<]?https?://[^\s）)>，。；]+[)）>]?")
_SIGNS = re.compile(r"\*\*|__|`+")
_NUMBERED = re.compile(r"^[^\S\n]*+(\d{1,3})[^\S\n]*+[:：.)、]\s*+(.+)$", re.M)
_SHARE = 0.5
"""The share of the context that passages may take."""


def plan_prompt(request: ResearchRequest) -> tuple[str, str]:
    """System and prompt for the plan."""
    most = {"quick": 3, "normal": 5, "deep": 8}[request.depth]
    return PLAN[request.lang].format(most=most), request.question


def read_plan(text: str, model: str) -> ResearchPlan | None:
    """The plan that a model has written; None where it is none."""
    start, end = text.find("{"), text.rfind("}") + 1
    try:
        return replace(plan_from(json.loads(text[start:end])), by=model) if 0 <= start < end else None
    except (ValueError, TypeError, SuyuanError):
        return None


def section_prompt(
    request: ResearchRequest, title: str, rows: Sequence[LedgerRow], context_tokens: int
) -> tuple[str, str]:
    """System and prompt for one section; of many passages the first of each page come first."""
    system = WRITE[request.lang].format(language=LANGUAGES[request.lang])
    topic = TOPIC[request.lang].format(whole=request.question, title=title)
    chosen = _fitting(rows, round(_SHARE * context_tokens))
    return system, f"{topic}\n\n{fenced(_passages(chosen, request.lang), request.lang)}"


def rewrite_prompt(
    request: ResearchRequest, failing: Sequence[ReportSentence], rows: Sequence[LedgerRow]
) -> tuple[str, str]:
    """System and prompt for the sentences that did not pass the check."""
    lines = "\n".join(
        f"{number}: {sentence.text}{''.join(f'[{id}]' for id in sentence.ids)}"
        for number, sentence in enumerate(failing, 1)
    )
    return REWRITE[request.lang], f"{lines}\n\n{fenced(_passages(rows, request.lang), request.lang)}"


def checked_section(title: str, text: str, model: str, checker: SentenceChecker, is_summary: bool) -> Section:
    """The section that a model has written, with every sentence checked; those that fail are kept apart."""
    sentences = [checker.check(marked, paragraph) for paragraph, marked in marked_sentences(text)]
    kept = tuple(each for each in sentences if each.verdict == "supported")
    failing = tuple(each for each in sentences if each.verdict != "supported")
    return Section(title, kept, failing, model, is_summary)


def with_rewritten(section: Section, text: str, checker: SentenceChecker) -> Section:
    """The section with the sentences that a model has rewritten, where they pass now.

    One that is partly supported is kept with a mark; all others are left out.
    """
    lines = {int(number): line for number, line in _NUMBERED.findall(text) if line.strip() != "-"}
    kept, dropped = list(section.sentences), []
    for number, old in enumerate(section.dropped, 1):
        marked = [each for _, each in marked_sentences(lines.get(number, ""))]
        new = [checker.check(each, old.paragraph, rewritten=True) for each in marked]
        better = [each for each in new if each.is_kept]
        kept += better or ([old] if old.is_kept else [])
        dropped += [] if better or old.is_kept else [old]
    kept.sort(key=lambda each: each.paragraph)
    return replace(section, sentences=tuple(kept), dropped=tuple(dropped))


def marked_sentences(text: str) -> list[tuple[int, str]]:
    """The sentences of a model's text with their ``[n]`` markers, each with the number of its paragraph."""
    text = _ADDRESS.sub("", _LINK.sub(r"\1", _with_plain_markers(text)))
    found: list[tuple[int, str]] = []
    for paragraph, line in enumerate(line for line in text.splitlines() if line.strip()):
        # A heading or a table says nothing by itself.
        if line.lstrip().startswith(("#", "|", "```")):
            continue
        plain = _AFTER_STOP.sub(r"\2\1", _SIGNS.sub("", _LEAD.sub("", line)))
        found += [(paragraph, sentence) for sentence in split_sentences(plain) if re.search(r"\w", sentence)]
    return found


def _with_plain_markers(text: str) -> str:
    return "".join("".join(f"[{number}]" for number in each.numbers) or each.raw for each in segments(text))


def _passages(rows: Sequence[LedgerRow], lang: str) -> str:
    return "\n\n".join(f"[{row.id}] {row.title}{_about(row, lang)}\n{row.text}" for row in rows)


def _about(row: LedgerRow, lang: str) -> str:
    """The date of a page, and how much of it was read where it was not all."""
    cut = cut_from(row.cut)
    known = [*([row.published_at[:10]] if row.published_at else []), *([cut.message(lang)] if cut else [])]
    return f" ({', '.join(known)})" if known else ""


def _fitting(rows: Sequence[LedgerRow], budget: int) -> list[LedgerRow]:
    """The rows that fit, those of all pages in turn."""
    chosen, used = [], 0
    for row in in_turn(rows_by_page(rows).values()):
        used += count_tokens(row.text) + 30
        if used > budget:
            break
        chosen.append(row)
    return sorted(chosen, key=lambda row: row.id)
