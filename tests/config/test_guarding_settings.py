"""A server does not start where a setting that guards it cannot be read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from suyuan.cli.main import main
from suyuan.cli.settings_check import check_settings
from suyuan.config.load import load_settings
from suyuan.config.settings import Settings
from suyuan.core.errors import SuyuanError
from suyuan.core.secret import Secret
from suyuan.core.setting import Setting, declarations
from suyuan.doctor.accounts import check_accounts

_ALL = list(declarations(Settings))
_GUARDING = [one for one in _ALL if one.guards]
# What is guarded at least; more may be declared.
_SURELY = {
    "server.token", "server.users", "server.userHeader", "server.newUsers", "server.trustedProxies",
    "server.oidc.issuer", "server.oidc.clientId", "server.oidc.clientSecret", "quota.searches", "quota.answers",
    "quota.tokens", "quota.money", "quota.documents", "store.url",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _only_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable would come before the file."""
    for name in [name for name in os.environ if name.startswith("SUYUAN_")]:
        monkeypatch.delenv(name)


def _refusal(folder: Path, content: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(content)
    with pytest.raises(SuyuanError) as refused:
        check_settings(load_settings({"HOME": "/nowhere"}, folder))
    return f"{refused.value.detail_code}: {refused.value.message}"


def _nested(path: str, value: Any) -> str:
    for name in reversed(path.split(".")):
        value = {name: value}
    return json.dumps(value)


def test_what_decides_who_may_do_what_is_declared_as_such() -> None:
    assert {one.path for one in _GUARDING} >= _SURELY


@pytest.mark.parametrize("content", ["", "{", '{"server": {"users": true', "[]", "null", "\x00"])
def test_a_file_that_cannot_be_read_stops_the_start(tmp_path: Path, content: str) -> None:
    assert "settings_unreadable" in _refusal(tmp_path / "config", content)


def test_the_server_stops_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"sever": {"users": true}}')
    for command in (["serve", "--no-open", "--port", "1"], ["config", "check"]):
        assert main(["--config-dir", str(tmp_path), *command]) == 2
        assert "sever.users" in capsys.readouterr().err


@pytest.mark.parametrize("one", _GUARDING, ids=lambda one: one.path)
def test_a_bad_value_of_a_guarding_setting_stops_the_start(tmp_path: Path, one: Setting) -> None:
    err = _refusal(tmp_path / "config", _nested(one.path, [{"not": "this"}]))
    assert "settings_unreadable" in err and one.path in err


@pytest.mark.parametrize("one", _GUARDING, ids=lambda one: one.path)
def test_a_mistyped_guarding_setting_stops_the_start(tmp_path: Path, one: Setting) -> None:
    err = _refusal(tmp_path / "config", _nested(one.path + "s", "x"))
    assert "settings_unreadable" in err and one.path in err


def _places() -> list[str]:
    """Where guarding settings stand, and all sections that they are in."""
    names = [one.path.split(".") for one in _GUARDING]
    return sorted({".".join(parts[:length]) for parts in names for length in range(1, len(parts) + 1)})


def _near_misses() -> Iterator[str]:
    """Each name in the path of a guarding setting in another case, without a letter, with one too many or two swapped."""
    for one in _GUARDING:
        names = one.path.split(".")
        for place, name in enumerate(names):
            middle = len(name) // 2
            spelt = (
                name.upper(),
                name.capitalize(),
                name[:middle] + name[middle + 1 :],
                name[:middle] + name[middle] + name[middle:],
                name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :],
                name[:middle] + "_" + name[middle:],
            )
            known = {other.path.split(".")[place] for other in _ALL if other.path.count(".") >= place}
            yield from (".".join([*names[:place], each, *names[place + 1 :]]) for each in spelt if each not in known)


def _stops(folder: Path, content: str) -> bool:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(content)
    problems = load_settings({"HOME": "/nowhere"}, folder).problems
    return any(problem.guards for problem in problems)


@pytest.mark.parametrize("place", _places())
@pytest.mark.parametrize("value", [None, [True], {}, "", 1.5, "?"], ids=json.dumps)
def test_what_is_no_value_where_guarding_settings_stand_stops_the_start(tmp_path: Path, place: str, value: Any) -> None:
    one = next((one for one in _GUARDING if one.path == place), None)
    if (one and _takes(one, value)) or (one is None and value == {}):
        return
    assert _stops(tmp_path, _nested(place, value))


def _takes(one: Setting, value: Any) -> bool:
    """Whether the value is one that the setting can have: an empty text is none, where that is the default."""
    if value == "":
        return one.default in ("", Secret(""), ())
    try:
        one.kind.check(value)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("path", sorted(set(_near_misses())))
def test_a_near_miss_of_a_guarding_name_stops_the_start(tmp_path: Path, path: str) -> None:
    assert _stops(tmp_path, _nested(path, True))


