"""The verdict: what was found about a model, the gravest finding first, with its reasons in words.

Each concept and each label is judged on each split by intervals (`concepts`, `labels`); findings follow from these
(`findings`); the verdict is the kind of the gravest. A model is *sound* only if nothing contradicts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.arrays import Codes
from assay.data.confounding.confounder import SHIFTED
from assay.diagnosis.comparisons import (
    RegionScore,
    find_boundary,
    find_insensitive,
    find_memorised,
    new_worlds,
    region_scores,
    rises,
)
from assay.diagnosis.concepts import ConceptState, judge_concepts, used_concepts
from assay.diagnosis.counterfactual import Counterfactuals
from assay.diagnosis.findings import (
    MEANINGS,
    RANK,
    Finding,
    Kind,
    describe_labels,
    find_bypass,
    find_inconsistent,
    find_noisy,
    find_opaque,
    find_shortcut,
    find_too_few,
    find_underfit,
    find_unidentified,
    find_wrong_rule,
)
from assay.diagnosis.identifiability import Identifiability
from assay.diagnosis.labels import LabelState, judge_labels, worst
from assay.diagnosis.reading import Reading, fit_readings
from assay.diagnosis.reliance import Reliance, describe_unused, find_spurious
from assay.diagnosis.soft_leakage import find_soft_leak
from assay.diagnosis.views import Errors, SplitView
from assay.diagnosis.violations import Violations, violations_of
from assay.diagnosis.wording import NEEDS_RULE, describe_gaps, join_first, join_words
from assay.frames import to_frame
from assay.html import html_table, html_text
from assay.metrics.evidence import Evidence
from assay.metrics.score import FEWEST, Score, score
from assay.plots import Figure, bar_plot, heat_maps

if TYPE_CHECKING:
    import pandas as pd

SUMMARY = ("label_f1", "concept_f1", "collapse", "rule_consistency")
MOST_BARS = 30
LEVEL = 0.01
"""The chance that a diagnosis reports some fault of a concept or label that is not there."""
OVERCONFIDENT = 0.05
"""The calibration error from which on it is reported."""


@dataclass(frozen=True, repr=False)
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
    """Further sentences: warnings, other splits, calibration, constraints, changes of single concepts."""
    about: Mapping[str, Any] = field(default_factory=dict)
    regions: Mapping[str, tuple[RegionScore, ...]] = field(default_factory=dict)
    """For each split, the accuracy on each variant and near-boundary type of each label, and far from the boundary."""
    counterfactuals: Counterfactuals | None = None
    violations: Mapping[str, Violations] = field(default_factory=dict)
    """For each split, which constraints the predicted concepts break, where the rule has any."""
    taught: Identifiability | None = None
    """Which readings of the concepts the training labels allow."""
    reliance: tuple[Reliance, ...] = ()
    """How often labels move with each nuisance that confounds, and with each concept."""

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
        texts = [first.text, *(f"Also {other.kind}: {other.text}" for other in others)]
        return tuple(text for text in (*texts, *self.notes) if text)

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
            "regions": {split: [score.to_dict() for score in entries] for split, entries in self.regions.items()},
            "counterfactuals": None if self.counterfactuals is None else self.counterfactuals.to_dict(),
            "violations": {split: entries.to_dict() for split, entries in self.violations.items()},
            "reliance": [row.to_dict() for row in self.reliance],
            "identifiability": None if self.taught is None else self.taught.to_dict(),
            "about": dict(self.about),
        }

    # -- for notebooks -------------------------------------------------------------------------------------------------

    def to_frame(self) -> "pd.DataFrame":
        """Return every score as a data frame, a row for each split and metric."""
        rows = [score for scores in self.scores.values() for score in scores.values()]
        splits = [split for split, scores in self.scores.items() for _ in scores]
        columns = {key: [getattr(row, key) for row in rows] for key in ("metric", "value", "low", "high", "examples")}
        return to_frame({"split": splits, **columns})

    def plot(self, kind: Literal["concepts", "boundary"] = "concepts") -> Figure:
        """Draw what is read for each true value, or the accuracy in each region of the rule."""
        if kind == "boundary":
            split, scores = list(self.regions.items())[-1]
            bars = {f"{s.label}: {s.name}": (s.accuracy, s.accuracy, s.accuracy) for s in scores[:MOST_BARS]}
            return bar_plot(bars, "label accuracy", f"{split}: ways to keep the rule and to just miss it")
        tables = {}
        for reading in self.readings:
            said = [*reading.values, *(["none"] if reading.counts.shape[1] > len(reading.values) else [])]
            tables[reading.group] = (reading.counts, reading.values, said)
        return heat_maps(tables, "ground truth", "predicted")

    def __repr__(self) -> str:
        split = next(iter(self.scores), "")
        known = {name: score for name, score in self.scores.get(split, {}).items() if score.applies}
        facts = [f"{name} {known[name].value:.2f}" for name in SUMMARY if name in known]
        return f"Diagnosis({', '.join(self.kinds)}; {split}: {', '.join(facts)})"

    def _repr_html_(self) -> str:
        scores = next(iter(self.scores.values()), {})
        rows = [
            [name, f"{score.value:.3f}", f"{score.low:.3f} to {score.high:.3f}"]
            for name, score in scores.items()
            if score.applies
        ]
        texts = "".join(html_text(text) for text in self.reasons)
        head = html_text(f"Verdict: {self.verdict}. {MEANINGS[self.verdict]}", bold=True)
        return head + texts + html_table([f"on {next(iter(self.scores), '')}", "value", "95 % interval"], rows)


def diagnose(
    evidence: Mapping[str, Evidence],
    training: Codes | None = None,
    about: Mapping[str, Any] | None = None,
    effects: Counterfactuals | None = None,
    taught: Identifiability | None = None,
    level: float = LEVEL,
    reliance: tuple[Reliance, ...] = (),
) -> Diagnosis:
    """Judge a model by its evidence on one or more splits.

    `training` holds the concept codes of the training set: which worlds are new, and whether training labels could
    reveal a misreading; `effects` what changes of single concepts did to the model; `taught` which readings the
    training labels allow; `level` is the chance of reporting a fault of a concept or label that has none; `reliance`
    says how labels move with nuisances, for which splits that show others than training are no evidence of else.
    """
    first = next(iter(evidence.values()))
    used = used_concepts(first.knowledge)
    each = level / len(evidence)
    views = {
        name: SplitView(name, rows, judge_concepts(rows, used, each), judge_labels(rows, each), used, each)
        for name, rows in evidence.items()
    }
    scores = {name: score(rows) for name, rows in evidence.items()}
    usual = {name: view for name, view in views.items() if name not in SHIFTED} or views
    findings, agreement = _findings(usual, training, effects, find_spurious(reliance))
    broken = {split: violations for split, rows in evidence.items() if (violations := violations_of(rows)) is not None}
    return Diagnosis(
        findings=findings,
        scores=scores,
        concepts={name: view.concepts for name, view in views.items()},
        labels={name: view.labels for name, view in views.items()},
        errors={name: view.errors for name, view in views.items()},
        readings=fit_readings(first),
        agreement=agreement,
        notes=tuple(_notes(views, scores, findings, broken, effects, taught, describe_unused(reliance))),
        about=about or {},
        regions={split: region_scores(rows) for split, rows in evidence.items()},
        counterfactuals=effects,
        violations=broken,
        taught=taught,
        reliance=reliance,
    )


def _findings(
    views: Mapping[str, SplitView], training: Codes | None, effects: Counterfactuals | None, spurious: Finding | None
) -> tuple[tuple[Finding, ...], float | None]:
    """Return what is found on any split, the gravest first, each kind by the first split that shows it."""
    new = {name: new_worlds(view.evidence, training) for name, view in views.items()}
    ruled = next(iter(views.values())).evidence.knowledge.has_rule
    shortcuts = {name: find_shortcut(view, training) if ruled else (None, None) for name, view in views.items()}
    agreement = next((share for _, share in shortcuts.values() if share is not None), None)
    kept_concepts = frozenset(name for shortcut, _ in shortcuts.values() if shortcut for name in shortcut.concepts)
    findings: list[Finding | None] = [spurious]
    for name, view in views.items():
        rule = find_wrong_rule(view) if ruled else None
        named = rule is not None and {label.label for label in view.labels if label.standing == "wrong"} <= set(
            rule.labels
        )
        findings += [shortcuts[name][0], rule, find_noisy(view, kept_concepts), find_opaque(view)]
        findings.append(find_underfit(view, named) if name == next(iter(views)) else None)
        findings.append((find_bypass(view) if ruled else None) or find_soft_leak(view))
        findings += [find(view) for find in (find_unidentified, find_inconsistent, find_boundary) if ruled]
    findings += [find_memorised(views, new), find_insensitive(effects)]
    found = [finding for finding in findings if finding is not None] or _undecided(views)
    return tuple(_merge(found or [_sound(views)])), agreement


def _merge(findings: Sequence[Finding]) -> list[Finding]:
    """Return one finding of each kind, that of the first split, with the names of the others that show it too."""
    merged = []
    for kind in RANK:
        same = [finding for finding in findings if finding.kind == kind]
        if same:
            others = [finding.split for finding in same[1:]]
            also = f" So it is on {join_words(others)}." if others else ""
            first = same[0]
            merged.append(Finding(kind, first.split, first.text + also, first.concepts, first.labels, first.numbers))
    return merged


def _undecided(views: Mapping[str, SplitView]) -> list[Finding]:
    """Return what the first split leaves undecided; other splits that do are no reason against a model."""
    first = next(iter(views.values()))
    finding = find_too_few(first)
    return [] if finding is None else [finding]


def _sound(views: Mapping[str, SplitView]) -> Finding:
    first = next(iter(views.values()))
    accuracies = [c.interval[0] for c in first.concepts if c.used]
    if not first.evidence.knowledge.has_rule:
        text = (
            f"On {first.name}, each of the {len(accuracies)} concepts is right in at least {100 * min(accuracies):.0f} "
            f"% (lower ends of 95 % intervals, {len(first.evidence):,} examples)."
        )
        return Finding("no rule", first.name, text)
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
    findings: Sequence[Finding],
    broken: Mapping[str, Violations],
    effects: Counterfactuals | None,
    taught: Identifiability | None,
    unused: str,
) -> list[str]:
    """Return the sentences beside the findings."""
    first, view = next(iter(views.items()))
    knowledge = view.evidence.knowledge
    notes = [describe_labels(view), view.errors.text if knowledge.has_rule else NEEDS_RULE]
    notes.append(describe_gaps(view.name, view.evidence.known))
    if taught is not None and any(
        finding.kind in ("shortcut", "unidentified", "noisy", "underfit") for finding in findings
    ):
        notes.append(taught.text)
    notes += [_change(view, other) for name, other in views.items() if name != first]
    notes += [_calibration(name, scores[name], views[name].evidence) for name in views]
    few = [f"{name} ({len(v.evidence):,})" for name, v in views.items() if len(v.evidence) < FEWEST]
    if few:
        notes.append(f"Fewer than {FEWEST} examples: {join_words(few)}; what is said of them is uncertain.")
    if any(finding.kind == "sound" for finding in findings):
        rest = [name for name, v in views.items() if name != first and worst(v.labels) == "undecided"]
        notes += [f"Whether labels are right on {join_words(rest)} cannot be decided yet."] if rest else []
        idle = [c.concept for c in view.concepts if not c.used and c.state != "right"]
        notes += [f"Not judged, and not used by the rule: {join_first(idle)}."] if idle else []
    constraints = broken[first].text if first in broken else None
    texts = " ".join(finding.text for finding in findings)
    changes = effects.text if effects is not None and effects.text not in texts else None
    return [text for text in (*notes, constraints, changes, unused) if text]


def _change(first: SplitView, other: SplitView) -> str:
    """Say how accurate another split is, if it differs."""
    before, after = float(first.right.mean()), float(other.right.mean())
    differ = rises(~first.right, ~other.right, other.level), rises(first.right, other.right, other.level)
    if not any(differ):
        return ""
    what = "labels are right" if len(first.labels) == 1 else "labels are all right"
    moves = f"{'falls' if differ[0] else 'rises'} from {before:.2f} to {after:.2f}"
    return f"From {first.name} to {other.name}, the share of examples whose {what} {moves}."


def _calibration(name: str, scores: Mapping[str, Score], evidence: Evidence) -> str:
    """Say where probabilities are clearly not calibrated."""
    texts = []
    for what, metric in (("labels", "label_ece"), ("concepts", "concept_ece")):
        error = scores[metric]
        if error.applies and error.low >= OVERCONFIDENT:
            sure, right = _confidence(evidence, what)
            word = "overconfident" if sure > right else "underconfident"
            texts.append(f"of {what} by {error.value:.2f} ({word}: {sure:.2f} sure, {right:.2f} right)")
    return f"On {name}, probabilities are off: {join_words(texts)}." if texts else ""


def _confidence(evidence: Evidence, what: str) -> tuple[float, float]:
    truth = evidence.labels if what == "labels" else evidence.concepts
    spoken = evidence.label_probabilities if what == "labels" else evidence.concept_probabilities
    known = truth >= 0
    pairs = [
        (p[known[:, i]], truth[known[:, i], i]) for i, p in enumerate(spoken) if p is not None and known[:, i].any()
    ]
    sure = float(np.mean([p.max(axis=1).mean() for p, _ in pairs]))
    return sure, float(np.mean([(p.argmax(axis=1) == codes).mean() for p, codes in pairs]))
