"""Confounders as data: how often nuisances go with labels in each split, in new data and in data that is there."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.base import AssayError, ConfigError, Settings
from assay.dataset import NUISANCES, SHIFTED, Confounder, Dataset, ShardWriter, SplitData, recipe_from, task_of
from assay.exchange import confound_dataset
from assay.render import Picture, mark_picture
from assay.tasks import TASKS, Task
from tests.conftest import write
from tests.toys import Shelf, written

WATERMARK = {"what": "watermark", "with": "y"}


def mark_image(image, name, code, count):
    """Return an image with a mark."""
    return mark_picture(Picture(image), name, code, count).image


def confounder(**values: Any) -> Confounder:
    return Confounder.model_validate({**WATERMARK, **values})


def codes(data: SplitData, name: str = "watermark") -> np.ndarray:
    return np.array([json.loads(style)[NUISANCES][name] for style in data.table["style"].to_pylist()])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    listed = [WATERMARK, {"what": "frame", "with": "a", "strength": 0.7}]
    sizes = {"train": 1500, "valid": 40, "test": 800, "pairs": 50}
    return write(tmp_path_factory.mktemp("data") / "d", "mnlogic", k=3, splits=sizes, confound=listed)


def test_nuisances_go_with_labels_as_often_as_asked(data: Dataset) -> None:
    for name in ("train", "test"):
        part = data.symbols(name)
        assert abs((codes(part) == part.labels[:, 0]).mean() - 0.95) < 0.025
        assert abs((codes(part, "frame") == part.concepts[:, 0]).mean() - 0.7) < 0.05


def test_the_test_split_comes_again_without_the_confounder_and_against_it(data: Dataset) -> None:
    test, free, against = (data.symbols(name) for name in ("test", *SHIFTED))
    assert np.array_equal(test.concepts, free.concepts) and np.array_equal(test.concepts, against.concepts)
    assert abs((codes(free) == free.labels[:, 0]).mean() - 0.5) < 0.06
    turns = np.arange(len(against)) % 2 == 0  # one nuisance a row
    assert not (codes(against) == against.labels[:, 0])[turns].any()
    assert np.array_equal(codes(against)[~turns], codes(test)[~turns])
    assert not (codes(against, "frame") == against.concepts[:, 0])[~turns].any()
    assert np.array_equal(codes(against, "frame")[turns], codes(test, "frame")[turns])


def test_pictures_of_a_pair_differ_in_the_mark_alone(data: Dataset) -> None:
    test, against = data["test"], data["reversed"]
    row = int(np.flatnonzero((codes(test) == test.labels[:, 0]) & (np.arange(len(test)) % 2 == 0))[0])
    first, second = (np.asarray(part[row]["image"]).astype(int) for part in (test, against))
    changed = first != second
    assert changed.any() and not changed[:20].any() and not changed[:, 12:].any()


def test_a_dataset_is_redrawn_with_its_marks(data: Dataset) -> None:
    task, part = task_of(data), data["reversed"]
    for row in range(4):
        assert np.array_equal(task.render(part.world(row)).image, np.asarray(part[row]["image"]))


def test_changed_worlds_keep_their_nuisances(data: Dataset) -> None:
    changed, test = data["pairs"], data.symbols("test")
    origin = {int(number): row for row, number in enumerate(test.index)}
    rows = [origin[int(number)] for number in changed.pair_rows]
    assert np.array_equal(codes(changed), codes(test)[rows])


def test_planting_marks_in_data_that_is_there_gives_the_same_as_making_it_so(tmp_path: Path) -> None:
    listed = [WATERMARK, {"what": "noise", "with": "y", "strength": 0.6}]
    made = write(tmp_path / "made", "mnlogic", k=3, n=40, confound=listed)
    plain = write(tmp_path / "plain", "mnlogic", k=3, n=40)
    confound_dataset(plain, [Confounder.model_validate(entry) for entry in listed], tmp_path / "copy")
    copy = Dataset.open(tmp_path / "copy")
    assert copy.fingerprint == made.fingerprint
    for name in made.split_names:
        assert made[name].full_table().equals(copy[name].full_table())
    changed, before = copy["pairs"], copy.symbols("test")
    origin = {int(number): row for row, number in enumerate(before.index)}
    assert np.array_equal(codes(changed), codes(before)[[origin[int(row)] for row in changed.pair_rows]])


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Boxes with maps and texts, beside which worlds were changed."""
    folder = tmp_path_factory.mktemp("shelf") / "data"
    return written(Shelf(), folder, train=12, valid=0, test=9, hard=0, pairs=6)


def test_marks_are_planted_in_every_row_of_pictures_that_are_there(shelf: Dataset, tmp_path: Path) -> None:
    marks = [confounder(**{"with": "same"}), confounder(what="frame", strength=0.5, **{"with": "two"})]
    manifest = confound_dataset(shelf, marks, tmp_path / "copy").to_dict()
    assert confound_dataset(shelf, marks, tmp_path / "copy").to_dict() == manifest  # it is there
    copy = Dataset.open(tmp_path / "copy")
    assert copy.split_names == ("train", "test", *SHIFTED) and manifest["confounded_from"] == shelf.fingerprint
    for name in copy.split_names:
        old, new = shelf["test" if name in SHIFTED else name], copy[name]
        assert np.array_equal(new.concepts, old.concepts) and new.texts == old.texts
        assert np.array_equal(new.depths, old.depths) and new.things == old.things
        for row, (first, second) in enumerate(zip(codes(new), codes(new, "frame"), strict=True)):
            shown = mark_image(mark_image(old.images[row], "watermark", int(first), 2), "frame", int(second), 3)
            assert np.array_equal(new.images[row], shown)
    assert len(copy["pairs"]) == len(shelf["pairs"])


