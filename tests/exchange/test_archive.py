"""A dataset in one file: the same bytes for the same data, and a dataset again when unpacked."""

import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from assay.base import ConfigError, DataError
from assay.dataset import Dataset
from assay.exchange import archive
from tests.listings import list_backwards

FORMATS = ("zip", "tar.gz", "tar.bz2")
OTHER_NAMES = {"gzip": "tar.gz", "bz2": "tar.bz2", "tgz": "tar.gz"}


@pytest.mark.parametrize("form", [*FORMATS, *OTHER_NAMES])
def test_packed_and_unpacked(form: str, evenodd: Dataset, tmp_path: Path) -> None:
    packs = []
    for place in ("one", "two"):
        shutil.copytree(evenodd.folder, tmp_path / place / "data", copy_function=shutil.copy)
        packs.append(archive(tmp_path / place / "data", form))
    assert packs[0].name == f"data.{OTHER_NAMES.get(form, form)}"
    assert packs[0].read_bytes() == packs[1].read_bytes()
    shutil.unpack_archive(packs[0], tmp_path / "out", **({} if form == "zip" else {"filter": "data"}))
    unpacked = Dataset.open(tmp_path / "out" / "data")
    assert unpacked.fingerprint == evenodd.fingerprint and len(unpacked["ood"]) == 168
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["data", packs[0].name]


def test_what_cannot_be_packed(evenodd: Dataset, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no archive format 'rar'; there is: zip, tar.gz, tar.bz2"):
        archive(evenodd.folder, "rar")
    with pytest.raises(DataError, match="no dataset folder"):
        archive(tmp_path / "data", "zip")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", FORMATS)
def test_files_lie_in_order_and_bear_no_date(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list_backwards(monkeypatch)
    for name in ("b/2.txt", "b/1.txt", "a.txt", "c/d/e.txt"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text(name * 50)
    pack = archive(tmp_path / "data", form)
    names = [f"data/{name}" for name in ("a.txt", "b/1.txt", "b/2.txt", "c/d/e.txt")]
    if form == "zip":
        with zipfile.ZipFile(pack) as held:
            assert held.namelist() == names and {entry.date_time[0] for entry in held.infolist()} == {1980}
            assert held.read("data/b/2.txt") == b"b/2.txt" * 50
            assert {entry.compress_type for entry in held.infolist()} == {zipfile.ZIP_DEFLATED}
        return
    with tarfile.open(pack) as tar:
        assert tar.getnames() == names and {entry.mtime for entry in tar.getmembers()} == {0}
        assert tar.extractfile("data/c/d/e.txt").read() == b"c/d/e.txt" * 50
    head = pack.read_bytes()[:8]
    assert head[:3] == b"BZh" if form == "tar.bz2" else head == b"\x1f\x8b\x08\x00" + bytes(4)
