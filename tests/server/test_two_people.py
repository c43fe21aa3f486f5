"""Two people of one server against each other: every route of the application, with the other's ids in every place.

The routes, their bodies and the fields of these that hold ids are read from the application, so that a new route is tried
without a line here; where this file does not know whose an id is, the test fails and says so.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")

from server.openapi_bodies import made, properties
from server.serving import Client, client, serving, settings_of
from server.test_accounts import PASSWORD, Team
from support.oai import ModelServer, reply, serve_model
from support.site import Reply, Seen, serve, stall
from support.site import reply as reply_page
from support.talk import openai
from support.timing import PATIENCE, eventually
from suyuan.config.settings import PeopleSettings
from suyuan.store.accounts import add_account

SECRET = "walrus"
"""In everything that the owner has."""

OPEN = ("/static/", "/guide/", "/demo", "/r/", "/s/", "/api/shared/", "/v1/models/", "/healthz", "/api/login")
"""Routes that are nobody's: a link to share is a permission, and tried elsewhere."""
ADMIN = ("/api/users", "/api/audit", "/api/engines/", "/api/models/", "/metrics", "/settings/doctor")

KINDS = {
    "/api/conversations/{id}": "conversation", "/c/{id}": "conversation", "/api/research/{id}": "job",
    "/research/{id}": "job", "/api/tokens/{id}": "token", "/api/library/{id}": "document",
    "/library/{id}": "document", "/v1/responses/{id}": "response", "/v2/crawl/{id}": "crawl",
    "/v2/batch/scrape/{id}": "batch",
}  # fmt: skip
"""What the ``id`` of a route is the id of."""
PARAMETERS = {"run": "run", "share": "share"}
NO_IDS = {"number": "1", "action": "stop", "name": "bob", "form": "md"}
FIELDS = {
    "answer": "run", "instead_of": "question", "based_on": "job", "previous_response_id": "response", "resume": "crawl",
    "conversation": "conversation", "here": "conversation",
}  # fmt: skip
"""The fields of bodies, forms and queries that hold ids."""
# The id of a notice is tried in test_notices_api.py.
NO_ID_FIELDS = {"tool_call_id", "api_key", "cookie", "id"}
FORM = {"text": "mine now", "question": "mine now?", "plan": "mine"}


@dataclass
class Owned:
    """What a person has, by its kind."""

    ids: dict[str, str] = field(default_factory=dict)

    async def make(self, ask: Client) -> Owned:
        """One of each."""
        ids = self.ids
        ids["conversation"] = await ask.conversation(search=False)
        ids["run"] = await ask.ask(ids["conversation"], f"what of the {SECRET}?")
        await ask.answer(ids["run"])
        _, said = await ask("GET", f"/api/conversations/{ids['conversation']}/messages")
        ids["question"] = said["messages"][0]["id"]
        ids["share"] = (await ask("POST", f"/api/conversations/{ids['conversation']}/shares"))[1]["id"]
        ids["token"] = (await ask("POST", "/api/tokens", {"label": SECRET}))[1]["id"]
        wish = {"question": f"Where does the {SECRET} live?", "wait_for_plan": True}
        ids["job"] = (await ask("POST", "/api/research", wish))[1]["id"]
        ids["response"] = (await ask("POST", "/v1/responses", {"input": f"the {SECRET}"}))[1]["id"]
        url = f"http://10.0.0.1/{SECRET}"
        ids["crawl"] = (await ask("POST", "/v2/crawl", {"url": url}))[1]["id"]
        ids["batch"] = (await ask("POST", "/v2/batch/scrape", {"urls": [url]}))[1]["id"]
        form = aiohttp.FormData()
        form.add_field("files", io.BytesIO(f"A private note about the {SECRET}.".encode()), filename="note.txt")
        async with ask.session.post(ask.url + "/api/library", data=form) as answer:
            ids["document"] = (await answer.json())["documents"][0]["id"]

        async def planned() -> bool:
            return bool((await ask("GET", f"/api/research/{ids['job']}"))[1]["state"] == "awaiting_plan")

        assert await eventually(planned)
        return self

    async def state(self, ask: Client) -> str:
        """All of it as it is now."""
        found = []
        for path in (
            "/api/conversations", f"/api/conversations/{self.ids['conversation']}/messages", "/api/shares", "/api/tokens",
            f"/api/research/{self.ids['job']}", "/api/library", f"/v1/responses/{self.ids['response']}", "/api/me",
        ):  # fmt: skip
            status, told = await ask("GET", path)
            assert status == 200, (path, told)
            found.append({**told, "used": None} if path == "/api/me" else told)
        return re.sub(r'"(used_at|updated_at)": ("[^"]*"|null)', "", json.dumps(found))


