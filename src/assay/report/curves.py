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


def shortened(run: str, task: str) -> str:
    """Return the name of a run without what a chart of its task says already, and without its hash.

    >>> shortened("mnlogic-dpl-seed0-e7ac1f24", "mnlogic"), shortened("mine", "mnlogic")
    ('dpl-seed0', 'mine')
    """
    return HASH.sub("", run.removeprefix(f"{task}-"))


def coverage_charts(curves: Sequence[tuple[str, str, Curve | None]]) -> list[Chart]:
    """Return a chart for each task, of (task, run, curve); more lines than colours go to a chart of their own."""
    made = []
    for task in dict.fromkeys(task for task, _, _ in curves):
        held = [(shortened(name, task), curve) for of, name, curve in curves if of == task and curve is not None]
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
