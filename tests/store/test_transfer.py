"""Moving a store to another database, backing it up and restoring it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from support.postgres import Postgres
from suyuan.cli.main import main
from suyuan.core.errors import SuyuanError
from suyuan.store.conversation import new_id
from suyuan.store.conversations import Store
from suyuan.store.database import Database
from suyuan.store.research import ResearchStore
from suyuan.store.transfer import copy_store, tables


def filled(address: str) -> Store:
    store = Store(address)
    account = store.people.add("anna", "hash", "admin")
    store.people.add_token(account.id, "digest", ("search",))
    store.people.count(account.id, searches=2)
    store.people.note("anna", "login")
    for text in ("第一个问题 😀", "two"):
        id, run = store.create().id, new_id()
        store.begin_turn(id, text, run)
        store.keep_events(run, [(n, {"kind": "x", "n": n}) for n in range(3)])
        store.finish(run, state="done", text="answer", answer={"text": "answer"})
        store.people.add_share(id, run, None)
    research = ResearchStore(address)
    job = research.create("why?", {})
    research.keep(job.id, [("k", "search", {"a": 1})])
    research.close()
    return store


def content(address: str) -> dict[str, list[tuple[object, ...]]]:
    database = Database(address)
    database.open()
    with database.read() as connection:
        found = {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
            for table in tables()
        }
    database.close()
    return found


def test_everything_moves_to_postgresql_and_back(tmp_path: Path, server: Postgres) -> None:
    source, there, back = f"sqlite:///{tmp_path / 'a.sqlite'}", server.fresh(), f"sqlite:///{tmp_path / 'b.sqlite'}"
    filled(source).close()
    counts = copy_store(source, there)
    assert counts["suyuan_conversations"] == 2 and counts["suyuan_events"] == 6 and counts["suyuan_research_steps"] == 1
    copy_store(there, back)
    assert content(source) == content(there) == content(back)
    with pytest.raises(SuyuanError) as caught:
        copy_store(source, there)
    assert caught.value.detail_code == "store_not_empty" and content(there) == content(source)


def test_a_backup_on_the_command_line_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path / 'chat.sqlite'}"
    monkeypatch.setenv("SUYUAN_STORE_URL", store)
    running = filled(store)
    backup = tmp_path / "backup.sqlite"
    assert main(["store", "backup", str(backup)]) == 0 and backup.stat().st_mode & 0o077 == 0
    assert main(["store", "backup", str(backup)]) != 0, "an older backup is not overwritten"
    running.create(title="later")
    running.close()
    monkeypatch.setenv("SUYUAN_STORE_URL", f"sqlite:///{tmp_path / 'new.sqlite'}")
    assert main(["store", "restore", str(tmp_path / "missing")]) != 0
    assert main(["store", "restore", str(backup)]) == 0
    assert len(content(f"sqlite:///{tmp_path / 'new.sqlite'}")["suyuan_conversations"]) == 2
    assert main(["store", "migrate", str(backup), str(tmp_path / "third.sqlite"), "--json"]) == 0
    assert not list(tmp_path.glob("*.part*"))


def test_a_store_that_is_not_there_is_not_copied_as_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUYUAN_STORE_URL", f"sqlite:///{tmp_path / 'none.sqlite'}")
    for command in (
        ("migrate", str(tmp_path / "mistyped.sqlite"), str(tmp_path / "new.sqlite")),
        ("backup", "b.sqlite"),
    ):
        assert main(["store", *command]) == 2
        assert "store_no_backup" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
