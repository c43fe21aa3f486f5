"""Accounts over HTTP: log in and out, API tokens, links to share, and for administrators people and the audit log."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from ..core.causes.people import (
    LOGIN_NEEDED,
    NO_ACCOUNTS,
    NO_SUCH_SHARE,
    NO_SUCH_TOKEN,
    OWN_PASSWORD,
    SCOPE_MISSING,
)
from ..core.errors import SuyuanError
from ..core.own_address import document_id, without_documents
from ..core.person import DEFAULT_SCOPES, EVERYBODY, SCOPES, Person, current_person, owner, require
from ..core.result import LIBRARY
from ..net.credentials import client_key
from ..store.accounts import Accounts, add_account, check_admins, make_token, set_password
from ..store.logins import Logins, digest_of
from ..store.people import Account, People
from .api import FAILURES, client_from
from .cookies import Cookies

router = APIRouter(prefix="/api", responses=FAILURES, tags=["people"])

_DAYS = Field(None, gt=0, le=3650, description="For how many days; none for no end.")


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class LoginIn(_In):
    """Name and password."""

    name: str = Field(max_length=200)
    password: str = Field(max_length=1000)


class MeOut(BaseModel):
    """Who asks."""

    accounts: bool = Field(description="Whether this server has accounts; without them there is one person.")
    name: str
    role: Literal["admin", "member"]
    scopes: list[str]
    quotas: dict[str, float] = Field(
        {}, description="By day: searches, answers, tokens, money; in all: documents, in MB. 0 for no limit."
    )
    used: dict[str, float] = {}


class NewUser(_In):
    """A new account."""

    name: str = Field(max_length=64)
    password: str = Field(max_length=1000)
    role: Literal["admin", "member"] = "member"


class UserChange(_In):
    """What to change of an account."""

    password: str | None = Field(None, max_length=1000)
    role: Literal["admin", "member"] | None = None
    disabled: bool | None = None
    quotas: (
        dict[Literal["searches", "answers", "tokens", "money", "documents"], Annotated[float, Field(ge=0)]] | None
    ) = None

    revoke_tokens: bool = Field(False, description="Whether all API tokens of the account end.")


class PasswordChange(_In):
    """The password that one has, and the one that one wants."""

    old: str = Field(max_length=1000)
    new: str = Field(max_length=1000)
    revoke_tokens: bool = Field(False, description="Whether all of one's own API tokens end as well.")


class PasswordChanged(BaseModel):
    """What else leads to the account."""

    tokens: list[dict[str, Any]] = Field(description="The API tokens that go on.")
    revoked: int


class NewToken(_In):
    """A new API token."""

    label: str = Field("", max_length=100)
    scopes: list[str] = Field(["search", "read", "chat"], min_length=1, max_length=20, fail_fast=True)
    days: float | None = _DAYS


class NewShare(_In):
    """A new link."""

    days: float | None = _DAYS


def _accounts(request: Request) -> Accounts:
    accounts: Accounts | None = request.app.state.accounts
    if accounts is None:
        raise NO_ACCOUNTS()
    return accounts


def _note(request: Request, people: People, action: str, what: str = "") -> None:
    people.note(current_person.get().name, action, what, client_key(request.scope))


# --- oneself ----------------------------------------------------------------------------------------------------------
@router.post("/login", response_model=MeOut)
async def log_in(request: Request, body: LoginIn) -> Response:
    """Log in; the answer sets a cookie."""
    accounts = _accounts(request)
    account = await accounts.log_in(body.name, body.password, client_key(request.scope))
    value, seconds = await accounts.logins.begin(account.id)
    person = Person(account.id, account.name, account.role)
    current_person.set(person)
    response = JSONResponse(await _me(request, person))
    response.headers.append("Set-Cookie", request.app.state.cookies.set(value, seconds, request))
    return response


@router.post("/logout", status_code=204)
async def log_out(request: Request) -> Response:
    """Log this browser out, also of a server that has a token in place of accounts."""
    logins: Logins | None = request.app.state.logins
    if logins is None:
        raise NO_ACCOUNTS()
    cookies: Cookies = request.app.state.cookies
    if cookie := cookies.read(request):
        await logins.end(cookie)
    response = Response(status_code=204)
    for header in cookies.ended(request):
        response.headers.append("Set-Cookie", header)
    return response


@router.post("/password", response_model=PasswordChanged)
async def change_password(request: Request, body: PasswordChange) -> Response:
    """Change one's own password: all logins end, this browser gets a new one, and the API tokens are told.

    They go on, since programs work with them, unless ``revoke_tokens`` is set.
    """
    left, revoked, cookie = await new_password(request, body)
    response = JSONResponse({"tokens": left, "revoked": revoked})
    response.headers.append("Set-Cookie", cookie)
    return response


async def new_password(request: Request, body: PasswordChange) -> tuple[list[dict[str, Any]], int, str]:
    """Change the password of the person who asks: the tokens that are left, how many ended, and the new cookie."""
    accounts, person = _accounts(request), require(*DEFAULT_SCOPES)
    # Counted as a login: whoever finds an open browser must not try all passwords.
    account = await accounts.log_in(person.name, body.old, client_key(request.scope))

    def work(people: People) -> tuple[list[dict[str, Any]], int]:
        set_password(people, account, body.new)
        _note(request, people, "password changed", account.name)
        revoked = _revoke_all(request, people, account) if body.revoke_tokens else 0
        return [token.view() for token in people.tokens(account.id)], revoked

    left, revoked = await accounts.in_store(work)
    accounts.forget_known()
    value, seconds = await accounts.logins.begin(account.id)
    cookies: Cookies = request.app.state.cookies
    return left, revoked, cookies.set(value, seconds, request)


def _revoke_all(request: Request, people: People, account: Account) -> int:
    """Revoke all API tokens of an account; return how many there were."""
    gone = people.tokens(account.id)
    for token in gone:
        people.remove_token(account.id, token.id)
        _note(request, people, "token revoked", token.id)
    return len(gone)


@router.get("/me", response_model=MeOut)
async def get_me(request: Request) -> dict[str, Any]:
    """Who asks, and what they may use today."""
    return await _me(request, current_person.get())


async def _me(request: Request, person: Person) -> dict[str, Any]:
    accounts: Accounts | None = request.app.state.accounts
    scopes = sorted(scope for scope in person.scopes if person.may(scope))
    me: dict[str, Any] = {"accounts": accounts is not None, "name": person.name, "role": person.role, "scopes": scopes}
    if accounts is None:
        return me
    account = await accounts.in_store(lambda people: people.by_id(person.id))
    if account is None:
        raise LOGIN_NEEDED()
    me["quotas"] = client_from(request).settings.people.limits(account.quotas)
    me["used"] = await accounts.in_store(lambda people: people.used(person.id))
    with suppress(SuyuanError):
        # Where there is no folder for documents, there are none.
        me["used"]["documents"] = await client_from(request).library.stored() / 1_000_000
    return me


@router.get("/tokens")
async def list_tokens(request: Request) -> dict[str, Any]:
    """One's own API tokens; the tokens themselves are not kept."""
    return {"tokens": await own_tokens(request)}


