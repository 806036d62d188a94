"""Two models side by side: where both are right, where only one is, and what each reads right."""

from typing import Any

import numpy as np

from assay.arrays import Array, Codes
from assay.viewer.state import State

MOST_VALUES = 24
"""Labels with more values get no table of answers against answers."""


def compared(state: State, key: str, split: str, run: str, versus: str) -> dict[str, Any]:
    """Return how two runs did on the rows of a split that both answered."""
    first, second = state.spoken(key, split, run), state.spoken(key, split, versus)
    rows = np.flatnonzero(first.known & second.known)
    right = first.right[rows], second.right[rows]
    knowledge = first.table.knowledge
    truth, concepts = first.table.labels[rows], first.table.concepts[rows]
    labels = [
        {
            "name": label.name,
            "right": [share(truth[:, i], held.labels[rows, i]) for held in (first, second)],
            "against": _against(first.labels[rows, i], second.labels[rows, i], len(label.values)),
        }
        for i, label in enumerate(knowledge.labels)
    ]
    read = [
        {"name": name, "right": [share(concepts[:, i], held.concepts[rows, i]) for held in (first, second)]}
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


def share(truth: Codes, said: Codes) -> float | None:
    """Return the share of answers that are right, None where nothing was said.

    >>> share(np.array([0, 1, 1, 0]), np.array([0, 1, 0, -1])), share(np.array([0]), np.array([-1]))
    (0.6667, None)
    """
    spoken = said >= 0
    return round(float((truth == said)[spoken].mean()), 4) if spoken.any() else None


def _against(first: Array, second: Array, size: int) -> list[list[int]] | None:
    """Return how often the first said one value and the second another: a row for what the first said."""
    if size > MOST_VALUES:
        return None
    both = (first >= 0) & (second >= 0)
    return np.bincount(first[both] * size + second[both], minlength=size * size).reshape(size, size).tolist()
