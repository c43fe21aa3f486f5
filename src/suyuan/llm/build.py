"""Builds the LangChain chat model of given settings; its packages are imported here, and no request is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..core.causes.model import (
    MODEL_KEY_MISSING,
    MODEL_NAME_MISSING,
    MODEL_PACKAGE_MISSING,
    MODEL_PROVIDER_UNKNOWN,
    MODEL_PROXY_UNUSABLE,
)
from ..core.causes.network import BAD_URL
from ..messages.catalog import Text
from .errors import base_of, proxy_of, server_of
from .importing import IMPORTING
from .settings import EMBEDDED, ModelSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# Local servers need no key, but some refuse requests without one.
NO_KEY = "none"
_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}


def build_model(settings: ModelSettings) -> BaseChatModel:
    """The chat model that ``settings`` describe; raises a cause if something is missing."""
    build = _BUILDERS.get(settings.provider)
    if build is None:
        raise MODEL_PROVIDER_UNKNOWN(provider=settings.provider, known=", ".join(_BUILDERS))
    if settings.provider != EMBEDDED and not settings.name:
        raise MODEL_NAME_MISSING(provider=settings.provider)
    with IMPORTING:
        return build(settings)


async def close_model(model: BaseChatModel) -> None:
    """Close the connections of ``model``; closing it twice is harmless."""
    if close := getattr(model, "aclose", None):
        await close()


def _embedded(settings: ModelSettings) -> BaseChatModel:
    from ..embedded.model import EmbeddedModel

    return EmbeddedModel()


def _openai(settings: ModelSettings) -> BaseChatModel:
    """Any OpenAI-compatible server."""
    httpx = _package("httpx2", settings)
    _package("langchain_core", settings)
    from .openai_compatible import OpenAICompatibleModel

    official = server_of(settings) == "api.openai.com"
    if official:
        _need_key(settings)
    options: dict[str, Any] = {"model": settings.name}
    if settings.temperature is not None:
        options["temperature"] = settings.temperature
    if settings.max_tokens:
        # The newest models of OpenAI itself refuse ``max_tokens``, and other servers know nothing else.
        options["max_completion_tokens" if official else "max_tokens"] = settings.max_tokens
    headers = {"Authorization": f"Bearer {settings.api_key.reveal() or NO_KEY}", "User-Agent": f"suyuan/{__version__}"}
    try:
        client = httpx.AsyncClient(
            base_url=base_of(settings), headers=headers, follow_redirects=True, **_connection(settings)
        )
    except httpx.InvalidURL:
        raise BAD_URL(url=base_of(settings)[:120], why=Text("network.reason.invalid")) from None
    return OpenAICompatibleModel(client=client, options=options)


def _ollama(settings: ModelSettings) -> BaseChatModel:
    package, pydantic, httpx = (_package(name, settings) for name in ("langchain_ollama", "pydantic", "httpx"))
    transport = httpx.AsyncHTTPTransport(proxy=proxy_of(settings), trust_env=False)

    from .whole_calls import WholeCalls

    class OllamaModel(WholeCalls, package.ChatOllama):  # type: ignore[misc,name-defined]
        """With a transport of its own, and without its headers, which hold the key, when it is printed."""

        client_kwargs: dict[str, Any] | None = pydantic.Field(default=None, repr=False)

        async def aclose(self) -> None:
            await transport.aclose()

    options: dict[str, Any] = {"trust_env": False, "timeout": settings.seconds}
    if settings.api_key:
        options["headers"] = {"Authorization": f"Bearer {settings.api_key.reveal()}"}
    model: BaseChatModel = OllamaModel(
        model=settings.name,
        base_url=base_of(settings).removesuffix("/v1"),
        temperature=settings.temperature,
        num_predict=settings.max_tokens,
        # Without it Ollama cuts the sources off at a small window, and does not say so.
        num_ctx=settings.context_tokens,
        client_kwargs=options,
        async_client_kwargs={"transport": transport},
    )
    return model


def _anthropic(settings: ModelSettings) -> BaseChatModel:
    _need_key(settings)
    package, sdk = _package("langchain_anthropic", settings), _package("anthropic", settings)
    http = sdk.DefaultAsyncHttpxClient(**_connection(settings))

    from .whole_calls import WholeCalls

    class AnthropicModel(WholeCalls, package.ChatAnthropic):  # type: ignore[misc,name-defined]
        """With a client of its own: the library's is shared by all models and takes a proxy from the environment."""

        @cached_property
        def _async_client(self) -> Any:
            return sdk.AsyncClient(
                api_key=settings.api_key.reveal(), base_url=base_of(settings), max_retries=0, http_client=http
            )

        async def aclose(self) -> None:
            await http.aclose()

    options = {"max_tokens": settings.max_tokens} if settings.max_tokens else {}
    model: BaseChatModel = AnthropicModel(
        model=settings.name,
        base_url=base_of(settings),
        api_key=settings.api_key.reveal(),
        temperature=settings.temperature,
        stream_usage=True,
        max_retries=0,
        **options,
    )
    return model


