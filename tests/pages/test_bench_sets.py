"""A sample of the public extraction sets: every twelfth page, with limits slightly below the measured figures."""

from __future__ import annotations

import pytest
from benchmarks.extract import BENCH, plain, score, sets

from suyuan.pages.decode import decode
from suyuan.pages.extract import extract

FLOORS = {"wcxb": 0.82, "aeb": 0.93, "daniel zh": 0.925, "daniel en": 0.92, "zhwce": 0.9, "webmainbench": 0.8}


@pytest.mark.skipif(not BENCH.exists(), reason="the benchmark data is not available")
def test_the_main_content_is_found() -> None:
    missed = {}
    for name, pages in sets().items():
        sample = pages[::12] if len(pages) > 50 else pages[::2]
        texts = [plain(extract(decode(page.body), page.url).text) for page in sample]
        if (reached := score(name, [page.gold for page in sample], texts)) < FLOORS[name]:
            missed[name] = reached
    assert missed == {}
