"""``suyuan library``: add, list, update and remove documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suyuan.cli.main import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATA", "STATE", "CONFIG"):
        monkeypatch.setenv(f"SUYUAN_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("SUYUAN_UI", "en")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Otters\n\nOtters hold hands while they sleep.")
    (notes / "bad.docx").write_bytes(b"PK\x03\x04")
    return notes


def test_a_folder_from_adding_to_removing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["library", "list"]) == 1 and "suyuan library add" in capsys.readouterr().out
    assert main(["library", "add", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert "1 read" in out and "1 could not be read" in out and "notes/bad.docx: " in err
    assert main(["library", "list"]) == 0
    shown = capsys.readouterr().out
    assert "Otters  notes/a.md" in shown and "damaged" in shown
    assert main(["search", "--focus", "mine", "otters sleep hands"]) == 0
    assert "notes/a.md" in capsys.readouterr().out
    (folder / "bad.docx").unlink()
    assert main(["library", "update"]) == 0 and "1 unchanged, 1 removed" in capsys.readouterr().out
    assert main(["library", "list", "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert document["title"] == "Otters" and document["url"].endswith("/a.md")
    assert main(["library", "remove", str(folder)]) == 0 and "1 document was" in capsys.readouterr().out
    assert main(["library", "remove", str(folder)]) == 2
    assert main(["library", "add", str(folder / "none.md")]) == 2 and "no_such_file" in capsys.readouterr().err