@dataclass(frozen=True)
class Way:
    """A route, with the places in which an id stands."""

    method: str
    path: str
    body: Any
    is_form: bool
    in_path: tuple[str, ...]
    in_body: tuple[str, ...]
    schema: Any = None

    def tries(self, own: dict[str, str], other: dict[str, str]) -> Iterator[tuple[str, Any]]:
        """The request with every id of the other, and with each one of them among own ones."""
        places = [*self.in_path, *self.in_body]
        for foreign in [set(places), *({place} for place in places if len(places) > 1)]:
            yield self._request({place: (other if place in foreign else own)[self.kind(place)] for place in places})

    def kind(self, place: str) -> str:
        """What the id in a place is the id of."""
        if place in self.in_body:
            return FIELDS[place]
        known = next((kind for start, kind in KINDS.items() if self.path.startswith(start)), "")
        found = known if place == "id" else PARAMETERS.get(place, "")
        assert found, f"whose ids are {place} of {self.method} {self.path}?"
        return found

    def _request(self, ids: dict[str, str]) -> tuple[str, Any]:
        path = re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: ids.get(found[1]) or NO_IDS[found[1]], self.path)
        more = {name: ids[name] for name in self.in_body}
        return path, {**self.body, **more} if isinstance(self.body, dict) else self.body


def ways(app: Any, skipped: tuple[str, ...] = OPEN) -> list[Way]:
    """Every route and method of the application, without those whose paths begin in one of these ways."""
    described = app.openapi()
    found = []
    for route, methods in _routes(app):
        if route.startswith(skipped):
            continue
        in_path = tuple(name for name in re.findall(r"\{(\w+)", route) if name not in NO_IDS)
        for method in methods:
            schema, is_form = _schema_of(described, route, method)
            fields = properties(described, schema)
            names = {*fields, *(FIELDS if is_form and not in_path else ())}
            unknown = [name for name in fields if re.search(r"(^|_)id$", name) and name not in FIELDS]
            assert set(unknown) <= NO_ID_FIELDS, f"whose ids are {unknown} of {method} {route}?"
            in_body = tuple(name for name in FIELDS if name in names)
            body = FORM if is_form else made(described, schema) if schema else None
            found.append(Way(method, route, body, is_form, in_path, in_body, schema))
    return found


def _routes(router: Any) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for route in router.routes:
        if included := getattr(route, "original_router", None):
            found += _routes(included)
        elif methods := getattr(route, "methods", None):
            found.append((route.path, sorted(methods - {"HEAD", "OPTIONS"})))
    return found


def _schema_of(described: Any, route: str, method: str) -> tuple[Any, bool]:
    """The schema of the body of a route; a route of the page without one takes a form."""
    way = described["paths"].get(re.sub(r":\w+\}", "}", route), {}).get(method.lower())
    if way is None:
        return None, method == "POST"
    content = way.get("requestBody", {}).get("content", {})
    return next((kind["schema"] for kind in content.values()), None), "multipart/form-data" in content


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with serve_model([[reply("an answer.")]]) as model, team_of(model, tmp_path_factory.mktemp("team")) as running:
        yield running


@contextmanager
def team_of(model: ModelServer, data: Path) -> Iterator[Team]:
    """A server with four people."""
    settings = replace(settings_of(data=data, model=openai(model.url)), people=PeopleSettings())
    with serving(settings, users=True) as served:
        people = served.app.state.client.chat.store.people
        for name in ("anna", "bob", "carl", "dora"):
            add_account(people, name, PASSWORD)
        yield Team(served, people, data)


async def sent(ask: Client, way: Way, path: str, body: Any) -> tuple[int, str]:
    """Status and text of a request, as far as it comes at once: streams do not end."""
    kind = {"data": body} if way.is_form else {"json": body}
    headers = {"Accept": "text/html"} if way.is_form else {}
    async with ask.session.request(
        way.method, ask.url + path, allow_redirects=False, headers=headers, **kind
    ) as answer:
        text = ""
        if answer.content_type == "text/event-stream":
            text = (await answer.content.read(5000)).decode("utf-8", "replace")
        else:
            text = await answer.text()
        return answer.status, text


async def test_nobody_reads_or_changes_what_is_anothers(team: Team) -> None:
    async with team.as_("bob") as bob, team.as_("carl") as carl, asyncio.timeout(4 * PATIENCE):
        owner, other = await Owned().make(bob), await Owned().make(carl)
        before, tried = await owner.state(bob), 0
        for way in ways(team.served.app):
            if not way.in_path and not way.in_body:
                continue
            for path, body in way.tries(other.ids, owner.ids):
                status, text = await sent(carl, way, path, body)
                told = (way.method, path, body, status, text[:300])
                # A form for something new takes no notice of fields that are not its own.
                assert status == 404 or (way.is_form and not way.in_path), told
                assert not _tells(text), told
                tried += 1
        assert tried > 60, "the routes were found"
        assert await owner.state(bob) == before


def _tells(text: str) -> bool:
    """Whether a text has something that is the owner's; what was asked for may be named."""
    return "Where does" in text or "what of the" in text or "private note" in text


