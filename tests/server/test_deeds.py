"""What a token may do is what is done, whatever way leads there: no deed without its scope, and with its scope it works.

The routes, their bodies and the options of these are read from the application. Deeds are observed where they arrive: at a
site that is searched and read, at a model, in what is stored, and in what is told.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import BaseModel

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")

from server.openapi_bodies import made, properties, resolved
from server.serving import Client, serving, settings_of
from server.test_accounts import PASSWORD, Team
from server.test_two_people import Owned, Way, ways
from support.oai import ModelServer, reply, serve_model, usage
from support.site import Reply, Seen, Site, json_reply, serve
from support.site import reply as page_reply
from support.talk import openai
from support.timing import PATIENCE, soon
from suyuan.config.settings import PeopleSettings
from suyuan.core.person import SCOPES, Scope
from suyuan.server.compat.jina import Read
from suyuan.server.compat.tavily import TavilySearch
from suyuan.server.compat.tavily_research import Wish
from suyuan.store.accounts import add_account

OWN, ARCHIVED, OTHER = "walrus", "narwhal", "quentin"
"""In everything that is the person's own; in a page that was read before and says so no more; another's name."""
TOKENS = 27
"""What each request to the model uses."""
ASKED = "harbour of arvika"
NEEDS: dict[str, Scope] = {
    "search": "search",
    "page": "read",
    "model": "chat",
    "private": "chat",
    "write": "chat",
    "admin": "admin",
}
"""The scope that each deed needs."""
NO_SCOPE = ("/api/login", "/api/logout", "/logout", "/s/", "/api/shared/", "/static/", "/demo", "/healthz", "/api/password",
            "/settings/password", "/v1/models/")  # fmt: skip
"""What is open to all, or ends the login of a browser, or needs the password besides; tried elsewhere."""
MANUAL: dict[str, type[BaseModel]] = {"/search": TavilySearch, "/research": Wish, "/r": Read, "/r/": Read}
"""Bodies that are read by hand, and so are not in the description."""
CHECKS = ("/settings/doctor", "/api/models/", "/api/engines/")
"""What asks engines and models to see whether they answer; that is administration."""
DULL = ("topic", "citation_format", "length", "format", "formats", "lang", "role", "fresh", "render", "stream", "revoke_tokens",
        "disabled", "tool_choice", "country")  # fmt: skip
"""Options that do the same in another way, or end what the other requests need."""
FREE_TEXTS = {"query": ASKED, "q": ASKED, "question": ASKED, "text": ASKED, "input": ASKED, "title": f"the {OWN}"}


@dataclass
class World:
    """A server, a person with something of their own, and the places where deeds arrive."""

    team: Team
    site: Site
    model: ModelServer
    owned: Owned = field(default_factory=Owned)
    kept_page: str = f"The harbour of Arvika has a {ARCHIVED}."
    number: int = 0
    """Makes each page another one, so that none is known already."""
    unsearched: int = 0
    """The searches that were for nobody: to see whether an engine answers."""
    uncounted: int = 0
    """The requests to the model that were for nobody: to see whether it answers."""

    async def settle(self) -> None:
        """Wait until nothing runs any more."""
        state = self.team.served.app.state
        service = state.client.research_service

        def idle() -> bool:
            working = state.metrics.running or service.workers.own or state.crawls.running()
            return not working and not state.health._tasks

        assert await soon(idle, 4 * PATIENCE), "something still runs"

    def stored(self) -> tuple[str, str]:
        """What is stored of people's own things, and of the accounts and settings of the server."""
        with self.team.people._database.read() as connection:

            def rows(what: str) -> str:
                return str(connection.exec_driver_sql(f"SELECT {what}").all())

            own = [rows(f"count(*) FROM suyuan_{name}") for name in ("conversations", "messages", "research", "shares")]
            own.append(rows("title, mode, search, engine, deleted_at, pinned_at FROM suyuan_conversations"))
            own += [
                rows("state, plan, stopping FROM suyuan_research"),
                rows("id, scopes FROM suyuan_tokens WHERE label=''"),
            ]
            accounts = rows("name, role, quotas, disabled_at FROM suyuan_people")
        uploads = [str(each) for each in self.team.data.glob("people/*/uploads/*/*")]
        kept = [
            each.read_text()
            for each in (self.team.data / "models.json", self.team.data / "engine-keys.json")
            if each.exists()
        ]
        return str([own, sorted(uploads)]), str([accounts, kept])

    async def deeds(self, ask: Client, sent: Sending) -> tuple[set[str], int, str]:
        """What a request does, and its answer."""
        searched, read, asked = self._counts()
        before = self.stored()
        self.number += 1
        status, text = await sent.by(ask, self.number)
        await self.settle()
        # A crawl is something that was read; the person's own has its address.
        text = text.replace(f"http://10.0.0.1/{OWN}", "")
        after, done = self.stored(), set[str]()
        now = self._counts()
        seen = {"search": now[0] > searched, "page": now[1] > read, "model": now[2] > asked,
                "private": OWN in text or ARCHIVED in text, "write": before[0] != after[0],
                "admin": before[1] != after[1] or OTHER in text or "suyuan_http_requests_total" in text}  # fmt: skip
        done.update(name for name, happened in seen.items() if happened)
        if sent.path.startswith(CHECKS) and done & {"search", "page", "model"}:
            done = done - {"search", "page", "model"} | {"admin"}
            self.unsearched += now[0] - searched
            self.uncounted += now[2] - asked
        return done, status, text

    def _counts(self) -> tuple[int, int, int]:
        paths = [seen.path for seen in self.site.seen]
        searches, checks = paths.count("/search"), paths.count("/healthz")
        return searches, len(paths) - searches - checks, len(self.model.requests)


