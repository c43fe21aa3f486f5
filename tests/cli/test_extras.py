"""The command line where only the package itself is installed: what is missing is named, with the extra that brings it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import packages_distributions, requires

from packaging.requirements import Requirement

from suyuan.cli.main import COMMANDS

# What runs in an interpreter that finds only some packages, and tells how each command ended.
_FINDER = """
import contextlib, io, json, sys
from importlib.machinery import PathFinder
hidden, commands = json.loads(sys.argv[1]), json.loads(sys.argv[2])
class Some(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Some
"""
_PROGRAM = f"""{_FINDER}
from suyuan.cli.main import main
for command in commands:
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            code = main(command)
        except SystemExit as error:
            code = error.code
    print(json.dumps([command, code, told.getvalue()]))
"""
_IMPORTS = f"""{_FINDER}
from importlib import import_module
for [name] in commands:
    try:
        import_module(name)
        print(json.dumps([[name], 0, ""]))
    except ImportError as error:
        print(json.dumps([[name], 1, str(error)]))
"""


def _own_packages() -> set[str]:
    """The distributions that come with ``suyuan`` alone."""
    found, waiting = {"suyuan"}, ["suyuan"]
    while waiting:
        for line in requires(waiting.pop()) or ():
            needed = Requirement(line)
            if needed.name not in found and (not needed.marker or needed.marker.evaluate({"extra": ""})):
                found.add(needed.name)
                waiting.append(needed.name)
    return {name.lower().replace("_", "-") for name in found}


def _hidden() -> list[str]:
    """The modules of all packages that do not come with ``suyuan`` alone."""
    own = _own_packages()
    hidden = [
        module
        for module, packages in packages_distributions().items()
        if not own & {package.lower().replace("_", "-") for package in packages}
    ]
    assert {"sqlalchemy", "fastapi", "mcp", "langchain", "pypdf"} <= set(hidden) and "aiohttp" not in hidden
    return hidden


def _run(commands: list[list[str]], program: str = _PROGRAM) -> dict[str, tuple[int, str]]:
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(_hidden()), json.dumps(commands)],
        capture_output=True, text=True, check=False, env=dict(os.environ), stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {" ".join(command): (code, told) for command, code, told in rows}


def test_a_missing_package_is_named_with_its_extra() -> None:
    extras = {
        "serve --no-open": "web",
        "demo --no-open": "web",
        "ask hello": "chat",
        "chat": "chat",
        "mcp": "mcp",
        "research list": "chat",
        "users list": "team",
        "debug": "chat",
        "store backup x.sqlite": "chat",
    }
    found = _run([command.split() for command in extras])
    for command, extra in extras.items():
        code, told = found[command]
        assert code == 2 and f"pip install 'suyuan[{extra}]'" in told and "Traceback" not in told, (command, told)


def test_what_needs_no_extra_works_without_one() -> None:
    commands = [["--help"], *([name, "--help"] for name in COMMANDS)]
    commands += [["search", "--engine", "stub", "hello"], ["config", "show"], ["engines"], ["archive", "list"]]
    found = _run(commands)
    assert {command: told for command, (code, told) in found.items() if code not in (0, 1)} == {}
    assert "usage: suyuan" in found["--help"][1] and "hello" in found["search --engine stub hello"][1]


def test_public_modules_name_the_extra_that_they_need() -> None:
    extras = {"langchain": "langchain", "mcp": "mcp", "mcp_http": "mcp", "functions": "", "agents": "", "providers": ""}
    found = _run([[f"suyuan.integrations.{name}"] for name in extras], _IMPORTS)
    for name, extra in extras.items():
        code, told = found[f"suyuan.integrations.{name}"]
        assert (code, told) == (0, "") if not extra else f"pip install 'suyuan[{extra}]'" in told, (name, told)


def test_plain_python_needs_no_extra() -> None:
    program = f"""{_FINDER}
import suyuan
print(json.dumps([["ask"], 0, suyuan.ask("hello", search=False).text]))
"""
    assert "quote the sentences" in _run([], program)["ask"][1]
