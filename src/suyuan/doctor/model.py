"""Check of the model server by plain HTTP: its list of models, one short answer, streaming, and tool calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ..client import AsyncClient
from ..core.causes import model as causes
from ..core.causes.doctor import MODEL_NO_STREAM
from ..core.errors import SuyuanError
from ..core.secret import Secret
from ..core.wire import Request, Response
from ..engines.json_kit import any_json, texts, value_at
from ..llm.errors import DEFAULT_SERVERS, base_of, model_error, server_of
from ..llm.settings import EMBEDDED, ModelSettings
from ..messages.catalog import Text
from .finding import ERROR, WARNING, Finding, Level

SECONDS = 30.0
_PACKAGES = {
    "openai": ("httpx2", "chat"),
    "ollama": ("langchain_ollama", "ollama"),
    "anthropic": ("langchain_anthropic", "anthropic"),
    "google": ("langchain_google_genai", "google"),
}
_NETWORK_CAUSES = {
    "dns": causes.MODEL_DNS,
    "tls": causes.MODEL_TLS,
    "proxy": causes.MODEL_PROXY,
    "connection_broken": causes.MODEL_CUT,
}
_TOOL = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "Return the time.",
        "parameters": {"type": "object", "properties": {}},
    },
}


class _HttpError(Exception):
    """An error status, in the form in which the model libraries raise it."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.text[:300])
        self.status_code = response.status
        body = any_json(response)
        self.body = body if isinstance(body, Mapping) else None


async def check(client: AsyncClient, *, offline: bool = False, seconds: float = SECONDS) -> list[Finding]:
    """Check whether the configured model can answer; the embedded one always can."""
    settings = client.settings.model
    if settings.provider == EMBEDDED:
        return [Finding.ok("model", Text("doctor.ok.model_embedded"), EMBEDDED)]
    if missing := _missing(settings):
        return [_finding(settings, missing)]
    if offline:
        return [_ok(settings, "model_configured")]
    if settings.provider not in ("openai", "ollama"):
        return [_ok(settings, "model_key_set")]
    return await check_server(client, settings, seconds)


async def check_server(client: AsyncClient, settings: ModelSettings, seconds: float = SECONDS) -> list[Finding]:
    """Check a model on an OpenAI-compatible server: its list, one answer, streaming, tool calls."""
    try:
        async with asyncio.timeout(seconds):
            return await _ServerCheck(client, settings).findings()
    except TimeoutError:
        return [_finding(settings, causes.MODEL_SILENT(where=server_of(settings), seconds=seconds))]


async def listed_models(client: AsyncClient, settings: ModelSettings) -> list[str]:
    """The names of the models that a server offers; raises where it cannot be asked."""
    return await _ServerCheck(client, settings).names()


def _missing(settings: ModelSettings) -> SuyuanError | None:
    package, extra = _PACKAGES.get(settings.provider, ("", ""))
    if package and find_spec(package) is None:
        return causes.MODEL_PACKAGE_MISSING(provider=settings.provider, package=package, extra=extra)
    if not settings.api_key and not settings.base_url and settings.provider not in (EMBEDDED, "ollama"):
        variable = f"{settings.provider.upper()}_API_KEY"
        return causes.MODEL_KEY_MISSING(where=server_of(settings), variable=variable)
    return None


