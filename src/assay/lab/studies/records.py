"""The results of a study as records: a row for each run, split and metric, and a row for each run. Needs no torch.

Nothing here depends on when, where or in how many attempts a run was done: the same study gives the same records. What
runs took, which does, is in a table of its own. Verdicts are lines over the seeds and folds of a model on a task.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.base import DataError, write_atomically
from assay.contracts import parquet_bytes, read_parquet
from assay.diagnosis import Tone, tone_of
from assay.lab.judged import JUDGED_BY
from assay.lab.steps import PERCEPTION, RECORDS, RunStep, folder_of, is_finished, title_of
from assay.runs import USAGE

SCORES, RUNS, USAGES = "records.parquet", "runs.parquet", "usage.parquet"
OOD = "ood"


@dataclass(frozen=True)
class Record:
    """One number, and all that it is traced by."""

    task: str
    challenge: str
    model: str
    seed: int
    fold: int
    """-1 without cross-validation."""
    split: str
    metric: str
    value: float
    low: float
    high: float
    examples: int
    verdict: str
    run: str
    data: str
    fingerprint: str
    data_seed: int
    assay: str


def write_records(steps: Sequence[RunStep], output: Path) -> list[Record]:
    """Write the records of the runs that are finished, what each run was and what it took; return the records."""
    paths = {step.name: folder_of(step, output) / RECORDS for step in steps}
    records = [record for step in steps if paths[step.name].exists() for record in _of_run(step, paths[step.name])]
    write_atomically(output / SCORES, _parquet([asdict(record) for record in records]))
    write_atomically(output / RUNS, _parquet([_run(step, output) for step in steps]))
    write_atomically(output / USAGES, _parquet([usage for step in steps if (usage := _usage(step, output))]))
    return records


def _of_run(step: RunStep, path: Path) -> list[Record]:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        scores = [(split, score) for split, scores in result["scores"].items() for score in scores]
        scores += [(number["split"], number) for number in result["numbers"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{str(path)!r} is damaged; delete it and run the study again") from None
    return [
        Record(
            task=step.task,
            challenge=step.challenge,
            model=step.label,
            seed=step.seed,
            fold=-1 if step.fold is None else step.fold,
            split=split,
            metric=score["metric"],
            **{key: _number(score.get(key)) for key in ("value", "low", "high")},
            examples=score["examples"],
            verdict=result["verdict"],
            run=step.name,
            data=step.data,
            fingerprint=result["fingerprint"],
            data_seed=result["data_seed"],
            assay=result["versions"]["assay"],
        )
        for split, score in scores
    ]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _usage(step: RunStep, output: Path) -> dict[str, Any] | None:
    """Return what a run took, if it was measured."""
    path = folder_of(step, output) / USAGE
    if not path.exists():
        return None
    what = {"run": step.name, "task": step.task, "challenge": step.challenge, "model": step.label, "seed": step.seed}
    try:
        return {**what, **json.loads(path.read_text(encoding="utf-8"))}
    except (OSError, ValueError):
        raise DataError(f"{str(path)!r} is damaged; delete it") from None


def _run(step: RunStep, output: Path) -> dict[str, Any]:
    path = folder_of(step, output) / RECORDS
    result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {
        "run": step.name,
        "task": step.task,
        "challenge": step.challenge,
        "model": step.label,
        "registered": step.model,
        "seed": step.seed,
        "fold": -1 if step.fold is None else step.fold,
        "data": step.data,
        "finished": bool(result),
        "verdict": result.get("verdict", ""),
        **_judged(result),
        "config": json.dumps(_config(step, result), sort_keys=True, default=str),
    }


def _judged(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the version of the diagnosis, its certainty, and as JSON its thresholds and the numbers that decided."""
    by, certainty = result.get(JUDGED_BY, {}), result.get("certainty", {})
    return {
        "diagnosis": by.get("diagnosis", 1),
        "certainty": _number(certainty.get("share")),
        "thresholds": json.dumps(by.get("thresholds", {}), sort_keys=True),
        "statistics": json.dumps(result.get("statistics", {}), sort_keys=True),
    }


def _config(step: RunStep, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run; the run that predicts its concepts is given by name, not by path."""
    settings = {**result.get("config", step.settings.values)}
    return {**settings, PERCEPTION: step.needs} if step.needs else settings


def _parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    return parquet_bytes(pa.Table.from_pylist(list(rows)))


def read_records(output: Path) -> list[Record]:
    """Read the records of a study's folder."""
    try:
        rows = read_parquet(output / SCORES).to_pylist()
    except (OSError, pa.ArrowException):
        raise DataError(
            f"{str(output)!r} holds no records of a study ({SCORES}); run it: assay run STUDY.yaml"
        ) from None
    try:
        return [Record(**row) for row in rows]
    except TypeError:
        raise DataError(f"{str(output / SCORES)!r} is damaged; delete it and run the study again") from None


@dataclass(frozen=True)
class VerdictLine:
    """What was found about one model on one task; numbers are means over runs, NaN where there are none."""

    task: str
    model: str
    verdict: str
    tone: Tone
    label_f1: float
    concept_f1: float
    ood: float
    """The label F1 out of distribution."""
    why: str
    run: Path
    """The first of its runs."""


def verdict_lines(runs: Sequence[RunStep], output: Path) -> list[VerdictLine]:
    """Return a line for each model on each task, from the records of the runs that are finished."""
    groups: dict[tuple[str, str], list[tuple[Path, Mapping[str, Any]]]] = {}
    for step in runs:
        if is_finished(step, output):
            folder = folder_of(step, output)
            record = json.loads((folder / RECORDS).read_text(encoding="utf-8"))
            groups.setdefault((title_of(step.task, step.challenge), step.label), []).append((folder, record))
    return [_line(task, model, found) for (task, model), found in groups.items()]


def _line(task: str, model: str, runs: Sequence[tuple[Path, Mapping[str, Any]]]) -> VerdictLine:
    headlines = [_headline(record) for _, record in runs]
    counts = Counter(line["verdict"] for line in headlines)
    most = counts.most_common(1)[0][0]
    verdict = ", ".join(f"{name} {count} of {len(runs)}" for name, count in counts.most_common())
    tone, why = next((line["tone"], line["why"]) for line in headlines if line["verdict"] == most)
    first = next(iter(runs[0][1]["scores"]))
    numbers = (_mean(runs, first, "label_f1"), _mean(runs, first, "concept_f1"), _mean(runs, OOD, "label_f1"))
    return VerdictLine(task, model, verdict if len(runs) > 1 else most, tone, *numbers, why, runs[0][0])


def _headline(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the headline of a record; those of older versions have the verdict and its sentences only."""
    old = {"verdict": record["verdict"], "tone": tone_of(record["verdict"]), "why": next(iter(record["reasons"]), "")}
    return record.get("headline", old)  # type: ignore[no-any-return]


def _mean(runs: Sequence[tuple[Path, Mapping[str, Any]]], split: str, metric: str) -> float:
    """Return the mean of a metric over runs, NaN where it applies to none."""
    values = [
        score["value"]
        for _, record in runs
        for score in record["scores"].get(split, [])
        if score["metric"] == metric and score["value"] is not None
    ]
    return sum(values) / len(values) if values else math.nan
