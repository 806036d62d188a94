"""Metrics of several labels and groups, at their edges."""

import math
from dataclasses import replace

import numpy as np
import pytest

from assay.concepts import bits, digits
from assay.logic import Constraint, Knowledge, parse
from assay.metrics import (
    METRICS,
    Evidence,
    Metric,
    accuracy_by_region,
    at_least,
    at_most,
    average_interval,
    balanced_accuracy,
    calibration,
    expected_calibration_error,
    interval,
    mean,
    of_difference,
    of_mean,
    score,
)
from assay.metrics.average_interval import Average, accuracy_of, interval_of
from assay.metrics.calibration import _bin, _over_columns, _sums, _variances
from assay.metrics.concept_collapse import _interval_of_mean, _rows_with, collapse, collapse_of_vectors
from assay.metrics.evidence import Side

RULE = Knowledge.of(
    bits(["a", "b"]), {"y": "a and b", "z": "a"}, [Constraint("one", parse("a or b")), Constraint("two", parse("a"))]
)


def evidence(truth, said, predicted_labels=None, **more):
    truth, said = np.array(truth), np.array(said)
    labels = RULE.labels_of(truth)
    guessed = labels if predicted_labels is None else np.array(predicted_labels)
    return Evidence(RULE, "test", labels, truth, guessed, said, (None, None), (None, None), **more)


def test_constants_of_intervals():
    assert (interval.ADDED, score.RESAMPLES, score.FEWEST, calibration.BINS) == (2, 200, 30, 10)
    assert (average_interval.LEAST_TOGETHER, average_interval.FOR_VARIANCE, average_interval.FOR_BIAS) == (
        0.01,
        3.0,
        0.5,
    )


def test_regions_of_several_labels_are_averaged_first_within_each():
    limited = evidence([[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0]] * 4, [[0, 0], [1, 0], [0, 0], [1, 1]])
    assert METRICS["near_accuracy"](limited) == 1.0  # within the constraints a is always true
    one = replace(limited, knowledge=Knowledge.of(RULE.space, {"y": "a and b", "z": "a"}))
    # y: true in row 3 (right); z: true in rows 2 (wrong) and 3 (right)
    assert METRICS["variant_accuracy"](one) == pytest.approx((1 + 0.5) / 2)
    # y: near are rows 1 (b without a, wrong) and 2 (right), far is row 0; z: near are rows 0 and 1, none is far
    assert METRICS["near_accuracy"](one) == pytest.approx((0.5 + 1) / 2)
    assert METRICS["far_accuracy"](one) == 1.0
    assert METRICS["balanced_accuracy"](one) == pytest.approx(((2 / 3 + 1) / 2 + (1 + 0.5) / 2) / 2)


def test_far_is_neither_of_a_variant_nor_of_a_type_and_placed():
    side = Side(
        ("v",),
        ("t",),
        np.array([[1], [0], [0], [0]], bool),
        np.array([[0], [1], [0], [0]], bool),
        np.array([1, 1, 1, 0], bool),
    )
    assert side.far.tolist() == [False, False, True, False]
    some = side.take(np.array([2, 0, 2]))
    assert some.far.tolist() == [True, False, True] and some.in_variants.tolist() == [[False], [True], [False]]


def test_rows_may_stand_for_several_examples():
    right, inside = np.array([True, False, True]), np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)
    found = accuracy_by_region(right, inside, np.array([3, 1, 2]))
    assert found[:2].tolist() == pytest.approx([3 / 4, 2 / 3]) and math.isnan(found[2])
    assert balanced_accuracy(np.array([0, 0, 2]), np.array([0, 1, 2]), np.array([1, 3, 5])) == pytest.approx(
        (0.25 + 1) / 2
    )
    assert mean(np.array([np.nan, 2.0]), np.array([4, 1])) == 2.0 and math.isnan(mean(np.array([np.nan])))


def test_broken_constraints_are_counted_where_every_concept_is_said():
    one = evidence([[0, 0]] * 4, [[0, 0], [0, 1], [1, 1], [-1, 0]])
    assert one.broken[:3].tolist() == [2, 1, 0] and math.isnan(one.broken[3])
    assert one.answered == (0, 1) and one.has_concepts and evidence([[0, 0]], [[-1, 1]]).answered == (1,)
    assert not evidence([[0, 0]], [[-1, -1]]).has_concepts
    gaps = evidence([[0, 1], [0, 0]], [[1, 1], [0, 1]])
    lost = Evidence(RULE, "test", gaps.labels, np.array([[-1, 1], [0, 0]]), gaps.labels, gaps.predicted_concepts, (None, None), (None, None))  # fmt: skip
    assert lost.judged_concepts.tolist() == [[-1, 1], [0, 1]] and lost.known.tolist() == [[False, True], [True, True]]


