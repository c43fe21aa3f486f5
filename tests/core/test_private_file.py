"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from suyuan.core.private_file import write_private


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    target = tmp_path / "new" / "keys.json"
    write_private(target, "密")
    assert target.read_text("utf-8") == "密" and target.stat().st_mode & 0o777 == 0o600
    assert os.listdir(target.parent) == ["keys.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "kept.json", tmp_path / "link.json"
    target.write_text("old", "utf-8")
    link.symlink_to(target)
    write_private(link, "new")
    assert link.is_symlink() and target.read_text("utf-8") == "new"


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    """As with ``-o /dev/stdout``: as root, the file would take the place of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_private(pipe, "said")
        assert os.read(reader, 100) == b"said"
    finally:
        os.close(reader)
    assert pipe.is_fifo() and os.listdir(tmp_path) == ["pipe"]
