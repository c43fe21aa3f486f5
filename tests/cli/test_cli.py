"""The commands that search, list engines and show the configuration, in pipes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engines.answers import ANSWERS
from support import pages
from support.site import Handler, free_port, json_reply, reply, serve, stall
from support.timing import PATIENCE
from suyuan.cli.main import main


async def suyuan(*args: str, stdin: str = "", **environ: str) -> tuple[int, str, str]:
    """Run the command in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "suyuan", *args,
        env={**os.environ, "DDG_RATE_PER_MINUTE": "0", **environ},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate(stdin.encode())
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def against(handler: Handler, *args: str, **environ: str) -> tuple[int, str, str]:
    async with serve(handler) as site:
        return await suyuan(*args, DDG_BASE_URL=site.url, BING_BASE_URL=site.url, **environ)


class TestSearch:
    async def test_results_as_a_list(self) -> None:
        code, out, err = await against(lambda _: reply(pages.ddg()), "search", "some", "words", "-e", "ddg", "-n", "2")
        assert code == 0 and err == ""
        assert (
            " 1. Result 1" in out and "ddg.example" in out and "Snippet of result 2." in out and "Result 3" not in out
        )
        assert "\x1b" not in out, "no escape codes in a pipe"

    @pytest.mark.req("G2.2", "G1.1")
    async def test_ten_results_each_with_its_domain_where_no_number_is_named(self) -> None:
        code, out, _ = await against(lambda _: reply(pages.ddg(12)), "search", "tea", "-e", "ddg")
        lines = [line.strip() for line in out.splitlines()]
        assert code == 0 and "10. Result 10" in lines and "11. Result 11" not in lines
        at = lines.index("1. Result 1")
        assert lines[at + 1].startswith("ddg.example ") and "https://ddg.example/page/1?a=1&b=2" in lines[at + 1]
        assert lines[at + 2] == "Snippet of result 1."

    @pytest.mark.parametrize(("shape", "key"), [("items", "items"), ("results", "results"), ("provider", "tookMs")])
    async def test_shapes(self, shape: str, key: str) -> None:
        code, out, _ = await against(lambda _: reply(pages.ddg()), "search", "x", "-e", "ddg_html", "--shape", shape)
        assert code == 0 and key in json.loads(out)

    async def test_answers_infoboxes_and_suggestions_are_shown(self) -> None:
        data = json.loads(pages.searxng(2))
        data["answers"] = [{"answer": "2 + 3 = 5", "engine": "plugin: calculator"}]
        data["infoboxes"] = [
            {"infobox": "Sum", "content": "A number.", "attributes": [{"label": "Sign", "value": "+"}]}
        ]
        data |= {"suggestions": ["2 + 4", "sums"], "corrections": ["result"]}
        async with serve(lambda seen: reply("OK") if seen.path == "/healthz" else json_reply(json.dumps(data))) as site:
            args = ("search", "result", "snippet", "-e", "searxng")
            code, out, _ = await suyuan(*args, SEARXNG_BASE_URL=site.url)
            assert code == 0 and out.index("2 + 3 = 5") < out.index("Sum") < out.index(" 1. Result 1")
            assert "Sign: +" in out and "Did you mean: result" in out and "Related searches: 2 + 4 · sums" in out
            _, out, _ = await suyuan(*args, "--json", SEARXNG_BASE_URL=site.url)
            assert json.loads(out)["answers"][0]["answer"] == "2 + 3 = 5"

    @pytest.mark.parametrize(
        ("ui", "shown"),
        [
            ("en", "Ada · stackoverflow · 12 points · 3 comments · answer accepted"),
            ("zh", "Ada · stackoverflow · 12 分 · 3 条评论 · 已有采纳的回答"),
        ],
    )
    async def test_what_an_engine_knows_beyond_text_is_shown(self, ui: str, shown: str) -> None:
        async with serve(lambda _: json_reply(json.dumps(ANSWERS["stackexchange"][0]))) as site:
            args = ("--ui", ui, "search", "pots", "-e", "stackexchange")
            code, out, _ = await suyuan(*args, STACKEXCHANGE_BASE_URL=site.url)
        assert code == 0 and shown in out

    async def test_nothing_found_is_exit_code_1(self) -> None:
        code, out, _ = await against(lambda _: reply(pages.DDG_NONE), "search", "xqzt", "-e", "ddg_html")
        assert code == 1 and "No results for" in out and "ddg_html answered" in out

    @pytest.mark.req("G6.2")
    @pytest.mark.parametrize(
        "args",
        [
            [" "],
            ["x", "-n", "11"],
            ["x", "--freshness", "lately"],
            ["x", "-e", "altavista"],
            ["x", "--timeout", "0"],
            ["x", "--focus", "sports"],
        ],
    )
    async def test_bad_input_is_exit_code_2_with_a_hint(self, args: list[str]) -> None:
        code, out, err = await suyuan("search", *args)
        assert code == 2 and out == "" and "What to do:" in err and "Traceback" not in err

    async def test_a_wrong_command_line_is_exit_code_2(self) -> None:
        for args in (["search"], ["search", "x", "--nonsense"], ["fly"], ["search", "x", "-n", "many"]):
            code, _, err = await suyuan(*args)
            assert code == 2 and "usage:" in err

    @pytest.mark.req("G1.3", "C7.1")
    async def test_a_failure_is_exit_code_3_with_a_hint(self) -> None:
        code, out, err = await against(lambda _: reply(pages.DDG_CHALLENGE, 202), "search", "x", "-e", "ddg_html")
        assert code == 3 and out == ""
        assert "WebBlocked/captcha_required" in err and "a person must act" in err and "What to do:" in err

    async def test_a_failure_in_json(self) -> None:
        code, out, err = await suyuan(
            "search", "x", "-e", "ddg_html", "--json", DDG_BASE_URL=f"http://127.0.0.1:{free_port()}"
        )
        data = json.loads(out)
        assert (
            code == 3
            and data["error"]["code"] == "NetworkError"
            and data["receipt"][0]["detail_code"] == "connection_refused"
            and err
        )

    @pytest.mark.req("G6.1")
    async def test_the_time_limit_is_in_the_message(self) -> None:
        code, _, err = await against(lambda _: stall, "search", "x", "-e", "ddg_html", "--timeout", "0.3")
        assert code == 3 and "0.3 s" in err

    async def test_the_receipt(self) -> None:
        def play(seen: Any) -> Any:
            return reply("", 403) if seen.path == "/html/" else reply(pages.bing())

        code, out, _ = await against(
            play, "search", "some words", "-e", "ddg_html,bing_html", "--explain", "--lang", "en"
        )
        assert code == 0 and "What each engine did:" in out and "WebBlocked/http_403" in out

    async def test_a_failed_engine_is_shown_without_explain_too(self) -> None:
        def play(seen: Any) -> Any:
            return reply("", 403) if seen.path == "/html/" else reply(pages.bing())

        code, out, _ = await against(play, "search", "some words", "-e", "ddg_html,bing_html")
        assert code == 0 and "(ddg_html: ddg_html refused the request (HTTP 403).)" in out

    async def test_a_searxng_that_is_down_is_shown_only_where_it_is_configured(self) -> None:
        gone = f"http://127.0.0.1:{free_port()}"
        _, shown, _ = await against(lambda _: reply(pages.ddg()), "search", "some words", SEARXNG_BASE_URL=gone)
        _, quiet, _ = await against(lambda _: reply(pages.ddg()), "search", "some words")
        assert "10 results from ddg_html" in shown and f"(searxng: Nothing is listening at {gone}:" in shown
        assert "10 results from ddg_html" in quiet and "searxng" not in quiet

    async def test_a_paused_engine_is_shown_without_explain_too(self) -> None:
        def play(seen: Any) -> Any:
            return reply("", 429, {"Retry-After": "600"}) if seen.path == "/html/" else reply(pages.bing())

        for _ in range(2):
            code, out, _ = await against(play, "search", "some words", "-e", "ddg_html,bing_html")
        assert code == 0 and "(ddg_html: ddg_html is paused for another" in out

    async def test_chinese(self) -> None:
        code, _, err = await against(lambda _: reply("", 429), "--ui", "zh", "search", "x", "-e", "ddg_html")
        assert code == 3 and "搜索失败" in err and "请求过多" in err and "解决办法" in err
        _, out, _ = await suyuan("search", "--help", LANG="zh_CN.UTF-8")
        assert "要搜索的内容" in out

    async def test_a_page_cannot_write_to_the_terminal(self) -> None:
        evil = (
            pages.ddg(1)
            .replace("Result <b>1</b>", "Evil \x1b[31m\x1b]0;owned\x07 title")
            .replace("Snippet of result 1.", "a\x1b[2Jb")
        )
        _, out, _ = await against(lambda _: reply(evil), "search", "x", "-e", "ddg_html")
        assert "\x1b" not in out and "\x07" not in out and "Evil" in out

    async def test_the_shell_searches_for_each_line(self) -> None:
        code, out, _ = await suyuan("shell", "-e", "stub", stdin="one\n\ntwo\n")
        assert code == 0 and "for: one" in out and "for: two" in out

    @pytest.mark.req("P9.3")
    async def test_verbose_logs_have_no_key(self) -> None:
        async with serve(lambda _: reply("", 401)) as site:
            _, _, err = await suyuan(
                "-vv", "search", "x", "-e", "brave", BRAVE_BASE_URL=site.url, BRAVE_API_KEY="brave-secret-key"
            )
        assert "suyuan.search" in err and "brave:key_rejected" in err and "brave-secret-key" not in err


