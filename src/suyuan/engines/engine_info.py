"""``EngineInfo``: what must be known of an engine before its code is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        known = {field: getattr(engine, field) for field in _COPIED if hasattr(engine, field)}
        needs_key = bool(getattr(engine, "api_key_env", ""))
        return cls(name, getattr(engine, "__name__", ""), needs_key=needs_key, **known)


_COPIED: Sequence[str] = (
    "aliases", "env_prefix", "needs_browser", "reads_pages", "local", "hidden", "auto_rank", "auto_rank_zh",
    "probed_unconfigured", "guide",
)  # fmt: skip
