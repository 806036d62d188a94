"""Photographs with COCO's annotations: what counts, which images are left out, and a line for each kind of bad file."""

import json
from itertools import product

import numpy as np
import pytest
from PIL import Image

from assay.base import DataError
from assay.render import encode_png
from assay.tasks import TASKS
from assay.worlds import CONTENT
from tests.families.drawn import class_indices, worlds_of

DOT = encode_png(np.zeros((4, 6, 3), dtype=np.uint8))
PARTS = ("train2017", "val2017")


def table(images=3, first=1):
    numbers = range(first, first + images)
    annotation = {"category_id": 1, "bbox": [0, 0, 3, 2], "area": 5.0, "iscrowd": 0}
    return {
        "images": [{"id": n, "file_name": f"{n}.png", "width": 6, "height": 4} for n in numbers],
        "categories": [{"id": 1, "name": "traffic light"}, {"id": 7, "name": "dog"}],
        "annotations": [{**annotation, "id": 10 * n + k, "image_id": n} for n in numbers for k in range(n % 3 + 1)],
    }


def written(root, train=None, val=None):
    for part, held in zip(PARTS, (train or table(), val or table(2, first=50)), strict=True):
        (root / "annotations").mkdir(parents=True, exist_ok=True)
        (root / part).mkdir(exist_ok=True)
        for image in held["images"]:
            (root / part / str(image["file_name"])).write_bytes(DOT)
        (root / "annotations" / f"instances_{part}.json").write_text(json.dumps(held))
    return root


def opened(root, **settings):
    """Return the task of a rule over photographs that are read."""
    task = TASKS["cocologic"](coco=str(root), **{"rules": {"more": "dog > traffic_light"}, **settings})
    task.album
    return task


def sha256(root):
    return opened(root).sources()["coco"]["sha256"]


# -- what counts -------------------------------------------------------------------------------------------------------


def random_table(rng, images, first):
    """Return annotations in any order, of objects of any size, some of them crowds."""
    held = table(images, first)
    held["categories"] += [{"id": 9, "name": "kite"}]  # of no rule
    held["images"] = [{**image, "width": 40, "height": int(rng.integers(10, 90))} for image in held["images"]]
    held["annotations"] = []
    for number in range(3 * images):
        wide, high = (int(side) for side in rng.integers(1, 12, size=2))
        one = {"id": 1000 * first + number, "image_id": int(rng.integers(first, first + images))}
        one |= {"category_id": int(rng.choice([1, 7, 9])), "bbox": [0, 0, wide, high]}
        if rng.random() < 0.8:  # else the area is that of the box
            one["area"] = float(wide * high * rng.random())
        if rng.random() < 0.5:
            one["iscrowd"] = int(rng.random() < 0.4)
        held["annotations"].append(one)
    return held


def by_hand(tables, names, crowds, least_area, tiny, clear_area, clear_fill):
    """Return of each image by its path how many objects of each class it shows, and whether it can be used."""
    counts, usable = {}, {}
    for part, held in zip(PARTS, tables, strict=True):
        images = {image["id"]: image for image in held["images"]}
        file = {number: f"{part}/{image['file_name']}" for number, image in images.items()}
        kinds = {one["id"]: one["name"].replace(" ", "_") for one in held["categories"]}
        counts |= {name: dict.fromkeys(names, 0) for name in file.values()}
        usable |= dict.fromkeys(file.values(), True)
        for one in held["annotations"]:
            name, image = kinds[one["category_id"]], images[one["image_id"]]
            if name not in names:
                continue
            crowd, box = bool(one.get("iscrowd")), one["bbox"][2] * one["bbox"][3]
            area = one.get("area", box)
            share, fill = area / (image["width"] * image["height"]), area / box
            counts[file[one["image_id"]]][name] += share >= least_area and not (crowd and crowds == "ignore")
            against = share < clear_area or fill < clear_fill or (tiny == "drop" and share < least_area)
            if against or (crowd and (crowds == "drop" or clear_area or clear_fill)):
                usable[file[one["image_id"]]] = False
    return counts, usable


