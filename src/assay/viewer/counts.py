"""How runs read one split: what is predicted for each true value, how right it is in each region of the rule, which
constraints its predictions break; and any number of runs side by side. Counts only, so that a hundred thousand samples
take a moment.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError
from assay.logic import Value
from assay.viewer.answers import Answers
from assay.viewer.query import columns_of, outcome_mask
from assay.viewer.state import State
from assay.viewer.table import BoundaryTags

MOST_VALUES = 24
"""Concepts and labels with more values get no table of what is predicted for each, or of runs against each other."""
COUNTED = ("right", "wrong", "misread", "hidden")
MOST_RUNS = 20


def reading_of(state: State, key: str, split: str, run: str) -> dict[str, Any]:
    """Return all counts of a run on a split."""
    answers = state.require_answers(key, split, run)
    table, knowledge = answers.table, answers.table.knowledge
    labels = [
        {"name": label.name, **_confusion(table.labels[:, [i]], answers.labels[:, [i]], label.values)}
        for i, label in enumerate(knowledge.labels)
    ]
    return {
        "split": split,
        "whole": len(table),
        "answered": int(answers.has_answer.sum()),
        "outcomes": {name: int(outcome_mask([answers], name).sum()) for name in COUNTED},
        "labels": labels,
        "groups": _groups(answers),
        "concepts": _concepts(answers),
        "regions": [region for name, side in table.sides.items() for region in _regions(answers, name, side)],
        "constraints": _constraints(answers),
    }


def _groups(answers: Answers) -> list[dict[str, Any]]:
    """Return what is predicted for each true value, of all concepts that share an encoder together."""
    space, truth = answers.table.knowledge.space, answers.table.concepts
    groups = []
    for group in space.encoders:
        columns = [c for c in columns_of(space, group.name) if (answers.concepts[:, c] >= 0).any()]
        if columns:
            found = _confusion(truth[:, columns], answers.concepts[:, columns], space.concepts[columns[0]].values)
            groups.append({"name": group.name, "concepts": [space.names[c] for c in columns], **found})
    return groups


def _confusion(truth: Array, predicted: Array, values: tuple[Value, ...]) -> dict[str, Any]:
    """Return how often each value is predicted for each true one, in the last column none; how many are right."""
    known = truth >= 0
    true, said = truth[known], predicted[known]
    size = len(values)
    right, answered = int((true == said).sum()), int((said >= 0).sum())
    found: dict[str, Any] = {"values": list(values), "right": right, "answered": answered, "counts": None}
    if size <= MOST_VALUES:
        column = np.where(said >= 0, said, size)
        counts = np.bincount(true * (size + 1) + column, minlength=size * (size + 1))
        found["counts"] = counts.reshape(size, size + 1).tolist()
    return found


def _concepts(answers: Answers) -> list[dict[str, Any]]:
    """Return how often each concept is predicted, and rightly."""
    truth, predicted = answers.table.concepts, answers.concepts
    judged = (truth >= 0) & (predicted >= 0)
    right = (truth == predicted) & judged
    names = answers.table.knowledge.space.names
    counts = zip(names, right.sum(axis=0).tolist(), judged.sum(axis=0).tolist(), strict=True)
    return [{"name": name, "right": good, "answered": all_} for name, good, all_ in counts]


def _regions(answers: Answers, label: str, side: BoundaryTags) -> list[dict[str, Any]]:
    """Return how often a label is right on the samples of each variant and near-boundary type, and far from all."""
    place = answers.table.knowledge.label_names.index(label)
    right = answers.labels[:, place] == answers.table.labels[:, place]
    size = len(side.texts)
    examples = np.bincount(side.which[answers.has_answer], minlength=size)
    good = np.bincount(side.which[answers.has_answer & right], minlength=size)
    return [
        {
            "label": label,
            "name": name,
            "kind": side.kinds[name],
            "examples": int(examples[members].sum()),
            "right": int(good[members].sum()),
        }
        for name, members in side.members.items()
        if examples[members].sum()
    ]


def _constraints(answers: Answers) -> list[dict[str, Any]]:
    """Return how many predictions break each constraint, the most often broken first."""
    knowledge = answers.table.knowledge
    if not knowledge.constraints:
        return []
    broken = answers.violations.sum(axis=0).tolist()
    counts = [{"name": c.name, "count": n} for c, n in zip(knowledge.constraints, broken, strict=True)]
    return sorted(counts, key=lambda entry: -int(entry["count"]))


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
