"""The HTML of the demo web: each page within the navigation, notices and links that sites put around their texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape

from markdown_it import MarkdownIt

from .page import DemoPage

_WORDS = {
    "en": {
        "home": "Home", "about": "About us", "contact": "Contact", "login": "Sign in", "share": "Share",
        "print": "Print", "cookies": "This site uses cookies that are needed for its operation.", "accept": "Accept",
        "related": "More from this site", "by": "By", "gone": "Page not found",
        "gone_text": "The page that you asked for was removed or has moved.",
        "demo": "A page of Suyuan's demo web. Places, people, companies and products are invented.",
        "captcha": "Please confirm that you are a person", "captcha_text": "Type the letters of the picture to go on.",
    },
    "zh": {
        "home": "首页", "about": "关于我们", "contact": "联系方式", "login": "登录", "share": "分享",
        "print": "打印", "cookies": "本站使用运行所必需的 Cookie。", "accept": "同意",
        "related": "更多内容", "by": "作者：", "gone": "页面不存在",
        "gone_text": "您访问的页面已被删除或移动。",
        "demo": "溯源演示网页。其中的地名、人物、公司和产品均为虚构。",
        "captcha": "请确认您不是机器人", "captcha_text": "请输入图片中的字母后继续。",
    },
}  # fmt: skip
_POST = re.compile(r"^\*\*(.+?)\*\* · (.+)$", re.M)
STYLE = "/style.css"


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def page_html(page: DemoPage, others: Sequence[DemoPage]) -> str:
    """The page with everything around its text; ``others`` are pages of the same site."""
    words = _WORDS[page.lang]
    head = (
        f'<meta name="author" content="{escape(page.author)}">'
        f'<meta property="og:site_name" content="{escape(page.site)}">'
        f'<meta property="og:title" content="{escape(page.title)}">'
        f'<meta property="article:published_time" content="{page.date}">'
        f'<link rel="canonical" href="{escape(page.url)}">'
    )
    related = "".join(f'<li><a href="{escape(other.url)}">{escape(other.title)}</a></li>' for other in others)
    body = (
        f'<div class="cookie-notice" role="dialog"><p>{words["cookies"]}</p><button>{words["accept"]}</button></div>'
        f"<main><article><header><h1>{escape(page.title)}</h1>"
        f'<p class="byline">{words["by"]} <span class="author">{escape(page.author)}</span> · '
        f'<time datetime="{page.date}">{page.date}</time></p></header>'
        f'<div class="content">{_content(page)}</div>{_hidden(page.hidden)}'
        f'<div class="share"><a href="#">{words["share"]}</a> <a href="#">{words["print"]}</a></div></article></main>'
        f'<aside class="related"><h2>{words["related"]}</h2><ul>{related}</ul></aside>'
    )
    return _frame(page.lang, page.site, f"{page.title} – {page.site}", head, body)


def home_html(pages: Sequence[DemoPage]) -> str:
    """The home page of a site: a list of its pages."""
    first = pages[0]
    items = "".join(f'<li><a href="{escape(page.url)}">{escape(page.title)}</a> {page.date}</li>' for page in pages)
    return _frame(first.lang, first.site, first.site, "", f"<main><h1>{escape(first.site)}</h1><ul>{items}</ul></main>")


def gone_html(lang: str, site: str) -> str:
    """What a site shows where it has no such page."""
    words = _WORDS[lang]
    return _frame(lang, site, words["gone"], "", f"<main><h1>{words['gone']}</h1><p>{words['gone_text']}</p></main>")


def captcha_html(lang: str) -> str:
    """What the engine that refuses shows instead of results."""
    words = _WORDS[lang]
    form = '<form id="captcha" action="/check"><input name="letters" autocomplete="off"><button>OK</button></form>'
    body = f"<main><h1>{words['captcha']}</h1><p>{words['captcha_text']}</p>{form}</main>"
    return _frame(lang, "Refusing Search", words["captcha"], "", body)


def _content(page: DemoPage) -> str:
    if page.kind == "forum":
        return _posts(page.text)
    html = str(_markdown().render(page.text))
    if page.kind == "listing":
        # Each heading begins a card, as in a catalogue.
        return "".join(f'<section class="card"><h3>{card}</section>' for card in html.split("<h3>")[1:])
    return html


def _posts(text: str) -> str:
    parts = _POST.split(text)[1:]
    posts = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return "".join(
        f'<div class="post"><div class="post-head"><span class="user">{escape(user)}</span> {escape(day)}</div>'
        f'<div class="post-body">{_markdown().render(body.strip())}</div></div>'
        for user, day, body in posts
    )


def _hidden(text: str) -> str:
    """Instructions in the ways in which hostile pages hide them."""
    if not text:
        return ""
    text = escape(text)
    return (
        f'<p style="display:none">{text}</p><p hidden>{text}</p><!-- {text} -->'
        f'<div style="position:absolute;left:-9999px">{text}</div><span style="font-size:0">{text}</span>'
        f'<p style="visibility:hidden">{text}</p><noscript>{text}</noscript><template>{text}</template>'
    )


def _frame(lang: str, site: str, title: str, head: str, body: str) -> str:
    words = _WORDS[lang]
    links = "".join(f'<a href="/{name}">{words[name]}</a>' for name in ("about", "contact", "login"))
    return (
        f'<!doctype html><html lang="{"zh-CN" if lang == "zh" else "en"}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>{head}"
        f'<link rel="stylesheet" href="{STYLE}"></head><body class="demo-page">'
        f'<header class="site"><a class="logo" href="/">{escape(site)}</a>'
        f'<nav><a href="/">{words["home"]}</a>{links}</nav></header>{body}'
        f'<footer><nav>{links}</nav><p>© {escape(site)}</p><p class="demo">{words["demo"]}</p></footer></body></html>'
    )
