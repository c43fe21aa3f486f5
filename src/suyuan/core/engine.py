"""``SearchEngine``, the interface of an engine, and ``Engine``, the base class of engines that do no I/O."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Protocol, TypeVar, runtime_checkable

from .causes.engine import CAPTCHA, KEY_MISSING
from .errors import SuyuanError, WebParseError
from .http_status import check_status, is_challenge
from .query import SearchQuery
from .result import EngineResults, SearchResult
from .secret import Secret
from .setting import Setting, http_url, number, setting, text, whole
from .wire import Request, Response

Exchange = Generator[Request, Response, EngineResults]
Send = Callable[[Request], Awaitable[Response]]
Came = Response | SuyuanError
"""What came of a request."""
T = TypeVar("T")


@runtime_checkable
class SearchEngine(Protocol):
    """The minimum an engine has: a name, and a search that returns results or raises a ``SuyuanError``.

    ``search`` may be a coroutine function or an ordinary one, which is then run in a thread.
    """

    name: str

    def search(self, query: Any, num_results: int) -> Sequence[SearchResult] | Awaitable[Sequence[SearchResult]]:
        """Return at most ``num_results`` results for ``query``: a ``QueryText``, which is a text and more."""
        ...


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The configuration of one engine; an empty field means the engine's own default.

    The paths are relative to ``web.providers.NAME.``, the variables to ``NAME_``.
    """

    base_url: str = setting("baseUrl", "", http_url(), "The address of the engine.", env="BASE_URL")
    api_key: Secret = setting(
        "apiKey", Secret(""), text(), "The API key of the engine.", env="API_KEY", file_first=True
    )
    timeout_ms: int | None = setting(
        "timeoutMs", None, whole(50, 120_000), "Longest time for this engine.", env="TIMEOUT_MS"
    )
    rate_per_minute: float | None = setting(
        "ratePerMinute", None, number(0, 100_000), "Most requests a minute; 0 for no limit.", env="RATE_PER_MINUTE"
    )
    options: Mapping[str, Any] = field(default_factory=dict)
    """The values of the options that the engine itself declares."""


class Engine:
    """An engine as a generator: it yields requests, is sent responses, and returns results.

    It opens no socket, so a test can pass it a saved page. Its attributes say everything that the rest of the program
    must know about it: nowhere else is an engine told from others by its name.
    """

    name: str
    title: str
    default_url: str
    """The base URL unless another is configured."""
    aliases: tuple[str, ...] = ()
    """Other names that it is known by."""
    env_prefix: str = ""
    """How its variables begin, where they do not begin with its name."""
    api_key_env: str = ""
    """The environment variable of the API key; empty for an engine that needs none."""
    supported_params: frozenset[str] = frozenset()
    """The optional query parameters that the engine honours."""
    rate_per_minute: float | None = None
    """Most requests a minute unless configured otherwise."""
    burst: int = 1
    """How many of these requests may be sent at once."""
    needs_browser: bool = False
    """Whether it needs a browser, which must be installed."""
    reads_pages: bool = False
    """Whether it reads pages made for people, which are requested with a browser's handshake where that is possible."""
    live_web: bool = True
    """Whether it searches the live web: results that are not about the query then count as a refusal."""
    local: bool = False
    """Whether it works without any network."""
    hidden: bool = False
    """Whether people are not offered it, since it is for tests."""
    auto_rank: int | None = None
    """Its place in the order of ``auto``; None for an engine that ``auto`` does not ask."""
    auto_rank_zh: int | None = None
    """Its place for queries in Chinese, if it is another one."""
    probed_unconfigured: bool = False
    """Whether ``auto`` looks for it at its default address, though nobody has configured it."""
    guide: str = "troubleshooting"
    """The guide that helps when it fails."""
    opaque_links: tuple[str, ...] = ()
    """How the links begin behind which it hides the addresses of results."""
    redirect_hosts: tuple[str, ...] = ()
    """Other hosts of the same engine that it may redirect to."""
    options: tuple[Setting, ...] = ()
    """The engine's own settings, with paths and variables relative to those of ``EngineSettings``."""

    required_options: tuple[str, ...] = ()
    """The paths of those without which it cannot search."""

    def __init__(self, settings: EngineSettings | None = None) -> None:
        self.settings = settings or EngineSettings()
        self.base_url = (self.settings.base_url or self.default_url).rstrip("/")
        self.send: Send | None = None
        """The network, which the client sets."""

    @property
    def configured(self) -> bool:
        """Whether the engine has everything it needs, such as an API key."""
        if self.api_key_env and not self.settings.api_key:
            return False
        return all(self.option(path) for path in self.required_options)

    @property
    def entered_settings(self) -> tuple[str, ...]:
        """What a person can enter for it on the page: its key or address, and the options that it cannot do without."""
        if self.probed_unconfigured:
            return ("base_url",)
        if self.api_key_env:
            return ("api_key", *self.required_options)
        return ()

    def option(self, path: str) -> Any:
        """The value of one of the engine's own options."""
        declared = next(option for option in self.options if option.path == path)
        return self.settings.options.get(path, declared.default)

    def exchange(self, query: SearchQuery) -> Exchange:
        """Yield the requests for ``query`` and return the results, or raise a ``SuyuanError``."""
        raise NotImplementedError

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse one response of this engine to ``query``, if that is known."""
        raise NotImplementedError

    def probe(self) -> Generator[Request, Response, None] | None:
        """Return an exchange that raises unless the engine works, or None if only a search can tell."""
        return None

    def explain(self, error: SuyuanError) -> SuyuanError:
        """Return the error to raise for a network error of this engine, with a more helpful text if there is one."""
        return error

    def diagnose(self, error: SuyuanError) -> Generator[Request, Response, SuyuanError] | None:
        """Return an exchange that finds the cause of ``error`` with small requests, or None if none can tell more."""
        return None

    @staticmethod
    def today() -> date:
        """The current date, with which relative periods are computed."""
        return datetime.now(UTC).date()

    def require_key(self) -> Secret:
        """Return the API key, or raise the error that says where to configure it."""
        if not self.settings.api_key:
            setting = f"web.providers.{self.name}.apiKey"
            raise KEY_MISSING(engine=self.name, variable=self.api_key_env, setting=setting)
        return self.settings.api_key

    async def search(self, query: SearchQuery | str, num_results: int) -> Sequence[SearchResult]:
        """Search with the network that was set (the ``SearchEngine`` interface)."""
        results = await self.results_of(SearchQuery.of(query, {}))
        return results.results[:num_results]

    async def results_of(
        self, query: SearchQuery, send: Send | None = None, elsewhere: Elsewhere | None = None
    ) -> EngineResults:
        """Search with ``send``, or with the network that was set; large answers are read ``elsewhere``."""
        send = send or self.send
        if send is None:
            raise RuntimeError(f"{self.name} has no network: search with suyuan.Client, or set its `send`")
        return await ask(self, query, send, elsewhere)


class Elsewhere(Protocol):
    """Where the steps of an exchange are taken that could hold up the event loop."""

    def takes(self, response: Response) -> bool:
        """Whether this answer is not read here."""
        ...

    async def step(self, engine: Engine, query: SearchQuery, came: Sequence[Came]) -> Request | EngineResults:
        """What ``repeated`` returns, or raises."""
        ...


async def ask(engine: Engine, query: SearchQuery, send: Send, elsewhere: Elsewhere | None = None) -> EngineResults:
    """Run a search of ``engine``; from an answer on that ``elsewhere`` takes, it is continued there.

    An answer that the engine cannot read, or reads as nothing, is reported by its status or its CAPTCHA if it has one.
    """
    came: list[Came] = []

    async def send_and_look(request: Request) -> Response:
        response = await send(request)
        if elsewhere is not None and elsewhere.takes(response):
            raise _NotHere(response)
        return response

    try:
        results = await drive(engine.exchange(query), send_and_look, came)
    except _NotHere as large:
        assert elsewhere is not None
        return await _continued(engine, query, send, elsewhere, [*came, large.response])
    except Exception as error:
        _explain(error, came, engine.name)
        raise
    return _checked(results, came, engine.name)


def repeated(engine: Engine, query: SearchQuery, came: Sequence[Came]) -> Request | EngineResults:
    """The next request of a search, or its results, after ``came``; raises what ``ask`` does.

    An exchange is sent the same again and does the same again: so a process without a network can take its next step.
    """
    exchange = engine.exchange(query)
    try:
        request = next(exchange)
        for item in came:
            request = exchange.throw(item) if isinstance(item, SuyuanError) else exchange.send(item)
    except StopIteration as done:
        return _checked(done.value, came, engine.name)
    except Exception as error:
        _explain(error, came, engine.name)
        raise
    finally:
        exchange.close()
    return request


class _NotHere(Exception):
    """An answer has come that is not read here."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


