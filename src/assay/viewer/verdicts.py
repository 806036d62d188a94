"""The verdict on a run, in the words of `assay diagnose`: a line for lists, and all that is behind it."""

import threading
from typing import Any

from assay.diagnosis import Diagnosis, Finding, diagnose_run, headline, tone_of
from assay.metrics import Score
from assay.reporting import changed_thresholds, other_notes
from assay.runs import RunFolder
from assay.viewer.state import State

KEY_NUMBERS = ("label_f1", "concept_f1", "collapse", "rule_consistency")
OOD = "ood"
JUDGING = threading.Lock()
"""One diagnosis at a time: what a dataset's labels can teach is counted once, and kept for the next run."""


def verdict_of(state: State, key: str, run: str) -> dict[str, Any]:
    """Return the verdict on a run: the short answer, key numbers, and everything that was tested."""
    served = state.shelf[key]
    with JUDGING:
        diagnosis = diagnose_run(RunFolder(served.run(run).folder), served.dataset)
    split, concepts = next(iter(diagnosis.concepts.items()))
    return {
        **headline(diagnosis).to_dict(),
        "numbers": key_numbers(diagnosis),
        "meaning": diagnosis.meaning,
        "reasons": list(diagnosis.reasons),
        "certainty": {**diagnosis.certainty.to_dict(), "text": diagnosis.certainty.text},
        "next": diagnosis.next,
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "notes": list(other_notes(diagnosis)),
        "thresholds": list(changed_thresholds(diagnosis.thresholds)),
        "table": [row.to_dict() for row in diagnosis.table],
        "first_split": split,
        "concepts": [
            {"name": c.concept, "state": c.state, "right": c.right, "answered": c.answered, "used": c.used}
            for c in concepts
        ],
        "scores": {
            name: {metric: score.to_dict() for metric, score in scores.items() if score.applies}
            for name, scores in diagnosis.scores.items()
        },
        "errors": {name: errors.to_dict() for name, errors in diagnosis.errors.items()},
        "changes": _changes(diagnosis),
        "shortcuts": None if diagnosis.taught is None else diagnosis.taught.text,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    """Return a finding with what it means, the wrong labels that it accounts for, and what explains them as well."""
    return {
        "kind": finding.kind,
        "tone": tone_of(finding.kind),
        "meaning": finding.meaning,
        "text": finding.text,
        "details": list(finding.details),
        "split": finding.split,
        "wrong_labels": finding.wrong_labels,
        "unsettled": list(finding.unsettled),
        "next": finding.next,
    }


def key_numbers(diagnosis: Diagnosis) -> dict[str, float | None]:
    """Return the numbers of a list of runs: on the first split, and the label accuracy out of distribution."""
    first = next(iter(diagnosis.scores.values()))
    away = next((scores for split, scores in diagnosis.scores.items() if split.startswith(OOD)), {})
    return {
        **{name: _number(first.get(name)) for name in KEY_NUMBERS},
        "ood_label_accuracy": _number(away.get("label_accuracy")),
    }


def _number(score: Score | None) -> float | None:
    return round(score.value, 4) if score is not None and score.applies else None


def _changes(diagnosis: Diagnosis) -> dict[str, Any] | None:
    """Return what changes of single concepts did to the predictions, of all concepts and of each."""
    found = diagnosis.counterfactuals
    if found is None:
        return None
    every = {"all": found.all, **found.by_concept}
    return {
        "text": found.text,
        "pairs": found.pairs,
        "by_concept": [{"name": name, **effects.to_dict()} for name, effects in every.items()],
    }
