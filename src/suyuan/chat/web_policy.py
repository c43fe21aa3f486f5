"""``WebPolicy``: what was read never chooses where requests go, nor what they carry.

It belongs to a conversation: what was read for an earlier answer counts like what was read for this one. Three kinds
of text are kept apart. What the user wrote may go anywhere. After text from the web, an earlier answer, or what a
caller tells the model, a model may open no addresses of its own. After text that is private (own documents, what
functions of a caller returned, answers that were made of either) queries consist of words of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core.causes.chat import QUERY_FROM_DOCUMENT, QUERY_FROM_PAGE, URL_AFTER_DOCUMENT, URL_NOT_SEEN
from ..core.errors import InvalidInput
from ..core.query import SearchQuery
from ..core.urls import page_key
from ..net.guard import parse
from ..text.words import count_cjk, words
from .own_words import OwnWords, runs

_URL = re.compile(r"https?://[^\s<>\"'\]）】》」]+", re.I)
# Punctuation after an address in a sentence.
_AFTER = ".,;:!?)、。，；：！？）"
# Shorter ones are names and terms, which models often take from pages.
_SENTENCE = 5
_SENTENCE_CJK = 10
_KEPT = 2_000_000


class WebPolicy:
    """Records where addresses and words came from: those of the user and of search results may be used."""

    def __init__(self, *messages: str) -> None:
        self._known: dict[str, str] = {}
        self._exact: set[str] = set()
        self._linked: dict[str, str] = {}
        """Addresses that only pages have named."""
        self._asked: set[str] = set()
        self._own = OwnWords()
        self._read = ""
        self._taken = ""
        """The last words of a page that were searched and have nothing to do with the question, with those before."""
        self.private = False
        """Whether the model may know what must not leave the machine."""
        self._tainted = False
        for text in messages:
            self.add_message(text)

    def add_message(self, text: str) -> None:
        """Take a message of the user: its addresses may be read, its words may be searched."""
        self.found(url.rstrip(_AFTER) for url in _URL.findall(text))
        self._asked.update(words(text))
        self._own.add(text)

    def found(self, urls: Iterable[str]) -> None:
        """Take addresses of search results, or of the user."""
        for url in urls:
            self._exact.add(url)
            self._known.setdefault(_page(url), url)

    def linked(self, urls: Iterable[str]) -> None:
        """Take addresses of links of a page that was read."""
        for url in urls:
            self._linked.setdefault(url, url)
            self._linked.setdefault(_page(url), url)

    def read(self, text: str, *, private: bool = False) -> None:
        """Take text that the model knows and that is not the user's; what is ``private`` must not leave the machine."""
        self._tainted = True
        self.private = self.private or private
        # Compared is only what may be searched in part.
        if not self.private:
            self._read = (f"{self._read} {_plain(text)} ")[-_KEPT:]

    def allowed_url(self, url: str) -> str:
        """The address to read where a model asks for ``url``; raises for one that can only come from a page's text.

        It is one that was found, letter for letter. What the model added to it (parameters that a comparison ignores,
        a user name, a fragment) could carry what it knows to the page's owner. Which of many links of a page is read
        could carry it too.
        """
        if not self._tainted or url in self._exact:
            return url
        known = self._known.get(_page(url))
        if known is not None:
            return known
        known = self._linked.get(url) or self._linked.get(_page(url))
        if known is None:
            raise URL_NOT_SEEN(url=url[:300])
        if self.private:
            raise URL_AFTER_DOCUMENT(url=url[:300])
        return known

    def allowed_query(self, query: SearchQuery) -> SearchQuery:
        """The query to send where a model asks for ``query``; raises for one that carries what was read.

        After private text it is made anew of the user's words, and has nothing else.
        """
        if self.private:
            own = self._own.only(query.text)
            if own is None:
                raise QUERY_FROM_DOCUMENT()
            return SearchQuery(own, count=query.count, trace_id=query.trace_id, budget_ms=query.budget_ms)
        domains = " ".join((*query.allowed_domains, *query.blocked_domains))
        for text in filter(None, (query.text, domains)):
            self._check_text(text)
        return query

    def _check_text(self, text: str) -> None:
        """Raise for a whole sentence of a page that is unrelated to the question, also where it comes in parts."""
        plain = _plain(text)
        if not plain or plain not in self._read or self._asked & _content(text):
            return
        # A sentence may come in parts, each of which would pass for a name.
        both = f"{self._taken} {plain}"
        whole = both if self._taken and both in self._read else plain
        if _is_sentence(whole):
            raise QUERY_FROM_PAGE()
        self._taken = whole


def _page(url: str) -> str:
    """The same text for all spellings of a page's address."""
    try:
        return page_key(parse(url).href)
    except InvalidInput:
        return page_key(url)


def _plain(text: str) -> str:
    return " ".join(runs(text))


def _is_sentence(plain: str) -> bool:
    return len(plain.split()) >= _SENTENCE or count_cjk(plain) >= _SENTENCE_CJK


def _content(query: str) -> set[str]:
    """The words of a query that can relate it to the question."""
    return {word for word in words(query) if len(word) > 3 or not word.isascii() and len(word) > 1}
