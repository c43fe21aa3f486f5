"""The debug bundle: everything known about one answer, without secrets, to attach to a bug report."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from .. import __version__
from ..client import AsyncClient
from ..core.causes.web import NO_RUN
from ..core.person import current_person
from ..core.secret import redact
from .packages import versions


def bundle(client: AsyncClient, run: str = "") -> dict[str, Any]:
    """Return everything known about the answer ``run``, or about the newest one; errors come first."""
    store = client.chat.store
    message = store.message(run) if run else store.newest_answer()
    if message is None or message.role != "assistant":
        raise NO_RUN(id=run[:40] or "-")
    events = [{"number": number, **event} for number, event in store.events(message.id)]
    conversation = store.get(message.conversation)
    settings = client.settings
    data: dict[str, Any] = {
        "errors": list(_errors(events, message.answer)),
        "run": message.id,
        "state": message.state,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "receipts": _receipts(events),
        "timings": _timings(events),
        "answer": message.answer,
        "events": events,
        "conversation": conversation.as_dict() if conversation else None,
        "versions": {
            "suyuan": __version__,
            "python": platform.python_version(),
            "system": platform.platform(),
            **versions(),
        },
    }
    if current_person.get().may("admin"):
        # Where the server keeps and finds things is no business of those who only use it.
        data["settings"] = {value.path: {"value": value.value, "from": value.origin} for value in settings.values}
        data["configuration_problems"] = [str(problem) for problem in settings.problems]
    # One pass over the whole text removes a key from wherever a library has put it.
    cleaned: dict[str, Any] = json.loads(redact(json.dumps(data, ensure_ascii=False), settings.secrets))
    return cleaned


def _receipts(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"query": event["query"], "took_ms": event["took_ms"], "engines": event["receipt"]}
        for event in events
        if event.get("receipt")
    ]


def _timings(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"kind": event["kind"], "step": event.get("step"), "took_ms": event["took_ms"]}
        for event in events
        if event.get("took_ms")
    ]


def _errors(events: list[dict[str, Any]], answer: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    seen = set()
    failures = [(event["kind"], event["failure"]) for event in events if event.get("failure")]
    attempts: list[tuple[str, Any]] = []
    for event in events:
        receipt = event.get("receipt") or ()
        attempts += [("engine." + attempt["engine"], attempt) for attempt in receipt if attempt.get("code")]
    if answer and answer.get("failure"):
        failures.append(("answer", answer["failure"]))
    for where, failure in [*failures, *attempts]:
        key = (where, failure.get("detail_code"))
        if key in seen:
            continue
        seen.add(key)
        told = {name: failure.get(name) for name in ("detail_code", "code", "message")}
        yield {**told, "where": where}
