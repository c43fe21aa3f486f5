"""Chat mode reads pages before it answers, and searches what a follow-up leaves out."""

from __future__ import annotations

import threading

import pytest

from support.oai import error, hold, reply, serve_model, stall
from support.site import Reply, Seen
from support.site import stall as silence
from support.talk import Article, Web, ask, of, openai, talking
from support.timing import PATIENCE
from suyuan.chat.events import PageFailed, PageRead, SearchFailed, SearchStarted, StepFinished, StepStarted
from suyuan.citations.registry import Source
from suyuan.embedded.follow_up import Said, resolve
from suyuan.embedded.responder import Responder
from suyuan.embedded.turn_input import TurnInput

QUESTION = "港珠澳大桥的设计使用寿命是多少年?"
LATTE = (
    Article(
        "/latte",
        "Blue Latte of Arvika",
        "The Blue Latte is a drink of the town of Arvika.\nIt was invented by Karin Lund in 1987.",
        "The Blue Latte is a drink of the town of Arvika.",
    ),
    Article("/lund", "Karin Lund", "Karin Lund was born in Torsby. She opened a cafe.", "Karin Lund opened a cafe."),
    Article(
        "/when", "Who invented what and when", "A quiz about who invented it and when.", "Who invented it and when?"
    ),
)


async def test_what_only_the_page_says_is_answered_and_confirmed() -> None:
    with serve_model(reply("设计使用寿命为120年[1]。")) as model:
        async with talking(openai(model.url), read_seconds=PATIENCE) as (client, web):
            events, answer = await ask(client, QUESTION, search=True)
    assert sorted(web.reads) == ["/bridge", "/tunnel"] and len(of(events, PageRead)) == 2
    assert "设计使用寿命为120年" in model.requests[0].text, "the passage is in the prompt, the snippet lacks it"
    assert model.requests[0].text.rstrip().endswith(QUESTION)
    assert [claim.verdict for claim in answer.claims] == ["supported"]


async def test_the_embedded_model_quotes_the_page() -> None:
    async with talking(read_seconds=PATIENCE) as (client, _):
        _, answer = await ask(client, QUESTION, search=True)
    assert "120年" in answer.text and "[1]" in answer.text


async def test_without_time_for_reading_only_snippets_are_used() -> None:
    with serve_model(reply("不知道。")) as model:
        async with talking(openai(model.url), read_seconds=0) as (client, web):
            events, _ = await ask(client, QUESTION, search=True)
    assert web.reads == [] and not of(events, PageRead) and "120年" not in model.requests[0].text


class SlowPage(Web):
    """One of its pages is never sent."""

    def __call__(self, seen: Seen) -> Reply:
        return silence if seen.path == "/bridge" else super().__call__(seen)


async def test_a_page_that_is_late_does_not_hold_up_the_answer() -> None:
    async with talking(web=SlowPage(), read_seconds=0.5) as (client, _):
        events, answer = await ask(client, "港珠澳大桥海底隧道长多少公里?", search=True)
    assert "6.7公里" in answer.text
    [late] = of(events, PageFailed)
    assert late.url.endswith("/bridge") and late.failure.detail_code == "page_late"
    # Every step that was begun has ended, and all before the answer.
    assert {step.step for step in of(events, StepStarted)} == {step.step for step in of(events, StepFinished)}
    assert events[-1].kind == "answer"


async def test_a_page_that_arrives_while_the_model_writes_counts_for_the_check() -> None:
    sent = threading.Event()

    with serve_model([[reply("设计使用寿命为"), hold(sent), reply("120年[1]。")]]) as model:
        async with talking(openai(model.url), read_seconds=0.001) as (client, _):
            id = (await client.chat.create(search=True)).id
            run = await client.chat.ask(id, QUESTION)
            async for _, event in run.follow():
                if isinstance(event, PageRead) and event.url.endswith("/bridge"):
                    sent.set()
            answer = await run.wait()
    assert [claim.verdict for claim in answer.claims] == ["supported"]


