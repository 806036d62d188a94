"""The findings about a model: one function for each kind, from how its concepts and labels are judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from assay.arrays import Codes, distinct_rows
from assay.diagnosis.concepts import SYSTEMATIC, TOLERATED, WRONG, ConceptState, read_by_maps
from assay.diagnosis.labels import worst
from assay.diagnosis.views import SplitView
from assay.diagnosis.wording import describe_concepts, join_first, percent, share_of
from assay.distribution import import_extra
from assay.metrics.interval import at_least, wilson
from assay.seeds import rng_for

Kind = Literal[
    "sound", "spurious", "shortcut", "unidentified", "noisy", "wrong rule", "inconsistent", "leaking", "boundary",
    "memorised", "opaque", "underfit", "too few", "no rule",
]  # fmt: skip
MEANINGS: dict[Kind, str] = {
    "spurious": "A spurious shortcut: labels follow a nuisance that goes with them in training, not the concepts.",
    "underfit": "Labels are wrong: they are not learned.",
    "shortcut": "A reasoning shortcut: concepts that the rule uses are systematically misread, yet labels stay right.",
    "leaking": "The labels are better than the predicted concepts allow: information leaks past the concepts.",
    "memorised": "The model is right on worlds of the training set, and wrong on new ones.",
    "wrong rule": "Labels are wrong where every concept that the rule uses is right.",
    "inconsistent": "The labels do not follow from the predicted concepts by the rule.",
    "noisy": "Some concepts that the rule uses are read wrong too often, and not in a way that keeps the labels.",
    "opaque": "The model does not predict some concepts that the rule uses, so that they cannot be judged.",
    "boundary": "Labels are right far from the boundary of the rule and wrong near it.",
    "unidentified": "Only concepts that the rule does not use are wrong; no label could have supervised them.",
    "too few": "There are too few examples to tell.",
    "no rule": "Labels and concepts are right; without a rule it cannot be told whether labels follow from concepts.",
    "sound": "The labels are right, and they follow from concepts that are right.",
}
"""What each verdict says, the gravest first: the verdict is the first kind that is found."""
RANK: tuple[Kind, ...] = tuple(MEANINGS)
KEPT = 0.75
"""The share of misread examples whose labels a shortcut surely keeps."""
BY_RULE = 0.8
"""The share of a label's errors that must come with right concepts for a wrong label to be the rule's."""
DROP = 0.1
"""By how much worse a model must be on new worlds, or at the boundary."""
FEWEST = 20
"""How many examples a comparison needs on each side."""
SHUFFLES, ENOUGH_SHUFFLED = 20, 2_000_000
"""How often errors are shuffled, and after how many examples no more: the share is then known to about 0.001."""


@dataclass(frozen=True)
class Finding:
    """A finding: its kind, the splits that show it, a sentence, and the concepts and labels concerned."""

    kind: Kind
    split: str
    text: str
    concepts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        lists = {"concepts": list(self.concepts), "labels": list(self.labels), "numbers": dict(self.numbers)}
        return {"kind": self.kind, "split": self.split, "text": self.text, **lists}


def find_opaque(view: SplitView) -> Finding | None:
    """Find concepts that the rule uses and that the model does not predict."""
    silent = view.in_state(["absent"])
    if not silent:
        return None
    whole = [c.concept for c in silent if not c.answered]
    parts = [f"{c.concept} in {c.examples - c.answered:,} of {c.examples:,} examples" for c in silent if c.answered]
    used = len(view.columns)
    if len(whole) == used:
        text = f"On {view.name}, it predicts no concept that the rule uses."
    else:
        text = (
            f"On {view.name}, of {used} concepts that the rule uses it does not predict {join_first([*whole, *parts])}."
        )
    return Finding("opaque", view.name, text, tuple(c.concept for c in silent), numbers={"concepts": len(silent)})


def find_shortcut(view: SplitView, training: Codes | None) -> tuple[Finding | None, float | None]:
    """Find misreadings that keep the labels; also return the share of training worlds whose labels they keep."""
    wrong = view.in_state(SYSTEMATIC)
    if not wrong:
        return _find_mixed_shortcut(view), None
    columns = [view.evidence.knowledge.space.place(c.concept) for c in wrong]
    predicted = view.evidence.predicted_concepts[:, columns]
    misread = ((predicted != view.evidence.concepts[:, columns]) & (predicted >= 0)).any(axis=1) & view.complete
    label_kept, count = int((misread & view.implied_right).sum()), int(misread.sum())
    agreement = kept_in_training(wrong, training, view)
    always = agreement is not None and agreement >= 1 - TOLERATED
    if not count or not (always or wilson(label_kept, count)[0] >= KEPT):
        return None, agreement
    word = "still" if wilson(label_kept, count)[0] >= KEPT else "then"
    text = (
        f"On {view.name}, concepts that the rule uses are misread in {count:,} of {len(view.evidence):,} examples, and "
        f"the rule {word} gives the right labels in {share_of(label_kept, count)} such examples."
    )
    texts = [text, *describe_concepts(wrong, view.evidence)]
    if agreement is not None:
        texts.append(_describe_agreement(agreement))
    numbers = {"misread": count, "kept": label_kept, **({} if agreement is None else {"training_kept": agreement})}
    return Finding("shortcut", view.name, " ".join(texts), tuple(c.concept for c in wrong), numbers=numbers), agreement


def _describe_agreement(agreement: float) -> str:
    if agreement == 1:
        return "Read this way, every training world keeps its labels, so the training labels cannot reveal it."
    return f"Read this way, {percent(agreement)} of the training worlds keep their labels."


def kept_in_training(wrong: Sequence[ConceptState], training: Codes | None, view: SplitView) -> float | None:
    """Return the share of the distinct training worlds whose labels stay when these concepts are read by their maps."""
    if training is None or not len(training):
        return None
    worlds, knowledge = training[distinct_rows(training).first], view.evidence.knowledge
    read = read_by_maps(wrong, worlds, knowledge.space)
    return float((knowledge.labels_of(worlds) == knowledge.labels_of(read)).all(axis=1).mean())


def _find_mixed_shortcut(view: SplitView) -> Finding | None:
    """Find errors of concepts that together keep the labels, though no concept by itself is mostly misread."""
    noisy = view.in_state(["noisy", "not learned"])
    rows = view.complete & ~view.concepts_right
    count, label_kept = int(rows.sum()), int((rows & view.implied_right).sum())
    if not noisy or not count or label_kept == 0:
        return None
    expected = _kept_by_chance(view)
    if at_least(label_kept, count, min(1.0, expected + DROP)) > view.level or wilson(label_kept, count)[0] < KEPT:
        return None
    text = (
        f"On {view.name}, concepts that the rule uses are wrong in {count:,} of {len(view.evidence):,} examples, and "
        f"the rule still gives the right labels in {percent(label_kept / count)} of these; independent errors would "
        f"keep {percent(expected)}."
    )
    numbers = {"misread": count, "kept": label_kept, "expected": expected}
    return Finding("shortcut", view.name, text, tuple(c.concept for c in noisy), numbers=numbers)


def _kept_by_chance(view: SplitView) -> float:
    """Return how often labels stay right if each concept errs as often as it does, but independently."""
    truth, predicted = view.evidence.concepts, view.evidence.predicted_concepts
    rng, label_kept, count = rng_for(0, "shuffled errors", len(truth)), 0, 0
    for _ in range(max(1, min(SHUFFLES, ENOUGH_SHUFFLED // len(truth)))):
        mixed = predicted.copy()
        for column in view.columns:
            for code in np.unique(truth[:, column]):
                rows = np.flatnonzero(truth[:, column] == code)
                mixed[rows, column] = predicted[rng.permutation(rows), column]
        wrong = (mixed[:, view.columns] != truth[:, view.columns]).any(axis=1) & view.complete
        label_kept += int((wrong & (view.labels_implied_by(mixed) == view.truth).all(axis=1)).sum())
        count += int(wrong.sum())
    return label_kept / max(1, count)


def find_noisy(view: SplitView, shortcut_concepts: frozenset[str]) -> Finding | None:
    """Find concepts that the rule uses and that are read wrong, but for those whose misreading keeps the labels."""
    wrong = [c for c in view.in_state(WRONG) if c.state not in SYSTEMATIC or c.concept not in shortcut_concepts]
    if not wrong:
        return None
    return Finding(
        "noisy", view.name, " ".join([f"On {view.name}:", *describe_concepts(wrong, view.evidence)]),
        tuple(c.concept for c in wrong), numbers={"concepts": len(wrong)},
    )  # fmt: skip


def find_unidentified(view: SplitView) -> Finding | None:
    """Find wrong concepts that the rule does not use, where those it uses are right."""
    wrong = view.in_state(WRONG, used=False)
    if not wrong or view.wrong_used:
        return None
    names = join_first([c.concept for c in wrong])
    text = " ".join(
        [
            f"On {view.name}, the rule does not use {names}, and only these are wrong.",
            *describe_concepts(wrong, view.evidence),
        ]
    )
    return Finding("unidentified", view.name, text, tuple(c.concept for c in wrong), numbers={"concepts": len(wrong)})


def find_wrong_rule(view: SplitView) -> Finding | None:
    """Find labels that are wrong where all concepts of the rule are right, and sure enough for the right label."""
    rows = view.concepts_right
    if rows.sum() < FEWEST:
        return None
    wrong = view.evidence.predicted_labels != view.truth
    blamed = wrong & ~view.unsure & rows[:, None]
    counts = {label.label: (int(blamed[:, i].sum()), int(wrong[:, i].sum())) for i, label in enumerate(view.labels)}
    total, each = int(rows.sum()), view.level / len(view.labels)
    bad = [
        (label.label, counts[label.label][0])
        for label in view.labels
        if at_least(counts[label.label][0], total, TOLERATED) <= each
        or (label.standing == "wrong" and counts[label.label][0] >= BY_RULE * counts[label.label][1])
    ]
    if not bad:
        return None
    named = join_first([f"{name} in {count:,}" for name, count in bad])
    text = (
        f"On {view.name}, in {total:,} examples every concept that the rule uses is right, yet the "
        f"model is wrong about {named}."
    )
    numbers = {"examples": total, "wrong": int(blamed.any(axis=1).sum())}
    return Finding("wrong rule", view.name, text, labels=tuple(name for name, _ in bad), numbers=numbers)


def find_inconsistent(view: SplitView) -> Finding | None:
    """Find labels that do not follow from predicted concepts, where those are wrong too or too uncertain."""
    rows = view.complete & (~view.concepts_right | view.unsure.any(axis=1))
    count, total = int((rows & ~view.follows).sum()), int(view.complete.sum())
    if not total or at_least(count, total, TOLERATED) > view.level:
        return None
    follow = int((view.complete & view.follows).sum())
    text = f"On {view.name}, the labels follow from the predicted concepts in {share_of(follow, total)} examples."
    return Finding("inconsistent", view.name, text, numbers={"examples": total, "follow": follow})


def find_bypass(view: SplitView) -> Finding | None:
    """Find labels that are right where the predicted concepts imply wrong ones, and cannot be computed from them."""
    rows = view.complete & ~view.implied_right
    better, worse = int((rows & view.right).sum()), int((view.complete & view.implied_right & ~view.right).sum())
    total = int(view.complete.sum())
    if (
        not total
        or at_least(better, total, TOLERATED) > view.level
        or at_least(better, better + worse, 0.5) > view.level
    ):
        return None
    by_concepts = accuracy_from_concepts(view)
    own = int((view.complete & view.right).sum())
    if wilson(own, total)[0] <= by_concepts + TOLERATED:
        return None
    implied = int((view.complete & view.implied_right).sum())
    text = (
        f"On {view.name}, the labels are right in {share_of(own, total)} examples, but the predicted concepts imply "
        f"the right ones in only {percent(implied / total)}, and other rules over them, learned on half of the "
        f"examples, get {percent(by_concepts)}."
    )
    return Finding("leaking", view.name, text, numbers={"right": own, "implied": implied, "examples": total})


def accuracy_from_concepts(view: SplitView) -> float:
    """Return the accuracy of labels that decision trees, fitted on the other half, predict from predicted concepts."""
    trees = import_extra("sklearn.tree", "comparing labels with concepts")
    rows = np.flatnonzero(view.complete)
    predicted = view.evidence.predicted_concepts[rows][:, view.columns]
    sizes = [view.evidence.knowledge.space.sizes[column] for column in view.columns]
    features = np.concatenate([predicted[:, [i]] == np.arange(size)[None] for i, size in enumerate(sizes)], axis=1)
    halves = rng_for(0, "told by concepts", len(rows)).permutation(len(rows)) % 2
    right = np.ones(len(rows), dtype=bool)
    for place in range(view.truth.shape[1]):
        labels = view.truth[rows, place]
        for half in (0, 1):
            fitted, judged = halves != half, halves == half
            if not fitted.any() or not judged.any():
                continue
            tree = trees.DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(
                features[fitted], labels[fitted]
            )
            right[judged] &= tree.predict(features[judged]) == labels[judged]
    return float(right.mean()) if len(rows) else 0.0


def find_underfit(view: SplitView, by_rule: bool) -> Finding | None:
    """Find labels that are wrong, unless the concepts are right and only the rule is wrong."""
    wrong = [label for label in view.labels if label.standing == "wrong"]
    if not wrong or by_rule:
        return None
    named = [f"{label.label} is right in {share_of(label.right, label.examples)}" for label in wrong]
    often = join_first([percent(label.majority / label.examples) for label in wrong])
    text = f"On {view.name}, {join_first(named)}; the most frequent value would be right in {often}."
    return Finding("underfit", view.name, text, labels=tuple(label.label for label in wrong))


def find_too_few(view: SplitView) -> Finding | None:
    """Find what cannot be decided yet: labels or concepts of the rule whose interval is too wide."""
    labels = [label for label in view.labels if label.standing == "undecided"]
    concepts = view.in_state(["too few"])
    if not labels and not concepts:
        return None
    named = [f"label {label.label} ({share_of(label.right, label.examples)})" for label in labels]
    named += [f"{c.concept} ({share_of(c.right, c.answered)})" for c in concepts]
    text = f"On {view.name}, {len(view.evidence):,} examples do not tell whether these are right: {join_first(named)}."
    return Finding(
        "too few", view.name, text, tuple(c.concept for c in concepts), tuple(label.label for label in labels)
    )


def describe_labels(view: SplitView) -> str:
    """Return how accurate the labels of a split are, in words."""
    standing = worst(view.labels)
    right, total = int(view.right.sum()), len(view.right)
    words = {
        "right": "the labels are right",
        "mostly right": "the labels are mostly right",
        "wrong": "labels are wrong",
        "undecided": "the labels are neither clearly wrong nor clearly mostly right",
    }[standing]
    what = "right" if len(view.labels) == 1 else "all right together"
    return f"On {view.name}, {words}: {what} in {share_of(right, total)} examples."
