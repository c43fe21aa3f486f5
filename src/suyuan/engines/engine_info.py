"""``EngineInfo``: what must be known of an engine before its code is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

from ..core.foreign_engine import FAULTS

T = TypeVar("T")


GENERAL_GUIDE = "troubleshooting"


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What the class of an engine says of itself; the attributes are those of :class:`~suyuan.core.engine.Engine`."""

    name: str
    class_name: str
    aliases: tuple[str, ...] = ()
    env_prefix: str = ""
    needs_key: bool = False
    needs_browser: bool = False
    reads_pages: bool = False
    local: bool = False
    hidden: bool = False
    auto_rank: int | None = None
    auto_rank_zh: int | None = None
    probed_unconfigured: bool = False
    guide: str = GENERAL_GUIDE

    @classmethod
    def of(cls, name: str, engine: object) -> EngineInfo:
        """Read the attributes of a class, or of a function that makes an engine and says nothing of it."""
        known: dict[str, Any] = {
            one.name: said(engine, one.name, one.default) for one in fields(cls) if one.name in _COPIED
        }
        needs_key = bool(said(engine, "api_key_env", ""))
        return cls(name, said(engine, "__name__", ""), needs_key=needs_key, **known)


def said(engine: object, attribute: str, usual: T) -> T:
    """An attribute of a class; the usual value where it has none, or one that only an instance can tell."""
    try:
        value = getattr(engine, attribute, usual)
    except FAULTS:
        # A foreign package; what it cannot say is reported when its engine is made.
        return usual
    known = isinstance(value, type(usual)) if usual is not None else isinstance(value, int)
    return cast(T, value) if known else usual


_COPIED: Sequence[str] = (
    "aliases", "env_prefix", "needs_browser", "reads_pages", "local", "hidden", "auto_rank", "auto_rank_zh",
    "probed_unconfigured", "guide",
)  # fmt: skip
