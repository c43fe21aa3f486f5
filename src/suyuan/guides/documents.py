"""Loads the guides, and makes documents of them that can be searched and cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..core.document import Document

NAMES = ("searxng", "models", "troubleshooting")
# The list of all errors contains the words of almost every question, so it is not useful as a search result.
SEARCHED = ("searxng", "models")
LANGUAGES = ("zh", "en")
# What the guides are about; other questions are for the web.
_SUBJECTS = re.compile(
    r"suyuan|溯源|searx|ollama|deepseek|vllm|lm ?studio|(?:connect|configure|set ?up|use)\b.{0,60}\bmodel"
    r"|(?:连接|配置|设置|接入|使用|用).{0,40}模型|模型.{0,40}(?:连接|配置|设置|接入)",
    re.I,
)
_FOLDER = Path(__file__).parent


def guide(name: str, lang: str) -> str:
    """Return the Markdown of a guide; raises ``KeyError`` if there is none with this name."""
    if name not in NAMES:
        raise KeyError(name)
    known = lang if lang in LANGUAGES else "en"
    return (_FOLDER / f"{name}.{known}.md").read_text(encoding="utf-8")


def about_product(question: str) -> bool:
    """Whether ``question`` is about what the guides explain."""
    return _SUBJECTS.search(question) is not None


def documents(server_url: str, at: str) -> Iterator[Document]:
    """The searchable guides as documents that were fetched at the time ``at``."""
    for name in SEARCHED:
        for lang in LANGUAGES:
            url = f"{server_url}/guide/{name}?lang={lang}"
            head, _, text = guide(name, lang).partition("\n")
            title, tag = head.lstrip("# ").strip(), "zh-CN" if lang == "zh" else "en"
            yield Document(url, url, title, text.strip(), "text/markdown", at, site_name="Suyuan", language=tag)
