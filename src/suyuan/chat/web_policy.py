"""``WebPolicy``: after a model has read web text, it may not do what only that text asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..core.causes.chat import QUERY_FROM_DOCUMENT, QUERY_FROM_PAGE, URL_NOT_SEEN
from ..core.errors import InvalidInput
from ..core.urls import page_key
from ..net.guard import parse
from ..text.words import words

_URL = re.compile(r"https?://[^\s<>\"'\]）】》」]+", re.I)
# Punctuation after an address in a sentence.
_AFTER = ".,;:!?)、。，；：！？）"
_SPACE = re.compile(r"\W+")
# Shorter ones are names and terms, which models often take from pages.
_SENTENCE = 5
_SENTENCE_CJK = 10
_KEPT = 2_000_000


class WebPolicy:
    """Records where addresses came from: those of the user and of search results may be read."""

    def __init__(self, *messages: str) -> None:
        self._known: dict[str, str] = {}
        self._exact: set[str] = set()
        self._asked: set[str] = set()
        self._web = ""
        self._private = ""
        self._messages = ""
        for text in messages:
            self.add_message(text)

    def add_message(self, text: str) -> None:
        """Take a message of the user: its addresses may be read, its words may be searched."""
        self.found(url.rstrip(_AFTER) for url in _URL.findall(text))
        self._asked.update(words(text))
        self._messages += "\n" + _plain(text)

    def found(self, urls: Iterable[str]) -> None:
        """Take addresses of search results or of links."""
        for url in urls:
            self._exact.add(url)
            self._known.setdefault(_page(url), url)

    def read(self, text: str, *, private: bool = False) -> None:
        """Take text that the model has read: of the web, or of a ``private`` document of the user."""
        if private:
            self._private = (self._private + "\n" + _plain(text))[-_KEPT:]
        self._web = (self._web + "\n" + _plain(text))[-_KEPT:]

    def allowed_url(self, url: str) -> str:
        """The address to read where a model asks for ``url``; raises for one that can only come from a page's text.

        It is one that was found, letter for letter. What the model added to it (parameters that a comparison ignores,
        a user name, a fragment) could carry what it knows to the page's owner.
        """
        if not self._web or url in self._exact:
            return url
        known = self._known.get(_page(url))
        if known is None:
            raise URL_NOT_SEEN(url=url[:300])
        return known

    def check_query(self, query: str) -> None:
        """Raise for a whole sentence of a page that is unrelated to the question, or any of a private document."""
        plain = _plain(query)
        if self._private and any(run in self._private and run not in self._messages for run in _runs(plain)):
            raise QUERY_FROM_DOCUMENT()
        long = len(plain.split()) >= _SENTENCE or len(plain.replace(" ", "")) >= _SENTENCE_CJK and not plain.isascii()
        if long and plain in self._web and not self._asked & _content(query):
            raise QUERY_FROM_PAGE()


def _page(url: str) -> str:
    """The same text for all spellings of a page's address."""
    try:
        return page_key(parse(url).href)
    except InvalidInput:
        return page_key(url)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text.lower()).strip()


def _runs(plain: str) -> Iterator[str]:
    """Every few words in a row, or in Chinese so many characters, that make a sentence."""
    if plain.isascii():
        parts, length, glue = plain.split(), _SENTENCE, " "
    else:
        parts, length, glue = list(plain), _SENTENCE_CJK, ""
    for start in range(len(parts) - length + 1):
        yield glue.join(parts[start : start + length])


def _content(query: str) -> set[str]:
    """The words of a query that can relate it to the question."""
    return {word for word in words(query) if len(word) > 3 or not word.isascii() and len(word) > 1}
