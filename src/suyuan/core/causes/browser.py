"""Why the browser cannot help."""

from __future__ import annotations

from ..cause import Cause
from ..errors import WebParseError, WebProviderError

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
