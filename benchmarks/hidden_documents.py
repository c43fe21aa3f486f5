"""Documents with a sentence that a reader cannot see, by every mechanism that we know, and such as only look like them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ._documents import DOCX_TYPE, EPUB_TYPE, PDF_TYPE, docx, epub, form, pdf, picture, stream
from .hidden_pages import HIDING, PROSE, SECRET, SHOWING


class HiddenDocument(NamedTuple):
    """A document, what it tries, and whether its sentence is hidden."""

    name: str
    kind: str
    body: bytes
    is_hidden: bool


LINES = (PROSE[:88], PROSE[89:170], PROSE[171:])
"""What every document shows."""
_PART = 12
"""So many letters of a sentence are a part of it."""


def through_of(document: HiddenDocument, text: str) -> bool:
    """Whether any part of a hidden sentence is in the text that was read."""
    letters, read = _letters(SECRET), _letters(text)
    parts = [letters[at : at + _PART] for at in range(len(letters) - _PART + 1)]
    return document.is_hidden and any(part in read for part in parts)


def lost_of(document: HiddenDocument, text: str) -> bool:
    """Whether something that the document shows is not in the text that was read."""
    shown = LINES if document.is_hidden else (*LINES, SECRET)
    read = _letters(text)
    return any(_letters(line) not in read for line in shown)


def _letters(text: str) -> str:
    """The text without its spaces: where words end is another matter."""
    return "".join(text.split())


def hidden_documents(*, every: bool = True) -> Iterator[HiddenDocument]:
    """All of them; or of each trick in PDFs two forms, so that among them all forms are there."""
    yield from _pdfs(every=every)
    yield from _words()
    yield from _books()


# --- PDF --------------------------------------------------------------------------------------------------------------
_PROSE = "BT /F1 11 Tf 60 780 Td 14 TL " + "".join(f"({line}) Tj T* " for line in LINES) + "ET\n"
_WAYS = {
    "one string": "({}) Tj",
    "letters apart": None,
    "next line": "0 TL ({}) '",
    "next line, spaced": '0 TL 0 0 ({}) "',
}
"""How the sentence is shown."""


def _shown(way: str) -> str:
    if way == "letters apart":
        return "[" + " -20 ".join(f"({SECRET[at : at + 5]})" for at in range(0, len(SECRET), 5)) + "] TJ"
    pattern = _WAYS[way]
    assert pattern is not None
    return pattern.format(SECRET)


# What stands before and behind the sentence, which is shown at 60, 600 if nothing else is said.
_AT = "BT /F1 11 Tf 1 0 0 1 60 600 Tm {} ET"
_BAR = "50 590 500 24 re f"
_PDF_HIDDEN = {
    # place
    "left of the page": "BT /F1 11 Tf 1 0 0 1 -900 600 Tm {} ET",
    "right of the page": "BT /F1 11 Tf 1 0 0 1 700 600 Tm {} ET",
    "below the page": "BT /F1 11 Tf 1 0 0 1 60 -40 Tm {} ET",
    "above the page": "BT /F1 11 Tf 60 900 Td {} ET",
    "moved away by the matrix": "q 1 0 0 1 0 2000 cm BT /F1 11 Tf 60 600 Td {} ET Q",
    "moved away by a kerning": "BT /F1 11 Tf 60 600 Td [-99999 ()] TJ {} ET",
    "raised off the page": "BT /F1 11 Tf 60 600 Td 900 Ts {} ET",
    "turned off the page": "q 0 1 -1 0 -20 0 cm BT /F1 11 Tf 60 20 Td {} ET Q",
    # colour
    "white": "1 g " + _AT, "nearly white": "0.98 g " + _AT, "white in red, green and blue": "1 1 1 rg " + _AT,
    "white in inks": "0 0 0 0 k " + _AT, "white in a space": "/DeviceRGB cs 1 1 1 sc " + _AT,
    "white in a calibrated space": "/Cal cs 1 1 1 scn " + _AT, "white by a profile": "/Icc cs 1 1 1 scn " + _AT,
    "white of a table": "/Table cs 1 sc " + _AT, "no ink": "/Spot cs 0 scn " + _AT, "white ink": "/White cs 1 scn " + _AT,
    "an ink that is not printed": "/Nothing cs 1 scn " + _AT,
    "light in Lab": "/Lab cs 100 0 0 scn " + _AT, "white lines": "1 G 1 Tr " + _AT, "white lines and white": "1 g 1 G 2 Tr " + _AT,
    "white by a pattern": "/Pattern cs /WhiteShade scn " + _AT, "a pattern of nothing": "/Pattern cs /Nothing scn " + _AT,
    "black on black": f"0 g {_BAR} " + _AT, "blue on blue": f"0.1 0.2 0.6 rg {_BAR} 0.12 0.2 0.6 rg " + _AT,
    "white on a dark bar that is covered": f"0 g {_BAR} 1 g {_BAR} " + _AT,
    "white beside a dark bar": "0 g 50 640 500 24 re f 1 g " + _AT,
    "black on a black shape": "0 g 50 590 m 550 590 l 560 600 l 550 614 l 50 614 l f " + _AT,
    "black on a wide black line": "20 w 50 603 m 550 603 l S " + _AT,
    "black on a black shading": "q 50 590 500 24 re W n /BlackShade sh Q " + _AT,
    "white on a plain white image": "q 500 0 0 24 50 590 cm /White Do Q 1 g " + _AT,
    "white, the colour kept by q": "1 g q 0 g Q " + _AT,
    "white in a blend": "/Multiply gs 1 g " + _AT,
    "black in a blend on white": "/Screen gs 0 g 1 g " + _AT,
    # transparency
    "transparent": "/Clear gs " + _AT, "nearly transparent": "/Faint gs " + _AT, "transparent lines": "/Clear gs 1 Tr " + _AT,
    "masked by nothing": "/MaskedOut gs " + _AT, "masked by black": "/MaskedDark gs " + _AT,
    # mode
    "mode 3": "3 Tr " + _AT, "mode 3 kept by q": "3 Tr q " + _AT + " Q", "a clipping path of nothing": "q 7 Tr " + _AT + " Q",
    "a clipping path that is filled in white": "q 7 Tr " + _AT + " 1 g 0 0 595 842 re f Q",
    "within other letters": "q BT 7 Tr /F1 11 Tf 60 700 Td (.) Tj ET 0 Tr " + _AT + " Q",
    # size
    "0.1 points": "BT /F1 0.1 Tf 60 600 Td {} ET", "1 point": "BT /F1 1 Tf 60 600 Td {} ET", "no size": "BT /F1 0 Tf 60 600 Td {} ET",
    "scaled by the matrix of the text": "BT /F1 11 Tf 0.02 0 0 0.02 60 600 Tm {} ET",
    "scaled by the matrix": "q 0.01 0 0 0.01 60 600 cm BT /F1 11 Tf {} ET Q",
    "scaled across": "BT /F1 11 Tf 0.01 0 0 1 60 600 Tm {} ET", "scaled upwards": "BT /F1 11 Tf 1 0 0 0.01 60 600 Tm {} ET",
    "stretched to nothing": "0 Tz " + _AT, "stretched to a hair": "1 Tz " + _AT, "pressed on a line": "BT /F1 11 Tf 1 1 1 1 60 600 Tm {} ET",
    "letters on one another": "-12 Tc " + _AT,
    # clipping
    "clipped to a point": "q 0 0 1 1 re W n " + _AT + " Q", "clipped to nothing": "q 0 0 m W n " + _AT + " Q",
    "clipped twice": "q 0 500 595 200 re W n 0 0 595 400 re W n " + _AT + " Q",
    "clipped to a triangle": "q 0 0 m 595 0 l 0 500 l h W n " + _AT + " Q",
    "clipped to a ring": "q 0 0 595 842 re 50 590 500 24 re W* n " + _AT + " Q",
    # cover
    "covered by a bar": _AT + f" 1 g {_BAR}", "covered by a dark bar": _AT + f" 0 g {_BAR}",
    "covered by a shape": _AT + " 1 g 50 590 m 550 590 l 560 600 l 550 614 l 50 614 l f",
    "covered by a wide line": _AT + " 1 G 24 w 50 603 m 560 603 l S",
    "covered by a shading": _AT + " q 50 590 500 24 re W n /WhiteSh sh Q",
    "covered by an image": _AT + " q 500 0 0 24 50 590 cm /Small Do Q", "covered by a white image": _AT + " q 500 0 0 24 50 590 cm /White Do Q",
    "covered by an image in the text": _AT + " q 500 0 0 24 50 590 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \xff EI Q",
    "covered by a form": _AT + " /Cover Do", "covered by many bars": _AT + " 1 g " + " ".join(f"{x} 590 21 24 re" for x in range(50, 560, 20)) + " f",
    "covered in two steps": _AT + " 1 g 50 590 250 24 re f 300 590 280 24 re f",
    "covered by what is then seen through": _AT + f" 1 g {_BAR} /Half gs 0 0 1 rg {_BAR}",
    # layers and forms
    "a layer that is off": "/OC /Off BDC " + _AT + " EMC", "one layer in another": "/OC /On BDC /OC /Off BDC " + _AT + " EMC EMC",
    "layers that are off": "/OC /Group BDC " + _AT + " EMC", "a layer that is not viewed": "/OC /Printed BDC " + _AT + " EMC",
    "a mark in a layer that is off": "/OC /Off BDC /Span BMC EMC " + _AT + " EMC",
    # an invisible text that is not the text of a scanned page
    "mode 3 on a picture that is too coarse": "q 595 0 0 700 0 0 cm /Small Do Q 3 Tr " + _AT,
    "mode 3 on a plain image": "q 595 0 0 700 0 0 cm /Plain Do Q 3 Tr " + _AT,
    "mode 3 beside a scan": "q 595 0 0 300 0 0 cm /Scan Do Q 3 Tr " + _AT,
    "mode 3 on the background of a page": "q 595 0 0 842 0 0 cm /Scan Do Q 3 Tr " + _AT,
    "white on the paper beside a scan": "q 595 0 0 300 0 0 cm /Scan Do Q 1 g " + _AT,
}  # fmt: skip
_PDF_SHOWN = {
    "plain": _AT, "6 points": "BT /F1 6 Tf 60 600 Td {} ET", "grey": "0.6 g " + _AT, "white on a dark bar": f"0 g {_BAR} 1 g " + _AT,
    "white on a tight dark bar": "0 g 58 597 480 11 re f 1 g " + _AT, "white on a dark shape": "0 g 50 590 m 550 590 l 560 600 l 550 614 l 50 614 l f 1 g " + _AT,
    "white on a wide dark line": "20 w 50 603 m 560 603 l S 1 g " + _AT, "white on an image": "q 500 0 0 24 50 590 cm /Small Do Q 1 g " + _AT,
    "white on a shading": "q 50 590 500 24 re W n /BlackShade sh Q 1 g " + _AT, "white on a dark form": "/Dark Do 1 g " + _AT,
    "white on what is dark and seen through": f"/Half gs 0 g {_BAR} /Opaque gs 1 g " + _AT,
    "white on what is dark by a blend": f"/Multiply gs 0 g {_BAR} /Opaque gs 1 g " + _AT,
    "white with black lines": "1 g 0 G 2 Tr " + _AT, "black lines": "0 G 1 Tr " + _AT, "a colour of a table": "/Table cs 0 sc " + _AT,
    "an ink": "/Spot cs 1 scn " + _AT, "a pattern": "/Pattern cs /Coloured scn " + _AT, "turned": "q 0 1 -1 0 400 100 cm BT /F1 11 Tf {} ET Q",
    "slanted": "BT /F1 11 Tf 1 0 0.3 1 60 600 Tm {} ET", "at an angle": "BT /F1 11 Tf 0.98 0.17 -0.17 0.98 60 600 Tm {} ET",
    "upside down": "BT /F1 11 Tf -1 0 0 -1 560 600 Tm {} ET", "large by the matrix": "q 11 0 0 11 60 600 cm BT /F1 1 Tf {} ET Q",
    "upright by two mirrors": "q 1 0 0 -1 0 842 cm BT /F1 11 Tf 1 0 0 -1 60 240 Tm {} ET Q",
    "condensed": "60 Tz " + _AT, "spaced": "1 Tc 2 Tw " + _AT, "half transparent": "/Half gs " + _AT,
    "struck out": _AT + " 1 w 60 603.5 m 560 603.5 l S", "underlined": _AT + " 0.5 w 60 598 m 560 598 l S", "framed": _AT + " 1 w 50 590 500 24 re S",
    "marked": _AT + f" /Multiply gs 1 1 0 rg {_BAR}", "under what is seen through": _AT + f" /Half gs 0 0 1 rg {_BAR}",
    "a bar beside it": _AT + " 1 g 50 560 500 30 re f", "a bar before it": f"1 g {_BAR} 0 g " + _AT,
    "clipped to its line": "q 50 590 530 24 re W n " + _AT + " Q", "clipped to a round shape": "q 50 590 m 560 590 l 570 600 l 560 620 l 50 620 l h W n " + _AT + " Q",
    "clipped, and no more": "q 0 0 1 1 re W n Q " + _AT, "white, and no more": "q 1 g Q " + _AT, "mode 3, and no more": "q 3 Tr Q " + _AT,
    "a layer that is on": "/OC /On BDC " + _AT + " EMC", "behind a layer that is off": "/OC /Off BDC EMC " + _AT,
    "covered by a layer that is off": _AT + f" /OC /Off BDC 1 g {_BAR} EMC", "marked content": "/Span << /ActualText (x) >> BDC " + _AT + " EMC",
    "a clipping path that is filled": "q 7 Tr " + _AT + " 0 g 0 0 595 842 re f Q", "filled, and a clipping path": "q 4 Tr " + _AT + " Q",
    "the text of a scanned page": "q 595 0 0 700 0 0 cm /Scan Do Q 3 Tr " + _AT, "the text of a scan, behind it": _AT + " q 595 0 0 700 0 0 cm /Scan Do Q",
    "the text of a scan, stretched": "q 595 0 0 700 0 0 cm /Scan Do Q 3 Tr 8 Tz BT /F1 60 Tf 60 600 Td {} ET",
    "the text of a scan in strips": "".join(f"q 595 0 0 175 0 {175 * n} cm /Scan Do Q " for n in range(4)) + "3 Tr " + _AT,
    "the text of a picture": "q 595 0 0 200 0 500 cm /Scan Do Q 3 Tr " + _AT,
}  # fmt: skip
_OBJECTS: dict[str, tuple[str, str | bytes]] = {
    "/Cal": ("ColorSpace", "[/CalRGB << /WhitePoint [0.95 1 1.09] >>]"),
    "/Icc": ("ColorSpace", "[/ICCBased @profile]"), "/Table": ("ColorSpace", "[/Indexed /DeviceRGB 1 <0000FFFFFFFF>]"),
    "/Spot": ("ColorSpace", "[/Separation /Red /DeviceRGB << /FunctionType 2 /Domain [0 1] /C0 [1 1 1] /C1 [1 0 0] /N 1 >>]"),
    "/White": ("ColorSpace", "[/Separation /Snow /DeviceCMYK << /FunctionType 2 /Domain [0 1] /C0 [0 0 0 0] /C1 [0 0 0 0] /N 1 >>]"),
    "/Nothing": ("ColorSpace", "[/Separation /None /DeviceGray << /FunctionType 2 /Domain [0 1] /C0 [1] /C1 [0] /N 1 >>]"),
    "/Lab": ("ColorSpace", "[/Lab << /WhitePoint [0.95 1 1.09] /Range [-100 100 -100 100] >>]"),
    "/Clear": ("ExtGState", "<< /ca 0 /CA 0 >>"), "/Faint": ("ExtGState", "<< /ca 0.04 /CA 0.04 >>"), "/Half": ("ExtGState", "<< /ca 0.5 /CA 0.5 >>"),
    "/Opaque": ("ExtGState", "<< /ca 1 /CA 1 /BM /Normal >>"), "/Multiply": ("ExtGState", "<< /BM /Multiply >>"), "/Screen": ("ExtGState", "<< /BM [/Screen] >>"),
    "/MaskedOut": ("ExtGState", "<< /SMask << /S /Luminosity /G @nothing >> >>"), "/MaskedDark": ("ExtGState", "<< /SMask << /S /Luminosity /G @dark >> >>"),
    "/WhiteSh": ("Shading", "@whitesh"), "/BlackShade": ("Shading", "@blacksh"),
    "/WhiteShade": ("Pattern", "<< /PatternType 2 /Shading @whitesh >>"), "/Nothing ": ("Pattern", "@tile"), "/Coloured": ("Pattern", "@coloured"),
    "/Off": ("Properties", "@off"), "/On": ("Properties", "@on"), "/Group": ("Properties", "<< /Type /OCMD /OCGs [@off] >>"), "/Printed": ("Properties", "@printed"),
    "/Small": ("XObject", "@small"), "/White ": ("XObject", "@white"), "/Plain": ("XObject", "@plain"), "/Scan": ("XObject", "@scan"),
    "/Cover": ("XObject", "@cover"), "/Dark": ("XObject", "@bar"),
}  # fmt: skip
_AXIAL = "/ShadingType 2 /ColorSpace /DeviceGray /Coords [0 0 600 0] /Extend [true true] /Function << /FunctionType 2 /Domain [0 1]"
_TILE = "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources << >>"
_NUMBERED: dict[str, str | bytes] = {
    "@profile": stream("", "/N 3 /Alternate /DeviceRGB"),
    "@nothing": form("", "/Group << /S /Transparency /CS /DeviceGray >>"),
    "@dark": form("0 g 0 0 595 842 re f", "/Group << /S /Transparency /CS /DeviceGray >>"),
    "@whitesh": f"<< {_AXIAL} /C0 [1] /C1 [1] /N 1 >> >>", "@blacksh": f"<< {_AXIAL} /C0 [0] /C1 [0] /N 1 >> >>",
    "@tile": stream("", _TILE), "@coloured": stream("1 0 0 rg 0 0 9 9 re f", _TILE),
    "@off": "<< /Type /OCG /Name (Off) >>", "@on": "<< /Type /OCG /Name (On) >>",
    "@printed": "<< /Type /OCG /Name (Printed) /Usage << /View << /ViewState /OFF >> >> >>",
    "@small": picture(30, 30), "@white": picture(1, 1, plain=True), "@plain": picture(400, 560, plain=True), "@scan": picture(400, 560),
    "@cover": form(f"1 g {_BAR}"), "@bar": form(f"0 g {_BAR}"),
}  # fmt: skip


def _numbered(text: str | bytes) -> str | bytes:
    """An object in which others are named by their numbers."""
    if isinstance(text, bytes):
        return text
    for number, name in enumerate(_NUMBERED, start=6):
        text = text.replace(name, f"{number} 0 R")
    return text


def _resources() -> str:
    kinds: dict[str, list[str]] = {}
    for name, (kind, value) in _OBJECTS.items():
        found = _numbered(value)
        assert isinstance(found, str)
        kinds.setdefault(kind, []).append(f"{name} {found}")
    return " ".join(f"/{kind} << {' '.join(each)} >>" for kind, each in kinds.items())


_LAYERS = "/OCProperties << /OCGs [@off @on @printed] /D << /OFF [@off] /AS [<< /Event /View /Category [/View] /OCGs [@printed] >>] >> >>"
_COMBINED = (*((way, "page") for way in _WAYS), ("one string", "form"), ("letters apart", "form in a form"))
"""How the sentence is shown, and whether in the page itself or in a form."""
_NOT_HIDING = {
    ("moved away by a kerning", "next line"), ("moved away by a kerning", "next line, spaced"),
    ("letters on one another", "next line, spaced"),
}  # fmt: skip
"""Ways to show a sentence that begin anew."""


def pdf_page(content: str, shape: str = "page", page: str = "/MediaBox [0 0 595 842]") -> bytes:
    """A page with this content beside its ordinary text: as it is, or in forms."""
    layers, resources = str(_numbered(_LAYERS)), _resources()
    others = [_numbered(each) for each in _NUMBERED.values()]
    if shape == "page":
        return pdf(f"q {content} Q {_PROSE}", others, resources, page, layers)
    number = 6 + len(others)
    others.append(form(content, resources=resources))
    if shape == "form in a form":
        others.append(form("/Inner Do", resources=f"/XObject << /Inner {number} 0 R >>"))
        number += 1
    with_form = resources.replace("/XObject <<", f"/XObject << /Outer {number} 0 R")
    return pdf("/Outer Do " + _PROSE, others, with_form, page, layers)


def _pdfs(*, every: bool) -> Iterator[HiddenDocument]:
    for is_hidden, tricks in ((True, _PDF_HIDDEN), (False, _PDF_SHOWN)):
        for number, (name, content) in enumerate(tricks.items()):
            other = _COMBINED[1 + number % (len(_COMBINED) - 1)]
            for way, shape in _COMBINED if every else (_COMBINED[0], other):
                if (name, way) in _NOT_HIDING:
                    continue
                body = pdf_page(content.replace("{}", _shown(way)), shape)
                yield HiddenDocument(f"PDF: {name}, {way}, {shape}", PDF_TYPE, body, is_hidden)
    yield from _pdf_pages()


def _pdf_pages() -> Iterator[HiddenDocument]:
    """What the page itself hides, and its notes."""
    text = _AT.replace("{}", _shown("one string"))
    low, outside = text.replace("600 Tm", "100 Tm"), "/MediaBox [0 0 595 842]"
    for name, content, page, is_hidden in (
        ("outside of what is shown", low, "/MediaBox [0 0 595 842] /CropBox [0 300 595 842]", True),
        ("within what is shown", low, "/MediaBox [0 0 595 842] /CropBox [0 50 595 842]", False),
        ("a page that is turned", text, f"{outside} /Rotate 90", False),
        ("a page that begins elsewhere", text, "/MediaBox [-100 -100 595 842]", False),
        ("a page in large units", text, f"{outside} /UserUnit 2", False),
        ("a note upon it", text, f"{outside} /Annots [<< /Subtype /Stamp /Rect [0 0 595 842] /AP << /N @cover >> >>]", True),
        ("a hidden note upon it", text, f"{outside} /Annots [<< /Subtype /Stamp /F 2 /Rect [0 0 595 842] /AP << /N @cover >> >>]", False),
    ):  # fmt: skip
        yield HiddenDocument(f"PDF: {name}", PDF_TYPE, pdf_page(content, page=str(_numbered(page))), is_hidden)


# --- Word -------------------------------------------------------------------------------------------------------------
_MARKS_HIDDEN = {
    "vanish": "<w:vanish/>", "vanish as a word": '<w:vanish w:val="true"/>', "vanish of a separator": "<w:specVanish/>",
    "white": '<w:color w:val="FFFFFF"/>', "nearly white": '<w:color w:val="FDFDFD"/>', "white of the theme": '<w:color w:val="000000" w:themeColor="background1"/>',
    "light by a tint": '<w:color w:val="000000" w:themeColor="accent1" w:themeTint="08"/>',
    "a dark colour of the theme on itself": '<w:color w:val="FFFFFF" w:themeColor="dark2"/><w:shd w:val="clear" w:fill="1F497D"/>',
    "the colour of its shade": '<w:color w:val="204060"/><w:shd w:val="clear" w:color="auto" w:fill="204060"/>',
    "the colour of its solid shade": '<w:color w:val="204060"/><w:shd w:val="solid" w:color="204060" w:fill="auto"/>',
    "the colour of its shade in the theme": '<w:color w:val="4F81BD"/><w:shd w:val="clear" w:fill="FFFFFF" w:themeFill="accent1"/>',
    "the colour of its highlight": '<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>', "black in black": '<w:color w:val="000000"/><w:highlight w:val="black"/>',
    "1 point": '<w:sz w:val="2"/>', "half a point": '<w:sz w:val="1"/>', "stretched to nothing": '<w:w w:val="1"/>', "stretched, in percent": '<w:w w:val="5%"/>',
    "letters on one another": '<w:sz w:val="20"/><w:spacing w:val="-300"/>', "no filling": "<w14:textFill><w14:noFill/></w14:textFill>",
    "a transparent filling": '<w14:textFill><w14:solidFill><w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/></w14:srgbClr></w14:solidFill></w14:textFill>',
    "a white filling": '<w14:textFill><w14:solidFill><w14:schemeClr w14:val="bg1"/></w14:solidFill></w14:textFill>',
}  # fmt: skip
_MARKS_SHOWN = {
    "plain": "", "bold": "<w:b/>", "vanish that is off": '<w:vanish w:val="0"/>', "6 points": '<w:sz w:val="12"/>', "grey": '<w:color w:val="808080"/>',
    "automatic": '<w:color w:val="auto"/><w:shd w:val="clear" w:fill="000000"/>', "white on a shade": '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="204060"/>',
    "white on a highlight": '<w:color w:val="FFFFFF"/><w:highlight w:val="darkBlue"/>', "a colour of the theme": '<w:color w:val="FFFFFF" w:themeColor="accent1"/>',
    "dark by a shade of the theme": '<w:color w:themeColor="background1" w:themeShade="80"/>', "condensed": '<w:w w:val="66"/>', "closer": '<w:spacing w:val="-10"/>',
    "a filling": '<w14:textFill><w14:solidFill><w14:srgbClr w14:val="204060"/></w14:solidFill></w14:textFill>', "hidden on the web only": "<w:webHidden/>",
    "language": '<w:lang w:val="en-GB"/>',
}  # fmt: skip
_WORD_WAYS = (
    "the run",
    "a style of letters",
    "a style of paragraphs",
    "a style it is based on",
    "the default style",
    "the defaults",
    "a cell",
    "a box",
    "a note",
)


def _style(id: str, kind: str, marks: str, more: str = "", attributes: str = "") -> str:
    return f'<w:style w:type="{kind}" w:styleId="{id}" {attributes}><w:name w:val="{id} name"/>{more}<w:rPr>{marks}</w:rPr></w:style>'


def _run(text: str, marks: str = "") -> str:
    return f"<w:r><w:rPr>{marks}</w:rPr><w:t>{text}</w:t></w:r>"


def _paragraph(content: str, marks: str = "") -> str:
    return f"<w:p><w:pPr>{marks}</w:pPr>{content}</w:p>"


def _word(middle: str, styles: str = "", *, own: str = "", **more: str) -> bytes:
    lines = [_paragraph(_run(line, own), '<w:pStyle w:val="Plain"/>' if own else "") for line in LINES]
    return docx(f"{lines[0]}{lines[1]}{middle}{lines[2]}", styles, **more)


_NORMAL = '<w:color w:val="000000"/><w:sz w:val="22"/><w:vanish w:val="0"/><w:w w:val="100"/><w:spacing w:val="0"/><w:shd w:val="clear" w:fill="FFFFFF"/><w:highlight w:val="none"/>'
_BOX = (
    '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor>{place}<a:graphic><a:graphicData><wps:wsp>{look}'
    "<wps:txbx><w:txbxContent>{text}</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice>"
    "<mc:Fallback><w:pict><v:shape><v:textbox><w:txbxContent>{text}</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
)


def _box(text: str, look: str = "", place: str = '<wp:extent cx="3000000" cy="900000"/>') -> str:
    return _paragraph(_BOX.replace("{place}", place).replace("{look}", look).replace("{text}", text))


def _table(cells: str, marks: str = "", row: str = "") -> str:
    return f"<w:tbl><w:tblPr>{marks}</w:tblPr><w:tr><w:trPr>{row}</w:trPr>{cells}</w:tr><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>"


def _cell(content: str, marks: str = "") -> str:
    return f"<w:tc><w:tcPr>{marks}</w:tcPr>{content}</w:tc>"


def _marked(way: str, marks: str) -> bytes:
    """A document in which the sentence has these marks in one way."""
    shown = _paragraph(_run(SECRET, marks))
    if way == "a style of letters":
        return _word(_paragraph(_run(SECRET, '<w:rStyle w:val="S"/>')), _style("S", "character", marks))
    if way == "a style of paragraphs":
        return _word(_paragraph(_run(SECRET), '<w:pStyle w:val="S"/>'), _style("S", "paragraph", marks))
    if way == "a style it is based on":
        styles = _style("B", "paragraph", marks) + _style("S", "paragraph", "<w:b/>", '<w:basedOn w:val="B"/>')
        return _word(_paragraph(_run(SECRET), '<w:pStyle w:val="S"/>'), styles)
    if way == "the default style":
        styles = _style("N", "paragraph", marks, attributes='w:default="1"') + _style("Plain", "paragraph", "")
        return _word(_paragraph(_run(SECRET)), styles, own=_NORMAL)
    if way == "the defaults":
        return _word(
            _paragraph(_run(SECRET)),
            f"<w:docDefaults><w:rPrDefault><w:rPr>{marks}</w:rPr></w:rPrDefault></w:docDefaults>",
            own=_NORMAL,
        )
    if way == "a cell":
        return _word(_table(_cell(shown)))
    if way == "a box":
        return _word(_box(shown))
    if way == "a note":
        return _word(_paragraph('<w:r><w:footnoteReference w:id="1"/></w:r>'), notes=shown)
    return _word(shown)


_DARK, _LIGHT = '<w:shd w:val="clear" w:fill="102030"/>', '<w:color w:val="FFFFFF"/>'
_WHITE = _paragraph(_run(SECRET, _LIGHT))
_SHOWN = _paragraph(_run(SECRET))
_STRIPED = (
    '<w:style w:type="table" w:styleId="T"><w:name w:val="T"/><w:tblStylePr w:type="firstRow"><w:rPr><w:color w:val="FFFFFF"/></w:rPr>'
    f"<w:tcPr>{_DARK}</w:tcPr></w:tblStylePr></w:style>"
)
_WORD_HIDDEN = {
    "deleted": _paragraph(f"<w:del>{_run(SECRET)}</w:del>"), "deleted as such": _paragraph(f"<w:del><w:r><w:delText>{SECRET}</w:delText></w:r></w:del>"),
    "moved from here": _paragraph(f"<w:moveFrom>{_run(SECRET)}</w:moveFrom>"), "an instruction": _paragraph(f"<w:r><w:instrText>{SECRET}</w:instrText></w:r>"),
    "text in an instruction": _paragraph(f'<w:r><w:fldChar w:fldCharType="begin"/></w:r>{_run(SECRET)}<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'),
    "a variant that nobody knows": f'<mc:AlternateContent><mc:Choice Requires="other">{_SHOWN}</mc:Choice><mc:Fallback><w:p/></mc:Fallback></mc:AlternateContent>',
    "a second variant": f'<mc:AlternateContent><mc:Choice Requires="wps"><w:p/></mc:Choice><mc:Choice Requires="wps">{_SHOWN}</mc:Choice></mc:AlternateContent>',
    "a hidden row": _table(_cell(_SHOWN), row="<w:hidden/>"), "a deleted row": _table(_cell(_SHOWN), row="<w:del/>"), "a row without height": _table(_cell(_SHOWN), row='<w:trHeight w:val="10" w:hRule="exact"/>'),
    "a deleted cell": _table(_cell(_SHOWN, "<w:cellDel/>")), "a table off the page": _table(_cell(_SHOWN), '<w:tblpPr w:tblpX="-20000" w:tblpY="1"/>'),
    "the colour of the cell": _table(_cell(_paragraph(_run(SECRET, '<w:color w:val="102030"/>')), _DARK)), "white in a cell": _table(_cell(_WHITE)),
    "the colour of the table": _table(_cell(_paragraph(_run(SECRET, '<w:color w:val="102030"/>'))), _DARK),
    "white in a row without style": _table(_cell(_WHITE), '<w:tblStyle w:val="T"/><w:tblLook w:firstRow="0"/>'),
    "the colour of the paragraph": _paragraph(_run(SECRET, '<w:color w:val="102030"/>'), _DARK), "lines without height": _paragraph(_run(SECRET), '<w:spacing w:line="10" w:lineRule="exact"/>'),
    "left of the page": _paragraph(_run(SECRET), '<w:ind w:left="-15000"/>'), "right of the page": _paragraph(_run(SECRET), '<w:ind w:start="30000"/>'),
    "a frame off the page": _paragraph(_run(SECRET), '<w:framePr w:x="-20000" w:y="1"/>'), "a box off the page": _box(_SHOWN, place="<wp:positionH><wp:posOffset>-9000000</wp:posOffset></wp:positionH>"),
    "a hidden box": _box(_SHOWN, place='<wp:docPr id="1" name="x" hidden="1"/>'), "a box without size": _box(_SHOWN, place='<wp:extent cx="1" cy="900000"/>'),
    "the colour of the box": _box(_paragraph(_run(SECRET, '<w:color w:val="102030"/>')), '<wps:spPr><a:solidFill><a:srgbClr val="102030"/></a:solidFill></wps:spPr>'),
    "white in a clear box": _box(_WHITE, '<wps:spPr><a:noFill/></wps:spPr>'), "a box in a hidden run": _box(_SHOWN).replace("<w:r><mc:", "<w:r><w:rPr><w:vanish/></w:rPr><mc:"),
    "an old box that is hidden": _paragraph(f'<w:r><w:pict><v:shape style="visibility:hidden"><v:textbox><w:txbxContent>{_SHOWN}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>'),
    "an old box off the page": _paragraph(f'<w:r><w:pict><v:rect style="position:absolute;margin-left:-2000pt"><v:textbox><w:txbxContent>{_SHOWN}</w:txbxContent></v:textbox></v:rect></w:pict></w:r>'),
    "white in a content control": f"<w:sdt><w:sdtContent>{_WHITE}</w:sdtContent></w:sdt>", "white in a link": _paragraph(f'<w:hyperlink>{_run(SECRET, _LIGHT)}</w:hyperlink>'),
}  # fmt: skip
_WORD_SHOWN = {
    "inserted": _paragraph(f"<w:ins>{_run(SECRET)}</w:ins>"), "moved to here": _paragraph(f"<w:moveTo>{_run(SECRET)}</w:moveTo>"),
    "the result of a field": _paragraph(f'<w:r><w:fldChar w:fldCharType="begin"/></w:r>{_run("PAGE")}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{_run(SECRET)}<w:r><w:fldChar w:fldCharType="end"/></w:r>'),
    "a fallback": f'<mc:AlternateContent><mc:Choice Requires="other"><w:p/></mc:Choice><mc:Fallback>{_SHOWN}</mc:Fallback></mc:AlternateContent>',
    "white in a dark cell": _table(_cell(_WHITE, _DARK)), "white in a dark table": _table(_cell(_WHITE), _DARK), "white in a dark paragraph": _paragraph(_run(SECRET, _LIGHT), _DARK),
    "a row with a style": _table(_cell(_SHOWN), '<w:tblStyle w:val="T"/><w:tblLook w:val="0020"/>'), "white in a row with a style": _table(_cell(_WHITE), '<w:tblStyle w:val="T"/><w:tblLook w:firstRow="1"/>'),
    "white in a dark box": _box(_WHITE, '<wps:spPr><a:solidFill><a:schemeClr val="tx2"/></a:solidFill></wps:spPr>'), "white in a box of the theme": _box(_WHITE, '<wps:style><a:fillRef idx="1"><a:schemeClr val="accent1"/></a:fillRef></wps:style>'),
    "white on a picture": _box(_WHITE, "<wps:spPr><a:blipFill/></wps:spPr>"), "a box in a white run": _box(_SHOWN).replace("<w:r><mc:", f"<w:r><w:rPr>{_LIGHT}</w:rPr><mc:"),
    "white in an old dark box": _paragraph(f'<w:r><w:pict><v:shape fillcolor="#102030 [1]"><v:textbox><w:txbxContent>{_WHITE}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>'),
    "an indented paragraph": _paragraph(_run(SECRET), '<w:ind w:left="1440" w:hanging="360"/>'), "exact lines": _paragraph(_run(SECRET), '<w:spacing w:line="240" w:lineRule="exact"/>'),
    "a row of a height": _table(_cell(_SHOWN), row='<w:trHeight w:val="10" w:hRule="atLeast"/>'), "a content control": f"<w:sdt><w:sdtContent>{_SHOWN}</w:sdtContent></w:sdt>",
}  # fmt: skip


def _words() -> Iterator[HiddenDocument]:
    for is_hidden, each in ((True, _MARKS_HIDDEN), (False, _MARKS_SHOWN)):
        for name, marks in each.items():
            for way in _WORD_WAYS:
                yield HiddenDocument(f"DOCX: {name}, by {way}", DOCX_TYPE, _marked(way, marks), is_hidden)
    for is_hidden, bodies in ((True, _WORD_HIDDEN), (False, _WORD_SHOWN)):
        for name, body in bodies.items():
            yield HiddenDocument(f"DOCX: {name}", DOCX_TYPE, _word(body, _STRIPED), is_hidden)
    yield HiddenDocument("DOCX: a note that nothing refers to", DOCX_TYPE, _word("", notes=_SHOWN), True)


# --- books ------------------------------------------------------------------------------------------------------------
_BOOK_WAYS = (
    "inline", "sheet", "sheet elsewhere", "attached sheet", "imported sheet", "own sheet", "own sheet as data", "with a prefix", "not XML",
)  # fmt: skip
"""Where the style of the sentence stands."""
_EVERY = 7
"""Pages have each way of hiding; for books it is enough to see that they are read like pages."""


def _books() -> Iterator[HiddenDocument]:
    for is_hidden, styles in ((True, HIDING[::_EVERY]), (False, SHOWING[::_EVERY])):
        for style in styles:
            for way in _BOOK_WAYS:
                yield HiddenDocument(f"EPUB: {style}, {way}", EPUB_TYPE, _book(way, style), is_hidden)
    shown = f"<p>{SECRET}</p>"
    for name, chapter, is_hidden in (
        ("an element without content that is hidden", f'<p hidden="hidden"/>{shown}', False),
        ("a title without content", f"<title/>{shown}", False),
        ("the hidden attribute", f'<p hidden="">{SECRET}</p>', True),
        ("a comment", f"<!-- {SECRET} -->", True),
    ):
        yield HiddenDocument(f"EPUB: {name}", EPUB_TYPE, epub(_around(chapter)), is_hidden)


def _around(chapter: str) -> str:
    lines = [f"<p>{line.replace('&', '&amp;')}</p>" for line in LINES]
    return f"<h1>Harbour</h1>{lines[0]}{lines[1]}{chapter}{lines[2]}"


def _book(way: str, style: str) -> bytes:
    css = f".x{{{style}}}"
    inline, marked = f'<p style="{style.replace(chr(34), chr(39))}">{SECRET}</p>', f'<p class="x">{SECRET}</p>'
    if way == "inline":
        return epub(_around(inline))
    if way == "sheet":
        return epub(
            _around(marked), {"OEBPS/text/style.css": css}, '<link rel="stylesheet" type="text/css" href="style.css"/>'
        )
    if way == "sheet elsewhere":
        link = '<link href="../all%20styles/book.css?v=1" rel="stylesheet"/>'
        return epub(_around(marked), {"OEBPS/all styles/book.css": css}, link)
    if way == "imported sheet":
        files = {"OEBPS/text/style.css": '@import "more/deep.css";', "OEBPS/text/more/deep.css": css}
        return epub(_around(marked), files, '<link rel="stylesheet" href="style.css"/>')
    if way == "attached sheet":
        return epub(
            _around(marked), {"OEBPS/text/style.css": css}, before='<?xml-stylesheet type="text/css" href="style.css"?>'
        )
    if way == "own sheet":
        return epub(_around(marked), head=f"<style>{css.replace('<', '&lt;')}</style>")
    if way == "own sheet as data":
        return epub(_around(marked), head=f"<style><![CDATA[{css}]]></style>")
    if way == "with a prefix":
        chapter = f"{_around('@')}".replace(
            "@", f'<h:p xmlns:h="http://www.w3.org/1999/xhtml" class="x">{SECRET}</h:p>'
        )
        return epub(chapter, {"OEBPS/text/style.css": css}, '<link rel="stylesheet" href="style.css"/>')
    return epub(_around(marked) + "<p>open", {"OEBPS/text/style.css": css}, "<link rel=stylesheet href=style.css>")
