"""The engines by name: the built-in ones, then those of installed packages (entry points ``suyuan.engines``)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..core.causes.asked import UNKNOWN_ENGINE
from ..core.engine import Engine, EngineSettings, SearchEngine
from ..core.errors import SuyuanError
from ..core.foreign_engine import FAULTS, adapted, bug, constructed
from .catalogue import ENGINES
from .engine_info import EngineInfo

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "suyuan.engines"

BUILT_IN = {info.name: info for info in ENGINES}
"""What is known of each built-in engine; its class is in the module of its name."""

_ALIASES: dict[str, str] = {}
for _info in ENGINES:
    _ALIASES |= dict.fromkeys(_info.aliases, _info.name)

Factory = Callable[[EngineSettings | None], SearchEngine]


def names() -> tuple[str, ...]:
    """The names of all engines, the built-in ones first."""
    return (*BUILT_IN, *(name for name in _installed() if name not in BUILT_IN))


def canonical(name: str) -> str:
    """The name of the engine that ``name`` means, which may be an alias known from other products."""
    name = name.strip()
    if name in BUILT_IN or name in _installed():
        return name
    return _ALIASES.get(name.lower(), name)


def info(name: str) -> EngineInfo:
    """What is known of an engine without making it; that of an installed package is imported for it."""
    name = canonical(name)
    if name in BUILT_IN:
        return BUILT_IN[name]
    try:
        return EngineInfo.of(name, load(name))
    except SuyuanError:
        if name not in names():
            raise
        # A package that cannot be imported is reported when its engine is used.
        return EngineInfo(name, "")


def needs_key(name: str) -> bool:
    """Whether a built-in engine cannot be used without a key, which is known without importing it."""
    return name in BUILT_IN and BUILT_IN[name].needs_key


@cache
def auto_order(*, chinese: bool = False) -> tuple[str, ...]:
    """The engines that ``auto`` asks, in their order."""
    ranks: dict[str, int] = {}
    for engine in ENGINES:
        rank = engine.auto_rank
        if chinese and engine.auto_rank_zh is not None:
            rank = engine.auto_rank_zh
        if rank is not None:
            ranks[engine.name] = rank
    return tuple(sorted(ranks, key=ranks.__getitem__))


def make(name: str, settings: EngineSettings | None, factory: Factory | None = None) -> Engine:
    """Make the engine ``name``, by another ``factory`` than its own if one is given.

    Whatever its code raises is a failure of that engine, and of nothing else.
    """
    name = canonical(name)
    factory = factory or load(name)
    try:
        engine = adapted(constructed(factory, settings), name)
        # It is known by the name that it is registered by.
        engine.name = name
        # What every view of it asks must not be the first to fail.
        _ = engine.configured
    except SuyuanError:
        raise
    except FAULTS as error:
        raise bug(name, "it cannot be made", error) from error
    return engine


def load(name: str) -> Factory:
    """The class or function that makes the engine ``name``; only this imports the engine."""
    name = canonical(name)
    if name in BUILT_IN:
        factory: Any = getattr(import_module(f".{name}", __package__), BUILT_IN[name].class_name)
        return factory  # type: ignore[no-any-return]
    entry = _installed().get(name)
    if entry is None:
        raise UNKNOWN_ENGINE(name=name, known=", ".join(names()))
    try:
        loaded: Any = entry.load()
    except FAULTS as error:
        # A third-party package: whatever its import raises is a failure of that engine.
        raise bug(name, f"{entry.value} cannot be imported", error) from error
    return loaded  # type: ignore[no-any-return]


@cache
def _installed() -> dict[str, EntryPoint]:
    if not any(map(_may_have_engines, sys.path)):
        return {}
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _may_have_engines(folder: str) -> bool:
    """Whether a package in ``folder`` names an engine: loading importlib.metadata takes longer than many a search."""
    try:
        entries = list(os.scandir(folder or "."))
    except OSError:
        # A zip archive, or nothing at all.
        return os.path.isfile(folder)
    return any(_names_engines(entry.path) for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))


def _names_engines(package: str) -> bool:
    try:
        with open(os.path.join(package, "entry_points.txt"), "rb") as file:
            return GROUP.encode() in file.read()
    except OSError:
        return False
