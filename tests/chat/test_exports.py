"""Exports of long conversations are made by a process of their own: the same as here, and with an end."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest
import pytest_asyncio

pytest.importorskip("markdown_it", reason="the optional extra suyuan[web] is not installed")

from suyuan.chat import exports
from suyuan.chat.export import Form, export
from suyuan.chat.exports import Exports
from suyuan.core.errors import SuyuanError
from suyuan.store.conversation import Conversation, Message

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOW = "2026-03-10T12:00:00+00:00"
CONVERSATION = Conversation("c1", "Tea \u202e pots", "chat", True, "", "m", "en", NOW, NOW)
FORMS: tuple[Form, ...] = ("md", "html", "json", "bib")


def messages(text: str) -> Sequence[Message]:
    asked = Message("m1", "c1", "user", "What of 茶?", "done", NOW)
    return [asked, Message("m2", "c1", "assistant", text, "done", NOW, {"markdown": text, "sources": []}, 1)]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def made() -> AsyncIterator[Exports]:
    found = Exports()
    yield found
    found.close()


@pytest.mark.parametrize("form", FORMS)
async def test_a_long_export_is_the_same_as_a_short_one(form: Form, made: Exports) -> None:
    long = messages("- **tea** <b>x</b> `pot` \ud83c\n" * 200)
    assert await made.export(CONVERSATION, long, form, "zh") == export(CONVERSATION, long, form, "zh")


async def test_an_export_that_takes_too_long_is_ended(made: Exports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_SECONDS", 0.5)
    endless = [replace(one, id=f"m{n}") for n in range(10) for one in messages("- a\n" * 50_000)]
    begun = time.process_time()
    with pytest.raises(SuyuanError) as failed:
        await made.export(CONVERSATION, endless, "html", "en")
    assert failed.value.detail_code == "export_too_slow" and time.process_time() - begun < 1
    assert "tea" in await made.export(CONVERSATION, messages("tea " * 1_000), "html", "en")
