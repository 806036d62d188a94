"""What each layout is read into, cell by cell: names, values, gaps, splits, agreement; and what is refused."""

import json

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.data import describe_import, files_in, plain_name, read_rule, rule_settings, rule_text, to_values, values_in
from assay.data.imports import awa2, celeba, chosen_names, coco, cub, cvat, derm7pt, label_studio, layouts, plain_table
from assay.data.imports.settings import ImportSettings
from assay.data.imports.source_table import Files, SourceTable, majority, plain_names, read_text, split_name, to_value
from assay.data.imports.splitting import assign_splits, split_order
from assay.errors import AssayError, ConfigError, DataError, UnknownName


def put(folder, files):
    """Write texts by their paths, and a byte for each path that ends like a picture."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def settings(**values):
    return ImportSettings(**values)


# cells


def test_cells_mean_truth_numbers_texts_or_nothing():
    cells = {
        " Yes ": True, "NO": False, "true": True, "False": False, "-3": -3, "3.5": "3.5", " red ": "red", "n/a": None,
        "?": None, "NaN": None, "Null": None, "": None,
    }  # fmt: skip
    assert {cell: to_value(cell) for cell in cells} == cells
    assert [to_value(np.int64(4)), to_value(np.bool_(True)), to_value(2.0), to_value(float("nan")), to_value(None)] == [
        4, True, 2, None, None,
    ]  # fmt: skip
    for cell in (2.5, np.float64(0.25), [1], b"a"):
        with pytest.raises(DataError, match="^here: .* is no truth value, whole number or text"):
            to_value(cell, "here")


def test_a_column_of_texts_keeps_its_words():
    assert to_values(["yes", "no", "?", "maybe"], "a") == ["yes", "no", None, "maybe"]
    assert to_values([" 1 ", 2, "3+"], "a") == ["1", "2", "3+"]
    assert to_values(["true", "red", True], "a") == [True, "red", True]
    assert to_values(["1", "yes", None], "a") == [1, True, None]


def test_values_of_a_column_are_sorted():
    assert values_in([3, None, 1, 3], "a") == (1, 3) and values_in([1], "a") == (False, True)
    assert values_in([0, 1, 2], "a") == (0, 1, 2) and values_in(["b", 2, "a"], "a") == (2, "a", "b")
    with pytest.raises(DataError, match="^a has no value in any row"):
        values_in([None], "a")


def test_names_that_formulas_can_hold():
    assert plain_name("a::b (c)") == "a__b_c" and plain_name("7up") == "n7up" and plain_name("--") == "unnamed"
    assert [plain_name(text) for text in ("if", "true", "false", "True_")] == ["if_", "true_", "false_", "True_"]
    assert plain_names(["a b", "a-b", "a.b"]) == {"a b": "a_b", "a-b": "a_b_2", "a.b": "a_b_3"}


def test_the_majority_counts_and_the_least_of_several():
    assert majority([2, 1, 2]) == (2, pytest.approx(2 / 3)) and majority(["b", "a"]) == ("a", 0.5)
    assert majority([]) == (None, None)


def test_splits_have_their_usual_names():
    names = {
        " Val ": "valid",
        "dev": "valid",
        "validation": "valid",
        "TRAINING": "train",
        "testing": "test",
        " Mine ": "Mine",
    }
    assert {text: split_name(text) for text in names} == names


def test_files_are_read_from_the_folder_alone(tmp_path):
    put(tmp_path, {"in/a.png": "a", "in/b.png": "bb", "out.png": "x"})
    files = files_in(tmp_path / "in", ["b.png", "a.png"])
    assert len(files) == 2 and files[0] == b"bb" and list(files[1:]) == [b"a"] and files[1:].names == ("a.png",)
    with pytest.raises(DataError, match=r"picture '../out.png' lies outside the folder"):
        files_in(tmp_path / "in", ["../out.png"])
    with pytest.raises(DataError, match="picture 'c.png' is missing"):
        files_in(tmp_path / "in", ["c.png"])
    with pytest.raises(DataError, match="picture 'gone.png' cannot be read: No such file"):
        Files(tmp_path, ("gone.png",))[0]


def test_texts_are_read_as_utf8(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfabc")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe")
    assert read_text(tmp_path / "a.txt") == "abc"
    with pytest.raises(DataError, match="is not UTF-8 text"):
        read_text(tmp_path / "b.txt")
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_text(tmp_path / "c.txt")
    from assay.data.imports import source_table

    monkeypatch.setattr(source_table, "LARGEST_FILE", 6)
    assert read_text(tmp_path / "a.txt") == "abc"
    monkeypatch.setattr(source_table, "LARGEST_FILE", 5)
    with pytest.raises(DataError, match="is larger than 5 bytes; divide it"):
        read_text(tmp_path / "a.txt")


def test_some_rows_of_a_table():
    table = SourceTable(
        [b"a", b"b", b"c"], ["1", "2", "3"], {"x": [1, 2, 3]}, {"y": [4, 5, 6]}, ["train", "valid", "test"],
        {"x": [0.5, 0.6, 0.7]}, {"n": [7, 8, 9]}, [("s",), ("t",), ("u",)], ["p", "q", "r"],
    )  # fmt: skip
    assert len(table) == 3
    assert table.take([2, 0]) == SourceTable(
        [b"c", b"a"], ["3", "1"], {"x": [3, 1]}, {"y": [6, 4]}, ["test", "train"],
        {"x": [0.7, 0.5]}, {"n": [9, 7]}, [("u",), ("s",)], ["r", "p"],
    )  # fmt: skip
    bare = SourceTable([b"a", b"b"], ["1", "2"], {}, {}).take([1])
    assert (bare.splits, bare.sources, bare.texts) == (None, (), ())


# which are labels


def test_labels_and_concepts_are_as_asked_for():
    columns = {"red": [1], "is_round": [2], "big": [3]}
    assert chosen_names.choose(columns, settings(labels=["is round"]), "tag") == (
        {"red": [1], "big": [3]},
        {"is_round": [2]},
    )
    assert chosen_names.choose(columns, settings(concepts=["big"]), "tag") == ({"big": [3]}, {})
    with pytest.raises(ConfigError, match="'big' cannot be both a concept and a label"):
        chosen_names.choose(columns, settings(concepts=["red", "big"], labels=["big"]), "tag")
    with pytest.raises(UnknownName, match="there is no tag 'rod'; did you mean 'red'"):
        chosen_names.choose(columns, settings(labels=["rod"]), "tag")
    assert chosen_names.need_label({"a": 1}, columns, "tag") == {"a": 1}
    many = {f"n{number}": 0 for number in range(9)}
    with pytest.raises(ConfigError, match="say which tag is the label: --label NAME, one or more of: n0, .* n6, n7$"):
        chosen_names.need_label({}, many, "tag")


# layouts


def test_derm7pt(tmp_path):
    rows = "derm,clinic,diagnosis,streaks,pigmentation,other\na.jpg,x.jpg,nevus,absent,1,5\nimages/b.jpg,x.jpg,melanoma,regular,0,6\n"
    put(tmp_path, {"meta/meta.csv": rows, "images/a.jpg": "a", "images/b.jpg": "b", "images/x.jpg": "x"})
    assert derm7pt.recognise(tmp_path) and not derm7pt.recognise(tmp_path / "meta")
    table = derm7pt.read(tmp_path, settings())
    assert table.concepts == {"streaks": ["absent", "regular"], "pigmentation": [1, 0]}
    assert table.labels == {"diagnosis": ["nevus", "melanoma"]} and table.splits is None
    assert table.names == ["images/a.jpg", "images/b.jpg"]
    other = derm7pt.read(tmp_path, settings(picture="clinic", labels=["other"], concepts=["diagnosis"]))
    assert other.names == ["images/x.jpg"] * 2 and other.labels == {"other": [5, 6]}
    assert other.concepts == {"diagnosis": ["nevus", "melanoma"]}
    put(tmp_path, {"meta/train_indexes.csv": "indexes\n1\n", "meta/test_indexes.csv": "indexes\n"})
    with pytest.raises(DataError, match="holds no example"):
        derm7pt.read(tmp_path, settings())
    (tmp_path / "meta" / "test_indexes.csv").unlink()
    assert derm7pt.read(tmp_path, settings()).splits == ["unused", "train"]
    put(tmp_path, {"meta/valid_indexes.csv": "indexes\n0\n"})
    assert derm7pt.read(tmp_path, settings()).splits == ["valid", "train"]
    for bad in ("2", "-1", "x"):
        put(tmp_path, {"meta/valid_indexes.csv": f"indexes\n{bad}\n"})
        with pytest.raises(DataError, match=f"valid_indexes.csv: '{bad}' is no row of meta/meta.csv, which has 2"):
            derm7pt.read(tmp_path, settings())
    put(tmp_path, {"meta/meta.csv": "a,b\n1,2\n"})
    with pytest.raises(DataError, match="has no column 'derm' with the picture"):
        derm7pt.read(tmp_path, settings())


def test_celeba(tmp_path):
    text = "2\nBald 5_o_Clock Young\n1.jpg 1 -1 0\n2.jpg -1 1 1\n"
    put(tmp_path, {"Anno/list_attr_celeba.txt": text, "img_celeba/1.jpg": "a", "img_celeba/2.jpg": "b"})
    assert celeba.recognise(tmp_path) and not celeba.recognise(tmp_path / "Anno" / "no")
    table = celeba.read(tmp_path, settings(labels=["Young"]))
    assert table.concepts == {"Bald": [True, False], "n5_o_Clock": [False, True]}
    assert table.labels == {"Young": [False, True]} and table.splits is None
    assert table.names == ["img_celeba/1.jpg", "img_celeba/2.jpg"]
    with pytest.raises(ConfigError, match="say which attribute is the label: .*: Bald, n5_o_Clock, Young"):
        celeba.read(tmp_path, settings())
    put(tmp_path, {"Eval/list_eval_partition.txt": "2.jpg 2\n1.jpg 1\n"})
    assert celeba.read(tmp_path, settings(labels=["Young"])).splits == ["valid", "test"]
    put(tmp_path, {"Eval/list_eval_partition.txt": "2.jpg 0\n"})
    assert celeba.read(tmp_path, settings(labels=["Young"])).splits == ["train", "train"]
    put(tmp_path, {"list_attr_celeba.csv": "image_id, Bald,Young\n2.jpg, ,1\n"})
    assert celeba.read(tmp_path, settings(labels=["Young"])).concepts == {"Bald": [None]}
    for bad in ("image_id,Bald,Young\n2.jpg,3,1\n", "image_id,Bald,Young\n2.jpg,1\n"):
        put(tmp_path, {"list_attr_celeba.csv": bad})
        with pytest.raises(DataError, match="expected a file name and 2 attributes of 1 or -1 in each line"):
            celeba.read(tmp_path, settings(labels=["Young"]))
    put(tmp_path, {"list_attr_celeba.csv": "image_id,Bald\n"})
    with pytest.raises(DataError, match="list_attr_celeba.csv lists no picture"):
        celeba.read(tmp_path, settings(labels=["Bald"]))
    with pytest.raises(DataError, match=r"has no list_attr_celeba.txt or .csv"):
        celeba.read(tmp_path / "Eval" / "no", settings())


def cub_files(**more):
    return {
        "images.txt": "1 x/a.jpg\n2 y/b.jpg\n3 y/c.jpg\n", "classes.txt": "1 001.Crow\n2 002.Jay\n",
        "image_class_labels.txt": "1 1\n2 2\n3 2\n", "attributes/attributes.txt": "1 has_bill::long\n2 blue\n3 never\n",
        "attributes/image_attribute_labels.txt":
            "1 1 1 4 2.0\n1 2 0 3 1.0\n2 1 0 1 1.0\n2 2 1 2 1 0\n3 1 0 4 1\n3 3 1 1 1\n\n",
        "images/x/a.jpg": "a", "images/y/b.jpg": "b", "images/y/c.jpg": "c", **more,
    }  # fmt: skip


def test_cub(tmp_path):
    put(tmp_path, cub_files())
    assert cub.recognise(tmp_path)
    table = cub.read(tmp_path, settings())
    assert table.concepts == {"has_bill__long": [True, None, False], "blue": [False, True, None]}
    assert table.labels == {"class_name": ["001.Crow", "002.Jay", "002.Jay"]} and table.splits is None
    assert table.names == ["images/x/a.jpg", "images/y/b.jpg", "images/y/c.jpg"]
    put(tmp_path, {"train_test_split.txt": "1 1\n2 0\n"})
    chosen = cub.read(tmp_path, settings(labels=["blue"]))
    assert chosen.splits == ["train", "test", "test"] and list(chosen.labels) == ["class_name", "blue"]
    for line in ("4 1 1 4 1", "1 9 1 4 1", "1 1 2 4 1"):
        put(tmp_path, {"attributes/image_attribute_labels.txt": f"{line}\n"})
        with pytest.raises(DataError, match=f"expected 'image attribute 0|1 certainty', found '{line}'"):
            cub.read(tmp_path, settings())
    put(tmp_path, cub_files(**{"image_class_labels.txt": "1 1\n2 7\n3 2\n"}))
    with pytest.raises(DataError, match="image_class_labels.txt or classes.txt lacks '7'"):
        cub.read(tmp_path, settings())
    (tmp_path / "attributes" / "attributes.txt").unlink()
    with pytest.raises(DataError, match="has no attributes.txt"):
        cub.read(tmp_path, settings())
    put(tmp_path, {"attributes.txt": "1 a\n2 b\n3 c\n", "image_class_labels.txt": "1 1\n2 2\n3 2\n"})
    assert list(cub.read(tmp_path, settings()).concepts) == ["a", "b"]
    (tmp_path / "images.txt").unlink()
    assert not cub.recognise(tmp_path)


def test_awa2(tmp_path):
    put(tmp_path, {
        "classes.txt": " 1\tgrey+wolf\n 2\tox\n", "predicates.txt": "1 black\n2 has tail\n",
        "predicate-matrix-binary.txt": "1 0\n0 1\n", "JPEGImages/ox/2.jpg": "a", "JPEGImages/ox/1.PNG": "b",
        "JPEGImages/grey+wolf/3.jpg": "c", "JPEGImages/ox/notes.txt": "x",
    })  # fmt: skip
    assert awa2.recognise(tmp_path) and not awa2.recognise(tmp_path / "JPEGImages")
    table = awa2.read(tmp_path, settings(labels=["black"]))
    assert table.names == ["JPEGImages/grey+wolf/3.jpg", "JPEGImages/ox/1.PNG", "JPEGImages/ox/2.jpg"]
    assert table.concepts == {"has_tail": [False, True, True]}
    assert table.labels == {"class_name": ["grey+wolf", "ox", "ox"], "black": [True, False, False]}
    for matrix in ("1 0\n", "1 0\n0 1\n1 1\n", "1\n0\n", "1 0\n0 2\n"):
        put(tmp_path, {"predicate-matrix-binary.txt": matrix})
        with pytest.raises(DataError, match="expected 2 rows of 2 zeros and ones"):
            awa2.read(tmp_path, settings())
    put(tmp_path, {"classes.txt": "1 cow\n", "predicate-matrix-binary.txt": "1 0\n"})
    with pytest.raises(DataError, match="has no pictures in JPEGImages/CLASS/"):
        awa2.read(tmp_path, settings())


def coco_file(images, annotations, **more):
    categories = [{"id": 3, "name": "dog"}, {"id": 5, "name": "hot dog"}]
    return json.dumps({"images": images, "annotations": annotations, "categories": categories, **more})


def test_coco(tmp_path):
    images = [
        {"id": 1, "file_name": "a.png", "label_y": "x", "concept_n": 3},
        {"id": 2, "file_name": "b.png", "label_y": "z"},
    ]
    seen = [{"image_id": 1, "category_id": 5}, {"image_id": 1, "category_id": 5}, {"image_id": 2, "category_id": 3}]
    put(tmp_path, {"all.json": coco_file(images, seen), "images/a.png": "a", "b.png": "b"})
    assert coco.recognise(tmp_path) and not coco.recognise(tmp_path / "images")
    table = coco.read(tmp_path, settings())
    assert table.concepts == {"dog": [False, True], "hot_dog": [True, False], "n": [3, None]}
    assert table.labels == {"y": ["x", "z"]} and table.splits is None and table.names == ["images/a.png", "b.png"]
    counted = coco.read(tmp_path, settings(counts=True, labels=["dog"]))
    assert counted.concepts == {"hot_dog": [2, 0], "n": [3, None]}
    assert counted.labels == {"dog": [0, 1], "y": ["x", "z"]}
    bare = [{"id": 1, "file_name": "a.png"}]
    put(tmp_path, {"all.json": coco_file(bare, [])})
    with pytest.raises(ConfigError, match="say which category is the label"):
        coco.read(tmp_path, settings())
    put(tmp_path, {"all.json": coco_file(bare, [{"image_id": 9, "category_id": 3}])})
    with pytest.raises(DataError, match="a COCO file lacks 9"):
        coco.read(tmp_path, settings())
    put(tmp_path, {"all.json": "[]"})
    with pytest.raises(DataError, match="has no JSON file with images, annotations and categories"):
        coco.read(tmp_path, settings())


def test_coco_files_tell_their_split(tmp_path):
    one = {"id": 1, "file_name": "a.png", "label_y": 1}
    put(tmp_path, {
        "annotations/instances_train2017.json": coco_file([one], []),
        "annotations/instances_val2017.json": coco_file([{**one, "file_name": "b.png"}], []),
        "extra.json": coco_file([{**one, "split": "testing", "file_name": "c.png"}], []),
        "broken.json": "{", "a.png": "a", "b.png": "b", "c.png": "c",
    })  # fmt: skip
    table = coco.read(tmp_path, settings())
    assert dict(zip(table.names, table.splits, strict=True)) == {"a.png": "train", "b.png": "valid", "c.png": "test"}
    assert coco._split_of(tmp_path / "valid" / "_annotations.coco.json") == "valid"
    assert (
        coco._split_of(tmp_path / "x" / "dev-2.json") == "valid"
        and coco._split_of(tmp_path / "x" / "odd.json") == "odd"
    )
    put(tmp_path, {"test/d.png": "d"})
    place = tmp_path / "set" / "_annotations.coco.json"
    put(tmp_path, {"set/e.png": "e"})
    assert (
        coco._place(tmp_path, place, "d.png") == "test/d.png" and coco._place(tmp_path, place, "e.png") == "set/e.png"
    )
    assert coco._place(tmp_path, place, "none.png") == "none.png"


def label_studio_task(number, people, **data):
    return {"id": number, "data": {"image": f"http://host/data/upload/7/{number}.png", **data}, "annotations": people}


def person(cancelled=False, **answers):
    kinds = {"stars": "rating", "age": "number", "box": "rectanglelabels"}
    result = []
    for name, given in answers.items():
        kind = kinds.get(name, "choices")
        value = given if kind in ("rating", "number") else given if isinstance(given, list) else [given]
        result.append({"from_name": name, "type": kind, "value": {kind: value}})
    result.append({"from_name": "note", "type": "textarea", "value": {"text": ["x"]}})
    return {"result": result, **({"was_cancelled": True} if cancelled else {})}


def test_label_studio(tmp_path):
    tasks = [
        label_studio_task(0, [person(red="yes", kind="a", stars=3, marks=["p", "q"]), person(red="no", kind="b", marks=["q"]),
                              person(red="yes", kind="b", stars=4, age=7)], split="val"),
        label_studio_task(1, [person(red="no", kind="b", box="car"), person(cancelled=True, red="yes", kind="a")], split="train"),
    ]  # fmt: skip
    put(tmp_path, {"export.json": json.dumps(tasks), "aaa.json": "{", "images/0.png": "a", "upload/7/1.png": "b"})
    assert label_studio.recognise(tmp_path) and not label_studio.recognise(tmp_path / "images")
    table = label_studio.read(tmp_path, settings(labels=["kind"]))
    assert table.names == ["images/0.png", "upload/7/1.png"] and table.splits == ["valid", "train"]
    assert table.labels == {"kind": ["b", "b"]}
    assert table.concepts == {
        "red": [True, False], "stars": [3, None], "marks__p": [False, False], "marks__q": [True, False],
        "age": [7, None], "box": [None, "car"],
    }  # fmt: skip
    assert table.agreement["red"] == pytest.approx([2 / 3, 1.0]) and table.agreement["stars"] == [0.5, None]
    assert table.agreement["marks__q"] == pytest.approx([2 / 3, 1.0]) and set(table.agreement) == set(table.concepts)
    with pytest.raises(ConfigError, match="say which question is the label"):
        label_studio.read(tmp_path, settings())


def test_label_studio_with_one_annotator_has_no_agreement(tmp_path):
    tasks = [label_studio_task(0, [person(red="yes", kind="a")], part="test"), label_studio_task(1, [person(red="no")])]
    put(tmp_path, {"export.json": json.dumps(tasks), "0.png": "a", "1.png": "b"})
    table = label_studio.read(tmp_path, settings(labels=["kind"]))
    assert table.agreement == {} and table.splits is None and table.labels == {"kind": ["a", None]}
    tasks[1]["data"]["part"] = "train"
    put(tmp_path, {"export.json": json.dumps(tasks)})
    assert label_studio.read(tmp_path, settings(labels=["kind"], split="part")).splits == ["test", "train"]
    del tasks[0]["data"]["image"]
    put(tmp_path, {"export.json": json.dumps(tasks)})
    with pytest.raises(DataError, match="a task has no picture under image, img"):
        label_studio.read(tmp_path, settings(labels=["kind"]))
    tasks[0]["data"]["shot"] = "/data/local-files/?d=deep/0.png"
    tasks[1]["data"]["shot"] = "gone%20.png"
    (tmp_path / "gone .png").write_text("x")
    put(tmp_path, {"export.json": json.dumps(tasks)})
    assert label_studio.read(tmp_path, settings(labels=["kind"], picture="shot")).names == ["0.png", "gone .png"]
    put(tmp_path, {"export.json": json.dumps([{"annotations": []}])})
    with pytest.raises(DataError, match="export.json: a task lacks 'data'"):
        label_studio.read(tmp_path, settings())
    put(tmp_path, {"export.json": "[]"})
    with pytest.raises(DataError, match="has no JSON file with a list of tasks"):
        label_studio.read(tmp_path, settings())


def test_cvat(tmp_path):
    text = (
        "<annotations>"
        '<image name="a.png" subset="Train"><tag label="sign"><attribute name="red">true</attribute></tag>'
        '<box label="car"><attribute name="size">3</attribute></box><box label="car"><attribute name="size">4</attribute></box>'
        '<other label="odd"/></image>'
        '<image name="b.png" subset="val"><box label="car"><attribute name="size">5</attribute></box></image></annotations>'
    )
    put(tmp_path, {"x.xml": text, "a.xml": "<other/>", "a.png": "a", "images/b.png": "b"})
    assert cvat.recognise(tmp_path) and not cvat.recognise(tmp_path / "images")
    table = cvat.read(tmp_path, settings(labels=["sign"]))
    assert table.concepts == {"car": [True, True], "sign__red": [True, None], "car__size": [None, 5]}
    assert table.labels == {"sign": [True, False]} and table.splits == ["Train", "valid"]
    assert table.names == ["a.png", "images/b.png"]
    assert cvat.read(tmp_path, settings(labels=["sign"], counts=True)).concepts["car"] == [2, 1]
    with pytest.raises(ConfigError, match="say which tag or attribute is the label"):
        cvat.read(tmp_path, settings())
    put(tmp_path, {"x.xml": text.replace(' subset="val"', "")})
    assert cvat.read(tmp_path, settings(labels=["sign"])).splits is None
    for bad, why in (("<annotations></annotations>", "lists no image"), ("<annotations><image>", "is no XML"),
                     ("<!DOCTYPE x><annotations/>", "declares entities"), ("<!ENTITY x><annotations/>", "declares entities")):  # fmt: skip
        put(tmp_path, {"x.xml": bad})
        with pytest.raises(DataError, match=why):
            cvat.read(tmp_path, settings())
    with pytest.raises(DataError, match="has no XML file of annotations"):
        cvat.read(tmp_path / "images", settings())


def test_which_layout_a_folder_has(tmp_path):
    with pytest.raises(DataError, match=r"has no layout that is known \(table, cub, "):
        layouts.layout_of(tmp_path, settings())
    assert layouts.layout_of(tmp_path, settings(layout="coco", table="x.csv")) == "coco"
    assert layouts.layout_of(tmp_path, settings(table="x.csv")) == "table"
    with pytest.raises(UnknownName, match="no layout named 'cucb'; did you mean 'cub'"):
        layouts.layout_of(tmp_path, settings(layout="cucb"))
    with pytest.raises(DataError, match="no folder .* to import"):
        layouts.layout_of(tmp_path / "no", settings())
    put(tmp_path, cub_files())
    assert layouts.layout_of(tmp_path, settings()) == "cub"
    put(tmp_path, {"concepts.csv": "file\n"})
    assert layouts.layout_of(tmp_path, settings()) == "table"


# plain tables


def test_tables_are_read_in_each_format(tmp_path):
    put(tmp_path, {
        "a.csv": "x,y\n1,b\n2,c\n", "b.json": '[{"x": 1}, {"y": "c", "x": 2}]', "c.json": '{"x": [1, 2]}',
        "d.jsonl": '{"x": 1}\n\n{"y": 5}\n', "long.csv": "x,y\n1,2,3\n", "short.csv": "x,y\n1\n", "none.csv": "x,y\n",
        "text.json": '"abc"', "bad.json": "{", "nothing.json": '{"x": []}',
    })  # fmt: skip
    read = plain_table.read_columns
    assert read(tmp_path / "a.csv") == {"x": ["1", "2"], "y": ["b", "c"]}
    assert read(tmp_path / "b.json") == {"x": [1, 2], "y": [None, "c"]} and read(tmp_path / "c.json") == {"x": [1, 2]}
    assert read(tmp_path / "d.jsonl") == {"x": [1, None], "y": [None, 5]}
    for name, why in (
        ("long.csv", "longer or shorter than its first line"), ("short.csv", "longer or shorter"),
        ("none.csv", "holds no example"), ("nothing.json", "holds no example"), ("bad.json", "cannot be read: Expecting"),
        ("text.json", "expected a list of rows"), ("no.parquet", "cannot be read"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=why):
            read(tmp_path / name)


def columns(**more):
    return {"file": ["a.png", "b.png"], "concept_n": ["1", "2"], "label_y": ["yes", "no"], **more}


def test_a_table_becomes_columns(tmp_path):
    put(tmp_path, {"a.png": "a", "b.png": "b"})
    given = columns(split=["val", "train"], nuisance_light=[3, 4], source=["p; q;", None], text=[None, 5])
    table = plain_table.table_from(given, tmp_path, settings())
    assert (
        table.concepts == {"n": [1, 2]} and table.labels == {"y": [True, False]} and table.splits == ["valid", "train"]
    )
    assert table.nuisances == {"light": [3, 4]} and table.sources == [("p", "q"), ()] and table.texts == ["", "5"]
    assert table.names == ["a.png", "b.png"] and table.agreement == {}
    bare = plain_table.table_from(columns(), tmp_path, settings())
    assert (bare.splits, bare.sources, bare.texts, bare.nuisances) == (None, (), (), {})
    shown = plain_table.table_from(columns(), None, settings(), [b"x", b"y"])
    assert shown.names == ["0.png", "1.png"] and list(shown.pictures) == [b"x", b"y"]
    asked = settings(labels=["y"], concepts=["label_y", "other"])
    table = plain_table.table_from(columns(other=["u", "v"], part=["test", "x"], concept_n=["1", "2"]), tmp_path, settings(
        labels=["y"], concepts=["n", "other"], split="part"))  # fmt: skip
    assert table.concepts == {"n": [1, 2], "other": ["u", "v"]} and table.splits == ["test", "x"]
    with pytest.raises(UnknownName, match="the table has no column 'other'"):
        plain_table.table_from(columns(), tmp_path, asked)


@pytest.mark.parametrize(
    ("given", "asked", "why"),
    [
        (columns(split=["x"]), {}, "the columns of the table differ in length"),
        (
            {"file": ["a.png"], "label_y": [1]},
            {},
            "needs columns 'concept_NAME' and 'label_NAME'.*it has: file, label_y",
        ),
        ({"file": ["a.png"], "concept_y": [1]}, {}, "needs columns 'concept_NAME'"),
        (columns(), {"split": "part"}, "the table has no column 'part'"),
        (columns(), {"picture": "path"}, "the table has no column 'path'"),
        (
            columns(**{"concept_n@ann": [1, 2]}),
            {},
            "concept 'n' has a column of its own and others by annotator or value",
        ),
    ],
)
def test_tables_that_are_refused(tmp_path, given, asked, why):
    put(tmp_path, {"a.png": "a", "b.png": "b"})
    with pytest.raises(AssayError, match=why):
        plain_table.table_from(given, tmp_path, settings(**asked))


def test_pictures_by_their_path_need_a_folder():
    with pytest.raises(DataError, match="say in which folder they lie"):
        plain_table.table_from(columns(), None, settings())


def test_annotators_vote_and_probabilities_decide():
    given = {
        "concept_red@ann": ["yes", "no", ""], "concept_red@bob": ["no", "no", ""], "concept_red@cat": ["yes", "", None],
        "concept_n=1": [0.2, None, ""], "concept_n=2": [0.5, "0.25", float("nan")], "concept_n=3": [0.3, 0.25, 0.1],
        "concept_big=true": [0.75, 0.5, 0.25], "concept_off=false": [0.75, 0.5, 0.25], "concept_gone=true": [None, "", None],
        "label_y": [1, 0, 1],
    }  # fmt: skip
    table = plain_table.table_from(given, None, settings(), [b"x"] * 3)
    assert table.concepts == {
        "red": [True, False, None], "n": [2, 2, None], "big": [True, True, False], "off": [False, False, True],
        "gone": [None, None, None],
    }  # fmt: skip
    assert table.agreement == {
        "red": [pytest.approx(2 / 3), 1.0, None], "n": [0.5, 0.25, None], "big": [0.75, 0.5, 0.75],
        "off": [0.75, 0.5, 0.75], "gone": [None, None, None],
    }  # fmt: skip
    for bad, why in (
        (1.5, "expected probabilities from 0 to 1"),
        (-0.5, "from 0 to 1"),
        ("x", "expected probabilities, found"),
    ):
        with pytest.raises(DataError, match=f"concept 'n': .*{why}"):
            plain_table.table_from({"concept_n=1": [bad], "label_y": [1]}, None, settings(), [b"x"])


def test_a_table_is_found_or_named(tmp_path):
    put(
        tmp_path,
        {
            "concepts.csv": "file,concept_n,label_y\na.png,1,2\n",
            "mine.csv": "file,concept_m,label_y\na.png,3,4\n",
            "a.png": "a",
        },
    )
    assert list(plain_table.read_folder(tmp_path, settings()).concepts) == ["n"]
    assert list(plain_table.read_folder(tmp_path, settings(table="mine.csv")).concepts) == ["m"]
    put(tmp_path, {"concepts.json": "[]"})
    assert plain_table.find_table(tmp_path) == tmp_path / "concepts.csv"
    put(tmp_path, {"concepts.parquet": ""})
    assert plain_table.find_table(tmp_path) == tmp_path / "concepts.parquet"
    with pytest.raises(DataError, match="has no concepts.csv; name the table"):
        plain_table.read_folder(tmp_path / "no", settings())


# settings, splits, words, rules


@pytest.mark.parametrize("shares", [{"train": 0.5, "test": 0.5000005}, {"train": 0.7, "valid": 0.15, "test": 0.15}])
def test_shares_add_up(shares):
    assert settings(shares=shares).shares == shares


@pytest.mark.parametrize("shares", [{"test": 1.0}, {"train": 1.0}, {"train": 0.5, "test": 0.4}, {"train": 0.5, "test": 0.50001},
                                    {"train": 1.2, "test": -0.2}, {"test": 0.5, "valid": 0.5}])  # fmt: skip
def test_other_shares_are_refused(shares):
    with pytest.raises(ValueError, match="share"):
        settings(shares=shares)


@pytest.mark.parametrize(
    ("size", "fine"), [(8, True), (7, False), (2048, True), (2049, False), ((8, 2048), True), ((8, 7), False)]
)
def test_pictures_have_8_to_2048_pixels(size, fine):
    if fine:
        assert settings(size=size).size == size
    else:
        with pytest.raises(ValueError, match="expected 8 to 2048 pixels"):
            settings(size=size)


def test_the_usual_settings():
    usual = settings()
    assert (usual.picture, usual.resize, usual.counts, usual.seed, usual.size) == ("file", "letterbox", False, 0, None)
    assert usual.shares == {"train": 0.7, "valid": 0.15, "test": 0.15} and usual.labels == [] == usual.concepts


def rows_of(count, splits=None, sources=()):
    return SourceTable([b""] * count, [""] * count, {}, {}, splits, sources=sources)


def test_splits_that_lack_are_taken_from_training():
    shares = {"train": 0.5, "valid": 0.3, "test": 0.2}
    made = assign_splits(rows_of(20), shares, 0)
    assert {name: made.count(name) for name in shares} == {"train": 10, "valid": 6, "test": 4}
    assert made != assign_splits(rows_of(20), shares, 1) and made == assign_splits(rows_of(20), shares, 0)
    splits = ["train"] * 14 + ["test"] * 6
    made = assign_splits(rows_of(20, splits), shares, 0)  # valid: 3 of 8 parts of 14
    assert made[14:] == ["test"] * 6 and made.count("valid") == 5 and made.count("train") == 9
    own = ["train", "valid", "test", "mine"]
    assert assign_splits(rows_of(4, own), shares, 0) == own
    sources = [(f"s{row // 4}",) for row in range(18)] + [(), ()]
    grouped = assign_splits(rows_of(20, sources=sources), shares, 0)
    for group in range(5):
        assert len(set(grouped[4 * group : min(4 * group + 4, 18)])) == 1
    with pytest.raises(DataError, match="no row is of split 'train'; there is: a, b"):
        assign_splits(rows_of(2, ["b", "a"]), shares, 0)
    with pytest.raises(DataError, match="2 examples are too few for the splits train, valid, test"):
        assign_splits(rows_of(2), shares, 0)
    assert sorted(assign_splits(rows_of(3), shares, 0)) == ["test", "train", "valid"]
    assert split_order(["x", "test", "train", "a", "x"]) == ["train", "test", "x", "a"]


def test_an_import_in_words():
    about = {
        "layout": "CelebA",
        "examples": 1200,
        "resize": "crop",
        "splits": "made",
        "agreement": 0.876,
        "missing": {"train": 0.0, "test": 0.25},
    }
    assert describe_import(about) == (
        "imported from CelebA: 1,200 examples, splits made, pictures resized by crop; not known: 25 % of test; "
        "annotators agree to 88 %"
    )
    assert rule_text("a and b") == "a and b"


def test_a_rule_file_fits_the_data(tmp_path):
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))

    def read(**values):
        return read_rule(Settings(values), space, ["y"], ["train", "test", "ood"])

    rule = read(
        labels={"y": "a and n > 1"},
        constraints={"few": "n < 2"},
        splits={"ood": "n == 2"},
        disjoint=[["train", "ood"], ["test", "train"]],
    )
    assert str(rule.knowledge.labels[0].formula) == "a and n > 1" and [c.name for c in rule.constraints] == ["few"]
    assert {name: str(where) for name, where in rule.where.items()} == {"ood": "n == 2"}
    assert rule.apart_from("train") == ("ood", "test") and rule.apart_from("ood") == ("train",)
    assert read().knowledge is None and read(constraints={"few": "n < 2"}).constraints[0].name == "few"
    for values, why in (
        ({"labels": {"z": "a"}}, "labels: expected a formula for each of y"),
        ({"splits": {"odd": "a"}}, "splits: no split named 'odd'"),
        ({"disjoint": [["train", "odd"]]}, "disjoint: no split named 'odd'"),
        ({"splits": {"ood": "n + 1"}}, "of 'ood' must be true or false"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=why):
            read(**values)
    put(tmp_path, {"rule.yaml": "labels: {y: a}\n"})
    assert rule_settings(None).values == {} and rule_settings({"x": 1}).values == {"x": 1}
    assert rule_settings(tmp_path / "rule.yaml").values == {"labels": {"y": "a"}}
