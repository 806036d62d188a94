"""Samples of a split: a page of those that a query asks for, and all about one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.base import Array
from assay.contracts import LABEL, PAIR_CONCEPT, PAIRS
from assay.viewer.answers import Answers, violated_constraints
from assay.viewer.pairs import origins_of
from assay.viewer.query import Query, matching_rows
from assay.viewer.state import State
from assay.viewer.table import SplitTable

PAGE = 48
SNIPPET = 160
FEW_READ = 4
"""How many misread concepts a card names."""


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
