"""Any number of runs side by side on one split: how right each is, and where one is right and another is not."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError
from assay.viewer.answers import Answers
from assay.viewer.query import outcome_mask
from assay.viewer.state import State

MOST_RUNS = 20
MOST_VALUES = 24
"""Labels with more values get no table of predictions against predictions."""


def compare_runs(state: State, key: str, split: str, runs: Sequence[str]) -> dict[str, Any]:
    """Return how runs did on the rows of a split that all have predictions for."""
    if not 2 <= len(set(runs)) == len(runs) <= MOST_RUNS:
        raise ConfigError(f"comparing takes from 2 to {MOST_RUNS} different runs")
    every = [state.require_answers(key, split, run) for run in runs]
    rows = np.flatnonzero(np.logical_and.reduce([answers.has_answer for answers in every]))
    knowledge = every[0].table.knowledge
    right = np.array([answers.right[rows] for answers in every])
    return {
        "runs": list(runs),
        "rows": len(rows),
        "right": right.sum(axis=1).tolist(),
        "misread": [_count(answers, answers.misread, rows) for answers in every],
        "hidden": [_count(answers, answers.misread & answers.right, rows) for answers in every],
        "only": (right[:, None] & ~right[None]).sum(axis=2).tolist(),
        **{name: int(outcome_mask(every, name).sum()) for name in ("differ", "all_right", "all_wrong")},
        "labels": [
            {"name": label.name, "right": _shares(every, rows, "labels", i), "against": _against(every, rows, i)}
            for i, label in enumerate(knowledge.labels)
        ],
        "concepts": [
            {"name": name, "right": _shares(every, rows, "concepts", i)} for i, name in enumerate(knowledge.space.names)
        ],
    }


def _count(run: Answers, chosen: Array, rows: Array) -> int | None:
    """Return how many rows are chosen by their concepts; None of a run that predicts no concept."""
    return int(chosen[rows].sum()) if (run.concepts[rows] >= 0).any() else None


def _shares(runs: Sequence[Answers], rows: Array, what: str, place: int) -> list[float | None]:
    """Return for each run the share of predictions of a label or concept that are right."""
    return [share(getattr(r.table, what)[rows, place], getattr(r, what)[rows, place]) for r in runs]


def share(truth: Codes, predicted: Codes) -> float | None:
    """Return the share of predictions that are right, None where there are none.

    >>> share(np.array([0, 1, 1, 0]), np.array([0, 1, 0, -1])), share(np.array([0]), np.array([-1]))
    (0.6667, None)
    """
    answered = (predicted >= 0) & (truth >= 0)
    return round(float((truth == predicted)[answered].mean()), 4) if answered.any() else None


def _against(runs: Sequence[Answers], rows: Array, place: int) -> list[list[int]] | None:
    """Return how often the first of two runs predicts one value of a label (rows) and the second another."""
    size = len(runs[0].table.knowledge.labels[place].values)
    if len(runs) != 2 or size > MOST_VALUES:
        return None
    first, second = (answers.labels[rows, place] for answers in runs)
    both = (first >= 0) & (second >= 0)
    return np.bincount(first[both] * size + second[both], minlength=size * size).reshape(size, size).tolist()
