"""Splits of a task: shares, stages, sizes, and worlds that are listed; what cannot be is told in one line."""

from fractions import Fraction

import pytest

from assay.base import ConfigError, Settings, UnknownName
from assay.logic import Concept, ConceptSpace, bits, digits
from assay.tasks import TASKS, TaskConfig, combinations, resize_splits
from assay.worlds import Quota, Split
from tests.toys import Coin, Shelf


class Held(Coin):
    """Lamps, some of them held out."""

    name = "held"
    sizes = {"train": 601, "valid": 2, "test": 30, "ood": 40}
    pools = {"train": "a", "valid": "b", "test": "c", "ood": "d"}


def sizes(task):
    return {split.name: split.size for split in task.splits()}


def by_name(task):
    return {split.name: split for split in task.splits()}


def test_by_default_all_worlds_are_in_distribution_and_there_is_no_ood():
    found = by_name(Held())
    assert sizes(Held()) == {"train": 601, "valid": 2, "test": 30, "hard": 30}  # `hard` is as large as test
    assert {split.share for split in found.values()} == {(0.0, 1.0)}
    assert {str(split.where) for split in found.values()} == {"True"}
    assert {name: split.pool for name, split in found.items()} == {"train": "a", "valid": "b", "test": "c", "hard": "c"}


def test_a_share_of_worlds_is_held_out():
    found = by_name(Held(prop_in_distribution=0.6))
    assert list(found) == ["train", "valid", "test", "ood", "hard"]
    assert {found[name].share for name in ("train", "valid", "test", "hard")} == {(0.0, 0.6)}
    assert (found["ood"].share, found["ood"].pool, found["ood"].size) == ((0.6, 1.0), "d", 40)
    assert found["ood"].disjoint_from == ("train", "valid", "test", "hard")


def test_listed_worlds_are_in_distribution_and_all_others_out_of_it():
    task = Held(combinations_in_distribution=["000", "011", "110"], prop_in_distribution=0.5)
    everything = task.space.all_codes()
    inside = [[int(code) for code in text] for text in ("000", "011", "110")]
    for name, split in by_name(task).items():
        held = everything[task.source_for(split, 0).contains(everything)].tolist()
        assert sorted(held) == (inside if name != "ood" else [c for c in everything.tolist() if c not in inside])


def test_stages_share_the_examples_of_a_split():
    task = Held(stages=["a", "b", "not a"], prop_in_distribution=0.6)
    found = by_name(task)
    for name, size in (("train", 200), ("valid", 1), ("test", 10)):  # the share of each, rounded, and at least one
        for number in (1, 2, 3):
            split = found.pop(f"{name}_{number}")
            assert (split.size, split.stage, str(split.formula)) == (size, number - 1, ["a", "b", "not a"][number - 1])
    assert list(found) == ["ood", "hard"]
    assert found["ood"].disjoint_from == (*(s.name for s in task.splits()[:9]), "hard")


def test_truths_are_balanced_by_label_and_numbers_by_world_unless_asked_otherwise():
    assert Coin().balance == Shelf().balance == TASKS["mnadd"](balance="label").balance == "label"
    assert TASKS["mnadd"]().balance == Coin(balance="world").balance == "world"


def test_quotas_are_of_hard_alone():
    assert Held(per_variant=2, per_type=3).splits()[-1].quota == Quota(2, 3)
    assert [split.quota for split in Held(per_type=4).splits()] == [None, None, None, Quota(None, 4)]


def test_splits_are_resized_by_name_or_all_alike():
    splits = Coin().splits()
    half = resize_splits(splits, {"valid": 7}, Fraction(1, 2))
    assert {split.name: split.size for split in half} == {"train": 300, "valid": 7, "test": 150, "hard": 150}
    few = resize_splits(splits, {"test": 0}, Fraction(1, 1000))
    assert {split.name: split.size for split in few} == {"train": 1, "valid": 1, "hard": 1}
    apart = (Split("a", 5), Split("b", 2), Split("c", 2, disjoint_from=("a", "b")))
    assert resize_splits(apart, {"a": 0})[-1].disjoint_from == ("b",)
    with pytest.raises(UnknownName, match="no split named 'tset'; did you mean 'test'"):
        resize_splits(splits, {"tset": 3})
    with pytest.raises(ConfigError, match="every split has size 0: nothing to make"):
        resize_splits(splits, dict.fromkeys(["train", "valid", "test", "hard"], 0))


def test_worlds_are_listed_by_digits_or_by_values():
    assert combinations(["01", [1, 0], ("0", 1)], digits(["a", "b"])).rows == ((0, 1), (1, 0))
    words = ConceptSpace((Concept("hue", ("red", "10")), *bits(["on"]).concepts))
    assert combinations([["10", True], ["red", 0]], words).rows == (("10", True), ("red", False))
    for listed, why in (
        ([], "combinations_in_distribution is empty"),
        (["012"], "'012' has 3 values, the concepts are 2: a, b"),
        (["0x"], "combinations_in_distribution: '0x'"),
        ([[1, 0, 2]], "combinations_in_distribution: "),
    ):
        with pytest.raises(ConfigError, match=why):
            combinations(listed, digits(["a", "b"]))


def test_settings_that_all_tasks_share_have_bounds():
    for wrong in ({"prop_in_distribution": 0.0}, {"prop_in_distribution": 1.01}, {"per_variant": 0}, {"per_type": 0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            Coin(**wrong)
    assert Coin(per_variant=1, per_type=1, prop_in_distribution=0.001).config.per_type == 1


def test_shared_settings_can_be_refused_but_for_those_allowed():
    given = TaskConfig(stages=["a"], per_type=2, balance="label")
    for allowed, refused in (((), "balance"), (("balance",), "per_type"), (("balance", "per_type"), "stages")):
        with pytest.raises(ValueError, match=f"^{refused} is not for this$"):
            given.refuse_shared("is not for this", allowed=allowed)
    given.refuse_shared("is not for this", allowed=["balance", "per_type", "stages"])
    TaskConfig(stages=[], prop_in_distribution=1.0, balance=None).refuse_shared("is not for this")


def test_what_is_given_by_name_comes_before_the_settings():
    task = Coin(Settings({"per_type": 2, "per_variant": 5, "balance": "world"}), per_type=4)
    assert (task.config.per_type, task.config.per_variant, task.config.balance) == (4, 5, "world")

    class Other(Coin):
        @classmethod
        def translate_settings(cls, settings):
            return Settings({{"types": "per_type"}.get(key, key): value for key, value in settings.values.items()})

    assert Other(types=3).config.per_type == 3
