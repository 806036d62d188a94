"""Formulas over bits: balanced in every split, held-out worlds held out, and rsbench's settings understood."""

from collections import Counter

import numpy as np
import pytest

from assay.config import Settings
from assay.data import Recipe, recipe_from
from assay.data.shard import ShardWriter
from assay.errors import AssayError
from assay.families.digits.mnlogic import MNLogic
from tests.boundaries import in_turn

RSBENCH = {  # rsbench's own xor.yml
    "n_digits": 3,
    "xor_rule": False,
    "symbols": ["a", "b", "c"],
    "logic": "Or(And(a, b), Not(c))",
    "use_mnist": True,
    "val_prop": 0.2,
    "test_prop": 0.3,
    "ood_prop": 0.3,
    "prop_in_distribution": 0.8,
}
COMBINATIONS = {"combinations_in_distribution": ["001", "010", "000"]}


def recipe(**settings: object) -> Recipe:
    return recipe_from("mnlogic", Settings(settings))


def codes(held: Recipe) -> dict[str, np.ndarray]:
    """Return the concepts of all worlds of each split; that `worlds` has the same ones is a law over all tasks."""
    return {name: source.codes(np.arange(source.split.size)) for name, source in ShardWriter(held).sources.items()}


def worlds(found: np.ndarray) -> set[tuple[int, ...]]:
    return set(map(tuple, found.tolist()))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"k": 8},
        {"k": 64},
        {"k": 3, "formula": "a & b | ~c"},
        {"k": 10, "clauses": 20, "formula_seed": 3},
        pytest.param({"k": 30, "clauses": 100}, marks=pytest.mark.slow),
        {**RSBENCH, "n": 200},
        {**RSBENCH, **COMBINATIONS, "n": 200},
    ],
)
def test_both_labels_occur_equally_often_but_at_the_boundary(settings: dict[str, object]) -> None:
    held = recipe(**settings)
    found = codes(held)
    assert list(found) == ["train", "valid", "test", "ood", "hard"]
    hard = found.pop("hard")
    assert in_turn(held.task.knowledge, hard) and not worlds(hard) & worlds(found["ood"])
    for split in found.values():
        assert np.bincount(held.task.knowledge.labels_of(split)[:, 0]).tolist() == [len(split) // 2] * 2
    assert not worlds(found["ood"]) & (worlds(found["train"]) | worlds(found["valid"]) | worlds(found["test"]))


def test_stages_are_balanced_too() -> None:
    held = recipe(k=5, stages=["a", "not a"], n=400)
    found = codes(held)
    assert list(found) == ["train_1", "train_2", "valid_1", "valid_2", "test_1", "test_2", "ood", "hard"]
    hard = found.pop("hard")
    assert worlds(hard) == worlds(found["train_1"]) | worlds(found["train_2"]) and len(hard) == 120
    assert in_turn(held.task.knowledge, hard)
    for name, split in found.items():
        assert np.bincount(held.task.knowledge.labels_of(split)[:, 0]).tolist() == [len(split) // 2] * 2
        assert name == "ood" or (split[:, 0] == (name[-1] == "1")).all()
    assert not worlds(found["ood"]) & (worlds(found["train_1"]) | worlds(found["test_2"]))
    assert (len(worlds(found["train_1"])), len(worlds(found["ood"]))) == (12, 8)  # of 8 a label and stage, 6 and 2


@pytest.mark.parametrize("k", [2, 4, 7, 64])
def test_the_default_rule_is_the_parity(k: int) -> None:
    held = recipe(k=k, prop_in_distribution=1.0)
    found = held.task.worlds_in(held.splits[0], 0).codes(np.arange(1000))
    assert (held.task.knowledge.labels_of(found)[:, 0] == found.sum(axis=1) % 2).all()
    assert len(worlds(found)) == min(2**k, 1000)


def test_a_fifth_of_the_worlds_of_each_label_is_held_out() -> None:
    found = codes(recipe())
    assert len(worlds(found["train"])) == 12 and len(worlds(found["ood"])) == 4  # of 8 a label, 6 and 2


def test_rsbench_formula_and_combinations() -> None:
    held = recipe(**RSBENCH, **COMBINATIONS, n=100)
    found = codes(held)
    assert {name: len(split) for name, split in found.items()} == {
        **{"train": 100, "valid": 20, "test": 30, "ood": 30, "hard": 30}
    }
    for split in found.values():
        a, b, c = split.T.astype(bool)
        assert (held.task.knowledge.labels_of(split)[:, 0] == (a & b | ~c)).all()
    inside = {(0, 0, 1), (0, 1, 0), (0, 0, 0)}
    assert worlds(found["train"]) == worlds(found["test"]) == worlds(found["hard"]) == inside
    assert not worlds(found["ood"]) & inside and len(worlds(found["ood"])) == 5
    assert Counter(map(tuple, found["train"].tolist())) == {(0, 0, 1): 50, (0, 1, 0): 25, (0, 0, 0): 25}


def test_rsbench_xor_rule_overrides_logic() -> None:
    task = recipe(**{**RSBENCH, "xor_rule": True}).task
    everything = task.space.all_codes()
    assert (task.knowledge.labels_of(everything)[:, 0] == everything.sum(axis=1) % 2).all()


def test_a_single_formula_in_a_list_is_a_formula() -> None:
    assert MNLogic(n_digits=3, logic=["a & b"]).rule == MNLogic(k=3, formula="a and b").rule


def test_bits_as_pixels() -> None:
    held = recipe(**{**RSBENCH, "use_mnist": False, "n": 20})
    assert (held.task.layout.width, held.task.layout.height) == (3, 1) and held.task.sources() == {}
    writer = ShardWriter(held)
    made = writer.worlds(held.splits[0], np.arange(20))
    found = np.array([world.codes for world in made])
    images = np.stack([held.task.render(world).image for world in made])
    assert images.shape == (20, 1, 3) and (images[:, 0] == 255 * found).all()
    assert all(world.style == {} for world in made)


def test_encoders_are_shared_on_request() -> None:
    assert len(MNLogic().space.encoders) == 4
    assert [group.concepts for group in MNLogic(shared=True).space.encoders] == [("a", "b", "c", "d")]


def test_names_of_bits() -> None:
    assert MNLogic(k=3).names == ["a", "b", "c"]
    assert MNLogic(k=4, names=["rain", "a"]).names == ["rain", "a", "b", "c"]
    assert MNLogic(k=27).names[-1] == "b27"


def test_a_random_rule_is_a_function_of_its_seed() -> None:
    rules = [str(MNLogic(k=8, clauses=10, formula_seed=seed).rule) for seed in (0, 0, 1, 2)]
    assert rules[0] == rules[1] and len(set(rules)) == 3
    assert all(rule.count(" or ") == 10 * 2 and rule.count(" and ") == 9 for rule in rules)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 1}, "k: "),
        ({"k": 65}, "k: "),
        ({"formula": "a &"}, "formula"),
        ({"formula": "a | ~a"}, "always True"),
        ({"k": 2, "formula": "a & b"}, "split 'ood': label 'y' is always False"),
        ({"combinations_in_distribution": ["0011", "0101"]}, "label 'y' is always False"),
        ({"combinations_in_distribution": ["001"]}, "'001' has 3 values, the concepts are 4: a, b, c, d"),
        ({"combinations_in_distribution": ["0012"]}, "concept 'd' has no value 2"),
        ({"formula": "a", "clauses": 2}, "exclude each other"),
        ({"clauses": 2, "length": 5}, "need at least 5 variables"),
        ({"names": ["a", "a"]}, "different names"),
        ({"k": 2, "names": ["a", "b", "c"]}, "at most 2 different names"),
        ({"n_digits": 3, "k": 3}, "mean the same"),
        ({"stages": ["a", "b & ~b"]}, "no world fits"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        ShardWriter(recipe(**settings)).sources
    assert "\n" not in str(caught.value)
