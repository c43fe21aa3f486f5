"""A model chooses within what the person has chosen, and what it writes is as clean as a title."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytest.importorskip("langchain", reason="the optional extra suyuan[chat] is not installed")

from research.researchers import Researchers
from research.test_model_writer import model, researcher
from support.oai import EngineReply, Step, reply
from suyuan.chat.session import PastTurn
from suyuan.client import AsyncClient
from suyuan.config.settings import SearchSettings
from suyuan.core.query import SearchQuery
from suyuan.demo.engine import ENGINES
from suyuan.demo.network import DemoNetwork
from suyuan.demo.site import REFUSING_HOST, SEARCH_HOST
from suyuan.llm.settings import ModelSettings
from suyuan.research.plan import plan_from
from suyuan.research.request import ResearchRequest
from suyuan.search.focus import FOCUSES as FOCUSES_KNOWN
from suyuan.text.visible import shown_text
from suyuan.tools.session import SessionSearch

QUESTION = "How tall is the Gull Point Lighthouse?"
FOCUSES = ("web", "news", "encyclopedia", "academic", "code", "china", "")
HIDDEN = "\u202e\u200b\u2066\x1b[31m\x07\x00\x9b\u00ad\ufeff"


def with_library(researchers: Researchers) -> SearchSettings:
    """The settings of the demo, in which own documents are a scope of their own as everywhere else."""
    search = researchers.web.settings().search
    return replace(search, focuses={**search.focuses, "mine": FOCUSES_KNOWN["mine"]})


def plans(focus: str, mark: str = "") -> Step:
    parts = [{"question": f"{QUESTION}{mark}", "queries": [f"Gull Point{mark} Lighthouse height"], "focus": focus}]
    return reply(json.dumps({"sub_questions": parts, "clarifications": [{"question": f"Which{mark} one?"}]}))


def planner(focus: str, mark: str = "") -> object:
    def answer(asked: EngineReply) -> Step:
        return plans(focus, mark) if "JSON" in asked.text else reply(f"Nothing{mark} is known.")

    return answer


@pytest.mark.req("C11.2")
@pytest.mark.parametrize("focus", FOCUSES)
async def test_a_model_does_not_widen_the_scope(researchers: Researchers, focus: str) -> None:
    since = len(researchers.web.requests)
    with model(planner(focus)) as server:
        known = ModelSettings("openai", "test-model", server.url, context_tokens=8000)
        web, own = researchers.web, with_library(researchers)
        settings = replace(web.settings(), data_dir=researchers.folder, search=own, model=known)
        network = DemoNetwork(web.site.hosts, frozenset({SEARCH_HOST, REFUSING_HOST}), web.port)
        async with AsyncClient(settings, network=network, engines=ENGINES) as client:
            await client.research(QUESTION, depth="quick", scope={"focus": "mine"})
    assert any("JSON" in asked.text for asked in server.requests), "the model was asked for a plan"
    assert researchers.requests(since) == [], "only own documents were to be searched"


@pytest.mark.parametrize("chosen", FOCUSES)
@pytest.mark.parametrize("wanted", FOCUSES)
async def test_the_focus_that_was_chosen_counts(researchers: Researchers, chosen: str, wanted: str) -> None:
    request = ResearchRequest.of(QUESTION, {"scope": {"focus": chosen}})
    assert request.query("x", focus=wanted).focus == (chosen or wanted)
    async with researchers.client(search=with_library(researchers)) as client:
        session = SessionSearch(client.search_service, focus="mine")
        assert session.plan_for(SearchQuery("x", focus=wanted)).asked == ("library",)


async def test_what_a_model_plans_has_no_hidden_characters(researchers: Researchers) -> None:
    since = len(researchers.web.requests)
    with model(planner("", HIDDEN)) as server:
        async with researcher(researchers, server) as client:
            found = await client.research(f"How tall{HIDDEN} is the Gull Point Lighthouse?", depth="quick")
    told = json.dumps(found.result, ensure_ascii=False) + found.report + found.question
    assert shown_text(told) == told and not set(HIDDEN[:3]) & set(told)
    assert not [each for each in researchers.requests(since) if "%E2%80" in each or "%1B" in each]


def test_every_text_of_a_plan_and_a_request_is_clean() -> None:
    dirty = f"a{HIDDEN}b"
    parts = [{"question": dirty, "queries": [dirty, dirty], "focus": dirty}, dirty]
    plan = plan_from({"sub_questions": parts, "clarifications": [{"question": dirty, "answer": dirty}]})
    request = ResearchRequest.of(dirty, {"outline": [dirty]})
    told = json.dumps([plan.as_dict(), request.as_dict()], ensure_ascii=False)
    assert "a[31mb" in told and shown_text(told) == told


async def test_a_question_is_kept_without_hidden_characters(researchers: Researchers) -> None:
    async with researchers.client() as client:
        made = await client.chat.create(search=False)
        run = await client.chat.ask(made.id, f"How tall{HIDDEN} is it?\nAnd when?")
        await run.wait()
        question, _ = client.chat.messages(made.id)
        assert question.text == "How tall[31m is it?\nAnd when?"
        answer = await client.ask(f"How{HIDDEN} tall?", history=[PastTurn(f"a{HIDDEN}", "b")])
        assert shown_text(answer.markdown) == answer.markdown
