"""Finds text that a reader cannot see: hidden elements and invisible characters, which often carry injected prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser

MAX_CSS = 400_000
_OFF_SCREEN = -999.0
_TINY = 1.0

# Zero-width, bidi and other format characters, Unicode tags and the variation selectors that can carry hidden bytes.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)
# A single joiner between letters of Persian or an Indic script, or in an emoji, is spelling; any other is not.
_JOINERS = re.compile("[\u200c\u200d]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")

_BRACE = re.compile(r"[{}]")
_SIMPLE_SELECTOR = re.compile(r"([a-zA-Z][\w-]*)?((?:[.#][\w-]+)*)")
_SELECTOR_PART = re.compile(r"[.#][\w-]+")
_MAY_HIDE = re.compile(
    r"display|hidden|opacity|color|background|font|indent|left|top|height|width|clip|transform|collapse", re.I
)
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*([a-z%]*)", re.I)
_RGB = re.compile(r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)(?:[\s,/]+([\d.]+%?))?\s*\)")
_SCALE_ZERO = re.compile(r"scale[xy]?\(\s*0*(?:\.0+)?\s*[,)]|translate[xy]?\(\s*-\d{4,}px")
_CLIPPED = re.compile(r"rect\(\s*0(?:px)?[\s,]+0(?:px)?[\s,]+0(?:px)?[\s,]+0(?:px)?\s*\)|inset\((?:50|100)%")
_REACT_ID = re.compile(r"S:[0-9a-f]+")
_COLOUR_NAMES = {
    "white": "ffffff", "black": "000000", "red": "ff0000", "yellow": "ffff00", "transparent": "", "none": "",
}  # fmt: skip

# Selectors for the whole page or its content: a rule for them does not hide a single text.
_WHOLE_PAGE = {"html", "body", "main", "article", "*"}


def visible_text(text: str) -> str:
    """Return ``text`` without its invisible characters."""
    if text.isascii():
        return text
    return _JOINERS.sub("", _INVISIBLE.sub("", text))


class VisibilityChecker:
    """Finds hidden elements by inline styles and by the page's own rules for simple class, id and tag selectors."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._rules: dict[str, list[tuple[str, frozenset[str]]]] = {}
        self._styles: dict[str, bool] = {}
        self._react = tree.css_first('[id^="S:"][hidden]') is not None and tree.scripts_contain("$RC(")
        for selector, style in _rules(_style_sheets(tree)).items():
            if _hides_text(style):
                self._add_rule(selector)

    def is_hidden(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        """Whether the element is not displayed because of its attributes or the page's style."""
        if "hidden" in attributes and attributes["hidden"] != "until-found" and not self._is_streamed(attributes):
            return True
        style = attributes.get("style")
        if style and self._style_hides(style):
            return True
        return bool(self._rules) and self._rule_hides(tag, attributes)

    def _is_streamed(self, attributes: Mapping[str, str | None]) -> bool:
        # React sends late parts of a page as <div hidden id="S:1">; its script moves them into place.
        return self._react and bool(_REACT_ID.fullmatch(attributes.get("id") or ""))

    def _style_hides(self, style: str) -> bool:
        if style not in self._styles:
            self._styles[style] = bool(_MAY_HIDE.search(style)) and _hides_text(_declarations(style))
        return self._styles[style]

    def _rule_hides(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        names = ["." + name for name in (attributes.get("class") or "")[:2000].split()]
        if identity := attributes.get("id"):
            names.append("#" + identity)
        have = frozenset(names)
        for key in (tag, *names):
            for wanted_tag, wanted in self._rules.get(key, ()):
                if wanted <= have and wanted_tag in ("", tag):
                    return True
        return False

    def _add_rule(self, selector: str) -> None:
        match = _SIMPLE_SELECTOR.fullmatch(selector)
        if match is not None and selector not in _WHOLE_PAGE:
            tag, parts = (match[1] or "").lower(), frozenset(_SELECTOR_PART.findall(match[2] or ""))
            self._rules.setdefault(min(parts) if parts else tag, []).append((tag, parts))


def _rules(sheets: list[str]) -> dict[str, dict[str, str]]:
    """The declarations for each simple selector; later ones replace earlier ones, as in a browser."""
    found: dict[str, dict[str, str]] = {}
    for rule in "".join(sheets).split("}"):
        selectors, _, body = rule.partition("{")
        if _MAY_HIDE.search(body):
            style = _declarations(body)
            for selector in map(str.strip, selectors.split(",")):
                if selector and _SIMPLE_SELECTOR.fullmatch(selector):
                    found.setdefault(selector, {}).update(style)
    return found


def _style_sheets(tree: LexborHTMLParser) -> list[str]:
    """The style sheets in the page, without comments and without @-rules (print, narrow screens)."""
    sheets, budget = [], MAX_CSS
    for node in tree.css("style"):
        media = (node.attributes.get("media") or "all").lower()
        text = node.text()[:budget]
        budget -= len(text)
        if ("all" in media or "screen" in media) and _MAY_HIDE.search(text):
            sheets.append(_without_at_rules(_without_comments(text)))
    return sheets


def _without_comments(css: str) -> str:
    first, *rest = css.split("/*")
    return first + "".join(part.partition("*/")[2] for part in rest)


def _without_at_rules(css: str) -> str:
    kept, at = [], 0
    while (start := css.find("@", at)) >= 0:
        kept.append(css[at:start])
        at = _at_rule_end(css, start)
    kept.append(css[at:])
    return "".join(kept)


def _at_rule_end(css: str, start: int) -> int:
    brace, semicolon = css.find("{", start), css.find(";", start)
    if brace < 0 or 0 <= semicolon < brace:
        return semicolon + 1 if semicolon >= 0 else len(css)
    depth = 0
    for match in _BRACE.finditer(css, brace):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(css)


def _declarations(style: str) -> dict[str, str]:
    """The declarations of a style attribute or rule, names and values in lower case."""
    found = {}
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip().lower()] = value.replace("!important", "").strip().lower()
    return found


def _hides_text(style: Mapping[str, str]) -> bool:
    """Whether an element with this style displays no text."""
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("content-visibility") == "hidden"
        or _pixels(style.get("opacity", "1")) <= 0.01
        or _pixels(style.get("font-size", ""), 16.0) <= _TINY
        or _is_off_screen(style)
        or _has_no_contrast(style)
        or _has_no_area(style)
        or bool(_SCALE_ZERO.search(style.get("transform", "")))
    )


