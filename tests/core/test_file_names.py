"""Names of files that are sent away and taken in."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import unquote

import pytest

from support.pretending import HOSTILE
from suyuan.core.file_names import attachment, file_name, file_stem

NAMES = [
    "invoice\u202efdp.exe", "../../etc/passwd", "..\\..\\win.ini", "/etc/passwd", "C:\\x.txt", "CON", "con.txt", "aux.tar.gz",
    "COM¹.pdf", "nul .txt", "a.pdf. . .", "...", ".", "", " ", ".bashrc", "-rf", "--help.md", "x" * 5000, "茶" * 5000 + ".pdf",
    'a"; filename="b.exe', "a\r\nSet-Cookie: x=1", "a;b.txt", "a／..／b.txt", "a:b", "x.txt:stream", "*?<>|", "名字.pdf",
    "%2e%2e%2f.txt", "a\0b.txt", "x." + "y" * 500,
]  # fmt: skip


@pytest.mark.parametrize("sent", [*NAMES, *(f"a{one}b.pdf" for one in HOSTILE[::7])])
def test_a_name_is_one_part_of_a_path_on_every_system(sent: str) -> None:
    for name in (file_name(sent), f"{file_stem(sent)}.md"):
        assert PurePosixPath(name).name == PureWindowsPath(name).name == name != ""
        assert not PureWindowsPath(name).is_reserved() and not set(name) & set(HOSTILE)
        assert len(name.encode()) <= 210 and name[0] not in "-. " and name[-1] not in ". "
        header = attachment(name)
        header.encode("ascii")
        found = re.fullmatch(r"attachment; filename=\"([A-Za-z0-9 _.-]+)\"; filename\*=UTF-8''([!-~]+)", header)
        assert found and unquote(found[2]) == name and found[1].count(".") <= 1
    assert file_stem(sent).count(".") == 0, "the ending that follows is the only one"


def test_good_names_stay() -> None:
    assert file_name("名字 (2).pdf") == "名字 (2).pdf" and file_name("a.b.tar.gz") == "a.b.tar.gz"
    assert file_stem("茶壶 and cups: what?") == "茶壶 and cups what"
    assert file_name("") == "document" and file_stem("") == "suyuan"
