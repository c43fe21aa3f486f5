"""Failures and notices of a chat: wrong input, the limits of an agent, what a page must not cause."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, SuyuanError, Timeout, WebProviderError

# --- input
EMPTY_MESSAGE = Cause(InvalidInput, "chat.empty_message", "empty_message")
MESSAGE_TOO_LONG = Cause(InvalidInput, "chat.message_too_long", "message_too_long")
SWITCH_LOCKED = Cause(InvalidInput, "chat.switch_locked", "switch_locked")
NO_CONVERSATION = Cause(InvalidInput, "chat.no_conversation", "no_conversation")
EXPORT_TOO_SLOW = Cause(Timeout, "chat.export_too_slow", "export_too_slow", retryable=False)
NO_MESSAGE = Cause(InvalidInput, "chat.no_message", "no_message")
ANSWER_UNDER_WAY = Cause(InvalidInput, "chat.answer_under_way", "answer_under_way", retryable=True)
BAD_MODE = Cause(InvalidInput, "chat.bad_mode", "bad_mode")
BAD_COMMAND = Cause(InvalidInput, "chat.bad_command", "bad_command")
UNKNOWN_MODEL_CHOICE = Cause(InvalidInput, "chat.unknown_model_choice", "unknown_model_choice")

# --- answering without a search
FROM_ARCHIVE = Cause(WebProviderError, "chat.from_archive", "from_archive")
FROM_GUIDES = Cause(WebProviderError, "chat.from_guides", "from_guides")
WITHOUT_SEARCH = Cause(WebProviderError, "chat.without_search", "without_search")

# --- limits of an agent
SEARCH_LIMIT = Cause(InvalidInput, "chat.search_limit", "search_limit")
FETCH_LIMIT = Cause(InvalidInput, "chat.fetch_limit", "fetch_limit")
PAGE_LATE = Cause(Timeout, "chat.page_late", "page_late")
TIME_IS_UP = Cause(Timeout, "chat.time_is_up", "time_is_up")
EMPTY_ANSWER = Cause(WebProviderError, "chat.empty_answer", "empty_answer", retryable=True)
ANSWER_TOO_LONG = Cause(WebProviderError, "chat.answer_too_long", "answer_too_long")
TOO_MANY_CALLS = Cause(WebProviderError, "chat.too_many_calls", "too_many_calls")
NO_TOOL_CALLS = Cause(WebProviderError, "chat.no_tool_calls", "no_tool_calls")
NO_FUNCTION_CALLS = Cause(InvalidInput, "chat.no_function_calls", "no_function_calls")
HISTORY_CUT = Cause(WebProviderError, "chat.history_cut", "history_cut")

# --- saving
NOT_SAVED = Cause(SuyuanError, "chat.not_saved", "not_saved", retryable=True)

# --- what a page must not cause
URL_NOT_SEEN = Cause(InvalidInput, "chat.url_not_seen", "url_not_seen")
URL_AFTER_DOCUMENT = Cause(InvalidInput, "chat.url_after_document", "url_after_document")
QUERY_FROM_DOCUMENT = Cause(InvalidInput, "chat.query_from_document", "query_from_document")
QUERY_FROM_PAGE = Cause(InvalidInput, "chat.query_from_page", "query_from_page")

# --- internal errors
UNEXPECTED = Cause(SuyuanError, "chat.unexpected", "unexpected")
