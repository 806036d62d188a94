"""The verdict: which finding accounts for what is wrong with a model, with its reasons, certainty and next step.

Every concept and label is judged on every split (`case`); checks find what is wrong, rivals withdraw what they
explain better (`judging`); the verdict is the word of the first finding. Beside the findings stand notes:
accuracies, causes, other splits, calibration, leaks of confidence, constraints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.base import (
    Array,
    Codes,
    Figure,
    bar_plot,
    heat_maps,
    html_table,
    html_text,
    join_first,
    join_words,
    to_frame,
)
from assay.diagnosis.case import Case, case_of
from assay.diagnosis.check import Finding, Kind, check_of
from assay.diagnosis.concepts import ConceptState
from assay.diagnosis.counterfactual import Counterfactuals
from assay.diagnosis.explanations import ASIDE
from assay.diagnosis.identifiable import Identifiability
from assay.diagnosis.judging import Certainty, TableRow, certainty_of, judge, table_of
from assay.diagnosis.labels import Errors, LabelState, worst
from assay.diagnosis.leaks import describe_soft_leaks
from assay.diagnosis.reading import ConceptMapping, fit_readings
from assay.diagnosis.reliance import Reliance, describe_unused
from assay.diagnosis.thresholds import DEFAULTS, Rivals, Thresholds, Verdict
from assay.diagnosis.views import SplitView
from assay.diagnosis.within import rises
from assay.metrics import (
    FEWEST,
    Evidence,
    RegionScore,
    Score,
    Violations,
    region_scores,
    score,
    share_of,
    violations_of,
)

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2
"""The version of the diagnosis, kept with every row of a suite: rows of version 1 were judged by other rules."""
SUMMARY = ("label_f1", "concept_f1", "collapse", "rule_consistency")
MOST_BARS, MOST_REASONS = 30, 2
CHANGE = 0.1
"""The change of accuracy between splits from which on it is noted."""
TAUGHT = frozenset({"shortcut", "unidentified", "noisy", "underfit"})
"""The findings beside which it is noted what training labels can teach."""
NEEDS_RULE = (
    "No rule is known. Judged without one: whether labels and concepts are right, calibrated, memorised, and whether "
    "confidences leak. Not judged, since that needs a rule: shortcuts, a wrong rule, inconsistent or bypassed "
    "concepts, the decision boundary. Have rules proposed: assay train rules|tree|ilp|synthesis DATA."
)
"""What is said of a model on a dataset without a rule."""


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What was found about a model on a dataset."""

    findings: tuple[Finding, ...]
    """The one that accounts for what is wrong first; at least one."""
    scores: Mapping[str, Mapping[str, Score]]
    concepts: Mapping[str, tuple[ConceptState, ...]]
    """For each split, how each concept is predicted."""
    labels: Mapping[str, tuple[LabelState, ...]]
    """For each split, how right each label is."""
    errors: Mapping[str, Errors]
    """For each split, the wrong labels by cause."""
    readings: tuple[ConceptMapping, ...]
    """For each encoder group, what is predicted for each true value on the first split."""
    table: tuple[TableRow, ...] = ()
    """Everything that was tested, a row each."""
    certainty: Certainty = field(default_factory=lambda: Certainty("", {}))
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
    thresholds: Thresholds = DEFAULTS
    """The thresholds that decided."""

    @property
    def verdict(self) -> Kind:
        """The word of the first finding."""
        return self.findings[0].kind

    @property
    def meaning(self) -> str:
        """What the verdict says here, in a sentence."""
        return self.findings[0].meaning

    @property
    def next(self) -> str:
        """What to do next."""
        return self.findings[0].next

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of all findings, the first word first."""
        return tuple(dict.fromkeys(finding.kind for finding in self.findings))

    @property
    def compared_splits(self) -> tuple[str, ...]:
        """The splits over which wrong labels are explained; all of them, where every one is set aside."""
        return tuple(name for name in self.errors if name not in ASIDE) or tuple(self.errors)

    @property
    def reasons(self) -> tuple[str, ...]:
        """At most two reasons with numbers: of the first finding, and of the second or a detail of the first."""
        first, *others = self.findings
        check, also = check_of(self.verdict), [f"Also {other.kind}: {other.text}" for other in others]
        rest = [*first.details, *also] if check is not None and check.detailed else [*also, *first.details]
        texts = [first.text, *rest]
        return tuple(text for text in texts if text)[:MOST_REASONS]

    @property
    def details(self) -> tuple[str, ...]:
        """All other sentences: further findings, details, notes."""
        first, *others = self.findings
        texts = [first.text, *first.details]
        for other in others:
            texts += [f"Also {other.kind}: {other.text}", *other.details]
        short = set(self.reasons)
        return tuple(dict.fromkeys(text for text in (*texts, *self.notes) if text and text not in short))

    @property
    def other_notes(self) -> tuple[str, ...]:
        """The notes that no finding has as a detail."""
        told = {text for finding in self.findings for text in finding.details}
        return tuple(note for note in self.notes if note not in told)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The short answer: the word with its meaning, at most two reasons, certainty, what to do next."""
        next_step = f"Next: {self.next}" if self.next else ""
        parts = (f"Verdict: {self.verdict}. {self.meaning}", *self.reasons, self.certainty.text, next_step)
        return tuple(part for part in parts if part)

    @property
    def text(self) -> str:
        """The short answer as one text."""
        return " ".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data."""
        return {
            "diagnosis": VERSION,
            "verdict": self.verdict,
            "meaning": self.meaning,
            "next": self.next,
            "certainty": self.certainty.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "reasons": list(self.reasons),
            "details": list(self.details),
            "table": [row.to_dict() for row in self.table],
            "thresholds": self.thresholds.to_dict(),
            "scores": {s: {n: x.to_dict() for n, x in scores.items()} for s, scores in self.scores.items()},
            "concepts": {split: [state.to_dict() for state in states] for split, states in self.concepts.items()},
            "labels": {split: [state.to_dict() for state in states] for split, states in self.labels.items()},
            "errors": {split: errors.to_dict() for split, errors in self.errors.items()},
            "readings": [reading.to_dict() for reading in self.readings],
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
        """Draw what is predicted for each true value, or the accuracy in each region of the rule."""
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
        head, *texts = self.sentences
        shown = html_text(head, bold=True) + "".join(html_text(text) for text in texts)
        return shown + html_table([f"on {next(iter(self.scores), '')}", "value", "95 % interval"], rows)


def diagnose(
    evidence: Mapping[str, Evidence],
    training: Codes | None = None,
    about: Mapping[str, Any] | None = None,
    effects: Counterfactuals | None = None,
    taught: Identifiability | None = None,
    reliance: tuple[Reliance, ...] = (),
    thresholds: Thresholds = DEFAULTS,
) -> Diagnosis:
    """Judge a model by its evidence on one or more splits.

    Parameters
    ----------
    evidence
        What a model said beside the truth, by split; the first is the one that is described most.
    training
        The concept codes of the training worlds: which worlds are new, and whether labels could reveal a misreading.
    about
        Where the numbers come from, kept with the diagnosis.
    effects
        What changes of single concepts did to the model.
    taught
        Which readings of the concepts the training labels allow.
    reliance
        How labels move with nuisances; splits that show others than training are then no evidence of else.
    thresholds
        The numbers that decide.
    """
    case = case_of(evidence, training, thresholds, effects, taught, reliance)
    judgement = judge(case)
    word = judgement.findings[0].kind
    scores = {name: score(rows) for name, rows in evidence.items()}
    broken = {split: violations for split, rows in evidence.items() if (violations := violations_of(rows)) is not None}
    certain = certainty_of(case, word) if thresholds.of(Verdict).resamples else Certainty(word, {})
    return Diagnosis(
        findings=judgement.findings,
        scores=scores,
        concepts={name: view.concepts for name, view in case.views.items()},
        labels={name: view.labels for name, view in case.views.items()},
        errors={name: view.errors for name, view in case.views.items()},
        readings=fit_readings(case.first.evidence),
        table=table_of(case, judgement),
        certainty=certain,
        notes=notes_of(case, judgement.findings, scores, broken),
        about=about or {},
        regions={split: region_scores(rows) for split, rows in evidence.items()},
        counterfactuals=effects,
        violations=broken,
        taught=taught,
        reliance=reliance,
        thresholds=thresholds,
    )


def notes_of(
    case: Case,
    findings: Sequence[Finding],
    scores: Mapping[str, Mapping[str, Score]],
    broken: Mapping[str, Violations],
) -> tuple[str, ...]:
    """Return the sentences beside the findings."""
    first, view = next(iter(case.views.items()))
    kinds = {finding.kind for finding in findings}
    notes = [describe_labels(view), view.errors.text if case.ruled else NEEDS_RULE]
    notes.append(describe_gaps(view.name, view.evidence.known[:, view.columns], case.ruled))
    if case.taught is not None and kinds & TAUGHT:
        notes.append(case.taught.text)
    if "leaking" not in kinds:
        notes.append(describe_soft_leaks(view))
    notes += [_change(case, view, other) for name, other in case.views.items() if name != first]
    least = case.settings(Verdict).calibration
    notes += [_calibration(name, scores[name], view.evidence, least) for name, view in case.views.items()]
    few = [f"{name} ({len(v):,})" for name, v in case.views.items() if len(v) < FEWEST]
    if few:
        notes.append(f"Fewer than {FEWEST} examples: {join_words(few)}; what is said of them is uncertain.")
    if "sound" in kinds:
        rest = [name for name, v in case.views.items() if name != first and worst(v.labels) == "undecided"]
        notes += [f"Whether labels are right on {join_words(rest)} cannot be decided yet."] if rest else []
        idle = [c.concept for c in view.concepts if not c.used and c.state != "right"]
        notes += [f"Not judged, and not used by the rule: {join_first(idle)}."] if idle else []
    constraints = broken[first].text if first in broken else None
    changes = None if case.effects is None else case.effects.text
    return tuple(text for text in (*notes, constraints, changes, describe_unused(case.reliance)) if text)


def describe_labels(view: SplitView) -> str:
    """Return how accurate the labels of a split are, in words."""
    what = "the label is right" if len(view.labels) == 1 else "all labels are right together"
    return f"On {view.name}, {what} in {share_of(int(view.right.sum()), len(view.right))} examples."


def _change(case: Case, first: SplitView, other: SplitView) -> str:
    """Say how accurate another split is, if it differs."""
    before, after = float(first.right.mean()), float(other.right.mean())
    fewest = case.settings(Rivals).fewest
    falls = rises(~first.right, ~other.right, other.level, CHANGE, fewest)
    if not falls and not rises(first.right, other.right, other.level, CHANGE, fewest):
        return ""
    what = "labels are right" if len(first.labels) == 1 else "labels are all right"
    moves = f"{'falls' if falls else 'rises'} from {before:.2f} to {after:.2f}"
    return f"From {first.name} to {other.name}, the share of examples whose {what} {moves}."


def _calibration(name: str, scores: Mapping[str, Score], evidence: Evidence, least: float) -> str:
    """Say where probabilities are clearly not calibrated."""
    texts = []
    for what, metric in (("labels", "label_ece"), ("concepts", "concept_ece")):
        error = scores[metric]
        if error.applies and error.low >= least:
            sure, right = _confidence(evidence, what)
            word = "overconfident" if sure > right else "underconfident"
            texts.append(f"of {what} by {error.value:.2f} ({word}: mean confidence {sure:.2f}, accuracy {right:.2f})")
    return f"On {name}, probabilities are not calibrated: {join_words(texts)}." if texts else ""


def _confidence(evidence: Evidence, what: str) -> tuple[float, float]:
    truth = evidence.labels if what == "labels" else evidence.concepts
    spoken = evidence.label_probabilities if what == "labels" else evidence.concept_probabilities
    known = truth >= 0
    pairs = [
        (p[known[:, i]], truth[known[:, i], i]) for i, p in enumerate(spoken) if p is not None and known[:, i].any()
    ]
    sure = float(np.mean([p.max(axis=1).mean() for p, _ in pairs]))
    return sure, float(np.mean([(p.argmax(axis=1) == codes).mean() for p, codes in pairs]))


def describe_gaps(split: str, known: Array, ruled: bool = True) -> str:
    """Return how much of the truth of a split is not known, in words; nothing where all is.

    Without a rule all concepts count, with one those that it uses.

    >>> describe_gaps("test", np.array([[True, False], [True, True]]))[:57]
    'On test, 25 % of the true concepts that the rule uses are'
    """
    if known.all():
        return ""
    whole, share = int(np.asarray(known.all(axis=1)).sum()), 100 * float((~known).mean())
    which = "true concepts that the rule uses" if ruled else "true concepts"
    return (
        f"On {split}, {share:.0f} % of the {which} are not known and not judged; what needs "
        f"all of them is judged on the {whole:,} of {len(known):,} examples that have them all."
    )
