"""The tool for research: its name, description and inputs."""

from __future__ import annotations

from typing import Any

from .specs import Parameter, ToolSpec

_DEPTHS = ["quick", "normal", "deep"]

RESEARCH = ToolSpec(
    name="research",
    dotted="research_report",
    zh="研究一个问题：拆分、搜索、阅读多个网页，写出每句话都注明出处并经核对的报告。"
    "需要全面、多来源的回答时使用；单个事实请用 web_search。",
    en="Research a question: split it, search, read many pages, and write a report in which every sentence is cited "
    "and checked. Use it for thorough answers from several sources; for a single fact use web_search.",
    practice_zh="需要半分钟到几分钟。报告中的 [n] 是证据表 ledger 中段落的编号。"
    "超时后可用返回的 id 再次调用，以取得结果。",
    practice_en="It takes from half a minute to several minutes. [n] in the report is the number of a passage of the "
    "ledger. After a timeout, call it again with the id to get the result.",
    parameters=(
        Parameter("question", {"type": "string", "minLength": 1}, "要研究的问题", "The question to research."),
        Parameter(
            "depth",
            {"type": "string", "enum": _DEPTHS},
            "深度：quick（约 10 个网页）、normal（约 40 个）、deep（约 150 个）",
            "How far to go: quick (about 10 pages), normal (about 40) or deep (about 150).",
        ),
        Parameter(
            "id",
            {"type": "string"},
            "已开始的研究任务的编号：返回其状态，完成后返回报告",
            "The id of a job that was begun: its state, and its report when it is done.",
        ),
    ),
    examples=({"question": "听潮大桥的设计与争议", "depth": "quick"}, {"question": "Redis and Valkey compared"}),
)


def research_contract() -> dict[str, Any]:
    """The JSON Schema of the arguments of ``research_report``, as tool providers publish it."""
    text = {"type": "string"}
    properties = {
        "question": {"type": "string", "minLength": 1},
        "depth": {"type": "string", "enum": _DEPTHS},
        "lang": text,
        "focus": text,
        "freshness": text,
        "max_pages": {"type": "integer", "minimum": 1},
        "max_searches": {"type": "integer", "minimum": 1},
        "max_seconds": {"type": "integer", "minimum": 1},
    }
    return {"type": "object", "properties": properties, "required": ["question"], "additionalProperties": False}
