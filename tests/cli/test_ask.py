"""``suyuan ask`` and ``suyuan chat`` as a person and as a script use them."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import select
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from support.oai import error, reply, serve_model, stall
from support.site import reply as page
from support.site import serve
from support.talk import Web
from support.timing import PATIENCE

QUESTION = "港珠澳大桥全长多少公里?"


@dataclass
class Ran:
    """What a command wrote, and how it ended."""

    code: int
    out: str
    err: str


@dataclass
class Shell:
    """A terminal with a small web and a model behind it."""

    web: Web
    env: dict[str, str] = field(default_factory=dict)

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "suyuan", *arguments)
        return await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, env=self.env)

    async def run(self, *arguments: str, typed: str = "") -> Ran:
        process = await self.start(*arguments)
        out, err = await asyncio.wait_for(process.communicate(typed.encode()), PATIENCE)
        assert process.returncode is not None
        return Ran(process.returncode, out.decode(), err.decode())


@asynccontextmanager
async def shell(model: str = "", web: Web | None = None) -> AsyncIterator[Shell]:
    web = web or Web()
    async with serve(web) as site:
        web.site = site
        env = {
            **os.environ,
            "SEARXNG_BASE_URL": site.url,
            "WEB_SEARCH_BACKEND": "searxng",
            "WEB_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        }
        if model:
            env |= {"SUYUAN_MODEL": "test-model", "SUYUAN_MODEL_BASE_URL": model}
        yield Shell(web, env)


@pytest.mark.req("C5.1", "C11.1")
async def test_ask_streams_the_answer_to_stdout_and_the_steps_to_stderr() -> None:
    async with shell() as sh:
        ran = await sh.run("--ui", "zh", "ask", QUESTION)
    assert ran.code == 0 and "55公里" in ran.out and "[1] 港珠澳大桥" in ran.out and f"{sh.web.url}/bridge" in ran.out
    assert "正在搜索" in ran.err and "searxng，2 条结果" in ran.err and "引用核对：1 句与来源相符" in ran.out


async def test_ask_json_is_the_answer_and_nothing_else() -> None:
    async with shell() as sh:
        ran = await sh.run("ask", "--json", QUESTION)
    data = json.loads(ran.out)
    assert (
        data["kind"] == "answer"
        and data["cited"] == [1]
        and data["sources"][0]["url"].endswith("/bridge")
        and data["run"]
    )


@pytest.mark.req("C3.2")
async def test_ask_without_search_asks_nobody() -> None:
    with serve_model(reply("Just so.")) as model:
        async with shell(model.url) as sh:
            ran = await sh.run("ask", "--no-search", "why?")
            assert sh.web.site is not None and sh.web.site.connections == 0
    assert ran.code == 0 and ran.out.strip() == "Just so."


async def test_ask_agent_reads_pages() -> None:
    async with shell() as sh:
        ran = await sh.run("--ui", "en", "ask", "--agent", "When was SearXNG forked from searx?")
    assert ran.code == 0 and "2021" in ran.out and sh.web.reads == ["/searxng"] and "Reading http" in ran.err


@pytest.mark.req("C7.1")
async def test_a_failed_search_is_said_and_marked_and_scripts_can_tell() -> None:
    web = Web()
    web.searching = lambda _: page("down", 503)
    with serve_model(reply("Perhaps 55 km.")) as model:
        async with shell(model.url, web) as sh:
            ran = await sh.run("--ui", "en", "ask", "how long is the bridge?")
    assert ran.code == 1 and "[not verified by search]" in ran.out and "Search failed" in ran.err


async def test_a_model_that_refuses_names_cause_and_cure() -> None:
    with serve_model(error(401, "bad key")) as model:
        async with shell(model.url) as sh:
            ran = await sh.run("--ui", "en", "ask", "--no-search", "hello there")
    assert ran.code == 3 and "SUYUAN_MODEL_API_KEY" in ran.err and "Traceback" not in ran.err


async def test_ctrl_c_stops_the_answer_and_keeps_what_was_written() -> None:
    with serve_model([[reply("One two three ", delay=0.01), stall(600)]]) as model:
        async with shell(model.url) as sh:
            process = await sh.start("--ui", "en", "ask", "--no-search", "count")
            assert process.stdout is not None
            seen = b""
            while b"three" not in seen:
                seen += await asyncio.wait_for(process.stdout.read(100), PATIENCE)
            process.send_signal(signal.SIGINT)
            rest = await asyncio.wait_for(process.stdout.read(), PATIENCE)
            assert await process.wait() == 130
    assert b"[stopped]" in rest


async def test_chat_from_a_pipe_takes_commands_and_questions() -> None:
    typed = f"/search off\n/help\n/nonsense\n/mode agent\n/search on\n/mode chat\n/search on\n{QUESTION}\n"
    async with shell() as sh:
        ran = await sh.run("--ui", "zh", "chat", typed=typed)
    assert ran.code == 0 and "联网搜索已关闭" in ran.out and "/mode chat|agent" in ran.out
    assert "未知命令" in ran.err and "Agent 模式下由 AI 自动决策搜索" in ran.err and "55公里" in ran.out


async def test_chat_on_a_terminal_survives_ctrl_c_and_remembers_what_was_typed() -> None:
    with serve_model([[reply("One two three ", delay=0.01), stall(600)], reply("Still here.")]) as model:
        async with shell(model.url) as sh:
            screen = await asyncio.to_thread(_on_a_terminal, sh.env)
    assert "[stopped]" in screen and "Still here." in screen and "Traceback" not in screen


def _on_a_terminal(env: dict[str, str]) -> str:
    child, terminal = pty.fork()
    if child == 0:
        os.execve(
            sys.executable,
            [sys.executable, "-m", "suyuan", "--ui", "en", "chat", "--no-search"],
            {**env, "TERM": "dumb"},
        )
    screen, seen = "", 0

    def until(words: str) -> None:
        """Read on until ``words`` come, after those that came before."""
        nonlocal screen, seen
        end = time.monotonic() + PATIENCE
        while (found := screen.find(words, seen)) < 0:
            ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{words!r} did not come: {screen}"
            screen += os.read(terminal, 1000).decode(errors="replace")
        seen = found + len(words)

    try:
        until("chat> ")
        os.write(terminal, b"count\n")
        until("three")
        os.write(terminal, b"\x03")
        until("[stopped]")
        until("chat> ")
        os.write(terminal, b"and now\n")
        until("Still here.")
        until("chat> ")
        os.write(terminal, b"\x04")
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        with open(f"{env['SUYUAN_STATE_DIR']}/chat-history", encoding="utf-8") as kept:
            assert "and now" in kept.read()
    finally:
        os.close(terminal)
    return screen
