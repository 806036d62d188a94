"""Sources that are less regular than they might be: rows out of order, gaps in numbers, parts that disagree."""

import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.data import Dataset, describe_import, files_in, read_rule, rule_text, to_values, values_in
from assay.data.imports import awa2, celeba, coco, cub, cvat, derm7pt, hub, importing, label_studio, plain_table, write
from assay.data.imports.chosen_names import choose
from assay.data.imports.settings import ImportSettings
from assay.data.imports.source_table import SourceTable
from assay.data.imports.splitting import assign_splits
from assay.errors import ConfigError, DataError
from assay.logic import NO_RULE
from tests.data.imports.test_readers import coco_file, cub_files, label_studio_task, person, put, rows_of
from tests.data.imports.test_writing import png


def test_a_layout_is_recognised_by_all_of_its_files(tmp_path):
    put(tmp_path / "awa2", {"predicate-matrix-binary.txt": "1\n"})
    put(tmp_path / "cub", {"images.txt": "1 a.jpg\n"})
    put(tmp_path / "coco", {"a.json": json.dumps({"images": [], "annotations": []})})
    put(tmp_path / "studio", {"a.json": json.dumps([{"annotations": []}, {"id": 2}])})
    assert not awa2.recognise(tmp_path / "awa2") and not cub.recognise(tmp_path / "cub")
    assert not coco.recognise(tmp_path / "coco") and not label_studio.recognise(tmp_path / "studio")


def test_pictures_of_celeba_lie_where_the_first_one_is(tmp_path):
    text = "Bald Young\n7.jpg 1 -1\n3.jpg -1 -1\n"
    put(tmp_path, {"list_attr_celeba.txt": text, "img_align_celeba/x.jpg": "x", "images/7.jpg": "a", "images/3.jpg": "b"})  # fmt: skip
    put(tmp_path, {"list_eval_partition.csv": "image_id,partition\n3.jpg,2\n7.jpg,1\n"})
    table = celeba.read(tmp_path, ImportSettings(labels=["Young"]))
    assert table.names == ["images/7.jpg", "images/3.jpg"] and table.splits == ["valid", "test"]
    assert table.concepts == {"Bald": [True, False]} and table.labels == {"Young": [False, False]}


def test_columns_come_in_the_order_in_which_they_are_asked_for():
    columns = {"a": [1], "b": [2], "c": [3], "d": [4]}
    concepts, labels = choose(columns, ImportSettings(concepts=["c", "a"], labels=["d", "b"]), "tag")
    assert list(concepts.items()) == [("c", [3]), ("a", [1])] and list(labels.items()) == [("d", [4]), ("b", [2])]


def test_birds_whose_numbers_have_gaps_and_no_order(tmp_path):
    home = tmp_path / "CUB_200_2011"
    put(home, cub_files(**{
        "images.txt": "40 y/b.jpg\n7 x/a.jpg\n12 y/c.jpg\n", "image_class_labels.txt": "7 1\n12 2\n40 2\n",
        "attributes/image_attribute_labels.txt": "7 1 1 4\n12 1 0 3 1.5\n40 1 0 2 1\n7 2 0 4 1\n12 2 0 4 1\n40 3 1 2\n12 9\n",
        "train_test_split.txt": "7 0\n12 1\n40 1\n",
    }))  # fmt: skip
    table = cub.read(home, ImportSettings())
    assert table.names == ["images/y/b.jpg", "images/x/a.jpg", "images/y/c.jpg"]
    assert list(table.concepts.items()) == [
        ("has_bill__long", [False, True, False]), ("blue", [None, False, False]), ("never", [True, None, None]),
    ]  # fmt: skip
    assert table.labels == {"class_name": ["002.Jay", "001.Crow", "002.Jay"]}
    assert table.splits == ["train", "test", "train"]
    (home / "attributes" / "attributes.txt").rename(tmp_path / "attributes.txt")
    assert cub.read(home, ImportSettings()).concepts == table.concepts


