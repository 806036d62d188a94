"""The verdict: what was found about a model, the gravest finding first, with its reasons in words.

Each concept and each label is judged on each split by intervals (`concepts`, `labels`); findings follow from these
(`findings`); the verdict is the kind of the gravest. A model is *sound* only if nothing contradicts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.arrays import Array, Codes
from assay.diagnosis import findings as find
from assay.diagnosis.boundary import RegionScore, region_scores
from assay.diagnosis.comparisons import boundary, memorised, rises
from assay.diagnosis.concepts import ConceptState, judge_concepts, used_concepts
from assay.diagnosis.counterfactual import Counterfactuals
from assay.diagnosis.findings import MEANINGS, RANK, Finding, Kind
from assay.diagnosis.identifiability import Identifiability
from assay.diagnosis.labels import LabelState, judge_labels, worst
from assay.diagnosis.reading import Reading, fitted_readings
from assay.diagnosis.soft_leakage import LEAST, soft_leaks
from assay.diagnosis.views import Errors, SplitView
from assay.diagnosis.violations import Violations, violations_of
from assay.diagnosis.wording import enumerated, shortened
from assay.metrics.evidence import Evidence
from assay.metrics.score import FEWEST, Score, score
from assay.worlds.split import HARD

LEVEL = 0.01
"""The chance that a diagnosis tells of some fault of a concept or label that is not there."""
FEWEST_SEEN = 50
"""How many examples of worlds that training showed a comparison with new worlds needs: fewer are special ones."""
FOLLOWS = 0.9
"""The share of single changes that the labels of a sound model follow."""
OVERCONFIDENT = 0.05
"""The calibration error from which on it is told."""


@dataclass(frozen=True)
class Diagnosis:
    """What was found about a model on a dataset."""

    findings: tuple[Finding, ...]
    """The gravest first; at least one."""
    scores: Mapping[str, Mapping[str, Score]]
    concepts: Mapping[str, tuple[ConceptState, ...]]
    """For each split, how each concept is read."""
    labels: Mapping[str, tuple[LabelState, ...]]
    """For each split, how right each label is."""
    errors: Mapping[str, Errors]
    """For each split, the wrong labels by cause."""
    readings: tuple[Reading, ...]
    """For each encoder group, what is said for each true value on the first split."""
    agreement: float | None
    """The share of training worlds whose labels stay right under the misreadings that were found."""
    notes: tuple[str, ...] = ()
    """What else is to be said: warnings, other splits, calibration, constraints, changes of single concepts."""
    about: Mapping[str, Any] = field(default_factory=dict)
    regions: Mapping[str, tuple[RegionScore, ...]] = field(default_factory=dict)
    """For each split, the accuracy on each variant and near-boundary type of each label, and far from the boundary."""
    counterfactuals: Counterfactuals | None = None
    violations: Mapping[str, Violations] = field(default_factory=dict)
    """For each split, which constraints the predicted concepts break, where the rule has any."""
    taught: Identifiability | None = None
    """Which readings of the concepts the training labels allow."""

    @property
    def verdict(self) -> Kind:
        """The kind of the gravest finding."""
        return self.findings[0].kind

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of all findings, the gravest first."""
        return tuple(dict.fromkeys(finding.kind for finding in self.findings))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The sentences behind the verdict: the findings, then the notes."""
        first, *others = self.findings
        told = [first.text, *(f"Also {other.kind}: {other.text}" for other in others)]
        return tuple(text for text in (*told, *self.notes) if text)

    @property
    def text(self) -> str:
        """The verdict and its reasons in a few sentences."""
        return " ".join((f"Verdict: {self.verdict}.", MEANINGS[self.verdict], *self.reasons))

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data."""
        return {
            "verdict": self.verdict,
            "meaning": MEANINGS[self.verdict],
            "findings": [finding.to_dict() for finding in self.findings],
            "reasons": list(self.reasons),
            "scores": {s: {n: x.to_dict() for n, x in scores.items()} for s, scores in self.scores.items()},
            "concepts": {split: [state.to_dict() for state in states] for split, states in self.concepts.items()},
            "labels": {split: [state.to_dict() for state in states] for split, states in self.labels.items()},
            "errors": {split: errors.to_dict() for split, errors in self.errors.items()},
            "readings": [reading.to_dict() for reading in self.readings],
            "training_labels_kept_by_reading": self.agreement,
            "regions": {split: [score.to_dict() for score in found] for split, found in self.regions.items()},
            "counterfactuals": None if self.counterfactuals is None else self.counterfactuals.to_dict(),
            "violations": {split: found.to_dict() for split, found in self.violations.items()},
            "identifiability": None if self.taught is None else self.taught.to_dict(),
            "about": dict(self.about),
        }


