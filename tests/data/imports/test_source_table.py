"""What cells mean: values, gaps, votes and names, however they are written."""

import math

import numpy as np
import pytest

from assay.data import plain_name, to_values, values_in
from assay.data.imports.source_table import MISSING, Files, majority, plain_names, split_name, to_value
from assay.errors import DataError


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("yes", True), ("No", False), (" TRUE ", True), ("3", 3), (" -4 ", -4), ("red", "red"), (" Red one ", "Red one"),
        ("3.5", "3.5"), (2.0, 2), (True, True), (np.int64(7), 7), (np.bool_(False), False), (np.float32(1.0), 1),
        (None, None), (math.nan, None), (np.float64("nan"), None),
    ],
)  # fmt: skip
def test_a_cell_is_a_truth_a_number_or_a_text(cell, value):
    found = to_value(cell)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", sorted(MISSING))
def test_gaps_are_gaps_in_any_case_of_letters(text):
    assert [to_value(form) for form in (text, text.upper(), f" {text.title()} ")] == [None] * 3


@pytest.mark.parametrize("cell", [2.5, [1], b"x"])
def test_measurements_and_lists_are_refused(cell):
    with pytest.raises(DataError, match=r"age: .* is no truth value, whole number or text"):
        to_value(cell, "age")


def test_among_texts_all_are_texts_but_truths():
    assert to_values(["1", "2", "3+", None], "a") == ["1", "2", "3+", None]
    assert to_values(["yes", "maybe"], "a") == ["yes", "maybe"] and to_values(["1", "0"], "a") == [1, 0]
    assert to_values([True, "maybe"], "a") == [True, "maybe"] and to_values([3, "many"], "a") == ["3", "many"]


def test_values_stand_in_order_and_noughts_and_ones_are_truths():
    assert values_in([1, 0, None], "a") == values_in([True], "a") == (False, True)
    assert values_in([3, 1, 2], "a") == (1, 2, 3) and values_in(["b", None, "a"], "a") == ("a", "b")
    with pytest.raises(DataError, match="a has no value in any row; leave the column out"):
        values_in([None], "a")


def test_names_are_plain_and_different():
    assert [plain_name(text) for text in ("a b", "5x", "class", "true", "__", "é!")] == [
        "a_b", "n5x", "class_", "true_", "unnamed", "unnamed",
    ]  # fmt: skip
    assert plain_names(["a b", "a-b", "a.b"]) == {"a b": "a_b", "a-b": "a_b_2", "a.b": "a_b_3"}
    assert [split_name(text) for text in ("Training", " val", "dev", "Test ", "odd")] == [
        "train", "valid", "valid", "Test", "odd",
    ]  # fmt: skip


def test_votes_are_counted():
    assert majority([2, 1, 2]) == (2, 2 / 3) and majority(["b", "a"]) == ("a", 0.5) and majority([]) == (None, None)


def test_pictures_are_read_when_asked_for(tmp_path):
    (tmp_path / "a.png").write_bytes(b"1")
    files = Files(tmp_path, ("a.png", "b.png"))
    assert len(files) == 2 and files[0] == b"1" and files[1:].names == ("b.png",)
    with pytest.raises(DataError, match=r"picture 'b.png' cannot be read: No such file"):
        files[1]
