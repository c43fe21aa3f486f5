"""The tools' names, descriptions and inputs, in Chinese and English, for every binding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..core.page_reading import DEPTHS, LEAST_TOKENS, MOST_TOKENS
from ..core.query import MAX_RESULTS
from ..search.focus import FOCUSES

Lang = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One input of a tool."""

    name: str
    schema: dict[str, Any]
    zh: str
    en: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: the name that models use, the name that tool providers use, its texts and its inputs."""

    name: str
    dotted: str
    zh: str
    en: str
    practice_zh: str
    practice_en: str
    parameters: tuple[Parameter, ...]
    examples: tuple[dict[str, Any], ...]

    def description(self, lang: Lang, today: str = "") -> str:
        """What the tool is for; with ``today`` also the date, since models tend to search for the wrong year."""
        if lang == "zh":
            return self.zh + (f"\n今天是 {today}。" if today else "") + f"\n{self.practice_zh}"
        return self.en + (f"\nToday is {today}." if today else "") + f"\n{self.practice_en}"

    def schema(self, lang: Lang, only: tuple[str, ...] = (), most_results: int = MAX_RESULTS) -> dict[str, Any]:
        """The JSON Schema of the inputs, or of ``only`` some of them; ``most_results`` is the most that a call gets."""
        chosen = [p for p in self.parameters if not only or p.name in only]
        properties = {p.name: {**p.schema, "description": p.zh if lang == "zh" else p.en} for p in chosen}
        if "count" in properties:
            properties["count"]["maximum"] = most_results
        return {
            "type": "object",
            "properties": properties,
            "required": [p.name for p in chosen if p.required],
            "additionalProperties": False,
        }

    def full_schema(self, lang: Lang) -> dict[str, Any]:
        """The JSON Schema of all inputs, with whole calls as examples."""
        return {**self.schema(lang), "examples": list(self.examples)}


_DOMAINS = {"type": "array", "items": {"type": "string"}}

WEB_SEARCH = ToolSpec(
    name="web_search",
    dotted="web.search",
    zh="搜索互联网获取实时信息。当需要了解最新事件、实时数据、当前新闻或验证信息时使用此工具。",
    en="Search the internet for current information. Use it for recent events, live data, today's news, or to verify "
    "a fact.",
    practice_zh=(
        "好的查询：用几个关键词而不是整句话，写明名称、地点和年份；一次只问一件事；结果不好时换一种说法，不要重复同样的查询。"
        "例如：“Python 3.14 新特性 发布说明”优于“告诉我 Python 有什么新东西”。"
        "结果带有编号 [n]，引用时使用该编号；摘要不足以回答时应说明。"
        "查询会离开本机：不要写入用户文档的内容或任何秘密。"
    ),
    practice_en=(
        "A good query is a few keywords, not a sentence, with the name, place and year that matter; one thing at a "
        "time; when the results "
        "are poor, use other words and do not repeat the same query. For example: “Python 3.14 release notes new "
        "features” rather than "
        "“tell me what is new in Python”. Results carry a number [n]: cite with it; say so when the snippets do not "
        "answer the question. A query leaves the machine: put nothing of the user's own documents into it, and no "
        "secret."
    ),
    parameters=(
        Parameter(
            "query",
            {
                "type": "string",
                "minLength": 1,
                "examples": ["2026 年诺贝尔物理学奖 得主", "PostgreSQL 18 async I/O benchmark"],
            },
            "搜索查询关键词,应该具体、清晰、针对性强",
            "The search keywords: specific, clear and to the point.",
            required=True,
        ),
        Parameter(
            "count",
            {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS},
            "结果数量",
            "Number of results.",
        ),
        Parameter(
            "country",
            {"type": "string", "pattern": "^[A-Za-z]{2}$"},
            "国家代码，例如 CN、US",
            "Country code such as CN or US.",
        ),
        Parameter(
            "freshness",
            {"type": "string"},
            "时间范围：day、week、month、year，或 2026-01-01..2026-03-31",
            "Time range: day, week, month, year, or 2026-01-01..2026-03-31.",
        ),
        Parameter(
            "language", {"type": "string"}, "结果语言，例如 zh-CN、en", "Language of the results such as zh-CN or en."
        ),
        Parameter(
            "focus",
            {"type": "string", "enum": list(FOCUSES)},
            "来源类型：web（网页）、news（新闻）、academic（论文）、code（代码）、discussions（讨论）、encyclopedia（百科）、"
            "images（图片）、mine（用户自己的文档）、china（中文网站）",
            "Kind of source: web, news, academic (papers), code, discussions, encyclopedia, images, mine (the "
            "user's own documents), china (Chinese sites).",
        ),
        Parameter(
            "depth",
            {"type": "string", "enum": list(DEPTHS)},
            "results（默认）：只有摘要；passages：同时读取前几个网页，返回回答查询的段落；pages：返回整页正文",
            "results (default): snippets only; passages: also read the first pages and return the passages that answer "
            "the query; pages: whole pages.",
        ),
        Parameter(
            "max_tokens",
            {"type": "integer", "minimum": LEAST_TOKENS, "maximum": MOST_TOKENS},
            "所有段落或整页正文的总长度上限（token）",
            "The length of all passages or pages together, in tokens.",
        ),
        Parameter("allowed_domains", _DOMAINS, "只要这些域名的结果", "Only results of these domains."),
        Parameter("blocked_domains", _DOMAINS, "排除这些域名的结果", "No results of these domains."),
    ),
    examples=({"query": "2026 年诺贝尔物理学奖 得主"}, {"query": "SearXNG json format 403", "freshness": "year"}),
)

WEB_FETCH = ToolSpec(
    name="web_fetch",
    dotted="web.fetch",
    zh="读取一个网页的正文。当搜索摘要不足以回答问题，或需要核实原文时使用此工具。",
    en="Read the main text of a web page. Use it when the snippets of a search do not answer the question, or to "
    "check the wording.",
    practice_zh="只读取搜索结果、页面链接或用户给出的地址。给出 question 时只返回相关段落。"
    "地址会离开本机：不要在其中添加任何内容。",
    practice_en="Read only addresses that came from search results, from links of pages, or from the user. "
    "With a question only the passages that matter come back. An address leaves the machine: add nothing to it.",
    parameters=(
        Parameter(
            "url", {"type": "string", "minLength": 8}, "网页的完整地址", "The full address of the page.", required=True
        ),
        Parameter("question", {"type": "string"}, "想从页面中了解什么", "What you want to know from the page."),
    ),
    examples=({"url": "https://docs.searxng.org/", "question": "how to enable the JSON format"},),
)

# The inputs for a plain agent, for one that may choose, and for an agent of agents.json.
ONE_INPUT = ("query",)
AGENT_INPUTS = ("query", "count", "freshness", "focus", "depth", "allowed_domains", "blocked_domains")
FOUR_INPUTS = ("query", "count", "country", "freshness")


def web_fetch_contract() -> dict[str, Any]:
    """The JSON Schema of the arguments of ``web.fetch``, as tool providers publish it."""
    properties = {
        "url": {"type": "string", "minLength": 1},
        "question": {"type": "string", "description": "Only the passages that matter for it are returned."},
        "max_tokens": {"type": "integer", "minimum": 50, "maximum": 100_000},
        "fresh": {"type": "boolean", "description": "Ask the network even where a reading is kept."},
        "render": {"type": "boolean", "description": "Show the page in a browser first."},
    }
    return {"type": "object", "properties": properties, "required": ["url"], "additionalProperties": False}


def web_search_contract() -> dict[str, Any]:
    """The JSON Schema of the arguments of ``web.search``, as tool providers publish it."""
    text = {"type": "string"}
    properties = {
        "query": {"type": "string", "minLength": 1},
        "max_results": {"type": "integer", "minimum": 1, "maximum": 10},
        "lang": text,
        "locale": {**text, "description": "Another name for lang."},
        "time_range": {**text, "description": "day, week, month, year or two dates: 2026-01-01..2026-03-31."},
        "freshness": {**text, "description": "Another name for time_range."},
        "country": text,
        "site_filter": {"oneOf": [text, _DOMAINS], "description": "Another name for allowed_domains."},
        "allowed_domains": _DOMAINS,
        "blocked_domains": _DOMAINS,
        "need_summary": {"type": "boolean"},
        "focus": {**text, "description": f"Kind of source: {', '.join(FOCUSES)}, or one of the configuration."},
        "depth": {**text, "description": "results, passages (the first pages are read) or pages (whole pages)."},
        "max_tokens": {"type": "integer", "minimum": LEAST_TOKENS, "maximum": MOST_TOKENS},
        "trace_id": text,
        "budget_ms": {"type": "integer", "minimum": 1, "maximum": 120_000},
    }
    return {"type": "object", "properties": properties, "required": ["query"], "additionalProperties": False}