def diagnose(
    evidence: Mapping[str, Evidence],
    training: Codes | None = None,
    about: Mapping[str, Any] | None = None,
    effects: Counterfactuals | None = None,
    taught: Identifiability | None = None,
    level: float = LEVEL,
) -> Diagnosis:
    """Judge a model by its evidence on one or more splits.

    `training` holds the concept codes that training showed, to tell whether a misreading could have been noticed and
    which worlds are new; `effects` what changes of single concepts did to the model; `taught` which readings the
    training labels allow; `level` is the chance of telling of a fault of some concept or label that is not there.
    """
    first = next(iter(evidence.values()))
    used = used_concepts(first.knowledge)
    each = level / len(evidence)
    views = {
        name: SplitView(name, held, judge_concepts(held, used, each), judge_labels(held, each), used, each)
        for name, held in evidence.items()
    }
    scores = {name: score(held) for name, held in evidence.items()}
    found, agreement = _findings(views, training, effects)
    broken = {split: kept for split, held in evidence.items() if (kept := violations_of(held)) is not None}
    return Diagnosis(
        findings=found,
        scores=scores,
        concepts={name: view.concepts for name, view in views.items()},
        labels={name: view.labels for name, view in views.items()},
        errors={name: view.errors for name, view in views.items()},
        readings=fitted_readings(first),
        agreement=agreement,
        notes=tuple(_notes(views, scores, found, broken, effects, taught)),
        about=about or {},
        regions={split: region_scores(held) for split, held in evidence.items()},
        counterfactuals=effects,
        violations=broken,
        taught=taught,
    )


def _findings(
    views: Mapping[str, SplitView], training: Codes | None, effects: Counterfactuals | None
) -> tuple[tuple[Finding, ...], float | None]:
    """Return what is found on any split, the gravest first, each kind told where it is found first."""
    new = {name: new_worlds(view.evidence, training) for name, view in views.items()}
    shortcuts = {name: find.shortcut(view, training) for name, view in views.items()}
    agreement = next((kept for _, kept in shortcuts.values() if kept is not None), None)
    kept = frozenset(name for shortcut, _ in shortcuts.values() if shortcut for name in shortcut.concepts)
    found: list[Finding] = []
    for name, view in views.items():
        rule = find.wrong_rule(view)
        named = rule is not None and {label.label for label in view.labels if label.standing == "wrong"} <= set(
            rule.labels
        )
        found += [
            finding
            for finding in (
                shortcuts[name][0],
                rule,
                find.underfit(view, named) if name == next(iter(views)) else None,
                find.noisy(view, kept),
                find.unidentified(view),
                find.inconsistent(view),
                find.bypassing(view) or _soft_leak(view),
                find.opaque(view),
                boundary(view),
            )
            if finding is not None
        ]
    found += [finding for finding in (_memorised(views, new), _unmoved(effects)) if finding is not None]
    found = found or _undecided(views)
    return tuple(_merged(found or [_sound(views)])), agreement


def _merged(found: Sequence[Finding]) -> list[Finding]:
    """Return one finding of each kind, that of the first split, with the names of the others that show it too."""
    made = []
    for kind in RANK:
        same = [finding for finding in found if finding.kind == kind]
        if same:
            others = [finding.split for finding in same[1:]]
            also = f" So it is on {enumerated(others)}." if others else ""
            first = same[0]
            made.append(Finding(kind, first.split, first.text + also, first.concepts, first.labels, first.numbers))
    return made


def new_worlds(evidence: Evidence, training: Codes | None) -> Array | None:
    """Return which examples have a world that training did not show; None if that is not known."""
    if training is None or not len(training):
        return None
    both = np.concatenate([training, evidence.concepts])
    numbers = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    return ~np.isin(numbers[len(training) :], numbers[: len(training)])


def _memorised(views: Mapping[str, SplitView], new: Mapping[str, Array | None]) -> Finding | None:
    """Compare worlds that training showed with new ones, or where it showed hardly any the first split with others."""
    easy = {name: view for name, view in views.items() if name != HARD}
    masks = [new[name] for name in easy]
    known = [mask for mask in masks if mask is not None]
    if len(known) == len(masks) and known and int((~np.concatenate(known)).sum()) >= FEWEST_SEEN:
        found = memorised(easy, new, "whose world training showed", "of other worlds")
        if found is not None:
            return found
    for other in list(easy)[1:]:
        first = next(iter(easy))
        pair = {first: easy[first], other: easy[other]}
        sides = {name: np.full(len(view.right), name == other) for name, view in pair.items()}
        found = memorised(pair, sides, f"of {first}", f"of {other}")
        if found is not None:
            return found
    return None


def _unmoved(effects: Counterfactuals | None) -> Finding | None:
    """Find a model whose labels do not follow where the change of one concept should move them, or move where not."""
    if effects is None:
        return None
    clearly = [part for part in (effects.all.follows, effects.all.stays) if part.applies and part.high < FOLLOWS]
    if not clearly:
        return None
    numbers = {part.metric: part.value for part in clearly}
    return Finding("boundary", effects.split, effects.text, numbers=numbers)


