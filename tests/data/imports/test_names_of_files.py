"""Files are taken by their names: in their order, however the disk lists them, and with blanks in what they say."""

import json

import numpy as np
import pytest

from assay.data.imports import awa2, celeba, coco, cub, cvat, hub, importing, label_studio
from assay.data.imports.settings import ImportSettings
from tests.data.imports.test_readers import coco_file, cub_files, label_studio_task, person, put
from tests.data.imports.test_writing import png
from tests.listings import list_backwards


@pytest.fixture(params=["as they are", "backwards"])
def listing(request, monkeypatch):
    """Let folders be listed as they are, or backwards."""
    if request.param == "backwards":
        list_backwards(monkeypatch)


@pytest.mark.usefixtures("listing")
def test_pictures_of_a_class_come_by_name(tmp_path):
    put(tmp_path, {
        "classes.txt": "1 ox\n2 ant\n", "predicates.txt": "1 big\n2 red\n3 wild\n", "predicate-matrix-binary.txt": "1 0 1\n0 1 0\n",
        **{f"JPEGImages/{name}": "x" for name in ("ant/b.jpg", "ant/a.jpg", "ant/c.png", "ox/2.jpeg", "ox/10.jpg", "ox/1.gif")},
    })  # fmt: skip
    table = awa2.read(tmp_path, ImportSettings())
    assert table.names == [f"JPEGImages/{name}" for name in ("ox/10.jpg", "ox/2.jpeg", "ant/a.jpg", "ant/b.jpg", "ant/c.png")]  # fmt: skip
    assert table.concepts == {
        "big": [True, True, False, False, False],
        "red": [False, False, True, True, True],
        "wild": [True, True, False, False, False],
    }
    assert table.labels == {"class_name": ["ox", "ox", "ant", "ant", "ant"]}


@pytest.mark.usefixtures("listing")
def test_files_of_coco_come_by_name(tmp_path):
    put(tmp_path, {
        "b_test.json": coco_file([{"id": 1, "file_name": "b.png", "label_y": 1}], [{"image_id": 1, "category_id": 3}]),
        "a_train.json": coco_file([{"id": 1, "file_name": "a.png", "label_y": 2}], []),
        "c/_annotations.coco.json": coco_file([{"id": 1, "file_name": "c.png", "label_y": 3}], []),
        "annotations/val.json": coco_file([{"id": 7, "file_name": "v.png", "label_y": 4}], [{"image_id": 7, "category_id": 5}]),
        "a.png": "", "b.png": "", "c/c.png": "", "v.png": "", "c/other.json": coco_file([], []),
    })  # fmt: skip
    table = coco.read(tmp_path, ImportSettings())
    assert table.names == ["a.png", "v.png", "b.png", "c/c.png"] and table.labels == {"y": [2, 4, 1, 3]}
    assert table.splits == ["train", "valid", "test", "_annotations.coco"]
    assert table.concepts == {"dog": [False, False, True, False], "hot_dog": [False, True, False, False]}


@pytest.mark.usefixtures("listing")
def test_of_several_exports_the_first_by_name_is_read(tmp_path):
    for name in ("b", "a", "c"):
        task = label_studio_task(0, [person(kind=name, red="yes")])
        text = f'<annotations><image name="0.png"><tag label="{name}"/><tag label="y"/></image></annotations>'
        put(tmp_path, {f"{name}.json": json.dumps([task]), f"{name}.xml": text})
    put(tmp_path, {"0.png": "x"})
    assert label_studio.read(tmp_path, ImportSettings(labels=["kind"])).labels == {"kind": ["a"]}
    assert cvat.read(tmp_path, ImportSettings(labels=["y"])).concepts == {"a": [True]}


@pytest.mark.usefixtures("listing")
def test_parts_of_hugging_face_come_by_name_and_hidden_ones_not_at_all(tmp_path):
    names = ("train-2.parquet", "train-10.arrow", "test/0.parquet", ".odd.parquet", "cache-7.arrow", "concepts.parquet")
    put(tmp_path, dict.fromkeys(names, ""))
    assert hub._files(tmp_path) == [tmp_path / name for name in ("test/0.parquet", "train-10.arrow", "train-2.parquet")]


def test_names_of_birds_may_have_blanks(tmp_path):
    put(tmp_path, cub_files(**{
        "images.txt": "1   x/a b.jpg\n2 y/b.jpg\n 3 y/c c c.jpg \n", "classes.txt": "1 a common crow\n2  jay\n",
        "attributes/attributes.txt": "1 has bill shape::curved (up or down)\n2 blue\n3 never seen\n",
        "images/x/a b.jpg": "a", "images/y/c c c.jpg": "c",
    }))  # fmt: skip
    table = cub.read(tmp_path, ImportSettings())
    assert table.names == ["images/x/a b.jpg", "images/y/b.jpg", "images/y/c c c.jpg"]
    assert table.labels == {"class_name": ["a common crow", "jay", "jay"]}
    assert table.concepts == {
        "has_bill_shape__curved_up_or_down": [True, None, False],
        "blue": [False, True, None],
    }


