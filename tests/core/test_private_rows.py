"""Keys and models that were entered on the page survive a damaged file: it is set aside, told, and never overwritten."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError
from suyuan.core.kept_files import tell_missing
from suyuan.core.notices import Notices
from suyuan.llm.connected_models import ConnectedModels
from suyuan.llm.settings import ModelSettings
from suyuan.search.connected_engines import ConnectedEngines

_ROWS = [{"name": f"engine{number}", "api_key": f"key-{number}"} for number in range(3)]
_WHOLE = json.dumps(_ROWS)
# The file cut after each part of it, and with other content.
_DAMAGED = [_WHOLE[:length] for length in range(0, len(_WHOLE), 9)] + [
    "{}",
    "null",
    "[1]",
    '"x"',
    "\udcff",
    "[" * 100_000,
]


def _write(file: Path, content: str) -> None:
    file.write_bytes(content.encode("utf-8", "surrogateescape"))


def _aside(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.damaged-*"))


@pytest.mark.parametrize("content", _DAMAGED, ids=range(len(_DAMAGED)))
def test_a_damaged_file_is_set_aside_and_told(tmp_path: Path, content: str) -> None:
    file = tmp_path / "engine-keys.json"
    _write(file, content)
    engines = ConnectedEngines(file, {})
    engines.add("brave", {"api_key": "new"})
    (aside,) = _aside(tmp_path)
    assert aside.read_bytes() == content.encode("utf-8", "surrogateescape")
    (notice,) = Notices(tmp_path).open()
    assert notice.failure.detail_code == "file_damaged" and str(aside) in notice.failure.message()
    assert ConnectedEngines(file, {}).names() == {"brave"}


def test_what_can_be_read_of_it_is_brought_back(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    good = {"name": "a", "base_url": "http://127.0.0.1:1", "api_key": "key-a"}
    file.write_text(json.dumps([good, {"name": "b"}, 7, {**good, "name": "c"}]))
    assert [model.name for model in ConnectedModels(file, ModelSettings()).all().values()] == ["a", "c"]
    assert [row["name"] for row in json.loads(file.read_text())] == ["a", "c"]
    assert "2 of its entries" in Notices(tmp_path).open()[0].failure.message()


def test_every_file_that_was_set_aside_has_a_name_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "engine-keys.json"
    for content in ("first", "second", "third"):
        file.write_text(content)
        ConnectedEngines(file, {}).all()
    assert sorted(path.read_text() for path in _aside(tmp_path)) == ["first", "second", "third"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_now_is_left_alone(tmp_path: Path) -> None:
    _left_alone(tmp_path, unreadable=lambda file: file.chmod(0))


def test_a_folder_in_place_of_the_file_is_left_alone(tmp_path: Path) -> None:
    def unreadable(file: Path) -> None:
        file.unlink()
        file.mkdir()

    _left_alone(tmp_path, unreadable=unreadable)
    assert (tmp_path / "engine-keys.json").is_dir()


def _left_alone(folder: Path, unreadable: object) -> None:
    file = folder / "engine-keys.json"
    file.write_text(_WHOLE)
    unreadable(file)  # type: ignore[operator]
    engines = ConnectedEngines(file, {"brave": EngineSettings()})
    with pytest.raises(SuyuanError) as refused:
        engines.add("brave", {"api_key": "new"})
    assert refused.value.detail_code == "file_unreadable_now"
    assert _aside(folder) == []
    assert Notices(folder).open()[0].failure.detail_code == "file_unreadable_now"


_FILES = {"engine-keys.json": ConnectedEngines, "models.json": ConnectedModels}
_GOOD = {"name": "a", "base_url": "http://127.0.0.1:1", "api_key": "key-a"}


def _names(file: Path) -> set[str]:
    if file.name == "models.json":
        return {model.name for model in ConnectedModels(file, ModelSettings()).all().values()}
    return set(ConnectedEngines(file, {}).names())


def _told(folder: Path) -> list[str]:
    return [notice.failure.detail_code for notice in Notices(folder).open()]


@pytest.mark.parametrize("seen_by", ["the file's reader", "a look for what is missing", "one that reads already"])
@pytest.mark.parametrize("content", [None, "[]", " [ ]\n", "", "{}"])
@pytest.mark.parametrize("name", _FILES)
def test_entries_that_are_gone_are_told_once(tmp_path: Path, name: str, content: str | None, seen_by: str) -> None:
    file = tmp_path / name
    file.write_text(json.dumps([{**_GOOD, "name": "brave"}]))
    reader = ConnectedEngines(file, {}) if name == "engine-keys.json" else ConnectedModels(file, ModelSettings())
    assert _names(file) == {"brave"}
    reader.all()
    if content is None:
        file.unlink()
    else:
        file.write_text(content)
    for _ in range(3):
        if seen_by == "a look for what is missing":
            tell_missing([tmp_path])
        if seen_by == "one that reads already":
            reader.all()
        assert _names(file) == set()
    wanted = {None: "file_lost", "[]": "file_emptied", " [ ]\n": "file_emptied"}
    assert _told(tmp_path) == [wanted.get(content, "file_damaged")]
    assert str(file) in Notices(tmp_path).open()[0].failure.message()


def test_entries_that_are_removed_on_the_page_are_missed_by_nobody(tmp_path: Path) -> None:
    file = tmp_path / "engine-keys.json"
    engines = ConnectedEngines(file, {})
    engines.add("brave", {"api_key": "new"})
    engines.remove("brave")
    file.unlink()
    assert _names(file) == set() and tell_missing([tmp_path]) == []
    assert _told(tmp_path) == []
