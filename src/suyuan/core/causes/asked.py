"""What is wrong with what the caller asked."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, ToolNotFound

EMPTY_QUERY = Cause(
    InvalidInput,
    "empty_query",
    "The query is empty.",
    "查询为空。",
    "Give at least one word to search for.",
    "请至少输入一个要搜索的词。",
)
QUERY_TOO_LONG = Cause(
    InvalidInput,
    "query_too_long",
    "The query has {length} characters; at most {limit} can be searched.",
    "查询有 {length} 个字符,最多 {limit} 个。",
    "Ask with the few words that matter.",
    "请只保留最关键的几个词。",
)
BAD_COUNT = Cause(
    InvalidInput,
    "bad_count",
    "The number of results must be a whole number from 1 to 10, not {value!r}.",
    "结果数量必须是 1 到 10 的整数,而不是 {value!r}。",
    "Leave it out, or give a number from 1 to 10.",
    "可以不填,或填 1 到 10。",
)
BAD_FRESHNESS = Cause(
    InvalidInput,
    "bad_freshness",
    "The time range {value!r} is not understood.",
    "无法理解时间范围 {value!r}。",
    "Use day, week, month, year, or two dates such as 2026-01-01..2026-03-31.",
    "请使用 day、week、month、year,或两个日期,例如 2026-01-01..2026-03-31。",
)
BAD_LANG = Cause(
    InvalidInput,
    "bad_lang",
    "The language {value!r} is not a language tag.",
    "{value!r} 不是语言代码。",
    "Use a tag such as en, zh-CN or pt-BR.",
    "请使用 en、zh-CN、pt-BR 这样的代码。",
)
BAD_COUNTRY = Cause(
    InvalidInput,
    "bad_country",
    "The country {value!r} is not a two-letter country code.",
    "{value!r} 不是两个字母的国家代码。",
    "Use a code such as CN, US or DE.",
    "请使用 CN、US、DE 这样的代码。",
)
BAD_DOMAIN = Cause(
    InvalidInput,
    "bad_domain",
    "{value!r} is not a domain name.",
    "{value!r} 不是域名。",
    "Use a name such as example.com, without http:// and without a path.",
    "请使用 example.com 这样的域名,不带 http:// 和路径。",
)
BAD_BUDGET = Cause(
    InvalidInput,
    "bad_budget",
    "The time budget must be from 1 to 120000 milliseconds, not {value!r}.",
    "时间预算必须在 1 到 120000 毫秒之间,而不是 {value!r}。",
    "Leave it out, or give for example 5000.",
    "可以不填,或填 5000。",
)
BAD_ARGUMENT = Cause(
    InvalidInput,
    "bad_argument",
    "The argument {name!r} cannot be used: {why}.",
    "参数 {name!r} 无法使用:{why}。",
    "Correct or leave out the argument; the tool's schema lists them.",
    "请修改或去掉该参数;可用参数见工具的 schema。",
)
UNKNOWN_ENGINE = Cause(
    InvalidInput,
    "unknown_engine",
    "There is no search engine named {name!r}.",
    "没有名为 {name!r} 的搜索引擎。",
    "Choose one of: {known}. `suyuan engines` lists them.",
    "请从以下引擎中选择:{known}。`suyuan engines` 可列出全部。",
)
UNKNOWN_TOOL = Cause(
    ToolNotFound,
    "unknown_tool",
    "There is no tool named {name!r}.",
    "没有名为 {name!r} 的工具。",
    "The tools are: {known}.",
    "可用的工具:{known}。",
)
