"""Notices of lost or changed data: over HTTP, on the page, at the terminal, by the doctor, and for whom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import client, serving, settings_of
from suyuan.cli.main import main
from suyuan.core.causes.archive import ARCHIVE_DAMAGED
from suyuan.core.notices import Notices


def _record(folder: Path, name: str = "archive.sqlite") -> str:
    file = folder / name
    return Notices(folder).add(ARCHIVE_DAMAGED(where=file, why="broken", aside=f"{file}.old", kept=0), file).id


async def test_the_page_shows_a_notice_until_it_is_dismissed(tmp_path: Path) -> None:
    with serving(settings_of(data=tmp_path)) as served:
        async with client(served.url) as ask:
            assert await ask("GET", "/api/notices") == (200, {"notices": []})
            first, second = _record(tmp_path), _record(tmp_path, "library.sqlite")
            _, found = await ask("GET", "/api/notices")
            assert {notice["id"] for notice in found["notices"]} == {first, second}
            assert found["notices"][0]["code"] == "archive_damaged" and "set aside" in found["notices"][0]["message"]
            shown = await (await ask.session.get(ask.url + "/")).text()
            assert f'data-notice="{first}"' in shown and "library.sqlite.old" in shown
            assert await ask("POST", "/api/notices/dismiss", {"id": first}) == (200, {"dismissed": 1})
            shown = await (await ask.session.get(ask.url + "/")).text()
            assert first not in shown and second in shown
            assert await ask("POST", "/api/notices/dismiss", {}) == (200, {"dismissed": 1})
            assert "data-notice" not in await (await ask.session.get(ask.url + "/")).text()


def test_doctor_and_notices_list_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUYUAN_DATA_DIR", str(tmp_path))
    one = _record(tmp_path)
    own = _record(tmp_path / "people" / "p1")
    main(["doctor", "--offline", "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [finding["code"] for finding in found if finding["area"] == "notice"] == ["archive_damaged"]
    assert main(["notices"]) == 0
    out = capsys.readouterr().out
    assert one in out and own in out and "set aside" in out
    assert main(["notices", "--dismiss", own]) == 0
    assert "1 notice was dismissed" in capsys.readouterr().out
    assert main(["notices", "--json"]) == 0
    assert [notice["id"] for notice in json.loads(capsys.readouterr().out)] == [one]
    assert main(["notices", "--dismiss"]) == 0
    capsys.readouterr()
    assert main(["--ui", "zh", "notices"]) == 0 and "没有通知" in capsys.readouterr().out


def test_the_command_that_meets_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUYUAN_DATA_DIR", str(tmp_path))
    (tmp_path / "engine-keys.json").write_text("[{")
    main(["search", "--engine", "stub", "x"])
    err = capsys.readouterr().err
    assert "engine-keys.json was damaged" in err and "What to do" in err