async def _continued(
    engine: Engine, query: SearchQuery, send: Send, elsewhere: Elsewhere, came: list[Came]
) -> EngineResults:
    while True:
        step = await elsewhere.step(engine, query, came)
        if isinstance(step, EngineResults):
            return step
        try:
            came.append(await send(step))
        except SuyuanError as error:
            came.append(error)


def _explain(error: Exception, came: Sequence[Came], engine: str) -> None:
    """Raise what the status of the last answer says, where that is more than ``error`` says."""
    response = _last_response(came)
    # A fault in the engine's own code says less than the status of the answer that it could not read.
    is_less_precise = isinstance(error, WebParseError) or not isinstance(error, SuyuanError)
    if response is not None and is_less_precise:
        _check_unread(response, engine)


def _checked(results: EngineResults, came: Sequence[Came], engine: str) -> EngineResults:
    """Return the results; raise if there are none and the status of the last answer says why."""
    response = _last_response(came)
    if not results.results and response is not None and _is_failure(response.status):
        check_status(response, engine)
    return results


def _last_response(came: Sequence[Came]) -> Response | None:
    return next((item for item in reversed(came) if isinstance(item, Response)), None)


def _is_failure(status: int) -> bool:
    """Whether an answer of this status is a failure; one such as 404 may mean that there are no results."""
    is_refusal = status in (401, 403, 429)
    is_redirect = 300 <= status < 400
    return is_refusal or is_redirect or status >= 500


def read(engine: Engine, response: Response, query: SearchQuery | None = None) -> EngineResults:
    """Read one response as ``ask`` does, without a network."""
    try:
        return engine.parse(response, query)
    except WebParseError:
        _check_unread(response, engine.name)
        raise


def _check_unread(response: Response, engine: str) -> None:
    """Raise what the status or the elements of a response say that the engine ``engine`` could not read."""
    check_status(response, engine)
    if is_challenge(response):
        raise CAPTCHA(engine=engine)


async def drive(exchange: Generator[Request, Response, T], send: Send, came: list[Came] | None = None) -> T:
    """Run an exchange to its end, sending each request that it yields with ``send``; ``came`` gets what came of it.

    A failed request raises its error inside the exchange, which may handle it and send another.
    """
    came = [] if came is None else came
    try:
        request = next(exchange)
        while True:
            try:
                response = await send(request)
            except SuyuanError as error:
                came.append(error)
                request = exchange.throw(error)
            else:
                came.append(response)
                request = exchange.send(response)
    except StopIteration as done:
        result: Any = done.value
        return result  # type: ignore[no-any-return]
    finally:
        exchange.close()
