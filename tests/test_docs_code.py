"""Python and console lines of the documentation run: engine and pages are on loopback, and so is Suyuan's own server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import client, serving
from support.documentation import DOCS, PAGES, ROOT, blocks, keys, name_of, prose, tables
from support.site import Reply, Seen, free_port, json_reply, reply, serve
from suyuan.config.load import load_settings

TEXT = "The Bloom filter was invented by Burton Howard Bloom in 1970. Python 3.14 was released on October 7, 2025."
HTML = f"<!doctype html><title>Bloom filters</title><article><h1>Bloom filters</h1><p>{TEXT}</p><p>{TEXT * 9}</p></article>"
# Lines of a class, a test that needs a package beside it, and one line of a settings class.
FRAGMENTS = ("def exchange(self", "from my_package import", "port: int = setting(", "CAPTCHA = Cause(")
# Runs every block in a namespace of its own, and tells which could not run.
_PROGRAM = """
import json, sys, traceback
wrong = {}
for name, code in json.load(open(sys.argv[1], encoding="utf-8")).items():
    try:
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    except BaseException:
        wrong[name] = traceback.format_exc()
json.dump(wrong, open(sys.argv[2], "w", encoding="utf-8"))
"""


def programs() -> Iterator[tuple[str, str]]:
    """The Python of all pages that is a program of its own; whole examples are run by another test."""
    for page in PAGES:
        for number, block in enumerate(blocks(page, "python")):
            if (
                page.parent.name != "adr"
                and not block.startswith('"""')
                and not any(each in block for each in FRAGMENTS)
            ):
                yield f"{name_of(page)}-{number}", block


def answer(seen: Seen) -> Reply:
    """A SearXNG whose results lead to pages of this server."""
    if seen.path == "/healthz":
        return json_reply("OK")
    if seen.path == "/search":
        query = seen.params.get("q", "")
        rows = [
            {"title": f"{query} {n}", "url": f"http://{seen.headers['host']}/page/{n}", "content": f"{query}. {TEXT}"}
            for n in range(5)
        ]
        return json_reply(json.dumps({"query": query, "results": rows, "unresponsive_engines": []}))
    return reply(HTML)


@asynccontextmanager
async def loopback(folder: Path) -> AsyncIterator[tuple[dict[str, str], str, str]]:
    """Variables that lead every search to loopback, the address of the pages, and that of the running server."""
    async with serve(answer) as site:
        environ = {f"SUYUAN_{name}_DIR": str(folder) for name in ("CONFIG", "DATA", "STATE")}
        environ |= {"SEARXNG_BASE_URL": site.url, "WEB_SEARCH_BACKEND": "searxng", "WEB_FETCH_ALLOW_HOSTS": "127.0.0.1"}
        environ |= {"WEB_SEARCH_TIMEOUT_MS": "60000", "SEARXNG_RATE_PER_MINUTE": "0"}
        with serving(load_settings(environ)) as served:
            yield {**os.environ, **environ}, site.url, served.url


def local(code: str, site: str, server: str) -> str:
    """The same code with the addresses of this test."""
    code = re.sub(r"https?://(?:example\.com|docs\.python\.org)", site, code)
    return re.sub(r"(?:http://)?(?:127\.0\.0\.1|localhost):8642", server, code)


async def test_python_in_the_documentation_runs(tmp_path: Path) -> None:
    for package in ("openai", "anthropic", "tavily", "firecrawl"):
        pytest.importorskip(package, reason=f"the package {package} is not installed")
    (tmp_path / "agents.json").write_text('{"agents": [{"id": "research", "webSearch": {"enabled": true}}]}')
    notes = tmp_path / "notes.md"
    notes.write_text("# Travel\n\nThe travel budget is 1,200 euros a year.\n")
    async with loopback(tmp_path) as (environ, site, server):
        code = {name: local(block, site, server) for name, block in programs()}
        assert len(code) >= 20
        (tmp_path / "code.json").write_text(json.dumps(code), encoding="utf-8")
        run(sys.executable, "-m", "suyuan", "library", "add", str(notes), environ=environ)
        program = [sys.executable, "-c", _PROGRAM, str(tmp_path / "code.json"), str(tmp_path / "wrong.json")]
        done = await asyncio.to_thread(run, *program, environ=environ)
    wrong = json.loads((tmp_path / "wrong.json").read_text(encoding="utf-8"))
    assert wrong == {}, "\n".join(f"--- {name}\n{text}" for name, text in wrong.items())
    assert "1970" in done and "Unclosed" not in done


