"""Intervals of averages of shares: influences by leaving examples out, variances by drawing anew, laws at the ends."""

import numpy as np
import pytest

from assay.metrics import wilson
from assay.metrics.average_interval import Average, accuracy_of, f1_of, interval_of
from assay.metrics.quality import f1_by_value

RNG = np.random.default_rng(0)


def answers(rows: int, size: int, right: float, columns: int = 1) -> tuple[np.ndarray, np.ndarray]:
    truth = RNG.integers(0, size, (rows, columns))
    said = np.where(RNG.random((rows, columns)) < right, truth, RNG.integers(0, size, (rows, columns)))
    return truth, said


def mean_f1(truth: np.ndarray, said: np.ndarray, values: np.ndarray, size: int, weights: np.ndarray) -> float:
    often = np.repeat(weights, truth.shape[1])
    return float(f1_by_value(truth.ravel(), said.ravel(), size, often)[values].mean())


@pytest.mark.parametrize("columns", [1, 3])
def test_the_influence_on_f1_is_what_one_more_example_adds(columns: int) -> None:
    truth, said = answers(400, 4, 0.7, columns)
    values, weights = np.array([0, 1, 3]), np.full(400, 1000)
    average = f1_of(truth, said, values, 4, weights)
    whole = mean_f1(truth, said, values, 4, weights)
    assert average.weights @ (2 * average.right / (average.right + average.counted)) == pytest.approx(whole)
    for row in range(0, 400, 40):
        more = weights + 10 * (np.arange(400) == row)
        slope = (mean_f1(truth, said, values, 4, more) - whole) / 10
        assert average.influence[row] == pytest.approx(slope, rel=0.02, abs=1e-9)


def test_silence_and_truth_not_known_have_no_place_in_f1() -> None:
    truth = np.array([[0], [1], [1], [-1]])
    said = np.array([[0], [-1], [1], [0]])
    average = f1_of(truth, said, np.array([0, 1]), 2, np.ones(4, dtype=int))
    assert average.right.tolist() == [1, 1] and average.counted.tolist() == [2, 2]  # a wrong 0 where nothing is known


def test_the_influence_on_accuracy_is_what_one_more_example_adds() -> None:
    right, inside = RNG.random(300) < 0.8, RNG.random((300, 3)) < [0.5, 0.1, 0.0]
    weights = np.full(300, 1000)
    average = accuracy_of(right, inside, weights)

    def mean(often: np.ndarray) -> float:
        kept = inside[:, :2]
        return float((((often * right) @ kept) / (often @ kept)).mean())

    assert average.counted.shape == (2,)  # a region without examples is none
    assert average.weights @ (average.right / average.counted) == pytest.approx(mean(weights))
    for row in range(0, 300, 30):
        more = weights + 10 * (np.arange(300) == row)
        assert average.influence[row] == pytest.approx((mean(more) - mean(weights)) / 10, rel=0.02, abs=1e-9)


def test_one_region_of_all_examples_is_nearly_wilsons_interval() -> None:
    right = np.arange(500) < 400
    found = accuracy_of(right, np.ones((500, 1), dtype=bool), np.ones(500, dtype=int)).interval
    assert found == pytest.approx(wilson(400, 500), abs=0.004)


def test_rows_may_stand_for_several() -> None:
    truth, said = answers(60, 3, 0.8)
    often = RNG.integers(1, 5, 60)
    again = np.repeat(np.arange(60), often)
    counted = f1_of(truth, said, np.arange(3), 3, often).interval
    singly = f1_of(truth[again], said[again], np.arange(3), 3, np.ones(len(again), dtype=int)).interval
    assert counted == pytest.approx(singly)
    inside = truth == np.arange(3)
    right = (truth == said)[:, 0]
    one = accuracy_of(right, inside, often).interval
    assert one == pytest.approx(accuracy_of(right[again], inside[again], np.ones(len(again), dtype=int)).interval)


def test_several_averages_have_the_interval_of_their_mean() -> None:
    truth, said = answers(300, 2, 0.8)
    one = f1_of(truth, said, np.arange(2), 2, np.ones(300, dtype=int))
    assert interval_of([one, one]) == pytest.approx(one.interval, abs=0.01)  # the same twice is no surer
    other_truth, other_said = answers(300, 2, 0.8)
    other = f1_of(other_truth, other_said, np.arange(2), 2, np.ones(300, dtype=int))
    low, high = interval_of([one, other])
    assert high - low < 0.85 * (one.interval[1] - one.interval[0])  # two that err apart are
    assert np.isnan(interval_of([])).all()


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_the_ends_are_no_certainty(right: float) -> None:
    truth = np.tile(np.arange(2), 20)[:, None]
    said = truth if right else 1 - truth
    low, high = f1_of(truth, said, np.arange(2), 2, np.ones(40, dtype=int)).interval
    assert (low, high) == pytest.approx((0, 0.161) if not right else (0.912, 1), abs=0.001)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    hits = 0
    for _ in range(300):
        truth, said = answers(80, 3, 0.7)
        low, high = f1_of(truth, said, np.arange(3), 3, np.ones(80, dtype=int)).interval
        hits += low <= 0.8 <= high  # 0.7 + 0.3 / 3 are right, evenly over values
    assert 0.91 <= hits / 300 <= 0.99


def interval_by_loop(average: Average) -> tuple[float, float]:
    """The interval as its docstring says, one share at a time."""
    usual = (sum(average.right) + 0.5) / (sum(average.counted) + 1)

    def moments(added: float) -> tuple[float, float, float]:
        mean = variance = bias = 0.0
        for right, counted, weight in zip(average.right, average.counted, average.weights, strict=True):
            share = (right + added * usual) / max(counted + added, 1)
            own = share * (1 - share) / max(counted, 1)
            if average.f1:
                mean, bias = mean + weight * 2 * share / (1 + share), bias - weight * 2 * own / (1 + share) ** 3
                own *= 4 / (1 + share) ** 4  # the square of the derivative of 2 J / (1 + J)
            else:
                mean += weight * share
            variance += weight**2 * own
        return mean, variance, bias

    mean, alone, _ = moments(0.0)
    smooth, variance, _ = moments(3.0)
    middle = min(1.0, max(0.0, mean - moments(0.5)[2]))
    if alone > 0 and 0 < middle < 1:
        examples = middle * (1 - middle) / variance / max(sum(average.examples * average.influence**2) / alone, 0.01)
    else:
        examples = min(smooth * (1 - smooth) / variance / (2 if average.f1 else 1), sum(average.examples))
    return wilson(middle * examples, examples)


@pytest.mark.parametrize("right", [0.0, 0.5, 0.9, 1.0])
def test_the_interval_by_a_plain_loop(right: float) -> None:
    truth, said = answers(50, 3, right, 2)
    often = RNG.integers(1, 4, 50)
    some = f1_of(truth, said, np.array([0, 2]), 3, often)
    hits, inside = (truth == said)[:, 0], truth[:, :1] == np.arange(3)
    for average in (some, accuracy_of(hits, inside, often)):
        assert average.interval == pytest.approx(interval_by_loop(average), abs=1e-12)
    assert interval_of([some, some]) == pytest.approx(
        interval_by_loop(
            Average(np.tile(some.right, 2), np.tile(some.counted, 2), np.full(4, 0.25), some.influence, often, f1=True)
        )
    )
