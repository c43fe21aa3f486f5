"""Sources that say different things, from the search to the exported file, whatever model writes the answer."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from support.oai import Answering, hold, reply, serve_model, tool_call
from support.talk import Article, Web, ask, openai, talking
from support.timing import PATIENCE
from suyuan.chat.events import Answer, TextDelta
from suyuan.chat.export import Form, export
from suyuan.chat.verdicts import check_lines
from suyuan.citations.claims import ClaimChecker
from suyuan.client import AsyncClient
from suyuan.store.conversation import Mode

QUESTION = "Who bought the Lumen camera company in 2012?"
_NEWS = (
    "The camera company Lumen was bought by {} in 2012 for one billion dollars.\nIts forty engineers moved to the coast "
    "within a year.\nThe price was thought to be very high at the time."
)
_SNIPPET = "The camera company Lumen was bought by {} in 2012."
WEB = (
    Article("/apple", "Who bought Lumen", _NEWS.format("Norvik") + "\nThe founders stayed.", _SNIPPET.format("Norvik")),
    Article("/agency", "Lumen camera company sold", _NEWS.format("Halden"), _SNIPPET.format("Halden")),
    Article("/reprint", "The Lumen camera company", _NEWS.format("Halden"), _SNIPPET.format("Halden")),
    Article(
        "/own",
        "Lumen camera company history",
        "A short history of the camera company.\nThe camera company Lumen was bought by Halden Optics in 2012, as its own "
        "archive shows.\nIt was founded by two sisters in a garage and made its first lens there.",
        "A short history of the Lumen camera company.",
    ),
)
SAYS = "The camera company Lumen was bought by Norvik in 2012{}"


def _script(mode: Mode, text: str) -> list[Answering]:
    searched: list[Answering] = [tool_call("web_search", {"query": QUESTION})] if mode == "agent" else []
    return [*searched, reply(text)]


async def _asked(client: AsyncClient, mode: Mode) -> tuple[str, Answer]:
    conversation = await client.chat.create(mode=mode, search=True)
    _, answer = await ask(client, QUESTION, id=conversation.id)
    return conversation.id, answer


def _number(answer: Answer, path: str) -> int:
    return next(source.number for source in answer.sources if source.url.endswith(path))


@pytest.mark.parametrize("mode", ["chat", "agent"])
async def test_a_source_that_was_found_and_not_cited_disagrees(mode: Mode) -> None:
    with serve_model(_script(mode, SAYS.format("[1]."))) as model:
        async with talking(openai(model.url), web=Web(WEB)) as (client, _):
            id, answer = await _asked(client, mode)
            conversation, messages = await client.chat.get(id), client.chat.messages(id)
    apple, agency, reprint = (_number(answer, path) for path in ("/apple", "/agency", "/reprint"))
    assert [(claim.number, claim.verdict) for claim in answer.claims] == [(apple, "supported")]
    [found] = answer.disagreements
    said, other = found.sides
    assert (said.text, said.numbers) == ("Norvik", (apple,))
    assert other.text == "Halden" and {agency, reprint} <= set(other.numbers)
    assert other.origins == len(other.numbers) - 1, "a reprint is no origin of its own"
    told = [line for line in check_lines(answer.as_dict(), "en") if line.startswith("Sources disagree: ")]
    note = "one text, reprinted" if other.origins == 1 else "2 texts, the others reprinted"
    assert told and "Norvik [1]" in told[0] and f"({note})" in told[0]
    for form in ("md", "html", "json"):
        _has_checks(export(conversation, messages, form, "en"), form)


def _has_checks(text: str, form: Form) -> None:
    if form == "json":
        stored = json.loads(text)["messages"][-1]["answer"]
        assert stored["claims"][0]["verdict"] == "supported"
        assert [side["text"] for side in stored["disagreements"][0]["sides"]] == ["Norvik", "Halden"]
    else:
        assert "Supported by the" in text and "Sources disagree" in text and "Halden" in text


@pytest.mark.parametrize("mode", ["chat", "agent"])
async def test_each_cited_number_has_a_verdict_of_its_own(mode: Mode) -> None:
    with serve_model(_script(mode, SAYS.format("[1][2]."))) as model:
        async with talking(openai(model.url), web=Web(WEB[:2])) as (client, _):
            _, answer = await _asked(client, mode)
    verdicts = {claim.number: claim for claim in answer.claims}
    apple, agency = _number(answer, "/apple"), _number(answer, "/agency")
    assert verdicts[apple].verdict == "supported"
    assert (verdicts[agency].verdict, verdicts[agency].claimed, verdicts[agency].says) == (
        "contradicted",
        "Norvik",
        "Halden",
    )
    assert [side.numbers for found in answer.disagreements for side in found.sides] == [(apple,), (agency,)]


async def test_the_check_does_not_hold_up_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits until the event loop has done something else, which it never could on the loop itself."""
    begun, others = threading.Event(), threading.Event()
    check = ClaimChecker.check

    def slow(self: ClaimChecker, *given: object) -> object:
        begun.set()
        assert others.wait(PATIENCE), "the event loop stands still"
        return check(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(ClaimChecker, "check", slow)
    with serve_model(reply(SAYS.format("[1]."))) as model:
        async with talking(openai(model.url), web=Web(WEB)) as (client, _):
            asking = asyncio.create_task(_asked(client, "chat"))
            while not begun.is_set():
                await asyncio.sleep(0.01)
            others.set()
            _, answer = await asking
    assert [claim.verdict for claim in answer.claims] == ["supported"]


async def test_what_was_written_before_a_stop_is_checked_too() -> None:
    gate = threading.Event()
    with serve_model([[reply(SAYS.format("[1]. More")), hold(gate)]]) as model:
        async with talking(openai(model.url), web=Web(WEB)) as (client, _):
            run = await client.chat.ask((await client.chat.create(search=True)).id, QUESTION)
            said = ""
            async for _, event in run.follow():
                said += event.text if isinstance(event, TextDelta) else ""
                if "More" in said:
                    run.stop()
            answer = await run.wait()
        gate.set()
    assert answer.stopped and [claim.verdict for claim in answer.claims] == ["supported"]


async def test_other_answers_to_the_question_are_told_however_they_are_put() -> None:
    """The model cites one side only; no sentence of the other side looks like it."""
    told = (
        "The Glass Harbour is a film of 1998 directed by Anna Rivel, who also wrote it.",
        "Anna Rivel directed The Glass Harbour when she was thirty, and it made her famous.",
        "In an interview Peter Monk, who directed The Glass Harbour, spoke about the storm during the filming.",
        "The Glass Harbour, directed by Peter Monk, opened in March and ran for a year.",
    )
    web = Web(
        tuple(Article(f"/{n}", "The Glass Harbour", f"{text}\nIt is shown again.", text) for n, text in enumerate(told))
    )
    with serve_model(reply("It is a film of 1998 directed by Anna Rivel [1].")) as model:
        async with talking(openai(model.url), web=web) as (client, _):
            conversation = await client.chat.create(search=True)
            _, answer = await ask(client, "Who directed The Glass Harbour?", id=conversation.id)
    [found] = answer.disagreements
    assert [side.text for side in found.sides] == ["Anna Rivel", "Peter Monk"]
    other = {_number(answer, path) for path in ("/2", "/3")}
    assert set(found.sides[1].numbers) == other and not set(found.sides[0].numbers) & other
    assert answer.text[found.start : found.end].startswith("It is a film")
