"""An exported HTML file: it loads nothing, works offline, and prints well."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_page(title: str, lang: str, parts: Iterable[str]) -> str:
    """The file with this title and, below it, these parts of HTML."""
    heading = escape(title)
    head = [
        f'<!doctype html>\n<html lang="{"zh-CN" if lang == "zh" else lang}">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{heading}</title>\n<style>{_style()}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>",
    ]
    return "\n".join([*head, *parts, "</main>\n</body>\n</html>\n"])


@cache
def _style() -> str:
    return Path(__file__).with_name("html_page.css").read_text(encoding="utf-8")
