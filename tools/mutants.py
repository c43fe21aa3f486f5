"""Apply each seeded fault to a copy of the source and run the tests that must notice; fail if one does not."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from faults import FAULTS, Fault
from requirements import named

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "suyuan"
# Longer than any of the tests takes: a fault that makes them hang is noticed too.
_SECONDS = 900


def places(fault: Fault) -> int:
    """How often the text of a fault stands in its file."""
    file = SOURCE / fault.file
    return file.read_text(encoding="utf-8").count(fault.text) if file.is_file() else 0


def arguments_for(fault: Fault) -> list[str]:
    """The arguments for pytest that select the tests which must fail."""
    if fault.shown_by.startswith("tests/"):
        return [fault.shown_by]
    return [*files_by_requirement().get(fault.shown_by, ()), f"--req={fault.shown_by}"]


@cache
def files_by_requirement() -> dict[str, list[str]]:
    """The test files that are marked with each requirement."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in dict.fromkeys(name for _, name in named(path.read_text(encoding="utf-8"))):
            found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return found


@contextmanager
def mutated(fault: Fault | None) -> Iterator[Path]:
    """A copy of the project's source and tests, with the fault in it."""
    with tempfile.TemporaryDirectory(prefix="suyuan-mutant-") as folder:
        copy = Path(folder)
        for name in ("src", "tests", "tools", "docs", "deploy", "examples", "benchmarks"):
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy2(path, copy)
        if fault is not None:
            file = copy / "src" / "suyuan" / fault.file
            file.write_text(file.read_text(encoding="utf-8").replace(fault.text, fault.replacement), encoding="utf-8")
        yield copy


def run_tests(folder: Path, arguments: Sequence[str], seconds: float = _SECONDS) -> tuple[int, str]:
    """Run pytest in ``folder``; return its exit code and what it wrote."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    environ = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return 1, f"no end within {seconds} s"
    return done.returncode, done.stdout + done.stderr


def verdict(fault: Fault) -> tuple[str, str, float]:
    """``killed``, ``SURVIVED`` or ``BROKEN`` (the tests cannot say), the last lines of pytest, and the seconds."""
    begun = time.monotonic()
    with mutated(fault) as folder:
        code, output = run_tests(folder, arguments_for(fault))
    tail = "\n".join(output.strip().splitlines()[-3:])
    # Other codes: the source with the fault cannot be imported, or nothing was selected.
    word = "killed" if code == 1 else "SURVIVED" if code == 0 else "BROKEN"
    return word, tail, time.monotonic() - begun


def failing(faults: Sequence[Fault], jobs: int) -> str:
    """What pytest writes where the tests of these faults fail without any fault; else nothing."""
    marked = [
        argument for fault in faults if not fault.shown_by.startswith("tests/") for argument in arguments_for(fault)
    ]
    plain = [fault.shown_by for fault in faults if fault.shown_by.startswith("tests/")]
    with mutated(None) as folder:
        for selected in filter(None, (marked, plain)):
            parallel = ["-n", str(jobs), "--dist", "loadfile"]
            code, output = run_tests(folder, [*parallel, *sorted(set(selected))], 4 * _SECONDS)
            if code:
                return output
    return ""


def main() -> int:
    """Check every fault; return 1 if one survives or cannot be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="only faults of these requirements, files or tests")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a fault first")
    parser.add_argument("-j", "--jobs", type=int, default=max(1, (os.cpu_count() or 1)))
    arguments = parser.parse_args()
    chosen = [f for f in FAULTS if not arguments.only or {f.shown_by, f.file} & set(arguments.only)]
    if rotten := [fault for fault in chosen if places(fault) != 1]:
        for fault in rotten:
            print(f"{fault.file}: stands {places(fault)} times: {fault.text!r}", file=sys.stderr)
        return 1
    if not arguments.trust and (output := failing(chosen, arguments.jobs)):
        print(f"{output}\nThese tests fail without any fault.", file=sys.stderr)
        return 1
    bad = 0
    print(f"{'shown by':<34} {'what is broken':<46} {'outcome':<9} seconds")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for fault, (word, tail, seconds) in zip(chosen, pool.map(verdict, chosen), strict=True):
            print(f"{fault.shown_by:<34} {fault.breaks:<46} {word:<9} {seconds:7.1f}", flush=True)
            if word != "killed":
                bad += 1
                print(f"    {fault.file}: {fault.text!r}\n    {tail}")
    print(f"{len(chosen) - bad} of {len(chosen)} killed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
