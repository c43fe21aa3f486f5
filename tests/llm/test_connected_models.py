"""Models that were connected on the page, in a file that several processes write."""

from __future__ import annotations

from pathlib import Path

from suyuan.llm.connected_models import ConnectedModels
from suyuan.llm.settings import ModelSettings


def test_what_another_process_has_connected_since_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    one, other = (ConnectedModels(file, ModelSettings()) for _ in range(2))
    first, second = (one.settings("http://127.0.0.1:9", name, "key") for name in ("first", "second"))
    one.add(first)
    other.add(second)
    assert set(ConnectedModels(file, ModelSettings()).all()) == {first.label, second.label}
    one.remove(first.label)
    assert set(ConnectedModels(file, ModelSettings()).all()) == {second.label}
