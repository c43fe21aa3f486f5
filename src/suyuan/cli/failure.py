"""A failure on the terminal: its code, its cause, what helps, and an exit code for scripts."""

from __future__ import annotations

import sys

from ..core.errors import InvalidInput, SuyuanError
from ..core.notices import StoredNotice, take_met
from ..messages.catalog import Texts
from .terminal import Terminal

OK, NOTHING, BAD_INPUT, FAILED = 0, 1, 2, 3


def show_failure(error: SuyuanError, t: Texts, what: str) -> int:
    """Write ``error`` to standard error under the headline ``what``; return 2 for bad input, 3 for a failure."""
    bad_input = isinstance(error, InvalidInput)
    err = Terminal(sys.stderr)
    message, hint = error.say(t.lang)
    code = error.code + (f"/{error.detail_code}" if error.detail_code else "")
    headline = t("invalid" if bad_input else what)
    err.text(t("error", what=headline, code=code, message=message), headline, "red")
    if hint:
        err.text(t("hint", hint=hint))
    return BAD_INPUT if bad_input else FAILED


def show_notices(t: Texts, but: SuyuanError | None = None) -> None:
    """Write what this command has met: what was set aside, cut, dropped or started anew.

    What ``but`` says is told by the failure itself.
    """
    told = but.failure.say(t.lang) if but is not None else None
    for notice in take_met():
        if notice.failure.say(t.lang) != told:
            show_notice(notice, t)


def show_notice(notice: StoredNotice, t: Texts) -> None:
    """Write a notice to standard error, with what helps."""
    err = Terminal(sys.stderr)
    message, hint = notice.failure.say(t.lang)
    err.text(f"! {message}", "!", "yellow")
    if hint:
        err.text(t("hint", hint=hint))
