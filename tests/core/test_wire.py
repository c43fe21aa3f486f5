"""Text and JSON out of bytes."""

from __future__ import annotations

import pytest

from suyuan.core.wire import Request, Response, with_params


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("中文".encode("gbk"), "text/html; charset=gb2312"),
        ("中文".encode("gb18030"), 'text/html; charset="GBK"'),
        ('<html><head><meta charset="gbk">中文'.encode("gbk"), "text/html"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=big5">中文'.encode("big5"), ""),
        ("中文".encode("utf-16"), "text/html; charset=utf-8"),
        (b"\xef\xbb\xbf" + "中文".encode(), "text/html; charset=gbk"),
        ("中文".encode(), ""),
        ("中文".encode(), "text/html; charset=no-such-charset"),
    ],
)
def test_charsets(body: bytes, kind: str) -> None:
    assert Response(200, body, headers={"content-type": kind}).text.endswith("中文")


def test_broken_bytes_are_still_text() -> None:
    assert Response(200, b"a\xff\xfeb").text == "a��b"


def test_json_that_is_none() -> None:
    for body in (b"", b"{", b"[" * 100_000, b"\xff"):
        with pytest.raises(ValueError):
            Response(200, body).json()


def test_parameters_are_encoded_as_utf_8() -> None:
    assert with_params("https://x.example/s?a=1", {"q": "你 好&"}) == "https://x.example/s?a=1&q=%E4%BD%A0+%E5%A5%BD%26"
    assert Request.post_form("https://x.example", {"q": "你"}).body == b"q=%E4%BD%A0"
    assert '"你"'.encode() in Request.post_json("https://x.example", {"q": "你"}).body
