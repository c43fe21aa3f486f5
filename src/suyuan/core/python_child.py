"""How Python programs of ours are started: no module comes from the folder in which somebody happens to be.

``python -m`` and ``python -c`` look there first. A file ``socket.py`` in a folder of downloads would be run, with all
that the process knows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_PROGRAM = "import sys; sys.path[:] = {path!r}; from {module} import main; sys.exit(main())"
_HOME = str(Path(__file__).resolve().parents[2])
"""The folder that the package is in."""


def python_command(module: str, arguments: Sequence[str] = ()) -> list[str]:
    """The command that calls ``main`` of a module in another process, which imports from where this one does."""
    program = _PROGRAM.format(path=import_path(), module=module)
    return [sys.executable, "-P", "-c", program, *arguments]


def import_path() -> list[str]:
    """Where modules are imported from, without the working directory, however it came there."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        # It was removed, and nothing can be imported from it.
        here = ""
    kept = [entry for entry in sys.path if os.path.isabs(entry) and os.path.realpath(entry) != here]
    # A checkout is run in its own folder, which comes after all others then: nothing of it hides a library.
    return kept if _HOME in kept else [*kept, _HOME]


def leave_working_directory() -> None:
    """Import nothing from the working directory from now on, in the process that ``python -m suyuan`` has started."""
    sys.path[:] = import_path()
