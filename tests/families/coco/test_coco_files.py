"""Reading COCO: what is in the columns, which images are left out, and one clear line for each kind of bad file."""

import json
from pathlib import Path

import numpy as np
import pytest

from assay.errors import DataError
from assay.families.coco.album import AnnotationFilter, identifier
from assay.families.coco.coco_files import read_coco
from assay.render import encode_png

DOT = encode_png(np.zeros((4, 6, 3), dtype=np.uint8))


def table(images=3, first=1):
    numbers = range(first, first + images)
    annotation = {"category_id": 1, "bbox": [0, 0, 3, 2], "area": 5.0, "iscrowd": 0}
    return {
        "images": [{"id": n, "file_name": f"{n}.png", "width": 6, "height": 4} for n in numbers],
        "categories": [{"id": 1, "name": "traffic light"}, {"id": 7, "name": "dog"}],
        "annotations": [{**annotation, "id": 10 * n + k, "image_id": n} for n in numbers for k in range(n % 3 + 1)],
    }


def written(root: Path, train=None, val=None) -> Path:
    for part, held in (("train2017", train or table()), ("val2017", val or table(2, first=50))):
        (root / "annotations").mkdir(parents=True, exist_ok=True)
        (root / part).mkdir(exist_ok=True)
        for image in held["images"]:
            (root / part / str(image["file_name"])).write_bytes(DOT)
        (root / "annotations" / f"instances_{part}.json").write_text(json.dumps(held))
    return root


def test_objects_are_counted_and_pools_share_no_image(tmp_path):
    album = read_coco(str(written(tmp_path))).album
    assert album.files == ("train2017/1.png", "train2017/2.png", "train2017/3.png", "val2017/50.png", "val2017/51.png")
    assert album.counts(("dog", "traffic_light"), AnnotationFilter()).tolist() == [
        [0, 2],
        [0, 3],
        [0, 1],
        [0, 3],
        [0, 1],
    ]
    pools = album.pools(0.34, 0.5)
    assert sorted(np.concatenate(list(pools.values())).tolist()) == [0, 1, 2, 3, 4]
    assert {name: len(numbers) for name, numbers in pools.items()} == {"train": 2, "valid": 1, "test": 1, "hard": 1}
    assert set(pools["train"].tolist() + pools["valid"].tolist()) == {0, 1, 2}


def test_crowds_and_tiny_objects_are_rated_as_asked(tmp_path):
    held = table(2)
    held["annotations"] = [
        {"id": 1, "image_id": 1, "category_id": 7, "bbox": [0, 0, 4, 4], "area": 12, "iscrowd": 1},
        {"id": 2, "image_id": 1, "category_id": 7, "bbox": [0, 0, 4, 4], "area": 12},
        {"id": 3, "image_id": 2, "category_id": 7, "bbox": [0, 0, 4, 4], "area": 1.2},
    ]
    album = read_coco(str(written(tmp_path, train=held))).album

    def dogs(**annotation_filter):
        return album.counts(("dog",), AnnotationFilter(**annotation_filter))[:2, 0].tolist()

    def kept(**annotation_filter):
        return album.usable_images(("dog",), AnnotationFilter(**annotation_filter))[:2].tolist()

    assert dogs() == [2, 1] and dogs(crowds="ignore") == [1, 1] and dogs(least_area=0.1) == [2, 0]
    assert kept() == kept(crowds="ignore") == kept(least_area=0.1) == [True, True]
    assert kept(crowds="drop") == [False, True] and kept(least_area=0.1, tiny="drop") == [True, False]
    assert kept(clear_area=0.1) == [False, False] and kept(clear_fill=0.5) == [False, False]
    assert album.usable_images(("traffic_light",), AnnotationFilter(crowds="drop")).all()


def test_one_annotation_file_is_cut_into_training_and_test_images(tmp_path):
    held = table(20)
    (tmp_path / "images").mkdir()
    for image in held["images"]:
        (tmp_path / "images" / image["file_name"]).write_bytes(DOT)
    (tmp_path / "mine.json").write_text(json.dumps(held))
    album = read_coco(str(tmp_path / "mine.json")).album
    assert album.parts.sum() == 5 and album.files[0] == "images/1.png"


