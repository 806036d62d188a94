"""How many labels stay right under misreadings: those found, independent ones, and random ones of the same rate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Codes, distinct_rows, rng_for
from assay.diagnosis.concepts import ConceptState, read_by_maps
from assay.diagnosis.views import SplitView

SHUFFLES, ENOUGH_SHUFFLED = 20, 2_000_000
"""How often errors are shuffled, and after how many examples no more: the share is then known to about 0.001."""


@dataclass(frozen=True)
class KeptInTraining:
    """How many of the distinct training worlds keep their labels under a concept mapping."""

    share: float
    least: float
    """The same of the worlds of one label value, where it is lowest: a value that is always lost is revealed."""


def kept_in_training(wrong: Sequence[ConceptState], training: Codes | None, view: SplitView) -> KeptInTraining | None:
    """Return how many training worlds keep their labels when these concepts are read by their maps."""
    if training is None or not len(training):
        return None
    whole = training[(training >= 0).all(axis=1)]
    if not len(whole):
        return None
    worlds, knowledge = whole[distinct_rows(whole).first], view.evidence.knowledge
    labels, read = knowledge.labels_of(worlds), knowledge.labels_of(read_by_maps(wrong, worlds, knowledge.space))
    kept = labels == read
    cells = ((place, column == value) for place, column in enumerate(labels.T) for value in np.unique(column))
    least = min(kept[rows, place].mean() for place, rows in cells)
    return KeptInTraining(float(kept.all(axis=1).mean()), float(least))


def kept_by_independent(view: SplitView) -> float:
    """Return how often labels stay right if each concept errs as it does, but independently of the others."""
    truth, predicted = view.evidence.concepts, view.evidence.predicted_concepts
    rng, kept, count = rng_for(0, "shuffled errors", len(truth)), 0, 0
    for _ in range(_times(view)):
        mixed = predicted.copy()
        for column in view.columns:
            for code in np.unique(truth[:, column]):
                rows = np.flatnonzero(truth[:, column] == code)
                mixed[rows, column] = predicted[rng.permutation(rows), column]
        right, wrong = _right_where_wrong(view, mixed, view.columns)
        kept, count = kept + right, count + wrong
    return kept / max(1, count)


def kept_by_annotations(view: SplitView) -> float:
    """Return how often annotations keep the label that the predicted concepts imply, if they err independently.

    Annotated values are exchanged among examples with the same predicted value, concept by concept.
    """
    table, predicted = view.evidence.concepts, view.evidence.predicted_concepts
    rng, kept, count = rng_for(0, "shuffled annotations", len(table)), 0, 0
    for _ in range(_times(view)):
        mixed = np.where(view.complete[:, None], table, predicted)
        for column in view.columns:
            for code in np.unique(predicted[view.complete, column]):
                rows = np.flatnonzero(view.complete & (predicted[:, column] == code))
                mixed[rows, column] = table[rng.permutation(rows), column]
        wrong = (mixed[:, view.columns] != predicted[:, view.columns]).any(axis=1) & view.complete
        right = wrong & (view.labels_implied_by(mixed) == view.implied_labels).all(axis=1)
        kept, count = kept + int(right.sum()), count + int(wrong.sum())
    return kept / max(1, count)


def kept_by_random(view: SplitView, columns: Sequence[int]) -> float:
    """Return how often labels stay right if these concepts err as often, in random places and with random values."""
    truth, predicted = view.evidence.concepts, view.evidence.predicted_concepts
    sizes, rng = view.evidence.knowledge.space.sizes, rng_for(0, "random errors", len(truth))
    rows, kept, count = np.flatnonzero(view.complete), 0, 0
    for _ in range(_times(view)):
        mixed = truth.copy()
        for column in columns:
            if sizes[column] < 2 or not len(rows):
                continue
            share = (predicted[rows, column] != truth[rows, column]).mean()
            hit = rows[rng.random(len(rows)) < share]
            mixed[hit, column] = (truth[hit, column] + rng.integers(1, sizes[column], len(hit))) % sizes[column]
        right, wrong = _right_where_wrong(view, mixed, columns)
        kept, count = kept + right, count + wrong
    return kept / max(1, count)


def _right_where_wrong(view: SplitView, mixed: Codes, columns: Sequence[int]) -> tuple[int, int]:
    """Return how many labels stay right among examples in which these columns are wrong, and how many there are."""
    wrong = (mixed[:, list(columns)] != view.evidence.concepts[:, list(columns)]).any(axis=1) & view.complete
    right = wrong & (view.labels_implied_by(mixed) == view.truth).all(axis=1)
    return int(right.sum()), int(wrong.sum())


def _times(view: SplitView) -> int:
    return max(1, min(SHUFFLES, ENOUGH_SHUFFLED // max(1, len(view))))
