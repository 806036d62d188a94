"""DCI (Eastwood and Williams, 2018) and the mutual information gap (Chen et al., 2018) of units.

DCI asks a random forest how much each unit matters to the prediction of each concept. *Disentanglement*: is each unit
about one concept? *Completeness*: is each concept in one unit? *Informativeness*: is the concept there at all? The gap
asks the same of one concept at a time: by how much the unit that says most of it is ahead of the next.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.base import Array, Codes, import_extra
from assay.metrics.discovery.matching import UnitSplit, unit_information

TREES, DEPTH = 20, 10
"""The random forests that concepts and labels are predicted by."""


@dataclass(frozen=True)
class ColumnPrediction:
    """How well some columns are predicted from units, and how much each unit matters to each: units x columns."""

    importance: Array
    skill: float
    """How much of the way from the commonest value to all right the accuracy goes, averaged over columns."""


def predict_columns(units: Array, codes: Codes, test_units: Array, test_codes: Codes, seed: int) -> ColumnPrediction:
    """Predict each column of codes from units by a random forest, fitted on some examples and scored on others."""
    columns, skills = [], []
    for place in range(codes.shape[1]):
        known, judged = codes[:, place] >= 0, test_codes[:, place] >= 0
        truth = test_codes[judged, place]
        if len(np.unique(codes[known, place])) < 2 or len(np.unique(truth)) < 2:
            continue
        forest = _forest(seed).fit(units[known], codes[known, place])
        common = np.bincount(codes[known, place]).argmax()
        accuracy, plain = (forest.predict(test_units[judged]) == truth).mean(), (truth == common).mean()
        columns.append(forest.feature_importances_)
        skills.append((accuracy - plain) / (1 - plain) if plain < 1 else np.nan)
    if not columns:
        return ColumnPrediction(np.zeros((units.shape[1], 0)), np.nan)
    return ColumnPrediction(np.stack(columns, axis=1), float(np.nanmean(skills)))


def _forest(seed: int) -> Any:
    ensemble = import_extra("sklearn.ensemble", "scoring discovered concepts")
    return ensemble.RandomForestClassifier(TREES, max_depth=DEPTH, random_state=seed)


def disentanglement(importance: Array) -> float:
    """Return whether each unit matters to one concept only, units weighted by how much they matter at all.

    >>> disentanglement(np.eye(3)), round(disentanglement(np.ones((3, 3))), 6)
    (1.0, 0.0)
    """
    if importance.shape[1] < 2 or importance.sum() <= 0:
        return np.nan
    weights = importance.sum(axis=1) / importance.sum()
    return float(weights @ _concentration(importance))


def completeness(importance: Array) -> float:
    """Return whether each concept depends on one unit only.

    >>> completeness(np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.5]])).__round__(3)
    0.685
    """
    if importance.shape[0] < 2 or not importance.shape[1]:
        return np.nan
    return float(_concentration(importance.T).mean())


def _concentration(rows: Array) -> Array:
    """Return 1 minus the entropy of each row, in units of its most: 1 if all is in one place; 0 for an empty row."""
    whole = rows.sum(axis=1, keepdims=True)
    shares = rows / np.where(whole > 0, whole, 1)
    entropies = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1) / np.log(rows.shape[1])
    return np.where(whole[:, 0] > 0, 1 - entropies, 0)


def information_gap(split: UnitSplit, sizes: list[int]) -> float:
    """Return the mutual information gap (MIG): the share of a concept's entropy by which its best unit is ahead."""
    varying = [place for place, column in enumerate(split.concepts.T) if len(np.unique(column[column >= 0])) > 1]
    if not varying or split.units.shape[1] < 2:
        return np.nan
    shares = unit_information(split.units, split.concepts[:, varying], [sizes[place] for place in varying])
    ordered = np.sort(shares, axis=0)
    return float((ordered[-1] - ordered[-2]).mean())
