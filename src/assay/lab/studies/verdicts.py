"""The verdicts of a study as lines: one for each task, challenge and model, over its seeds and folds."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.diagnosis import Tone, tone_of
from assay.lab.studies.study import RunStep, title_of
from assay.lab.studies.work import RECORDS, folder_of, is_finished

OOD = "ood"


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