def test_pictures_of_a_table_in_memory_lie_in_a_folder(tmp_path):
    (tmp_path / "shots").mkdir()
    for row in range(6):
        (tmp_path / "shots" / f"{row}.png").write_bytes(png(level=10 * row))
    columns = {
        "file": [f"{row}.png" for row in (5, 3, 0, 1, 4, 2)],
        "concept_a": [1, 0, 0, 1, 0, 1],
        "label_y": [1, 0, 1, 0, 1, 0],
        "split": ["train", "test", "train", "valid", "test", "train"],
    }
    for number, folder in enumerate((tmp_path / "shots", str(tmp_path / "shots"))):
        data = importing.from_table(columns, tmp_path / f"out {number}", images=folder, seed=3)
        shown = {name: [int(image.max()) for image in data[name].images] for name in data.split_names}
        assert shown == {"train": [50, 0, 20], "valid": [10], "test": [30, 40]}
        assert data.name == f"out_{number}" and data.manifest["seed"] == 3
    with pytest.raises(Exception, match="say in which folder they lie"):
        importing.from_table(columns, tmp_path / "no")


@pytest.mark.parametrize(
    ("pixels", "expected"),
    [
        (np.array([[0.0, 0.001], [0.999, 1.0]]), [[0, 0], [255, 255]]),
        (np.array([[0.5, 0.25, 0.75]], dtype=np.float32), [[128, 64, 191]]),
        (np.array([[[0.1], [0.9]]]), [[26, 230]]),
    ],
)
def test_numbers_from_0_to_1_are_rounded_to_bytes(pixels, expected):
    from assay.data.decoding import decode

    assert decode(importing._png(pixels, 0))[:, :, 0].tolist() == expected


def looked_for(folder, places, find):
    """Return what is found while all places have a file, then without the first, and so on."""
    put(folder, dict.fromkeys(places, ""))
    found = []
    for place in places:
        found.append(find())
        (folder / place).unlink()
    return [*found, find()]


def test_a_picture_is_looked_for_in_the_likeliest_place_first(tmp_path):
    places = ["data/7/a b.png", "images/data/7/a b.png", "7/a b.png", "images/7/a b.png", "a b.png", "images/a b.png"]
    task = {"odd": "x.png", "image": "http://host/data/7/a%20b.png?x=1"}
    found = looked_for(tmp_path, places, lambda: label_studio._picture(tmp_path, task, "file"))
    assert found == [*places, "data/7/a b.png"]
    local = {"img": "/data/local-files/?d=7/a%20b.png"}
    assert looked_for(tmp_path, places[2:], lambda: label_studio._picture(tmp_path, local, "odd")) == [
        *places[2:],
        "7/a b.png",
    ]
    assert label_studio._picture(tmp_path, {**task, "shot": "s.png"}, "shot") == "s.png"
    assert label_studio._picture(tmp_path, {"file": "f.png", "photo": "p.png", "picture": "q.png"}, "no") == "q.png"
    home = tmp_path / "set" / "_annotations.coco.json"
    places = [f"{folder}c.png" for folder in ("", "images/", "train/", "valid/", "val/", "test/", "set/")]
    assert looked_for(tmp_path, places, lambda: coco._place(tmp_path, home, "c.png")) == [*places, "c.png"]
    assert looked_for(tmp_path, places[:2], lambda: cvat._place(tmp_path, "c.png")) == [
        "c.png",
        "images/c.png",
        "c.png",
    ]


def test_lists_of_faces_are_looked_for_in_the_folder_first_and_texts_before_tables(tmp_path):
    places = [f"{folder}list_x{end}" for folder in ("", "Anno/", "Eval/") for end in (".txt", ".csv")]
    found = looked_for(tmp_path, places, lambda: celeba._file(tmp_path, "list_x"))
    assert found == [*(tmp_path / place for place in places), None]
    text = "image_id,Bald,Young\nb.jpg,1,-1\n a.jpg , ,0\n"
    put(tmp_path, {"list_attr_celeba.csv": text, "list_eval_partition.txt": "2\na.jpg 7\nb.jpg 2\n"})
    homes = ("img_align_celeba/", "img_align_celeba/img_align_celeba/", "img_celeba/", "images/", "")
    for home in homes:
        put(tmp_path, {f"{home}a.jpg": "", f"{home}b.jpg": ""})
    for home in homes:
        table = celeba.read(tmp_path, ImportSettings(labels=["Young"]))
        assert [name.removeprefix("./") for name in table.names] == [f"{home}b.jpg", f"{home}a.jpg"]
        assert table.splits == ["test", "train"] and table.concepts == {"Bald": [True, None]}
        assert table.labels == {"Young": [False, False]}
        (tmp_path / f"{home}b.jpg").unlink()
