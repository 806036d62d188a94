"""The curves of a report: how right each model is on the examples of which it is surest."""

import re
from collections.abc import Sequence

import numpy as np

from assay.arrays import Array
from assay.diagnosis.automation import coverage_curve
from assay.metrics.evidence import Evidence
from assay.report.plot import COLOURS, Chart, Line

Curve = tuple[Array, Array]
"""Coverage and accuracy on what is covered, from the surest examples to all."""
MOST_POINTS = 120
HASH = re.compile(r"-[0-9a-f]{8}$")


def coverage_of(evidence: Evidence) -> Curve | None:
    """Return the curve of a model that gives probabilities for every label."""
    spreads = [spread for spread in evidence.label_probabilities if spread is not None]
    if len(spreads) < len(evidence.label_probabilities):
        return None
    sure = np.prod([spread.max(axis=1) for spread in spreads], axis=0)
    right = (evidence.labels == evidence.predicted_labels).all(axis=1)
    return thinned(coverage_curve(sure, right))


def thinned(curve: Curve) -> Curve:
    """Return no more points of a curve than can be seen, its ends among them."""
    x, y = curve
    kept = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    return x[kept], y[kept]


def shortened(runs: Sequence[str]) -> list[str]:
    """Return the names of runs without their hashes, and without the words that all of them begin with.

    >>> shortened(["mnlogic-dpl-seed0-e7ac1f24", "mnlogic-cbm-seed0-a7775da3"]), shortened(["mine"])
    (['dpl-seed0', 'cbm-seed0'], ['mine'])
    """
    words = [HASH.sub("", run).split("-") for run in runs]
    while len(words) > 1 and len({one[0] for one in words}) == 1 and min(map(len, words)) > 1:
        words = [one[1:] for one in words]
    return ["-".join(one) for one in words]


def coverage_charts(curves: Sequence[tuple[str, str, Curve | None]]) -> list[Chart]:
    """Return a chart for each task, of (task, run, curve); more lines than colours go to a chart of their own."""
    made = []
    for task in dict.fromkeys(task for task, _, _ in curves):
        kept = [(name, curve) for of, name, curve in curves if of == task and curve is not None]
        held = list(zip(shortened([name for name, _ in kept]), (curve for _, curve in kept), strict=True))
        for first in range(0, len(held), len(COLOURS)):
            lines = [Line(name, x.tolist(), y.tolist()) for name, (x, y) in held[first : first + len(COLOURS)]]
            made.append(
                Chart(
                    f"{task}: accuracy where the model is surest",
                    "; ".join(f"{line.name}: {line.y[-1]:.2f} on all examples" for line in lines),
                    "share of examples that are decided",
                    "accuracy on these",
                    lines,
                )
            )
    return made
