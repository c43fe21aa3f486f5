"""Ranges of characters, for use inside the brackets of a regular expression."""

from __future__ import annotations

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
CJK = f"\u3040-\u30ff\uac00-\ud7af{HAN}"
