"""The browser process: it starts once, is shared, is replaced if it fails, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.chromium import contents, get, opened, own_temp, pages, paths, require_chromium
from support.processes import Process, browsers, family
from support.site import Reply, Seen, reply, serve, stall
from support.timing import PATIENCE, soon, until
from suyuan.core.errors import SuyuanError, WebProviderError
from suyuan.net.settings import BrowserSettings

require_chromium()


@pytest.fixture(autouse=True)
def temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every test of this file ends with an empty temporary folder."""
    yield from own_temp(monkeypatch)


def the_browser() -> Process:
    (found,) = browsers()
    return found


async def code_of(client: object, url: str = "http://127.0.0.1/") -> str:
    with pytest.raises(WebProviderError) as caught:
        await get(client, url)  # type: ignore[arg-type]
    return caught.value.detail_code


class TestStart:
    @pytest.mark.req("G5.1", "G5.2")
    async def test_it_starts_once_and_is_reused(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("INFO")
        async with opened() as client, serve(pages()) as site:
            assert not browsers()
            await asyncio.gather(*(get(client, site.url) for _ in range(3)))
            first = the_browser()
            await get(client, site.url)
            assert the_browser() == first
            assert "--headless" in first.command
            assert ("--no-sandbox" in first.command) == (os.geteuid() == 0)
        starts = [record.getMessage() for record in caplog.records if "started in" in record.getMessage()]
        assert len(starts) == 1 and re.search(r"started in \d+\.\d+ s", starts[0])

    async def test_the_start_continues_if_the_first_request_is_cancelled(self) -> None:
        async with opened() as client, serve(pages()) as site:
            first = asyncio.create_task(get(client, site.url))
            assert await soon(lambda: bool(family()))
            second = asyncio.create_task(get(client, site.url))
            await asyncio.sleep(0)
            first.cancel()
            assert (await second).status == 200
            the_browser()

    async def test_no_more_pages_are_open_at_once_than_allowed(self) -> None:
        busy = most = 0

        async def slow(writer: asyncio.StreamWriter) -> None:
            nonlocal busy, most
            busy += 1
            most = max(most, busy)
            # Wait for two, as long as it takes; then long enough for a third that must not come.
            await soon(lambda: most > 1)
            await asyncio.sleep(0.2)
            busy -= 1
            await reply("x")(writer)

        async with (
            opened(BrowserSettings(max_pages=2)) as client,
            serve(lambda seen: slow if "page" in seen.path else reply("")) as site,
        ):
            await asyncio.gather(*(get(client, f"{site.url}/page{n}") for n in range(6)))
        assert most == 2

    @pytest.mark.req("G1.3")
    async def test_a_browser_that_does_not_start_is_an_error(self) -> None:
        async with opened(BrowserSettings(executable="/bin/false")) as client:
            assert await code_of(client) == "browser_failed"
        assert not family()

    @pytest.mark.req("G1.3")
    async def test_a_browser_that_starts_and_is_silent_is_an_error(self, tmp_path: Path) -> None:
        silent = tmp_path / "chrome"
        silent.write_text("#!/bin/sh\nexec sleep 60\n")
        silent.chmod(0o755)
        async with opened(BrowserSettings(executable=str(silent), start_seconds=1)) as client:
            assert await code_of(client) == "browser_failed"
        assert await soon(lambda: not family())

    @pytest.mark.req("G6.3")
    async def test_a_missing_executable_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async with opened(BrowserSettings(executable="/no/such/chrome")) as client:
            assert await code_of(client) == "chrome_missing"
        monkeypatch.setitem(sys.modules, "playwright.async_api", None)
        async with opened() as client:
            with pytest.raises(WebProviderError) as caught:
                await get(client, "http://127.0.0.1/")
        assert caught.value.detail_code == "playwright_missing"
        assert "suyuan[browser]" in caught.value.hint and "未安装" in caught.value.say("zh")[0]


class TestFailure:
    @pytest.mark.parametrize("victim", ["browser", "driver"])
    async def test_a_crash_during_a_load_still_gives_the_page(self, victim: str) -> None:
        answers = iter([stall, reply("second"), reply("third")])
        async with opened() as client, serve(lambda seen: next(answers) if seen.path == "/page" else reply("")) as site:
            task = asyncio.create_task(get(client, site.url + "/page"))
            assert await soon(lambda: "/page" in paths(site))
            before = the_browser()
            os.kill(before.pid if victim == "browser" else before.parent, signal.SIGKILL)
            assert "second" in (await task).text
            assert "third" in (await get(client, site.url + "/page")).text
            assert the_browser() != before
        assert not before.alive

    async def test_a_browser_that_died_in_between_is_replaced_once(self) -> None:
        async with opened() as client, serve(pages()) as site:
            await get(client, site.url)
            os.kill(the_browser().pid, signal.SIGKILL)
            answers = await asyncio.gather(*(get(client, site.url) for _ in range(3)))
            assert [answer.status for answer in answers] == [200] * 3
            the_browser()

    async def test_a_browser_that_hangs_is_replaced(self) -> None:
        async with opened() as client, serve(pages()) as site:
            await get(client, site.url)
            before = the_browser()
            os.kill(before.pid, signal.SIGSTOP)
            assert (await get(client, site.url)).status == 200
            assert await soon(lambda: not before.alive)

    async def test_a_browser_that_hangs_without_its_driver_is_ended(self) -> None:
        async with opened() as client, serve(pages()) as site:
            await get(client, site.url)
            before = the_browser()
            os.kill(before.pid, signal.SIGSTOP)
            os.kill(before.parent, signal.SIGKILL)
            assert (await get(client, site.url)).status == 200
        assert await soon(lambda: not before.alive)

    async def test_a_browser_that_hangs_during_a_load_is_replaced_for_the_next(self) -> None:
        async with opened() as client, serve(pages(page=stall)) as site:
            task = asyncio.create_task(get(client, site.url + "/page"))
            assert await soon(lambda: bool(site.seen))
            before = the_browser()
            os.kill(before.pid, signal.SIGSTOP)
            task.cancel()
            assert await soon(lambda: not before.alive)
            assert (await get(client, site.url)).status == 200


@pytest.mark.req("G5.3")
class TestEnd:
    async def test_closing_leaves_no_process_and_no_file(self, temp: Path) -> None:
        async with opened() as client, serve(pages()) as site:
            await get(client, site.url)
            processes = family()
            assert processes and contents(temp)
            await client.close()
            await client.close()
            assert await soon(lambda: not any(process.alive for process in processes))
            assert not contents(temp)
            assert await code_of(client, site.url) == "browser_closed"
            assert not family()

    @pytest.mark.parametrize("when", ["while it starts", "while pages load"])
    async def test_closing_ends_pending_requests(self, when: str) -> None:
        async with opened(BrowserSettings(max_pages=2)) as client, serve(lambda _: stall) as site:
            tasks = [asyncio.create_task(get(client, site.url)) for _ in range(3)]
            assert await soon(lambda: bool(family()) if when == "while it starts" else len(site.seen) == 2)
            await client.close()
            errors = await asyncio.gather(*tasks, return_exceptions=True)
        assert {error.detail_code if isinstance(error, SuyuanError) else error for error in errors} == {
            "browser_closed"
        }
        assert await soon(lambda: not family())

    async def test_an_idle_browser_is_closed_and_started_again(self, temp: Path) -> None:
        async with opened(BrowserSettings(idle_seconds=0.3)) as client, serve(pages()) as site:
            await get(client, site.url)
            assert await soon(lambda: not family() and not contents(temp)), "it still runs"
            assert (await get(client, site.url)).status == 200

    async def test_a_browser_in_use_is_not_idle(self) -> None:
        release = asyncio.Event()

        async def held(writer: asyncio.StreamWriter) -> None:
            await release.wait()
            await reply("late")(writer)

        async with opened(BrowserSettings(idle_seconds=0.1)) as client, serve(lambda _: held) as site:
            task = asyncio.create_task(get(client, site.url))
            assert await soon(lambda: bool(site.seen))
            await asyncio.sleep(0.5)
            release.set()
            assert "late" in (await task).text

    async def test_every_loop_has_a_browser_and_closing_closes_all(self) -> None:
        other = asyncio.new_event_loop()
        thread = threading.Thread(target=other.run_forever)
        thread.start()
        try:
            async with opened() as client, serve(pages()) as site:
                await get(client, site.url)
                elsewhere = asyncio.run_coroutine_threadsafe(get(client, site.url), other)
                assert (await asyncio.wrap_future(elsewhere)).status == 200
                assert len(browsers()) == 2
            assert await soon(lambda: not family())
        finally:
            other.call_soon_threadsafe(other.stop)
            thread.join()
            other.close()

    async def test_a_persistent_profile_is_kept(self, tmp_path: Path) -> None:
        def handler(seen: Seen) -> Reply:
            return (
                reply("known")
                if "cookie" in seen.headers
                else reply("new", headers={"Set-Cookie": "a=1; Max-Age=1000"})
            )

        kept = BrowserSettings(profile_dir=tmp_path / "profile")
        async with serve(handler) as site:
            async with opened(kept) as client:
                assert "new" in (await get(client, site.url)).text
            assert await soon(lambda: not family())
            async with opened(kept) as client:
                answers = await asyncio.gather(*(get(client, site.url) for _ in range(3)))
                assert ["known" in answer.text for answer in answers] == [True] * 3
                async with opened(kept) as second:
                    assert await code_of(second, site.url) == "profile_busy"
                assert "known" in (await get(client, site.url)).text


@pytest.mark.req("G5.3")
class TestProgramEnd:
    """A program that exits with an open browser, or is interrupted at the terminal while it closes it."""

    PROGRAM = textwrap.dedent("""
        import asyncio, sys
        from suyuan.core.wire import Request
        from suyuan.net.browser import BrowserClient
        from suyuan.net.settings import BrowserSettings, NetSettings

        async def main(url, end):
            client = BrowserClient(BrowserSettings(allow_unsandboxed=True), NetSettings())
            await client.send(Request.get(url), "x")
            if end != "driver":
                pending = asyncio.create_task(client.send(Request.get(url + "/stall"), "x"))
            print("ready", flush=True)
            try:
                await asyncio.to_thread(sys.stdin.readline)
            finally:
                if end == "SIGINT":
                    await client.close()
            if end == "exception":
                raise RuntimeError("the program fails")

        asyncio.run(main(*sys.argv[1:]))
    """)

    @pytest.mark.parametrize("end", ["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP", "exception", "return", "driver"])
    async def test_no_process_and_no_file_remains(self, end: str, temp: Path) -> None:
        async with serve(pages(stall=stall)) as site:
            command = [sys.executable, "-c", self.PROGRAM, site.url, end]
            program = await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            assert program.stdin is not None and program.stdout is not None
            assert await program.stdout.readline() == b"ready\n"
            if end != "driver":
                assert await soon(lambda: "/stall" in paths(site))
            processes = family(program.pid)
            assert browsers(program.pid) and contents(temp)
            if end == "SIGINT":
                # As a terminal does: to the whole process group, including the driver.
                os.killpg(program.pid, signal.SIGINT)
            elif end == "driver":
                # As asyncio of newer versions of Python does it when the program returns. Nothing is being loaded, since
                # the browser would be started again, and asyncio can hang in the start of a process that is cancelled.
                (browser,) = browsers(program.pid)
                os.kill(browser.parent, signal.SIGKILL)
            elif end.startswith("SIG"):
                program.send_signal(signal.Signals[end])
            program.stdin.close()
            async with asyncio.timeout(PATIENCE):
                await program.wait()
            assert await soon(lambda: not any(process.alive for process in processes)), [
                p.command for p in processes if p.alive
            ]
            assert until(lambda: not contents(temp)), contents(temp)
