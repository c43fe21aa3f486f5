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
        written = {aliases.get(path, path): value for path, value in _leaves(data)}
        self._in_file = {path: value for path, value in written.items() if value != {}}
        self._empty_objects = [path for path, value in written.items() if value == {}]
        self._repeated = list(_repeated(data))

    def read(self, settings: type[T], path_prefix: str = "", env_prefix: str = "") -> T:
        """The settings class with every declared field read; other fields keep their defaults."""
        values: dict[str, Any] = {}
        for item in fields(cast(Any, settings)):
            if declared := declaration(item):
                values[item.name] = self.value(declared.under(path_prefix, env_prefix))
            elif is_dataclass(item.default_factory):
                values[item.name] = self.read(cast(type, item.default_factory), path_prefix, env_prefix)
        return settings(**values)

    def value(self, wanted: Setting) -> Any:
        """The first valid value in the order of precedence; the invalid ones are reported."""
        for origin, raw in self._candidates(wanted):
            try:
                checked = wanted.kind.check(raw)
            except InvalidValue as error:
                shown = MASK if wanted.secret else _shown(raw)
                used = Text("config.used.next")
                self.report(origin, wanted.path, shown, error.reason, used, guards=wanted.guards)
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
        paths = {option.path for option in known}
        variables = {option.env for option in known}
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

    def report(
        self, origin: str, path: str, value: str, reason: Text, fallback: Text | str, *, guards: bool = False
    ) -> None:
        """Record a value that cannot be used."""
        self.problems.append(ConfigProblem(origin, path, value, reason, fallback, guards))

    def report_unknown(self, known: Iterable[Setting]) -> None:
        """Report what in the file is not one of the settings ``known``, in the sections that hold them."""
        if not (self._in_file or self._empty_objects or self._repeated):
            # Making all that are known takes longer than reading the others.
            return
        from .known_settings import KnownSettings

        settings = KnownSettings(known)
        written = [*self._in_file.items(), *((path, {}) for path in self._empty_objects)]
        faults = [(path, settings.fault(path, value)) for path, value in written]
        faults += [(path, settings.repeated(path)) for path in self._repeated]
        for path, fault in faults:
            if fault is not None:
                reason, may_guard = fault
                self.report(str(self.file), path, "", reason, _NOTHING, guards=may_guard)

    def _says(self, wanted: Setting) -> bool:
        """Whether the file has a value for a setting.

        Null stands for none, and so does an empty text; where the setting guards the server, only an empty text does,
        and only where that is its default.
        """
        written = self._in_file.get(wanted.path)
        if wanted.guards and wanted.path in self._in_file:
            return written != "" or wanted.default not in ("", Secret(""), ())
        return written not in (None, "")

    def _candidates(self, wanted: Setting) -> Iterator[tuple[str, Any]]:
        if self._overrides.get(wanted.path) is not None:
            yield "argument", self._overrides[wanted.path]
        in_file = [(str(self.file), self._in_file[wanted.path])] if self._says(wanted) else []
        raw = self.environ.get(wanted.env, "").strip() if wanted.env else ""
        # Checked in the setting's own unit, so that the same range applies.
        in_environ = [(f"environment {wanted.env}", _scaled(raw, wanted.env_scale))] if raw else []
        yield from in_file + in_environ if wanted.file_first else in_environ + in_file


class _RepeatingObject(dict[str, Any]):
    """An object of JSON that has a name more than once; the last value counts."""

    repeated: tuple[str, ...] = ()


def read_json(path: Path) -> tuple[dict[str, Any], ConfigProblem | None]:
    """The object in the file at ``path``, empty if there is no such file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_object)
    except FileNotFoundError as error:
        if _leads_nowhere(path):
            return {}, _file_problem(str(path), Text("config.why.unreadable", {"error": str(error)}))
        return {}, None
    except json.JSONDecodeError as error:
        location = f"{path}:{error.lineno}:{error.colno}"
        return {}, _file_problem(location, Text("config.why.not_json", {"error": error.msg}))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        return {}, _file_problem(str(path), Text("config.why.unreadable", {"error": str(error)}))
    if not isinstance(data, dict):
        return {}, _file_problem(str(path), Text("config.why.not_object"))
    return data, None


def _leads_nowhere(path: Path) -> bool:
    """Whether the file is missing because a link is broken: then there was meant to be one."""
    return any(place.is_symlink() and not place.exists() for place in (path, *path.parents))


def _file_problem(location: str, reason: Text) -> ConfigProblem:
    # Any setting may be in a file that cannot be read.
    return ConfigProblem(location, "", "", reason, _NOTHING, guards=True)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) == len(names):
        return dict(pairs)
    made = _RepeatingObject(pairs)
    made.repeated = tuple(name for name in made if names.count(name) > 1)
    return made


def _repeated(data: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The paths that are in the file more than once."""
    if isinstance(data, _RepeatingObject):
        yield from (prefix + name for name in data.repeated)
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _repeated(value, f"{prefix}{name}.")


def _leaves(data: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """What the file has, by its path; an object only where it is empty."""
    for name, value in data.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _shown(raw: Any) -> str:
    return "null" if raw is None else str(raw)[:100]


def _scaled(raw: str, factor: float) -> Any:
    try:
        return float(raw) * factor if factor != 1 else raw
    except ValueError:
        return raw
