"""How a terminal wants to be spoken to: its language, and whether it wants colours."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from ..messages.catalog import DEFAULT, language


def ui_language(environ: Mapping[str, str] | None = None) -> str:
    """The language of the user interface, by ``SUYUAN_UI_LANG`` or the locale; English where there are no texts."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - this is the room that may
    for variable in ("SUYUAN_UI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(variable, "").strip():
            return language(value)
    return DEFAULT


def wants_colour(environ: Mapping[str, str] | None = None) -> bool:
    """Whether colours are welcome on a terminal (``NO_COLOR`` and ``TERM=dumb`` say no)."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - this is the room that may
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def has_display(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> bool:
    """Whether a window can be shown."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - this is the room that may
    return platform in ("darwin", "win32") or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
