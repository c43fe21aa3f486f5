"""Logging of the command line, as text or as JSON, without secrets."""

from __future__ import annotations

import json
import logging
import sys

from ..core.secret import Secret, redact

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Errors are our own failures, and shown always; what others do wrong is part of the answer.
_LEVELS = {0: logging.ERROR, 1: logging.INFO}
# Libraries that log too much.
_NOISY = ("asyncio", "httpx", "httpcore", "openai", "langsmith", "urllib3")


class Redacted(logging.Formatter):
    """Formats log records and removes every secret from them."""

    def __init__(self, *, as_json: bool = False) -> None:
        super().__init__(_TEXT)
        self.secrets: tuple[Secret, ...] = ()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return redact(self._json(record) if self._as_json else super().format(record), self.secrets)

    def _json(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": message,
        }
        # Our own lines have the form name=value; a log collector needs a field for each.
        line |= {
            name: value
            for name, _, value in (word.partition("=") for word in message.split())
            if value and name.isidentifier()
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up_logging(verbose: int, *, as_json: bool = False) -> Redacted:
    """Send the log to standard error and return the formatter, which gets the secrets once they are known."""
    formatter = Redacted(as_json=as_json)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    level = _LEVELS.get(verbose or (1 if as_json else 0), logging.DEBUG)
    logging.basicConfig(level=level, handlers=[handler])
    for name in _NOISY:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    return formatter
