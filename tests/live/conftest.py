"""Redis and PostgreSQL, where they are installed."""

from __future__ import annotations

from support.servers import redis, server

__all__ = ["redis", "server"]
