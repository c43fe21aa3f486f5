"""Text as it may be shown: without characters that hide something, move the cursor or change the order of other text.

Scripts from right to left need none of these: their letters have a direction of their own.
"""

from __future__ import annotations

import re

# Zero-width, bidi and other format characters, fillers, controls, Unicode tags, selectors that can carry bytes.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# A single joiner between letters of Persian or an Indic script, or in an emoji, is spelling; any other is not.
_JOINERS = re.compile("[\u200c\u200d]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
# One variation selector after a character that has variants tells them apart; letters have none.
_SELECTORS = re.compile(
    "(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+|(?<![^\x00-\xa8\xaa-\xad\xaf-\u0fff\u1e00-\u1fff])(?<![0-9#*])[\ufe00-\ufe0f]"
)
# In an emoji a joiner may follow a selector. Nothing else comes after either, or it could carry bytes.
_RUNS = re.compile("[\u200c\u200d\ufe00-\ufe0f]{2,}")
_SELECTED = re.compile("[\ufe00-\ufe0f]\u200d?")

# Text without any of these, as most is, is told by one search; few texts have characters beyond the first plane.
_RARE = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U00010000-\U0010ffff"
)
_SUSPECT = re.compile(f"[{_RARE}]")
_UNUSUAL = re.compile(f"[{_RARE}\r\x0b\x0c\x85\u2028\u2029\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_HALVES = re.compile("[\ud800-\udfff]")


def visible_text(text: str) -> str:
    """Return ``text`` without its invisible characters."""
    if (text.isascii() and text.isprintable()) or _SUSPECT.search(text) is None:
        return text
    text = _SELECTORS.sub("", _JOINERS.sub("", _INVISIBLE.sub("", text)))
    return _RUNS.sub(_selected, text)


def shown_text(text: str) -> str:
    """``text`` as it may be shown on several lines, each of which ends in the same way."""
    if _UNUSUAL.search(text) is None:
        return text
    return visible_text(_HALVES.sub("", _LINE_ENDS.sub("\n", text)))


def shown_line(text: str) -> str:
    """``text`` as it may be shown on one line."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(shown_text(text).split())


def shown_piece(text: str) -> str:
    """A piece of a text that is still being written, as it may be shown: each character is judged by itself."""
    if _UNUSUAL.search(text) is None:
        return text
    # What ends a line as "\r\n" may come in two pieces.
    text = _LINE_ENDS.sub("\n", text.replace("\r", ""))
    return _HALVES.sub("", _INVISIBLE.sub("", text))


def _selected(run: re.Match[str]) -> str:
    """Return the selector with which a run begins."""
    begins = _SELECTED.match(run[0])
    return begins[0] if begins else ""
