"""Reading environment and ``config.json`` into ``Settings``; what cannot be used is reported, never passed over."""

from __future__ import annotations

import ipaddress
import json
import logging
import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..chat.settings import AgentLimits, ChatSettings
from ..core.engine import EngineSettings
from ..core.secret import MASK, Secret
from ..engines import registry
from ..llm.settings import EMBEDDED, ModelSettings
from ..messages.catalog import Text
from ..net.transport import BrowserSettings, NetSettings
from .keys import FETCH, KEYS, SAME, SEARCH, InvalidValue, Setting, engine_keys
from .settings import ConfigProblem, PageSettings, SearchSettings, ServerSettings, Settings, SettingValue

log = logging.getLogger("suyuan.config")

FALLBACK = "ddg_html"
NOTHING = Text("config.used.nothing")
_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}


def load_settings(
    environ: Mapping[str, str] | None = None, config_dir: Path | None = None, overrides: Mapping[str, Any] | None = None
) -> Settings:
    """Read everything: ``overrides`` (explicit arguments) before the environment before ``config.json`` before defaults.

    API keys are the exception: ``config.json`` first, then the environment.
    """
    environ = os.environ if environ is None else environ  # noqa: TID251 - this is the room that may
    folder = config_dir or Path(environ.get("SUYUAN_CONFIG_DIR") or _home(environ, "XDG_CONFIG_HOME", ".config"))
    reader = _Reader(environ, folder / "config.json", dict(overrides or {}))
    settings = reader.settings()
    for problem in settings.problems:
        log.warning("%s", problem)
    log.info(
        "configuration loaded: file=%s default=%s problems=%d",
        settings.config_file,
        settings.search.default,
        len(settings.problems),
    )
    return settings


def read_json(path: Path) -> tuple[dict[str, Any], ConfigProblem | None]:
    """The object in the file at ``path``; a file that is not there is an empty one."""
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}, None
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        return {}, ConfigProblem(where, "", "", _why("not_json", error=error.msg), NOTHING)
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        return {}, ConfigProblem(str(path), "", "", _why("unreadable", error=str(error)), NOTHING)
    if not isinstance(data, dict):
        return {}, ConfigProblem(str(path), "", "", _why("not_object"), NOTHING)
    return data, None


