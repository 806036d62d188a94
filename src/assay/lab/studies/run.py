"""Runs a study and writes what came out: records, the report, and in it tables and charts over seeds.

What is finished is kept; failures do not stop the rest.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.base import COLOURS, Dots, PlottedValue, RunFailed
from assay.lab.steps import PLAIN, Outcome, folder_of, is_finished, title_of
from assay.lab.studies.records import Record, write_records
from assay.lab.studies.study import Study
from assay.lab.studies.summary import (
    ALL,
    Comparison,
    Published,
    RecordKey,
    SeedSummary,
    comparisons,
    over_tasks,
    published_numbers,
    record_key,
    summaries,
)
from assay.lab.workers import Say, Watch, Workers, perform_steps
from assay.reporting import Chart, ChartGroup, DotChart, Line, Table

NONE = "–"
ACCURACY = "accuracy_k"
"""What the metrics of an intervention begin with; the budget follows."""
NOTE = "A dot is a run, a stroke the mean with its 95 % interval, a diamond what was published with its deviation."


def tables_of(study: Study, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a study: means over seeds, what was published, and how models differ from the baseline."""
    published = published_numbers(study)
    over_all = any(key.task == ALL for key in published)
    summarised = summaries(records, over_all)
    tables = [_main(study, summarised, published, split) for split in _splits(study, records)]
    differences = comparisons(records, study.baseline)
    if differences and len(study.config.seeds) * max(1, study.config.folds) > 1:
        tables.append(_differences(study, differences, study.baseline))
    return [table for table in (_verdicts(study, records), *tables) if table.rows]


def _splits(study: Study, records: Sequence[Record]) -> list[str]:
    there = {record.split for record in records}
    return [split for split in study.config.splits if split in there] or sorted(there)


def _places(study: Study) -> list[tuple[str, str, str]]:
    places = dict.fromkeys((run.task, run.challenge, run.label) for run in study.runs)
    over_all = dict.fromkeys((ALL, challenge, model) for _, challenge, model in places)
    return [*places, *over_all]


def _stub(study: Study, task: str, challenge: str, model: str) -> tuple[str, ...]:
    several = any(run.challenge != PLAIN for run in study.runs)
    return (task, challenge, model) if several else (task, model)


def _head(study: Study) -> tuple[str, ...]:
    return ("task", "challenge", "model") if any(run.challenge != PLAIN for run in study.runs) else ("task", "model")


def _main(
    study: Study, means: Mapping[RecordKey, SeedSummary], published: Mapping[RecordKey, Published], split: str
) -> Table:
    metrics = study.config.metrics
    is_published = [any(key.metric == metric and key.split == split for key in published) for metric in metrics]
    head = [*_head(study)]
    for metric, beside in zip(metrics, is_published, strict=True):
        head += [metric.replace("_", " "), *(["published"] if beside else [])]
    rows = []
    for task, challenge, model in _places(study):
        cells: list[str] = []
        for metric, beside in zip(metrics, is_published, strict=True):
            key = RecordKey(task, challenge, model, split, metric)
            cells += [mean_of(means.get(key)), *([_told(published.get(key))] if beside else [])]
        if any(text != NONE for text in cells):
            rows.append((*_stub(study, task, challenge, model), *cells))
    runs = max((summary.runs for summary in means.values()), default=0)
    over = f"mean ± deviation over {runs} runs" if runs != 1 else "one run"
    caption = f"{study.name}: split {split}, {over}"
    note = "In brackets the 95 % interval of the mean (Student's t)." if runs > 1 else ""
    return Table(caption, tuple(head), tuple(rows), len(_head(study)), note)


def mean_of(summary: SeedSummary | None) -> str:
    """Return a mean with its deviation and interval as text."""
    if summary is None:
        return NONE
    if summary.runs == 1:
        return f"{summary.mean:.2f}"
    return f"{summary.mean:.2f} ± {summary.deviation:.2f} ({summary.low:.2f}–{summary.high:.2f})"


def _told(published: Published | None) -> str:
    return NONE if published is None else published.text


