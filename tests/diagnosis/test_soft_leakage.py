"""Leaks by ranks: the test is that of Kruskal and Wallis within each true value, and nothing leaks by chance."""

import numpy as np
import pytest
from scipy.stats import kruskal, rankdata

from assay.concepts import bits
from assay.diagnosis.soft_leakage import explained_ranks, mean_ranks, soft_leaks
from assay.logic import Knowledge
from assay.metrics import Evidence

AND = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
RNG = np.random.default_rng(0)


def test_ranks_are_scipys():
    numbers = RNG.integers(0, 9, 60)
    assert mean_ranks(numbers).tolist() == rankdata(numbers).tolist()


@pytest.mark.parametrize("kinds", [2, 4])
def test_one_stratum_is_kruskal_and_wallis(kinds):
    labels = RNG.integers(0, kinds, 80)
    numbers = np.round(RNG.normal(size=80) + 0.4 * labels, 1)
    statistic, chance = kruskal(*(numbers[labels == kind] for kind in range(kinds)))
    strength, p_value = explained_ranks(numbers, labels, np.zeros(80))
    assert p_value == pytest.approx(chance)
    epsilon = (statistic - kinds + 1) / (80 - kinds) * (80 - kinds) / 79  # what is explained beyond chance, of all
    assert strength == pytest.approx(max(0.0, epsilon), abs=1e-9)


def test_strata_are_ranked_each_by_itself_and_add_up():
    labels, strata = np.tile([0, 1], 40), np.repeat([0, 1], 40)
    numbers = RNG.normal(size=80) + labels
    moved = numbers + 100 * strata  # what the value alone explains is no leak
    assert explained_ranks(moved, labels, strata) == pytest.approx(explained_ranks(numbers, labels, strata))
    parts = [kruskal(*(numbers[(labels == k) & (strata == s)] for k in (0, 1)))[0] for s in (0, 1)]
    from scipy.stats import chi2

    assert explained_ranks(numbers, labels, strata)[1] == pytest.approx(chi2.sf(sum(parts), 2))


def test_a_stratum_with_one_label_or_no_variance_tells_nothing():
    assert explained_ranks(np.arange(9.0), np.zeros(9, dtype=int), np.zeros(9)) == (0.0, 1.0)
    assert explained_ranks(np.zeros(9), np.arange(9) % 2, np.zeros(9)) == (0.0, 1.0)


def evidence(leak: float, rows: int = 400) -> Evidence:
    """Return concepts that are read right, with a confidence in `a` that rises with the label."""
    codes = RNG.integers(0, 2, (rows, 2))
    labels = AND.labels_of(codes)
    sure = 0.8 + 0.05 * RNG.random((rows, 2))
    sure[:, 0] += leak * labels[:, 0]
    columns = [np.where(codes[:, i] == 1, sure[:, i], 1 - sure[:, i]) for i in (0, 1)]
    soft = tuple(np.stack([1 - column, column], axis=1) for column in columns)
    return Evidence(AND, "test", labels, codes, labels, codes, (None,), soft)


def test_a_leak_is_that_of_its_concept():
    found = {leak.concept: leak for leak in soft_leaks(evidence(0.1))}
    assert found["a"].strength > 0.3 and found["a"].chance < 1e-6 and found["a"].label == "y"
    assert found["b"].strength < 0.05 and found["b"].chance > 0.001
    assert all(leak.strength < 0.05 for leak in soft_leaks(evidence(0.0)))


def test_few_right_answers_are_not_tested():
    held = evidence(0.1, 60).take(np.arange(29))
    assert [(leak.strength, leak.chance) for leak in soft_leaks(held)] == [(0.0, 1.0)] * 2


def test_thirty_right_answers_are_enough():
    held = evidence(0.1, 60).take(np.arange(30))
    assert [leak.chance < 1.0 or leak.strength == 0.0 for leak in soft_leaks(held)] == [True, True]
    column = np.round(held.concept_probabilities[0][:, 1] / 0.01)
    strength, chance = explained_ranks(column, held.labels[:, 0], held.concepts[:, 0])
    assert (soft_leaks(held)[0].strength, soft_leaks(held)[0].chance) == (strength, chance) and strength > 0.1
