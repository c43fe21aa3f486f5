"""Agent mode: the model searches and reads by itself, within limits that code holds."""

from __future__ import annotations

import asyncio
import json

import pytest

from support.oai import Answering, EngineReply, Step, error, reply, serve_model, stall, tool_call
from support.site import reply as page
from support.talk import Web, ask, of, openai, talking
from support.timing import PATIENCE
from suyuan.chat import session_factory
from suyuan.chat.answering import answer_events
from suyuan.chat.events import (
    Answer,
    Notice,
    PageFailed,
    PageRead,
    SearchFailed,
    SearchFinished,
    SearchStarted,
    SourcesFound,
    StepFinished,
    StepStarted,
    TextDelta,
    TextWithdrawn,
    Thinking,
)
from suyuan.chat.functions import Functions
from suyuan.chat.settings import AgentLimits
from suyuan.chat.turn import Turn
from suyuan.store.conversation import Mode

QUESTION = "港珠澳大桥有多长,隧道有多长?"


def search(query: str) -> Step:
    return tool_call("web_search", {"query": query})


@pytest.mark.req("C15.1", "C15.2", "C15.3", "D1.2", "D1.4", "C11.2")
async def test_the_agent_searches_twice_and_cites_with_global_numbers() -> None:
    script: list[Answering] = [
        search("港珠澳大桥 全长"),
        search("港珠澳大桥 海底隧道 长度"),
        reply("桥长55公里[1],隧道长6.7公里[2]。"),
    ]
    with serve_model(script) as model:
        async with talking(openai(model.url)) as (client, web):
            events, answer = await ask(client, QUESTION, mode="agent")
    assert web.searches == ["港珠澳大桥 全长", "港珠澳大桥 海底隧道 长度"]
    numbers = [[source.number for source in found.sources] for found in of(events, SourcesFound)]
    assert numbers[0] == [1, 2] and set(numbers[1]) <= {1, 2}
    assert [number for number, _, _ in answer.rounds] == [1, 2]
    assert f"[[2]]({answer.sources[1].url})" in answer.markdown
    # The results went to the model by the tool, and not into the prompt.
    assert "大桥全长55公里" not in model.requests[0].text and "[1] 港珠澳大桥" in model.requests[1].text
    head, _, listed = answer.markdown.rpartition("参考文献")
    assert "桥长55公里" in head, "the answer first, then its list"
    assert listed.index("港珠澳大桥 全长") < listed.index("海底隧道 长度")
    assert [type(event) for event in events if isinstance(event, (StepStarted, StepFinished))] == [
        StepStarted,
        StepFinished,
    ] * 2


@pytest.mark.req("D3.1", "C15.3")
async def test_an_agent_that_searched_nothing_has_no_list_and_no_markers() -> None:
    with serve_model(reply("Hello! What would you like to know?")) as model:
        async with talking(openai(model.url)) as (client, web):
            events, answer = await ask(client, "hi", mode="agent")
            assert web.site is not None and web.site.connections == 0
    assert (
        answer.markdown == "Hello! What would you like to know?"
        and answer.sources == ()
        and not of(events, SourcesFound)
    )


@pytest.mark.req("C15.3", "C5.1")
async def test_the_list_of_an_agent_has_all_sources_also_where_none_is_cited() -> None:
    script: list[Answering] = [search("港珠澳大桥 全长"), search("SearXNG metasearch engine"), reply("我不确定。")]
    with serve_model(script) as model:
        async with talking(openai(model.url)) as (client, _):
            _, answer = await ask(client, QUESTION, mode="agent")
    head, _, listed = answer.markdown.partition("参考文献")
    assert "我不确定。" in head and answer.cited == ()
    assert listed.index("第 1 轮搜索：“港珠澳大桥 全长”") < listed.index("第 2 轮搜索：“SearXNG metasearch engine”")
    assert all(source.url in listed and source.title in listed for source in answer.sources)
    assert len(answer.sources) == 3


