"""Every pattern (regular expression) of the package, and texts that are made from a pattern to make it slow.

A pattern that is tried at every place of a text must not look far ahead at each of them: on a text with a long run of
what it accepts, or of what it nearly accepts, it would need time that grows with the square of the length, or faster.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from types import FrameType, ModuleType
from typing import Any

import suyuan

PACKAGE = Path(suyuan.__file__).parent
_MANY = 20
"""A repetition that may be longer than this is one that a long text can be made for."""
_ANCHORED = {"match", "fullmatch"}
_SEARCHING = {"search", "sub", "subn", "split", "findall", "finditer"}
_ALL = _ANCHORED | _SEARCHING | {"compile"}
_LONG_RUN = 30
_RUNS = ("❤", "❤\ufe0f", "👩\u200d", "a", "aab", "a.", "+#", " ", "_", "中", "\u0301\u0316", "\ufdfa", "\ud83d")
GIVEN = ("word", *(run * _LONG_RUN for run in _RUNS))
"""What a pattern that is put together at run time is made of: a word, and what nobody types but to hold it up."""


@dataclass(frozen=True)
class Found:
    """A pattern, and where it is made."""

    where: str
    name: str
    """The name that it has there, if it has one."""
    pattern: re.Pattern[str]
    methods: frozenset[str]
    """How it is used, where it is only ever tried at one place of a text: ``match``, ``fullmatch``; else nothing."""


@dataclass
class _Calls:
    """What the code of the package says about patterns."""

    names: dict[tuple[str, int], str] = field(default_factory=dict)
    """Names of what is assigned, by file and line."""
    uses: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """How a name is used in a file: with which method, or "" for in any other way."""
    importers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The files that import something of a name."""
    inner: list[tuple[Path, ast.Call]] = field(default_factory=list)
    """Calls of ``re`` within functions."""


def modules() -> Iterator[ModuleType]:
    """All modules of the package but those that run on import."""
    for info in pkgutil.walk_packages([str(PACKAGE)], "suyuan."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def patterns() -> list[Found]:
    """Every pattern of the package; only in a process that has imported nothing of it but its name."""
    calls = _calls()
    made: list[tuple[str, int, re.Pattern[Any]]] = []
    plain = re._compile  # type: ignore[attr-defined]

    def noted(pattern: Any, flags: Any) -> re.Pattern[Any]:
        compiled: re.Pattern[Any] = plain(pattern, flags)
        frame: FrameType | None = sys._getframe(2)
        if frame is not None and frame.f_code.co_filename.startswith(str(PACKAGE)):
            made.append((frame.f_code.co_filename, frame.f_lineno, compiled))
        return compiled

    re._compile = noted  # type: ignore[attr-defined]
    try:
        loaded = {str(module.__file__): module for module in modules()}
    finally:
        re._compile = plain  # type: ignore[attr-defined]
    found = [_found(calls, file, line, pattern) for file, line, pattern in made if isinstance(pattern.pattern, str)]
    for file, call in calls.inner:
        if str(file) in loaded:
            made_of = (made_within(file, call, loaded[str(file)], given) for given in GIVEN)
            found += filter(None, made_of)
    return list({(each.where, each.pattern.pattern): each for each in found}.values())


def write() -> None:
    """Write every pattern of the package to standard output."""
    found = [(each.where, each.name, each.pattern.pattern, each.pattern.flags, [*each.methods]) for each in patterns()]
    sys.stdout.write(json.dumps(found))


def read(written: bytes) -> list[Found]:
    """What :func:`write` has written."""
    return [
        Found(where, name, re.compile(pattern, flags), frozenset(methods))
        for where, name, pattern, flags, methods in json.loads(written)
    ]


def _found(calls: _Calls, file: str, line: int, pattern: re.Pattern[str]) -> Found:
    name = calls.names.get((file, line), "")
    if not name:
        return Found(_where(Path(file), line), "", pattern, frozenset())
    uses = set[str]().union(*(calls.uses[each, name] for each in {file, *calls.importers[name]}))
    return Found(_where(Path(file), line), name, pattern, frozenset(uses) if uses <= _ANCHORED else frozenset())


def made_within(file: Path, call: ast.Call, module: ModuleType, given_text: str) -> Found | None:
    """A pattern that is written within a function, where what that has is some text; none where it is no pattern."""
    method = _method(call) or ""
    values = _Words(vars(module), given_text)
    pattern = eval(compile(ast.Expression(call.args[0]), str(file), "eval"), {}, values)
    at = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2)
    given = call.args[at] if len(call.args) > at else next((k.value for k in call.keywords if k.arg == "flags"), None)
    flags = eval(compile(ast.Expression(given), str(file), "eval"), {}, values) if given else 0
    try:
        compiled = re.compile(pattern, flags)
    except re.error:
        # What is compiled as it was typed is refused there as well.
        return None
    return Found(_where(file, call.lineno), "", compiled, frozenset({method} & _ANCHORED))