def _soft_leak(view: SplitView) -> Finding | None:
    """Find concepts whose probabilities tell the label beyond their value."""
    judged = {c.concept for c in view.concepts if c.state in ("right", "noisy", "too few")}
    leaks = soft_leaks(view.evidence)
    strong = [x for x in leaks if x.concept in judged and x.strength >= LEAST and x.chance * len(leaks) <= view.level]
    if not strong:
        return None
    strong.sort(key=lambda leak: -leak.strength)
    named = [f"{leak.concept} of {leak.label} ({100 * leak.strength:.0f} %)" for leak in strong]
    text = (
        f"On {view.name}, probabilities of concepts tell labels beyond the concept's value (share of their ranks that "
        f"the label explains where the concept is right): {shortened(named)}."
    )
    concepts, labels = (tuple(dict.fromkeys(getattr(x, key) for x in strong)) for key in ("concept", "label"))
    return Finding("leaking", view.name, text, concepts, labels, {"strength": strong[0].strength})


def _undecided(views: Mapping[str, SplitView]) -> list[Finding]:
    """Return what the first split does not tell; another split that does not tell is no reason against a model."""
    first = next(iter(views.values()))
    found = find.too_few(first)
    return [] if found is None else [found]


def _sound(views: Mapping[str, SplitView]) -> Finding:
    first = next(iter(views.values()))
    accuracies = [c.interval[0] for c in first.concepts if c.used]
    rows, follow = int(first.complete.sum()), int((first.complete & first.follows).sum())
    text = (
        f"On {first.name}, each of the {len(accuracies)} concepts that the rule uses is right in at least "
        f"{100 * min(accuracies):.0f} % (lower ends of 95 % intervals, {len(first.evidence):,} examples), and the "
        f"labels follow from the predicted concepts in {follow:,} of {rows:,}."
    )
    return Finding("sound", first.name, text)


def _notes(
    views: Mapping[str, SplitView],
    scores: Mapping[str, Mapping[str, Score]],
    found: Sequence[Finding],
    broken: Mapping[str, Violations],
    effects: Counterfactuals | None,
    taught: Identifiability | None,
) -> list[str]:
    """Return what else is to be said."""
    first, view = next(iter(views.items()))
    notes = [find.labels_standing(view), view.errors.text]
    if taught is not None and any(
        finding.kind in ("shortcut", "unidentified", "noisy", "underfit") for finding in found
    ):
        notes.append(taught.text)
    notes += [_change(view, other) for name, other in views.items() if name != first]
    notes += [_calibration(name, scores[name], views[name].evidence) for name in views]
    few = [f"{name} ({len(v.evidence):,})" for name, v in views.items() if len(v.evidence) < FEWEST]
    if few:
        notes.append(f"Fewer than {FEWEST} examples: {enumerated(few)}; what is told of them is uncertain.")
    if any(finding.kind == "sound" for finding in found):
        rest = [name for name, v in views.items() if name != first and worst(v.labels) == "undecided"]
        notes += [f"Whether labels are right on {enumerated(rest)} cannot be told yet."] if rest else []
        idle = [c.concept for c in view.concepts if not c.used and c.state != "right"]
        notes += [f"Not judged, and not used by the rule: {shortened(idle)}."] if idle else []
    said = broken[first].text if first in broken else None
    told = " ".join(finding.text for finding in found)
    changes = effects.text if effects is not None and effects.text not in told else None
    return [text for text in (*notes, said, changes) if text]


def _change(first: SplitView, other: SplitView) -> str:
    """Say how right another split is, and whether it differs."""
    before, after = float(first.right.mean()), float(other.right.mean())
    differ = rises(~first.right, ~other.right, other.level), rises(first.right, other.right, other.level)
    if not any(differ):
        return ""
    what = "labels are right" if len(first.labels) == 1 else "labels are all right"
    moves = f"{'falls' if differ[0] else 'rises'} from {before:.2f} to {after:.2f}"
    return f"From {first.name} to {other.name}, the share of examples whose {what} {moves}."


def _calibration(name: str, scores: Mapping[str, Score], evidence: Evidence) -> str:
    """Say where stated probabilities are clearly off."""
    told = []
    for what, metric in (("labels", "label_ece"), ("concepts", "concept_ece")):
        found = scores[metric]
        if found.applies and found.low >= OVERCONFIDENT:
            sure, right = _confidence(evidence, what)
            word = "overconfident" if sure > right else "underconfident"
            told.append(f"of {what} by {found.value:.2f} ({word}: {sure:.2f} sure, {right:.2f} right)")
    return f"On {name}, probabilities are off: {enumerated(told)}." if told else ""


def _confidence(evidence: Evidence, what: str) -> tuple[float, float]:
    truth = evidence.labels if what == "labels" else evidence.concepts
    spoken = evidence.label_probabilities if what == "labels" else evidence.concept_probabilities
    pairs = [(p, truth[:, i]) for i, p in enumerate(spoken) if p is not None]
    sure = float(np.mean([p.max(axis=1).mean() for p, _ in pairs]))
    return sure, float(np.mean([(p.argmax(axis=1) == codes).mean() for p, codes in pairs]))