def test_missing_images_stop_or_are_skipped(tmp_path):
    root = written(tmp_path)
    (root / "train2017" / "2.png").unlink()
    with pytest.raises(DataError, match=r"1 of 3 images are not there, the first is 'train2017/2.png'; `skip_missing"):
        read_coco(str(root))
    album = read_coco(str(root), skip_missing=True).album
    assert len(album) == 4 and album.counts(("traffic_light",), AnnotationFilter())[:, 0].tolist() == [2, 1, 3, 1]


def test_the_hash_is_of_the_data_and_not_of_the_place(tmp_path):
    first, second = written(tmp_path / "a"), written(tmp_path / "b")
    assert read_coco(str(first)).sha256 == read_coco(str(second)).sha256
    other = written(tmp_path / "c", val=table(1, first=50))
    assert read_coco(str(other)).sha256 != read_coco(str(first)).sha256


def row(held, table_name, **values):
    held[table_name][0] = {**held[table_name][0], **values}
    return held


BAD = {
    "images has the id 2 twice": lambda t: row(t, "images", id=2),
    "annotations has the id 11 twice": lambda t: row(t, "annotations", id=11),
    "annotation 10 has the image_id 99": lambda t: row(t, "annotations", image_id=99),
    "annotation 10 has the category_id 5": lambda t: row(t, "annotations", category_id=5),
    "annotation 10 has the category_id {}": lambda t: row(t, "annotations", category_id={}),
    "some bbox is not 4 numbers": lambda t: row(t, "annotations", bbox=[1, 2]),
    "some bbox is negative or no number": lambda t: row(t, "annotations", bbox=[1, 2, -3, 4]),
    "some area is negative or no number": lambda t: row(t, "annotations", area=float("nan")),
    "two categories are called 'dog'": lambda t: row(t, "categories", name="dog"),
    "image 1 has no plain file name: '../1.png'": lambda t: row(t, "images", file_name="../1.png"),
    "images[0] has no 'width'": lambda t: {**t, "images": [{"id": 1, "file_name": "1.png"}]},
    "has no list 'annotations'": lambda t: {"images": t["images"], "categories": t["categories"]},
    "has no list 'images'": lambda t: [t],
}


@pytest.mark.parametrize("fault", BAD)
def test_a_faulty_file_is_refused_in_one_line(fault, tmp_path):
    root = written(tmp_path)
    bad = json.dumps(BAD[fault](table()))
    (root / "annotations" / "instances_train2017.json").write_text(bad)
    with pytest.raises(DataError) as caught:
        read_coco(str(root))
    assert fault in str(caught.value) and "instances_train2017.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_breaks_off_is_refused_in_one_line(tmp_path):
    root = written(tmp_path)
    path = root / "annotations" / "instances_val2017.json"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match="'instances_val2017.json': is no whole JSON file"):
        read_coco(str(root))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="is no whole JSON file"):
        read_coco(str(root))


def test_folders_without_coco_say_what_is_expected(tmp_path):
    with pytest.raises(DataError, match="expected a folder 'annotations'"):
        read_coco(str(tmp_path))
    (tmp_path / "annotations").mkdir()
    with pytest.raises(DataError, match="there is: none"):
        read_coco(str(tmp_path))


def test_the_same_image_cannot_train_and_test(tmp_path):
    root = written(tmp_path, val=table())
    (root / "images").mkdir()
    for part in ("train2017", "val2017"):
        for path in (root / part).iterdir():
            path.rename(root / "images" / path.name)
    with pytest.raises(DataError, match=r"'images/1.png' is annotated for training and for testing"):
        read_coco(str(root))


def test_categories_become_names_for_formulas():
    assert [identifier(name) for name in ("hair drier", "T-shirt", "2 wheels")] == [
        "hair_drier",
        "T_shirt",
        "_2_wheels",
    ]


