"""Samples of a split: a page of those that a query asks for, all about one, and counterfactual pairs.

A pair is a sample and the same with one concept changed, with what a run makes of both.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.base import Array, ConfigError, DataError, find_rows
from assay.contracts import LABEL, PAIR_CONCEPT, PAIR_ROW, PAIRS
from assay.viewer.answers import Answers, violated_constraints
from assay.viewer.query import Query, matching_rows
from assay.viewer.state import State
from assay.viewer.table import SplitTable

PAGE = 48
SNIPPET = 160
FEW_READ = 4
"""How many misread concepts a card names."""
PAIRS_ON_PAGE = 12
KINDS = {
    "all": "all pairs",
    "missed": "the label changes, and the prediction is not right before and after",
    "moved": "the label stays, and the prediction changes",
    "unnoticed": "the changed concept is not read with its new value",
    "fine": "the label is predicted right before and after",
}


def page_of(state: State, key: str, split: str, query: Query, page: int = 0, size: int = PAGE) -> dict[str, Any]:
    """Return a page of the samples that a query asks for, how many there are, and of which labels and tags."""
    table: SplitTable = state.table(key, split)
    rows = matching_rows(state, key, split, query)
    pages = max(1, -(-len(rows) // size))
    page = min(max(page, 0), pages - 1)
    answers = {run: state.answers(key, split, run) for run in query.runs}
    brief = [_brief(table, int(row), answers) for row in rows[page * size : (page + 1) * size]]
    return {
        "total": len(rows),
        "whole": len(table),
        "page": page,
        "pages": pages,
        "rows": brief,
        **_counts(table, rows),
    }


def _brief(table: SplitTable, row: int, answers: Mapping[str, Any]) -> dict[str, Any]:
    predictions = {run: _prediction(predicted, row) for run, predicted in answers.items() if predicted is not None}
    brief = {"row": row, "index": int(table.index[row]), "labels": table.labels[row].tolist(), "said": predictions}
    if "image" not in table.columns and "text" in table.columns:
        brief["text"] = str(table.cell("text", row))[:SNIPPET]
    return brief


def _prediction(answers: Answers, row: int) -> dict[str, Any] | None:
    """Return how a run did on a row: its labels, and the concepts that it misreads, each with the predicted code."""
    if not answers.has_answer[row]:
        return None
    misread = answers.misread_concepts(row)
    return {
        "labels": answers.labels[row].tolist(),
        "right": bool(answers.right[row]),
        "misread": len(misread),
        "reads": misread[:FEW_READ],
    }


def _origin(state: State, key: str, row: int) -> dict[str, Any]:
    """Return the sample that a counterfactual world was changed from, and the concept that was changed."""
    table: SplitTable = state.table(key, PAIRS)
    original = str(table.dataset.manifest.pairs.split)
    return {"split": original, "row": int(origins_of(state, key)[row]), "concept": table.cell(PAIR_CONCEPT, row)}


def _counts(table: SplitTable, rows: Array) -> dict[str, Any]:
    """Return how many of the rows have each value of each label, and each tag."""
    labels = {
        label.name: np.bincount(table.codes(LABEL + label.name)[rows], minlength=len(label.values)).tolist()
        for label in table.knowledge.labels
    }
    return {"labels": labels, "tags": {name: side.counts(rows) for name, side in table.sides.items()}}


def sample_of(state: State, key: str, split: str, row: int, query: Query | None = None) -> dict[str, Any]:
    """Return all about one sample, and which samples come before and after it among those of a query."""
    table: SplitTable = state.table(key, split)
    world = table.world(row)
    codes = np.array([world.codes], dtype=np.int64)
    answers = {run: state.answers(key, split, run) for run in state.shelf[key].runs}
    sample = {
        "row": row,
        "index": int(table.cell("index", row)),
        "concepts": list(world.codes),
        "labels": table.labels[row].tolist(),
        "tags": {name: side.tags(row) for name, side in table.sides.items()},
        "violated": violated_constraints(table.knowledge, codes),
        "has": [column for column in ("image", "instances", "parts", "depth") if column in table.columns],
        "things": table.cell("things", row) if "things" in table.columns else [],
        "text": table.cell("text", row) if "text" in table.columns else None,
        "world": world.text,
        "style": dict(world.style),
        "answers": {run: own.of(row) for run, own in answers.items() if own is not None},
        "changed_from": _origin(state, key, row) if split == PAIRS else None,
    }
    if query is not None:
        rows = matching_rows(state, key, split, query)
        place = int(np.searchsorted(rows, row))
        after = place + 1 if place < len(rows) and rows[place] == row else place
        sample["before"] = int(rows[place - 1]) if place else None
        sample["after"] = int(rows[after]) if after < len(rows) else None
    return sample


def pairs_of(
    state: State, key: str, run: str, kind: str = "all", page: int = 0, size: int = PAIRS_ON_PAGE
) -> dict[str, Any]:
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
