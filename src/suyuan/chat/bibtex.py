"""A web page as a BibTeX entry."""

from __future__ import annotations

import re
from urllib.parse import quote


def bibtex_entry(
    key: str, *, title: str, url: str, site: str, published_at: str, read_at: str, author: str = "", note: str = ""
) -> str:
    """The entry of one page; what is not known is left out."""
    fields = {
        "title": f"{{{_tex(title or url)}}}",
        "author": f"{{{_tex(author)}}}" if author else "",
        "organization": _tex(site),
        "year": published_at[:4],
        "date": published_at[:10],
        "url": re.sub(r"[{}\\\s]", lambda sign: quote(sign[0]), url),
        "urldate": read_at[:10],
        "note": _tex(note),
    }
    lines = (f"  {name} = {{{value}}}," for name, value in fields.items() if value)
    return "\n".join((f"@online{{{key},", *lines, "}\n"))


def _tex(text: str) -> str:
    """``text`` on one line without the signs that mean something in TeX."""
    return re.sub(r"([&%$#_])", r"\\\1", re.sub(r"[{}\\~^]", " ", " ".join(text.split())))
