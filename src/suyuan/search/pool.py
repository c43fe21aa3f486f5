"""``EnginePool``: all engines by name, each made when it is first used, with the state that the process shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.engine import Engine, EngineSettings, SearchEngine
from ..core.errors import SuyuanError
from ..core.foreign_engine import BrokenEngine, ForeignEngine, adapted
from ..engines import registry
from ..net.network import Network, restricted_send
from .engine_state import EngineState, StateKey, load_states, save_states, shared_state
from .engine_steps import EngineSteps
from .guarded import guarded
from .runner import EngineRunner
from .shared_engine import SharedEngine

if TYPE_CHECKING:
    from ..live.live import Live
    from .engine_status import EngineStatus


_MAX_BURST = 10
"""The most requests at once to an engine whose limit somebody has set."""


class EnginePool(Mapping[str, EngineRunner]):
    """The engines that a search may ask. An engine's code is imported when it is first looked up."""

    def __init__(
        self,
        settings: Mapping[str, EngineSettings],
        network: Network,
        *,
        exit_name: str = "direct",
        state_dir: Path | None = None,
        offline: Mapping[str, Callable[[], SearchEngine]] | None = None,
        factories: Mapping[str, registry.Factory] | None = None,
        live: Live | None = None,
    ) -> None:
        self._settings = settings
        self._network = network
        self._exit = exit_name
        self._state_dir = state_dir
        self._offline = offline or {}
        """What answers without the web: the archive, the library."""
        self._live = live
        self._factories = factories
        """The engines that there are, if not the installed ones."""
        self._names = (*(factories or registry.names()), *self._offline)
        self._kept: dict[str, Any] = guarded("the state file", lambda: load_states(state_dir), {})
        self._runners: dict[str, EngineRunner] = {}
        self.before_use: Callable[[], None] = _nothing
        """Called before an engine is used: it may configure the engines anew."""
        self._steps = EngineSteps()

    def __getitem__(self, name: str) -> EngineRunner:
        self.before_use()
        if name not in self._runners:
            if name not in self._names:
                raise KeyError(name)
            offline = self._offline.get(name)
            own = self._settings.get(name) or EngineSettings()
            try:
                self._runners[name] = EngineRunner(adapted(offline())) if offline else self._runner(name, own)
            except SuyuanError as error:
                # The other engines of a plan are asked all the same.
                self._runners[name] = EngineRunner(BrokenEngine(name, error))
        return self._runners[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def ready(self, name: str) -> bool:
        """Whether an engine has what it needs; one without its key is not even imported."""
        self.before_use()
        own = self._settings.get(name)
        has_key = own is not None and bool(own.api_key)
        if registry.needs_key(name) and not has_key:
            return False
        try:
            return self[name].engine.configured
        except SuyuanError:
            # Its own code fails: it is said where the engine is asked, or shown.
            return False

    def status(self, name: str) -> EngineStatus:
        """Whether an engine can be asked now, and what it lacks."""
        from .engine_status import EngineStatus, status_of

        try:
            return status_of(self[name], self._network.browser_problem())
        except SuyuanError as error:
            return EngineStatus(name, name, "broken", problem=error)

    def configure(self, settings: Mapping[str, EngineSettings]) -> None:
        """Use other settings from now on; engines whose settings are the same stay as they are."""
        old, self._settings = self._settings, settings
        for name in [name for name in self._runners if old.get(name) != settings.get(name)]:
            # A key that was refused says nothing about another one.
            self._runners.pop(name).breaker.succeeded()

    def trial(self, name: str, settings: EngineSettings) -> EngineRunner:
        """The engine ``name`` with other settings, apart from all that is known about the one in use."""
        return self._runner(name, settings, EngineState())

    def _runner(self, name: str, settings: EngineSettings, trial_state: EngineState | None = None) -> EngineRunner:
        engine = self._engine(name, settings)
        rate, burst = engine.rate_per_minute, engine.burst
        if settings.rate_per_minute is not None:
            # Whoever sets a limit allows as many in a minute, be they close together.
            rate = settings.rate_per_minute
            burst = max(1, min(int(rate), _MAX_BURST))
        key = StateKey(name, engine.base_url, self._exit, rate or None, burst)
        state = trial_state or shared_state(key, self._kept)
        shared = None
        if self._live is not None and trial_state is None:
            shared = SharedEngine(self._live, f"{key.label}@{key.base_url}", state)
        page_url = engine.base_url if engine.reads_pages else ""
        profile = self._network.profile(page_url) if page_url else ""
        notes = (f"asked with the handshake and headers of {profile}",) if profile else ()
        timeout = settings.timeout_ms / 1000 if settings.timeout_ms else None
        # An engine that needs no network must not load it.
        prepare = None if engine.local else partial(self._network.prepare, page_url)
        # Another process can make those that are installed, and no others.
        steps = self._steps if self._factories is None else None
        return EngineRunner(
            engine,
            engine.send,
            timeout=timeout,
            state=state,
            shared=shared,
            prepare=prepare,
            steps=steps,
            notes=notes,
        )

    def _engine(self, name: str, settings: EngineSettings) -> Engine:
        """The engine, which reaches its own endpoint only."""
        factory = self._factories[name] if self._factories else None
        engine = registry.make(name, settings, factory)
        if not isinstance(engine, ForeignEngine):
            send = self._network.send_as_browser if engine.reads_pages else self._network.send
            engine.send = restricted_send(send, name, engine.base_url, engine.redirect_hosts)
        return engine

    def close(self) -> None:
        """End the processes that read large answers."""
        self._steps.close()

    def save(self) -> None:
        """Keep what was learned about the engines that were asked, for the next process."""
        guarded("the state file", self._save, None)

    def _save(self) -> None:
        states = {f"{name}@{self._exit}": runner.state.kept() for name, runner in self._runners.items()}
        save_states(self._state_dir, states)


def _nothing() -> None:
    """What is done before an engine is used, where its settings cannot change."""
