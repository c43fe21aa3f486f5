"""Logging of the command line: one line per search and turn, as text or as JSON, and no secret in any of them."""

from __future__ import annotations

import json
import logging
import sys

from ..core.secret import Secret, redact

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LEVELS = {0: logging.CRITICAL, 1: logging.INFO}
# Talkative, and not about what happened in the house.
_OTHERS = ("asyncio", "httpx", "httpcore", "openai", "langsmith", "urllib3")


class Redacted(logging.Formatter):
    """Formats records and takes every secret out of them: the one place that all lines pass."""

    def __init__(self, *, as_json: bool = False) -> None:
        super().__init__(_TEXT)
        self.secrets: tuple[Secret, ...] = ()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        return redact(self._json(record) if self._as_json else super().format(record), self.secrets)

    def _json(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": message,
        }
        # Our own lines are written as name=value: a log collector wants them apart.
        line |= {
            name: value
            for name, _, value in (word.partition("=") for word in message.split())
            if value and name.isidentifier()
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up_logging(verbose: int, *, as_json: bool = False) -> Redacted:
    """Send the log to standard error; the formatter is returned, so that it can be told the secrets once they are known."""
    formatter = Redacted(as_json=as_json)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    level = _LEVELS.get(verbose or (1 if as_json else 0), logging.DEBUG)
    logging.basicConfig(level=level, handlers=[handler])
    for name in _OTHERS:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    return formatter