def test_criteria_of_skin_come_in_their_own_order(tmp_path):
    rows = "streaks,diagnosis,derm,pigment_network\nno,x,a.jpg,typical\nyes,y,b.jpg,absent\nno,x,c.jpg,absent\n"
    put(tmp_path, {"meta/meta.csv": rows, "images/a.jpg": "a", "b.jpg": "b", "images/c.jpg": "c"})
    put(tmp_path, {"meta/train_indexes.csv": "indexes\n2\n", "meta/test_indexes.csv": "indexes\n0\n"})
    table = derm7pt.read(tmp_path, ImportSettings())
    assert list(table.concepts.items()) == [
        ("pigment_network", ["typical", "absent", "absent"]), ("streaks", [False, True, False]),
    ]  # fmt: skip
    assert table.names == ["images/a.jpg", "b.jpg", "images/c.jpg"] and table.splits == ["test", "unused", "train"]


def test_animals_of_more_attributes_than_classes(tmp_path):
    put(tmp_path, {
        "classes.txt": "1 ox\n2 ant\n", "predicates.txt": "1 big\n2 red\n3 wild\n",
        "predicate-matrix-binary.txt": "1 0 0\n\n0 1 0\n", "JPEGImages/ant/1.JPG": "a", "JPEGImages/ox/2.webp": "b",
    })  # fmt: skip
    table = awa2.read(tmp_path, ImportSettings(labels=["wild"]))
    assert table.concepts == {"big": [True, False], "red": [False, True]}
    assert table.labels == {"class_name": ["ox", "ant"], "wild": [False, False]}
    assert table.names == ["JPEGImages/ox/2.webp", "JPEGImages/ant/1.JPG"]


def test_coco_files_need_not_have_the_same_categories(tmp_path):
    one = [
        {"id": 1, "file_name": "a.png", "label_y": 1},
        {"id": 4, "file_name": "b.png", "concept_k": "q", "label_y": 2},
    ]
    two = [{"id": 1, "file_name": "c.png", "label_y": 2}]
    cats = {"categories": [{"id": 3, "name": "cat"}]}
    put(tmp_path, {
        "train.json": coco_file(one, [{"image_id": 4, "category_id": 3}]),
        "val.json": coco_file(two, [{"image_id": 1, "category_id": 3}] * 3, **cats), "a.png": "", "b.png": "", "c.png": "",
    })  # fmt: skip
    table = coco.read(tmp_path, ImportSettings(counts=True))
    assert list(table.concepts.items()) == [
        ("dog", [0, 1, None]), ("hot_dog", [0, 0, None]), ("cat", [None, None, 3]), ("k", [None, "q", None]),
    ]  # fmt: skip
    assert table.labels == {"y": [1, 2, 2]} and table.splits == ["train", "train", "valid"]
    (tmp_path / "val.json").unlink()
    put(tmp_path, {"train.json": coco_file([{**one[0], "split": "dev"}, one[1]], [])})
    assert coco.read(tmp_path, ImportSettings()).splits is None
    put(tmp_path, {"train.json": coco_file([{**row, "split": "dev"} for row in one], [])})
    assert coco.read(tmp_path, ImportSettings()).splits == ["valid", "valid"]


def test_agreement_counts_where_any_picture_has_several_annotators(tmp_path):
    tasks = [
        label_studio_task(0, [person(red="yes", kind="a")], split="train"),
        label_studio_task(1, [person(red="no", kind="b"), person(red="no", kind="a"), person(red="yes")]),
    ]
    put(tmp_path, {"a.json": "[{}]", "export.json": json.dumps(tasks), "0.png": "a", "1.png": "b"})
    table = label_studio.read(tmp_path, ImportSettings(labels=["kind"]))
    assert table.agreement == {"red": [1.0, pytest.approx(2 / 3)]} and table.splits is None
    assert table.concepts == {"red": [True, False]} and table.labels == {"kind": ["a", "a"]}


