"""What a model says of a label or a concept, in whatever form it comes: codes, values, probabilities, a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from assay.base import Array, Codes, DataError, as_array, suggestion
from assay.contracts.columns import CONCEPT, LABEL
from assay.logic import Value

CLOSE = 1e-3
"""By how much probabilities may miss a sum of 1."""


@dataclass(frozen=True, repr=False)
class Prediction:
    """What a model says of one label or concept: codes (-1 where it says nothing), and perhaps probabilities."""

    codes: Codes
    probabilities: Array | None = None

    @classmethod
    def of(cls, probabilities: Array) -> "Prediction":
        """Return the answer of a model that gives probabilities."""
        return cls(probabilities.argmax(axis=1), probabilities)

    @classmethod
    def read(cls, given: Any, values: Sequence[Value], what: str, rows: int) -> "Prediction":
        """Return the answer in an array: codes, values, probabilities, or of two values that of the second.

        Parameters
        ----------
        given
            An array, a tensor, a series or a list.
        values
            The values in their order.
        what
            What errors call it, such as `label 'y'`.
        rows
            How many examples there are.
        """
        array = as_array(given)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if len(array.shape) not in (1, 2) or len(array) != rows:
            raise DataError(f"{what}: expected {rows} rows, one for each example, not shape {array.shape}")
        if array.ndim == 2:
            return cls.of(_probabilities(array, len(values), what))
        if np.issubdtype(array.dtype, np.floating) and len(values) == 2 and not np.isin(array, (0.0, 1.0)).all():
            return cls.of(_probabilities(np.stack([1 - array, array], axis=1), 2, what))
        return cls(_codes(array, values, what))

    def __repr__(self) -> str:
        kind = "codes" if self.probabilities is None else f"probabilities of {self.probabilities.shape[1]} values"
        return f"Prediction({len(self.codes):,} examples, {kind})"


def as_table(given: Any) -> pa.Table | None:
    """Return a table with columns of values, if that is what was given."""
    if isinstance(given, pa.Table):
        return given
    if hasattr(given, "to_dict") and hasattr(given, "columns"):  # a data frame
        given = {str(name): list(given[name]) for name in given.columns}
    if not isinstance(given, Mapping) or not any(str(key).startswith((LABEL, CONCEPT)) for key in given):
        return None
    return pa.table({str(name): pa.array(list(column)) for name, column in given.items()})


def read_named(given: Any, named: Sequence[tuple[str, Sequence[Value]]], kind: str, rows: int) -> dict[str, Prediction]:
    """Return the answers of a mapping from names to arrays; of one name, or of codes, an array is enough."""
    if not isinstance(given, Mapping):
        if len(named) != 1:
            return _stacked(given, named, kind, rows)
        given = {named[0][0]: given}
    known = dict(named)
    unknown = [str(name) for name in given if name not in known]
    if unknown:
        raise DataError(f"{kind}s: no {kind} named {unknown[0]!r}{suggestion(unknown[0], known)}")
    return {name: Prediction.read(column, known[name], f"{kind} {name!r}", rows) for name, column in given.items()}


def _stacked(given: Any, named: Sequence[tuple[str, Sequence[Value]]], kind: str, rows: int) -> dict[str, Prediction]:
    """Return the answers of one array of codes with a column for each name, or of a list with an array for each."""
    if isinstance(given, (list, tuple)) and len(given) == len(named) and np.ndim(as_array(given[0])) > 0:
        columns = list(given)
    else:
        array = as_array(given)
        if array.shape != (rows, len(named)):
            names = ", ".join(name for name, _ in named[:4])
            raise DataError(
                f"{kind}s: expected a mapping from names ({names}{', ...' if len(named) > 4 else ''}) to arrays, "
                f"or codes of shape ({rows}, {len(named)}), not an array of shape {array.shape}"
            )
        columns = list(array.T)
    pairs = zip(named, columns, strict=True)
    return {name: Prediction.read(column, values, f"{kind} {name!r}", rows) for (name, values), column in pairs}


def _codes(array: Array, values: Sequence[Value], what: str) -> Array:
    """Return codes: whole numbers are codes, anything else (words, truth values) are values."""
    if np.issubdtype(array.dtype, np.bool_) and len(values) == 2:
        return array.astype(np.int64)
    if np.issubdtype(array.dtype, np.number):
        codes = array.astype(np.int64)
        wrong = codes[(codes != array) | (codes < -1) | (codes >= len(values))]
        if len(wrong):
            raise DataError(
                f"{what}: {wrong[0]} is no code; codes are 0 to {len(values) - 1}, the places of "
                f"{', '.join(map(str, values[:6]))}{', ...' if len(values) > 6 else ''}"
            )
        return codes
    places = {str(value): place for place, value in enumerate(values)}
    unknown = [str(value) for value in array.tolist() if str(value) not in places]
    if unknown:
        raise DataError(f"{what}: no value {unknown[0]!r}{suggestion(unknown[0], places)}")
    return np.array([places[str(value)] for value in array.tolist()], dtype=np.int64)


def _probabilities(array: Array, size: int, what: str) -> Array:
    if array.shape[1] != size:
        raise DataError(f"{what}: expected {size} probabilities in each row, one for each value, not {array.shape[1]}")
    wide = array.astype(np.float64)
    if not np.isfinite(wide).all() or (wide < -CLOSE).any() or (np.abs(wide.sum(axis=1) - 1) > CLOSE).any():
        raise DataError(f"{what}: rows must be probabilities that add up to 1; of logits take the softmax first")
    return np.maximum(wide, 0)
