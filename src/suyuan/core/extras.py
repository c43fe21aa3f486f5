"""``Extras``: what an engine says beside its results, such as a direct answer or a better spelling of the query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """An answer that an engine gives itself, such as the result of a calculation."""

    text: str
    url: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Infobox:
    """What an encyclopedia says about the subject of the query."""

    title: str
    text: str = ""
    url: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """Names and values, such as ("Capital", "Paris")."""
    links: tuple[tuple[str, str], ...] = ()
    """Titles and addresses."""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Extras:
    """The direct answers and infoboxes of a search, other queries that may help, and corrections of this one."""

    answers: tuple[DirectAnswer, ...] = ()
    infoboxes: tuple[Infobox, ...] = ()
    suggestions: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.answers or self.infoboxes or self.suggestions or self.corrections)

    def as_dict(self) -> dict[str, Any]:
        """Return the published JSON; what there is none of is left out."""
        data = {
            "answers": [{"answer": a.text, "url": a.url or None, "engine": a.engine} for a in self.answers],
            "infoboxes": [
                {
                    "title": box.title,
                    "content": box.text,
                    "url": box.url or None,
                    "facts": [{"name": name, "value": value} for name, value in box.facts],
                    "links": [{"title": title, "url": url} for title, url in box.links],
                    "engine": box.engine,
                }
                for box in self.infoboxes
            ],
            "suggestions": list(self.suggestions),
            "corrections": list(self.corrections),
        }
        return {name: value for name, value in data.items() if value}


NO_EXTRAS = Extras()


def joined(extras: Iterable[Extras]) -> Extras:
    """Return the extras of several engines as one, without repetitions."""
    parts = [part for part in extras if part]
    if not parts:
        return NO_EXTRAS
    if len(parts) == 1:
        return parts[0]
    joined_fields = []
    for field in fields(Extras):
        values = chain.from_iterable(getattr(part, field.name) for part in parts)
        joined_fields.append(tuple(dict.fromkeys(values)))
    return Extras(*joined_fields)
