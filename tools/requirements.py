"""List the requirements that no test shows yet, and fail if a test names one that does not exist."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Container, Iterator
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINE = re.compile(r"^- \*\*([A-Z]\d+\.\d+)\*\* (.+)$", re.MULTILINE)


def documented(text: str) -> dict[str, str]:
    """Return id → text of every requirement in the document, in its order."""
    return dict(LINE.findall(text))


def named(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and id for every ``pytest.mark.req("A", "B")``; an argument that is no literal is yielded as written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.req":
            for arg in node.args:
                literal = isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                yield arg.lineno, ast.literal_eval(arg) if literal else ast.unparse(arg)


def marked(wanted: Container[str]) -> tuple[set[str], list[str]]:
    """Return the wanted ids that a test is marked with, and a message for every mark with another id."""
    shown: set[str] = set()
    unknown: list[str] = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for line, name in named(path.read_text(encoding="utf-8")):
            if name in wanted:
                shown.add(name)
            else:
                unknown.append(f"{path.relative_to(ROOT)}:{line}: no such requirement: {name}")
    return shown, unknown


def main() -> int:
    """Print what is shown, what is not and what is unknown; return the exit code."""
    wanted = documented((ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"))
    shown, unknown = marked(wanted)
    print(f"shown by tests: {len(shown)} of {len(wanted)}")
    for letter, names in groupby((name for name in wanted if name not in shown), key=lambda name: name[0]):
        print(f"\n{letter}, not shown yet:")
        for name in names:
            print(f"  {name:<6} {wanted[name]}")
    for fault in unknown:
        print(fault, file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