def _differences(study: Study, compared: Mapping[RecordKey, Comparison], baseline: str) -> Table:
    rows = []
    for key, comparison in compared.items():
        if key.metric in study.config.metrics and key.split in study.config.splits:
            stub = _stub(study, key.task, key.challenge, key.model)
            low, high = comparison.low, comparison.high
            interval = NONE if math.isnan(low) else f"{low:+.2f} to {high:+.2f}"
            numbers = (f"{comparison.difference:+.2f}", interval, f"{comparison.p:.3f}")
            rows.append((*stub, key.split, key.metric.replace("_", " "), *numbers))
    head = (*_head(study), "split", "metric", "difference", "95 % interval", "p")
    pairs = max((comparison.pairs for comparison in compared.values()), default=0)
    note = f"Exact sign-flip test on {pairs} pairs of equal seeds; p cannot be below {max(2 / 2**pairs, 1e-4):.4f}."
    return Table(f"Differences from {baseline}, seed by seed", head, tuple(rows), len(_head(study)), note)


def _verdicts(study: Study, records: Sequence[Record]) -> Table:
    by_model: dict[tuple[str, str, str], dict[str, str]] = {}
    for record in records:
        by_model.setdefault((record.task, record.challenge, record.model), {})[record.run] = record.verdict
    rows = []
    for (task, challenge, model), runs in by_model.items():
        counts = {verdict: list(runs.values()).count(verdict) for verdict in dict.fromkeys(runs.values())}
        text = ", ".join(f"{verdict} {count} of {len(runs)}" for verdict, count in counts.items())
        rows.append((*_stub(study, task, challenge, model), text))
    several = any(len(runs) > 1 for runs in by_model.values())
    head, caption = (*_head(study), "verdict"), "Verdicts over all seeds"
    return Table(caption, head, tuple(rows), len(_head(study)), open=several)


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


def seed_charts(study: Study, records: Sequence[Record], published: Mapping[RecordKey, Published]) -> list[DotChart]:
    """Return for each metric of the study its values over seeds, and the differences from the baseline."""
    values: dict[RecordKey, list[float]] = defaultdict(list)
    for record in records:
        if not math.isnan(record.value):
            values[record_key(record)].append(record.value)
    means, baseline = summaries(records), study.baseline
    differences = comparisons(records, baseline)
    charts: list[DotChart] = []
    for metric in study.config.metrics:
        keys = [key for key in values if key.metric == metric]
        if keys:
            charts.append(_over_seeds(metric, {key: values[key] for key in keys}, means, published))
        compared = [one for key, one in differences.items() if key.metric == metric and one.pairs > 1]
        if compared:
            charts.append(_difference_chart(metric, compared, baseline))
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


def _difference_chart(metric: str, compared: Sequence[Comparison], baseline: str) -> DotChart:
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


def run_study(
    study: Study,
    say: Say = lambda text: None,
    watch: Watch = lambda what, done, whole, note: None,
    workers: Workers | None = None,
) -> Path:
    """Run all of a study and return the report; failures are listed at the end and do not stop the rest.

    Parameters
    ----------
    study
        What is run.
    say
        Told a line for each step that ended.
    watch
        Told what is done, how much of how much, and that in words.
    workers
        Who carries out the steps; by default a process for each processor.
    """
    outcomes = perform_steps(study, say, watch, workers)
    return _finish(study, [outcome for outcome in outcomes if outcome.fault], watch)


def _reported_runs(study: Study) -> list[Path]:
    """Return the runs that have a section in the report: the first seed and fold of each model on each task."""
    firsts: dict[tuple[str, str, str], Path] = {}
    for step in study.runs:
        if is_finished(step, study.output):
            firsts.setdefault((step.task, step.challenge, step.label), folder_of(step, study.output))
    return list(firsts.values())


def _finish(study: Study, failed: Sequence[Outcome], watch: Watch) -> Path:
    """Write the records and the report of what is finished, and raise what failed."""
    from assay.reporting import (
        cases_of,  # not before the first run
        write_pages,
    )

    records = write_records(study.runs, study.output)
    done = [folder_of(step, study.output) for step in study.runs if is_finished(step, study.output)]
    if not done:
        first = failed[0] if failed else Outcome("", False, 0.0, "there is none to run")
        raise RunFailed(f"every run failed; the first, {first.name}: {first.fault}")
    tables, charts = tables_of(study, records), charts_of(study, records)
    cases = cases_of(
        _reported_runs(study),
        watch=lambda done, whole: watch("judging runs for the report", done, whole, None),
        thresholds=study.runs[0].judged_by.settings(),
    )
    page = write_pages(cases, study.output / "report", study.name, tables, charts, study.config.about)
    if failed:
        lost = len(study.runs) - len(done)
        raise RunFailed(f"{lost} of {len(study.runs)} runs failed ({failed[0].name}: {failed[0].fault}); report {page}")
    return page
