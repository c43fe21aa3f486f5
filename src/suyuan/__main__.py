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
    sys.exit(main())
