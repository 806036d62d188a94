"""Rows are found, numbered and counted as numpy does it the slow way, however wide the tables are."""

import numpy as np
import pytest
import torch

from assay.base import as_array, distinct_rows, find_rows, number_rows

RNG = np.random.default_rng(0)
TABLES = {
    "few values": RNG.integers(0, 3, (200, 4)),
    "gaps": RNG.integers(-1, 5, (200, 3)),
    "wide": RNG.integers(-1, 2**20, (50, 9)),
    "one column": RNG.integers(0, 7, (30, 1)),
    "one row": np.array([[3, -1, 4]]),
    "far apart": np.array([[0, 2**40], [2**40, 0], [0, 2**40]]),
    "no columns": np.zeros((4, 0), dtype=np.int64),
}


@pytest.mark.parametrize("name", TABLES)
def test_distinct_rows_are_those_of_numpy(name):
    table = TABLES[name]
    found = distinct_rows(table)
    rows, first, which, counts = np.unique(table, axis=0, return_index=True, return_inverse=True, return_counts=True)
    assert len(found) == len(rows) and found.first.tolist() == first.tolist()
    assert found.which.tolist() == which.ravel().tolist() and found.counts.tolist() == counts.tolist()


@pytest.mark.parametrize("name", TABLES)
def test_numbers_are_equal_for_equal_rows_and_in_their_order(name):
    table = TABLES[name]
    numbers = number_rows(table)
    order = np.lexsort(table.T[::-1]) if table.shape[1] else np.arange(len(table))
    assert (np.diff(numbers[order]) >= 0).all()
    same = (table[:, None] == table[None]).all(axis=2)
    assert ((numbers[:, None] == numbers[None]) == same).all()


def test_tables_beside_one_another_are_one_table():
    left, right = TABLES["few values"], TABLES["gaps"]
    both = np.concatenate([left, right], axis=1)
    assert (number_rows(left, right) == number_rows(both)).all()
    assert len(distinct_rows(left, right)) == len(np.unique(both, axis=0))


def test_numbers_stay_below_what_a_word_holds():
    table = np.array([[1, 0, 1] * 30, [0, 1, 1] * 30, [1, 0, 1] * 30]) * (2**31 - 1)
    numbers = number_rows(table)
    assert numbers[0] == numbers[2] != numbers[1] and 0 <= numbers.min() <= numbers.max() < 2**62


def test_no_rows_at_all():
    assert len(distinct_rows(np.zeros((0, 3), dtype=np.int64))) == 0


@pytest.mark.parametrize("case", range(5))
def test_wanted_numbers_are_found(case):
    index = RNG.permutation(50)[:20]
    wanted = RNG.integers(-5, 60, 30) if case else index.copy()
    places = {int(number): place for place, number in enumerate(index)}
    assert find_rows(wanted, index).tolist() == [places.get(int(number), -1) for number in wanted]


def test_nothing_is_found_in_nothing_and_the_first_of_several():
    assert find_rows(np.array([1, 2]), np.zeros(0, dtype=np.int64)).tolist() == [-1, -1]
    assert find_rows(np.array([5]), np.array([4, 5, 5])).tolist() == [1]


def test_foreign_arrays():
    given = torch.tensor([[1.0, 2.0]], requires_grad=True)
    assert as_array(given).tolist() == as_array([[1.0, 2.0]]).tolist() == [[1.0, 2.0]]


def test_as_many_wanted_as_there_are_may_still_be_others_or_in_another_order():
    assert find_rows(np.array([7, 5, 6]), np.array([5, 9, 7])).tolist() == [2, 0, -1]
    assert find_rows(np.array([9, 7, 5]), np.array([5, 9, 7])).tolist() == [1, 2, 0]
    assert find_rows(np.array([10, 0, 9]), np.array([9, 5, 7])).tolist() == [-1, -1, 0]
    assert find_rows(np.array([8]), np.array([7])).tolist() == find_rows(np.array([6]), np.array([7])).tolist() == [-1]
    assert find_rows(np.array([1, 2, 3]), np.zeros(0, dtype=np.int64)).tolist() == [-1] * 3


def test_rows_are_numbered_in_mixed_radix_from_the_least_value_of_each_column():
    assert number_rows(np.array([[1, 0], [0, 2], [1, 0]])).tolist() == [3, 2, 3]
    assert number_rows(np.array([[-1, 7, 4], [1, 9, 4], [0, 8, 4]]), np.array([[2], [0], [1]])).tolist() == [2, 24, 13]
    wide = np.array([[2**61, 5, 1], [0, 5, 2], [2**61, 4, 3], [0, 5, 2]])
    assert number_rows(wide).tolist() == [9, 4, 8, 4]  # numbered anew before the second column
