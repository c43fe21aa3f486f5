"""Why a page cannot be read."""

from __future__ import annotations

from ..cause import Cause
from ..errors import AuthError, NetworkError, WebBlocked, WebParseError, WebProviderError

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
