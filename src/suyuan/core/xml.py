"""XML from elsewhere, read without entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

# Expat goes on to the end of what it was given after a handler has raised.
_CHUNK = 512


class _Begun(Exception):
    """The root element has begun; nothing can be declared behind it."""


def read_xml(data: bytes) -> Element:
    """The root of a document; raises ``ValueError`` for one that is broken or declares entities.

    No document that is read here needs them, and they are how XML is made to grow without end. The parser finds them,
    whatever the encoding.
    """
    try:
        _Declarations().check(data)
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, expat.ExpatError, LookupError) as error:
        raise ValueError(f"not read as XML: {error}") from None


def read_xml_events(pieces: Iterable[bytes]) -> Iterator[tuple[str, Element]]:
    """The starts and ends of the elements of a document that comes in pieces; raises ``ValueError`` like the above.

    What is behind is kept until the caller removes it from its parent.
    """
    declarations = _Declarations()
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("start", "end"))
    try:
        for piece in pieces:
            declarations.check(piece)
            parser.feed(piece)
            yield from parser.read_events()  # type: ignore[misc]
        parser.close()
    except (ElementTree.ParseError, expat.ExpatError, LookupError) as error:
        raise ValueError(f"not read as XML: {error}") from None


class _Declarations:
    """Reads the beginning of a document, up to its root, and refuses declarations of entities."""

    def __init__(self) -> None:
        self._parser: expat.XMLParserType | None = expat.ParserCreate()
        self._parser.EntityDeclHandler = _declared
        self._parser.StartElementHandler = _begun

    def check(self, data: bytes) -> None:
        """Look at the next bytes; raises ``ValueError``."""
        if self._parser is None:
            return
        try:
            for at in range(0, len(data), _CHUNK):
                self._parser.Parse(data[at : at + _CHUNK])
        except _Begun:
            self._parser = None


def _declared(*_: object) -> NoReturn:
    raise ValueError("it declares entities")


def _begun(*_: object) -> NoReturn:
    raise _Begun