@pytest.mark.parametrize("kind", ["choices", "rectanglelabels", "polygonlabels", "brushlabels", "keypointlabels"])
def test_marks_of_every_kind_are_answers(kind):
    result = [{"from_name": "a b", "type": kind, "value": {kind: ["x", " "]}}, {"from_name": "a b", "type": kind, "value": {kind: ["y"]}}]  # fmt: skip
    assert label_studio._answers({"result": result}) == {"a_b": ["x", "y"]}


@pytest.mark.parametrize("shape", ["tag", "box", "polygon", "polyline", "points", "ellipse", "cuboid", "mask"])
def test_shapes_of_every_kind_are_seen(tmp_path, shape):
    text = (
        f'<annotations><image name="a.png"><tag label="y"/><{shape} label="z one"><attribute name="big one">no</attribute></{shape}></image>'
        '<image name="b.png" subset="test"/></annotations>'
    )
    put(tmp_path, {"x.xml": text, "a.png": "a", "b.png": "b"})
    table = cvat.read(tmp_path, ImportSettings(labels=["y"]))
    assert table.concepts == {"z_one": [True, False], "z_one__big_one": [False, None]} and table.splits is None
    assert table.labels == {"y": [True, False]}


def test_the_first_of_several_columns_with_pictures_is_shown():
    cells = {"x": ["a"], "one": [{"bytes": b"1"}], "two": [{"bytes": b"2"}]}
    assert hub._picture(cells, "file") == "one" and hub._picture({**cells, "picture": [1], "img": [2]}, "no") == "img"


def test_classes_are_named_though_other_columns_are_lists():
    features = {
        "boxes": [{"dtype": "int64", "_type": "Value"}], "y": {"names": ["u", "v"], "_type": "ClassLabel"},
        "z": {"names": ["no"], "_type": "Other"},
    }  # fmt: skip
    schema = pa.schema([], metadata={"huggingface": json.dumps({"info": {"features": features}})})
    assert hub.class_names(schema) == {"y": ["u", "v"]}


def test_a_rule_that_is_given_goes_before_that_of_the_folder(tmp_path):
    rows = ["file,concept_a,concept_b,label_y,split"]
    rows += [f"{row}.png,{row % 2},{row // 2 % 2},{row % 2},{split}" for row, split in enumerate(["train"] * 4 + ["valid", "test"])]  # fmt: skip
    put(tmp_path / "mine", {"concepts.csv": "\n".join(rows), "rule.yaml": "labels: {y: b}\n"})
    for row in range(6):
        (tmp_path / "mine" / f"{row}.png").write_bytes(png(level=row))
    beside = importing.import_folder(tmp_path / "mine", tmp_path / "one")
    assert str(beside.knowledge.labels[0].formula) == "b" and beside.name == "mine"
    given = importing.import_folder(tmp_path / "mine", tmp_path / "two", {"y": "a"})
    assert str(given.knowledge.labels[0].formula) == "a"
    plain = importing.from_table(tmp_path / "mine" / "concepts.csv", tmp_path / "three", rule={"y": "a and not a or a"})
    assert plain["train"].concepts.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert [image.mean() for image in plain["train"].images] == [0, 1, 2, 3] and plain.name == "three"


def test_a_label_may_be_called_as_a_part_of_the_rule_file():
    assert importing._rule({"splits": "a", "y": "b"}).values == {"labels": {"splits": "a", "y": "b"}}
    assert importing._rule({"labels": {"y": "a"}, "splits": {}}).values == {"labels": {"y": "a"}, "splits": {}}


def test_pictures_beyond_the_rows_are_refused(tmp_path):
    columns = {"concept_a": [1, 0], "label_y": [1, 0]}
    with pytest.raises(DataError, match="3 pictures for 2 rows of the table"):
        importing.from_table(columns, tmp_path / "out", images=[np.zeros((8, 8), np.uint8)] * 3)


