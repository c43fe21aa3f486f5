"""A file that cannot be written: the cause fits the number of the error, and so does what helps."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from suyuan.cli.main import main
from suyuan.core.disk_errors import disk_error, is_of_disk
from suyuan.core.errors import SuyuanError
from suyuan.llm.connected_models import ConnectedModels
from suyuan.llm.settings import ModelSettings
from suyuan.search.connected_engines import ConnectedEngines

_HELPS = {
    "Free some space": (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    "Mount it": (errno.EROFS,),
    "Give this user permission": (errno.EACCES, errno.EPERM),
}
_WRITING = [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE]


@contextmanager
def _nothing_fits() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("number", _WRITING, ids=errno.errorcode.get)
def test_the_remedy_fits_the_number(number: int) -> None:
    told = disk_error(OSError(number, os.strerror(number), "/data/models.json"))
    assert "/data/models.json" in told.message
    for help, numbers in _HELPS.items():
        assert (help in told.hint) == (number in numbers)


def test_what_is_of_a_connection_is_no_error_of_a_disk() -> None:
    assert not is_of_disk(OSError(errno.ECONNREFUSED, "refused")) and not is_of_disk(PermissionError(errno.EACCES, ""))
    assert is_of_disk(OSError(errno.ENOSPC, "full")) and is_of_disk(PermissionError(errno.EACCES, "no", "/data"))


def test_what_is_entered_on_a_full_disk_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    models, engines = ConnectedModels(tmp_path / "models.json", ModelSettings()), ConnectedEngines(tmp_path / "k", {})
    models.add(models.settings("http://127.0.0.1:9", "first", "key"))
    engines.add("brave", {"api_key": "first"})
    with _nothing_fits():
        with pytest.raises(SuyuanError) as model:
            models.add(models.settings("http://127.0.0.1:9", "second", "key"))
        with pytest.raises(SuyuanError) as engine:
            engines.add("kagi", {"api_key": "second"})
    assert model.value.detail_code == engine.value.detail_code == "disk_full_now"
    assert set(models.all()) == set(ConnectedModels(tmp_path / "models.json", ModelSettings()).all()) == {"first"}
    assert engines.names() == ConnectedEngines(tmp_path / "k", {}).names() == {"brave"}


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="there is no folder here that nobody can write to")
def test_a_command_that_may_not_write_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "note.txt").write_text("A note.")
    monkeypatch.setenv("SUYUAN_DATA_DIR", "/sys/suyuan")
    assert main(["library", "add", str(tmp_path / "note.txt")]) != 0
    err = capsys.readouterr().err
    assert "What to do" in err and "/sys/suyuan" in err and "Traceback" not in err