@dataclass(frozen=True)
class Sending:
    """One request."""

    way: Way
    path: str
    body: Any
    is_form: bool

    async def by(self, ask: Client, number: int) -> tuple[int, str]:
        path, body = (text.replace("/harbour", f"/harbour/{number}") for text in (self.path, json.dumps(self.body)))
        kind = {"data" if self.is_form else "json": json.loads(body)}
        async with ask.session.request(self.way.method, ask.url + path, allow_redirects=False, **kind) as answer:
            if answer.content_type != "text/event-stream":
                return answer.status, await answer.text()
            text = ""
            try:
                async with asyncio.timeout(0.3 if "/changes" in self.path else PATIENCE):
                    async for line in answer.content:
                        text += line.decode("utf-8", "replace")
            except TimeoutError:
                pass
            return answer.status, text


@asynccontextmanager
async def world(data: Path) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        here: World

        def answer(seen: Seen) -> Reply:
            if seen.path == "/healthz":
                return json_reply("OK")
            if seen.path == "/search":
                found = {
                    "title": "Harbour",
                    "url": f"{here.site.url}/harbour/{here.number}",
                    "content": "The harbour of Arvika.",
                    "engine": "x",
                }
                return json_reply(json.dumps({"query": "q", "results": [found], "unresponsive_engines": []}))
            said = here.kept_page if seen.path == "/kept" else "The harbour of Arvika was built in 1811 by Karin Lund."
            return page_reply(
                f"<html><title>Harbour</title><body><p>{said} " + "It lies by a lake. " * 20 + "</p></body></html>"
            )

        site = await stack.enter_async_context(serve(answer))
        model = stack.enter_context(
            serve_model([[reply("The harbour was built in 1811 [1]."), usage(20, TOKENS - 20)]])
        )
        base = settings_of(site.url, data=data, model=openai(model.url))
        pages = replace(base.pages, allow_networks=("127.0.0.0/8",))
        settings = replace(base, pages=pages, people=PeopleSettings())
        served = stack.enter_context(serving(settings, users=True))
        people = served.app.state.client.chat.store.people
        for name in (OTHER, "bob"):
            add_account(people, name, PASSWORD)
        people.change(people.named("bob").id, role="admin")
        here = World(Team(served, people, data), site, model)
        yield here