def test_only_the_beginning_of_a_column_tells_what_it_is():
    columns = {"concept_a": [1], "my_concept_b": [2], "label_y": [0], "old_label_z": [3]}
    table = plain_table.table_from(columns, None, ImportSettings(), [b"x"])
    assert table.concepts == {"a": [1]} and table.labels == {"y": [0]}


def test_a_rule_has_its_constraints_and_a_formula_for_every_label():
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("s", ("p", "q"))))
    rule = read_rule(
        Settings({"labels": {"y": "a", "z": "n"}, "constraints": {"few": "n < 2"}}), space, ["z", "y"], ["train"]
    )
    assert [(label.name, str(label.formula)) for label in rule.knowledge.labels] == [("z", "n"), ("y", "a")]
    assert [(c.name, str(c.formula)) for c in rule.knowledge.constraints] == [("few", "n < 2")]
    with pytest.raises(ConfigError, match="labels: expected a formula for each of z, y"):
        read_rule(Settings({"labels": {"y": "a"}}), space, ["z", "y"], ["train"])
    with pytest.raises(ConfigError, match="splits: s of 'train' must be true or false"):
        read_rule(Settings({"splits": {"train": "s"}}), space, ["y"], ["train"])


def test_a_share_of_nothing_is_refused():
    with pytest.raises(ValueError, match="expected shares between 0 and 1"):
        ImportSettings(shares={"train": 0.5, "valid": 0.5, "test": 0.0})


def test_a_folder_beside_with_a_longer_name_lies_outside(tmp_path):
    put(tmp_path, {"in/a.png": "a", "in2/b.png": "b"})
    with pytest.raises(DataError, match=r"picture '../in2/b.png' lies outside the folder"):
        files_in(tmp_path / "in", ["a.png", "../in2/b.png"])


def test_numbers_are_sorted_as_numbers():
    assert values_in([10, 9, None, 100], "a") == (9, 10, 100) and values_in([0, 0], "a") == (False, True)
    assert to_values(["YES", " No ", "maybe"], "a") == ["YES", "No", "maybe"]


def test_shares_are_rounded_and_each_split_gets_a_row():
    shares = {"train": 0.8, "valid": 0.15, "test": 0.05}
    made = assign_splits(rows_of(17), shares, 3)
    assert {name: made.count(name) for name in shares} == {"train": 13, "valid": 3, "test": 1}
    made = assign_splits(rows_of(5), shares, 3)
    assert {name: made.count(name) for name in shares} == {"train": 3, "valid": 1, "test": 1}


def test_groups_fill_a_split_by_their_rows():
    sources = [(f"s{row // 3}",) for row in range(30)]
    made = assign_splits(rows_of(30, sources=sources), {"train": 0.6, "valid": 0.2, "test": 0.2}, 1)
    assert {name: made.count(name) for name in ("train", "valid", "test")} == {"train": 18, "valid": 6, "test": 6}
    lone = assign_splits(rows_of(20, sources=[()] * 20), {"train": 0.5, "test": 0.5}, 0)
    assert lone.count("test") == 10


def test_words_of_an_import_without_gaps_or_rule():
    about = {"layout": "x", "examples": 5, "resize": "crop", "splits": "made", "agreement": 0.0, "missing": {"a": 0.0}}
    assert describe_import(about) == (
        "imported from x: 5 examples, splits made, pictures resized by crop; annotators agree to 0 %"
    )
    assert rule_text(str(NO_RULE)) == "not known"


