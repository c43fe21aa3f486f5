"""Why the server turns a request away: the causes of the page and the APIs, with their cures."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, SuyuanError


class Refused(SuyuanError):
    """The server does not take this request; nothing is wrong with what was asked."""

    code = "Refused"


# --- who asks ------------------------------------------------------------------------------------------------------
HOST_REFUSED = Cause(
    Refused,
    "host_refused",
    "This server does not answer to the name {host!r}.",
    "此服务器不接受主机名 {host!r}。",
    "Open {url}, or start with --host NAME (and a token) to serve under another name.",
    "请打开 {url};如需使用其他主机名,请用 --host NAME(并设置令牌)启动。",
)
ORIGIN_REFUSED = Cause(
    Refused,
    "origin_refused",
    "Another website sent this request; only the page of this server may.",
    "该请求来自其他网站,只接受本服务器页面发出的请求。",
    "Use the page itself, or a program that sends no Origin header.",
    "请使用本服务器的页面,或不发送 Origin 头的程序。",
)
TOKEN_NEEDED = Cause(
    Refused,
    "token_needed",
    "This server wants its token.",
    "此服务器需要令牌。",
    "Send it as “Authorization: Bearer TOKEN”, or log in at /login. It is what SUYUAN_TOKEN was set to.",
    "请以“Authorization: Bearer TOKEN”发送,或在 /login 登录。令牌即 SUYUAN_TOKEN 的值。",
)
TOKEN_WRONG = Cause(
    Refused,
    "token_wrong",
    "The token is not right.",
    "令牌不正确。",
    "Look at what SUYUAN_TOKEN (server.token) is set to on the server.",
    "请查看服务器上 SUYUAN_TOKEN(server.token)的值。",
)
TOO_MANY_TRIES = Cause(
    Refused,
    "too_many_tries",
    "There were too many tries with a wrong token.",
    "令牌错误次数过多。",
    "Wait {seconds:.0f} seconds, then try again with the right one.",
    "请等待 {seconds:.0f} 秒后使用正确的令牌重试。",
    retryable=True,
)

# --- how much -------------------------------------------------------------------------------------------------------
BODY_TOO_LARGE = Cause(
    InvalidInput,
    "body_too_large",
    "The request is larger than {limit} bytes.",
    "请求超过 {limit} 字节。",
    "Send less: a question, not a book.",
    "请减少内容:只发送问题本身。",
)
BODY_TOO_SLOW = Cause(
    Refused,
    "body_too_slow",
    "The request did not arrive within {seconds:g} seconds.",
    "请求未在 {seconds:g} 秒内到达。",
    "Check the connection and send it again.",
    "请检查网络后重新发送。",
    retryable=True,
)
TOO_MANY_STREAMS = Cause(
    Refused,
    "too_many_streams",
    "You follow {limit} answers at once already.",
    "你已同时打开 {limit} 个实时连接。",
    "Close some windows, then try again.",
    "请关闭一些窗口后重试。",
    retryable=True,
)
SERVER_FULL = Cause(
    Refused,
    "server_full",
    "The server has as many open streams as it can serve ({limit}).",
    "服务器的实时连接已达上限({limit})。",
    "Try again in a moment.",
    "请稍后重试。",
    retryable=True,
)
SHUTTING_DOWN = Cause(
    Refused,
    "shutting_down",
    "The server is being stopped.",
    "服务器正在停止。",
    "Start it again: suyuan serve",
    "请重新启动:suyuan serve",
    retryable=True,
)

# --- what is not there ----------------------------------------------------------------------------------------------
NO_RUN = Cause(
    InvalidInput,
    "no_run",
    "There is no answer {id!r}.",
    "没有回答 {id!r}。",
    "It may have been removed. Reload the conversation.",
    "它可能已被移除,请重新加载会话。",
)
NO_SUCH_PATH = Cause(
    InvalidInput,
    "no_such_path",
    "There is nothing at {path}.",
    "{path} 不存在。",
    "The interfaces are described at /api/openapi.json.",
    "接口说明见 /api/openapi.json。",
)
NOT_THAT_WAY = Cause(
    InvalidInput,
    "method_not_allowed",
    "{path} does not take {method}.",
    "{path} 不支持 {method}。",
    "The interfaces are described at /api/openapi.json.",
    "接口说明见 /api/openapi.json。",
)
BAD_REQUEST = Cause(
    InvalidInput,
    "bad_request",
    "The request cannot be read: {why}.",
    "无法读取请求:{why}。",
    "Send JSON with the header Content-Type: application/json.",
    "请以 Content-Type: application/json 发送 JSON。",
)

SEARCH_LOOP = Cause(
    InvalidInput,
    "search_loop",
    "SEARXNG_BASE_URL is set to this server ({url}): every search would search itself.",
    "SEARXNG_BASE_URL 指向了本服务器({url}):搜索会不断调用自身。",
    "Set SEARXNG_BASE_URL (web.providers.searxng.baseUrl) to your SearXNG instance, or leave it out.",
    "请将 SEARXNG_BASE_URL(web.providers.searxng.baseUrl)设为你的 SearXNG 实例,或不设置。",
)

# --- chat completions -----------------------------------------------------------------------------------------------
NO_USER_MESSAGE = Cause(
    InvalidInput,
    "no_user_message",
    "The last message must be the user's question.",
    "最后一条消息必须是用户的问题。",
    'End messages with {{"role": "user", "content": "…"}}.',
    '请让 messages 以 {{"role": "user", "content": "…"}} 结尾。',
)
ONLY_TEXT = Cause(
    InvalidInput,
    "only_text",
    "A message has a part of the type {kind!r}; only text can be read here.",
    "消息包含类型为 {kind!r} 的内容,这里只能读取文本。",
    'Send {{"type": "text", "text": "…"}} parts, or plain text.',
    '请发送 {{"type": "text", "text": "…"}} 或纯文本。',
)
ONE_ANSWER = Cause(
    InvalidInput,
    "one_answer",
    "The parameter {name!r} asks for something that this server does not do.",
    "参数 {name!r} 要求的功能此服务器不支持。",
    "Leave it out: one answer is given, and the tools are the server's own.",
    "请去掉该参数:每次只给出一个回答,工具由服务器提供。",
)
UNKNOWN_API_MODEL = Cause(
    InvalidInput,
    "unknown_api_model",
    "There is no model {value!r} here.",
    "这里没有模型 {value!r}。",
    "Use suyuan, suyuan-chat, suyuan-agent, or suyuan:NAME with one of: {known}. GET /v1/models lists them.",
    "请使用 suyuan、suyuan-chat、suyuan-agent,或 suyuan:NAME(NAME 可为:{known})。GET /v1/models 可列出全部。",
)

# --- starting --------------------------------------------------------------------------------------------------------
TOKEN_FOR_NETWORK = Cause(
    Refused,
    "token_for_network",
    "Listening on {host} opens the page to the network, and no token is set.",
    "监听 {host} 会把页面开放给网络,但没有设置令牌。",
    "Set SUYUAN_TOKEN (server.token) to a long random text first, e.g. {example}. Without --host only this machine can ask.",
    "请先将 SUYUAN_TOKEN(server.token)设为一段长的随机文本,例如 {example}。不用 --host 时只有本机可以访问。",
)
PORT_TAKEN = Cause(
    Refused,
    "port_taken",
    "Another program uses port {port} on {host} already.",
    "{host} 的端口 {port} 已被其他程序占用。",
    "Choose another port: suyuan serve --port {other}",
    "请换用其他端口:suyuan serve --port {other}",
)
CANNOT_LISTEN = Cause(
    Refused,
    "cannot_listen",
    "{host}:{port} cannot be listened on: {why}.",
    "无法监听 {host}:{port}:{why}。",
    "Choose another address or port: suyuan serve --host 127.0.0.1 --port {other}",
    "请换用其他地址或端口:suyuan serve --host 127.0.0.1 --port {other}",
)
