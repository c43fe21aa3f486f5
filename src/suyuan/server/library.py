"""The user's own documents over HTTP: list, upload, delete, and what a citation of one links to."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi.responses import FileResponse, PlainTextResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from ..core.causes.asked import BAD_ARGUMENT
from ..core.causes.library import NOT_IN_LIBRARY
from ..core.errors import SuyuanError
from ..core.file_names import attachment, file_name
from ..messages.catalog import Text
from ..pages.document_parts import PDF
from ..text.visible import shown_line
from .api import FAILURES, client_from
from .errors import failure, language_of
from .quotas import documents_limit

_MAX_FILES = 20
_LONGEST_LIST = 1000

router = APIRouter(responses=FAILURES)


class LibraryDocument(BaseModel):
    """A document of the library."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "3f2a9c0d11e84b7a", "name": "handbook.pdf", "path": "handbook.pdf", "kind": "upload",
                    "title": "Handbook", "url": "http://127.0.0.1:8642/library/3f2a9c0d11e84b7a/handbook.pdf",
                    "size": 184320, "characters": 41200, "cut": None, "added_at": "2026-11-16T10:00:00+00:00",
                    "read_at": "2026-11-16T10:00:01+00:00", "problem": None,
                }
            ]
        }
    )  # fmt: skip
    id: str
    name: str
    path: str = Field(description="From the folder on that was added.")
    kind: str = Field(description="How it was added: folder, file, upload or url.")
    title: str
    url: str = Field(description="How it is cited and read.")
    size: int = Field(description="Of the file, in bytes.")
    characters: int = Field(description="Of its text.")
    cut: dict[str, Any] | None = Field(description="Where a limit held: the unit, read, total, and a message.")
    added_at: str
    read_at: str
    problem: dict[str, Any] | None = Field(description="Why it could not be read, as in an error.")


class LibraryOut(BaseModel):
    """The documents of the library."""

    documents: list[LibraryDocument]
    total: int = Field(description="How many documents there are in all.")


class UploadOut(BaseModel):
    """What became of each file that was sent."""

    documents: list[LibraryDocument]
    errors: list[dict[str, Any]] = Field(description="The files that could not be read: name and error.")


@router.get("/api/library", response_model=LibraryOut, tags=["library"])
async def list_documents(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=_LONGEST_LIST)] = _LONGEST_LIST,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> dict[str, Any]:
    """The user's own documents by path, and how many there are in all; ``offset`` goes on with the list."""
    library, lang = client_from(request).library, language_of(request)
    entries = await library.entries(limit, offset)
    return {"documents": [library.as_dict(entry, lang) for entry in entries], "total": await library.count()}


@router.post("/api/library", status_code=201, response_model=UploadOut, tags=["library"])
async def add_documents(
    request: Request,
    files: Annotated[list[UploadFile], File(max_length=_MAX_FILES)] = [],  # noqa: B006 - a default for the framework
    url: Annotated[str, Form(max_length=2000)] = "",
) -> Any:
    """Add files (multipart, field ``files``, at most 20) and a web page (``url``).

    What can be read is added; where nothing could be, the error of the first is the answer.
    """
    library, lang, limit = client_from(request).library, language_of(request), await documents_limit(request)
    if not files and not url:
        raise BAD_ARGUMENT(name="files", why=Text("library.detail.no_file"))
    added, errors = [], []
    for file in files:
        try:
            added.append((await library.upload(file.filename or "", await file.read(), limit)).id)
        except SuyuanError as error:
            errors.append((shown_line(file.filename or ""), error))
    if url:
        try:
            added.append((await library.add_url(url, limit)).id)
        except SuyuanError as error:
            errors.append((shown_line(url), error))
    if not added:
        first = errors[0][1]
        # A page that the server could not read is its failure; a file is the caller's.
        return failure(request, first, 422 if first.code == "WebParseError" else None)
    documents = [library.as_dict(await library.entry(id), lang) for id in added]
    return {"documents": documents, "errors": [{"name": name, "error": e.as_dict(lang)} for name, e in errors]}


@router.delete("/api/library/{id}", status_code=204, tags=["library"])
async def remove_document(request: Request, id: str) -> Response:
    """Remove an uploaded file or a web page; folders are removed where they were added, on the command line."""
    library = client_from(request).library
    entry = await library.entry(id)
    if entry.kind not in ("upload", "url"):
        raise NOT_IN_LIBRARY(what=id)
    await library.remove(id)
    return Response(status_code=204)


@router.get("/library/{id}/{name}", include_in_schema=False)
async def show_document(request: Request, id: str, name: str) -> Response:
    """The file that a citation links to: a PDF as it is, others as the text that was read."""
    library = client_from(request).library
    file = await library.file(id)
    if file.path.lower().endswith(".pdf") and await asyncio.to_thread(Path(file.path).is_file):
        named = {"Content-Disposition": attachment(file_name(file.name), "inline")}
        return FileResponse(file.path, media_type=PDF, headers=named)
    document = await library.get(library.url_of(file))
    if document is None:
        raise NOT_IN_LIBRARY(what=id)
    # As plain text: a document must not run scripts with the rights of the page.
    return PlainTextResponse(document.text)
