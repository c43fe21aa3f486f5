"""The debug bundle and the log hold everything useful and no secret."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from support.oai import error, reply, serve_model
from support.site import reply as page
from support.talk import Web, ask, openai, talking
from suyuan.cli.logs import Redacted
from suyuan.client import AsyncClient
from suyuan.core.errors import InvalidInput
from suyuan.core.secret import Secret
from suyuan.doctor.debug_bundle import bundle
from suyuan.store.conversation import new_id

KEY = "sk-never-to-be-seen-0123456789"


@pytest.mark.req("T7.2")
async def test_errors_come_first_and_everything_useful_is_included() -> None:
    web = Web()
    web.searching = lambda _: page("<title>Too many</title>", 429)
    with serve_model(error(401, f"bad key {KEY}")) as model:
        async with talking(openai(model.url, api_key=Secret(KEY)), web=web) as (client, _):
            id = (await client.chat.create(search=True)).id
            await ask(client, f"my key is {KEY}, why?", id=id)
            run = client.chat.store.messages(id)[-1].id
            data = bundle(client, run)
            newest = bundle(client)
    assert next(iter(data)) == "errors" and all(next(iter(found)) == "detail_code" for found in data["errors"])
    assert {"http_429", "model_key_refused"} <= {found["detail_code"] for found in data["errors"]}
    assert data["receipts"][0]["engines"][0]["engine"] == "searxng" and data["timings"] and data["versions"]["suyuan"]
    assert data["run"] == run == newest["run"] and data["state"] == "failed"
    assert KEY not in json.dumps(data)


async def test_the_newest_answer_is_that_of_no_pinned_conversation() -> None:
    async with talking() as (client, _):
        store = client.chat.store
        runs = []
        for number in range(2):
            id, run = store.create().id, new_id()
            store.begin_turn(id, f"question {number}", run)
            store.finish(run, state="done", text="answer", answer={"text": "answer"})
            store.change(id, pinned=number == 0)
            runs.append(run)
        assert bundle(client)["run"] == runs[1]


async def test_an_unknown_answer_is_an_error() -> None:
    async with talking() as (client, _):
        for run in ("nothing", ""):
            with pytest.raises(InvalidInput) as caught:
                bundle(client, run)
            assert caught.value.detail_code == "no_run"


async def test_settings_are_masked(tmp_path: Path) -> None:
    with serve_model(reply("ok")) as model:
        async with talking(openai(model.url)) as (client, _):
            settings = replace(client.settings, store_url=Secret(f"sqlite:///{tmp_path}/s3cret-folder.sqlite"))
            async with AsyncClient(settings) as other:
                await ask(other, "hello there", search=False)
                data = bundle(other)
    assert "s3cret-folder" not in json.dumps(data) and data["answer"]["text"] == "ok"


class TestLog:
    def record(self, message: str) -> logging.LogRecord:
        return logging.LogRecord("suyuan.search", logging.INFO, __file__, 1, message, (), None)

    def test_json_lines_have_a_field_for_each_value(self) -> None:
        line = json.loads(
            Redacted(as_json=True).format(self.record("search trace=abc outcome=ok results=5 took_ms=12"))
        )
        assert (
            line["trace"] == "abc"
            and line["outcome"] == "ok"
            and line["results"] == "5"
            and line["logger"] == "suyuan.search"
        )

    @pytest.mark.req("P9.3")
    @pytest.mark.parametrize("as_json", [True, False])
    def test_secrets_are_removed(self, as_json: bool) -> None:
        formatter = Redacted(as_json=as_json)
        formatter.secrets = (Secret(KEY),)
        try:
            raise ValueError(f"with {KEY}")
        except ValueError:
            import sys

            record = logging.LogRecord("x", logging.ERROR, __file__, 1, "failed with %s", (KEY,), sys.exc_info())
        assert KEY not in formatter.format(record)
