"""The names of array types, and the way of foreign arrays into numpy, in one place."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Codes = Array
"""Whole numbers that stand for values: a row an example, a column a concept or label, -1 where unknown."""


def as_array(given: Any) -> Array:
    """Return an array, a tensor on any device, a series or a list as a numpy array."""
    return np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
