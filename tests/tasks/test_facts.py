"""What a task is if it says nothing, and its splits in full: names, sizes, pools, shares, balance, stages, quotas."""

from fractions import Fraction

import numpy as np
import pytest

from assay.errors import ConfigError
from assay.logic.formula import TRUE, Not
from assay.render.picture import Picture
from assay.tasks import TASKS, TaskRegistry, scene_task
from assay.tasks.base import Task, TaskConfig, combinations, resize_splits
from assay.tasks.scene_task import SceneConfig, SceneTask
from assay.worlds.hard import HardSource
from assay.worlds.source import WorldSource
from assay.worlds.split import Quota, Split
from tests.toys import Coin, Shelf


class Held(Coin):
    """Lamps, some of them held out."""

    name = "held"
    sizes = {"train": 601, "valid": 2, "test": 30, "ood": 40}
    pools = {"train": "a", "valid": "b", "test": "c", "ood": "d"}


def facts(task):
    return [(s.name, s.size, s.share, s.pool, s.balance, s.stage, s.disjoint_from) for s in task.splits()]


def test_splits_of_a_share_and_of_stages():
    inside, outside, every = (0.0, 0.6), (0.6, 1.0), (0.0, 1.0)
    assert facts(Held()) == [
        ("train", 601, every, "a", "label", None, ()),
        ("valid", 2, every, "b", "label", None, ()),
        ("test", 30, every, "c", "label", None, ()),
        ("hard", 30, every, "c", "label", None, ()),
    ]
    assert facts(Held(prop_in_distribution=0.6, balance="world")) == [
        ("train", 601, inside, "a", "world", None, ()),
        ("valid", 2, inside, "b", "world", None, ()),
        ("test", 30, inside, "c", "world", None, ()),
        ("ood", 40, outside, "d", "world", None, ("train", "valid", "test", "hard")),
        ("hard", 30, inside, "c", "label", None, ()),
    ]
    staged = facts(Held(stages=["a", "b", "not a"], prop_in_distribution=0.6))
    assert [split[:2] + split[5:6] for split in staged[:9]] == [
        (f"{name}_{n + 1}", size, n) for name, size in (("train", 200), ("valid", 1), ("test", 10)) for n in range(3)
    ]
    assert [split[0] for split in staged[9:]] == ["ood", "hard"] and staged[9][6] == (
        *(split[0] for split in staged[:9]),
        "hard",
    )
    assert all(len(split.stages) == 3 for split in Held(stages=["a", "b", "not a"]).splits())


def test_listed_worlds_are_in_distribution_and_all_others_out_of_it():
    task = Held(combinations_in_distribution=["000", "011", "110"], prop_in_distribution=0.5)
    listed = combinations(["000", "011", "110"], task.space)
    assert task.in_distribution() == listed and task.held_out() == Not(listed)
    found = {split.name: (split.where, split.share) for split in task.splits()}
    assert found["train"] == found["hard"] == (listed, (0.0, 1.0)) and found["ood"] == (Not(listed), (0.0, 1.0))
    assert Held().in_distribution() == Held().held_out() == TRUE


def test_quotas_and_sizes_of_hard():
    assert Held(per_variant=2, per_type=3).splits()[-1].quota == Quota(2, 3)
    assert [split.quota for split in Held().splits()[:-1]] == [None] * 3
    task = Shelf()
    sources = [task.worlds_in(split, 0) for split in task.splits()]
    assert [type(source) for source in sources] == [WorldSource, WorldSource, WorldSource, HardSource]
    assert sources[-1].quota == Quota() and sources[0].purpose == ("shelf", 1)


def test_a_task_that_says_nothing_has_nothing():
    task, world = Coin(), Coin().worlds_in(Coin().splits()[0], 0).worlds(np.arange(1))[0]
    assert (task.columns, task.style_choices, task.planted, task.interventions) == (("image",), {}, (), {})
    assert (task.ingredients(world), task.backbones(), task.sources(), task.check_ready()) == ((), {}, {}, None)
    assert task.summary == "Three lamps, and a label that is likelier the more of them are lit."
    assert task.change_world(world, {"a": not world["a"]}) == world.do(a=not world["a"])
    with pytest.raises(NotImplementedError, match="task 'coin' names subconcepts and does not say"):
        task.subconcepts_of([world])
    assert (Task.version, Task.seconds, Task.trial) == (1, 0.0001, {})
    assert Task.sizes == {"train": 1000, "valid": 200, "test": 300, "ood": 300}
    assert Task.pools == {"train": "train", "valid": "valid", "test": "test", "ood": "test"}


