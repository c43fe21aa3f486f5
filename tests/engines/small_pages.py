"""Small answers in the structure of the real ones, with invented content."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import Any
from urllib.parse import quote

# --- DuckDuckGo ------------------------------------------------------------------------------------------------


def uddg(target: str) -> str:
    """A link as DuckDuckGo wraps it."""
    return f"//duckduckgo.com/l/?uddg={quote(target, safe='')}&rut=00ff00ff"


def ddg_row(
    href: str,
    title: str = "Tea pots",
    snippet: str = "About <b>tea</b> pots.",
    date: str = "",
    kind: str = "web-result",
) -> str:
    link, shown = escape(href), f"<span>&nbsp; &nbsp; {date}</span>" if date else ""
    return (
        f'<div class="result results_links results_links_deep {kind} "><div class="links_main links_deep result__body">'
        f'<h2 class="result__title"><a rel="nofollow" class="result__a" href="{link}">{title}</a></h2><div class="result__extras">'
        f'<div class="result__extras__url"><span class="result__icon"><a href="{link}"><img src="//i.example/x.ico"></a></span>'
        f'<a class="result__url" href="{link}"> pots.example </a>{shown}</div></div>'
        f'<a class="result__snippet" href="{link}">{snippet}</a><div class="clear"></div></div></div>'
    )


def ddg_page(*rows: str) -> str:
    form = '<form id="search_form" action="/html/" method="post"><input name="q" value="tea pots"></form>'
    links = f'<div class="serp__results"><div id="links" class="results">{"".join(rows)}</div></div>'
    return f"<!DOCTYPE html><html><head><title>tea pots at DuckDuckGo</title></head><body>{form}{links}</body></html>"


DDG_AD = ddg_row(
    uddg("https://duckduckgo.com/y.js?ad_domain=shop.example&ad_type=txad"), "Buy tea pots", kind="result--ad"
)
DDG_NOTHING = (
    '<div class="result web-result result--no-result"><span class="no-results"><h1>No more results</h1></span></div>'
)
DDG_CHALLENGE = (
    '<html><head><title>DuckDuckGo</title></head><body><form id="img-form" action="//duckduckgo.com/anomaly.js?sv=html"></form>'
    '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&amp;q=tea" method="POST">'
    '<div class="anomaly-modal__modal"><div class="anomaly-modal__title">Select all squares with a kettle</div></div></form></body></html>'
)
DDG_SHELL = '<html><body><div id="react-layout"></div><script>DDG.Pages.SERP()</script></body></html>'
DDG_OUT_OF_ORDER = "If this error persists, please let us know: error-lite@duckduckgo.com"


def lite_row(
    href: str, title: str = "Tea pots", snippet: str = "About <b>tea</b> pots.", date: str = "", kind: str = ""
) -> str:
    shown = f"<span class='timestamp'>&nbsp; {date}</span>" if date else ""
    mark = f' class="{kind}"' if kind else ""
    return (
        f"<tr{mark}><td valign='top'>1.&nbsp;</td><td><a rel='nofollow' href=\"{escape(href)}\" class='result-link'>{title}</a></td></tr>"
        f"<tr{mark}><td>&nbsp;</td><td class='result-snippet'>{snippet}</td></tr>"
        f"<tr{mark}><td>&nbsp;</td><td><span class='link-text'>pots.example</span>{shown}</td></tr><tr><td>&nbsp;</td></tr>"
    )


def lite_page(*rows: str) -> str:
    form = '<form action="/lite/" method="post"><input name="q" value="tea pots"></form>'
    return f"<html><body>{form}<p class='extra'>&nbsp;</p><table border='0'>{''.join(rows)}</table></body></html>"


LITE_NOTHING = "<tr><td><span>No results found for <b>tea pots</b>.</span></td></tr>"

# --- Bing ------------------------------------------------------------------------------------------------------


def ck(target: str) -> str:
    """A link as Bing wraps it."""
    code = base64.urlsafe_b64encode(target.encode()).decode().rstrip("=")
    return f"https://www.bing.com/ck/a?!&&p=00ff00ff&ptn=3&ver=2&hsh=4&fclid=0f-0f&u=a1{code}&ntb=1"


def bing_row(
    href: str,
    title: str = "<strong>Tea</strong> pots",
    snippet: str = "About tea pots.",
    date: str = "",
    kind: str = "b_algo",
) -> str:
    link, shown = escape(href), f'<span class="news_dt">{date}</span>&nbsp;&#0183;&#32;' if date else ""
    return (
        f'<li class="{kind}" data-id iid=SERP.1><div class="b_tpcn"><a class="tilk" href="{link}">'
        f'<div class="tptt">pots.example</div></a></div>'
        f'<h2 class=""><a target="_blank" href="{link}">{title}</a></h2>'
        f'<div class="b_caption"><p class="b_lineclamp2">{shown}{snippet}</p></div></li>'
    )


def bing_page(*rows: str) -> str:
    return f'<html><head><title>tea pots - Bing</title></head><body><ol id="b_results" class="">{"".join(rows)}</ol></body></html>'


BING_NOTHING = '<li class="b_no"><h1>There are no results for <strong>tea pots</strong></h1></li>'
BING_CHALLENGE = (
    '<html><head><title>tea pots - Search</title></head><body><div class="captcha_header">One last step</div>'
    '<script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script></body></html>'
)

# --- Baidu -----------------------------------------------------------------------------------------------------


def baidu_row(
    href: str,
    mu: str = "",
    title: str = "<em>茶壶</em>大全",
    snippet: str = "关于茶壶。",
    date: str = "",
    kind: str = "result",
    tpl: str = "www_index",
) -> str:
    page, shown = (
        f' mu="{escape(mu)}"' if mu else "",
        f'<span class="newTimeFactor_before_abs c-color-gray2">{date}</span>' if date else "",
    )
    return (
        f'<div class="{kind} c-container new-pmd" id="1" srcid="1599" tpl="{tpl}"{page}><h3 class="c-title t"><a href="{escape(href)}" '
        f'target="_blank">{title}</a></h3><div class="c-abstract">{shown}{snippet}</div>'
        f'<div class="f13"><a class="c-showurl">茶壶网</a></div></div>'
    )


def baidu_page(*rows: str) -> str:
    head = '<meta http-equiv="Content-Type" content="text/html;charset=utf-8"><title>茶壶_百度搜索</title>'
    left = f'<div id="content_left">{"".join(rows)}</div>'
    return f'<!DOCTYPE html><html><head>{head}</head><body><div id="container">{left}</div></body></html>'


BAIDU_NOTHING = (
    '<html><body><div class="content_none"><div class="nors">'
    "<p>很抱歉,没有找到与“茶壶”相关的网页。</p></div></div></body></html>"
)
BAIDU_CAPTCHA = (
    '<html><head><meta charset="utf-8"><title>百度安全验证</title></head><body><div class="timeout hide">网络不给力</div>'
    '<script src="https://wappass.baidu.com/static/machine/js/api/mkd.js"></script></body></html>'
)


def baidu_feed(*entries: Any) -> dict[str, Any]:
    # Baidu ends the list with an empty entry.
    return {"feed": {"title": "茶壶", "entry": [*entries, {}]}}


BAIDU_ENTRY = {
    "title": "<em>茶壶</em> &amp; 茶杯",
    "url": "https://pots.example/cn",
    "abs": " 关于\n<em>茶壶</em> ",
    "time": 1767225600,
}

# --- interfaces ------------------------------------------------------------------------------------------------

SEARXNG_ROW = {
    "url": "https://pots.example/s?q=1&r=2", "title": "Tea  pots", "content": "About\ntea pots.", "engine": "kettle", "engines": ["kettle"],
    "positions": [1], "score": 1.0, "category": "general", "publishedDate": "2026-02-01T08:30:00", "template": "default.html",
}  # fmt: skip
BOCHA_ROW = {
    "id": None, "name": "茶壶  大全", "url": "https://pots.example/b", "snippet": "关于\n茶壶。", "summary": "茶壶的历史。",
    "siteName": "茶壶网", "datePublished": "2026-02-01T08:30:00+08:00", "language": None,
}  # fmt: skip
BRAVE_ROW = {
    "title": "Tea &amp; <strong>pots</strong>", "url": "https://pots.example/brave",
    "description": "About <strong>tea</strong> pots &lt;b&gt;.", "age": "February 1, 2026", "page_age": "2026-02-01T08:30:00",
    "extra_snippets": ["One <strong>more</strong>.", "Two more."],
}  # fmt: skip


def searxng_data(*rows: Any, dead: Any = ()) -> dict[str, Any]:
    return {
        "query": "tea pots",
        "results": list(rows),
        "answers": [],
        "suggestions": [],
        "unresponsive_engines": dead or [],
    }


def bocha_data(*rows: Any) -> dict[str, Any]:
    pages = {"webSearchUrl": "", "totalEstimatedMatches": 9, "value": list(rows)}
    return {"code": 200, "log_id": "0ff0", "msg": None, "data": {"_type": "SearchResponse", "webPages": pages}}


def brave_data(*rows: Any) -> dict[str, Any]:
    return {"type": "search", "query": {"original": "tea pots"}, "web": {"type": "search", "results": list(rows)}}


def samples() -> dict[str, list[bytes]]:
    """For every engine the answers to bend and break."""
    page = "https://pots.example/?a=1&b=%20"
    pages = {
        "ddg_html": [
            ddg_page(DDG_AD, ddg_row(uddg(page), date="2026-02-01"), ddg_row(page), DDG_NOTHING), lite_page(lite_row(uddg(page), date="x")),
            DDG_CHALLENGE, DDG_SHELL, DDG_OUT_OF_ORDER,
        ],
        "bing_html": [bing_page(bing_row(ck(page), date="Feb 1, 2026"), bing_row(page)), bing_page(BING_NOTHING), BING_CHALLENGE],
        "baidu_html": [
            baidu_page(baidu_row("/link?url=x", page, date="3天前"), baidu_row("/link?url=y"), baidu_row("x", page, kind="result-op")),
            BAIDU_NOTHING, BAIDU_CAPTCHA, json.dumps(baidu_feed(BAIDU_ENTRY)),
        ],
        "searxng": [json.dumps(searxng_data(SEARXNG_ROW, {}, dead=[["kettle", "timeout"]]))],
        "bocha": [json.dumps(bocha_data(BOCHA_ROW)), json.dumps({"code": "429", "message": "limit"})],
        "brave": [json.dumps(brave_data(BRAVE_ROW)), json.dumps({"type": "ErrorResponse", "error": {"code": "VALIDATION", "meta": {}}})],
    }  # fmt: skip
    return {name: [text.encode() for text in texts] for name, texts in pages.items()}
