"""Risk-coverage curves: the accuracy of each model on the examples of which it is most confident."""

import re
from collections.abc import Sequence

import numpy as np

from assay.arrays import Array
from assay.diagnosis.automation import coverage_curve
from assay.metrics.evidence import Evidence
from assay.reporting.plot import COLOURS, Chart, Line

CoverageCurve = tuple[Array, Array]
"""Coverage and accuracy on what is covered, from the most confident examples to all."""
MOST_POINTS = 120
HASH = re.compile(r"-[0-9a-f]{8}$")


def coverage_of(evidence: Evidence) -> CoverageCurve | None:
    """Return the curve of a model that gives probabilities for every label."""
    probabilities = [p for p in evidence.label_probabilities if p is not None]
    if len(probabilities) < len(evidence.label_probabilities):
        return None
    confidence = np.prod([p.max(axis=1) for p in probabilities], axis=0)
    right = (evidence.labels == evidence.predicted_labels).all(axis=1)
    return thin_curve(coverage_curve(confidence, right))


def thin_curve(curve: CoverageCurve) -> CoverageCurve:
    """Return no more points of a curve than can be seen, its ends among them."""
    x, y = curve
    places = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    return x[places], y[places]


def shorten_run_names(runs: Sequence[str]) -> list[str]:
    """Return the names of runs without their hashes, and without the words that all of them begin with.

    >>> shorten_run_names(["mnlogic-dpl-seed0-e7ac1f24", "mnlogic-cbm-seed0-a7775da3"]), shorten_run_names(["mine"])
    (['dpl-seed0', 'cbm-seed0'], ['mine'])
    """
    words = [HASH.sub("", run).split("-") for run in runs]
    while len(words) > 1 and len({parts[0] for parts in words}) == 1 and min(map(len, words)) > 1:
        words = [parts[1:] for parts in words]
    return ["-".join(parts) for parts in words]


def coverage_charts(curves: Sequence[tuple[str, str, CoverageCurve | None]]) -> list[Chart]:
    """Return a chart for each task, of (task, run, curve); more lines than colours go to a chart of their own."""
    charts = []
    for task in dict.fromkeys(task for task, _, _ in curves):
        own = [(name, curve) for of, name, curve in curves if of == task and curve is not None]
        named = list(zip(shorten_run_names([name for name, _ in own]), (curve for _, curve in own), strict=True))
        for first in range(0, len(named), len(COLOURS)):
            lines = [Line(name, x.tolist(), y.tolist()) for name, (x, y) in named[first : first + len(COLOURS)]]
            charts.append(
                Chart(
                    f"{task}: accuracy where the model is most confident",
                    "; ".join(f"{line.name}: {line.y[-1]:.2f} on all examples" for line in lines),
                    "share of examples that are decided",
                    "accuracy on these",
                    lines,
                )
            )
    return charts
