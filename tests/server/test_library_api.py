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
            assert await ask("GET", "/api/library") == (200, {"documents": [], "total": 0})
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
            # None of many is left out without a word.
            got, answer = await send(ask, *((f"{n}.md", b"Notes.") for n in range(21)))
            assert got == 400 and "20" in answer["error"]["message"] and "files" in answer["error"]["message"]
            # A folder of the server is not for whoever asks.
            await served.app.state.client.library.add(str(_folder(tmp_path)))
            (document,) = (await ask("GET", "/api/library"))[1]["documents"]
            assert document["path"] == "notes/a.md" and document["kind"] == "folder"
            assert (await ask("DELETE", f"/api/library/{document['id']}"))[0] == 404


UP = "/.." * 40


async def test_no_address_leads_to_a_file_of_the_server(tmp_path: Path) -> None:
    """What begins like an address and is a path for the system."""
    secret = _folder(tmp_path) / "a.md"
    tails = (
        f"{UP}{secret}",
        f"{UP}{secret.parent}",
        f"/{UP}{secret}",
        f"[{UP}{secret}",
        f":{UP}{secret}",
        f"\\{UP}{secret}",
    )
    with serving(settings_of(data=tmp_path / "data")) as served:
        async with client(served.url) as ask:
            for url in [f"{scheme}://{tail}" for scheme in ("http", "https") for tail in tails] + [
                f"file://{secret}", f" http://{UP}{secret}", str(secret), f"HTTP://{UP}{secret}",
            ]:  # fmt: skip
                status, answer = await send(ask, url=url)
                assert (status, answer["error"]["detail_code"]) == (400, "bad_argument"), url
            assert await ask("GET", "/api/library") == (200, {"documents": [], "total": 0})


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("文" * 120 + ".txt", "文" * 66 + ".txt"), ("a\0b.txt", "ab.txt"), ("../../x.txt", "x.txt"), ("..\\y.txt", "y.txt"),
        ("..", "document"), ("/etc/passwd", "passwd"), (".md", "md"), ("x" * 300 + ".txt", "x" * 200 + ".txt"),
        ("a\u202egnp.txt", "agnp.txt"), ("\u200b", "document"),
    ],
)  # fmt: skip
async def test_a_file_is_kept_below_the_library_whatever_its_name(tmp_path: Path, sent: str, kept: str) -> None:
    with serving(settings_of(data=tmp_path)) as served:
        async with client(served.url) as ask:
            # By hand: clients refuse to send such names.
            head = b'--B\r\nContent-Disposition: form-data; name="files"; filename="%b"\r\n\r\n' % sent.encode()
            body = head + b"A note about otters.\r\n--B--\r\n"
            kind = {"Content-Type": "multipart/form-data; boundary=B"}
            async with ask.session.post(ask.url + "/api/library", data=body, headers=kind) as response:
                assert response.status == 201, await response.text()
                assert (await response.json())["documents"][0]["name"] == kept
    files = _with_text(tmp_path, "otters")
    assert kept in {file.name for file in files} and all(file.is_relative_to(tmp_path / "library") for file in files)


def _with_text(folder: Path, text: str) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and text in file.read_text("utf-8", "replace")]


def _folder(parent: Path) -> Path:
    folder = parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("Notes about otters.")
    return folder