# --- follow-ups ---------------------------------------------------------------------------------------------------


@pytest.mark.req("D1.1")
async def test_a_follow_up_is_searched_as_it_is_and_with_what_it_leaves_out() -> None:
    async with talking(web=Web(LATTE), read_seconds=PATIENCE) as (client, web):
        id = (await client.chat.create(search=True)).id
        await ask(client, "What is the Blue Latte?", id=id)
        events, answer = await ask(client, "Who invented it and when?", id=id)
    assert {event.query for event in of(events, SearchStarted)} == set(web.searches[1:])
    assert len(web.searches) == 3 and "Who invented it and when?" in web.searches
    assert any("Blue Latte" in query for query in web.searches[1:])
    assert "Karin Lund" in answer.text and "1987" in answer.text


async def test_the_model_writes_the_query_of_a_follow_up() -> None:
    script = [reply("A drink[1]."), reply("<think>hm</think>\n“Blue Latte inventor”\n"), reply("Karin Lund[1].")]
    with serve_model(script) as model:
        async with talking(openai(model.url), web=Web(LATTE), read_seconds=0) as (client, web):
            id = (await client.chat.create(search=True)).id
            await ask(client, "What is the Blue Latte?", id=id)
            await ask(client, "Who invented it and when?", id=id)
    assert sorted(web.searches[1:]) == ["Blue Latte inventor", "Who invented it and when?"]
    assert "What is the Blue Latte?" in model.requests[1].text and "A drink" in model.requests[1].text


