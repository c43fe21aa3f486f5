"""One thing that was examined: its state, and what to do about it."""

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
    """What was found; ``code`` is the detail code of the failure, else ``ok`` or ``unused``."""

    organ: str
    """What was examined: config, engine, searxng, network, browser, model, archive, store, disk, package."""
    level: Level
    code: str
    what: Failure | Text
    """The failure, or the text that says that all is in order."""
    name: str = ""
    """Which one of several: an engine, a package."""
    guide: str = ""
    """The name of the guide with more information."""

    @classmethod
    def well(cls, organ: str, text: Text, name: str = "", code: str = "ok") -> Finding:
        """Nothing is wrong; ``unused`` is the code of what is not needed here."""
        return cls(organ, OK, code, text, name)

    @classmethod
    def ill(cls, organ: str, error: SuyuanError, level: Level = ERROR, name: str = "", guide: str = "") -> Finding:
        """Something is wrong."""
        return cls(organ, level, error.detail_code or error.code, error.failure, name, guide)

    def redacted(self, secrets: Iterable[Secret]) -> Finding:
        """Return the finding without any secret."""
        return replace(self, what=without_secrets(self.what, tuple(secrets)))

    def say(self, lang: str) -> tuple[str, str]:
        """Return what was found and what to do, in ``lang``."""
        return (self.what.localized(lang), "") if isinstance(self.what, Text) else self.what.say(lang)

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The JSON form of a finding."""
        message, hint = self.say(lang)
        return {
            "organ": self.organ,
            "name": self.name or None,
            "level": self.level,
            "code": self.code,
            "message": message,
            "hint": hint or None,
            "guide": self.guide or None,
        }
