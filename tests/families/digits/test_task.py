"""Sums and equations: the paper's sizes and worlds, labels by the rule, and no picture seen in training."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from assay.arrays import Codes
from assay.config import Settings
from assay.data import Recipe, recipe_from
from assay.data.shard import ShardWriter
from assay.errors import AssayError
from assay.families.digits.task import DigitTask, MNAdd, MNAddEvenOdd, MNAddHalf, MNMath
from assay.worlds import Source, World
from tests.boundaries import in_turn

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


def drawn(recipe: Recipe) -> dict[str, list[World]]:
    """Return all worlds of each split, with their styles."""
    writer = ShardWriter(recipe)
    return {split.name: writer.worlds(split, np.arange(split.size)) for split in recipe.splits}


@cache
def sources(task: str) -> dict[str, Source]:
    """Return the sources of a task as it comes."""
    return ShardWriter(recipe(task)).sources


def codes_of(sources: dict[str, Source]) -> dict[str, Codes]:
    """Return the concepts of all worlds of each split; that `worlds` has the same ones is a law over all tasks."""
    return {name: source.codes(np.arange(source.split.size)) for name, source in sources.items()}


def codes_drawn(recipe: Recipe) -> dict[str, Codes]:
    return codes_of(ShardWriter(recipe).sources)


def recipe(task: str, **settings: object) -> Recipe:
    return recipe_from(task, Settings(settings))


def pairs(codes: Codes) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, codes.tolist()))


def values(held: Recipe, codes: Codes) -> np.ndarray:
    return np.array(held.task.space.concepts[0].values)[codes]


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_sizes_and_pairs(name: str) -> None:
    sizes, training, others = PAPER[name]
    held = codes_of(sources(name))
    assert tuple(len(codes) for codes in held.values()) == sizes
    assert list(held) == ["train", "valid", "test", "ood", "hard"]
    train, valid, test, ood, hard = map(pairs, held.values())
    assert set(train) == set(valid) == set(test) == set(hard) and not set(ood) & set(train)
    assert (len(train), len(ood)) == (training, others)
    assert [set(split.values()) for split in (train, valid, test, ood, hard)] == [{420}, {120}, {60}, {60}, {60}]


def test_the_pairs_of_training() -> None:
    half = codes_of(sources("mnadd-half"))
    assert set(pairs(half["train"])) == {*[(0, 0), (0, 1), (1, 0), (2, 3), (3, 2), (2, 4), (4, 2)]}
    even_odd = set(pairs(codes_of(sources("mnadd-evenodd"))["train"]))
    assert all(a % 2 == b % 2 and (b, a) in even_odd for a, b in even_odd)
    assert {a + b for a, b in even_odd} == {6, 10, 12}
    assert max(max(pair) for pair in pairs(half["ood"])) == 4


def test_all_pairs_of_mnadd_occur_420_times() -> None:
    train = codes_of(sources("mnadd"))["train"]
    assert len(pairs(train)) == 100 and set(pairs(train).values()) == {420}


@pytest.mark.parametrize("task", ["mnadd-half", "mnadd-evenodd", "mnmath", "mnlogic"])
def test_no_handwriting_is_shared_between_pools(task: str) -> None:
    held = recipe(task)
    assert isinstance(held.task, DigitTask)
    shown = {
        name: {number for world in worlds for number in held.task.image_numbers(world)}
        for name, worlds in drawn(held).items()
    }
    assert not shown["train"] & shown["valid"]
    assert not (shown["train"] | shown["valid"]) & (shown["test"] | shown["ood"] | shown["hard"])


@pytest.mark.parametrize("task", ["mnadd-evenodd", "mnmath", "mnlogic"])
def test_pictures_show_the_digits(task: str) -> None:
    held = recipe(task, n=50)
    assert isinstance(held.task, DigitTask)
    for worlds in drawn(held).values():
        for row, world in zip(values(held, np.array([world.codes for world in worlds])), worlds, strict=True):
            numbers = held.task.image_numbers(world)
            assert held.task.source.classes[numbers].tolist() == row.tolist()
            image = held.task.render(world).image
            assert image.shape == (28, 28 * len(row)) and image.dtype == np.uint8
            for box, number in zip(held.task.layout.regions.values(), numbers, strict=True):
                assert (box.crop(image) == held.task.source.images[number]).all()


def test_a_changed_digit_keeps_the_writer_of_the_others() -> None:
    held = recipe("mnadd-evenodd")
    world = ShardWriter(held).worlds(held.splits[0], np.arange(1))[0]
    before = held.task.render(world).image
    after = held.task.render(world.do(a=(int(world["a"]) + 1) % 10)).image
    assert (before[:, 28:] == after[:, 28:]).all() and (before[:, :28] != after[:, :28]).any()


@pytest.mark.parametrize(("task", "k"), [("mnadd", 2), ("mnadd", 5), ("mnadd-half", 2), ("mnadd-evenodd", 2)])
def test_sums_are_sums(task: str, k: int) -> None:
    held = recipe(task, n=200, **({"k": k} if task == "mnadd" else {}))
    label = held.task.knowledge.labels[0]
    assert label.values == tuple(range(9 * k + 1))
    for codes in codes_drawn(held).values():
        assert (held.task.knowledge.labels_of(codes)[:, 0] == codes.sum(axis=1)).all()


def test_a_sum_of_twenty_digits() -> None:
    held = recipe("mnadd", k=20, n=50)
    codes = held.task.worlds_in(held.splits[0], 0).codes(np.arange(50))
    assert len(pairs(codes)) == 50


# -- equations ---------------------------------------------------------------------------------------------------------


def test_mnmath_makes_1700_examples_in_joint_balance_and_300_at_the_boundary() -> None:
    held = recipe("mnmath")
    assert held.task.space.worlds == 10**8
    found = codes_drawn(held)
    assert {name: len(codes) for name, codes in found.items()} == {
        **{"train": 1000, "valid": 200, "test": 300, "ood": 200, "hard": 300}
    }
    for name, codes in found.items():
        x = codes.T
        truth = np.stack([x[0] + x[1] == x[2] + x[3], x[4] * x[5] == x[6] * x[7]], axis=1)
        assert (held.task.knowledge.labels_of(codes) == truth).all()
        if name == "hard":
            assert in_turn(held.task.knowledge, codes) and not set(pairs(codes)) & set(pairs(found["ood"]))
        else:
            assert set(Counter(map(tuple, truth.tolist())).values()) == {len(codes) // 4}


def test_other_seeds_share_no_worlds_beyond_chance() -> None:
    recipes = [recipe("mnmath", seed=seed) for seed in (0, 1)]
    first, second = (ShardWriter(each).worlds(each.splits[0], np.arange(1000)) for each in recipes)
    shared = {world.codes for world in first} & {world.codes for world in second}
    assert len(shared) <= 2  # 250 of 305,000 worlds with both equations true
    assert not {world.text for world in first} & {world.text for world in second}


def test_rsbench_keys() -> None:
    held = recipe("mnmath", n=300, **SMALL)
    assert held.task.space.names == ("a_1", "b_1", "a_2", "b_2")
    found = codes_drawn(held)
    assert {name: len(codes) for name, codes in found.items()} == {
        **{"train": 300, "valid": 60, "test": 90, "hard": 90}
    }
    asked = [(0, 1, 2, 0), (2, 1, 0, 1), (0, 0, 0, 2)]
    for name, codes in found.items():
        assert set(pairs(codes)) == set(asked) and in_turn(held.task.knowledge, codes)
        assert name == "hard" or pairs(codes) == dict.fromkeys(asked, len(codes) // 3)
        named = held.task.knowledge.labels
        labels = np.array(
            [[named[i].values[code] for i, code in enumerate(row)] for row in held.task.knowledge.labels_of(codes)]
        )
        assert (labels == np.stack([2 * codes[:, 0] + codes[:, 1], codes[:, 2] + codes[:, 3]], axis=1)).all()


def test_the_world_asked_for_is_the_world_shown() -> None:
    asked = ["12345678", "00000000", [9, 9, 9, 9, 0, 0, 0, 1]]
    task = MNMath(
        num_digits=4, symbols=["a", "b", "c", "d"], logic=["a + b", "c + d"], combinations_in_distribution=asked
    )
    split = task.splits()[0]
    writer = ShardWriter(Recipe("mnmath", Settings(task.config.model_dump())))
    worlds = writer.worlds(split, np.arange(3))
    codes = np.array([world.codes for world in worlds])
    row = codes.tolist().index([1, 2, 3, 4, 5, 6, 7, 8])
    assert task.source.classes[task.image_numbers(worlds[row])].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert writer.task.knowledge.labels_of(codes)[row].tolist() == [1 + 2, 7 + 8]


def test_own_names_and_equations() -> None:
    task = MNMath(names=["p", "q"], equations={"more": "p > q", "both": "p + q"}, digit_values=[3, 1])
    assert task.knowledge.label_names == ("more", "both")
    assert task.knowledge.label("both").values == (2, 4, 6)
    assert task.balance == "world" and MNMath().balance == "label"
    assert MNMath(num_digits=3, equations=["x1 + x2 == x3"]).space.names == ("x1", "x2", "x3")


# -- continual learning ------------------------------------------------------------------------------------------------


def test_continual_shows_even_digits_then_odd_ones() -> None:
    found = codes_drawn(recipe("mnadd-evenodd", continual=True))
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


def test_own_stages() -> None:
    held = recipe("mnadd", stages=["a + b < 7", "a + b >= 7", "a == b"], n=300, val_prop=0.2)
    sizes = {split.name: split.size for split in held.splits}
    assert sizes == {
        **{f"{name}_{i}": size for name, size in (("train", 100), ("valid", 20), ("test", 14)) for i in (1, 2, 3)},
        "hard": 43,  # of 300 training examples as 6,000 of 42,000
    }
    found = codes_drawn(held)
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
def test_settings_that_do_not_fit_are_refused(task: type[DigitTask], settings: dict[str, object], message: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        made = task(**settings)
        made.knowledge, made.splits()
    assert "\n" not in str(caught.value)
