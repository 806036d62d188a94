"""A dataset says what its rule says, and nothing that is damaged opens."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.base import DataError, UnknownName
from assay.dataset import Dataset, decode, task_of
from assay.logic import parity
from tests.conftest import Made

SHARD = "test/part-00000.parquet"


def test_labels_follow_from_concepts_on_disk(evenodd: Dataset, mnlogic: Dataset) -> None:
    for name in evenodd.split_names:
        table = evenodd[name].table.to_pydict()
        assert table["label_sum"] == [a + b for a, b in zip(table["concept_a"], table["concept_b"], strict=True)]
    for name in mnlogic.split_names:
        table = mnlogic[name].table.to_pydict()
        bits = zip(table["concept_a"], table["concept_b"], table["concept_c"], strict=True)
        assert table["label_y"] == [sum(row) % 2 == 1 for row in bits]


def test_the_manifest_counts_the_labels(evenodd: Dataset, mnlogic: Dataset) -> None:
    assert [split["labels"]["y"] for split in mnlogic.manifest.to_dict()["splits"]] == [
        {"False": size // 2, "True": size // 2} for size in (64, 16, 32, 16, 18)
    ]
    assert evenodd.manifest.to_dict()["splits"][0]["labels"] == {"sum": {"6": 40, "10": 80, "12": 40}}


@pytest.mark.parametrize("fixture", ["evenodd", "mnlogic"])
def test_a_split_is_what_the_task_renders(fixture: str, request: pytest.FixtureRequest) -> None:
    dataset: Dataset = request.getfixturevalue(fixture)
    task = task_of(dataset)
    assert dataset.knowledge == task.knowledge and dataset.layout == task.layout
    for name in dataset.split_names:
        data = dataset[name]
        assert data.index.tolist() == list(range(len(data)))
        assert (data.labels == data.knowledge.labels_of(data.concepts)).all()
        assert data.images.shape == (len(data), data.layout.height, data.layout.width, 1)
        for row in range(len(data)):
            assert (task.render(data.world(row)).image == data.images[row, :, :, 0]).all()


def test_rows_that_are_taken(evenodd: Dataset) -> None:
    data = evenodd["test"]
    some = data.take(np.array([5, 3, 8]))
    assert some.index.tolist() == [5, 3, 8] and (some.concepts == data.concepts[[5, 3, 8]]).all()
    assert (some.images == data.images[[5, 3, 8]]).all() and some.world(0) == data.world(5)


def test_symbols_are_a_split_without_pictures(evenodd: Dataset) -> None:
    plain = evenodd.symbols("ood")
    assert "image" not in plain.table.column_names and (plain.labels == evenodd["ood"].labels).all()
    assert plain.world(3) == evenodd["ood"].world(3)
    bare = evenodd.symbols("ood", styles=False)
    assert "style" not in bare.table.column_names and (bare.concepts == plain.concepts).all()


def test_where_says_which_worlds_a_split_holds(evenodd: Dataset) -> None:
    held = {name: evenodd[name] for name in ("train", "ood")}
    assert {name: str(data.where).startswith("not ") for name, data in held.items()} == {"train": False, "ood": True}


def test_rules_beyond_ascii_and_64_bits_come_back(made: Made) -> None:
    names = ["größe", "β", *(f"b{i}" for i in range(62))]
    dataset = made("mnlogic", k=64, names=names, n=20, pixels=True)
    assert dataset.knowledge.space.names == tuple(names)
    assert dataset.knowledge.labels[0].formula == parity(*dataset.knowledge.labels[0].formula.parts)
    data = dataset["ood"]
    assert (data.labels[:, 0] == data.concepts.sum(axis=1) % 2).all()
    assert (decode(data.pngs[0])[0, :, 0] == 255 * data.concepts[0]).all()


def test_unknown_split(evenodd: Dataset) -> None:
    assert "train" in evenodd and "trian" not in evenodd
    with pytest.raises(UnknownName, match="no split named 'trian'; did you mean 'train'"):
        evenodd["trian"]


def truncate(folder: Path) -> None:
    path = folder / SHARD
    path.write_bytes(path.read_bytes()[:-10])


def change_a_byte(folder: Path) -> None:
    path = folder / SHARD
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 255
    path.write_bytes(data)


def edit(*path: str | int, value: object) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        part = manifest
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return apply


def drop(*keys: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps({k: v for k, v in manifest.items() if k not in keys}))

    return apply


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, r"has \d+ bytes instead of \d+: it is damaged"),
        (change_a_byte, "does not match its hash: it is damaged"),
        (lambda folder: (folder / SHARD).unlink(), "is missing"),
        (lambda folder: (folder / SHARD).write_bytes(b""), "has 0 bytes"),
        (lambda folder: (folder / "manifest.json").unlink(), "has no manifest.json: make one"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is damaged"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "is damaged"),
        (lambda folder: (folder / "manifest.json").write_bytes(b"\xff\xfe"), "is damaged"),
        (drop("layout"), "is damaged"),
        (drop("fingerprint"), "is damaged"),
        (edit("format", value=99), "is of format 99, this assay reads format 1"),
        (edit("seed", value=7), "changed by hand"),
        (edit("splits", 0, "where", value="a == b"), "changed by hand"),
        (edit("splits", 3, "shards", value=[]), "changed by hand"),
        (edit("knowledge", "labels", 0, "formula", value="a * b"), "changed by hand"),
        (edit("layout", "width", value=28), "changed by hand"),
        (edit("fingerprint", value="0" * 32), "changed by hand"),
    ],
)
def test_what_is_damaged_is_refused(
    damage: Callable[[Path], None], message: str, evenodd: Dataset, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(evenodd.folder, folder)
    damage(folder)
    with pytest.raises(DataError, match=message) as caught:
        Dataset.open(folder)["test"]
    assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)


def test_a_shard_that_goes_away_after_opening(evenodd: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(evenodd.folder, folder)
    dataset = Dataset.open(folder)
    (folder / SHARD).unlink()
    with pytest.raises(DataError, match="cannot be read: No such file"):
        dataset["test"]
    assert len(dataset["valid"]) == 32


def test_no_folder() -> None:
    with pytest.raises(DataError, match="no dataset folder '/nowhere'"):
        Dataset.open("/nowhere")


def test_a_dataset_can_be_moved(evenodd: Dataset, tmp_path: Path) -> None:
    shutil.copytree(evenodd.folder, tmp_path / "a=b" / "moved")
    moved = Dataset.open(tmp_path / "a=b" / "moved")
    assert moved.fingerprint == evenodd.fingerprint and (moved["test"].labels == evenodd["test"].labels).all()
