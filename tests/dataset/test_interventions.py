"""`assay pairs --do`: named interventions of a task, and any change of concepts, on the worlds of a dataset."""

import numpy as np
import pytest

from assay.base import DataError, Settings, UnknownName
from assay.dataset import Dataset, Recipe, intervened, make, task_of


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trains") / "data"
    sizes = (("train", 4), ("valid", 0), ("test", 120), ("hard", 0))
    make(Recipe("trains", Settings({"image": False}), sizes=sizes), folder)
    return Dataset.open(folder)


def halves(pairs):
    codes, labels = pairs.data.concepts, pairs.data.labels[:, 0]
    return codes[: len(pairs)], codes[len(pairs) :], labels[: len(pairs)], labels[len(pairs) :]


def test_a_named_intervention_changes_all_worlds_that_it_is_for(data):
    task = task_of(data)
    pairs = intervened(data, "test", task, ["remove_roofs"])
    before, after, _, labels = halves(pairs)
    assert pairs.data.name == "test-remove_roofs" and 20 < len(pairs) < 120
    roofs = [data.knowledge.space.place(slot.concept("roof")) for slot in data.knowledge.space.slots]
    assert set(np.unique(after[:, roofs])) <= {0, 5} and (before[:, roofs] != after[:, roofs]).any(axis=1).all()
    others = np.setdiff1d(np.arange(before.shape[1]), roofs)
    assert (before[:, others] == after[:, others]).all()
    assert (labels == data.knowledge.labels_of(after)[:, 0]).all()


def test_swapped_loads_turn_trains_from_west_to_east(data):
    before, after, west, east = halves(intervened(data, "test", task_of(data), ["swap_loads"]))
    assert ((west == 0) & (east == 1)).sum() > 5 and (before != after).any(axis=1).all()


def test_any_change_of_concepts(data):
    pairs = intervened(data, "test", task_of(data), ["car1.axles=3", "car1.wall=braced"])
    _, after, _, _ = halves(pairs)
    space = data.knowledge.space
    assert (after[:, space.place("car1.axles")] == 1).all() and (after[:, space.place("car1.wall")] == 1).all()
    texts = pairs.data.texts
    assert all(" double " in text and text.split()[5] == "3" for text in texts[len(pairs) :])


def test_worlds_that_would_fall_apart_are_left_out(data):
    pairs = intervened(data, "test", task_of(data), ["car4.colour=red"])
    before, _, _, _ = halves(pairs)
    assert (before[:, data.knowledge.space.place("car4.colour")] < 5).all()  # only where there is a fourth car


@pytest.mark.parametrize(
    ("do", "error", "told"),
    [
        (["swap_load"], UnknownName, "no intervention named 'swap_load'; did you mean 'swap_loads'"),
        (["car1.roofs=none"], UnknownName, r"no concept named 'car1\.roofs'"),
        (["car1.roof=thatched"], UnknownName, "no value 'thatched'"),
        (["car1.axles=2", "car1.length=short", "car1.loads=7"], UnknownName, "no value 7"),
    ],
)
def test_changes_that_cannot_be_are_told_in_one_line(data, do, error, told):
    with pytest.raises(error, match=told) as caught:
        intervened(data, "test", task_of(data), do)
    assert "\n" not in str(caught.value)


def test_an_intervention_for_no_world_is_told(data):
    task = task_of(data)
    task.__class__ = type("Idle", (type(task),), {"interventions": {"idle": lambda world: None}})
    with pytest.raises(DataError, match="'idle' is for no world of split 'test'"):
        intervened(data, "test", task, ["idle"])