def _google(settings: ModelSettings) -> BaseChatModel:
    _need_key(settings)
    package = _package("langchain_google_genai", settings)
    temperature = 0.7 if settings.temperature is None else settings.temperature

    from .whole_calls import WholeCalls

    class GoogleModel(WholeCalls, package.ChatGoogleGenerativeAI):  # type: ignore[misc,name-defined]
        """Uses HTTP in a thread: the asynchronous client knows gRPC only, with the proxy of the environment."""

        @property
        def async_client(self) -> None:
            return None

        async def aclose(self) -> None:
            self.client.transport.close()

    model: BaseChatModel = GoogleModel(
        model=settings.name,
        google_api_key=settings.api_key.reveal(),
        base_url=settings.base_url or None,
        transport="rest",
        temperature=temperature,
        max_output_tokens=settings.max_tokens,
        timeout=settings.seconds,
        # This library counts the first request too.
        max_retries=1,
    )
    _set_up_google(getattr(model, "client").transport, settings)  # noqa: B009 - a field of the subclass
    return model


def _set_up_google(transport: Any, settings: ModelSettings) -> None:
    """Give Google's transport our proxy, and take away its own retries, which last up to a minute."""
    wrap = import_module("google.api_core.gapic_v1.method").wrap_method
    for method in (transport.generate_content, transport.stream_generate_content):
        transport._wrapped_methods[method] = wrap(method, default_timeout=settings.seconds)
    transport._session.trust_env = False
    if proxy := proxy_of(settings):
        transport._session.proxies = {"http": proxy, "https": proxy}


_BUILDERS: dict[str, Callable[[ModelSettings], BaseChatModel]] = {
    EMBEDDED: _embedded,
    "openai": _openai,
    "ollama": _ollama,
    "anthropic": _anthropic,
    "google": _google,
}


def _connection(settings: ModelSettings) -> dict[str, Any]:
    """How an httpx client connects to the server: by our transport, since its own uses the environment's proxy."""
    from ..net.aiohttp_transport import AiohttpTransport

    proxy = proxy_of(settings)
    if proxy and not proxy.startswith(("http://", "https://")):
        raise MODEL_PROXY_UNUSABLE(what=proxy.partition(":")[0])
    return {"transport": AiohttpTransport(proxy), "timeout": settings.seconds, "trust_env": False}


def _need_key(settings: ModelSettings) -> None:
    if not settings.api_key:
        raise MODEL_KEY_MISSING(where=server_of(settings), variable=_VARIABLES[settings.provider])


def _package(name: str, settings: ModelSettings) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        extra = "chat" if settings.provider == "openai" else settings.provider
        raise MODEL_PACKAGE_MISSING(provider=settings.provider, package=error.name or name, extra=extra) from None
