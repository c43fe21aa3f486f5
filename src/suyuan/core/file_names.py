"""Names of files: of those that are sent away, and of those that are taken in."""

from __future__ import annotations

import re
from urllib.parse import quote

from ..text.visible import shown_line

# What a file system or a shell gives a meaning to, in the width of other scripts too.
_SIGNS = re.compile(r"[\"'*/:<>?\\|\u2044\u2215\u29f8\uff0f\uff3c\uff1a\ufe68]+")
# Windows knows these as devices, whatever comes after a dot.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.I)
_MAX_STEM = 80
_MAX_NAME_BYTES = 200
_MAX_ENDING = 8


def file_stem(title: str, otherwise: str = "suyuan") -> str:
    """A name for a file about ``title``, without dots: the ending that follows is the only one."""
    words = _SIGNS.sub(" ", shown_line(title[: _MAX_STEM * 20])).replace(".", " ").split()
    return _harmless(" ".join(words)[:_MAX_STEM], otherwise)


def file_name(sent: str, otherwise: str = "document") -> str:
    """The last part of a name that was sent, with its ending."""
    last = sent.replace("\\", "/").rpartition("/")[2]
    name = _SIGNS.sub(" ", shown_line(last[:4000])).strip(". ")
    stem, dot, kind = name.rpartition(".")
    stem, kind = (stem, kind.strip()) if dot else (name, "")
    shortened = _harmless(stem, otherwise)
    return f"{shortened}.{kind[:_MAX_ENDING]}" if kind else shortened


def attachment(name: str, disposition: str = "attachment") -> str:
    """The Content-Disposition of a file, with a name in ASCII for old clients; ``name`` is from one of the above."""
    stem, dot, kind = name.rpartition(".")
    stem, kind = (stem, kind) if dot else (name, "")
    plain = " ".join(re.sub(r"[^A-Za-z0-9 _-]+", " ", stem).split()) or "file"
    ending = re.sub(r"[^A-Za-z0-9]+", "", kind)
    ascii_name = f"{plain}.{ending}" if ending else plain
    return f"{disposition}; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"


def _harmless(stem: str, otherwise: str) -> str:
    # File systems count bytes, of which a character may have four.
    short = stem.encode("utf-8", "replace")[:_MAX_NAME_BYTES].decode("utf-8", "ignore")
    # No name begins with a dash, which a command would take for an option, or a dot, which hides it.
    short = short.strip(". ").lstrip("-. ")
    return f"_{short}" if _RESERVED.match(short) else short or otherwise
