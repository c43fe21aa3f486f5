"""The result of one check: its level, its message, and a hint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..core.errors import SuyuanError
from ..core.failure import Failure, without_secrets
from ..core.secret import Secret
from ..messages.catalog import Text

Level = Literal["ok", "warning", "error"]
OK: Level = "ok"
WARNING: Level = "warning"
ERROR: Level = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    area: str
    """What was checked: config, engine, searxng, network, browser, model, archive, store, notice, disk, package."""
    level: Level
    code: str
    """The detail code of a problem; else ``ok``, or ``unused`` for what this configuration does not need."""
    what: Failure | Text
    """The problem, or the text for a check without one."""
    name: str = ""
    """Which one of several: an engine, a package."""
    guide: str = ""
    """Name of the guide with more about it."""

    @classmethod
    def ok(cls, area: str, text: Text, name: str = "", code: str = "ok") -> Finding:
        """Return a finding without a problem."""
        return cls(area, OK, code, text, name)

    @classmethod
    def problem(cls, area: str, error: SuyuanError, level: Level = ERROR, name: str = "", guide: str = "") -> Finding:
        """Return the finding for ``error``."""
        return cls(area, level, error.detail_code or error.code, error.failure, name, guide)

    def redacted(self, secrets: Iterable[Secret]) -> Finding:
        """Return the finding without any secret."""
        return replace(self, what=without_secrets(self.what, tuple(secrets)))

    def say(self, lang: str) -> tuple[str, str]:
        """Return message and hint in ``lang``."""
        return (self.what.localized(lang), "") if isinstance(self.what, Text) else self.what.say(lang)

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """Return the published JSON of a finding."""
        message, hint = self.say(lang)
        return {
            "area": self.area,
            "name": self.name or None,
            "level": self.level,
            "code": self.code,
            "message": message,
            "hint": hint or None,
            "guide": self.guide or None,
        }