def test_our_own_failures_are_logged_always_and_other_things_on_request() -> None:
    code = """
import logging
from suyuan.cli.logs import set_up_logging
set_up_logging(0)
logging.getLogger("suyuan.chat").error("turn run=abc failed")
logging.getLogger("suyuan.search").warning("an engine refuses")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "turn run=abc failed" in done.stderr and "refuses" not in done.stderr


class TestEngines:
    async def test_the_list(self) -> None:
        code, out, _ = await suyuan("engines", BOCHA_API_KEY="k-123456")
        rows = {line.split()[0]: line for line in out.splitlines()[1:]}
        assert (
            code == 0
            and "BRAVE_API_KEY missing" in rows["brave"]
            and "ready" in rows["bocha"]
            and "ready" in rows["ddg_html"]
        )
        assert "k-123456" not in out

    async def test_a_paused_engine_is_shown_by_the_next_run(self) -> None:
        await against(lambda _: reply("", 429, {"Retry-After": "600"}), "search", "x", "-e", "ddg_html")
        _, out, _ = await suyuan("engines", "--json")
        ddg = next(row for row in json.loads(out) if row["name"] == "ddg_html")
        assert 500 < ddg["cooldown_seconds"] <= 600 and not ddg["ready"] and "http_429" in ddg["state"]

    @pytest.mark.parametrize(
        ("page", "status", "outcome", "code"),
        [
            (pages.ddg(3), 200, "ok", None),
            (pages.DDG_NONE, 200, "empty", None),
            (pages.DDG_CHALLENGE, 202, "blocked", "WebBlocked"),
            ("", 500, "error", "BadGateway"),
            ("<html>", 200, "error", "WebParseError"),
        ],
    )
    async def test_reading_a_saved_page(
        self, tmp_path: Path, page: str, status: int, outcome: str, code: str | None
    ) -> None:
        file = tmp_path / "page.html"
        file.write_text(page, encoding="utf-8")
        done, out, _ = await suyuan("engines", "parse", "ddg_html", str(file), "--status", str(status), "--json")
        verdict = json.loads(out)
        assert done == {"ok": 0, "empty": 1}.get(outcome, 3) and (verdict["outcome"], verdict["code"]) == (
            outcome,
            code,
        )
        assert len(verdict["items"]) == (3 if outcome == "ok" else 0)

    async def test_reading_from_standard_input(self) -> None:
        code, out, _ = await suyuan("engines", "parse", "bing", "-", stdin=pages.bing(2))
        assert code == 0 and "ok (2)" in out and "https://bing.example/page/2" in out

    async def test_a_missing_file_and_an_unknown_engine(self, tmp_path: Path) -> None:
        code, _, err = await suyuan("engines", "parse", "ddg_html", str(tmp_path / "none.html"))
        assert code == 2 and "none.html" in err
        (tmp_path / "x.html").write_text("x")
        code, _, err = await suyuan("engines", "parse", "altavista", str(tmp_path / "x.html"))
        assert code == 2 and "ddg_html" in err


class TestConfig:
    @pytest.mark.req("P9.3", "C6.3")
    def test_show_and_check(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        config = {"tools": {"webSearch": {"maxResults": 99, "providers": {"brave": {"apiKey": "hidden-key"}}}}}
        (tmp_path / "config.json").write_text(json.dumps(config))
        assert main(["--config-dir", str(tmp_path), "config", "show"]) == 0
        shown = capsys.readouterr()
        assert (
            "web.providers.brave.apiKey" in shown.out
            and "***" in shown.out
            and "hidden-key" not in shown.out + shown.err
        )
        assert "config.json" in shown.out and "default" in shown.out
        assert main(["--config-dir", str(tmp_path), "config", "check"]) == 2
        assert "tools.webSearch.maxResults = 99" in capsys.readouterr().err

    def test_a_configuration_without_problems(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["config", "check"]) == 0
        assert "valid" in capsys.readouterr().out

    def test_schema(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["config", "schema", "agents"]) == 0
        assert json.loads(capsys.readouterr().out)["title"] == "suyuan agents.json"

    async def test_a_problem_is_shown_with_every_command(self) -> None:
        code, out, err = await suyuan("search", "x", "-e", "stub", WEB_SEARCH_BACKEND="altavista")
        assert code == 0 and "altavista" in err and "Example Domain" in out


@pytest.mark.parametrize(
    "words",
    [
        ("search", "x", "-e", "stub", "--timeout", "nan"),
        ("search", "x", "-e", "stub", "--timeout", "inf"),
        ("search", "x", "-e", "stub", "--max-wait", "nan"),
        ("serve", "--port", "99999"),
        ("mcp", "--http", "--port", "-1"),
    ],
)
def test_a_number_that_cannot_be_is_refused_with_its_option(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(list(words))
    assert caught.value.code == 2 and f"argument {words[-2]}" in capsys.readouterr().err


def test_an_archive_without_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["archive", "list"]) == 1
    assert "empty" in capsys.readouterr().out
    assert main(["archive", "show", "9" * 30]) == 1
    assert "nothing" in capsys.readouterr().err


def test_a_reader_that_ends_early_is_no_failure() -> None:
    done = subprocess.run(
        f"{sys.executable} -m suyuan config schema | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.stdout.strip() == "{" and "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


@pytest.mark.parametrize("command", [("doctor", "--offline"), ("engines",), ("library", "list"), ("research", "list")])
async def test_a_folder_that_is_being_restored_is_told_as_such(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "restore.json").write_text("{}")
    code, out, err = await suyuan(*command, SUYUAN_DATA_DIR=str(tmp_path), LANG="C.UTF-8")
    assert code != 0 and "restore_unfinished" in out + err and "Search failed" not in out + err
    assert _files_in(tmp_path) == ["restore.json"]


def _files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
