"""``ResearchRequest``: the question, the scope and the budget of a research job, checked when it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, Self, TypedDict, TypeVar, get_args

from ..core.causes.research import BAD_RESEARCH
from ..core.errors import InvalidInput
from ..core.query import SearchQuery
from ..core.urls import is_page
from ..messages.catalog import Text
from ..text.language import script_language
from ..text.visible import shown_line, shown_text

Depth = Literal["quick", "normal", "deep"]
MAX_OUTLINE = 12

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Budget:
    """Hard limits. Reaching one ends the gathering and forces the report; 0 is no limit for money only."""

    searches: int
    pages: int
    tokens: int
    seconds: float
    money: float = 0.0

    def __post_init__(self) -> None:
        for one in fields(self):
            value, least = getattr(self, one.name), 0 if one.name in ("money", "tokens") else 1
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= 1e9:
                raise _refused(f"budget.{one.name}", value)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done at a depth."""

    budget: Budget
    rounds: int
    """How often what is still missing is searched again."""
    pages: int
    """Pages that are read for each sub-question in one round."""
    passages: int
    """Passages of one page that go into the ledger for one sub-question."""
    sentences: int
    """Sentences of one section."""


EFFORTS: Mapping[str, Effort] = {
    "quick": Effort(Budget(6, 10, 20_000, 60), 1, 4, 4, 5),
    "normal": Effort(Budget(20, 40, 200_000, 300), 2, 6, 5, 8),
    "deep": Effort(Budget(60, 150, 1_000_000, 1800), 3, 12, 6, 14),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where is searched; empty fields leave it open."""

    focus: str = ""
    languages: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    freshness: str = ""
    engines: str = ""
    """A plan of engines, as for a search."""


class ResearchParams(TypedDict, total=False):
    """The optional keywords of a research job, typed once for every function that takes them."""

    depth: Depth
    lang: str
    scope: Mapping[str, Any]
    budget: Mapping[str, float]
    outline: Iterable[str]
    model: str
    webhook: str
    based_on: str


@dataclass(frozen=True, slots=True)
class ResearchRequest:
    """What somebody wants to know, and how far it may go."""

    question: str
    depth: Depth = "normal"
    lang: str = ""
    """The language of the report; that of the question by default."""
    scope: Scope = field(default_factory=Scope)
    budget: Budget = field(default_factory=lambda: EFFORTS["normal"].budget)
    outline: tuple[str, ...] = ()
    """Headings of the report; by default the sub-questions of the plan."""
    model: str = ""
    """One of the configured models; ``embedded`` for none."""
    wait_for_plan: bool = False
    """Whether the job stops in the state ``awaiting_plan`` until somebody accepts or edits its plan."""
    webhook: str = ""
    """An address that is told when the job has ended."""
    based_on: str = ""
    """An earlier job whose ledger is looked into first."""

    @classmethod
    def of(cls, question: str, options: Mapping[str, Any] | None = None) -> Self:
        """The request for ``question``, by names as the API has them; raises ``InvalidInput`` with what is wrong."""
        given = dict(options or {})
        depth = str(given.pop("depth", "") or "normal")
        if depth not in get_args(Depth):
            raise _refused("depth", depth)
        scope = _made(Scope, given.pop("scope", None) or {}, "scope")
        limits = given.pop("budget", None) or {}
        budget = _replaced(EFFORTS[depth].budget, _without_none(limits))
        headings = [shown_line(str(heading)) for heading in given.pop("outline", None) or ()]
        outline = tuple(filter(None, headings))
        made = _made(cls, {**_without_none(given), "question": shown_text(question), "depth": depth}, "")
        return replace(made, scope=scope, budget=budget, outline=outline[:MAX_OUTLINE])

    def __post_init__(self) -> None:
        # The same rules as for a search, so that a bad request fails before it is queued.
        self.query(self.question[:300])
        if self.webhook and not is_page(self.webhook):
            raise _refused("webhook", self.webhook)
        if not self.lang:
            lang = "zh" if script_language(self.question) == "zh" else "en"
            object.__setattr__(self, "lang", lang)

    @property
    def effort(self) -> Effort:
        """How much is done at this depth."""
        return EFFORTS[self.depth]

    def query(self, text: str, *, focus: str = "") -> SearchQuery:
        """A search within the scope; ``focus`` counts where the scope has none, since a model may have chosen it."""
        scope = self.scope
        lang = scope.languages[0] if len(scope.languages) == 1 else ""
        return SearchQuery(
            text,
            lang=lang,
            focus=scope.focus or focus,
            allowed_domains=scope.allowed_domains,
            blocked_domains=scope.blocked_domains,
            freshness=scope.freshness or None,  # type: ignore[arg-type]
        )

    def as_dict(self) -> dict[str, Any]:
        """The request as JSON; :meth:`of` reads it."""
        return asdict(self)


def request_from(data: Mapping[str, Any]) -> ResearchRequest:
    """Read what :meth:`ResearchRequest.as_dict` has written."""
    return ResearchRequest.of(str(data["question"]), {name: data[name] for name in data if name != "question"})


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _made(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    known = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    if unknown := next((name for name in values if name not in known), ""):
        raise _refused(f"{where}.{unknown}".lstrip("."), "?")
    try:
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
    except InvalidInput:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise _refused(where or "request", error) from None


def _replaced(budget: Budget, values: Mapping[str, Any]) -> Budget:
    try:
        return replace(budget, **values)
    except TypeError:
        raise _refused("budget", ", ".join(map(str, values))) from None


def _refused(name: str, value: object) -> InvalidInput:
    error = BAD_RESEARCH(name=name, value=value)
    assert isinstance(error, InvalidInput)
    return error


def label(key: str, lang: str, **params: object) -> str:
    """A text of the reports in ``lang``."""
    return Text(f"research.report.{key}", params).localized(lang)
