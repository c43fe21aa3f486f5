"""Options that take what a setting takes, and refuse the rest with the same reason."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ..core.setting import InvalidValue, ValueKind, number, whole
from ..messages.catalog import Texts

# 0 is any free port; of a number that is too large the system would take the rest modulo 65536.
PORT = whole(0, 65_535)
SECONDS = number(0, 86_400)


def checked(kind: ValueKind, t: Texts) -> Callable[[str], Any]:
    """The ``type`` of an option for argparse, which adds the name of the option to the reason."""

    def check(text: str) -> Any:
        try:
            return kind.check(text)
        except InvalidValue as error:
            raise argparse.ArgumentTypeError(f"{text}: {error.reason.localized(t.lang)}") from None

    return check
