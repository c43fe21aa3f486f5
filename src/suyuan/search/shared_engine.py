"""``SharedEngine``: rate limit and breaker of one engine, as all workers together know them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .engine_state import EngineState

if TYPE_CHECKING:
    from ..live.live import Live


class SharedEngine:
    """Joins the state that this process has of an engine to that of the other workers."""

    def __init__(self, live: Live, name: str, state: EngineState) -> None:
        self._live = live
        self._name = name
        self._state = state
        state.breaker.changed = lambda: live.breakers.tell(name, state.breaker.state())
        live.breakers.join(name, state.breaker.adopt)

    async def turn(self, allowed: float) -> float | None:
        """The seconds to wait for the next request of all workers; None where only this process can tell.

        Nothing is reserved where that would take ``allowed`` seconds or longer.
        """
        limiter = self._state.limiter
        if not limiter.interval:
            return None
        return await self._live.limits.take(self._name, limiter.interval, limiter.slack, allowed, limiter.most)

    async def leave(self) -> None:
        """Return a turn that was not used."""
        await self._live.limits.give_back(self._name, self._state.limiter.interval)

    async def may_try(self) -> bool:
        """Whether the engine may be asked; after a hard cooldown, by one worker only."""
        breaker = self._state.breaker
        return not breaker.hard or await self._live.breakers.claim_trial(self._name)
