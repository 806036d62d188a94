"""Intervals and tests of shares against scipy, and their laws."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from assay.metrics import at_least, at_most, of_difference, of_mean, wilson
from assay.metrics.interval import from_error, holm


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(("right", "examples"), [(0, 1), (1, 1), (0, 20), (20, 20), (49, 50), (500, 1000)])
def test_wilson_is_scipys(right: int, examples: int, confidence: float) -> None:
    expected = stats.binomtest(right, examples).proportion_ci(confidence, method="wilson")
    assert wilson(right, examples, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)
    values = np.arange(examples) < right
    assert of_mean(values, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_of_nothing_and_of_fractions() -> None:
    assert wilson(0, 0) == (0.0, 1.0) == of_mean(np.array([]))
    assert wilson(4, 10)[0] < wilson(4.5, 10)[0] < wilson(5, 10)[0]


@pytest.mark.parametrize(("right", "examples"), [(0, 7), (1, 7), (7, 7), (30, 50), (999, 1000)])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 1.0])
def test_binomial_tests_are_scipys(right: int, examples: int, share: float) -> None:
    above = stats.binomtest(right, examples, share, alternative="greater").pvalue
    below = stats.binomtest(right, examples, share, alternative="less").pvalue
    assert at_least(right, examples, share) == pytest.approx(above, abs=1e-12)
    assert at_most(right, examples, share) == pytest.approx(below, abs=1e-12)


def test_answers_that_fail_independently_count_one_by_one() -> None:
    right = np.random.default_rng(0).random((400, 5)) < 0.8
    low, high = of_mean(right.mean(axis=1))
    assert (low, high) == pytest.approx(wilson(right.sum(), right.size), abs=0.006)


def test_answers_that_fail_together_count_as_one() -> None:
    right = np.random.default_rng(0).random((400, 1)) < 0.8
    assert of_mean(np.repeat(right, 5, axis=1).mean(axis=1)) == pytest.approx(wilson(right.sum(), 400))


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_no_variance_is_not_certainty(value: float) -> None:
    assert of_mean(np.full(20, value)) == pytest.approx(wilson(20 * value, 20))
    assert from_error(value, 0.0, 20) == pytest.approx(wilson(20 * value, 20))


def test_other_values_get_students_interval() -> None:
    values = np.random.default_rng(0).normal(2, 1, 30)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert of_mean(values) == pytest.approx((expected.low, expected.high))
    assert of_mean(np.array([3.0])) == (0.0, math.inf) and of_mean(np.array([-3.0])) == (-math.inf, math.inf)
    assert of_mean(np.array([0.0, 0.0, 9.0]))[0] == 0  # constraints broken: never fewer than none


def test_a_standard_error_stands_for_a_number_of_examples() -> None:
    assert from_error(0.7, math.sqrt(0.7 * 0.3 / 60), 5) == pytest.approx(wilson(42, 60))


def test_the_value_is_inside() -> None:
    for right, examples in itertools.product(range(11), (10, 11, 100)):
        low, high = wilson(right, examples)
        assert 0 <= low <= right / examples <= high <= 1


def test_holm_by_hand() -> None:
    assert holm([]) == []
    assert holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]  # 0.05 / 4, 0.05 / 3, then 0.03 > 0.05 / 2
    assert holm([0.02, 0.03], level=0.1) == [True, True]
    assert holm([0.5, float("nan"), 0.001]) == [False, False, True]


def test_holm_rarely_raises_a_false_alarm() -> None:
    drawn = np.random.default_rng(0).random((2000, 8))
    assert np.mean([any(holm(row)) for row in drawn.tolist()]) == pytest.approx(0.05, abs=0.015)


def test_holm_asks_less_of_each_further_test():
    assert holm([0.04, 0.012, 0.02]) == [True, True, True]  # 0.05 / 3, 0.05 / 2, 0.05; Bonferroni would stop at 0.02
    assert holm([0.04, 0.012, 0.03]) == [False, True, False]


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_differences_get_students_interval(confidence: float) -> None:
    values = np.random.default_rng(1).normal(0.1, 0.2, 12)
    expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    assert of_difference(values, confidence) == pytest.approx((expected.low, expected.high))
    assert of_difference(values) == of_difference(values, 0.95)
    assert of_difference(np.array([0.3])) == (-math.inf, math.inf) == of_difference(np.array([]))


def test_values_may_stand_for_several_examples() -> None:
    rng = np.random.default_rng(2)
    often = rng.integers(1, 6, 25)
    for values in (rng.random(25), (rng.random(25) < 0.7).astype(float), rng.normal(3, 2, 25)):
        values[4] = math.nan
        assert of_mean(values, weights=often) == pytest.approx(of_mean(np.repeat(values, often)))


def test_a_few_means_of_several_answers_differ_by_two_examples_more() -> None:
    values = np.array([0.6, 0.7, 0.8, 0.7])
    variance = (4 * values.var() + 2 * 0.7 * 0.3) / 6  # as if two more examples were right or wrong as a whole
    examples = 0.7 * 0.3 / (variance / 4)
    assert of_mean(values) == pytest.approx(wilson(0.7 * examples, examples))
    assert of_mean(np.array([0.0, 1.5]))[0] == 0.0 and of_mean(np.array([-0.1, 0.5]))[0] < -0.1


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99])
def test_another_confidence_reaches_every_interval(confidence: float) -> None:
    values = np.array([0.2, 0.9, 1.0, 0.4, 0.75])
    z = stats.norm.ppf((1 + confidence) / 2)

    def score_interval(share: float, count: float) -> list[float]:
        centre, half = share + z * z / (2 * count), z * math.sqrt(share * (1 - share) / count + z * z / (4 * count**2))
        return [(centre - half) / (1 + z * z / count), (centre + half) / (1 + z * z / count)]

    mean = values.mean()
    variance = (5 * values.var() + 2 * mean * (1 - mean)) / 7
    assert of_mean(values, confidence) == pytest.approx(score_interval(mean, mean * (1 - mean) / (variance / 5)))
    assert from_error(0.3, 0.05, 9, confidence) == pytest.approx(score_interval(0.3, 0.21 / 0.0025))
    assert from_error(0.3, 0.0, 9, confidence) == pytest.approx(score_interval(0.3, 9))
    half = stats.t.ppf((1 + confidence) / 2, 4) * values.std(ddof=1) / math.sqrt(5)
    assert of_difference(values, confidence) == pytest.approx((mean - half, mean + half))
    assert of_mean(values + 1, confidence) == pytest.approx((mean + 1 - half, mean + 1 + half))


def test_weights_and_gaps_go_together() -> None:
    values, weights = np.array([3.0, np.nan, 1.0, 7.0]), np.array([2, 50, 3, 1])
    assert of_mean(values, weights=weights) == pytest.approx(of_mean(np.array([3.0, 3.0, 1.0, 1.0, 1.0, 7.0])))
    below, above = of_mean(np.array([-2.0, 0.5, 0.25]))
    assert below < -0.42 < above and of_mean(np.array([0.0, 2.0]))[0] == 0.0  # a mean of what is not negative is not
    assert of_mean(np.array([5.0])) == (0.0, math.inf) and of_mean(np.array([-5.0])) == (-math.inf, math.inf)
    assert of_difference(np.array([])) == (-math.inf, math.inf) == of_difference(np.array([0.25]))