@pytest.mark.req("D3.1")
async def test_without_a_search_an_agent_is_told_to_write_no_numbers() -> None:
    with serve_model(reply("ok")) as model:
        async with talking(openai(model.url)) as (client, _):
            answers = [(await ask(client, text, mode="agent"))[1] for text in ("你好", "hello")]
    zh, en = (request.messages[0]["content"] for request in model.requests)
    assert "没有用到搜索就不写编号" in zh and "Where no search was used write no numbers" in en
    assert [answer.markdown for answer in answers] == ["ok", "ok"]


@pytest.mark.req("D3.1")
async def test_a_search_that_found_nothing_leaves_no_list() -> None:
    with serve_model([search("zzz qqq"), reply("据我所知,是这样。")]) as model:
        async with talking(openai(model.url), web=Web(())) as (client, _):
            _, answer = await ask(client, QUESTION, mode="agent")
    assert answer.markdown == answer.text == "据我所知,是这样。" and answer.sources == ()


@pytest.mark.req("C14.4")
async def test_the_prompt_has_examples_of_queries_and_of_reading_results_and_the_date() -> None:
    with serve_model(reply("ok")) as model:
        async with talking(openai(model.url)) as (client, _):
            await ask(client, "你好", mode="agent")
            await ask(client, "hello", mode="agent")
    zh, en = (request.messages[0]["content"] for request in model.requests)
    assert "好的查询示例" in zh and 'web_search("' in zh and "如何解读结果" in zh and "今天是 20" in zh
    assert "Good queries, by example" in en and "How to read results" in en and "Today is 20" in en
    assert model.requests[0].tools == ["web_search", "web_fetch"]
    # How a query is made, and how a result is read: number, then date and domain, then the page itself.
    assert min(text.count('web_search("') for text in (zh, en)) >= 3
    assert "每条结果形如“[3] 标题 (域名, 日期)”" in zh and "先看日期和域名" in zh and "读取原文" in zh
    assert "looks like “[3] title (domain, date)”" in en and "Look at date and domain first" in en


async def test_talk_before_a_tool_is_withdrawn_from_the_answer() -> None:
    script: list[Answering] = [
        [reply("Let me look that up. "), search("SearXNG metasearch engine")],
        reply("Forked in 2021[1]."),
    ]
    with serve_model(script) as model:
        async with talking(openai(model.url)) as (client, _):
            events, answer = await ask(client, "When was SearXNG forked from searx?", mode="agent")
    assert answer.text == "Forked in 2021[1]." and of(events, TextWithdrawn)
    assert "Let me look that up." in "".join(event.text for event in of(events, Thinking))
    withdrawn = events.index(of(events, TextWithdrawn)[0])
    assert "".join(event.text for event in of(events[withdrawn:], TextDelta)) == answer.text


async def test_pages_are_read_cited_by_their_number_and_checked_against_what_was_read() -> None:
    def second(asked: EngineReply) -> Step:
        url = next(line for line in asked.text.splitlines() if line.endswith("/bridge"))
        return tool_call("web_fetch", {"url": url, "question": "使用寿命"})

    script: list[Answering] = [search("港珠澳大桥"), second, reply("设计使用寿命为120年[1]。")]
    with serve_model(script) as model:
        async with talking(openai(model.url)) as (client, web):
            events, answer = await ask(client, "港珠澳大桥能用多久?", mode="agent")
    read = of(events, PageRead)[0]
    assert web.reads == ["/bridge"] and read.number == 1 and read.tokens > 0
    assert answer.claims[0].verdict == "supported" and "120年" in answer.claims[0].quote
    cited, *others = answer.sources
    assert cited.read_from.endswith("/bridge") and cited.read_at and len(cited.sha256) == 64
    assert all(not source.sha256 for source in others), "what was not read has no text of its own"


@pytest.mark.req("C13.1", "C13.2")
async def test_an_equal_query_is_answered_from_the_session_and_the_model_is_told() -> None:
    with serve_model([search("港珠澳大桥"), search("港珠澳大桥"), reply("好。")]) as model:
        async with talking(openai(model.url)) as (client, web):
            events, _ = await ask(client, "港珠澳大桥?", mode="agent")
    assert web.searches == ["港珠澳大桥"]
    assert [event.repeated for event in of(events, SearchFinished)] == [False, True]
    assert "已经搜索过" in model.requests[2].messages[-1]["content"]


