"""What a reader sees of the text of a PDF's page: the page is painted, and what cannot be seen is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from pypdf import PageObject
from pypdf.generic import ArrayObject, ContentStream, DictionaryObject, NameObject

from .colour import Colour
from .pdf_canvas import Box, Canvas, Clip, Outline, met
from .pdf_colour import CLEAR, colour_in, device_colour, evaluated, first_colour
from .pdf_images import Scan, covers, only_colour, scan_of
from .pdf_layers import PdfLayers, look_of, shown_notes
from .pdf_letters import Letters, Line, TextRun, paint_letters
from .pdf_state import FIRST_CLIPPING, IDENTITY, INVISIBLE, ONLY_CLIPPING, Matrix, State, placed, times

_BROKEN = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError)
_DEEPEST = 20
_MOST_FORMS = 5000
_SMALL_PAGE = 300.0
"""A page with shorter sides than this is shown larger."""
_LETTER: Box = (0.0, 0.0, 612.0, 792.0)
_TEXT = re.compile(rb"T[jJ]|Do|['\"]")
_PAINTS = re.compile(rb"(?:^|[\s\])>])(?:[fFBbSs]\*?|Do|sh|EI|Tj|TJ|'|\")(?=\s|$)")
_WIDE_LINE = 2.0
_CURVE = (0.25, 0.5, 0.75, 1.0)
Operands = list[Any]
Operation = tuple[Any, bytes]


def seen_text(page: PageObject, layers: PdfLayers) -> str:
    """The text of a page without what a reader cannot see."""
    content = page.get("/Contents")
    if content is None:
        return ""
    stream = ContentStream(content, page.pdf, "bytes")
    if _TEXT.search(stream.get_data()) is None:
        return ""
    sight = _PageSight(page, layers)
    shown = sight.look(stream.operations)
    # With somebody who looks on, the operations are taken as they are and not written and read once more.
    return shown.extract_text(visitor_text=_nobody)


def _nobody(*_: object) -> None:
    """Look at no text."""


class _PageSight:
    """Follows the operations of a page, and of all that stands in it."""

    def __init__(self, page: PageObject, layers: PdfLayers) -> None:
        self._page, self._layers = page, layers
        box = _box_of(page)
        self._canvas = Canvas(box)
        unit = float(page.get("/UserUnit", 1.0))
        self._zoom = max(unit, _SMALL_PAGE / max(box[2] - box[0], box[3] - box[1]))
        self._state = State(Clip(box))
        self._stack: list[State] = []
        self._resources: Any = page.get_inherited("/Resources", DictionaryObject()).get_object()
        self._path: list[Outline] = []
        self._next_clip: bool | None = None
        """Whether the path becomes a clipping path, by the even-odd rule or not."""
        self._text = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
        self._line = self._text.copy()
        self._clipping: list[TextRun] = []
        """What is shown as a clipping path since the text began, and then where that path holds."""
        self._hidden: list[bool] = []
        """Of each part that is marked, whether its layer is switched off."""
        self._is_listening = True
        """Whether the text is wanted, or only what covers it."""
        self._out: list[Operation] = []
        self._runs: list[TextRun] = []
        self._scans: list[Scan] = []
        self._fonts = DictionaryObject()
        self._font_names: dict[int, str] = {}
        self._forms: list[int] = []
        self._parsed: dict[int, ContentStream] = {}
        self._entered = 0
        self._steps: dict[bytes, Callable[[Operands], None]] = {
            name: getattr(self, method) for name, method in _STEPS.items()
        }

    def look(self, operations: Sequence[Operation]) -> PageObject:
        """A page that has only the text that is seen."""
        self._follow(operations)
        self._is_listening = False
        for note in shown_notes(self._page):
            self._paint_note(note)
        shown = PageObject(self._page.pdf)
        content = ContentStream(None, self._page.pdf, "bytes")
        content.operations = self._seen()
        shown[NameObject("/Contents")] = content
        shown[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): self._fonts})
        return shown

    def _seen(self) -> list[Operation]:
        letters = Letters(self._runs, self._canvas, self._scans)
        replaced: dict[int, Operation | None] = {}
        for run in self._runs:
            operator = self._out[run.at][1]
            seen = letters.seen_of(run)
            if seen is None:
                replaced[run.at] = None
            elif operator == b"TJ":
                replaced[run.at] = ([ArrayObject(seen)], operator)
            else:
                replaced[run.at] = (seen, operator)
        shown = (replaced.get(at, one) for at, one in enumerate(self._out))
        return [one for one in shown if one is not None]

    def _follow(self, operations: Sequence[Operation]) -> None:
        for operands, operator in operations:
            step = self._steps.get(operator)
            if step is None:
                continue
            try:
                step(operands)
            except _BROKEN:
                # As programs that show documents do: an operation that makes no sense does nothing.
                continue

    def _say(self, operands: Operands, operator: bytes) -> None:
        """Keep an operation for the text."""
        if self._is_listening:
            self._out.append((operands, operator))

    # --- state -----------------------------------------------------------------------------------------------------
    def _save(self, operands: Operands) -> None:
        self._stack.append(self._state)
        self._state = copy(self._state)
        self._say([], b"q")

    def _restore(self, operands: Operands) -> None:
        if len(self._stack) > self._floor:
            self._state = self._stack.pop()
            self._say([], b"Q")

    _floor = 0
    """How many states were kept before the form that is painted."""

    def _transform(self, operands: Operands) -> None:
        matrix = _matrix(operands)
        self._state.matrix = times(matrix, self._state.matrix)
        self._say(operands, b"cm")

    def _line_width(self, operands: Operands) -> None:
        self._state.line_width = float(operands[0])

    def _settings(self, operands: Operands) -> None:
        settings = self._resource("/ExtGState", operands[0])
        state = self._state
        if (opacity := settings.get("/ca")) is not None:
            state.fill_opacity = float(opacity)
        if (opacity := settings.get("/CA")) is not None:
            state.stroke_opacity = float(opacity)
        if (width := settings.get("/LW")) is not None:
            state.line_width = float(width)
        if (mode := settings.get("/BM")) is not None:
            found = mode.get_object()
            first = found[0] if isinstance(found, list) else found
            state.mode = str(first)
        if (mask := settings.get("/SMask")) is not None:
            found = mask.get_object()
            state.is_masked = found != "/None"
            state.is_masked_out = state.is_masked and self._lets_nothing_through(found)
        if (font := settings.get("/Font")) is not None:
            found = font.get_object()
            reference = found.raw_get(0) if hasattr(found, "raw_get") else found[0]
            self._use_font(reference, float(found[1]))

    def _lets_nothing_through(self, mask: Any) -> bool:
        """Whether a mask hides everything: nothing is painted in it, or only what is black where light counts."""
        group = mask["/G"].get_object()
        if _PAINTS.search(group.get_data()) is None:
            return mask.get("/S") == "/Alpha" or not any(map(float, mask.get("/BC", ())))
        if mask.get("/S") != "/Luminosity" or any(map(float, mask.get("/BC", ()))):
            return False
        for operands, operator in self._operations_of(group):
            if operator in (b"Do", b"sh", b"INLINE IMAGE", b"gs", b"cs", b"CS"):
                return False
            if operator in (b"g", b"G", b"rg", b"RG") and any(float(part) > 0 for part in operands):
                return False
            if operator in (b"k", b"K") and float(operands[-1]) < 1:
                return False
        return True

    # --- colours ---------------------------------------------------------------------------------------------------
    def _fill_device(self, operands: Operands) -> None:
        self._state.fill_space = _DEVICES.get(len(operands), "/DeviceGray")
        self._state.fill_colour = device_colour([float(part) for part in operands])

    def _stroke_device(self, operands: Operands) -> None:
        self._state.stroke_space = _DEVICES.get(len(operands), "/DeviceGray")
        self._state.stroke_colour = device_colour([float(part) for part in operands])

    def _fill_in_space(self, operands: Operands) -> None:
        self._state.fill_space = self._space(operands[0])
        self._state.fill_colour = _or_unknown(first_colour, self._state.fill_space)

    def _stroke_in_space(self, operands: Operands) -> None:
        self._state.stroke_space = self._space(operands[0])
        self._state.stroke_colour = _or_unknown(first_colour, self._state.stroke_space)

    def _fill_with(self, operands: Operands) -> None:
        self._state.fill_colour = self._colour(self._state.fill_space, operands)

    def _stroke_with(self, operands: Operands) -> None:
        self._state.stroke_colour = self._colour(self._state.stroke_space, operands)

    def _space(self, name: Any) -> Any:
        spaces = self._resources.get("/ColorSpace")
        found = spaces.get_object().get(name) if spaces is not None else None
        return found.get_object() if found is not None else name

    def _colour(self, space: Any, operands: Operands) -> Colour | None:
        if operands and isinstance(operands[-1], str):
            return _or_unknown(self._pattern, space, operands)
        return _or_unknown(colour_in, space, [float(part) for part in operands])

    def _pattern(self, space: Any, operands: Operands) -> Colour | None:
        pattern = self._resource("/Pattern", operands[-1])
        if pattern.get("/PatternType") == 2:
            return _shaded(pattern["/Shading"].get_object())
        if _PAINTS.search(pattern.get_data()) is None:
            return CLEAR
        is_uncoloured = pattern.get("/PaintType") == 2
        if is_uncoloured and isinstance(space, list) and len(space) > 1:
            return colour_in(space[1].get_object(), [float(part) for part in operands[:-1]])
        return None

    # --- paths -----------------------------------------------------------------------------------------------------
    def _move(self, operands: Operands) -> None:
        self._path.append([self._point(operands)])

    def _draw(self, operands: Operands) -> None:
        self._path[-1].append(self._point(operands))

    def _curve(self, operands: Operands) -> None:
        self._bend(self._point(operands[0:2]), self._point(operands[2:4]), self._point(operands[4:6]))

    def _curve_from_here(self, operands: Operands) -> None:
        self._bend(self._path[-1][-1], self._point(operands[0:2]), self._point(operands[2:4]))

    def _curve_to_there(self, operands: Operands) -> None:
        end = self._point(operands[2:4])
        self._bend(self._point(operands[0:2]), end, end)

    def _bend(self, one: Any, other: Any, end: Any) -> None:
        outline = self._path[-1]
        start = outline[-1]
        for share in _CURVE:
            rest = 1 - share
            factors = (rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3)
            points = (start, one, other, end)
            x = y = 0.0
            for factor, point in zip(factors, points, strict=True):
                x += factor * point[0]
                y += factor * point[1]
            outline.append((x, y))

    def _rectangle(self, operands: Operands) -> None:
        x, y, width, height = map(float, operands[:4])
        self._path.append(_corners(self._state.matrix, x, y, x + width, y + height))

    def _clip_by(self, operands: Operands) -> None:
        self._next_clip = False

    def _clip_by_even_odd(self, operands: Operands) -> None:
        self._next_clip = True

    def _end_path(self, operands: Operands) -> None:
        path, even_odd = self._path, self._next_clip
        self._path, self._next_clip = [], None
        if even_odd is not None:
            self._state.clip = self._canvas.clipped(self._state.clip, path, even_odd=even_odd)

    def _fill_path(self, operands: Operands) -> None:
        self._paint_path(even_odd=False)
        self._end_path(operands)

    def _fill_even_odd(self, operands: Operands) -> None:
        self._paint_path(even_odd=True)
        self._end_path(operands)

    def _stroke_path(self, operands: Operands) -> None:
        self._paint_lines()
        self._end_path(operands)

    def _fill_and_stroke(self, operands: Operands) -> None:
        self._paint_path(even_odd=False)
        self._paint_lines()
        self._end_path(operands)

    def _fill_even_odd_and_stroke(self, operands: Operands) -> None:
        self._paint_path(even_odd=True)
        self._paint_lines()
        self._end_path(operands)

    def _paint_path(self, *, even_odd: bool) -> None:
        self._paint(self._path, even_odd=even_odd)

    def _paint(self, path: Sequence[Outline], *, even_odd: bool) -> None:
        state = self._state
        if self._is_unseen(state.fill_opacity):
            return
        self._canvas.fill(path, state.clip, state.fill_colour, state.blend(state.fill_opacity), even_odd=even_odd)

    def _is_unseen(self, opacity: float) -> bool:
        """Whether a paint shows nothing but what it fills of letters, or not even that."""
        state = self._state
        if any(self._hidden) or state.is_masked_out or opacity <= 0:
            return True
        if state.is_within_letters:
            paint_letters(self._clipping, state, self._canvas)
        return state.is_within_letters

    def _paint_lines(self) -> None:
        """The lines that are as wide as a box."""
        state = self._state
        matrix = state.matrix
        half = state.line_width * abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]) ** 0.5 / 2
        if half * 2 < _WIDE_LINE or self._is_unseen(state.stroke_opacity):
            return
        blend = state.blend(state.stroke_opacity)
        for outline in self._path:
            for one, other in zip(outline, outline[1:], strict=False):
                line = _wide(one, other, half)
                self._canvas.fill([line], state.clip, state.stroke_colour, blend, even_odd=False)

    def _shade(self, operands: Operands) -> None:
        state = self._state
        if self._is_unseen(state.fill_opacity):
            return
        left, bottom, right, top = state.clip.box
        colour = _or_unknown(_shaded, self._resource("/Shading", operands[0]))
        everywhere = [(left, bottom), (right, bottom), (right, top), (left, top)]
        self._canvas.fill([everywhere], state.clip, colour, state.blend(state.fill_opacity), even_odd=False)

    def _point(self, operands: Operands) -> tuple[float, float]:
        return placed(self._state.matrix, float(operands[0]), float(operands[1]))

    # --- text ------------------------------------------------------------------------------------------------------
    def _begin_text(self, operands: Operands) -> None:
        self._text = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
        self._line = self._text.copy()
        self._clipping = [] if not self._state.is_within_letters else self._clipping
        self._say([], b"BT")

    def _end_text(self, operands: Operands) -> None:
        if self._clipping:
            self._state.is_within_letters = True
        self._say([], b"ET")

    def _font(self, operands: Operands) -> None:
        size = float(operands[1])
        fonts = self._resources.get("/Font", DictionaryObject()).get_object()
        font = fonts.raw_get(operands[0]) if operands[0] in fonts else None
        self._use_font(font, size)

    def _use_font(self, font: Any, size: float) -> None:
        self._state.font = self._layers.font(font) if font is not None else None
        self._state.size = size
        name = NameObject("/None")
        if font is not None and self._is_listening:
            content = font.get_object()
            name = NameObject(self._font_names.setdefault(id(content), f"/F{len(self._font_names)}"))
            self._fonts[name] = content
        self._say([name, size], b"Tf")

    def _set(self, name: str, operator: bytes, operands: Operands, share: float = 1.0) -> None:
        value = float(operands[0])
        setattr(self._state, name, value * share)
        self._say([value], operator)

    def _letter_space(self, operands: Operands) -> None:
        self._set("letter_space", b"Tc", operands)

    def _word_space(self, operands: Operands) -> None:
        self._set("word_space", b"Tw", operands)

    def _stretch(self, operands: Operands) -> None:
        self._set("stretch", b"Tz", operands, 0.01)

    def _leading(self, operands: Operands) -> None:
        self._set("leading", b"TL", operands)

    def _rise(self, operands: Operands) -> None:
        self._state.rise = float(operands[0])

    def _rendering(self, operands: Operands) -> None:
        self._state.rendering = int(operands[0])

    def _move_text(self, operands: Operands) -> None:
        x, y = float(operands[0]), float(operands[1])
        line = self._line
        line[4] += x * line[0] + y * line[2]
        line[5] += x * line[1] + y * line[3]
        self._text = line.copy()
        self._say([x, y], b"Td")

    def _move_text_and_lead(self, operands: Operands) -> None:
        self._leading([-float(operands[1])])
        self._move_text(operands)

    def _text_matrix(self, operands: Operands) -> None:
        self._line = list(_matrix(operands))
        self._text = self._line.copy()
        self._say(operands, b"Tm")

    def _next_line(self, operands: Operands) -> None:
        line = self._line
        line[4] -= self._state.leading * line[2]
        line[5] -= self._state.leading * line[3]
        self._text = line.copy()
        self._say([], b"T*")

    def _show(self, operands: Operands) -> None:
        self._show_parts(operands[:1], b"Tj")

    def _show_in_next_line(self, operands: Operands) -> None:
        self._next_line(operands)
        self._show(operands)

    def _show_spaced_in_next_line(self, operands: Operands) -> None:
        self._word_space(operands[:1])
        self._letter_space(operands[1:2])
        self._show_in_next_line(operands[2:])

    def _show_moved(self, operands: Operands) -> None:
        self._show_parts([part for part in operands[0] if isinstance(part, (bytes, int, float))], b"TJ")

    def _show_parts(self, parts: Sequence[Any], operator: bytes) -> None:
        state = self._state
        if not self._is_listening or any(self._hidden):
            return
        is_picture, is_painted = state.rendering == INVISIBLE, state.rendering != ONLY_CLIPPING
        run = TextRun(len(self._out), self._canvas.paints, state.font, is_picture, is_painted)
        line, text = Line(state, self._text, self._canvas, self._zoom), self._text
        line.show(parts, run)
        across, upwards = line.end()
        text[4] += across * text[0] + upwards * text[2]
        text[5] += across * text[1] + upwards * text[3]
        self._runs.append(run)
        self._out.append((parts, operator))
        if state.rendering >= FIRST_CLIPPING and not state.is_within_letters:
            self._clipping.append(run)

    # --- layers ----------------------------------------------------------------------------------------------------
    def _mark(self, operands: Operands) -> None:
        self._hidden.append(False)

    def _mark_with(self, operands: Operands) -> None:
        self._hidden.append(False)
        if operands[0] == "/OC":
            layers = self._resources["/Properties"].get_object()
            self._hidden[-1] = self._layers.is_off(layers.raw_get(operands[1]))

    def _unmark(self, operands: Operands) -> None:
        self._hidden.pop()

    # --- images and forms ------------------------------------------------------------------------------------------
    def _inline_image(self, operands: Any) -> None:
        self._picture(operands["settings"], operands["data"])

    def _object(self, operands: Operands) -> None:
        found = self._resource("/XObject", operands[0])
        layer = found.get("/OC") if "/OC" not in found else found.raw_get("/OC")
        if layer is not None and self._layers.is_off(layer):
            return
        if found.get("/Subtype") == "/Form":
            self._form(found, _matrix(found.get("/Matrix", IDENTITY)))
        elif found.get("/Subtype") == "/Image":
            self._picture(found, getattr(found, "_data", b""))

    def _picture(self, image: Any, data: bytes) -> None:
        state = self._state
        if self._is_unseen(state.fill_opacity):
            return
        outline = _corners(state.matrix, 0.0, 0.0, 1.0, 1.0)
        blend = state.blend(state.fill_opacity)
        is_whole = covers(image) and blend is None
        if is_whole:
            space = image.get("/ColorSpace", image.get("/CS"))
            space = self._space(space) if isinstance(space, str) else space
            colour = _or_unknown(only_colour, image, data, space)
            if colour is not None:
                self._canvas.fill([outline], state.clip, colour, None, even_odd=False)
                return
        scan = scan_of(image, data, outline)
        if scan is not None:
            self._scans.append(scan)
        number = len(self._scans) if scan is not None else 0
        self._canvas.picture(outline, state.clip, covers=is_whole, scan=number)

    def _form(self, form: Any, matrix: Matrix) -> None:
        """Paint a form: a page within the page."""
        key = id(form)
        self._entered += 1
        is_too_much = len(self._forms) >= _DEEPEST or self._entered > _MOST_FORMS
        if is_too_much or key in self._forms:
            return
        kept = (self._state, self._stack, self._floor, self._resources, self._path, self._text, self._line)
        marked, clipping, before = len(self._hidden), self._clipping, len(self._stack)
        self._say([], b"q")
        self._state = copy(self._state)
        self._state.matrix = times(matrix, self._state.matrix)
        self._say(list(matrix), b"cm")
        self._floor, self._path = before, []
        self._forms.append(key)
        try:
            corners = [float(part) for part in form["/BBox"].get_object()]
            box = _corners(self._state.matrix, *corners[:4])
            self._state.clip = self._canvas.clipped(self._state.clip, [box], even_odd=False)
            if (own := form.get("/Resources")) is not None:
                self._resources = own.get_object()
            self._follow(self._operations_of(form))
        finally:
            self._forms.pop()
            for _ in range(len(self._stack) - before):
                self._say([], b"Q")
            del self._stack[before:]
            self._state, self._stack, self._floor, self._resources, self._path, self._text, self._line = kept
            self._clipping = clipping
            del self._hidden[marked:]
            self._say([], b"Q")

    def _operations_of(self, form: Any) -> Sequence[Operation]:
        key = id(form)
        if key not in self._parsed:
            self._parsed[key] = ContentStream(form, self._page.pdf, "bytes")
        return self._parsed[key].operations

    def _paint_note(self, note: Any) -> None:
        """A note covers what is behind it as well."""
        try:
            look = look_of(note)
            if look is None or ("/OC" in note and self._layers.is_off(note.raw_get("/OC"))):
                return
            self._state = State(Clip(self._canvas.box))
            self._hidden = []
            self._form(look, _note_matrix(note, look))
        except _BROKEN:
            return

    def _resource(self, kind: str, name: Any) -> Any:
        return self._resources[kind].get_object()[name].get_object()


_DEVICES = {1: "/DeviceGray", 3: "/DeviceRGB", 4: "/DeviceCMYK"}
_STEPS = {
    b"q": "_save", b"Q": "_restore", b"cm": "_transform", b"w": "_line_width", b"gs": "_settings",
    b"g": "_fill_device", b"rg": "_fill_device", b"k": "_fill_device", b"G": "_stroke_device",
    b"RG": "_stroke_device", b"K": "_stroke_device", b"cs": "_fill_in_space", b"CS": "_stroke_in_space",
    b"sc": "_fill_with", b"scn": "_fill_with", b"SC": "_stroke_with", b"SCN": "_stroke_with",
    b"m": "_move", b"l": "_draw", b"c": "_curve", b"v": "_curve_from_here", b"y": "_curve_to_there",
    b"re": "_rectangle", b"W": "_clip_by", b"W*": "_clip_by_even_odd", b"n": "_end_path",
    b"f": "_fill_path", b"F": "_fill_path", b"f*": "_fill_even_odd", b"S": "_stroke_path", b"s": "_stroke_path",
    b"B": "_fill_and_stroke", b"b": "_fill_and_stroke", b"B*": "_fill_even_odd_and_stroke",
    b"b*": "_fill_even_odd_and_stroke", b"sh": "_shade", b"BT": "_begin_text", b"ET": "_end_text", b"Tf": "_font",
    b"Tc": "_letter_space", b"Tw": "_word_space", b"Tz": "_stretch", b"TL": "_leading", b"Ts": "_rise",
    b"Tr": "_rendering", b"Td": "_move_text", b"TD": "_move_text_and_lead", b"Tm": "_text_matrix",
    b"T*": "_next_line", b"Tj": "_show", b"TJ": "_show_moved", b"'": "_show_in_next_line",
    b'"': "_show_spaced_in_next_line", b"BMC": "_mark", b"BDC": "_mark_with", b"EMC": "_unmark",
    b"Do": "_object", b"INLINE IMAGE": "_inline_image",
}  # fmt: skip


def _box_of(page: PageObject) -> Box:
    """What is shown of a page."""
    try:
        box = met(_sorted_box(page.mediabox), _sorted_box(page.cropbox))
    except _BROKEN:
        return _LETTER
    left, bottom, right, top = box
    has_size = min(right - left, top - bottom) > 1
    return box if has_size else _LETTER


def _sorted_box(box: Sequence[Any]) -> Box:
    left, bottom, right, top = map(float, box[:4])
    return min(left, right), min(bottom, top), max(left, right), max(bottom, top)


def _matrix(operands: Sequence[Any]) -> Matrix:
    a, b, c, d, e, f = map(float, operands[:6])
    return a, b, c, d, e, f


def _corners(matrix: Matrix, left: float, bottom: float, right: float, top: float) -> Outline:
    corners = ((left, bottom), (right, bottom), (right, top), (left, top))
    return [placed(matrix, x, y) for x, y in corners]


def _wide(one: tuple[float, float], other: tuple[float, float], half: float) -> Outline:
    """The outline of a wide line."""
    (ax, ay), (bx, by) = one, other
    across, upwards = bx - ax, by - ay
    square = across**2 + upwards**2
    length = square**0.5 or 1.0
    x, y = -upwards / length * half, across / length * half
    return [(ax + x, ay + y), (bx + x, by + y), (bx - x, by - y), (ax - x, ay - y)]


def _note_matrix(note: Any, look: Any) -> Matrix:
    """Where the form of a note is painted: its box becomes that of the note."""
    own = _matrix(look.get("/Matrix", IDENTITY))
    left, bottom, right, top = _sorted_box(note["/Rect"].get_object())
    corners = _corners(own, *_sorted_box(look["/BBox"].get_object()))
    across, upwards = [x for x, _ in corners], [y for _, y in corners]
    wide, tall = max(across) - min(across), max(upwards) - min(upwards)
    x, y = (right - left) / wide, (top - bottom) / tall
    return times(own, (x, 0.0, 0.0, y, left - min(across) * x, bottom - min(upwards) * y))


def _shaded(shading: Any) -> Colour | None:
    """The colour of a shading that has the same one everywhere, or nearly."""
    if shading.get("/ShadingType") not in (2, 3) or shading.get("/Function") is None:
        return None
    functions, space = shading["/Function"].get_object(), shading["/ColorSpace"].get_object()
    if not isinstance(functions, list):
        functions = [functions]
    first, *others = (_colour_at(place, functions, space) for place in (0.0, 0.25, 0.5, 0.75, 1.0))
    if first is None or any(other is None or _differs(other, first) for other in others):
        return None
    return first


def _colour_at(place: float, functions: Sequence[Any], space: Any) -> Colour | None:
    """The colour of a shading at a place, which has a function for each part of it, or one for all."""
    parts: list[float] = []
    is_known = True
    for function in functions:
        values = evaluated(function.get_object(), [place])
        is_known = is_known and values is not None
        parts += values or ()
    return colour_in(space, parts) if is_known else None


def _differs(one: Colour, other: Colour) -> bool:
    return any(abs(a - b) > 0.1 for a, b in zip(one, other, strict=True))


def _or_unknown(find: Callable[..., Colour | None], *arguments: Any) -> Colour | None:
    """A colour, None where the document does not say it in a way that makes sense."""
    try:
        return find(*arguments)
    except _BROKEN:
        return None
