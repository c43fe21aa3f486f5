"""``ChatSettings`` and ``AgentLimits``: how conversations begin, and how much an agent may do."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.answer_length import LENGTHS, AnswerLength
from ..core.setting import choice, flag, number, setting, whole


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """The limits at which an agent must answer with what it has."""

    searches: int = setting(
        "agent.maxSearches", 6, whole(1, 50), "Most searches for one answer in Agent mode.",
        env="SUYUAN_AGENT_MAX_SEARCHES",
    )  # fmt: skip
    fetches: int = setting(
        "agent.maxFetches", 6, whole(0, 50), "Most pages read for one answer in Agent mode.",
        env="SUYUAN_AGENT_MAX_FETCHES",
    )  # fmt: skip
    seconds: float = setting(
        "agent.seconds", 120.0, number(5, 3600), "Time after which an agent must answer with what it has.",
        env="SUYUAN_AGENT_SECONDS",
    )  # fmt: skip
    tokens: int = setting(
        "agent.maxTokens", 100_000, whole(1000, 10_000_000), "Most tokens for one answer in Agent mode.",
        env="SUYUAN_AGENT_MAX_TOKENS",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How conversations begin, and what goes into a prompt."""

    search: bool | None = setting(
        "chat.search", None, flag(), "Whether conversations search until their person uses the switch; unset: on.",
        env="SUYUAN_CHAT_SEARCH",
    )  # fmt: skip
    max_answer: int = setting(
        "chat.maxAnswerLength", 100_000, whole(1000, 10_000_000),
        "Longest answer in characters; a model that writes more is stopped. Reasoning may be four times as long.",
        env="SUYUAN_CHAT_MAX_ANSWER_LENGTH",
    )  # fmt: skip
    read_seconds: float = setting(
        "chat.readSeconds", 2.5, number(0, 60),
        "Time for reading the pages behind the best results before Chat mode answers; 0: only snippets are used.",
        env="SUYUAN_CHAT_READ_SECONDS",
    )  # fmt: skip
    length: AnswerLength = setting(
        "chat.length", "auto", choice(*LENGTHS),
        "Length of answers: short (one sentence), full, list, table; auto: by the question.",
        env="SUYUAN_CHAT_LENGTH",
    )  # fmt: skip
    results: int = 5
    snippet_length: int = 200
    limits: AgentLimits = field(default_factory=AgentLimits)