def test_annotations_may_come_in_any_order(tmp_path):
    held = table(3)
    held["annotations"] = [
        {"id": n, "image_id": image, "category_id": kind, "bbox": [0, 0, 4, 4], "area": 12}
        for n, (image, kind) in enumerate([(3, 7), (1, 1), (3, 1), (2, 7), (1, 1), (3, 7)])
    ]
    album = read_coco(str(written(tmp_path, train=held))).album
    assert album.counts(("dog", "traffic_light"), AnnotationFilter())[:3].tolist() == [[0, 2], [1, 0], [2, 1]]


# -- columns, folders and hashes ---------------------------------------------------------------------------------------


def test_every_column_is_read_in_the_order_of_the_images(tmp_path):
    held = {
        "images": [
            {"id": "b", "file_name": "2.png", "width": 6, "height": 4},
            {"id": "a", "file_name": "1.png", "width": 60, "height": 40},
            {"id": 7, "file_name": "3.png", "width": 600, "height": 400},
        ],
        "categories": [{"id": 9, "name": "dog"}, {"id": 4, "name": "wine glass"}, {"id": 5, "name": "cup"}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 5, "bbox": [-1, -2, 3, 4], "area": 9, "iscrowd": 1},
            {"id": 2, "image_id": "a", "category_id": 9, "bbox": [5, 6, 7, 8.5]},
            {"id": 3, "image_id": "b", "category_id": 4, "bbox": [0, 0, 0, 0], "area": 0, "iscrowd": 0},
            {"id": 4, "image_id": "a", "category_id": 4, "bbox": [1, 1, 2, 3], "area": None},
        ],
    }
    album = read_coco(str(written(tmp_path, train=held))).album
    assert album.files[:3] == ("train2017/2.png", "train2017/1.png", "train2017/3.png")
    assert album.sizes[:3].tolist() == [[6, 4], [60, 40], [600, 400]]
    assert album.categories == ("dog", "wine_glass", "cup", "traffic_light")
    assert album.owners[:4].tolist() == [0, 1, 1, 2] and album.classes[:4].tolist() == [1, 0, 1, 2]
    assert album.boxes[:4].tolist() == [[0, 0, 0, 0], [5, 6, 7, 8.5], [1, 1, 2, 3], [-1, -2, 3, 4]]
    assert album.areas[:4].tolist() == [0, 59.5, 6, 9] and album.crowds[:4].tolist() == [False, False, False, True]
    assert album.parts.tolist() == [0, 0, 0, 1, 1]


def test_images_lie_in_the_folder_where_the_first_of_them_is_found(tmp_path):
    for number, place in enumerate(["train2017", "images/train2017", "images", "."]):
        root = written(tmp_path / str(number))
        target = root / place
        target.mkdir(parents=True, exist_ok=True)
        for path in [*(root / "train2017").iterdir()]:
            path.rename(target / path.name)
        album = read_coco(str(root))
        assert album.album.files[0] == (Path(place) / "1.png").as_posix() and album.path(album.album.files[0]).is_file()
    root = written(tmp_path / "some")
    (root / "train2017" / "1.png").unlink()
    assert read_coco(str(root), skip_missing=True).album.files[:2] == ("train2017/2.png", "train2017/3.png")


def test_where_no_image_is_there_nothing_can_be_skipped(tmp_path):
    root = written(tmp_path)
    for path in (root / "train2017").iterdir():
        path.unlink()
    with pytest.raises(DataError, match=r"3 of 3 images are not there, the first is 'train2017/1.png'$"):
        read_coco(str(root), skip_missing=True)


def test_one_file_is_read_from_beside_its_images_or_from_annotations(tmp_path):
    for number, folder in enumerate(("annotations", "labels")):
        root = tmp_path / str(number)
        (root / folder).mkdir(parents=True)
        place = root if folder == "annotations" else root / folder
        (place / "images").mkdir()
        held = table(8)
        for image in held["images"]:
            (place / "images" / image["file_name"]).write_bytes(DOT)
        (root / folder / "mine.json").write_text(json.dumps(held))
        found = read_coco(str(root / folder / "mine.json"))
        assert found.root == place and found.album.parts.sum() == 2
        if folder == "annotations":
            assert read_coco(str(root)).sha256 == found.sha256  # the only file of its folder
    (tmp_path / "0" / "annotations" / "other.json").write_text("{}")
    with pytest.raises(DataError, match="or one file in all; there is: mine.json, other.json"):
        read_coco(str(tmp_path / "0"), skip_missing=True)


