"""Which language a query is written in, as far as its script tells."""

from __future__ import annotations

import re

# The first that occurs decides: kana before Han, since Japanese uses both.
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("hi", re.compile("[\u0900-\u097f]")),
)


def script_language(text: str) -> str:
    """The language that the script of ``text`` stands for; empty for the Latin script, which many share."""
    if text.isascii():
        return ""
    return next((lang for lang, script in _SCRIPTS if script.search(text)), "")
