"""Texts in one of the forms of Unicode, in time in proportion to their length, whatever they contain.

The standard library sorts a run of combining marks by moving each past all before it, in one call that lets nothing
else run: 100,000 of them take seconds. A text is therefore worked on in short pieces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

Form = Literal["NFC", "NFKC", "NFKD"]

_PIECE = 100
"""So many characters are worked on at a time, where the text is longer than twice that."""
# Before each of these a text can be parted: none of them joins the character before it.
_BEGINS = "\x00-\x7f\xc0-\u024f\u0400-\u0482\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3"
_PIECES = re.compile(rf"[\s\S]{{1,{_PIECE}}}(?=[{_BEGINS}]|\Z)|[\s\S]{{1,{_PIECE}}}")
# Each of these is a whole sentence in the compatible form, up to 18 characters.
_SENTENCES = re.compile("[\ufdfa\ufdfb]")


def in_form(form: Form, text: str) -> str:
    """``text`` in a form of Unicode; two ligatures that stand for sentences stay as they are."""
    return text if text.isascii() else "".join(formed for _, formed in pieces(form, text))


def pieces(form: Form, text: str) -> Iterator[tuple[str, str]]:
    """A text piece by piece, each as it is and in a form of Unicode."""
    if len(text) <= 2 * _PIECE:
        yield text, _formed(form, text)
        return
    for match in _PIECES.finditer(text):
        yield match[0], _formed(form, match[0])


def _formed(form: Form, piece: str) -> str:
    if piece.isascii() or unicodedata.is_normalized(form, piece):
        return piece
    if _SENTENCES.search(piece) is None:
        return unicodedata.normalize(form, piece)
    parts = (unicodedata.normalize(form, part) for part in _SENTENCES.split(piece))
    kept = iter(_SENTENCES.findall(piece))
    return "".join(part + next(kept, "") for part in parts)
