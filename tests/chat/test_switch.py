"""The search switch and the mode of a conversation, and the commands that change them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.talk import talking
from support.timing import PATIENCE
from suyuan.chat.commands import Command, parse_command
from suyuan.core.errors import InvalidInput
from suyuan.core.person import NOBODY, Person, current_person
from suyuan.llm.settings import ModelSettings


@pytest.mark.req("C1.1", "C1.2", "C1.3")
async def test_agent_mode_locks_the_switch_and_chat_mode_restores_it() -> None:
    async with talking() as (client, _):
        chat = client.chat
        id = (await chat.create(search=False)).id
        assert (await chat.change(id, search=True)).search
        assert (await chat.change(id, mode="agent")).mode == "agent"
        for value in (True, False):
            with pytest.raises(InvalidInput) as locked:
                await chat.change(id, search=value)
            assert locked.value.detail_code == "switch_locked"
            assert locked.value.say("zh")[0] == "Agent 模式下由 AI 自动决策搜索"
        back = await chat.change(id, mode="chat")
        assert back.search is True and back.mode == "chat"


@pytest.mark.req("C1.3")
async def test_both_at_once_in_one_request_follow_the_mode_that_results() -> None:
    async with talking() as (client, _):
        id = (await client.chat.create(search=False, mode="agent")).id
        with pytest.raises(InvalidInput):
            await client.chat.change(id, mode="agent", search=True)
        assert (await client.chat.change(id, mode="chat", search=True)).search


@pytest.mark.req("C1.1")
@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/search on", Command("search", True)),
        (" /SEARCH off ", Command("search", False)),
        ("/search 开", Command("search", True)),
        ("/mode agent", Command("mode", "agent")),
        ("/help", Command("help")),
        ("what is /etc/passwd", None),
        ("/etc/passwd holds what?", None),
        ("search on", None),
    ],
)
def test_commands(text: str, command: Command | None) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize("text", ["/search", "/search maybe", "/mode fast", "/dance"])
def test_an_unknown_command_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_command(text)
    assert "/search on|off" in caught.value.hint and "/mode chat|agent" in caught.value.say("zh")[1]


async def test_bad_modes_models_engines_and_conversations_are_refused_and_nothing_changes() -> None:
    async with talking() as (client, _):
        id = (await client.chat.create(search=True)).id
        before = await client.chat.get(id)
        bad = [{"mode": "magic"}, {"model": "gpt-99"}, {"engine": "altavista"}]
        for fields in bad:
            with pytest.raises(InvalidInput):
                await client.chat.change(id, **fields)
        with pytest.raises(InvalidInput) as missing:
            await client.chat.get("nothing")
        assert await client.chat.get(id) == before and missing.value.detail_code == "no_conversation"


async def test_other_windows_hear_of_a_change() -> None:
    async with talking() as (client, _):
        id = (await client.chat.create(search=False)).id
        with client.chat.watching(id) as changes:
            await client.chat.change(id, search=True)
            change = await asyncio.wait_for(changes.get(), PATIENCE)
        assert change.kind == "settings" and change.conversation.search is True


MODELS = (None, ModelSettings("openai", "m", "http://127.0.0.1:9/v1"))


@pytest.mark.req("C1.3")
@pytest.mark.parametrize("model", MODELS)
async def test_a_person_who_never_chose_searches_and_a_program_that_says_nothing_does_not(
    model: ModelSettings | None,
) -> None:
    async with talking(model) as (client, _):
        assert client.chat.search_switch.setting() is True
        assert (await client.chat.create()).search is False


@pytest.mark.req("C1.1", "C1.3")
@pytest.mark.parametrize("configured", [None, True, False])
async def test_the_switch_is_found_as_it_was_left_whatever_is_configured(
    configured: bool | None, tmp_path: Path
) -> None:
    async with talking(folder=tmp_path, searching=configured) as (client, _):
        switch = client.chat.search_switch
        assert switch.setting() is (configured is not False)
        assert (await client.chat.create()).search is (configured is True)
        for on in (False, True, False):
            await client.chat.keep_switch(on)
            assert switch.setting() is on
            assert (await client.chat.create()).search is (configured is True), "a program's is as configured"
    async with talking(folder=tmp_path) as (client, _):
        assert client.chat.search_switch.setting() is False, "after a restart too"


@pytest.mark.req("C1.1")
async def test_the_command_in_one_conversation_counts_for_the_next() -> None:
    async with talking() as (client, _):
        id = (await client.chat.create(search=True)).id
        await client.chat.run_command(id, Command("search", False))
        assert client.chat.search_switch.setting() is False


@pytest.mark.req("C1.1")
async def test_each_person_has_a_switch_of_their_own() -> None:
    async with talking() as (client, _):
        try:
            for id, on in (("ann", False), ("bob", True)):
                current_person.set(Person(id, id))
                await client.chat.keep_switch(on)
            for id, on in (("ann", False), ("bob", True), ("eve", True)):
                current_person.set(Person(id, id))
                assert await client.chat.read(client.chat.search_switch.setting) is on
        finally:
            current_person.set(NOBODY)
