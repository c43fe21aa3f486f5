"""A setting is declared in one place, and everything else follows from it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from suyuan.config.reader import SettingReader
from suyuan.config.schema import schema_of
from suyuan.config.settings import SettingValue
from suyuan.core.secret import Secret
from suyuan.core.setting import (
    InvalidValue,
    ValueKind,
    choice,
    declarations,
    flag,
    http_url,
    names,
    number,
    setting,
    text,
    whole,
)


@dataclass(frozen=True, slots=True)
class OvenSettings:
    degrees: int = setting("kitchen.oven.degrees", 180, whole(50, 300), "The temperature.", env="OVEN_DEGREES")


@dataclass(frozen=True, slots=True)
class KitchenSettings:
    """Settings that only these tests know: each is one declaration."""

    minutes: float = setting(
        "kitchen.minutes", 3.0, number(1, 60), "How long tea steeps.", env="KITCHEN_SECONDS", env_scale=1 / 60
    )
    pin: Secret = setting("kitchen.pin", Secret(""), text(), "Opens it.", env="KITCHEN_PIN", file_first=True)
    guests: tuple[str, ...] = setting("kitchen.guests", (), names(), "The guests.", empty_text="none")
    oven: OvenSettings = field(default_factory=OvenSettings)
    cups: int = 4


def reader(tmp_path: Path, config: Any, overrides: dict[str, Any] | None = None, **environ: str) -> SettingReader:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    return SettingReader(environ, file, overrides or {}, {})


def test_the_defaults_are_those_of_the_class(tmp_path: Path) -> None:
    found = reader(tmp_path, {})
    assert (
        found.read(KitchenSettings) == KitchenSettings() == KitchenSettings(3.0, Secret(""), (), OvenSettings(180), 4)
    )
    assert found.problems == []
    assert list(found.values.values()) == [
        SettingValue("kitchen.minutes", "3.0", "default"),
        SettingValue("kitchen.guests", "none", "default"),
        SettingValue("kitchen.oven.degrees", "180", "default"),
    ]


def test_values_from_all_sources(tmp_path: Path) -> None:
    config = {"kitchen": {"minutes": 5, "pin": "1234", "guests": ["Ada", "Bo"], "oven": {"degrees": 200}}}
    environ = {"KITCHEN_SECONDS": "120", "KITCHEN_PIN": "9999"}
    found = reader(tmp_path, config, {"kitchen.oven.degrees": 250}, **environ)
    settings = found.read(KitchenSettings)
    assert settings == KitchenSettings(2.0, Secret("1234"), ("Ada", "Bo"), OvenSettings(250))
    file = str(tmp_path / "config.json")
    assert list(found.values.values()) == [
        SettingValue("kitchen.minutes", "2.0", "environment KITCHEN_SECONDS"),
        SettingValue("kitchen.pin", "***", file),
        SettingValue("kitchen.guests", "Ada, Bo", file),
        SettingValue("kitchen.oven.degrees", "250", "argument"),
    ]


def test_invalid_and_unknown_settings_are_reported(tmp_path: Path) -> None:
    found = reader(tmp_path, {"kitchen": {"minute": 1, "oven": {"degrees": 1000}, "pin": 5}, "garden": {"x": 1}})
    found.report_unknown(tuple(declarations(KitchenSettings)))
    assert found.read(KitchenSettings) == KitchenSettings()
    assert [(problem.path, problem.value, problem.reason.localized("en")) for problem in found.problems] == [
        ("kitchen.minute", "", "is not a setting; did you mean kitchen.minutes?"),
        ("kitchen.pin", "***", "must not be empty"),
        ("kitchen.oven.degrees", "1000", "must be a whole number from 50 to 300"),
    ]


def test_the_schema_follows(tmp_path: Path) -> None:
    schema = schema_of({one.path: one for one in declarations(KitchenSettings)})
    degrees = schema["properties"]["kitchen"]["properties"]["oven"]["properties"]["degrees"]
    assert degrees == {
        "type": "integer", "minimum": 50, "maximum": 300, "description": "The temperature. Variable: OVEN_DEGREES.",
        "default": 180,
    }  # fmt: skip
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"kitchen": {"minutes": 5}})
    assert not validator.is_valid({"kitchen": {"minute": 5}}) and not validator.is_valid({"kitchen": {"minutes": 99}})


@pytest.mark.parametrize(
    ("kind", "valid", "invalid"),
    [
        (lambda: number(0, 2), [(1, 1.0), ("0.5", 0.5)], [3, "x", None, True, "nan"]),
        (lambda: whole(1, 5), [(2.0, 2), ("3", 3)], [0, 2.5, "2.5", "inf"]),
        (lambda: text(), [(" a ", "a")], ["", " ", 3]),
        (http_url, [("http://h:1/", "http://h:1")], ["h:1", "ftp://h", "http://h h", "http://h:99999", 3]),
        (flag, [(True, True), ("off", False), ("YES", True), (1, True)], ["maybe", 2, None]),
        (lambda: choice("a", "b"), [(" A ", "a")], ["c", 3]),
        (lambda: names(always=("x",)), [("a, b,", ("x", "a", "b")), (["c"], ("x", "c"))], [3, [3], {"a": 1}]),
        (lambda: names(check_each=int), [("1", ("1",))], ["1,b"]),
    ],
)
def test_kinds(kind: Callable[[], ValueKind], valid: list[tuple[Any, Any]], invalid: list[Any]) -> None:
    check = kind().check
    for raw, value in valid:
        assert check(raw) == value and type(check(raw)) is type(value)
    for raw in invalid:
        with pytest.raises(InvalidValue) as caught:
            check(raw)
        assert re.match("must|has an item", caught.value.reason.localized("en"))


@pytest.mark.parametrize(("variable", "loaded"), [("BOCHA_TOP_K_DEFAULT", True), ("BOCHA_BASE_URL", False)])
def test_an_engine_is_imported_only_for_its_own_options(tmp_path: Path, variable: str, loaded: bool) -> None:
    code = (
        "import sys; from pathlib import Path; from suyuan.config.load import load_settings\n"
        f"load_settings({{'{variable}': '8'}}, Path({str(tmp_path)!r}))\n"
        "print([name for name in sys.modules if name.startswith('suyuan.engines.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ("suyuan.engines.bocha" in done.stdout) is loaded and "ddg_html" not in done.stdout
