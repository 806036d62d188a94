"""The names of array types, in one place."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Codes = Array
"""Whole numbers that stand for values: a row an example, a column a concept or label, -1 where unknown."""
