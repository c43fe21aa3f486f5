"""Why an engine did not answer: it refuses us, cannot be read, takes too long, wants a key, or is broken."""

from __future__ import annotations

from ..cause import Cause
from ..errors import AuthError, BadGateway, Timeout, WebBlocked, WebParseError, WebProviderError

# --- it refuses us ---------------------------------------------------------------------------------------------
CAPTCHA = Cause(
    WebBlocked,
    "captcha_required",
    "{engine} asks for a CAPTCHA: a person must act.",
    "{engine} 要求验证码:需要人工处理。",
    "Wait a while, use another engine, or open the engine in a browser on this network and solve it there.",
    "请稍后再试、换用其他引擎,或在同一网络的浏览器中打开该引擎完成验证。",
)
FORBIDDEN = Cause(
    WebBlocked,
    "http_403",
    "{engine} refused the request (HTTP 403).",
    "{engine} 拒绝了请求(HTTP 403)。",
    "Use another engine, or another exit (web.fetch.proxy).",
    "请换用其他引擎,或更换出口代理(web.fetch.proxy)。",
)
RATE_LIMITED = Cause(
    WebBlocked,
    "http_429",
    "{engine} says that there were too many requests (HTTP 429).",
    "{engine} 表示请求过多(HTTP 429)。",
    "Wait a while; it rests by itself. Fewer requests per minute: web.providers.{engine}.ratePerMinute.",
    "请稍后再试,系统会自动让它休息。可减少每分钟请求数:web.providers.{engine}.ratePerMinute。",
)
SOFT_BLOCK = Cause(
    WebBlocked,
    "soft_block",
    "{engine} shows an empty page for an ordinary query: that is how it turns programs away.",
    "{engine} 对普通查询返回空页面:这是它拒绝程序访问的方式。",
    "Use another engine, or another exit (web.fetch.proxy).",
    "请换用其他引擎,或更换出口代理(web.fetch.proxy)。",
)
CONSENT = Cause(
    WebBlocked,
    "consent_required",
    "{engine} shows its consent page in place of results: a person must choose.",
    "{engine} 显示的是同意页面而非结果:需要人工选择。",
    "Open the engine once in a browser on this network and answer its question, use another exit (web.fetch.proxy) or another engine.",
    "请在同一网络的浏览器中打开该引擎并作出选择,更换出口代理(web.fetch.proxy),或换用其他引擎。",
    retryable=False,
)
JAVASCRIPT_SHELL = Cause(
    WebBlocked,
    "javascript_required",
    "{engine} sent a page that shows results only with JavaScript.",
    "{engine} 返回的页面需要 JavaScript 才能显示结果。",
    "Use another engine; the address of this one may point to the wrong page (web.providers.{engine}.baseUrl).",
    "请换用其他引擎;也可能是地址配置有误(web.providers.{engine}.baseUrl)。",
)
CIRCUIT_OPEN = Cause(
    WebBlocked,
    "circuit_open",
    "{engine} rests for another {seconds:.0f} s, because it refused us before ({why}).",
    "{engine} 之前拒绝过请求({why}),还需休息 {seconds:.0f} 秒。",
    "Wait, or use another engine.",
    "请稍候,或换用其他引擎。",
)

# --- it answers what cannot be read ----------------------------------------------------------------------------
UNREADABLE = Cause(
    WebParseError,
    "layout_changed",
    "{engine} sent a page that has neither results nor a sign that there are none.",
    "{engine} 返回的页面既没有结果,也没有“无结果”的标志。",
    "Its page may have changed: save it and run `suyuan engines parse {engine} FILE`; use another engine meanwhile.",
    "页面结构可能已改变:保存页面后运行 `suyuan engines parse {engine} 文件`;在此期间请换用其他引擎。",
)
UNDECODED = Cause(
    WebParseError,
    "undecoded_body",
    "{engine} sent bytes that are not text: a compressed or broken body.",
    "{engine} 返回的不是文本:内容被压缩或已损坏。",
    "Try again; if it stays, a proxy in between may alter the answers.",
    "请重试;若仍如此,可能是中间的代理改动了内容。",
    retryable=True,
)
NOT_JSON = Cause(
    WebParseError,
    "not_json",
    "{engine} should have sent JSON, but sent {what}.",
    "{engine} 应返回 JSON,实际返回了 {what}。",
    "Check that web.providers.{engine}.baseUrl is the address of its API.",
    "请检查 web.providers.{engine}.baseUrl 是否为其 API 地址。",
)
TOO_LARGE = Cause(
    WebParseError,
    "too_large",
    "{engine} sent more than {limit} bytes.",
    "{engine} 返回的内容超过 {limit} 字节。",
    "That is not a result page. Check web.providers.{engine}.baseUrl.",
    "这不是结果页。请检查 web.providers.{engine}.baseUrl。",
)

