"""No hidden text gets through by any mechanism that we know, and no visible text is lost."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest
from benchmarks.hidden_pages import PANELS, PROSE, SECRET, hidden_pages, invisible_characters, page

from suyuan.pages.css_limits import StylesTooComplex
from suyuan.pages.extract import extract


def test_what_chromium_hides_is_not_read_and_what_it_shows_is() -> None:
    """Every way to hide a sentence, each inline, by class, by a longer selector and by two rules; and near misses."""
    wrong = [
        ("hidden, but read" if tried.is_hidden else "visible, but lost", tried.name)
        for tried in hidden_pages()
        if (SECRET in extract(tried.html, "https://example.org/").text) is tried.is_hidden
    ]
    assert wrong == []


@pytest.mark.parametrize("body", PANELS)
def test_what_a_control_of_the_page_opens_is_read(body: str) -> None:
    assert SECRET in extract(page(body.replace("{}", SECRET)), "https://example.org/").text


def test_invisible_characters_carry_nothing() -> None:
    for name, code in invisible_characters():
        text = extract(page(f"<p>{PROSE} Four{code}.</p>"), "https://example.org/").text
        assert "Four." in text, name


def test_signs_that_belong_to_the_spelling_stay() -> None:
    spelled = "می\u200cخواهم ❤\ufe0f 1\ufe0f\u20e3 👩\u200d🚀 葛\ufe00"
    assert spelled in extract(page(f"<p>{PROSE} {spelled} Four.</p>"), "https://example.org/").text


@pytest.mark.parametrize(
    "sheet",
    [
        f".x{{color:red;background:{'gradient(a ' * 60_000}}}",
        f".x{{margin:{'a() ' * 4_000}!}}",
        f".x{{mask:{'gradient(#000,' * 20_000}}}",
        f"@media {'(' * 20_000}{{.x{{}}}}",
        f"{':is(' * 20_000}.x{{display:none}}",
        ":root{" + "".join(f"--v{n}:var(--v{n + 1}) var(--v{n + 1});" for n in range(40)) + "} .x{display:var(--v0)}",
        "".join(f"div div div div .y{n} .x{{display:none}}" for n in range(15_000)),
    ],
    ids=["gradients", "margins", "masks", "conditions", "selectors", "variables", "rules"],
)
def test_a_hostile_sheet_takes_little_time(sheet: str) -> None:
    html = page(f"{'<div>' * 100}<p class=x>{PROSE} Four.</p>{'</div>' * 100}", f"<style>{sheet}</style>")
    started = time.process_time()
    assert "Thrice" in extract(html, "https://example.org/").text
    assert time.process_time() - started < 10


# --- a page may spend every budget: what it hides stays hidden ------------------------------------------------------------
HIDE = ".x{display:none}"
_MANY = ",".join(f".a{n}" for n in range(3000))


def _imported(times: int) -> str:
    css = HIDE
    for _ in range(times):
        css = f'@import "data:text/css,{quote(css, safe="")}";'
    return css


def _chain(last: str, length: int) -> str:
    return f":root{{--v0:{last};" + "".join(f"--v{n + 1}:var(--v{n});" for n in range(length)) + "}"


EXHAUSTING = {
    "many rules": "".join(f".y{n}{{color:red}}" for n in range(60_000)) + HIDE,
    "many fitting rules": ".x{margin:0}" * 60_000 + HIDE,
    "a large sheet": f"/*{'a' * 1_100_000}*/{HIDE}",
    "conditions in conditions": "@media all{" * 200 + HIDE + "}" * 200,
    "layers in layers": "@layer a{" * 100 + HIDE + "}" * 100 + ".x{display:block}",
    "a rule that doubles": ".x{" + "&,&{" * 24 + "display:none" + "}" * 24,
    "a rule that doubles behind": ".w{" + "& &,& &{" * 24 + "color:red" + "}" * 24 + "}" + HIDE,
    "many outer selectors": f"{_MANY},.w{{.x{{display:none}}}}",
    "many inner selectors": f".w{{{_MANY},.x{{display:none}}}}",
    "many of both": f"{_MANY},.w{{{_MANY},.x{{display:none}}}}",
    "many imports": '@import "data:text/css,.y%7Bcolor:red%7D";' * 50 + _imported(1),
    "imports in imports": _imported(9),
    "a long condition": f"@media {'(' * 40}min-width:1px{')' * 40}{{{HIDE}}}",
    "a long selector": f":is({_MANY},.x){{display:none}}",
    "a deep selector": ":is(" * 40 + "p" + ")" * 40 + ".x{display:none}",
    "a deep selector, shown again": ":is(" * 40 + "p" + ")" * 40 + ".x{display:none} .x{display:block!important}",
    "a deep selector, white": ":is(" * 40 + "p" + ")" * 40 + ".x{color:#fff;background:#fff}",
    "many searches": "".join(f".x[a{n}]{{opacity:0}}" for n in range(7000)) + ".x[class]{display:none}",
    "a search without end": ".x:not(.x ~ i ~ i ~ i ~ i ~ i ~ i ~ i ~ i ~ i ~ i ~ i){display:none}",
    "many brackets": f".x{{--a:{'(' * 101}{')' * 101};d\\isplay:none}}",
    "many brackets and a string": f'.x{{--a:{"(" * 101}{")" * 101};display:none;--b:"a;display:block;"}}',
    "a long declaration": f'.x{{--a:"{{;{"a" * 60_000}";display:none}}',
    "a chain of variables": _chain("0", 60) + ".x{opacity:var(--v60)}",
    "a longer chain": _chain("0", 600) + ".x{opacity:var(--v600)}",
    "a chain to a colour": _chain("#fff", 60) + "body{background:#fff} .x{color:var(--v60)}",
    "a variable without a second": ":root{--a:none} .x{display:var(--a, var(--b))}",
    "a long sum": f".x{{font-size:calc(0px{' + 0px' * 500})}}",
    "a longer sum": f".x{{font-size:calc(0px{' + 0px' * 9000})}}",
    "a deep sum": f".x{{font-size:{'calc(' * 60}0px{')' * 60}}}",
    "a deeper sum": f".x{{font-size:{'calc(' * 600}0px{')' * 600}}}",
}


@pytest.mark.parametrize("name", EXHAUSTING)
def test_what_is_hidden_stays_hidden_whatever_is_spent_before(name: str) -> None:
    rows = "<i>a</i>" * 60
    html = page(f"<div class=w>{rows}<p class=x>{PROSE} {SECRET}</p>{rows}</div>", f"<style>{EXHAUSTING[name]}</style>")
    started = time.process_time()
    try:
        assert SECRET not in extract(html, "https://example.org/").text
    except StylesTooComplex:
        assert name in ("imports in imports", "a longer chain", "a longer sum", "a deeper sum", "many of both")
    assert time.process_time() - started < 5


@pytest.mark.parametrize("name", [name for name, sheet in EXHAUSTING.items() if ":is(" not in sheet])
def test_what_is_not_hidden_is_read_whatever_is_spent_before(name: str) -> None:
    html = page(f"<div class=w><p class=z>{PROSE} Four.</p></div>", f"<style>{EXHAUSTING[name]}</style>")
    try:
        assert "Four." in extract(html, "https://example.org/").text
    except StylesTooComplex:
        assert name in ("imports in imports", "many of both")
