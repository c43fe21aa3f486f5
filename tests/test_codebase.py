"""The figures of the code: how they are counted, and what they may be for ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from codebase import complexity, is_broad, measure, modules_in_cycles, repeated_share
from statements import dense_statements, python_files

import suyuan


def function(source: str) -> ast.FunctionDef:
    found = ast.parse(source).body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        ("return a", 1),
        ("return a if b else c", 2),
        ("return a and b or c", 3),
        ("for a in b:\n        if a: return a\n    else: return c", 4),
        ("return [a for a in b if a if c]", 4),
        ("try: a()\n    except ValueError: b()\n    except OSError: c()", 3),
        ("def inner():\n        return a if b else c\n    return inner", 1),
        ("match a:\n        case 1: b()\n        case 2: c()\n        case _: d()", 3),
    ],
)
def test_complexity_counts_the_ways_through_a_function(body: str, ways: int) -> None:
    assert complexity(function(f"def f():\n    {body}\n")) == ways


def test_lines_are_repeated_where_six_in_a_row_stand_twice() -> None:
    run = "\n".join(f"call_{n}()" for n in range(6))
    assert repeated_share([f"{run}\nown()\n", f"other()\n\n# a comment\n{run}\n"]) == pytest.approx(12 / 14)
    assert repeated_share([run.rpartition("\n")[0], f"x()\n{run}"]) == 0.0


def test_our_code_keeps_to_its_style() -> None:
    ours = measure("suyuan")
    assert ours.files > 300 and ours.lines > 30_000, "all of it is measured"
    assert ours.broad_excepts <= 0.5
    assert ours.in_cycles == 0
    assert ours.repeated <= 0.01


def test_a_cycle_of_imports_is_found() -> None:
    assert modules_in_cycles("json") == set()
    assert {"email.message", "email.generator"} & modules_in_cycles("email")


@pytest.mark.parametrize(
    ("handler", "broad"),
    [
        ("except Exception: pass", True),
        ("except: pass", True),
        ("except ValueError: pass", False),
        ("except Exception:\n    log()\n    raise", False),
    ],
)
def test_an_except_is_broad_where_it_ends_any_error(handler: str, broad: bool) -> None:
    tried = ast.parse(f"try: work()\n{handler}\n").body[0]
    assert isinstance(tried, ast.Try) and is_broad(tried.handlers[0]) is broad


NOT_YET_PLAIN = ("backup", "chat", "cli", "pages", "server", "store")
"""The packages in which some statements still press too much together."""


def test_statements_are_plain() -> None:
    source = Path(suyuan.__file__).parent
    packages = [folder for folder in source.iterdir() if folder.is_dir() and folder.name not in NOT_YET_PLAIN]
    assert len(packages) > 15
    dense = [line for folder in packages for path in python_files(folder) for line in dense_statements(path)]
    assert not dense, "\n".join(dense)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("a = b if c else d", 0),
        ("a = b if c else (d if e else f)", 1),
        ("f(b if c else d)", 1),
        ("f(x=b if c else d)", 1),
        ("a = [b for c in d if e]", 0),
        ("a = [b for c in d for b in c]", 1),
        ("a = [b for c in d if e if f]", 1),
        ("a = b and c and d and e", 0),
        ("a = b and c and d and e and f", 1),
        ("a = b + c * d - e / f", 1),
        ("if 0 < a < b and c is None and not d: pass", 0),
        ("a = f(b + c + d, e + g + h)", 0),
        ("def f(a: int | str | None | list | dict) -> None: pass", 0),
        ("def f():\n" + "    if a: pass\n" * 11, 0),
        ("def f():\n" + "    if a: pass\n" * 12, 1),
    ],
)
def test_a_statement_is_dense_where_it_does_too_much_at_once(source: str, count: int, tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(source)
    assert len(list(dense_statements(file))) == count
