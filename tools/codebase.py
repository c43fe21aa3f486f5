"""Measure the source of installed packages, ours and others, in the same way: ``python tools/codebase.py suyuan httpx``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median

import grimp

_RUN = 6
"""So many lines in a row that stand in two places are a repetition."""
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_BROAD = ("Exception", "BaseException")
_HEAD = (
    "package", "files", "lines", "function: median", "longest", "broad excepts per 1,000 lines",
    "complexity: mean", "worst", "modules in import cycles", "repeated lines",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Codebase:
    """The figures of one package."""

    name: str
    files: int
    lines: int
    median_function: float
    longest_function: int
    broad_excepts: float
    """For each 1,000 lines."""
    mean_complexity: float
    worst_complexity: int
    in_cycles: int
    """The modules that import themselves by way of others, imports for types left out."""
    repeated: float
    """The share of lines of code in runs of six or more that stand elsewhere too."""

    def row(self) -> str:
        """The figures as a row of a Markdown table."""
        cells = (
            self.name, f"{self.files:,}", f"{self.lines:,}", f"{self.median_function:g}", f"{self.longest_function}",
            f"{self.broad_excepts:.1f}", f"{self.mean_complexity:.1f}", f"{self.worst_complexity}",
            f"{self.in_cycles}", f"{self.repeated:.1%}",
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


def main(packages: Sequence[str]) -> None:
    """Print a table of the packages."""
    print(f"| {' | '.join(_HEAD)} |\n|---|{'---:|' * (len(_HEAD) - 1)}")
    for name in packages:
        print(measure(name).row())


def measure(package: str) -> Codebase:
    """Measure an installed package."""
    sources = [file.read_text(encoding="utf-8") for file in _files(package)]
    trees = [ast.parse(source) for source in sources]
    lines = sum(source.count("\n") for source in sources)
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, _FUNCTION)]
    sizes = [(one.end_lineno or one.lineno) - one.lineno + 1 for one in functions]
    complexities = [complexity(one) for one in functions]
    return Codebase(
        f"{package} {version(package)}",
        len(sources),
        lines,
        median(sizes),
        max(sizes),
        1000 * sum(is_broad(node) for tree in trees for node in ast.walk(tree)) / lines,
        mean(complexities),
        max(complexities),
        len(modules_in_cycles(package)),
        repeated_share(sources),
    )


def _files(package: str) -> list[Path]:
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations, f"{package} is not installed"
    return sorted(Path(spec.submodule_search_locations[0]).rglob("*.py"))


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The number of ways through a function, as radon counts them; functions inside of it count for themselves."""
    return 1 + sum(_branches(node) for statement in function.body for node in _own_nodes(statement))


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, _FUNCTION):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _own_nodes(child)


def _branches(node: ast.AST) -> int:
    match node:
        case ast.If() | ast.IfExp() | ast.Assert():
            return 1
        case ast.For() | ast.AsyncFor() | ast.While():
            return 1 + bool(node.orelse)
        case ast.Try() | ast.TryStar():
            return len(node.handlers) + bool(node.orelse)
        case ast.BoolOp():
            return len(node.values) - 1
        case ast.comprehension():
            return 1 + len(node.ifs)
        case ast.Match():
            wild = any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None for case in node.cases)
            return len(node.cases) - wild
    return 0


def is_broad(node: ast.AST) -> bool:
    """Whether ``node`` is an ``except`` without a class, or for every exception, that does not always raise again."""
    if not isinstance(node, ast.ExceptHandler):
        return False
    broad = node.type is None or (isinstance(node.type, ast.Name) and node.type.id in _BROAD)
    return broad and not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)


def modules_in_cycles(package: str) -> set[str]:
    """The modules from which a chain of imports leads back to them."""
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    return {
        module
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
        if graph.chain_exists(importer=imported, imported=module)
    }


def repeated_share(sources: Sequence[str]) -> float:
    """The share of lines of code that stand in runs which occur more than once."""
    files = [_code_lines(source) for source in sources]
    places: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for number, lines in enumerate(files):
        for start in range(len(lines) - _RUN + 1):
            places.setdefault(tuple(lines[start : start + _RUN]), []).append((number, start))
    runs = [place for found in places.values() if len(found) > 1 for place in found]
    repeated = {(number, start + n) for number, start in runs for n in range(_RUN)}
    return len(repeated) / max(sum(map(len, files)), 1)


def _code_lines(source: str) -> list[str]:
    """The lines without blank ones, comments, imports and lone brackets."""
    stripped = (line.strip() for line in source.splitlines())
    return [line for line in stripped if any(map(str.isalnum, line)) and not line.startswith(("#", "import ", "from "))]


if __name__ == "__main__":
    main(sys.argv[1:] or ["suyuan"])