@pytest.mark.parametrize("place", _places())
def test_a_name_that_is_written_twice_stops_the_start(tmp_path: Path, place: str) -> None:
    section, _, name = place.rpartition(".")
    twice = f'{{"{name}": {{}}, "{name}": {{}}}}'
    for outer in reversed(section.split(".") if section else []):
        twice = f'{{"{outer}": {twice}}}'
    assert _stops(tmp_path, twice)


def test_a_link_that_leads_nowhere_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "config.json").symlink_to(tmp_path / "gone.json")
    (tmp_path / "folder").symlink_to(tmp_path / "gone")
    for folder in (tmp_path / "file", tmp_path / "folder", tmp_path / "folder" / "below"):
        assert any(problem.guards for problem in load_settings({"HOME": "/nowhere"}, folder).problems)


@pytest.mark.parametrize(
    "content",
    [
        {"tools": {"exec": {"host": "x"}, "webSearch": None}, "gateway": {"users": True, "token": None}},
        {"server": {"host": "127.0.0.1", "port": 1, "theme": "dark"}},
        {"agents": [{"server": None}], "session": {"store": "x"}, "server": {}, "quota": {"searches": 5}},
    ],
    ids=["of other programs", "of no guard", "valid"],
)
def test_what_means_no_guard_does_not(tmp_path: Path, content: dict[str, Any]) -> None:
    assert not _stops(tmp_path, json.dumps(content))


@pytest.fixture(scope="module")
def with_accounts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose store has an account."""
    pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")
    from suyuan.store.accounts import add_account
    from suyuan.store.conversations import Store

    folder = tmp_path_factory.mktemp("data")
    store = Store(f"sqlite:///{folder / 'chat.sqlite'}")
    add_account(store.people, "ann", "a long password of ann", "admin")
    store.close()
    return folder


_SAYS_NOTHING: dict[str, tuple[str | None, dict[str, str]]] = {
    "no file": (None, {}),
    "an empty object": ("{}", {}),
    "other settings": ('{"server": {"port": 8642}}', {}),
    "an empty variable": (None, {"SUYUAN_USERS": ""}),
    "another name": ('{"accounts": {"enabled": true}}', {}),
}
_SAYS = {
    "in the file": ('{"server": {"users": false}}', {}),
    "in a variable": (None, {"SUYUAN_USERS": "0"}),
    "with accounts": (None, {"SUYUAN_USERS": "1"}),
}


def _settings(folder: Path, data: Path, content: str | None, environ: dict[str, str]) -> Settings:
    if content is not None:
        folder.mkdir()
        (folder / "config.json").write_text(content)
    return load_settings({"HOME": "/nowhere", "SUYUAN_DATA_DIR": str(data), **environ}, folder)


@pytest.mark.parametrize("case", _SAYS_NOTHING)
def test_a_store_with_accounts_is_not_served_without_them_unless_that_is_said(
    tmp_path: Path, with_accounts: Path, case: str
) -> None:
    with pytest.raises(SuyuanError) as refused:
        check_accounts(_settings(tmp_path / "config", with_accounts, *_SAYS_NOTHING[case]))
    assert refused.value.detail_code == "accounts_unused"
    told = refused.value.message + refused.value.hint
    assert str(with_accounts) in told and "server.users" in told and str(tmp_path / "config" / "config.json") in told


@pytest.mark.parametrize("case", _SAYS)
def test_it_is_served_where_it_is_said(tmp_path: Path, with_accounts: Path, case: str) -> None:
    check_accounts(_settings(tmp_path / "config", with_accounts, *_SAYS[case]))


def test_a_store_without_accounts_and_none_at_all_are_served(tmp_path: Path) -> None:
    from suyuan.store.conversations import Store

    check_accounts(_settings(tmp_path / "config", tmp_path, None, {}))
    Store(f"sqlite:///{tmp_path / 'chat.sqlite'}").close()
    check_accounts(_settings(tmp_path / "config", tmp_path, None, {}))


@pytest.mark.parametrize(
    "command", [["serve", "--no-open", "--port", "1"], ["config", "check"]], ids=["serve", "check"]
)
def test_commands_tell_that_accounts_would_not_be_used(
    tmp_path: Path,
    with_accounts: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    monkeypatch.setenv("SUYUAN_DATA_DIR", str(with_accounts))
    assert main(["--config-dir", str(tmp_path / "gone"), *command]) == 2
    assert "accounts_unused" in capsys.readouterr().err


def test_a_bad_value_of_another_setting_does_not() -> None:
    settings = load_settings({"WEB_SEARCH_TIMEOUT_MS": "soon", "HOME": "/nowhere"})
    assert settings.problems and not any(problem.guards for problem in settings.problems)
