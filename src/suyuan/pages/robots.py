"""What ``robots.txt`` allows, where that is respected."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

AGENT = "suyuan"


def robots_address(url: str) -> str:
    """Where the rules for ``url`` stand."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


def allowed(rules: str, url: str) -> bool:
    """Whether ``rules``, the text of a robots.txt, let programs read ``url``."""
    parser = RobotFileParser()
    parser.parse(rules.splitlines())
    return parser.can_fetch(AGENT, url)