def variants(described: Any, schema: Any, world: World) -> Iterator[dict[str, Any]]:
    """Bodies that fit a schema: one with what it needs, and one for each option that could reach something else."""
    whole = made(described, schema)
    fields = properties(described, schema)
    base = {name: _text(name, value, world) for name, value in whole.items()}
    yield base
    for name, part in fields.items():
        for value in _options(described, name, part, world):
            yield {**base, name: value}


def _text(name: str, value: Any, world: World) -> Any:
    if name in ("url", "webhook"):
        return f"{world.site.url}/harbour"
    if name == "urls":
        return [f"{world.site.url}/harbour"]
    if name == "messages":
        return [{"role": "user", "content": ASKED}]
    if name == "model":
        return "suyuan"
    return FREE_TEXTS.get(name, value) if isinstance(value, str) else value


def _options(described: Any, name: str, part: Any, world: World) -> Iterator[Any]:
    """The values of a field by which a request could do something else."""
    page = f"{world.site.url}/harbour"
    own = f"{world.team.served.url}/library/{world.owned.ids['document']}/note.txt"
    special = {"engines": ("library", "archive", "library+searxng"), "engine": ("library",), "focus": ("mine",),
               "url": (own, page), "urls": ([own], [page]), "depth": ("results", "passages", "pages"),
               "name": ("mine",), "input": (ASKED,)}  # fmt: skip
    if name in special:
        yield from special[name]
        return
    if name in DULL:
        return
    kinds = [resolved(described, each) for each in part.get("anyOf", [part])]
    for kind in kinds:
        if kind.get("type") == "boolean":
            yield not part.get("default", False)
        elif len(kind.get("enum", ())) > 1:
            yield from kind["enum"]


def sendings(world: World) -> list[Sending]:
    """All requests to try, those that end something last."""
    app, ids = world.team.served.app, dict(world.owned.ids)
    described, found = app.openapi(), list[Sending]()
    for way in ways(app, skipped=NO_SCOPE):
        if way.path == "/r/{url:path}":
            way = replace(way, path=f"/r/{world.site.url}/harbour", in_path=())
        (path, body), *_ = way.tries(ids, ids) if way.in_path or way.in_body else [(way.path, way.body)]
        if way.is_form and not way.path.startswith("/api/library"):
            found.append(Sending(way, path, {**(body or {}), "text": ASKED, "question": ASKED}, True))
        schema = way.schema
        if way.method == "POST" and way.path in MANUAL:
            found += [
                Sending(way, path, each, False)
                for each in variants(described, MANUAL[way.path].model_json_schema(), world)
            ]
        elif way.path == "/api/library" and way.method == "POST":
            found.append(Sending(way, path, {"url": f"{world.site.url}/harbour"}, True))
        elif schema is not None and not way.is_form:
            more = {name: ids[way.kind(name)] for name in way.in_body if name == "answer"}
            found += [Sending(way, path, {**each, **more}, False) for each in variants(described, schema, world)]
        elif not way.is_form:
            found.append(Sending(way, path, None, False))
            if way.method == "GET" and not way.in_path and not path.startswith(("/api/", "/v")):
                queries = (
                    f"q={ASKED}&format=json",
                    f"q={ASKED}&format=json&engines=library",
                    f"q={ASKED}&extra_snippets=true",
                )
                found += [Sending(way, f"{path}?{query}", None, False) for query in queries]
    return sorted(found, key=lambda each: (each.way.method == "DELETE", each.way.path.endswith("/logout")))


