"""Dates as pages and texts show them: read where they are certain, left alone where not."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from suyuan.text.dates import PartialDate, find_dates, read_date, read_timestamp

NOW = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("shown", "day"),
    [
        ("2026-02-01", "2026-02-01"),
        ("2026/2/1", "2026-02-01"),
        ("2026.02.01", "2026-02-01"),
        ("on 2026-02-01 at night", "2026-02-01"),
        ("2026-02-01T08:30", "2026-02-01T08:30"),
        ("2026-02-01T08:30:59.123+08:00", "2026-02-01T08:30:59"),
        ("2026-02-01T00:00:00.0000000", "2026-02-01"),
        ("2026-02-01T25:61", "2026-02-01"),
        ("2026-02-01T23:99", "2026-02-01"),
        ("2026年2月1日", "2026-02-01"),
        ("2026 年 02 月 01 日", "2026-02-01"),
        ("Feb 1, 2026", "2026-02-01"),
        ("February 1, 2026", "2026-02-01"),
        ("Feb. 1 2026", "2026-02-01"),
        ("Sept 30, 2025", "2025-09-30"),
        ("1 February 2026", "2026-02-01"),
        ("Sun, 1 Feb 2026", "2026-02-01"),
        ("31 Dec. 1999", "1999-12-31"),
        ("18.12.2020", "2020-12-18"),
        ("3.4.2020", "2020-04-03"),
        ("25/12/2020", "2020-12-25"),
        ("12/25/2020", "2020-12-25"),
        ("12/13/2020", "2020-12-13"),
        ("13/12/2020", "2020-12-13"),
        ("5/5/2020", "2020-05-05"),
        ("2024-02-29", "2024-02-29"),
        ("News,2026-02-01", "2026-02-01"),
        ("2026. 2. 1.", "2026-02-01"),
        ("2026-02-01 08:30", "2026-02-01T08:30"),
        ("2026-02-01 08:30 PM", "2026-02-01"),
        ("FEB 1,2026", "2026-02-01"),
        ("2026-02-30, corrected: 2026-03-02", "2026-03-02"),
    ],
)
def test_unambiguous_dates(shown: str, day: str) -> None:
    assert read_date(shown) == day
    assert read_date(shown, NOW) == day


@pytest.mark.parametrize(
    "shown",
    [
        "", "soon", "2026", "May 2026", "2026年2月", "5月3日", "3/4/2020",
        "2026-13-01", "2026-02-30", "2023-02-29", "2026-00-10", "2026年13月1日",
        "Feb 30, 2026", "32 Feb 2026", "31.4.2026", "25/25/2020",
        "1826-02-01", "3026-02-01", "12026-02-01", "2026-02-011",
        "Marketing 3, 2020", "3 Decorations 2020", "Mayor 3, 2020", "10 thg 2, 2026",
        "茶壶网", "version 2.10.3", "+86 2026",
    ],
)  # fmt: skip
def test_no_date_or_an_impossible_or_ambiguous_one(shown: str) -> None:
    assert read_date(shown) is None
    assert read_date(shown, NOW) is None


@pytest.mark.parametrize(
    ("shown", "day"),
    [
        ("5 minutes ago", "2026-03-10"),
        ("2 hours ago", "2026-03-10"),
        ("20 hours ago", "2026-03-09"),
        ("1 hr ago", "2026-03-10"),
        ("1 day ago", "2026-03-09"),
        ("3 Days Ago", "2026-03-07"),
        ("2 weeks ago", "2026-02-24"),
        ("1 month ago", "2026-02-08"),
        ("1 year ago", "2025-03-10"),
        ("45分钟前", "2026-03-10"),
        ("4小时前", "2026-03-09"),
        ("3天前", "2026-03-07"),
        ("2 天前", "2026-03-08"),
        ("1周前", "2026-03-03"),
        ("2个月前", "2026-01-09"),
        ("1年前", "2025-03-10"),
        ("今天", "2026-03-10"),
        ("昨天", "2026-03-09"),
        (" 前天 ", "2026-03-08"),
        ("Yesterday", "2026-03-09"),
        ("today", "2026-03-10"),
    ],
)
def test_relative_dates_need_the_time_of_the_page(shown: str, day: str) -> None:
    assert read_date(shown, NOW) == day
    assert read_date(shown) is None


@pytest.mark.parametrize(
    "shown", ["1000 days ago", "2024年前", "ago", "days ago", "前", "yesterday's tea", "昨天的茶", "17 giờ trước"]
)
def test_what_only_looks_relative(shown: str) -> None:
    assert read_date(shown, NOW) is None


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-02-30", None),
        ("2024年3月5日 08:09", "2024-03-05T08:09:00"),
        ("Published March 5th, 2024", "2024-03-05"),
        ("5 Mar 2024", "2024-03-05"),
        ("2024-03-05T01:02:03.456+0800", "2024-03-05T01:02:03+08:00"),
        ("no date", None),
        ("Mon, 18 Nov 2019 16:07:38 -0600", "2019-11-18T16:07:38-06:00"),
        ("2019-11-18 17:19:53 GMT", "2019-11-18T17:19:53+00:00"),
        ("Tue Nov 19 2019 03:05:46 GMT+0800", "2019-11-19T03:05:46+08:00"),
        ("13/11/2025 09:21:40", "2025-11-13T09:21:40"),
    ],
)
def test_timestamps(text: str, date: str | None) -> None:
    assert read_timestamp(text) == date


@pytest.mark.parametrize(
    ("text", "found", "written", "rest"),
    [
        ("opened in May 2018", PartialDate(2018, 5, None), "May 2018", "opened in ;       "),
        ("于2018年通车", PartialDate(2018, None, None), "2018年", "于;    通车"),
        ("10月24日开放", PartialDate(None, 10, 24), "10月24日", ";     开放"),
        ("the 3rd of May, 1789", PartialDate(1789, 5, 3), "3rd of May, 1789", "the ;               "),
        ("3/4/2020", PartialDate(2020, 3, 4, certain=False), "3/4/2020", ";       "),
        ("21.08.2019", PartialDate(2019, 8, 21), "21.08.2019", ";         "),
    ],
)
def test_partial_dates_of_a_text(text: str, found: PartialDate, written: str, rest: str) -> None:
    start = text.index(written)
    assert find_dates(text) == ([(found, start, start + len(written))], rest)


def test_a_long_run_of_white_space_takes_no_time() -> None:
    started = time.process_time()
    for text in ("May" + " " * 50_000 + "x", "1 May" + " " * 50_000, "2018年" + " " * 50_000 + "x"):
        find_dates(text)
    assert time.process_time() - started < 1
