"""``TurnText``: an answer as text that a client of a language model reads, piece by piece; shared by all such APIs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from ...chat.answering import WORK, check_message
from ...chat.events import Answer, Event, Notice, TextDelta, TextWithdrawn
from ...chat.service import ChatService
from ...chat.session import Exchange, Session
from ...chat.turn import Turn
from ...citations.markers import find_markers
from ...citations.registry import Source
from ...core.causes.chat import ANSWER_TOO_LONG
from ...core.causes.web import NO_USER_MESSAGE, UNKNOWN_API_MODEL
from ...core.failure import Failure
from ...messages import catalog
from ...store.conversation import Mode, new_id
from ..errors import status_of

MODES: dict[str, Mode] = {"suyuan": "chat", "suyuan-chat": "chat", "suyuan-agent": "agent"}
# Agents write text before they call a tool, and what was sent cannot be withdrawn: so many characters are held back.
_HELD_BACK = 300


def model_names(chat: ChatService) -> list[str]:
    """The models that a client can name: how is answered, and by which of the configured models."""
    return [*MODES, *(f"suyuan:{name}" for name in chat.sessions.models)]


def turn_of(
    chat: ChatService,
    model: str,
    said: list[tuple[str, str]],
    before: tuple[Exchange, ...] = (),
    *,
    search: bool = True,
) -> Turn:
    """The turn that answers the last of the messages ``said``, each a role and a text.

    ``before`` is what was asked and answered in the conversation already.
    """
    question, history = _read(said)
    check_message(question)
    return Turn(_session(chat, model, (*before, *history), search), question, new_id())


def _session(chat: ChatService, model: str, history: tuple[Exchange, ...], search: bool) -> Session:
    kind, _, name = model.partition(":")
    if kind not in MODES or (name and name not in chat.sessions.models):
        raise UNKNOWN_API_MODEL(value=model[:80], known=", ".join(chat.sessions.models))
    return chat.sessions.create(history, mode=MODES[kind], search=search, model=name)


def _read(said: list[tuple[str, str]]) -> tuple[str, tuple[Exchange, ...]]:
    """The question, and the pairs of question and answer before it; the system messages are the first pair."""
    if not said or said[-1][0] != "user":
        raise NO_USER_MESSAGE()
    system = "\n\n".join(text for role, text in said if role in ("system", "developer") and text.strip())
    history = [Exchange(system, "OK.")] if system else []
    questions: list[str] = []
    for role, text in said:
        if role == "user":
            questions.append(text)
        elif role == "assistant" and text.strip():
            history.append(Exchange("\n\n".join(questions) or "…", text))
            questions = []
    return "\n\n".join(questions), tuple(history)


@dataclass(slots=True)
class TurnText:
    """The text of one turn: what to send at each event, and what comes after the last word of the model."""

    turn: Turn
    count: Callable[[Event], None]
    sent: str = ""
    """The text that was sent so far."""
    _held: str = ""
    _notices: list[Failure] = field(default_factory=list)

    async def events(self) -> AsyncGenerator[Event]:
        """The events of the turn; the last one is the answer."""
        async with aclosing(self.turn.events(WORK[self.turn.session.mode])) as events:  # type: ignore[type-var]
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
        return self._release() + self._say(self.remark(answer))

    def _release(self) -> str:
        text, self._held = self._held, ""
        return self._say(text)

    def _say(self, text: str) -> str:
        self.sent += text
        return text

    def remark(self, answer: Answer) -> str:
        """The remark below an answer that is not based on a search; it does not come from the model."""
        if not answer.unverified:
            return ""
        if not self._notices:
            return f"\n\n---\n{catalog.text(answer.lang, 'chat.unverified')}"
        return f"\n\n---\n{catalog.text(answer.lang, 'chat.unverified_because', why=self._notices[-1])}"

    def extension(self, answer: Answer) -> dict[str, Any]:
        """What foreign forms have no field for."""
        return {
            "unverified": answer.unverified,
            "sources": [{"number": each.number, "title": each.title, "url": each.url} for each in answer.sources],
            "notices": [" ".join(failure.say(answer.lang)) for failure in self._notices],
        }


def is_cut(answer: Answer) -> bool:
    """Whether there is an answer that only lacks its end."""
    return (
        answer.failure is not None and answer.failure.detail_code == ANSWER_TOO_LONG.detail_code and bool(answer.text)
    )


def failed(answer: Answer) -> Failure | None:
    """Why there is no answer at all."""
    return None if is_cut(answer) else answer.failure


def failure_status(failure: Failure) -> int:
    """The status of a failed answer; it is a client error only if the question is too long for the model."""
    if failure.code == "InvalidInput" and failure.detail_code != "context_overflow":
        return 502
    return status_of(failure.code, failure.detail_code)


def cited(answer: Answer, content: str) -> list[tuple[int, int, Source]]:
    """Start and end of every marker of a known source in ``content``, in characters, and the source."""
    sources = {source.number: source for source in answer.sources}
    return [
        (marker.start, marker.end, sources[number])
        for marker in find_markers(content)
        for number in marker.numbers
        if number in sources
    ]
