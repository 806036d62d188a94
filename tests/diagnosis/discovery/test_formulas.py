"""Scores of discovered units by their formulas, on a handful of rows: thresholds, directions, gaps and curves."""

import math

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.diagnosis import (
    ChanceScore,
    ConceptValue,
    Readout,
    UnitScores,
    UnitSplit,
    concept_values,
    fit_readout,
    live_units,
)
from assay.diagnosis.discovery.disentanglement import completeness, disentanglement, information_gap, predict_columns
from assay.diagnosis.discovery.matching import UnitMatch, fit_matches, purity, score_matches, unit_information
from assay.diagnosis.discovery.readout import ValueCurve
from assay.diagnosis.discovery.stability import agreement, stability

NAN = math.nan


def test_values_are_named_by_kind_and_number():
    space = ConceptSpace((Concept("c", ("red", "blue")), Concept("t", (False, True)), Concept("one", (4,)),
                          Concept("n", (0, 1, 2))))  # fmt: skip
    found = [(value.concept, value.value, value.name) for value in concept_values(space)]
    assert found == [
        (0, 1, "c = blue"),
        (1, 1, "t"),
        (2, 0, "one = 4"),
        (3, 0, "n = 0"),
        (3, 1, "n = 1"),
        (3, 2, "n = 2"),
    ]


A, B = ConceptValue(0, 1, "a"), ConceptValue(1, 1, "b")


def test_thresholds_lie_between_numbers_that_differ():
    units = np.array([[4.0], [3.0], [3.0], [1.0]])
    for codes, cut, f1 in (([1, 1, 0, 0], 2.0, 0.8), ([1, 1, -1, 0], 2.0, 1.0)):  # what is not known does not count
        split = UnitSplit(units, np.array(codes)[:, None], None)
        (match,) = fit_matches(split, (A,))
        assert (match.unit, match.direction, match.threshold) == (0, 1, cut)
        assert score_matches(split, (match,))[0].f1 == pytest.approx(f1)


def test_the_direction_of_a_unit_and_values_that_do_not_vary():
    split = UnitSplit(
        np.array([[1.0, 0], [2.0, 1], [3.0, 0], [4.0, 1]]), np.array([[1, 1], [1, 1], [0, 1], [0, -1]]), None
    )
    first, second = fit_matches(split, (A, B))
    assert first == UnitMatch(A, 0, -1, -2.5) and second == UnitMatch(B, None)
    assert first.predicted(split.units).tolist() == [True, True, False, False]
    assert second.predicted(split.units).tolist() == [False] * 4
    scores = score_matches(split, (first, second))
    assert (scores[0].f1, scores[0].purity, scores[0].share) == (1.0, 1.0, 0.5)
    assert scores[1].share == 1.0 and np.isnan(scores[1].f1)
    plain = scores[1].to_dict()
    assert plain["threshold"] is None and plain["unit"] is None and plain["f1"] is None and plain["share"] == 1.0
    other = UnitSplit(split.units, np.array([[1, 1], [0, 1], [1, 0], [0, 0]]), None)
    half, none = score_matches(other, (UnitMatch(A, 0, -1, -2.5), UnitMatch(B, None)))
    assert (half.f1, half.purity) == (0.5, 0.5)
    assert (none.f1, none.information, none.purity, none.share) == (0.0, 0.0, 0.0, 0.5)
    assert score_matches(other, (UnitMatch(A, 0, 1, 9.0),))[0].f1 == 0.0


def test_purity_takes_a_twentieth_but_at_least_eight():
    numbers = -np.arange(400.0)
    holds = np.zeros(400, bool)
    holds[:10] = holds[200:300] = True
    assert purity(numbers, holds) == 0.5
    assert purity(numbers[:40], np.arange(40) % 4 != 1) == 0.75
    assert np.isnan(purity(numbers[:3], np.zeros(3, bool)))


def test_information_is_a_share_and_gaps_are_left_out():
    codes = np.array([[0, 0], [1, 0], [0, 1], [1, -1]])
    units = np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]])
    found = unit_information(units, codes, [2, 2])
    np.testing.assert_allclose(found[:, 0], [1, 0], atol=1e-12)
    joint = np.log(3) - 2 / 3 * np.log(2)
    np.testing.assert_allclose(found[0, 1], (2 * joint - (np.log(3))) / joint, atol=1e-12)


def test_columns_without_two_values_are_not_predicted():
    units = np.repeat([[0.0, 1.0], [1.0, 1.0]], 6, axis=0)
    varied, still = np.repeat([[0], [1]], 6, axis=0), np.zeros((12, 1), int)
    found = predict_columns(units, np.hstack([varied, still, varied]), units, np.hstack([varied, varied, still]), 0)
    assert found.importance.shape == (2, 1) and found.skill == 1.0
    np.testing.assert_allclose(found.importance[:, 0], [1, 0])
    none = predict_columns(units, still, units, varied, 0)
    assert none.importance.shape == (2, 0) and np.isnan(none.skill)
    flipped = predict_columns(units, varied, units, 1 - varied, 0)
    assert flipped.skill == -1.0


