"""The best labels that the predicted concepts allow, by trees over them that are grown on the other half."""

import numpy as np

from assay.base import Array, rng_for
from assay.diagnosis.explanations import questions_of
from assay.diagnosis.trees import grow, rows_at
from assay.diagnosis.views import SplitView


def accuracy_from_concepts(view: SplitView, depth: int, least: int) -> float:
    """Return the accuracy of labels that trees, grown on the other half, predict from the predicted used concepts."""
    rows = np.flatnonzero(view.complete)
    if not len(rows):
        return 0.0
    codes = view.evidence.predicted_concepts[rows]
    questions = questions_of(view.evidence.knowledge.space, view.columns)
    answers = np.stack([question.holds(codes) for question in questions], axis=1)
    halves = rng_for(0, "told by concepts", len(rows)).permutation(len(rows)) % 2
    right = np.ones(len(rows), dtype=bool)
    for place in range(view.truth.shape[1]):
        labels = view.truth[rows, place]
        for half in (0, 1):
            right[halves == half] &= _told(answers, labels, halves == half, depth, least)
    return float(right.mean())


def _told(answers: Array, labels: Array, judged: Array, depth: int, least: int) -> Array:
    """Return which judged labels are right by trees over the others: for each value, how likely it is."""
    values = np.unique(labels)
    likely = np.zeros((int(judged.sum()), len(values)))
    for place, value in enumerate(values):
        tree = grow(answers[~judged], labels[~judged] == value, least, depth)
        for path, leaf in tree.leaves():
            likely[rows_at(path, answers[judged]), place] = leaf.rate
    return np.asarray(values[likely.argmax(axis=1)] == labels[judged])
