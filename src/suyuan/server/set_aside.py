"""What stopped a worker: it is named in a notice, and shown without being worked on until that is dismissed."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from ..core.at_work import hidden, name_of, working_for
from ..core.causes.live import WORKER_SILENT
from ..core.notices import Notices
from .api import client_from
from .errors import language_of

CONVERSATION, ANSWER, SHARE, RESEARCH = "conversation", "answer", "share", "research"
_KINDS = {"c": CONVERSATION, "stream": ANSWER, "s": SHARE, "research": RESEARCH, "source": ANSWER}


def why_set_aside(request: Request, kind: str, id: str) -> str:
    """Why an item is not worked on, in the language of the user; empty if it is. Waits for the disk."""
    folder = client_from(request).settings.data_dir
    found = Notices(folder).find(WORKER_SILENT.detail_code, name_of(kind, id))
    return found.failure.message(language_of(request)) if found else ""


def refuse_set_aside(request: Request, kind: str, id: str) -> None:
    """Raise the reason why an item is not worked on, if there is one. Waits for the disk."""
    if why_set_aside(request, kind, id):
        raise WORKER_SILENT(item=name_of(kind, id))


class AtWorkMiddleware:
    """Writes down what each step of a request works for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        work = self._app(scope, receive, send)
        if scope["type"] == "http":
            await working_for(_item(scope), work)  # type: ignore[arg-type]
        else:
            await work


def _item(scope: Scope) -> str:
    """What a request is about: the thing that is opened, or the path."""
    first, _, rest = scope["path"].removeprefix("/").partition("/")
    kind, id = _KINDS.get(first, ""), rest.partition("/")[0]
    if not kind or not id:
        return name_of(scope["method"], scope["path"])
    return name_of(kind, hidden(id) if kind == SHARE else id)
