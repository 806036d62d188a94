"""What is particular to each layout: where its files lie, what they mean, and in which words damage is told."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.base import AssayError, Settings
from assay.exchange import from_hf, import_folder
from tests.exchange.imports.seen import column, imported, png, put, seen


@pytest.fixture
def home(tmp_path):
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


@pytest.fixture
def output(tmp_path):
    """Return a fresh folder at each call."""
    numbers = iter(range(100))
    return lambda: tmp_path / f"out{next(numbers)}"


def refused(home, why, **settings):
    with pytest.raises(AssayError, match=why) as caught:
        import_folder(home, home.parent / "no", None, Settings(settings))
    assert "\n" not in str(caught.value) and not (home.parent / "no").exists()


# -- CUB ---------------------------------------------------------------------------------------------------------------


def birds(**more):
    """Return birds whose numbers have gaps and no order, with blanks in names; attribute 3 is never seen."""
    return {
        "images.txt": "40 y/b c.jpg\n7   x/a.jpg\n 12 y/c.jpg \n", "classes.txt": "1 a common crow\n2 jay\n",
        "image_class_labels.txt": "7 1\n12 2\n40 2\n", "train_test_split.txt": "7 0\n12 1\n40 1\n",
        "attributes/attributes.txt": "1 has bill shape::curved (up or down)\n2 blue\n3 never seen\n",
        "attributes/image_attribute_labels.txt":
            "7 1 1 4 2.0\n7 2 0 4 1.0\n40 1 0 1 1.0\n40 2 1 2 1 0\n12 1 0 3\n12 2 0 4 1\n40 3 1 1 1\n\n",
        "images/x/a.jpg": 10, "images/y/b c.jpg": 20, "images/y/c.jpg": 30, **more,
    }  # fmt: skip


def test_cub_has_attributes_that_were_visible(home, output):
    rows = imported(put(home, birds()), output(), shares={"train": 0.5, "test": 0.5})
    assert column(rows, "class_name") == {
        "images/y/b c.jpg": "jay", "images/y/c.jpg": "jay", "images/x/a.jpg": "a common crow",
    }  # fmt: skip
    assert column(rows, "level") == {"images/y/b c.jpg": 20, "images/x/a.jpg": 10, "images/y/c.jpg": 30}
    assert column(rows, "split") == {"images/y/b c.jpg": "train", "images/y/c.jpg": "train", "images/x/a.jpg": "test"}
    curved = column(rows, "has_bill_shape__curved_up_or_down")
    assert curved == {"images/y/b c.jpg": None, "images/x/a.jpg": True, "images/y/c.jpg": False}
    assert not any("never_seen" in row for row in rows.values())  # an attribute that no picture shows


def test_attributes_of_cub_may_lie_beside_the_folder(home, output):
    files = birds()
    put(home / "CUB_200_2011", {path: text for path, text in files.items() if path != "attributes/attributes.txt"})
    put(home, {"attributes.txt": files["attributes/attributes.txt"]})
    rows = imported(home / "CUB_200_2011", output(), shares={"train": 0.5, "test": 0.5})
    assert column(rows, "blue")["images/x/a.jpg"] is False


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"image_class_labels.txt": "7 1\n12 9\n40 2\n"}, "image_class_labels.txt or classes.txt lacks '9'"),
        *(({"attributes/image_attribute_labels.txt": f"{line}\n"}, f"expected 'image attribute 0|1 certainty', found '{line}'")
          for line in ("4 1 1 4 1", "7 9 1 4 1", "7 1 2 4 1")),
    ],
)  # fmt: skip
def test_damaged_files_of_cub_are_told(files, why, home):
    refused(put(home, birds(**files)), why, layout="cub")


# -- CelebA ------------------------------------------------------------------------------------------------------------

FACES = "3\nBald 5_o_Clock Young\n1.jpg 1 -1 -1\n2.jpg -1 1 1\n3.jpg -1 0 1\n"


@pytest.mark.parametrize(
    "pictures", ["img_align_celeba/", "img_align_celeba/img_align_celeba/", "img_celeba/", "images/", ""]
)
def test_celeba_lies_in_one_of_its_usual_places(pictures, home, output):
    shown = {f"{pictures}{number}.jpg": 10 * number for number in (1, 2, 3)}
    put(
        home,
        {"Anno/list_attr_celeba.txt": FACES, "Eval/list_eval_partition.txt": "2.jpg 2\n1.jpg 0\n3.jpg 1\n", **shown},
    )
    rows = {file.rpartition("/")[2]: row for file, row in imported(home, output(), labels=["Young"]).items()}
    assert column(rows, "level") == {"1.jpg": 10, "2.jpg": 20, "3.jpg": 30}
    assert column(rows, "Young") == {"1.jpg": False, "2.jpg": True, "3.jpg": True}
    assert column(rows, "split") == {"1.jpg": "train", "2.jpg": "test", "3.jpg": "valid"}
    assert column(rows, "n5_o_Clock") == {"1.jpg": False, "2.jpg": True, "3.jpg": False}


def test_a_table_of_celeba_may_have_empty_cells_and_its_damage_is_told(home, output):
    pictures = {f"images/{number}.jpg": 10 * number for number in (1, 2, 3)}
    lines = ["image_id, Bald,Young", "1.jpg, ,1", "2.jpg,1,-1", "3.jpg,-1,1"]
    put(home, {"list_attr_celeba.csv": "\n".join(lines), **pictures})
    assert column(imported(home, output(), labels=["Young"]), "Bald") == {
        "images/1.jpg": None, "images/2.jpg": True, "images/3.jpg": False,
    }  # fmt: skip
    refused(home, "say which attribute is the label: .*: Bald, Young")
    for bad in ("2.jpg,3,1", "2.jpg,1"):
        put(home, {"list_attr_celeba.csv": "\n".join([*lines[:2], bad])})
        refused(home, "expected a file name and 2 attributes of 1 or -1 in each line", labels=["Young"])
    put(home, {"list_attr_celeba.csv": lines[0]})
    refused(home, "lists no picture", labels=["Young"])


# -- Animals with Attributes -------------------------------------------------------------------------------------------


def test_awa2_has_the_attributes_of_the_class(home, output):
    put(home, {
        "classes.txt": " 1\tgrey+wolf\n 2\tox\n", "predicates.txt": "1 black\n2 has tail\n3 wild\n",
        "predicate-matrix-binary.txt": "1 0 1\n\n0 1 1\n", "JPEGImages/ox/2.jpg": 20, "JPEGImages/ox/1.PNG": 10,
        "JPEGImages/grey+wolf/3.jpg": 30, "JPEGImages/ox/notes.txt": "x", "JPEGImages/ox/4.gif": "x",
    })  # fmt: skip
    rows = imported(home, output(), labels=["black"])
    assert column(rows, "level") == {
        "JPEGImages/grey+wolf/3.jpg": 30,
        "JPEGImages/ox/1.PNG": 10,
        "JPEGImages/ox/2.jpg": 20,
    }
    assert {row["class_name"]: (row["has_tail"], row["wild"], row["black"]) for row in rows.values()} == {
        "grey+wolf": (False, True, True), "ox": (True, True, False),
    }  # fmt: skip
    for matrix in ("1 0 1\n", "1 0\n0 1\n", "1 0 1\n0 1 1\n1 1 1\n", "1 0 1\n0 2 1\n"):
        put(home, {"predicate-matrix-binary.txt": matrix})
        refused(home, "predicate-matrix-binary.txt: expected 2 rows of 3 zeros and ones")
    put(home, {"classes.txt": "1 cow\n", "predicate-matrix-binary.txt": "1 0 1\n"})
    refused(home, "has no pictures in JPEGImages/CLASS/")


# -- Derm7pt -----------------------------------------------------------------------------------------------------------


def test_derm7pt_reads_its_criteria_and_lists_of_rows(home, output):
    lines = [
        "streaks,diagnosis,derm,clinic,pigment_network",
        "no,x,a.jpg,z.jpg,typical",
        "yes,y,b.jpg,z.jpg,absent",
        "no,x,c.jpg,z.jpg,absent",
        "yes,x,d.jpg,z.jpg,absent",
    ]
    pictures = {"images/a.jpg": 10, "b.jpg": 20, "images/c.jpg": 30, "images/d.jpg": 40, "images/z.jpg": 90}
    put(home, {"meta/meta.csv": "\n".join(lines), **pictures})
    rows = imported(home, output())
    assert column(rows, "pigment_network") == {
        "images/a.jpg": "typical", "b.jpg": "absent", "images/c.jpg": "absent", "images/d.jpg": "absent",
    }  # fmt: skip
    assert column(rows, "diagnosis")["b.jpg"] == "y" and column(rows, "level") == {
        k: v for k, v in pictures.items() if v < 90
    }
    listed = {
        f"meta/{name}_indexes.csv": f"indexes\n{row}\n" for name, row in (("train", 2), ("valid", 1), ("test", 0))
    }
    put(home, listed)
    assert column(imported(home, output()), "split") == {
        "images/c.jpg": "train",
        "b.jpg": "valid",
        "images/a.jpg": "test",
    }
    for bad in ("4", "-1", "x"):
        put(home, {"meta/test_indexes.csv": f"indexes\n{bad}\n"})
        refused(home, f"test_indexes.csv: '{bad}' is no row of meta/meta.csv, which has 4")
    put(home, {"meta/meta.csv": "a,b\n1,2\n"})
    refused(home, "has no column 'derm' with the picture", layout="derm7pt")


# -- COCO --------------------------------------------------------------------------------------------------------------

DOGS = {"categories": [{"id": 3, "name": "dog"}, {"id": 5, "name": "hot dog"}]}


def coco(images, objects=(), **more):
    found = [{"image_id": image, "category_id": category} for image, category in objects]
    return json.dumps({"images": images, "annotations": found, **DOGS, **more})


def test_coco_has_objects_or_their_number_and_entries_of_images(home, output):
    images = [
        {"id": i, "file_name": f"{name}.png", "label_y": y}
        for i, name, y in ((1, "a", "x"), (2, "b", "z"), (3, "c", "x"))
    ]
    images[0]["concept_n"] = 3
    put(
        home,
        {
            "all.json": coco(images, [(1, 5), (1, 5), (2, 3)]),
            "images/a.png": 10,
            "b.png": 20,
            "c.png": 30,
            "odd.json": "{",
        },
    )
    rows = imported(home, output())
    assert column(rows, "dog") == {"images/a.png": False, "b.png": True, "c.png": False}
    assert column(rows, "n") == {"images/a.png": 3, "b.png": None, "c.png": None} and rows["b.png"]["y"] == "z"
    counted = imported(home, output(), counts=True, labels=["dog"])
    assert column(counted, "hot_dog") == {"images/a.png": 2, "b.png": 0, "c.png": 0}
    put(home, {"all.json": coco(images, [(9, 3)])})
    refused(home, "a COCO file lacks 9")
    put(home, {"all.json": coco([{"id": 1, "file_name": "b.png"}])})
    refused(home, "say which category is the label")


def test_files_of_coco_tell_their_split_and_need_not_have_the_same_categories(home, output):
    one = lambda name, y, **more: [{"id": 1, "file_name": name, "label_y": y, **more}]  # noqa: E731
    put(home, {
        "annotations/instances_train2017.json": coco([*one("a.png", 1), {"id": 2, "file_name": "d.png", "label_y": 2}], [(2, 3)]),
        "annotations/instances_val2017.json": coco(one("b.png", 2), [(1, 3)], categories=[{"id": 3, "name": "cat"}]),
        "extra.json": coco(one("c.png", 1, split="testing")), "set/_annotations.coco.json": coco(one("e.png", 2)),
        "a.png": 10, "b.png": 20, "c.png": 30, "d.png": 40, "set/e.png": 50,
    })  # fmt: skip
    rows = imported(home, output())
    splits = column(rows, "split")
    assert [splits[f"{name}.png"] for name in ("a", "d", "b", "c")] == ["train", "train", "valid", "test"]
    assert rows["set/e.png"]["level"] == 50  # beside its own file
    dogs = column(rows, "dog")
    assert dogs["d.png"] is True and dogs["b.png"] is None and rows["b.png"]["cat"] is True


# -- Label Studio ------------------------------------------------------------------------------------------------------


def answer(name, value, kind="choices"):
    return {"from_name": name, "type": kind, "value": {kind: value}}


def person(*answers, **more):
    return {"result": [*answers, {"from_name": "note", "type": "textarea", "value": {"text": ["x"]}}], **more}


def task(number, *people, **data):
    return {"id": number, "data": {"image": f"http://host/data/upload/7/{number}.png", **data}, "annotations": people}


def test_annotators_of_label_studio_vote(home, output):
    yes, no = answer("red one", ["yes"]), answer("red one", ["no"])
    tasks = [
        task(0, person(yes, answer("kind", ["a"]), answer("stars", 3, "rating"), answer("marks", ["p", "q"])),
             person(no, answer("kind", ["b"]), answer("marks", ["q"])), person(yes, answer("kind", ["b"]), answer("stars", 4, "rating")), split="val"),
        task(1, person(no, answer("kind", ["a"]), answer("age", 7, "number")), person(yes, was_cancelled=True), split="train"),
        task(2, person(answer("kind", ["b"]), answer("box", ["car"], "rectanglelabels")), split="test"),
    ]  # fmt: skip
    put(
        home, {"export.json": json.dumps(tasks), "aaa.json": "{", "images/0.png": 10, "upload/7/1.png": 20, "2.png": 30}
    )
    rows = imported(home, output(), labels=["kind"])
    first, second, third = (rows[name] for name in ("images/0.png", "upload/7/1.png", "2.png"))
    assert [row["kind"] for row in (first, second, third)] == ["b", "a", "b"]
    assert [row["red_one"] for row in (first, second, third)] == [True, False, None]
    assert [row["stars"] for row in (first, second, third)] == [3, None, None] and third["box"] == "car"
    assert (first["marks__p"], first["marks__q"]) == (False, True) and second["age"] == 7
    assert first["agreement"]["red_one"] == pytest.approx(2 / 3) and [
        row["split"] for row in (first, second, third)
    ] == ["valid", "train", "test"]
    refused(home, "say which question is the label")
    del tasks[0]["data"]["image"]
    put(home, {"export.json": json.dumps(tasks)})
    refused(home, "a task has no picture under image, img", labels=["kind"])
    put(home, {"export.json": json.dumps([{"annotations": []}])})
    refused(home, "a task lacks 'data'", layout="label_studio")


# -- CVAT --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["box", "polygon", "polyline", "points", "ellipse", "cuboid", "mask"])
def test_cvat_has_tags_shapes_and_their_attributes(shape, home, output):
    size = '<attribute name="big one">{}</attribute>'.format
    text = (
        f'<annotations><image name="a.png" subset="Train"><tag label="sign">{size("true")}</tag><{shape} label="car">{size(3)}</{shape}>'
        f'<{shape} label="car">{size(4)}</{shape}><other label="odd"/></image><image name="b.png" subset="val">'
        f'<{shape} label="car">{size(5)}</{shape}></image><image name="c.png" subset="train"/></annotations>'
    )
    put(home, {"x.xml": text, "a.xml": "<other/>", "a.png": 10, "images/b.png": 20, "c.png": 30})
    rows = imported(home, output(), labels=["sign"], shares={"train": 0.5, "valid": 0.5})
    assert column(rows, "sign") == {"a.png": True, "images/b.png": False, "c.png": False}
    assert column(rows, "car") == {"a.png": True, "images/b.png": True, "c.png": False}
    assert column(rows, "car__big_one") == {"a.png": None, "images/b.png": 5, "c.png": None}  # one cannot say which
    assert rows["images/b.png"]["split"] == "valid"
    counted = imported(home, output(), labels=["sign"], counts=True, shares={"train": 0.5, "valid": 0.5})
    assert column(counted, "car") == {"a.png": 2, "images/b.png": 1, "c.png": 0}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<annotations></annotations>", "lists no image"),
        ("<annotations><image>", "is no XML"),
        ("<!DOCTYPE x><annotations/>", "declares entities"),
        ("<!ENTITY x><annotations/>", "declares entities"),
        (
            '<annotations><image name="a.png"><tag label="x"/></image></annotations>',
            "say which tag or attribute is the label",
        ),
    ],
)
def test_damaged_and_hostile_files_of_cvat_are_told(text, why, home):
    refused(put(home, {"x.xml": text, "a.png": 1}), why, layout="cvat")


# -- Hugging Face ------------------------------------------------------------------------------------------------------


def part(levels, classes, **more):
    features = {
        "boxes": [{"dtype": "int64", "_type": "Value"}], "y": {"names": ["u", "v"], "_type": "ClassLabel"},
        "z": {"names": ["no"], "_type": "Other"},
    }  # fmt: skip
    cells = [{"bytes": png(level), "path": None} for level in levels]
    table = pa.table({"image": cells, "a": [level % 2 for level in levels], "y": classes, **more})
    return table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def test_files_of_hugging_face_are_splits_with_named_classes(home, output):
    (home / "data").mkdir()
    pq.write_table(part([1, 2], [0, 1]), home / "data" / "train-00000.parquet")
    schema = part([3], [0]).schema
    with pa.OSFile(str(home / "validation.arrow"), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(part([4], [1]))
    put(home, {"cache-1.arrow": "x", ".x.parquet": "x"})
    data = from_hf(
        home,
        output(),
        labels=["y"],
        concepts=["a"],
        shares={"train": 0.5, "valid": 0.5},
        rule={"y": "'v' if a else 'u'"},
    )
    assert sorted((row["level"], row["split"], row["y"], row["a"]) for row in seen(data).values()) == [
        (1, "train", "u", True), (2, "train", "v", False), (4, "valid", "v", False),
    ]  # fmt: skip
    assert data.knowledge.has_rule
    (home / "bad.parquet").write_bytes(b"x")
    refused(home, "bad.parquet cannot be read", layout="hf")


@pytest.mark.parametrize("name", ["img", "picture", "shown"])
def test_the_column_that_holds_pictures_is_found(name, home, output):
    table = part([1, 2, 3, 4], [0, 1, 0, 1])
    put(home, {f"{level}.png": level for level in (1, 2, 3, 4)})
    paths = [f"{level}.png" for level in (1, 2, 3, 4)]
    for cells in (table["image"], pa.array([{"bytes": None, "path": path} for path in paths])):
        changed = table.drop_columns("image").append_column(name, cells)
        pq.write_table(changed.replace_schema_metadata(table.schema.metadata), home / "train.parquet")
        assert sorted(row["level"] for row in imported(home, output(), labels=["y"], concepts=["a"]).values()) == [
            1,
            2,
            3,
            4,
        ]
    pq.write_table(table.drop_columns("image"), home / "train.parquet")
    refused(home, "no column holds pictures; name it: --set picture=COLUMN, one of a, y", labels=["y"])
    odd = table.drop_columns("image").append_column("image", pa.array([3, 4, 5, 6]))
    pq.write_table(odd, home / "train.parquet")
    refused(home, "a cell that should hold a picture holds", labels=["y"])


# -- which layout ------------------------------------------------------------------------------------------------------


def test_a_layout_is_known_by_all_of_its_files_or_by_its_name(home):
    refused(home, r"has no layout that is known \(table, cub, ")
    for files in (
        {"predicate-matrix-binary.txt": "1\n"}, {"images.txt": "1 a.jpg\n"},
        {"a.json": json.dumps({"images": [], "annotations": []})}, {"b.json": json.dumps([{"annotations": []}, {"id": 2}])},
    ):  # fmt: skip
        refused(put(home, files), "has no layout that is known")
    refused(home, "no layout named 'cucb'; did you mean 'cub'", layout="cucb")
    refused(home / "gone", "no folder .* to import")
    refused(home, "has no JSON file with images, annotations and categories", layout="coco")
    refused(home, "has no XML file of annotations", layout="cvat")
    refused(home, "has no Parquet or Arrow files", layout="hf")
    refused(home, r"has no list_attr_celeba.txt or .csv", layout="celeba")
