"""Research jobs over HTTP, on the demo web."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import client, serving
from suyuan.demo.web import DemoWeb
from suyuan.research.forms import FORMS
from suyuan.server.demo_server import DemoServer

QUESTION = "How tall is the Gull Point Lighthouse?"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    demo = DemoServer()
    try:
        yield demo.start()
    finally:
        demo.close()


async def test_a_plan_is_edited_started_followed_and_exported(url: str) -> None:
    async with client(url) as ask:
        status, job = await ask(
            "POST", "/api/research", {"question": QUESTION, "depth": "quick", "wait_for_plan": True}
        )
        assert status == 202 and job["state"] in ("queued", "planning", "awaiting_plan")
        path = f"/api/research/{job['id']}"
        async for _, name, data in ask.events(f"{path}/events"):
            if name == "state" and data["state"] == "awaiting_plan":
                break
        _, waiting = await ask("GET", path)
        assert waiting["state"] == "awaiting_plan" and waiting["report"] == "" and waiting["ledger"] == []
        plan = waiting["plan"]
        plan["sub_questions"].append({"question": "Who created the Marl programming language?", "queries": []})
        status, edited = await ask("PUT", f"{path}/plan", plan)
        assert status == 200 and len(edited["plan"]["sub_questions"]) == 2 and edited["plan"]["by"] == "user"
        assert edited["plan"]["sub_questions"][1]["queries"] == ["Who created the Marl programming language"]
        assert (await ask("POST", f"{path}/start"))[0] == 202
        events = await ask.all_events(f"{path}/events")
        numbers = [int(id) for id, _, _ in events if id]
        assert numbers == list(range(len(numbers))) and events[-1][1:] == (
            "end",
            {"kind": "end", "state": "done", "id": job["id"]},
        )
        kinds = {name for _, name, _ in events}
        assert {"state", "plan", "search", "page", "ledger", "limit", "section"} <= kinds
        later = await ask.all_events(f"{path}/events", Last_Event_ID=str(numbers[-2]))
        assert [id for id, _, _ in later] == [str(numbers[-1]), ""]
        _, done = await ask("GET", path)
        assert done["state"] == "done" and "41 metres" in done["report"] and done["ledger"] and done["claims"]
        status, text = await ask("GET", f"{path}/export?form=md")
        assert status == 200 and text == done["report"]
        status, outcome = await ask("POST", f"{path}/verify")
        assert status == 200 and outcome["held"] == len(outcome["claims"]) > 0
        _, listed = await ask("GET", "/api/research")
        assert job["id"] in [each["id"] for each in listed["jobs"]] and listed["more"] is False
        assert (await ask("DELETE", path))[0] == 204 and (await ask("GET", path))[0] == 404


async def test_what_cannot_be_done_says_why(url: str) -> None:
    async with client(url) as ask:
        status, error = await ask("POST", "/api/research", {"question": "x", "scope": {"freshness": "soon"}})
        assert status == 400 and error["error"]["detail_code"] == "bad_freshness"
        assert (await ask("POST", "/api/research", {"question": "x", "depth": "endless"}))[0] == 400
        status, error = await ask("GET", "/api/research/none/events")
        assert status == 404 and error["error"]["detail_code"] == "no_research"
        _, job = await ask("POST", "/api/research", {"question": QUESTION, "wait_for_plan": True})
        path = f"/api/research/{job['id']}"
        async for _, name, data in ask.events(f"{path}/events"):
            if name == "state" and data["state"] == "awaiting_plan":
                break
        status, error = await ask("POST", f"{path}/resume", {})
        assert status == 202, "resuming a job that waits takes its plan as it is"
        async for _, name, data in ask.events(f"{path}/events"):
            last = name, data
        assert last[1]["state"] == "done"
        status, error = await ask("PUT", f"{path}/plan", {"sub_questions": [{"question": "x"}]})
        assert status == 409 and error["error"]["detail_code"] == "research_state"
        status, error = await ask("GET", f"{path}/export?form=exe")
        assert status == 400 and error["error"]["detail_code"] == "bad_research"


async def test_a_job_is_stopped(url: str) -> None:
    async with client(url) as ask:
        _, job = await ask("POST", "/api/research", {"question": QUESTION, "depth": "deep"})
        path = f"/api/research/{job['id']}"
        async for _, name, _ in ask.events(f"{path}/events"):
            if name == "search":
                assert (await ask("POST", f"{path}/stop"))[0] == 200
        _, done = await ask("GET", path)
        assert done["state"] in ("cancelled", "done") and done["report"]


async def test_every_view_shows_a_report_whatever_the_dates_of_its_sources() -> None:
    """They come from engines and pages, which may claim any."""
    dates = [
        "0000-01-01",
        "0000",
        "99999-01-01",
        "2024-13-45",
        "2024",
        "2024-05",
        "²²²²-01-01",
        "soon",
        "",
        "2025-02-03",
    ]
    with DemoWeb() as web, serving(web.settings(), connect=web.client) as served:
        async with client(served.url) as ask:
            _, job = await ask("POST", "/api/research", {"question": QUESTION, "depth": "quick"})
            path = f"/api/research/{job['id']}"
            await ask.all_events(f"{path}/events")
            store = served.app.state.client.research_service.store
            result = store.get(job["id"]).result
            assert result["ledger"] and result["sources"], "a report to show"
            entry = {"title": "A dated page", "url": "https://dated.example/", "ledger": [result["ledger"][0]["id"]]}
            result["timeline"] = [{**entry, "date": date} for date in dates]
            for row in (*result["ledger"], *result["sources"]):
                row["published_at"] = row["fetched_at"] = "0000-01-01"
            store.change(job["id"], result=result)
            status, page = await ask("GET", f"/research/{job['id']}", Accept="text/html")
            assert status == 200 and page.count("A dated page</title>") == 3, "those that name a day are on the line"
            # The PDF is the HTML, printed.
            for form in (form for form in FORMS if form != "pdf"):
                async with ask.session.get(f"{served.url}{path}/export?form={form}") as response:
                    assert response.status == 200, form
                    if form == "html":
                        assert "99999-01-01" in await response.text(), "the list has all"
