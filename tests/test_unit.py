"""How the tests are run: what fails beside other tests is run once more by itself, and what fails then is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import unit

ALONE = "import os\n\n\ndef test_alone():\n    assert 'PYTEST_XDIST_WORKER' not in os.environ\n"
NEVER = "def test_never():\n    assert False\n"


@pytest.mark.parametrize(
    ("tests", "code", "told"),
    [
        (ALONE, 0, "passed by themselves:\n  test_a.py::test_alone"),
        (ALONE + NEVER, 1, "Run once more, by themselves: 2"),
        ("\n".join(NEVER.replace("never", f"n{n}") for n in range(6)), 1, "6 failed"),
    ],
)
def test_what_fails_twice_is_a_failure(tests: str, code: int, told: str, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    script = tmp_path / "tools" / "unit.py"
    script.write_bytes(Path(unit.__file__).read_bytes())
    (tmp_path / "test_a.py").write_text(tests, encoding="utf-8")
    command = [sys.executable, str(script), "-q", "-p", "no:langsmith_plugin", "-W", "ignore"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert run.returncode == code and told in run.stdout
    assert ("Run once more" in run.stdout) is (tests.count("def ") < 6)
