"""The settings of each engine: those of every engine, and the options that the engine itself declares."""

from __future__ import annotations

from functools import cache
from typing import TypeVar, cast

from ..core.engine import EngineSettings
from ..core.errors import SuyuanError
from ..core.setting import Setting, declarations
from ..engines import registry

T = TypeVar("T")

# Other paths in ``config.json`` for the same setting.
ALIASES = {"tools.webSearch.providers.brave.apiKey": "web.providers.brave.apiKey"}

_VARIABLES = {"ddg_html": "DDG", "baidu_html": "BAIDU", "bing_html": "BING"}


def prefixes(name: str) -> tuple[str, str]:
    """The prefixes of the paths and of the variables of the engine ``name``."""
    return f"web.providers.{name}.", _VARIABLES.get(name, name.upper().replace("-", "_")) + "_"


@cache
def common_settings(name: str) -> tuple[Setting, ...]:
    """The settings that the engine ``name`` has like every other."""
    return tuple(one.under(*prefixes(name)) for one in declarations(EngineSettings))


def engine_options(name: str) -> tuple[Setting, ...]:
    """The options that the engine ``name`` declares; this imports the engine."""
    own: tuple[Setting, ...] = _declared(name, "options", ())
    return tuple(one.under(*prefixes(name)) for one in own)


def engine_settings(name: str) -> tuple[Setting, ...]:
    """All settings of the engine ``name``."""
    return common_settings(name) + engine_options(name)


def api_key_variable(name: str) -> str:
    """The variable of the API key that the engine ``name`` needs; empty if it needs none."""
    return _declared(name, "api_key_env", "")


def _declared(name: str, attribute: str, default: T) -> T:
    try:
        return cast(T, getattr(registry.load(name), attribute, default))
    except SuyuanError:
        # A package that cannot be imported is reported when its engine is used.
        return default
