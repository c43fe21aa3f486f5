"""Evaluates ``robots.txt`` files."""

from __future__ import annotations

from urllib.robotparser import RobotFileParser

from ada_url import URL

AGENT = "suyuan"
# As search engines do: what follows is ignored.
_MAX_BYTES = 500_000


def robots_url(url: str) -> str:
    """The address of the rules for ``url``; raises ``ValueError`` if that is not a URL."""
    return URL(url).origin + "/robots.txt"


def read_rules(body: bytes) -> RobotFileParser:
    """The rules of a robots.txt; those that cannot be read forbid nothing.

    A long one takes a while, line by line: for a thread, which holds up the event loop for no more than a line.
    """
    rules = RobotFileParser()
    try:
        rules.parse(body[:_MAX_BYTES].decode("utf-8-sig", "replace").splitlines())
    except ValueError:
        return read_rules(b"")
    return rules


def is_allowed(rules: RobotFileParser, url: str) -> bool:
    """Whether rules allow programs to read ``url``."""
    try:
        return rules.can_fetch(AGENT, url)
    except ValueError:
        # The parser fails at broken addresses and at digits of other scripts.
        return True
