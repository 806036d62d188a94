"""The expected calibration error, against a plain loop over the bins."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from assay.arrays import Array
from assay.data import Dataset
from assay.metrics import METRICS, expected_calibration_error, gather, wilson
from assay.metrics.calibration import _interval, calibration_interval
from assay.predictions import Answer, Predictions
from assay.seeds import rng_for
from tests.predictors import labels_only


def by_loop(truth: Array, probabilities: Array, bins: int) -> float:
    gap = 0.0
    for place in range(bins):
        low, high = place / bins, (place + 1) / bins
        inside = [i for i, row in enumerate(probabilities) if low < max(row) <= high]
        if inside:
            right = np.mean([int(np.argmax(probabilities[i])) == truth[i] for i in inside])
            sure = np.mean([max(probabilities[i]) for i in inside])
            gap += len(inside) / len(truth) * abs(right - sure)
    return gap


@pytest.mark.parametrize("case", range(12))
def test_by_a_plain_loop(case: int) -> None:
    rng, width, bins = rng_for(0, "ece", case), 2 + case % 5, (10, 15, 4)[case % 3]
    probabilities = rng.dirichlet(np.full(width, 0.5), size=200)
    truth = rng.integers(width, size=200)
    assert expected_calibration_error(truth, probabilities, bins) == pytest.approx(by_loop(truth, probabilities, bins))


@pytest.mark.parametrize(("sure", "right", "expected"), [(1.0, 10, 0.0), (1.0, 0, 1.0), (0.7, 7, 0.0), (0.7, 2, 0.5)])
def test_by_hand(sure: float, right: int, expected: float) -> None:
    truth = np.array([0] * right + [1] * (10 - right))
    assert expected_calibration_error(truth, np.array([[sure, 1 - sure]] * 10)) == pytest.approx(expected)


def test_a_bin_holds_its_upper_edge() -> None:
    probabilities, truth = np.array([[0.5, 0.5], [0.55, 0.45]]), np.array([0, 1])
    expected = (0.5 + 0.55) / 2  # in one bin the two gaps would cancel
    assert (
        expected_calibration_error(truth, probabilities) == pytest.approx(expected) == by_loop(truth, probabilities, 10)
    )


def test_over_the_columns_that_have_probabilities(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    exact = {name: Answer.of(np.eye(10)[data.concepts[:, i]]) for i, name in enumerate("ab")}
    unsure = Answer(data.concepts[:, 1], np.full((len(data), 10), 0.1))
    labels = {"sum": Answer(data.labels[:, 0])}
    for said, expected in [
        (exact, 0.0),
        ({"a": exact["a"], "b": Answer(data.concepts[:, 1])}, 0.0),
        ({"b": unsure}, None),
    ]:
        held = gather(data, Predictions(data.fingerprint, data.name, data.index, labels, said))
        share = abs((data.concepts[:, 1] == 0).mean() - 0.1)
        assert METRICS["concept_ece"](held) == pytest.approx(share if expected is None else expected)
        assert math.isnan(METRICS["label_ece"](held))
    assert math.isnan(METRICS["concept_ece"](labels_only(data)))


@pytest.mark.parametrize("examples", [20, 100, 1000])
def test_chance_alone_begins_at_zero(examples: int) -> None:
    """Against consistency resampling: answers drawn from the stated confidences, most of which look miscalibrated."""
    rng = rng_for(0, "calibrated", examples)
    confidence = rng.uniform(0.5, 1, size=(examples, 1))
    found = [calibration_interval(confidence, rng.random((examples, 1)) < confidence)[0] for _ in range(300)]
    assert 0.92 <= np.mean([low == 0 for low in found]) <= 0.99


def test_a_gap_that_chance_does_not_make_begins_above_zero() -> None:
    confidence, right = np.full((400, 3), 0.95), np.arange(400)[:, None] < np.array([280, 300, 290])
    low, high = calibration_interval(confidence, right)
    assert low > 0.15 and low < 0.95 - 0.725 < high < 0.3


def test_certainty_that_is_right_so_far_may_be_wrong() -> None:
    assert calibration_interval(np.ones((20, 1)), np.ones((20, 1))) == pytest.approx((0, 0.161), abs=1e-3)


def interval_by_loop(confidence: Array, right: Array) -> tuple[float, float]:
    """The interval as its docstring says, one bin of one column at a time."""
    rows, columns = confidence.shape
    z = NormalDist().inv_cdf(0.975)
    value = usual = added = deviation = 0.0
    moved = np.zeros(rows)
    for sure, hit in zip(confidence.T, right.T, strict=True):
        spread = 0.0
        for place in range(10):
            inside = (sure > place / 10) & (sure <= (place + 1) / 10)
            count, residuals = int(inside.sum()), (hit - sure)[inside]
            if not count:
                continue
            gap, stated = residuals.sum(), (sure * (1 - sure))[inside].sum()
            variance = count * residuals.var(ddof=1) if count > 1 else 0.0
            calibrated = min(math.sqrt(2 * stated / math.pi), 2 * stated)
            value, usual, spread = value + abs(gap), usual + calibrated, spread + stated - calibrated**2
            by_chance = stats.foldnorm(
                abs(gap) / math.sqrt(max(stated, variance)), scale=math.sqrt(max(stated, variance))
            )
            added += by_chance.mean() - abs(gap)
            moved[inside] += np.sign(gap) * residuals
        deviation += math.sqrt(spread)
    scale, error = rows * columns, moved.std() / math.sqrt(rows) / columns
    middle = max(0.0, (value - added) / scale)
    low = max(0.0, middle - z * error) if value > usual + z * deviation else 0.0
    return low, min(1.0, max(middle + z * error, wilson(0, rows)[1]))


def test_the_interval_is_of_the_examples_whose_truth_is_known() -> None:
    rng = rng_for(0, "gaps")
    ones = rng.uniform(0.2, 0.9, size=(200, 2))
    probabilities = tuple(np.stack([1 - column, column], axis=1) for column in ones.T)
    truth = (rng.random((200, 2)) < 0.5).astype(int)
    truth[::4, 0] = -1
    rows = truth[:, 0] >= 0
    known = _interval(truth[rows], tuple(column[rows] for column in probabilities))
    assert _interval(truth, probabilities) == known


@pytest.mark.parametrize("lost", [0.0, 0.1, 0.3])
def test_the_interval_by_a_plain_loop(lost: float) -> None:
    rng = rng_for(0, "interval", lost)
    confidence = rng.uniform(0.45, 0.99, size=(150, 3))
    right = rng.random((150, 3)) < confidence - lost
    found = calibration_interval(confidence, right)
    assert found == pytest.approx(interval_by_loop(confidence, right), abs=1e-9)
    assert (found[0] > 0) == (lost > 0)


def test_without_probabilities_or_known_truth_there_is_no_interval(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    unsure = {name: Answer.of(np.full((len(data), 10), 0.1)) for name in "ab"}
    labels = {"sum": Answer(data.labels[:, 0])}
    held = gather(data, Predictions(data.fingerprint, data.name, data.index, labels, unsure))
    metric = METRICS["concept_ece"]
    some = replace(held, concepts=np.where(np.arange(160)[:, None] < 40, held.concepts, -1))
    assert metric.interval(some) == metric.interval(held.take(np.arange(40)))
    nothing = replace(held, concepts=np.full_like(held.concepts, -1))
    assert np.isnan(metric.interval(nothing)).all() and math.isnan(metric(nothing))
    assert np.isnan(METRICS["label_ece"].interval(held)).all()


def test_chance_is_told_from_miscalibration_as_the_loop_tells_it() -> None:
    told = []
    for case in range(40):
        rng = rng_for(case, "near the limit")
        confidence = rng.uniform(0.5, 0.95, size=(60, 3))
        right = rng.random((60, 3)) < confidence - case / 200
        found = calibration_interval(confidence, right)
        assert found == pytest.approx(interval_by_loop(confidence, right), abs=1e-9)
        told.append(found[0] > 0)
    assert 5 < sum(told) < 35