class _Words(dict[str, Any]):
    """The names of a module; any other is the text that is given."""

    def __init__(self, names: dict[str, Any], given: str) -> None:
        super().__init__(names)
        self._given = given

    def __missing__(self, name: str) -> Any:
        builtins = vars(sys.modules["builtins"])
        return builtins.get(name, self._given)


def _where(file: Path, line: int) -> str:
    return f"{file.relative_to(PACKAGE)}:{line}"


def _calls() -> _Calls:
    found = _Calls()
    for file in sorted(PACKAGE.rglob("*.py")):
        _read(file, ast.parse(file.read_text("utf-8")), found, inner=False)
    return found


def _read(file: Path, node: ast.AST, found: _Calls, *, inner: bool) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assign | ast.AnnAssign) and not inner:
            target = child.targets[0] if isinstance(child, ast.Assign) else child.target
            name = target.id if isinstance(target, ast.Name) else ""
            for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                found.names[str(file), line] = name
        if isinstance(child, ast.Call) and _method(child) and inner:
            found.inner.append((file, child))
        _note_use(file, child, found)
        _read(file, child, found, inner=inner or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))


def _note_use(file: Path, node: ast.AST, found: _Calls) -> None:
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            found.importers[alias.name].add(str(file))
    for child in ast.iter_child_nodes(node):
        used = child.id if isinstance(child, ast.Name) else child.attr if isinstance(child, ast.Attribute) else ""
        is_read = isinstance(getattr(child, "ctx", None), ast.Load)
        if used and is_read:
            method = node.attr if isinstance(node, ast.Attribute) else ""
            found.uses[str(file), used].add(method)


def _method(call: ast.Call) -> str | None:
    """The function of ``re`` that is called, if it is one that takes a pattern."""
    of = call.func
    is_re = isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name) and of.value.id == "re"
    return of.attr if is_re and isinstance(of, ast.Attribute) and of.attr in _ALL else None


# --- texts that are made from a pattern ------------------------------------------------------------------------------
BREAKS = ("\0", "\n", "a", " ")
"""What stands after a run, so that it is no match after all; and what may stand between the pieces of one."""
_CANDIDATES = "a7 \n.中A-\t\0é"


@dataclass(frozen=True)
class _Run:
    """A repetition: what stands before it, and each of the things that it repeats."""

    before: str
    bodies: tuple[str, ...]


