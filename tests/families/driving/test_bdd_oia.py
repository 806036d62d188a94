"""BDD-OIA: files in the published layout become a dataset with the annotated concepts and actions, and bad ones are named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from assay.base import AssayError, ConfigError, Settings
from assay.dataset import Dataset, Recipe, make, recipe_from
from assay.exchange import export
from assay.families.driving.rules import CONCEPTS
from assay.tasks import TASKS
from assay.testing import check_task, require
from assay.worlds import CONTENT

BddOia = TASKS["bdd-oia"]
COUNTS = {"train": 24, "val": 10, "test": 12}


def annotated(number: int) -> tuple[list[int], list[int]]:
    """Return the actions and reasons of an image; every seventh action breaks the rule, every fifth is confusing."""
    bits = [(number * 2654435761 >> place) & 1 for place in range(len(CONCEPTS))]
    held = dict(zip(CONCEPTS, bits, strict=True))
    obstacle = held["car"] or held["person"] or held["rider"] or held["other_obstacle"]
    stop = (held["red_light"] and not held["green_light"]) or held["stop_sign"] or obstacle
    turns = [
        (held[f"{side}_lane"] or held[f"{side}_green_light"] or held[f"{side}_follow"])
        and not (held[f"no_{side}_lane"] or held[f"{side}_obstacle"] or held[f"{side}_solid_line"])
        for side in ("left", "right")
    ]
    forward = (held["green_light"] or held["follow"] or held["clear"]) and not stop
    actions = [int(bool(one)) for one in (forward, stop, *turns)]
    if number % 7 == 0:
        actions[0] = 1 - actions[0]
    return [*actions, int(number % 5 == 0)], bits


def published(folder: Path) -> Path:
    """Write a small folder as BDD-OIA comes; images are listed in another order than they are annotated in."""
    (folder / "data").mkdir(parents=True)
    number = 0
    for part, count in COUNTS.items():
        images, notes, reasons = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
        for place in range(count):
            actions, why = annotated(number)
            file = f"{part}_{count - place:03d}.jpg"
            Image.new("RGB", (64, 36), (number * 5 % 256, 90, 120)).save(folder / "data" / file)
            images.insert(0, {"id": place, "file_name": file})
            notes.append({"id": 900 + place, "category": actions if number % 3 else actions[:4] + actions[4:]})
            reasons.append({"file_name": file, "reason": why})
            number += 1
        (folder / f"{part}_25k_images_actions.json").write_text(json.dumps({"images": images, "annotations": notes}))
        (folder / f"{part}_25k_images_reasons.json").write_text(json.dumps(reasons))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return published(tmp_path / "lastframe")


def made(folder: Path, target: Path, **settings: Any) -> Dataset:
    make(recipe_from("bdd-oia", Settings({"folder": str(folder), "width": 64, "height": 64, **settings})), target)
    return Dataset.open(target)


def test_every_image_keeps_its_concepts_and_actions(folder: Path, tmp_path: Path) -> None:
    dataset = made(folder, tmp_path / "data")
    numbers = {}
    start = 0
    for part, count in COUNTS.items():
        numbers |= {f"{part}_{count - place:03d}.jpg": start + place for place in range(count)}
        start += count
    seen = 0
    for name in ("train", "valid", "test"):
        split = dataset[name]
        for row in range(len(split)):
            actions, why = annotated(numbers[split.world(row).style["content"]["image"]])
            assert split.concepts[row].tolist() == why and split.labels[row].tolist() == actions[:4]
            assert actions[4] == 0
            seen += 1
        assert split.lawful.all()
    assert seen == sum(annotated(number)[0][4] == 0 for number in range(start))
    assert dataset["train"].images.shape[1:] == (64, 64, 3)
    assert dataset["train"].images[0, 32, 32].tolist() != [114, 114, 114] == dataset["train"].images[0, 2, 2].tolist()


def test_annotated_actions_have_the_odds_of_agreement(folder: Path) -> None:
    task = BddOia(folder=str(folder), width=64, height=64)
    agree = np.array([number % 7 != 0 for number in range(sum(COUNTS.values())) if number % 5])
    forward = task.knowledge.label("forward").odds
    assert forward is not None and 1 / (1 + np.exp(-forward.scale)) == pytest.approx(agree.mean())


def test_actions_by_rule_and_confusing_images(folder: Path, tmp_path: Path) -> None:
    dataset = made(folder, tmp_path / "data", labels="rule", confusing=True)
    assert [len(dataset[name]) for name in dataset.split_names] == list(COUNTS.values())
    assert not dataset.knowledge.stochastic


def test_the_laws_hold(folder: Path) -> None:
    require(check_task(BddOia(folder=str(folder), width=64, height=64)), "bdd-oia")


def test_where_the_images_lie_is_no_part_of_the_dataset(folder: Path, tmp_path: Path) -> None:
    manifest = made(folder, tmp_path / "data").manifest.to_dict()
    assert "folder" not in manifest["task"]["config"] and manifest["sources"]["bdd-oia"]["images"] > 0


def test_drawn_scenes_go_out_and_come_back(tmp_path: Path) -> None:
    settings = Settings({"width": 64, "height": 64, "quality": "draft"})
    sizes = {"train": 9, "valid": 8, "test": 8, "ood": 0, "hard": 0}
    make(Recipe("sdd-oia", settings, sizes=tuple(sizes.items())), tmp_path / "drawn")
    drawn = Dataset.open(tmp_path / "drawn")
    assert export(drawn, "bdd-oia", tmp_path / "bdd", ["train", "valid", "test"]) == {"train": 9, "valid": 8, "test": 8}
    back = made(tmp_path / "bdd", tmp_path / "back", labels="rule")
    for name in ("train", "valid", "test"):
        assert np.array_equal(back[name].concepts, drawn[name].concepts[:, :21])
        assert np.array_equal(back[name].labels, drawn[name].labels)
        assert np.array_equal(back[name].images, drawn[name].images)


def test_other_datasets_are_refused(tmp_path: Path) -> None:
    make(
        Recipe("mnlogic", Settings({}), sizes=(("train", 8), ("valid", 0), ("test", 0), ("hard", 0))), tmp_path / "bits"
    )
    with pytest.raises(AssayError, match="only driving can be written as BDD-OIA"):
        export(Dataset.open(tmp_path / "bits"), "bdd-oia", tmp_path / "bdd", ["train"])


def _without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _edited(name: str, edit: Callable[[Any], Any]) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        held = json.loads((folder / name).read_text())
        edit(held)
        (folder / name).write_text(json.dumps(held))

    return act


ACTION_FILE, REASON_FILE = "train_25k_images_actions.json", "val_25k_images_reasons.json"
BROKEN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no actions": (_without(ACTION_FILE), "'train_25k_images_actions.json' is missing"),
    "no reasons": (_without(REASON_FILE), "'val_25k_images_reasons.json' is missing"),
    "no image": (_without("data/test_003.jpg"), "1 of 9 images are not in 'data', the first is 'test_003.jpg'; `skip_miss"),
    "broken off": (lambda f: (f / ACTION_FILE).write_text('{"images": ['), "no whole JSON file"),
    "other file": (lambda f: (f / ACTION_FILE).write_text("[]"), "no lists 'images' and 'annotations'"),
    "five reasons": (_edited(REASON_FILE, lambda h: h[1].update(reason=[0] * 5)), "needs 21 numbers that are 0 or 1"),
    "a two": (_edited(ACTION_FILE, lambda h: h["annotations"][0].update(category=[0, 2, 0, 0])), "needs 4 or 5 numbers"),
    "an id too large": (_edited(ACTION_FILE, lambda h: h["images"][0].update(id=99)), "has the id 99"),
    "a path": (_edited(REASON_FILE, lambda h: h[0].update(file_name="../x.jpg")), "without a plain file name"),
    "an id below": (_edited(ACTION_FILE, lambda h: h["images"][0].update(id=-1)), "has the id -1"),
    "an id of words": (_edited(ACTION_FILE, lambda h: h["images"][0].update(id="1")), "no annotation is there"),
    "half a number": (_edited(REASON_FILE, lambda h: h[1].update(reason=[0.5] * 21)), "needs 21 numbers that are 0 or 1"),
    "a path from the root": (_edited(ACTION_FILE, lambda h: h["images"][0].update(file_name="/x.jpg")), "without a plain file name"),
    "no category": (_edited(ACTION_FILE, lambda h: h["annotations"][0].update(category=None)), "needs 4 or 5 numbers"),
    "a lone file of reasons": (
        lambda f: [path.unlink() for path in f.glob("*.json") if path.name != REASON_FILE],
        "'val_25k_images_actions.json' is missing",
    ),
    "no words": (lambda f: (f / ACTION_FILE).write_bytes(b"\xff\xfe\x00"), "no whole JSON file"),
    "too deep": (lambda f: (f / ACTION_FILE).write_bytes(b"[" * 100_000), "no whole JSON file"),
    "no reason": (_edited(REASON_FILE, lambda h: h.pop(2)), "has no reasons for 1 images"),
    "in two splits": (
        lambda f: [(f / f"test_25k_images_{k}.json").write_text((f / f"val_25k_images_{k}.json").read_text()) for k in ("actions", "reasons")],
        "is in two splits",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_folders_are_named_in_one_line(case: str, folder: Path) -> None:
    spoil, said = BROKEN[case]
    spoil(folder)
    with pytest.raises(AssayError, match=said) as error:
        BddOia(folder=str(folder)).splits()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("notes", ["annotations", "labels"])
@pytest.mark.parametrize("images", ["images", ""])
def test_annotations_and_images_may_lie_in_other_places(folder: Path, images: str, notes: str) -> None:
    usual = BddOia(folder=str(folder)).sources()["bdd-oia"]["sha256"]
    (folder / notes).mkdir()
    for path in folder.glob("*.json"):
        path.rename(folder / notes / path.name)
    (folder / images).mkdir(exist_ok=True)
    for path in (folder / "data").iterdir():
        path.rename(folder / images / path.name)
    (folder / "data").rmdir()
    other = folder.rename(folder.with_name("moved"))
    assert BddOia(folder=str(other)).sources()["bdd-oia"]["sha256"] == usual


def test_the_hash_is_that_of_annotations_and_sizes_of_images(tmp_path: Path) -> None:
    edits = ["", ACTION_FILE, REASON_FILE, "test_25k_images_reasons.json", "data/train_001.jpg"]
    hashes = []
    for number, edit in enumerate([*edits, ""]):
        folder = published(tmp_path / str(number))
        if edit:
            (folder / edit).write_bytes((folder / edit).read_bytes() + b" ")
        hashes.append(BddOia(folder=str(folder), confusing=True).sources()["bdd-oia"]["sha256"])
    assert hashes[0] == hashes[-1] and len(set(hashes)) == len(edits)


def test_parts_may_be_missing_but_for_training(folder: Path) -> None:
    for kind in ("actions", "reasons"):
        (folder / f"val_25k_images_{kind}.json").unlink()
    assert [split.name for split in BddOia(folder=str(folder)).splits()] == ["train", "test"]
    moved = folder.rename(folder.with_name("moved"))
    for kind in ("actions", "reasons"):
        (moved / f"train_25k_images_{kind}.json").unlink()
    with pytest.raises(AssayError, match="'train_25k_images_actions.json' is missing"):
        BddOia(folder=str(moved)).splits()


def test_a_photograph_can_be_found_for_its_concepts_and_cannot_be_changed(folder: Path) -> None:
    task = BddOia(folder=str(folder), width=32, height=40)
    assert task.columns == ("image",)
    split = task.splits()[-1]
    world = task.source_for(split, 0).worlds(np.arange(1))[0]
    file = world.style[CONTENT]["image"]
    assert file.startswith("test_") and task.ingredients(world) == (file,)
    assert task.render(world).image.shape == (40, 32, 3)
    found = task.style(np.random.default_rng(0), world.codes, "test")[CONTENT]["image"]
    twins = [
        one.style[CONTENT]["image"]
        for one in task.source_for(split, 0).worlds(np.arange(split.size))
        if one.codes == world.codes
    ]
    assert found in twins
    with pytest.raises(AssayError, match="no photograph of pool 'train' has these concepts"):
        task.style(np.random.default_rng(0), world.codes, "train")
    assert task.change_world(world, {"follow": bool(world["follow"])}) == world
    assert task.change_world(world, {"follow": not world["follow"]}) is None
    with pytest.raises(AssayError, match="give `folder`"):
        BddOia().render(world)


def test_missing_images_can_be_skipped(folder: Path) -> None:
    (folder / "data" / "test_003.jpg").unlink()
    assert (
        BddOia(folder=str(folder), skip_missing=True).sizes["test"]
        == BddOia(folder=str(published(folder / "2"))).sizes["test"] - 1
    )


def test_no_folder_and_settings_that_do_not_apply(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(AssayError, match="no folder"):
        BddOia(folder=str(tmp_path / "nowhere")).splits()
    with pytest.raises(AssayError, match="no annotations in"):
        BddOia(folder=str(tmp_path)).splits()
    with pytest.raises(ConfigError, match="stages does not apply"):
        BddOia(folder=str(folder), stages=["car"])
    image = folder / "data" / "train_003.jpg"
    image.write_bytes(b"no image")
    task = BddOia(folder=str(folder))
    worlds = task.source_for(task.splits()[0], 0).worlds(np.arange(task.sizes["train"]))
    with pytest.raises(AssayError, match=r"picture 'train_003.jpg' is no PNG, JPEG or WebP file"):
        task.render_all(worlds)