async def test_no_deed_without_its_scope(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(world(tmp_path))

        async def as_(*scopes: str) -> Client:
            return await stack.enter_async_context(here.team.as_("bob", scopes=scopes))

        everything = await as_(*SCOPES)
        without = {scope: await as_(*(each for each in SCOPES if each != scope)) for scope in SCOPES}
        await here.owned.make(everything)
        form = aiohttp.FormData()
        form.add_field("files", io.BytesIO(f"The {ASKED} has a {OWN}.".encode()), filename=f"{OWN}.txt")
        async with everything.session.post(everything.url + "/api/library", data=form) as answer:
            here.owned.ids["document"] = (await answer.json())["documents"][0]["id"]
        here.team.people.note(OTHER, "login")
        assert (await everything("POST", "/api/fetch", {"url": f"{here.site.url}/kept"}))[0] == 200
        here.kept_page = ""
        await here.settle()
        reached: dict[str, set[str]] = {}
        for sent in sendings(here):
            told, ends = (sent.way.method, sent.path, sent.body), sent.way.method == "DELETE"
            # What ends something is tried last with the right to it.
            done = set(NEEDS) if ends else (await here.deeds(everything, sent))[0]
            for scope in {NEEDS[deed] for deed in done}:
                wrong, status, text = await here.deeds(without[scope], sent)
                refused = not {deed for deed in wrong if NEEDS[deed] == scope} and status != 500
                assert refused, (told, scope, wrong, status, text[:300])
            if ends:
                done, _, _ = await here.deeds(everything, sent)
            elif done:
                await works(sent, done, as_, here)
            for deed in done:
                reached.setdefault(deed, set()).add(sent.way.path)
        for deed, paths in EXPECTED.items():
            assert paths <= reached[deed], (deed, paths - reached[deed])
        # And all of it was counted for the one who did it.
        searched, _, asked = here._counts()
        used = here.team.people.used(here.team.people.named("bob").id)
        assert used["tokens"] == (asked - here.uncounted) * TOKENS
        assert used["searches"] >= searched - here.unsearched > 100


EXPECTED = {
    "search": {"/api/search", "/search", "/v2/search", "/res/v1/web/search", "/openwebui/search", "/v1/chat/completions",
               "/v1/responses", "/v1/messages", "/research", "/api/research", "/api/conversations"},
    "page": {"/api/search", "/search", "/api/fetch", "/extract", "/crawl", "/map", "/v2/scrape", "/v2/crawl", "/r", "/openwebui/load",
             "/api/library", "/v2/batch/scrape", "/res/v1/web/search"},
    "model": {"/search", "/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/conversations", "/ask", "/research",
              "/api/conversations/{id}/messages", "/api/conversations/{id}/retry"},
    "private": {"/api/search", "/search", "/api/fetch", "/extract", "/v2/scrape", "/r", "/api/library", "/api/conversations", "/",
                "/library/{id}/{name}", "/api/conversations/{id}/export", "/api/research/{id}"},
    "write": {"/api/conversations", "/api/research", "/api/tokens", "/api/conversations/{id}/shares"},
    "admin": {"/api/users", "/api/audit", "/metrics", "/settings/doctor", "/api/models"},
}  # fmt: skip
"""Where each deed is reached at least: else nothing was tried."""


async def works(sent: Sending, done: set[str], as_: Any, here: World) -> None:
    """What was done is done with its scopes alone, and those that the refusals name."""
    told, scopes = (sent.way.method, sent.path, sent.body), {NEEDS[deed] for deed in done}
    if told[:2] == ("GET", "/api/tokens"):
        # A token sees others only if it has made them.
        return
    while True:
        found, status, text = await here.deeds(await as_(*scopes), sent)
        named = {scope for scope in SCOPES if status == 403 and f"scope {scope}" in text}
        if not named - scopes:
            break
        scopes |= named
    # What was changed the first time may be gone, have a name already, or stay as it is.
    unchanged = done <= {"write", "admin"} and status < 400
    assert unchanged or status in (404, 409) or done <= found | {"write"}, (
        told,
        scopes,
        done,
        found,
        status,
        text[:300],
    )
