"""Agent mode without a language model: a responder plans its searches and pages by rules."""

from __future__ import annotations

import asyncio

from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..embedded.planner import PlannedCall
from ..embedded.responder import Responder
from ..embedded.turn_input import TurnInput
from .chat_turn import respond
from .context import earlier
from .steps import PAGE_TOKENS, read_step, search_step
from .turn import Turn


async def planned_work(turn: Turn, responder: Responder) -> None:
    """Search and read as planned, as far as the limits allow, then answer."""
    given = TurnInput(turn.message, earlier(turn), turn.session.length)
    while calls := responder.plan(given, _tools_left(turn)):
        await asyncio.gather(*(_call(turn, given, call) for call in calls))
    respond(turn, responder, given)


def _tools_left(turn: Turn) -> frozenset[str]:
    limits, used = turn.session.settings.limits, turn.usage
    if turn.seconds() > limits.seconds:
        return frozenset()
    left = {"web_search": limits.searches - used.searches, "web_fetch": limits.fetches - used.fetches}
    return frozenset(name for name, more in left.items() if more > 0)


async def _call(turn: Turn, given: TurnInput, call: PlannedCall) -> None:
    """Do one of the planned steps; a step that fails says so itself, and is not planned again."""
    if call.name == "web_search":
        query = call.arguments["query"]
        try:
            page, _ = await search_step(turn, SearchQuery(query))
            given.add_search(query, turn.citations.add(page, turn.session.settings.results))
        except SuyuanError:
            given.queries.append(query)
            given.failed = True
        return
    url = call.arguments["url"]
    try:
        page_read = await read_step(turn, url, call.arguments["question"], PAGE_TOKENS)
        given.add_page(page_read.source, page_read.text)
    except SuyuanError:
        given.read_urls.append(url)
