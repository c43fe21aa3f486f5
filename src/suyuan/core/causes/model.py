"""Every way in which a model can fail to answer: its code, its words in English and Chinese, and its cure."""

from __future__ import annotations

from ..cause import Cause
from ..errors import (
    AuthError,
    BadGateway,
    InvalidInput,
    NetworkError,
    Timeout,
    WebBlocked,
    WebParseError,
    WebProviderError,
)

# --- how the model is configured -------------------------------------------------------------------------------
MODEL_PACKAGE_MISSING = Cause(
    WebProviderError,
    "model_package_missing",
    "The model provider {provider} needs a package that is not installed ({package}).",
    "模型提供方 {provider} 所需的软件包未安装({package})。",
    "pip install 'suyuan[{extra}]'",
    "pip install 'suyuan[{extra}]'",
)
MODEL_PROVIDER_UNKNOWN = Cause(
    InvalidInput,
    "model_provider_unknown",
    "There is no model provider named {provider!r}.",
    "没有名为 {provider!r} 的模型提供方。",
    "Set model.provider (SUYUAN_MODEL_PROVIDER) to one of: {known}.",
    "请将 model.provider(SUYUAN_MODEL_PROVIDER)设为:{known}。",
)
MODEL_NAME_MISSING = Cause(
    InvalidInput,
    "model_name_missing",
    "The provider {provider} needs the name of a model.",
    "提供方 {provider} 需要指定模型名称。",
    "Set model.name (SUYUAN_MODEL).",
    "请设置 model.name(SUYUAN_MODEL)。",
)
MODEL_KEY_MISSING = Cause(
    AuthError,
    "model_key_missing",
    "The model server {where} needs a key, and none is set.",
    "模型服务器 {where} 需要密钥,但尚未设置。",
    "Set model.apiKey in config.json, or the variable SUYUAN_MODEL_API_KEY or {variable}.",
    "请在 config.json 中设置 model.apiKey,或设置环境变量 SUYUAN_MODEL_API_KEY 或 {variable}。",
)
MODEL_PROXY_UNUSABLE = Cause(
    InvalidInput,
    "model_proxy_unusable",
    "The proxy cannot be used for the model server: {what}.",
    "无法通过该代理访问模型服务器:{what}。",
    "Set web.fetch.proxy to an address such as http://127.0.0.1:7890 (for socks5:// also: pip install socksio), "
    "or name the model server's host in web.fetch.noProxy.",
    "请将 web.fetch.proxy 设为 http://127.0.0.1:7890 这样的地址(socks5:// 还需:pip install socksio),"
    "或将模型服务器的主机名加入 web.fetch.noProxy。",
)

# --- the server refuses us -------------------------------------------------------------------------------------
MODEL_KEY_REFUSED = Cause(
    AuthError,
    "model_key_refused",
    "The model server {where} does not accept the key.",
    "模型服务器 {where} 不接受该密钥。",
    "Check model.apiKey (SUYUAN_MODEL_API_KEY), and that it belongs to this server (model.baseUrl, SUYUAN_MODEL_BASE_URL).",
    "请检查 model.apiKey(SUYUAN_MODEL_API_KEY),并确认它属于该服务器(model.baseUrl,即 SUYUAN_MODEL_BASE_URL)。",
)
MODEL_FORBIDDEN = Cause(
    AuthError,
    "model_forbidden",
    "The model server {where} does not let this key use {name} (HTTP 403).",
    "模型服务器 {where} 不允许该密钥使用 {name}(HTTP 403)。",
    "See in your account there whether the key may use this model and this region, or choose another model (SUYUAN_MODEL).",
    "请在该服务的账户中查看此密钥是否有权使用该模型、所在地区是否受支持,或更换模型(SUYUAN_MODEL)。",
)
MODEL_QUOTA = Cause(
    AuthError,
    "model_quota",
    "The account at {where} has no credit or quota left.",
    "{where} 的账户余额或配额已用完。",
    "Add credit or raise the limit there, or use another model (SUYUAN_MODEL, SUYUAN_MODEL_BASE_URL).",
    "请充值或提高限额,或更换模型(SUYUAN_MODEL、SUYUAN_MODEL_BASE_URL)。",
)
MODEL_RATE = Cause(
    WebBlocked,
    "model_rate",
    "The model server {where} is asked too often (HTTP 429){wait_en}.",
    "对模型服务器 {where} 的请求过于频繁(HTTP 429){wait_zh}。",
    "Wait a little and ask again, or raise the limit of your account there.",
    "请稍候再试,或提高账户的频率限额。",
)
MODEL_FILTERED = Cause(
    InvalidInput,
    "model_filtered",
    "The content filter of {where} refused the question or what was found for it.",
    "{where} 的内容过滤拒绝了该问题或搜索到的内容。",
    "Ask in other words, or use another model (SUYUAN_MODEL).",
    "请换一种说法,或更换模型(SUYUAN_MODEL)。",
)

