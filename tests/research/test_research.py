"""Research on the demo web: a plan, a ledger, and a report in which every sentence can be traced."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from research.researchers import Researchers
from support.timing import PATIENCE, eventually, until
from suyuan.cli.main import build_parser, main
from suyuan.client import AsyncClient
from suyuan.config.settings import Settings
from suyuan.core.document import Document
from suyuan.core.errors import InvalidInput
from suyuan.demo.site import SEARCH_HOST
from suyuan.messages.catalog import Texts
from suyuan.research.gathering import EvidenceGathering
from suyuan.research.plan import SubQuestion, is_broad, make_plan, plan_from
from suyuan.research.report import Research
from suyuan.research.request import ResearchRequest, request_from
from suyuan.research.settings import ResearchSettings
from suyuan.store.research import ResearchStore

QUESTION = "How tall is the Gull Point Lighthouse, and who was its last keeper?"
CITED = re.compile(r"\[\[(\d+)\]\]\(([^)]+)\)")


def check(result: dict[str, Any]) -> None:
    """What holds for every report: each citation is in the ledger, with the address and words of a page."""
    rows = {row["id"]: row for row in result["ledger"]}
    assert list(rows) == list(range(1, len(rows) + 1))
    for number, url in CITED.findall(result["report"]):
        assert rows[int(number)]["final_url"] == url
    for row in rows.values():
        assert row["end"] - row["start"] == len(row["text"]) and re.fullmatch("[0-9a-f]{64}", row["sha256"])
        assert row["origin"] and row["fetched_at"] and row["title"] and row["engine"] and row["query"]
    for claim in result["claims"]:
        assert not claim["kept"] or (claim["ledger"] and claim["verdict"] in ("supported", "weak"))
        assert set(claim["ledger"]) <= set(rows)


async def test_a_question_becomes_a_report_that_cites_what_was_read(researchers: Researchers) -> None:
    async with researchers.client() as client:
        found = await client.research(QUESTION, depth="quick")
        result = found.as_dict()
        check(result)
        assert found.state == "done" and "41 metres" in found.report and "Jonas Whitlock" in found.report
        assert {source["status"] for source in found.sources} == {"read"}
        # What a row says of its page is what the page says when it is read again.
        row = found.ledger[0]
        page = await client.read(row["url"])
        assert page.text[row["start"] : row["end"]] == row["text"] and page.sha256 == row["sha256"]
        assert [each["engine"] for each in result["receipts"][0]["engines"]] == ["demo_refusing", "demo"]


async def test_a_chinese_question_gets_a_chinese_report(researchers: Researchers) -> None:
    async with researchers.client() as client:
        found = await client.research("听潮大桥的总设计师是谁？", depth="quick")
    check(found.as_dict())
    assert "顾承川" in found.report and "参考文献" in found.report and "搜索记录" in found.report


async def test_texts_are_judged_outside_of_the_event_loop(
    researchers: Researchers, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, judge = [], EvidenceGathering._is_answered

    def watched(self: EvidenceGathering, at: int, part: SubQuestion) -> bool:
        judged.append(threading.current_thread())
        return judge(self, at, part)

    monkeypatch.setattr(EvidenceGathering, "_is_answered", watched)
    async with researchers.client() as client:
        await client.research(QUESTION, depth="quick")
    assert judged and threading.current_thread() not in judged, "a deep job would stop the server for seconds"


@pytest.mark.parametrize("limit", ["searches", "pages"])
async def test_a_budget_forces_the_report(researchers: Researchers, limit: str) -> None:
    async with researchers.client() as client:
        found = await client.research(QUESTION, budget={limit: 1})
    result = found.as_dict()
    check(result)
    assert found.state == "done" and result["budget"]["reached"] == [limit] and result["budget"]["used"][limit] == 1
    assert found.claims and "ended by a limit" in found.report


async def test_money_is_spent_to_the_limit_and_no_further(researchers: Researchers) -> None:
    """What was found for the money is read: pages cost nothing."""
    settings = ResearchSettings(search_price=0.1)
    async with researchers.client(research=settings) as client:
        found = await client.research(
            "How tall is Gull Point, when did the Wren Bridge open; what is Marl; who is Pim?", budget={"money": 0.3}
        )
        result = found.as_dict()
        poor = await client.research(QUESTION, budget={"money": 0.05})
    assert result["budget"]["reached"] == ["money"] and result["budget"]["used"]["searches"] == 3
    assert result["budget"]["used"]["money"] == pytest.approx(0.3)
    assert found.state == "done" and found.claims and result["counts"]["read"]
    assert poor.state == "done" and poor.result["budget"]["used"]["money"] == 0 and "money" in poor.report


async def test_a_budget_of_money_without_any_price_is_refused(researchers: Researchers) -> None:
    async with researchers.client() as client:
        with pytest.raises(InvalidInput) as refused:
            await client.research(QUESTION, budget={"money": 0.3})
        assert refused.value.detail_code == "no_price" and "research.searchPrice" in refused.value.hint
        assert not await client.research_service.find()


async def test_no_time_at_all_still_gives_a_report(researchers: Researchers) -> None:
    async with researchers.client() as client:
        service = client.research_service
        job = await service.create(QUESTION, {"wait_for_plan": True, "budget": {"seconds": 1}})
        await service.wait(job.id)
        await asyncio.to_thread(service.store.keep, job.id, [("later", "note", {"elapsed": 5})])
        await service.accept(job.id)
        found = Research.of(await service.wait(job.id))
    assert found.state == "done" and found.result["budget"]["reached"] == ["seconds"] and not found.ledger
    assert "No search was finished" in found.report


async def test_a_page_that_the_time_limit_cut_off_is_listed_as_unread(
    researchers: Researchers, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, hanging = AsyncClient.read, list[str]()

    async def hangs_once(client: AsyncClient, url: str, **options: Any) -> Document:
        if not hanging:
            hanging.append(url)
            await asyncio.get_running_loop().create_future()
        return await read(client, url, **options)

    monkeypatch.setattr(AsyncClient, "read", hangs_once)
    async with researchers.client() as client:
        found = await client.research(QUESTION, depth="quick", budget={"seconds": 5})
    assert found.state == "done" and found.result["budget"]["reached"] == ["seconds"]
    assert [source["url"] for source in found.sources if source["status"] == "failed"] == hanging


async def test_the_plan_waits_and_can_be_edited(researchers: Researchers) -> None:
    async with researchers.client() as client:
        service = client.research_service
        job = await service.create(QUESTION, {"wait_for_plan": True, "depth": "quick"})
        waiting = await service.wait(job.id)
        assert waiting.state == "awaiting_plan" and waiting.plan and len(waiting.plan["sub_questions"]) == 2
        with pytest.raises(InvalidInput):
            await service.edit(job.id, {"sub_questions": []})
        plan = {"sub_questions": [{"question": "What is a Bloom filter?", "queries": ["Bloom filter"]}]}
        await service.accept(job.id, plan)
        done = await service.wait(job.id)
    assert done.state == "done" and done.result and done.result["plan"]["by"] == "user"
    assert [receipt["query"] for receipt in done.result["receipts"]] == ["Bloom filter"]
    assert "data structure" in done.result["report"] and "Gull Point" not in str(done.result["sources"])


async def test_a_page_that_is_found_again_counts_for_the_later_sub_question_too(researchers: Researchers) -> None:
    """The second sub-question finds nothing at first, and then a page that was read for the first one."""
    plan = {
        "sub_questions": [
            {"question": "How tall is the Gull Point Lighthouse?", "queries": ["Gull Point Lighthouse"]},
            {"question": "Who was the last keeper of the Gull Point Lighthouse?", "queries": ["xyzzy"]},
        ]
    }
    async with researchers.client() as client:
        service = client.research_service
        job = await service.create(QUESTION, {"wait_for_plan": True})
        await service.wait(job.id)
        await service.accept(job.id, plan)
        result = (await service.wait(job.id)).result
    assert result and [each["query"] for each in result["receipts"]][1] == "xyzzy"
    keeper = [claim["text"] for claim in result["claims"] if claim["kept"] and claim["section"] == 2]
    assert any("Jonas Whitlock" in text for text in keeper)


async def test_follow_tells_every_step_once_and_can_go_on_later(researchers: Researchers) -> None:
    async with researchers.client() as client:
        service = client.research_service
        job = await service.create(QUESTION, {"depth": "quick"})
        events = [(number, event) async for number, event in service.follow(job.id)]
        numbers = [number for number, _ in events if number is not None]
        kinds = [event["kind"] for number, event in events if number is not None]
        assert numbers == list(range(len(numbers))) and events[-1][1] == {"kind": "end", "state": "done", "id": job.id}
        assert {"state", "plan", "search", "page", "ledger", "section"} <= set(kinds)
        assert not any("text" in event for _, event in events), "pages are too large for events"
        later = [number async for number, _ in service.follow(job.id, numbers[3])]
        assert later == [*numbers[4:], None]


async def test_stopping_writes_the_report_of_what_is_there(researchers: Researchers) -> None:
    async with researchers.client() as client:
        service = client.research_service
        job = await service.create(QUESTION, {"depth": "deep"})
        async for _, event in service.follow(job.id):
            if event["kind"] == "page":
                await service.stop(job.id)
        found = Research.of(await service.get(job.id))
    check(found.as_dict())
    assert found.state == "cancelled" and found.claims and "stopped by the user" in found.report


async def test_where_nothing_can_be_searched_the_job_fails_and_can_be_resumed(researchers: Researchers) -> None:
    async with researchers.client() as client:
        service = client.research_service
        job = await service.create(QUESTION, {"depth": "quick", "scope": {"engines": "demo_refusing"}})
        failed = Research.of(await service.wait(job.id))
        assert failed.state == "failed" and failed.result["notices"][0]["detail_code"] == "no_evidence"
        assert "CAPTCHA" in failed.report or "verification" in failed.report
        assert "results: 0" not in failed.report, "a failure is not an empty answer"
        request = {**(await service.get(job.id)).request, "scope": {"engines": "demo"}}
        await asyncio.to_thread(lambda: service.store.change(job.id, request=request))
        await service.resume(job.id)
        found = Research.of(await service.wait(job.id))
    assert found.state == "done" and "41 metres" in found.report


_CHILD = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from suyuan.client import AsyncClient
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.demo.engine import ENGINES, Demo
from suyuan.demo.network import DemoNetwork
from suyuan.demo.site import SEARCH_HOST, DemoSite

async def main(port, folder, question):
    settings = Settings(search=SearchSettings(default=Demo.name), data_dir=Path(folder),
                        engines={Demo.name: EngineSettings(base_url=f"http://{SEARCH_HOST}:{port}")})
    network = DemoNetwork(DemoSite().hosts, frozenset({SEARCH_HOST}), port)
    async with AsyncClient(settings, network=network, engines=ENGINES) as client:
        await client.research(question)

asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
"""