async def own_tokens(request: Request) -> list[dict[str, Any]]:
    """One's own API tokens, for the page as well; a token sees itself and those that it has made."""
    person = require(*DEFAULT_SCOPES)
    found = await _accounts(request).in_store(lambda people: people.tokens(person.id, _seen_from(person)))
    return [token.view() for token in found]


def _seen_from(person: Person) -> str:
    """The token from which other tokens are seen; empty where all are."""
    return "" if person.may("admin") else person.token


@router.post("/tokens", status_code=201)
async def create_token(request: Request, body: NewToken) -> dict[str, Any]:
    """A new API token, which is shown only now. It can do no more than the one who makes it."""
    person = require(*DEFAULT_SCOPES)

    def work(people: People) -> dict[str, Any]:
        account = people.named(person.name)
        for scope in body.scopes:
            if scope in SCOPES and not person.may(scope):
                raise SCOPE_MISSING(scope=scope)
        # Nor longer: a token that has leaked must not outlive its end, or its revocation, by another one.
        token, row = make_token(people, account, tuple(body.scopes), body.label, body.days, person)
        _note(request, people, "token created", row.id)
        return {"token": token, **row.view()}

    return await _accounts(request).in_store(work)


@router.delete("/tokens/{id}", status_code=204)
async def revoke_token(request: Request, id: str) -> Response:
    """Revoke an own API token and those that were made by it; a token only itself and those that it has made."""
    person = require(*DEFAULT_SCOPES)

    def work(people: People) -> None:
        seen = [each.id for each in people.tokens(person.id, _seen_from(person))]
        if id not in seen or not people.remove_token(person.id, id):
            raise NO_SUCH_TOKEN()
        _note(request, people, "token revoked", id)

    await _accounts(request).in_store(work)
    _accounts(request).forget_known()
    return Response(status_code=204)


