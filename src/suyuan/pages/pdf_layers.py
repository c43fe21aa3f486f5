"""What a PDF has for all of its pages: fonts, and the layers that are switched off."""

from __future__ import annotations

from typing import Any

from .pdf_font import PdfFont

_MOST_FONTS = 2000
_NO_VIEW = 2 | 32
"""The flags of a note that is hidden, or not shown on screens."""


class PdfLayers:
    """The fonts of a document, each read once, and which of its layers a reader sees."""

    def __init__(self, catalog: Any) -> None:
        self._fonts: dict[object, PdfFont | None] = {}
        self._off: set[object] = set()
        self._on: set[object] = set()
        self._base_off = False
        settings = _get(catalog, "/OCProperties")
        if settings is not None:
            self._read(settings)

    def font(self, resource: Any) -> PdfFont | None:
        """A font; None where it cannot be read."""
        key = identity(resource)
        if key not in self._fonts or isinstance(key, int):
            if len(self._fonts) > _MOST_FONTS:
                self._fonts.clear()
            try:
                self._fonts[key] = PdfFont(resource.get_object())
            except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
                self._fonts[key] = None
        return self._fonts[key]

    def is_off(self, group: Any) -> bool:
        """Whether a layer, or a group of layers, is switched off."""
        content = group.get_object()
        if content is None or not hasattr(content, "get"):
            return False
        if content.get("/Type") != "/OCMD":
            return self._is_layer_off(group)
        members = content.get("/OCGs")
        if members is None:
            return False
        layers = members.get_object()
        if not isinstance(layers, list):
            layers = [members]
        states = [self._is_layer_off(layer) for layer in layers]
        if not states:
            return False
        policy = content.get("/P", "/AnyOn")
        if policy == "/AllOn":
            return any(states)
        if policy == "/AnyOff":
            return not any(states)
        return not all(states) if policy == "/AllOff" else all(states)

    def _is_layer_off(self, layer: Any) -> bool:
        key = identity(layer)
        if key in self._off:
            return True
        return self._base_off and key not in self._on

    def _read(self, settings: Any) -> None:
        first = _get(settings, "/D")
        if first is None:
            return
        self._base_off = first.get("/BaseState") == "/OFF"
        self._off = {identity(layer) for layer in _get(first, "/OFF") or ()}
        self._on = {identity(layer) for layer in _get(first, "/ON") or ()}
        for rule in _get(first, "/AS") or ():
            use = rule.get_object()
            if use.get("/Event") == "/View":
                self._off.update(identity(layer) for layer in _get(use, "/OCGs") or () if _is_off_in_view(layer))


def _is_off_in_view(layer: Any) -> bool:
    """Whether a layer says itself that it is not shown on screens."""
    usage = _get(layer.get_object(), "/Usage")
    view = _get(usage, "/View") if usage is not None else None
    return view is not None and view.get("/ViewState") == "/OFF"


def identity(found: Any) -> object:
    """What tells an object of a document from others."""
    number = getattr(found, "idnum", None)
    if number is not None:
        return number, found.generation
    reference = getattr(found, "indirect_reference", None)
    return (reference.idnum, reference.generation) if reference is not None else id(found)


def _get(dictionary: Any, name: str) -> Any:
    found = dictionary.get(name)
    return found.get_object() if found is not None else None


def shown_notes(page: Any) -> list[Any]:
    """The notes upon a page that have a look of their own and are shown."""
    found = []
    for each in _get(page, "/Annots") or ():
        note = each.get_object()
        if not hasattr(note, "get"):
            continue
        is_hidden = int(note.get("/F", 0)) & _NO_VIEW
        if not is_hidden and note.get("/Rect") is not None:
            found.append(note)
    return found


def look_of(note: Any) -> Any:
    """The form that a note is painted with; None if there is none."""
    looks = _get(note, "/AP")
    look = _get(looks, "/N") if looks is not None else None
    if look is None or hasattr(look, "get_data"):
        return look
    return _get(look, str(note.get("/AS", "/Off")))
