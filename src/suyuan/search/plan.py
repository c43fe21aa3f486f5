"""``Plan``: which engines to ask, in which order, one after the other or all at once."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Literal

from ..core.causes.asked import UNKNOWN_ENGINE
from ..core.causes.engine import NO_ENGINE
from ..core.result import ARCHIVE, LIBRARY
from ..engines.registry import auto_order, canonical

AUTO = "auto"

_PRIVATE = frozenset((ARCHIVE, LIBRARY))
"""The engines that ask what belongs to one person."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The engines to ask. ``failover``: the next one when the first fails or is slow. ``fanout``: all, merged."""

    names: tuple[str, ...]
    mode: Literal["failover", "fanout"] = "failover"
    probe: bool = False
    """Whether engines that can be checked cheaply are checked before they are sent the query."""
    last: str = ""
    """The archive where the plan names it: it is asked only when all others have failed."""
    beside: tuple[str, ...] = ()
    """Engines that are asked at the same time, and merged: ``library`` in ``library+auto``."""

    @property
    def asked(self) -> tuple[str, ...]:
        """All engines that may be asked."""
        return tuple(filter(None, (*self.names, *self.beside, self.last)))

    @property
    def here(self) -> tuple[str, ...]:
        """Those of them that are asked without a network."""
        return tuple(name for name in self.asked if name in _PRIVATE)

    @property
    def private(self) -> bool:
        """Whether it asks what belongs to one person: the pages that were read, or the documents."""
        return bool(self.here)

    @property
    def public(self) -> Plan | None:
        """The same without what belongs to one person; None where nothing is left."""
        names = tuple(name for name in self.names if name not in _PRIVATE)
        beside = tuple(name for name in self.beside if name not in _PRIVATE)
        if not names:
            names, beside = beside, ()
        if not names:
            return None
        last = "" if self.last in _PRIVATE else self.last
        return replace(self, names=names, beside=beside, last=last)

    @property
    def leaves(self) -> bool:
        """Whether the query leaves the machine."""
        return len(self.here) < len(self.asked)


def names_in(spec: str) -> tuple[str, ...]:
    """The engines that a plan names, each once."""
    return tuple(dict.fromkeys(canonical(part) for part in spec.replace("+", ",").split(",") if part.strip()))


def make_plan(spec: str, known: Collection[str], ready: Callable[[str], bool], *, chinese: bool = False) -> Plan:
    """Parse ``spec``: one name, ``a,b`` (b when a fails) or ``a+b`` (both, merged); one of them may be ``auto``."""
    names = names_in(spec)
    for name in names:
        if name != AUTO and name not in known:
            raise UNKNOWN_ENGINE(name=name, known=", ".join((AUTO, *known)))
    if not names:
        raise NO_ENGINE()
    if AUTO in names:
        return _with_auto(names, _auto(known, ready, chinese), "+" in spec)
    if "+" in spec:
        return Plan(names, "fanout")
    # The archive needs no network, so it would win every race against a slow engine.
    web = tuple(name for name in names if name != ARCHIVE)
    if not web or web == names:
        return Plan(names)
    return Plan(web, last=ARCHIVE)


def _auto(known: Collection[str], ready: Callable[[str], bool], chinese: bool) -> tuple[str, ...]:
    order = auto_order(chinese=chinese)
    names = tuple(name for name in order if name in known and ready(name))
    if not names:
        # All others in their order, as in the demo.
        others = [name for name in known if name not in order and name not in _PRIVATE]
        names = tuple(name for name in others if ready(name))
    if not names:
        raise NO_ENGINE()
    return names


def _with_auto(names: tuple[str, ...], auto: tuple[str, ...], merged: bool) -> Plan:
    """``auto`` beside other engines, or before and after them in one order."""
    if merged:
        others = tuple(name for name in names if name != AUTO)
        return Plan(tuple(name for name in auto if name not in others), probe=True, beside=others)
    at = names.index(AUTO)
    ordered = dict.fromkeys((*names[:at], *auto, *names[at + 1 :]))
    last = ARCHIVE if ARCHIVE in names else ""
    return Plan(tuple(name for name in ordered if name != ARCHIVE), probe=True, last=last)