async def test_what_the_documentation_does_with_a_failure_runs_too(tmp_path: Path) -> None:
    """With engines that are down, and with engines that refuse."""
    code = {name: block for name, block in programs() if re.search(r"except \(?suyuan\.", block)}
    assert code
    (tmp_path / "code.json").write_text(json.dumps(code), encoding="utf-8")
    program = [sys.executable, "-c", _PROGRAM, str(tmp_path / "code.json"), str(tmp_path / "wrong.json")]
    async with serve(lambda _: reply("", 429)) as site:
        for number, place in enumerate((site.url, f"http://127.0.0.1:{free_port()}")):
            # What is learned about the engines of one must not hold for those of the other.
            environ = {f"SUYUAN_{name}_DIR": str(tmp_path / str(number)) for name in ("CONFIG", "DATA", "STATE")}
            environ |= {"BING_BASE_URL": place, "DDG_BASE_URL": place, "WEB_SEARCH_BACKEND": "bing_html,ddg_html"}
            await asyncio.to_thread(run, *program, environ={**os.environ, **environ})
            assert json.loads((tmp_path / "wrong.json").read_text(encoding="utf-8")) == {}


def run(*command: str, environ: dict[str, str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT.parent, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


async def test_consoles_show_what_comes(tmp_path: Path) -> None:
    """Requests that are shown with their answer get an answer with all of the fields that are shown."""
    shown = [
        (name_of(page), line[2:], answer)
        for page in PAGES
        for block in blocks(page, "console")
        for line, answer in zip(block.splitlines(), [*block.splitlines()[1:], ""], strict=True)
        if line.startswith("$ curl") and "…" not in line
    ]
    assert len(shown) >= 4
    if not shutil.which("curl"):
        pytest.skip("curl is not installed on this machine")
    async with loopback(tmp_path) as (environ, site, server):
        for name, line, expected in shown:
            command = shlex.split(local(line, site, server))
            got = await asyncio.to_thread(run, command[0], "-sS", *command[1:], environ=environ)
            if expected.startswith("{"):
                fields = set(re.findall(r'"(\w+)":', expected))
                assert fields <= set(re.findall(r'"(\w+)":', got)), f"{name}: {line}"
            else:
                assert got.startswith(expected.rstrip(" …")), f"{name}: {line}"


async def test_research_gives_the_fields_that_are_described(tmp_path: Path) -> None:
    page = DOCS / "http-api.md"
    [table] = [table for table in tables(page) if table[0] == ["event", "data"]]
    described = {
        row[0].split("`")[1]: set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", row[1])))) for row in table[1:]
    }
    text = " ".join(prose(page).split())
    async with loopback(tmp_path) as (_, _, server), client(server) as ask:
        question = {"question": "Who invented the Bloom filter?", "depth": "quick"}
        _, job = await ask("POST", "/api/research", question)
        events = await ask.all_events(f"/api/research/{job['id']}/events")
        _, done = await ask("GET", f"/api/research/{job['id']}")
    assert done["state"] == "done" and done["ledger"] and done["claims"]
    for name, fields in described.items():
        there = {key for _, kind, data in events if kind == name for key in keys(data)}
        # What went well has no failure.
        assert fields - there <= {"failure"}, name
    for shape, value in (
        ("A job is", job),
        ("A row of the ledger is", done["ledger"][0]),
        ("A claim is", done["claims"][0]),
    ):
        named = re.findall(r"(\w+)[,:}]", text.partition(f"{shape} `")[2].partition("`")[0].split(": [{")[0] + ",")
        assert named and set(named) <= set(keys(value)), shape
