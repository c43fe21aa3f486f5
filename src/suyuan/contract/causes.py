"""Every cause of failure the house knows: its code, its words in English and Chinese, and its cure.

A room that finds a failure calls the cause: ``raise CAPTCHA(engine="ddg_html")``. Texts stand here and nowhere
else, so that the terminal, the page, the model and the guide all say the same.
"""

from __future__ import annotations

from .cause import Cause
from .errors import (
    AuthError,
    BadGateway,
    InvalidInput,
    NetworkError,
    Timeout,
    ToolNotFound,
    WebBlocked,
    WebParseError,
    WebProviderError,
)

# --- what the caller asked -------------------------------------------------------------------------------------
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

# --- an engine refuses us --------------------------------------------------------------------------------------
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
RESTING = Cause(
    WebBlocked,
    "resting",
    "{engine} rests for another {seconds:.0f} s, because it refused us before ({why}).",
    "{engine} 之前拒绝过请求({why}),还需休息 {seconds:.0f} 秒。",
    "Wait, or use another engine.",
    "请稍候,或换用其他引擎。",
)

# --- an engine answers what cannot be read ---------------------------------------------------------------------
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

# --- an engine cannot be reached -------------------------------------------------------------------------------
REFUSED = Cause(
    NetworkError,
    "connection_refused",
    "Nothing answers at {where} ({engine}).",
    "{where} 没有响应({engine})。",
    "Check the network, that the service runs, and its address and port.",
    "请检查网络、服务是否在运行,以及地址和端口。",
)
NO_SUCH_HOST = Cause(
    NetworkError,
    "dns",
    "The name {where} cannot be resolved ({engine}).",
    "无法解析域名 {where}({engine})。",
    "Check the network connection, the DNS and the spelling of the address; or switch search off for now.",
    "请检查网络连接、DNS 和地址拼写;也可以暂时关闭搜索。",
)
BROKEN_OFF = Cause(
    NetworkError,
    "connection_broken",
    "The connection to {where} broke off ({engine}).",
    "与 {where} 的连接中断({engine})。",
    "Try again; if it stays, check the network and the proxy.",
    "请重试;若仍如此,请检查网络和代理。",
)
BAD_HTTP = Cause(
    NetworkError,
    "bad_http",
    "{where} does not speak proper HTTP ({engine}).",
    "{where} 返回的不是有效的 HTTP({engine})。",
    "Check the address and the port; a proxy in between may alter the answers.",
    "请检查地址和端口;中间的代理也可能改动了内容。",
    retryable=False,
)
TLS_FAILED = Cause(
    NetworkError,
    "tls",
    "No trusted TLS connection to {where} ({engine}).",
    "无法与 {where} 建立可信的 TLS 连接({engine})。",
    "Check http:// or https:// in the address, the certificate, and the clock of this machine.",
    "请检查地址是 http:// 还是 https://、证书,以及本机时间。",
    retryable=False,
)
PROXY_FAILED = Cause(
    NetworkError,
    "proxy",
    "The proxy did not let the request to {where} through ({engine}).",
    "代理未放行到 {where} 的请求({engine})。",
    "Check web.fetch.proxy (or HTTPS_PROXY): address, port, user and password.",
    "请检查 web.fetch.proxy(或 HTTPS_PROXY)的地址、端口、用户名和密码。",
    retryable=False,
)
REDIRECTED = Cause(
    NetworkError,
    "redirected",
    "{engine} sent us on to {where}, which is not its address.",
    "{engine} 将请求重定向到 {where},这不是它的地址。",
    "If that is right, set web.providers.{engine}.baseUrl to it.",
    "如果确实如此,请将 web.providers.{engine}.baseUrl 设为该地址。",
    retryable=False,
)
REDIRECT_LOOP = Cause(
    NetworkError,
    "redirect_loop",
    "{engine} redirects in circles.",
    "{engine} 循环重定向。",
    "Check web.providers.{engine}.baseUrl (http or https, with or without a path).",
    "请检查 web.providers.{engine}.baseUrl(http 还是 https,是否带路径)。",
    retryable=False,
)
OFF_LIMITS = Cause(
    WebProviderError,
    "off_limits",
    "{engine} wanted to reach {where}, which is not its endpoint; the request was not sent.",
    "{engine} 试图访问 {where},这不是它的接口地址;请求未发送。",
    "Set web.providers.{engine}.baseUrl if the engine has moved.",
    "如果该引擎已迁移,请设置 web.providers.{engine}.baseUrl。",
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
OWN_LIMIT = Cause(
    Timeout,
    "own_rate_limit",
    "Our own limit of {rate:g} requests a minute to {engine} would make this search wait {seconds:.1f} s, longer than its time.",
    "对 {engine} 的自限为每分钟 {rate:g} 次,本次搜索需等待 {seconds:.1f} 秒,超过了时限。",
    "Ask more slowly, add another engine, or raise web.providers.{engine}.ratePerMinute.",
    "请放慢速度、增加其他引擎,或调高 web.providers.{engine}.ratePerMinute。",
)

# --- keys and doors --------------------------------------------------------------------------------------------
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
SEARXNG_CLOSED = Cause(
    AuthError,
    "json_api_off",
    "SearXNG at {where} refuses JSON (HTTP 403): its JSON format is not enabled.",
    "位于 {where} 的 SearXNG 拒绝 JSON 请求(HTTP 403):未启用 JSON 格式。",
    "Add `json` under `search: formats:` in SearXNG's settings.yml and restart it: docker compose restart searxng",
    "请在 SearXNG 的 settings.yml 中 `search: formats:` 下加入 `json`,然后重启:docker compose restart searxng",
)
SEARXNG_LIMITER = Cause(
    WebBlocked,
    "http_429",
    "SearXNG at {where} refuses us (HTTP 429): its limiter is on.",
    "位于 {where} 的 SearXNG 拒绝请求(HTTP 429):其 limiter 已启用。",
    "For a private instance set `server: limiter: false` in settings.yml and restart it: docker compose restart searxng",
    "私有实例请在 settings.yml 中设置 `server: limiter: false`,然后重启:docker compose restart searxng",
)
NOT_SEARXNG = Cause(
    NetworkError,
    "not_searxng",
    "What answers at {where} is not SearXNG.",
    "{where} 上运行的不是 SearXNG。",
    "Set SEARXNG_BASE_URL to the address and port of your SearXNG.",
    "请将 SEARXNG_BASE_URL 设为您的 SearXNG 的地址和端口。",
    retryable=False,
)

# --- a page that cannot be read -------------------------------------------------------------------------------
CHALLENGE_PAGE = Cause(
    WebBlocked,
    "captcha_required",
    "{where} shows a verification page in place of its content: a person must act.",
    "{where} 显示的是验证页面而非内容:需要人工处理。",
    "Open the page in a browser, or use another source.",
    "请在浏览器中打开该页面,或使用其他来源。",
    retryable=False,
)
LOGIN_WALL = Cause(
    AuthError,
    "login_required",
    "{where} shows its content only after a log-in.",
    "{where} 需要登录后才能查看内容。",
    "Use another source, or give the text of the page yourself.",
    "请使用其他来源,或自行提供页面内容。",
)
NEEDS_SCRIPTS = Cause(
    WebParseError,
    "javascript_required",
    "{where} makes its content with JavaScript; without it there is nothing to read.",
    "{where} 的内容由 JavaScript 生成,否则无内容可读。",
    "Render it in a browser: suyuan fetch --render (needs suyuan[browser] and Chrome), or use another source.",
    "请用浏览器渲染:suyuan fetch --render(需要 suyuan[browser] 和 Chrome),或使用其他来源。",
)
EMPTY_TEXT = Cause(
    WebParseError,
    "empty_text",
    "{where} has no text to read.",
    "{where} 没有可读的文字。",
    "It may be a page of pictures or a list of links; use another source.",
    "可能是图片页或链接列表;请使用其他来源。",
)
UNSUPPORTED_TYPE = Cause(
    WebParseError,
    "unsupported_type",
    "{where} is of type {kind}, which cannot be read as text.",
    "{where} 的类型是 {kind},无法读取为文字。",
    "HTML, plain text, Markdown, JSON, XML, RSS and PDF can be read.",
    "可以读取 HTML、纯文本、Markdown、JSON、XML、RSS 和 PDF。",
)
NOT_FOUND = Cause(
    WebProviderError,
    "not_found",
    "The page is not there any more: {where} (HTTP {status}).",
    "页面已不存在:{where}(HTTP {status})。",
    "Check the address; an earlier reading may be in the archive: suyuan archive search",
    "请检查地址;归档中可能有以前的版本:suyuan archive search",
)
ROBOTS = Cause(
    WebBlocked,
    "robots",
    "{where} asks programs not to read this page (robots.txt).",
    "{where} 要求程序不要读取此页面(robots.txt)。",
    "Respect it, or set web.fetch.robots to false.",
    "请尊重该要求,或将 web.fetch.robots 设为 false。",
    retryable=False,
)
EXTRA_MISSING = Cause(
    WebProviderError,
    "extra_missing",
    "The package {what} is not installed.",
    "未安装 {what}。",
    "pip install 'suyuan[{extra}]'",
    "pip install 'suyuan[{extra}]'",
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
ENGINES_DEAD = Cause(
    WebProviderError,
    "engines_dead",
    "SearXNG answers, but the engines behind it do not: {which}.",
    "SearXNG 有响应,但其背后的引擎没有:{which}。",
    "Wait a while, or enable other engines in SearXNG's settings.yml.",
    "请稍后再试,或在 SearXNG 的 settings.yml 中启用其他引擎。",
    retryable=True,
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
    "{cure}",
    "{cure_zh}",
    retryable=True,
)


BAD_URL = Cause(
    InvalidInput,
    "bad_url",
    "{url!r} cannot be fetched: {why}.",
    "无法访问 {url!r}:{why_zh}。",
    "Give a full address such as https://example.com/page, without user name, password or line breaks.",
    "请给出完整地址,例如 https://example.com/page,不含用户名、密码和换行。",
)
GUARD_REFUSED = Cause(
    WebProviderError,
    "guard_refused",
    "{where} is not fetched: {why}. Only public addresses are.",
    "不会访问 {where}:{why_zh}。只访问公网地址。",
    "If it is yours and you trust it, add its name to web.fetch.allowHosts or its network to web.fetch.allowNetworks.",
    "如果它属于您且可信,请将其名称加入 web.fetch.allowHosts,或将其网段加入 web.fetch.allowNetworks。",
)


PAGE_TOO_LARGE = Cause(
    WebParseError,
    "too_large",
    "{where} sent more than {limit} bytes.",
    "{where} 返回的内容超过 {limit} 字节。",
    "It is too large to be read as a page; look for a shorter page on the same thing, or allow more (web.fetch.maxBytes).",
    "内容过大,无法作为网页读取;请找内容相同但更短的页面,或调高上限(web.fetch.maxBytes)。",
)
PAGE_UNDECODED = Cause(
    WebParseError,
    "undecoded_body",
    "{where} sent a compressed body that is broken: {what}.",
    "{where} 返回的压缩内容已损坏:{what}。",
    "Try again; if it stays, the page is broken at its own end, or a proxy in between alters the answers.",
    "请重试;若仍如此,可能是该网页自身有误,或中间的代理改动了内容。",
    retryable=True,
)
PAGE_REDIRECTS = Cause(
    NetworkError,
    "redirect_loop",
    "{where} redirects in circles, or too often ({count} times).",
    "{where} 循环重定向或重定向次数过多({count} 次)。",
    "The page may want cookies or a login; use another source.",
    "该页面可能需要 Cookie 或登录;请换用其他来源。",
    retryable=False,
)


BROWSER_CLOSED = Cause(
    WebProviderError,
    "browser_closed",
    "The browser was closed before {where} was read ({engine}).",
    "浏览器在读取 {where} 之前已关闭({engine})。",
    "This happens when the program ends; ask again in a new session.",
    "程序结束时会出现此情况;请在新的会话中重试。",
)
BROWSER_ONLY_READS = Cause(
    WebProviderError,
    "browser_only_reads",
    "{engine} wanted to send data ({method}) by the browser, which only reads pages.",
    "{engine} 试图通过浏览器发送数据({method}),而浏览器只用于读取页面。",
    "This is a fault of the engine's code: such a request goes by HTTP.",
    "这是引擎代码的缺陷:此类请求应通过 HTTP 发送。",
)


CHROME_MISSING = Cause(
    WebProviderError,
    "chrome_missing",
    "Neither Chrome nor Chromium is installed on this machine.",
    "本机未安装 Chrome 或 Chromium。",
    "Install one: {command}. If it is in an unusual place, name its path in the configuration.",
    "请安装:{command}。如果安装在特殊位置,请在配置中指定其路径。",
)
CHROME_NOT_THERE = Cause(
    WebProviderError,
    "chrome_missing",
    "The configuration names the browser {wanted!r}, and there is no such program.",
    "配置指定的浏览器 {wanted!r} 不存在。",
    "Correct that setting, or remove it so that an installed browser is found by itself. To install one: {command}.",
    "请更正该设置,或将其删除以自动查找已安装的浏览器。安装命令:{command}。",
)


PLAYWRIGHT_MISSING = Cause(
    WebProviderError,
    "playwright_missing",
    "The browser cannot be used, because Playwright is not installed.",
    "未安装 Playwright,无法使用浏览器。",
    "pip install 'suyuan[browser]'",
    "pip install 'suyuan[browser]'",
)
PROFILE_BUSY = Cause(
    WebProviderError,
    "profile_busy",
    "The kept browser profile {where} is in use by another window or program.",
    "保留的浏览器配置目录 {where} 正被其他窗口或程序使用。",
    "Close that window, or give each program a profile of its own.",
    "请关闭该窗口,或为每个程序配置单独的目录。",
    retryable=True,
)


BROWSER_FAILED = Cause(
    WebProviderError,
    "browser_failed",
    "The browser failed at {where} ({engine}): {what}",
    "浏览器访问 {where} 时出错({engine}):{what}",
    "Try again; if it stays, update Chrome or Chromium, and see that this machine has memory to spare.",
    "请重试;若仍如此,请更新 Chrome 或 Chromium,并检查本机是否有足够的内存。",
    retryable=True,
)
NOT_A_PAGE = Cause(
    WebParseError,
    "not_a_page",
    "{where} sent something that a browser does not show as a page: {what} ({engine}).",
    "{where} 返回的内容不是可显示的网页:{what}({engine})。",
    "Fetch it without the browser, or check the address.",
    "请不经浏览器获取,或检查地址。",
)


NO_DISPLAY = Cause(
    WebProviderError,
    "no_display",
    "A browser window cannot be shown here: this machine has no display.",
    "此处无法显示浏览器窗口:本机没有显示器。",
    "Run it on a computer with a desktop, on the same network; or use another engine.",
    "请在同一网络中带桌面的电脑上运行;或换用其他引擎。",
)


def catalogue() -> dict[str, Cause]:
    """Return every cause by its name in this file."""
    return {name: value for name, value in globals().items() if isinstance(value, Cause)}
