"""Links to a passage of a page: ``#:~:text=``."""

from __future__ import annotations

import re
import urllib.parse

from ..text.sentences import sentence_ends
from ..text.words import count_cjk

_DIRECTIVE = ":~:"
_LONG_WORDS, _HEAD_WORDS = 12, 5
_LONG_WIDE, _HEAD_WIDE = 40, 14
# The quote is Markdown; the page displays it without this markup.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"`+|\*\*|__|~~")
_WORD_END = re.compile(r"[A-Za-z0-9]+")
# The punctuation of the page may differ at the ends of a sentence, and a browser searches for words.
_EDGES = " \t\r\n.,;:!?…。,，、；：！？\"'“”‘’「」『』()（）[]【】*_#>|-"


def fragment_link(url: str, quote: str) -> str:
    """Return ``url`` with a text fragment for ``quote``, a quotation from the page."""
    text = _searchable(quote)
    if not text:
        return url
    page, hash_sign, fragment = url.partition("#")
    fragment = fragment.split(_DIRECTIVE, 1)[0]
    return f"{page}#{fragment if hash_sign else ''}{_DIRECTIVE}text={_directive(text)}"


def _directive(text: str) -> str:
    """The passage, or only its beginning and end if it is long: the page may differ slightly in between."""
    if count_cjk(text):
        if len(text) <= _LONG_WIDE:
            return _encode(text)
        head, tail = _whole_words(text, _HEAD_WIDE), _whole_words(text[::-1], _HEAD_WIDE)[::-1]
    else:
        words = text.split(" ")
        if len(words) <= _LONG_WORDS:
            return _encode(text)
        head, tail = " ".join(words[:_HEAD_WORDS]), " ".join(words[-_HEAD_WORDS:])
    head, tail = head.strip(_EDGES), tail.strip(_EDGES)
    return f"{_encode(head)},{_encode(tail)}" if head and tail else _encode(text)


def _whole_words(text: str, length: int) -> str:
    """The beginning of ``text`` without a cut Latin word: a browser searches for whole words."""
    rest = _WORD_END.match(text, length)
    return text[: rest.end() if rest and _WORD_END.match(text[length - 1]) else length]


def _searchable(quote: str) -> str:
    """The longest paragraph of ``quote``: a browser does not find an exact text across paragraphs."""
    clean = _LINK.sub(r"\1", quote.encode("utf-8", "ignore").decode("utf-8"))
    clean = _MARKUP.sub("", clean)
    blocks = [" ".join(block.split()) for block in re.split(r"\n+", clean)]
    block = max(blocks, key=len, default="")
    if len(block) > 400:
        block = block[: next((end for end in sentence_ends(block) if end >= 40), len(block))]
    return block.strip(_EDGES)


def _encode(text: str) -> str:
    # Hyphen, comma and ampersand have a special meaning in a text directive.
    return urllib.parse.quote(text, safe="").replace("-", "%2D")
