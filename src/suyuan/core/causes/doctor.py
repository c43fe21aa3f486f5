"""Findings of ``suyuan doctor`` that no search and no chat raises."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, NetworkError, WebProviderError

# --- configuration
CONFIG_UNREADABLE = Cause(InvalidInput, "doctor.config_unreadable", "config_unreadable")
CONFIG_UNKNOWN = Cause(InvalidInput, "doctor.config_unknown", "config_unknown_setting")
CONFIG_VALUE = Cause(InvalidInput, "doctor.config_value", "config_bad_value")
CONFIG_READABLE = Cause(InvalidInput, "doctor.config_readable", "config_readable_by_others")
SERVER_OPEN = Cause(InvalidInput, "doctor.server_open", "server_without_token")

# --- network
NO_NETWORK = Cause(NetworkError, "doctor.no_network", "no_network")
NO_ENGINE_ANSWERS = Cause(WebProviderError, "doctor.no_engine_answers", "no_engine_answers")
FAKE_IP = Cause(NetworkError, "doctor.fake_ip", "fake_ip")
PROXY_DOWN = Cause(NetworkError, "doctor.proxy_down", "proxy_unusable")

# --- storage
ARCHIVE_FAULTY = Cause(WebProviderError, "doctor.archive_faulty", "archive_damaged")
STORE_FAULTY = Cause(WebProviderError, "doctor.store_faulty", "store_faulty")
DISK_FULL = Cause(WebProviderError, "doctor.disk_full", "disk_full")

# --- the model
MODEL_NO_STREAM = Cause(WebProviderError, "doctor.model_no_stream", "model_no_stream")
