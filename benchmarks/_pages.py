"""The pages that the loopback servers serve: a recorded one where it is at hand, generated ones for the rest."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "serp" / "duckduckgo" / "meka_ddg_results.html"
RESULTS = 10

HTML = "text/html; charset=utf-8"
JSON = "application/json"
MEDIA_TYPES = {
    "ddg": HTML,
    "bing": HTML,
    "bing_plain": HTML,
    "mojeek": HTML,
    "brave": HTML,
    "brave_api": JSON,
    "searxng": JSON,
}

_TEXT = (
    "a fast, reliable and productive language that can run on embedded devices, web services and more, noted for its "
    "emphasis on performance, type safety, concurrency and memory safety across the whole ecosystem"
)
_WORDS = _TEXT.split()


def page(kind: str, first: int = 0) -> bytes:
    """Return a page of ``kind`` with ten results; ``first`` asks for a generated one that begins with this result."""
    if kind == "ddg" and not first and RECORDED.is_file():
        return RECORDED.read_bytes()
    start = first or 1
    return _MAKERS[kind](range(start, start + RESULTS)).encode("utf-8")


def words(n: int) -> str:
    """Return the ``n``-th of many different queries, all of whose words are on every generated page."""
    four = list(dict.fromkeys(word.strip(",") for word in _WORDS if len(word) > 3))
    picked = []
    for _ in range(4):
        n, place = divmod(n, len(four))
        picked.append(four.pop(place))
    return " ".join(picked)


def origin() -> str:
    """Say where the DuckDuckGo page comes from."""
    return "recorded" if RECORDED.is_file() else "generated"


def _url(i: int) -> str:
    return f"https://site-{i}.example.org/docs/language/{'chapter-' * (i % 4)}{i}.html"


def _title(i: int) -> str:
    return f"Language guide, part {i}: {' '.join((_WORDS * 2)[i % len(_WORDS) :][:4])}"


def _snippet(i: int, mark: str = "b") -> str:
    words = (_WORDS[i % len(_WORDS) :] + _WORDS)[:34]
    return " ".join(f"<{mark}>{word}</{mark}>" if n % 6 == 0 else word for n, word in enumerate(words))


def _ddg(numbers: range) -> str:
    options = "".join(
        f'\n            \n              <option value="r{i}-en" >Region number {i}</option>' for i in range(70)
    )
    gap, rows = "\n" + " " * 40, []
    for i in numbers:
        date = f"<span>&nbsp; &nbsp; 2026-04-{i:02}T00:00:00.0000000</span>" if i % 2 else ""
        rows.append(
            f'{gap}<div class="result results_links results_links_deep web-result ">'
            f'{gap}<div class="links_main links_deep result__body"> <!-- This is the visible part -->'
            f'{gap}<h2 class="result__title">{gap}<a rel="nofollow" class="result__a" href="{_url(i)}">{_title(i)}</a>{gap}</h2>'
            f'{gap}<div class="result__extras">{gap}<div class="result__extras__url">{gap}<span class="result__icon">'
            f'{gap}<a rel="nofollow" href="{_url(i)}">{gap}<img class="result__icon__img" width="16" height="16" alt=""'
            f' src="//external-content.duckduckgo.com/ip3/site-{i}.example.org.ico" name="i15" />{gap}</a>{gap}</span>'
            f'{gap}<a class="result__url" href="{_url(i)}">{gap}{_url(i)[8:]}{gap}</a>{gap}{date}{gap}</div>{gap}</div>'
            f'{gap}{gap}<a class="result__snippet" href="{_url(i)}">{_snippet(i)}</a>{gap}<div class="clear"></div>'
            f"{gap}</div>{gap}</div>"
        )
    return (
        '<!DOCTYPE html>\n<html><head><meta http-equiv="content-type" content="text/html; charset=UTF-8" />'
        f"<title>language at DuckDuckGo</title>{'<!-- head -->' * 120}</head>\n"
        '<body class="body--html"><div id="header" class="header cw header--html"><form action="/html/" method="post">'
        f'<input name="q" value="language" /><select name="kl">{options}</select></form></div>'
        f'<div class="serp__results"><div id="links" class="results">{"".join(rows)}'
        '<div class="nav-link"><form action="/html/" method="post"><input type="submit" value="Next" /></form></div>'
        "</div></div></body></html>"
    )


def _bing(numbers: range) -> str:
    rows = "".join(
        f'<li class="b_algo"><h2><a href="https://www.bing.com/ck/a?!&amp;&amp;p=0&amp;u=a1{_base64(_url(i))}&amp;ntb=1">{_title(i)}</a></h2>'
        f'<div class="b_caption"><p class="b_lineclamp2">{_snippet(i, "strong")}</p></div></li>'
        for i in numbers
    )
    return f'<!DOCTYPE html><html><head><title>language - Search</title></head><body><ol id="b_results">{rows}</ol></body></html>'


def _bing_plain(numbers: range) -> str:
    rows = "".join(
        f'<li class="b_algo"><h2><a href="{_url(i)}">{_title(i)}</a></h2>'
        f'<div class="b_caption"><p class="b_lineclamp2">{_snippet(i, "strong")}</p></div></li>'
        for i in numbers
    )
    return f'<!DOCTYPE html><html><head><title>language - Search</title></head><body><ol id="b_results">{rows}</ol></body></html>'


def _base64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _searxng(numbers: range) -> str:
    rows = [{"title": _title(i), "url": _url(i), "content": _TEXT, "engine": "mojeek"} for i in numbers]
    return json.dumps(
        {"query": "language", "results": rows, "answers": [], "suggestions": [], "unresponsive_engines": []}
    )


def _brave_api(numbers: range) -> str:
    rows = [{"title": _title(i), "url": _url(i), "description": _snippet(i, "strong")} for i in numbers]
    return json.dumps({"type": "search", "query": {"original": "language"}, "web": {"type": "search", "results": rows}})


def _mojeek(numbers: range) -> str:
    rows = "".join(
        f'<li><h2><a class="title" href="{_url(i)}">{_title(i)}</a></h2><p class="s">{_snippet(i)}</p></li>'
        for i in numbers
    )
    return f'<!DOCTYPE html><html><body><ul class="results-standard">{rows}</ul></body></html>'


def _brave(numbers: range) -> str:
    rows = "".join(
        f'<div class="snippet" data-type="web"><div class="result-wrapper"><a href="{_url(i)}"><div class="title">{_title(i)}</div></a>'
        f'<div class="generic-snippet snippet"><div class="content">{_snippet(i)}</div></div></div></div>'
        for i in numbers
    )
    return f'<!DOCTYPE html><html><body><div id="results">{rows}</div></body></html>'


_MAKERS: dict[str, Callable[[range], str]] = {
    "ddg": _ddg,
    "bing": _bing,
    "bing_plain": _bing_plain,
    "brave_api": _brave_api,
    "searxng": _searxng,
    "mojeek": _mojeek,
    "brave": _brave,
}

_CAPTCHA = b'<!DOCTYPE html><html><head><title>One last step</title></head><body><div class="captcha" id="captcha">%s</div></body></html>'
CHALLENGES = {
    "ddg": b'<!DOCTYPE html><html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST">'
    b'<div class="anomaly-modal__modal">Unfortunately, bots use DuckDuckGo too.</div></form></body></html>',
    "bing": _CAPTCHA % b"Please solve the challenge below to continue",
    "mojeek": _CAPTCHA % b"Verify that you are human",
    "brave": _CAPTCHA % b"Confirm you're a human being",
    # What stands before an instance (Anubis and the like) sends such a page in place of the JSON.
    "searxng": b"<!doctype html><html><head><title>Making sure you're not a bot!</title></head><body>Verifying your request</body></html>",
}
