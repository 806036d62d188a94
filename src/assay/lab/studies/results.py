"""The tables of a study: a row for each task, challenge and model, our numbers beside the published ones."""

import math
from collections.abc import Mapping, Sequence

from assay.lab.studies.published import Published, published_numbers
from assay.lab.studies.records import Record
from assay.lab.studies.study import PLAIN, Study
from assay.lab.studies.summary import ALL, Comparison, RecordKey, SeedSummary, comparisons, over_tasks, summaries
from assay.reporting import Table

NONE = "–"


def tables_of(study: Study, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a study: means over seeds, what was published, and how models differ from the baseline."""
    published = published_numbers(study)
    over_all = any(key.task == ALL for key in published)
    summarised = summaries([*records, *over_tasks(records)] if over_all else records)
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
