"""A model may cite rows of the ledger only, and what it invents does not get into a report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

pytest.importorskip("langchain", reason="the optional extra suyuan[chat] is not installed")

from research.researchers import Researchers
from support.oai import EngineReply, ModelServer, Step, error, reply, serve_model
from suyuan.client import AsyncClient
from suyuan.demo.engine import ENGINES
from suyuan.demo.network import DemoNetwork
from suyuan.demo.site import REFUSING_HOST, SEARCH_HOST
from suyuan.llm.settings import ModelSettings
from suyuan.research.model_writer import marked_sentences, read_plan
from suyuan.research.report import Research

QUESTION = "How tall is the Gull Point Lighthouse?"
PLAN = '```json\n{"sub_questions": [{"question": "How tall is the Gull Point Lighthouse?", "queries": ["Gull Point Lighthouse height"]}]}\n```'
INVENTED = ("ninety metres", "Zebulon", "1901", "Atlantis")


def researcher(researchers: Researchers, server: ModelServer) -> AsyncClient:
    web = researchers.web
    settings = replace(
        web.settings(),
        data_dir=researchers.folder,
        model=ModelSettings("openai", "test-model", server.url, context_tokens=8000),
    )
    network = DemoNetwork(web.site.hosts, frozenset({SEARCH_HOST, REFUSING_HOST}), web.port)
    return AsyncClient(settings, network=network, engines=ENGINES)


def numbered(asked: EngineReply, words: str) -> int:
    """The number under which a prompt has the passage with ``words``."""
    before = asked.text[: asked.text.index(words)]
    return int(re.findall(r"^\[(\d+)\]", before, re.M)[-1])


def liar(asked: EngineReply) -> Step:
    """Plans well, then mixes one true sentence with inventions, and invents again when asked to rewrite."""
    if "JSON" in asked.text:
        return reply(PLAN)
    if "do not support these sentences" in asked.text:
        return reply("1: The tower was moved to Atlantis in 1901[1].\n2: Zebulon painted it[999].\n3: -")
    true = numbered(asked, "38 metres tall")
    return reply(
        f"The Gull Point Lighthouse is 38 metres tall[{true}]. It was built by Zebulon Crane in Atlantis[{true}].\n\n"
        f"The tower is ninety metres tall[999], as https://invented.example/page shows. "
        f"The lighthouse was closed in 1901 【{true}†source】. In 1901 it was sold."
    )


@contextmanager
def model(*script: object) -> Iterator[ModelServer]:
    with serve_model(list(script)) as server:  # type: ignore[arg-type]
        yield server


async def test_what_a_model_invents_is_left_out(researchers: Researchers) -> None:
    with model(liar) as server:
        async with researcher(researchers, server) as client:
            found = await client.research(QUESTION, depth="quick")
    result = found.result
    assert found.state == "done" and result["model"] == "test-model" and result["plan"]["by"] == "test-model"
    body = found.report.split("## Dates of the sources")[0]
    assert "38 metres tall" in body and not [word for word in INVENTED if word in body]
    assert "invented.example" not in found.report and "[999]" not in found.report
    ids = {row["id"] for row in found.ledger}
    assert all(set(claim["ledger"]) <= ids for claim in found.claims)
    assert all(claim["verdict"] == "supported" for claim in found.claims if claim["kept"])
    assert len([claim for claim in found.claims if not claim["kept"]]) == 4
    assert result["budget"]["used"]["tokens"] > 0


async def test_a_failing_sentence_is_rewritten_once(researchers: Researchers) -> None:
    def careless(asked: EngineReply) -> Step:
        if "JSON" in asked.text:
            return reply(PLAN)
        true = numbered(asked, "38 metres tall")
        if "do not support these sentences" in asked.text:
            return reply(f"1: The Gull Point Lighthouse is 38 metres tall[{true}].")
        return reply(f"The Gull Point Lighthouse is 83 metres tall[{true}].")

    with model(careless) as server:
        async with researcher(researchers, server) as client:
            found = await client.research(QUESTION, depth="quick")
        assert len(server.requests) == 3
    [claim] = [claim for claim in found.claims if claim["kept"]]
    assert claim["rewritten"] and claim["text"] == "The Gull Point Lighthouse is 38 metres tall."


async def test_a_model_that_fails_in_the_middle_is_replaced_and_that_is_said(researchers: Researchers) -> None:
    with model(reply(PLAN), error(401, "no such key")) as server:
        async with researcher(researchers, server) as client:
            found = await client.research(QUESTION, depth="quick")
    assert found.state == "done" and "41 metres" in found.report and found.result["plan"]["by"] == "test-model"
    assert [notice["detail_code"] for notice in found.result["notices"]] == ["model_replaced"]
    assert "built-in writer" in found.report


async def test_a_model_that_is_not_there_any_more_is_replaced_and_that_is_said(researchers: Researchers) -> None:
    with model(reply(PLAN)) as server:
        async with researcher(researchers, server) as client:
            options = {"depth": "quick", "model": "test-model", "wait_for_plan": True}
            job = await client.research_service.create(QUESTION, options)
            await client.research_service.wait(job.id)
    async with researchers.client() as client:
        await client.research_service.accept(job.id)
        found = Research.of(await client.research_service.wait(job.id))
    assert found.state == "done" and found.claims
    assert [notice["detail_code"] for notice in found.result["notices"]] == ["model_replaced"]
    assert "test-model" in found.result["notices"][0]["message"]


async def test_a_budget_of_tokens_forces_the_embedded_writer(researchers: Researchers) -> None:
    with model(liar) as server:
        async with researcher(researchers, server) as client:
            found = await client.research(QUESTION, depth="quick", budget={"tokens": 0})
        assert not server.requests
    assert found.state == "done" and found.claims and found.result["budget"]["reached"] == ["tokens"]


def test_a_plan_that_is_none_is_refused() -> None:
    assert read_plan("I would search the web.", "m") is None and read_plan('{"sub_questions": 3}', "m") is None
    plan = read_plan('Here: {"sub_questions": ["One?", {"question": "Two?", "queries": ["two"]}]}', "m")
    assert plan and [part.question for part in plan.sub_questions] == ["One?", "Two?"] and plan.by == "m"


def test_sentences_of_a_model_keep_their_markers() -> None:
    text = "# Head\n\n- **A** is b. [1, 2] C is d【3】。\n\n| x | y |\n\nE [f](https://x.example/a_(b)) is g.[4](https://y.example)"
    assert marked_sentences(text) == [(1, "A is b[1][2]."), (1, "C is d[3]。"), (3, "E f is g[4].")]
