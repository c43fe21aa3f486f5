"""Refuses to serve with settings of which those that guard it cannot be read."""

from __future__ import annotations

from ..config.settings import Settings
from ..core.causes.web import SETTINGS_UNREADABLE


def check_settings(settings: Settings) -> None:
    """Raise the cause where a setting was meant that decides who may do what: its default might let everybody in."""
    unreadable = [problem.path or problem.origin for problem in settings.problems if problem.guards]
    if unreadable:
        raise SETTINGS_UNREADABLE(which=", ".join(unreadable))
