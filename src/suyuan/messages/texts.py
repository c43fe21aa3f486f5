"""Texts that stand once, in English and Chinese, and are spoken in one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class Bilingual:
    """The texts of a face in one language."""

    texts: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Name → (English, Chinese)."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self._column = 1 if lang == "zh" else 0

    def __call__(self, key: str, **blanks: object) -> str:
        """The text named ``key`` with its blanks filled in."""
        return self.texts[key][self._column].format(**blanks)
