"""Why the server rejects a request, or cannot be started."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, SuyuanError


class Refused(SuyuanError):
    """The server does not take this request; nothing is wrong with what was asked."""


# --- access
HOST_REFUSED = Cause(Refused, "server.host_refused", "host_refused")
ORIGIN_REFUSED = Cause(Refused, "server.origin_refused", "origin_refused")
TOKEN_NEEDED = Cause(Refused, "server.token_needed", "token_needed")
TOKEN_WRONG = Cause(Refused, "server.token_wrong", "token_wrong")
TOO_MANY_TRIES = Cause(Refused, "server.too_many_tries", "too_many_tries", retryable=True)

ACCOUNTS_UNUSED = Cause(InvalidInput, "server.accounts_unused", "accounts_unused")
SETTINGS_UNREADABLE = Cause(InvalidInput, "server.settings_unreadable", "settings_unreadable")

# --- limits
BODY_TOO_LARGE = Cause(InvalidInput, "server.body_too_large", "body_too_large")
BODY_TOO_MANY = Cause(InvalidInput, "server.body_too_many", "body_too_many")
BODY_TOO_SLOW = Cause(Refused, "server.body_too_slow", "body_too_slow", retryable=True)
TOO_MANY_STREAMS = Cause(Refused, "server.too_many_streams", "too_many_streams", retryable=True)
SERVER_FULL = Cause(Refused, "server.full", "server_full", retryable=True)
TOO_MANY_CRAWLS = Cause(Refused, "server.too_many_crawls", "too_many_crawls", retryable=True)
SHUTTING_DOWN = Cause(Refused, "server.shutting_down", "shutting_down", retryable=True)

# --- not found or not readable
NO_RUN = Cause(InvalidInput, "server.no_run", "no_run")
NO_CRAWL = Cause(InvalidInput, "server.no_crawl", "no_crawl")
NO_SUCH_PATH = Cause(InvalidInput, "server.no_such_path", "no_such_path")
NOT_THAT_WAY = Cause(InvalidInput, "server.not_that_way", "method_not_allowed")
BAD_REQUEST = Cause(InvalidInput, "server.bad_request", "bad_request")

SEARCH_LOOP = Cause(InvalidInput, "server.search_loop", "search_loop")

# --- chat completions
NO_USER_MESSAGE = Cause(InvalidInput, "server.no_user_message", "no_user_message")
ONLY_TEXT = Cause(InvalidInput, "server.only_text", "only_text")
ONE_ANSWER = Cause(InvalidInput, "server.one_answer", "one_answer")
NO_RESPONSE = Cause(InvalidInput, "server.no_response", "no_response")
UNKNOWN_API_MODEL = Cause(InvalidInput, "server.unknown_api_model", "unknown_api_model")

# --- starting
TOKEN_FOR_NETWORK = Cause(Refused, "server.token_for_network", "token_for_network")
TOKEN_WEAK = Cause(InvalidInput, "server.token_weak", "token_weak")
PORT_TAKEN = Cause(Refused, "server.port_taken", "port_taken")
CANNOT_LISTEN = Cause(Refused, "server.cannot_listen", "cannot_listen")