async def test_a_killed_job_goes_on_without_repeating_what_was_done(researchers: Researchers) -> None:
    before = len(researchers.web.requests)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _CHILD, str(researchers.web.port), str(researchers.folder), QUESTION
    )
    store = _opened(researchers.folder)
    try:
        # As soon as the first page is on the disk.
        assert await eventually(lambda: asyncio.to_thread(_has_page, store))
        os.kill(child.pid, signal.SIGKILL)
        await child.wait()
        [job] = store.find()
        done = {step.key for step in store.steps(job.id)}
        read = {step.data["url"] for step in store.steps(job.id) if step.kind == "page"}
    finally:
        store.close()
    asked = len(researchers.web.requests)
    async with researchers.client() as client:
        service = client.research_service
        assert [job.state for job in await service.find()] == ["interrupted"]
        await service.resume(job.id)
        found = Research.of(await service.wait(job.id))
        steps = await asyncio.to_thread(service.store.steps, job.id)
    check(found.as_dict())
    assert found.state == "done" and "41 metres" in found.report
    assert done <= {step.key for step in steps} and len({step.key for step in steps}) == len(steps)
    again = {f"http://{each}" for each in researchers.requests(asked)}
    searches = {f"http://{each}" for each in researchers.web.requests[before:asked] if each.startswith(SEARCH_HOST)}
    assert searches and not again & searches, "a search that was made is not made again"
    assert not again & {_plain(url) for url in read}, "a page that was kept is not read again"


