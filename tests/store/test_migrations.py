"""Migrations: from nothing, from a store before alembic, from an older revision, interrupted ones."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event, inspect, text

from suyuan.core.errors import SuyuanError
from suyuan.core.failure import Failure
from suyuan.core.person import Person, current_person
from suyuan.store import migrations
from suyuan.store.conversations import Store
from suyuan.store.database import Database
from suyuan.store.tables import events, messages, metadata, revisions
from suyuan.store.text_indexes import INDEX_TABLES

# What the release before alembic created, in SQLite and PostgreSQL alike.
SCHEMA_1 = """
CREATE TABLE suyuan_schema (version INTEGER NOT NULL);
CREATE TABLE suyuan_conversations (
    id TEXT NOT NULL, title TEXT NOT NULL, mode TEXT NOT NULL, search BOOLEAN NOT NULL,
    engine TEXT NOT NULL, model TEXT NOT NULL, lang TEXT NOT NULL, created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, deleted_at TEXT, PRIMARY KEY (id)
);
CREATE INDEX suyuan_conversations_by_time ON suyuan_conversations (updated_at);
CREATE TABLE suyuan_messages (
    id TEXT NOT NULL, conversation TEXT NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL,
    created_at TEXT NOT NULL, answer TEXT, position INTEGER NOT NULL, owner TEXT, kept_at TEXT NOT NULL,
    PRIMARY KEY (id), UNIQUE (conversation, position),
    FOREIGN KEY (conversation) REFERENCES suyuan_conversations (id) ON DELETE CASCADE
);
CREATE INDEX suyuan_messages_by_state ON suyuan_messages (state);
CREATE TABLE suyuan_events (
    run TEXT NOT NULL, seq INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (run, seq),
    FOREIGN KEY (run) REFERENCES suyuan_messages (id) ON DELETE CASCADE
);
INSERT INTO suyuan_schema VALUES ({version});
INSERT INTO suyuan_conversations VALUES ('c', '标题', 'agent', true, '', '', 'zh', '2026', '2026', NULL);
INSERT INTO suyuan_messages VALUES ('q', 'c', 'user', '问', 'done', '2026', NULL, 0, NULL, '2026');
INSERT INTO suyuan_messages VALUES ('a', 'c', 'assistant', '答', 'done', '2026', '{{"text": "答"}}', 1, NULL, '2026');
INSERT INTO suyuan_events VALUES ('a', 0, '{{"kind": "text"}}');
"""
NEXT = f"{int(migrations.HEAD) + 1:04}"
NEXT_REVISION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{next}", "{head}"

def upgrade():
    op.add_column("suyuan_conversations", sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()))
    op.execute("UPDATE suyuan_schema SET version = {next}")
    {then}
"""


def execute(address: str, script: str) -> None:
    """Run statements, without the store."""
    database = Database(address)
    with database.write() as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.exec_driver_sql(statement)
    database.close()


def state(address: str) -> tuple[str, list[str], list[str]]:
    """The revision, the tables and the columns of a conversation."""
    database = Database(address)
    with database.read() as connection:
        inspector = inspect(connection)
        tables = sorted(inspector.get_table_names())
        columns = [column["name"] for column in inspector.get_columns("suyuan_conversations")] if tables else []
        found = migrations.revision(connection), tables, columns
    database.close()
    return found


def add_revision(monkeypatch: pytest.MonkeyPatch, folder: Path, then: str = "pass") -> None:
    """Make :data:`NEXT` the newest revision; ``then`` is what it does at its end."""
    folder.mkdir(exist_ok=True)
    (folder / "next_pinned.py").write_text(NEXT_REVISION.format(next=NEXT, head=migrations.HEAD, then=then))
    monkeypatch.setattr(migrations, "LOCATIONS", [*migrations.LOCATIONS, str(folder)])
    monkeypatch.setattr(migrations, "HEAD", NEXT)


def content(address: str) -> list[object]:
    """Everything in the store that :data:`SCHEMA_1` wrote."""
    store = Store(address)
    try:
        found = store.find()
        return [(each.id, each.title, each.mode, each.search) for each in found] + [
            *((each.id, each.text, each.answer) for each in store.messages("c")),
            store.events("a"),
        ]
    finally:
        store.close()


CONTENT = [("c", "标题", "agent", True), ("q", "问", None), ("a", "答", {"text": "答"}), [(0, {"kind": "text"})]]


def test_head_is_the_newest_revision() -> None:
    folder = Path(migrations.__file__).parent
    assert ScriptDirectory(str(folder)).get_heads() == [migrations.HEAD]


# An index of expressions in SQLite cannot be compared in this way; its use is seen below.
@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
@pytest.mark.filterwarnings("ignore:autogenerate skipping metadata-specified expression-based index")
def test_a_new_store_equals_one_that_was_migrated_from_nothing(address: str) -> None:
    database = Database(address)
    with database.write() as connection:
        migrations.upgrade(connection)
    with database.read() as connection:
        # The index is made when the store is opened.
        assert not INDEX_TABLES.intersection(inspect(connection).get_table_names())
        context = MigrationContext.configure(connection, opts={"version_table": revisions.name})
        assert compare_metadata(context, metadata) == []
        assert connection.execute(text("SELECT version FROM suyuan_schema")).scalars().all() == [int(migrations.HEAD)]
    database.close()
    migrated = state(address)
    execute(address, "".join(f"DROP TABLE {table};" for table in reversed([t.name for t in metadata.sorted_tables])))
    Store(address).close()
    revision, names, columns = state(address)
    made = (revision, sorted(set(names) - INDEX_TABLES), columns)
    assert made == migrated and revision == migrations.HEAD


