"""What a task is if it says nothing, and its splits in full: names, sizes, pools, shares, balance, stages, quotas."""

from fractions import Fraction

import numpy as np
import pytest
from pydantic import Field

from assay.config import Settings
from assay.errors import AssayError, ConfigError
from assay.logic import TRUE, Knowledge, Not
from assay.render import Picture
from assay.tasks import TASKS, SceneConfig, SceneTask, Task, TaskConfig, combinations, resize_splits, scene_task
from assay.tasks.registered import TaskRegistry
from assay.worlds import HardSource, ProgramSource, Quota, Split, WorldSource
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


def test_what_is_given_by_name_comes_before_the_settings():
    task = Coin(Settings({"per_type": 2, "per_variant": 5, "balance": "world"}), per_type=4)
    assert (task.config.per_type, task.config.per_variant, task.config.balance) == (4, 5, "world")
    assert Coin(Settings({"per_type": 2})).config.per_type == 2

    class Other(Coin):
        @classmethod
        def translate_settings(cls, settings):
            return Settings({{"types": "per_type"}.get(key, key): value for key, value in settings.values.items()})

    assert Other(types=3).config.per_type == 3


def test_a_rule_that_is_a_program_is_drawn_from_by_trying(monkeypatch):
    task = Shelf()
    train, *_, hard = task.splits()
    assert type(task.worlds_in(train, 0)) is WorldSource
    monkeypatch.setattr(Knowledge, "symbolic", False)
    task = Shelf()
    source = task.worlds_in(train, 7)
    assert type(source) is ProgramSource and source.purpose == ("shelf", 1) and source.seed == 7
    assert source.style == task.style and source.split == train
    held = task.worlds_in(hard, 7)
    assert type(held) is HardSource and type(held.base) is ProgramSource


def test_a_preset_may_take_away_what_its_base_has():
    class Shy(Shelf):
        """Boxes that no recipe shows."""

        name, seconds, trial = "shy", 3.0, {"per_type": 1}

        class Config(TaskConfig):
            secret: int = Field(2, ge=1, le=5, exclude=True)

    registry = TaskRegistry()
    registry.add("shy", "boxes", Shy)
    registry.preset("bare", "bare", "shy", "Bare.", trial={}, seconds=0.0, secret=4)
    registry.preset("same", "same", "shy", "Same.")
    bare, same = registry["bare"], registry["same"]
    assert (bare.trial, bare.seconds, bare.name, bare.__doc__) == ({}, 0.0, "bare", "Bare.")
    assert (same.trial, same.seconds, same.name, same.__doc__) == ({"per_type": 1}, 3.0, "same", "Same.")
    assert bare().config.secret == 4 and same().config.secret == 2
    assert "secret" not in bare().config.model_dump() and bare.Config.model_fields["secret"].exclude
    for wrong in (0, 6):
        with pytest.raises(ConfigError, match="secret"):
            bare(secret=wrong)
    assert issubclass(bare.Config, Shy.Config) and bare.Config.__name__ == "BareConfig" and bare is registry["bare"]


def test_worlds_in_distribution_and_stages_keep_their_names_and_balance():
    task = Held(stages=["a", "b and not c"], combinations_in_distribution=[[1, 0, 1], "110"], balance="world", per_variant=3)  # fmt: skip
    found = {split.name: split for split in task.splits()}
    assert [str(stage) for stage in found["train_1"].stages] == ["a", "b and not c"]
    assert {name: split.balance for name, split in found.items()} == {
        **{f"{name}_{n}": "world" for name in ("train", "valid", "test") for n in (1, 2)}, "ood": "world", "hard": "label"}  # fmt: skip
    assert {split.share for split in found.values()} == {(0.0, 1.0)} and found["hard"].stage is None
    assert str(found["ood"].where) == f"not {found['hard'].where}" and found["hard"].quota == Quota(3, None)
    assert found["hard"].stages == found["train_2"].stages and str(found["train_2"].formula).endswith(
        "and (b and not c)"
    )
    with pytest.raises(AssayError, match="no concept named 'q'"):
        Held(stages=["q"]).splits()


def test_all_splits_in_proportion_are_rounded_to_the_nearest():
    splits = (Split("a", 10), Split("b", 3), Split("c", 100, disjoint_from=("b", "a")))
    assert [split.size for split in resize_splits(splits, {}, Fraction(1, 3))] == [3, 1, 33]
    assert [split.size for split in resize_splits(splits, {"b": 1}, Fraction(7, 4))] == [18, 1, 175]
    few = resize_splits(splits, {"a": 0, "b": 1}, Fraction(1, 1000))
    assert [(split.name, split.size, split.disjoint_from) for split in few] == [("b", 1, ()), ("c", 1, ("b",))]
