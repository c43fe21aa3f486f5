"""What a process works on is written down for each step of the event loop and each thread."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from suyuan.core.at_work import NotedThreads, WorkBoard, note_tasks, working_for, write_on


@pytest_asyncio.fixture
async def board() -> AsyncIterator[WorkBoard]:
    with tempfile.TemporaryFile() as file:
        made = WorkBoard.create(file.fileno())
        write_on(made)
        note_tasks(asyncio.get_running_loop())
        yield made
        write_on(None)
        asyncio.get_running_loop().set_task_factory(None)
        made.close()


async def test_a_step_and_all_that_it_begins_work_for_the_same(board: WorkBoard) -> None:
    seen: dict[str, str] = {}

    def in_thread() -> None:
        seen["thread"] = board.item(threading.get_native_id())

    async def begun() -> None:
        await asyncio.sleep(0)
        seen["task"] = board.item()

    async def work() -> None:
        seen["step"] = board.item()
        await asyncio.to_thread(in_thread)
        own = NotedThreads(1)
        await asyncio.get_running_loop().run_in_executor(own, in_thread)
        own.shutdown()
        await asyncio.create_task(begun())

    await working_for("answer a", work())
    assert seen == {"thread": "answer a", "step": "answer a", "task": "answer a"}
    assert board.item() == ""


async def test_a_step_that_has_ended_is_not_named_for_what_comes_after_it(board: WorkBoard) -> None:
    goes_on, named = asyncio.Event(), list[str]()

    async def waits() -> None:
        await goes_on.wait()

    waiting = asyncio.create_task(working_for("answer a", waits()))
    await asyncio.sleep(0)
    named.append(board.item())
    goes_on.set()
    await waiting
    assert [*named, board.item()] == ["", ""]


async def test_a_task_that_is_ended_before_it_begins_and_one_that_fails_end_as_ever(board: WorkBoard) -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("x")

    async def work() -> None:
        never = asyncio.create_task(fails())
        never.cancel()
        with pytest.raises(asyncio.CancelledError):
            await never
        with pytest.raises(ValueError, match="x"):
            await asyncio.create_task(fails())

    await working_for("answer a", work())


def test_many_threads_have_their_places() -> None:
    with tempfile.TemporaryFile() as file:
        made = WorkBoard.create(file.fileno())
        for thread in range(1, 200):
            made.begin(f"answer {thread}", thread)
            assert made.item(thread) == f"answer {thread}" and made.item() == ""
        made.close()
