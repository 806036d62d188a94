"""The rules of driving and the files of BDD-OIA by hand: what follows from a change, and every odd entry of a file."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay.concepts import ConceptSpace
from assay.errors import DataError
from assay.families.driving import bdd_files, bdd_oia
from assay.families.driving.bdd_files import read_frames
from assay.families.driving.bdd_oia import BddOia
from assay.families.driving.export import write_bdd
from assay.families.driving.rules import (
    ACTIONS,
    CONCEPTS,
    OBSTACLES,
    TIES,
    complete_changes,
    exclusions,
    knowledge_of,
    space_of,
)
from assay.families.driving.task import SddOia
from assay.worlds import CONTENT, LUCK, World


def facts(*true):
    return {name: name in true for name in (*CONCEPTS, "emergency")}


def codes(emergency, *true):
    names = space_of(emergency).names
    return np.array([[int(name in true) for name in names]])


# -- rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("true", "actions", "urgent"),
    [
        (("clear",), "forward", "forward"),
        (("green_light",), "forward", "forward"),
        (("follow",), "forward", "forward"),
        ((), "", "forward"),
        (("clear", "red_light"), "stop", "forward"),
        (("clear", "red_light", "green_light"), "forward", "forward"),
        (("clear", "stop_sign"), "stop", "forward"),
        (("green_light", "stop_sign", "red_light"), "stop", "forward"),
        *(((obstacle, "green_light"), "stop", "stop") for obstacle in OBSTACLES),
        (("clear", "left_lane"), "forward left", "forward left"),
        (("clear", "left_green_light"), "forward left", "forward"),
        (("clear", "right_follow"), "forward right", "forward"),
        (("clear", "right_lane", "right_solid_line"), "forward", "forward right"),
        (("clear", "left_lane", "no_left_lane"), "forward", "forward"),
        (("clear", "right_lane", "right_obstacle"), "forward", "forward"),
        (("clear", "left_lane", "left_solid_line", "right_lane", "no_right_lane"), "forward", "forward left"),
        (("car", "left_lane", "right_lane"), "stop left right", "stop left right"),
    ],
)
def test_actions_follow_from_what_is_there(true, actions, urgent):
    def done(emergency, *said):
        labels = knowledge_of(emergency, False, 4).labels_of(codes(emergency, *said))[0]
        return " ".join(name for name, label in zip(ACTIONS, labels, strict=True) if label)

    assert done(False, *true) == done(True, *true) == actions
    assert done(True, "emergency", *true) == urgent


@pytest.mark.parametrize("most", [1, 2, 3, 4])
@pytest.mark.parametrize("tied", [False, True])
def test_a_road_has_no_more_obstacles_than_asked_for(most, tied):
    names = ["clear_or_not", *(["few_obstacles"] if most < 4 else []), *(TIES if tied else [])]
    assert [limit.name for limit in exclusions(tied, most)] == names
    knowledge = knowledge_of(False, tied, most)
    lanes = ("no_left_lane", "no_right_lane") if tied else ()
    for count in range(5):
        some = (*OBSTACLES[:count], *lanes) if count else ("clear", *lanes)
        assert knowledge.can_be(codes(False, *some)).tolist() == [count <= most]
    assert knowledge.can_be(codes(False, "car", "clear", *lanes)).tolist() == [False]


def test_what_is_tied_agrees():
    knowledge = knowledge_of(False, True, 4)
    base = ("clear", "no_left_lane", "no_right_lane")
    greens = ("green_light", "left_green_light", "right_green_light")
    allowed = {base: True, (*base, *greens): True, (*base, "red_light"): True, (*base, "stop_sign"): True}
    refused = [(*base, *greens[:2]), (*base, greens[2]), (*base, "left_lane"), ("clear", "no_right_lane"),
               (*base, "stop_sign", "red_light"), (*base, "stop_sign", *greens)]  # fmt: skip
    for true, can in {**allowed, **dict.fromkeys(refused, False)}.items():
        assert knowledge.can_be(codes(False, *true)).tolist() == [can], true


def test_an_emergency_is_the_last_concept():
    assert space_of(False).names == CONCEPTS and space_of(True).names == (*CONCEPTS, "emergency")
    assert all(concept.values == (False, True) for concept in space_of(True).concepts)


@pytest.mark.parametrize(
    ("true", "changes", "follows"),
    [
        (("clear",), {"car": True}, {"clear": False}),
        (("clear",), {"clear": False}, {"rider": True}),
        (("clear",), {"clear": True}, {}),
        (("clear",), {"follow": True}, {}),
        (("car", "person"), {"clear": True}, {"car": False, "person": False, "rider": False, "other_obstacle": False}),
        (("car", "person"), {"car": False}, {}),
        (("car",), {"car": False}, {"clear": True}),
        (("car",), {"clear": False}, {}),
        (("car",), {"clear": False, "car": False}, {"rider": True}),
        (("clear",), {"clear": False, "person": True}, {}),
        (("car",), {"person": True, "car": False}, {}),
    ],
)
def test_a_road_is_clear_unless_it_has_obstacles(true, changes, follows):
    assert complete_changes(facts(*true), changes, False, "rider") == {**changes, **follows}


GREENS = ("green_light", "left_green_light", "right_green_light")


@pytest.mark.parametrize(
    ("true", "changes", "follows"),
    [
        ((), {"left_green_light": True}, {**dict.fromkeys(GREENS, True), "stop_sign": False}),
        (GREENS, {"right_green_light": False}, dict.fromkeys(GREENS, False)),
        ((), {"left_lane": True}, {"no_left_lane": False}),
        ((), {"no_right_lane": True}, {"right_lane": False}),
        ((), {"no_left_lane": False}, {"left_lane": True}),
        ((), {"right_lane": False}, {"no_right_lane": True}),
        (("red_light", *GREENS), {"stop_sign": True}, {"red_light": False, **dict.fromkeys(GREENS, False)}),
        (("red_light",), {"stop_sign": False}, {}),
        (("stop_sign",), {"red_light": True}, {"stop_sign": False}),
        (("stop_sign",), {"red_light": False}, {}),
        (("stop_sign",), {"follow": True}, {}),
    ],
)
def test_what_is_tied_changes_together(true, changes, follows):
    found = complete_changes(facts("clear", *true), changes, True, "car")
    assert found == {**changes, **follows}
    assert complete_changes(facts("clear", *true), changes, False, "car") == changes


def world(task, *true, **style):
    names = task.space.names
    return World(task.space, tuple(int(name in true) for name in names), {"first": 2, **style})


def test_a_changed_world_gets_the_first_obstacle_of_its_style_and_must_keep_what_was_asked():
    task = SddOia()
    after = task.change_world(world(task, "clear"), {"clear": False})
    assert after["rider"] and not after["car"]
    assert task.change_world(world(task, "clear"), {"clear": True, "car": True}) is None
    tied = SddOia(tied=True, ambulance=False)
    lanes = world(tied, "clear", "no_left_lane", "no_right_lane")
    assert tied.change_world(lanes, {"left_lane": True})["no_left_lane"] is False
    assert tied.change_world(lanes, {"left_lane": True, "no_left_lane": True}) is None
    few = SddOia(most_obstacles=1)
    assert few.change_world(world(few, "car"), {"person": True}) is None


def test_the_ambulance_is_what_is_held_out():
    with_, without = SddOia(), SddOia(ambulance=False, prop_in_distribution=0.5)
    assert str(with_.in_distribution()) == "not emergency" and str(with_.held_out()) == "emergency"
    assert "emergency" not in str(without.in_distribution()) + str(without.held_out())
    assert "emergency" not in without.space.names and not without.ties and SddOia(tied=True).ties
    assert (SddOia(width=64, height=40).layout.width, SddOia(width=64, height=40).layout.height) == (64, 40)
    scene = SddOia(width=64, height=40).scene(SddOia().worlds_in(SddOia().splits()[0], 0).worlds(np.arange(1))[0])
    assert (scene.width, scene.height) == (64, 40)


# -- files -------------------------------------------------------------------------------------------------------------

REASONS = {"a.jpg": [1] + [0] * 20, "b.jpg": [0, 1] + [0] * 19, "c.jpg": [0] * 20 + [1], "d.jpg": [1] * 21}
CATEGORIES = {"a.jpg": [1, 0, 0, 0], "b.jpg": [0, 1, 0, 0, 0], "c.jpg": [0, 0, 1, 1, 1], "d.jpg": [0, 1, 0, 1, 0]}
PARTS = {"train": ["d.jpg", "a.jpg"], "val": ["c.jpg"], "test": ["b.jpg"]}


def publish(folder: Path, parts=None, images="data", notes="") -> Path:
    """Write a folder as BDD-OIA comes: annotations in another order than images, more of them than images."""
    (folder / images).mkdir(parents=True, exist_ok=True)
    (folder / notes).mkdir(parents=True, exist_ok=True)
    for part, files in (parts or PARTS).items():
        for width, file in enumerate(files, start=3):
            Image.new("RGB", (width, 2), (10, 20, 30)).save(folder / images / file)
        listed = [{"id": place, "file_name": file} for place, file in enumerate(reversed(files), start=1)]
        noted = [{"category": [0] * 4}, *({"category": CATEGORIES[file]} for file in reversed(files))]
        why = [{"file_name": file, "reason": REASONS[file]} for file in sorted(REASONS)]
        actions = {"images": listed[::-1], "annotations": noted}
        (folder / notes / f"{part}_25k_images_actions.json").write_text(json.dumps(actions))
        (folder / notes / f"{part}_25k_images_reasons.json").write_text(json.dumps(why))
    return folder


def test_images_are_read_in_the_order_of_their_names_with_their_own_annotations(tmp_path):
    frames = read_frames(str(publish(tmp_path)), confusing=True)
    assert frames.files == ("a.jpg", "d.jpg", "c.jpg", "b.jpg")
    assert frames.concepts.tolist() == [REASONS[file] for file in frames.files]
    assert frames.actions.tolist() == [CATEGORIES[file][:4] for file in frames.files]
    assert {name: rows.tolist() for name, rows in frames.pools.items()} == {"train": [0, 1], "valid": [2], "test": [3]}
    assert frames.path("c.jpg") == tmp_path / "data" / "c.jpg"


def test_confusing_images_are_left_out_unless_asked_for(tmp_path):
    frames = read_frames(str(publish(tmp_path)))
    assert frames.files == ("a.jpg", "d.jpg", "b.jpg") and frames.pools["valid"].tolist() == []
    assert frames.pools["test"].tolist() == [2]


@pytest.mark.parametrize("notes", ["", "annotations", "labels"])
@pytest.mark.parametrize("images", ["data", "images", ""])
def test_annotations_and_images_may_lie_in_several_places(tmp_path, notes, images):
    frames = read_frames(str(publish(tmp_path, images=images, notes=notes)))
    assert frames.root == tmp_path / images and len(frames.files) == 3


def test_parts_may_be_missing_but_for_training(tmp_path):
    only = read_frames(str(publish(tmp_path / "one", {"train": ["a.jpg"]})))
    assert list(only.pools) == ["train"]
    with pytest.raises(DataError, match="'train_25k_images_actions.json' is missing"):
        read_frames(str(publish(tmp_path / "two", {"val": ["a.jpg"]})))
    half = publish(tmp_path / "three", {"train": ["a.jpg"], "test": ["b.jpg"]})
    (half / "test_25k_images_actions.json").unlink()
    with pytest.raises(DataError, match="'test_25k_images_actions.json' is missing"):
        read_frames(str(half))
    for name in ("actions", "reasons"):
        (half / f"train_25k_images_{name}.json").unlink()
    with pytest.raises(DataError, match="missing"):
        read_frames(str(half))  # nothing but a lone file of reasons


def test_the_hash_is_that_of_annotations_and_sizes_of_images(tmp_path):
    def hashed(name, **changes):
        folder = publish(tmp_path / name)
        for file, text in changes.items():
            path = folder / file.replace("__", ".")
            path.write_bytes(text if isinstance(text, bytes) else path.read_bytes() + b" ")
        return read_frames(str(folder)).sha256

    plain = hashed("plain")
    assert hashed("same") == plain
    others = [
        *(hashed(f"{part}-{kind}", **{f"{part}_25k_images_{kind}__json": None})
          for part in ("train", "val", "test") for kind in ("actions", "reasons")),
        hashed("image", **{"data/a__jpg": b"another size"}),
    ]  # fmt: skip
    assert len({plain, *others}) == 8


def test_missing_images_are_counted_and_skipped_with_their_rows(tmp_path):
    folder = publish(tmp_path)
    (folder / "data" / "a.jpg").unlink()
    with pytest.raises(DataError, match="1 of 2 images are not in 'data', the first is 'a.jpg'; `skip_missing: true`"):
        read_frames(str(folder))
    frames = read_frames(str(folder), skip_missing=True)
    assert frames.files == ("d.jpg", "b.jpg")
    assert [frames.pools[name].tolist() for name in ("train", "valid", "test")] == [[0], [], [1]]
    assert frames.concepts.tolist() == [REASONS["d.jpg"], REASONS["b.jpg"]]
    (folder / "data" / "d.jpg").unlink()
    with pytest.raises(DataError, match="2 of 2 images are not in 'data', the first is 'a.jpg'$"):
        read_frames(str(folder), True, True)


@pytest.mark.parametrize(
    ("place", "fine"), [(0, True), (2, True), (3, False), (-1, False), (True, False), ("1", False), (None, False)]
)
def test_an_image_names_the_place_of_its_annotation(place, fine):
    data = {
        "images": [{"id": place, "file_name": "x.jpg"}],
        "annotations": [{"category": [k % 2] * 4} for k in range(3)],
    }
    if fine:
        assert bdd_files._actions("f", data) == {"x.jpg": [place % 2] * 4}
    else:
        with pytest.raises(DataError, match="no annotation is there"):
            bdd_files._actions("f", data)


@pytest.mark.parametrize(
    "data",
    [[], {"images": [], "annotations": []}, {"images": [{}]}, {"annotations": [{}]}, {"images": {}, "annotations": []}],
)
def test_actions_need_lists_of_images_and_annotations(data):
    with pytest.raises(DataError, match="has no lists 'images' and 'annotations'"):
        bdd_files._actions("f", data)


@pytest.mark.parametrize("file", ["a.jpg", "deep/a.jpg", "a..b.jpg"])
def test_plain_names_of_files_are_taken(file):
    assert bdd_files._file("f", {"file_name": file}) == file


@pytest.mark.parametrize(
    "row", [{"file_name": name} for name in ("", "/a.jpg", "../a.jpg", "a/../b.jpg", 3)] + [{}, "a", 1]
)
def test_other_names_of_files_are_refused(row):
    with pytest.raises(DataError, match="without a plain file name"):
        bdd_files._file("f", row)


@pytest.mark.parametrize("values", [[0, 1, 1], [0] * 6, [0, 1, 2, 0], [0, 1, -1, 0], "0101", None, [0, 0.5, 1, 1]])
def test_annotations_are_zeros_and_ones(values):
    with pytest.raises(DataError, match="needs 4 or 5 numbers that are 0 or 1"):
        bdd_files._bits("f", "x.jpg", values, (4, 5))
    assert bdd_files._bits("f", "x.jpg", [True, 0, 1.0, False], (4, 5)) == [1, 0, 1, 0]


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00", b"[" * 100_000])
def test_files_that_are_no_json_are_named(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"'x.json' is no whole JSON file"):
        bdd_files._read(path)
    with pytest.raises(DataError, match="'none.json' cannot be read"):
        bdd_files._read(tmp_path / "none.json")


# -- photographs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "likely"), [(0.2, 0.501), (0.5, 0.501), (0.501, 0.501), (0.8, 0.8), (0.9995, 0.999), (1.0, 0.999)]
)
def test_odds_are_the_share_but_never_even_and_never_certain(share, likely):
    odds = bdd_oia._odds("car", share)
    assert odds.scale == pytest.approx(np.log(likely / (1 - likely))) and str(odds.score) == "1 if car else -1"


def test_annotated_actions_have_their_own_odds_each(tmp_path):
    task = BddOia(folder=str(publish(tmp_path)), confusing=True)
    truth = knowledge_of(False, False, 4).labels_of(task.frames.concepts)
    agree = (truth == task.frames.actions).mean(axis=0)
    assert len(set(agree.tolist())) > 1
    chances = task.knowledge.chances(task.frames.concepts)
    likely = np.clip(agree, 0.501, 0.999)
    assert chances == pytest.approx(np.where(truth, likely, 1 - likely))
    by_rule = BddOia(folder=str(tmp_path), labels="rule", confusing=True)
    assert (
        not by_rule.knowledge.stochastic
        and by_rule.knowledge.labels_of(task.frames.concepts).tolist() == truth.tolist()
    )
    assert not task.knowledge.constraints


def test_photographs_are_dealt_as_they_come(tmp_path):
    task = BddOia(folder=str(publish(tmp_path)), width=32, height=40)
    assert task.sizes == {"train": 2, "valid": 0, "test": 1} and task.seconds == 0.01 and task.columns == ("image",)
    splits = task.splits()
    assert [(split.name, split.size, split.pool, split.balance) for split in splits] == [
        ("train", 2, "train", "world"),
        ("test", 1, "test", "world"),
    ]
    (only,) = task.worlds_in(splits[1], 0).worlds(np.arange(1))
    assert only.style == {CONTENT: {"image": "b.jpg"}, LUCK: [1.0, 0.0, 1.0, 1.0]}
    assert task.ingredients(only) == ("b.jpg",) and task.render(only).image.shape == (40, 32, 3)
    assert task.sources()["bdd-oia"] == {"name": "bdd-oia", "sha256": task.frames.sha256, "images": 3}
    by_rule = BddOia(folder=str(tmp_path), labels="rule")
    assert by_rule.worlds_in(splits[1], 0).worlds(np.arange(1))[0].style == {CONTENT: {"image": "b.jpg"}}
    assert task.change_world(only, {"follow": bool(only["follow"])}) == only
    assert task.change_world(only, {"follow": not only["follow"]}) is None
    with pytest.raises(DataError, match="give `folder`"):
        BddOia().render(only)


def test_a_style_is_a_photograph_with_all_these_concepts(tmp_path):
    task = BddOia(folder=str(publish(tmp_path)))
    rng = SimpleNamespace(choice=lambda rows: rows[-1])
    assert task.style(rng, REASONS["a.jpg"], "train")[CONTENT] == {"image": "a.jpg"}
    assert task.style(rng, REASONS["d.jpg"], "train")[CONTENT] == {"image": "d.jpg"}
    for concepts, pool in ((REASONS["a.jpg"], "test"), ([0] * 21, "train")):
        with pytest.raises(DataError, match=f"no photograph of pool '{pool}' has these concepts"):
            task.style(rng, concepts, pool)


def test_drawn_scenes_stand_in_where_there_is_no_folder():
    task = BddOia()
    assert task.sizes == {"train": 2000, "valid": 300, "test": 600} and task.seconds == 0.6
    assert task.sources() == {} and not task.knowledge.stochastic
    assert [limit.name for limit in task.knowledge.constraints] == ["clear_or_not"]
    drawn = task.worlds_in(task.splits()[0], 0).worlds(np.arange(1))[0]
    assert task.ingredients(drawn) == ()
    changed = task.change_world(drawn, {"follow": not drawn["follow"]})
    assert changed is not None and changed["follow"] != drawn["follow"]


# -- writing -----------------------------------------------------------------------------------------------------------


def split_data(name, numbers, space, labels):
    """Return as much of a split as writing needs: rows that are no longer numbered from 0, columns in another order."""
    rng = np.random.default_rng(1)
    return SimpleNamespace(
        name=name, index=np.array(numbers), knowledge=SimpleNamespace(space=space, label_names=labels),
        concepts=rng.integers(2, size=(len(numbers), len(space))), labels=rng.integers(2, size=(len(numbers), len(labels))),
        files=lambda places: [f"image {place}".encode() for place in places],
    )  # fmt: skip


def test_files_are_written_in_the_order_of_bdd_oia(tmp_path):
    space, labels = space_of(True), ("right", "other", "left", "stop", "forward")
    turned = ConceptSpace(space.concepts[::-1])
    valid, extra = split_data("valid", [7, 3, 12], turned, labels), split_data("ood", [0], turned, labels)

    class Held(dict):
        knowledge = valid.knowledge
        folder, name = tmp_path, "sdd-oia"

    counts = write_bdd(Held(valid=valid, ood=extra), ("valid", "ood"), tmp_path)
    assert counts == {"valid": 3, "ood": 1}
    actions = json.loads((tmp_path / "val_25k_images_actions.json").read_text())
    reasons = json.loads((tmp_path / "val_25k_images_reasons.json").read_text())
    files = ["valid-000007.png", "valid-000003.png", "valid-000012.png"]
    assert actions["images"] == [{"id": place, "file_name": file} for place, file in enumerate(files)]
    assert [note["category"] for note in actions["annotations"]] == [
        [*(int(row[labels.index(name)]) for name in ACTIONS), 0] for row in valid.labels
    ]
    assert [note["id"] for note in actions["annotations"]] == [0, 1, 2]
    assert reasons == [
        {"file_name": file, "reason": [int(row[turned.place(name)]) for name in CONCEPTS]}
        for file, row in zip(files, valid.concepts, strict=True)
    ]
    assert [(tmp_path / "data" / file).read_bytes() for file in files] == [b"image 0", b"image 1", b"image 2"]
    assert (tmp_path / "ood_25k_images_actions.json").exists()
    for wrong in (labels[1:], labels[:-1]):
        Held.knowledge = SimpleNamespace(space=turned, label_names=wrong)
        with pytest.raises(DataError, match="only driving can be written"):
            write_bdd(Held(), (), tmp_path)
