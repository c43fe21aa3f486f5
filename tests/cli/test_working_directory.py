"""No program of ours runs a file of the folder that it is started in, whatever the file is called."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Set
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from cli.test_serve import address_of
from server.serving import client
from support.site import reply, serve
from support.timing import PATIENCE

# What ``python -m`` itself imports before it comes to us; a file of our name is run in our place.
_BEFORE_US = {
    "__future__", "importlib", "contextlib", "warnings", "types", "collections", "functools", "operator", "keyword", "reprlib",
    "suyuan",
}  # fmt: skip
PAGE = "<html><title>A page</title><p>What the page says, in some more words than one.</p></html>"


def hostile(folder: Path, *, but: Set[str] = frozenset()) -> Path:
    """A folder with a file for every module that there is; each of them notes that it was run. Return the notes."""
    folder.mkdir(parents=True)
    notes = folder.parent / f"{folder.name} was run"
    names = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize"}
    for name in names - {"sys", "builtins"} - but:
        (folder / f"{name}.py").write_text(f"open({str(notes)!r}, 'a').write({name!r} + chr(10))\n")
    return notes


def ways(folder: Path) -> dict[str, tuple[list[str], Path, Path]]:
    """How the program is started, each in a folder with files, and where these note that they were run."""
    script = Path(sys.executable).with_name("suyuan")
    made = {"module": [sys.executable, "-m", "suyuan"]}
    if script.exists():
        made["script"] = [str(script)]
    found = {}
    for name, command in made.items():
        but = _BEFORE_US if name == "module" else frozenset()
        found[name] = command, folder / name, hostile(folder / name, but=but)
    return found


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "VIRTUAL_ENV")}
    return {
        **kept, "HOME": str(home), "LANG": "C.UTF-8", "SUYUAN_DATA_DIR": str(home / "data"),
        "WEB_FETCH_ALLOW_HOSTS": "127.0.0.1",
    }  # fmt: skip


async def run(command: list[str], folder: Path, home: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment(home), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(PATIENCE):
        out, _ = await process.communicate()
    return out.decode()


@pytest.mark.req("C11.2")
async def test_commands_run_nothing_of_the_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "notes.html").write_text(PAGE)
    async with serve(lambda _: reply(PAGE)) as site:
        commands = (
            ["fetch", site.url],
            ["library", "add", str(home / "notes.html")],
            ["search", "-e", "stub", "words"],
            ["research", "--yes", "-e", "stub", "--depth", "quick", "What is written there?"],
        )
        for command, folder, notes in ways(tmp_path / "folders").values():
            for words in commands:
                out = await run([*command, *words], folder, home)
                assert not notes.exists(), (words, notes.read_text(), out)
                if words[0] == "fetch":
                    assert "What the page says" in out


@pytest.mark.req("C11.2")
async def test_the_server_and_its_children_run_nothing_of_the_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name, (command, folder, notes) in ways(tmp_path / "folders").items():
        process = await asyncio.create_subprocess_exec(
            *command, "serve", "--port", "0", "--no-open",
            cwd=folder, env=environment(home), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            url, _ = await address_of(process)
            async with client(url) as ask, serve(lambda _: reply(PAGE)) as site:
                status, told = await ask("POST", "/api/fetch", {"url": site.url})
                assert status == 200 and "What the page says" in str(told)
            assert not notes.exists(), (name, notes.read_text())
        finally:
            process.terminate()
            await process.communicate()
        assert not notes.exists(), (name, notes.read_text())
