"""What a model may ask of the web once it has read text from the web: nothing that only a page told it to."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core.causes.chat import QUERY_FROM_PAGE, URL_NOT_SEEN
from ..core.urls import page_key
from ..text.words import words

_URL = re.compile(r"https?://[^\s<>\"'\]）】》」]+", re.I)
# What stands behind an address in a sentence.
_AFTER = ".,;:!?)、。,;:!?)"
_SPACE = re.compile(r"\W+")
# Shorter ones are names and terms, which an honest model takes from pages all the time.
_SENTENCE = 5
_SENTENCE_CJK = 10
_KEPT = 2_000_000


class WebPolicy:
    """Knows where every address came from. The user and search results are trusted to name pages; a page's text is not."""

    def __init__(self, *said: str) -> None:
        self._known: set[str] = set()
        self._asked: set[str] = set()
        self._web = ""
        for text in said:
            self.hear(text)

    def hear(self, text: str) -> None:
        """The user said ``text``: its addresses may be read, its words may be searched."""
        self._known.update(page_key(url.rstrip(_AFTER)) for url in _URL.findall(text))
        self._asked.update(words(text))

    def found(self, urls: Iterable[str]) -> None:
        """A search found ``urls``, or a page that was read links to them."""
        self._known.update(page_key(url) for url in urls)

    def read(self, text: str) -> None:
        """The model has read ``text`` from the web."""
        self._web = (self._web + "\n" + _plain(text))[-_KEPT:]

    def check_url(self, url: str) -> None:
        """Refuse an address that only the text of a page can have named."""
        if self._web and page_key(url) not in self._known:
            raise URL_NOT_SEEN(url=url[:300])

    def check_query(self, query: str) -> None:
        """Refuse a whole sentence of a page that has nothing to do with what the user asked."""
        plain = _plain(query)
        long = len(plain.split()) >= _SENTENCE or len(plain.replace(" ", "")) >= _SENTENCE_CJK and not plain.isascii()
        if long and plain in self._web and not self._asked & _telling(query):
            raise QUERY_FROM_PAGE()


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text.lower()).strip()


def _telling(query: str) -> set[str]:
    """The words of a query that could tie it to the question: not the little ones."""
    return {word for word in words(query) if len(word) > 3 or not word.isascii() and len(word) > 1}
