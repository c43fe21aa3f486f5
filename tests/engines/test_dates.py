"""Dates as pages show them: parsed if they are unambiguous."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from suyuan.engines._dates import parse_date

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
    ],
)
def test_unambiguous_dates(shown: str, day: str) -> None:
    assert parse_date(shown) == day
    assert parse_date(shown, NOW) == day


@pytest.mark.parametrize(
    "shown",
    [
        "", "soon", "2026", "May 2026", "2026年2月", "5月3日", "3/4/2020",
        "2026-13-01", "2026-02-30", "2023-02-29", "2026-00-10", "2026年13月1日",
        "Feb 30, 2026", "32 Feb 2026", "31.4.2026", "25/25/2020", "1826-02-01", "3026-02-01", "12026-02-01",
        "2026-02-011",
        "Marketing 3, 2020", "3 Decorations 2020", "Mayor 3, 2020", "10 thg 2, 2026", "茶壶网", "version 2.10.3",
        "+86 2026",
    ],
)  # fmt: skip
def test_no_date_or_an_impossible_or_ambiguous_one(shown: str) -> None:
    assert parse_date(shown) is None
    assert parse_date(shown, NOW) is None


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
    assert parse_date(shown, NOW) == day
    assert parse_date(shown) is None


@pytest.mark.parametrize(
    "shown", ["1000 days ago", "2024年前", "ago", "days ago", "前", "yesterday's tea", "昨天的茶", "17 giờ trước"]
)
def test_what_only_looks_relative(shown: str) -> None:
    assert parse_date(shown, NOW) is None
