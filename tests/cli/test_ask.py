"""``suyuan ask`` and ``suyuan chat`` in pipes and on terminals."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from cli.screen import Screen, on_terminal
from doctor.fake_servers import FORBIDDEN, searxng
from support.oai import error, reply, serve_model, stall
from support.site import Reply, free_port, serve
from support.site import reply as page
from support.talk import Web
from support.timing import PATIENCE
from suyuan.chat import events
from suyuan.citations.registry import Source
from suyuan.cli.answer import AnswerPrinter
from suyuan.core.causes.chat import PAGE_LATE
from suyuan.messages.catalog import Texts, languages

QUESTION = "港珠澳大桥全长多少公里?"


@dataclass
class Ran:
    """The output of a command and its exit code."""

    code: int
    out: str
    err: str


@dataclass
class Shell:
    """Runs commands against a small web and a model."""

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


@pytest.mark.req("C3.1", "C5.1", "C11.1")
async def test_ask_streams_the_answer_to_stdout_and_the_steps_to_stderr() -> None:
    async with shell() as sh:
        ran = await sh.run("--ui", "zh", "ask", QUESTION)
    assert ran.code == 0 and "55公里" in ran.out and "[1] 港珠澳大桥" in ran.out and f"{sh.web.url}/bridge" in ran.out
    assert "正在搜索" in ran.err and "searxng，2 条结果" in ran.err and "正在阅读" in ran.err
    assert re.search(r"引用与来源核对： ✓ \d 处有(网页|搜索摘要)支持", ran.out)


@pytest.mark.req("C5.1", "C11.5")
@pytest.mark.parametrize("command", ["ask", "chat"])
async def test_an_answer_without_markers_shows_its_sources_with_their_snippets(command: str) -> None:
    with serve_model(reply("没有任何标记。")) as model:
        async with shell(model.url) as sh:
            if command == "ask":
                ran = await sh.run("--ui", "zh", "ask", QUESTION)
            else:
                ran = await sh.run("--ui", "zh", "chat", "--search", typed=f"{QUESTION}\n/quit\n")
            found = sh.web.url
    assert ran.code == 0 and "没有任何标记。" in ran.out
    listed = ran.out.partition("来源")[2]
    assert "[1] 港珠澳大桥" in listed and f"{found}/bridge" in listed and "大桥全长55公里" in listed
    assert "[2] 港珠澳大桥海底隧道" in listed and f"{found}/tunnel" in listed and "海底隧道长约6.7公里" in listed


async def test_ask_json_writes_only_the_answer() -> None:
    async with shell() as sh:
        ran = await sh.run("ask", "--json", QUESTION)
    data = json.loads(ran.out)
    assert (
        data["kind"] == "answer"
        and data["cited"][0] == 1
        and data["sources"][0]["url"].endswith("/bridge")
        and data["run"]
    )


async def test_a_debug_bundle_is_read_by_its_owner_only(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.json"
    async with shell() as sh:
        run = json.loads((await sh.run("ask", "--json", QUESTION)).out)["run"]
        written = await sh.run("debug", run, "-o", str(bundle))
        refused = await sh.run("debug", run, "-o", str(tmp_path))
    assert written.code == 0 and QUESTION in bundle.read_text("utf-8") and bundle.stat().st_mode & 0o777 == 0o600
    assert refused.code == 2 and str(tmp_path) in refused.err and "Traceback" not in refused.err


@pytest.mark.req("C3.2", "C5.2")
async def test_ask_without_search_sends_no_search() -> None:
    with serve_model(reply("Just so.")) as model:
        async with shell(model.url) as sh:
            ran = await sh.run("ask", "--no-search", "why?")
            assert sh.web.site is not None and sh.web.site.connections == 0
    assert ran.code == 0 and ran.out.strip() == "Just so."


@pytest.mark.req("C1.1", "C1.3")
async def test_ask_and_chat_search_until_the_switch_is_left_off() -> None:
    async with shell() as sh:
        await sh.run("ask", QUESTION)
        await sh.run("chat", typed=f"{QUESTION}\n/search off\n")
        assert len(sh.web.searches) == 2
        await sh.run("ask", QUESTION)
        await sh.run("chat", typed=f"{QUESTION}\n")
        assert len(sh.web.searches) == 2, "off in the next conversation too"
        await sh.run("ask", "--search", QUESTION)
        assert len(sh.web.searches) == 3, "an option counts for one question"
        await sh.run("ask", QUESTION)
        assert len(sh.web.searches) == 3


async def test_ask_agent_reads_pages() -> None:
    async with shell() as sh:
        ran = await sh.run("--ui", "en", "ask", "--agent", "When was SearXNG forked from searx?")
    assert ran.code == 0 and "2021" in ran.out and sh.web.reads == ["/searxng"] and "Reading http" in ran.err


@pytest.mark.req("C7.1")
async def test_a_failed_search_is_shown_and_has_its_own_exit_code() -> None:
    web = Web()
    web.searching = lambda _: page("down", 503)
    with serve_model(reply("Perhaps 55 km.")) as model:
        async with shell(model.url, web) as sh:
            ran = await sh.run("--ui", "en", "ask", "how long is the bridge?")
    assert ran.code == 1 and "[not verified by search]" in ran.out and ran.err.count("The search failed") == 1


async def test_a_refused_key_is_shown_with_a_hint() -> None:
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


def test_a_page_that_comes_late_does_not_cut_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    printer = AnswerPrinter(Texts("cli", "en"))
    late = events.PageFailed(2, "https://late.example/", PAGE_LATE.failure(), 2500)
    for event in (events.TextDelta("Ships: 1,284"), late, events.TextDelta("[1].")):
        printer.take(event)
    assert capsys.readouterr() == ("Ships: 1,284[1].", "")
    printer.close()
    out, err = capsys.readouterr()
    assert out == "\n" and "The page had not arrived when the answer was complete." in err


async def test_chat_from_a_pipe_reads_commands_and_questions() -> None:
    typed = f"/search off\n/help\n/nonsense\n/mode agent\n/search on\n/mode chat\n/search on\n{QUESTION}\n"
    async with shell() as sh:
        ran = await sh.run("--ui", "zh", "chat", "--search", typed=typed)
    assert ran.code == 0 and "联网搜索已关闭" in ran.out and "/mode chat|agent" in ran.out
    assert "未知命令" in ran.err and "Agent 模式下由 AI 自动决策搜索" in ran.err and "55公里" in ran.out


async def test_chat_on_a_terminal_goes_on_after_ctrl_c_and_stores_the_typed_lines() -> None:
    with serve_model([[reply("One two three ", delay=0.01), stall(600)], reply("Still here.")]) as model:
        async with shell(model.url) as sh:
            screen = await asyncio.to_thread(_chat_on_terminal, sh.env)
    assert "[stopped]" in screen and "Still here." in screen and "Traceback" not in screen


def _chat_on_terminal(env: dict[str, str]) -> str:
    with on_terminal("--ui", "en", "chat", "--no-search", env=env) as screen:
        screen.wait_for("chat>")
        screen.type("count\n")
        screen.wait_for("three")
        screen.type("\x03")
        screen.wait_for("[stopped]\n\nchat>")
        screen.type("and now\n")
        screen.wait_for("Still here.\n\nchat>")
        screen.type("\x04")
        assert screen.wait() == 0
    with open(f"{env['SUYUAN_STATE_DIR']}/chat-history", encoding="utf-8") as history:
        assert "and now" in history.read()
    return screen.text


MARKDOWN = """# Bridges

