"""The packages that the doctor looks for are the ones that the extras install."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from suyuan.doctor.model import _PACKAGES
from suyuan.doctor.packages import _OPTIONAL

EXTRAS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


@pytest.mark.parametrize(
    ("package", "extra"), sorted({*_OPTIONAL, *((name.replace("_", "-"), extra) for name, extra in _PACKAGES.values())})
)
def test_the_extra_installs_the_package(package: str, extra: str) -> None:
    names = {re.split(r"[\[<>=~! ]", one)[0].lower() for one in EXTRAS[extra]}
    assert package in names
