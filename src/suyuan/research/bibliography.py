"""The sources that a report cites as CSL-JSON, BibTeX and RIS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..chat.bibtex import bibtex_entry
from .report import ledger_ids


def cited_sources(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pages that the report cites, in the order of their numbers."""
    ids = ledger_ids(claim for claim in result["claims"] if claim["kept"])
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
    return "\n".join(
        bibtex_entry(
            f"s{source['number']}",
            title=source["title"],
            url=source["final_url"],
            site=source["site"],
            published_at=source["published_at"] or "",
            read_at=source["fetched_at"],
            author=source["author"] or "",
            note=f"sha256: {source['sha256']}",
        )
        for source in cited_sources(result)
    )


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
