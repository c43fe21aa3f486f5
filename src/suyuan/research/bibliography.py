"""The sources that a report cites as CSL-JSON, BibTeX and RIS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_BRACES = re.compile(r"[{}\\]")
_SPECIAL = re.compile(r"([&%$#_])")


def cited_sources(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pages that the report cites, in the order of their numbers."""
    ids = {id for claim in result["claims"] if claim["kept"] for id in claim["ledger"]}
    numbers = {row["source"] for row in result["ledger"] if row["id"] in ids}
    return [source for source in result["sources"] if source["number"] in numbers]


def csl(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sources as CSL-JSON, which Zotero and pandoc read."""
    return [
        {
            "id": f"s{source['number']}",
            "type": "webpage",
            "title": source["title"],
            "container-title": source["site"],
            "URL": source["final_url"],
            **({"author": [{"literal": source["author"]}]} if source["author"] else {}),
            **({"issued": _parts(source["published_at"])} if source["published_at"] else {}),
            "accessed": _parts(source["fetched_at"]),
            "note": f"sha256: {source['sha256']}",
        }
        for source in cited_sources(result)
    ]


def bibtex(result: Mapping[str, Any]) -> str:
    """The sources as BibTeX."""
    entries = []
    for source in cited_sources(result):
        fields = {
            "title": f"{{{_tex(source['title'])}}}",
            "author": f"{{{_tex(source['author'])}}}" if source["author"] else "",
            "organization": _tex(source["site"]),
            "year": (source["published_at"] or "")[:4],
            "date": (source["published_at"] or "")[:10],
            "url": _BRACES.sub("", source["final_url"]),
            "urldate": source["fetched_at"][:10],
            "note": f"sha256: {source['sha256']}",
        }
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        entries.append(f"@online{{s{source['number']},\n{lines}\n}}\n")
    return "\n".join(entries)


def ris(result: Mapping[str, Any]) -> str:
    """The sources as RIS."""
    return "".join(_ris_entry(source) for source in cited_sources(result))


def _ris_entry(source: Mapping[str, Any]) -> str:
    published = source["published_at"] or ""
    fields: Iterable[tuple[str, str]] = (
        ("TY", "ELEC"),
        ("ID", f"s{source['number']}"),
        ("TI", source["title"]),
        ("AU", source["author"] or ""),
        ("PB", source["site"]),
        ("PY", published[:4]),
        ("DA", published[:10].replace("-", "/")),
        ("UR", source["final_url"]),
        ("Y2", source["fetched_at"][:10].replace("-", "/")),
        ("N1", f"sha256: {source['sha256']}"),
    )
    # A line break would begin another field.
    lines = [f"{name}  - {' '.join(value.split())}" for name, value in fields if value]
    return "\r\n".join([*lines, "ER  - ", "", ""])


def _parts(date: str) -> dict[str, list[list[int]]]:
    return {"date-parts": [[int(part) for part in re.findall(r"\d+", date[:10])]]}


def _tex(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(_BRACES.sub("", text).split()))
