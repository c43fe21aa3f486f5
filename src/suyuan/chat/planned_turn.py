"""Agent mode without a language model: a responder plans its searches and pages by rules."""

from __future__ import annotations

import asyncio

from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..embedded.planner import PlannedCall
from ..embedded.responder import Responder
from ..embedded.turn_input import TurnInput
from ..tools.text import PAGE_TOKENS
from .chat_turn import respond
from .steps import read_step, search_step, used_up
from .turn import Turn

_TOOLS = frozenset(("web_search", "web_fetch"))


async def planned_work(turn: Turn, responder: Responder) -> None:
    """Search and read as planned, as far as the limits allow, then answer."""
    given = TurnInput(turn.message, turn.session.history, turn.session.length)
    while calls := responder.plan(given, _TOOLS - used_up(turn)):
        await asyncio.gather(*(_call(turn, given, call) for call in calls))
    await respond(turn, responder, given)


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