def hostile(pattern: re.Pattern[str], size: int, *, long: bool = False) -> Iterator[str]:
    """Texts of about ``size`` characters; the same ones, in the same order, for every size."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    signs = _first(_signs(tree), 24 if long else 10)
    runs = list(_runs(tree, ""))
    sample = _sample(tree)
    pieces = _first([*signs, sample, *(run.before for run in runs), *BREAKS], 40 if long else 10)
    for piece in pieces:
        yield _run(piece, size)
        yield _run(piece, size) + "\0"
    for run in runs[: 60 if long else 8]:
        for body in run.bodies[: 12 if long else 3]:
            yield from (run.before + _run(body, size) + end for end in ("\0", "\n"))
            yield _run(run.before + body * 3, size) + "\0"
            yield _run(run.before + body, size) + "\0"
    pairs = pieces[: 16 if long else 4]
    for first in pairs:
        for second in pairs:
            if first != second:
                yield _run(first + second, size) + "\0"
                yield _run(first, size // 2) + _run(second, size // 2) + "\0"


def _run(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size] if unit else ""


def _first(texts: Sequence[str], count: int) -> list[str]:
    return [each for each in dict.fromkeys(texts) if each][:count]


def _signs(tree: Any) -> list[str]:
    """Every character that the pattern names, and members of every class."""
    found: list[str] = []
    for operator, value in tree:
        found += _members(operator, value)
        for part in _parts(operator, value):
            found += _signs(part)
    return found


def _runs(tree: Any, before: str) -> Iterator[_Run]:
    """Every repetition of the pattern that may be long."""
    for operator, value in tree:
        if _is_repeat(operator):
            _, most, body = value
            if most > _MANY:
                yield _Run(before, tuple(_first(_bodies(body), 12)))
        for part in _parts(operator, value):
            yield from _runs(part, before)
        before += _sample([(operator, value)])


def _bodies(tree: Any) -> list[str]:
    """Samples of what is repeated: by each of its branches, by each member of a class."""
    samples = [_sample(tree)]
    for operator, value in tree:
        samples += _members(operator, value)
        for part in _parts(operator, value):
            samples += [_sample(part), *_bodies(part)]
    return samples


def _parts(operator: Any, value: Any) -> list[Any]:
    """The patterns within an element."""
    if _is_repeat(operator):
        return [value[2]]
    if operator is _constants.SUBPATTERN:
        return [value[-1]]
    if operator is _constants.BRANCH:
        return list(value[1])
    if operator is _constants.ATOMIC_GROUP:
        return [value]
    if operator in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [value[1]]
    if operator is _constants.GROUPREF_EXISTS:
        return [part for part in value[1:] if part is not None]
    return []


def _is_repeat(operator: Any) -> bool:
    return operator in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)


def _members(operator: Any, value: Any) -> list[str]:
    """Characters that an element accepts by itself."""
    if operator is _constants.LITERAL:
        return [chr(value)]
    if operator is _constants.NOT_LITERAL:
        return [sign for sign in _CANDIDATES if ord(sign) != value][:2]
    if operator is _constants.ANY:
        return ["a", "."]
    if operator is _constants.IN:
        return _of_class(value)
    return []


def _of_class(items: list[Any]) -> list[str]:
    if items[0][0] is _constants.NEGATE:
        return [sign for sign in _CANDIDATES if not any(_accepts(item, sign) for item in items[1:])][:4]
    named: list[str] = []
    for operator, value in items:
        if operator is _constants.LITERAL:
            named.append(chr(value))
        elif operator is _constants.RANGE:
            named.append(chr(value[0]))
        else:
            named += [sign for sign in _CANDIDATES if _accepts((operator, value), sign)][:2]
    return named


_CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d", _constants.CATEGORY_NOT_DIGIT: r"\D", _constants.CATEGORY_SPACE: r"\s",
    _constants.CATEGORY_NOT_SPACE: r"\S", _constants.CATEGORY_WORD: r"\w", _constants.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _accepts(item: tuple[Any, Any], sign: str) -> bool:
    operator, value = item
    if operator is _constants.LITERAL:
        return ord(sign) == int(value)
    if operator is _constants.RANGE:
        return bool(value[0] <= ord(sign) <= value[1])
    return re.fullmatch(_CATEGORIES[value], sign) is not None


def _sample(tree: Any) -> str:
    """A short text that the pattern accepts, as far as it does not look around."""
    text = ""
    for operator, value in tree:
        if _is_repeat(operator):
            text += _sample(value[2]) * max(1, value[0])
        elif operator is _constants.BRANCH:
            text += _sample(value[1][0])
        elif operator in (_constants.SUBPATTERN, _constants.ATOMIC_GROUP):
            text += "".join(_sample(part) for part in _parts(operator, value))
        else:
            text += next(iter(_members(operator, value)), "")
    return text