IRREGULAR = SourceTable(
    [png(level=row) for row in (3, 1, 4, 15, 9, 2, 6)],
    ["c", "a", "d", "o", "i", "b", "f"],
    {"n": [2, 0, 1, 2, None, 1, 0], "a": [True, False, True, None, True, False, False]},
    {"y": [True, False, False, True, True, False, False], "k": ["v", "u", "v", "u", "u", "w", "u"]},
    ["train", "train2", "train", "test", "train", "valid", "train"],
    {"n": [0.5, 1.0, 0.25, None, 0.0, 1.0, 0.75]},
    {"light": [1.5, "dim", None, True, 7, [1], 2]},
    [("p",), (), ("q", "r"), (), ("s",), (), ("t",)],
    ["t0", "t1", "t2", "t3", "t4", "t5", "t6"],
)  # fmt: skip


def test_every_row_is_written_with_what_belongs_to_it(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "SHARD_ROWS", 3)
    rule = {
        "labels": {"y": "a and n == 2", "k": "'v' if a else ('w' if n > 0 else 'u')"},
        "disjoint": [["train", "test"]],
    }
    write.write_dataset(IRREGULAR, tmp_path / "out", ImportSettings(), Settings(rule), "a list")
    data = Dataset.open(tmp_path / "out")
    assert data.split_names == ("train", "valid", "test", "train2") and data.name == "imported"
    train = data["train"]
    assert train.index.tolist() == [0, 1, 2, 3] and train.texts == ["t0", "t2", "t4", "t6"]
    assert train.concepts.tolist() == [[2, 1], [1, 1], [-1, 1], [0, 0]]
    assert [label.values for label in data.knowledge.labels] == [(False, True), ("v", "w", "u")]
    assert train.labels.tolist() == [[1, 0], [0, 0], [1, 2], [0, 2]]
    assert [int(image.max()) for image in train.images] == [3, 4, 9, 6]
    styles = [json.loads(text) for text in train.table["style"].to_pylist()]
    assert [style["light"] for style in styles] == [1.5, None, 7, 2]
    assert [style["sources"] for style in styles] == [["p"], ["q", "r"], ["s"], ["t"]]
    assert [style["content"] for style in styles] == [
        {"file": name, "agreement": {"n": share}} for name, share in (("c", 0.5), ("d", 0.25), ("i", 0.0), ("f", 0.75))
    ]
    assert json.loads(data["test"].table["style"][0].as_py())["content"] == {"file": "o"}
    assert json.loads(data["valid"].table["style"][0].as_py())["light"] == "[1]"
    known = data.knowledge.boundaries
    codes = train.concepts[[0, 1, 3]]
    for name, boundary in zip(("y", "k"), known, strict=True):
        tags = boundary.tags(codes)
        assert train.table[f"boundary_{name}"].to_pylist() == [tags[0], tags[1], "not placed", tags[2]]
    entry = data.manifest["splits"][0]
    assert [shard["rows"] for shard in entry["shards"]] == [3, 1] and entry["share"] == [0.0, 0.571429]
    assert entry["labels"] == {"y": {"False": 2, "True": 2}, "k": {"u": 2, "v": 2}}
    assert entry["disjoint_from"] == ["test"] and data.manifest["splits"][1]["disjoint_from"] == []
    tags = [tag for text in train.table["boundary_k"].to_pylist() for tag in text.split("; ")]
    assert entry["boundary"]["k"] == {tag: tags.count(tag) for tag in sorted(tags)}
    about = data.manifest["task"]["imported"]
    assert about["missing"] == {"train": 0.125, "valid": 0.0, "test": 0.5, "train2": 0.0}
    assert about["agreement"] == pytest.approx(3.5 / 6, abs=1e-4)


def test_where_pictures_come_from_depends_on_all_of_them(tmp_path):
    def hashed(*rows):
        table = IRREGULAR.take(rows)
        return write.describe_source(table, "x", write.fit_for(table.pictures, table.names, None, "crop"), ImportSettings())["pictures_sha256"]  # fmt: skip

    assert hashed(0, 1, 2) == hashed(0, 1, 2) and len({hashed(0, 1, 2), hashed(1, 0, 2), hashed(1, 2), hashed(2)}) == 4


