"""A dataset in one file: the same bytes for the same data, and a dataset again when unpacked."""

import shutil
from pathlib import Path

import pytest

from assay.data.archive import FORMATS, OTHER_NAMES, archive
from assay.data.dataset import Dataset
from assay.errors import ConfigError, DataError


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
