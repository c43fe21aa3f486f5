"""Create the virtual environment and install Suyuan with some of its extras into it: by uv where it is available, else by pip.

python3 tools/install.py .venv web,mcp,pages
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
import venv
from collections import deque
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
# What pip and uv write that shows how far they are.
_PROGRESS = ("Resolved", "Downloading", "Building", "Prepared", "Installing", "Installed")


def main() -> int:
    """Install, and say so; return the exit code."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        return fail(f"Suyuan needs Python 3.11 or newer, and this is {found}. Name another one: make PYTHON=python3.12")
    folder, extras = Path(sys.argv[1]), sys.argv[2]
    begun = time.monotonic()
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        say(f"Creating {folder} with Python {sys.version.split()[0]} …")
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    target = ["-c", str(ROOT / "constraints.txt"), "-e", f"{ROOT}[{extras}]"]
    uv = find_uv(python)
    say(f"Installing suyuan[{extras}] with {'uv' if uv else 'pip'} …")
    if not (uv and install_with_uv(uv, python, target)) and not install_with_pip(python, target):
        return 1
    say(f"Installed in {time.monotonic() - begun:.0f} s.")
    return 0


def find_uv(python: Path) -> str | None:
    """The uv of this machine or of the environment; where there is none, it is installed into the environment."""
    own = python.with_name("uv.exe" if os.name == "nt" else "uv")
    if found := shutil.which("uv") or (str(own) if own.exists() else None):
        return found
    wanted = ["install", "-q", "--disable-pip-version-check", "uv"]
    # The pip of the base installation is already there; one in the environment takes seconds to create.
    if not run([sys.executable, "-m", "pip", "--python", str(python), *wanted], quiet=True) and with_pip(python):
        run([str(python), "-m", "pip", *wanted], quiet=True)
    return str(own) if own.exists() else None


def install_with_uv(uv: str, python: Path, target: Sequence[str]) -> bool:
    """Whether uv could install ``target``; pip comes with it, for the commands that the product suggests."""
    options, environ = pip_configuration()
    command = [uv, "pip", "install", "--python", str(python), *options, "pip", *target]
    return run(command, environ)


def install_with_pip(python: Path, target: Sequence[str]) -> bool:
    """Whether pip could install ``target``."""
    if not with_pip(python):
        fail("There is no pip: install python3-pip and python3-venv, or uv (https://docs.astral.sh/uv).")
        return False
    return run([str(python), "-m", "pip", "install", "--disable-pip-version-check", *target])


def with_pip(python: Path) -> bool:
    """Whether the environment has a pip; it is added where Python comes with one."""
    return run([str(python), "-m", "pip", "--version"], quiet=True) or run([str(python), "-m", "ensurepip"], quiet=True)


def pip_configuration() -> tuple[list[str], dict[str, str]]:
    """Where pip is configured to find packages, as options and variables for uv, which does not read that."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    options: list[str] = []
    environ: dict[str, str] = {}
    names = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        name, text = name.rpartition(".")[2], str(ast.literal_eval(value))
        for word in text.split() if name in names else ():
            options += [names[name], word]
        if name == "extra-index-url":
            # As pip does it: the newest version of all indexes, not that of the first.
            options += ["--index-strategy", "unsafe-best-match"]
        elif name == "cert":
            environ["SSL_CERT_FILE"] = text
    return options, environ


def run(command: Sequence[str], environ: dict[str, str] | None = None, *, quiet: bool = False) -> bool:
    """Run a command and show how far it is; where it fails, show the end of what it wrote."""
    process = subprocess.Popen(
        command, env={**os.environ, **(environ or {})}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    last: deque[str] = deque(maxlen=15)
    for line in process.stdout:
        last.append(line.rstrip())
        if not quiet and line.strip().startswith(_PROGRESS):
            say(f"  {line.strip()[:110]}")
    if process.wait() and not quiet:
        fail("\n".join(last))
    return process.returncode == 0


def say(text: str) -> None:
    """Write a line that is seen at once."""
    print(text, flush=True)


def fail(text: str) -> int:
    """Write what went wrong."""
    print(text, file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