def test_of_several_files_for_training_none_is_taken(tmp_path):
    root = written(tmp_path)
    (root / "annotations" / "instances_train2014.json").write_text(json.dumps(table()))
    names = "instances_train2014.json, instances_train2017.json, instances_val2017.json"
    with pytest.raises(DataError, match=f"expected one instances_train.*; there is: {names}"):
        read_coco(str(root))


def test_the_hash_changes_with_the_test_images_and_with_the_size_of_a_file(tmp_path):
    plain = read_coco(str(written(tmp_path / "a"))).sha256
    larger = written(tmp_path / "b")
    (larger / "val2017" / "51.png").write_bytes(DOT + b"\0")
    tests = written(tmp_path / "c", val=table(3, first=50))
    train = written(tmp_path / "d", train=table(4))
    assert len({plain, *(read_coco(str(root)).sha256 for root in (larger, tests, train))}) == 4


def test_an_image_is_found_by_its_file(tmp_path):
    found = read_coco(str(written(tmp_path)))
    assert [found.number(file) for file in found.album.files] == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match="the annotations know no image 'other.png'"):
        found.number("other.png")


def annotated(held, **values):
    return row(held, "annotations", **values)


MORE = {
    "images has the id 3 twice": lambda t: row(t, "images", id=3),
    "images: an id must be a whole number or a text": lambda t: row(t, "images", id=1.5),
    "annotations: an id must be a whole number or a text": lambda t: annotated(t, id=True),
    "annotation 10 has the image_id True": lambda t: annotated(t, image_id=True),
    "some bbox is negative or no number": lambda t: annotated(t, bbox=[0, 0, 3, -1]),
    "some width and height is negative or no number": lambda t: row(t, "images", width=-6),
    "some area is not 1 number": lambda t: annotated(t, area="much"),
    "some bbox is not 4 numbers": lambda t: annotated(t, bbox=5),
    "image 1 has no plain file name: '/1.png'": lambda t: row(t, "images", file_name="/1.png"),
    "image 1 has no plain file name: ''": lambda t: row(t, "images", file_name=""),
    "image 1 has no plain file name: 5": lambda t: row(t, "images", file_name=5),
    "annotations[0] has no 'id'": lambda t: {**t, "annotations": [5]},
    "has no list 'categories'": lambda t: {**t, "categories": []},
    "categories[1] has no 'name'": lambda t: {**t, "categories": [t["categories"][0], {"id": 3}]},
    "two categories are called 'a_b'": lambda t: {
        **t, "categories": [{"id": 1, "name": "a b"}, {"id": 7, "name": "a-b"}],
    },
}  # fmt: skip


@pytest.mark.parametrize("fault", MORE)
def test_each_further_fault_is_told(fault, tmp_path):
    root = written(tmp_path)
    (root / "annotations" / "instances_train2017.json").write_text(json.dumps(MORE[fault](table())))
    with pytest.raises(DataError) as caught:
        read_coco(str(root))
    assert fault in str(caught.value)


def test_a_file_without_objects_is_no_fault(tmp_path):
    album = read_coco(str(written(tmp_path, train={**table(), "annotations": []}))).album
    assert album.owners.tolist() == [3, 3, 3, 4] and len(album) == 5


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    root = written(tmp_path)
    (root / "annotations" / "instances_val2017.json").unlink()
    (root / "annotations" / "instances_val2017.json").mkdir()
    with pytest.raises(DataError, match=r"^COCO file 'instances_val2017.json': cannot be read: Is a directory$"):
        read_coco(str(root))


def test_a_file_of_another_kind_or_nested_too_deep_is_refused(tmp_path):
    root = written(tmp_path)
    path = root / "annotations" / "instances_train2017.json"
    for text, why in (
        ('{"images": [1,\n 2,,]}', "it breaks off or goes wrong at line 2"),
        ("[" * 100_000, "is no whole JSON file; it breaks off or goes wrong"),
        ("3", "has no list 'images'"),
        ('{"images": {}, "categories": [], "annotations": []}', "has no list 'images'"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=why):
            read_coco(str(root))
