"""Chat mode, from a message to an answer that can be traced."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest

from support.oai import Answering, Step, drop, error, hold, reply, serve_model, stall, stream_error, think, tool_call
from support.site import Reply, free_port, json_reply, reset
from support.site import reply as page
from support.site import stall as silence
from support.talk import Web, as_json, ask, of, openai, talking
from support.timing import PATIENCE, quickest, soon
from suyuan.chat.events import (
    Answer,
    Notice,
    SearchFailed,
    SearchFinished,
    SearchStarted,
    SourcesFound,
    TextDelta,
    Thinking,
    TurnStarted,
)
from suyuan.chat.runs import Run
from suyuan.chat.turn import Turn
from suyuan.citations.markers import MarkerScanner
from suyuan.client import AsyncClient
from suyuan.config.settings import SearchSettings
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import InvalidInput, SuyuanError
from suyuan.core.failure import Failure
from suyuan.core.secret import Secret
from suyuan.llm.openai_compatible import OpenAICompatibleModel
from suyuan.llm.settings import ModelSettings
from suyuan.store.conversation import Mode

QUESTION = "港珠澳大桥全长多少公里?"


@pytest.mark.req("C1.1", "C3.2", "C5.2", "D1.1")
async def test_with_the_switch_off_no_search_request_is_made() -> None:
    with serve_model(reply("I know this.")) as model:
        async with talking(openai(model.url)) as (client, web):
            events, answer = await ask(client, QUESTION, search=False)
            assert web.site is not None and web.site.connections == 0
    assert not of(events, SearchStarted) and not of(events, SourcesFound)
    assert answer.text == "I know this." and answer.sources == () and not answer.unverified
    assert "大桥全长55公里" not in model.requests[0].text


@pytest.mark.req("C1.1", "C3.1", "C4.1", "C4.4", "C5.1", "D1.1", "D1.3")
async def test_with_the_switch_on_the_message_is_searched_and_the_results_are_numbered_in_the_prompt() -> None:
    with serve_model(reply("大桥全长55公里[1],于2018年通车[1]。")) as model:
        async with talking(openai(model.url)) as (client, web):
            events, answer = await ask(client, QUESTION, search=True)
            await ask(client, "  How long is\n the bridge? ", search=True)
    assert web.searches == [QUESTION, "How long is the bridge?"]
    prompt = model.requests[0].text
    first = answer.sources[0]
    assert f"[1] 港珠澳大桥 (127.0.0.1)\n{first.url}\n港珠澳大桥全长55公里" in prompt
    assert "[数字]" in prompt and prompt.rstrip().endswith(QUESTION)
    zh, en = (request.messages[-1]["content"] for request in (model.requests[0], model.requests[-1]))
    assert "请参考它们回答，并用 [数字] 引用" in zh and "Use them to answer, and cite them as [number]" in en
    kinds = [event.kind for event in events]
    assert kinds[:5] == ["turn.started", "step.started", "search.started", "search.finished", "step.finished"]
    assert kinds[-1] == "answer" and "".join(event.text for event in of(events, TextDelta)) == answer.text
    finished = of(events, SearchFinished)[0]
    assert finished.engine == "searxng" and finished.count == 2 and finished.receipt[0]["outcome"] == "ok"
    assert [source.number for source in of(events, SourcesFound)[0].sources] == [1, 2]
    assert answer.cited == (1,) and f"[[1]]({first.url})" in answer.markdown


@pytest.mark.req("C11.1", "C11.2", "C11.4", "C15.4")
async def test_the_answer_ends_with_the_references_that_were_used() -> None:
    with serve_model(reply("全长55公里[1]。")) as model:
        async with talking(openai(model.url)) as (client, _):
            _, answer = await ask(client, QUESTION, search=True)
    body, _, references = answer.markdown.partition("参考文献")
    assert (
        references and "港珠澳大桥" in references and answer.sources[0].url in references and "127.0.0.1" in references
    )
    assert "海底隧道" not in references
    assert "全长55公里" in body, "the answer first, then its list"


@pytest.mark.req("C15.4", "C4.4", "C11.4")
async def test_every_answer_in_chat_mode_counts_from_one_and_lists_only_what_it_cites() -> None:
    with serve_model([reply("全长55公里[1]。"), reply("隧道长6.7公里[2],全长55公里[1]。")]) as model:
        async with talking(openai(model.url)) as (client, _):
            id = (await client.chat.create(search=True)).id
            answers = [(await ask(client, QUESTION, id=id))[1] for _ in range(2)]
    for answer, cited in zip(answers, ([1], [1, 2]), strict=True):
        assert [source.number for source in answer.sources] == [1, 2]
        listed = answer.markdown.partition("## 参考文献")[2]
        assert [int(number) for number in re.findall(r"\\\[(\d+)\\\]", listed)] == cited
        assert "轮搜索" not in listed


@contextmanager
def scanned() -> Iterator[list[str]]:
    """Collect the text that marker scanners of this thread are given."""
    chunks: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is MarkerScanner.feed.__code__:
            chunks.append(frame.f_locals["chunk"])

    sys.setprofile(watch)
    try:
        yield chunks
    finally:
        sys.setprofile(None)


@pytest.mark.req("C11.1", "C11.2", "C11.6")
async def test_an_answer_is_scanned_for_markers_once() -> None:
    text = "大桥 全长55公里【1】, 于2018年10月24日 正式通车[1, 9]。"
    with serve_model(reply(text)) as model:
        async with talking(openai(model.url)) as (client, _):
            with scanned() as chunks:
                events, answer = await ask(client, QUESTION, search=True)
    assert "".join(chunks) == text
    assert answer.text == "大桥 全长55公里[1], 于2018年10月24日 正式通车[1][9]。"
    assert "".join(event.text for event in of(events, TextDelta)) == answer.text
    assert answer.markdown.count(f"[[1]]({answer.sources[0].url})") == 2
    assert answer.cited == (1,) and answer.unknown == (9,)
    assert [answer.text[claim.start : claim.end] for claim in answer.claims] == [answer.text]
    assert [(claim.number, claim.verdict, claim.basis) for claim in answer.claims] == [(1, "supported", "page")]


@pytest.mark.req("C11.5")
async def test_an_answer_without_markers_has_no_list_but_its_sources_are_there() -> None:
    with serve_model(reply("我不确定。")) as model:
        async with talking(openai(model.url)) as (client, _):
            _, answer = await ask(client, QUESTION, search=True)
    assert "参考文献" not in answer.markdown and answer.cited == () and len(answer.sources) == 2


@pytest.mark.req("C11.6", "C12.3")
async def test_a_number_out_of_range_stays_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    with serve_model(reply("真[1],假[9]。")) as model:
        async with talking(openai(model.url)) as (client, _):
            _, answer = await ask(client, QUESTION, search=True)
    assert (
        answer.unknown == (9,) and "[9]" in answer.markdown and "[[9]]" not in answer.markdown and answer.cited == (1,)
    )
    assert "9" in caplog.text


@pytest.mark.req("C4.2")
async def test_no_results_are_said_in_the_prompt() -> None:
    with serve_model(reply("从我的知识来看……")) as model:
        async with talking(openai(model.url)) as (client, _):
            events, answer = await ask(client, "zzz qqq xxx", search=True)
    assert "found nothing relevant" in model.requests[0].text and "own knowledge" in model.requests[0].text
    assert of(events, SearchFinished)[0].count == 0 and not answer.unverified


@pytest.mark.req("C4.2")
async def test_no_results_are_said_in_a_chinese_prompt() -> None:
    web = Web(())
    with serve_model(reply("据我所知……")) as model:
        async with talking(openai(model.url), web=web) as (client, _):
            _, answer = await ask(client, QUESTION, search=True)
    prompt = model.requests[0].text
    assert "未找到相关信息" in prompt and "基于自身知识回答" in prompt and prompt.rstrip().endswith(QUESTION)
    assert answer.sources == () and answer.text == "据我所知……"


@pytest.mark.req("C3.1", "C1.1")
async def test_every_message_is_searched_while_the_switch_is_on() -> None:
    questions = [QUESTION, "港珠澳大桥海底隧道有多长?", "SearXNG 是什么?"]
    with serve_model([reply("好。")] * len(questions)) as model:
        async with talking(openai(model.url)) as (client, web):
            id = (await client.chat.create(search=True)).id
            for number, question in enumerate(questions, 1):
                events, _ = await ask(client, question, id=id)
                assert question in web.searches and len(of(events, SearchStarted)) >= 1, number


@pytest.mark.req("C3.2", "C5.2", "C1.1")
async def test_a_follow_up_with_the_switch_off_is_not_searched_either() -> None:
    with serve_model([reply("好。")] * 4) as model:
        async with talking(openai(model.url)) as (client, web):
            assert web.site is not None
            id = (await client.chat.create(search=True)).id
            await ask(client, QUESTION, id=id)
            await client.chat.change(id, search=False)
            before = len(web.site.seen)
            for question in ("它在哪里?", "港珠澳大桥海底隧道有多长?"):
                events, answer = await ask(client, question, id=id)
                assert not of(events, SearchStarted) and answer.sources == ()
            assert len(web.site.seen) == before


@pytest.mark.req("C4.3")
async def test_at_most_five_results_of_200_characters() -> None:
    web = Web()
    rows = [{"title": f"T{i}", "url": f"https://e.example/{i}", "content": "字" * 900} for i in range(10)]
    web.searching = lambda _: json_reply(json.dumps({"query": "x", "results": rows, "unresponsive_engines": []}))
    with serve_model(reply("ok")) as model:
        async with talking(openai(model.url), web=web) as (client, _):
            _, answer = await ask(client, "问", search=True)
    assert [source.number for source in answer.sources] == [1, 2, 3, 4, 5]
    assert max(len(run) for run in re.findall("字+", model.requests[0].text)) <= 200
    assert [source.title for source in answer.sources] == [row["title"] for row in rows[:5]], "the most relevant"


@pytest.mark.req("C2.3", "C2.4", "C7.1", "C7.3")
@pytest.mark.parametrize(
    ("searching", "detail"),
    [
        (silence, "budget_spent"),
        (page("oops", 502), "http_5xx"),
        (reset, ""),
        (page("<html>not json", 200), "not_searxng"),
    ],
)
async def test_a_failed_search_is_a_notice_and_the_answer_is_marked_by_code(searching: Reply, detail: str) -> None:
    web = Web()
    web.searching = lambda _: searching
    with serve_model(reply("大概 55 公里。")) as model:
        async with talking(openai(model.url), web=web, seconds=0.6 if searching is silence else 30) as (client, _):
            events, answer = await ask(client, QUESTION, search=True)
    assert answer.unverified and answer.text == "大概 55 公里。" and answer.failure is None
    failed = of(events, SearchFailed)[0]
    assert failed.receipt and (not detail or detail in failed.failure.detail_code)
    cause, hint = of(events, Notice)[0].failure.say("zh")
    assert "本次回答未使用搜索结果" in cause and "关闭联网搜索" in hint and of(events, Notice)[0].guide == "searxng"
    assert "搜索失败" in model.requests[0].text
    # What is stored can be read in both languages later.
    for event in (failed, of(events, Notice)[0]):
        stored = json.loads(json.dumps(event.as_dict()))["failure"]
        assert {"code", "detail_code", "key", "params", "retryable", "message", "hint"} <= stored.keys()
        again = Failure.from_dict(stored)
        assert again.say("zh") == event.failure.say("zh") != again.say("en") == event.failure.say("en")


@pytest.mark.req("C2.3", "C6.2")
async def test_a_silent_search_is_ended_after_five_seconds_where_nothing_else_is_configured() -> None:
    web = Web()
    web.searching = lambda _: silence
    with serve_model(reply("大概 55 公里。")) as model:
        async with talking(openai(model.url), web=web, seconds=SearchSettings().seconds) as (client, _):

            async def failed() -> float:
                events, answer = await ask(client, QUESTION, search=True)
                (told,) = of(events, SearchFailed)
                assert answer.text == "大概 55 公里。" and "5 s" in told.failure.say("en")[0] and told.took_ms > 4990
                return told.took_ms / 1000

            assert await quickest(failed, 5.5, tries=2) < 5.5


@pytest.mark.req("C2.4", "C6.4", "C9.1")
async def test_a_searxng_that_is_down_brings_the_steps_to_bring_it_up() -> None:
    with serve_model(reply("大概 55 公里。")) as model:
        async with talking(openai(model.url)) as (client, _):
            down = replace(
                client.settings, engines={"searxng": EngineSettings(base_url=f"http://127.0.0.1:{free_port()}")}
            )
            async with AsyncClient(down) as other:
                events, answer = await ask(other, QUESTION, search=True)
    cause, hint = of(events, Notice)[0].failure.say("zh")
    assert answer.unverified and "SearXNG 未运行" in cause
    assert all(step in hint for step in ("docker ps", "docker compose logs", "curl -i", "suyuan searxng")), hint


async def test_earlier_sources_stay_readable_but_their_numbers_are_not_valid() -> None:
    with serve_model([reply("全长55公里[1]。"), reply("如前所述[1]。")]) as model:
        async with talking(openai(model.url)) as (client, web):
            id = (await client.chat.create(search=True)).id
            _, first = await ask(client, QUESTION, id=id)
            await client.chat.change(id, search=False)
            _, second = await ask(client, "它在哪里?", id=id)
    history = model.requests[1].messages
    assert [message["role"] for message in history] == ["system", "user", "assistant", "user"]
    assert "[1]" not in history[2]["content"] and first.sources[0].url in history[2]["content"]
    assert second.cited == () and second.unknown == (1,)


async def test_thinking_is_not_taken_for_the_answer() -> None:
    with serve_model(
        [[think("let me see "), reply("55 km.")], reply("<think>hm, 55?</think>\n55 km, again.")]
    ) as model:
        async with talking(openai(model.url)) as (client, _):
            events, answer = await ask(client, "how long?", search=False)
            again, second = await ask(client, "how long?", search=False)
    assert answer.text == "55 km." and "".join(event.text for event in of(events, Thinking)) == "let me see "
    assert second.text == "55 km, again." and "hm, 55?" in "".join(event.text for event in of(again, Thinking))


@pytest.mark.parametrize(
    ("script", "detail", "kept"),
    [
        ([error(401, "Incorrect API key provided: sk-abc")], "model_key", ""),
        ([error(404, {"error": {"message": "no such model", "code": "model_not_found"}})], "unknown_model", ""),
        ([error(429, "slow down", {"Retry-After": "60"})], "model_rate_limited", ""),
        ([drop("Half an answer ")], "", "Half an answer "),
        ([[reply("Half "), stream_error("boom")]], "", "Half "),
        ([error(500, "broken"), error(500, "broken")], "", ""),
    ],
)
async def test_a_model_that_fails_is_a_notice_and_the_conversation_is_intact(
    script: list[Answering], detail: str, kept: str
) -> None:
    with serve_model(script) as model:
        async with talking(openai(model.url)) as (client, _):
            id = (await client.chat.create(search=False)).id
            events, answer = await ask(client, "hello there", id=id)
            messages = client.chat.store.messages(id)
    assert answer.failure is not None and answer.text == kept.strip() or answer.text == kept
    assert [message.state for message in messages] == ["done", "failed"] and messages[0].text == "hello there"
    notice = of(events, Notice)[-1]
    assert notice.level == "error" and all(notice.failure.say(lang)[1] for lang in ("en", "zh"))
    assert "sk-abc" not in str(as_json(notice))


@pytest.mark.req("P9.3")
async def test_the_key_of_another_service_is_neither_shown_nor_kept(tmp_path: Path) -> None:
    """A model server repeats a key that it has from elsewhere, escaped as JSON does it."""
    key = Secret('brave/"key"-0123456789')
    said = [error(500, json.dumps({"error": {"message": f"upstream: {key.reveal()}"}})) for _ in range(2)]
    with serve_model([*said, stream_error(json.dumps(f"again {key.reveal()}"))]) as server:
        async with talking(openai(server.url), folder=tmp_path) as (client, _):
            for _ in range(2):
                events, answer = await ask(client, "x")
                assert answer.failure and all("0123456789" not in json.dumps(as_json(event)) for event in events)
            kept = client.chat.store.find()[0].id
            assert "0123456789" not in str(client.chat.store.messages(kept))


async def test_one_retry_where_it_is_safe() -> None:
    with serve_model([error(503, "warming up"), reply("Now.")]) as model:
        async with talking(openai(model.url)) as (client, _):
            events, answer = await ask(client, "hello there", search=False)
    assert answer.text == "Now." and len(model.requests) == 2 and not of(events, Notice)


async def test_no_retry_after_text_was_shown() -> None:
    with serve_model([drop("Half "), reply("Whole.")]) as model:
        async with talking(openai(model.url)) as (client, _):
            _, answer = await ask(client, "hello there", search=False)
    assert len(model.requests) == 1 and answer.text.strip() == "Half" and answer.failure is not None


async def test_no_retry_after_the_user_has_waited_long() -> None:
    with serve_model([stall(), reply("Whole.")]) as model:
        async with talking(openai(model.url, seconds=0.5)) as (client, _):
            _, answer = await ask(client, "hello there", search=False)
    assert len(model.requests) == 1 and answer.failure is not None and answer.failure.code == "Timeout"


@pytest.mark.parametrize("begun", ["<thi", "<think>hm, is it"])
async def test_what_a_model_began_to_think_before_it_failed_does_not_hide_its_answer(begun: str) -> None:
    with serve_model([drop(begun), reply("Whole.")]) as model:
        async with talking(openai(model.url)) as (client, _):
            _, answer = await ask(client, "hello there", search=False)
    assert len(model.requests) == 2 and answer.text == "Whole." and answer.failure is None


async def test_a_long_answer_that_cites_nothing_takes_no_longer_for_each_word() -> None:
    async def took() -> float:
        turn, begun = Turn(client.sessions.create(mode="chat", search=False), "hello there"), 0.0

        async def work(turn: Turn) -> None:
            nonlocal begun
            # Until the time has come at which citations are compared.
            await asyncio.sleep(0.6)
            begun = time.monotonic()
            for _ in range(20_000):
                await turn.say("word")

        assert [event async for event in turn.events(work)]
        return time.monotonic() - begun

    async with talking() as (client, _):
        assert await quickest(took, 1.5) < 1.5


async def test_a_model_that_was_connected_anew_is_closed_in_the_end_as_well() -> None:
    with serve_model(reply("Now.")) as model:
        async with talking(openai(model.url)) as (client, _):
            before, made = openai(model.url, name="mine"), []
            for chosen in (before, replace(before, api_key=Secret("another-key")), before):
                client.connected_models.add(chosen)
                made.append(client.sessions.create(mode="chat", search=False, model="mine").chat_model)
            assert made[0] is made[2] is not made[1], "the same settings need no other connections"
        assert all(isinstance(each, OpenAICompatibleModel) and each.client.is_closed for each in made)


async def test_a_context_that_overflows_is_asked_again_without_the_history() -> None:
    too_long = {"error": {"message": "maximum context length is 4096 tokens", "code": "context_length_exceeded"}}
    with serve_model([reply("One."), error(400, too_long), reply("Two.")]) as model:
        async with talking(openai(model.url)) as (client, _):
            id = (await client.chat.create(search=False)).id
            await ask(client, "first question", id=id)
            events, answer = await ask(client, "second question", id=id)
    assert answer.text == "Two." and "first question" not in model.requests[2].text
    assert [notice.failure.detail_code for notice in of(events, Notice)] == ["history_cut"]


@pytest.mark.req("C3.1")
async def test_stopping_ends_model_search_and_sockets_and_keeps_what_was_written() -> None:
    with serve_model([[reply("One two three ", delay=0.01), stall(600)]]) as model:
        async with talking(openai(model.url)) as (client, _):
            id = (await client.chat.create(search=False)).id
            run = await client.chat.ask(id, "count")
            async for _, event in run.follow():
                if isinstance(event, TextDelta) and "three" in event.text:
                    run.stop()
            answer = await asyncio.wait_for(run.wait(), PATIENCE)
            message = client.chat.store.messages(id)[-1]
    assert answer.stopped and answer.text.split() == ["One", "two", "three"]
    assert message.state == "stopped" and "three" in message.text


async def test_stopping_during_the_search_closes_its_sockets() -> None:
    web = Web()
    web.searching = lambda _: silence
    with serve_model(reply("never")) as model:
        async with talking(openai(model.url), web=web) as (client, _):
            run = await client.chat.ask((await client.chat.create(search=True)).id, QUESTION)
            async for _, event in run.follow():
                if isinstance(event, SearchStarted):
                    assert await soon(lambda: bool(web.searches))
                    run.stop()
            answer = await run.wait()
            assert web.site is not None and await web.site.until_idle()
    assert answer.stopped and answer.text == "" and model.requests == []


async def test_a_reader_who_comes_late_or_comes_back_misses_nothing_and_gets_nothing_twice() -> None:
    with serve_model(reply("one two three four five six", delay=0.02)) as model:
        async with talking(openai(model.url)) as (client, _):
            run = await client.chat.ask((await client.chat.create(search=False)).id, "count")
            early = [pair async for pair in run.follow()]
            late = [pair async for pair in run.follow(early[3][0])]
    assert late == early[4:] and isinstance(early[0][1], TurnStarted) and isinstance(early[-1][1], Answer)


async def test_only_one_answer_at_a_time_and_an_empty_message_is_refused() -> None:
    go_on = threading.Event()
    with serve_model([[hold(go_on), reply("slow words come")]]) as model:
        async with talking(openai(model.url)) as (client, _):
            id = (await client.chat.create(search=False)).id
            run = await client.chat.ask(id, "one")
            with pytest.raises(InvalidInput) as busy:
                await client.chat.ask(id, "two")
            go_on.set()
            await run.wait()
            with pytest.raises(InvalidInput) as empty:
                await client.chat.ask(id, "  \n ")
            with pytest.raises(InvalidInput) as long:
                await client.chat.ask(id, "x" * 30_000)
            assert [message.text for message in client.chat.store.messages(id)] == ["one", "slow words come"]
    assert [caught.value.detail_code for caught in (busy, empty, long)] == [
        "answer_under_way",
        "empty_message",
        "message_too_long",
    ]


async def test_of_two_windows_that_ask_at_the_same_moment_one_begins() -> None:
    go_on = threading.Event()
    with serve_model([[hold(go_on), reply("words")]]) as model:
        async with talking(openai(model.url)) as (client, _):
            id = (await client.chat.create(search=False)).id
            begun = await asyncio.gather(
                *(client.chat.ask(id, text) for text in ("one", "two", "three")), return_exceptions=True
            )
            runs = [each for each in begun if isinstance(each, Run)]
            go_on.set()
            await runs[0].wait()
            assert len(runs) == 1 and len(client.chat.store.messages(id)) == 2
            assert [each.detail_code for each in begun if isinstance(each, InvalidInput)] == ["answer_under_way"] * 2
            # Whoever has seen the end may ask again at once.
            async for _, event in (again := await client.chat.ask(id, "four")).follow():
                if isinstance(event, Answer):
                    assert again.finished
                    await (await client.chat.ask(id, "five")).wait()


async def test_retry_and_edit_replace_what_came_after() -> None:
    with serve_model([reply("A1"), reply("A2"), reply("A2 again"), reply("B")]) as model:
        async with talking(openai(model.url)) as (client, _):
            id = (await client.chat.create(search=False)).id
            await ask(client, "Q1", id=id)
            _, _ = await ask(client, "Q2", id=id)
            last = client.chat.store.messages(id)[-1]
            await (await client.chat.retry(id, last.id)).wait()
            assert [m.text for m in client.chat.store.messages(id)] == ["Q1", "A1", "Q2", "A2 again"]
            first = client.chat.store.messages(id)[0]
            await (await client.chat.ask(id, "Q1 better", instead_of=first.id)).wait()
            assert [m.text for m in client.chat.store.messages(id)] == ["Q1 better", "B"]
            before = await client.chat.get(id)
            with pytest.raises(InvalidInput):
                await client.chat.retry(id, "nothing")
            with pytest.raises(InvalidInput) as missing:
                await client.chat.ask(id, "Q3", instead_of="nothing")
            assert missing.value.detail_code == "no_message" and await client.chat.get(id) == before
            assert [m.text for m in client.chat.store.messages(id)] == ["Q1 better", "B"]


async def test_an_edited_question_that_cannot_be_asked_removes_nothing() -> None:
    with serve_model([reply("A1")]) as model:
        async with talking(openai(model.url)) as (client, _):
            id = (await client.chat.create(search=False)).id
            await ask(client, "Q1", id=id)
            kept = client.chat.store.messages(id)
            keyless = ModelSettings(provider="openai", name="gpt-9")
            client.connected_models.add(keyless)
            await client.chat.change(id, model=keyless.label)
            with pytest.raises(SuyuanError) as failed:
                await client.chat.ask(id, "Q1 better", instead_of=kept[0].id)
            assert failed.value.detail_code == "model_key_missing" and client.chat.store.messages(id) == kept


async def test_a_growing_answer_is_kept_before_it_ends() -> None:
    go_on = threading.Event()
    with serve_model([[reply("Half of the answer"), hold(go_on), reply(" and the rest.")]]) as model:
        async with talking(openai(model.url)) as (client, _):
            run = await client.chat.ask((await client.chat.create(search=False)).id, "count")
            store = client.chat.store

            def kept() -> str:
                message = store.message(run.id)
                assert message is not None and message.state == "running"
                return message.text

            assert await soon(lambda: kept() == "Half of the answer"), "a crash would lose it"
            assert [event["kind"] for _, event in store.events(run.id)][0] == "turn.started" and not run.finished
            go_on.set()
            assert (await run.wait()).text == "Half of the answer and the rest."


async def test_conversations_survive_a_restart(tmp_path: Path) -> None:
    async with talking(folder=tmp_path) as (client, _):
        id = (await client.chat.create(search=True)).id
        _, answer = await ask(client, QUESTION, id=id)
    async with talking(folder=tmp_path) as (client, _):
        messages = client.chat.store.messages(id)
        assert (await client.chat.get(id)).title == QUESTION
    assert messages[1].answer is not None and messages[1].answer["text"] == answer.text
    assert messages[1].answer["sources"][0]["url"] == answer.sources[0].url


@pytest.mark.req("C5.3", "C11.1", "D1.1")
async def test_the_embedded_model_answers_by_quoting_and_every_sentence_is_cited() -> None:
    async with talking() as (client, _):
        _, answer = await ask(client, QUESTION, search=True)
    assert "55公里" in answer.text and answer.cited and "embedded" in answer.model
    assert answer.claims and all(claim.verdict == "supported" for claim in answer.claims)
    claim = answer.claims[0]
    assert "55公里" in answer.text[claim.start : claim.end] and "#:~:text=" in claim.link


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize(
    ("endless", "kept"),
    [
        (reply("word " * 100_000), 1000),
        (think("hm " * 100_000), 0),
        (reply("<think>" + "hm " * 100_000), 0),
        (tool_call("web_search", {"query": "x" * 400_000}, pieces=100_000), 0),
    ],
)
async def test_a_model_that_does_not_end_is_stopped(endless: Step, kept: int, mode: Mode) -> None:
    with serve_model(endless) as server:
        async with talking(openai(server.url), max_answer=1000) as (client, _):
            events, answer = await ask(client, "count", mode=mode, search=False)
            assert await soon(lambda: server.gone == 1), "the model's connection is closed"
    assert answer.failure and answer.failure.detail_code == "answer_too_long" and len(server.requests) == 1
    assert kept <= len(answer.text) < kept + 100
    assert of(events, Notice)[-1].failure == answer.failure
    assert sum(len(as_json(event).get("text", "")) for event in events) < 10_000


async def test_an_unexpected_failure_is_logged_once_and_named_in_its_hint(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(turn: Turn) -> None:
        raise ZeroDivisionError("details")

    async with talking() as (client, _):
        turn = Turn(client.sessions.create((), mode="chat", search=False), "x")
        events = [event async for event in turn.events(broken)]
    answer = events[-1]
    assert isinstance(answer, Answer) and answer.failure and answer.failure.detail_code == "unexpected"
    assert turn.run in answer.failure.hint() and "details" not in str(as_json(answer))
    assert caplog.text.count("ZeroDivisionError: details") == 1 and f"run={turn.run}" in caplog.text


async def test_a_turn_that_is_stopped_before_it_began_has_an_answer_too() -> None:
    with serve_model(reply("never")) as model:
        async with talking(openai(model.url)) as (client, _):
            run = await client.chat.ask((await client.chat.create(search=False)).id, "count")
            stop_early = asyncio.ensure_future(_stop_at_once(run))
            answer = await asyncio.wait_for(run.wait(), PATIENCE)
            await stop_early
    assert answer.stopped and answer.text == ""


async def _stop_at_once(run: Run) -> None:
    for _ in range(20):
        run.stop()
        await asyncio.sleep(0)
