"""A backup that is damaged, incomplete, too new, unsafe or none is refused in clear words, with nothing changed."""

from __future__ import annotations

import io
import json
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest

from backup.filled import fill, tree
from backup.machines import rows
from suyuan import __version__
from suyuan.backup.manifest import is_safe
from suyuan.cli.main import main


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup in every form."""
    folder = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "DATA", "STATE"):
            patch.setenv(f"SUYUAN_{name}_DIR", str(folder / "home" / name.lower()))
        fill("quay")
        for name in ("b", "b.tar.gz", "b.tar", "b.zip"):
            assert main(["backup", str(folder / "out" / name)]) == 0
    return folder / "out"


@pytest.fixture
def made(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies that may be damaged; the folders that the environment names are not there yet."""
    shutil.copytree(written, tmp_path / "made")
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"SUYUAN_{name}_DIR", str(tmp_path / "made" / "new" / name.lower()))
    return tmp_path / "made"


def refused(backup: Path, capsys: pytest.CaptureFixture[str], *codes: str) -> None:
    capsys.readouterr()
    assert main(["restore", str(backup)]) == 2
    said = capsys.readouterr().err
    assert any(code in said for code in codes), said
    assert "Nothing was changed" in said or "no_backup" in said
    assert tree(backup.parent / "new") == {}


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_what_is_no_backup(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (made / "empty").mkdir()
    (made / "text.txt").write_text("hello")
    (made / "none.tar.gz").write_text("hello")
    with zipfile.ZipFile(made / "other.zip", "w") as packed:
        packed.writestr("a", "b")
    with tarfile.open(made / "other.tar", "w") as packed_too:
        packed_too.add(made / "text.txt", "text.txt")
    refused(made / "missing", capsys, "no_backup")
    for name in ("empty", "text.txt", "other.zip", "other.tar"):
        refused(made / name, capsys, "backup_not_ours")
    refused(made / "none.tar.gz", capsys, "backup_damaged")


@pytest.mark.parametrize("name", ["b.tar.gz", "b.tar", "b.zip"])
def test_a_bit_that_has_changed_is_seen_or_does_not_matter(
    made: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    whole = (made / name).read_bytes()
    chosen = random.Random(len(whole))
    target = made / "new" / "data"
    for _ in range(25):
        place = chosen.randrange(len(whole))
        broken = whole[:place] + bytes([whole[place] ^ (1 << chosen.randrange(8))]) + whole[place + 1 :]
        (made / f"broken-{name}").write_bytes(broken)
        code = main(["restore", str(made / f"broken-{name}")])
        if code == 0:
            assert rows(target / "chat.sqlite"), "a date, or the padding between files"
            shutil.rmtree(made / "new")
        else:
            assert code == 2 and "Nothing was changed" in capsys.readouterr().err and tree(made / "new") == {}


@pytest.mark.parametrize("name", ["b.tar.gz", "b.tar", "b.zip"])
def test_a_file_that_was_cut_off_is_refused(made: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    whole = (made / name).read_bytes()
    for share in range(8):
        (made / f"cut-{name}").write_bytes(whole[: len(whole) * share // 8])
        refused(made / f"cut-{name}", capsys, "backup_damaged", "backup_incomplete", "backup_not_ours")


def test_every_file_of_a_folder_is_checked(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [path for path in (made / "b").rglob("*") if path.is_file() and path.name != "manifest.json"]
    assert len(files) > 4
    for path in files:
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        refused(made / "b", capsys, "backup_damaged")
        path.write_bytes(whole + b"x")
        refused(made / "b", capsys, "backup_damaged")
        path.unlink()
        refused(made / "b", capsys, "backup_incomplete")
        path.symlink_to("/etc/hostname")
        refused(made / "b", capsys, "backup_unsafe")
        path.unlink()
        path.write_bytes(whole)
    # What others have put there is not read.
    (made / "b" / "data" / "other.txt").write_text("x")
    assert main(["restore", str(made / "b")]) == 0 and not (made / "new" / "data" / "other.txt").exists()


def test_a_manifest_that_was_cut_off_or_rewritten(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = made / "b" / "manifest.json"
    whole = manifest.read_bytes()
    for end in range(0, len(whole), len(whole) // 20):
        manifest.write_bytes(whole[:end])
        refused(made / "b", capsys, "backup_damaged")
    for content in (b"[]", b"null", b'{"product": "suyuan"}', b'{"product": "other", "format": 1}', b"[" * 100_000):
        manifest.write_bytes(content)
        refused(made / "b", capsys, "backup_damaged", "backup_not_ours")


def _of_version(version: str, manifest: dict[str, Any]) -> None:
    manifest.update(version=version)


def test_a_backup_of_a_newer_release(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (made / "b" / "manifest.json").read_bytes()

    def of(name: str, manifest: dict[str, Any]) -> dict[str, Any]:
        return next(entry for entry in manifest["files"] if entry["name"] == name)

    newer: list[Callable[[dict[str, Any]], object]] = [
        lambda manifest: manifest.update(format=2, version="9.9"),
        *(
            partial(_of_version, version)
            for version in ("99.0", "0.99", f"{__version__.partition('.dev')[0]}.1", "1.0rc1")
        ),
        lambda manifest: of("store/chat.sqlite", manifest).update(schema="9999"),
        lambda manifest: of("data/archive.sqlite", manifest).update(schema="99"),
        lambda manifest: of("data/library/library.sqlite", manifest).update(schema="99"),
    ]
    for change in newer:
        changed(made / "b", change)
        refused(made / "b", capsys, "backup_too_new")
        (made / "b" / "manifest.json").write_bytes(whole)


UNSAFE = (
    "../evil", "/evil", "data/../../evil", "data//evil", "./data/evil", "data/./x", "data\\..\\evil", "data/", "",
    "restore.json", "data/restore.json", "data/.lock", "data/.restoring/data/x", "data/before-restore-1/x",
    "config/other.json", "state/engines.json", "other/x", "store/other.sqlite", "data/a\0b",
)  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_names_that_lead_elsewhere(made: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    changed(made / "b", lambda manifest: manifest["files"][0].update(name=name))
    refused(made / "b", capsys, "backup_unsafe")
    if "\0" in name or not name or name.endswith("/"):
        return
    for form in ("tar", "zip"):
        evil = made / f"evil.{form}"
        with tarfile.open(made / "b.tar") as old:
            members = [(info.name, old.extractfile(info).read()) for info in old]  # type: ignore[union-attr]
        members.append((name, b"evil"))
        if form == "tar":
            with tarfile.open(evil, "w") as new:
                for each, content in members:
                    info = tarfile.TarInfo(each)
                    info.size = len(content)
                    new.addfile(info, io.BytesIO(content))
        else:
            with zipfile.ZipFile(evil, "w") as packed:
                for each, content in members:
                    packed.writestr(each, content)
        refused(evil, capsys, "backup_unsafe")
    assert not (made / "evil").exists() and not (made.parent / "evil").exists() and not Path("/evil").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
@pytest.mark.parametrize("place", ["first", "last"])
def test_links_and_devices(made: Path, capsys: pytest.CaptureFixture[str], kind: bytes, place: str) -> None:
    evil = tarfile.TarInfo("data/models.json")
    evil.type, evil.linkname, evil.devmajor, evil.devminor = kind, "/etc/hostname", 1, 3
    with tarfile.open(made / "b.tar") as old, tarfile.open(made / "evil.tar", "w") as new:
        for info in old:
            if info.name == "manifest.json" or place == "last":
                new.addfile(info, old.extractfile(info))
            if info.name == "manifest.json" and place == "first":
                new.addfile(evil)
        if place == "last":
            new.addfile(evil)
    refused(made / "evil.tar", capsys, "backup_unsafe")


def test_a_link_in_a_zip_and_a_file_twice(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(made / "b.zip", made / "link.zip")
    with zipfile.ZipFile(made / "link.zip", "a") as packed:
        info = zipfile.ZipInfo("data/link")
        info.external_attr = 0o120777 << 16
        packed.writestr(info, "/etc/hostname")
    refused(made / "link.zip", capsys, "backup_unsafe")
    with tarfile.open(made / "b.tar") as old, tarfile.open(made / "twice.tar", "w") as new:
        for member in old:
            for _ in range(1 if member.name == "manifest.json" else 2):
                new.addfile(member, old.extractfile(member))
    refused(made / "twice.tar", capsys, "backup_unsafe")


def test_a_member_that_never_ends_is_not_unpacked(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tarfile.open(made / "b.tar") as old, tarfile.open(made / "bomb.tar.gz", "w:gz") as new:
        for info in old:
            content: IO[bytes] | None = old.extractfile(info)
            if info.name == "data/models.json":
                info.size, content = 500_000_000, io.BytesIO(bytes(500_000_000))
            new.addfile(info, content)
    refused(made / "bomb.tar.gz", capsys, "backup_damaged")


def test_what_is_there_is_not_replaced_unless_asked_for(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill("pier")
    before = tree(made / "new")
    assert main(["restore", str(made / "b.zip")]) == 2
    said = capsys.readouterr().err
    assert "folder_not_empty" in said and str(made / "new" / "data") in said and "--replace" in said
    assert tree(made / "new") == before
    assert main(["restore", str(made / "b.zip"), "--replace"]) == 0
    told = capsys.readouterr().out
    [aside] = (made / "new" / "data").glob("before-restore-*")
    assert str(aside) in told and aside.stat().st_mode & 0o077 == 0
    kept = {f"data/{name}": content for name, content in tree(aside).items()}
    assert kept == {name: content for name, content in before.items() if name.startswith("data/")}
    [config] = (made / "new" / "config").glob("before-restore-*/config.json")
    assert "pier" in config.read_text() and "quay" in (made / "new" / "config" / "config.json").read_text()


@pytest.mark.parametrize(
    "name", ["data/a", "data/people/x/archive.sqlite", "data/ü 文 .txt", "data/..a", "data/a..b/c"]
)
def test_plain_names_are_safe(name: str) -> None:
    assert is_safe(name)
