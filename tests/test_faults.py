"""The seeded faults of ``make mutants`` fit the source as it is."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from faults import FAULTS, Fault
from mutants import arguments_for, files_by_requirement, places
from requirements import documented

ROOT = Path(__file__).resolve().parent.parent
SEEDED = ("C", "D", "P", "T", "G")
"""The areas of docs/requirements.md each of whose requirements must have several faults."""
_FEWEST = 2


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.shown_by}: {fault.breaks}")
def test_a_fault_can_be_seeded_and_has_tests(fault: Fault) -> None:
    assert places(fault) == 1, f"{fault.file} has {places(fault)} times: {fault.text!r}"
    assert fault.text != fault.replacement
    if fault.file.endswith(".py"):
        source = (ROOT / "src" / "suyuan" / fault.file).read_text(encoding="utf-8")
        ast.parse(source.replace(fault.text, fault.replacement))
    files = [argument for argument in arguments_for(fault) if not argument.startswith("--")]
    assert files and all((ROOT / file.partition("::")[0]).is_file() for file in files)


def test_there_are_many_of_them() -> None:
    assert len(FAULTS) >= 40 and len({fault.shown_by for fault in FAULTS}) >= 40


@pytest.mark.parametrize("area", SEEDED)
def test_each_requirement_has_faults_that_its_own_tests_must_notice(area: str) -> None:
    document = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
    wanted = [name for name in documented(document) if name.startswith(area)]
    # Two entries with the same edit are one fault.
    seeded = Counter(name for name, *_ in {(f.shown_by, f.file, f.text, f.replacement) for f in FAULTS})
    assert wanted
    assert [name for name in wanted if seeded[name] < _FEWEST] == []
    assert [name for name in wanted if not files_by_requirement().get(name)] == []
