"""How runs did: the verdict on one, in the words of `assay diagnose`, and two side by side."""

from typing import Any

import numpy as np

from assay.arrays import Array, Codes
from assay.diagnosis.findings import MEANINGS
from assay.diagnosis.runs import diagnose_run
from assay.runs.folder import RunFolder
from assay.viewer.state import State

MOST_VALUES = 24
"""Labels with more values get no table of answers against answers."""


def verdict_of(state: State, key: str, run: str) -> dict[str, Any]:
    """Return the verdict on a run with its findings and notes, and the state of each concept on the first split."""
    served = state.shelf[key]
    diagnosis = diagnose_run(RunFolder(served.run(run).folder), served.dataset)
    split, concepts = next(iter(diagnosis.concepts.items()))
    return {
        "verdict": diagnosis.verdict,
        "meaning": MEANINGS[diagnosis.verdict],
        "findings": [
            {"kind": finding.kind, "meaning": MEANINGS[finding.kind], "text": finding.text}
            for finding in diagnosis.findings
        ],
        "notes": list(diagnosis.notes),
        "split": split,
        "concepts": [
            {"name": c.concept, "state": c.state, "right": c.right, "answered": c.answered, "used": c.used}
            for c in concepts
        ],
    }


def compare_runs(state: State, key: str, split: str, run: str, versus: str) -> dict[str, Any]:
    """Return how two runs did on the rows of a split that both have predictions for."""
    first, second = state.require_answers(key, split, run), state.require_answers(key, split, versus)
    rows = np.flatnonzero(first.has_answer & second.has_answer)
    right = first.right[rows], second.right[rows]
    knowledge = first.table.knowledge
    truth, concepts = first.table.labels[rows], first.table.concepts[rows]
    labels = [
        {
            "name": label.name,
            "right": [share(truth[:, i], answers.labels[rows, i]) for answers in (first, second)],
            "against": _against(first.labels[rows, i], second.labels[rows, i], len(label.values)),
        }
        for i, label in enumerate(knowledge.labels)
    ]
    read = [
        {"name": name, "right": [share(concepts[:, i], answers.concepts[rows, i]) for answers in (first, second)]}
        for i, name in enumerate(knowledge.space.names)
    ]
    return {
        "rows": len(rows),
        "both_right": int((right[0] & right[1]).sum()),
        "only_first": int((right[0] & ~right[1]).sum()),
        "only_second": int((~right[0] & right[1]).sum()),
        "both_wrong": int((~right[0] & ~right[1]).sum()),
        "differ": int((first.labels[rows] != second.labels[rows]).any(axis=1).sum()),
        "labels": labels,
        "concepts": read,
    }


def share(truth: Codes, predicted: Codes) -> float | None:
    """Return the share of predictions that are right, None where there are none.

    >>> share(np.array([0, 1, 1, 0]), np.array([0, 1, 0, -1])), share(np.array([0]), np.array([-1]))
    (0.6667, None)
    """
    answered = (predicted >= 0) & (truth >= 0)
    return round(float((truth == predicted)[answered].mean()), 4) if answered.any() else None


def _against(first: Array, second: Array, size: int) -> list[list[int]] | None:
    """Return how often the first said one value and the second another: a row for what the first said."""
    if size > MOST_VALUES:
        return None
    both = (first >= 0) & (second >= 0)
    return np.bincount(first[both] * size + second[both], minlength=size * size).reshape(size, size).tolist()