# --- it takes too long -----------------------------------------------------------------------------------------
ENGINE_TIMEOUT = Cause(
    Timeout,
    "engine_timeout",
    "{engine} did not answer in {seconds:g} s.",
    "{engine} 在 {seconds:g} 秒内没有响应。",
    "Try again, use another engine, or allow more time (timeoutSeconds).",
    "请重试、换用其他引擎,或增加时间(timeoutSeconds)。",
)
BUDGET_SPENT = Cause(
    Timeout,
    "budget_spent",
    "The search was given {seconds:g} s, and no engine answered in that time ({waited}).",
    "搜索时限为 {seconds:g} 秒,没有引擎在此时间内响应({waited})。",
    "Try again, check the network, or allow more time (timeoutSeconds).",
    "请重试、检查网络,或增加时间(timeoutSeconds)。",
)
OWN_RATE_LIMIT = Cause(
    Timeout,
    "own_rate_limit",
    "Our own limit of {rate:g} requests a minute to {engine} would make this search wait {seconds:.1f} s, longer than its time.",
    "对 {engine} 的自限为每分钟 {rate:g} 次,本次搜索需等待 {seconds:.1f} 秒,超过了时限。",
    "Ask more slowly, add another engine, or raise web.providers.{engine}.ratePerMinute.",
    "请放慢速度、增加其他引擎,或调高 web.providers.{engine}.ratePerMinute。",
)

# --- keys ------------------------------------------------------------------------------------------------------
KEY_MISSING = Cause(
    AuthError,
    "key_missing",
    "{engine} needs an API key, and none is configured.",
    "{engine} 需要 API 密钥,但尚未配置。",
    "Set {variable}, or {setting} in config.json.",
    "请设置环境变量 {variable},或在 config.json 中设置 {setting}。",
)
KEY_REJECTED = Cause(
    AuthError,
    "key_rejected",
    "{engine} does not accept the API key ({said}).",
    "{engine} 不接受该 API 密钥({said})。",
    "Check the key for typing errors, its plan and its expiry.",
    "请检查密钥是否有误、套餐和有效期。",
)

# --- broken at their end, or in a way without a better name ----------------------------------------------------
UPSTREAM_BROKEN = Cause(
    BadGateway,
    "http_5xx",
    "{engine} is out of order (HTTP {status}).",
    "{engine} 服务异常(HTTP {status})。",
    "Try again later, or use another engine.",
    "请稍后再试,或换用其他引擎。",
)
BAD_STATUS = Cause(
    WebProviderError,
    "http_status",
    "{engine} answered with HTTP {status}.",
    "{engine} 返回 HTTP {status}。",
    "Check web.providers.{engine}.baseUrl.",
    "请检查 web.providers.{engine}.baseUrl。",
)
API_SAID_NO = Cause(
    WebProviderError,
    "api_error",
    "{engine} reports an error: {said}",
    "{engine} 报告错误:{said}",
    "See the provider's documentation for this message.",
    "请在服务商文档中查找该信息。",
)
ENGINE_BUG = Cause(
    WebProviderError,
    "engine_bug",
    "{engine} failed inside: {what}",
    "{engine} 内部出错:{what}",
    "This is a fault of the engine's code: please report it with the page that caused it.",
    "这是引擎代码的缺陷:请附上相关页面报告问题。",
)
NO_ENGINE = Cause(
    WebProviderError,
    "no_engine",
    "No search engine is configured.",
    "没有配置任何搜索引擎。",
    "Set WEB_SEARCH_BACKEND or tools.webSearch.defaultProvider.",
    "请设置 WEB_SEARCH_BACKEND 或 tools.webSearch.defaultProvider。",
)
ALL_FAILED = Cause(
    WebProviderError,
    "all_engines_failed",
    "No engine could answer. {causes}",
    "没有引擎能够响应。{causes_zh}",
    "{hint}",
    "{hint_zh}",
    retryable=True,
)
