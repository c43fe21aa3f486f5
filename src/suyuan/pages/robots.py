"""Evaluates ``robots.txt`` files."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

AGENT = "suyuan"


def robots_url(url: str) -> str:
    """The address of the rules for ``url``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


def is_allowed(rules: str, url: str) -> bool:
    """Whether ``rules``, the text of a robots.txt, allow programs to read ``url``."""
    parser = RobotFileParser()
    parser.parse(rules.splitlines())
    return parser.can_fetch(AGENT, url)
