"""Seeded faults for C9 to C15: health, settings, citations and the tools of agents."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault(
        "C9.2",
        "a search names another cause than the health check",
        "search/runner.py",
        "error = await drive(exchange, small_only(self.send, self.name))",
        "await drive(exchange, small_only(self.send, self.name))",
    ),
    Fault(
        "C9.1",
        "a busy SearXNG counts as one that hangs",
        "doctor/searxng.py",
        "if seconds > BUSY_SECONDS:",
        "if seconds > 60 * BUSY_SECONDS:",
    ),
    Fault(
        "C10.3",
        "another description of the switch",
        "messages/zh.json",
        "启用后将使用SearXNG搜索实时信息",
        "启用后将搜索实时信息",
    ),
    Fault(
        "C11.2",
        "links are not doubly bracketed",
        "citations/linker.py",
        'f"[[{source.number}]]({url})"',
        'f"[{source.number}]({url})"',
    ),
    Fault("C11.4", "references have no domain", "citations/references.py", 'f" — {escape(source.domain)}"', '""'),
    Fault(
        "C11.6",
        "unknown numbers are not logged",
        "citations/linker.py",
        'log.warning("the answer cites',
        'log.debug("the answer cites',
    ),
    Fault(
        "C12.1",
        "the domain of a source keeps its port",
        "citations/registry.py",
        "return SearchResult(self.title, self.url, engine=self.engine).source",
        'return self.url.split("/")[2]',
    ),
    Fault(
        "C13.1",
        "the session caches nothing",
        "tools/session.py",
        "self._cache.put(key, page)\n        return page",
        "return page",
    ),
    Fault(
        "C13.2",
        "a cache hit is not logged",
        "tools/session.py",
        'log.info("session cache hit',
        'log.debug("session cache hit',
    ),
    Fault(
        "C13.3",
        "the cache outlives the conversation",
        "chat/session_factory.py",
        "if key[0] == conversation]",
        "if False]",
    ),
    Fault("C13.4", "the cache holds 21 queries", "tools/session.py", "SESSION_QUERIES = 20", "SESSION_QUERIES = 21"),
    Fault("C14.1", "the tool has another name", "tools/specs.py", 'name="web_search"', 'name="search_web"'),
    Fault("C14.2", "another description of the tool", "tools/specs.py", "当前新闻或验证信息时", "当前新闻时"),
    Fault("C14.3", "another description of the input", "tools/specs.py", "应该具体、清晰、针对性强", "应该具体"),
    Fault("C15.1", "a page gets a second number", "citations/registry.py", "if key in self._numbers:", "if False:"),
    Fault(
        "C15.3", "cited sources are not marked", "citations/references.py", "if number in used else", "if False else"
    ),
    Fault(
        "C12.3",
        "a link of the model loses its address",
        "citations/linker.py",
        "return Segment(segment.raw, segment.linked) if own else segment",
        "return Segment(segment.raw, segment.linked)",
    ),
)
