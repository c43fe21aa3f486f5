"""Every list of every request has a limit, which is looked at before its items; a body has a limited number of values."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel, TypeAdapter

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

import suyuan.server
from server.serving import serving, settings_of
from suyuan.server.compat.shared import Wanted
from suyuan.server.limits import _has_more


def _modules() -> Iterator[Any]:
    for info in pkgutil.walk_packages(suyuan.server.__path__, "suyuan.server."):
        yield importlib.import_module(info.name)


def _requests() -> set[type[BaseModel]]:
    """The models of what is sent to any route: what a route takes, and what foreign requests are read as."""
    found: set[type[BaseModel]] = set()
    for module in _modules():
        found |= {each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Wanted)}
        for route in getattr(getattr(module, "router", None), "routes", ()):
            taken = get_type_hints(route.endpoint)
            taken.pop("return", None)
            found |= {each for each in taken.values() if isinstance(each, type) and issubclass(each, BaseModel)}
    return found


def _lists(schema: Any, way: str) -> Iterator[tuple[str, Any]]:
    """Every list in a schema of pydantic, and where it is."""
    if isinstance(schema, dict):
        if schema.get("type") in ("list", "set", "tuple"):
            yield way, schema
        for name, part in schema.items():
            yield from _lists(part, f"{way}.{name}")
    elif isinstance(schema, list | tuple):
        for part in schema:
            yield from _lists(part, way)


def test_every_list_of_a_request_has_a_limit_and_ends_at_its_first_mistake() -> None:
    models = _requests()
    assert len(models) > 30
    checked = [each for model in models for each in _lists(TypeAdapter(model).core_schema, model.__name__)]
    assert len(checked) > 20
    assert not [way for way, schema in checked if not (schema.get("max_length") and schema.get("fail_fast"))]


@pytest.mark.parametrize("text", ['"', "\\", "a,[{", '\\"', "\\\\", '",', "❤", "\n"])
def test_what_stands_in_a_text_is_no_value(text: str) -> None:
    for times in (1, 7, 5_000):
        body = json.dumps({"text": text * times, text * times: [1, {"a": text * times}]}).encode()
        assert not _has_more(body, 7) and _has_more(body, 4)


@pytest.mark.parametrize("unit", [b"1,", b'"",', b'"a":1,', b"[", b"{", b"[],", b'{"a":[]},', b'"\\"",', b'"\\\\",'])
def test_many_values_are_seen_whatever_they_are(unit: bytes) -> None:
    assert _has_more(b"[" + unit * 3_000, 2_000) and not _has_more(b"[" + unit * 400, 2_000)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_who_has_sent_too_much_is_told_what_the_limit_is(lang: str) -> None:
    import aiohttp

    bodies = {
        "/api/search": ({"query": "x", "allowed_domains": ["a"] * 3_000}, "2000"),
        "/v1/responses": ({"model": "suyuan", "input": [{"role": "user", "content": "a"}] * 9_000}, "20000"),
        "/api/login": ({"name": "a", "password": "b" * 20_000}, "10000"),
    }
    with serving(settings_of()) as served:
        async with aiohttp.ClientSession(served.url, headers={"Accept-Language": lang}) as session:
            for path, (body, limit) in bodies.items():
                async with session.post(path, json=body) as response:
                    told = json.dumps(await response.json(), ensure_ascii=False)
                assert response.status == 413 and limit in told, (path, told)


async def test_names_that_have_no_effect_are_told_up_to_a_limit() -> None:
    wanted = Wanted.model_validate({str(at) * 200: 1 for at in range(300)})
    told = wanted.not_honoured()
    assert len(told) == 50 and max(map(len, told)) == 100
