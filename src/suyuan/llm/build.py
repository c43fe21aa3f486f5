"""From settings to a LangChain chat model: nothing is imported before, and no request is made by it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..core.causes.model import (
    MODEL_KEY_MISSING,
    MODEL_NAME_MISSING,
    MODEL_PACKAGE_MISSING,
    MODEL_PROVIDER_UNKNOWN,
    MODEL_PROXY_UNUSABLE,
)
from .errors import base_of, proxy_of, server_of
from .settings import EMBEDDED, ModelSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# Local servers want no key, and the client library wants one.
NO_KEY = "none"
_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}


def build_model(settings: ModelSettings) -> BaseChatModel:
    """The chat model that ``settings`` name, ready to be asked; raises a cause where something is missing."""
    build = _BUILDERS.get(settings.provider)
    if build is None:
        raise MODEL_PROVIDER_UNKNOWN(provider=settings.provider, known=", ".join(_BUILDERS))
    if settings.provider != EMBEDDED and not settings.name:
        raise MODEL_NAME_MISSING(provider=settings.provider)
    return build(settings)


async def close_model(model: BaseChatModel) -> None:
    """Close the connections of ``model``; one that has none, or is closed already, is left as it is."""
    for client in _clients(model):
        closing = client.close()
        if inspect.isawaitable(closing):
            await closing


def _clients(model: BaseChatModel) -> Iterator[Any]:
    # Only what was made: the properties of some libraries make a client when they are looked at.
    made: Mapping[str, Any] = {**vars(model), **(model.__pydantic_private__ or {})}
    for name in ("root_async_client", "root_client", "_async_client", "_client"):
        client = made.get(name)
        if callable(getattr(client, "close", None)):
            yield client
    transport = getattr(made.get("client"), "transport", None)
    if transport is not None and callable(getattr(transport, "close", None)):
        yield transport


def _embedded(settings: ModelSettings) -> BaseChatModel:
    from ..embedded.model import EmbeddedModel

    return EmbeddedModel()


def _openai(settings: ModelSettings) -> BaseChatModel:
    """Any OpenAI-compatible server."""
    _package("langchain_deepseek", settings)
    openai = _package("openai", settings)
    from pydantic import SecretStr

    from ..net.aiohttp_transport import AiohttpTransport
    from .openai_compatible import CompatibleModel

    official = server_of(settings) == "api.openai.com"
    if official:
        _need_key(settings)
    # The newest models of OpenAI itself refuse ``max_tokens``, and other servers know nothing else.
    longest: dict[str, Any] = {"max_tokens": settings.max_tokens}
    if official and settings.max_tokens:
        longest = {"extra_body": {"max_completion_tokens": settings.max_tokens}}
    http = _http_options(settings)
    try:
        slow = openai.DefaultHttpxClient(**http)
        fast = openai.DefaultAsyncHttpxClient(
            transport=AiohttpTransport(proxy_of(settings)), timeout=http["timeout"], trust_env=False
        )
    except (ImportError, ValueError) as error:
        raise MODEL_PROXY_UNUSABLE(what=str(error).split(",")[0]).redacted((settings.proxy,)) from None
    model: BaseChatModel = CompatibleModel(
        model=settings.name,
        base_url=base_of(settings),
        api_key=SecretStr(settings.api_key.reveal() or NO_KEY),
        temperature=settings.temperature,
        timeout=http["timeout"],
        stream_usage=True,
        max_retries=0,
        http_client=slow,
        http_async_client=fast,
        **longest,
    )
    return model


def _ollama(settings: ModelSettings) -> BaseChatModel:
    package, pydantic = _package("langchain_ollama", settings), _package("pydantic", settings)

    class LocalModel(package.ChatOllama):  # type: ignore[misc,name-defined]
        """Does not show its client's options, which hold the key and the proxy's password, when it is printed."""

        client_kwargs: dict[str, Any] | None = pydantic.Field(default=None, repr=False)

    http = _http_options(settings)
    if settings.api_key:
        http["headers"] = {"Authorization": f"Bearer {settings.api_key.reveal()}"}
    model: BaseChatModel = LocalModel(
        model=settings.name,
        base_url=base_of(settings).removesuffix("/v1"),
        temperature=settings.temperature,
        num_predict=settings.max_tokens,
        # Without it Ollama cuts the sources off silently at a small window.
        num_ctx=settings.context_tokens,
        client_kwargs=http,
    )
    return model


def _anthropic(settings: ModelSettings) -> BaseChatModel:
    _need_key(settings)
    package, sdk = _package("langchain_anthropic", settings), _package("anthropic", settings)

    class Claude(package.ChatAnthropic):  # type: ignore[misc,name-defined]
        """Clients of its own: the library's are shared by all models and take a proxy out of the environment."""

        @cached_property
        def _client(self) -> Any:
            return sdk.Client(**self._client_params, http_client=sdk.DefaultHttpxClient(**_http_options(settings)))

        @cached_property
        def _async_client(self) -> Any:
            return sdk.AsyncClient(
                **self._client_params, http_client=sdk.DefaultAsyncHttpxClient(**_http_options(settings))
            )

    options = {"max_tokens": settings.max_tokens} if settings.max_tokens else {}
    model: BaseChatModel = Claude(
        model=settings.name,
        base_url=base_of(settings),
        api_key=settings.api_key.reveal(),
        temperature=settings.temperature,
        timeout=settings.seconds,
        stream_usage=True,
        max_retries=0,
        **options,
    )
    return model


def _google(settings: ModelSettings) -> BaseChatModel:
    _need_key(settings)
    package = _package("langchain_google_genai", settings)

    class Gemini(package.ChatGoogleGenerativeAI):  # type: ignore[misc,name-defined]
        """Speaks HTTP in a thread: the asynchronous client speaks gRPC only, which takes its proxy out of the environment."""

        @property
        def async_client(self) -> None:
            return None

    model: BaseChatModel = Gemini(
        model=settings.name,
        google_api_key=settings.api_key.reveal(),
        base_url=settings.base_url or None,
        transport="rest",
        temperature=0.7 if settings.temperature is None else settings.temperature,
        max_output_tokens=settings.max_tokens,
        timeout=settings.seconds,
        # This library counts the first try too.
        max_retries=1,
    )
    _tame(getattr(model, "client").transport, settings)  # noqa: B009 - a field of the subclass, unknown to the type
    return model


def _tame(transport: Any, settings: ModelSettings) -> None:
    """Give Google's transport our proxy, and take away the retries of a minute that it makes in silence."""
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


def _http_options(settings: ModelSettings) -> dict[str, Any]:
    """How the HTTP clients are made: our proxy and not the environment's, none for loopback, and silence limited."""
    return {"trust_env": False, "proxy": proxy_of(settings), "timeout": settings.seconds}


def _need_key(settings: ModelSettings) -> None:
    if not settings.api_key:
        raise MODEL_KEY_MISSING(where=server_of(settings), variable=_VARIABLES[settings.provider])


def _package(name: str, settings: ModelSettings) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        extra = "chat" if settings.provider == "openai" else settings.provider
        raise MODEL_PACKAGE_MISSING(provider=settings.provider, package=error.name or name, extra=extra) from None
