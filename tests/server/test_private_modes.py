"""Nobody else on the machine can read what is kept, whoever made the folder of the data, and with which mode."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")

from server.serving import Client, searxng, serving, settings_of
from support.site import Reply, Seen, reply, serve
from support.timing import PATIENCE
from suyuan.core.private_file import private_folder
from suyuan.store.accounts import add_account, make_token

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


@pytest.fixture(autouse=True)
def _usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    """What below a folder others may read, write or enter."""
    return [f"{each}: {each.stat().st_mode & 0o777:o}" for each in folder.rglob("*") if each.stat().st_mode & 0o077]


@pytest.mark.parametrize("users", [False, True])
async def test_all_that_a_server_keeps_is_private(tmp_path: Path, users: bool) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    finds = searxng()

    def answer(seen: Seen) -> Reply:
        return (
            finds(seen)
            if seen.path in ("/search", "/healthz", "/config")
            else reply(
                "<html><title>Words</title><p>Words of a page that says more than one of them, so that it is read.</p></html>"
            )
        )

    async with serve(answer) as site:
        base = settings_of(site.url, data=data)
        settings = replace(base, pages=replace(base.pages, allow_networks=("127.0.0.0/8",)))
        with serving(settings, users=users) as served:
            headers = {}
            if users:
                people = served.app.state.client.chat.store.people
                token, _ = make_token(
                    people, add_account(people, "anna", "correct horse battery"), ("search", "read", "chat")
                )
                headers["Authorization"] = f"Bearer {token}"
            timeout = aiohttp.ClientTimeout(PATIENCE)
            async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
                ask = Client(session, served.url)
                form = aiohttp.FormData()
                form.add_field("files", io.BytesIO(b"What only I know."), filename="notes.txt")
                async with session.post(f"{served.url}/api/library", data=form) as sent:
                    assert sent.status == 201, await sent.text()
                assert (await ask("POST", "/api/fetch", {"url": f"{site.url}/page"}))[0] == 200
                assert (await ask("POST", "/api/conversations", {"text": "When was Python 3.14 released?"}))[0] == 201
                assert (await ask("POST", "/crawl", {"url": f"{site.url}/page"}))[0] < 500
        assert [each for each in data.rglob("*") if each.name == "notes.txt"], "the document is a file"
        assert open_to_others(data) == []
        assert data.stat().st_mode & 0o777 == 0o755, "a folder of somebody else stays as it is"


@pytest.mark.parametrize("depth", range(1, 5))
def test_every_folder_that_is_made_is_private(tmp_path: Path, depth: int) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    wanted = there.joinpath(*"abcd"[:depth])
    for _ in range(2):
        private_folder(wanted)
        assert wanted.is_dir() and open_to_others(there) == [] and there.stat().st_mode & 0o777 == 0o755
    (wanted / "file").touch(0o600)
    with pytest.raises(OSError, match="file"):
        private_folder(wanted / "file")
