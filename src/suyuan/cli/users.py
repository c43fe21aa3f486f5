"""``suyuan users``: the accounts of a server."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..client import AsyncClient, Connect
from ..config.settings import Settings
from ..core.errors import SuyuanError
from ..core.person import DEFAULT_SCOPES, QUOTAS, SCOPES, Person, current_person
from ..core.private_file import write_private
from ..core.setting import number, whole
from ..messages.catalog import Texts
from .arguments import checked
from .failure import BAD_INPUT
from .tables import show_table
from .terminal import Terminal, asked, print_json

if TYPE_CHECKING:
    from ..store.people import Account, People, TokenRow


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    users = commands.add_parser("users", help=t("help.users"), description=t("help.users"))
    actions = users.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, work: Callable[..., int], about: str, *, person: bool = True) -> Any:
        parser = actions.add_parser(name, help=about, description=about)
        if person:
            parser.add_argument("name", metavar="NAME")
        parser.add_argument("--json", action="store_true", help=t("help.json"))
        parser.set_defaults(run=_run, failed="users.failed", work=work)
        return parser

    new = action("add", _add, t("help.users_add"))
    new.add_argument("--no-password", action="store_true", help=t("help.no_password"))
    new.add_argument("--role", choices=("admin", "member"), default=None, help=t("help.users_role_of"))
    action("list", _list, t("help.users_list"), person=False)
    password = action("password", _password, t("help.users_password"))
    password.add_argument("--revoke-tokens", action="store_true", help=t("help.revoke_tokens"))
    for parser in (new, password):
        parser.add_argument("--password-stdin", action="store_true", help=t("help.password_stdin"))
    action("role", _role, t("help.users_role")).add_argument("role", choices=("admin", "member"))
    token = action("token", _token, t("help.users_token"))
    token.add_argument("--scope", action="append", choices=SCOPES, default=None, help=t("help.scope"))
    token.add_argument("--days", type=checked(number(0.001, 3650), t), metavar="N", help=t("help.token_days"))
    token.add_argument("--label", default="", help=t("help.token_label"))
    quota = action("quota", _quota, t("help.users_quota"))
    for name in QUOTAS:
        quota.add_argument(f"--{name}", type=checked(number(0, 1e12), t), metavar="N")
    action("export", _export, t("help.users_export")).add_argument(
        "--output", type=Path, default=None, metavar="FILE", help=t("help.output")
    )
    action("delete", _delete, t("help.users_delete")).add_argument("--yes", action="store_true", help=t("help.yes"))
    action("audit", _audit, t("help.users_audit"), person=False).add_argument(
        "--limit", type=checked(whole(1, 100_000), t), default=50, metavar="N"
    )


def _run(args: argparse.Namespace, settings: Settings, t: Texts, connect: Connect = AsyncClient) -> int:
    client = connect(settings)
    try:
        return int(args.work(args, client, t))
    finally:
        client.close_sync()


def _people(client: AsyncClient) -> People:
    return client.chat.store.people


def _add(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    from ..store.accounts import add_account

    password = "" if args.no_password else _given_password(args, t)
    account = add_account(_people(client), args.name, password, args.role, by_password=not args.no_password)
    _note(client, "user added", account)
    return _show(args, account.view(), t("users.added", name=account.name, role=account.role))


def _list(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    found = _people(client).all()
    rows = [(each.name, each.role, t("users.closed") if each.disabled_at else "") for each in found]
    return _show(args, {"users": [each.view() for each in found]}, rows or t("users.none"))


def _password(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    from ..store.accounts import set_password

    people = _people(client)
    account = people.named(args.name)
    set_password(people, account, _given_password(args, t))
    _note(client, "password set", account)
    tokens = people.tokens(account.id)
    revoked = _revoked(args, client, account, tokens, t)
    if args.json:
        left = [] if revoked else [each.view() for each in tokens]
        return _show(args, {**account.view(), "tokens": left, "revoked": revoked}, "")
    lines = [t("users.password_set", name=account.name)]
    if revoked:
        lines.append(t("users.tokens_revoked", count=revoked))
    elif tokens:
        lines.append(t("users.tokens_left", count=len(tokens), name=account.name))
    return _show(args, {}, "\n".join(lines))


def _revoked(
    args: argparse.Namespace, client: AsyncClient, account: Account, tokens: Sequence[TokenRow], t: Texts
) -> int:
    """Revoke the API tokens of an account where that is wanted, and whoever sits there is asked; return how many."""
    if not tokens:
        return 0
    if not args.json:
        rows = [(each.id, each.label, ", ".join(each.scopes), (each.used_at or "–")[:19]) for each in tokens]
        show_table(Terminal(sys.stdout), rows, ("API token", "", t("users.scopes"), t("users.used_at")))
    wanted = args.revoke_tokens
    if not wanted and not args.json and not args.password_stdin and sys.stdin.isatty():
        wanted = asked(t("users.revoke_sure", count=len(tokens))).strip().lower() in ("y", "yes", "是")
    if not wanted:
        return 0
    for each in tokens:
        _people(client).remove_token(account.id, each.id)
    _note(client, "tokens revoked", account)
    return len(tokens)


def _role(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    from ..store.accounts import check_admins

    people = _people(client)
    account = people.named(args.name)
    if args.role != "admin":
        check_admins(people, account)
    people.change(account.id, role=args.role)
    _note(client, f"role {args.role}", account)
    return _show(args, people.named(args.name).view(), t("users.role_set", name=account.name, role=args.role))


def _token(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    from ..store.accounts import make_token

    account = _people(client).named(args.name)
    token, row = make_token(_people(client), account, tuple(args.scope or DEFAULT_SCOPES), args.label, args.days)
    _note(client, "token created", account)
    return _show(args, {"token": token, **row.view()}, token)


def _quota(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    people = _people(client)
    account = people.named(args.name)
    given = {name: value for name in QUOTAS if (value := getattr(args, name)) is not None}
    if given:
        people.change(account.id, quotas={**account.quotas, **given})
        _note(client, "quota set", account)
        account = people.named(args.name)
    used, limits = people.used(account.id), client.settings.people.limits(account.quotas)
    current_person.set(Person(account.id, account.name))
    with suppress(SuyuanError):
        # Where there is no folder for documents, there are none.
        used["documents"] = client.bridge.run(client.library.stored()) / 1_000_000
    rows = [
        (name, f"{used.get(name, 0):g}", f"{limit:g}" if limit else t("users.no_limit"))
        for name, limit in limits.items()
    ]
    head = "", t("users.used"), t("users.limit")
    return _show(args, {"quotas": dict(account.quotas), "limits": limits, "used": used}, rows, head)


def _export(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    account = _people(client).named(args.name)
    data = client.export_person(account.name)
    _note(client, "user exported", account)
    if args.output is None:
        print_json(data)
        return 0
    try:
        write_private(args.output, json.dumps(data, ensure_ascii=False, indent=2))
    except OSError as error:
        Terminal(sys.stderr).line(t("debug.unwritten", path=args.output, why=error.strerror or error))
        return BAD_INPUT
    return 0


def _delete(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    from ..store.accounts import check_admins

    people = _people(client)
    account = people.named(args.name)
    check_admins(people, account)
    if not args.yes and asked(t("users.sure", name=account.name)).strip() != account.name:
        return 1
    gone = client.delete_person(account.id)
    _note(client, "user deleted", account)
    return _show(args, gone, t("users.deleted", name=account.name, conversations=gone["conversations"]))


def _audit(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    lines = _people(client).noted(args.limit)
    rows = [(each["at"][:19], each["person"], each["action"], each["what"]) for each in lines]
    return _show(args, {"audit": lines}, rows)


def _given_password(args: argparse.Namespace, t: Texts) -> str:
    if args.password_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return asked(t("users.password_prompt"), getpass.getpass)


def _note(client: AsyncClient, action: str, account: Account) -> None:
    _people(client).note("command line", action, account.name)


def _show(
    args: argparse.Namespace, view: dict[str, Any], shown: str | Sequence[Sequence[str]], head: Sequence[str] = ()
) -> int:
    """Write a text, or the rows of a table."""
    out = Terminal(sys.stdout)
    if args.json:
        print_json(view)
    elif isinstance(shown, str):
        out.line(shown)
    else:
        show_table(out, shown, head)
    return 0
