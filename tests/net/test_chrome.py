"""Finding a browser on Linux, macOS and Windows, simulated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from suyuan.core.errors import WebProviderError
from suyuan.net.chrome import ChromeFound, find_chrome, install_command

MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


def commands(*names: str) -> Callable[[str], str | None]:
    """A ``which`` on a machine that has these commands."""
    return lambda name: f"/bin/{name}" if name in names else None


def look(
    platform: str,
    *,
    files: tuple[str, ...] = (),
    on_path: tuple[str, ...] = (),
    wanted: str = "",
    environ: Mapping[str, str] | None = None,
) -> ChromeFound:
    return find_chrome(
        wanted, platform=platform, environ=environ, which=commands(*on_path), exists=lambda path: path in files
    )


@pytest.mark.parametrize(
    "name", ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome", "msedge"]
)
def test_the_usual_names_are_found_on_the_path(name: str) -> None:
    assert look("linux", on_path=(name,)) == ChromeFound(f"/bin/{name}", name)


def test_chrome_comes_before_chromium_and_edge() -> None:
    assert look("linux", on_path=("msedge", "chromium", "google-chrome")).name == "google-chrome"


@pytest.mark.parametrize(
    ("platform", "path", "name"),
    [
        ("linux", "/opt/google/chrome/chrome", "chrome"),
        ("linux", "/snap/bin/chromium", "chromium"),
        ("linux", "/usr/lib/chromium-browser/chromium-browser", "chromium-browser"),
        ("darwin", MAC_CHROME, "Google Chrome"),
        ("darwin", "/Users/li/Applications/Chromium.app/Contents/MacOS/Chromium", "Chromium"),
        ("darwin", "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "Microsoft Edge"),
        ("win32", r"C:\Program Files\Google\Chrome\Application\chrome.exe", "chrome"),
        ("win32", r"D:\Programme (x86)\Microsoft\Edge\Application\msedge.exe", "msedge"),
        ("win32", r"C:\Users\李\AppData\Local\Google\Chrome\Application\chrome.exe", "chrome"),
    ],
)
def test_the_usual_paths_are_searched(platform: str, path: str, name: str) -> None:
    environ = {"HOME": "/Users/li", "USERPROFILE": r"C:\Users\李", "PROGRAMFILES(X86)": r"D:\Programme (x86)"}
    assert look(platform, files=(path,), environ=environ) == ChromeFound(path, name)


def test_the_paths_of_one_system_are_not_searched_on_another() -> None:
    with pytest.raises(WebProviderError):
        look("linux", files=(MAC_CHROME,))


def test_an_installed_chrome_comes_before_the_preinstalled_edge() -> None:
    edge = r"C:\Program Files\Microsoft\Edge\Application\msedge.exe"
    chrome = r"C:\Users\li\AppData\Local\Google\Chrome\Application\chrome.exe"
    assert look("win32", files=(edge, chrome), environ={"USERPROFILE": r"C:\Users\li"}).path == chrome


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("/srv/chrome/chrome", "/srv/chrome/chrome"), ("my-chrome", "/bin/my-chrome")],
    ids=["path", "command"],
)
def test_the_configured_browser_is_used(wanted: str, found: str) -> None:
    assert look("linux", wanted=wanted, files=("/srv/chrome/chrome",), on_path=("chromium", "my-chrome")).path == found


def test_a_path_may_start_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "chrome").write_bytes(b"")
    assert find_chrome("~/chrome", platform="linux").path == str(tmp_path / "chrome")


def test_a_windows_path_is_a_path() -> None:
    path = r"E:\tools\chrome.exe"
    assert look("win32", wanted=path, files=(path,)) == ChromeFound(path, "chrome")


@pytest.mark.parametrize("wanted", ["/srv/chrome/chrome", "my-chrome"])
def test_a_configured_browser_that_is_missing_is_an_error(wanted: str) -> None:
    with pytest.raises(WebProviderError) as caught:
        look("linux", wanted=wanted, on_path=("chromium", "apt-get"))
    assert caught.value.detail_code == "chrome_missing"
    assert wanted in caught.value.message and wanted in caught.value.say("zh")[0]


@pytest.mark.req("G6.3")
@pytest.mark.parametrize(
    ("platform", "tools", "line"),
    [
        ("linux", ("apt-get",), "sudo apt-get install -y chromium"),
        ("linux", ("apt-get", "snap"), "sudo snap install chromium"),
        ("linux", ("dnf",), "sudo dnf install -y chromium"),
        ("linux", ("pacman",), "sudo pacman -S --noconfirm chromium"),
        ("linux", (), "https://www.google.com/chrome/"),
        ("darwin", ("brew",), "brew install --cask google-chrome"),
        ("darwin", (), "https://www.google.com/chrome/"),
        ("win32", ("winget",), "winget install Google.Chrome"),
        ("win32", (), "https://www.google.com/chrome/"),
    ],
)
def test_without_a_browser_the_error_says_how_to_install_one(platform: str, tools: tuple[str, ...], line: str) -> None:
    with pytest.raises(WebProviderError) as caught:
        look(platform, on_path=tools)
    error = caught.value
    assert (error.code, error.detail_code, error.retryable) == ("WebProviderError", "chrome_missing", False)
    assert "Chrome" in error.message and line in error.hint
    message, hint = error.say("zh")
    assert "未安装" in message and line in hint
    assert install_command(platform, commands(*tools)) == line