def _pixels(value: str, default: float = 1.0) -> float:
    match = _NUMBER.match(value)
    if match is None:
        return default
    scale = {"em": 16.0, "rem": 16.0, "vw": 12.0, "vh": 8.0, "pt": 1.33}.get(match[2].lower(), 1.0)
    return float(match[1]) * scale


def _is_off_screen(style: Mapping[str, str]) -> bool:
    if _pixels(style.get("text-indent", "0")) <= _OFF_SCREEN:
        return True
    moved = style.get("position") in ("absolute", "fixed", "relative") or "margin-left" in style
    names = ("left", "top", "right", "bottom", "margin-left", "inset-inline-start")
    return moved and any(_pixels(style[name], 0.0) <= _OFF_SCREEN for name in names if name in style)


def _has_no_area(style: Mapping[str, str]) -> bool:
    clip = style.get("clip", "") + style.get("clip-path", "")
    if style.get("position") in ("absolute", "fixed") and _CLIPPED.search(clip):
        return True
    if "hidden" not in style.get("overflow", "") and "clip" not in style.get("overflow", ""):
        return False
    sizes = [style[name] for name in ("width", "height", "max-width", "max-height") if name in style]
    return any(_pixels(size, 99.0) <= _TINY and not size.endswith("%") for size in sizes)


def _has_no_contrast(style: Mapping[str, str]) -> bool:
    if "color" not in style:
        return False
    text = _colour(style["color"])
    if text == "":
        # Letters with a gradient are made with transparent text and a clipped background.
        return "text" not in style.get("background-clip", "") + style.get("-webkit-background-clip", "")
    background = _colour(style.get("background-color") or style.get("background") or "?")
    return text is not None and text == background


def _colour(value: str) -> str | None:
    """A colour as six hexadecimal digits; empty if it is transparent, None if it is unknown."""
    value = value.strip()
    if value in _COLOUR_NAMES:
        return _COLOUR_NAMES[value]
    if match := _RGB.match(value):
        if match[4] and _pixels(match[4].rstrip("%")) == 0:
            return ""
        return "".join(f"{min(int(part), 255):02x}" for part in match.groups()[:3])
    if match := re.match(r"#([0-9a-f]{3,8})\b", value):
        digits = match[1]
        return "".join(c * 2 for c in digits[:3]) if len(digits) in (3, 4) else digits[:6]
    return None
