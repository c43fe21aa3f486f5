"""``Exports``: exports of conversations, made by a process of their own that is ended when one takes too long."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import replace

from ..core.causes.chat import EXPORT_TOO_SLOW
from ..core.errors import SuyuanError
from ..core.wire import Response
from ..pages.reader_pool import ReaderPool
from ..pages.reading import PAGE_LIMITS, ReceivedPage
from ..store.conversation import Conversation, Message
from .export import Form, export

log = logging.getLogger("suyuan.chat")

_SMALL = 2_000
"""So many characters of answers are exported here: Markdown takes some 10 µs a character at worst."""
_SECONDS = 30.0
"""The computing time of one export."""
_MODULE = "suyuan.chat.export_process"


class Exports:
    """Makes exports for a server."""

    def __init__(self) -> None:
        self._pool: ReaderPool | None = None

    async def export(self, conversation: Conversation, messages: Sequence[Message], form: Form, lang: str) -> str:
        """What ``export`` returns."""
        if sum(len(message.text) for message in messages) <= _SMALL:
            return await asyncio.to_thread(export, conversation, messages, form, lang)
        if self._pool is None:
            self._pool = ReaderPool(1, _MODULE)
        sent = await asyncio.to_thread(_sent, conversation, messages, form, lang)
        limits = replace(PAGE_LIMITS, seconds=_SECONDS)
        try:
            reading = await self._pool.read(ReceivedPage("", Response(200, sent), limits=limits))
        except SuyuanError as error:
            log.warning("conversation=%s cannot be exported: %s", conversation.id, error.message)
            raise EXPORT_TOO_SLOW(seconds=round(_SECONDS)) from None
        return reading.document.text

    def close(self) -> None:
        """End the process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def exported(sent: bytes) -> str:
    """Make an export that was sent to this process."""
    conversation, messages, form, lang = json.loads(sent)
    return export(Conversation(**conversation), [Message(**message) for message in messages], form, lang)


def _sent(conversation: Conversation, messages: Sequence[Message], form: Form, lang: str) -> bytes:
    return json.dumps([conversation.as_dict(), [message.as_dict() for message in messages], form, lang]).encode()