@pytest.mark.req("C13.1", "C13.3")
async def test_the_cache_is_the_conversation_s_own_and_ends_with_it() -> None:
    with serve_model(
        lambda asked: reply("好。") if asked.messages[-1]["role"] == "tool" else search("港珠澳大桥")
    ) as model:
        async with talking(openai(model.url)) as (client, web):

            async def searched(id: str) -> int:
                before = len(web.searches)
                await ask(client, "港珠澳大桥?", id=id)
                return len(web.searches) - before

            first, second = [(await client.chat.create(mode="agent")).id for _ in range(2)]
            assert [await searched(first), await searched(first)] == [1, 0]
            assert [await searched(second), await searched(second)] == [1, 0], "nothing is shared"
            await client.chat.delete(first)
            await client.chat.restore(first)
            assert await searched(first) == 1, "it ended with the conversation"
            assert await searched(second) == 0


@pytest.mark.req("C13.1", "C13.2")
async def test_the_cache_outlives_a_while_in_chat_mode() -> None:
    with serve_model(
        lambda asked: reply("好。") if asked.messages[-1]["role"] == "tool" or not asked.tools else search("港珠澳大桥")
    ) as model:
        async with talking(openai(model.url)) as (client, web):
            id = (await client.chat.create(mode="agent", search=False)).id
            await ask(client, "港珠澳大桥?", id=id)
            await client.chat.change(id, mode="chat")
            await ask(client, "谢谢", id=id)
            await client.chat.change(id, mode="agent")
            events, _ = await ask(client, "港珠澳大桥?", id=id)
    assert web.searches == ["港珠澳大桥"] and [event.repeated for event in of(events, SearchFinished)] == [True]


@pytest.mark.req("C13.1")
async def test_each_query_has_results_of_its_own() -> None:
    script = [search("港珠澳大桥 全长"), search("SearXNG metasearch engine"), search("港珠澳大桥 全长"), reply("好。")]
    with serve_model(script) as model:
        async with talking(openai(model.url)) as (client, web):
            events, _ = await ask(client, "两件事", mode="agent")
    assert web.searches == ["港珠澳大桥 全长", "SearXNG metasearch engine"]
    found = [[source.title for source in each.sources] for each in of(events, SourcesFound)]
    assert found[0] == found[2] != found[1] == ["SearXNG explained"]


