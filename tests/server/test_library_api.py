"""The user's own documents over HTTP, over real sockets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import Client, client, serving, settings_of
from suyuan.demo.pdf import pdf

NOTE = "# 会议记录\n\n渔船登记办法从五月开始施行。".encode()


async def send(ask: Client, *files: tuple[str, bytes], **fields: str) -> tuple[int, Any]:
    form = aiohttp.FormData(quote_fields=False)
    for name, body in files:
        form.add_field("files", body, filename=name)
    for name, value in fields.items():
        form.add_field(name, value)
    async with ask.session.post(ask.url + "/api/library", data=form) as response:
        return response.status, json.loads(await response.text())


async def test_upload_search_read_show_and_delete(tmp_path: Path) -> None:
    with serving(settings_of(data=tmp_path)) as served:
        async with client(served.url) as ask:
            assert await ask("GET", "/api/library") == (200, {"documents": []})
            text = "The lighthouse budget is 4,200 kroner this year, says the keeper."
            status, sent = await send(
                ask, ("会议.md", NOTE), ("budget.pdf", pdf("Budget", text)), ("x.pdf", b"%PDF- broken")
            )
            assert status == 201 and [each["error"]["detail_code"] for each in sent["errors"]] == ["unsupported_type"]
            by_name = {each["name"]: each for each in sent["documents"]}
            assert set(by_name) == {"会议.md", "budget.pdf"} and by_name["会议.md"]["title"] == "会议记录"
            listed = (await ask("GET", "/api/library"))[1]["documents"]
            assert sorted(listed, key=lambda each: each["id"]) == sorted(sent["documents"], key=lambda each: each["id"])
            _, found = await ask("POST", "/api/search", {"query": "lighthouse budget kroner", "focus": "mine"})
            item = found["items"][0]
            assert item["details"] == {"file": "budget.pdf", "page": 1} and item["source"] == "library"
            _, read = await ask("POST", "/api/fetch", {"url": item["url"], "question": "budget"})
            assert "4,200 kroner" in " ".join(read["text"].split()) and read["passages"]
            # What a citation links to: a PDF as it is, other files as text that cannot run.
            async with ask.session.get(f"{ask.url}/library/{by_name['budget.pdf']['id']}/budget.pdf") as response:
                assert response.content_type == "application/pdf" and (await response.read()).startswith(b"%PDF")
            async with ask.session.get(f"{ask.url}/library/{by_name['会议.md']['id']}/x") as response:
                assert response.content_type == "text/plain" and "渔船" in await response.text()
            assert (await ask("DELETE", f"/api/library/{by_name['会议.md']['id']}"))[0] == 204
            assert (await ask("DELETE", f"/api/library/{by_name['会议.md']['id']}"))[0] == 404
            assert [each["name"] for each in (await ask("GET", "/api/library"))[1]["documents"]] == ["budget.pdf"]


async def test_what_cannot_be_added_says_why(tmp_path: Path) -> None:
    with serving(settings_of(data=tmp_path)) as served:
        async with client(served.url) as ask:
            for files, fields, status, code in (
                ([], {"url": "/etc/passwd"}, 400, "bad_argument"),
                ([], {"url": ""}, 400, "bad_argument"),
                ([("x.exe", b"MZ\x00\x01")], {}, 422, "unsupported_type"),
            ):
                got, answer = await send(ask, *files, **fields)
                assert (got, answer["error"]["detail_code"]) == (status, code)
            # A folder of the server is not for whoever asks.
            await served.app.state.client.library.add(str(_folder(tmp_path)))
            (document,) = (await ask("GET", "/api/library"))[1]["documents"]
            assert document["path"] == "notes/a.md" and document["kind"] == "folder"
            assert (await ask("DELETE", f"/api/library/{document['id']}"))[0] == 404


def _folder(parent: Path) -> Path:
    folder = parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("Notes about otters.")
    return folder
