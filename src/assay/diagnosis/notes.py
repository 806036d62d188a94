"""The sentences beside findings: accuracies, causes, other splits, calibration, leaks of confidence, constraints."""

from collections.abc import Mapping, Sequence

import numpy as np

from assay.base import Array, join_first, join_words
from assay.diagnosis.case import Case
from assay.diagnosis.check import Finding
from assay.diagnosis.labels import worst
from assay.diagnosis.reliance import describe_unused
from assay.diagnosis.soft_leakage import describe_soft_leaks
from assay.diagnosis.thresholds import Rivals, Verdict
from assay.diagnosis.views import SplitView
from assay.diagnosis.violations import Violations
from assay.diagnosis.within import rises
from assay.metrics import FEWEST, Evidence, Score, share_of

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
