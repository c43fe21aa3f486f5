"""List the statements that press too much together: ``python tools/statements.py src/suyuan``. The tests allow none."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

MAX_DECISIONS = 12
MAX_OPERATORS = 3
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# What is inside of these is an expression of its own.
_BOUNDARY = (
    ast.Call, ast.Lambda, ast.FormattedValue, ast.JoinedStr, ast.Dict, ast.List, ast.Set, ast.Tuple, ast.Subscript, *_COMPREHENSION,
)  # fmt: skip
_NOT_COMPUTED = ("annotation", "returns", "decorator_list")
_BRANCH = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)


def main(places: Sequence[str]) -> int:
    """Print the dense statements in files and folders; return 1 where there are any."""
    dense = [line for place in places for path in python_files(Path(place)) for line in dense_statements(path)]
    print(*dense, sep="\n")
    print(f"{len(dense)} dense statements")
    return 1 if dense else 0


def python_files(place: Path) -> Sequence[Path]:
    """The file, or all files below the folder."""
    if place.is_dir():
        return sorted(place.rglob("*.py"))
    return (place,)


def dense_statements(path: Path) -> Iterator[str]:
    """A line for each statement of a file that does too much at once."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        for reason in reasons(node):
            place = node.target if isinstance(node, ast.comprehension) else node
            yield f"{path}:{place.lineno} {reason}"  # type: ignore[attr-defined]


def reasons(node: ast.AST) -> Iterator[str]:
    """What a node does too much of."""
    if isinstance(node, _FUNCTION) and decisions(node) > MAX_DECISIONS:
        yield f"{node.name} has {decisions(node)} decisions"
    if isinstance(node, ast.IfExp) and any(isinstance(part, ast.IfExp) for part in (node.test, node.body, node.orelse)):
        yield "a conditional expression inside another one"
    if isinstance(node, ast.Call) and has_conditional_argument(node):
        yield "a conditional expression as an argument"
    if isinstance(node, _COMPREHENSION) and is_dense(node):
        yield "a comprehension with more than one for and one if"
    if isinstance(node, (ast.stmt, ast.comprehension, *_BOUNDARY)):
        for expression in own_expressions(node):
            if operators(expression) > MAX_OPERATORS:
                yield f"an expression with {operators(expression)} operators"


def decisions(function: ast.AST) -> int:
    """The ways through a function: one more than its branches, operands and loops."""
    count = 1
    for node in ast.walk(function):
        if isinstance(node, _BRANCH):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
    return count


def has_conditional_argument(call: ast.Call) -> bool:
    """Whether an argument of a call is a conditional expression."""
    arguments = (*call.args, *(keyword.value for keyword in call.keywords))
    return any(isinstance(argument, ast.IfExp) for argument in arguments)


def is_dense(comprehension: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> bool:
    """Whether a comprehension has more than one loop or more than one condition."""
    conditions = sum(len(loop.ifs) for loop in comprehension.generators)
    return len(comprehension.generators) > 1 or conditions > 1


def own_expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions directly below a node, without annotations."""
    for name, value in ast.iter_fields(node):
        if name in _NOT_COMPUTED:
            continue
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, ast.keyword):
                yield part.value
            elif isinstance(part, ast.expr):
                yield part


def operators(expression: ast.expr) -> int:
    """The operators of an expression, without ``not``, ``is None`` and those of the expressions inside of it.

    A range (``0 < a < b``) counts as one.
    """
    count = 0
    for node in _parts(expression):
        if isinstance(node, ast.BinOp):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.Compare):
            count += not isinstance(node.ops[0], (ast.Is, ast.IsNot))
    return count


def _parts(expression: ast.AST) -> Iterator[ast.AST]:
    yield expression
    if isinstance(expression, _BOUNDARY):
        return
    for child in ast.iter_child_nodes(expression):
        yield from _parts(child)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["src/suyuan"]))
