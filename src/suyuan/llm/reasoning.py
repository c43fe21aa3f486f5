"""Separates the reasoning of a model from its answer, if both are in the same text."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class ReasoningSplitter:
    """Removes ``<think>…</think>`` from the start of an answer, also if the tags arrive in pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "before"

    def feed(self, text: str) -> tuple[str, str]:
        """Add ``text``, and return the new parts of the answer and of the reasoning."""
        if self._state == "after":
            return text, ""
        self._held += text
        if self._state == "before":
            start = self._held.lstrip()
            if start.startswith(_OPEN):
                self._state, self._held = "inside", start[len(_OPEN) :]
            elif _OPEN.startswith(start):
                return "", ""
            else:
                self._state = "after"
                return self._take(), ""
        end = self._held.find(_CLOSE)
        if end < 0:
            keep = _overlap(self._held, _CLOSE)
            thought, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
            return "", thought
        thought, said = self._held[:end], self._held[end + len(_CLOSE) :].lstrip()
        self._state, self._held = "after", ""
        return said, thought

    def close(self) -> tuple[str, str]:
        """The rest, at the end of the stream."""
        rest = self._take()
        return ("", rest) if self._state == "inside" else (rest, "")

    def _take(self) -> str:
        held, self._held = self._held, ""
        return held


def without_reasoning(text: str) -> str:
    """The answer in the whole text of a model."""
    splitter = ReasoningSplitter()
    return (splitter.feed(text)[0] + splitter.close()[0]).strip()


def _overlap(text: str, mark: str) -> int:
    """How many characters at the end of ``text`` could be the beginning of ``mark``."""
    return next((size for size in range(min(len(mark) - 1, len(text)), 0, -1) if text.endswith(mark[:size])), 0)
