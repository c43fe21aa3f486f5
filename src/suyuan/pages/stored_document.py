"""A document as archives store it: JSON, in the words of :class:`Document`."""

from __future__ import annotations

import json

from ..core.document import Cut, Document, pieces

# The passages depend on a question, and so are not a part of the page.
_NOT_STORED = ("from_archive", "passages")


def document_to_json(document: Document) -> str:
    """A document as archives store it."""
    names = [name for name in Document.__slots__ if name not in (*_NOT_STORED, "text")]
    data = {name: getattr(document, name) for name in names}
    cut = data.pop("cut")
    if cut is not None:
        data["cut"] = cut.as_dict()
    about = json.dumps(data, ensure_ascii=False)
    # The text in pieces, since nothing else goes on meanwhile.
    text = "".join(json.dumps(piece, ensure_ascii=False)[1:-1] for piece in pieces(document.text))
    return f'{{"text": "{text}", {about[1:]}'


def document_from_json(text: str) -> Document:
    """A document that an archive has stored."""
    data = json.loads(text)
    data["links"] = tuple((name, url) for name, url in data["links"])
    data["notes"] = tuple(data["notes"])
    data["cut"] = Cut(**data["cut"]) if data.get("cut") else None
    return Document(**data, from_archive=True)