# --- what was asked does not fit the model ---------------------------------------------------------------------
MODEL_NOT_FOUND = Cause(
    InvalidInput,
    "model_not_found",
    "The model server {where} has no model named {name!r}.",
    "模型服务器 {where} 没有名为 {name!r} 的模型。",
    "Correct model.name (SUYUAN_MODEL); the server lists its models at {models}.",
    "请更正 model.name(SUYUAN_MODEL);该服务器的模型列表见 {models}。",
)
MODEL_NOT_PULLED = Cause(
    InvalidInput,
    "model_not_pulled",
    "Ollama has no model named {name!r}.",
    "Ollama 中没有名为 {name!r} 的模型。",
    "Run `ollama pull {name}`, or choose one that `ollama list` shows (SUYUAN_MODEL).",
    "请运行 `ollama pull {name}`,或从 `ollama list` 中选择一个(SUYUAN_MODEL)。",
)
MODEL_ADDRESS = Cause(
    InvalidInput,
    "model_address",
    "{where} answers, but not as a model server at this address (HTTP {status}).",
    "{where} 有响应,但该地址不是模型接口(HTTP {status})。",
    "Check model.baseUrl (SUYUAN_MODEL_BASE_URL): {hint_en}.",
    "请检查 model.baseUrl(SUYUAN_MODEL_BASE_URL):{hint_zh}。",
)
MODEL_CONTEXT = Cause(
    InvalidInput,
    "context_overflow",
    "The conversation and its sources are longer than {name} can read.",
    "对话与资料的长度超出了 {name} 的上下文窗口。",
    "Set model.contextTokens (SUYUAN_MODEL_CONTEXT_TOKENS, now {limit}) to what the server allows, or start a new conversation.{extra_en}",
    "请将 model.contextTokens(SUYUAN_MODEL_CONTEXT_TOKENS,当前 {limit})设为服务器允许的长度,或开始新的对话。{extra_zh}",
)
MODEL_NO_TOOLS = Cause(
    InvalidInput,
    "tools_unsupported",
    "{name} at {where} cannot call tools, which Agent mode needs.",
    "{where} 上的 {name} 不支持工具调用,而 Agent 模式需要它。",
    "Use Chat mode (`/mode chat`), or a model that can call tools. vLLM needs --enable-auto-tool-choice and --tool-call-parser, "
    "llama.cpp needs --jinja.",
    "请使用 Chat 模式(`/mode chat`),或更换支持工具调用的模型。vLLM 需要 --enable-auto-tool-choice 和 --tool-call-parser,"
    "llama.cpp 需要 --jinja。",
)
MODEL_BAD_REQUEST = Cause(
    InvalidInput,
    "model_bad_request",
    "The model server {where} does not accept the request (HTTP {status}): {what}",
    "模型服务器 {where} 不接受该请求(HTTP {status}):{what}",
    "Check model.name, model.temperature and model.maxTokens; `suyuan config show` shows them.",
    "请检查 model.name、model.temperature 和 model.maxTokens;`suyuan config show` 可查看。",
)

