"""Counterfactual pairs: when one concept changes, does the label follow where the rule says so, and only then?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.arrays import Array, find_rows
from assay.data.columns import PAIR_CONCEPT
from assay.data.dataset import Dataset
from assay.data.manifest import PAIRS
from assay.errors import DataError
from assay.metrics.evidence import Evidence, gather
from assay.metrics.metric import mean
from assay.metrics.score import Score, mean_score
from assay.predictions import Predictions


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
    all: Effects
    by_concept: Mapping[str, Effects]

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        concepts = {name: effects.to_dict() for name, effects in self.by_concept.items()}
        return {"split": self.split, "pairs": self.pairs, "all": self.all.to_dict(), "by_concept": concepts}

    @property
    def text(self) -> str:
        """The findings in a sentence."""
        said = []
        if self.all.follows.applies:
            said.append(f"the label follows in {100 * self.all.follows.value:.0f} % of the changes that should move it")
        if self.all.stays.applies:
            said.append(f"stays in {100 * self.all.stays.value:.0f} % of those that should not")
        return f"When one concept is changed, {' and '.join(said)}."


@dataclass(frozen=True)
class AlignedPairs:
    """What a model says of examples, and row by row of what they were changed to, with the concepts changed."""

    before: Evidence
    after: Evidence
    concepts: tuple[str, ...]


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


def counterfactuals(dataset: Dataset, predictions: Predictions, changed_predictions: Predictions) -> Counterfactuals:
    """Compare what a model says of examples, and of what they were changed to, with the ground truth.

    The predictions are those of `align_pairs`.
    """
    pairs = align_pairs(dataset, predictions, changed_predictions)
    before, after, names, space = pairs.before, pairs.after, pairs.concepts, dataset.knowledge.space
    moved = before.labels != after.labels
    right = (before.labels == before.predicted_labels) & (after.labels == after.predicted_labels)
    same = before.predicted_labels == after.predicted_labels
    differs = before.concepts != after.concepts
    spoken = (before.predicted_concepts >= 0) & (after.predicted_concepts >= 0)
    columns = np.array([space.place(name) for name in names])
    own = np.arange(differs.shape[1])[None, :] == columns[:, None]
    kept = before.predicted_concepts == after.predicted_concepts
    values = {
        "follows": _rows(right, moved),
        "stays": _rows(same, ~moved),
        "noticed": _rows(after.predicted_concepts == after.concepts, own & spoken),
        "untouched": _rows(kept, ~differs & spoken),
    }
    by_concept = {
        name: _effects({key: found[[n == name for n in names]] for key, found in values.items()})
        for name in dict.fromkeys(sorted(names, key=space.place))
    }
    return Counterfactuals(PAIRS, len(after), _effects(values), by_concept)


def _rows(true: Array, counted: Array) -> Array:
    """Return for each row the share of the counted cells that are true, NaN where none is counted."""
    sizes = counted.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((true & counted).sum(axis=1) / sizes)


def _effects(values: Mapping[str, Array]) -> Effects:
    return Effects(**{name: mean_score(name, found[~np.isnan(found)]) for name, found in values.items()})
