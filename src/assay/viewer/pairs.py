"""Counterfactual pairs side by side: a sample and the same with one concept changed, and what a run makes of both."""

from typing import Any

import numpy as np

from assay.base import Array, ConfigError, DataError, find_rows
from assay.contracts import PAIR_CONCEPT, PAIR_ROW, PAIRS
from assay.viewer.state import State
from assay.viewer.table import SplitTable

PAGE = 12
KINDS = {
    "all": "all pairs",
    "missed": "the label changes, and the prediction is not right before and after",
    "moved": "the label stays, and the prediction changes",
    "unnoticed": "the changed concept is not read with its new value",
    "fine": "the label is predicted right before and after",
}


def pairs_of(state: State, key: str, run: str, kind: str = "all", page: int = 0, size: int = PAGE) -> dict[str, Any]:
    """Return a page of the pairs of a kind, and how many there are of each."""
    if kind not in KINDS:
        raise ConfigError(f"no kind of pair {kind!r}; there is: {', '.join(KINDS)}")
    pairs = _Pairs(state, key, run)
    masks = pairs.masks()
    rows = np.flatnonzero(masks[kind])
    pages = max(1, -(-len(rows) // size))
    page = min(max(page, 0), pages - 1)
    return {
        "split": pairs.original.name,
        "kinds": [{"name": name, "text": KINDS[name], "count": int(mask.sum())} for name, mask in masks.items()],
        "page": page,
        "pages": pages,
        "pairs": [
            {**pairs.plain(int(row)), "kinds": [name for name, mask in masks.items() if mask[row]]}
            for row in rows[page * size : (page + 1) * size]
        ],
    }


def origins_of(state: State, key: str) -> Array:
    """Return for each pair the row of the sample that it was changed from, -1 where that is not there."""
    changed: SplitTable = state.table(key, PAIRS)
    original: SplitTable = state.table(key, str(state.shelf[key].dataset.manifest.pairs.split))
    return find_rows(np.array(changed.column(PAIR_ROW).to_pylist()), original.index)


class _Pairs:
    """The predictions of a run before and after each change."""

    def __init__(self, state: State, key: str, run: str) -> None:
        dataset = state.shelf[key].dataset
        if dataset.pairs is None:
            raise DataError(f"this dataset has no counterfactual pairs: {dataset.why_no_pairs}")
        self.changed: SplitTable = state.table(key, PAIRS)
        self.original: SplitTable = state.table(key, str(dataset.pairs.split))
        self.after = state.require_answers(key, PAIRS, run)
        self.before = state.require_answers(key, self.original.name, run)
        self.rows = origins_of(state, key)
        names: list[str] = self.changed.column(PAIR_CONCEPT).to_pylist()
        self.places = np.array([self.changed.knowledge.space.place(name) for name in names], dtype=np.int64)

    def masks(self) -> dict[str, Array]:
        """Return which pairs are of each kind."""
        rows, numbers = self.rows, np.arange(len(self.changed))
        there = (rows >= 0) & self.after.has_answer & self.before.has_answer[rows]
        moved = (self.original.labels[rows] != self.changed.labels).any(axis=1)
        both_right = self.before.right[rows] & self.after.right
        kept = (self.before.labels[rows] == self.after.labels).all(axis=1)
        new = self.after.concepts[numbers, self.places]
        unnoticed = (new >= 0) & (new != self.changed.concepts[numbers, self.places])
        return {
            "all": there,
            "missed": there & moved & ~both_right,
            "moved": there & ~moved & ~kept,
            "unnoticed": there & unnoticed,
            "fine": there & both_right,
        }

    def plain(self, row: int) -> dict[str, Any]:
        """Return one pair: its two samples, the concept that was changed, and what is predicted of each."""
        before, place = int(self.rows[row]), int(self.places[row])
        sides = ((self.original, self.before, before), (self.changed, self.after, row))
        return {
            "concept": place,
            "sides": [
                {
                    "split": table.name,
                    "row": number,
                    "index": int(table.index[number]),
                    "value": int(table.concepts[number, place]),
                    "read": int(answers.concepts[number, place]),
                    "labels": table.labels[number].tolist(),
                    "predicted": answers.labels[number].tolist(),
                    "right": bool(answers.right[number]),
                }
                for table, answers, number in sides
            ],
        }
