"""The names of array types, and the way of foreign arrays into numpy, in one place."""

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
    order = np.argsort(index, kind="stable")
    near = order[np.minimum(np.searchsorted(index, wanted, sorter=order), len(index) - 1)]
    return np.where(index[near] == wanted, near, -1)


def as_array(given: Any) -> Array:
    """Return an array, a tensor on any device, a series or a list as a numpy array."""
    return np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
