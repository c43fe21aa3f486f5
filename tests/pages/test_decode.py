"""Decoding of bytes: declarations, supersets of declared encodings, detection, and a public set of encodings."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suyuan.pages.decode import declared_charset, decode

BENCH = Path(__file__).parents[3] / "shared" / "bench"
CHINESE = "国务院总理今天在北京会见了来访的客人，双方就共同关心的问题交换了意见。" * 4


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"\xef\xbb\xbfna\xc3\xafve", "text/html; charset=latin-1", "naïve"),
        ("中文".encode("utf-16"), "", "中文"),
        (CHINESE.encode("gbk"), "text/html; charset=gb2312", CHINESE),
        ("镕".encode("gbk") * 40, 'text/html; charset="GB2312"', "镕" * 40),
        (b"<meta charset=gb2312>" + CHINESE.encode("gbk"), "text/html", "<meta charset=gb2312>" + CHINESE),
        (b"\x93quoted\x94", "text/plain; charset=iso-8859-1", "“quoted”"),
        ("①".encode("cp932") * 9, "text/html; charset=Shift_JIS", "①" * 9),
        ("똠방각하".encode("cp949"), "text/html; charset=euc-kr", "똠방각하"),
        ("香港啲嘢".encode("big5hkscs"), "text/html; charset=big5", "香港啲嘢"),
        # Names that browsers know and Python does not.
        ("香港".encode("big5hkscs"), "text/html; charset=cn-big5", "香港"),
        ("Привет, мир".encode("cp1251"), "text/html; charset=x-cp1251", "Привет, мир"),
        (b'<?xml version="1.0" encoding="windows-1251"?>' + "Привет".encode("cp1251"), "", None),
        ("plain ünïcode".encode(), "", "plain ünïcode"),
        ("naïve café".encode(), "text/html; charset=iso-8859-1", "naïve café"),
        (CHINESE.encode("gbk"), "text/html; charset=utf-8", CHINESE),
        (CHINESE.encode("gbk"), "text/html; charset=no-such-set", CHINESE),
        (b"", "", ""),
    ],
)
def test_declarations(body: bytes, content_type: str, text: str | None) -> None:
    decoded = decode(body, content_type)
    assert decoded.endswith("Привет") if text is None else decoded == text


def test_the_header_has_priority_over_the_page() -> None:
    assert decode(b"<meta charset=big5>" + "中文".encode("gbk"), "text/html; charset=gbk").endswith("中文")


def test_chinese_is_detected_despite_a_broken_byte() -> None:
    body = CHINESE.encode("gbk") + b"\xff " + CHINESE.encode("gbk")
    assert decode(body).startswith(CHINESE) and decode(body).endswith(CHINESE)


def test_a_text_truncated_within_a_character_is_still_utf8() -> None:
    body = CHINESE.encode()[:-1]
    assert decode(body).startswith(CHINESE[:-1])


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"<!-- <meta charset=big5> --><meta charset='gbk'>", "gbk"),
        (b'<meta content="text/html; charset=euc-jp" http-equiv="Content-Type">', "euc-jp"),
        (b'<a title="<meta charset=big5>"><meta charset=utf-16le>', "utf-8"),
        (b"<meta charset=ucs-2>", "utf-8"),
        (b"<metacharset=big5>", ""),
        (b'<meta name="x" content="charset=big5">', ""),
    ],
)
def test_declared_charset(head: bytes, name: str) -> None:
    assert declared_charset(head) == name


@given(st.binary(max_size=3000), st.text(max_size=60))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_never_raises(body: bytes, content_type: str) -> None:
    assert isinstance(decode(body, content_type), str)


def test_a_hostile_body_is_decoded_quickly() -> None:
    for body in (b"<meta " * 200_000, b"<!--" * 200_000 + b"\xff", b"<script" * 100_000 + b"\xfe\xff"):
        assert decode(body)


def _codec(folder: str) -> str:
    name = re.sub(r"-[a-z]{5,}$", "", folder) if folder.startswith(("iso-8859", "windows")) else folder
    return {"GB2312": "gb18030", "Big5": "big5hkscs", "EUC-KR": "cp949", "SHIFT_JIS": "cp932"}.get(
        name, name.replace("Mac", "mac_")
    )


def _alike(want: str, got: str) -> bool:
    if len(want) == len(got):
        return sum(a == b for a, b in zip(want, got, strict=True)) >= 0.98 * len(want)
    return difflib.SequenceMatcher(None, want[:2000], got[:2000], autojunk=False).ratio() >= 0.98


@pytest.mark.skipif(not BENCH.exists(), reason="the benchmark data is not available")
def test_public_set_of_encodings() -> None:
    paths = sorted((BENCH / "robust-chardet").glob("*/*"))
    right = [
        path
        for path in paths
        if _alike(path.read_bytes().decode(_codec(path.parent.name), "replace"), decode(path.read_bytes()))
    ]
    assert len(right) / len(paths) >= 0.97
    east = {"Big5", "CP932", "EUC-JP", "EUC-KR", "GB2312", "Johab", "SHIFT_JIS", "iso-2022-jp", "iso-2022-kr"}
    assert sum(path.parent.name in east for path in paths) == sum(path.parent.name in east for path in right)
