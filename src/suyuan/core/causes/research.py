"""Why a research job cannot be found, started or finished."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, SuyuanError, WebProviderError

NO_RESEARCH = Cause(InvalidInput, "research.no_research", "no_research")
RESEARCH_STATE = Cause(InvalidInput, "research.wrong_state", "research_state")
BAD_RESEARCH = Cause(InvalidInput, "research.bad_request", "bad_research")
NO_PRICE = Cause(InvalidInput, "research.no_price", "no_price")
NO_EVIDENCE = Cause(WebProviderError, "research.no_evidence", "no_evidence", retryable=True)
NOT_A_REPORT = Cause(InvalidInput, "research.not_a_report", "not_a_report")
MODEL_REPLACED = Cause(WebProviderError, "research.model_replaced", "model_replaced")
DOCX_MISSING = Cause(SuyuanError, "research.docx_missing", "docx_missing")
