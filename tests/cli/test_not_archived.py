"""A page that was read but could not be archived: the command says so."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from support.site import reply, serve


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="there is no folder here that nobody can write to")
async def test_a_page_that_cannot_be_archived_is_shown_and_the_reason_is_told(tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "SUYUAN_DATA_DIR": "/sys/suyuan",
        "WEB_FETCH_ALLOW_HOSTS": "127.0.0.1",
    }
    page = "<html><title>A page</title><p>What the page says, in some more words than one.</p></html>"
    async with serve(lambda _: reply(page)) as site:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "suyuan", "fetch", site.url,
            env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await process.communicate()
    assert process.returncode == 0 and b"What the page says" in out
    assert b"/sys/suyuan/archive.sqlite" in err and b"What to do" in err and b"Traceback" not in err
