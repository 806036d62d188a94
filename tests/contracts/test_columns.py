"""What a picture has besides its pixels comes back from disk: boxes, instance maps, depth, texts, and drawn labels."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.base import DataError
from assay.contracts import numbers
from assay.dataset import Dataset
from assay.tasks import Column
from assay.testing import check_task, require
from assay.worlds import LUCK
from tests.toys import EMPTY, FAR, Coin, Shelf, written


class Told(Shelf):
    """Boxes on a shelf, told of and not shown."""

    name = "told"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Words only."""
        return ("text",)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data")


@pytest.fixture(scope="module")
def coin(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return written(Coin(), tmp_path_factory.mktemp("coin") / "data")


@pytest.mark.parametrize("task", [Coin, Shelf, Told])
def test_the_toys_keep_the_laws(task: type[Shelf]) -> None:
    require(check_task(task()), task.name)


# -- boxes, maps and texts ---------------------------------------------------------------------------------------------


def test_every_column_is_what_the_task_renders(shelf: Dataset) -> None:
    for name in shelf.split_names:
        data = shelf[name]
        for row in range(len(data)):
            shown = Shelf().render(data.world(row))
            assert (data.images[row] == shown.image).all() and data.texts[row] == shown.text
            assert (data.instances[row] == shown.instances).all() and data.things[row] == shown.things
            assert (data.depths[row] == shown.depth).all()


def test_boxes_are_of_any_number_and_can_be_empty(shelf: Dataset) -> None:
    data = shelf["train"]
    assert {len(things) for things in data.things} == {1, 2}
    hidden = [row for row in range(len(data)) if data.world(row)["hidden"] and data.world(row)["two"] != "none"]
    assert hidden and all(data.things[row][1] == EMPTY for row in hidden)
    for row, things in enumerate(data.things):
        for number, thing in enumerate(things, start=1):
            inside = thing.box.crop(data.instances[row])
            assert (inside == number).all() and inside.size == (data.instances[row] == number).sum()


def test_depth_keeps_sixteen_bits(shelf: Dataset) -> None:
    depths = shelf["train"].depths
    assert depths.dtype == np.uint16 and depths.max() == FAR and len(np.unique(depths)) > 40
    assert (depths % 256 != depths // 256).any()  # neither byte is lost


def test_rows_that_are_taken_keep_their_columns(shelf: Dataset) -> None:
    data, rows = shelf["test"], np.array([7, 2, 2])
    some = data.take(rows)
    assert some.texts == [data.texts[row] for row in rows] and some.things == [data.things[row] for row in rows]
    assert (some.depths == data.depths[rows]).all() and (some.instances == data.instances[rows]).all()


def test_a_column_that_is_not_there_is_named(evenodd: Dataset, shelf: Dataset) -> None:
    for name in ("texts", "things", "instances", "depths"):
        with pytest.raises(DataError, match="split 'test' has no column '.*'; there is: index, image, concept_a"):
            getattr(evenodd["test"], name)
    with pytest.raises(DataError, match="no column 'image'"):
        shelf.symbols("test").images


def test_a_task_in_words_only(tmp_path: Path) -> None:
    dataset = written(Told(), tmp_path / "data")
    data = dataset["train"]
    assert dataset.manifest.columns == ["text"] and "image" not in data.table.column_names
    assert set(data.texts) == {
        *[f"a {one} box and a {two} box" for one in ("red", "blue") for two in ("red", "blue")],
        *["a red box", "a blue box"],
    }
    assert "**What is an example?** A text, the concepts" in (tmp_path / "data" / "README.md").read_text()
    with pytest.raises(DataError, match="no column 'image'"):
        data.images


# -- others read them --------------------------------------------------------------------------------------------------


def test_datasets_decodes_every_column(shelf: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    import datasets

    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(str(shelf.folder), cache_dir=str(tmp_path))
    assert {name: len(split) for name, split in loaded.items()} == {"train": 40, "valid": 8, "test": 24, "hard": 12}
    data, found = shelf["test"], loaded["test"]
    assert (np.stack([np.asarray(image) for image in found["image"]]) == data.images).all()
    assert (np.stack([np.asarray(image) for image in found["instances"]]) == data.instances).all()
    assert (np.stack([np.asarray(image) for image in found["depth"]]) == data.depths).all()
    assert found["text"][:] == data.texts and found["boundary_same"][:] == data.table["boundary_same"].to_pylist()
    boxes = [[{"name": thing.name, **vars(thing.box)} for thing in things] for things in data.things]
    assert found["things"][:] == boxes


def test_mlcroissant_reads_maps_and_texts(shelf: Dataset) -> None:
    import mlcroissant

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ConjunctiveGraph is deprecated", DeprecationWarning)
        warnings.filterwarnings("ignore", "The inplace keyword in DataFrame.reset_index")
        described = mlcroissant.Dataset(shelf.folder / "croissant.json")
        issues = described.metadata.ctx.issues
        assert not issues.errors and not issues.warnings
        data, records = shelf["hard"], list(described.records("hard"))
    assert [record["hard/index"] for record in records] == data.index.tolist()
    assert [record["hard/text"].decode() for record in records] == data.texts
    assert [record["hard/boundary_pile"].decode() for record in records] == data.table["boundary_pile"].to_pylist()
    for column, expected in (("image", data.images), ("instances", data.instances), ("depth", data.depths)):
        shown = np.stack([np.asarray(record[f"hard/{column}"]) for record in records])
        assert (shown == expected).all()


def test_pandas_reads_boxes(shelf: Dataset) -> None:
    frame = pq.read_table(shelf.folder / "test" / "part-00000.parquet").to_pandas()
    assert list(frame)[:6] == ["index", "image", "things", "instances", "depth", "text"]
    assert [one["name"] for one in frame.things[0]] == [thing.name for thing in shelf["test"].things[0]]
    assert frame.depth[3]["path"] == "depth-test-3.png" and frame.image[3]["path"] == "test-3.png"


# -- labels that are drawn ---------------------------------------------------------------------------------------------


def test_drawn_labels_follow_from_luck_on_disk(coin: Dataset) -> None:
    for name in coin.split_names:
        data = coin[name]
        luck = np.array([data.world(row).style[LUCK] for row in range(len(data))])
        assert data.lawful.all() and luck.shape == (len(data), 2)
        assert (data.labels[:, 0] == (luck[:, 0] < data.knowledge.chances(data.concepts)[:, 0])).all()
        assert (data.labels[:, 1] == data.concepts[:, 0]).all()  # the other label is not drawn


def test_both_values_occur_as_often_as_the_odds_say(coin: Dataset) -> None:
    data = coin["train"]
    lit = data.concepts.sum(axis=1)
    for count, score in enumerate((-3, -1, 1, 3)):
        share = data.labels[lit == count, 0].mean()
        assert 0 < share < 1 and share == pytest.approx(1 / (1 + np.exp(-0.7 * score)), abs=0.12)
    kept = (data.labels == data.knowledge.labels_of(data.concepts)).mean(axis=0)
    assert 0.5 < kept[0] < 0.95 and kept[1] == 1
    held = coin.manifest.to_dict()["splits"][0]["labels"]
    assert held["y"] == {"False": int((data.labels[:, 0] == 0).sum()), "True": int(data.labels[:, 0].sum())}


def test_a_label_that_luck_does_not_give_is_unlawful(coin: Dataset) -> None:
    data = coin["test"]
    place = data.table.column_names.index("label_y")
    other = data.table.set_column(place, "label_y", numbers(1 - data.labels[:, 0]).cast(pa.bool_()))
    assert not replace(data, table=other).lawful[:, 0].any() and replace(data, table=other).lawful[:, 1].all()


def test_the_odds_are_in_the_manifest(coin: Dataset) -> None:
    label = json.loads((coin.folder / "manifest.json").read_text())["knowledge"]["labels"][0]
    assert label["odds"] == {"score": "2 * (a + b + c) - 3", "scale": 0.7} and coin.knowledge == Coin().knowledge
