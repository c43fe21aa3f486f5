"""Why the caller's input is not valid."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, ToolNotFound

EMPTY_QUERY = Cause(InvalidInput, "input.empty_query", "empty_query")
QUERY_TOO_LONG = Cause(InvalidInput, "input.query_too_long", "query_too_long")
BAD_COUNT = Cause(InvalidInput, "input.bad_count", "bad_count")
BAD_PAGE = Cause(InvalidInput, "input.bad_page", "bad_page")
BAD_SAFE = Cause(InvalidInput, "input.bad_safe", "bad_safe")
BAD_FRESHNESS = Cause(InvalidInput, "input.bad_freshness", "bad_freshness")
BAD_LANG = Cause(InvalidInput, "input.bad_lang", "bad_lang")
BAD_COUNTRY = Cause(InvalidInput, "input.bad_country", "bad_country")
BAD_DOMAIN = Cause(InvalidInput, "input.bad_domain", "bad_domain")
BAD_BUDGET = Cause(InvalidInput, "input.bad_budget", "bad_budget")
BAD_DEPTH = Cause(InvalidInput, "input.bad_depth", "bad_depth")
BAD_MAX_TOKENS = Cause(InvalidInput, "input.bad_max_tokens", "bad_max_tokens")
BAD_ARGUMENT = Cause(InvalidInput, "input.bad_argument", "bad_argument")
UNKNOWN_ENGINE = Cause(InvalidInput, "input.unknown_engine", "unknown_engine")
UNKNOWN_FOCUS = Cause(InvalidInput, "input.unknown_focus", "unknown_focus")
SESSION_ENDED = Cause(InvalidInput, "input.session_ended", "session_ended")
UNKNOWN_TOOL = Cause(ToolNotFound, "input.unknown_tool", "unknown_tool")