@dataclass(slots=True)
class _ServerCheck:
    """A few small requests to one server; a failure that makes the rest pointless ends them."""

    client: AsyncClient
    settings: ModelSettings
    limit_name: str = "max_tokens"

    async def findings(self) -> list[Finding]:
        try:
            await self._listed()
            await self._answer()
        except SuyuanError as error:
            return [_finding(self.settings, error)]
        problems = []
        for check in (self._streams, self._calls_tools):
            try:
                await check()
            except SuyuanError as error:
                problems.append(_finding(self.settings, error, WARNING))
        return [_ok(self.settings, "model"), *problems]

    async def names(self) -> list[str]:
        response = await self._models()
        if response.status != 200:
            raise self._fault(response)
        return sorted(_names(response))

    async def _listed(self) -> None:
        """Raise where the server has a list of models without this one."""
        response = await self._models()
        if response.status in (401, 403) or response.status >= 500:
            raise self._fault(response)
        # A page in place of JSON: the next request decides.
        names = _names(response)
        wanted = self.settings.name
        is_listed = names & {wanted, f"{wanted}:latest", f"models/{wanted}"}
        if response.status == 200 and names and not is_listed:
            raise self._fault(Response(404, b'{"error": {"message": "model not found", "code": "model_not_found"}}'))

    async def _answer(self) -> None:
        response = await self._ask({self.limit_name: 1})
        if response.status == 400 and "max_completion_tokens" in response.text:
            # The newest models of OpenAI have another name for the limit.
            self.limit_name = "max_completion_tokens"
            response = await self._ask({self.limit_name: 16})
        if response.status != 200:
            raise self._fault(response)
        if not _choices(response):
            raise self._not_a_model()

    async def _streams(self) -> None:
        response = await self._ask({self.limit_name: 16 if self.limit_name != "max_tokens" else 1, "stream": True})
        if response.status != 200 or b"data:" not in response.body:
            raise MODEL_NO_STREAM(where=server_of(self.settings), name=self.settings.label)

    async def _calls_tools(self) -> None:
        response = await self._ask({self.limit_name: 200, "tools": [_TOOL]}, "What time is it? Call get_time.")
        if response.status != 200 or not any("tool_calls" in (c.get("message") or {}) for c in _choices(response)):
            raise causes.MODEL_NO_TOOLS(where=server_of(self.settings), name=self.settings.label)

    async def _models(self) -> Response:
        return await self._send(Request.get(f"{self._base()}/models", headers=self._headers()))

    async def _ask(self, more: Mapping[str, Any], text: str = "Say yes.") -> Response:
        data = {"model": self.settings.name, "messages": [{"role": "user", "content": text}], **more}
        return await self._send(Request.post_json(f"{self._base()}/chat/completions", data, self._headers()))

    async def _send(self, request: Request) -> Response:
        try:
            return await self.client.network.send(request, "model")
        except SuyuanError as error:
            raise self._network_error(error) from None

    def _network_error(self, error: SuyuanError) -> SuyuanError:
        if error.detail_code == "connection_refused":
            return model_error(ConnectionRefusedError(), self.settings)
        if error.detail_code in ("bad_http", "too_large", "undecoded_body"):
            return self._not_a_model()
        if error.detail_code == "guard_refused":
            return error
        return _NETWORK_CAUSES.get(error.detail_code, causes.MODEL_UNREACHABLE)(where=server_of(self.settings))

    def _fault(self, response: Response) -> SuyuanError:
        return model_error(_HttpError(response), self.settings)

    def _not_a_model(self) -> SuyuanError:
        return model_error(json.JSONDecodeError("not an answer of a model", "", 0), self.settings)

    def _base(self) -> str:
        base = base_of(self.settings) or DEFAULT_SERVERS["openai"]
        # Ollama has the OpenAI interface under /v1.
        return base if self.settings.provider != "ollama" or base.endswith("/v1") else f"{base}/v1"

    def _headers(self) -> dict[str, str | Secret]:
        key = self.settings.api_key
        return {"Authorization": Secret(f"Bearer {key.reveal()}")} if key else {}


def _names(response: Response) -> set[str]:
    return set(texts(value_at(any_json(response), "data"), "id"))


def _choices(response: Response) -> list[dict[str, Any]]:
    choices = value_at(any_json(response), "choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def _finding(settings: ModelSettings, error: SuyuanError, level: Level = ERROR) -> Finding:
    return Finding.problem("model", error.redacted((settings.api_key, settings.proxy)), level, settings.label, "models")


def _ok(settings: ModelSettings, text: str) -> Finding:
    params = {"name": settings.label, "where": server_of(settings)}
    return Finding.ok("model", Text(f"doctor.ok.{text}", params), settings.label)
