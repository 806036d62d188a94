"""Counterfactual pairs: when one concept changes, does the label follow where the rule says so, and only then?

Pairs in which some concept has a value that training never shows are told apart: that a model fails there says nothing
of how it reasons. `assay make` draws none; datasets of before, or by others, may hold some.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.base import Array, Codes, DataError, find_rows
from assay.contracts import PAIR_CONCEPT, PAIRS, Predictions
from assay.dataset import Dataset, ShownValues
from assay.logic import ConceptSpace
from assay.metrics import Evidence, Score, gather, mean, mean_score, percent


@dataclass(frozen=True)
class Effects:
    """What changes of a concept, or of all, do to a model; a score is NaN where there was nothing to see.

    `follows`    of the labels that change, how many are predicted right before and after
    `stays`      of the labels that do not change, of how many the prediction does not either
    `noticed`    in how many pairs the changed concept is predicted to have its new value
    `untouched`  of the other concepts that stay, of how many the prediction does
    """

    follows: Score
    stays: Score
    noticed: Score
    untouched: Score

    @property
    def consistency(self) -> float:
        """The mean of `follows` and `stays`, or the one that there is."""
        return mean(np.array([self.follows.value, self.stays.value]))

    def to_dict(self) -> dict[str, Any]:
        """Return the effects as plain data."""
        parts = {"follows": self.follows, "stays": self.stays, "noticed": self.noticed, "untouched": self.untouched}
        return {name: score.to_dict() for name, score in parts.items()}


@dataclass(frozen=True)
class Counterfactuals:
    """The effects of all changes on a split, and of the changes of each concept."""

    split: str
    pairs: int
    """How many pairs the effects are those of: all but the unseen ones."""
    all: Effects
    by_concept: Mapping[str, Effects]
    unseen: Effects | None = None
    """The effects in pairs with a value that training does not show; None where there are no such pairs."""
    unseen_pairs: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data; with the key `unseen` where there are such pairs."""
        concepts = {name: effects.to_dict() for name, effects in self.by_concept.items()}
        found = {"split": self.split, "pairs": self.pairs, "all": self.all.to_dict(), "by_concept": concepts}
        apart = None if self.unseen is None else {"pairs": self.unseen_pairs, **self.unseen.to_dict()}
        return found if apart is None else {**found, "unseen": apart}

    @property
    def text(self) -> str:
        """The findings in a sentence, and in another what was told apart."""
        said = _said(self.all)
        texts = [f"When one concept is changed, {' and '.join(said)}."] if said else []
        if self.unseen is not None:
            those = "pair is left out: it has" if self.unseen_pairs == 1 else "pairs are left out: they have"
            texts.append(f"{self.unseen_pairs:,} {those} values that training does not show.")
        return " ".join(texts)


def _said(effects: Effects) -> list[str]:
    said = []
    if effects.follows.applies:
        said.append(f"the label follows in {percent(effects.follows.value)} of the changes that should move it")
    if effects.stays.applies:
        share = percent(effects.stays.value)
        alone = f"the label stays in {share} of the changes that should not move it"
        said.append(f"stays in {share} of those that should not" if said else alone)
    return said


@dataclass(frozen=True)
class AlignedPairs:
    """What a model says of examples, and row by row of what they were changed to, with the concepts changed."""

    before: Evidence
    after: Evidence
    concepts: tuple[str, ...]

    def unseen(self, training: Codes | None) -> Array:
        """Return which pairs hold a value that no training world shows; none where these are not known."""
        if training is None:
            return np.zeros(len(self.concepts), dtype=bool)
        shown = ShownValues.of(self.before.knowledge.space, training)
        held = [shown.holds(side.concepts).all(axis=1) for side in (self.before, self.after)]
        return np.asarray(~(held[0] & held[1]))

    def take(self, rows: Array) -> "AlignedPairs":
        """Return some of the pairs."""
        names = tuple(np.array(self.concepts, dtype=object)[rows])
        return AlignedPairs(self.before.take(rows), self.after.take(rows), names)


def align_pairs(dataset: Dataset, predictions: Predictions, changed_predictions: Predictions) -> AlignedPairs:
    """Put predictions for counterfactual worlds beside those for the examples that they were changed from.

    The first predictions are for the split whose worlds were changed, the second for the split `pairs`, which names the
    example that each of its rows comes from.
    """
    changed, data = dataset.symbols(PAIRS, styles=False), dataset.symbols(predictions.split, styles=False)
    after = gather(changed, changed_predictions)
    if len(after) < len(changed):
        raise DataError(f"the predictions hold {len(after)} of the {len(changed)} rows of split {changed.name!r}")
    rows = find_rows(changed.pair_rows, predictions.index)
    if (rows < 0).any():
        missing = changed.pair_rows[rows < 0][0]
        raise DataError(
            f"the predictions for split {data.name!r} leave out example {missing}, which {changed.name!r} changes"
        )
    after = after.take(np.argsort(changed_predictions.index))
    names = tuple(changed.table[PAIR_CONCEPT].to_pylist())
    return AlignedPairs(gather(data, predictions).take(rows), after, names)


def counterfactuals(
    dataset: Dataset, predictions: Predictions, changed_predictions: Predictions, training: Codes | None = None
) -> Counterfactuals:
    """Compare what a model says of examples, and of what they were changed to, with the ground truth.

    Parameters
    ----------
    dataset
        The dataset, with its split `pairs`.
    predictions
        Those for the split whose worlds were changed.
    changed_predictions
        Those for the split `pairs`, which names the example that each of its rows comes from.
    training
        The worlds that training shows, a row each: pairs with values that none has are told apart.
    """
    pairs, space = align_pairs(dataset, predictions, changed_predictions), dataset.knowledge.space
    unseen = pairs.unseen(training)
    apart = _effects(_values(pairs.take(np.flatnonzero(unseen)), space)) if unseen.any() else None
    kept = pairs.take(np.flatnonzero(~unseen)) if unseen.any() else pairs
    values, names = _values(kept, space), kept.concepts
    by_concept = {
        name: _effects({key: found[[n == name for n in names]] for key, found in values.items()})
        for name in dict.fromkeys(sorted(names, key=space.place))
    }
    return Counterfactuals(PAIRS, len(names), _effects(values), by_concept, apart, int(unseen.sum()))


def _values(pairs: AlignedPairs, space: ConceptSpace) -> dict[str, Array]:
    """Return for each pair each of its effects, NaN where there is nothing to see."""
    before, after = pairs.before, pairs.after
    moved = before.labels != after.labels
    right = (before.labels == before.predicted_labels) & (after.labels == after.predicted_labels)
    same = before.predicted_labels == after.predicted_labels
    differs = before.concepts != after.concepts
    spoken = (before.predicted_concepts >= 0) & (after.predicted_concepts >= 0)
    columns = np.array([space.place(name) for name in pairs.concepts], dtype=np.int64)
    own = np.arange(differs.shape[1])[None, :] == columns[:, None]
    kept = before.predicted_concepts == after.predicted_concepts
    return {
        "follows": _rows(right, moved),
        "stays": _rows(same, ~moved),
        "noticed": _rows(after.predicted_concepts == after.concepts, own & spoken),
        "untouched": _rows(kept, ~differs & spoken),
    }


def _rows(true: Array, counted: Array) -> Array:
    """Return for each row the share of the counted cells that are true, NaN where none is counted."""
    sizes = counted.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((true & counted).sum(axis=1) / sizes)


def _effects(values: Mapping[str, Array]) -> Effects:
    return Effects(**{name: mean_score(name, found[~np.isnan(found)]) for name, found in values.items()})
