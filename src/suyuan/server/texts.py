"""Every text of the page, in English and Chinese. Those that the script needs begin with ``js.``."""

from __future__ import annotations

from ..messages.texts import Bilingual

_TEXTS: dict[str, tuple[str, str]] = {
    "name": ("Suyuan 溯源", "溯源 Suyuan"),
    "motto": ("Answers you can trace", "每句话都可溯源"),
    "skip": ("Skip to the question field", "跳到提问框"),
    "conversations": ("Conversations", "会话"),
    "conversations.open": ("Show conversations", "显示会话列表"),
    "conversations.search": ("Search conversations", "搜索会话"),
    "conversations.none": ("No conversation yet", "还没有会话"),
    "new": ("New conversation", "新会话"),
    "rename": ("Rename", "重命名"),
    "delete": ("Delete", "删除"),
    "untitled": ("New conversation", "新会话"),
    "export": ("Export", "导出"),
    "export.md": ("Markdown", "Markdown"),
    "export.html": ("Web page (HTML)", "网页 (HTML)"),
    "export.json": ("Data (JSON)", "数据 (JSON)"),
    # --- the settings panel -------------------------------------------------------------------------------------------
    "settings": ("Settings", "设置"),
    "settings.more": ("More settings", "更多设置"),
    "mode": ("Mode", "模式"),
    "mode.chat": ("Chat", "Chat"),
    "mode.agent": ("Agent", "Agent"),
    "mode.chat.hint": ("One search per question, when the switch is on", "每个问题搜索一次,由开关控制"),
    "mode.agent.hint": ("The AI plans, searches and reads on its own", "AI 自行规划、搜索与阅读"),
    "search": ("Search the web", "联网搜索"),
    "search.hint": (
        "When on, SearXNG and other engines are searched for current information",
        "启用后将使用SearXNG搜索实时信息",
    ),
    "search.locked": ("In Agent mode the AI decides when to search", "Agent 模式下由 AI 自动决策搜索"),
    "search.on": ("On", "开"),
    "search.off": ("Off", "关"),
    "search.auto": ("AI", "AI"),
    "engine": ("Search engine", "搜索引擎"),
    "engine.auto": ("Automatic", "自动选择"),
    "engine.unready": ("{title} (not ready)", "{title}(不可用)"),
    "model": ("Model", "模型"),
    "model.embedded": ("Built-in (quotes the sources)", "内置模型(摘录原文)"),
    "language": ("Language", "语言"),
    "theme": ("Appearance", "外观"),
    "theme.auto": ("Automatic", "跟随系统"),
    "theme.light": ("Light", "浅色"),
    "theme.dark": ("Dark", "深色"),
    "health": ("Search service", "搜索服务"),
    "health.unknown": ("Checking…", "正在检查…"),
    "health.fix": ("What helps", "解决办法"),
    "guide.searxng": ("SearXNG", "SearXNG"),
    "guide.models": ("Models", "模型"),
    "guide.troubleshooting": ("Troubleshooting", "故障排查"),
    "guide": ("Read the guide", "查看指南"),
    # --- asking -------------------------------------------------------------------------------------------------------
    "ask": ("Your question", "你的问题"),
    "ask.hint": ("Ask a question…", "输入问题…"),
    "ask.keys": (
        "Enter sends, Shift+Enter makes a new line, /help lists commands",
        "Enter 发送,Shift+Enter 换行,/help 查看命令",
    ),
    "send": ("Send", "发送"),
    "stop": ("Stop", "停止"),
    "edit": ("Edit and resend", "编辑并重新发送"),
    "cancel": ("Cancel", "取消"),
    "welcome": ("What would you like to know?", "想了解什么?"),
    "welcome.hint": (
        "Every sentence of an answer leads to the page it came from.",
        "回答中的每句话,都能追溯到它的出处。",
    ),
    "example.1": ("What is SearXNG, and how does it protect privacy?", "什么是 SearXNG?它如何保护隐私?"),
    "example.2": ("What is new in the latest Python release?", "最新版 Python 有哪些新特性?"),
    "example.3": ("How do I set up SearXNG with Docker?", "如何用 Docker 部署 SearXNG?"),
    # --- an answer ----------------------------------------------------------------------------------------------------
    "answer": ("Answer", "回答"),
    "step.searching": ("Searching “{query}” · {engine}", "正在搜索“{query}” · {engine}"),
    "step.searched": ("Searched “{query}”", "已搜索“{query}”"),
    "step.search_failed": ("Search failed: “{query}”", "搜索失败:“{query}”"),
    "step.reading": ("Reading {what}", "正在阅读 {what}"),
    "step.read": ("Read {what}", "已阅读 {what}"),
    "step.read_failed": ("Could not read {what}", "无法阅读 {what}"),
    "step.cached": ("from the cache", "来自缓存"),
    "step.repeated": ("asked before, no new request", "已搜索过,未重复请求"),
    "steps.writing": ("Writing the answer…", "正在撰写回答…"),
    "steps.thinking": ("Thinking…", "正在思考…"),
    "steps.web_search.1": ("1 search", "搜索 1 次"),
    "steps.web_search.n": ("{n} searches", "搜索 {n} 次"),
    "steps.web_fetch.1": ("1 page read", "阅读 1 页"),
    "steps.web_fetch.n": ("{n} pages read", "阅读 {n} 页"),
    "steps": ("What was done", "过程"),
    "count.0": ("no results", "没有结果"),
    "count.1": ("1 result", "1 条结果"),
    "count.n": ("{n} results", "{n} 条结果"),
    "seconds": ("{n} s", "{n} 秒"),
    "outcome.Timeout": ("took too long", "超时"),
    "outcome.NetworkError": ("not reachable", "无法连接"),
    "outcome.WebBlocked": ("refused us", "拒绝访问"),
    "outcome.AuthError": ("wants a key or is closed", "需要密钥或未开放"),
    "outcome.BadGateway": ("is broken", "出现故障"),
    "outcome.WebParseError": ("gave an unreadable page", "返回无法识别的页面"),
    "outcome.resting": ("is resting", "暂停使用"),
    "outcome.other": ("failed", "失败"),
    "thinking": ("Thoughts", "思考过程"),
    "sources": ("Sources", "来源"),
    "source": ("Source", "来源"),
    "references": ("References", "参考文献"),
    "references.more": ("Also found", "其他搜索结果"),
    "round": ("Search {n}: “{query}”", "第 {n} 轮搜索:“{query}”"),
    "round.none": ("no results", "没有结果"),
    "cited": ("cited", "已引用"),
    "fetched": ("read {when}", "读取于 {when}"),
    "found": ("found {when}", "搜索于 {when}"),
    "open.passage": ("Open at the passage", "打开原文位置"),
    "open.archived": ("Archived passage", "存档原文"),
    "verdict.supported": ("✓ Matches the source", "✓ 与原文相符"),
    "verdict.weak": ("~ Weak match", "~ 相符程度较弱"),
    "verdict.not_found": ("✗ Not found in the source", "✗ 原文中未找到"),
    "checked": ("Cited sentences compared with their sources", "引用句与原文核对"),
    "checked.supported": ("{n} match", "{n} 句相符"),
    "checked.weak": ("{n} weak", "{n} 句较弱"),
    "checked.not_found": ("{n} not found", "{n} 句未找到"),
    "unverified": ("Not verified by search", "未经搜索验证"),
    "stopped": ("Stopped. What was written is kept.", "已停止,已写内容会保留。"),
    "interrupted": ("Interrupted: the server ended while this was being written.", "已中断:撰写时服务器停止了。"),
    "level.info": ("Note", "提示"),
    "level.warning": ("Warning", "注意"),
    "level.error": ("Error", "错误"),
    "copy": ("Copy with sources", "复制(含来源)"),
    "debug": ("Report file", "诊断文件"),
    "retry": ("Answer again", "重新回答"),
    "suggestions": ("Ask next", "继续提问"),
    "meta": ("{model} · {seconds} s", "{model} · {seconds} 秒"),
    # --- other pages --------------------------------------------------------------------------------------------------
    "back": ("Back", "返回"),
    "error.title": ("This did not work", "出错了"),
    "guide.none": ("There is no guide of that name.", "没有这个指南。"),
    "guide.none.cure": ("The guides are listed below.", "可用的指南如下。"),
    "source.none": ("There is no such source.", "没有这个来源。"),
    "source.none.cure": (
        "The answer may have been written again, or its conversation was deleted.",
        "回答可能已重新生成,或会话已被删除。",
    ),
    "source.passage": ("The passage", "引用的段落"),
    "source.text": ("The page as it was read", "读取时的页面内容"),
    "source.snippet_only": (
        "Only the search result's snippet was kept; the page itself was not read.",
        "只保存了搜索结果摘要,未读取整页。",
    ),
    "source.elsewhere": (
        "The passage stands in the snippet or in another version of the page; it is not in the text below word for word.",
        "该段落来自摘要或网页的其他版本,下文中没有逐字相同的内容。",
    ),
    "source.hash": ("SHA-256 of the text", "文本 SHA-256"),
    # --- what the script says ---------------------------------------------------------------------------------------------
    "js.rollback": ("The server did not confirm this in time. Nothing was changed.", "服务器未及时确认,设置未更改。"),
    "js.offline": ("The server cannot be reached.", "无法连接服务器。"),
    "js.on": ("Web search is on", "联网搜索已开启"),
    "js.off": ("Web search is off", "联网搜索已关闭"),
    "js.agent": ("In Agent mode the AI decides when to search", "Agent 模式下由 AI 自动决策搜索"),
    "js.chat": ("Chat mode", "Chat 模式"),
    "js.use": ("Model: {model} · Search: {engine}", "模型:{model} · 搜索:{engine}"),
    "js.saved": ("Saved", "已保存"),
    "js.copied": ("Copied", "已复制"),
    "js.not_copied": ("The browser does not allow copying here.", "浏览器不允许在此复制。"),
    "js.deleted": ("Conversation deleted", "会话已删除"),
    "js.undo": ("Undo", "撤销"),
    "js.close": ("Close", "关闭"),
    "js.done": ("The answer is complete.", "回答已完成。"),
    "js.stopped": ("Stopped.", "已停止。"),
    "js.none": ("Nothing found", "没有找到"),
    "js.untitled": ("New conversation", "新会话"),
    "js.help": (
        "Commands: /search on or off, /mode chat or agent, /help. Enter sends, Shift+Enter makes a new line, Esc closes.",
        "命令:/search on 或 off、/mode chat 或 agent、/help。Enter 发送,Shift+Enter 换行,Esc 关闭。",
    ),
    "js.health.ok": ("{engine} is ready", "{engine} 可用"),
    "js.health.other": ("SearXNG is not running; other engines answer", "SearXNG 未运行,由其他引擎搜索"),
    "js.health.down": ("No search engine is ready", "没有可用的搜索引擎"),
    "js.health.unknown": ("State unknown", "状态未知"),
}


class Texts(Bilingual):
    """The texts of the page in one language."""

    texts = _TEXTS

    def count(self, number: int) -> str:
        """How many results there are."""
        return self(f"count.{number}") if number < 2 else self("count.n", n=number)

    def verb(self, code: str, detail_code: str) -> str:
        """What an engine did that gave no results, by the codes of its error."""
        key = next((key for key in (f"outcome.{detail_code}", f"outcome.{code}") if key in _TEXTS), "outcome.other")
        return self(key)

    def script(self) -> dict[str, str]:
        """What the script needs, blanks and all."""
        return {key.removeprefix("js."): texts[self._column] for key, texts in _TEXTS.items() if key.startswith("js.")}


def catalogue() -> dict[str, tuple[str, str]]:
    """All texts: English and Chinese by key."""
    return dict(_TEXTS)
