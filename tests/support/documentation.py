"""The documentation as tests read it: pages, code blocks, commands, inline code, headings and tables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
READMES = (ROOT / "README.md", ROOT / "README.zh.md")
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "benchmarks").glob("*.md"), *ROOT.glob("examples/*/*.md")]
)
# A decision record, and the list of changes, may name what was there when they were written.
CURRENT = [page for page in PAGES if page.parent.name != "adr" and page.name.lower() != "changelog.md"]

FENCE = re.compile(r"^( *)``` ?(?:\{\.)?(\w*)[^\n]*\n(.*?)^\1```", re.M | re.S)
_SNIPPET = re.compile(r'^ *--8<-- "([^"]+)"$', re.M)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def name_of(page: Path) -> str:
    """The path of a page in the project."""
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    """All of a page."""
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return FENCE.sub("", text_of(page))


def blocks(page: Path, *languages: str) -> list[str]:
    """The code blocks of a page in one of ``languages``, with the files that they include."""
    found = [(match[1], match[3]) for match in FENCE.finditer(text_of(page)) if match[2] in languages]
    bodies = [re.sub(f"^{indent}", "", body, flags=re.M) for indent, body in found]
    return [_SNIPPET.sub(lambda line: (ROOT / line[1]).read_text(encoding="utf-8"), body) for body in bodies]


def inline_code(page: Path) -> list[str]:
    """What stands between backticks in the text and the tables of a page."""
    return [code.replace("\\|", "|") for code in _CODE.findall(prose(page))]


def commands(page: Path) -> list[str]:
    """The commands in the shell blocks and consoles of a page, without comments and variables."""
    lines = [line for block in blocks(page, "sh", "bash") for line in block.splitlines()]
    lines += [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")]
    words = [shlex.split(line, comments=True) for line in lines]
    return [shlex.join(dropwhile(lambda word: re.match(r"[A-Z_]+=", word), line)) for line in words if line]


def headings(page: Path) -> list[tuple[int, str]]:
    """Level and text of each heading of a page."""
    return [(len(marks), title.strip()) for marks, title in re.findall(r"^(#+) (.*)$", prose(page), re.M)]


def anchor(title: str) -> str:
    """The anchor of a heading, as MkDocs and GitHub make it for plain titles."""
    plain = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").lower())
    return re.sub(r"[\s-]+", "-", plain.strip())


def links(page: Path) -> list[str]:
    """The targets of the links and images of a page."""
    return re.findall(r"\]\(([^)\s]+)[^)]*\)", prose(page))


def tables(page: Path) -> list[list[list[str]]]:
    """The tables of a page: rows of cells, without the line below the head."""
    found: list[list[list[str]]] = []
    inside = False
    for line in prose(page).splitlines():
        row = line.strip().startswith("|")
        if row and not inside:
            found.append([])
        inside = row
        if row and not re.fullmatch(r"[|\s:-]+", line):
            found[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))])
    return found


def keys(value: Any) -> Iterator[str]:
    """The names of all fields inside of a JSON value."""
    if isinstance(value, dict):
        yield from value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys(each)
