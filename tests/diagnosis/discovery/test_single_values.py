"""Discovered units and training labels where a concept that comes first has one value, or is settled only in part."""

import math

import numpy as np
import pytest

from assay.diagnosis import ConceptValue, UnitSplit
from assay.diagnosis.discovery.disentanglement import information_gap
from assay.diagnosis.discovery.matching import UnitMatch, fit_matches, score_matches

STILL, TOLD, KIND = ConceptValue(0, 1, "w = v"), ConceptValue(1, 1, "a"), ConceptValue(2, 2, "n = 2")


def test_values_are_matched_with_units_though_the_first_does_not_vary():
    units = np.array([[5.0, 1, 0], [1, 2, 0], [4, 3, 9], [2, 7, 0], [6, 8, 9], [3, 9, 0]])
    concepts = np.array([[0, 1, 0], [0, 1, 1], [0, 1, 2], [-1, 0, 0], [0, 0, 2], [0, 0, -1]])
    split = UnitSplit(units, concepts, None)
    found = fit_matches(split, (STILL, TOLD, KIND))
    assert found == (UnitMatch(STILL, None), UnitMatch(TOLD, 1, -1, -5.0), UnitMatch(KIND, 2, 1, 4.5))
    scores = score_matches(split, found)
    assert [score.share for score in scores] == pytest.approx([0.0, 3 / 6, 2 / 5])
    assert math.isnan(scores[0].f1) and [score.f1 for score in scores[1:]] == [1.0, 1.0]


def test_the_gap_of_concepts_after_one_that_does_not_vary_has_their_own_sizes():
    rows = np.arange(12)
    concepts = np.stack([np.where(rows == 5, -1, 3), rows % 2, rows % 3], axis=1)
    units = np.stack([rows * 0, rows % 2, np.minimum(rows % 3, 1)], axis=1).astype(float)
    merged = -(math.log(1 / 3) + 2 * math.log(2 / 3)) / 3  # what is told of n where 1 and 2 look alike
    assert information_gap(UnitSplit(units, concepts, None), [5, 2, 3]) == pytest.approx((1 + merged / math.log(3)) / 2)
