"""Run all tests in three processes; the few that fail beside the others are run once more by themselves.

A test that passes only then is named at the end: it hangs on what else the machine does, and wants to be mended.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
# More than these is a fault, not a busy machine.
_MAX_RETRIED = 5
_SOME_TESTS_FAILED = 1


def main() -> int:
    """Run the tests; return the exit code."""
    _FAILED.unlink(missing_ok=True)
    # The tests of one file run in one process, since they share what they have started.
    code = pytest("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", *sys.argv[1:])
    if code != _SOME_TESTS_FAILED:
        return code
    failed = failed_tests()
    if not 0 < len(failed) <= _MAX_RETRIED:
        return code
    print(f"\nRun once more, by themselves: {len(failed)} of the tests.", flush=True)
    code = pytest(*failed)
    if code == 0:
        print("Failed beside other tests, and passed by themselves:", *failed, sep="\n  ")
    return code


def pytest(*arguments: str) -> int:
    """Run pytest; return its exit code."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode


def failed_tests() -> Sequence[str]:
    """The names of the tests that failed in the last run, as pytest has noted them."""
    if not _FAILED.is_file():
        return ()
    return tuple(json.loads(_FAILED.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main())
