"""Every character that can hide, reorder or move what is shown beside it."""

from __future__ import annotations

import sys
import unicodedata

# Signs of Arabic, Syriac and Kaithi that stand before a number, and are seen; joiners are spelling between letters.
_SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
_SPELLING = frozenset("\u200c\u200d")
_HALF = "\ud800"


def _pretends(one: str) -> bool:
    kind = unicodedata.category(one)
    if one in _SEEN | _SPELLING or one in "\t\n":
        return False
    return kind in ("Cc", "Cf", "Zl", "Zp") or one == _HALF


HOSTILE = tuple(one for one in map(chr, range(sys.maxunicode + 1)) if _pretends(one))
