"""Lines, tables and progress on terminals of several widths, and in pipes."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.screen import Screen, on_terminal
from support import pages
from support.site import reply, serve
from suyuan.cli.terminal import line_breaks, padded, printable, width_of
from suyuan.engines import registry

MIXED = st.text(st.sampled_from("ab c 中文，。（）“”[1]…é🔍-/.\u0301"), max_size=60)


def lines(text: str, width: int) -> list[str]:
    breaks = [0, *line_breaks(text, width), len(text)]
    return [text[a:b].rstrip() for a, b in zip(breaks, breaks[1:], strict=False)]


class TestLines:
    def test_widths(self) -> None:
        assert width_of("abc") == 3 and width_of("中文") == 4 and width_of("e\u0301") == 1 and width_of("a\u200bb") == 2
        assert padded("中", 4) == "中  "

    def test_control_characters_are_removed(self) -> None:
        assert printable("a\x1b[0m\x9bb") == "a[0mb"

    def test_words_stay_whole(self) -> None:
        assert lines("The quick brown fox jumps", 10) == ["The quick", "brown fox", "jumps"]
        assert lines("使用SearXNG搜索网页", 12) == ["使用SearXNG", "搜索网页"]

    def test_chinese_punctuation_does_not_begin_or_end_a_line(self) -> None:
        assert lines("全长五十五公里，通车", 14) == ["全长五十五公", "里，通车"]
        assert lines("港珠澳大桥（主桥）", 12) == ["港珠澳大桥", "（主桥）"]

    def test_a_citation_stays_with_its_sentence(self) -> None:
        assert lines("全长五十五公里[1]。", 14) == ["全长五十五公", "里[1]。"]

    def test_a_word_longer_than_a_line_is_cut_at_a_separator(self) -> None:
        assert lines("see https://a.example/some/long/path", 20) == ["see", "https://a.example/", "some/long/path"]
        assert lines("abcdefghij", 4) == ["abcd", "efgh", "ij"]

    @given(MIXED, st.integers(2, 30))
    def test_every_line_fits_and_nothing_is_lost(self, text: str, width: int) -> None:
        breaks = [0, *line_breaks(text, width), len(text)]
        assert breaks == sorted(breaks)
        assert all(width_of(line) <= width for line in lines(text, width))


def show(*args: str, columns: int = 80, variables: dict[str, str] | None = None) -> Screen:
    with on_terminal(*args, columns=columns, variables=variables) as screen:
        assert screen.wait() in (0, 1)
        return screen


LONG = "/a/very/long/path/to/a/folder/of/" + "configuration/" * 6


class TestTables:
    """The columns of a table never run into one another."""

    @pytest.mark.parametrize("columns", [60, 80, 120])
    @pytest.mark.parametrize("lang", ["en", "zh"])
    def test_config_show(self, columns: int, lang: str) -> None:
        environ = {"SUYUAN_CHROME": f"{LONG}chrome", "WEB_SEARCH_BACKEND": "ddg_html,bing_html,baidu_html"}
        screen = show("--ui", lang, "config", "show", columns=columns, variables=environ)
        head = next(line for line in screen.lines if line.startswith(("setting", "设置")))
        starts = [width_of(head[: found.start()]) for found in re.finditer(r"\S+", head)]
        rows = [row for row in screen.lines[screen.lines.index(head) + 1 :] if row]
        assert len(starts) == 3 and any("tools.webSearch.defaultProvider" in row for row in rows)
        assert all(not row[start - 2 : start].strip() for row in rows for start in starts[1:])
        values, origins = (
            "".join(row[a:b].strip() for row in rows) for a, b in ((starts[1], starts[2]), (starts[2], 999))
        )
        assert f"{LONG}chrome" in values and "ddg_html,bing_html,baidu_html" in values
        assert "environmentSUYUAN_CHROME" in origins.replace(" ", "")

    def test_the_table_uses_the_width(self) -> None:
        narrow, wide = (
            show("config", "show", columns=columns, variables={"SUYUAN_CHROME": f"{LONG}x"}) for columns in (80, 120)
        )
        assert len(wide.text.splitlines()) < len(narrow.text.splitlines())

    @pytest.mark.parametrize("columns", [80, 120])
    def test_engines(self, columns: int) -> None:
        screen = show("engines", columns=columns, variables={"BOCHA_API_KEY": "k-123456"})
        assert re.search(r"^brave +– +BRAVE_API_KEY missing +api.search.brave.com$", screen.text, re.M)
        assert re.search(r"^bocha +\d+ +ready +api.bochaai.com$", screen.text, re.M)
        broken = [line for line in screen.lines if line.startswith(" ")]
        assert len(broken) <= 2, "few rows need a second line"

    def test_a_failure_breaks_between_words(self) -> None:
        screen = show("search", "x", "-e", "stub", variables={"WEB_SEARCH_BACKEND": "altavista"})
        told = " ".join(screen.lines)
        names = registry.names()
        assert all(f"{before}, {after}" in told for before, after in pairwise(names))

    def test_chinese_columns_are_aligned(self) -> None:
        screen = show("--ui", "zh", "engines")
        places = [width_of(line[: line.index("www.")]) for line in screen.lines if "www." in line]
        assert len(places) > 5 and len(set(places)) == 1

    def test_doctor_wraps_hints_in_their_column(self) -> None:
        screen = show("doctor", "--offline", variables={"WEB_SEARCH_BACKEND": "altavista"})
        at = next(i for i, line in enumerate(screen.lines) if "What to do:" in line)
        left = screen.lines[at].index("What to do:")
        assert left > 10 and screen.lines[at].startswith(" " * left) and screen.lines[at + 1].startswith(" " * left)
        assert "[unknown_engine]" in screen.text

    async def test_archive_list(self) -> None:
        title = "一个非常长的标题，" * 8
        page = (
            f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1><p>{'text ' * 200}</p></article>"
        )
        async with serve(lambda _: reply(page)) as site:
            environ = {**os.environ, "WEB_FETCH_ALLOW_NETWORKS": "127.0.0.0/8"}
            command = (sys.executable, "-m", "suyuan", "fetch", site.url + "/page")
            process = await asyncio.create_subprocess_exec(*command, env=environ, stdout=subprocess.DEVNULL)
            assert await process.wait() == 0
            screen = await asyncio.to_thread(show, "archive", "list")
        rows = screen.text.splitlines()
        left = rows[0].index("page")
        assert re.match(r"no\. +read +size +page$", rows[0]) and re.match(r"\d+ +20\d\d-\S+ +\d+\.\d kB +一个", rows[1])
        assert (
            len(rows) > 3
            and all(row.startswith(" " * left) for row in rows[2:])
            and rows[-1].strip() == f"{site.url}/page"
        )

    async def test_pages_are_rendered_on_a_terminal_only(self) -> None:
        words = "Some words of a paragraph, with a comma. " * 6
        page = (
            "<html><head><title>Tea</title></head><body><article><h1>Tea</h1>"
            f"<h2>Kinds</h2><p>{words}</p><ul><li>green tea</li><li>black tea</li></ul><p>{words}</p></article>"
        )
        async with serve(lambda _: reply(page)) as site:
            environ = {"WEB_FETCH_ALLOW_NETWORKS": "127.0.0.0/8"}
            url = site.url + "/page"
            fetched = await asyncio.to_thread(show, "fetch", url, variables=environ)
            kept = await asyncio.to_thread(show, "archive", "show", url)
            command = (sys.executable, "-m", "suyuan", "archive", "show", url)
            process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
            piped = (await process.communicate())[0].decode()
        for screen in (fetched, kept):
            assert "• green tea" in screen.text and "## Kinds" not in screen.text and "Kinds" in screen.text
        assert "## Kinds" in piped and "- green tea" in piped


class TestArchive:
    @pytest.mark.parametrize(
        ("content", "code", "word"), [(b"no database " * 900, 1, "set aside"), (None, 3, "archive_unusable")]
    )
    def test_a_bad_archive_is_said_in_a_sentence(
        self, tmp_path: Path, content: bytes | None, code: int, word: str
    ) -> None:
        file = tmp_path / "archive.sqlite"
        if content is None:
            file.mkdir()
        else:
            file.write_bytes(content)
        command = (sys.executable, "-m", "suyuan", "archive", "list")
        done = subprocess.run(
            command, env={**os.environ, "SUYUAN_DATA_DIR": str(tmp_path)}, capture_output=True, text=True, check=False
        )
        assert done.returncode == code and word in done.stderr and "Traceback" not in done.stderr


class TestPlain:
    @pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
    @pytest.mark.parametrize(
        "args", [["config", "show"], ["engines"], ["doctor", "--offline"], ["search", "-e", "stub", "x"]], ids=" ".join
    )
    def test_a_plain_terminal_gets_no_escape_codes(self, args: list[str], environ: dict[str, str]) -> None:
        screen = show(*args, variables=environ)
        assert screen.text and "\x1b" not in screen.raw

    def test_a_page_cannot_write_to_a_terminal(self, tmp_path: Path) -> None:
        file = tmp_path / "page.html"
        file.write_text(pages.ddg(1).replace("Result <b>1</b>", "Evil \x1b]0;owned\x07\x1b[2J title"), encoding="utf-8")
        screen = show("engines", "parse", "ddg_html", str(file))
        assert "Evil ]0;owned[2J title" in screen.text and "\x1b]0" not in screen.raw and "\x1b[2J" not in screen.raw

    async def test_progress_on_a_terminal_leaves_nothing_behind(self) -> None:
        async def slow(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(1.5)
            await reply(pages.ddg(1))(writer)

        async with serve(lambda _: slow) as site:
            environ = {"DDG_BASE_URL": site.url, "TERM": "dumb"}
            screen = await asyncio.to_thread(lambda: show("search", "x", "-e", "ddg_html", variables=environ))
        assert (
            re.search(r"\rSearching… \d+\.\d s\r", screen.raw)
            and "Searching" not in screen.text
            and "Result 1" in screen.text
        )

    def test_a_pipe_gets_one_line_for_each_row(self) -> None:
        environ = {**os.environ, "SUYUAN_CHROME": f"{LONG}chrome"}
        command = [sys.executable, "-m", "suyuan", "config", "show"]
        out = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout
        row = next(line for line in out.splitlines() if LONG in line)
        assert re.split(r" {2,}", row) == ["web.browser.executable", f"{LONG}chrome", "environment SUYUAN_CHROME"]

    def test_a_search_in_a_pipe_does_not_load_rich(self) -> None:
        search = "from suyuan.cli.main import main; main(['search', '-e', 'stub', 'x'])"
        code = f"import sys; {search}; print('rich' in sys.modules)"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert out.splitlines()[-1] == "False"
