"""A changed concept: the picture is that of the changed world, the label that of the rule, the answer the model's."""

import base64
from pathlib import Path

import numpy as np
import pytest

from assay.base import Settings, load_file
from assay.dataset import Dataset, decode, make, recipe_from, task_of
from assay.models import load_model
from tests.pixels import trained

AT = "data/pixels/test/3"
TOYS = Path(__file__).parents[1] / "toys.py"


def bytes_of(found, column="image"):
    return base64.b64decode(found["pictures"][column].partition(",")[2])


def image(found, column="image"):
    return decode(bytes_of(found, column))


@pytest.fixture(scope="module")
def world(data):
    return data["test"].world(3)


def test_the_picture_is_that_of_the_changed_world(viewer, data, world):
    value = not world["c"]
    found = viewer.get(f"{AT}/edit", changes={"c": int(value)})
    other = world.do(c=value)
    drawn = task_of(data).render(other).image
    assert (image(found) == drawn.reshape(image(found).shape)).all()
    assert (image(found) != data["test"].images[3]).any()
    assert found["concepts"] == list(other.codes) and found["world"] == other.text
    assert found["labels"] == data.knowledge.labels_of(np.array([other.codes]))[0].tolist()
    assert found["tags"]["y"] == data.knowledge.boundaries[0].tags(np.array([other.codes]))[0].split("; ")


def test_no_change_is_the_sample_itself(viewer, data):
    assert (image(viewer.get(f"{AT}/edit", changes={})) == data["test"].images[3]).all()
    assert list(viewer.get(f"{AT}/ask/good", changes={})) == ["own"]


def test_the_model_is_asked_about_the_picture_and_about_the_concept(viewer, folder, data, world):
    code = 1 - world.codes[2]
    found = viewer.get(f"{AT}/ask/good", changes={"c": code})
    model, own = load_model(folder / "runs" / "good"), data["test"].take(np.array([3]))
    told = model.predict(own, {"c": np.array([code])})
    assert found["intervention"]["labels"][0]["probabilities"] == pytest.approx(
        told.labels["y"].probabilities[0].tolist(), abs=1e-4
    )
    same = next(row for row in range(64) if data["test"].world(row).codes == world.do(c=bool(code)).codes)
    seen = model.predict(data["test"].take(np.array([same])))  # the picture of three pixels has no style
    assert found["counterfactual"]["labels"][0]["probabilities"] == pytest.approx(
        seen.labels["y"].probabilities[0].tolist(), abs=1e-4
    )
    assert found["own"] == viewer.get(f"{AT}.json")["answers"]["good"]
    assert found["counterfactual"]["concepts"][2]["code"] == code


def test_a_model_without_concepts_says_so(folder, data, opened, tmp_path):
    trained("blackbox", data, tmp_path / "box", {"epochs": 1})
    found = opened(folder / "data", tmp_path / "box").get(f"{AT}/ask/box", changes={"c": 1})
    assert "no concepts that can be set" in found["intervention"]["error"] and found["counterfactual"]["labels"]


def test_predictions_alone_cannot_be_asked(folder, opened):
    viewer = opened(folder / "data", folder / "runs" / "good" / "predictions" / "test.parquet")
    assert "no model that can be asked" in viewer.why_not(f"{AT}/ask/test", changes={})


def test_changes_that_make_no_sense_are_one_line(viewer):
    for path in (f"{AT}/edit", f"{AT}/ask/good"):
        for code in (-1, 2):
            assert f"codes from 0 to 1, not {code}" in viewer.why_not(path, changes={"c": code})
        assert "no concept named 'd'" in viewer.why_not(path, changes={"d": 0})


def test_what_must_follow_is_told(opened, tmp_path):
    make(recipe_from("sudoku-mini", Settings({"n": 8})), tmp_path / "sudoku")
    viewer, truth = opened(tmp_path / "sudoku"), Dataset.open(tmp_path / "sudoku")["train"]
    row = int(np.flatnonzero(truth.labels[:, 0] == 1)[0])
    found = viewer.get(f"data/sudoku/train/{row}/edit", changes={"row1": 0})
    assert found["labels"] == [0] and found["follows"] and found["text"] != truth.texts[row]
    impossible = {name: 1 - int(name == "row1") for name in truth.knowledge.space.names}
    assert "cannot be drawn" in viewer.why_not(f"data/sudoku/train/{row}/edit", changes=impossible)


@pytest.fixture
def toy(opened, tmp_path):
    """Return a function that serves the dataset of a task of one's own."""

    def serve(name, sizes):
        load_file(TOYS)
        recipe = recipe_from(f"{TOYS}:{name}", Settings({"splits": {"train": 4, "valid": 2, "test": 6, **sizes}}))
        make(recipe, tmp_path / "own")
        return opened(tmp_path / "own"), Dataset.open(tmp_path / "own"), recipe.task

    return serve


def test_all_modalities_are_drawn_anew(toy):
    viewer, dataset, task = toy("Shelf", {"hard": 0})
    drawn = task.render(dataset["test"].world(0).do(two="none"))
    found = viewer.get("data/own/test/0/edit", changes={"two": 2})
    assert set(found["pictures"]) == {"image", "instances", "depth"} and found["text"] == drawn.text
    assert (image(found) == drawn.image).all() and found["things"][0]["right"] == drawn.things[0].box.right
    film, grey = image(found, "instances"), image(found, "depth")[..., 0].astype(int)
    assert ((film[..., 3] > 0) == (drawn.instances > 0)).all()  # objects are seen, what lies behind them not
    colours = {tuple(film[drawn.instances == number][0]) for number in np.unique(drawn.instances) if number}
    assert len(colours) == len(np.unique(drawn.instances)) - 1
    order = np.argsort(drawn.depth.ravel(), kind="stable")
    assert (np.diff(grey.ravel()[order]) <= 0).all() and grey.max() == 255  # what is nearer is lighter


def test_where_the_task_is_not_at_hand_the_rule_still_speaks(toy):
    from assay.base import forget_files

    viewer, dataset, _ = toy("Shelf", {"hard": 0})
    forget_files()
    world = dataset["test"].world(0).do(one="red")
    found = viewer.get("data/own/test/0/edit", changes={"one": 0})
    assert found["undrawn"] and not found["pictures"] and found["concepts"] == list(world.codes)
    assert found["labels"] == dataset.knowledge.labels_of(np.array([world.codes]))[0].tolist()


def test_a_label_left_to_chance_keeps_its_luck(toy):
    viewer, dataset, _ = toy("Coin", {})
    world = dataset["test"].world(0).do(a=True)
    expected = dataset.knowledge.drawn_labels(np.array([world.codes]), np.array([world.style["luck"]]))
    assert viewer.get("data/own/test/0/edit", changes={"a": 1})["labels"] == expected[0].tolist()
