"""The settings of each engine: those of every engine, and the options that the engine itself declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TypeVar

from ..core.engine import EngineSettings
from ..core.errors import SuyuanError
from ..core.result import ARCHIVE, LIBRARY
from ..core.setting import Setting, declarations
from ..engines import registry
from ..engines.engine_info import said
from ..messages.catalog import Text
from ..search.plan import AUTO, names_in

T = TypeVar("T")

# Other paths in ``config.json`` for the same setting.
ALIASES = {"tools.webSearch.providers.brave.apiKey": "web.providers.brave.apiKey"}


def prefixes(name: str) -> tuple[str, str]:
    """The prefixes of the paths and of the variables of the engine ``name``."""
    built_in = registry.BUILT_IN.get(name)
    variables = built_in.env_prefix if built_in else ""
    if not variables:
        variables = name.upper().replace("-", "_")
    return f"web.providers.{name}.", f"{variables}_"


@cache
def common_settings(name: str) -> tuple[Setting, ...]:
    """The settings that the engine ``name`` has like every other."""
    return tuple(option.under(*prefixes(name)) for option in declarations(EngineSettings))


def engine_options(name: str) -> tuple[Setting, ...]:
    """The options that the engine ``name`` declares; this imports the engine."""
    own: tuple[Setting, ...] = _declared(name, "options", ())
    return tuple(option.under(*prefixes(name)) for option in own if isinstance(option, Setting))


def engine_settings(name: str) -> tuple[Setting, ...]:
    """All settings of the engine ``name``."""
    return common_settings(name) + engine_options(name)


def api_key_variable(name: str) -> str:
    """The variable of the API key that the engine ``name`` needs; empty if it needs none."""
    return _declared(name, "api_key_env", "")


def plan_problem(plan: str, engines: Mapping[str, EngineSettings]) -> tuple[str, Text] | None:
    """The engine of a plan that cannot be asked, and why: nobody knows it, or it is the only one and has no key."""
    names = names_in(plan) or (plan,)
    if unknown := unknown_engine(names):
        return unknown
    if len(names) == 1 and (variable := api_key_variable(names[0])) and not engines[names[0]].api_key:
        return names[0], Text("config.why.no_key", {"where": f"web.providers.{names[0]}.apiKey, {variable}"})
    return None


def unknown_engine(names: Iterable[str]) -> tuple[str, Text] | None:
    """The first of ``names`` that a plan cannot have, and why."""
    known = (AUTO, *registry.names(), ARCHIVE, LIBRARY)
    reason = Text("config.why.unknown_engine", {"known": ", ".join(known)})
    return next(((name, reason) for name in names if name not in known), None)


def _declared(name: str, attribute: str, default: T) -> T:
    try:
        return said(registry.load(name), attribute, default)
    except SuyuanError:
        # A package that cannot be imported is reported when its engine is used.
        return default
