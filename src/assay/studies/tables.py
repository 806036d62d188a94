"""The tables of a study: for each task and challenge a row a model, our numbers beside the published ones."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import ConfigError
from assay.report.table import Table
from assay.studies.records import Record
from assay.studies.study import PLAIN, Study
from assay.studies.summary import ALL, Comparison, Place, Summary, comparisons, over_tasks, place_of, summaries

NONE = "–"
PUBLISHED = ("task", "model", "metric", "split", "challenge", "value", "deviation", "source")


def tables_of(study: Study, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a study: means over seeds, what was published, and how models differ from the baseline."""
    published = _published(study)
    over_all = any(place.task == ALL for place in published)
    found = summaries([*records, *over_tasks(records)] if over_all else records)
    made = [_main(study, found, published, split) for split in _splits(study, records)]
    baseline = study.config.baseline or (study.runs[0].label if study.runs else "")
    differences = comparisons(records, baseline)
    if differences and len(study.config.seeds) * max(1, study.config.folds) > 1:
        made.append(_differences(study, differences, baseline))
    verdicts = _verdicts(study, records)
    return [table for table in (verdicts, *made) if table.rows]


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


def _main(study: Study, found: Mapping[Place, Summary], published: Mapping[Place, str], split: str) -> Table:
    metrics = study.config.metrics
    told = [any(place.metric == metric and place.split == split for place in published) for metric in metrics]
    head = [*_head(study)]
    for metric, beside in zip(metrics, told, strict=True):
        head += [metric.replace("_", " "), *(["published"] if beside else [])]
    rows = []
    for task, challenge, model in _places(study):
        cells: list[str] = []
        for metric, beside in zip(metrics, told, strict=True):
            place = Place(task, challenge, model, split, metric)
            cells += [mean_of(found.get(place)), *([published.get(place, NONE)] if beside else [])]
        if any(text != NONE for text in cells):
            rows.append((*_stub(study, task, challenge, model), *cells))
    runs = max((summary.runs for summary in found.values()), default=0)
    over = f"mean ± deviation over {runs} runs" if runs != 1 else "one run"
    caption = f"{study.name}: split {split}, {over}"
    note = "In brackets the 95 % interval of the mean (Student's t)." if runs > 1 else ""
    return Table(caption, tuple(head), tuple(rows), len(_head(study)), note)


def mean_of(summary: Summary | None) -> str:
    """Return a mean with its deviation and interval as text."""
    if summary is None:
        return NONE
    if summary.runs == 1:
        return f"{summary.mean:.2f}"
    return f"{summary.mean:.2f} ± {summary.deviation:.2f} ({summary.low:.2f}–{summary.high:.2f})"


def _differences(study: Study, found: Mapping[Place, Comparison], baseline: str) -> Table:
    rows = []
    for place, one in found.items():
        if place.metric in study.config.metrics and place.split in study.config.splits:
            stub = _stub(study, place.task, place.challenge, place.model)
            interval = NONE if math.isnan(one.low) else f"{one.low:+.2f} to {one.high:+.2f}"
            metric = place.metric.replace("_", " ")
            rows.append((*stub, place.split, metric, f"{one.difference:+.2f}", interval, f"{one.p:.3f}"))
    head = (*_head(study), "split", "metric", "difference", "95 % interval", "p")
    pairs = max((one.pairs for one in found.values()), default=0)
    note = f"Exact sign-flip test on {pairs} pairs of equal seeds; p cannot be below {max(2 / 2**pairs, 1e-4):.4f}."
    return Table(f"Differences from {baseline}, seed by seed", head, tuple(rows), len(_head(study)), note)


def _verdicts(study: Study, records: Sequence[Record]) -> Table:
    held: dict[tuple[str, str, str], dict[str, str]] = {}
    for record in records:
        place = place_of(record)
        held.setdefault((place.task, place.challenge, place.model), {})[record.run] = record.verdict
    rows = []
    for (task, challenge, model), runs in held.items():
        counts = {verdict: list(runs.values()).count(verdict) for verdict in dict.fromkeys(runs.values())}
        told = ", ".join(f"{verdict} {count} of {len(runs)}" for verdict, count in counts.items())
        rows.append((*_stub(study, task, challenge, model), told))
    return Table("Verdicts", (*_head(study), "verdict"), tuple(rows), len(_head(study)))


def _published(study: Study) -> dict[Place, str]:
    """Return the published numbers as texts, by what they are about."""
    made = {}
    for entry in study.config.published:
        strangers = entry.keys() - set(PUBLISHED)
        if strangers or not {"task", "model", "metric", "value"} <= entry.keys():
            raise ConfigError(f"published: expected task, model, metric and value, not {dict(entry)!r}")
        place = Place(
            *(str(entry["task"]), str(entry.get("challenge", PLAIN)), str(entry["model"])),
            *(str(entry.get("split", "test")), str(entry["metric"])),
        )
        made[place] = _told(entry)
    return made


def _told(entry: Mapping[str, Any]) -> str:
    deviation = f" ± {entry['deviation']:.2f}" if "deviation" in entry else ""
    source = f" [{entry['source']}]" if "source" in entry else ""
    return f"{entry['value']:.2f}{deviation}{source}"
