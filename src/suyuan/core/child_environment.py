"""What programs that are started get to know of the environment: a few names, never all.

In the environment of a server are its token, its keys and the passwords of its stores. A child inherits it whole
unless it is told otherwise, and whoever gets into the child can read it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase

_ALWAYS = (
    "PATH", "HOME", "LANG", "LC_*", "TZ", "TMPDIR", "USER", "LOGNAME",
    # Where libraries and fonts are.
    "LD_LIBRARY_PATH", "FONTCONFIG_*",
    # Without these no program starts on Windows.
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA",
    "LOCALAPPDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA",
)  # fmt: skip
SCREEN = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_*")
"""What a window needs."""
TERMINAL = ("TERM", "TERMINFO", "COLORTERM", "SHELL", "EDITOR", "VISUAL", "VIM*", "NVIM*", "EMACS*", "NANO*")
"""What an editor needs."""
CONTAINERS = (
    "DOCKER_*", "COMPOSE_*", "CONTAINER_HOST", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR",
    "SEARXNG_SECRET", "SEARXNG_PORT", "SEARXNG_THREADS", "SEARXNG_REGION", "SEARXNG_VERSION",
)  # fmt: skip
"""What the command line of Docker needs, and what the compose file of SearXNG reads."""


def child_environment(*names: str, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """What every program needs of the environment, and what ``names`` say, with ``*`` for the rest of a name."""
    own = os.environ if environ is None else environ  # noqa: TID251 - it is passed on, not read
    wanted = (*_ALWAYS, *names)
    return {name: value for name, value in own.items() if any(fnmatchcase(name.upper(), pattern) for pattern in wanted)}
