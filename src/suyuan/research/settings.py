"""``ResearchSettings``: what research may cost, which sites are not read, and how many jobs run at once."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.setting import names, number, setting, whole


@dataclass(frozen=True, slots=True)
class ResearchSettings:
    """How research works on this machine."""

    jobs: int = setting(
        "research.parallelJobs", 3, whole(1, 50), "Research jobs that run at the same time; others wait.",
        env="SUYUAN_RESEARCH_PARALLEL_JOBS",
    )  # fmt: skip
    content_farms: tuple[str, ...] = setting(
        "research.contentFarms", (), names(), "Domains whose pages are not read for research.",
        env="SUYUAN_RESEARCH_CONTENT_FARMS",
    )  # fmt: skip
    search_price: float = setting(
        "research.searchPrice", 0.0, number(0, 1000), "Price of one search, for budgets in money.",
        env="SUYUAN_RESEARCH_SEARCH_PRICE",
    )  # fmt: skip
    token_price: float = setting(
        "research.tokenPrice", 0.0, number(0, 1000), "Price of a thousand tokens of the model, for budgets in money.",
        env="SUYUAN_RESEARCH_TOKEN_PRICE",
    )  # fmt: skip
