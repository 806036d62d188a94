"""A confounded task: its splits, its marked pictures, its counterfactuals, and all else that of the task."""

import numpy as np
import pytest

from assay.data.confounding.confounder import Confounder
from assay.data.confounding.task import ConfoundedTask, plain, with_confounders
from assay.errors import ConfigError
from assay.logic.parse import parse
from assay.render.marks import mark_picture
from assay.render.picture import Layout
from assay.seeds import rng_for
from assay.worlds.world import World
from tests.toys import Shelf


def planted(**values):
    return Confounder.model_validate({"what": "watermark", "with": "same", **values})


def test_stages_count_as_the_split_that_they_are_of():
    asked = planted(where=["my_test", "train"])
    assert [asked.holds_in(name) for name in ("my_test_1", "my_test", "train_12", "my", "train_1_2", "test")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_marks_have_as_many_kinds_as_values_that_they_go_with():
    task = ConfoundedTask(Shelf(), [planted(**{"with": "two"}), planted(what="frame", **{"with": "one"})])
    world = World(task.space, (0, 1, 0), {"distance": 2000, "nuisances": {"watermark": 1, "frame": 1}})
    plain = Shelf().render(world)
    assert (task.render(world).image == mark_picture(mark_picture(plain, "watermark", 1, 3), "frame", 1, 2).image).all()
    other = World(task.space, (0, 1, 0), {"distance": 2000, "nuisances": {"watermark": 2}})
    shown = task.render_all([world, other])
    assert (shown[1].image == mark_picture(plain, "watermark", 2, 3).image).all()
    assert (shown[0].image != shown[1].image).any()
    assert task.change_world(World(task.space, (0, 1, 0), {"distance": 1}), {"one": "blue"}).style == {"distance": 1}


def test_the_first_stage_of_the_test_split_comes_again():
    names = ["train", "test_1", "test_2", "hard"]
    splits = tuple(Shelf().splits()[0].__class__(name, 5, parse("True")) for name in names)
    task = ConfoundedTask(Shelf(), [planted()])
    assert task._origin(splits).name == "test_1" and task._origin(splits[:1]) is None
    assert [split.name for split in task.splits()][-2:] == ["unconfounded", "reversed"]
    sizes = {split.name: split.size for split in task.splits()}
    assert sizes["unconfounded"] == sizes["reversed"] == sizes["test"] != sizes["hard"]


def test_a_confounded_task_asks_its_task_whether_it_is_ready_and_what_is_finer():
    asked = []

    class Odd(Shelf):
        def check_ready(self):
            asked.append("ready")

        def subconcepts_of(self, worlds):
            return f"finer of {worlds}"

    task = ConfoundedTask(Odd(), [planted()])
    task.check_ready()
    assert asked == ["ready"] and task.subconcepts_of([1]) == "finer of [1]"


def test_a_task_of_texts_cannot_be_marked():
    class Words(Shelf):
        layout = Layout(0, 0)

    style = {"what": "one == two", "with": "pile"}
    for marks in ([planted()], [Confounder.model_validate(style), planted()]):
        with pytest.raises(ConfigError, match="task 'shelf' has no pictures to mark"):
            ConfoundedTask(Words(), marks)
    assert ConfoundedTask(Words(), [Confounder.model_validate(style)]).couplings[0].is_formula


def test_a_confounded_task_is_its_task_in_all_else():
    task = Shelf()
    planted = Confounder.model_validate({"what": "watermark", "with": "same"})
    made = with_confounders(task, [planted])
    assert (
        isinstance(made, ConfoundedTask) and plain(made) is task is plain(task) and with_confounders(task, []) is task
    )
    for name in ("knowledge", "layout", "style_choices", "planted", "columns", "summary", "interventions"):
        assert getattr(made, name) == getattr(task, name)
    assert made.backbones() == task.backbones() and made.sources() == task.sources()
    assert str(made.in_distribution()) == str(task.in_distribution()) and str(made.held_out()) == str(task.held_out())
    world = World(task.space, (0, 1, 0), {"distance": 2000})
    assert made.ingredients(world) == task.ingredients(world)
    assert made.style(rng_for(0), (0, 1, 0), "train") == task.style(rng_for(0), (0, 1, 0), "train")
    assert np.array_equal(made.render(world).image, task.render(world).image)
    marked = World(task.space, (0, 1, 0), {"distance": 2000, "nuisances": {"watermark": 1}})
    assert not np.array_equal(made.render(marked).image, task.render(world).image)
    assert np.array_equal(made.render_all([marked])[0].image, made.render(marked).image)
    changed = made.change_world(marked, {"one": "blue"})
    assert changed is not None and changed["one"] == "blue" and changed.style["nuisances"] == {"watermark": 1}