def test_an_import_keeps_to_its_settings(tmp_path):
    table = SourceTable([png(12, 8, level=row) for row in range(20)], [str(row) for row in range(20)],
                        {"a": [row % 2 for row in range(20)]}, {"y": [row % 3 for row in range(20)]})  # fmt: skip
    asked = ImportSettings(seed=5, resize="stretch", size=(8, 16), shares={"train": 0.5, "test": 0.5}, name="mine")
    manifest = write.write_dataset(table, tmp_path / "out", asked, Settings(), "x")
    data = Dataset.open(tmp_path / "out")
    splits = assign_splits(table, asked.shares, 5)
    assert splits != assign_splits(table, asked.shares, 0)
    assert data["test"].labels[:, 0].tolist() == [row % 3 for row in range(20) if splits[row] == "test"]
    assert (data.layout.width, data.layout.height) == (8, 16) and data.name == "mine"
    assert manifest["task"]["imported"]["resize"] == "stretch"
    assert all(len(np.unique(image)) == 1 for image in data["test"].images)  # a letterbox has bars


def test_a_value_that_the_rule_never_gives_is_refused_in_any_row():
    with pytest.raises(DataError, match="x: the rule never gives the value 'c'"):
        write._codes(["a", None, "b", "c"], ("a", "b"), "x")


def test_the_picture_whose_label_is_empty_is_named(tmp_path):
    table = SourceTable([png(level=row) for row in range(4)], list("pqrs"), {"a": [0, 1, 0, 1]},
                        {"y": [0, 1, 0, 1], "z": ["u", "v", None, None]}, ["train", "valid", "train", "test"])  # fmt: skip
    with pytest.raises(DataError, match="label 'z' of picture 'r' is empty"):
        write.write_dataset(table, tmp_path / "out", ImportSettings(), Settings(), "x")


def test_the_same_import_may_be_written_again(tmp_path):
    table = IRREGULAR.take([0, 5, 3, 6])
    first = write.write_dataset(table, tmp_path / "out", ImportSettings(), Settings(), "x")
    assert write.write_dataset(table, tmp_path / "out", ImportSettings(), Settings(), "x") == first
    with pytest.raises(DataError, match="is not an empty folder; choose another"):
        write.write_dataset(table, tmp_path / "out", ImportSettings(seed=1), Settings(), "x")
    assert write._is_imported(tmp_path / "out") and not write._is_imported(tmp_path)


def test_labels_are_those_of_their_prefix_where_only_concepts_are_named():
    columns = {"concept_a": [1], "concept_b": [2], "label_y": [0], "label_z": [3]}
    table = plain_table.table_from(columns, None, ImportSettings(concepts=["b"]), [b"x"])
    assert table.concepts == {"b": [2]} and table.labels == {"y": [0], "z": [3]}
    table = plain_table.table_from(columns, None, ImportSettings(labels=["label_z"]), [b"x"])
    assert table.concepts == {"a": [1], "b": [2]} and table.labels == {"z": [3]}


def test_columns_that_are_asked_for_go_before_those_with_a_prefix():
    columns = {
        "y": ["no", "yes"], "label_y": [3, 4], "concept_red@ann": [1, 0], "concept_red@bob": [1, 1], "concept_wide": [0, 1],
        "concept_n=4": [0.75, 0.125], "concept_n=7": [0.25, 0.5], "size": [5, 6], "concept_size": [7, 8],
    }  # fmt: skip
    asked = ImportSettings(labels=["y"], concepts=["size", "n=7", "red@bob", "n=4", "red@ann"])
    table = plain_table.table_from(columns, None, asked, [b"x", b"z"])
    assert list(table.concepts.items()) == [("size", [5, 6]), ("n", [4, 7]), ("red", [1, 0])]  # the least of two votes
    assert table.labels == {"y": [False, True]}
    assert table.agreement == {"n": [0.75, 0.5], "red": [1.0, 0.5]} and table.names == ["0.png", "1.png"]
    usual = plain_table.table_from(columns, None, ImportSettings(), [b"x", b"z"])
    assert list(usual.concepts) == ["red", "wide", "n", "size"] and usual.labels == {"y": [3, 4]}
    assert usual.concepts["size"] == [7, 8] and usual.concepts["wide"] == [0, 1]


