"""What was not read of a document, on the page, in a real Chromium."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.screens import DESKTOP, axe, put_question
from server.serving import serving, settings_of
from support.chromium import require_chromium
from support.long_documents import KINDS
from support.timing import PATIENCE
from suyuan.pages.reading import OWN_LIMITS

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("lang", "words"), [("en-US", "3 of 12 pages were read"), ("zh-CN", "共 12 页，读取了 3 页")], ids=["en", "zh"]
)
async def test_it_stands_in_the_library_and_beside_the_source(
    tmp_path: Path, browser: Any, lang: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suyuan.pages.library_update.OWN_LIMITS", replace(OWN_LIMITS, characters=300))
    settings = settings_of(data=tmp_path)
    with serving(replace(settings, search=replace(settings.search, default="library"))) as served:
        page = await browser.new_page(viewport=DESKTOP, locale=lang)
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(f"{served.url}/settings")
        sent = {"name": "register.pdf", "mimeType": "application/pdf", "buffer": KINDS["pdf"].make(12)}
        await page.set_input_files("#library input", sent)
        await page.locator("#library .findings", has_text=f"register.pdf: {words}").wait_for()
        await page.locator(".documents .meta", has_text=words).wait_for()
        assert await axe(page) == []
        await page.goto(served.url)
        await put_question(page, "What does the harbour master write down?")
        await page.locator(".source .cut", has_text=words).first.wait_for()
        assert await axe(page) == []
        await page.close()
