"""``EngineSteps``: reads the large answers of search engines in a process of its own, never on the event loop.

An exchange does the same again when it is sent the same again. So the process is given all answers that have come so
far, repeats the exchange up to its next request or its results, and needs neither a network nor a key.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..core.causes.engine import UNREADABLE
from ..core.engine import Came, Engine, EngineSettings, Send, repeated
from ..core.errors import SuyuanError
from ..core.freshness import Freshness
from ..core.query import SearchQuery
from ..core.result import EngineResults
from ..core.secret import Secret
from ..core.wire import Request, Response
from .normalize import bounded
from .page_json import found_from, found_view

if TYPE_CHECKING:
    from ..pages.reader_pool import ReaderPool

# What is not larger takes some 20 ms at worst, whatever it contains: hostile markup costs most per tag.
_MAX_BYTES, _MAX_TAGS = 100_000, 4_000
_MAX_BYTES_OF_CHECK = 500_000
"""The same for a health check or a diagnosis, which looks at a few fields of JSON."""
_SECONDS = 1.5
"""The computing time of one step; the largest answer takes half of it."""
_READERS = 2
_MODULE = "suyuan.search.engine_step_process"
_NO_KEY = "-"


class EngineSteps:
    """Takes the steps of exchanges whose answers are large."""

    def __init__(self) -> None:
        self._pool: ReaderPool | None = None

    def takes(self, response: Response) -> bool:
        """Whether an answer is too large to be read on the event loop."""
        return len(response.body) > _MAX_BYTES or response.body.count(b"<") > _MAX_TAGS

    async def step(self, engine: Engine, query: SearchQuery, came: Sequence[Came]) -> Request | EngineResults:
        """What ``repeated`` returns, or raises."""
        # Loaded with the first large answer: most searches have none.
        from ..pages.reading import PAGE_LIMITS, ReceivedPage

        job = _Job(engine.name, _without_key(engine.settings), query, tuple(came))
        limits = replace(PAGE_LIMITS, seconds=_SECONDS)
        page = ReceivedPage("", Response(200, job.as_bytes(), engine.base_url), limits=limits)
        try:
            reading = await self._readers().read(page)
            return _step_from(json.loads(reading.document.text))
        except SuyuanError as error:
            error.engine = error.engine or engine.name
            # The other process does not know the secrets of this one.
            raise error.redacted(()) from None
        except (ValueError, TypeError, LookupError, AttributeError):
            raise UNREADABLE(engine=engine.name) from None

    def warm(self) -> None:
        """Start what reads the answer while that is on its way."""
        self._readers().warm()

    def close(self) -> None:
        """End what reads answers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _readers(self) -> ReaderPool:
        if self._pool is None:
            # Most searches of a command line need none.
            from ..pages.reader_pool import ReaderPool

            self._pool = ReaderPool(_READERS, _MODULE)
        return self._pool


def small_only(send: Send, engine: str) -> Send:
    """``send`` for exchanges that are read on the event loop alone."""

    async def send_small(request: Request) -> Response:
        response = await send(request)
        if len(response.body) > _MAX_BYTES_OF_CHECK:
            raise UNREADABLE(engine=engine)
        return response

    return send_small


def step_here(sent: bytes) -> str:
    """Take a step that was sent, and return what ``_step_from`` reads; for the process that does it."""
    from ..engines import registry

    job = _Job.from_bytes(sent)
    engine: Any = registry.load(job.engine)(job.settings)
    step = repeated(engine, job.query, job.came)
    if isinstance(step, EngineResults):
        return json.dumps({"found": found_view(bounded(step))})
    return json.dumps({"request": _request_view(step, job.engine)})


@dataclass(frozen=True, slots=True)
class _Job:
    """A step in a form that another process can be sent: a line of JSON, and the bodies behind it."""

    engine: str
    settings: EngineSettings
    query: SearchQuery
    came: tuple[Came, ...]

    def as_bytes(self) -> bytes:
        query = {item.name: getattr(self.query, item.name) for item in fields(SearchQuery)}
        data = {
            "engine": self.engine,
            "settings": {item.name: getattr(self.settings, item.name) for item in fields(EngineSettings)},
            "query": query | {"freshness": _freshness_text(self.query.freshness)},
            "came": [_came_view(item) for item in self.came],
        }
        bodies = [item.body for item in self.came if isinstance(item, Response)]
        return b"".join([json.dumps(data, default=_plain).encode("ascii"), b"\n", *bodies])

    @classmethod
    def from_bytes(cls, sent: bytes) -> _Job:
        from ..pages.frames import error_from

        head, _, bodies = sent.partition(b"\n")
        data: dict[str, Any] = json.loads(head)
        came: list[Came] = []
        for item in data["came"]:
            if "error" in item:
                came.append(error_from(item["error"]))
                continue
            at = datetime.fromisoformat(item["at"]) if item["at"] else None
            came.append(Response(item["status"], bodies[: item["length"]], item["url"], item["headers"], at))
            bodies = bodies[item["length"] :]
        options = {name: tuple(value) if isinstance(value, list) else value for name, value in _options(data).items()}
        settings = {**data["settings"], "options": options, "api_key": Secret(data["settings"]["api_key"])}
        return cls(data["engine"], EngineSettings(**settings), SearchQuery(**data["query"]), tuple(came))


def _options(data: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = data["settings"]["options"]
    return options


def _without_key(settings: EngineSettings) -> EngineSettings:
    return replace(settings, api_key=Secret(_NO_KEY)) if settings.api_key else settings


def _plain(value: object) -> object:
    """A value of settings that JSON does not have."""
    if isinstance(value, Secret):
        return _NO_KEY if value else ""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "items"):
        return dict(value.items())
    raise TypeError(f"{type(value).__name__} cannot be sent to another process")


def _freshness_text(freshness: Freshness | None) -> str | None:
    if freshness is None or freshness.period:
        return freshness.period if freshness else None
    return f"{freshness.since or ''}..{freshness.until or ''}"


def _came_view(one: Came) -> dict[str, Any]:
    if isinstance(one, SuyuanError):
        return {"error": one.failure.as_dict()}
    at = one.at.isoformat() if one.at else None
    return {"status": one.status, "url": one.url, "headers": dict(one.headers), "at": at, "length": len(one.body)}


def _request_view(request: Request, engine: str) -> dict[str, Any]:
    """A request as JSON; raises where it would carry a key, which is not known here."""
    if request.secret_params or any(isinstance(value, Secret) for value in request.headers.values()):
        raise UNREADABLE(engine=engine)
    view = asdict(replace(request, headers=dict(request.headers), secret_params={}))
    return view | {"body": request.body.decode("latin-1")}


def _step_from(data: dict[str, Any]) -> Request | EngineResults:
    if "found" in data:
        return found_from(data["found"])
    view = data["request"]
    return Request(**(view | {"body": view["body"].encode("latin-1")}))
