"""The model server: reachable, the model there, one token of an answer, streaming, and tool calls; by plain HTTP."""

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
from ..llm.errors import DEFAULT_SERVERS, base_of, model_fault, server_of
from ..llm.settings import EMBEDDED, ModelSettings
from ..messages.catalog import Text
from .finding import ERROR, WARNING, Finding, Level

SECONDS = 30.0
_PACKAGES = {"openai": ("openai", "chat"), "ollama": ("langchain_ollama", "ollama"),
             "anthropic": ("langchain_anthropic", "anthropic"), "google": ("langchain_google_genai", "google")}  # fmt: skip
_NET = {
    "dns": causes.MODEL_DNS,
    "tls": causes.MODEL_TLS,
    "proxy": causes.MODEL_PROXY,
    "connection_broken": causes.MODEL_CUT,
}
_TOOL = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "Tells the time.",
        "parameters": {"type": "object", "properties": {}},
    },
}


class _Refused(Exception):
    """An answer that is no success, as the model libraries would raise it."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.text[:300])
        self.status_code = response.status
        try:
            body = response.json()
        except ValueError:
            body = None
        self.body = body if isinstance(body, Mapping) else None


async def examine(client: AsyncClient, *, offline: bool = False, seconds: float = SECONDS) -> list[Finding]:
    """Whether the configured model can answer; the embedded one always can."""
    settings = client.settings.model
    if settings.provider == EMBEDDED:
        return [Finding.well("model", Text("doctor.ok.model_embedded"), EMBEDDED)]
    if missing := _missing(settings):
        return [_finding(settings, missing)]
    if offline:
        return [_well(settings, "model_configured")]
    if settings.provider not in ("openai", "ollama"):
        return [_well(settings, "model_key_set")]
    try:
        async with asyncio.timeout(seconds):
            return await _Talk(client, settings).findings()
    except TimeoutError:
        return [_finding(settings, causes.MODEL_SILENT(where=server_of(settings), seconds=seconds))]


def _missing(settings: ModelSettings) -> SuyuanError | None:
    package, extra = _PACKAGES.get(settings.provider, ("", ""))
    if package and find_spec(package) is None:
        return causes.MODEL_PACKAGE_MISSING(provider=settings.provider, package=package, extra=extra)
    if not settings.api_key and not settings.base_url and settings.provider not in (EMBEDDED, "ollama"):
        variable = f"{settings.provider.upper()}_API_KEY"
        return causes.MODEL_KEY_MISSING(where=server_of(settings), variable=variable)
    return None


@dataclass(slots=True)
class _Talk:
    """A few small questions to one server; the first failure that makes the rest pointless ends it."""

    client: AsyncClient
    settings: ModelSettings
    longest: str = "max_tokens"

    async def findings(self) -> list[Finding]:
        if error := await self._listed() or await self._answer():
            return [_finding(self.settings, error)]
        problems = [
            _finding(self.settings, error, WARNING)
            for error in (await self._streams(), await self._calls_tools())
            if error is not None
        ]
        return [_well(self.settings, "model"), *problems]

    async def _listed(self) -> SuyuanError | None:
        """Whether the server lists the model; servers that keep no list are believed."""
        response = await self._send(Request.get(f"{self._base()}/models", headers=self._headers()))
        if isinstance(response, SuyuanError):
            return response
        if response.status in (401, 403) or response.status >= 500:
            return self._fault(response)
        try:
            data = response.json()
        except ValueError:
            # A page in place of JSON: the answer to a question decides.
            return None
        rows = data.get("data") if isinstance(data, dict) else None
        names = {str(row.get("id")) for row in rows if isinstance(row, dict)} if isinstance(rows, list) else set()
        wanted = self.settings.name
        if response.status != 200 or not names or names & {wanted, f"{wanted}:latest", f"models/{wanted}"}:
            return None
        return self._fault(Response(404, b'{"error": {"message": "model not found", "code": "model_not_found"}}'))

    async def _answer(self) -> SuyuanError | None:
        response = await self._ask({self.longest: 1})
        if isinstance(response, SuyuanError):
            return response
        if response.status == 400 and "max_completion_tokens" in response.text:
            # The newest models of OpenAI know the limit by another name.
            self.longest = "max_completion_tokens"
            response = await self._ask({self.longest: 16})
            if isinstance(response, SuyuanError):
                return response
        if response.status != 200:
            return self._fault(response)
        return None if _choices(response) else self._not_a_model()

    async def _streams(self) -> SuyuanError | None:
        response = await self._ask({self.longest: 16 if self.longest != "max_tokens" else 1, "stream": True})
        if isinstance(response, SuyuanError):
            return response
        if response.status == 200 and b"data:" in response.body:
            return None
        return MODEL_NO_STREAM(where=server_of(self.settings), name=self.settings.label)

    async def _calls_tools(self) -> SuyuanError | None:
        response = await self._ask({self.longest: 200, "tools": [_TOOL]}, "What time is it? Call get_time.")
        if isinstance(response, SuyuanError):
            return response
        if response.status == 200 and any("tool_calls" in (c.get("message") or {}) for c in _choices(response)):
            return None
        return causes.MODEL_NO_TOOLS(where=server_of(self.settings), name=self.settings.label)

    async def _ask(self, more: Mapping[str, Any], text: str = "Say yes.") -> Response | SuyuanError:
        data = {"model": self.settings.name, "messages": [{"role": "user", "content": text}], **more}
        return await self._send(Request.post_json(f"{self._base()}/chat/completions", data, self._headers()))

    async def _send(self, request: Request) -> Response | SuyuanError:
        try:
            return await self.client.network.send(request, "model")
        except SuyuanError as error:
            return self._unreached(error)

    def _unreached(self, error: SuyuanError) -> SuyuanError:
        where = server_of(self.settings)
        if error.detail_code == "connection_refused":
            return model_fault(ConnectionRefusedError(), self.settings)
        if error.detail_code in ("bad_http", "too_large", "undecoded_body"):
            return self._not_a_model()
        cause = _NET.get(error.detail_code, causes.MODEL_UNREACHABLE)
        return cause(where=where)

    def _fault(self, response: Response) -> SuyuanError:
        return model_fault(_Refused(response), self.settings)

    def _not_a_model(self) -> SuyuanError:
        return model_fault(json.JSONDecodeError("no answer of a model", "", 0), self.settings)

    def _base(self) -> str:
        base = base_of(self.settings) or DEFAULT_SERVERS["openai"]
        # Ollama has the common interface under /v1, beside its own.
        return base if self.settings.provider != "ollama" or base.endswith("/v1") else f"{base}/v1"

    def _headers(self) -> dict[str, str | Secret]:
        key = self.settings.api_key
        return {"Authorization": Secret(f"Bearer {key.reveal()}")} if key else {}


def _choices(response: Response) -> list[dict[str, Any]]:
    try:
        data = response.json()
    except ValueError:
        return []
    choices = data.get("choices") if isinstance(data, dict) else None
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def _finding(settings: ModelSettings, error: SuyuanError, level: Level = ERROR) -> Finding:
    return Finding.ill("model", error.redacted((settings.api_key, settings.proxy)), level, settings.label, "models")


def _well(settings: ModelSettings, text: str) -> Finding:
    params = {"name": settings.label, "where": server_of(settings)}
    return Finding.well("model", Text(f"doctor.ok.{text}", params), settings.label)