def test_names_that_are_alike_once_they_are_plain_stay_apart():
    columns = {
        "concept_a b": [1, 0],
        "concept_a-b": [2, 3],
        "label_a b": [0, 1],
        "label_class": [4, 5],
        "concept_5": [6, 7],
    }
    table = plain_table.table_from(columns, None, ImportSettings(), [b"x", b"z"])
    assert table.concepts == {"a_b": [1, 0], "a_b_2": [2, 3], "n5": [6, 7]}
    assert table.labels == {"a_b": [0, 1], "class_": [4, 5]}


class Part:
    """A split as `datasets` has it."""

    def __init__(self, table, **classes):
        self.table = table
        self.features = {name: SimpleNamespace(names=names) for name, names in classes.items()} | {"a": object()}

    def with_format(self, kind):
        assert kind == "arrow"
        return self

    def __getitem__(self, rows):
        assert rows == slice(None)
        return self.table


def hugging_face(levels, classes):
    cells = [{"bytes": png(level=level), "path": None} for level in levels]
    return pa.table({"image": cells, "a": [level % 2 for level in levels], "y": classes})


def test_splits_of_hugging_face_get_their_usual_names_and_classes_theirs(tmp_path):
    parts = {
        "training": Part(hugging_face([1, 2, 3], [0, 1, 0]), y=["calm", "loud"]),
        "validation": Part(hugging_face([4], [1]), y=["calm", "loud"]),
        "testing": Part(hugging_face([5, 6], [1, 0]), y=["calm", "loud"]),
    }
    data = importing.from_hf(
        parts, tmp_path / "out", rule={"y": "'calm' if a else 'loud'"}, labels=["y"], concepts=["a"]
    )
    assert data.split_names == ("train", "valid", "test") and data.name == "out"
    assert data.knowledge.labels[0].values == ("calm", "loud") and data["test"].labels[:, 0].tolist() == [1, 0]
    assert [int(image.max()) for image in data["train"].images] == [1, 2, 3]
    assert data.manifest["task"]["imported"]["layout"] == "a Hugging Face dataset" and data.knowledge.has_rule
    alone = importing.from_hf(
        Part(hugging_face(range(12), [0, 1] * 6), y=["u", "v"]),
        tmp_path / "alone",
        labels=["y"],
        concepts=["a"],
        name="mine",
    )
    assert alone.name == "mine" and sum(len(alone[name]) for name in alone.split_names) == 12


def test_a_folder_of_hugging_face_is_imported_with_its_rule(monkeypatch):
    asked = []
    monkeypatch.setattr(importing, "import_folder", lambda *given: asked.append(given) or "data")
    assert importing.from_hf("folder", "out", rule={"y": "a"}, labels=["y"]) == "data"
    ((source, output, rule, settings),) = asked
    assert (source, output, rule) == ("folder", "out", {"y": "a"})
    assert dict(settings.values) == {"layout": "hf", "labels": ["y"]}


def test_rows_that_are_not_used_are_left_out_of_any_order(tmp_path):
    table = SourceTable([png(level=row) for row in range(6)], [str(row) for row in range(6)], {"a": [0, 1, 0, 1, 0, 1]},
                        {"y": [0, 1, 1, 0, 1, 0]}, ["unused", "test", "train", "unused", "valid", "train"])  # fmt: skip
    data = importing._write(table, tmp_path / "out", ImportSettings(), None, "x", "n")
    assert {name: [int(image.max()) for image in data[name].images] for name in data.split_names} == {
        "train": [2, 5], "valid": [4], "test": [1],
    }  # fmt: skip
