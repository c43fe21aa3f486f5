"""Run the examples for frameworks in an environment of their own, and look at what they print.

python3 tools/frameworks.py build/frameworks
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from install import ROOT, find_uv

PACKAGES = {
    "llama_index_agent.py": "llama-index-core",
    "smolagents_agent.py": "smolagents",
    "haystack_pipeline.py": "haystack-ai",
    "crewai_agent.py": "crewai",
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
    """Install, run each example, and return how many did not say what they should."""
    folder = Path(sys.argv[1])
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    wanted = ["-e", str(ROOT), *PACKAGES.values()]
    uv = find_uv(python)
    command = [uv, "pip", "install", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
    subprocess.run([*command, "-q", *wanted], check=True)
    wrong = 0
    for name in PACKAGES:
        example = ROOT / "examples" / "frameworks" / name
        done = subprocess.run(
            [str(python), str(example), "stub", "what", "is", "this"],
            capture_output=True, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL,
            env=os.environ | QUIET | {"PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        right = SAID in done.stdout
        wrong += not right
        print(f"{'ok   ' if right else 'WRONG'} {name}", flush=True)
        if not right:
            print(done.stdout[-2000:], done.stderr[-3000:], sep="\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
