"""A confounded task: its splits, its marked pictures, its counterfactuals, and all else that of the task."""

from dataclasses import replace

import numpy as np
import pytest

from assay.data import SHIFTED, Confounder, plain
from assay.data.confounding.confounder import draw_codes
from assay.data.confounding.task import ConfoundedTask, with_confounders
from assay.errors import ConfigError
from assay.logic import parse
from assay.render import Layout, mark_picture
from assay.seeds import rng_for
from assay.testing import TwoSquares
from assay.worlds import World
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


def test_the_worlds_of_every_split_are_those_of_the_task_with_nuisances_by_the_seed():
    base = TwoSquares()
    task = ConfoundedTask(
        base,
        [planted(what="frame", strength=0.5, **{"with": "left"}), planted(strength=0.6, **{"with": "brighter"})],
    )
    places = np.array([13, 0, 6, 7])
    names = []
    for split in task.splits():
        origin = split if split.name not in SHIFTED else replace(split, name="test")
        plain_worlds = base.worlds_in(origin, 5)
        source = task.worlds_in(split, 5)
        codes = plain_worlds.codes(places)
        labels = base.knowledge.labels_of(codes)
        partners = np.stack([codes[:, 0], labels[:, 0]], axis=1)
        drawn = draw_codes(task.couplings, split.name, origin.name, 5, places, partners)
        assert [world.codes for world in source.worlds(places)] == [tuple(row) for row in codes.tolist()]
        assert [world.style for world in source.worlds(places)] == [
            {**world.style, "nuisances": {"frame": first, "watermark": second}}
            for world, (first, second) in zip(plain_worlds.worlds(places), drawn, strict=True)
        ]
        assert source.codes(places).tolist() == codes.tolist() and source.split == split and source.seed == 5
        assert source.total == plain_worlds.total and source.contains(codes).all()
        names.append(split.name)
    assert names[-2:] == ["unconfounded", "reversed"] and {"train", "valid", "test"} <= set(names)
    test = next(split for split in base.splits() if split.name == "test")
    assert task.splits()[-2:] == (replace(test, name="unconfounded"), replace(test, name="reversed"))


def test_what_is_the_tasks_own_is_asked_of_it_as_it_was_asked():
    class Told(TwoSquares):
        style_choices = {"ink": ["r", "g"]}
        planted = ({"what": "frame", "with": "left"},)
        columns = ("text",)
        interventions = {"swap": len}
        summary = "two squares"

        def style(self, *given):
            return {"style of": given}

        def ingredients(self, *given):
            return ("ingredients of", given)

        def backbones(self):
            return {"conv": "usual"}

        def sources(self):
            return {"digits": "hash"}

        def in_distribution(self):
            return parse("left == 1")

        def held_out(self):
            return parse("left == 2")

        def change_world(self, *given):
            return None

    base = Told()
    ink = Confounder.model_validate({"what": "style.ink", "with": "brighter"})
    task = ConfoundedTask(base, [ink])
    assert task.style("rng", (1, 2), "pool") == {"style of": ("rng", (1, 2), "pool")}
    assert task.ingredients("world") == ("ingredients of", ("world",)) and task.change_world("world", {}) is None
    assert (task.backbones(), task.sources()) == ({"conv": "usual"}, {"digits": "hash"})
    assert (str(task.in_distribution()), str(task.held_out())) == ("left == 1", "left == 2")
    assert task.style_choices == {"ink": ["r", "g"]} and task.planted == ({"what": "frame", "with": "left"},)
    assert (task.columns, task.interventions, task.summary) == (("text",), {"swap": len}, "two squares")
    assert task.confounders == (ink.model_copy(update={"values": ["r", "g"]}),) and task.couplings[0].count == 2


def test_a_world_takes_its_mark_only_from_a_code_that_it_has():
    task = ConfoundedTask(TwoSquares(), [planted(what="patch", **{"with": "right"}), planted(**{"with": "left"})])
    world = World(task.space, (2, 0), {"noise": list(range(24)), "nuisances": {"patch": 2, "elsewhere": 1}})
    bare = TwoSquares().render(world)
    assert (task.render(world).image == mark_picture(bare, "patch", 2, 3).image).all()
    both = World(task.space, (2, 0), {"noise": list(range(24)), "nuisances": {"watermark": 1, "patch": 1}})
    expected = mark_picture(mark_picture(bare, "patch", 1, 3), "watermark", 1, 3).image
    assert (task.render(both).image == expected).all()
    assert [(picture.image == expected).all() for picture in task.render_all([world, both, world])] == [
        False,
        True,
        False,
    ]