# --- the server cannot be reached, or is broken ----------------------------------------------------------------
MODEL_UNREACHABLE = Cause(
    NetworkError,
    "model_unreachable",
    "The model server {where} cannot be reached: nothing answers there.",
    "无法连接模型服务器 {where}:该地址没有响应。",
    "Start the server, and check model.baseUrl (SUYUAN_MODEL_BASE_URL), the network and the proxy (web.fetch.proxy).",
    "请启动该服务器,并检查 model.baseUrl(SUYUAN_MODEL_BASE_URL)、网络和代理(web.fetch.proxy)。",
)
OLLAMA_DOWN = Cause(
    NetworkError,
    "ollama_down",
    "Ollama does not run at {where}.",
    "{where} 上的 Ollama 未运行。",
    "Run `ollama serve`; if it runs elsewhere, set model.baseUrl (SUYUAN_MODEL_BASE_URL).",
    "请运行 `ollama serve`;若它在别处运行,请设置 model.baseUrl(SUYUAN_MODEL_BASE_URL)。",
)
MODEL_DNS = Cause(
    NetworkError,
    "model_dns",
    "The name of the model server {where} cannot be resolved.",
    "无法解析模型服务器的域名 {where}。",
    "Check the spelling in model.baseUrl (SUYUAN_MODEL_BASE_URL), the network, and whether a proxy is needed (web.fetch.proxy).",
    "请检查 model.baseUrl(SUYUAN_MODEL_BASE_URL)的拼写、网络,以及是否需要代理(web.fetch.proxy)。",
)
MODEL_TLS = Cause(
    NetworkError,
    "model_tls",
    "No safe connection to the model server {where}: its certificate or protocol is not accepted.",
    "无法与模型服务器 {where} 建立安全连接:证书或协议不被接受。",
    "Check http:// or https:// in model.baseUrl (SUYUAN_MODEL_BASE_URL), the clock of this machine, and the proxy (web.fetch.proxy).",
    "请检查 model.baseUrl(SUYUAN_MODEL_BASE_URL)中的 http:// 或 https://、本机时间和代理(web.fetch.proxy)。",
    retryable=False,
)
MODEL_PROXY = Cause(
    NetworkError,
    "model_proxy",
    "The proxy does not let us through to the model server {where}.",
    "代理未能连通模型服务器 {where}。",
    "Check web.fetch.proxy and that the proxy runs; a server on your own network goes into web.fetch.noProxy.",
    "请检查 web.fetch.proxy 以及代理是否在运行;内网服务器请加入 web.fetch.noProxy。",
    retryable=False,
)
MODEL_CUT = Cause(
    NetworkError,
    "model_cut",
    "The model server {where} broke off in the middle of its answer.",
    "模型服务器 {where} 在回答途中断开了连接。",
    "Ask again. If it stays: the server may have run out of memory, see its log.",
    "请重试。若仍如此,服务器可能内存不足,请查看其日志。",
)
MODEL_SILENT = Cause(
    Timeout,
    "model_silent",
    "The model server {where} said nothing for {seconds:g} s.",
    "模型服务器 {where} 在 {seconds:g} 秒内没有任何输出。",
    "Ask again, or raise model.timeoutSeconds (SUYUAN_MODEL_TIMEOUT_SECONDS): a large model that is being loaded needs long.",
    "请重试,或调高 model.timeoutSeconds(SUYUAN_MODEL_TIMEOUT_SECONDS):加载大模型需要较长时间。",
)
MODEL_BROKEN = Cause(
    BadGateway,
    "model_broken",
    "The model server {where} failed at its own end (HTTP {status}){what}.",
    "模型服务器 {where} 自身出错(HTTP {status}){what}。",
    "Ask again in a moment; if it stays, see the server's log or its status page.",
    "请稍后重试;若仍如此,请查看服务器日志或其状态页。",
)
MODEL_BUSY = Cause(
    BadGateway,
    "model_busy",
    "The model server {where} is overloaded or still loading the model (HTTP {status}).",
    "模型服务器 {where} 负载过高或仍在加载模型(HTTP {status})。",
    "Wait a little and ask again.",
    "请稍候再试。",
)
MODEL_BAD_ANSWER = Cause(
    WebParseError,
    "model_bad_answer",
    "{where} answered something that is not a model's answer.",
    "{where} 返回的内容不是模型的回答。",
    "Check model.baseUrl (SUYUAN_MODEL_BASE_URL): {hint_en}.",
    "请检查 model.baseUrl(SUYUAN_MODEL_BASE_URL):{hint_zh}。",
)
MODEL_FAILED = Cause(
    WebProviderError,
    "model_failed",
    "The model at {where} failed: {what}",
    "{where} 的模型出错:{what}",
    "Ask again; if it stays, use another model (SUYUAN_MODEL), and see the log.",
    "请重试;若仍如此,请更换模型(SUYUAN_MODEL),并查看日志。",
)
