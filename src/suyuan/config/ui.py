"""The language and the colours of a terminal, the user's editor, and whether a window can be shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from ..messages.catalog import DEFAULT, language


def ui_language(environ: Mapping[str, str] | None = None) -> str:
    """The language of the user interface, by ``SUYUAN_UI_LANG`` or the locale; English where there are no texts."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - config reads the environment
    for variable in ("SUYUAN_UI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(variable, "").strip():
            return language(value)
    return DEFAULT


def wants_colour(environ: Mapping[str, str] | None = None) -> bool:
    """Whether to print colours; not with ``NO_COLOR`` or ``TERM=dumb``."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - config reads the environment
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def has_display(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> bool:
    """Whether a window can be shown."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - config reads the environment
    return platform in ("darwin", "win32") or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def editor(environ: Mapping[str, str] | None = None) -> str:
    """The command that opens a file for the user: ``VISUAL`` or ``EDITOR``."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - config reads the environment
    return environ.get("VISUAL") or environ.get("EDITOR") or "vi"