async def test_what_is_listed_and_searched_is_ones_own(team: Team) -> None:
    """Every route without ids, as somebody who has nothing."""
    async with team.as_("bob") as bob, team.as_("dora") as dora, asyncio.timeout(4 * PATIENCE):
        owner = await Owned().make(bob)
        for way in ways(team.served.app):
            if way.in_path or way.path == "/api/logout":
                continue
            body = {**way.body, "query": SECRET} if isinstance(way.body, dict) and "query" in way.body else way.body
            path = (
                way.path if way.method != "GET" else f"{way.path}?q={SECRET}&text={SECRET}&query={SECRET}&format=json"
            )
            status, text = await sent(dora, way, path, body)
            assert not any(id in text for id in owner.ids.values()) and not _tells(text), (way, status, text[:300])
            for_admins = way.path.startswith(ADMIN) or (way.method, way.path) == ("POST", "/api/models")
            refused = status == 403 and "guard_refused" not in text
            assert refused == for_admins, (way, status, text[:300])


@pytest.mark.parametrize("scope", ["search", "read"])
async def test_a_token_for_one_thing_tells_nothing_of_the_rest(team: Team, scope: str) -> None:
    async with team.as_("bob") as bob, team.as_("bob", scopes=(scope,)) as narrow, asyncio.timeout(4 * PATIENCE):
        owner = await Owned().make(bob)
        before = await owner.state(bob)
        for way in ways(team.served.app):
            if way.path in ("/api/logout", "/api/me"):
                continue
            # A crawl is something that was read.
            ids = {kind: id for kind, id in owner.ids.items() if scope != "read" or kind not in ("crawl", "batch")}
            ids |= {kind: "x" for kind in owner.ids if kind not in ids}
            for path, body in way.tries(ids, ids):
                for query in ("", "?q=x", "?q=x&format=html", "?format=json&q=x"):
                    status, text = await sent(narrow, way, path + query, body)
                    assert not _tells(text), (way.method, path + query, status, text[:300])
        assert await owner.state(bob) == before


async def test_no_way_leads_around_a_quota(tmp_path: Path) -> None:
    """Whoever has used up their answers gets none, by any route and any body."""
    # A server of its own: answers that other tests have begun may still ask their model.
    with serve_model([[reply("an answer.")]]) as model, team_of(model, tmp_path) as team:
        people = team.people
        people.change(people.named("dora").id, quotas={"answers": 1})
        people.count(people.named("dora").id, {"answers": 1})
        async with team.as_("dora") as dora, asyncio.timeout(4 * PATIENCE):
            kinds = {*KINDS.values(), *FIELDS.values(), "run", "share"}
            mine = {kind: await dora.conversation(search=False) for kind in kinds}
            refused = 0
            for way in ways(team.served.app):
                if way.path == "/api/logout":
                    continue
                for path, body in way.tries(mine, mine):
                    for each in _with_answers(way, path, body):
                        status, _ = await sent(dora, way, path, each)
                        refused += status == 429
            assert not model.requests and refused > 8


def _with_answers(way: Way, path: str, body: Any) -> list[Any]:
    """A body, and the same with the wish for an answer."""
    if path == "/search" and not way.is_form:
        return [{"query": "x", "include_answer": True}]
    if not isinstance(body, dict):
        return [body]
    return [body, {**body, "text": "a question"} if "text" in body else {**body, "include_answer": True}]


async def test_one_person_cannot_take_all_crawls(tmp_path: Path) -> None:
    async with serve(lambda _: stall) as site:
        base = settings_of(data=tmp_path)
        settings = replace(base, pages=replace(base.pages, allow_networks=("127.0.0.0/8",)))
        with serving(settings, users=True) as served:
            people = served.app.state.client.chat.store.people
            for name in ("bob", "carl"):
                add_account(people, name, PASSWORD)
            team = Team(served, people, tmp_path)
            async with team.as_("bob") as bob, team.as_("carl") as carl, asyncio.timeout(PATIENCE):
                tried = [(await bob("POST", "/v2/crawl", {"url": f"{site.url}/{n}"}))[0] for n in range(6)]
                assert tried == [200] * 4 + [429] * 2
                status, begun = await carl("POST", "/v2/crawl", {"url": site.url})
                assert status == 200, begun
                assert [each["id"] for each in (await carl("GET", "/v2/crawl/active"))[1]["crawls"]] == [begun["id"]]


async def test_a_crawl_ends_where_its_texts_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suyuan.pages.crawl.MOST_CHARACTERS", 100_000)
    text = "<p>" + "A sentence about the harbour and its lighthouse. " * 800

    def answer(seen: Seen) -> Reply:
        links = "".join(f"<a href=/{seen.path.strip('/')}{n}>{n}</a>" for n in range(5))
        return reply_page(f"<html><title>A page</title><body>{text}{links}")

    async with serve(answer) as site:
        base = settings_of(data=tmp_path)
        settings = replace(base, pages=replace(base.pages, allow_networks=("127.0.0.0/8",)))
        with serving(settings) as served:
            async with client(served.url) as ask, asyncio.timeout(2 * PATIENCE):
                status, told = await ask("POST", "/crawl", {"url": site.url, "max_depth": 5, "limit": 200})
                assert status == 200 and 2 <= len(told["results"]) <= 10
                assert not told["suyuan"]["complete"] and "characters" in str(told["suyuan"]["not_honoured"])
