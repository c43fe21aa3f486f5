"""The store of conversations on SQLite and PostgreSQL: killed, shared, damaged, or of another program."""

from __future__ import annotations

import multiprocessing
import random
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from support.postgres import Postgres
from support.timing import until
from suyuan.core.clock import DAY, JUMP, PROVEN
from suyuan.core.errors import SuyuanError
from suyuan.core.secret import Secret
from suyuan.store import process_owner as owner
from suyuan.store import tables
from suyuan.store.conversation import clean_title, new_id
from suyuan.store.conversations import Store
from suyuan.store.database import Database
from suyuan.store.people import Login
from suyuan.store.process_owner import LEASE_SECONDS

START = 1_800_000_000.0


class Clock:
    """A time that the test moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def believed(store: Store, clock: Clock) -> None:
    """Let the clock go on until it is believed."""
    while store.removal_clock.now() is None:
        clock.now += DAY


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(address: str, clock: Clock) -> Iterator[Store]:
    opened = Store(Secret(address), clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "chat.sqlite"


def _problems(address: str) -> list[str]:
    try:
        store = Store(address)
    except SuyuanError as error:
        assert error.detail_code == "store_damaged"
        return [error.message]
    found = [str(each) for each in store.check()]
    store.close()
    return found


def ask(store: Store, conversation: str, text: str = "?", instead_of: str = "") -> str:
    """Begin a turn, and return the id of its answer."""
    run = new_id()
    store.begin_turn(conversation, text, run, instead_of)
    return run


def answered(store: Store, conversation: str, text: str = "?", instead_of: str = "") -> str:
    """A whole turn, with an empty answer."""
    run = ask(store, conversation, text, instead_of)
    store.finish(run, state="done", text="", answer={})
    return run


def cause_of(act: Callable[[], object]) -> SuyuanError:
    with pytest.raises(SuyuanError) as caught:
        act()
    return caught.value


class TestStore:
    """What holds on every database."""

    def test_a_conversation_is_stored_as_it_was(self, store: Store, address: str) -> None:
        made = store.create(mode="agent", search=True, engine="bing_html", model="m", lang="en", title="标题")
        answer = {"text": "答 [1]", "sources": [{"number": 1, "url": "https://example.org/?a=%20"}], "nothing": None}
        run = ask(store, made.id, "問 😀?")
        question, begun = store.messages(made.id)
        assert (begun.id, begun.state, begun.text, begun.answer, begun.position) == (run, "running", "", None, 1)
        store.finish(run, state="done", text="答 [[1]](https://example.org)", answer=answer)
        store.close()
        again = Store(address)
        kept = again.get(made.id)
        assert kept is not None and kept.created_at == made.created_at
        assert (kept.mode, kept.search, kept.engine, kept.model, kept.lang, kept.title) == (
            "agent",
            True,
            "bing_html",
            "m",
            "en",
            "标题",
        )
        first, second = again.messages(made.id)
        assert first == question and (first.role, first.text, first.state, first.position) == (
            "user",
            "問 😀?",
            "done",
            0,
        )
        assert (second.role, second.text, second.state, second.answer) == (
            "assistant",
            "答 [[1]](https://example.org)",
            "done",
            answer,
        )
        assert again.message(run) == second and again.message("missing") is None and again.get("missing") is None
        again.close()

    @pytest.mark.req("C1.3")
    def test_the_switch_is_kept_in_agent_mode(self, store: Store) -> None:
        id = store.create(search=True).id
        store.change(id, mode="agent")
        assert store.change(id, mode="chat").search is True
        assert store.change(id, search=False).search is False
        assert store.create().search is False

    def test_the_newest_conversation_comes_first(self, store: Store) -> None:
        ids = [store.create(title=str(n)).id for n in range(3)]
        ask(store, ids[0], "again")
        store.change(ids[1], title="renamed, not moved")
        assert [found.id for found in store.find()] == [ids[0], ids[2], ids[1]]
        assert [found.id for found in store.find(limit=1, offset=1)] == [ids[2]]

    @pytest.mark.parametrize(
        ("sought", "found"),
        [("天气", {"zh"}), ("京天", {"zh"}), ("100%", {"zh"}), ("%", set()), ("_ ' /", set()), ("snake_case", {"code"}),
         ("snakeXcase", set()), ("ÄRGER", {"de"}), ("weather TOMORROW", {"en"}), ("weather 天气", set()),
         ("a/b", {"code"}), ("tomorrow's", {"en"}), ("morrow", set()), ("tom", {"en"}),
         ("", {"zh", "code", "de", "en"}), ("  ", {"zh", "code", "de", "en"}), ("\0", {"zh", "code", "de", "en"})],
    )  # fmt: skip
    def test_text_is_found_in_titles_and_messages(self, store: Store, sought: str, found: set[str]) -> None:
        texts = {
            "zh": "北京天气,湿度 100%",
            "code": "what is snake_case in a/b",
            "de": "viel ärger",
            "en": "tomorrow's weather",
        }
        for name, text in texts.items():
            ask(store, store.create(title=name).id, text)
        assert {each.title for each in store.find(sought)} == found

    @pytest.mark.parametrize("jump", [2 * 365 * DAY, 31 * DAY, -31 * DAY, -START])
    def test_a_clock_that_jumped_removes_nothing_until_it_has_gone_on(
        self, store: Store, clock: Clock, jump: float, caplog: pytest.LogCaptureFixture
    ) -> None:
        people = store.people
        believed(store, clock)
        id, shared = store.create().id, store.create().id
        store.delete(id)
        people.keep_login("digest", Login("", clock.now + 30 * DAY, clock.now))
        people.add_share(shared, "link", clock.now + 30 * DAY)
        people.note("anna", "login")
        right = clock.now
        kept = [store.get(id), people.login("digest"), people.share("link"), people.noted()]
        for days in (0.0, 1.0, 6.9):
            clock.now = right + jump + days * DAY
            assert store.purge(30 * DAY) == 0
            people.purge(1)
        assert "The clock went from 2027-" in caplog.text
        # Set right again, everything is as it was; that is a jump too.
        for days in (0.0, 6.9):
            clock.now = right + days * DAY
            assert store.purge(0) == 0
            people.purge(0)
        assert [store.get(id), people.login("digest"), people.share("link"), people.noted()] == kept
        clock.now = right + 7.1 * DAY
        assert store.purge(7 * DAY) == 1 and store.get(id) is None
        clock.now = right + JUMP
        people.purge(1)
        assert people.login("digest") and people.share("link") and people.noted() == []
        for days in (25, 31):
            clock.now = right + days * DAY
            people.purge(1)
        clock.now = right
        assert people.login("digest") is None and people.share("link") is None

    def test_a_login_ends_no_later_by_a_clock_that_jumped(self, store: Store, clock: Clock) -> None:
        right = clock.now
        store.people.keep_login("digest", Login("", right + DAY, right))
        clock.now = right + 365 * DAY
        store.people.end_login("digest", 60.0)
        clock.now = right
        assert (login := store.people.login("digest")) is not None and login.expires == right + DAY

    def test_two_processes_look_at_one_clock(self, address: str, clock: Clock) -> None:
        one, other = Store(Secret(address), clock=clock), Store(Secret(address), clock=clock)
        believed(one, clock)
        assert other.removal_clock.now() is not None
        one.close()
        other.close()

    def test_a_deleted_conversation_can_be_restored_until_it_is_purged(self, store: Store, clock: Clock) -> None:
        id, other = store.create(title="a").id, store.create(title="b").id
        run = ask(store, id)
        store.keep_events(run, [(0, {"kind": "text"})])
        store.delete(id)
        assert [each.id for each in store.find()] == [other] and [each.id for each in store.find(deleted=True)] == [id]
        assert cause_of(lambda: ask(store, id, "!")).detail_code == "no_conversation"
        store.restore(id)
        assert len(store.find()) == 2 and len(store.messages(id)) == 2
        store.delete(id)
        believed(store, clock)
        clock.now += 3600
        assert store.purge(10 * DAY) == 0 and store.get(id) is not None
        assert store.purge(PROVEN) == 1
        assert (
            store.get(id) is None
            and store.messages(id) == []
            and store.message(run) is None
            and store.events(run) == []
        )
        assert store.get(other) is not None and store.check() == []

    def test_events_are_stored_in_order_and_once(self, store: Store) -> None:
        run = ask(store, store.create().id)
        store.keep_events(run, [(1, {"kind": "text", "text": "一"}), (0, {"kind": "turn.started"})])
        store.keep_events(run, [(1, {"kind": "other"}), (3, {"kind": "answer", "cited": (1, 2)})])
        store.keep_events(run, [])
        assert store.events(run) == [
            (0, {"kind": "turn.started"}), (1, {"kind": "text", "text": "一"}),
            (3, {"kind": "answer", "cited": [1, 2]}),
        ]  # fmt: skip
        assert [seq for seq, _ in store.events(run, after=0)] == [1, 3] and store.events("missing") == []

    def test_late_writes_of_a_run_change_nothing(self, store: Store) -> None:
        id = store.create().id
        run = ask(store, id)
        store.finish(run, state="stopped", text="all", answer={"stopped": True})
        store.keep_text(run, "al")
        assert [(each.text, each.state) for each in store.messages(id)] == [("?", "done"), ("all", "stopped")]
        answered(store, id, "anew", store.messages(id)[0].id)
        store.keep_text(run, "ghost")
        store.keep_events(run, [(0, {})])
        store.finish(run, state="done", text="ghost", answer={})
        assert [each.text for each in store.messages(id)] == ["anew", ""]
        assert store.message(run) is None and store.events(run) == [] and store.check() == []

    def test_an_edited_question_takes_the_place_of_a_message_and_all_later_ones(self, store: Store) -> None:
        id, other = store.create().id, store.create().id
        answered(store, other, "one")
        kept = store.messages(other)
        for text in ("one", "two"):
            answered(store, id, text)
        first, answer, second, _ = store.messages(id)
        run = answered(store, id, "three", second.id)
        now = store.messages(id)
        assert [(each.text, each.position) for each in now] == [("one", 0), ("", 1), ("three", 2), ("", 3)]
        assert now[:2] == [first, answer] and now[3].id == run
        answered(store, id, "four", "missing")
        assert [each.text for each in store.messages(id)] == ["one", "", "three", "", "four", ""]
        answered(store, id, "five", first.id)
        assert [each.text for each in store.messages(id)] == ["five", ""] and store.messages(other) == kept
        answered(store, other, "six", store.messages(id)[0].id)
        assert store.messages(other)[:2] == kept and len(store.messages(id)) == 2

    def test_an_edited_question_that_cannot_be_stored_removes_nothing(self, store: Store) -> None:
        id = store.create().id
        run = answered(store, id, "one")
        kept = store.messages(id)
        taken = answered(store, store.create().id, "other")
        with pytest.raises(Exception, match=r"(?i)unique|duplicate|suyuan_messages"):
            # The new answer cannot be added: another one has its id.
            store.begin_turn(id, "edited", taken, kept[0].id)
        found = store.get(id)
        assert (
            store.messages(id) == kept and store.message(run) == kept[1] and found is not None and found.title == "one"
        )

    def test_the_first_question_gives_the_title(self, store: Store) -> None:
        id = store.create().id
        answered(store, id, "  长\n问题\u202e " + "很" * 100)
        made = store.get(id)
        assert (
            made is not None
            and made.title.startswith("长 问题 很很")
            and len(made.title) == 60
            and made.title.endswith("…")
        )
        answered(store, id, "another")
        answered(store, id, "edited", store.messages(id)[0].id)
        edited = store.get(id)
        assert edited is not None and edited.title == "edited"
        store.change(id, title="mine")
        ask(store, id, "again", store.messages(id)[0].id)
        mine = store.get(id)
        assert mine is not None and mine.title == "mine"

    def test_characters_that_no_database_stores_are_replaced(self, store: Store) -> None:
        id = store.create(title="a\0b").id
        run = ask(store, id, "x\0y\ud800z")
        store.keep_events(run, [(0, {"text": "\0\udfff"})])
        store.finish(run, state="failed", text="\0\ud800", answer={"text": "\0\ud800"})
        assert [each.text for each in store.messages(id)] == ["xy?z", "?"] and store.events(run) == [
            (0, {"text": "\0?"})
        ]
        assert store.get("\0\ud800") is None

    def test_a_missing_conversation_has_a_cause(self, store: Store) -> None:
        for act in (
            lambda: store.change("missing", title="x"), lambda: store.delete("missing"), lambda: store.restore("missing"),
            lambda: ask(store, "missing"), lambda: ask(store, "missing", "?", "x"),
        ):  # fmt: skip
            assert cause_of(act).detail_code == "no_conversation"

    def test_many_threads_write_at_once(self, store: Store) -> None:
        id = store.create().id
        failed: list[BaseException] = []

        def write() -> None:
            try:
                for n in range(5):
                    _take_turn(store, id, str(n))
                    store.messages(id)
            except BaseException as error:  # noqa: BLE001  a thread's failure must reach the test
                failed.append(error)

        threads = [threading.Thread(target=write) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == [] and [each.position for each in store.messages(id)] == list(range(80))

    def test_one_answer_at_a_time_whichever_process_writes_it(self, store: Store, address: str) -> None:
        other, id = Store(address), store.create().id
        run = ask(store, id)
        for act in (lambda: ask(other, id), lambda: ask(other, id, "?", run)):
            assert cause_of(act).detail_code == "answer_under_way"
        assert [each.running for each in other.find()] == [run]
        # A stop is stored, and seen by the writer when it saves.
        assert store.keep_text(run, "a") is False
        assert other.want_stop(run) and not other.want_stop("missing")
        assert store.keep_text(run, "ab") is True
        store.finish(run, state="stopped", text="ab", answer={})
        assert not other.want_stop(run) and ask(other, id)
        other.close()

    def test_a_run_whose_process_died_is_interrupted_and_its_text_kept(self, store: Store, address: str) -> None:
        id = store.create().id
        child, pipe = started(_begin_and_wait, address, id)
        run = str(pipe.recv())
        Store(address).close()
        assert [each.state for each in store.messages(id)] == ["done", "running"]
        child.kill()
        child.join()
        Store(address).close()
        answer = store.messages(id)[1]
        assert (answer.id, answer.state, answer.text) == (run, "interrupted", "half of it")

    def test_a_run_of_another_host_is_dead_when_its_lease_is_over(
        self, store: Store, clock: Clock, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(owner, "this_process", lambda: "elsewhere|boot|1|1")
            other = Store(address, clock=clock)
        id = store.create().id
        run = ask(other, id)
        clock.now += LEASE_SECONDS - 1
        other.keep_text(run, "still here")
        clock.now += LEASE_SECONDS - 1
        assert store.sweep() == 0 and store.messages(id)[1].state == "running"
        clock.now += 2
        # Exactly one of all processes marks it.
        assert store.sweep([run]) == 0
        assert store.sweep() == 1 and other.sweep() == 0
        assert (store.messages(id)[1].state, store.messages(id)[1].text) == ("interrupted", "still here")
        # It was only slow: what it has to say in the end counts.
        other.finish(run, state="done", text="late", answer={})
        assert store.messages(id)[1].state == "done"
        other.close()

    def test_a_newer_store_is_left_alone(self, store: Store, address: str) -> None:
        store.create(title="kept")
        database = Database(address)
        with database.write() as connection:
            connection.execute(tables.revisions.update().values(version_num="0099"))
        error = cause_of(lambda: Store(address))
        assert error.detail_code == "store_too_new" and "99" in error.message and "升级" in error.say("zh")[1]
        database.close()
        assert [each.title for each in store.find()] == ["kept"]

    def test_processes_that_open_a_new_store_together_all_succeed(self, address: str) -> None:
        children = [started(_write_some, address, 15) for _ in range(3)]
        reports = [pipe.recv() for _, pipe in children]
        for child, _ in children:
            child.join()
        assert reports == ["done"] * 3
        store = Store(address)
        assert len(store.find()) == 3 and all(len(store.messages(each.id)) == 30 for each in store.find())
        assert store.check() == []
        store.close()

    def test_confirmed_writes_survive_a_kill(self, address: str) -> None:
        moments = random.Random(11)
        confirmed: list[str] = []
        for turn in range(20):
            child, pipe = started(_answer_without_end, address, 0)
            # Some are killed while they open the store, most while they write.
            if turn % 4:
                confirmed += [str(pipe.recv()), str(pipe.recv())]
            time.sleep(moments.uniform(0, 0.06))
            child.kill()
            child.join()
            confirmed += _drained(pipe)
        store = Store(address)
        kept = [store.message(run) for run in confirmed]
        assert len(confirmed) > 20 and all(each and each.state == "done" and each.text == each.id for each in kept)
        assert all(len(store.events(run)) == 3 for run in confirmed)
        states = {
            each.state
            for found in store.find(limit=1000)
            for each in store.messages(found.id)
            if each.role == "assistant"
        }
        assert states <= {"done", "interrupted"} and store.check() == []
        store.close()


class TestFile:
    """What holds for a file."""

    def test_only_its_user_may_read_it(self, tmp_path: Path) -> None:
        file = tmp_path / "new" / "folder" / "chat.sqlite"
        store = Store(f"sqlite:///{file}")
        store.create()
        assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}
        assert len(list(file.parent.glob("chat.sqlite*"))) == 3
        store.close()

    def test_a_folder_may_have_any_name(self, tmp_path: Path) -> None:
        file = tmp_path / "50%41 ?x=1 #二" / "chat.sqlite"
        Store(f"sqlite:///{quote(str(file))}").close()
        assert file.exists()

    @pytest.mark.parametrize(
        "content", [b"this is a letter, not a database. " * 200, b"SQLite format 3\0" + bytes(range(256)) * 64]
    )
    def test_a_file_that_is_no_database_stays_unchanged(self, file: Path, content: bytes) -> None:
        file.write_bytes(content)
        error = cause_of(lambda: Store(f"sqlite:///{file}"))
        assert (
            error.detail_code in ("store_not_a_database", "store_damaged")
            and str(file) in error.message
            and error.say("zh")[1]
        )
        assert file.read_bytes() == content and list(file.parent.glob("chat*")) == [file]

    def test_the_database_of_another_program_stays_unchanged(self, file: Path) -> None:
        with sqlite3.connect(file) as other:
            other.execute("CREATE TABLE recipes (name)")
        other.close()
        before = file.read_bytes()
        assert cause_of(lambda: Store(f"sqlite:///{file}")).detail_code == "store_not_ours"
        assert file.read_bytes() == before

    def test_a_place_that_cannot_be_written_has_a_cause(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for place in (tmp_path / "file" / "chat.sqlite", tmp_path):
            error = cause_of(lambda place=place: Store(f"sqlite:///{place}"))  # type: ignore[misc]
            assert error.detail_code == "store_not_writable" and str(place) in error.message

    @pytest.mark.parametrize("part", ["suyuan_conversations_by_time", "suyuan_messages_by_state"])
    def test_damage_is_found_and_nothing_is_deleted(self, file: Path, part: str) -> None:
        store = Store(f"sqlite:///{file}")
        ask(store, store.create().id)
        store.close()
        raw = sqlite3.connect(file)
        page = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (part,)).fetchone()[0]
        size = raw.execute("PRAGMA page_size").fetchone()[0]
        raw.close()
        content = bytearray(file.read_bytes())
        content[(page - 1) * size : page * size] = b"\xff" * size
        file.write_bytes(content)
        assert _problems(f"sqlite:///{file}") != []
        assert file.read_bytes() == content

    def test_purged_text_is_removed_from_the_disk(self, file: Path) -> None:
        clock = Clock()
        store = Store(f"sqlite:///{file}", clock=clock)
        id = store.create().id
        for _ in range(50):
            answered(store, id, "a very private matter " * 100)
        believed(store, clock)

        def on_disk() -> int:
            return sum(path.stat().st_size for path in file.parent.iterdir())

        before = on_disk()
        store.delete(id)
        store.purge(0)
        assert on_disk() < before / 2
        assert all(b"private matter" not in path.read_bytes() for path in file.parent.iterdir())
        store.close()

    def test_a_full_disk_has_a_cause_and_loses_nothing(self) -> None:
        database = Database("")
        database.open()
        database.pragma("max_page_count=40")
        row = {
            "title": "x" * 400_000,
            "mode": "chat",
            "search": False,
            "engine": "",
            "model": "",
            "lang": "",
            "created_at": "",
            "updated_at": "",
        }

        def write() -> None:
            with database.write() as connection:
                connection.execute(tables.conversations.insert().values(id="big", **row))

        assert cause_of(write).detail_code == "store_full"
        with database.read() as connection:
            assert connection.execute(tables.conversations.select()).all() == []
        database.close()

    def test_a_store_in_memory(self) -> None:
        store = Store("")
        id = store.create().id
        threads = [threading.Thread(target=_take_turn, args=(store, id)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.messages(id)) == 16 and store.check() == []
        store.close()


class TestServer:
    """What holds for a database server."""

    def test_a_lost_connection_is_opened_again(self, server: Postgres) -> None:
        store = Store(server.fresh())
        id = store.create().id
        server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        assert until(lambda: store.get(id) is not None)
        store.close()

    def test_a_missing_privilege_has_a_cause(self, server: Postgres) -> None:
        server.run("CREATE ROLE reader LOGIN")
        error = cause_of(lambda: Store(server.fresh().replace("suyuan@", "reader@")))
        assert error.detail_code == "store_not_writable" and "permission denied" in error.message


@pytest.mark.req("P9.3")
def test_an_unreachable_server_is_named_without_its_password() -> None:
    error = cause_of(lambda: Store("postgresql://me:geheim-geheim@127.0.0.1:1/chats"))
    assert error.detail_code == "store_unreachable" and error.retryable and "127.0.0.1:1/chats" in error.message
    assert "geheim" not in f"{error!r} {error.say('zh')} {error.__cause__} {error.__context__}"


@pytest.mark.parametrize(
    "address", ["chat.sqlite", "mysql://localhost/x", "sqlite:///file:x?uri=true", "://", "sqlite+aiosqlite:///x"]
)
def test_a_bad_address_has_a_cause(address: str) -> None:
    assert cause_of(lambda: Store(address)).detail_code == "store_bad_address"


def test_titles_are_one_clean_line() -> None:
    assert clean_title(" a\r\n\tb\u2028c\x1b[31m\u202egnp.exe\u2066\u200b\0\ufeff ") == "a b c[31mgnp.exe"
    assert clean_title("👩\u200d🔬 می\u200cخواهم") == "👩\u200d🔬 می\u200cخواهم"
    assert len(clean_title("字" * 1000)) == 200 and clean_title("字" * 200) == "字" * 200
    assert clean_title("\u202e\0") == ""


def test_ids_are_safe_and_unique() -> None:
    ids = {new_id() for _ in range(2000)}
    assert len(ids) == 2000 and all(len(id) >= 12 and id.isascii() and id.isalnum() for id in ids)


# --- other processes --------------------------------------------------------------------------------------------------
# They are forked from a process that has imported the store, so that a kill hits writing and not importing.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["suyuan.store.conversations"])


def started(work: Callable[..., None], address: str, detail: object) -> tuple[Any, Pipe]:
    ours, theirs = PROCESSES.Pipe()
    child = PROCESSES.Process(target=work, args=(theirs, address, detail), daemon=True)
    child.start()
    theirs.close()
    return child, ours


def _take_turn(store: Store, id: str, text: str = "?") -> None:
    """Answer as soon as nobody else does."""
    while True:
        try:
            answered(store, id, text)
            return
        except SuyuanError as error:
            assert error.detail_code == "answer_under_way"


def _begin_and_wait(pipe: Pipe, address: str, conversation: str) -> None:
    store = Store(address)
    run = ask(store, conversation)
    store.keep_text(run, "half of it")
    pipe.send(run)
    threading.Event().wait()


def _write_some(pipe: Pipe, address: str, number: int) -> None:
    try:
        store = Store(address)
        id = store.create().id
        for n in range(number):
            answered(store, id, str(n))
        store.close()
    except Exception as error:  # noqa: BLE001  the parent reports it
        pipe.send(repr(error))
    else:
        pipe.send("done")


def _answer_without_end(pipe: Pipe, address: str, _: object) -> None:
    store = Store(address)
    id = store.create().id
    while True:
        run = ask(store, id)
        store.keep_events(run, [(n, {"kind": "text"}) for n in range(3)])
        store.keep_text(run, run[:5])
        store.finish(run, state="done", text=run, answer={"text": run})
        pipe.send(run)


def _drained(pipe: Pipe) -> list[str]:
    found: list[str] = []
    try:
        while pipe.poll(0):
            found.append(str(pipe.recv()))
    except (EOFError, OSError):
        pass
    return found
