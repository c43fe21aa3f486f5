"""``load_settings``: the settings from environment and ``config.json``, with the rules that span several settings."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..chat.settings import ChatSettings
from ..core.engine import EngineSettings
from ..core.secret import MASK, Secret
from ..core.setting import Setting, declarations
from ..engines import registry
from ..llm.settings import EMBEDDED, ModelSettings
from ..messages.catalog import Text
from ..net.settings import NetSettings
from ..search.plan import AUTO, names_in
from .engine_settings import ALIASES, common_settings, engine_options, plan_problem, prefixes, unknown_engine
from .focuses import focus_settings, read_focuses
from .reader import SettingReader
from .settings import ConfigProblem, SearchSettings, Settings

log = logging.getLogger("suyuan.config")

DEFAULT_PLAN = "tools.webSearch.defaultProvider"
SEARCH_TIMEOUT = "tools.webSearch.timeoutSeconds"
FALLBACK_ENGINE = "duck-duck-scrape"
"""DuckDuckGo, by the name that the configuration has for it."""

_FETCH_TIMEOUT = "web.fetch.timeoutMs"
_PROXY = "web.fetch.proxy"
# The variables that other programs use, in the order in which they are tried.
_PROXY_VARIABLES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy")
_MODEL_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}


def load_settings(
    environ: Mapping[str, str] | None = None, config_dir: Path | None = None, overrides: Mapping[str, Any] | None = None
) -> Settings:
    """Read everything: ``overrides`` (explicit arguments), then the environment, ``config.json`` and the defaults.

    API keys are the exception: ``config.json`` comes before the environment.
    """
    environ = os.environ if environ is None else environ  # noqa: TID251 - config reads the environment
    folder = config_dir or _folder(environ, "SUYUAN_CONFIG_DIR", "XDG_CONFIG_HOME", ".config")
    file = folder / "config.json"
    settings = _read(SettingReader(environ, file, overrides or {}, ALIASES))
    for problem in settings.problems:
        log.warning("%s", problem)
    log.info(
        "configuration loaded: file=%s default=%s problems=%d",
        settings.config_file,
        settings.search.default,
        len(settings.problems),
    )
    return settings


def backend_from_environment(environ: Mapping[str, str] | None = None) -> tuple[str, ConfigProblem | None]:
    """The plan of the bare tool provider: ``WEB_SEARCH_BACKEND``, or ``stub`` if it is unset or a name is unknown."""
    environ = os.environ if environ is None else environ  # noqa: TID251 - config reads the environment
    plan = environ.get("WEB_SEARCH_BACKEND", "").strip()
    if not plan:
        return "stub", None
    unknown = unknown_engine(names_in(plan) or (plan,))
    if unknown is None:
        return plan, None
    name, reason = unknown
    problem = ConfigProblem("environment", "WEB_SEARCH_BACKEND", name, reason, "stub")
    log.warning("%s", problem)
    return "stub", problem


def _read(reader: SettingReader) -> Settings:
    options = {name: _options(reader, name) for name in registry.names() if reader.mentions(*prefixes(name))}
    reader.report_unknown(_known(reader, options))
    settings = reader.read(Settings)
    focuses = read_focuses(reader)
    engines = {name: _engine(reader, name, options.get(name), settings.pages.timeout_ms) for name in registry.names()}
    net = _net(reader, settings.net)
    environ = reader.environ
    default_plan = _default_plan(reader, settings.search.default, engines)
    config_file = reader.file if reader.file.exists() else None
    return replace(
        settings,
        search=replace(settings.search, default=default_plan, focuses=focuses),
        net=net,
        engines=engines,
        model=_model(reader, settings.model, net),
        chat=_chat(settings.chat, settings.search),
        state_dir=_folder(environ, "SUYUAN_STATE_DIR", "XDG_STATE_HOME", ".local/state"),
        data_dir=_folder(environ, "SUYUAN_DATA_DIR", "XDG_DATA_HOME", ".local/share"),
        config_file=config_file,
        agents_file=reader.file.with_name("agents.json"),
        values=tuple(reader.values.values()),
        problems=tuple(reader.problems),
    )


def _options(reader: SettingReader, name: str) -> tuple[Setting, ...]:
    """The options that the engine declares, if any may be configured: an engine is not imported without need."""
    return engine_options(name) if reader.mentions(*prefixes(name), common_settings(name)) else ()


def _known(reader: SettingReader, options: Mapping[str, tuple[Setting, ...]]) -> Iterator[Setting]:
    yield from declarations(Settings)
    for name in registry.names():
        yield from (*common_settings(name), *options.get(name, ()))
    yield from focus_settings(reader)


def _engine(
    reader: SettingReader, name: str, options: tuple[Setting, ...] | None, fetch_timeout_ms: int
) -> EngineSettings:
    """The settings of an engine; ``options`` is None where nothing of it is configured."""
    path_prefix, env_prefix = prefixes(name)
    own = EngineSettings() if options is None else reader.read(EngineSettings, path_prefix, env_prefix)
    values = {option.path.removeprefix(path_prefix): reader.value(option) for option in options or ()}
    if own.timeout_ms is None and reader.given(_FETCH_TIMEOUT) and _reads_pages(name):
        # Engines that read result pages share the time limit of web.fetch.
        own = replace(own, timeout_ms=fetch_timeout_ms)
    return replace(own, options={key: value for key, value in values.items() if value is not None})


def _reads_pages(name: str) -> bool:
    """Whether a built-in engine reads pages made for people; those of packages are not imported to find out."""
    info = registry.BUILT_IN.get(name)
    return info is not None and (info.reads_pages or info.needs_browser)


def _default_plan(reader: SettingReader, plan: str, engines: Mapping[str, EngineSettings]) -> str:
    """The configured plan; an unknown name or a missing key is reported and replaced, unless it is an argument."""
    if reader.origin(DEFAULT_PLAN) == "argument":
        return plan
    if problem := plan_problem(plan, engines):
        name, reason = problem
        fallback = FALLBACK_ENGINE if name in engines else AUTO
        return _fall_back(reader, DEFAULT_PLAN, name, reason, fallback)
    return plan


def _net(reader: SettingReader, net: NetSettings) -> NetSettings:
    """The proxy that other programs on this machine use is used too, unless there is one for this program."""
    if net.proxy:
        return net
    for variable in _PROXY_VARIABLES:
        proxy = reader.environ.get(variable, "").strip()
        if not proxy:
            continue
        if proxy.startswith(("http://", "https://")):
            reader.record(_PROXY, MASK, f"environment {variable}")
            return replace(net, proxy=Secret(proxy))
        used = Text("config.used.no_proxy")
        reader.report(f"environment {variable}", _PROXY, MASK, Text("config.why.proxy"), used)
    return net


def _model(reader: SettingReader, model: ModelSettings, net: NetSettings) -> ModelSettings:
    provider = model.provider
    if not reader.given("model.provider") and (model.name or model.base_url):
        provider = "openai"
        origin = "model.name" if model.name else "model.baseUrl"
        reader.record("model.provider", provider, origin)
    if provider != EMBEDDED and not model.name:
        provider = _fall_back(reader, "model.provider", provider, Text("config.why.no_model"), EMBEDDED)
    variable = model.api_key_env or _MODEL_KEY_VARIABLES.get(provider, "")
    name = model.name if provider != EMBEDDED else ""
    return replace(
        model,
        provider=provider,
        name=name,
        api_key=model.api_key or Secret(reader.environ.get(variable, "").strip()),
        proxy=net.proxy,
        no_proxy=net.no_proxy,
    )


def _chat(chat: ChatSettings, search: SearchSettings) -> ChatSettings:
    return replace(chat, results=min(search.max_results, 5), snippet_length=min(search.snippet_length, 200))


def _fall_back(reader: SettingReader, path: str, value: str, reason: Text, fallback: str) -> str:
    reader.report(reader.origin(path), path, value, reason, fallback)
    reader.record(path, fallback, "fallback")
    return fallback


def _folder(environ: Mapping[str, str], variable: str, xdg_variable: str, default: str) -> Path:
    if own := environ.get(variable):
        return Path(own)
    base = environ.get(xdg_variable)
    return (Path(base) if base else Path(environ.get("HOME") or Path.home()) / default) / "suyuan"
