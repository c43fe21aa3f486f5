"""Finding Chrome or Chromium on this machine, and the command that installs it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from ..core.causes.browser import CHROME_MISSING, CHROME_NOT_THERE

_NAMES = (
    "google-chrome google-chrome-stable chromium chromium-browser chrome msedge microsoft-edge microsoft-edge-stable"
)
_LINUX_PATHS = (
    "/opt/google/chrome/chrome /usr/bin/google-chrome /usr/bin/google-chrome-stable /usr/bin/chromium "
    "/usr/bin/chromium-browser /usr/lib/chromium/chromium /usr/lib/chromium-browser/chromium-browser "
    "/snap/bin/chromium /opt/microsoft/msedge/msedge"
)
_MAC_APPS = ("Google Chrome", "Chromium", "Microsoft Edge")
_WINDOWS_PATHS = (
    r"Google\Chrome\Application\chrome.exe",
    r"Chromium\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
)
# The first tool that exists identifies the system; snap comes before apt because Ubuntu has Chromium only as a snap.
_LINUX_INSTALLERS = (
    ("snap", "sudo snap install chromium"),
    ("apt-get", "sudo apt-get install -y chromium"),
    ("dnf", "sudo dnf install -y chromium"),
    ("pacman", "sudo pacman -S --noconfirm chromium"),
    ("zypper", "sudo zypper install -y chromium"),
    ("apk", "sudo apk add chromium"),
)
_DOWNLOAD = "https://www.google.com/chrome/"

Which = Callable[[str], str | None]
Exists = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class ChromeFound:
    """A browser that is installed here."""

    path: str
    name: str


def find_chrome(
    wanted: str = "",
    *,
    platform: str = sys.platform,
    environ: Mapping[str, str] | None = None,
    which: Which = shutil.which,
    exists: Exists = os.path.isfile,
) -> ChromeFound:
    """Find the browser ``wanted`` (a path or a command), or an installed one; the error says how to install one."""
    command = install_command(platform, which)
    if wanted:
        chrome = _wanted(wanted, platform, which, exists)
        if chrome is None:
            raise CHROME_NOT_THERE(wanted=wanted, command=command)
        return chrome
    for name in _NAMES.split():
        if path := which(name):
            return ChromeFound(path, name)
    for candidate in _candidates(platform, environ or {}):
        if exists(str(candidate)):
            return ChromeFound(str(candidate), candidate.stem)
    raise CHROME_MISSING(command=command)


def install_command(platform: str = sys.platform, which: Which = shutil.which) -> str:
    """The command that installs a browser on this system, or the URL of the download page."""
    if platform == "darwin":
        return "brew install --cask google-chrome" if which("brew") else _DOWNLOAD
    if platform == "win32":
        return "winget install Google.Chrome" if which("winget") else _DOWNLOAD
    return next((line for tool, line in _LINUX_INSTALLERS if which(tool)), _DOWNLOAD)


def _wanted(wanted: str, platform: str, which: Which, exists: Exists) -> ChromeFound | None:
    path = PureWindowsPath(wanted) if platform == "win32" else PurePosixPath(wanted)
    if len(path.parts) > 1:
        full = os.path.expanduser(wanted)
        return ChromeFound(full, path.stem) if exists(full) else None
    executable = which(wanted)
    return ChromeFound(executable, path.stem) if executable else None


def _candidates(platform: str, environ: Mapping[str, str]) -> Iterator[PurePath]:
    home_variable = "USERPROFILE" if platform == "win32" else "HOME"
    home = environ.get(home_variable) or os.path.expanduser("~")
    if platform == "darwin":
        for folder in (PurePosixPath("/Applications"), PurePosixPath(home) / "Applications"):
            yield from (folder / f"{app}.app/Contents/MacOS/{app}" for app in _MAC_APPS)
    elif platform == "win32":
        folders = (
            environ.get("PROGRAMFILES") or r"C:\Program Files",
            environ.get("PROGRAMFILES(X86)") or r"C:\Program Files (x86)",
            environ.get("LOCALAPPDATA") or rf"{home}\AppData\Local",
        )
        # All folders for one browser first: Edge comes with Windows, but Chrome was installed by the user.
        for path in _WINDOWS_PATHS:
            yield from (PureWindowsPath(folder) / path for folder in folders)
    else:
        yield from map(PurePosixPath, _LINUX_PATHS.split())
