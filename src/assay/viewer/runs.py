"""A run: what was trained and how it learned, its units, its verdict, and its intervention curve.

The verdict has the words of `assay diagnose`. Under interventions a model that can be asked answers with its own label
head; of a predictions file the rule takes the head's place, as in `assay intervene`.
"""

import json
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.base import Array, ConfigError, DataError, find_rows
from assay.diagnosis import (
    POLICIES,
    Budget,
    Diagnosis,
    Finding,
    Trial,
    Truth,
    Units,
    answers_from,
    budgets_from,
    diagnose_run,
    headline,
    policy_of,
    tone_of,
)
from assay.metrics import Score
from assay.runs import RunFolder, units_of
from assay.viewer.folders import ServedDataset, ServedRun, inside
from assay.viewer.state import State

HISTORY = "history.json"
EPOCH = ("number", "phase", "loss", "score", "best")
ABOUT = ("config", "parameters", "device", "machine", "versions", "pairs", "probe", "discovery")
KEY_NUMBERS = ("label_f1", "concept_f1", "collapse", "rule_consistency")
OOD = "ood"
JUDGING = threading.Lock()
"""One diagnosis at a time: what a dataset's labels can teach is counted once, and kept for the next run."""
POLICY_NAMES = ("uncertainty", "random", "fixed")
"""The policies that are quick on any number of concepts."""
MOST_ROWS = 400
MOST_BUDGETS = 16
SHOWN = ("budget", "accuracy", "all_right", "concept_accuracy", "asked", "edited", "changed")


def run_facts(served: ServedDataset) -> list[dict[str, Any]]:
    """Return the runs of a dataset: keys, names, and the splits that they have predictions for."""
    short, order = served.short_names(), [split.name for split in served.splits]
    return [
        {
            "key": run.key,
            "name": run.name,
            "title": run.title,
            "short": short[run.key],
            "model": run.model,
            "seed": run.seed,
            "splits": [split for split in order if split in run.answers],
            "live": run.live,
        }
        for run in served.runs.values()
    ]


def run_page(state: State, key: str, run: str, pictures: Mapping[str, Array] | None = None) -> dict[str, Any]:
    """Return what is known of a run without judging it: its settings, its learning curve, and discovered units.

    `pictures` are the rows of each split whose pictures can be shown; by default all.
    """
    served = state.shelf[key].run(run)
    about = RunFolder(served.folder).metadata() if served.live else {}
    known = {name: about[name] for name in ABOUT if name in about}
    return {"about": known, "epochs": epochs_of(served), "units": units_page(state, key, run, pictures)}


def epochs_of(run: ServedRun) -> list[dict[str, Any]]:
    """Return the epochs of a run's training: loss, validation score, and whether it was the best so far."""
    path = run.folder / HISTORY
    if not run.live or not path.is_file():
        return []
    try:
        epochs = json.loads(inside(run.folder, HISTORY).read_text(encoding="utf-8"))["epochs"]
        return [{name: epoch.get(name) for name in EPOCH} for epoch in epochs]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{HISTORY} of {run.name!r} cannot be read") from None


def units_page(state: State, key: str, run: str, pictures: Mapping[str, Array] | None = None) -> dict[str, Any] | None:
    """Return the units of a run, None for a run that has none; `pictures` are the rows that can be shown, by split."""
    served = state.shelf[key].run(run)
    content = units_of(served.folder) if served.live else None
    if content is None or content["split"] not in [split.name for split in state.shelf[key].splits]:
        return None
    shown = None if pictures is None else set(pictures[content["split"]].tolist())
    index = state.table(key, content["split"]).index
    units = []
    for unit in content["units"]:
        rows = find_rows(np.array(unit["rows"], dtype=np.int64), index).tolist()
        kept = [place for place, row in enumerate(rows) if row >= 0 and (shown is None or row in shown)]
        has = [unit["has"][place] for place in kept]
        units.append({**unit, "rows": [rows[place] for place in kept], "has": has})
    return {"split": content["split"], "units": units}


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
        "notes": list(diagnosis.other_notes),
        "thresholds": list(diagnosis.thresholds.texts),
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


def intervention_curve(state: State, key: str, split: str, run: str, policy: str = "uncertainty") -> dict[str, Any]:
    """Return label and concept accuracy for every number of concepts that are corrected by the ground truth."""
    if policy not in POLICY_NAMES:
        raise ConfigError(f"no policy {policy!r} here; there is: {', '.join(POLICY_NAMES)}")
    served, dataset = state.shelf[key].run(run), state.shelf[key].dataset
    if state.models is None:
        raise ConfigError("this viewer was started without a way to ask models")
    asked = dataset[split]
    if served.live:
        rows = np.unique(np.linspace(0, len(asked) - 1, min(MOST_ROWS, len(asked))).astype(int))
        asked = asked.take(rows).with_known_concepts("an intervention")
    model = state.models.answering(served.folder, dataset, split)(asked)
    if policy == "uncertainty" and not model.soft:
        policy = "random"
    units = Units.of(dataset.knowledge.space)
    trial = Trial(model, units, answers_from("perfect", asked, model), Truth(asked.concepts, asked.labels))
    curve = trial.run(policy_of(policy, None, [], None, units), _budgets(units))
    return {
        "split": split,
        "policy": policy,
        "policies": [{"name": name, "text": (POLICIES[name].__doc__ or "").split("\n")[0]} for name in POLICY_NAMES],
        "by": "its own label head" if served.live else "the rule, in place of a label head that a file does not have",
        "examples": len(asked),
        "concepts": len(units),
        "points": [{name: point.to_dict()[name] for name in SHOWN} for point in curve.points],
    }


def _budgets(units: Units) -> list[Budget]:
    """Return every number of concepts, or where there are many some of them, more at the start."""
    count = len(units)
    if count < MOST_BUDGETS:
        return budgets_from(f"0-{count}", units)
    numbers = np.unique(np.round(np.geomspace(1, count, MOST_BUDGETS - 1)).astype(int))
    return budgets_from(",".join(["0", *(str(number) for number in numbers)]), units)
