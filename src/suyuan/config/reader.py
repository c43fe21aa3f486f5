"""``SettingReader``: reads any settings class from explicit arguments, the environment and ``config.json``."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from ..core.secret import MASK, Secret
from ..core.setting import InvalidValue, Setting, declaration
from ..messages.catalog import Text
from .settings import ConfigProblem, SettingValue

T = TypeVar("T")

_NOTHING = Text("config.used.nothing")


class SettingReader:
    """Reads settings in the order of precedence, and records the origin of each value and every problem."""

    def __init__(
        self, environ: Mapping[str, str], file: Path, overrides: Mapping[str, Any], aliases: Mapping[str, str]
    ):
        self.environ = environ
        self.file = file
        self.values: dict[str, SettingValue] = {}
        data, problem = read_json(file)
        self.problems: list[ConfigProblem] = [problem] if problem else []
        self._overrides = overrides
        self._in_file = {aliases.get(path, path): value for path, value in _leaves(data)}

    def read(self, settings: type[T], path_prefix: str = "", env_prefix: str = "") -> T:
        """The settings class with every declared field read; other fields keep their defaults."""
        found: dict[str, Any] = {}
        for one in fields(cast(Any, settings)):
            if declared := declaration(one):
                found[one.name] = self.value(declared.under(path_prefix, env_prefix))
            elif is_dataclass(one.default_factory):
                found[one.name] = self.read(cast(type, one.default_factory), path_prefix, env_prefix)
        return settings(**found)

    def value(self, wanted: Setting) -> Any:
        """The first valid value in the order of precedence; the invalid ones are reported."""
        for origin, raw in self._candidates(wanted):
            try:
                checked = wanted.kind.check(raw)
            except InvalidValue as error:
                shown = MASK if wanted.secret else str(raw)[:100]
                self.report(origin, wanted.path, shown, error.reason, Text("config.used.next"))
                continue
            value = Secret(checked) if wanted.secret else checked
            self.record(wanted.path, wanted.show(value), origin)
            return value
        if shown := wanted.show(wanted.default):
            self.record(wanted.path, shown, "default")
        return wanted.default

    def given(self, path: str) -> bool:
        """Whether the setting has a value that is not its default."""
        return self.origin(path) != "default"

    def origin(self, path: str) -> str:
        """The origin of a value that was read."""
        return self.values[path].origin if path in self.values else "default"

    def mentions(self, path_prefix: str, env_prefix: str, known: Collection[Setting] = ()) -> bool:
        """Whether anything with these prefixes is configured that is not among the settings ``known``."""
        paths = {one.path for one in known}
        variables = {one.env for one in known}
        return any(
            path.startswith(path_prefix) and path not in paths for path in (*self._in_file, *self._overrides)
        ) or any(name.startswith(env_prefix) and name not in variables for name in self.environ)

    def names_below(self, prefix: str) -> tuple[str, ...]:
        """The names that the file has directly below ``prefix``, for settings whose names the user chooses."""
        paths = (path.removeprefix(prefix) for path in self._in_file if path.startswith(prefix))
        return tuple(dict.fromkeys(path.partition(".")[0] for path in paths))

    def record(self, path: str, value: str, origin: str) -> None:
        """Record the value of a setting, as it is shown."""
        self.values[path] = SettingValue(path, value, origin)

    def report(self, origin: str, path: str, value: str, reason: Text, fallback: Text | str) -> None:
        """Record a value that cannot be used."""
        self.problems.append(ConfigProblem(origin, path, value, reason, fallback))

    def report_unknown(self, known: Iterable[Setting]) -> None:
        """Report each setting in the file that does not exist, in the sections that hold the settings ``known``."""
        if not self._in_file:
            # Making all that are known takes longer than reading the others.
            return
        paths = {one.path for one in known}
        sections = {_section(path) for path in paths}
        for path in self._in_file:
            if path not in paths and _section(path) in sections:
                from difflib import get_close_matches

                near = get_close_matches(path, paths, 1, 0.75)
                reason = Text("config.why.similar", {"near": near[0]}) if near else Text("config.why.unknown")
                self.report(str(self.file), path, "", reason, _NOTHING)

    def _candidates(self, wanted: Setting) -> Iterator[tuple[str, Any]]:
        if self._overrides.get(wanted.path) is not None:
            yield "argument", self._overrides[wanted.path]
        written = self._in_file.get(wanted.path)
        in_file = [(str(self.file), written)] if written not in (None, "") else []
        raw = self.environ.get(wanted.env, "").strip() if wanted.env else ""
        # Checked in the setting's own unit, so that the same range applies.
        in_environ = [(f"environment {wanted.env}", _scaled(raw, wanted.env_scale))] if raw else []
        yield from in_file + in_environ if wanted.file_first else in_environ + in_file


def read_json(path: Path) -> tuple[dict[str, Any], ConfigProblem | None]:
    """The object in the file at ``path``, empty if there is no such file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}, None
    except json.JSONDecodeError as error:
        location = f"{path}:{error.lineno}:{error.colno}"
        return {}, ConfigProblem(location, "", "", Text("config.why.not_json", {"error": error.msg}), _NOTHING)
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        return {}, ConfigProblem(str(path), "", "", Text("config.why.unreadable", {"error": str(error)}), _NOTHING)
    if not isinstance(data, dict):
        return {}, ConfigProblem(str(path), "", "", Text("config.why.not_object"), _NOTHING)
    return data, None


def _leaves(data: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _section(path: str) -> str:
    """The part of the file that is ours: ``tools`` is shared with other programs, so there it is two names long."""
    names = path.split(".")
    return ".".join(names[:2] if names[0] == "tools" else names[:1])


def _scaled(raw: str, factor: float) -> Any:
    try:
        return float(raw) * factor if factor != 1 else raw
    except ValueError:
        return raw
