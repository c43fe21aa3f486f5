"""``Author``: the language model of one job. Each of its answers is a step; after a failure it is not asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ..core.causes.engine import ENGINE_TIMEOUT
from ..core.causes.people import PERSON_QUOTA_SPENT
from ..core.causes.research import MODEL_REPLACED
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..text.words import count_tokens
from .model_calls import ModelCalls
from .model_writer import plan_prompt, read_plan
from .plan import ResearchPlan
from .request import ResearchRequest
from .spending import Spending
from .step_log import StepLog

_ANSWER_TOKENS = 1500
"""The tokens that an answer may take, for the budget."""


class Author:
    """Asks the model within the budget; where it cannot be asked, the embedded writer does the work."""

    def __init__(self, request: ResearchRequest, log: StepLog, models: ModelCalls, spending: Spending) -> None:
        self._request = request
        self._log = log
        self._models = models
        self._spending = spending
        self.model = models.label(request.model)
        """The name of the model; empty where there is none."""
        self._failure: Failure | None = models.missing(request.model)

    @property
    def context_tokens(self) -> int:
        """The length of a prompt that the model takes."""
        return self._models.context_tokens(self.model)

    def failure_data(self) -> dict[str, Any] | None:
        """Why the model was replaced, for the step in which that was so."""
        if self._failure is None:
            return None
        return MODEL_REPLACED.failure(cause=self._failure).as_dict(self._request.lang)

    async def plan(self) -> ResearchPlan | None:
        """The plan of the model; None where there is none."""
        text = await self.ask("model:plan", *plan_prompt(self._request)) if self.model else None
        return read_plan(text, self.model) if text else None

    async def ask(self, key: str, system: str, prompt: str) -> str | None:
        """The answer to one prompt; None where the model must not be asked, or has failed."""
        known = self._log.known(key)
        if known is None:
            if not self.model or self._failure or not self._spending.may_ask(count_tokens(prompt) + _ANSWER_TOKENS):
                return None
            try:
                known = await self._log.once(key, "model", lambda: self._asked(system, prompt))
            except SuyuanError as error:
                if error.detail_code == PERSON_QUOTA_SPENT.detail_code:
                    self._spending.spend_quota("tokens")
                else:
                    self._failure = error.failure
                return None
        self._spending.tokens += int(known["tokens"])
        return str(known["said"])

    async def _asked(self, system: str, prompt: str) -> Mapping[str, Any]:
        seconds = self._spending.seconds_to_write
        try:
            async with asyncio.timeout(seconds):
                said, tokens = await self._models.ask(self.model, system, prompt)
        except TimeoutError:
            raise ENGINE_TIMEOUT(engine=self.model, seconds=seconds) from None
        return {"model": self.model, "said": said, "tokens": tokens}
