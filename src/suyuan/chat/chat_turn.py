"""Chat mode: where the switch is on the message is searched, and the model answers from the results."""

from __future__ import annotations

from dataclasses import replace

from ..core.causes.chat import WITHOUT_SEARCH
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..tools.text import shortened
from .model_call import stream_answer
from .prompts import chat_prompt, with_results, without_results
from .steps import search_step
from .turn import Turn

# Engines take a few hundred characters; a long message is searched by its beginning.
LONGEST_QUERY = 300


async def chat_work(turn: Turn) -> None:
    """Search if the switch is on, then let the model answer."""
    question = await _searched(turn) if turn.session.searching else turn.message
    await stream_answer(turn, chat_prompt(turn.lang, turn.session.today()), question)


async def _searched(turn: Turn) -> str:
    """The prompt: the message with its results, or with a note that there are none or that the search failed."""
    settings = turn.session.settings
    try:
        query = SearchQuery(shortened(" ".join(turn.message.split()), LONGEST_QUERY).rstrip("…"))
        page, _ = await search_step(turn, query)
    except SuyuanError as error:
        # The answer is marked as not verified by code, whatever the model writes.
        turn.unverified = True
        say_failed(turn, error)
        return without_results(turn.message, turn.lang)
    sources = turn.citations.add(page, settings.results)
    return with_results(turn.message, page.query.text, sources, turn.lang, settings.snippet_length)


def say_failed(turn: Turn, error: SuyuanError) -> None:
    """Notify the user that the search failed, why, and what to do."""
    notice = WITHOUT_SEARCH.failure(cause=error.failure)
    notice = replace(notice, detail_code=error.detail_code or notice.detail_code)
    asked = {attempt.engine for attempt in error.attempts} | {error.engine}
    turn.notice("warning", notice, "searxng" if "searxng" in asked else "troubleshooting")