The bridge is **55 km** long[1]; it was opened in *2018* after nine years of internationally recognised work.

| Part | Length |
|---|---:|
| tunnel | 6.7 km |

- first `item`
- second [page](https://docs.example/page)

```python
print("hello")
```

The end.
"""
RENDERED = """\
Bridges

The bridge is 55 km long[1]; it was opened in 2018 after
nine years of internationally recognised work.

Part     Length
───────────────
tunnel   6.7 km

 • first item
 • second page

  print("hello")

The end."""


class TestOnATerminal:
    """Answers on a terminal of 60 columns."""

    async def ask(self, *args: str, question: str = "港珠澳大桥", **environ: str) -> Screen:
        with serve_model(reply(MARKDOWN, delay=0.002)) as model:
            async with shell(model.url) as sh:
                return await asyncio.to_thread(self.run, [*args, "ask", question], sh.env, environ)

    @staticmethod
    def run(args: list[str], env: dict[str, str], variables: dict[str, str] | None = None) -> Screen:
        with on_terminal(*args, env=env, columns=60, variables=variables) as screen:
            assert screen.wait() == 0
            return screen

    @pytest.mark.req("C3.1", "C4.4", "C5.1", "C11.1")
    async def test_markdown_is_rendered_no_word_is_broken_and_links_can_be_clicked(self) -> None:
        screen = await self.ask("--ui", "en")
        assert RENDERED in screen.text
        assert (
            "Searching “港珠澳大桥”" in screen.text
            and "[1] 港珠澳大桥 — 127.0.0.1\n    http://127.0.0.1" in screen.text
        )
        links = dict(re.findall(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b\\(?:\x1b\[[\d;]*m)*([^\x1b]+)", screen.raw)[::-1])
        assert links["https://docs.example/page"] == "page"
        assert any(url.endswith("/bridge") and text == "[1]" for url, text in links.items())
        listed = screen.text.partition("[1] 港珠澳大桥 — ")[2]
        assert "港珠澳大桥全长55公里" in listed and "[2] 港珠澳大桥海底隧道" in listed, "with snippets"
        title = r"\x1b\]8;[^;]*;http[^\x1b]+/bridge\x1b\\(?:\x1b\[[\d;]*m)*港珠澳大桥 — "
        assert re.search(title, screen.raw), "the title is a link"

    async def test_a_plain_terminal_gets_no_escape_codes(self) -> None:
        screen = await self.ask(TERM="dumb")
        assert "\x1b" not in screen.raw
        assert RENDERED.replace("second page", "second page (https://docs.example/page)") in screen.text

    async def test_a_log_and_an_answer_do_not_mix(self) -> None:
        screen = await self.ask("-v")
        assert "INFO suyuan.config: " in screen.text
        assert all(block in screen.text for block in RENDERED.split("\n\n"))

    async def test_the_unfinished_block_is_shown_and_ctrl_c_keeps_it(self) -> None:
        with serve_model([[reply("# Title\n\nFirst.\n\nHalf a sentence", delay=0.01), stall(60)]]) as model:
            async with shell(model.url) as sh:
                text = await asyncio.to_thread(self.stop, sh.env)
        assert text == "Title\n\nFirst.\n\nHalf a sentence\n[stopped]"

    @staticmethod
    def stop(env: dict[str, str]) -> str:
        with on_terminal("--ui", "en", "ask", "--no-search", "hello", env=env) as screen:
            screen.wait_for("Half a sentence")
            screen.type("\x03")
            assert screen.wait() == 130
            return screen.text.removeprefix("^C").strip()

    async def test_a_block_higher_than_the_screen_is_printed_whole(self) -> None:
        items = "\n".join(f"- item {n}" for n in range(100))
        with serve_model(reply(items, delay=0.001)) as model:
            async with shell(model.url) as sh:
                screen = await asyncio.to_thread(self.run, ["ask", "--no-search", "list"], sh.env)
        assert [line.strip() for line in screen.lines if "item" in line] == [f"• item {n}" for n in range(100)]


STARTS = [
    ("json_api_off", {"empty": page(FORBIDDEN, 403), "search": page(FORBIDDEN, 403)}, "formats"),
    ("searxng_api_off", {"empty": page("", 403), "page": page("", 403), "search": page("", 403)}, "/search"),
    ("http_429", {"empty": page("", 429), "search": page("", 429)}, "limiter"),
    ("", {}, ""),
]


@pytest.mark.req("C2.1", "C2.5", "C6.4", "C9.2")
@pytest.mark.parametrize("command", [("chat",), ("ask", "hello there"), ("ask", "--agent", "hello there")])
@pytest.mark.parametrize(("code", "answers", "fix"), STARTS)
async def test_what_hinders_a_search_is_told_at_the_start(
    code: str, answers: dict[str, Reply], fix: str, command: tuple[str, ...]
) -> None:
    async with serve(searxng(answers)) as site, shell() as sh:
        sh.env |= {"SEARXNG_BASE_URL": site.url, "WEB_SEARCH_BACKEND": "auto", "DDG_BASE_URL": site.url}
        ran = await sh.run("--ui", "en", *command)
        asked = [seen.path for seen in site.seen]
    told = ran.err.partition("searching")[0]
    assert ("suyuan searxng guide" in told) is bool(code), ran.err
    assert fix in told and (code != "" or "!" not in told.split("\n")[0])
    assert asked[0].endswith("/healthz")


@pytest.mark.req("C6.4", "C9.1", "C7.3", "G6.3")
@pytest.mark.parametrize(("lang", "network"), [("en", "network"), ("zh", "网络")])
async def test_a_searxng_that_is_not_there_and_a_missing_browser_are_told_when_a_chat_starts(
    lang: str, network: str
) -> None:
    async with shell() as sh:
        sh.env |= {"SEARXNG_BASE_URL": f"http://127.0.0.1:{free_port()}", "WEB_SEARCH_BACKEND": "google,searxng"}
        sh.env |= {"SUYUAN_CHROME": "/nowhere/chrome"}
        ran = await sh.run("--ui", lang, "chat")
    assert "docker compose up -d" in ran.err and network in ran.err and "suyuan searxng guide" in ran.err
    assert "/nowhere/chrome" in ran.err


@pytest.mark.req("C15.3", "C11.4", "C11.5", "C15.4")
@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("cited", [(), (2,), (1, 3)])
def test_the_terminal_lists_the_sources_as_the_page_does(
    mode: Literal["chat", "agent"], cited: tuple[int, ...], lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = tuple(Source(n, f"Title {n}", f"https://s{n}.example/x", f"Snippet {n}") for n in (1, 2, 3))
    rounds = ((1, "first", (1, 2)), (2, "second", (3, 1)), (3, "third", ()))
    answer = events.Answer("text", "text", mode, "m", lang, sources, rounds, cited)
    AnswerPrinter(Texts("cli", lang)).take(answer)
    out, words = capsys.readouterr().out, Texts("references", lang)
    for source in sources:
        assert f"[{source.number}] {source.title} — {source.domain}" in out and source.url in out
    if mode == "agent":
        heads = [words("round", n=number, query=query) for number, query, _ in rounds]
        places = [out.index(head) for head in (words("title"), *heads)]
        assert places == sorted(places) and words("none") in out[places[-1] :]
        assert out.count("[1] ") == 2 and out.count(words("cited")) == {0: 0, 1: 1, 2: 3}[len(cited)]
    else:
        assert (words("title") in out) is bool(cited) and (words("more") in out) is bool(cited)
        listed = out.partition(words("more"))[0]
        assert [n for n in (1, 2, 3) if f"[{n}]" in listed] == list(cited or (1, 2, 3))
