"""Moving a store to another database, backing it up and restoring it."""

from __future__ import annotations

import random
import resource
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Table, insert, inspect, select, text

from pages.test_archive import doc
from support.postgres import Postgres
from support.timing import until
from suyuan.cli.main import main
from suyuan.core.document import Cut
from suyuan.core.errors import SuyuanError
from suyuan.pages.archive import Archive
from suyuan.store import migrations, tables
from suyuan.store.archive import StoredArchives
from suyuan.store.conversation import new_id
from suyuan.store.conversations import Store
from suyuan.store.database import Database
from suyuan.store.research import ResearchStore
from suyuan.store.transfer import copy_store
from suyuan.store.transfer_units import tables as all_tables


def filled(address: str) -> Store:
    store = Store(address)
    account = store.people.add("anna", "hash", "admin")
    store.people.add_token(account.id, "digest", ("search",))
    store.people.count(account.id, {"searches": 2})
    store.people.note("anna", "login")
    for question in ("第一个问题 😀", "two"):
        id, run = store.create().id, new_id()
        store.begin_turn(id, question, run)
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
            for table in all_tables()
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


def many(address: str, conversations: int) -> None:
    """Conversations with messages and events, as many rows as take a while."""
    database = Database.opened(address)
    made: dict[Table, list[dict[str, object]]] = {tables.conversations: [], tables.messages: [], tables.events: []}
    now = "2026-11-18T10:00:00.000000+00:00"
    for number in range(conversations):
        id, run = f"{number:016}", f"r{number:015}"
        texts = {name: "" for name in ("engine", "model", "focus", "person")}
        dates = {"created_at": now, "updated_at": now}
        about = {"id": id, "title": f"t {number}", "mode": "chat", "search": number % 2 == 0, "lang": "zh"}
        made[tables.conversations].append({**about, **texts, **dates})
        message = {"id": run, "conversation": id, "role": "assistant", "text": f"灯塔 {number} " * 20, "state": "done"}
        more = {"created_at": now, "kept_at": now, "position": 0, "stopping": False, "answer": '{"a": "\\u0000"}'}
        made[tables.messages].append({**message, **more})
        made[tables.events] += [{"run": run, "seq": seq, "event": '{"n": 1}'} for seq in range(3)]
    with database.write() as writing:
        for table, new in made.items():
            writing.execute(insert(table), new)
    database.close()


def copied_rows(address: str) -> int | None:
    """How many rows an unfinished copy has; None where there is none yet, or it is whole."""
    database = Database(address)
    try:
        with database.read() as reading:
            if not migrations.is_unfinished(migrations.revision(reading)):
                return None
            return int(reading.execute(text("SELECT sum(rows) FROM suyuan_transfer")).scalar() or 0)
    finally:
        database.close()


def _migrate(source: str, target: str) -> list[str]:
    return [sys.executable, "-m", "suyuan", "store", "migrate", source, target]


@pytest.mark.parametrize("to_server", [True, False])
def test_a_copy_that_is_killed_cannot_be_used_and_goes_on_when_it_is_started_again(
    tmp_path: Path, server: Postgres, to_server: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = f"sqlite:///{tmp_path / 'a.sqlite'}"
    many(file, 15_000)
    source = file
    if not to_server:
        source = server.fresh()
        copy_store(file, source)
    target = server.fresh() if to_server else f"sqlite:///{tmp_path / 'b.sqlite'}"
    chosen, done = random.Random(7), 0
    while done < 45_000:
        wanted = chosen.randrange(done + 1, done + 30_000)
        with subprocess.Popen(_migrate(source, target), stderr=subprocess.DEVNULL) as running:
            assert until(lambda wanted=wanted: (copied_rows(target) or 0) >= wanted)  # type: ignore[misc]
            running.kill()
        kept = copied_rows(target)
        assert kept is not None and kept >= max(done, wanted), "what was copied stays, and is gone on with"
        done = kept
        with pytest.raises(SuyuanError) as caught:
            Store(target)
        assert caught.value.detail_code == "store_unfinished", "nobody takes a part for the whole"
    monkeypatch.setenv("SUYUAN_STORE_URL", target)
    assert main(["users", "list"]) == 3 and main(["backup", str(tmp_path / "b")]) == 3
    assert main(["store", "migrate", source, target]) == 0
    assert content(source) == content(target) and main(["users", "list"]) == 0
    assert "suyuan_transfer" not in tables_of(target)


def tables_of(address: str) -> list[str]:
    database = Database.opened(address)
    with database.read() as reading:
        names = inspect(reading).get_table_names()
    database.close()
    return names


@pytest.mark.parametrize("change", ["a row", "a row less", "a row more", "another store"])
def test_what_has_changed_since_the_copy_was_ended_is_copied_again(
    tmp_path: Path, server: Postgres, change: str
) -> None:
    source, target = f"sqlite:///{tmp_path / 'a.sqlite'}", server.fresh()
    many(source, 12_000)
    with subprocess.Popen(_migrate(source, target), stderr=subprocess.DEVNULL) as running:
        assert until(lambda: (copied_rows(target) or 0) > 30_000)
        running.kill()
    changes = {
        "a row": "UPDATE suyuan_messages SET text = 'x' WHERE id = 'r000000000000007'",
        "a row less": "DELETE FROM suyuan_conversations WHERE id = '0000000000000003'",
        "a row more": "INSERT INTO suyuan_events VALUES ('r000000000000001', -1, 'x')",
    }
    if change in changes:
        with closing(sqlite3.connect(tmp_path / "a.sqlite")) as db, db:
            db.execute("PRAGMA foreign_keys=ON")
            db.execute(changes[change])
    else:
        source = f"sqlite:///{tmp_path / 'b.sqlite'}"
        filled(source).close()
    copy_store(source, target)
    assert content(source) == content(target)


def test_a_server_that_writes_meanwhile_disturbs_no_copy(tmp_path: Path, server: Postgres) -> None:
    source = server.fresh()
    store = filled(source)
    many(source, 3_000)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            id, run = store.create().id, new_id()
            store.begin_turn(id, "why?", run)
            store.keep_events(run, [(0, {"kind": "x"})])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            # Were the tables read at different moments, messages would come without their conversations.
            copy_store(source, f"sqlite:///{tmp_path / f'{number}.sqlite'}")
    finally:
        stop.set()
        writer.join()
        store.close()


def test_two_copies_to_one_place_do_not_mix(tmp_path: Path, server: Postgres) -> None:
    source, target = f"sqlite:///{tmp_path / 'a.sqlite'}", server.fresh()
    many(source, 8_000)
    both = [subprocess.Popen(_migrate(source, target), stderr=subprocess.DEVNULL) for _ in range(2)]
    codes = [each.wait() for each in both]
    assert 0 in codes or main(["store", "migrate", source, target]) == 0
    assert content(source) == content(target)


def test_a_full_disk_ends_a_copy_that_goes_on_when_there_is_room(tmp_path: Path) -> None:
    source, target = f"sqlite:///{tmp_path / 'a.sqlite'}", f"sqlite:///{tmp_path / 'b' / 'b.sqlite'}"
    many(source, 8_000)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))

    done = subprocess.run(
        _migrate(source, target), capture_output=True, text=True, preexec_fn=limited, check=False
    )  # fmt: skip
    assert done.returncode == 3 and ("store_full" in done.stderr or "not_writable" in done.stderr), done.stderr
    with pytest.raises(SuyuanError):
        Store(target)
    assert main(["store", "migrate", source, target]) == 0 and content(source) == content(target)


