"""A split in a notebook: examples by number, parts, data frames, features, pictures with captions; odd rows refused."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from assay.base import DataError, UnknownName
from assay.dataset import Dataset, SplitData
from assay.logic import TRUE, Knowledge, bits
from assay.render import Box, Layout, ObjectBox
from tests.toys import Coin, Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=7, valid=2, test=5, hard=0)


KNOWLEDGE = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "z": "a"})


def split(**columns):
    rows = len(next(iter(columns.values()))) if columns else 3
    plain_columns = {"index": np.arange(rows) + 10, "concept_a": [True, False, None][:rows], "concept_b": [True] * rows,
                     "label_y": [True, False, False][:rows], "label_z": [True, True, False][:rows], "style": ["{}"] * rows}  # fmt: skip
    return SplitData("test", "print", KNOWLEDGE, Layout(4, 2), pa.table({**plain_columns, **columns}), TRUE)


def test_an_example_by_its_number(shelf):
    data = shelf["train"]
    first, last = data[0], data[-1]
    assert last["labels"] == data[6]["labels"] and last["concepts"] == data[6]["concepts"]
    assert first["concepts"] == shelf.knowledge.space.decode(data.concepts[0]) and first["image"].size == (16, 8)
    assert first["labels"] == {"same": first["concepts"]["one"] == first["concepts"]["two"],
                               "pile": first["concepts"]["two"] != "none" and first["concepts"]["hidden"]}  # fmt: skip
    for row in (7, -8):
        with pytest.raises(IndexError, match=f"split 'train' has 7 examples, so no example {row}"):
            data[row]
    with pytest.raises(UnknownName, match="found by its number, not by 'image'"):
        data["image"]
    assert [example["labels"] for example in data] == [data[row]["labels"] for row in range(7)]
    assert data[2:5].index.tolist() == [2, 3, 4] and [len(part) for part in data.pieces(3)] == [3, 3, 1]
    assert data.take(np.array([5, 1])).index.tolist() == [5, 1]


def test_examples_without_pictures_have_concepts_and_labels():
    data = split()
    assert data[0] == {"concepts": {"a": True, "b": True}, "labels": {"y": True, "z": True}}
    assert data.index.tolist() == [10, 11, 12] and data.concepts.tolist() == [[1, 1], [0, 1], [-1, 1]]
    assert data.lawful.tolist() == [[True, True], [True, False], [True, True]]  # what is not known is not judged
    page = data._repr_html_()
    assert "<img" not in page and "a = True, b = True" in page and "y = True, z = True" in page


def test_given_codes_replace_the_true_ones_where_there_are_some():
    data = split(given_concept_b=[False, None, True], given_label_z=[False, True, True])
    assert data.annotated_concepts.tolist() == [[1, 0], [0, -1], [-1, 1]]
    assert data.given_labels.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_rows_whose_concepts_are_known():
    data = split()
    assert data.with_known_concepts("it").index.tolist() == [10, 11]
    known = data[:2]
    assert known.with_known_concepts("it") is known
    with pytest.raises(DataError, match="it needs examples whose concepts are all known; split 'test' has none"):
        data[2:].with_known_concepts("it")


def test_features_are_numbers_of_one_length():
    assert split(features=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).features.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert split(features=[[1.0], [3.0], [5.0]]).features.dtype == np.float32
    for odd in ([[1.0], [2.0, 3.0], [4.0]], [[1.0], None, [4.0]], [[1.0], [None], [4.0]], [1.0, 2.0, 3.0], [None] * 3):
        with pytest.raises(DataError, match="features must be lists of numbers of one length, without gaps"):
            split(features=pa.array(odd) if odd[0] is not None else pa.array(odd, pa.list_(pa.float64()))).features


def test_objects_texts_and_worlds(shelf):
    data = shelf["train"]
    for row in range(7):
        world = data.world(row)
        assert world.codes == tuple(data.concepts[row]) and 1000 <= world.style["distance"] < 60_000
        named = [name for name in ("one", "two") if world[name] != "none"]
        assert [thing.name for thing in data.things[row]] == named and data.texts[row].count("box") == len(named)
    assert data.things[0][0] == ObjectBox("one", Box(1, 1, 7, 7))


def test_a_data_frame_without_pictures(shelf):
    frame = shelf["train"].to_pandas()
    assert "image" not in frame and "instances" not in frame and "depth" not in frame
    assert {"index", "concept_one", "label_same", "text", "style"} <= set(frame.columns) and len(frame) == 7


def test_pictures_with_captions(shelf):
    figure = shelf["train"].plot(3)
    assert len(figure.axes) == 3
    labels = shelf["train"][1]["labels"]
    assert figure.axes[1].get_title() == f"same = {labels['same']}, pile = {labels['pile']}"
    assert len(shelf["valid"].plot().axes) == 2
    assert "<img" in shelf["train"]._repr_html_() and shelf["train"]._repr_html_().count("<tr>") == 7
    assert repr(shelf["train"]) == "Split(train: 7 examples; concepts one, two, hidden; labels same, pile)"


def test_drawn_labels_are_lawful_by_their_luck(tmp_path):
    data = written(Coin(), tmp_path / "coin", train=200, valid=2, test=3, hard=0)["train"]
    assert data.lawful.all()
    labels = data.table["label_y"].to_pylist()
    place = data.table.column_names.index("label_y")
    turned = replace(data, table=data.table.set_column(place, "label_y", pa.array([not y for y in labels])))
    assert not turned.lawful[:, 0].any() and turned.lawful[:, 1].all()


def test_a_dataset_tells_its_splits_and_shows_examples(shelf, tmp_path):
    none = written(Shelf(), tmp_path / "none", train=3, valid=2, test=3, hard=0, pairs=0)
    assert "pairs" in shelf and "pairs" not in none and shelf.split_names == ("train", "valid", "test") == tuple(shelf)
    for data, pairs in ((shelf, f"pairs {len(shelf['pairs'])}"), (none, "test 3")):
        assert pairs in repr(data) and "16 x 8, colour" in repr(data) and ", pairs" not in repr(none)
    assert shelf._repr_html_().count("<img") == 4
    with pytest.raises(DataError, match="has no counterfactual worlds: none were asked for"):
        none["pairs"]


def test_finer_concepts_are_read_where_they_are_annotated():
    fine = Knowledge.of(bits(["p", "q"]), {"a": "p and q"})
    space = bits(["b", "a"])
    knowledge = Knowledge(space, Knowledge.of(space, {"y": "a"}).labels, (), fine)
    table = pa.table({"index": [4, 5], "subconcept_q": [True, False], "subconcept_p": [False, True]})
    data = SplitData("test", "print", knowledge, Layout(1, 1), table, TRUE)
    assert data.subconcepts.tolist() == [[0, 1], [1, 0]]
    assert replace(data, table=table.select(["index", "subconcept_q"])).subconcepts is None


def test_a_split_goes_to_torch_and_answers_come_back_as_predictions(shelf):
    data = shelf["test"]
    loaded = data.torch()
    assert len(loaded) == 5 and (np.asarray(loaded[3][0]).shape[-2:] == (8, 16))
    told = data.predictions(data.labels, data.concepts, model="mine")
    assert told.split == "test" and told.about["model"] == "mine" and told.index.tolist() == data.index.tolist()
    assert (told.labels["same"].codes == data.labels[:, 0]).all() and (
        told.concepts["two"].codes == data.concepts[:, 1]
    ).all()
