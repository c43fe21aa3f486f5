"""The live view of a research job in the terminal, and its plan in the user's editor."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config.ui import editor
from ..core.child_environment import SCREEN, TERMINAL, child_environment
from ..core.errors import SuyuanError
from ..messages.catalog import Texts
from ..research.plan import plan_from, with_answers
from ..research.request import label
from ..research.service import ResearchService
from .terminal import Terminal, asked

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN = ("searches", "pages", "tokens", "seconds", "money")
_WIDTH = 24


async def follow(service: ResearchService, id: str, t: Texts) -> None:
    """Show the progress of a job on standard error until it ends; a pipe gets nothing."""
    err = Terminal(sys.stderr)
    if not err.interactive:
        await service.wait(id)
        return
    from rich.live import Live

    plan: list[str] = []
    lines: list[str] = []
    with Live(console=err.console(), transient=True, refresh_per_second=4) as live:
        async with aclosing(service.follow(id)) as events:  # type: ignore[type-var]
            async for _, event in events:
                if event["kind"] == "progress":
                    plan = plan or _questions((await service.get(id)).plan or {})
                    live.update(_table(event, [*plan, *lines[-6:]], t))
                elif line := _line(event):
                    lines.append(line)


def settle_plan(question: str, plan: Mapping[str, Any], t: Texts) -> dict[str, Any] | None:
    """Show the plan and let the user take, edit or leave it; None for leaving it."""
    err = Terminal(sys.stderr)
    current = dict(plan)
    if current.get("clarifications"):
        err.line(t("research.skip"))
        answers = [{**each, "answer": asked(f"{each['question']} ")} for each in current["clarifications"]]
        current = with_answers(question, plan_from({**current, "clarifications": answers})).as_dict()
    while True:
        err.line(t("research.plan"))
        for line, part in zip(_questions(current), current["sub_questions"], strict=True):
            err.line(f"  {line}")
            for query in part["queries"]:
                err.line(f"     🔍 {query}")
        choice = asked(t("research.accept")).strip().lower()
        if choice == "q":
            return None
        if choice != "e":
            return current
        current = _edited(current, err)


def _questions(plan: Mapping[str, Any]) -> list[str]:
    return [f"{number}. {part['question']}" for number, part in enumerate(plan.get("sub_questions", ()), 1)]


def _edited(plan: dict[str, Any], err: Terminal) -> dict[str, Any]:
    """The plan as the user's editor leaves it; where that is no plan, the old one with the reason."""
    handle, name = tempfile.mkstemp(suffix=".json", prefix="suyuan-plan-")
    file = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            json.dump(plan, opened, ensure_ascii=False, indent=2)
        subprocess.run([*shlex.split(editor()), name], env=child_environment(*TERMINAL, *SCREEN), check=False)
        return plan_from(json.loads(file.read_text(encoding="utf-8"))).as_dict()
    except (SuyuanError, ValueError, OSError) as error:
        err.text(str(error))
        return plan
    finally:
        file.unlink(missing_ok=True)


def _table(progress: Mapping[str, Any], lines: list[str], t: Texts) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    grid.add_row(t("research.running", **{name: value for name, value in progress.items() if name != "kind"}))
    used = {**progress, "pages": progress["read"] + progress["unread"]}
    bars = Table.grid(padding=(0, 1))
    for name in _SHOWN:
        limit = progress["budget"][name]
        if name == "money" and not limit:
            continue
        bar = ProgressBar(limit or 1, min(used[name], limit), _WIDTH)
        bars.add_row(label(f"limit.{name}", t.lang), bar, f"{used[name]:g} / {limit:g}")
    grid.add_row(bars)
    for line in lines:
        grid.add_row(line)
    return grid


def _line(event: Mapping[str, Any]) -> str:
    failed = " ✗" if event.get("failure") else ""
    if event["kind"] == "search":
        return f"🔍 {event['query']}{failed}"
    return f"📄 {event.get('title') or event['url']}{failed}" if event["kind"] == "page" else ""
