"""The verdict: sound, shortcut, opaque, inconsistent or underfit, with its reasons in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from assay.arrays import Codes
from assay.diagnosis.boundary import RegionScore, boundary_finding, region_scores
from assay.diagnosis.counterfactual import Counterfactuals
from assay.diagnosis.reading import Reading, enumerated, fitted_readings, label_agreement
from assay.diagnosis.violations import Violations, violations_of
from assay.metrics.evidence import Evidence
from assay.metrics.score import Score, score
from assay.worlds.split import HARD

Verdict = Literal["sound", "shortcut", "opaque", "inconsistent", "underfit"]

MEANINGS: dict[Verdict, str] = {
    "sound": "The labels are right, and they follow from concepts that are right.",
    "shortcut": "The labels are right and follow from the predicted concepts, but those concepts are wrong.",
    "opaque": "The labels are right, but the model says nothing of the concepts, or not of all.",
    "inconsistent": "The labels are right, but on some split they do not follow from the predicted concepts.",
    "underfit": "The labels are not learned, so that concepts and rule cannot be judged.",
}


@dataclass(frozen=True)
class Thresholds:
    """From where on a number counts as good."""

    label_accuracy: float = 0.8
    above_majority: float = 0.05
    concept_f1: float = 0.9
    rule_consistency: float = 0.9


@dataclass(frozen=True)
class Diagnosis:
    """What was found about a model on a dataset."""

    verdict: Verdict
    reasons: tuple[str, ...]
    scores: Mapping[str, Mapping[str, Score]]
    readings: tuple[Reading, ...]
    agreement: float | None
    """The share of training worlds whose labels stay right under the fitted reading."""
    about: Mapping[str, Any] = field(default_factory=dict)
    regions: Mapping[str, tuple[RegionScore, ...]] = field(default_factory=dict)
    """For each split, the accuracy on each variant and near-boundary type of each label, and far from the boundary."""
    counterfactuals: Counterfactuals | None = None
    violations: Mapping[str, Violations] = field(default_factory=dict)
    """For each split, which constraints the predicted concepts break, where the rule has any."""

    @property
    def text(self) -> str:
        """The verdict and its reasons in a few sentences."""
        return " ".join((f"Verdict: {self.verdict}.", MEANINGS[self.verdict], *self.reasons))

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data."""
        return {
            "verdict": self.verdict,
            "meaning": MEANINGS[self.verdict],
            "reasons": list(self.reasons),
            "scores": {s: {n: x.to_dict() for n, x in scores.items()} for s, scores in self.scores.items()},
            "readings": [reading.to_dict() for reading in self.readings],
            "training_labels_kept_by_reading": self.agreement,
            "regions": {split: [score.to_dict() for score in found] for split, found in self.regions.items()},
            "counterfactuals": None if self.counterfactuals is None else self.counterfactuals.to_dict(),
            "violations": {split: found.to_dict() for split, found in self.violations.items()},
            "about": dict(self.about),
        }


def diagnose(
    evidence: Mapping[str, Evidence],
    training: Codes | None = None,
    about: Mapping[str, Any] | None = None,
    thresholds: Thresholds | None = None,
    effects: Counterfactuals | None = None,
) -> Diagnosis:
    """Judge a model by its evidence on one or more splits.

    Whether the labels are learned is judged on the first; a model is sound only if on every split its concepts are
    right and its labels follow from them.

    `training` holds the concept codes that training showed, to tell whether a wrong reading could have been noticed;
    `effects` what changes of single concepts did to the model.
    """
    limits = thresholds or Thresholds()
    scores = {name: score(held) for name, held in evidence.items()}
    name, first = next(iter(evidence.items()))
    readings = fitted_readings(first)
    spoken = len(first.answered) == first.concepts.shape[1]
    agreement = None
    if training is not None and readings and spoken:
        agreement = label_agreement(np.unique(training, axis=0), readings, first.knowledge)
    verdict = _verdict(first, scores, limits)
    reasons = [*_reasons(verdict, first, scores[name], limits), *_reading_reasons(verdict, readings, agreement)]
    reasons += _other_splits(scores, name)
    regions = {split: region_scores(held) for split, held in evidence.items()}
    at_boundary = HARD if HARD in regions else name
    found = boundary_finding(regions[at_boundary], at_boundary)
    broken = {split: kept for split, held in evidence.items() if (kept := violations_of(held)) is not None}
    said = broken[name].text if name in broken else None
    reasons += [text for text in (said, found, effects.text if effects else None) if text]
    return Diagnosis(verdict, tuple(reasons), scores, readings, agreement, about or {}, regions, effects, broken)


