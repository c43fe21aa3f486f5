"""An answer as text that a client of a language model reads, piece by piece; shared by all such APIs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Self

from fastapi import Request
from fastapi.responses import Response

from ...chat.answering import answer_events, begin_answer
from ...chat.events import Answer, Event, Notice, TextDelta, TextWithdrawn
from ...chat.functions import Functions
from ...chat.turn import Turn
from ...citations.markers import find_markers
from ...citations.registry import Source
from ...core.causes.chat import ANSWER_TOO_LONG
from ...core.failure import Failure
from ...messages import catalog
from ..error_forms import ErrorForm, form_of
from ..errors import language_of, status_of
from ..orjson_response import OrjsonResponse
from ..sse import EventStream, message, while_connected
from .foreign_turn import ForeignMessage, turn_of

# Agents write text before they call a tool, and what was sent cannot be withdrawn: so many characters are held back.
_HELD_BACK = 300


@dataclass(slots=True)
class TurnText:
    """The text of one turn: what to send at each event, and what comes after the last word of the model."""

    turn: Turn
    count: Callable[[Event], None]
    lang: str
    form: ErrorForm
    """How the client knows errors."""
    not_honoured: Sequence[str] = ()
    sent: str = ""
    """The text that was sent so far."""
    _held: str = ""
    _notices: list[Failure] = field(default_factory=list)

    @classmethod
    async def of(
        cls,
        request: Request,
        model: str,
        said: Sequence[ForeignMessage],
        functions: Functions,
        *,
        search: bool = True,
        not_honoured: Sequence[str] = (),
    ) -> Self:
        """The text that answers the last question of a conversation."""
        state = request.app.state
        await state.preloader.wait()
        turn, form = turn_of(state.client.chat, model, said, functions, search=search), form_of(request)
        await begin_answer(searches=turn.searches)
        assert form is not None, "each of these APIs has a form for errors"
        return cls(turn, state.metrics.count_event, language_of(request), form, not_honoured)

    async def events(self) -> AsyncGenerator[Event]:
        """The events of the turn; the last one is the answer."""
        async with aclosing(answer_events(self.turn)) as events:  # type: ignore[type-var]
            async for event in events:
                self.count(event)
                if isinstance(event, Notice):
                    self._notices.append(event.failure)
                yield event

    def piece(self, event: Event) -> str:
        """The text to send at ``event``."""
        if isinstance(event, TextWithdrawn):
            self._held = ""
            # What was sent stays with the client; the answer begins in a new paragraph.
            return self._say("\n\n") if self.sent and not self.sent.endswith("\n\n") else ""
        if not isinstance(event, TextDelta):
            return ""
        self._held += event.text
        if self.turn.session.mode == "agent" and not self.sent and len(self._held) < _HELD_BACK:
            return ""
        return self._release()

    def rest(self, answer: Answer) -> str:
        """What is left to send when the turn has ended."""
        return self._release() + self._say(self._remark(answer))

    def whole(self, answer: Answer) -> str:
        """The text of an answer that is sent in one piece."""
        return self._say(answer.text + self._remark(answer))

    def _release(self) -> str:
        text, self._held = self._held, ""
        return self._say(text)

    def _say(self, text: str) -> str:
        self.sent += text
        return text

    def _remark(self, answer: Answer) -> str:
        """The remark below an answer that is not based on a search; it does not come from the model."""
        if not answer.unverified or answer.calls:
            return ""
        if not self._notices:
            return f"\n\n---\n{catalog.text(answer.lang, 'chat.unverified')}"
        return f"\n\n---\n{catalog.text(answer.lang, 'chat.unverified_because', why=self._notices[-1])}"

    def error(self, failure: Failure) -> tuple[dict[str, Any], int]:
        """A failure as the client knows it, and its status."""
        status = _status(failure)
        return self.form(status, failure.published(self.lang)), status

    def extension(self, answer: Answer) -> dict[str, Any]:
        """What foreign forms have no field for."""
        return {
            "unverified": answer.unverified,
            "sources": [{"number": each.number, "title": each.title, "url": each.url} for each in answer.sources],
            "notices": [" ".join(failure.say(answer.lang)) for failure in self._notices],
            "not_honoured": list(self.not_honoured),
        }


@dataclass(slots=True)
class AnswerWriter(ABC):
    """Writes one answer in the form of an API, whole or as a stream."""

    model: str
    text: TurnText

    async def response(self, request: Request, *, stream: bool) -> Response:
        """The answer, or why there is none."""
        return EventStream(self._stream()) if stream else await while_connected(request, self._whole())

    async def _whole(self) -> Response:
        async with aclosing(self.text.events()) as events:
            async for event in events:
                list(self.noted(event))
        assert isinstance(event, Answer), "a turn always ends with an answer"
        failure = _failed(event)
        return OrjsonResponse(*self.text.error(failure)) if failure else OrjsonResponse(self.whole(event))

    async def _stream(self) -> AsyncIterator[bytes]:
        for part in self.begin():
            yield part
        async with aclosing(self.text.events()) as events:
            async for event in events:
                for part in self._ended(event) if isinstance(event, Answer) else self._parts(event):
                    yield part

    def _parts(self, event: Event) -> Iterator[bytes]:
        yield from self.noted(event)
        if piece := self.text.piece(event):
            yield from self.spoken(piece)

    def _ended(self, answer: Answer) -> Iterable[bytes]:
        failure = _failed(answer)
        return self.broken(self.text.error(failure)[0]) if failure else self.end(answer)

    @abstractmethod
    def noted(self, event: Event) -> Iterable[bytes]:
        """Take what is no text: searches, reasoning; and what a stream says of it."""

    @abstractmethod
    def whole(self, answer: Answer) -> dict[str, Any]:
        """The answer in one piece."""

    @abstractmethod
    def begin(self) -> Iterable[bytes]:
        """The first messages of a stream."""

    @abstractmethod
    def spoken(self, piece: str) -> Iterable[bytes]:
        """The messages of a piece of the text."""

    @abstractmethod
    def end(self, answer: Answer) -> Iterable[bytes]:
        """The last messages of a stream."""

    def broken(self, error: dict[str, Any]) -> Iterable[bytes]:
        """The last messages of a stream whose answer failed."""
        return [message(error)]


def is_cut(answer: Answer) -> bool:
    """Whether there is an answer that only lacks its end."""
    return (
        answer.failure is not None and answer.failure.detail_code == ANSWER_TOO_LONG.detail_code and bool(answer.text)
    )


def _failed(answer: Answer) -> Failure | None:
    """Why there is no answer at all."""
    return None if is_cut(answer) else answer.failure


def _status(failure: Failure) -> int:
    """The status of a failed answer; it is a client error only if the question is too long for the model."""
    if failure.code == "InvalidInput" and failure.detail_code != "context_overflow":
        return 502
    return status_of(failure)


def cited(answer: Answer, content: str) -> list[tuple[int, int, Source]]:
    """Start and end of every marker of a known source in ``content``, in characters, and the source."""
    sources = {source.number: source for source in answer.sources}
    return [
        (marker.start, marker.end, sources[number])
        for marker in find_markers(content)
        for number in marker.numbers
        if number in sources
    ]
