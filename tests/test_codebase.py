"""The figures of the code: how they are counted, and what they may be for ours."""

from __future__ import annotations

import ast

import pytest
from codebase import complexity, is_broad, measure, modules_in_cycles, repeated_share


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
    assert ours.median_function <= 7 and ours.longest_function <= 50
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
