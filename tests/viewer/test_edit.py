"""A changed concept: the picture is that of the changed world, the label that of the rule, the answer the model's."""

import base64

import numpy as np
import pytest

from assay.config import Settings
from assay.data import Dataset, decode, make, recipe_from, task_of
from assay.errors import ConfigError, DataError, UnknownName
from assay.models import load_model
from assay.studies import RunModels
from assay.viewer import State
from assay.viewer.edit import ask_model, edit_sample
from assay.viewer.folders import ServedDataset, Shelf
from assay.viewer.pictures import film
from tests.toys import Coin, written
from tests.toys import Shelf as Boxes

AT = ("pixels", "test", 3)


def image(found, column="image"):
    return decode(base64.b64decode(found["pictures"][column].partition(",")[2]))


@pytest.fixture(scope="module")
def world(data):
    return data["test"].world(3)


def test_the_picture_is_that_of_the_changed_world(state, data, world):
    value = not world["c"]
    found = edit_sample(state, *AT, {"c": int(value)})
    other = world.do(c=value)
    drawn = task_of(data).render(other).image
    assert (image(found) == drawn.reshape(image(found).shape)).all()
    assert (image(found) != data["test"].images[3]).any()
    assert found["concepts"] == list(other.codes) and found["world"] == other.text
    assert found["labels"] == data.knowledge.labels_of(np.array([other.codes]))[0].tolist()
    assert found["tags"]["y"] == data.knowledge.boundaries[0].tags(np.array([other.codes]))[0].split("; ")


def test_no_change_is_the_sample_itself(state, data):
    assert (image(edit_sample(state, *AT, {})) == data["test"].images[3]).all()


def test_the_model_is_asked_about_the_picture_and_about_the_concept(state, folder, data, world):
    code = 1 - world.codes[2]
    found = ask_model(state, *AT, "good", {"c": code})
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
    assert found["own"] == state.answers("pixels", "test", "good").of(3)
    assert found["counterfactual"]["concepts"][2]["code"] == code


def test_a_model_without_concepts_says_so(folder, data, state, tmp_path):
    from tests.pixels import trained

    trained("blackbox", data, tmp_path / "box", {"epochs": 1})
    other = State.open([folder / "data", tmp_path / "box"], RunModels())
    found = ask_model(other, *AT, "box", {"c": 1})
    assert "no concepts that can be set" in found["intervention"]["error"] and found["counterfactual"]["labels"]


def test_predictions_alone_cannot_be_asked(folder):
    state = State.open([folder / "data", folder / "runs" / "good" / "predictions" / "test.parquet"], RunModels())
    with pytest.raises(DataError, match="no model that can be asked"):
        ask_model(state, *AT, "test", {})


def test_changes_that_make_no_sense_are_one_line(state):
    for ask_for in (edit_sample, lambda *words: ask_model(*words[:-1], "good", words[-1])):
        with pytest.raises(ConfigError, match="codes from 0 to 1, not 2"):
            ask_for(state, *AT, {"c": 2})
        with pytest.raises(UnknownName, match="no concept named 'd'"):
            ask_for(state, *AT, {"d": 0})


def test_what_must_follow_is_told(tmp_path):
    make(recipe_from("sudoku-mini", Settings({"n": 8})), tmp_path / "sudoku")
    state = State.open([tmp_path / "sudoku"])
    truth = Dataset.open(tmp_path / "sudoku")["train"]
    row = int(np.flatnonzero(truth.labels[:, 0] == 1)[0])
    found = edit_sample(state, "sudoku", "train", row, {"row1": 0})
    assert found["labels"] == [0] and found["follows"] and found["text"] != truth.texts[row]
    impossible = {name: 1 - int(name == "row1") for name in truth.knowledge.space.names}
    with pytest.raises(DataError, match="cannot be drawn"):
        edit_sample(state, "sudoku", "train", row, impossible)


def served(task, folder):
    """Return a state that serves the dataset of a task that no registry knows."""
    dataset = written(task, folder, train=4, valid=2, test=6, **({} if isinstance(task, Coin) else {"hard": 0}))
    state = State(Shelf({"own": ServedDataset("own", dataset)}))
    return state, dataset


def test_all_modalities_are_drawn_anew(tmp_path, monkeypatch):
    task = Boxes()
    state, dataset = served(task, tmp_path / "boxes")
    undrawn = edit_sample(state, "own", "test", 0, {"one": 0})
    assert "is not installed" in undrawn["undrawn"] and undrawn["labels"] and not undrawn["pictures"]
    monkeypatch.setattr(state, "task", lambda key: task)
    world = dataset["test"].world(0).do(two="none")
    found, drawn = edit_sample(state, "own", "test", 0, {"two": 2}), task.render(world)
    assert (image(found, "instances") == decode(film(drawn.instances))).all()
    assert set(found["pictures"]) == {"image", "instances", "depth"} and found["text"] == drawn.text
    assert found["things"][0]["right"] == drawn.things[0].box.right


def test_a_label_left_to_chance_keeps_its_luck(tmp_path, monkeypatch):
    task = Coin()
    state, dataset = served(task, tmp_path / "coin")
    monkeypatch.setattr(state, "task", lambda key: task)
    world = dataset["test"].world(0).do(a=True)
    expected = dataset.knowledge.drawn_labels(np.array([world.codes]), np.array([world.style["luck"]]))
    assert edit_sample(state, "own", "test", 0, {"a": 1})["labels"] == expected[0].tolist()
