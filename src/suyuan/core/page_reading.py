"""``PageReading``: what was read of the page behind a search result, or why it could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from .causes.asked import BAD_DEPTH, BAD_MAX_TOKENS

if TYPE_CHECKING:
    from .document import Cut, Passage
    from .failure import Failure

Depth = Literal["results", "passages", "pages"]
"""How far a search goes: the engines' results, the passages of their pages that answer the query, or whole pages."""
DEPTHS: tuple[str, ...] = get_args(Depth)
LEAST_TOKENS, MOST_TOKENS = 50, 100_000
_DEFAULT_TOKENS = {"results": LEAST_TOKENS, "passages": 2000, "pages": 20_000}


def tokens_for(depth: str, max_tokens: int | None = None) -> int:
    """How long everything that is read for a search may be together; raises ``InvalidInput`` for what cannot be."""
    if depth not in DEPTHS:
        raise BAD_DEPTH(value=depth, known=", ".join(DEPTHS))
    if max_tokens is None:
        return _DEFAULT_TOKENS[depth]
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or not LEAST_TOKENS <= max_tokens <= MOST_TOKENS:
        raise BAD_MAX_TOKENS(value=max_tokens, least=LEAST_TOKENS, most=MOST_TOKENS)
    return max_tokens


@dataclass(frozen=True, slots=True)
class PageReading:
    """The passages of a page that answer a query, or its whole text; ``error`` says why there is nothing."""

    passages: tuple[Passage, ...] = ()
    text: str = ""
    """The whole page as Markdown, where it was asked for."""
    final_url: str = ""
    """Where the page was found, after all redirects."""
    read_at: str = ""
    """ISO 8601, UTC."""
    sha256: str = ""
    """The hash of the text that the passages' offsets refer to."""
    title: str = ""
    tokens: int = 0
    """About how long this reading is."""
    total_tokens: int = 0
    """About how long the page is."""
    error: Failure | None = None
    cut: Cut | None = None
    """How much of the page was read, where it was not all."""

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The published fields, for an item of a search."""
        if self.error is not None:
            return {"passages": [], "read_error": self.error.published(lang)}
        read: dict[str, Any] = {
            "passages": [passage.as_dict() for passage in self.passages],
            "read_at": self.read_at,
            "final_url": self.final_url,
            "sha256": self.sha256,
            "tokens": self.tokens,
            "total_tokens": self.total_tokens,
        }
        if self.cut is not None:
            read["cut"] = self.cut.published(lang)
        return {**read, "text": self.text} if self.text else read
