"""``python -m suyuan``, and the command ``suyuan``."""

import gc
import sys


def main() -> int:
    """Run one command and return its exit code."""
    # Looking for garbage among what is being imported takes time and finds none.
    gc.disable()
    from .cli.main import main as run

    gc.freeze()
    gc.enable()
    return run()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # ``-m`` has put the working directory in front of the standard library; it is added at the end where needed.
        del sys.path[0]
    from .core.python_child import leave_working_directory

    leave_working_directory()
    sys.exit(main())
