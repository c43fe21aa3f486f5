"""The built-in engines as their classes describe themselves; made by `make docs`."""

from __future__ import annotations

from .engine_info import EngineInfo

ENGINES = (
    EngineInfo("searxng", "SearXNG", aliases=("searx",), auto_rank=1, probed_unconfigured=True, guide="searxng"),
    EngineInfo("brave", "Brave", aliases=("brave_search",), needs_key=True, auto_rank=2, auto_rank_zh=3),
    EngineInfo("bocha", "Bocha", needs_key=True, auto_rank=3, auto_rank_zh=2),
    EngineInfo("kagi", "Kagi", needs_key=True, auto_rank=10),
    EngineInfo("tavily", "Tavily", needs_key=True, auto_rank=11),
    EngineInfo("exa", "Exa", needs_key=True, auto_rank=12),
    EngineInfo("serper", "Serper", needs_key=True, auto_rank=13),
    EngineInfo("serpapi", "SerpApi", needs_key=True, auto_rank=14),
    EngineInfo("google_cse", "GoogleCse", aliases=("google_pse",), needs_key=True, auto_rank=15),
    EngineInfo("firecrawl", "Firecrawl", needs_key=True, auto_rank=16),
    EngineInfo("jina", "Jina", needs_key=True, auto_rank=17),
    EngineInfo(
        "ddg_html",
        "DuckDuckGo",
        aliases=("duck-duck-scrape", "duckduckgo", "ddg"),
        env_prefix="DDG",
        reads_pages=True,
        auto_rank=20,
    ),
    EngineInfo(
        "bing_html", "Bing", aliases=("bing",), env_prefix="BING", reads_pages=True, auto_rank=21, auto_rank_zh=22
    ),
    EngineInfo(
        "baidu_html", "Baidu", aliases=("baidu",), env_prefix="BAIDU", reads_pages=True, auto_rank=22, auto_rank_zh=21
    ),
    EngineInfo("arxiv", "Arxiv"),
    EngineInfo("bing_images", "BingImages", reads_pages=True),
    EngineInfo("bing_news", "BingNews", reads_pages=True),
    EngineInfo("brave_html", "BraveHtml", reads_pages=True),
    EngineInfo("crossref", "Crossref"),
    EngineInfo("ddg_images", "DdgImages", reads_pages=True),
    EngineInfo("ddg_news", "DdgNews", reads_pages=True),
    EngineInfo("ecosia", "Ecosia", reads_pages=True),
    EngineInfo("gdelt", "Gdelt"),
    EngineInfo("github", "GitHub"),
    EngineInfo("google", "Google", needs_browser=True),
    EngineInfo("hackernews", "HackerNews", aliases=("hn",)),
    EngineInfo("marginalia", "Marginalia"),
    EngineInfo("mojeek", "Mojeek", reads_pages=True),
    EngineInfo("openalex", "OpenAlex"),
    EngineInfo("openlibrary", "OpenLibrary"),
    EngineInfo("pubmed", "PubMed"),
    EngineInfo("semantic_scholar", "SemanticScholar", aliases=("s2",)),
    EngineInfo("so360", "So360", aliases=("360", "360search"), reads_pages=True),
    EngineInfo("sogou", "Sogou", reads_pages=True),
    EngineInfo("stackexchange", "StackExchange", aliases=("stackoverflow",)),
    EngineInfo("startpage", "Startpage", reads_pages=True),
    EngineInfo("wikidata", "Wikidata"),
    EngineInfo("wikipedia", "Wikipedia"),
    EngineInfo("yahoo", "Yahoo", reads_pages=True),
    EngineInfo("stub", "Stub", local=True, hidden=True),
)
