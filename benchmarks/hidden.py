"""Text that a reader cannot see: how much of it gets through, and whether Chromium agrees about what is hidden."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from suyuan.core.errors import SuyuanError
from suyuan.net.chrome import find_chrome
from suyuan.pages.extract import extract

from ._report import Target, table
from .hidden_pages import NEEDS_LAYOUT, PANELS, PROSE, SECRET, HiddenPage, hidden_pages, invisible_characters, page

# The same letters in another order: where a reader cannot tell the two apart, the text is hidden.
_OTHER = " ".join(word[::-1] for word in SECRET.split())
_READABLE = 250
"""So many pixels change clearly with a text that can be read; a blot or a speck has fewer."""
_DIFFERENCE = """async ([one, other]) => {
  const pixels = async (data) => {
    const bitmap = await createImageBitmap(await (await fetch("data:image/png;base64," + data)).blob());
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  let changed = 0;
  for (let i = 0; i < a.length; i += 4) {
    changed += Math.max(...[0, 1, 2].map((channel) => Math.abs(a[i + channel] - b[i + channel]))) >= 48;
  }
  return changed;
}"""


class _Served:
    """The page that the browser gets next."""

    html = ""


def run() -> list[Target]:
    """Print what got through and what was lost, and where Chromium judges otherwise than the list of pages."""
    pages = list(hidden_pages())
    wrong = [tried for tried in pages if _is_read(tried.html) is tried.is_hidden]
    through = [tried for tried in wrong if tried.is_hidden]
    lost = [tried for tried in wrong if not tried.is_hidden]
    codes = [name for name, code in invisible_characters() if _carries(code)]
    rows = [
        ("hidden text", str(sum(tried.is_hidden for tried in pages)), f"{len(through)} through"),
        ("visible text", str(sum(not tried.is_hidden for tried in pages)), f"{len(lost)} lost"),
        ("invisible characters", str(len(list(invisible_characters()))), f"{len(codes)} through"),
    ]
    covered = [body for body in NEEDS_LAYOUT if _is_read(page(body.replace("{}", SECRET)))]
    rows.append(("hidden text, only by the layout", str(len(NEEDS_LAYOUT)), f"{len(covered)} through"))
    closed = [body for body in PANELS if not _is_read(page(body.replace("{}", SECRET)))]
    rows.append(("closed parts that a control opens", str(len(PANELS)), f"{len(closed)} lost"))
    table("text that a reader cannot see", ("", "pages", ""), rows)
    for tried in wrong:
        print("  ", "lost:" if tried in lost else "through:", tried.name)
    for tried, difference in misjudged():
        print(f"   Chromium says otherwise ({difference} pixels): {tried.name}")
    return [
        Target("hidden texts that get through", len(through) + len(codes), 0),
        Target("visible texts that are lost", len(lost), 0),
    ]


def _is_read(html: str) -> bool:
    return SECRET in extract(html, "https://example.org/").text


def _carries(code: str) -> bool:
    text = extract(page(f"<p>{PROSE} Four{code}.</p>"), "https://example.org/").text
    return any(character in text for character in code)


def misjudged() -> Iterator[tuple[HiddenPage, int]]:
    """The pages of which the browser says otherwise, with the number of pixels that change with the text."""
    with _browser() as tab:
        for tried in hidden_pages(ways=1) if tab is not None else ():
            difference = _difference(tab, tried.html)
            if (difference < _READABLE) is not tried.is_hidden:
                yield tried, difference


def _difference(tab: Any, html: str) -> int:
    """How much the pixels of the page change with the text."""
    shots = []
    for text in (html, html.replace(SECRET, _OTHER)):
        _Served.html = text
        tab.goto("http://127.0.0.1/", wait_until="load")
        tab.wait_for_timeout(30)
        shots.append(tab.screenshot(caret="hide"))
    if shots[0] == shots[1]:
        return 0
    return int(tab.evaluate(_DIFFERENCE, [base64.b64encode(shot).decode() for shot in shots]))


@contextmanager
def _browser() -> Iterator[Any]:
    """A tab of Chromium; None where there is none."""
    try:
        from playwright.sync_api import sync_playwright

        path = find_chrome().path
    except (ImportError, SuyuanError):
        print("\nhidden: the judgement of Chromium is skipped, there is none here")
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        tab.route(
            "http://127.0.0.1/",
            lambda route: route.fulfill(body=_Served.html, content_type="text/html; charset=utf-8"),
        )
        yield tab
        browser.close()


if __name__ == "__main__":
    run()
