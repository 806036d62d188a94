"""Scores that a machine gives to concepts of its own for each example, from a CSV file."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from assay.base import Array, Codes, DataError

KEYS = ("split", "index")
Threshold = float | Literal["mean", "median"]


@dataclass(frozen=True)
class Scores:
    """The names of a machine's concepts, and its scores for the examples of each split."""

    names: tuple[str, ...]
    rows: Mapping[str, Mapping[int, int]]
    values: Array

    def of(self, split: str, index: Array) -> Array:
        """Return the scores of these examples."""
        rows = self.rows.get(split, {})
        missing = [number for number in index.tolist() if number not in rows]
        if missing:
            raise DataError(f"the scores say nothing of example {missing[0]} of split {split!r}")
        return np.asarray(self.values[[rows[number] for number in index.tolist()]])


def read_scores(path: Path) -> Scores:
    """Read a table with the columns `split` and `index`, and a column of numbers for each concept."""
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            table = list(csv.reader(handle))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    head = [name.strip() for name in table[0]] if table else []
    names = [name for name in head if name not in KEYS]
    if not set(KEYS) <= set(head) or not names or len(set(head)) < len(head):
        raise DataError(f"{path.name}: expected the columns split, index and one or more concepts, found {head}")
    places = [head.index(name) for name in names]
    rows: dict[str, dict[int, int]] = {}
    values = []
    for number, row in enumerate(table[1:], start=2):
        try:
            split, index = row[head.index("split")], int(row[head.index("index")])
            values.append([float(row[place]) for place in places])
        except (ValueError, IndexError):
            raise DataError(
                f"{path.name} line {number}: expected a split, a whole number and {len(names)} numbers"
            ) from None
        if rows.setdefault(split, {}).setdefault(index, len(values) - 1) != len(values) - 1:
            raise DataError(f"{path.name} line {number}: example {index} of split {split!r} occurs twice")
    scores = np.array(values, dtype=np.float64).reshape(len(values), len(names))
    if not np.isfinite(scores).all():
        raise DataError(f"{path.name}: every score must be a number")
    return Scores(tuple(names), rows, scores)


def threshold_scores(scores: Array, training: Array, threshold: Threshold) -> Codes:
    """Return which concepts are true: scores at the threshold or above; a mean or median is that of training.

    >>> threshold_scores(np.array([[0.1], [0.9]]), np.array([[0.0], [1.0]]), "mean").tolist()
    [[0], [1]]
    """
    if threshold == "mean":
        return np.asarray(scores >= training.mean(axis=0)).astype(np.int64)
    if threshold == "median":
        return np.asarray(scores >= np.median(training, axis=0)).astype(np.int64)
    return np.asarray(scores >= threshold).astype(np.int64)


def refuse_constant(names: Sequence[str], codes: Codes) -> None:
    """Refuse concepts that a machine gives to every example alike."""
    for place, name in enumerate(names):
        if len(np.unique(codes[:, place])) < 2:
            raise DataError(f"the machine says the same of {name!r} in every example; choose another threshold")
