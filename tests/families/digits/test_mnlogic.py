"""Formulas over bits: balanced in every split, held-out worlds held out, and rsbench's settings understood."""

from collections import Counter

import numpy as np
import pytest

from assay.base import AssayError
from assay.tasks import TASKS
from tests.boundaries import in_turn
from tests.families.drawn import class_indices, split_codes, worlds_of

MNLogic = TASKS["mnlogic"]
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


def drawn(**settings):
    return split_codes("mnlogic", **settings)


def worlds(found):
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
def test_both_labels_occur_equally_often_but_at_the_boundary(settings):
    task, found = drawn(**settings)
    assert list(found) == ["train", "valid", "test", "ood", "hard"]
    hard = found.pop("hard")
    assert in_turn(task.knowledge, hard) and not worlds(hard) & worlds(found["ood"])
    for split in found.values():
        assert np.bincount(task.knowledge.labels_of(split)[:, 0]).tolist() == [len(split) // 2] * 2
    assert not worlds(found["ood"]) & (worlds(found["train"]) | worlds(found["valid"]) | worlds(found["test"]))


def test_stages_are_balanced_too():
    task, found = drawn(k=5, stages=["a", "not a"], n=400)
    assert list(found) == ["train_1", "train_2", "valid_1", "valid_2", "test_1", "test_2", "ood", "hard"]
    hard = found.pop("hard")
    assert worlds(hard) == worlds(found["train_1"]) | worlds(found["train_2"]) and len(hard) == 120
    assert in_turn(task.knowledge, hard)
    for name, split in found.items():
        assert np.bincount(task.knowledge.labels_of(split)[:, 0]).tolist() == [len(split) // 2] * 2
        assert name == "ood" or (split[:, 0] == (name[-1] == "1")).all()
    assert not worlds(found["ood"]) & (worlds(found["train_1"]) | worlds(found["test_2"]))
    assert (len(worlds(found["train_1"])), len(worlds(found["ood"]))) == (12, 8)  # of 8 a label and stage, 6 and 2


@pytest.mark.parametrize("k", [2, 4, 7, 64])
def test_the_default_rule_is_the_parity(k):
    task = MNLogic(k=k, prop_in_distribution=1.0)
    found = class_indices(worlds_of(task, count=1000))
    assert (task.knowledge.labels_of(found)[:, 0] == found.sum(axis=1) % 2).all()
    assert len(worlds(found)) == min(2**k, 1000)


def test_a_fifth_of_the_worlds_of_each_label_is_held_out():
    _, found = drawn()
    assert len(worlds(found["train"])) == 12 and len(worlds(found["ood"])) == 4  # of 8 a label, 6 and 2


def test_rsbench_formula_and_combinations():
    task, found = drawn(**RSBENCH, **COMBINATIONS, n=100)
    assert {name: len(split) for name, split in found.items()} == {
        **{"train": 100, "valid": 20, "test": 30, "ood": 30, "hard": 30}
    }
    for split in found.values():
        a, b, c = split.T.astype(bool)
        assert (task.knowledge.labels_of(split)[:, 0] == (a & b | ~c)).all()
    inside = {(0, 0, 1), (0, 1, 0), (0, 0, 0)}
    assert worlds(found["train"]) == worlds(found["test"]) == worlds(found["hard"]) == inside
    assert not worlds(found["ood"]) & inside and len(worlds(found["ood"])) == 5
    assert Counter(map(tuple, found["train"].tolist())) == {(0, 0, 1): 50, (0, 1, 0): 25, (0, 0, 0): 25}


def test_rsbench_xor_rule_overrides_logic():
    task = MNLogic(n_digits=3, xor_rule=True, logic="a & b")
    everything = task.space.all_codes()
    assert (task.knowledge.labels_of(everything)[:, 0] == everything.sum(axis=1) % 2).all()


def test_a_formula_in_a_list_and_symbols_are_the_formula_and_names():
    theirs = MNLogic(n_digits=3, logic=["a & x"], symbols=["x", "a"])
    assert theirs.config == MNLogic(k=3, formula="a & x", names=["x", "a"]).config
    assert str(theirs.rule) == "a and x"


def test_bits_as_pixels():
    task = MNLogic(k=3, formula="a & b | ~c", use_mnist=False)
    assert (task.layout.width, task.layout.height) == (3, 1) and task.sources() == {}
    assert [(box.left, box.right) for box in task.layout.regions.values()] == [(0, 1), (1, 2), (2, 3)]
    for world in worlds_of(task, count=20):
        assert task.render(world).image.tolist() == [[255 * code for code in world.codes]]
        assert world.style == {} and task.ingredients(world) == ()


def test_encoders_are_shared_on_request():
    assert len(MNLogic().space.encoders) == 4
    assert [group.concepts for group in MNLogic(shared=True).space.encoders] == [("a", "b", "c", "d")]


def test_names_of_bits_go_on_where_too_few_are_given():
    for settings, names in (
        ({"k": 3}, "a b c"),
        ({"k": 4, "names": ["rain", "a"]}, "rain a b c"),
        ({"k": 27}, " ".join(f"b{i}" for i in range(1, 28))),
        ({"k": 27, "names": ["b1", "b30"]}, "b1 b30 " + " ".join(f"b{i}" for i in range(2, 27))),
        (
            {"k": 26, "names": [*"cdefghijklmnopqrstuvwxyz", "bit1"], "formula": "a | c"},
            "c d e f g h i j k l m n o p q r s t u v w x y z bit1 a",
        ),
    ):
        assert " ".join(MNLogic(**settings).space.names) == names


def test_a_random_rule_is_a_function_of_its_seed():
    rules = [str(MNLogic(k=8, clauses=10, formula_seed=seed).rule) for seed in (0, 0, 1, 2)]
    assert rules[0] == rules[1] and len(set(rules)) == 3
    assert all(rule.count(" or ") == 10 * 2 and rule.count(" and ") == 9 for rule in rules)


def test_as_released_all_but_training_hold_the_label_only_as_true():
    released, even = (split_codes("mnlogic", as_released=flag, n=200) for flag in (True, False))
    for name in ("train", "valid", "test", "ood"):
        shares = [task.knowledge.labels_of(found[name]).mean() for task, found in (released, even)]
        assert shares == [0.5 if name == "train" else 1.0, 0.5]
        assert len(released[1][name]) == len(even[1][name])


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
        ({"k": 3, "formula": "count(a, b, c)"}, "must be true or false of the bits, not a number"),
        ({"names": ["a", "a"]}, "different names"),
        ({"k": 2, "names": ["a", "b", "c"]}, "at most 2 different names"),
        ({"n_digits": 3, "k": 3}, "mean the same"),
        ({"stages": ["a", "b & ~b"]}, "no world fits"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(AssayError, match=message) as caught:
        drawn(**settings)
    assert "\n" not in str(caught.value)
