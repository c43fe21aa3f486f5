"""``ModelCalls``: one answer of a language model at a time, with its tokens; a failure is waited for a little."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..core.allowance import asking_a_model
from ..core.causes.chat import UNKNOWN_MODEL_CHOICE
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..core.person import require
from ..core.spans import span
from ..llm.build import build_model, close_model
from ..llm.errors import model_error, retry_wait
from ..llm.importing import OPENAI, load
from ..llm.reasoning import without_reasoning
from ..llm.settings import EMBEDDED, ModelSettings
from ..text.visible import shown_text
from ..text.words import count_tokens

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_TRIES = 3
_PAUSE = 1.0
_LONGEST_WAIT = 20.0


class ModelCalls:
    """The models that jobs may use, built when they are first asked."""

    def __init__(self, models: Callable[[], Mapping[str, ModelSettings]], default: str) -> None:
        """``models`` are those that there are now, by their names."""
        self._models = models
        self._default = default
        self._built: dict[ModelSettings, BaseChatModel] = {}

    def label(self, name: str) -> str:
        """The model that ``name`` stands for; empty for the embedded writer and for one that is not configured."""
        settings = self._models().get(name or self._default)
        return settings.label if settings and settings.provider != EMBEDDED else ""

    def missing(self, name: str) -> Failure | None:
        """Why a job cannot have the model that it was given: it may have been connected elsewhere, or removed since."""
        models = self._models()
        if name in ("", EMBEDDED, *models):
            return None
        return UNKNOWN_MODEL_CHOICE.failure(value=name, known=", ".join(models))

    def context_tokens(self, label: str) -> int:
        """The length of a prompt that the model takes."""
        return self._settings(label).context_tokens

    async def ask(self, label: str, system: str, prompt: str) -> tuple[str, int]:
        """What the model answers, and the tokens of question and answer; raises a cause where there is no answer.

        A server that is busy or away is waited for, a few times.
        """
        require("chat")
        settings = self._settings(label)
        for attempt in range(_TRIES):
            try:
                with span("model", model=label):
                    return await self._asked(settings, system, prompt)
            except SuyuanError:
                raise
            except Exception as error:  # noqa: BLE001 - every library raises its own; all become causes here
                fault = model_error(error, settings)
                wait = retry_wait(fault, _PAUSE * 2**attempt, _LONGEST_WAIT)
                if wait is None or attempt == _TRIES - 1:
                    raise fault from None
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        """Close the models that were built."""
        while self._built:
            await close_model(self._built.popitem()[1])

    def _settings(self, label: str) -> ModelSettings:
        """The model of this name; raises the cause where it was removed since the job began."""
        models = self._models()
        if label not in models:
            raise UNKNOWN_MODEL_CHOICE(value=label, known=", ".join(models))
        return models[label]

    async def _asked(self, settings: ModelSettings, system: str, prompt: str) -> tuple[str, int]:
        if settings not in self._built:
            # In a thread, since a job may be the first that needs the libraries, or another thread is importing them.
            await asyncio.to_thread(load, OPENAI)
        if settings not in self._built:
            self._built[settings] = build_model(settings)
        given = count_tokens(system) + count_tokens(prompt)
        async with asking_a_model(given) as use:
            message = await self._built[settings].ainvoke(
                [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
            )
            told = message.usage_metadata
            if told and told["total_tokens"]:
                use.read, use.written = int(told["input_tokens"]), int(told["output_tokens"])
                used = int(told["total_tokens"])
            else:
                use.read, use.written = given, count_tokens(message.text)
                used = use.read + use.written
        return shown_text(without_reasoning(message.text)), used
