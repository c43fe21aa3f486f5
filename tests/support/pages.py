"""Small result pages in the structure of the real ones, with invented content."""

from __future__ import annotations

import json
from urllib.parse import quote


def ddg(n: int = 10, host: str = "ddg.example") -> str:
    rows = "".join(
        f'<div class="result results_links web-result"><h2 class="result__title"><a class="result__a" '
        f'href="//duckduckgo.com/l/?uddg={quote(f"https://{host}/page/{i}?a=1&b=2", safe="")}&amp;rut=x">Result <b>{i}</b></a></h2>'
        f'<a class="result__snippet" href="#">Snippet of result {i}.</a></div>'
        for i in range(1, n + 1)
    )
    return f'<!DOCTYPE html><html><body><form name="x" action="/html/"></form><div id="links" class="results">{rows}</div></body></html>'


DDG_NONE = (
    '<html><body><div id="links"><div class="result result--no-result">'
    '<div class="no-results">No results.</div></div></div></body></html>'
)
DDG_CHALLENGE = (
    '<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?q=x">'
    '<div class="anomaly-modal__modal">Select the ducks</div></form></body></html>'
)


def bing(n: int = 10, host: str = "bing.example") -> str:
    rows = "".join(
        f'<li class="b_algo"><h2><a href="https://{host}/page/{i}">Result {i}</a></h2><div class="b_caption"><p>Snippet {i}.</p></div></li>'
        for i in range(1, n + 1)
    )
    return f'<html><body><ol id="b_results">{rows}</ol></body></html>'


def searxng(n: int = 10, host: str = "searxng.example", dead: list[list[str]] | None = None) -> str:
    rows = [
        {
            "url": f"https://{host}/page/{i}",
            "title": f"Result {i}",
            "content": f"Snippet {i}.",
            "engine": "x",
            "publishedDate": None,
        }
        for i in range(1, n + 1)
    ]
    return json.dumps({"query": "q", "results": rows, "unresponsive_engines": dead or []})


def brave(n: int = 10, host: str = "brave.example") -> str:
    rows = [
        {"title": f"Result {i}", "url": f"https://{host}/page/{i}", "description": f"Snippet {i}."}
        for i in range(1, n + 1)
    ]
    return json.dumps({"type": "search", "web": {"type": "search", "results": rows}})


def google_results(n: int = 10, host: str = "result.example") -> str:
    """A result page in the structure of Google's, made by a script as the real one is."""
    rows = "".join(
        f'<div class="MjjYud"><div class="tF2Cxc"><div class="yuRUbf"><a href="https://{host}/{i}"><h3>Result {i}</h3></a></div>'
        f'<div class="VwiC3b"><span>Snippet of result {i}, long enough to be one.</span></div></div></div>'
        for i in range(1, n + 1)
    )
    script = f"document.getElementById('rso').innerHTML = {rows!r}"
    head = '<html><body><form><input name="q" value="x"></form><div id="search"><div id="rso"></div></div>'
    return f"{head}<script>{script}</script></body></html>"
