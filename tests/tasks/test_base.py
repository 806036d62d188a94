"""Splits of a task: shares, stages, sizes, and worlds that are listed; what cannot be is told in one line."""

from fractions import Fraction

import pytest

from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.errors import ConfigError, UnknownName
from assay.logic import TRUE
from assay.tasks import TASKS, combinations, resize_splits
from assay.worlds import Quota, Split
from tests.toys import Coin, Shelf


def sizes(task):
    return {split.name: split.size for split in task.splits()}


def test_by_default_all_worlds_are_in_distribution_and_there_is_no_ood():
    assert sizes(Coin()) == {"train": 600, "valid": 100, "test": 300, "hard": 300}
    assert {split.share for split in Coin().splits()} == {(0.0, 1.0)} and {s.where for s in Coin().splits()} == {TRUE}


def test_stages_share_the_examples_of_a_split():
    task = TASKS["mnlogic"](k=3, pixels=True, stages=["a", "not a", "b"])
    found = {split.name: split for split in task.splits()}
    whole = {name: size for name, size in task.sizes.items() if name in ("train", "valid", "test")}
    for name, size in whole.items():
        assert [found[f"{name}_{n}"].size for n in (1, 2, 3)] == [size // 3] * 3
        assert [found[f"{name}_{n}"].stage for n in (1, 2, 3)] == [0, 1, 2]
    assert str(found["train_2"].formula) == "not a" and "train" not in found
    assert found["ood"].disjoint_from == (*(f"{name}_{n}" for name in whole for n in (1, 2, 3)), "hard")


def test_a_share_of_worlds_is_held_out():
    found = {split.name: split for split in TASKS["mnlogic"](k=5, pixels=True, prop_in_distribution=0.6).splits()}
    assert found["train"].share == found["hard"].share == (0.0, 0.6) and found["ood"].share == (0.6, 1.0)
    listed = {
        s.name: s for s in TASKS["mnlogic"](k=2, pixels=True, combinations_in_distribution=["00", "01", "10"]).splits()
    }
    assert listed["train"].share == listed["ood"].share == (0.0, 1.0)
    assert str(listed["ood"].where) == f"not {listed['train'].where}" or listed["ood"].where != listed["train"].where


def test_labels_are_balanced_where_all_are_truths():
    assert Coin().balance == "label" and Shelf().balance == "label"
    assert TASKS["mnadd"]().balance == "world" and TASKS["mnadd"](balance="label").balance == "label"


def test_quotas_of_the_hard_split():
    assert Coin(per_type=4).splits()[-1].quota == Quota(None, 4)
    assert Quota(3).of_types == 3 and Quota(None, 2).of_variants == 2 and Quota(3, 2).of_types == 2
    assert not Quota().is_set and Quota(1).is_set and Quota().of_types == 0


def test_splits_are_resized_by_name_or_all_alike():
    splits = Coin().splits()
    half = resize_splits(splits, {"valid": 7}, Fraction(1, 2))
    assert {split.name: split.size for split in half} == {"train": 300, "valid": 7, "test": 150, "hard": 150}
    few = resize_splits(splits, {"test": 0}, Fraction(1, 1000))
    assert {split.name: split.size for split in few} == {"train": 1, "valid": 1, "hard": 1}
    with pytest.raises(UnknownName, match="no split named 'tset'; did you mean 'test'"):
        resize_splits(splits, {"tset": 3})
    with pytest.raises(ConfigError, match="every split has size 0: nothing to make"):
        resize_splits(splits, dict.fromkeys(["train", "valid", "test", "hard"], 0))
    apart = (Split("a", 2), Split("b", 2), Split("c", 2, disjoint_from=("a", "b")))
    assert resize_splits(apart, {"a": 0})[-1].disjoint_from == ("b",)


def test_worlds_are_listed_by_digits_or_by_values():
    member = combinations(["01", [1, 0], ("0", 1)], digits(["a", "b"]))
    assert member.rows == ((0, 1), (1, 0))
    words = ConceptSpace((Concept("hue", ("red", "10")), *bits(["on"]).concepts))
    assert combinations([["10", True], ["red", 0]], words).rows == (("10", True), ("red", False))
    for listed, why in (
        ([], "combinations_in_distribution is empty"),
        (["012"], "'012' has 3 values, the concepts are 2: a, b"),
        (["0x"], "combinations_in_distribution: '0x'"),
    ):
        with pytest.raises(ConfigError, match=why):
            combinations(listed, digits(["a", "b"]))


@pytest.mark.parametrize(
    ("split", "why"),
    [
        ({"name": "a b"}, "must be letters, digits"),
        ({"size": 0}, "needs at least one example, not 0"),
        ({"share": (0.5, 0.5)}, "a share runs from a smaller to a larger part"),
        ({"share": (0.5, 1.1)}, "a share runs from a smaller to a larger part"),
    ],
)
def test_splits_that_cannot_be_are_told(split, why):
    with pytest.raises(ConfigError, match=why):
        Split(**{"name": "train", "size": 3, **split})


def test_where_all_worlds_train_none_is_out_of_distribution():
    def names(**settings):
        return [split.name for split in TASKS["mnlogic"](k=3, **settings).splits()]

    assert "ood" not in names(prop_in_distribution=1.0) and "ood" in names(prop_in_distribution=0.9)
    assert "ood" in names(combinations_in_distribution=["000", "011"])
