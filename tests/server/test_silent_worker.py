"""A server whose worker is held up: it is replaced, and what it was working on does not stop the next one."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from benchmarks.watch import MOST_TO_END, Waits

from cli.test_serve import address_of, started
from server.serving import Client, client
from support.oai import Step, reply, serve_model, stall
from support.processes import children
from support.timing import PATIENCE

# Loaded by every process of the server: a stored answer with this word keeps the interpreter in one call for ever, in
# the thread that makes the page or on the event loop, as an expression with too many ways to match did.
FAULT = """
import re
import suyuan.server.answer_view as views
import suyuan.server.supervisor as supervisor

supervisor.SILENT_SECONDS = {silent}
kept_view = views.kept_view

def held_up(message, events, *rest, **named):
    if "HOLD" in message.text and message.answer is not None:
        re.match("(a+)+b", "a" * 100)
    return kept_view(message, events, *rest, **named)

views.kept_view = held_up

import suyuan.chat.exports as exports
export = exports.export

def endless(conversation, messages, *rest):
    # In a thread: what computes there holds nobody up, but does not end by itself.
    while "ENDLESS" in messages[-1].text:
        pass
    return export(conversation, messages, *rest)

exports.export = endless
"""


@asynccontextmanager
async def faulty(
    home: Path, answers: list[list[Step]], silent: float = 4.0
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Client]]:
    """A server that is held up by answers with HOLD."""
    (home / "fault").mkdir()
    (home / "fault" / "sitecustomize.py").write_text(FAULT.format(silent=silent))
    with serve_model(answers) as model:
        environ = {"SUYUAN_MODEL": "m", "SUYUAN_MODEL_PROVIDER": "openai", "SUYUAN_MODEL_BASE_URL": model.url}
        environ |= {"PYTHONPATH": str(home / "fault"), "SUYUAN_DATA_DIR": str(home / "data")}
        async with started("serve", "--port", "0", "--no-open", home=home, **environ) as process:
            url, _ = await address_of(process)
            async with client(url) as ask:
                yield process, ask


async def answered(ask: Client, text: str) -> tuple[str, str]:
    """A conversation with one answer, and the answer's run."""
    id = await ask.conversation(search=False)
    run = await ask.ask(id, text)
    await ask.answer(run)
    return id, run


async def page(ask: Client, path: str) -> str:
    status, text = await ask("GET", path, Accept="text/html")
    assert status == 200, text
    return str(text)


async def hold_up(ask: Client, path: str) -> None:
    """Open what holds up the worker: the connection ends with it, and the client may try again by itself."""
    with contextlib.suppress(aiohttp.ClientError):
        await ask("GET", path, Accept="text/html")


async def test_a_worker_that_is_held_up_is_replaced_and_what_held_it_up_is_set_aside(tmp_path: Path) -> None:
    answers = [[reply("HOLD **this** answer.")], [reply("Another **answer**.")], [reply("Half "), stall(600)]]
    async with faulty(tmp_path, answers) as (process, ask):
        held, held_run = await answered(ask, "One?")
        other, _ = await answered(ask, "Two?")
        running = await ask.ask(await ask.conversation(search=False), "Three?")
        async for _, name, _ in ask.events(f"/api/runs/{running}/events"):
            if name == "text":
                break

        await hold_up(ask, f"/c/{held}")

        shown = await page(ask, f"/c/{held}")
        assert "HOLD **this** answer." in shown and f"conversation {held}" in shown
        assert "<strong>answer</strong>" in await page(ask, f"/c/{other}")
        assert held in await page(ask, "/rail") and other in await page(ask, "/rail")
        status, kept = await ask("GET", "/api/notices")
        told = {notice["file"]: notice for notice in kept["notices"]}
        assert status == 200 and told[f"conversation {held}"]["code"] == "worker_silent"
        assert held in told[f"conversation {held}"]["message"]
        ends = await ask.all_events(f"/stream/{running}")
        assert ends[-1][1] == "answer" and ends[-1][2]["state"] == "interrupted"

        # The stream of the answer works on the event loop; after that, it is plain as well.
        await hold_up(ask, f"/stream/{held_run}")
        (_, name, data), *more = await ask.all_events(f"/stream/{held_run}")
        assert (name, more) == ("answer", []) and "HOLD **this** answer." in "".join(data["blocks"])
        assert process.returncode is None