def backend_from_environment(environ: Mapping[str, str] | None = None) -> tuple[str, ConfigProblem | None]:
    """The engine of the bare tool provider: ``WEB_SEARCH_BACKEND``, or ``stub`` where it is unset or unknown."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - this is the room that may
    value = environ.get("WEB_SEARCH_BACKEND", "").strip()
    if not value:
        return "stub", None
    name = registry.canonical(value)
    if name in registry.names():
        return name, None
    why = _why("unknown_engine", known=", ".join(registry.names()))
    problem = ConfigProblem("environment", "WEB_SEARCH_BACKEND", value, why, "stub")
    log.warning("%s", problem)
    return "stub", problem


class _Reader:
    """One reading: collects what holds, where it came from, and what was wrong."""

    def __init__(self, environ: Mapping[str, str], path: Path, overrides: dict[str, Any]) -> None:
        self._environ = environ
        self._path = path
        self._overrides = overrides
        self._held: list[SettingValue] = []
        data, problem = read_json(path)
        self._problems: list[ConfigProblem] = [problem] if problem else []
        self._engine_keys = {name: engine_keys(name) for name in registry.names()}
        self._file = {SAME.get(p, p): v for p, v in _leaves(data)}
        self._report_unknown()

    def settings(self) -> Settings:
        values = {key.path: self._value(key) for key in KEYS}
        engines = {name: self._engine(name, keys, values) for name, keys in self._engine_keys.items()}
        return Settings(
            search=SearchSettings(
                default=self._default(values[SEARCH + "defaultProvider"], engines),
                seconds=values[SEARCH + "timeoutSeconds"],
                cache_minutes=values[SEARCH + "cacheTtlMinutes"],
                max_results=values[SEARCH + "maxResults"],
                lang=values[SEARCH + "language"],
                snippet_length=values[SEARCH + "snippetLength"],
            ),
            net=self._net(values),
            pages=self._pages(values),
            browser=BrowserSettings(
                executable=values["web.browser.executable"] or "",
                idle_seconds=values["web.browser.idleSeconds"],
                max_pages=values["web.browser.maxPages"],
            ),
            engines=engines,
            model=self._model(values),
            chat=_chat(values),
            server=ServerSettings(values["server.host"], values["server.port"], Secret(values["server.token"] or "")),
            store_url=Secret(values["store.url"] or ""),
            state_dir=Path(
                self._environ.get("SUYUAN_STATE_DIR") or _home(self._environ, "XDG_STATE_HOME", ".local/state")
            ),
            data_dir=Path(
                self._environ.get("SUYUAN_DATA_DIR") or _home(self._environ, "XDG_DATA_HOME", ".local/share")
            ),
            config_file=self._path if self._path.exists() else None,
            agents_file=self._path.with_name("agents.json"),
            timeout_given=any(h.path == SEARCH + "timeoutSeconds" and h.origin != "default" for h in self._held),
            held=tuple(self._held),
            problems=tuple(self._problems),
        )

    def _value(self, key: Setting) -> Any:
        """The first usable value for ``key`` in the order of precedence; the unusable ones are reported."""
        for origin, raw in self._candidates(key):
            try:
                value = key.check(raw)
            except InvalidValue as error:
                shown = MASK if key.secret else str(raw)[:100]
                self._problems.append(ConfigProblem(origin, key.path, shown, error.why, Text("config.used.next")))
                continue
            self._held.append(SettingValue(key.path, MASK if key.secret else str(value), origin))
            return value
        if key.default is not None:
            self._held.append(SettingValue(key.path, str(key.default) or "auto", "default"))
        return key.default

    def _candidates(self, key: Setting) -> Iterator[tuple[str, Any]]:
        if key.path in self._overrides and self._overrides[key.path] is not None:
            yield "argument", self._overrides[key.path]
        from_file = [(str(self._path), self._file[key.path])] if self._file.get(key.path) not in (None, "") else []
        raw = self._environ.get(key.variable, "").strip() if key.variable else ""
        if raw and key.per_variable != 1:
            # Checked in the setting's own unit, so that the limits are the same.
            from_env = [(f"environment {key.variable}", _scaled(raw, key.per_variable))]
        else:
            from_env = [(f"environment {key.variable}", raw)] if raw else []
        yield from (*from_file, *from_env) if key.path.endswith(".apiKey") else (*from_env, *from_file)

    def _engine(self, name: str, keys: tuple[Setting, ...], values: dict[str, Any]) -> EngineSettings:
        own = {key.path.rpartition(".")[2]: self._value(key) for key in keys}
        # Engines that read pages share the time of web.fetch.
        shared = values[FETCH + "timeoutMs"] if name.endswith("_html") or name == "google" else None
        top = own["topKDefault"]
        return EngineSettings(
            base_url=own["baseUrl"] or "",
            api_key=Secret(own["apiKey"] or ""),
            timeout_ms=own["timeoutMs"] or shared,
            rate_per_minute=own["ratePerMinute"],
            options={"topKDefault": str(top)} if top else {},
        )

    def _default(self, spec: str, engines: Mapping[str, EngineSettings]) -> str:
        """The configured plan; an unknown name or a missing key is a warning and the documented fallback."""
        if spec == "auto":
            return spec
        for part in spec.replace("+", ",").split(","):
            name = registry.canonical(part)
            if name not in registry.names():
                why = _why("unknown_engine", known=", ".join(("auto", *registry.names())))
                self._problems.append(
                    ConfigProblem(
                        self._origin(SEARCH + "defaultProvider"), SEARCH + "defaultProvider", part, why, "auto"
                    )
                )
                return "auto"
            variable = getattr(registry.load(name), "api_key_env", "")
            if variable and not engines[name].api_key and "," not in spec and "+" not in spec:
                why = _why("no_key", where=f"web.providers.{name}.apiKey, {variable}")
                self._problems.append(
                    ConfigProblem(
                        self._origin(SEARCH + "defaultProvider"), SEARCH + "defaultProvider", name, why, FALLBACK
                    )
                )
                return FALLBACK
        return spec

    def _origin(self, path: str) -> str:
        return next((held.origin for held in self._held if held.path == path), "default")

    def _pages(self, values: dict[str, Any]) -> PageSettings:
        defaults = PageSettings()
        networks = []
        for network in values[FETCH + "allowNetworks"] or ():
            try:
                networks.append(str(ipaddress.ip_network(network, strict=False)))
            except ValueError as error:
                where = self._origin(FETCH + "allowNetworks")
                why = _why("network", error=str(error))
                self._problems.append(ConfigProblem(where, FETCH + "allowNetworks", network, why, NOTHING))
        timeout = values[FETCH + "timeoutMs"]
        return PageSettings(
            seconds=timeout / 1000 if timeout else defaults.seconds,
            max_bytes=values[FETCH + "maxBytes"],
            allow_hosts=values[FETCH + "allowHosts"] or (),
            allow_networks=tuple(networks),
            fake_ip=values[FETCH + "fakeIp"],
            robots=values[FETCH + "robots"],
            render=values[FETCH + "render"],
            archive=values["archive.enabled"],
            archive_megabytes=values["archive.maxMegabytes"],
            archive_days=values["archive.maxDays"],
        )

    def _model(self, values: dict[str, Any]) -> ModelSettings:
        name, base_url = values["model.name"] or "", values["model.baseUrl"] or ""
        provider = values["model.provider"] or ("openai" if name or base_url else EMBEDDED)
        if provider != EMBEDDED and not name:
            why = _why("no_model")
            self._problems.append(
                ConfigProblem(self._origin("model.provider"), "model.provider", provider, why, EMBEDDED)
            )
            provider = EMBEDDED
        variable = values["model.apiKeyEnv"] or _KEY_VARIABLES.get(provider, "")
        net = self._net(values)
        return ModelSettings(
            provider=provider,
            name=name if provider != EMBEDDED else "",
            base_url=base_url,
            api_key=Secret(values["model.apiKey"] or self._environ.get(variable, "").strip()),
            temperature=values["model.temperature"],
            max_tokens=values["model.maxTokens"],
            context_tokens=values["model.contextTokens"],
            seconds=values["model.timeoutSeconds"],
            proxy=net.proxy,
            no_proxy=net.no_proxy,
        )

    def _net(self, values: dict[str, Any]) -> NetSettings:
        net = NetSettings()
        proxy = values[FETCH + "proxy"] or self._common_proxy()
        return NetSettings(
            user_agent=values[FETCH + "userAgent"] or net.user_agent,
            proxy=Secret(proxy or ""),
            no_proxy=(*net.no_proxy, *(values[FETCH + "noProxy"] or ())),
            impersonate=values[FETCH + "impersonate"] or "",
        )

    def _common_proxy(self) -> str:
        """The proxy that other programs on this machine use."""
        for variable in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"):
            if raw := self._environ.get(variable, "").strip():
                if raw.startswith(("http://", "https://")):
                    self._held.append(SettingValue(FETCH + "proxy", MASK, f"environment {variable}"))
                    return raw
                where, used = f"environment {variable}", Text("config.used.no_proxy")
                self._problems.append(ConfigProblem(where, FETCH + "proxy", MASK, _why("proxy"), used))
        return ""

    def _report_unknown(self) -> None:
        known = {key.path for key in KEYS} | {key.path for keys in self._engine_keys.values() for key in keys}
        ours = ("tools.webSearch.", "web.", "server.", "archive.", "model.", "chat.", "agent.", "store.")
        for path in self._file:
            if path.startswith(ours) and path not in known:
                near = get_close_matches(path, known, 1, 0.75)
                why = _why("similar", near=near[0]) if near else _why("unknown")
                self._problems.append(ConfigProblem(str(self._path), path, "", why, NOTHING))


def _why(key: str, **params: object) -> Text:
    return Text(f"config.why.{key}", params)


def _chat(values: dict[str, Any]) -> ChatSettings:
    limits = AgentLimits(
        values["agent.maxSearches"], values["agent.maxFetches"], values["agent.seconds"], values["agent.maxTokens"]
    )
    results, length = min(values[SEARCH + "maxResults"], 5), min(values[SEARCH + "snippetLength"], 200)
    return ChatSettings(values["chat.search"], results, length, limits)


def _leaves(data: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _scaled(raw: str, factor: float) -> Any:
    try:
        return float(raw) * factor
    except ValueError:
        return raw


def _home(environ: Mapping[str, str], variable: str, default: str) -> Path:
    base = environ.get(variable)
    return (Path(base) if base else Path(environ.get("HOME") or Path.home()) / default) / "suyuan"
