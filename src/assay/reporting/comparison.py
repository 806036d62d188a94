"""The charts of a task's section: all of its runs side by side."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assay.base import COLOURS, Bars, Line, PlottedValue
from assay.metrics import Score
from assay.reporting.case import ReportCase
from assay.reporting.plot import AnyChart, BarChart, Chart, ChartGroup, ConfusionMap, ShareMap
from assay.reporting.sections import NamedRun, TaskSection

BOUNDARY = {"variant_accuracy": "positives", "near_accuracy": "near the boundary", "far_accuracy": "far negatives"}
EFFECTS = {"follows": "sensitivity", "stays": "invariance", "noticed": "concept noticed"}
MOST_GROUPS = 2
"""Of how many encoder groups the maps of all runs are shown beside each other; the others are in the details."""
MOST_VALUES, MOST_CONCEPTS = 48, 12
Runs = Sequence[NamedRun]


def with_charts(section: TaskSection, more: Sequence[ChartGroup] = ()) -> TaskSection:
    """Return a section with its charts; `more` are those of a study."""
    parts = [section.runs[first : first + len(COLOURS)] for first in range(0, len(section.runs), len(COLOURS))]
    maps = [
        reading_map(f"{run.name} predicts {group}", run.case, group)
        for group in compared_groups(section.cases)
        for run in section.runs
        if has_group(run.case, group)
    ]
    charts = [chart for runs in parts for chart in comparison_charts(runs)]
    return replace(section, groups=(ChartGroup("Models side by side", (*maps, *charts)), *more))


def comparison_charts(runs: Runs) -> list[AnyChart]:
    """Return the charts that compare runs; those to which a chart does not apply are left out."""
    charts = [draw(runs) for draw in (_concepts, _splits, _boundary, _effects, _calibration, _coverage, _learning)]
    return [chart for chart in charts if chart is not None]


def compared_groups(cases: Sequence[ReportCase]) -> list[str]:
    """Return the encoder groups whose maps are compared: of those that the rule uses, the most often misread."""
    places: dict[str, tuple[bool, float]] = {}
    for case in cases:
        used = {state.concept for state in case.diagnosis.concepts[case.split] if state.used}
        for reading in case.diagnosis.readings:
            if len(reading.values) <= MOST_VALUES:
                right = float(np.trace(reading.counts[:, : len(reading.values)]) / max(1, reading.counts.sum()))
                _, lowest = places.get(reading.group, (False, 1.0))
                places[reading.group] = (used.isdisjoint(reading.concepts), min(right, lowest))
    return sorted(places, key=lambda group: places[group])[:MOST_GROUPS]


def has_group(case: ReportCase, group: str) -> bool:
    """Return whether a run says anything of an encoder group."""
    return any(reading.group == group for reading in case.diagnosis.readings)


def reading_map(title: str, case: ReportCase, group: str) -> ConfusionMap:
    """Return what a run predicts for each true value of an encoder group."""
    reading = next(reading for reading in case.diagnosis.readings if reading.group == group)
    silent = reading.counts.shape[1] > len(reading.values) and reading.counts[:, len(reading.values) :].any()
    columns = [*reading.values, *(["none"] if silent else [])]
    text = f"It {reading.text} ({100 * reading.fidelity:.0f} % of {int(reading.counts.sum()):,} predictions)."
    return ConfusionMap(title, text, reading.counts[:, : len(columns)], reading.values, columns)


def _estimate(score: Score | None) -> PlottedValue:
    return PlottedValue(score.value, score.low, score.high) if score is not None else PlottedValue(math.nan)


def _bar_chart(title: str, about: str, label: str, categories: Sequence[str], rows: Sequence[Bars]) -> BarChart | None:
    """Return a chart of bars that tells its numbers in words, of the rows and categories that have any."""
    there = [row for row in rows if not all(math.isnan(value.value) for value in row.values)]
    places = [n for n in range(len(categories)) if any(not math.isnan(row.values[n].value) for row in there)]
    if not places:
        return None
    shown = [Bars(row.name, [row.values[n] for n in places]) for row in there]
    named = [categories[n] for n in places]
    texts = [
        f"{row.name}: {', '.join(f'{c} {v.text}' for c, v in zip(named, row.values, strict=True))}" for row in shown
    ]
    return BarChart(title, f"{about} {'; '.join(texts)}.", label, named, shown)


def _concepts(runs: Runs) -> ShareMap | None:
    """Return how often each concept is right, a column for each run; of many concepts the worst."""
    told = [run for run in runs if run.case.diagnosis.readings]
    if not told:
        return None
    states = [{state.concept: state for state in run.case.diagnosis.concepts[run.case.split]} for run in told]
    lowest = {c: min((s[c].accuracy for s in states if s[c].answered), default=1.0) for c in states[0]}
    worst = sorted(lowest, key=lambda concept: lowest[concept])
    chosen = set(worst[:MOST_CONCEPTS])
    concepts = [concept for concept in states[0] if concept in chosen]
    cells = [[s[concept] if s[concept].answered else None for s in states] for concept in concepts]
    shares = np.array([[math.nan if state is None else state.accuracy for state in row] for row in cells])

    def text(row: int, column: int) -> str:
        state = cells[row][column]
        what = "" if state is None else f"{PlottedValue(state.accuracy, *state.interval).text}, {state.state}"
        return f"{told[column].name}, {concepts[row]}: {what}"

    texts = [text(row, column) for row in range(len(concepts)) for column in range(len(told)) if cells[row][column]]
    title = "Concepts that are right" if len(worst) == len(concepts) else f"The {len(concepts)} worst concepts"
    split = told[0].case.split
    return ShareMap(f"{title} ({split})", f"{'; '.join(texts)}.", shares, concepts, [run.name for run in told], text)


def _splits(runs: Runs) -> BarChart | None:
    """Return the label accuracy on each split, which shows by how much it falls on new worlds."""
    splits = list(dict.fromkeys(split for run in runs for split in run.case.diagnosis.scores))
    rows = [
        Bars(run.name, [_estimate(run.case.diagnosis.scores.get(split, {}).get("label_accuracy")) for split in splits])
        for run in runs
    ]
    return _bar_chart("Label accuracy on each split", "With 95 % intervals.", "label accuracy", splits, rows)


def _boundary(runs: Runs) -> BarChart | None:
    """Return the accuracy where the rule holds, just misses, and far from it."""
    rows = [
        Bars(run.name, [_estimate(run.case.diagnosis.scores[run.case.at_boundary].get(metric)) for metric in BOUNDARY])
        for run in runs
    ]
    about = (
        "Accuracy where the rule holds (mean over its variants), where it is missed by one concept (mean over "
        "near-boundary types), and on the rest."
    )
    title = f"At the boundary of the rule ({runs[0].case.at_boundary})"
    return _bar_chart(title, about, "label accuracy", list(BOUNDARY.values()), rows)


def _effects(runs: Runs) -> BarChart | None:
    """Return what becomes of the label when one concept of an image is changed."""
    rows = []
    for run in runs:
        effects = run.case.diagnosis.counterfactuals
        scores = [None if effects is None else getattr(effects.all, key) for key in EFFECTS]
        rows.append(Bars(run.name, [_estimate(score) for score in scores]))
    about = (
        "Pairs in which one concept of an image is changed. Sensitivity: of the labels that should change, the share "
        "predicted right before and after. Invariance: of those that should not, the share whose prediction stays."
    )
    return _bar_chart("When one concept is changed", about, "share of pairs", list(EFFECTS.values()), rows)


def _calibration(runs: Runs) -> Chart | None:
    """Return how often labels are right at each confidence."""
    lines = []
    for run in runs:
        case, name = run.case, run.name
        if case.reliability is not None:
            error = case.diagnosis.scores[case.split]["label_ece"]
            named = f"{name} (ECE {error.value:.2f})" if error.applies else name
            lines.append(replace(case.reliability, name=named))
    if not lines:
        return None
    about = (
        f"{', '.join(line.name for line in lines)}. ECE: expected calibration error. On the dotted diagonal, accuracy "
        "equals confidence."
    )
    return Chart("Calibration of the labels", about, "confidence", "how often right", lines, diagonal=True)


def _coverage(runs: Runs) -> Chart | None:
    """Return the accuracy on the examples of which each run is most confident."""
    curves = [(run.name, run.case.coverage) for run in runs if run.case.coverage is not None]
    lines = [Line(name, x.tolist(), y.tolist()) for name, (x, y) in curves]
    if not lines:
        return None
    about = "; ".join(f"{line.name}: {line.y[-1]:.2f} on all examples" for line in lines)
    across = "share of examples that are decided"
    return Chart("Accuracy where most confident", f"Risk-coverage curve. {about}.", across, "accuracy on these", lines)


def _learning(runs: Runs) -> Chart | None:
    """Return the score on the validation split after each epoch."""
    lines = [
        Line(run.name, [float(n) for n in range(1, len(run.case.history) + 1)], run.case.history)
        for run in runs
        if len(run.case.history) > 1
    ]
    if not lines:
        return None
    about = "; ".join(f"{line.name}: best {max(line.y):.2f} of {len(line.y)} epochs" for line in lines)
    return Chart("Learning curve", f"{about}.", "epoch", "score on valid", lines)
