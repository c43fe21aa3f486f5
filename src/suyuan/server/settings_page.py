"""The settings page: models, engines with their health, kinds of sources, privacy, language, appearance, keys."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import ValidationError

from .. import __version__
from ..client import AsyncClient
from ..core.causes.people import PASSWORD_WEAK
from ..core.person import current_person, require
from ..doctor import engines as doctor
from ..doctor import model
from ..guides import documents
from ..llm.settings import EMBEDDED
from ..messages.catalog import languages
from ..store.accounts import LEAST_PASSWORD, Accounts
from . import health
from .api import client_from
from .cookies import Cookies
from .engines import needs
from .errors import language_of
from .page import THEMES, focus_titles, form_fields, render_page
from .people_api import PasswordChange, log_out, new_password, own_shares, own_tokens, revoke_token
from .static_files import beside
from .texts import PageTexts

router = APIRouter(include_in_schema=False)

_YEAR = 31_536_000
_KEYS = ("send", "line", "focus", "new", "move", "evidence", "escape", "help")


@router.get("/settings")
async def settings_page(request: Request) -> Response:
    """All settings that can be seen or changed on the page."""
    client = client_from(request)
    t = PageTexts(language_of(request))
    sessions = client.chat.sessions
    known = _known_engines(client)
    titles = {each["name"]: each["title"] for each in known}
    return render_page(
        request,
        "settings.html",
        models=[{"name": name, "settings": own} for name, own in sessions.models.items()],
        default_model=sessions.default_model,
        embedded=EMBEDDED,
        engines=known,
        default_engine=t.plan(client.search_service.default, titles),
        may_connect=current_person.get().may("admin"),
        shares=await own_shares(request) if request.app.state.accounts else None,
        named=True,
        account=await _account(request),
        searxng=request.app.state.health.report(t.lang)["searxng"],
        # One that nobody asked for is no failure.
        searxng_wanted=doctor.searxng_configured(client),
        focuses=focus_titles(client, t),
        plans={
            name: (own.engines and t.plan(own.engines, titles), own.domains)
            for name, own in client.search_service.focuses.items()
        },
        data="PostgreSQL" if client.settings.shares_store else client.settings.data_dir,
        archive=client.archive is not None,
        keys=_KEYS,
        guides=documents.NAMES,
        version=__version__,
        state={
            "more": beside("more.js"),
            "testing": t("engines.testing"),
            "added": t("settings.library.added"),
            "offline": t("script.offline"),
        },
    )


async def _account(request: Request) -> dict[str, Any] | None:
    """What the section about the own account shows; None where this browser is not logged in."""
    cookies: Cookies = request.app.state.cookies
    accounts: Accounts | None = request.app.state.accounts
    if request.app.state.logins is None or not cookies.read(request):
        return None
    if accounts is None:
        return {"name": "", "tokens": None, "has_password": False, "changed": False}
    person = current_person.get()
    account = await accounts.in_store(lambda people: people.by_id(person.id))
    return {
        "name": person.name,
        "tokens": await own_tokens(request),
        "has_password": bool(account and account.password),
        "changed": "password" in request.query_params,
    }


def _known_engines(client: AsyncClient) -> list[dict[str, Any]]:
    """The engines that can be seen, those that can be used first."""
    entered = client.connected_engines.names()
    known = (
        {**each, "fields": needs(client, each["name"]), "entered": each["name"] in entered}
        for each in health.engines(client)
        if not each["hidden"]
    )
    return sorted(known, key=lambda each: (each["state"] == "no_key", not each["ready"]))


@router.post("/settings")
async def change_settings(request: Request) -> Response:
    """Set the language or the appearance, for this browser."""
    form = await form_fields(request)
    answer = RedirectResponse("/settings", 303)
    for name, allowed in (("lang", languages()), ("theme", THEMES)):
        if form.get(name) in allowed:
            answer.set_cookie(name, form[name], max_age=_YEAR, samesite="strict")
    return answer


@router.post("/logout")
async def log_out_of_page(request: Request) -> Response:
    """End the login of this browser and show the form."""
    answer = await log_out(request)
    answer.status_code, answer.headers["Location"] = 303, "/login"
    return answer


@router.post("/settings/password")
async def change_password(request: Request) -> Response:
    """Change one's own password by a form, and show the API tokens that go on."""
    form = await form_fields(request)
    asked = {name: form.get(name, "") for name in ("old", "new")}
    try:
        wanted = PasswordChange.model_validate(asked)
    except ValidationError:
        raise PASSWORD_WEAK(length=LEAST_PASSWORD) from None
    _, _, cookie = await new_password(request, wanted)
    answer = RedirectResponse("/settings?password=changed#account", 303)
    answer.headers.append("Set-Cookie", cookie)
    return answer


@router.post("/settings/tokens")
async def revoke_tokens(request: Request) -> Response:
    """Revoke one of one's own API tokens by a form, or all of them."""
    form = await form_fields(request)
    wanted = form.get("token", "")
    for token in await own_tokens(request):
        if wanted in (token["id"], "all"):
            await revoke_token(request, token["id"])
    return RedirectResponse("/settings#account", 303)


@router.post("/settings/doctor")
async def check_now(request: Request) -> Response:
    """The doctor's findings about engines and model, problems first."""
    # It asks the engines and the model, and tells where they are.
    require("admin")
    client = client_from(request)
    found = [each for part in await asyncio.gather(doctor.check(client), model.check(client)) for each in part]
    lang, secrets = language_of(request), client.settings.secrets
    findings = [each.redacted(secrets).as_dict(lang) for each in found if each.code != "unused"]
    return JSONResponse({"findings": sorted(findings, key=lambda each: each["level"] == "ok")})


@router.get("/dialog/keys")
async def keys_dialog(request: Request) -> Response:
    """The sheet of keyboard shortcuts."""
    return render_page(request, "keys.html", keys=_KEYS)