@pytest.mark.parametrize("crowds", ["one", "ignore", "drop"])
def test_objects_are_counted_and_images_left_out_as_asked(crowds, tmp_path):
    rng = np.random.default_rng(0)
    tables = random_table(rng, 30, 1), random_table(rng, 20, 50)
    tables[1]["categories"].reverse()  # the parts need not agree in their order
    root, left_out = written(tmp_path, *tables), 0
    for least_area, tiny, clear_area, clear_fill in product((0.0, 0.02), ("ignore", "drop"), (0.0, 0.005), (0.0, 0.2)):
        settings = {"crowds": crowds, "least_area": least_area, "tiny": tiny}
        settings |= {"clear_area": clear_area, "clear_fill": clear_fill}
        task = opened(root, **settings)
        counts, usable = by_hand(tables, task.names, **settings)
        assert task.names == ("traffic_light", "dog")  # in the order of the paper
        assert task.codes.tolist() == [list(counts[file].values()) for file in task.album.files]
        used = sorted(task.album.files[number] for pool in task.image_pools.values() for number in pool)
        assert used == sorted(file for file, fine in usable.items() if fine)
        left_out += len(usable) - len(used)
    assert left_out > 20


def test_counts_go_one_beyond_the_largest_and_to_five_at_least_or_as_far_as_asked(tmp_path):
    held = table(2)
    held["annotations"] = [{"id": n, "image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 2]} for n in range(9)]
    few, many = written(tmp_path / "few"), written(tmp_path / "many", train=held)
    for root, most, values in ((few, None, 5), (many, None, 10), (many, 2, 2)):
        task = opened(root, most=most)
        assert task.space.concept("dog").values == tuple(range(values + 1))
        assert task.codes.max() == (2 if most else 9 if values == 10 else 3)


def test_pools_are_shares_of_each_part_by_the_names_of_images(tmp_path):
    held = table(20), table(10, first=50)
    root = written(tmp_path / "plain", *held)
    back = written(tmp_path / "back", *({**one, "images": one["images"][::-1]} for one in held))

    def pools(root, valid=0.13, hard=0.27):
        task = opened(root, valid_share=valid, hard_share=hard)
        return {name: {task.album.files[n] for n in numbers} for name, numbers in task.image_pools.items()}

    found = pools(root)
    assert {name: len(files) for name, files in found.items()} == {"train": 17, "valid": 3, "test": 7, "hard": 3}
    assert {file.split("/")[0] for file in found["train"] | found["valid"]} == {"train2017"}
    assert len(set.union(*found.values())) == 30 and pools(back) == found
    assert found["valid"] <= pools(root, valid=0.5)["valid"]


def test_splits_choose_images_of_their_pool_each_once(tmp_path):
    rng = np.random.default_rng(1)
    task = opened(written(tmp_path, random_table(rng, 60, 1), random_table(rng, 60, 70)))
    for split in task.splits():
        worlds = worlds_of(task, split.name, split.size)
        numbers = [task.album.files.index(world.style[CONTENT]["image"]) for world in worlds]
        assert set(numbers) <= set(task.image_pools[split.pool].tolist()) and len(set(numbers)) == split.size
        assert class_indices(worlds).tolist() == task.codes[numbers].tolist()
    world = worlds[0]
    assert task.change_world(world, {"dog": int(world["dog"]) + 1}) is None  # a photograph is what it is
    style = task.style(rng, world.codes, split.pool)
    assert task.codes[task.album.files.index(style[CONTENT]["image"])].tolist() == list(world.codes)
    with pytest.raises(DataError, match="no image of pool 'valid' shows these numbers of objects"):
        task.style(rng, (5, 5), "valid")


def test_a_photograph_is_fitted_in_with_bars_and_the_boxes_of_what_counts(tmp_path):
    held = table(2)
    held["images"] = [{**image, "width": 80, "height": 20} for image in held["images"]]
    held["annotations"] = [
        {"id": 1, "image_id": 1, "category_id": 7, "bbox": [8, 4, 16, 8]},
        {"id": 2, "image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 2]},
    ]
    task = opened(written(tmp_path, train=held), width=40, height=40, least_area=0.01, valid_share=0.0)
    Image.new("RGB", (80, 20), (200, 10, 10)).save(tmp_path / "train2017" / "1.png")
    style = task.style(np.random.default_rng(0), (0, 1), "train")
    world = worlds_of(task, count=2)[0]
    picture = task.render(type(world)(task.space, (0, 1), style))
    assert (picture.image[:15] == 114).all() and (picture.image[25:] == 114).all()
    assert (picture.image[16:24] == (200, 10, 10)).all()
    (thing,) = picture.things  # the tiny one does not count
    assert (thing.name, thing.box.left, thing.box.top, thing.box.right, thing.box.bottom) == ("dog", 4, 17, 12, 21)


def test_an_image_that_cannot_be_read_is_named(tmp_path):
    task = opened(written(tmp_path))
    for path in (tmp_path / "train2017").iterdir():
        path.write_bytes(b"no image")
    with pytest.raises(DataError, match=r"picture '\d.png' is no PNG, JPEG or WebP file"):
        task.render(worlds_of(task, count=1)[0])


# -- folders and files -------------------------------------------------------------------------------------------------


def test_categories_become_names_for_formulas(tmp_path):
    names = [" traffic  light ", "T-shirt", "2 wheels"]
    held = table()
    held["categories"] = [{"id": n, "name": name} for n, name in zip((1, 7, 8), names, strict=True)]
    rules = {"mine": "T_shirt > 1 or _2_wheels > traffic_light"}
    assert set(opened(written(tmp_path, train=held), rules=rules).names) >= {"traffic_light", "T_shirt", "_2_wheels"}


def test_images_lie_in_the_folder_where_the_first_of_them_is_found(tmp_path):
    for number, place in enumerate(["train2017", "images/train2017", "images", "."]):
        root = written(tmp_path / str(number))
        (root / place).mkdir(parents=True, exist_ok=True)
        for path in [*(root / "train2017").iterdir()]:
            path.rename(root / place / path.name)
        assert opened(root).album.files[0] == ("1.png" if place == "." else f"{place}/1.png")


def test_one_annotation_file_is_cut_into_training_and_test_images(tmp_path):
    held = table(20)
    for folder in ("annotations", "labels"):
        root = tmp_path / folder
        place = root if folder == "annotations" else root / folder
        (root / folder).mkdir(parents=True)
        (place / "images").mkdir()
        for image in held["images"]:
            (place / "images" / image["file_name"]).write_bytes(DOT)
        (root / folder / "mine.json").write_text(json.dumps(held))
        task = opened(root / folder / "mine.json")
        assert task.album.files[0] == "images/1.png"
        assert sum(len(task.image_pools[name]) for name in ("test", "hard")) == 5
    assert sha256(tmp_path / "annotations") == task.sources()["coco"]["sha256"]  # the only file of its folder


def test_missing_images_stop_or_are_skipped(tmp_path):
    root = written(tmp_path)
    (root / "train2017" / "2.png").unlink()
    with pytest.raises(DataError, match=r"1 of 3 images are not there, the first is 'train2017/2.png'; `skip_missing"):
        opened(root)
    task = opened(root, skip_missing=True)
    assert len(task.album.files) == 4 and task.codes[:, 0].tolist() == [2, 1, 3, 1]
    root = written(tmp_path / "none")
    for path in (root / "train2017").iterdir():
        path.unlink()
    with pytest.raises(DataError, match=r"3 of 3 images are not there, the first is 'train2017/1.png'$"):
        opened(root, skip_missing=True)


def test_the_hash_is_of_the_data_and_not_of_the_place(tmp_path):
    first = sha256(written(tmp_path / "a"))
    assert sha256(written(tmp_path / "b")) == first
    larger = written(tmp_path / "c")
    (larger / "val2017" / "51.png").write_bytes(DOT + b"\0")
    others = [larger, written(tmp_path / "d", val=table(3, first=50)), written(tmp_path / "e", train=table(4))]
    assert len({first, *map(sha256, others)}) == 4


def row(held, table_name, **values):
    held[table_name][0] = {**held[table_name][0], **values}
    return held


def annotated(held, **values):
    return row(held, "annotations", **values)


BAD = {
    "images has the id 2 twice": lambda t: row(t, "images", id=2),
    "images: an id must be a whole number or a text": lambda t: row(t, "images", id=1.5),
    "annotations has the id 11 twice": lambda t: annotated(t, id=11),
    "annotations: an id must be a whole number or a text": lambda t: annotated(t, id=True),
    "annotation 10 has the image_id 99": lambda t: annotated(t, image_id=99),
    "annotation 10 has the image_id True": lambda t: annotated(t, image_id=True),
    "annotation 10 has the category_id 5": lambda t: annotated(t, category_id=5),
    "annotation 10 has the category_id {}": lambda t: annotated(t, category_id={}),
    "some bbox is not 4 numbers": lambda t: annotated(t, bbox=[1, 2]),
    "some bbox is negative or no number": lambda t: annotated(t, bbox=[1, 2, -3, 4]),
    "some area is not 1 number": lambda t: annotated(t, area="much"),
    "some area is negative or no number": lambda t: annotated(t, area=float("nan")),
    "some width and height is negative or no number": lambda t: row(t, "images", width=-6),
    "image 1 has no plain file name: '../1.png'": lambda t: row(t, "images", file_name="../1.png"),
    "image 1 has no plain file name: '/1.png'": lambda t: row(t, "images", file_name="/1.png"),
    "image 1 has no plain file name: ''": lambda t: row(t, "images", file_name=""),
    "image 1 has no plain file name: 5": lambda t: row(t, "images", file_name=5),
    "images[0] has no 'width'": lambda t: {**t, "images": [{"id": 1, "file_name": "1.png"}]},
    "annotations[0] has no 'id'": lambda t: {**t, "annotations": [5]},
    "categories[1] has no 'name'": lambda t: {**t, "categories": [t["categories"][0], {"id": 3}]},
    "two categories are called 'dog'": lambda t: row(t, "categories", name="dog"),
    "has no list 'annotations'": lambda t: {"images": t["images"], "categories": t["categories"]},
    "has no list 'categories'": lambda t: {**t, "categories": []},
    "has no list 'images'": lambda t: [t],
}


@pytest.mark.parametrize("fault", BAD)
def test_a_faulty_file_is_refused_in_one_line(fault, tmp_path):
    root = written(tmp_path)
    (root / "annotations" / "instances_train2017.json").write_text(json.dumps(BAD[fault](table())))
    with pytest.raises(DataError) as caught:
        opened(root)
    assert fault in str(caught.value) and "instances_train2017.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_json_is_refused_in_one_line(tmp_path):
    root = written(tmp_path)
    path = root / "annotations" / "instances_val2017.json"
    for data, why in (
        (path.read_bytes()[:-40], "is no whole JSON file"),
        (b"\xff\xfe", "is no whole JSON file"),
        (b'{"images": [1,\n 2,,]}', "it breaks off or goes wrong at line 2"),
        (b"[" * 100_000, "is no whole JSON file; it breaks off or goes wrong"),
        (b"3", "has no list 'images'"),
    ):
        path.write_bytes(data)
        with pytest.raises(DataError, match=f"'instances_val2017.json': .*{why}") as caught:
            opened(root)
        assert "\n" not in str(caught.value)
    path.unlink()
    path.mkdir()
    with pytest.raises(DataError, match=r"^COCO file 'instances_val2017.json': cannot be read: Is a directory$"):
        opened(root)


def test_a_file_without_objects_is_no_fault(tmp_path):
    task = opened(written(tmp_path, train={**table(), "annotations": []}))
    assert task.codes.sum(axis=1).tolist() == [0, 0, 0, 3, 1]


def test_folders_without_coco_say_what_is_expected(tmp_path):
    with pytest.raises(DataError, match="expected a folder 'annotations'"):
        opened(tmp_path)
    (tmp_path / "annotations").mkdir()
    with pytest.raises(DataError, match="there is: none"):
        opened(tmp_path)
    root = written(tmp_path)
    (root / "annotations" / "instances_train2014.json").write_text(json.dumps(table()))
    names = "instances_train2014.json, instances_train2017.json, instances_val2017.json"
    with pytest.raises(DataError, match=f"expected one instances_train.*; there is: {names}"):
        opened(root)


def test_the_same_image_cannot_train_and_test(tmp_path):
    root = written(tmp_path, val=table())
    (root / "images").mkdir()
    for part in PARTS:
        for path in (root / part).iterdir():
            path.rename(root / "images" / path.name)
    with pytest.raises(DataError, match=r"'images/1.png' is annotated for training and for testing"):
        opened(root)
