"""The names of array types, equal rows of tables of codes, and the way of foreign arrays into numpy, in one place."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Codes = Array
"""Whole numbers that stand for values: a row an example, a column a concept or label, -1 where unknown."""


def find_rows(wanted: Array, index: Array) -> Array:
    """Return where in the index each wanted number is, -1 where it is not.

    >>> find_rows(np.array([7, 5, 6]), np.array([5, 9, 7])).tolist()
    [2, 0, -1]
    """
    if not len(index):
        return np.full(len(wanted), -1, dtype=np.int64)
    if np.array_equal(wanted, index):  # the whole of it, as it comes: most often so
        return np.arange(len(index))
    order = np.argsort(index, kind="stable")
    near = order[np.minimum(np.searchsorted(index, wanted, sorter=order), len(index) - 1)]
    return np.where(index[near] == wanted, near, -1)


def as_array(given: Any) -> Array:
    """Return an array, a tensor on any device, a series or a list as a numpy array."""
    return np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)


LARGEST_NUMBER = 2**62


@dataclass(frozen=True)
class DistinctRows:
    """The distinct rows of a table, in order: where each stands first, which of them each row is, and how often."""

    first: Array
    which: Array
    counts: Array

    def __len__(self) -> int:
        return len(self.first)


def distinct_rows(*codes: Codes) -> DistinctRows:
    """Return the distinct rows of codes, tables beside one another, as `np.unique` with `axis=0` does but sooner.

    >>> found = distinct_rows(np.array([[1, 0], [0, 2], [1, 0]]))
    >>> found.first.tolist(), found.which.tolist(), found.counts.tolist()
    ([1, 0], [1, 0, 1], [1, 2])
    """
    numbers = number_rows(*codes)
    if int(numbers.max(initial=0)) < len(numbers):  # a table of all numbers is no larger than that of the rows
        return _counted(numbers)
    _, first, which, counts = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    return DistinctRows(first, which.ravel(), counts)


def _counted(numbers: Array) -> DistinctRows:
    """Return the distinct numbers of a small range without sorting."""
    counts = np.bincount(numbers)
    present = counts > 0
    which = (np.cumsum(present) - 1)[numbers]
    first = np.empty(int(present.sum()), dtype=np.int64)
    first[which[::-1]] = np.arange(len(numbers) - 1, -1, -1)  # of several places the last one written stays
    return DistinctRows(first, which, counts[present])


def number_rows(*codes: Codes) -> Array:
    """Return a number for each row of tables beside one another, equal for equal rows and in their order.

    >>> number_rows(np.array([[1, 0], [0, 2], [1, 0]])).tolist()
    [3, 2, 3]
    """
    numbers, size = np.zeros(len(codes[0]), dtype=np.int64), 1
    for column in (column for table in codes for column in table.T if len(table)):
        low = int(column.min())
        width = int(column.max()) - low + 1
        if size * width > LARGEST_NUMBER:  # numbered anew: there are no more numbers than rows
            numbers = np.unique(numbers, return_inverse=True)[1].ravel()
            size = int(numbers.max()) + 1
        numbers *= width
        numbers += column
        numbers -= low
        size *= width
    return numbers


def mean_ranks(numbers: Array) -> Array:
    """Return the rank of each number, from 1, equal ones sharing the mean of theirs.

    >>> mean_ranks(np.array([30, 10, 30])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, which, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[which.ravel()])
