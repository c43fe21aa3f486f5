"""The words of the command line, in English and Chinese."""

from __future__ import annotations

_TEXTS = {
    "about": ("Web search that says what happened.", "说清楚发生了什么的网络搜索。"),
    "help.config_dir": ("folder that holds config.json and agents.json", "config.json 与 agents.json 所在的目录"),
    "help.ui": ("language of this program's texts", "程序界面语言"),
    "help.verbose": ("log to stderr (twice: more)", "向 stderr 输出日志(两次则更详细)"),
    "help.version": ("print the version", "显示版本"),
    "help.search": ("search the web", "搜索网络"),
    "help.query": ("what to search for", "要搜索的内容"),
    "help.engine": ("engine or plan: auto, NAME, A,B (B when A fails), A+B (merged)", "引擎或方案:auto、名称、A,B(先 A 后 B)、A+B(合并)"),
    "help.count": ("number of results, 1–10", "结果数量,1–10"),
    "help.lang": ("language of results, e.g. en, zh-CN", "结果语言,例如 en、zh-CN"),
    "help.country": ("country, e.g. US, CN", "国家,例如 US、CN"),
    "help.freshness": ("day, week, month, year, or 2026-01-01..2026-03-31", "day、week、month、year,或 2026-01-01..2026-03-31"),
    "help.site": ("only results of this domain (repeatable)", "只要该域名的结果(可重复)"),
    "help.not_site": ("no results of this domain (repeatable)", "排除该域名的结果(可重复)"),
    "help.summary": ("ask for summaries where the engine has them", "如引擎支持则请求摘要"),
    "help.timeout": ("seconds for the whole search", "整个搜索的时限(秒)"),
    "help.json": ("print JSON", "输出 JSON"),
    "help.shape": ("shape of the JSON", "JSON 的格式"),
    "help.explain": ("show what each engine did", "显示每个引擎的情况"),
    "help.engines": ("list the engines, or read a saved page", "列出引擎,或解析保存的页面"),
    "help.parse": ("read a saved result page, offline", "离线解析保存的结果页"),
    "help.file": ("the saved page, or - for standard input", "保存的页面,- 表示标准输入"),
    "help.status": ("HTTP status that came with the page", "页面的 HTTP 状态码"),
    "help.parse_query": ("the query that the page answers", "页面对应的查询"),
    "help.config": ("show or check the configuration", "显示或检查配置"),
    "help.config_show": ("print what holds and where it came from", "显示生效的配置及其来源"),
    "help.config_check": ("report what cannot be used; exit code 2 if anything", "报告无法使用的配置;如有则退出码为 2"),
    "help.config_schema": ("print the JSON Schema of config.json or agents.json", "输出 config.json 或 agents.json 的 JSON Schema"),
    "help.shell": ("search, one question a line", "逐行输入问题进行搜索"),
    "help.mcp": ("serve the tools to MCP clients", "向 MCP 客户端提供工具"),
    "help.mcp_http": ("over HTTP instead of stdio", "通过 HTTP 而不是 stdio"),
    "help.host": ("address to listen on; other than loopback needs SUYUAN_TOKEN", "监听地址;非本机地址需要 SUYUAN_TOKEN"),
    "help.port": ("port to listen on", "监听端口"),
    "mcp.serving": ("MCP at {url} (Ctrl-C ends)", "MCP 地址:{url}(Ctrl-C 结束)"),
    "mcp.token": (
        "Listening on {host} opens the tools to the network: set SUYUAN_TOKEN to a long random text first, and give it to your clients.",
        "监听 {host} 会把工具开放给网络:请先将 SUYUAN_TOKEN 设为一段长的随机文本,并提供给客户端。",
    ),
    "extra.missing": ("The package {what} is missing: pip install 'suyuan[{extra}]'", "缺少 {what}:pip install 'suyuan[{extra}]'"),
    "searching": ("Searching … {seconds:.1f} s", "搜索中 … {seconds:.1f} 秒"),
    "none": ("Nothing was found for “{query}” ({engine} answered).", "没有找到与“{query}”相关的结果({engine} 已响应)。"),
    "summary": ("{count} results from {engine} in {seconds:.1f} s", "{engine} 返回 {count} 条结果,用时 {seconds:.1f} 秒"),
    "summary.cached": ("{count} results from {engine}, kept from before", "{engine} 的 {count} 条结果(缓存)"),
    "summary.fallback": ("({engine}: {message})", "({engine}:{message})"),
    "failed": ("Search failed", "搜索失败"),
    "invalid": ("Cannot be asked", "输入无效"),
    "cure": ("What helps:", "解决办法:"),
    "receipt": ("What each engine did:", "各引擎情况:"),
    "outcome.ok": ("{count} results", "{count} 条结果"),
    "outcome.empty": ("nothing found", "无结果"),
    "outcome.blocked": ("refused", "被拒绝"),
    "outcome.timeout": ("timed out", "超时"),
    "outcome.error": ("failed", "失败"),
    "outcome.skipped": ("not asked", "未请求"),
    "outcome.cancelled": ("overtaken", "已被其他引擎抢先"),
    "unhonoured": ("could not honour: {names}", "无法满足:{names}"),
    "engine.name": ("engine", "引擎"),
    "engine.key": ("key", "密钥"),
    "engine.state": ("state", "状态"),
    "engine.address": ("address", "地址"),
    "key.none": ("not needed", "不需要"),
    "key.set": ("set", "已设置"),
    "key.missing": ("{variable} missing", "缺少 {variable}"),
    "state.ready": ("ready", "就绪"),
    "state.resting": ("rests {seconds:.0f} s ({why})", "休息 {seconds:.0f} 秒({why})"),
    "state.no_key": ("needs its key", "需要密钥"),
    "state.broken": ("cannot be loaded", "无法加载"),
    "config.file": ("configuration file", "配置文件"),
    "config.no_file": ("none (defaults and environment)", "无(使用默认值和环境变量)"),
    "config.fine": ("The configuration is fine.", "配置没有问题。"),
    "shell.prompt": ("search> ", "搜索> "),
    "shell.hint": ("Type a question; Ctrl-D ends. Engines: {engine}.", "请输入问题;Ctrl-D 结束。引擎:{engine}。"),
    "no_file": ("{path} cannot be read: {why}", "无法读取 {path}:{why}"),
    "interrupted": ("Stopped.", "已停止。"),
}


class Texts:
    """The texts in one language."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self._column = 1 if lang == "zh" else 0

    def __call__(self, key: str, **blanks: object) -> str:
        """The text named ``key`` with its blanks filled in."""
        return _TEXTS[key][self._column].format(**blanks)
