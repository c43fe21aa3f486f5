"""``UnsavedAnswers``: answers that the store could not take, kept until it can."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ..core.causes.files import ANSWER_DAMAGED
from ..core.errors import SuyuanError
from ..core.notices import Notices
from ..core.private_file import set_aside, write_private
from ..store.conversations import Store
from .runs import Run

log = logging.getLogger("suyuan.chat")

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


class UnsavedAnswers:
    """Finished answers of this process that are not in the store; each also in a file, where one can be written.

    A file that a dead process has left is saved by the next one that opens the store.
    """

    def __init__(self, store: Store, folder: Path | None, saved: Callable[[Run], Awaitable[None]]) -> None:
        self._store = store
        self._folder = folder
        self._saved = saved
        self._runs: dict[str, Run] = {}
        self._task: asyncio.Task[None] | None = None
        self._saving = asyncio.Lock()

    def get(self, run: str) -> Run | None:
        """The answer ``run``, if the store does not have it."""
        return self._runs.get(run)

    def __len__(self) -> int:
        return len(self._runs)

    async def add(self, run: Run) -> None:
        """Keep an answer, and try again and again to save it."""
        self._runs[run.id] = run
        if self._folder is not None:
            await asyncio.to_thread(_write_file, self._folder / f"{run.id}.json", _ending(run))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._save_on(), name="unsaved-answers")

    async def save(self) -> bool:
        """Try to save all of them once, and tell whether all are saved."""
        # Every new question tries, and so does the task that tries again and again: each answer is saved once.
        async with self._saving:
            for run in list(self._runs.values()):
                try:
                    await run.save()
                except SuyuanError as error:
                    log.info("run=%s is still not saved: %s", run.id, error.message)
                    return False
                except Exception:
                    # An answer that cannot be stored at all must not keep the others from it.
                    log.exception("run=%s cannot be saved", run.id)
                    continue
                del self._runs[run.id]
                if file := self._file(run.id):
                    file.unlink(missing_ok=True)
                await self._saved(run)
        return not self._runs

    async def close(self) -> None:
        """Try once more; what is not saved then is in its file."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._runs and not await self.save():
            for run in self._runs:
                log.error("run=%s could not be saved; %s", run, self._file(run) or "it is lost")

    async def _save_on(self) -> None:
        pause = _FIRST_PAUSE
        while self._runs:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            await self.save()

    def recover(self) -> int:
        """Save what processes before this one could not, and return the number of answers."""
        if self._folder is None or not self._folder.is_dir():
            return 0
        return sum(map(self._recover_file, sorted(self._folder.glob("*.json"))))

    def _recover_file(self, file: Path) -> bool:
        try:
            left: dict[str, Any] = json.loads(file.read_text("utf-8"))
            self._store.keep_events(left["run"], left["events"])
            self._store.finish(left["run"], state=left["state"], text=left["text"], answer=left["answer"])
            file.unlink()
        except (SuyuanError, OSError) as error:
            # The next start tries again.
            log.warning("the answer in %s could not be saved: %s", file, error)
            return False
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            aside = set_aside(file)
            Notices(file.parent.parent).add(ANSWER_DAMAGED(where=file, why=error, aside=aside), file)
            return False
        return True

    def _file(self, run: str) -> Path | None:
        """The file of an answer, if there is one."""
        file = self._folder / f"{run}.json" if self._folder is not None else None
        return file if file is not None and file.exists() else None


def _ending(run: Run) -> dict[str, Any]:
    """What :meth:`Run.save` would write."""
    return {"run": run.id, **run.outcome(), "events": run.kept_events()}


def _write_file(file: Path, ending: dict[str, Any]) -> None:
    try:
        # As ASCII: half of a character pair, as some models send it, could not be written as it is.
        write_private(file, json.dumps(ending))
    except OSError as error:
        log.warning("an answer that is not saved is in memory only: %s", error)