def _plain(url: str) -> str:
    return url.split("#")[0]


def _opened(folder: Path) -> ResearchStore:
    assert until(lambda: (folder / "chat.sqlite").exists(), PATIENCE)
    return ResearchStore(f"sqlite:///{folder / 'chat.sqlite'}")


def _has_page(store: ResearchStore) -> bool:
    return any(step.kind == "page" for job in store.find() for step in store.steps(job.id))


# --- the terminal -----------------------------------------------------------------------------------------------------
def test_the_command_prints_json_with_the_published_fields(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    words = ["--ui", "en", "demo", "research", "--yes", "--json", "--depth", "quick", "--out", str(file)]
    assert main([*words, "Who created the Marl programming language?"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    check(data)
    names = {"id", "state", "report", "ledger", "sources", "claims", "disagreements", "receipts"}
    assert names <= set(data) and data["state"] == "done"
    row = {"id", "url", "final_url", "title", "sha256", "fetched_at", "origin", "text", "start", "end"}
    assert row <= set(data["ledger"][0]) and file.read_text(encoding="utf-8") == data["report"]


def test_jobs_are_listed_shown_and_removed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    store = ResearchStore(f"sqlite:///{tmp_path / 'chat.sqlite'}")
    job = store.create("What is new?", ResearchRequest.of("What is new?").as_dict())
    store.close()
    settings = Settings(data_dir=tmp_path)

    def suyuan(*words: str) -> tuple[int, str]:
        t = Texts("cli", "en")
        args = build_parser(t, "research").parse_args(["research", *words])
        code = args.run(args, settings, t)
        told = capsys.readouterr()
        return code, told.out + told.err

    assert suyuan("list")[1].split()[:2] == [job.id, "queued"]
    assert job.id in suyuan("show", job.id)[1]
    assert suyuan("stop", job.id)[1].split()[:2] == [job.id, "cancelled"]
    assert suyuan("resume", job.id)[0] == 2, "what was cancelled has ended"
    assert suyuan("remove", job.id)[0] == 0
    code, told = suyuan("show", job.id)
    assert code == 2 and "no_research" in told and suyuan("list")[0] == 1


# --- the plan ---------------------------------------------------------------------------------------------------------
def test_a_plan_has_the_parts_of_a_question() -> None:
    plan = make_plan(ResearchRequest.of("比亚迪和特斯拉2023年的销量分别是多少？"))
    assert len(plan.sub_questions) == 2 and not plan.clarifications
    compared = make_plan(ResearchRequest.of("What is the difference between Redis and Valkey?"))
    assert [part.question for part in compared.sub_questions][:2] == ["Redis", "Valkey"]
    own = make_plan(ResearchRequest.of("Port Ember", {"outline": ["Harbour", "Ferry"]}))
    assert [part.question for part in own.sub_questions] == ["Harbour", "Ferry"]
    assert own.sub_questions[1].queries == ("Port Ember Ferry",)


def test_a_bare_topic_is_asked_about_and_gets_the_usual_sides() -> None:
    plan = make_plan(ResearchRequest.of("quantum computing"))
    assert is_broad("量子计算") and not is_broad("量子计算是谁提出的？")
    assert len(plan.sub_questions) == 4 and 1 <= len(plan.clarifications) <= 3
    assert plan_from(plan.as_dict()) == plan


@pytest.mark.parametrize(
    "options",
    [{"depth": "endless"}, {"budget": {"pages": 0}}, {"budget": {"wishes": 3}}, {"scope": {"place": "x"}},
     {"webhook": "ftp://x"}, {"unheard": 1}, {"scope": {"freshness": "soon"}}],
)  # fmt: skip
def test_a_bad_request_says_what_is_wrong(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as error:
        ResearchRequest.of("x", options)
    assert error.value.hint


def test_a_request_comes_back_as_it_was_stored() -> None:
    options = {"depth": "deep", "budget": {"pages": 7}, "scope": {"languages": ["zh"], "freshness": "year"}}
    request = ResearchRequest.of("问题", options)
    assert request_from(request.as_dict()) == request and request.budget.pages == 7 and request.lang == "zh"


# --- the store --------------------------------------------------------------------------------------------------------
def test_a_damaged_step_counts_as_not_done(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    store = ResearchStore(f"sqlite:///{file}")
    job = store.create("q", {"question": "q"})
    store.keep(job.id, [("a", "search", {"n": 1}), ("b", "page", {"n": 2}), ("a", "search", {"n": 3})])
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE suyuan_research_steps SET data = '{\"n\":9}' WHERE key = 'b'")
    raw.close()
    assert [(step.key, step.data) for step in store.steps(job.id)] == [("a", {"n": 1})]
    store.forget(job.id, ())
    store.keep(job.id, [("b", "page", {"n": 4})])
    assert [step.data["n"] for step in store.steps(job.id)] == [1, 4]
    store.close()


async def test_what_is_answered_to_a_question_back_is_searched_for(researchers: Researchers) -> None:
    async with researchers.client() as client:
        service = client.research_service
        job = await service.wait((await service.create("Gull Point", {"depth": "quick", "wait_for_plan": True})).id)
        plan = dict(job.plan or {})
        assert 0 < len(plan["clarifications"]) <= 3
        skipped = await service.accept(job.id)
        assert (skipped.plan or {})["sub_questions"] == plan["sub_questions"], "questions back can be skipped"
        await service.wait(job.id)
        job = await service.wait((await service.create("Gull Point", {"depth": "quick", "wait_for_plan": True})).id)
        asked, *others = plan["clarifications"]
        told = {**plan, "clarifications": [{**asked, "answer": "height of the lighthouse in metres"}, *others]}
        await service.accept(job.id, told)
        found = Research.of(await service.wait(job.id))
    first = found.result["plan"]["sub_questions"][0]["question"]
    assert first == "Gull Point height of the lighthouse in metres"
    assert any(receipt["query"] == first for receipt in found.result["receipts"])
    assert any("41 metres" in claim["text"] for claim in found.claims if claim["section"] == 1)
