"""``Spending``: what a job has used of its budget. It never ends a job; it ends the gathering."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from .request import Budget
from .settings import ResearchSettings

_ROUNDING = 1 + 1e-9
"""Three times 0.1 is a little more than 0.3."""


class Spending:
    """Counts in the order of the plan, so that a job that is resumed comes to the same limits."""

    def __init__(
        self, budget: Budget, settings: ResearchSettings, elapsed: Callable[[], float], share: float = 1.0
    ) -> None:
        self._budget = budget
        self._share = share
        self._settings = settings
        self._elapsed = elapsed
        self.searches = self.pages = self.tokens = 0
        self._closed = False
        self._spent: set[str] = set()
        """What the quota of the person has none left of."""
        self.reached: list[str] = []
        """The limits that were reached: ``searches``, ``pages``, ``tokens``, ``seconds``, ``money``, ``quota``,
        ``stopped``."""

    @property
    def money(self) -> float:
        """The price of the searches and tokens so far."""
        return self.searches * self._settings.search_price + self._price_of(self.tokens)

    @property
    def seconds_left(self) -> float:
        """The time that is left for gathering; a model that writes needs some of the whole."""
        return max(0.0, self._share * self._budget.seconds - self._elapsed())

    @property
    def seconds_to_write(self) -> float:
        """The time that is left for writing."""
        return max(0.0, self._budget.seconds - self._elapsed())

    @property
    def is_over(self) -> bool:
        """Whether nothing more may be gathered."""
        return self._closed or any(name in self.reached for name in ("seconds", "stopped"))

    def begin(self) -> None:
        """Count the searches and pages from the first again."""
        self.searches = self.pages = 0

    def close(self, reached: Iterable[str]) -> None:
        """Gather nothing more: an earlier process had come to the end of it, by these limits."""
        self._closed = True
        self.reached = list(dict.fromkeys([*self.reached, *reached]))

    def take_search(self) -> bool:
        """Count one search; False where there is none left."""
        if "searches" in self._spent:
            return False
        dear = self._is_too_dear(self._settings.search_price)
        return not dear and self._take("searches", self.searches < self._budget.searches)

    def take_page(self) -> bool:
        """Count one page; False where there is none left."""
        return self._take("pages", self.pages < self._budget.pages)

    def may_ask(self, tokens: int) -> bool:
        """Whether a model may be given so many tokens."""
        if "tokens" in self._spent:
            return False
        if self.tokens + tokens > self._budget.tokens:
            return self._reach("tokens")
        if self.seconds_to_write <= 0:
            return self._reach("seconds")
        return not self._is_too_dear(self._price_of(tokens))

    def note(self) -> bool:
        """Note whether the time has run out; return whether what was taken may be done."""
        if self.seconds_left <= 0:
            self._reach("seconds")
        return not self.is_over

    def run_out(self) -> None:
        """Note that the time has run out in the middle of something."""
        self._reach("seconds")

    def spend_quota(self, what: Literal["searches", "tokens"]) -> None:
        """Note that the person whose job it is may use no more of this today."""
        self._spent.add(what)
        self._reach("quota")

    def stop(self) -> None:
        """Note that somebody has stopped the job."""
        self._reach("stopped")

    def _take(self, name: str, left: bool) -> bool:
        if not left:
            return self._reach(name)
        setattr(self, name, getattr(self, name) + 1)
        return True

    def _is_too_dear(self, price: float) -> bool:
        """Whether what costs ``price`` is more than the money that is left; what is free never is, such as a page."""
        limit = self._budget.money
        if not price or not limit:
            return False
        if self.money + price <= limit * _ROUNDING:
            return False
        self._reach("money")
        return True

    def _price_of(self, tokens: int) -> float:
        return tokens / 1000 * self._settings.token_price

    def _reach(self, name: str) -> bool:
        if name not in self.reached:
            self.reached.append(name)
        return False
