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


def is_allowed(rules: bytes, url: str) -> bool:
    """Whether ``rules``, a robots.txt, allow programs to read ``url``; rules that cannot be read forbid nothing."""
    parser = RobotFileParser()
    try:
        parser.parse(rules[:_MAX_BYTES].decode("utf-8-sig", "replace").splitlines())
        return parser.can_fetch(AGENT, url)
    except ValueError:
        # The parser fails at broken addresses and at digits of other scripts.
        return True
