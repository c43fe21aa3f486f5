"""Tests for engines of other packages: ``check_engine`` and the server that it runs."""

from .engine_check import CaseResult, check_engine
from .server import AnswerServer, ServerAnswer

__all__ = ["ServerAnswer", "AnswerServer", "CaseResult", "check_engine"]