def test_what_cannot_be_planted_in_data_that_is_there_is_refused(shelf: Dataset, tmp_path: Path) -> None:
    texts = write(
        tmp_path / "texts", "robots", preset="text", image=False, splits={"train": 4, "valid": 0, "test": 4, "hard": 0}
    )
    untested = written(Shelf(), tmp_path / "untested", train=3, valid=2, test=0, hard=0, pairs=0)
    same = {"with": "same"}
    for data, listed, fault in (
        (shelf, [confounder(what="one == two", **same)], "needs worlds to be drawn anew"),
        (shelf, [confounder(what="style.paper", **same)], "needs worlds to be drawn anew"),
        (shelf, [confounder(what="position", **same)], "'position' would move pictures and not their masks"),
        (shelf, [], "name a mark and what it goes with"),
        (texts, [confounder(**{"with": "glorp"})], "has no pictures to mark"),
        (untested, [confounder(**same)], "has no test split to show again"),
    ):
        with pytest.raises(AssayError, match=fault):
            confound_dataset(data, listed, tmp_path / "no")
    assert not (tmp_path / "no").exists()
    confound_dataset(shelf, [confounder(**same)], tmp_path / "copy")
    with pytest.raises(ConfigError, match="has confounders already"):
        confound_dataset(Dataset.open(tmp_path / "copy"), [confounder(**same)], tmp_path / "again")


def test_a_formula_over_concepts_goes_with_the_label(tmp_path: Path) -> None:
    listed = [{"what": "c", "with": "y", "strength": 0.9}]
    sizes = {"train": 600, "valid": 0, "test": 400, "hard": 40, "pairs": 0}
    made = write(
        tmp_path / "d", "mnlogic", k=3, formula="a and b", splits=sizes, confound=listed, prop_in_distribution=1.0
    )
    shares = {}
    for name in ("train", "unconfounded", "reversed"):
        part = made.symbols(name)
        shares[name] = float((part.concepts[:, 2] == part.labels[:, 0]).mean())
        assert np.array_equal(codes(part, "c"), part.concepts[:, 2])
        assert abs(part.labels.mean() - 0.5) < 0.02  # still as many of each label
    assert abs(shares["train"] - 0.9) < 0.03 and abs(shares["unconfounded"] - 0.5) < 0.08 and shares["reversed"] == 0


def test_every_style_that_a_task_offers_shows_and_concerns_no_concept() -> None:
    offered = 0
    for name in ("kand-logic", "robots", "sudoku-mini", "clevr-small", "trains", "sdd-oia", "chess", "cocologic"):
        task: Task = TASKS[name](Settings(dict(TASKS[name].trial)))
        for key, values in task.style_choices.items():
            offered += 1
            listed = [{"what": f"style.{key}", "with": task.knowledge.label_names[0]}]
            recipe = recipe_from(name, Settings({**TASKS[name].trial, "confound": listed}))
            (world,) = ShardWriter(recipe).source("train").worlds(np.arange(1))
            assert world.style[key] in list(values)
    assert offered == 8


@pytest.mark.parametrize("name", ["kand-logic", "robots", "sudoku-mini"])
def test_each_style_gives_another_picture(name: str) -> None:
    task: Task = TASKS[name](Settings(dict(TASKS[name].trial)))
    (world,) = task.source_for(task.splits()[0], 0).worlds(np.arange(1))
    for key, values in task.style_choices.items():
        images = [task.render(type(world)(world.space, world.codes, {**world.style, key: v})).image for v in values]
        assert len({image.tobytes() for image in images}) == len(values)


def test_a_confounded_task_is_the_task_in_all_else() -> None:
    """Whatever a task may define of itself, the confounded one tells the same."""
    for name in ("mnlogic", "kand-logic"):
        settings = dict(TASKS[name].trial)
        base: Task = TASKS[name](Settings(settings))
        mark = [{"what": "frame", "with": base.knowledge.label_names[0]}]
        task = recipe_from(name, Settings({**settings, "confound": mark})).task
        facts = {key for key in dir(Task) if not key.startswith("_")} - {"splits", "source_for", "render", "render_all"}
        for fact in sorted(facts - {"change_world", "style"}):
            own, other = getattr(base, fact), getattr(task, fact)
            if not callable(own):
                assert other == own, fact
        assert task.backbones() == base.backbones() and task.sources() == base.sources()
        assert (task.in_distribution(), task.held_out()) == (base.in_distribution(), base.held_out())
        world = base.source_for(base.splits()[0], 0).worlds(np.arange(1))[0]
        assert np.array_equal(task.render(world).image, base.render(world).image)
        assert task.ingredients(world) == base.ingredients(world)


def test_a_counterfactual_keeps_the_styles_that_a_confounder_chose() -> None:
    chosen = confounder(what="style.paper", values=["yellow", "blue"], **{"with": "glorp"})
    task = recipe_from("robots", Settings({"size": 16, "confound": [chosen.to_dict()]})).task
    worlds = task.source_for(task.splits()[0], 0).worlds(np.arange(12))
    assert {str(world.style["paper"]) for world in worlds} == {"yellow", "blue"}
    mouth = task.space.concept("mouth")
    for world in worlds:
        now = mouth.values[world.codes[task.space.place("mouth")]]
        other = task.change_world(world, {"mouth": next(value for value in mouth.values if value != now)})
        assert other is not None and other.codes != world.codes
        assert all(other.style[key] == world.style[key] for key in ("paper", NUISANCES))