def majority_rate(evidence: Evidence) -> float:
    """Return how often the most frequent value of each label is right."""
    columns = range(evidence.labels.shape[1])
    return float(np.mean([np.bincount(evidence.labels[:, i]).max() / len(evidence) for i in columns]))


def _verdict(evidence: Evidence, scores: Mapping[str, Mapping[str, Score]], limits: Thresholds) -> Verdict:
    accuracy = next(iter(scores.values()))["label_accuracy"].value
    if accuracy < max(limits.label_accuracy, min(1.0, majority_rate(evidence) + limits.above_majority)):
        return "underfit"
    if len(evidence.answered) < evidence.concepts.shape[1]:
        return "opaque"
    if _least(scores, "rule_consistency") < limits.rule_consistency:
        return "inconsistent"
    return "sound" if _least(scores, "concept_f1") >= limits.concept_f1 else "shortcut"


def _least(scores: Mapping[str, Mapping[str, Score]], metric: str) -> float:
    """Return the lowest score over splits, 1 where the metric never applies."""
    return min((found[metric].value for found in scores.values() if found[metric].applies), default=1.0)


def _reasons(verdict: Verdict, evidence: Evidence, scores: Mapping[str, Score], limits: Thresholds) -> list[str]:
    accuracy, f1 = scores["label_accuracy"], scores["label_f1"]
    reasons = [f"On {evidence.split}, label F1 is {_shown(f1)} and label accuracy {_shown(accuracy)}."]
    if verdict == "underfit":
        return [*reasons, f"Always saying the most frequent label gives {majority_rate(evidence):.2f}."]
    if verdict == "opaque":
        if evidence.has_concepts:
            reasons.append(f"It speaks of {len(evidence.answered)} of {evidence.concepts.shape[1]} concepts.")
        return [*reasons, "Probe it, or train a model with concepts, to learn what it looks at."]
    concepts, collapsed = scores["concept_f1"], scores["collapse"]
    reasons.append(f"Concept F1 is {_shown(concepts)}, concept collapse {collapsed.value:.2f}.")
    consistency = scores["rule_consistency"]
    if consistency.applies:
        reasons.append(f"The label follows from the predicted concepts in {100 * consistency.value:.0f} % of examples.")
    return reasons


def _shown(found: Score) -> str:
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _reading_reasons(verdict: Verdict, readings: tuple[Reading, ...], agreement: float | None) -> list[str]:
    if verdict not in ("shortcut", "inconsistent"):
        return []
    wrong = [reading for reading in readings if not reading.is_identity]
    reasons = [f"It {reading.text} ({100 * reading.fidelity:.0f} % of its answers)." for reading in wrong[:4]]
    if agreement is not None and wrong and verdict == "shortcut":
        if agreement == 1:
            reasons.append("This reading gives the right labels for every training world, so training could not tell.")
        else:
            reasons.append(f"This reading gives the right labels for {100 * agreement:.0f} % of the training worlds.")
    return reasons


def _other_splits(scores: Mapping[str, Mapping[str, Score]], first: str) -> list[str]:
    """Say where another split differs: new combinations show what training could not."""
    base, reasons = scores[first], []
    for name, found in scores.items():
        if name != first:
            changes = [_change("label accuracy", base["label_accuracy"], found["label_accuracy"])]
            changes.append(_change("concept F1", base["concept_f1"], found["concept_f1"]))
            follows = found["rule_consistency"]
            if follows.applies and any(changes):
                changes.append(f"the label follows from the concepts in {100 * follows.value:.0f} %")
            said = [change for change in changes if change]
            reasons += [f"On {name}, {enumerated(said)}."] if said else []
    return reasons


def _change(what: str, before: Score, after: Score) -> str:
    if not (before.applies and after.applies) or abs(after.value - before.value) < 0.05:
        return ""
    return f"{what} {'falls' if after.value < before.value else 'rises'} from {before.value:.2f} to {after.value:.2f}"