def test_archives_move_to_a_server_and_back_with_everything_in_them(tmp_path: Path, server: Postgres) -> None:
    address = f"sqlite:///{tmp_path / 'chat.sqlite'}"
    store = filled(address)
    person = store.people.all()[0].id
    store.close()
    long = " ".join(f"word{n % 700}" for n in range(3_000)) + " it's 'quoted' \\ back " + "搜索引擎" * 50 + "y" * 300
    documents = [
        replace(doc(f"https://{n}.example/", f"{n} {long}", fetched_at=f"2026-11-{n + 10}"), links=(("a", "b"),))
        for n in range(20)
    ]
    documents[3] = replace(documents[3], cut=Cut("pages", 2, 9), url="http://short.example/3")
    files = {"": tmp_path / "archive.sqlite", person: tmp_path / "people" / person / "archive.sqlite"}
    for owner, file in files.items():
        archive = Archive(file)
        archive.pin([doc("https://guide.example/", "How to deploy.")])
        for document in documents[len(owner) and 5 :]:
            archive.put(document)
        archive.close()
    there, back = server.fresh(), tmp_path / "back" / "chat.sqlite"
    assert main(["store", "migrate", str(tmp_path / "chat.sqlite"), there]) == 0
    archives = StoredArchives(there, max_bytes=10**12, max_days=36_500)
    for owner, file in files.items():
        stored, kept = archives.of(owner), Archive(file)
        assert list(stored.export()) == list(kept.export()) and len(stored) == len(kept)
        for question in ("word12", "it's quoted", "搜索", "引擎"):
            assert len(stored.search(question, 50)) == len(kept.search(question, 50)) > 0
        assert stored.get("http://short.example/3") == kept.get("http://short.example/3")
        # It goes on as if every page had been put there.
        assert stored.put(doc("https://new.example/", "new")) == len(kept) + 1 and stored.forget("https://new.example/")
        kept.close()
    archives.close()
    assert main(["store", "migrate", there, str(back)]) == 0
    for file in files.values():
        first, second = Archive(file), Archive(back.parent / file.relative_to(tmp_path))
        assert list(first.export()) == list(second.export())
        assert second.get("http://short.example/3") == first.get("http://short.example/3")
        assert len(second.search("搜索", 50)) == len(first.search("搜索", 50)) > 0
        first.close()
        second.close()
    left = content(f"sqlite:///{back}")
    assert left["suyuan_pages"] == [] and left["suyuan_messages"] == content(address)["suyuan_messages"]


def test_progress_is_told_in_a_pipe_and_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suyuan.cli.progress._PLAIN_SECONDS", 0.0)
    filled(f"sqlite:///{tmp_path / 'a.sqlite'}").close()
    assert main(["store", "migrate", str(tmp_path / "a.sqlite"), str(tmp_path / "b.sqlite")]) == 0
    said = capsys.readouterr()
    assert "100 %" in said.err and "suyuan_messages" in said.err and "\r" not in said.err and "%" not in said.out