@pytest.mark.req("C13.4")
async def test_the_caches_of_conversations_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of two: the conversation that was used least lately is searched for anew."""
    monkeypatch.setattr(session_factory, "_MAX_CONVERSATIONS", 2)
    with serve_model(
        lambda asked: reply("好。") if asked.messages[-1]["role"] == "tool" else search("港珠澳大桥")
    ) as model:
        async with talking(openai(model.url)) as (client, web):
            ids = [(await client.chat.create(mode="agent")).id for _ in range(3)]
            for id in (*ids, ids[2], ids[1]):
                await ask(client, "港珠澳大桥?", id=id)
            assert len(web.searches) == 3
            await ask(client, "港珠澳大桥?", id=ids[0])
            assert len(web.searches) == 4


@pytest.mark.req("C13.2", "C13.3")
@pytest.mark.parametrize(
    "message", ["请再查一次港珠澳大桥", "港珠澳大桥的最新消息?", "Search for the bridge again, please"]
)
async def test_who_asks_to_search_again_gets_a_new_search(message: str) -> None:
    with serve_model(
        lambda asked: reply("好。") if asked.messages[-1]["role"] == "tool" else search("港珠澳大桥")
    ) as model:
        async with talking(openai(model.url)) as (client, web):
            conversation = (await client.chat.create(mode="agent")).id
            await ask(client, "港珠澳大桥?", id=conversation)
            await ask(client, "港珠澳大桥?", id=conversation)
            assert len(web.searches) == 1
            events, _ = await ask(client, message, id=conversation)
            assert len(web.searches) == 2
    assert [event.repeated for event in of(events, SearchFinished)] == [False]


async def test_parallel_searches_get_one_numbering() -> None:
    script: list[Answering] = [[search("港珠澳大桥 全长"), search("SearXNG metasearch engine")], reply("Both[1][3].")]
    with serve_model(script) as model:
        async with talking(openai(model.url)) as (client, web):
            events, answer = await ask(client, "bridge and searxng?", mode="agent")
    assert sorted(web.searches) == ["SearXNG metasearch engine", "港珠澳大桥 全长"]
    assert [source.number for source in answer.sources] == [1, 2, 3]
    assert len({event.step for event in of(events, SearchStarted)}) == 2


async def test_at_the_limit_the_tools_are_gone_and_the_model_must_answer() -> None:
    count = iter(range(1000))

    def again(asked: EngineReply) -> Step:
        return search(f"港珠澳大桥 {next(count)}") if asked.tools else reply("到此为止[1]。")

    with serve_model(again) as model:
        async with talking(openai(model.url), limits=AgentLimits(searches=3, fetches=2)) as (client, web):
            _, answer = await ask(client, "一直搜", mode="agent")
    assert len(web.searches) == 3 and answer.text == "到此为止[1]。" and answer.usage.searches == 3
    assert "不要再调用工具" in model.requests[-1].text and model.requests[-1].tools == []


async def test_a_burst_of_parallel_calls_cannot_pass_the_limit() -> None:
    script: list[Answering] = [[search(f"港珠澳大桥 {i}") for i in range(10)], reply("ok")]
    with serve_model(script) as model:
        async with talking(openai(model.url), limits=AgentLimits(searches=2)) as (client, web):
            _, answer = await ask(client, "很多", mode="agent")
    assert len(web.searches) == 2 and answer.text == "ok"
    assert model.requests[1].text.count("2 次搜索已用完") == 8


async def test_a_model_that_calls_tools_it_no_longer_has_ends_with_a_word() -> None:
    with serve_model(search("港珠澳大桥")) as model:
        async with talking(openai(model.url), limits=AgentLimits(searches=2, fetches=1)) as (client, web):
            events, answer = await ask(client, "不停", mode="agent")
    assert len(web.searches) == 1 and answer.failure is not None and answer.failure.detail_code == "empty_answer"
    assert of(events, Notice)[-1].level == "error" and len(model.requests) < 12


async def test_time_is_a_limit_too() -> None:
    import langchain.agents  # noqa: F401 - importing it may take longer than the agent has

    limit = 4.0

    def slow(asked: EngineReply) -> list[Step]:
        # The first answer comes when the time is over; until twice the time the agent may still answer without tools.
        return [stall(limit), search("港珠澳大桥")] if asked.tools else [reply("时间到[1]。")]

    with serve_model(slow) as model:
        async with talking(openai(model.url), limits=AgentLimits(seconds=limit)) as (client, _):
            _, answer = await ask(client, "慢", mode="agent")
    assert answer.text == "时间到[1]。" and [bool(asked.tools) for asked in model.requests] == [True, False]


async def test_a_failed_search_goes_to_the_model_as_text_and_the_answer_is_marked() -> None:
    web = Web()
    web.searching = lambda _: page("down", 503)
    with serve_model([search("港珠澳大桥"), reply("搜索失败了,凭记忆约55公里。")]) as model:
        async with talking(openai(model.url), web=web) as (client, _):
            events, answer = await ask(client, "港珠澳大桥多长?", mode="agent")
    assert "搜索失败 [" in model.requests[1].text and of(events, SearchFailed) and answer.unverified
    assert of(events, Notice)[0].guide == "searxng"


async def test_a_page_that_cannot_be_read_is_said_to_the_model() -> None:
    def second(asked: EngineReply) -> Step:
        return tool_call("web_fetch", {"url": asked.text.split("/bridge")[0].rsplit("\n", 1)[-1] + "/gone"})

    with serve_model([search("港珠澳大桥"), second, reply("ok")]) as model:
        async with talking(openai(model.url)) as (client, web):
            events, _ = await ask(client, f"读 {web.url}/gone", mode="agent")
    assert of(events, PageFailed)[0].failure.detail_code and "读取失败" in model.requests[2].text


@pytest.mark.parametrize(
    "printed",
    [
        '{"name": "web_search", "arguments": {"query": "港珠澳大桥"}}',
        '```json\n{"name": "web_search", "parameters": {"query": "港珠澳大桥"}}\n```',
        '<tool_call>\n{"name": "web_search", "arguments": "{\\"query\\": \\"港珠澳大桥\\"}"}\n</tool_call>',
        '[{"type": "function", "function": {"name": "web_search", "arguments": {"query": "港珠澳大桥"}}}]',
    ],
)
async def test_a_call_that_a_small_model_prints_as_text_is_made(printed: str) -> None:
    with serve_model([reply(printed), reply("55公里[1]。")]) as model:
        async with talking(openai(model.url)) as (client, web):
            _, answer = await ask(client, "港珠澳大桥多长?", mode="agent")
    assert web.searches == ["港珠澳大桥"] and answer.text == "55公里[1]。"


async def test_a_model_without_tool_calling_gets_its_search_planned_by_rules() -> None:
    def plain(asked: EngineReply) -> Step:
        return error(400, "test-model does not support tools") if asked.tools else reply("55公里[1]。")

    with serve_model(plain) as model:
        async with talking(openai(model.url)) as (client, web):
            events, answer = await ask(client, "港珠澳大桥多长?", mode="agent")
    assert web.searches and len(web.reads) == 2 and answer.text == "55公里[1]。"
    assert of(events, Notice)[0].failure.detail_code == "no_tool_calls"
    assert "120年" in model.requests[-1].text


async def test_stopping_an_agent_stops_everything() -> None:
    with serve_model([search("港珠澳大桥"), stall(600)]) as model:
        async with talking(openai(model.url)) as (client, web):
            run = await client.chat.ask((await client.chat.create(mode="agent")).id, "港珠澳大桥?")
            async for _, event in run.follow():
                if isinstance(event, SearchFinished):
                    asyncio.get_running_loop().call_later(0.2, run.stop)
            answer = await asyncio.wait_for(run.wait(), PATIENCE)
    assert web.searches == ["港珠澳大桥"] and answer.stopped and [source.number for source in answer.sources] == [1, 2]
    assert model.requests


async def test_cut_off_or_wrong_arguments_do_not_end_the_run() -> None:
    calls = [
        tool_call("web_search", '{"query": "港珠澳'),
        tool_call("web_search", {"q": "x"}),
        tool_call("no_such_tool", {"a": 1}),
    ]
    with serve_model([*calls, reply("done")]) as model:
        async with talking(openai(model.url)) as (client, _):
            _, answer = await ask(client, "x?", mode="agent")
    assert answer.text == "done" and answer.failure is None and len(model.requests) == 4


async def test_long_tool_answers_are_left_out_before_the_context_overflows() -> None:
    web = Web()
    count = iter(range(100))

    def again(asked: EngineReply) -> Step:
        assert sum(len(str(m.get("content"))) for m in asked.messages) < 20_000
        return search(f"港珠澳大桥 {next(count)}") if asked.tools else reply("ok")

    with serve_model(again) as model:
        settings = openai(model.url, context_tokens=1800)
        async with talking(settings, web=web, limits=AgentLimits(searches=8)) as (client, _):
            _, answer = await ask(client, "长", mode="agent")
    assert answer.text == "ok" and "已省略" in model.requests[-1].text


@pytest.mark.req("D1.2")
async def test_the_embedded_model_plans_searches_reads_and_quotes() -> None:
    async with talking() as (client, web):
        events, answer = await ask(client, "港珠澳大桥的设计使用寿命是多少年?", mode="agent")
    assert web.searches and web.reads and "120年" in answer.text and answer.cited
    assert of(events, PageRead) and json.dumps(answer.as_dict(), ensure_ascii=False)


@pytest.mark.parametrize("mode", ["chat", "agent"])
async def test_a_function_that_is_called_with_something_that_is_no_json_is_called(mode: Mode) -> None:
    warmth = {"type": "function", "function": {"name": "warmth", "parameters": {"type": "object", "properties": {}}}}
    with serve_model(tool_call("warmth", "Arvika, now")) as model:
        async with talking(openai(model.url)) as (client, _):
            session = client.sessions.create(mode=mode, search=False, functions=Functions((warmth,)))
            events = [event async for event in answer_events(Turn(session, "how warm is it?"))]
    answer = events[-1]
    assert isinstance(answer, Answer) and answer.failure is None
    assert [(call.name, call.arguments) for call in answer.calls] == [("warmth", "Arvika, now")]
