"""The JSON interface, asked over real sockets."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from fastapi.routing import APIRoute

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from prometheus_client.parser import text_string_to_metric_families

from server.serving import QUESTION, client, searxng, serving, settings_of, talking
from support.oai import reply as says
from support.oai import serve_model, stall
from support.site import serve
from support.site import stall as never
from support.timing import PATIENCE, eventually, quickest, seconds_of, soon
from suyuan.config.settings import ServerSettings
from suyuan.core.causes.store import STORE_UNREACHABLE
from suyuan.llm.settings import ModelSettings
from suyuan.server import api
from suyuan.server.direct import _direct
from suyuan.server.errors import preferred
from suyuan.server.limits import OpenStreams
from suyuan.server.sse import EventStream, message


def model_at(url: str) -> ModelSettings:
    return ModelSettings("openai", "test-model", url)


class TestConversations:
    async def test_create_change_delete_and_restore(self) -> None:
        async with talking() as ask:
            id = await ask.conversation(mode="chat", search=False, lang="en")
            status, got = await ask("GET", f"/api/conversations/{id}")
            assert status == 200 and got["mode"] == "chat" and got["search"] is False and got["running"] is None
            status, changed = await ask(
                "PATCH", f"/api/conversations/{id}", {"title": "Snakes\n and ladders", "search": True}
            )
            assert status == 200 and changed["title"] == "Snakes and ladders" and changed["search"] is True
            assert (await ask("DELETE", f"/api/conversations/{id}"))[0] == 204
            assert (await ask("GET", f"/api/conversations/{id}"))[0] == 404
            status, back = await ask("POST", f"/api/conversations/{id}/restore")
            assert status == 200 and back["title"] == "Snakes and ladders"

    async def test_the_list_can_be_searched_and_paged(self) -> None:
        async with talking() as ask:
            for title in ("apples", "pears", "apples and pears"):
                await ask("PATCH", f"/api/conversations/{await ask.conversation()}", {"title": title})
            _, found = await ask("GET", "/api/conversations?text=apples")
            assert {each["title"] for each in found["conversations"]} == {"apples", "apples and pears"} and found[
                "more"
            ] is False
            _, first = await ask("GET", "/api/conversations?limit=2")
            _, rest = await ask("GET", "/api/conversations?limit=2&offset=2")
            assert (
                len(first["conversations"]) == 2
                and first["more"]
                and len(rest["conversations"]) == 1
                and not rest["more"]
            )

    @pytest.mark.req("C1.2")
    async def test_in_agent_mode_the_switch_is_locked_in_both_languages(self) -> None:
        async with talking() as ask:
            id = await ask.conversation(mode="agent")
            for lang, words in (
                ("zh-CN,zh;q=0.9,en;q=0.8", "Agent 模式下由 AI 自动决策搜索"),
                ("en", "In Agent mode the AI decides"),
            ):
                status, told = await ask("PATCH", f"/api/conversations/{id}", {"search": True}, Accept_Language=lang)
                assert (
                    status == 409
                    and told["error"]["detail_code"] == "switch_locked"
                    and words in told["error"]["message"]
                )

    @pytest.mark.req("C1.3", "C10.4")
    async def test_the_switch_is_restored_after_agent_mode_and_confirmed_fast(self) -> None:
        async with talking() as ask:
            id = await ask.conversation(search=True)

            async def back() -> float:
                await ask("PATCH", f"/api/conversations/{id}", {"mode": "agent"})
                started = time.monotonic()
                _, changed = await ask("PATCH", f"/api/conversations/{id}", {"mode": "chat"})
                assert changed["search"] is True
                return time.monotonic() - started

            assert await quickest(back, 0.5) < 0.5

    @pytest.mark.req("C1.1")
    async def test_commands_change_the_conversation_and_start_no_answer(self) -> None:
        async with talking() as ask:
            id = await ask.conversation(search=False)
            status, told = await ask("POST", f"/api/conversations/{id}/messages", {"text": "/search on"})
            assert status == 200 and told["command"] == "search" and told["conversation"]["search"] is True
            status, told = await ask("POST", f"/api/conversations/{id}/messages", {"text": "/dance"})
            assert status == 400 and told["error"]["detail_code"] == "bad_command"
            assert (await ask("GET", f"/api/conversations/{id}/messages"))[1] == {"messages": []}

    async def test_two_windows_show_the_same_state(self) -> None:
        async with talking() as ask:
            id = await ask.conversation(search=False)
            seen: list[dict[str, Any]] = []

            async def watch() -> None:
                async for _, name, data in ask.events(f"/api/conversations/{id}/changes"):
                    assert name == "change"
                    seen.append(data)
                    if data["kind"] == "deleted":
                        return

            async with asyncio.timeout(PATIENCE):
                watching = asyncio.ensure_future(watch())
                while not seen:
                    await asyncio.sleep(0.01)
                await ask("PATCH", f"/api/conversations/{id}", {"search": True})
                run = await ask.ask(id)
                await ask.answer(run)
                while seen[-1]["kind"] != "run.finished":
                    await asyncio.sleep(0.01)
                await ask("DELETE", f"/api/conversations/{id}")
                await watching
            assert [each["kind"] for each in seen] == ["settings", "settings", "run.started", "run.finished", "deleted"]
            assert (
                seen[1]["conversation"]["search"] is True
                and seen[2]["run"] == run
                and seen[2]["conversation"]["running"] == run
            )

    @pytest.mark.parametrize(
        ("form", "kind"), [("md", "text/markdown"), ("html", "text/html"), ("json", "application/json")]
    )
    async def test_export(self, form: str, kind: str) -> None:
        async with talking() as ask:
            id = await ask.conversation()
            await ask.answer(await ask.ask(id))
            title = '../问题 "a"\r\nX: <b>/\u202e' + "x" * 300
            await ask("PATCH", f"/api/conversations/{id}", {"title": title})
            async with ask.session.get(f"{ask.url}/api/conversations/{id}/export?form={form}") as response:
                text, place = await response.text(), response.headers["Content-Disposition"]
            assert (
                response.content_type == kind and "https://python.example/314" in text and "X" not in response.headers
            )
            name = unquote(place.split("filename*=UTF-8''")[1])
            assert (
                name.startswith("问题 a X b xxx")
                and name.endswith(f".{form}")
                and not set(name) & set('/\\"<>:|?*\u202e\r\n')
            )
            assert place.startswith('attachment; filename="') and len(name) < 100

    async def test_an_unknown_export_format_is_refused(self) -> None:
        async with talking() as ask:
            status, told = await ask("GET", f"/api/conversations/{await ask.conversation()}/export?form=docx")
            assert status == 400 and "form" in told["error"]["message"]


class TestAnswers:
    @pytest.mark.req("C3.1", "C4.4")
    async def test_a_message_is_searched_and_answered_with_sources(self) -> None:
        async with talking() as ask:
            id = await ask.conversation()
            run = await ask.ask(id)
            events = await ask.all_events(f"/api/runs/{run}/events")
            kinds = [name for _, name, _ in events]
            assert (
                kinds[0] == "turn.started"
                and "search.finished" in kinds
                and "sources" in kinds
                and kinds[-1] == "answer"
            )
            assert [int(number) for number, _, _ in events] == list(range(len(events)))
            answer = events[-1][2]
            assert (
                "October 7, 2025" in answer["text"] and "[1]" in answer["text"] and answer["sources"][0]["number"] == 1
            )
            assert "".join(data["text"] for _, name, data in events if name == "text") == answer["text"]
            _, told = await ask("GET", f"/api/conversations/{id}/messages")
            assert [each["role"] for each in told["messages"]] == ["user", "assistant"] and told["messages"][1][
                "state"
            ] == "done"

    @pytest.mark.req("C3.2")
    async def test_with_the_switch_off_nothing_is_searched(self) -> None:
        async with serve(searxng()) as site:
            with serving(settings_of(site.url)) as served:
                async with client(served.url) as ask:
                    await ask.answer(await ask.ask(await ask.conversation(search=False)))
            # The start-up check has queries of its own.
            assert not [seen for seen in site.seen if "Python" in seen.params.get("q", "")]

    @pytest.mark.req("C10.4", "C1.1", "C3.1", "C3.2")
    async def test_a_toggle_is_confirmed_and_the_next_message_follows_it(self) -> None:
        async with serve(searxng()) as site:
            with serving(settings_of(site.url)) as served:
                async with client(served.url) as ask:
                    id = await ask.conversation(search=True)
                    for state in (False, True, False):
                        changed = (await ask("PATCH", f"/api/conversations/{id}", {"search": state}))[1]
                        kept = (await ask("GET", f"/api/conversations/{id}"))[1]
                        assert changed["search"] is kept["search"] is state
                        before = len(site.seen)
                        answer = await ask.answer(await ask.ask(id))
                        assert bool(answer["sources"]) is state
                        queries = [seen.params.get("q", "") for seen in site.seen[before:]]
                        assert any("Python" in query for query in queries) is state

    async def test_an_interrupted_stream_continues_without_loss_or_repetition(self) -> None:
        with serve_model(says("one two three four five six seven eight", delay=0.03)) as model:
            async with talking(model=model_at(model.url)) as ask:
                run = await ask.ask(await ask.conversation(search=False))
                path = f"/api/runs/{run}/events"
                got: list[tuple[str, str, dict[str, Any]]] = []
                last = ""
                async with asyncio.timeout(PATIENCE):
                    while not got or got[-1][1] != "answer":
                        headers = {"Last_Event_ID": last} if last else {}
                        async for event in ask.events(path, **headers):
                            got.append(event)
                            last = event[0]
                            if len(got) % 3 == 0:
                                break  # the connection breaks, again and again
                assert [int(number) for number, _, _ in got] == list(range(len(got)))
                assert (
                    "".join(data["text"] for _, name, data in got if name == "text")
                    == "one two three four five six seven eight"
                )

    async def test_a_run_of_an_earlier_server_is_read_from_the_store(self, tmp_path: Path) -> None:
        async with serve(searxng()) as site:
            settings = settings_of(site.url, data=tmp_path)
            with serving(settings) as served:
                async with client(served.url) as ask:
                    run = await ask.ask(await ask.conversation())
                    before = await ask.answer(run)
            with serving(settings) as served:
                async with client(served.url) as ask:
                    events = await ask.all_events(f"/api/runs/{run}/events")
                    kinds = [name for _, name, _ in events]
                    assert "search.finished" in kinds and kinds[-1] == "answer" and events[-1][2] == before
                    assert (await ask("POST", f"/api/runs/{run}/stop"))[1] == {"run": run, "stopped": False}

    async def test_one_answer_at_a_time_and_stop_ends_the_model(self) -> None:
        with serve_model([[says("Hello "), stall(600)]]) as model:
            async with talking(model=model_at(model.url)) as ask:
                id = await ask.conversation(search=False)

                async def stop() -> float:
                    run = await ask.ask(id)
                    async with asyncio.timeout(PATIENCE):
                        async for _, name, _ in ask.events(f"/api/runs/{run}/events"):
                            if name == "text":
                                break
                    status, told = await ask("POST", f"/api/conversations/{id}/messages", {"text": "And?"})
                    assert status == 409 and told["error"]["detail_code"] == "answer_under_way"
                    started = time.monotonic()
                    assert (await ask("POST", f"/api/runs/{run}/stop"))[1]["stopped"] is True
                    answer = await ask.answer(run)
                    assert answer["stopped"] and answer["text"].strip() == "Hello"
                    return time.monotonic() - started

                assert await quickest(stop, 2.0) < 2
                status, _ = await ask("POST", f"/api/conversations/{id}/messages", {"text": "And?"})
                assert status == 202

    async def test_retry_and_instead_of(self) -> None:
        async with talking() as ask:
            id = await ask.conversation()
            first = await ask.ask(id)
            await ask.answer(first)
            status, again = await ask("POST", f"/api/conversations/{id}/retry", {"answer": first})
            assert status == 202 and again["run"] != first
            await ask.answer(again["run"])
            _, told = await ask("GET", f"/api/conversations/{id}/messages")
            question, answer = told["messages"]
            assert answer["id"] == again["run"] and question["text"] == QUESTION
            body = {"text": "What is Python?", "instead_of": question["id"]}
            _, begun = await ask("POST", f"/api/conversations/{id}/messages", body)
            await ask.answer(begun["run"])
            _, told = await ask("GET", f"/api/conversations/{id}/messages")
            assert [each["text"] for each in told["messages"] if each["role"] == "user"] == ["What is Python?"]

    async def test_a_server_that_stops_ends_and_stores_a_running_answer(self, tmp_path: Path) -> None:
        with serve_model([[says("Half "), stall(600)]]) as model:
            settings = settings_of(data=tmp_path, model=model_at(model.url))
            ended: list[str] = []
            with serving(settings) as served:
                async with client(served.url) as ask:
                    id = await ask.conversation(search=False)
                    run = await ask.ask(id)
                    begun = asyncio.Event()

                    async def follow() -> None:
                        async for _, name, _ in ask.events(f"/api/runs/{run}/events"):
                            ended.append(name)
                            if name == "text":
                                begun.set()

                    following = asyncio.ensure_future(follow())
                    async with asyncio.timeout(PATIENCE):
                        await begun.wait()
                    await asyncio.to_thread(_end, served)
                    async with asyncio.timeout(PATIENCE):
                        await following
            assert ended[-1] == "answer"
            with serving(settings) as served:
                async with client(served.url) as ask:
                    _, told = await ask("GET", f"/api/conversations/{id}/messages")
                    assert told["messages"][1]["state"] == "stopped" and told["messages"][1]["text"].strip() == "Half"


def _end(served: Any) -> None:
    from suyuan.server.app import drain

    asyncio.run_coroutine_threadsafe(drain(served.app), served.loop).result(PATIENCE)


class TestSearchAndPages:
    async def test_search_returns_items_and_the_receipt(self) -> None:
        async with talking() as ask:
            status, found = await ask(
                "POST", "/api/search", {"query": "python", "count": 1, "allowed_domains": ["python.example"]}
            )
            assert status == 200 and [item["rank"] for item in found["items"]] == [1]
            assert found["receipt"][0]["engine"] == "searxng" and found["receipt"][0]["outcome"] == "ok"

    async def test_a_focus_chooses_the_engines_and_an_unknown_one_is_refused(self) -> None:
        async with talking() as ask:
            status, found = await ask("POST", "/api/search", {"query": "python", "focus": "web"})
            assert status == 200 and found["receipt"][0]["engine"] == "searxng"
            status, told = await ask("POST", "/api/search", {"query": "python", "focus": "sports"})
            assert status == 400 and "academic" in json.dumps(told)

    async def test_nothing_found_is_no_error(self) -> None:
        async with talking(searxng([])) as ask:
            status, found = await ask("POST", "/api/search", {"query": "xqzt", "engines": "searxng"})
            assert status == 200 and found["items"] == [] and found["receipt"][0]["outcome"] == "empty"

    async def test_a_failed_search_is_an_error_with_its_receipt(self) -> None:
        with serving(settings_of()) as served:
            async with client(served.url) as ask:
                status, told = await ask("POST", "/api/search", {"query": "x"}, Accept_Language="zh")
                assert (
                    status == 502 and told["error"]["code"] == "NetworkError" and "没有响应" in told["error"]["message"]
                )
                assert {each["engine"] for each in told["receipt"]} >= {"searxng", "ddg_html"}

    async def test_bad_input_names_what_is_wrong(self) -> None:
        wrong: list[tuple[Any, str]] = [
            ({"query": ""}, "query"), ({"query": "x", "count": 11}, "number"), ({"query": 3}, "query"), ({}, "query"),
            ({"query": "x", "nonsense": 1}, "nonsense"), ({"query": "x", "engines": "altavista"}, "altavista"),
            ([], "read"),
        ]  # fmt: skip
        async with talking() as ask:
            for body, where in wrong:
                status, told = await ask("POST", "/api/search", body)
                assert status == 400 and told["error"]["code"] == "InvalidInput", body
                assert where in told["error"]["message"] and told["error"]["hint"], body
            # A form of another website cannot send JSON under its own name.
            for kind in ("text/plain", "application/x-www-form-urlencoded"):
                status, told = await ask("POST", "/api/conversations", {"search": False}, Content_Type=kind)
                assert (status, told["error"]["code"]) == (400, "InvalidInput")
            assert (await ask("GET", "/api/conversations"))[1]["conversations"] == []

    def test_searches_and_questions_do_not_go_through_the_framework(self) -> None:
        routes = {(method, route.path): _direct(route) for route in (*api.web.routes, *api.router.routes)
                  if isinstance(route, APIRoute) for method in route.methods or ()}  # fmt: skip
        for known in (
            ("POST", "/api/search"), ("POST", "/api/conversations"), ("POST", "/api/conversations/{id}/messages"),
            ("GET", "/api/runs/{run}/events"),
        ):  # fmt: skip
            assert routes[known] is not None, known
        assert routes["GET", "/api/conversations"] is None, "it has parameters that the framework reads"

    async def test_a_client_that_disconnects_ends_its_search(self) -> None:
        begun, gone = asyncio.Event(), asyncio.Event()

        async def hanging(writer: asyncio.StreamWriter) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()  # the server's socket was closed

        async with talking(lambda seen: hanging if seen.params.get("q") == "x" else searxng()(seen)) as ask:
            body = {"query": "x", "engines": "searxng", "budget_ms": 60_000}
            asked = asyncio.ensure_future(ask("POST", "/api/search", body))
            async with asyncio.timeout(PATIENCE):
                await begun.wait()
                asked.cancel()
                await gone.wait()

    async def test_pages_of_this_machine_are_not_read(self) -> None:
        async with talking() as ask:
            status, told = await ask("POST", "/api/fetch", {"url": ask.url + "/healthz"})
            assert status == 403 and told["error"]["detail_code"] == "guard_refused"


class TestStatus:
    async def test_engines_and_models(self) -> None:
        async with talking() as ask:
            _, told = await ask("GET", "/api/engines")
            states = {each["name"]: each["state"] for each in told["engines"]}
            assert told["default"] == "auto" and states["searxng"] == "ready" and states["brave"] == "no_key"
            assert (await ask("GET", "/api/models"))[1] == {
                "default": "embedded",
                "models": [{"name": "embedded", "provider": "embedded"}],
            }

    @pytest.mark.req("C2.1", "C8.3")
    async def test_health_returns_the_last_known_state_without_waiting(self) -> None:
        started = time.monotonic()
        async with talking(lambda seen: never) as ask:
            status, told = await ask("GET", "/api/health")
            assert status == 200 and told["searxng"]["state"] in ("unknown", "down")
            assert await quickest(lambda: seconds_of(ask("GET", "/api/health")), 0.4) < 0.4
            async with asyncio.timeout(PATIENCE):
                while told["searxng"]["state"] != "down":
                    await asyncio.sleep(0.1)
                    _, told = await ask("GET", "/api/health")
            assert (
                told["searxng"]["error"]["hint"] and 0 <= told["searxng"]["age_seconds"] <= time.monotonic() - started
            )

    @pytest.mark.req("C2.1", "C6.1")
    async def test_searxng_is_checked_at_the_start(self) -> None:
        async with serve(searxng()) as site:
            with serving(settings_of(site.url)):
                assert await soon(lambda: {"/healthz", "/search"} <= {seen.path for seen in site.seen})

    @pytest.mark.req("C2.5")
    async def test_the_result_of_the_start_up_check_is_reported(self) -> None:
        async with talking(lambda seen: searxng()(seen) if seen.path == "/healthz" else _forbidden) as ask:
            told: dict[str, Any] = {"notice": None}
            async with asyncio.timeout(PATIENCE):
                while told["notice"] is None:
                    await asyncio.sleep(0.1)
                    _, told = await ask("GET", "/api/health", Accept_Language="en")
            assert "JSON" in told["notice"]["message"] and told["notice"]["hint"]

    async def test_the_openapi_document(self) -> None:
        async with talking() as ask:
            _, told = await ask("GET", "/api/openapi.json")
            routes = {(method, path) for path, methods in told["paths"].items() for method in methods}
            assert {
                ("post", "/api/conversations/{id}/messages"),
                ("get", "/api/runs/{run}/events"),
                ("post", "/v1/chat/completions"),
            } <= routes
            assert (
                told["components"]["schemas"]["NewMessage"]["examples"]
                and told["components"]["schemas"]["ErrorOut"]["examples"]
            )
            for path in ("/docs", "/redoc"):
                assert (await ask("GET", path))[0] == 404

    async def test_metrics(self) -> None:
        async with talking() as ask:
            await ask.answer(await ask.ask(await ask.conversation()))
            await ask("GET", "/no/such/path")
            text = ""
            # What has been answered is counted a moment later.
            expected = ("suyuan_turns_running 0", "suyuan_streams_open 0", "suyuan_turns_total{", 'path="other"')
            async with asyncio.timeout(PATIENCE):
                while not all(words in text for words in expected):
                    _, text = await ask("GET", "/metrics")
        families = list(text_string_to_metric_families(text))
        samples = {
            (sample.name, tuple(sample.labels.values())): sample.value
            for family in families
            for sample in family.samples
        }
        assert samples["suyuan_searches_total", ("searxng", "ok")] == 1
        assert samples["suyuan_turns_total", ("chat", "ok")] == 1 and samples["suyuan_turns_running", ()] == 0
        # The labels are in the order of their names: method, path, status.
        assert samples["suyuan_http_requests_total", ("POST", "/api/conversations/{id}/messages", "202")] == 1
        assert samples["suyuan_http_requests_total", ("GET", "other", "404")] == 1
        assert samples["suyuan_http_request_seconds_bucket", ("+Inf",)] >= 3
        assert samples["suyuan_turn_seconds_count", ()] == 1 and samples["suyuan_streams_open", ()] == 0
        assert {family.name: family.type for family in families if not family.name.endswith("_created")} == {
            "suyuan_http_requests": "counter",
            "suyuan_http_request_seconds": "histogram",
            "suyuan_searches": "counter",
            "suyuan_turns": "counter",
            "suyuan_turn_seconds": "histogram",
            "suyuan_turns_running": "gauge",
            "suyuan_streams_open": "gauge",
            "suyuan_reader_restarts": "counter",
        }

    async def test_each_server_has_its_own_metrics_also_as_openmetrics(self) -> None:
        async with talking() as ask, talking() as other:
            await ask("GET", "/healthz")
            async with other.session.get(
                other.url + "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
            ) as response:
                text = await response.text()
            assert response.content_type == "application/openmetrics-text" and text.endswith("# EOF\n")
            assert "/healthz" not in text and 'path="/healthz"' in (await ask("GET", "/metrics"))[1]

    async def test_all_errors_have_the_same_shape(self) -> None:
        async with talking() as ask:
            for method, path, expected in (
                ("GET", "/api/nothing", 404), ("PUT", "/api/search", 405), ("GET", "/api/runs/none/events", 404),
                ("GET", "/api/conversations/none/messages", 404), ("POST", "/api/runs/none/stop", 404),
                ("POST", "/api/conversations/none/retry", 400), ("GET", "/api/conversations?limit=0", 400),
            ):  # fmt: skip
                status, told = await ask(method, path)
                assert status == expected and set(told["error"]) == {
                    "code",
                    "detail_code",
                    "message",
                    "hint",
                    "retryable",
                    "retry_after",
                }, path


async def _forbidden(writer: asyncio.StreamWriter) -> None:
    page = b"<html><title>403 Forbidden</title></html>"
    head = f"HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
    writer.write(head.encode() + page)
    await writer.drain()
    writer.close()


class TestStreams:
    """The stream itself, without a server around it."""

    class App:
        class state:
            streams = OpenStreams(ServerSettings())

    def scope(self) -> dict[str, Any]:
        return {
            "type": "http",
            "app": self.App,
            "client": ("127.0.0.1", 1),
            "headers": [],
            "path": "/",
            "method": "GET",
            "query_string": b"",
        }

    async def test_a_client_that_does_not_read_is_dropped_after_a_while(self) -> None:
        made = 0

        async def messages() -> AsyncIterator[bytes]:
            nonlocal made
            while True:
                made += 1
                yield message({"n": made})

        async def send(sent: Any) -> None:
            if sent.get("body"):
                await asyncio.Event().wait()  # a client that takes nothing

        async with asyncio.timeout(PATIENCE):
            await EventStream(messages(), heartbeat=0.1, timeout=0.3)(self.scope(), _silent, send)
        assert made == 1, "nothing is made for a client that does not take it"
        assert len(self.App.state.streams) == 0

    async def test_a_failure_on_the_way_is_the_last_event(self) -> None:
        sent: list[Any] = []

        async def messages() -> AsyncIterator[bytes]:
            yield message({"n": 1})
            raise STORE_UNREACHABLE(where="db", why="gone")

        async def send(part: Any) -> None:
            sent.append(part)

        await EventStream(messages())(self.scope(), _silent, send)
        assert [part["type"] for part in sent].count("http.response.start") == 1, "a response begins once"
        assert b"event: error" in sent[-2]["body"] and b"StoreError" in sent[-2]["body"]
        assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
        assert len(self.App.state.streams) == 0

    async def test_heartbeats_are_sent_in_silence(self) -> None:
        sent: list[bytes] = []

        def comments() -> int:
            return sum(body.startswith(b":") for body in sent)

        async def messages() -> AsyncIterator[bytes]:
            assert await soon(lambda: comments() == 3)
            yield message("end")

        async def send(each: Any) -> None:
            sent.append(each.get("body", b""))

        lasted = await seconds_of(EventStream(messages(), heartbeat=0.1)(self.scope(), _silent, send))
        assert sent[-2:] == [b"data: end\n\n", b""]
        assert comments() <= lasted / 0.06, "not more often than is needed"

    def test_messages_with_several_lines_and_half_a_surrogate_pair(self) -> None:
        assert message("a\nb", event="x", id=3) == b"id: 3\nevent: x\ndata: a\ndata: b\n\n"
        assert json.loads(message({"t": "\ud800!"})[6:].decode()) == {"t": "?!"}
        assert message({"zh": "你好", "n": (1, 2**70), "3": "a\nb"}) == (
            'data: {"zh":"你好","n":[1,1180591620717411303424],"3":"a\\nb"}\n\n'.encode()
        )


async def _silent() -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("header", "lang"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-US,en;q=0.9,zh;q=0.8", "en"),
        ("fr,zh;q=0.5", "zh"),
        ("fr; q=0.9, zh; q=0.5", "zh"),
        ("de", "en"),
        ("zh;q=x", "en"),
    ],
)
def test_the_preferred_language(header: str, lang: str) -> None:
    assert preferred(header) == lang


@pytest.mark.req("T7.2")
async def test_the_debug_bundle_of_an_answer() -> None:
    async with talking() as ask:
        id = await ask.conversation(search=True)
        _, begun = await ask("POST", f"/api/conversations/{id}/messages", {"text": QUESTION})
        await ask.answer(begun["run"])
        status, data = await ask("GET", f"/api/runs/{begun['run']}/debug")
        missing, error = await ask("GET", "/api/runs/nothing/debug")
    assert status == 200 and next(iter(data)) == "errors" and data["run"] == begun["run"] and data["receipts"]
    assert missing == 404 and error["error"]["detail_code"] == "no_run"


async def test_old_deleted_conversations_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suyuan.server.app._MAINTENANCE_SECONDS", 0.1)
    monkeypatch.setattr("suyuan.server.app._DELETED_SECONDS", 0)
    monkeypatch.setattr("suyuan.core.clock.PROVEN", 0.0)
    async with talking() as ask:
        id = await ask.conversation()
        assert (await ask("DELETE", f"/api/conversations/{id}"))[0] == 204

        async def gone() -> bool:
            if (await ask("POST", f"/api/conversations/{id}/restore"))[0] == 404:
                return True
            await ask("DELETE", f"/api/conversations/{id}")
            await asyncio.sleep(0.1)
            return False

        assert await eventually(gone)