def test_importance_is_concentrated_by_row_and_by_column():
    importance = np.array([[0.75, 0.25], [0.0, 0.0], [0.0, 1.0]])
    low = 1 + (0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert disentanglement(importance) == pytest.approx((low + 1) / 2)
    shares = np.array([0.2, 0.8])
    second = 1 + (shares * np.log(shares)).sum() / np.log(3)
    assert completeness(importance) == pytest.approx((1 + second) / 2)
    assert np.isnan(disentanglement(importance[:, :1])) and np.isnan(disentanglement(0 * importance))
    assert np.isnan(completeness(importance[:1])) and np.isnan(completeness(importance[:, :0]))
    units = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    split = UnitSplit(units, np.array([[0, 2], [0, 2], [1, 2], [1, -1]]), None)
    assert information_gap(split, [2, 3]) == pytest.approx(1.0)
    assert np.isnan(information_gap(UnitSplit(units[:, :1], split.concepts, None), [2, 3]))


def test_scores_beside_chance():
    found = ChanceScore.of(0.5, [0.25, NAN, 0.5])
    assert (found.chance, found.highest, found.above_chance) == (0.375, 0.5, False)
    assert ChanceScore(0.51, 0.4, 0.5).above_chance and not ChanceScore(NAN, 0.4, 0.5).above_chance
    assert ChanceScore.of(0.5, [NAN]).to_dict() == {"value": 0.5, "chance": None, "highest_chance": None}
    split = UnitSplit(np.array([[0.0], [1.0]]), np.array([[0, 1], [1, 1]]), None)
    scores = UnitScores(score_matches(split, fit_matches(split, (A, B))), {})
    assert [len(scores.of_concept(place)) for place in (0, 1, 2)] == [1, 0, 0]


def test_units_agree_in_pairs_and_still_ones_are_left_out():
    first = np.array([[0.0, 1.0, 7.0], [1.0, 0.0, 7.0], [2.0, 0.5, 7.0]])
    assert live_units(first).tolist() == [0, 1] and live_units(first * 1e-20).tolist() == [0, 1]
    assert live_units(np.zeros((3, 2))).tolist() == []
    assert agreement(first, first[:, :1]) == pytest.approx(0.5) and agreement(first, np.ones((3, 2))) == 0.0
    assert stability([first, first[:, :1], first]) == pytest.approx((0.5 + 1 + 0.5) / 3)
    assert np.isnan(stability([first]))


def test_probabilities_read_off_units_add_up():
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
    values = concept_values(space)
    matches = tuple(UnitMatch(value, unit) for value, unit in zip(values, (0, 1, None, 1), strict=True))
    flat = ValueCurve(0.0, 1.0, 0.0, 0.0)
    curves = (ValueCurve(1.0, 2.0, 3.0, 0.5), flat, ValueCurve(0.0, 1.0, 5.0, np.log(3.0)), flat)
    first, second = Readout(space, matches, curves).probabilities(np.array([[3.0, 8.0]]))
    chance = 1 / (1 + np.exp(-3.5))
    np.testing.assert_allclose(first, [[1 - chance, chance]], atol=1e-8)
    np.testing.assert_allclose(second, np.array([[0.5, 0.75, 0.5]]) / 1.75, atol=1e-8)


def test_a_curve_is_where_its_slope_is_none():
    numbers, holds = np.array([1.0, 2, 3, 4, 6, 8]), np.array([0, 0, 1, 0, 1, 1])
    space, pair = bits(["a", "b"]), (UnitMatch(A, 0), UnitMatch(B, 0))
    split = UnitSplit(numbers[:, None], np.stack([holds, holds * 0 - 1], axis=1), None)
    found, unknown = fit_readout(split, pair, space).curves
    z, rest = (numbers - numbers.mean()) / numbers.std(), holds - found(numbers)
    assert (found.mean, found.scale) == (4.0, pytest.approx(numbers.std()))
    assert rest.sum() == pytest.approx(0.01 * found.bias, abs=1e-9)
    assert rest @ z == pytest.approx(0.01 * 0.6 * found.slope, abs=1e-9)
    assert unknown == ValueCurve(0.0, 1.0, 0.0, 0.0)
    still = UnitSplit(np.full((4, 1), 5.0), np.array([[1, 1], [1, 1], [1, 1], [0, 0]]), None)
    flat = fit_readout(still, pair, space).curves[0]
    assert (flat.mean, flat.scale, flat.slope) == (5.0, 1.0, 0.0) and 0.74 < flat(np.array([5.0]))[0] < 0.75
