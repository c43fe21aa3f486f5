"""Routes that need nothing of the framework but its description: called directly, which takes a third of the time."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, get_type_hints

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .error_forms import is_json

OnError = Callable[[Request, Exception], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Direct:
    """A route whose endpoint takes the request, texts of the path and perhaps a body."""

    route: APIRoute
    body: str
    """The name of the argument for the body; empty where there is none."""
    model: type[BaseModel] | None
    answer: type[BaseModel] | None

    def response(self, result: Any) -> Response:
        """What the endpoint returned as a response."""
        if self.answer is None or isinstance(result, Response):
            return result  # type: ignore[no-any-return]
        made = self.answer.model_validate(result).model_dump_json(by_alias=True)
        return Response(made, self.route.status_code or 200, media_type="application/json")


class DirectRoutesMiddleware:
    """Calls such routes of ``routers``, which are those that the framework looks into first; passes on all the rest."""

    def __init__(self, app: ASGIApp, routers: Iterable[APIRouter], on_error: Mapping[type[Exception], OnError]) -> None:
        self._app = app
        self._on_error = on_error
        self._handled = tuple(on_error)
        self._routes: dict[str, list[tuple[re.Pattern[str], _Direct | None]]] = {}
        for route in chain.from_iterable(router.routes for router in routers):
            if isinstance(route, APIRoute):
                direct = _direct(route)
                for method in route.methods or ():
                    self._routes.setdefault(method, []).append((route.path_regex, direct))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or pass it on."""
        if scope["type"] == "http":
            path = scope["path"]
            for pattern, direct in self._routes.get(scope["method"], ()):
                if found := pattern.match(path):
                    if direct is not None and (not direct.body or is_json(HTTPConnection(scope))):
                        await self._call(direct, found.groupdict(), scope, receive, send)
                        return
                    break
        await self._app(scope, receive, send)

    async def _call(self, direct: _Direct, values: dict[str, Any], scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = direct.route
        request = Request(scope, receive, send)
        try:
            if direct.model is not None:
                body = await request.body()
                try:
                    values[direct.body] = direct.model.model_validate_json(body)
                except ValidationError:
                    # The framework says what is wrong with it.
                    await self._app(scope, replayed(body, receive), send)
                    return
            response = direct.response(await direct.route.endpoint(request, **values))
        except self._handled as error:
            handler = next(handle for kind, handle in self._on_error.items() if isinstance(error, kind))
            response = await handler(request, error)
        await response(scope, receive, send)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives ``body`` once more, and then what the connection has to say."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


def _direct(route: APIRoute) -> _Direct | None:
    """How ``route`` is called directly; None for one that needs more of the framework."""
    hints = get_type_hints(route.endpoint)
    hints.pop("return", None)
    body = [name for name, kind in hints.items() if isinstance(kind, type) and issubclass(kind, BaseModel)]
    others = {name: kind for name, kind in hints.items() if name not in body}
    texts = dict.fromkeys(route.param_convertors, str)
    answers = isinstance(route.response_model, type) and issubclass(route.response_model, BaseModel)
    if others != {"request": Request, **texts} or len(body) > 1 or not (answers or route.response_model is None):
        return None
    model = hints[body[0]] if body else None
    return _Direct(route, "".join(body), model, route.response_model if answers else None)