def test_equal_rows_are_put_together_where_they_are_at_most_half():
    half = evidence([[0, 0], [0, 0], [1, 1], [1, 1]], [[0, 1]] * 4)
    assert len(half.distinct) == 2 and half.distinct.weights.tolist() == [2, 2] and half.distinct.examples == 4
    assert half.distinct.singly.concepts.tolist() == half.concepts.tolist() and half.distinct.distinct is half.distinct
    more = evidence([[0, 0], [0, 0], [1, 1]], [[0, 1]] * 3)
    assert more.distinct is more and more.singly is more and more.weights.tolist() == [1, 1, 1]
    assert half.distinct.take(np.array([False, True])).examples == 2


def test_bins_of_confidence():
    assert _bin(np.array([0.0, 0.1, 0.1001, 0.5, 0.95, 1.0]), 10).tolist() == [0, 0, 1, 4, 9, 9]
    place, values = np.array([0, 2, 2, 9]), np.array([1.0, 2.0, 4.0, 8.0])
    assert _sums(values, place).tolist() == [1, 0, 6, 0, 0, 0, 0, 0, 0, 8]
    found = _variances(values, place, _sums(values, place))
    assert found.tolist() == pytest.approx([0, 0, 2 * 2 / 1, *[0] * 7])  # two values about their mean, twice
    truth, chances = np.array([0, -1, 1]), np.array([[0.75, 0.25], [1.0, 0.0], [0.65, 0.35]])
    assert expected_calibration_error(truth, chances) == pytest.approx((0.25 + 0.65) / 2)
    assert expected_calibration_error(truth[[0, 2]], chances[[0, 2]], 2) == pytest.approx(abs(0.25 - 0.65) / 2)
    assert math.isnan(expected_calibration_error(truth[1:2], chances[1:2]))
    both = np.stack([truth, np.array([-1, -1, -1])], axis=1)
    assert _over_columns(both, (chances, chances)) == pytest.approx(0.45) and math.isnan(
        _over_columns(both, (None, None))
    )


def test_collapse_counts_what_is_said_or_true():
    assert collapse(np.array([0, 1, -1]), np.array([5, -1, 0])) == pytest.approx(1 - 2 / 3)
    assert math.isnan(collapse(np.array([-1]), np.array([-1]))) and collapse(np.array([0]), np.array([-1])) == 1
    assert collapse_of_vectors(
        np.array([[0, 1], [1, 1], [0, 0]]), np.array([[0, 1], [-1, 1], [0, 1]])
    ) == pytest.approx(2 / 3)
    assert _rows_with(np.array([[0, 0], [1, -1], [0, 2]]), 3, np.array([2, 3, 1])).tolist() == [3, 3, 1]
    low, high = _interval_of_mean(np.array([0.2, 0.6]), [(0.1, 0.5), (0.4, 1.0)])
    assert low == pytest.approx(0.4 - math.hypot(0.1, 0.2) / 2) and high == pytest.approx(
        0.4 + math.hypot(0.3, 0.4) / 2
    )


def test_intervals_of_nothing_and_of_little():
    assert all(math.isnan(bound) for bound in interval_of([])) and of_difference(np.array([0.5])) == (
        -math.inf,
        math.inf,
    )
    assert of_mean(np.array([])) == (0.0, 1.0) and of_mean(np.array([3.0])) == (0.0, math.inf)
    assert at_least(0, 5, 0.3) == 1 and at_least(5, 5, 0.3) == pytest.approx(0.3**5)
    assert at_most(0, 5, 0.3) == pytest.approx(0.7**5) and at_most(5, 5, 0.3) == 1
    with pytest.raises(TypeError, match="metric 'x' has no function"):
        Metric("x", "", "higher")(evidence([[0, 0]], [[0, 0]]))


def test_averages_leave_out_regions_without_examples():
    right, inside = np.array([1, 0, 1]), np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1]], dtype=bool)
    one = accuracy_of(right, inside, np.array([1, 2, 3]))
    assert one.right.tolist() == [1, 4] and one.counted.tolist() == [3, 4] and one.weights.tolist() == [0.5, 0.5]
    assert one.influence.tolist() == pytest.approx([(2 / 3 / 3 + 0) / 2, (-1 / 3 / 3) / 2, 0])
    share, variance, bias = Average(np.array([1.0]), np.array([4.0]), np.ones(1), np.zeros(4), np.ones(4))._moments(0.0)
    assert (share, variance, bias) == pytest.approx((0.25, 0.25 * 0.75 / 4, 0))


def test_numbers_of_digits_have_no_variants():
    rule = Knowledge.of(digits(["a", "b"], range(3)), {"sum": "a + b"})
    codes = rule.space.all_codes()
    one = Evidence(rule, "test", rule.labels_of(codes), codes, rule.labels_of(codes), codes, (None,), (None, None))
    assert one.sides[0].variants == () and one.sides[0].types == ("change a", "change b") and not one.sides[0].far.any()
