"""The static files of the pages, and their addresses."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from ..core.causes.web import NO_SUCH_PATH

router = APIRouter(include_in_schema=False)

_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"


@router.get("/static/{name}")
async def static(request: Request, name: str) -> Response:
    """A static file; an address with its hash is cached for ever."""
    if name not in static_files():
        raise NO_SUCH_PATH(path=request.url.path)
    body, packed, version = static_files()[name]
    lasting = request.query_params.get("v") == version
    headers = {"Cache-Control": _FOREVER if lasting else "no-cache", "ETag": f'"{version}"', "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = packed, "gzip"
    return Response(body, media_type=_KINDS[name.rpartition(".")[2]], headers=headers)


@router.get("/favicon.ico")
async def favicon(request: Request) -> Response:
    """Redirect to the icon; browsers ask for this path by themselves."""
    return RedirectResponse(static_url("icon.svg"), 308)


@cache
def static_files() -> Mapping[str, tuple[bytes, bytes, str]]:
    """The static files by name: content, content in gzip, and the start of the hash."""
    found = {}
    for file in files("suyuan.server").joinpath("static").iterdir():
        if file.name.rpartition(".")[2] in _KINDS:
            body = file.read_bytes()
            found[file.name] = (body, gzip.compress(body, 9, mtime=0), hashlib.sha256(body).hexdigest()[:12])
    return found


def static_url(name: str) -> str:
    """The address of a static file, with its hash."""
    return f"/static/{name}?v={static_files()[name][2]}"


def beside(name: str) -> str:
    """The address of a script for another one, from where it is."""
    return static_url(name).rpartition("/")[2]
