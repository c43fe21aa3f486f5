"""What an engine is: the ``SearchEngine`` interface, and the base of the house's own engines, which do no I/O."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from .causes.engine import KEY_MISSING
from .errors import SuyuanError
from .query import SearchQuery
from .result import EngineResults, SearchResult
from .secret import Secret
from .setting import Setting, http_url, number, setting, text, whole
from .wire import Request, Response

Exchange = Generator[Request, Response, EngineResults]
Send = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


@runtime_checkable
class SearchEngine(Protocol):
    """All that an engine must be: a name, and a search that gives results or raises one of our errors."""

    name: str

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        """Return at most ``num_results`` results for ``query``."""
        ...


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The configuration of one engine; an empty field means the engine's own default.

    The paths are relative to ``web.providers.NAME.``, the variables to ``NAME_``.
    """

    base_url: str = setting("baseUrl", "", http_url(), "The address of the engine.", env="BASE_URL")
    api_key: Secret = setting(
        "apiKey", Secret(""), text("key"), "The API key of the engine.", env="API_KEY", file_first=True
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
    """An engine as a generator: it yields requests, is sent responses, and returns what it found.

    It knows a page's or an interface's shape and never a socket, so a test hands it a saved page.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    default_url: ClassVar[str]
    """The address used where configuration gives no other."""
    api_key_env: ClassVar[str] = ""
    """The environment variable of its API key; empty for an engine that needs none."""
    supported_params: ClassVar[frozenset[str]] = frozenset()
    """The optional query parameters that it can pass on."""
    rate_per_minute: ClassVar[float | None] = None
    """How often it may be asked where configuration does not say."""
    burst: ClassVar[int] = 1
    """How many of those requests may come at once."""
    via_browser: ClassVar[bool] = False
    """Whether its pages are shown in a browser, which must be installed."""
    redirect_hosts: ClassVar[tuple[str, ...]] = ()
    """Other hosts of the same engine that it may redirect to."""
    options: ClassVar[tuple[Setting, ...]] = ()
    """The engine's own settings, with paths and variables relative to those of ``EngineSettings``."""

    def __init__(self, settings: EngineSettings | None = None) -> None:
        self.settings = settings or EngineSettings()
        self.base_url = (self.settings.base_url or self.default_url).rstrip("/")
        self.send: Send | None = None
        """The network, given by whoever joins the house together; an engine never makes one."""

    @property
    def configured(self) -> bool:
        """Whether everything it needs to be asked is there."""
        return not self.api_key_env or bool(self.settings.api_key)

    def option(self, path: str) -> Any:
        """The value of one of the engine's own options."""
        declared = next(one for one in self.options if one.path == path)
        return self.settings.options.get(path, declared.default)

    def exchange(self, query: SearchQuery) -> Exchange:
        """Yield the requests for ``query`` and return what was found, or raise one of our errors."""
        raise NotImplementedError

    def read(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Read one answer of this engine; ``query`` is what was asked, where that is known."""
        raise NotImplementedError

    def probe(self) -> Generator[Request, Response, None] | None:
        """Return an exchange that raises unless the engine is well, or None where asking it is the only test."""
        return None

    def explain(self, error: SuyuanError) -> SuyuanError:
        """``error`` of the network, in the words that help with this engine."""
        return error

    def require_key(self) -> Secret:
        """Return the API key, or raise the error that says where to put it."""
        if not self.settings.api_key:
            setting = f"web.providers.{self.name}.apiKey"
            raise KEY_MISSING(engine=self.name, variable=self.api_key_env, setting=setting)
        return self.settings.api_key

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        """Search with the network this engine was given (the ``SearchEngine`` interface)."""
        if self.send is None:
            raise RuntimeError(f"{self.name} has no network: take it from suyuan.open_house(), or set its `send`")
        found = await drive(self.exchange(query), self.send)
        return found.results[:num_results]


async def drive(exchange: Generator[Request, Response, T], send: Send) -> T:
    """Run an exchange to its end, sending each request it yields through ``send``."""
    try:
        request = next(exchange)
        while True:
            request = exchange.send(await send(request))
    except StopIteration as done:
        result: Any = done.value
        return result  # type: ignore[no-any-return]
    finally:
        exchange.close()
