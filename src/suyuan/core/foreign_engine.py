"""``ForeignEngine``: an engine of somebody else, with a network of its own, in the place of one of ours."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from .causes.engine import ENGINE_BUG
from .engine import Elsewhere, Engine, EngineSettings, SearchEngine, Send
from .errors import SuyuanError
from .query import QueryText, SearchQuery
from .result import EngineResults, SearchResult, SkippedRow

_EXPECTED = "a list of suyuan.SearchResult, or of mappings with the keys title, url and snippet"
_ABSENT = object()
_TEXTS = ("title", "url", "snippet")
FAULTS = (Exception, SystemExit)
"""What code of somebody else may raise and nothing else may end by."""


class ForeignEngine(Engine):
    """A ``SearchEngine`` with a network of its own: what it does not say of itself is as for every engine."""

    def __init__(self, engine: SearchEngine, name: str = "") -> None:
        self.name = name or engine.name
        self.title = self.name
        self.default_url = ""
        if not callable(getattr(engine, "search", None)):
            raise TypeError("it has no search(query, num_results)")
        for attribute in Engine.__annotations__:
            value = getattr(engine, attribute, _ABSENT)
            if value is not _ABSENT and attribute != "name":
                setattr(self, attribute, _checked(attribute, value, getattr(Engine, attribute, "")))
        super().__init__()
        self.base_url = _checked("base_url", getattr(engine, "base_url", self.base_url), "")
        self._engine = engine

    @property
    def configured(self) -> bool:
        """Whether the engine has everything it needs, as far as it says so."""
        try:
            return bool(getattr(self._engine, "configured", True))
        except FAULTS as error:
            raise bug(self.name, "its attribute configured fails", error) from error

    async def results_of(
        self, query: SearchQuery, send: Send | None = None, elsewhere: Elsewhere | None = None
    ) -> EngineResults:
        """Search by the engine's own network; one that is not asynchronous runs in a thread."""
        try:
            answer = await self._searched(QueryText(query), query.count)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Nobody has cancelled this search: the engine has raised it itself.
            raise bug(self.name, "its search fails", error) from error
        except (Exception, GeneratorExit):
            raise
        except BaseException as error:
            # What would end the program, or stop the event loop, is a fault of this engine alone.
            raise bug(self.name, "its search fails", error) from error
        if isinstance(answer, EngineResults):
            return answer
        return _results(answer, self.name)

    async def _searched(self, text: QueryText, count: int) -> Any:
        if inspect.iscoroutinefunction(self._engine.search):
            return await self._engine.search(text, count)
        answer = await asyncio.to_thread(self._called, text, count)
        return await answer if inspect.isawaitable(answer) else answer

    def _called(self, text: QueryText, count: int) -> Any:
        try:
            return self._engine.search(text, count)
        except StopIteration as error:
            # No future can hold it.
            raise bug(self.name, "its search fails", error) from error
        except Exception:
            raise
        except BaseException as error:
            raise bug(self.name, "its search fails", error) from error


class BrokenEngine(Engine):
    """Stands for an engine that cannot be made: it is asked and shown as the others are, and says why it fails."""

    default_url = ""

    def __init__(self, name: str, error: SuyuanError) -> None:
        self.name = self.title = name
        super().__init__()
        self._error = error

    @property
    def configured(self) -> bool:
        """Nobody can tell."""
        raise self._error

    async def results_of(
        self, query: SearchQuery, send: Send | None = None, elsewhere: Elsewhere | None = None
    ) -> EngineResults:
        """Raise what making it has raised."""
        raise self._error


def adapted(engine: SearchEngine, name: str = "") -> Engine:
    """Return the engine itself, or the one that stands for a foreign one, which is known as ``name``."""
    if isinstance(engine, Engine):
        return engine
    return ForeignEngine(engine, name)


def constructed(factory: Any, settings: EngineSettings | None) -> SearchEngine:
    """What ``factory`` makes, a class or a function; it gets the settings where it takes any."""
    if not callable(factory):
        # An engine that is already made.
        return factory  # type: ignore[no-any-return]
    made: SearchEngine = factory(settings) if _takes_settings(factory) else factory()
    return made


def bug(name: str, what: str, error: BaseException) -> SuyuanError:
    """The failure of an engine whose own code has raised ``error``."""
    return ENGINE_BUG(engine=name, what=f"{what}: {type(error).__name__}: {error}")


def _takes_settings(factory: Callable[..., Any]) -> bool:
    """Whether the first argument of ``factory`` is required, or is for the settings by its name or its type."""
    if isinstance(factory, type) and issubclass(factory, Engine):
        return True
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        return False
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        return False
    first = parameters[0]
    if first.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        return False
    named = first.name == "settings" or EngineSettings.__name__ in str(first.annotation)
    return named or first.default is inspect.Parameter.empty


def _checked(attribute: str, value: Any, usual: Any) -> Any:
    """``value`` in the type that the attribute has for every engine; raises where it is another."""
    if isinstance(usual, tuple | frozenset) and isinstance(value, list | tuple | set | frozenset):
        return type(usual)(value)
    if usual is None:
        suits = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    else:
        suits = isinstance(value, type(usual))
    if not suits:
        wanted = "a number" if usual is None else type(usual).__name__
        raise TypeError(f"its attribute {attribute} is {type(value).__name__}, not {wanted}")
    return value


def _results(answer: Any, name: str) -> EngineResults:
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise ENGINE_BUG(engine=name, what=f"search returned {type(answer).__name__}, not {_EXPECTED}")
    found: list[SearchResult] = []
    skipped: list[SkippedRow] = []
    for number, row in enumerate(answer, 1):
        try:
            found.append(_result(row, name))
        except FAULTS as error:
            # One row of several: its class may be anybody's.
            skipped.append(SkippedRow(number, f"{type(error).__name__}: {error}"))
    if skipped and not found:
        what = f"search returned a list without any result in it ({skipped[0].reason}), not {_EXPECTED}"
        raise ENGINE_BUG(engine=name, what=what)
    return EngineResults(tuple(found), skipped=tuple(skipped))


def _result(row: Any, name: str) -> SearchResult:
    """One result: ours, a mapping, or an object with such attributes; title and snippet may be missing."""
    read = row.get if isinstance(row, Mapping) else partial(getattr, row)
    fields: dict[str, Any] = {field: read(field, None) or "" for field in _TEXTS}
    wrong = [field for field, value in fields.items() if not isinstance(value, str)]
    if wrong:
        raise TypeError(", ".join(f"{field} is {type(fields[field]).__name__}, not a text" for field in wrong))
    if isinstance(row, SearchResult):
        return row
    if not fields["url"]:
        raise TypeError(f"{type(row).__name__} has no url")
    return SearchResult(**fields, engine=name)