async def test_a_worker_that_is_held_up_ends_within_a_second_of_being_told(tmp_path: Path) -> None:
    async with faulty(tmp_path, [[reply("HOLD this answer.")]], silent=600) as (process, ask):
        held, _ = await answered(ask, "One?")
        opening = asyncio.create_task(hold_up(ask, f"/c/{held}"))
        for _ in range(3):
            # Until nothing is answered any more.
            try:
                async with asyncio.timeout(0.5):
                    await ask("GET", "/healthz")
            except TimeoutError:
                break
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            await process.wait()
        # A second, and what a busy machine adds to it.
        assert time.monotonic() - begun < 5
        await opening


@pytest.mark.parametrize("under_way", ["answers", "an upload", "a thread"])
async def test_a_server_ends_within_a_second_of_being_told_whatever_is_under_way(
    under_way: str, tmp_path: Path
) -> None:
    answers = [[reply("An ENDLESS answer.")], *[[reply("Half "), stall(600)]] * 3]
    async with faulty(tmp_path, answers, silent=600) as (process, ask), asyncio.TaskGroup() as group:
        first, _ = await answered(ask, "One?")
        if under_way == "answers":
            for _ in range(3):
                run = await ask.ask(await ask.conversation(search=False), "Two?")
                group.create_task(followed(ask, run))
        elif under_way == "an upload":
            group.create_task(uploaded(ask))
        else:
            group.create_task(hold_up(ask, f"/api/conversations/{first}/export?form=html"))
        # It has come to the server, which answers all the same.
        for _ in range(5):
            await ask("GET", "/healthz")
        waits = Waits(process.pid, *children(process.pid))
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        while process.returncode is None and time.monotonic() < begun + PATIENCE:
            waited = waits.seconds()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.wait()), 0.05)
        # Beside the threads, a busy machine keeps their children waiting.
        assert time.monotonic() - begun - waited < 2 * MOST_TO_END


async def followed(ask: Client, run: str) -> None:
    with contextlib.suppress(aiohttp.ClientError):
        await ask.all_events(f"/stream/{run}")


async def uploaded(ask: Client) -> None:
    """Begin to send, and never come to the end."""
    at = urlsplit(str(ask.url))
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    head = f"POST /api/search HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n"
    writer.write(head.encode() + b"{")
    await writer.drain()
    with contextlib.suppress(OSError):
        await reader.read()
    writer.close()


async def ask_for_health(ask: Client) -> None:
    """Ask every few milliseconds whether the server works, as those do who watch it."""
    while True:
        with contextlib.suppress(aiohttp.ClientError):
            await ask("GET", "/healthz")
        await asyncio.sleep(0.005)


async def test_what_held_up_a_worker_is_named_however_often_it_is_asked_for_its_health(tmp_path: Path) -> None:
    async with faulty(tmp_path, [[reply("HOLD **this** answer.")]], silent=2.0) as (_, ask):
        held, run = await answered(ask, "One?")
        asking = [asyncio.create_task(ask_for_health(ask)) for _ in range(4)]
        await asyncio.sleep(0.2)
        # In a thread, and in the next worker, which does not know the answer, on the event loop.
        await hold_up(ask, f"/c/{held}")
        await hold_up(ask, f"/stream/{run}")
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        _, kept = await ask("GET", "/api/notices")
    told = {notice["file"] for notice in kept["notices"] if notice["code"] == "worker_silent"}
    assert told == {f"conversation {held}", f"answer {run}"}