@pytest.mark.parametrize("failing", [error(500, "oops"), stall()], ids=["error", "silence"])
async def test_without_the_model_the_rules_write_it(failing: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suyuan.chat.context._MODEL_SECONDS", 0.3)
    with serve_model([reply("A drink[1]."), failing, reply("Karin Lund[1].")]) as model:  # type: ignore[list-item]
        async with talking(openai(model.url), web=Web(LATTE), read_seconds=0) as (client, web):
            id = (await client.chat.create(search=True)).id
            await ask(client, "What is the Blue Latte?", id=id)
            _, answer = await ask(client, "Who invented it and when?", id=id)
    assert any("Blue Latte" in query for query in web.searches[1:]) and answer.text == "Karin Lund[1]."


async def test_one_failed_search_of_two_is_no_failure() -> None:
    class Half(Web):
        def __call__(self, seen: Seen) -> Reply:
            failing = seen.params.get("q") == "Who invented it and when?"
            return silence if failing else super().__call__(seen)

    async with talking(web=Half(LATTE), read_seconds=PATIENCE, seconds=1.0) as (client, _):
        id = (await client.chat.create(search=True)).id
        await ask(client, "What is the Blue Latte?", id=id)
        events, answer = await ask(client, "Who invented it and when?", id=id)
    assert of(events, SearchFailed) and not answer.unverified and "Karin Lund" in answer.text


BRIDGE = (Said("How long is the Hong Kong-Zhuhai-Macau Bridge?", "The bridge is 55 kilometres long[1]."),)
TELEPHONE = (Said("Who invented the telephone?", "It was patented by Alexander Graham Bell in 1876[1]."),)
FRANCE = (Said("What is the capital of France?", "Paris is the capital of France[1]."),)
LIBRARY = (Said("When is the Port Ember library open?", "The library is open from ten to six[1]."),)
MOON = (Said("月球离地球有多远？", "月球离地球38万公里[1]。"),)
VERSION = (Said("墨舟系统的最新版本是多少？", "墨舟系统的最新版本是6.1[1]。"),)
CHINESE = (Said("港珠澳大桥全长多少公里？", "大桥全长55公里[1]。"),)


@pytest.mark.parametrize(
    ("history", "message", "words"),
    [
        (BRIDGE, "When was it opened?", ["Hong Kong-Zhuhai-Macau Bridge", "opened"]),
        (BRIDGE, "And what did the bridge cost?", ["Hong Kong-Zhuhai-Macau Bridge", "cost"]),
        (BRIDGE, "Why?", ["Hong Kong-Zhuhai-Macau Bridge"]),
        (TELEPHONE, "Where was he born?", ["Alexander Graham Bell", "born"]),
        (FRANCE, "What about Italy?", ["capital of Italy"]),
        (CHINESE, "它是哪一年通车的？", ["港珠澳大桥", "通车"]),
        (CHINESE, "那杭州湾跨海大桥呢？", ["杭州湾跨海大桥", "公里"]),
        (CHINESE, "总投资呢？", ["总投资"]),
        (CHINESE, "设计寿命是多少？", ["港珠澳大桥", "设计寿命"]),
        ((Said("地铁1号线末班车是几点？"),), "2号线呢？", ["地铁2号线末班车"]),
        ((Said("2026年的男子冠军是谁？"),), "女子冠军呢？", ["2026年的女子冠军"]),
        ((Said("墨舟7的售价是多少？"),), "青简S呢？", ["青简S的售价"]),
        ((Said("Who won the Regatta in 2026?"),), "And in 2025?", ["Who won the Regatta in 2025?"]),
        ((Said("What does the Quillpad cost?"),), "And the Folio S?", ["What does the Folio S cost?"]),
        ((Said("What does the Quillpad 3 cost?"),), "And the Folio S?", ["What does the Folio S cost?"]),
        ((Said("What does it cost for adults?"),), "And for children?", ["What does it cost for children?"]),
        ((Said("How far is the Moon from the Earth?"),), "And what is its diameter?", ["Moon diameter"]),
        ((Said("When was Marl 5.0 released?"),), "What is new in it?", ["Marl 5.0"]),
        (LIBRARY, "When was it founded?", ["Port Ember library founded"]),
        (LIBRARY, "How much is a day ticket?", ["Port Ember library", "ticket"]),
        (MOON, "它的直径是多少？", ["月球 直径"]),
        (VERSION, "这个版本新增了什么？", ["墨舟系统", "6.1", "新增"]),
        ((Said("云汀地铁的起步价是多少？"),), "学生月票呢？", ["云汀地铁的学生月票是多少"]),
        ((*FRANCE, Said("How many people live there?", "Two million.")), "And who is its mayor?", ["France", "mayor"]),
    ],
)
def test_the_rules_put_in_what_a_message_leaves_out(history: tuple[Said, ...], message: str, words: list[str]) -> None:
    query = resolve(message, history).query
    assert [word for word in words if word not in query] == [], query


@pytest.mark.parametrize(
    "message",
    [
        "How tall is the Eiffel Tower?",
        "What is a bloom filter?",
        "And who is Ada Lovelace?",
        "今年的诺贝尔和平奖得主是谁？",
    ],
)
def test_a_message_that_stands_alone_is_searched_alone(message: str) -> None:
    assert resolve(message, BRIDGE).query == "" and resolve("When was it opened?", ()).query == ""


def test_a_short_message_in_chinese_only_may_lean_on_the_conversation() -> None:
    assert not resolve("埃菲尔铁塔有多高？", CHINESE).certain and resolve("它有多高？", CHINESE).certain


def test_what_only_may_lean_does_so_where_a_source_speaks_of_both() -> None:
    given = TurnInput("How much is a day ticket?", LIBRARY)
    given.add_search(
        "", [Source(1, "Harbour", "https://a.example/", "A day ticket for the harbour tour costs 9 crowns.")]
    )
    assert given.resolved.about == "" and given.resolved.question == given.question
    given.add_search(
        "", [Source(2, "Prices", "https://b.example/", "A day ticket of the Port Ember library costs 2 crowns.")]
    )
    assert given.resolved.about == "Port Ember library"


def test_a_question_of_small_words_only_is_searched_with_what_was_said_before() -> None:
    [call] = Responder().plan(TurnInput("How long is it?", BRIDGE), frozenset(("web_search",)))
    assert "Hong Kong-Zhuhai-Macau Bridge" in call.arguments["query"]
    assert Responder().plan(TurnInput("Thanks!", BRIDGE), frozenset(("web_search",))) == []
