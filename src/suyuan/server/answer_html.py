"""``AnswerHtml``: the parts of an answer as HTML, in one language, and the templates of all pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any

from jinja2 import Environment, PackageLoader
from jinja2.environment import TemplateModule

from ..chat.verdicts import counts, sides, verdict_text
from ..core.document import cut_from
from ..core.failure import Failure, Failures
from ..core.urls import is_page
from ..llm.settings import EMBEDDED
from ..markup.blocks import Labels
from ..text.shown_address import shown_address, shown_host
from ..text.visible import shown_line
from ..tools.text import snippet_line
from .answer_view import AnswerView, Json, Step
from .texts import PageTexts
from .tiles import tile_colour, tile_letter

_STEP = re.compile(r"\s{1,8}+(?=[1-9]\. )")


class AnswerHtml:
    """The parts of an answer as HTML, in one language."""

    def __init__(self, lang: str, titles: Mapping[str, str], *, prints: bool = False) -> None:
        self.texts = PageTexts(lang)
        self.prints = prints
        """Whether the server can make a PDF."""
        self._titles = titles
        self._parts = _parts(lang)

    @property
    def labels(self) -> Labels:
        """The words beside the text of an answer."""
        t = self.texts
        return Labels(
            t("source.title"),
            t("code.copy"),
            t("code.csv"),
            t("code.as_text"),
            too_long=t("plain.too_long"),
            too_slow=t("plain.too_slow"),
        )

    def part(self, name: str, view: AnswerView) -> str:
        """A part of the answer: a macro of ``parts.html``."""
        return str(getattr(self._parts, name)(view, self)).strip()

    def evidence(self, view: AnswerView) -> dict[str, str]:
        """The sources: the tiles of the status line, the column beside the answer, how many citations are confirmed."""
        return {name: self.part(name, view) for name in ("tiles", "evidence", "confirmed")}

    def status(self, view: AnswerView) -> str:
        """One line about what is being done, or what was done."""
        t = self.texts
        running = next((step for step in reversed(view.steps.values()) if step.state == "running"), None)
        if running:
            if running.tool == "web_search":
                return t("step.searching", query=running.detail, engine=self.engine(running.engine))
            return t("step.reading", what=shown_host(running.detail) or running.detail)
        if view.state == "running":
            return t("steps.writing") if view.blocks or view.mode == "chat" else t("steps.thinking")
        return " · ".join(self._summary(view))

    def _summary(self, view: AnswerView) -> Iterator[str]:
        """What was done: the sources, who found them and how long it took, the pages that were read."""
        t = self.texts
        searches = [step for step in view.steps.values() if step.tool == "web_search"]
        successful = [step for step in searches if step.state == "ok"]
        if searches and not successful:
            yield t("step.search_failed", query=searches[-1].detail)
        if view.mode == "agent" and searches:
            yield t("steps.web_search", n=len(searches))
        if view.sources:
            yield t("evidence.sources", n=len(view.sources))
        elif successful:
            yield t("round.none")
        if successful:
            yield self._engines_and_time(successful)
        fetches = [step for step in view.steps.values() if step.tool == "web_fetch"]
        pages = sum(step.state == "ok" for step in fetches)
        if pages:
            yield t("steps.web_fetch", n=pages)

    def _engines_and_time(self, searches: Sequence[Step]) -> str:
        """The engines that have answered, and the time of the slowest search."""
        receipts = chain.from_iterable(step.receipt for step in searches)
        answered = [attempt["engine"] for attempt in receipts if attempt["outcome"] == "ok"]
        engines = answered or [step.engine for step in searches]
        seconds = self.texts("seconds", n=_seconds(max(step.took_ms for step in searches)))
        return self.texts("separator").join((*dict.fromkeys(map(self.engine, engines)), seconds))

    def receipt(self, step: Step) -> str:
        """The receipt of a search on one line: ``SearXNG not reachable → DuckDuckGo, 5 results, 0.8 s``."""
        parts = [self._attempt(attempt) for attempt in step.receipt if attempt["outcome"] != "cancelled"]
        return " → ".join(parts)

    def _attempt(self, attempt: Json) -> str:
        engine = self.engine(attempt["engine"])
        if attempt["outcome"] in ("ok", "empty"):
            seconds = self.texts("seconds", n=_seconds(attempt["latency_ms"]))
            return self.texts("separator").join((engine, self.texts.count(attempt["count"]), seconds))
        return f"{engine} {self.texts.outcome(attempt['code'] or '', attempt['detail_code'] or '')}"

    def message(self, failure: Failure) -> str:
        """What failed and why, with the titles of engines; a hint keeps their names, as settings and commands do."""
        return self._titled(failure).message(self.texts.lang)

    def _titled(self, failure: Failure) -> Failure:
        params = {name: self._with_titles(value) for name, value in failure.params.items()}
        return replace(failure, engine=self._titles.get(failure.engine, failure.engine), params=params)

    def _with_titles(self, value: object) -> object:
        if isinstance(value, Failures):
            return Failures(tuple(map(self._titled, value.all)))
        return self._titled(value) if isinstance(value, Failure) else value

    def when(self, stamp: str) -> str:
        """A time, short."""
        try:
            return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")
        except (ValueError, OverflowError):
            return stamp[:16]

    def model(self, name: str) -> str:
        """The name of a model for users."""
        return self.texts("model.embedded") if name == EMBEDDED else name

    def engine(self, name: str) -> str:
        """The title of an engine or a plan."""
        return self.texts.plan(name, self._titles)


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f}" if ms >= 100 else f"{max(ms, 10) / 1000:.2f}"


def _lines(text: str) -> str:
    """``text`` with every numbered step on its own line."""
    return _STEP.sub("\n", text)


def _short(url: str) -> str:
    url = shown_address(url) or shown_line(url)
    return url if len(url) <= 100 else url[:99] + "…"


def _cut_text(cut: Mapping[str, Any], lang: str) -> str:
    """How much of a source was read, in words."""
    found = cut_from(cut)
    return found.message(lang) if found else ""


def _around_host(url: str) -> tuple[str, str]:
    """What stands before and after the host of ``url``; nothing where that is not all there is."""
    scheme, found, rest = _short(url).partition(shown_host(url) or "\0")
    return (scheme, rest) if found and scheme in ("http://", "https://") else ("", "")


@cache
def environment() -> Environment:
    """The templates, with automatic escaping."""
    made = Environment(
        loader=PackageLoader("suyuan.server", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    made.filters.update(seconds=_seconds, lines=_lines, short=_short, parts=_around_host)
    made.filters.update(host=shown_host, address=shown_address, snippet=snippet_line)
    made.filters.update(verdict=verdict_text, counts=counts, sides=sides, cut=_cut_text)
    made.filters.update(letter=tile_letter, colour=tile_colour)
    made.tests.update(page=is_page)
    return made


@cache
def _parts(lang: str) -> TemplateModule:
    return environment().get_template("parts.html").make_module({"t": PageTexts(lang)})
