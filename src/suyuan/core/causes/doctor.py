"""What the doctor alone can find: the causes that no search and no chat ever raises."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, NetworkError, WebProviderError

# --- configuration ---------------------------------------------------------------------------------------------
CONFIG_UNREADABLE = Cause(
    InvalidInput,
    "config_unreadable",
    "{where} {why}: nothing in it is used.",
    "无法使用 {where}:{why},其中的设置均未生效。",
    "Mend it at that place; a wrong comma or quotation mark is the usual reason. Then: suyuan config check",
    "请在该处修正,通常是逗号或引号有误。然后运行:suyuan config check",
)
CONFIG_UNKNOWN = Cause(
    InvalidInput,
    "config_unknown_setting",
    "{where}: {key} {why}.",
    "{where}:{key} 不是可用的设置({why})。",
    "Correct or remove that line. All settings: suyuan config schema",
    "请修改或删除该行。全部设置:suyuan config schema",
)
CONFIG_VALUE = Cause(
    InvalidInput,
    "config_bad_value",
    "{where}: {key} = {value} cannot be used: it {why}. In its place holds: {used}.",
    "{where}:{key} = {value} 无法使用({why})。实际使用:{used}。",
    "Correct it at that place. What holds now: suyuan config show",
    "请在该处修正。当前生效的配置:suyuan config show",
)
CONFIG_READABLE = Cause(
    InvalidInput,
    "config_readable_by_others",
    "{where} holds a key, and other users of this machine may read it.",
    "{where} 中有密钥,而本机其他用户可以读取它。",
    "chmod 600 {where}",
    "chmod 600 {where}",
)
SERVER_OPEN = Cause(
    InvalidInput,
    "server_without_token",
    "The page is to listen on {host}, which other machines can reach, and there is no token.",
    "页面将监听 {host},其他机器可以访问,但没有设置令牌。",
    'Set SUYUAN_TOKEN to a long random text (python3 -c "import secrets; print(secrets.token_urlsafe(32))"), or SUYUAN_HOST=127.0.0.1.',
    '请将 SUYUAN_TOKEN 设为一段长的随机文本(python3 -c "import secrets; print(secrets.token_urlsafe(32))"),或设置 SUYUAN_HOST=127.0.0.1。',
)

# --- network ---------------------------------------------------------------------------------------------------
NO_NETWORK = Cause(
    NetworkError,
    "no_network",
    "None of the engines' names can be resolved: this machine has no network, or no DNS.",
    "所有引擎的域名都无法解析:本机没有网络,或 DNS 不可用。",
    "Check the connection: ping -c 1 223.5.5.5 (the network), getent hosts duckduckgo.com (the DNS). Behind a proxy set WEB_FETCH_PROXY. "
    "What was read before can still be searched.",
    "请检查连接:ping -c 1 223.5.5.5(网络),getent hosts duckduckgo.com(DNS)。如需代理请设置 WEB_FETCH_PROXY。已读取的内容仍可离线搜索。",
)
NO_ENGINE_ANSWERS = Cause(
    WebProviderError,
    "no_engine_answers",
    "None of the engines of the plan {plan!r} answered: searching does not work now.",
    "方案 {plan!r} 中没有引擎响应:当前无法搜索。",
    "The findings on the engines say why, each with its cure. The quickest way out: SearXNG of your own (suyuan searxng init) or a key for "
    "Brave or Bocha.",
    "各引擎的检查结果说明了原因和解决办法。最快的办法:自建 SearXNG(suyuan searxng init),或使用 Brave、Bocha 的密钥。",
)
FAKE_IP = Cause(
    NetworkError,
    "fake_ip",
    "This machine's DNS gives invented addresses ({host} is {address}), as Clash and similar proxies do: reading pages will be refused.",
    "本机 DNS 返回的是虚拟地址({host} 为 {address}),Clash 等代理会如此:读取网页将被拒绝。",
    "Set WEB_FETCH_FAKE_IP=true (web.fetch.fakeIp).",
    "请设置 WEB_FETCH_FAKE_IP=true(web.fetch.fakeIp)。",
)
PROXY_DOWN = Cause(
    NetworkError,
    "proxy_unusable",
    "The proxy {proxy} lets nothing through: {why}",
    "代理 {proxy} 无法使用:{why}",
    "Start the proxy, or correct or remove it: {origin}. To see: curl -x http://{proxy} -sI https://duckduckgo.com | head -1",
    "请启动代理,或修改、删除该设置:{origin}。验证:curl -x http://{proxy} -sI https://duckduckgo.com | head -1",
)

# --- places on this machine ------------------------------------------------------------------------------------
ARCHIVE_DAMAGED = Cause(
    WebProviderError,
    "archive_damaged",
    "The archive {where} is damaged: {why}",
    "归档 {where} 已损坏:{why}",
    "Put it aside, a new one is made by itself: mv {where} {where}.damaged  What can be saved: sqlite3 {where}.damaged .recover",
    "请将其移开,系统会自动新建:mv {where} {where}.damaged  可抢救的内容:sqlite3 {where}.damaged .recover",
)
ARCHIVE_UNUSABLE = Cause(
    WebProviderError,
    "archive_unusable",
    "The archive {where} cannot be opened: {why}",
    "无法打开归档 {where}:{why}",
    "Give this user the right to write there, choose another folder (SUYUAN_DATA_DIR), or do without (SUYUAN_ARCHIVE=false).",
    "请为当前用户授予写入权限,换一个目录(SUYUAN_DATA_DIR),或关闭归档(SUYUAN_ARCHIVE=false)。",
)
STORE_FAULTY = Cause(
    WebProviderError,
    "store_faulty",
    "Something is wrong with the kept conversations: {why}",
    "会话存储有问题:{why}",
    "Copy the file first. Then read what can be saved: sqlite3 FILE .recover | sqlite3 NEW",
    "请先复制该文件。然后抢救可读的内容:sqlite3 FILE .recover | sqlite3 NEW",
)
DISK_FULL = Cause(
    WebProviderError,
    "disk_full",
    "Only {free} MB are free where Suyuan keeps its data ({where}).",
    "Suyuan 数据所在磁盘({where})仅剩 {free} MB。",
    "Free some space, keep less (SUYUAN_ARCHIVE_MAX_MB), or use another disk (SUYUAN_DATA_DIR).",
    "请清理磁盘,减少保留内容(SUYUAN_ARCHIVE_MAX_MB),或换用其他磁盘(SUYUAN_DATA_DIR)。",
)

# --- the model -------------------------------------------------------------------------------------------------
MODEL_NO_STREAM = Cause(
    WebProviderError,
    "model_no_stream",
    "{where} does not stream: the answer of {name} comes all at once.",
    "{where} 不支持流式输出:{name} 的回答会一次性返回。",
    "It works, but people wait longer. A proxy in front may collect the answer (nginx: proxy_buffering off).",
    "可以使用,但等待时间更长。前面的代理可能缓冲了回答(nginx:proxy_buffering off)。",
)