# --- links to share ---------------------------------------------------------------------------------------------------
@router.post("/conversations/{id}/shares", status_code=201)
async def share_conversation(request: Request, id: str, body: NewShare | None = None) -> dict[str, Any]:
    """A link by which anybody can read this conversation as it is now; it is shown only now."""
    chat = client_from(request).chat
    await chat.get(id)
    token = secrets.token_urlsafe(24)
    expires = time.time() + body.days * 86_400 if body and body.days else None
    share = await chat.read(chat.store.people.add_share, id, digest_of(token), expires)
    await chat.read(_note, request, chat.store.people, "shared", id)
    return {**share.view(), "url": f"{request.app.state.cookies.base}/s/{token}"}


@router.get("/conversations/{id}/shares")
async def list_shares(request: Request, id: str) -> dict[str, Any]:
    """The links to a conversation."""
    chat = client_from(request).chat
    await chat.get(id)
    return {"shares": [share.view() for share in await chat.read(chat.store.people.shares, id)]}


@router.delete("/conversations/{id}/shares/{share}", status_code=204)
async def revoke_share(request: Request, id: str, share: str) -> Response:
    """Revoke a link."""
    chat = client_from(request).chat
    await chat.get(id)
    if not await chat.read(chat.store.people.remove_share, id, share):
        raise NO_SUCH_SHARE()
    await chat.read(_note, request, chat.store.people, "share revoked", id)
    return Response(status_code=204)


@router.get("/shares")
async def list_all_shares(request: Request) -> dict[str, Any]:
    """The links to all of one's own conversations, with their titles."""
    return {"shares": await own_shares(request)}


async def own_shares(request: Request, conversation: str = "") -> list[dict[str, Any]]:
    """One's own links that still lead somewhere, perhaps those to one conversation only."""
    person = owner()
    chat = client_from(request).chat
    found = await chat.read(chat.store.people.shares_of, person)
    views = [{**share.view(), "title": title} for share, title in found]
    return [view for view in views if conversation in ("", view["conversation"])]


@router.get("/shared/{token}")
async def read_shared(request: Request, token: str) -> dict[str, Any]:
    """A conversation that somebody has shared: its questions and answers, with sources, verdicts and passages."""
    title, found = await shared_messages(request, token)
    messages = [{key: each[key] for key in ("id", "role", "text", "state", "created_at", "answer")} for each in found]
    return {"title": title, "messages": messages}


_OWN_PARTS = ("url", "snippet", "summary", "quote", "link", "says", "details", "read_from")


def _for_all(message: dict[str, Any]) -> dict[str, Any]:
    """A message as everybody may see it: of own documents only the titles, no passage, path or address."""
    sources = (message["answer"] or {}).get("sources", ())
    own = frozenset(source["number"] for source in sources if _is_own(source))
    shown: dict[str, Any] = _without_own(message, own)
    return shown


def _is_own(source: Mapping[str, Any]) -> bool:
    """Whether a source is a document of the user, found by a search or read by its address."""
    addresses = (source.get("url"), source.get("read_from"))
    return source.get("engine") == LIBRARY or any(document_id(address) for address in addresses if address)


def _without_own(value: Any, own: frozenset[int]) -> Any:
    """``value`` without what belongs to the sources of these numbers, and without addresses of documents."""
    if isinstance(value, str):
        return without_documents(value)
    if isinstance(value, list | tuple):
        return [_without_own(item, own) for item in value]
    if not isinstance(value, dict):
        return value
    if _is_own(value) or value.get("number") in own:
        value = {**value, **{name: _empty(value[name]) for name in _OWN_PARTS if name in value}}
    return {name: _without_own(item, own) for name, item in value.items()}


