"""``MarkdownJob``: Markdown to be rendered, in a form that another process can be sent, and what comes back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .blocks import Labels, Laid, Mark, lay_out


@dataclass(frozen=True, slots=True)
class MarkdownJob:
    """A text with what its rendering needs to know."""

    text: str
    sources: tuple[tuple[int, str], ...] = ()
    labels: Labels = field(default_factory=Labels)
    marks: tuple[Mark | None, ...] = ()
    page: bool = False
    growing: bool = False
    """Whether more of the text may follow."""

    def as_bytes(self) -> bytes:
        """The form that is sent."""
        labels = self.labels
        marks = [(mark.claim, mark.verdict) if mark else None for mark in self.marks]
        data = {
            "text": self.text,
            "sources": self.sources,
            "labels": {name: getattr(labels, name) for name in labels.__slots__},
            "marks": marks,
            "page": self.page,
            "growing": self.growing,
        }
        return json.dumps(data).encode()

    @classmethod
    def from_bytes(cls, sent: bytes) -> MarkdownJob:
        """Read what ``as_bytes`` has made."""
        data: dict[str, Any] = json.loads(sent)
        return cls(
            data["text"],
            tuple((number, url) for number, url in data["sources"]),
            Labels(**data["labels"]),
            tuple(Mark(*mark) if mark else None for mark in data["marks"]),
            data["page"],
            data["growing"],
        )

    def run(self) -> Laid:
        """Render it here."""
        return lay_out(self.text, dict(self.sources), self.labels, self.marks, page=self.page, growing=self.growing)


def done_here(sent: bytes) -> str:
    """Render a job that was sent, and return what ``laid_out`` reads."""
    laid = MarkdownJob.from_bytes(sent).run()
    return json.dumps([laid.blocks, laid.final, laid.lines])


def laid_out(received: str) -> Laid:
    """Read what ``done_here`` has returned; raises ``ValueError`` or ``TypeError`` for anything else."""
    blocks, final, lines = json.loads(received)
    return Laid(_texts(blocks), int(final), int(lines))


def _texts(blocks: Sequence[object]) -> list[str]:
    return [str(block) for block in blocks]
