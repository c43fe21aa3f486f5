"""Run the examples for frameworks, each in an environment of its own, and look at what they print.

python3 tools/frameworks.py build/frameworks
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from install import ROOT, find_uv

PACKAGES = {
    "llama_index_agent.py": "llama-index-core>=0.14",
    "smolagents_agent.py": "smolagents>=1.26",
    "haystack_agent.py": "haystack-ai>=3.4",
    "crewai_agent.py": "crewai>=1.15",
}
SAID = "The best source is Example Domain (example.com) [1]."
# They would call home, or ask questions.
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "OTEL_SDK_DISABLED": "true",
}


def main() -> int:
    """Run each example in an environment of its own, since they do not agree; return how many went wrong."""
    wrong = 0
    for name, package in PACKAGES.items():
        python = installed(Path(sys.argv[1]) / name.removesuffix(".py"), package)
        done = subprocess.run(
            [str(python), str(ROOT / "examples" / "frameworks" / name), "stub", "what", "is", "this"],
            capture_output=True, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL,
            env=os.environ | QUIET | {"PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        right = SAID in done.stdout
        wrong += not right
        print(f"{'ok   ' if right else 'WRONG'} {name}", flush=True)
        if not right:
            print(done.stdout[-2000:], done.stderr[-3000:], sep="\n")
    return wrong


def installed(folder: Path, package: str) -> Path:
    """The Python of an environment with Suyuan and ``package``."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    uv = find_uv(python)
    command = [uv, "pip", "install", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
    subprocess.run([*command, "-q", "-e", str(ROOT), package], check=True)
    return python


if __name__ == "__main__":
    sys.exit(main())
