"""The charts of a study: metrics over seeds beside what was published, differences from the baseline, interventions."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from assay.lab.studies.published import Published, published_numbers
from assay.lab.studies.records import Record
from assay.lab.studies.study import Study, title_of
from assay.lab.studies.summary import (
    ALL,
    Comparison,
    RecordKey,
    SeedSummary,
    comparisons,
    over_tasks,
    record_key,
    summaries,
)
from assay.reporting import COLOURS, AnyChart, Chart, ChartGroup, DotChart, Dots, Line, PlottedValue

ACCURACY = "accuracy_k"
"""What the metrics of an intervention begin with; the budget follows."""
NOTE = "A dot is a run, a stroke the mean with its 95 % interval, a diamond what was published with its deviation."


def charts_of(study: Study, records: Sequence[Record]) -> list[ChartGroup]:
    """Return the charts of each task, the first split open and the others folded."""
    published = published_numbers(study)
    over_all = over_tasks(records) if any(key.task == ALL for key in published) else []
    there = {record.split for record in records}
    splits = [split for split in study.config.splits if split in there]
    several = len({(record.seed, record.fold) for record in records}) > 1
    groups: list[ChartGroup] = []
    for task, challenge in dict.fromkeys((record.task, record.challenge) for record in [*records, *over_all]):
        own = [r for r in [*records, *over_all] if (r.task, r.challenge) == (task, challenge)]
        title = title_of(task, challenge)
        for place, split in enumerate(splits if several or published else []):
            charts = seed_charts(study, [r for r in own if r.split == split], published)
            if charts:
                groups.append(ChartGroup(f"Over seeds: {split}", tuple(charts), title, NOTE, folded=place > 0))
        line = intervention_chart(own)
        if line is not None:
            groups.append(ChartGroup("Interventions", (line,), title))
    return groups


def seed_charts(study: Study, records: Sequence[Record], published: Mapping[RecordKey, Published]) -> list[AnyChart]:
    """Return for each metric of the study its values over seeds, and the differences from the baseline."""
    values: dict[RecordKey, list[float]] = defaultdict(list)
    for record in records:
        if not math.isnan(record.value):
            values[record_key(record)].append(record.value)
    means, baseline = summaries(records), study.baseline
    differences = comparisons(records, baseline)
    charts: list[AnyChart] = []
    for metric in study.config.metrics:
        keys = [key for key in values if key.metric == metric]
        if keys:
            charts.append(_over_seeds(metric, {key: values[key] for key in keys}, means, published))
        compared = [one for key, one in differences.items() if key.metric == metric and one.pairs > 1]
        if compared:
            charts.append(_differences(metric, compared, baseline))
    return charts


def _over_seeds(
    metric: str,
    values: Mapping[RecordKey, Sequence[float]],
    means: Mapping[RecordKey, SeedSummary],
    published: Mapping[RecordKey, Published],
) -> DotChart:
    rows = []
    for key, numbers in values.items():
        mean = means[key]
        other = published[key].estimate if key in published else None
        rows.append(Dots(key.model, numbers, PlottedValue(mean.mean, mean.low, mean.high), other))
    texts = [
        f"{row.name}: mean {row.mean.text if row.mean else ''} of {len(row.values)}"
        + (f", published {row.published.text}" if row.published else "")
        for row in rows
    ]
    name = metric.replace("_", " ")
    return DotChart(name, f"{'; '.join(texts)}.", name, rows)


def _differences(metric: str, compared: Sequence[Comparison], baseline: str) -> DotChart:
    rows = [Dots(one.key.model, one.differences, PlottedValue(one.difference, one.low, one.high)) for one in compared]
    texts = [f"{one.key.model}: {one.difference:+.2f} over {one.pairs} pairs, p = {one.p:.3f}" for one in compared]
    name = metric.replace("_", " ")
    about = f"Pairs of equal seeds. {'; '.join(texts)}."
    return DotChart(f"{name}: difference from {baseline}", about, "difference", rows, zero=True)


def intervention_chart(records: Sequence[Record]) -> Chart | None:
    """Return the label accuracy of each model against the number of concepts that may be intervened on."""
    points = {key: mean for key, mean in summaries(records).items() if budget_of(key.metric) is not None}
    models = list(dict.fromkeys(key.model for key in points))[: len(COLOURS)]
    if not models:
        return None
    lines = [_line(model, points) for model in models]
    return Chart(
        "Label accuracy under interventions",
        "; ".join(f"{line.name}: from {line.y[0]:.2f} to {line.y[-1]:.2f}" for line in lines),
        "concepts that may be asked about",
        "label accuracy",
        lines,
    )


def budget_of(metric: str) -> float | None:
    """Return the budget of an intervention's metric.

    >>> budget_of("accuracy_k3"), budget_of("accuracy_max"), budget_of("accuracy_k1_expert"), budget_of("label_f1")
    (3.0, None, None, None)
    """
    text = metric.removeprefix(ACCURACY) if metric.startswith(ACCURACY) else ""
    return float(text) if text.isdecimal() else None


def _line(model: str, means: Mapping[RecordKey, SeedSummary]) -> Line:
    own = [(budget_of(key.metric) or 0.0, mean) for key, mean in means.items() if key.model == model]
    points = sorted(own, key=lambda point: point[0])
    several = all(mean.runs > 1 for _, mean in points)
    return Line(
        model,
        [budget for budget, _ in points],
        [mean.mean for _, mean in points],
        [mean.low for _, mean in points] if several else None,
        [mean.high for _, mean in points] if several else None,
    )
