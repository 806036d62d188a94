"""A row from what is known of a model on a dataset: a finished run, or predictions that anyone wrote."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import VERSION, Array
from assay.contracts import Predictions
from assay.dataset import Dataset
from assay.diagnosis import Diagnosis, headline
from assay.lab.studies.judged import JUDGED_BY, JudgedBy, facts_of
from assay.lab.studies.work import RECORDS
from assay.lab.suites.rows import BoardRow
from assay.metrics import Evidence, gather_from
from assay.runs import USAGE, RunFolder
from assay.worlds import HARD

TEST, OOD = "test", "ood"
SHOWN = 100
"""How many first examples of test a row remembers the errors of, so that a board can show their pictures."""
MOST_MISREAD = 3


@dataclass(frozen=True)
class Judged:
    """Which model of which level was judged on which dataset, with which seed."""

    suite: str
    dataset: str
    model: str
    level: str
    seed: int
    run: str = ""
    link: str = ""
    scored: str = ""

    def row(self, **found: Any) -> BoardRow:
        """Return the row of what was found."""
        return BoardRow(
            *(self.suite, self.dataset, self.model, self.level, self.seed),
            run=self.run,
            link=self.link,
            scored=self.scored,
            assay=VERSION,
            **found,
        )


def row_of_run(judged: Judged, folder: Path, dataset: Dataset, sees_concepts: bool) -> BoardRow:
    """Return the row of a run that a study has scored."""
    record = json.loads((folder / RECORDS).read_text(encoding="utf-8"))
    run, usage = RunFolder(folder), folder / USAGE
    seconds = json.loads(usage.read_text(encoding="utf-8"))["seconds"] if usage.exists() else math.nan
    predictions = run.all_predictions(dataset.knowledge, dataset.sizes)[TEST]
    scores = {
        split: {score["metric"]: _number(score["value"]) for score in scores}
        for split, scores in record["scores"].items()
    }
    curve = {number["metric"]: number["value"] for number in record["numbers"]}
    line = record["headline"]
    return replace(judged, scored=hash_of_files(folder / "predictions")).row(
        status="done",
        **{key: line[key] for key in ("verdict", "tone", "why")},
        also=", ".join(record["findings"][1:]),
        **_judged(record),
        **_measures(scores, record["counterfactuals"]),
        intervention_area=area_under(curve, len(dataset.knowledge.space)),
        parameters=math.nan if run.record.parameters is None else run.record.parameters,
        **_seen(dataset, sees_concepts),
        seconds=float(seconds),
        fingerprint=dataset.fingerprint,
        **_errors(gather_from(dataset, predictions), predictions.index, dataset),
    )


def hash_of_files(folder: Path) -> str:
    """Return a hash that stands for the names and the contents of the files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode("utf-8", "surrogateescape"))
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def row_of_predictions(
    judged: Judged, diagnosis: Diagnosis, by: JudgedBy, test: Predictions, dataset: Dataset, sees_concepts: bool
) -> BoardRow:
    """Return the row of a diagnosis of predictions; what only a model could tell stays unknown."""
    line, effects = headline(diagnosis), diagnosis.counterfactuals
    scores = {split: {name: s.value for name, s in found.items()} for split, found in diagnosis.scores.items()}
    return judged.row(
        status="done",
        verdict=line.verdict,
        tone=line.tone,
        why=line.why,
        also=", ".join(diagnosis.kinds[1:]),
        **_judged(facts_of(diagnosis, by)),
        **_measures(scores, None if effects is None else effects.to_dict()),
        **_seen(dataset, sees_concepts),
        fingerprint=dataset.fingerprint,
        **_errors(gather_from(dataset, test), test.index, dataset),
    )


def _judged(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return by what a verdict was judged, how certain it is, and the numbers that decided."""
    by = facts.get(JUDGED_BY, {})
    known = {"thresholds": by.get("thresholds", {}), **facts.get("statistics", {})}
    return {
        "diagnosis": by.get("diagnosis", 1),
        "certainty": _number(facts.get("certainty", {}).get("share")),
        "statistics": json.dumps(known, ensure_ascii=False, sort_keys=True),
    }


def _measures(scores: Mapping[str, Mapping[str, float]], effects: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the measures that scores by split, and the effects of changed concepts, give."""
    test, hard = scores[TEST], scores.get(HARD, scores[TEST])
    same = ("label_f1", "concept_f1", "collapse", "rule_consistency", "label_ece", "concept_ece")
    shifted = [found["label_f1"] for split, found in scores.items() if split.startswith(OOD)]
    known = [value for value in shifted if not math.isnan(value)]
    return {
        **{name: test[name] for name in same},
        "boundary": hard["near_accuracy"],
        "follows": math.nan if effects is None else _number(effects["all"]["follows"]["value"]),
        "ood": float(np.mean(known)) if known else math.nan,
    }


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def area_under(curve: Mapping[str, float], concepts: int) -> float:
    """Return the area under label accuracy over the share of concepts intervened on; NaN without a curve.

    >>> area_under({"accuracy_k0": 0.5, "accuracy_k1": 0.75, "accuracy_max": 1.0}, 2)
    0.75
    """
    points = {int(name.removeprefix("accuracy_k")): v for name, v in curve.items() if name.startswith("accuracy_k")}
    if "accuracy_max" not in curve or 0 not in points:
        return math.nan
    points[concepts] = curve["accuracy_max"]
    asked = sorted(points)
    return float(np.trapezoid([points[k] for k in asked], [k / concepts for k in asked]))


def _seen(dataset: Dataset, sees_concepts: bool) -> dict[str, float]:
    """Return how many examples, and how many annotated concepts of them, a model learned from."""
    train = dataset.read("train")
    annotated = int((train.given_concepts >= 0).sum()) if sees_concepts else 0
    return {"examples": float(len(train)), "concept_labels": float(annotated)}


def _errors(evidence: Evidence, index: Array, dataset: Dataset) -> dict[str, str]:
    """Return what went wrong with the first examples of test, by their number: wrong labels, and misread concepts."""
    labels, concepts = dataset.knowledge.labels, dataset.knowledge.space.concepts
    wrong, misread = {}, {}
    for row in np.flatnonzero(index < SHOWN)[np.argsort(index[index < SHOWN])]:
        true, said = evidence.labels[row], evidence.predicted_labels[row]
        if (true != said).any():
            wrong[int(index[row])] = ", ".join(_value(labels[i].values, said[i]) for i in range(len(labels)))
            continue
        pairs = zip(concepts, evidence.concepts[row], evidence.predicted_concepts[row], strict=True)
        read = [f"{c.name} {c.values[is_]}→{c.values[as_]}" for c, is_, as_ in pairs if is_ >= 0 <= as_ != is_]
        if read:
            more = f" and {len(read) - MOST_MISREAD} more" if len(read) > MOST_MISREAD else ""
            misread[int(index[row])] = ", ".join(read[:MOST_MISREAD]) + more
    return {"wrong": json.dumps(wrong), "misread": json.dumps(misread, ensure_ascii=False)}


def _value(values: Sequence[Any], code: int) -> str:
    return str(values[code]) if code >= 0 else "none"
