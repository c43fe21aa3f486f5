"""What the documentation names exists: commands, settings, variables, extras, routes, fields of requests and of output."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import settings_of
from support.documentation import CURRENT, DOCS, ROOT, blocks, inline_code, keys, name_of, prose, tables, text_of
from suyuan.chat.answering import MAX_MESSAGE
from suyuan.chat.settings import AgentLimits
from suyuan.client import AsyncClient
from suyuan.config.engine_settings import engine_options
from suyuan.config.schema import agents_schema, config_schema
from suyuan.config.settings import ServerSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.setting import Setting, declarations
from suyuan.engines.registry import BUILT_IN
from suyuan.integrations.providers import StubProvider
from suyuan.net.credentials import LEAST_LENGTH
from suyuan.pages.crawl import MOST_PAGES
from suyuan.pages.local_files import MAX_FILE
from suyuan.research.request import EFFORTS
from suyuan.server.app import create_app
from suyuan.server.limits import (
    BODY_SECONDS,
    LARGEST_BODY,
    UPLOADS,
)
from suyuan.server.sockets import SEND_SECONDS

# Engines that the documentation writes, and variables that belong to other programs or to the folders.
EXAMPLES = ("NAME", "wiki", "example_wiki")
VARIABLES = {f"SUYUAN_{name}_DIR" for name in ("CONFIG", "DATA", "STATE")}
OPENAPI_METHODS = ("get", "post", "put", "patch", "delete")


# --- the command line -------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def parser() -> ArgumentParser:
    """The parser of the command line."""
    made: ArgumentParser = runpy.run_path(str(ROOT / "tools" / "cli_reference.py"))["english_parser"]()
    return made


@pytest.mark.parametrize("page", CURRENT, ids=name_of)
def test_commands_in_the_text_exist(page: Path, parser: ArgumentParser) -> None:
    wrong = [code for code in inline_code(page) if code.startswith("suyuan ") and not understood(parser, code)]
    assert wrong == []


def understood(parser: ArgumentParser, command: str) -> bool:
    """Whether a command is accepted, where brackets mean what may be left out, and capitals and ``…`` any value."""
    plain = re.sub(r"\[([^\]]*)\]", r"\1", command)
    words = [word.partition("|")[0] for word in shlex.split(plain)[1:]]
    words = ["1" if word == "N" else word for word in words if word != "…" or words[-1] == "…"]
    # What stands for the rest may be a command, or what it still needs; where a command is only named, it needs more.
    rest = [["search", "x"], ["show"], *([["x"] * more for more in range(4)])]
    attempts = [[*words, *more] for more in rest] + [[*words[:-1], *more] for more in rest if words[-1] == "…"]
    return any(accepted(parser, attempt) for attempt in attempts)


def accepted(parser: ArgumentParser, words: list[str]) -> bool:
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            parser.parse_args(words)
        except SystemExit as error:
            return not error.code
    return True


def test_an_unknown_option_is_not_understood(parser: ArgumentParser) -> None:
    assert understood(parser, "suyuan users add NAME [--role admin|member]")
    assert not any(
        understood(parser, f"suyuan {words}") for words in ("search --nothing", "nothing", "users add NAME --nothing …")
    )


def test_hidden_options_are_not_in_the_reference() -> None:
    assert "SUPPRESS" not in text_of(DOCS / "cli.md")


def test_output_for_scripts_has_the_fields_that_are_named(tmp_path: Path) -> None:
    environ = os.environ | {f"SUYUAN_{name}_DIR": str(tmp_path) for name in ("CONFIG", "DATA", "STATE")}
    environ |= {"SEARXNG_BASE_URL": "http://127.0.0.1:9", "WEB_SEARCH_BACKEND": "stub"}
    described = re.findall(r"^- `([a-z ]+ --json)`: (.*(?:\n  .*)*)", text_of(DOCS / "cli.md"), re.M)
    assert len(described) >= 4
    for command, fields in described:
        done = subprocess.run(
            [sys.executable, "-m", "suyuan", *command.split()], capture_output=True, text=True, check=False, env=environ
        )
        assert set(re.findall(r"`(\w+)`", fields)) <= set(keys(json.loads(done.stdout))), command


# --- settings and extras ----------------------------------------------------------------------------------------------
def all_settings() -> list[Setting]:
    names = (*BUILT_IN, *EXAMPLES)
    engines = [
        one.under(f"web.providers.{name}.", f"{name.upper().removesuffix('_HTML')}_")
        for one in declarations(EngineSettings)
        for name in names
    ]
    return [*declarations(Settings), *engines, *(one for name in BUILT_IN for one in engine_options(name))]


@pytest.mark.parametrize("page", CURRENT, ids=name_of)
def test_settings_exist(page: Path) -> None:
    known = {one.path for one in all_settings()} | {"tools.webSearch.focus"}
    known |= {f"web.providers.{name}.namespace" for name in EXAMPLES}
    tops = {path.partition(".")[0] for path in known} | {"search"}
    if page.name.startswith("searxng"):  # It names SearXNG's own.
        tops -= {"search", "server"}
    files = r"\.(?:json|md|py|sqlite)\b"
    codes = [code for code in inline_code(page) if not re.search(files, code)]
    named = [re.match(r"((?:\w+\.)+\w+)", code) for code in codes]
    paths = {match[1] for match in named if match and match[1].partition(".")[0] in tops} - {"web.search"}
    assert {path for path in paths if not any(one == path or one.startswith(f"{path}.") for one in known)} == set()


@pytest.mark.parametrize("page", CURRENT, ids=name_of)
def test_variables_exist(page: Path) -> None:
    known = {one.env for one in all_settings()} | VARIABLES
    tops = {f"{name.upper().removesuffix('_HTML')}_" for name in (*BUILT_IN, *EXAMPLES)} | {"SUYUAN_", "WEB_"}
    named = {name for name in re.findall(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b", text_of(page))}
    own = {name for name in named if name.startswith(tuple(tops))}
    files = (ROOT / "deploy" / "searxng" / "docker-compose.yml", ROOT / "deploy" / "team" / "compose.yml")
    compose = "".join(file.read_text(encoding="utf-8") for file in files)
    # Those of the files for Docker, of LibreChat, and of the engines that the guides write.
    others = {*re.findall(r"\bSEARXNG_[A-Z_]+", compose), "SEARXNG_INSTANCE_URL", "WIKI_NAMESPACE"}
    others |= {"EXAMPLE_WIKI_NAMESPACE"}
    assert own - known - others == set()


def test_configurations_that_are_shown_can_be_used() -> None:
    found = [json.loads(block) for page in CURRENT for block in blocks(page, "json")]
    tops = {one.path.partition(".")[0] for one in declarations(Settings)}
    configurations = [each for each in found if set(each) <= tops]
    agents = [each for each in found if set(each) == {"agents"}]
    assert len(configurations) >= 4 and agents
    for schema, values in ((config_schema(), configurations), (agents_schema(), agents)):
        for value in values:
            jsonschema.validate(value, schema)


@pytest.mark.parametrize("page", CURRENT, ids=name_of)
def test_extras_exist(page: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {name for names in re.findall(r"suyuan\[([a-z,]+)\]", text_of(page)) for name in names.split(",")}
    assert named <= set(project["optional-dependencies"])


# --- the HTTP API -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    """The OpenAPI description of the server."""
    client = AsyncClient(settings_of())
    described = create_app(client, origin=ServerSettings("127.0.0.1", 8642)).openapi()
    client.close_sync()
    return described


def pattern(path: str) -> str:
    """A path with one sign for each of its parameters, however they are written."""
    return re.sub(r"\{[^}]*\}|<[^>]*>|(?<=/)(?:[A-Z]+|\w*…)(?=/|$)", "*", path.partition("?")[0])


def documented_requests() -> Iterator[tuple[str, str, str]]:
    """Method, path and body of the requests in the tables of the reference."""
    for table in tables(DOCS / "http-api.md"):
        for first, *_ in table[1:]:
            methods: list[str] = []
            for code in re.findall(r"`([^`]+)`", first):
                if not (match := re.match(r"((?:[A-Z]+(?:, )?)*) ?([/…]\S*)?", code)) or code.startswith("{"):
                    continue
                named = [word.lower() for word in match[1].split(", ") if word]
                if not match[2]:
                    methods += named
                    continue
                body = re.search(re.escape(f"`{code}`") + r",? *`(\{.*?\})`", first)
                for method in (*methods, *(named or ["get"])):
                    yield method, match[2], body[1] if body else ""
                methods = []


def test_requests_in_the_reference_exist(spec: dict[str, Any]) -> None:
    known = {(method, pattern(path)) for path, ways in spec["paths"].items() for method in ways}
    named = [(method, pattern(path)) for method, path, _ in documented_requests() if path.startswith("/api/")]
    assert len(named) >= 50 and [one for one in named if one not in known and one[1] != "/api/*"] == []


def test_every_request_is_in_the_reference(spec: dict[str, Any]) -> None:
    text = {(method, pattern(path)) for method, path, _ in documented_requests()}
    known = {(method, pattern(path)) for path, ways in spec["paths"].items() for method in ways}
    assert [one for one in sorted(known) if one[1].startswith("/api/") and one not in text] == []


def test_fields_of_requests_are_those_of_the_reference(spec: dict[str, Any]) -> None:
    compared = 0
    for method, path, body in documented_requests():
        schemas = [
            ways[method] for known, ways in spec["paths"].items() if pattern(known) == pattern(path) and method in ways
        ]
        if schemas and (fields := body_fields(spec, schemas[0])) is not None and method != "delete":
            named = set(re.findall(r"(\w+)\??\"?(?=[,:}?])", re.sub(r"\[[^\]]*\]", "", body)))
            assert named == set(fields), f"{method} {path}"
            optional = set(re.findall(r"(\w+)\?", body))
            assert not [name for name in optional if fields.get(name)], (
                f"{method} {path}: what is marked may not be left out"
            )
            compared += 1
    assert compared >= 20


def body_fields(spec: dict[str, Any], request: dict[str, Any]) -> dict[str, bool] | None:
    """The fields of a JSON body, and whether they are required; ``None`` where there is no body."""
    schema = request.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return None
    references = [schema, *schema.get("anyOf", ())]
    found = [spec["components"]["schemas"][one["$ref"].rpartition("/")[2]] for one in references if "$ref" in one]
    # Who wrote a plan is for the server to say.
    return {field: field in each.get("required", ()) for each in found for field in each["properties"] if field != "by"}


@pytest.mark.parametrize("page", CURRENT, ids=name_of)
def test_routes_exist(page: Path, spec: dict[str, Any]) -> None:
    known = {pattern(path) for path in spec["paths"]} | {"/api/openapi.json"}
    known |= {"/api/*", "/v1", "/v2"}
    text = re.sub(r"https?://(?:127\.0\.0\.1|localhost|HOST):8642", " ", text_of(page))
    named = re.findall(r"(?<![\w./:~}])(/(?:api|v1|v2|openwebui|res)\b(?:/[\w{}.…-]*[\w}…])*)", text)
    assert {path for path in named if pattern(path) not in known | {"/res"}} == set()


# --- figures ----------------------------------------------------------------------------------------------------------
def test_limits_of_research_are_those_of_the_program() -> None:
    [table] = [table for table in tables(DOCS / "howto" / "research.md") if table[0][0] == "depth"]
    for depth, *figures in table[1:]:
        budget = EFFORTS[depth.strip("`")].budget
        assert [int(one.replace(",", "")) for one in figures] == [
            budget.searches, budget.pages, budget.tokens, budget.seconds
        ]  # fmt: skip


def test_limits_of_agents_are_those_of_the_program() -> None:
    defaults = AgentLimits()
    said = re.findall(r"(\d[\d,]*)\s+(searches|pages|seconds|tokens)", prose(DOCS / "tutorial" / "first-agent.md"))
    assert {word: int(number.replace(",", "")) for number, word in said} == {
        "searches": defaults.searches, "pages": defaults.fetches, "seconds": defaults.seconds, "tokens": defaults.tokens
    }  # fmt: skip


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("http-api.md", f"at most {LARGEST_BODY // 1_000_000} MB (documents: {UPLOADS['/api/library'][0] // 1_000_000} MB)"),
        ("http-api.md", f"within {BODY_SECONDS:.0f} s; a message has at most {MAX_MESSAGE:,} characters"),
        ("http-api.md", f"One client may hold {ServerSettings().streams_per_client} event streams, all clients of a process together {ServerSettings().streams}"),
        ("http-api.md", f"reads nothing for {SEND_SECONDS:.0f} s"),
        ("capacity.md", f"{ServerSettings().streams} for each worker"),
        ("security.md", f"of at least {LEAST_LENGTH} characters"),
        ("howto/library.md", f"at most {MAX_FILE // 1_000_000} MB"),
        ("howto/in-place-of.md", f"reads at most {MOST_PAGES} pages"),
        ("howto/privacy.md", f"{Settings().pages.archive_days} days, {Settings().pages.archive_megabytes} MB"),
        ("howto/privacy.md", "in memory for five minutes" if Settings().search.cache_minutes == 5 else "?"),
        ("tools.md", f"at most {Settings().search.max_results} results of {Settings().search.snippet_length} characters"),
    ],
)  # fmt: skip
def test_limits_are_those_of_the_program(page: str, said: str) -> None:
    assert said in " ".join(prose(DOCS / page).split())


def test_the_answer_of_a_tool_provider_has_the_fields_that_are_shown() -> None:
    [shown] = [each for each in map(json.loads, blocks(DOCS / "tools.md", "json")) if "provider_meta" in each]
    with StubProvider() as provider:
        answer = provider.execute("web.search", {"query": "hello"})
    assert set(shown) == set(answer)
    assert set(shown["items"][0]) <= set(answer["items"][0])
    # What can be judged only where the query has enough words.
    assert set(shown["provider_meta"]) - {"relevance"} <= set(answer["provider_meta"])