@pytest.mark.parametrize("migrated", [True, False], ids=["migrated", "new"])
def test_the_list_of_conversations_is_read_in_its_order(migrated: bool, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'chat.sqlite'}"
    if migrated:
        database = Database(address)
        with database.write() as connection:
            migrations.upgrade(connection)
        database.close()
    store = Store(address)
    asked: list[str] = []
    database = Database(address)
    event.listen(database._engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    who = current_person.set(Person("x", "x"))
    store.find(limit=51, offset=0)
    current_person.reset(who)
    listing = [statement for statement in asked if "ORDER BY" in statement and "LIMIT" in statement]
    with database.read() as connection:
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {each}", ("x", 51, 0)).all() for each in listing]
    database.close()
    store.close()
    steps = [" ".join(str(row[3]) for row in plan) for plan in plans]
    assert len(steps) == 2 and "suyuan_conversations_pinned" in steps[0] and "suyuan_conversations_listed" in steps[1]
    assert "TEMP B-TREE FOR ORDER BY" not in steps[1], steps


def test_a_store_from_before_alembic_is_migrated_and_kept(address: str) -> None:
    execute(address, SCHEMA_1.format(version=1))
    before = state(address)
    assert before[0] == "0001" and revisions.name not in before[1]
    assert content(address) == CONTENT
    revision, tables, columns = state(address)
    assert revision == migrations.HEAD and columns[: len(before[2])] == before[2]
    assert set(tables) - INDEX_TABLES == set(metadata.tables)


def test_a_store_from_before_alembic_gets_all_later_revisions(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    execute(address, SCHEMA_1.format(version=1))
    add_revision(monkeypatch, tmp_path / "50% of it")
    Store(address).close()
    revision, _, columns = state(address)
    assert revision == NEXT and columns[-1] == "pinned"


def test_failures_stored_by_the_first_release_are_still_shown(address: str) -> None:
    execute(address, SCHEMA_1.format(version=1))
    fault = {
        "code": "NetworkError",
        "detail_code": "dns",
        "texts": {"en": ["No network.", "Check the cable."], "zh": ["没有网络。", "请检查网线。"]},
        "retryable": True,
    }
    attempt = {"engine": "searxng", "detail_code": "dns", "cure": "Check the cable.", "unhonoured": ["freshness"]}
    event = {"kind": "search.failed", "fault": fault, "receipt": [attempt]}
    answer = {"text": "答", "notices": [{"kind": "notice", "fault": fault}], "fault": None}
    database = Database(address)
    with database.write() as connection:
        connection.execute(events.update().values(event=json.dumps(event, ensure_ascii=False)))
        connection.execute(messages.update().where(messages.c.id == "a").values(answer=json.dumps(answer)))
    database.close()

    store = Store(address)
    [(_, stored_event)] = store.events("a")
    failure = Failure.from_dict(stored_event["failure"])
    assert failure.say("zh") == failure.say("en") == ("没有网络。", "请检查网线。")
    assert (failure.code, failure.detail_code, failure.retryable) == ("NetworkError", "dns", True)
    assert stored_event["receipt"] == [
        {"engine": "searxng", "detail_code": "dns", "hint": "Check the cable.", "unsupported_params": ["freshness"]}
    ]
    stored = store.messages("c")[1].answer
    assert stored and stored["failure"] is None and stored["notices"][0]["failure"]["message"] == "没有网络。"
    store.close()


@pytest.mark.parametrize("stamped", [True, False])
def test_a_newer_store_is_refused_and_unchanged(address: str, stamped: bool) -> None:
    execute(address, SCHEMA_1.format(version=1 if stamped else 99))
    if stamped:
        Store(address).close()
        execute(address, f"UPDATE {revisions.name} SET version_num = '0099'")
    before = state(address)
    with pytest.raises(SuyuanError) as raised:
        Store(address)
    assert raised.value.detail_code == "store_too_new" and "99" in raised.value.message
    assert state(address) == before


def test_a_migration_that_fails_changes_nothing(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    execute(address, SCHEMA_1.format(version=1))
    before = state(address)
    with monkeypatch.context() as broken:
        add_revision(broken, tmp_path / "broken", "raise ValueError('half-way')")
        with pytest.raises(ValueError, match="half-way"):
            Store(address)
    assert state(address) == before
    assert content(address) == CONTENT
    add_revision(monkeypatch, tmp_path / "repaired")
    Store(address).close()
    assert state(address)[0] == NEXT


def test_a_killed_migration_is_repeated_at_the_next_start(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    execute(address, SCHEMA_1.format(version=1))
    processes = multiprocessing.get_context("spawn")
    ours, theirs = processes.Pipe()
    child = processes.Process(target=_migrate_and_hang, args=(theirs, address, tmp_path / "hanging"), daemon=True)
    child.start()
    theirs.close()
    assert ours.poll(60) and ours.recv() == "half-way"
    child.kill()
    child.join()
    assert state(address)[0] == "0001" and content(address) == CONTENT
    add_revision(monkeypatch, tmp_path / "done")
    Store(address).close()
    assert state(address)[0] == NEXT


def _migrate_and_hang(pipe: Pipe, address: str, folder: Path) -> None:
    sys.modules["parent"] = cast(ModuleType, pipe)
    with pytest.MonkeyPatch.context() as patch:
        add_revision(patch, folder, "import parent; parent.send('half-way'); parent.recv()")
        Store(address)


def test_alembic_is_imported_only_for_a_migration(tmp_path: Path) -> None:
    code = f"""
import sys
from suyuan.store.conversations import Store
for _ in range(2):
    Store("sqlite:///{tmp_path}/chat.sqlite").close()
print("alembic" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"