def test_settings_that_all_tasks_share_have_bounds_and_defaults():
    assert TaskConfig().model_dump() == {
        "prop_in_distribution": 1.0, "combinations_in_distribution": None, "stages": [], "per_variant": None,
        "per_type": None, "balance": None,
    }  # fmt: skip
    for wrong in ({"prop_in_distribution": 0.0}, {"prop_in_distribution": 1.01}, {"per_variant": 0}, {"per_type": 0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            Coin(**wrong)
    assert Coin(per_variant=1, per_type=1, prop_in_distribution=0.001).config.per_type == 1


def test_shared_settings_can_be_refused_but_for_those_allowed():
    given = TaskConfig(stages=["a"], per_type=2, balance="label")
    with pytest.raises(ValueError, match="^balance is not for this$"):
        given.refuse_shared("is not for this")
    with pytest.raises(ValueError, match="^per_type is not for this$"):
        given.refuse_shared("is not for this", allowed=["balance"])
    with pytest.raises(ValueError, match="^stages is not for this$"):
        given.refuse_shared("is not for this", allowed=["balance", "per_type"])
    given.refuse_shared("is not for this", allowed=["balance", "per_type", "stages"])
    TaskConfig(stages=[], prop_in_distribution=1.0, balance=None).refuse_shared("is not for this")


def test_sizes_are_rounded_and_at_least_one():
    splits = (Split("a", 5), Split("b", 3, disjoint_from=("a", "c")), Split("c", 1))
    half = resize_splits(splits, {}, Fraction(1, 2))
    assert [split.size for split in half] == [2, 2, 1]
    assert [split.size for split in resize_splits(splits, {"b": 9})] == [5, 9, 1]
    assert resize_splits(splits, {"c": 0})[1].disjoint_from == ("a",)


def test_listed_values_are_of_the_kind_of_their_concept():
    assert combinations(["101", [0, True, "0"]], Coin().space).rows == ((True, False, True), (False, True, False))
    for wrong in ([[1, 0]], ["10"], [[1, 0, 2]], [["x", 0, 1]]):
        with pytest.raises(ConfigError, match="^combinations_in_distribution: "):
            combinations(wrong, Coin().space)


def test_a_preset_keeps_what_it_does_not_change():
    registry = TaskRegistry()
    registry.add("shelf", "boxes", Shelf)
    registry.preset("slow-shelf", "slow", "shelf", "Slow boxes.", seconds=2.5, per_type=3)
    registry.source("photos", "A folder of photographs.")
    task = registry["slow-shelf"]
    assert (task.seconds, dict(task.trial), task.__name__, task.Config.__name__) == (
        2.5, dict(Shelf.trial), "SlowShelf", "SlowShelfConfig",
    )  # fmt: skip
    assert task().config.per_type == 3 and task(per_type=None).config.per_type is None
    assert registry.sources == {"photos": "A folder of photographs."}
    with pytest.raises(ConfigError, match="per_type"):
        task(per_type=0)  # bounds stay


def test_scenes_are_drawn_by_the_engine_and_in_the_quality_asked_for(monkeypatch):
    class Stage(SceneTask):
        """A stage."""

        name, Config, farthest = "stage", SceneConfig, 7.5
        knowledge, layout, style = Shelf.knowledge, Shelf.layout, Shelf.style

        def scene(self, world):
            return ("scene of", world)

    seen = []
    monkeypatch.setattr(scene_task, "picture_of", lambda *asked: seen.append(asked) or Picture(text="drawn"))
    monkeypatch.setattr(scene_task, "check_engine", seen.append)
    assert Stage(quality="high").render("it").text == "drawn" and Stage().columns == (
        "image", "things", "instances", "depth",
    )  # fmt: skip
    Stage(engine="blender").check_ready()
    assert seen == [(("scene of", "it"), 7.5, "embedded", "high"), "blender"]
    assert (SceneConfig().engine, SceneConfig().quality) == ("embedded", "standard")


def test_numbers_are_balanced_by_world_and_truths_by_label():
    assert (TASKS["mnadd"]().balance, Coin().balance, Coin(balance="world").balance) == ("world", "label", "world")
