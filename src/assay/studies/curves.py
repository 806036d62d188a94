"""The curves of a study: what becomes of the labels as more concepts are told."""

from collections.abc import Mapping, Sequence

from assay.report.plot import COLOURS, Chart, Line
from assay.studies.records import Record
from assay.studies.summary import Place, Summary, summaries

ASKED = "accuracy_"


def intervention_charts(records: Sequence[Record]) -> list[Chart]:
    """Return a chart for each task and challenge in which models were told concepts within budgets."""
    found = {place: one for place, one in summaries(records).items() if _budget(place.metric) is not None}
    made = []
    for task, challenge in dict.fromkeys((place.task, place.challenge) for place in found):
        here = {place: one for place, one in found.items() if (place.task, place.challenge) == (task, challenge)}
        models = list(dict.fromkeys(place.model for place in here))[: len(COLOURS)]
        lines = [_line(model, here) for model in models]
        made.append(
            Chart(
                f"{task}, {challenge}: labels as concepts are told",
                "; ".join(f"{line.name}: from {line.y[0]:.2f} to {line.y[-1]:.2f}" for line in lines),
                "concepts that may be asked about",
                "label accuracy",
                lines,
            )
        )
    return made


def _budget(metric: str) -> float | None:
    """Return the budget that a metric is about.

    >>> _budget("accuracy_k3"), _budget("accuracy_max"), _budget("accuracy_k1_expert"), _budget("label_f1")
    (3.0, None, None, None)
    """
    text = metric.removeprefix(f"{ASKED}k") if metric.startswith(f"{ASKED}k") else ""
    return float(text) if text.isdecimal() else None


def _line(model: str, found: Mapping[Place, Summary]) -> Line:
    held = [(_budget(place.metric) or 0.0, one) for place, one in found.items() if place.model == model]
    points = sorted(held, key=lambda point: point[0])
    several = all(one.runs > 1 for _, one in points)
    return Line(
        model,
        [budget for budget, _ in points],
        [one.mean for _, one in points],
        [one.low for _, one in points] if several else None,
        [one.high for _, one in points] if several else None,
    )
