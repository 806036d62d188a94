"""Intervals: of shares and means against scipy, of every metric against resamples, and laws at the ends."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assay import METRICS, Evidence, Knowledge, bits, digits
from assay.base import rng_for
from assay.metrics import at_least, at_most, holm, mean_score, of_difference, of_mean, score, wilson
from tests.predictors import constant, labels_only, oracle, random_evidence, shuffled

SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})

# -- shares, means and differences -------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(("right", "examples"), [(0, 1), (1, 1), (0, 20), (20, 20), (49, 50), (500, 1000)])
def test_wilson_is_scipys(right, examples, confidence):
    expected = stats.binomtest(right, examples).proportion_ci(confidence, method="wilson")
    assert wilson(right, examples, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)
    values = np.arange(examples) < right
    assert of_mean(values, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_shares_of_nothing_of_fractions_and_their_value_inside():
    assert wilson(0, 0) == (0.0, 1.0) == of_mean(np.array([]))
    assert wilson(4, 10)[0] < wilson(4.5, 10)[0] < wilson(5, 10)[0]
    for right, examples in itertools.product(range(11), (10, 11, 100)):
        low, high = wilson(right, examples)
        assert 0 <= low <= right / examples <= high <= 1


@pytest.mark.parametrize(("right", "examples"), [(0, 7), (1, 7), (7, 7), (30, 50), (999, 1000)])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 1.0])
def test_binomial_tests_are_scipys(right, examples, share):
    above = stats.binomtest(right, examples, share, alternative="greater").pvalue
    below = stats.binomtest(right, examples, share, alternative="less").pvalue
    assert at_least(right, examples, share) == pytest.approx(above, abs=1e-12)
    assert at_most(right, examples, share) == pytest.approx(below, abs=1e-12)


def test_answers_that_fail_independently_count_one_by_one_and_those_that_fail_together_as_one():
    rng = np.random.default_rng(0)
    apart, together = rng.random((400, 5)) < 0.8, rng.random((400, 1)) < 0.8
    assert of_mean(apart.mean(axis=1)) == pytest.approx(wilson(apart.sum(), apart.size), abs=0.006)
    assert of_mean(np.repeat(together, 5, axis=1).mean(axis=1)) == pytest.approx(wilson(together.sum(), 400))


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_no_variance_is_not_certainty(value):
    assert of_mean(np.full(20, value)) == pytest.approx(wilson(20 * value, 20))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_other_values_and_differences_get_students_interval(confidence):
    values = np.random.default_rng(0).normal(2, 1, 30)
    expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    assert of_mean(values, confidence) == pytest.approx((expected.low, expected.high))
    assert of_difference(values - 2, confidence) == pytest.approx((expected.low - 2, expected.high - 2))
    assert of_mean(np.array([3.0])) == (0.0, math.inf) and of_mean(np.array([-3.0])) == (-math.inf, math.inf)
    assert of_mean(np.array([0.0, 0.0, 9.0]))[0] == 0  # constraints broken: never fewer than none
    assert of_difference(np.array([0.3])) == (-math.inf, math.inf) == of_difference(np.array([]))


def test_values_may_stand_for_several_examples():
    rng = np.random.default_rng(2)
    often = rng.integers(1, 6, 25)
    for values in (rng.random(25), (rng.random(25) < 0.7).astype(float), rng.normal(3, 2, 25)):
        values[4] = math.nan
        assert of_mean(values, weights=often) == pytest.approx(of_mean(np.repeat(values, often)))
        assert mean_score("x", values, often).value == pytest.approx(np.nanmean(np.repeat(values, often)))


def test_holm_asks_less_of_each_further_test_and_rarely_raises_a_false_alarm():
    assert holm([]) == [] and holm([0.02, 0.03], level=0.1) == [True, True]
    assert holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]  # 0.05 / 4, 0.05 / 3, then 0.03 > 0.05 / 2
    assert holm([0.04, 0.012, 0.02]) == [True, True, True]  # Bonferroni would stop at 0.02
    assert holm([0.5, float("nan"), 0.001]) == [False, False, True]
    drawn = np.random.default_rng(0).random((2000, 8))
    assert np.mean([any(holm(row)) for row in drawn.tolist()]) == pytest.approx(0.05, abs=0.015)


# -- scores ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("predictor", [oracle, constant, shuffled, labels_only])
def test_every_score_holds_its_value(predictor, evenodd):
    held = predictor(evenodd.symbols("test"))
    found = score(held, resamples=50)
    assert list(found) == sorted(METRICS) and {each.metric for each in found.values()} == set(METRICS)
    for name, each in found.items():
        assert each.examples == 160 and (not each.applies or each.value == METRICS[name](held))


@pytest.mark.parametrize("name", ["label_accuracy", "concept_accuracy", "concept_f1", "near_accuracy"])
def test_intervals_shrink_like_the_root_of_the_number(name):
    few, many = (score(random_evidence(SUM, rows, "shrink"), [name])[name] for rows in (100, 6400))
    assert (many.high - many.low) / (few.high - few.low) == pytest.approx(1 / 8, abs=0.08)


@pytest.mark.parametrize("name", ["label_accuracy", "label_f1", "concept_f1", "balanced_accuracy", "near_accuracy"])
def test_all_right_is_not_certainty_and_one_example_says_next_to_nothing(name, evenodd):
    data = oracle(evenodd.symbols("test"))
    one, few, many = (score(data.take(np.arange(rows)), [name])[name] for rows in (1, 20, 160))
    assert few.value == few.high == many.value == many.high == 1
    assert 0.7 < few.low < 0.86 < 0.95 < many.low < 0.985  # 20 / (20 + 1.96**2) = 0.84 for a share
    assert one.high - one.low > 0.6 and one.few and few.few and not many.few


RESAMPLED = ("label_f1", "concept_f1", "rsbench_concept_f1", "concept_mean_f1", "balanced_accuracy", "near_accuracy")


@pytest.mark.parametrize("name", RESAMPLED)
def test_intervals_by_formula_are_those_by_resamples(name):
    held = random_evidence(SUM, 2000, "formula")
    rows = rng_for(0, "formula").integers(len(held), size=(150, len(held)))
    error = 1.96 * np.std([METRICS[name](held.take(each)) for each in rows])
    found = score(held, [name])[name]
    assert found.high - found.low == pytest.approx(2 * error, rel=0.25)
    assert (found.low, found.high) == pytest.approx((found.value - error, found.value + error), abs=0.6 * error)


def test_rows_may_be_counted_and_intervals_are_the_same():
    held = random_evidence(SUM, 60, "counted")
    often = rng_for(1, "often").integers(1, 5, 60)
    counted, singly = replace(held, counts=often), held.take(np.repeat(np.arange(60), often))
    for name in ("label_f1", "concept_f1", "balanced_accuracy", "collapse", "collapse_joint", "label_accuracy"):
        found, expected = score(counted, [name])[name], score(singly, [name])[name]
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


# -- calibration and collapse ------------------------------------------------------------------------------------------


def unsure(confidence, right):
    """Return evidence of bits that are right or wrong with a confidence each, a column a concept."""
    rows, columns = confidence.shape
    knowledge = Knowledge.of(bits([f"b{n}" for n in range(columns)]), {"y": "b0"})
    truth = np.where(right, 0, 1)
    tables = tuple(np.stack([one, 1 - one], axis=1) for one in confidence.T)
    labels, said = truth[:, :1], np.zeros((rows, columns), dtype=int)
    return Evidence(knowledge, "test", labels, truth, labels, said, (None,), tables)


def ece(confidence, right):
    return score(unsure(confidence, right), ["concept_ece"])["concept_ece"]


@pytest.mark.parametrize("examples", [20, 100, 1000])
def test_calibration_errors_that_chance_makes_begin_at_zero(examples):
    """Answers drawn from the stated confidences, most of which look miscalibrated."""
    rng = rng_for(0, "calibrated", examples)
    confidence = rng.uniform(0.5, 1, size=(examples, 1))
    found = [ece(confidence, rng.random((examples, 1)) < confidence).low for _ in range(150)]
    assert 0.92 <= np.mean([low == 0 for low in found]) <= 0.995


def test_calibration_errors_that_chance_does_not_make_begin_above_zero():
    found = ece(np.full((400, 3), 0.95), np.arange(400)[:, None] < np.array([280, 300, 290]))
    assert 0.15 < found.low < found.value < found.high < 0.3 and found.value == pytest.approx(0.95 - 0.725)
    sure = ece(np.ones((20, 1)), np.ones((20, 1), dtype=bool))  # right so far may be wrong
    assert (sure.low, sure.high) == pytest.approx((0, 0.161), abs=1e-3)


def test_the_interval_of_calibration_is_of_the_examples_whose_truth_is_known():
    rng = rng_for(0, "gaps")
    held = unsure(rng.uniform(0.5, 0.9, size=(200, 2)), rng.random((200, 2)) < 0.5)
    gaps = np.where((np.arange(200) % 4 == 0)[:, None], -1, held.concepts)
    found, known = (score(each, ["concept_ece"])["concept_ece"] for each in (
        replace(held, concepts=gaps), held.take(np.arange(200) % 4 > 0)))  # fmt: skip
    assert (found.value, found.low, found.high) == (known.value, known.low, known.high)


def collapsing(truth, said):
    space = digits(["n"], range(4))
    labels = np.zeros((len(truth), 1), dtype=int)
    held = Evidence(Knowledge.of(space, {"y": "n > 1"}), "test", labels, truth, labels, said, (None,), (None,))
    return score(held, ["collapse", "collapse_joint"])


def test_a_value_never_said_may_be_said_another_time():
    truth = np.arange(400)[:, None] % 4
    never = collapsing(truth, np.minimum(truth, 2))["collapse"]
    assert never.high == pytest.approx(0.25, abs=1e-6) and 0 < never.low < 0.05  # 3 of 4 or 4 of 4
    all_said = collapsing(truth, truth)["collapse"]
    assert (all_said.low, all_said.high) == pytest.approx((0, 0), abs=1e-6)
    once = collapsing(truth, np.where(np.arange(400)[:, None] == 3, 3, np.minimum(truth, 2)))["collapse"]
    assert once.low == 0 and 0.2 < once.high < 0.25
    silent = collapsing(truth, np.where(truth == 3, -1, truth))["collapse"]
    assert silent.high == pytest.approx(never.high, abs=0.01)  # silence is no value


@pytest.mark.parametrize("case", range(4))
def test_the_interval_of_joint_collapse_is_by_leaving_out_each_example_in_turn(case):
    knowledge = Knowledge.of(digits(["a", "b"], range(5)), {"y": "a > b"})
    held = random_evidence(knowledge, 25, "leave out", case)  # many vectors stand in one example only
    metric = METRICS["collapse_joint"]
    value, without = metric(held), [metric(held.take(np.arange(25) != row)) for row in range(25)]
    examples = value * (1 - value) / (24 * np.var(without))
    found = score(held, ["collapse_joint"])["collapse_joint"]
    assert (found.low, found.high) == pytest.approx(wilson(value * examples, examples))