def _empty(value: Any) -> str | None:
    return "" if isinstance(value, str) else None


async def shared_messages(request: Request, token: str) -> tuple[str, list[dict[str, Any]]]:
    """The title and the messages behind a link; raises a cause where it leads nowhere, or no more."""
    chat = client_from(request).chat

    def work() -> tuple[str, list[dict[str, Any]]]:
        share = chat.store.people.share(digest_of(token))
        if share is None:
            raise NO_SUCH_SHARE()
        # The link is the permission.
        current_person.set(EVERYBODY)
        conversation = chat.store.get(share.conversation)
        if conversation is None or conversation.deleted_at:
            raise NO_SUCH_SHARE()
        found = chat.store.messages_at(share.conversation, share.until)
        return without_documents(conversation.title), [_for_all(message.as_dict()) for message in found]

    return await chat.read(work)


# --- administrators ---------------------------------------------------------------------------------------------------
@router.get("/users")
async def list_users(request: Request) -> dict[str, Any]:
    """All accounts."""
    require("admin")
    limits = client_from(request).settings.people.limits

    def work(people: People) -> list[dict[str, Any]]:
        return [{**each.view(), "limits": limits(each.quotas), "used": people.used(each.id)} for each in people.all()]

    return {"users": await _accounts(request).in_store(work)}


@router.post("/users", status_code=201)
async def create_user(request: Request, body: NewUser) -> dict[str, Any]:
    """Create an account; whoever knows its password may do all that it may."""
    require("admin", *SCOPES)
    return await _changed(
        request, lambda people: add_account(people, body.name, body.password, body.role), "user added"
    )


@router.patch("/users/{name}")
async def change_user(request: Request, name: str, body: UserChange) -> dict[str, Any]:
    """Change password, role or quotas of an account, or close it; ``tokens`` are its API tokens that go on.

    A password or a role gives all that the account may do then: no token gives more than it may do itself. One's own
    password is changed with the old one.
    """
    administrator = require("admin")
    if body.password is not None or body.role is not None:
        require(*SCOPES)
    tokens: list[dict[str, Any]] = []

    def work(people: People) -> Account:
        account = people.named(name)
        if body.password is not None and account.id == administrator.id:
            raise OWN_PASSWORD()
        if body.disabled or (body.role and body.role != "admin"):
            check_admins(people, account)
        if body.password is not None:
            set_password(people, account, body.password)
        values = body.model_dump(exclude_none=True, exclude={"password", "revoke_tokens"})
        if values:
            people.change(account.id, **values)
        if body.revoke_tokens:
            _revoke_all(request, people, account)
        tokens.extend(token.view() for token in people.tokens(account.id))
        return people.named(name)

    return {**await _changed(request, work, "user changed"), "tokens": tokens}


@router.delete("/users/{name}")
async def delete_user(request: Request, name: str) -> dict[str, Any]:
    """Delete an account with everything that is its own."""
    client = client_from(request)

    def work(people: People) -> Account:
        account = people.named(name)
        check_admins(people, account)
        client.delete_person(account.id)
        return account

    return await _changed(request, work, "user deleted")


@router.get("/users/{name}/export")
async def export_user(request: Request, name: str) -> dict[str, Any]:
    """Everything that is kept about oneself; of others, for administrators, the account without what is their own."""
    person = current_person.get()
    own = name == person.name and person.may("chat")
    if not own:
        require("admin")

    def work(people: People) -> dict[str, Any]:
        data = client_from(request).export_person(name) if own else people.record(people.named(name))
        _note(request, people, "user exported", name)
        return data

    return await _accounts(request).in_store(work)


@router.get("/audit")
async def read_audit(
    request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 200, person: Annotated[str, Query()] = ""
) -> dict[str, Any]:
    """Who did what, the latest first."""
    require("admin")
    return {"audit": await _accounts(request).in_store(lambda people: people.noted(limit, person))}


async def _changed(request: Request, work: Callable[[People], Account], action: str) -> dict[str, Any]:
    """Change something of an account, as an administrator."""
    require("admin")

    def noted(people: People) -> Account:
        account = work(people)
        _note(request, people, action, account.name)
        return account

    accounts = _accounts(request)
    account = await accounts.in_store(noted)
    accounts.forget_known()
    return account.view()
