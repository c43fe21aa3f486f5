"""Why a server cannot be reached, or must not be."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, NetworkError, WebProviderError

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
