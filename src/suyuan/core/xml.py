"""XML from elsewhere, read without entities."""

from __future__ import annotations

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
        _check_declarations(data)
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, expat.ExpatError, LookupError) as error:
        raise ValueError(f"not read as XML: {error}") from None


def _check_declarations(data: bytes) -> None:
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = _declared
    parser.StartElementHandler = _begun
    try:
        for at in range(0, len(data), _CHUNK):
            parser.Parse(data[at : at + _CHUNK])
    except _Begun:
        return


def _declared(*_: object) -> NoReturn:
    raise ValueError("it declares entities")


def _begun(*_: object) -> NoReturn:
    raise _Begun
