"""One thing that was looked at: how it is, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..core.errors import SuyuanError

Level = Literal["ok", "warning", "error"]
OK: Level = "ok"
WARNING: Level = "warning"
ERROR: Level = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found, in both languages; ``code`` is the detail code of the cause, else ``ok`` or ``unused``."""

    organ: str
    """What was looked at: config, engine, searxng, network, browser, model, archive, store, disk, package."""
    level: Level
    code: str
    en: str
    zh: str
    hint_en: str = ""
    hint_zh: str = ""
    name: str = ""
    """Which one of several: an engine, a package."""
    guide: str = ""
    """The guide that tells more, by its name."""

    @classmethod
    def well(cls, organ: str, en: str, zh: str, name: str = "", code: str = "ok") -> Finding:
        """Nothing is wrong; ``unused`` is the code of what nobody needs here."""
        return cls(organ, OK, code, en, zh, name=name)

    @classmethod
    def ill(cls, organ: str, error: SuyuanError, level: Level = ERROR, name: str = "", guide: str = "") -> Finding:
        """Something is wrong, in the words of its cause."""
        (en, hint_en), (zh, hint_zh) = error.say("en"), error.say("zh")
        return cls(organ, level, error.detail_code or error.code, en, zh, hint_en, hint_zh, name, guide)

    def say(self, lang: str) -> tuple[str, str]:
        """What was found, and what mends it, in ``lang``."""
        return (self.zh, self.hint_zh) if lang == "zh" else (self.en, self.hint_en)

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The published shape of a finding."""
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
