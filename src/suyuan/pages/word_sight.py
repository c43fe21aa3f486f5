"""What a reader sees of the text of a Word document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple
from xml.etree.ElementTree import Element

from .colour import LEAST_OPACITY, WHITE, Colour, colour, is_readable
from .css_values import declarations, plain
from .hiding_style import hides_text
from .pdf_state import SMALLEST
from .word_styles import AUTO, WordLook, WordPlace, WordStyles, child, children, is_on, number, tag, upon, value

_TWIPS = 20
_THIN = SMALLEST * _TWIPS
_EMU = 12_700
_FAR_LEFT, _FAR_RIGHT = -9000.0, 16_000.0
"""In twentieths of a point: beside every page."""
_CROWDED = -0.5
_SIZE = 10.0
_LEFT_OUT_NAMES = "del moveFrom pPr rPr sectPr tblPr tblGrid trPr tcPr sdtPr sdtEndPr instrText delText"
_LEFT_OUT = frozenset(_LEFT_OUT_NAMES.split())
_SHAPES = frozenset(("shape", "rect", "oval", "roundrect", "line", "polyline", "curve", "arc"))
_LOOKS = {
    "firstRow": 0x20, "lastRow": 0x40, "firstColumn": 0x80, "lastColumn": 0x100, "noHBand": 0x200, "noVBand": 0x400,
}  # fmt: skip
_KNOWN = frozenset(["w14", "w15", "wp14", "wps", "wpg", "wpc", "wpi", "a14", "aink", "am3d", "v", "c14", "oel", "cx"])
_KNOWN_SERIES = ("w16", "cx")
"""Of these there are several."""


class Around(NamedTuple):
    """What the elements around an element say."""

    base: WordLook
    """How letters look before the paragraph says something."""
    look: WordLook
    behind: Colour | None
    """None if it is not known."""
    is_seen: bool = True
    """Whether it is shown at all; letters of a shown run may still be unreadable."""
    is_run: bool = False
    has_letters: bool = True
    """Whether the letters of the run can be read."""


class WordSight:
    """Walks through paragraphs and tables, and finds the text that is seen."""

    def __init__(self, styles: WordStyles) -> None:
        self._styles = styles
        self._page: Colour = WHITE
        self._fields: list[bool] = []
        """Of each field that has begun, whether its text is still its instruction."""
        self.notes: set[tuple[str, str]] = set()
        """The notes that the text refers to, each with its kind."""

    def paint_page(self, background: Element) -> None:
        """The document has a page of a colour."""
        found = self._styles.background(background)
        if self._styles.shows_background and found is not None and found != AUTO:
            self._page = found

    def text_of(self, block: Element) -> str:
        """The text of a paragraph that is seen."""
        return "".join(self._texts(block, self._outside()))

    def rows_of(self, table: Element) -> list[list[str]]:
        """The texts of the cells of a table that are seen, without the rows that are not."""
        return [
            ["".join(self._texts(cell, around)) for cell, around in row] for row in self._cells(table, self._outside())
        ]

    def _outside(self) -> Around:
        return Around(self._styles.defaults, self._styles.defaults, self._page)

    # --- walking ---------------------------------------------------------------------------------------------------
    def _texts(self, element: Element, around: Around) -> Iterator[str]:
        # A stack instead of recursion: text boxes and content controls can be nested deeply.
        stack = [(element, around)]
        while stack:
            node, around = stack.pop()
            name = tag(node)
            if name in _LEFT_OUT:
                continue
            if around.is_run and (text := self._text(node, name, around)) is not None:
                yield text
                continue
            if name == "tbl":
                within = list(chain.from_iterable(self._cells(node, around)))
            else:
                inner = self._inside(node, name, around)
                within = [(each, inner) for each in node]
            stack.extend(reversed(within))

    def _text(self, node: Element, name: str, around: Around) -> str | None:
        """The text of an element of a run; None if it has other elements instead."""
        if name == "t":
            is_seen = around.is_seen and around.has_letters and not any(self._fields)
            return (node.text or "") if is_seen else ""
        if name in ("tab", "br", "cr"):
            return " " if name == "tab" else "\n"
        if name == "fldChar":
            self._go_on(value(node, "fldCharType"))
            return ""
        if name in ("footnoteReference", "endnoteReference"):
            self.notes.add((name.removesuffix("Reference"), value(node, "id")))
            return ""
        return None

    def _go_on(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(True)
        elif kind == "separate" and self._fields:
            self._fields[-1] = False
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _inside(self, node: Element, name: str, around: Around) -> Around:
        if name == "p":
            return self._in_paragraph(node, around)
        if name == "r":
            return self._in_run(node, around)
        if name in ("anchor", "inline"):
            is_seen = around.is_seen and not _is_away(node)
            return around._replace(is_seen=is_seen, is_run=False)
        if name == "wsp":
            return self._in_shape(node, around)
        if name in _SHAPES:
            return _in_old_shape(node, around)
        if name == "txbxContent":
            # A box begins anew: it has nothing from the paragraph that it is anchored in.
            return Around(self._styles.defaults, self._styles.defaults, around.behind, around.is_seen)
        return around

    # --- paragraphs and runs ---------------------------------------------------------------------------------------
    def _in_paragraph(self, paragraph: Element, around: Around) -> Around:
        styles, marks = self._styles, child(paragraph, "pPr")
        named = child(marks, "pStyle")
        style = value(named) if named is not None else styles.default_paragraph
        place = upon(styles.place_of(style), styles.place(marks))
        frame = child(marks, "framePr")
        is_away = _is_out_of_sight(place) or (frame is not None and _is_far(number(frame, "x"), number(frame, "y")))
        behind = _painted(place.shade, around.behind)
        look = upon(around.base, styles.look_of(style))
        return Around(around.base, look, behind, around.is_seen and not is_away)

    def _in_run(self, run: Element, around: Around) -> Around:
        styles, marks = self._styles, child(run, "rPr")
        if marks is None or not len(marks):
            look = around.look
        else:
            named = child(marks, "rStyle")
            look = upon(around.look, styles.look_of(value(named))) if named is not None else around.look
            look = upon(look, styles.look(marks))
        return around._replace(
            look=look,
            is_seen=around.is_seen and not look.is_hidden,
            is_run=True,
            has_letters=_is_legible(look, around.behind),
        )

    # --- boxes -----------------------------------------------------------------------------------------------------
    def _in_shape(self, shape: Element, around: Around) -> Around:
        marks = child(shape, "spPr")
        fill = child(marks, "solidFill")
        if fill is not None:
            found = self._styles.filled(fill)
            shines_through = found is not None and found[3] <= LEAST_OPACITY
            return around if shines_through else around._replace(behind=found)
        if child(marks, "noFill") is not None:
            return around
        others = ("gradFill", "blipFill", "pattFill", "grpFill")
        if any(child(marks, name) is not None for name in others):
            return around._replace(behind=None)
        reference = child(shape, "style", "fillRef")
        if reference is not None and number(reference, "idx"):
            return around._replace(behind=self._styles.filled(reference))
        return around

    # --- tables ----------------------------------------------------------------------------------------------------
    def _cells(self, table: Element, around: Around) -> list[list[tuple[Element, Around]]]:
        """The cells of each row that is seen, and what is around them."""
        marks = child(table, "tblPr")
        floating = child(marks, "tblpPr")
        if floating is not None and _is_far(number(floating, "tblpX"), number(floating, "tblpY")):
            return []
        rows = [row for row in _unwrapped(table, "tr") if not _is_hidden_row(row)]
        look = _TableLook(self._styles, marks)
        behind = _painted(self._shade(marks), around.behind)
        shown_rows = []
        for index, row in enumerate(rows):
            cells = list(_unwrapped(row, "tc"))
            shown_cells: list[tuple[Element, Around]] = []
            for column, cell in enumerate(cells):
                styled = look.at(index, len(rows), column, len(cells))
                shown_cells.append((cell, self._in_cell(cell, styled, around, behind)))
            shown_rows.append(shown_cells)
        return shown_rows

    def _shade(self, marks: Element | None, default: Colour | None = None) -> Colour | None:
        """The background that a table or cell has of its own."""
        own = child(marks, "shd")
        return self._styles.shade(own) if own is not None else default

    def _in_cell(
        self, cell: Element, styled: tuple[WordLook, Colour | None], around: Around, behind: Colour | None
    ) -> Around:
        marks = child(cell, "tcPr")
        look, shade = styled
        behind = _painted(self._shade(marks, shade), behind)
        base = upon(self._styles.defaults, look)
        is_deleted = child(marks, "cellDel") is not None
        return Around(base, base, behind, around.is_seen and not is_deleted)


class _TableLook:
    """How the style of a table shows its rows and columns."""

    def __init__(self, styles: WordStyles, marks: Element | None) -> None:
        self._parts: dict[str, tuple[WordLook, Colour | None]] = {}
        named, look = child(marks, "tblStyle"), child(marks, "tblLook")
        for style in styles.chain(value(named)) if named is not None else ():
            self._add("", style, styles)
            for part in children(style, "tblStylePr"):
                self._add(value(part, "type"), part, styles)
        self._wanted = {name for name, bit in _LOOKS.items() if look is not None and _is_wanted(look, name, bit)}

    def _add(self, name: str, part: Element, styles: WordStyles) -> None:
        look, shade = self._parts.get(name, (WordLook(), None))
        found = child(part, "tcPr", "shd")
        if found is None:
            found = child(part, "tblPr", "shd")
        own = styles.shade(found) if found is not None else None
        self._parts[name] = (upon(look, styles.look(child(part, "rPr"))), shade if own is None else own)

    def at(self, row: int, rows: int, column: int, columns: int) -> tuple[WordLook, Colour | None]:
        """How a cell looks by the style."""
        if not self._parts:
            return WordLook(), None
        names = [*self._bands(row, column), *self._edges(row, rows, column, columns)]
        look, shade = self._parts.get("", (WordLook(), None))
        for name in names:
            own, behind = self._parts.get(name, (WordLook(), None))
            look = upon(look, own)
            shade = shade if behind is None else behind
        return look, shade

    def _bands(self, row: int, column: int) -> Iterator[str]:
        """The stripes of rows and columns that a cell is in; they begin after the first ones."""
        if "noVBand" not in self._wanted:
            is_second = (column - ("firstColumn" in self._wanted)) % 2
            yield "band2Vert" if is_second else "band1Vert"
        if "noHBand" not in self._wanted:
            is_second = (row - ("firstRow" in self._wanted)) % 2
            yield "band2Horz" if is_second else "band1Horz"

    def _edges(self, row: int, rows: int, column: int, columns: int) -> Iterator[str]:
        """The edges of the table that a cell is at, as far as they look different."""
        last_row, last_column = rows - 1, columns - 1
        if "firstColumn" in self._wanted and column == 0:
            yield "firstCol"
        if "lastColumn" in self._wanted and column == last_column:
            yield "lastCol"
        if "firstRow" in self._wanted and row == 0:
            yield "firstRow"
        if "lastRow" in self._wanted and row == last_row:
            yield "lastRow"


def _is_wanted(look: Element, name: str, bit: int) -> bool:
    if value(look, name):
        return is_on(look, name)
    try:
        return bool(int(value(look) or "0", 16) & bit)
    except ValueError:
        return False


def _unwrapped(element: Element, name: str) -> Iterator[Element]:
    """The rows of a table or the cells of a row, also those in content controls."""
    for each in element:
        found = tag(each)
        if found == name:
            yield each
        elif found in ("sdt", "sdtContent", "customXml", "ins"):
            yield from _unwrapped(each, name)


def _is_hidden_row(row: Element) -> bool:
    marks = child(row, "trPr")
    if marks is None:
        return False
    hidden, height = child(marks, "hidden"), child(marks, "trHeight")
    if hidden is not None and is_on(hidden):
        return True
    if child(marks, "del") is not None:
        return True
    if height is None or value(height, "hRule") != "exact":
        return False
    return number(height) <= _THIN


# --- what can be seen -------------------------------------------------------------------------------------------------
def _is_legible(look: WordLook, behind: Colour | None) -> bool:
    size = _SIZE if look.size is None else look.size
    stretch = 1.0 if look.stretch is None else look.stretch
    is_crowded = (look.spacing or 0.0) <= _CROWDED * size
    if is_crowded or min(size, size * stretch) <= SMALLEST:
        return False
    behind = _painted(look.highlight, _painted(look.shade, behind))
    letters = look.colour
    if letters is None or letters == AUTO:
        return True
    return letters[3] > LEAST_OPACITY and (behind is None or is_readable(letters, behind))


def _painted(shade: Colour | None, behind: Colour | None) -> Colour | None:
    """What is behind something that may have a background of its own."""
    return behind if shade is None or shade == AUTO else shade


def _is_out_of_sight(place: WordPlace) -> bool:
    """Whether a paragraph is beside the page, or its lines are too low for letters."""
    if place.line is not None and place.line <= _THIN:
        return True
    left = (place.left or 0.0) + min(0.0, place.first or 0.0)
    if left <= _FAR_LEFT or left >= _FAR_RIGHT:
        return True
    is_left = left <= _FAR_LEFT / 3
    return is_left and (place.right or 0.0) >= -_FAR_LEFT


def _is_far(x: float, y: float) -> bool:
    farthest = _FAR_RIGHT * 1.5
    return min(x, y) <= _FAR_LEFT or max(x, y) >= farthest


def _is_away(drawing: Element) -> bool:
    """Whether a drawing is hidden, has no size, or is placed beside the page."""
    named, size = child(drawing, "docPr"), child(drawing, "extent")
    if named is not None and is_on(named, "hidden"):
        return True
    if size is not None and min(number(size, "cx"), number(size, "cy")) <= SMALLEST * _EMU:
        return True
    offsets = (child(drawing, name, "posOffset") for name in ("positionH", "positionV"))
    texts = [(each.text or "").strip() for each in offsets if each is not None]
    places = [float(text) * _TWIPS / _EMU for text in texts if text.lstrip("-").isdigit()]
    return bool(places) and _is_far(min(places), max(places))


def _in_old_shape(shape: Element, around: Around) -> Around:
    """A shape of older versions of Word, whose style is one of a web page."""
    style = plain(declarations(value(shape, "style").lower()))
    if hides_text(style):
        return around._replace(is_seen=False, is_run=False)
    if style.get("visibility") == "hidden":
        return around._replace(is_seen=False, is_run=False)
    around = around._replace(is_run=False)
    if value(shape, "filled") in ("f", "false"):
        return around
    found = colour(value(shape, "fillcolor").partition("[")[0].strip())
    return around._replace(behind=found) if found is not None else around


def is_known(requires: str) -> bool:
    """Whether programs know what a variant of a part requires, and so show it."""
    return all(prefix in _KNOWN or prefix.startswith(_KNOWN_SERIES) for prefix in requires.split())
