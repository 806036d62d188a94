"""Leaks by ranks: the effect of Kruskal and Wallis within each true value, and nothing leaks by chance."""

import numpy as np
import pytest
from scipy.stats import kruskal, rankdata

from assay.base import rng_for
from assay.diagnosis import diagnose, leakage, read_thresholds
from assay.logic import Knowledge, bits
from assay.metrics import Evidence

AND = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})


def evidence(sure, codes, right=None):
    """Return concepts that are read right, or only in some rows, with these confidences."""
    right = np.ones(len(codes), bool) if right is None else right
    labels = AND.labels_of(codes)
    said = np.where(right[:, None], codes, 1 - codes)
    columns = [np.where(said[:, i] == 1, sure[:, i], 1 - sure[:, i]) for i in (0, 1)]
    soft = tuple(np.stack([1 - column, column], axis=1) for column in columns)
    return Evidence(AND, "test", labels, codes, labels, said, (None,), soft)


def leaking(leak, seed=0, rows=400, right=None):
    """Return a model whose confidence in `a` rises with the label."""
    rng = rng_for(seed, "leaking", rows)
    codes = rng.integers(0, 2, (rows, 2))
    sure = 0.8 + 0.05 * rng.random((rows, 2))
    sure[:, 0] += leak * AND.labels_of(codes)[:, 0]
    return evidence(sure, codes, right)


def explained(numbers, labels, strata):
    """The share of the variance of ranks within strata that labels explain, beyond what chance does."""
    between = total = 0.0
    for stratum in np.unique(strata):
        own, kinds = numbers[strata == stratum], labels[strata == stratum]
        groups = [own[kinds == kind] for kind in np.unique(kinds)]
        if len(groups) > 1:
            statistic, rows = kruskal(*groups)[0], len(own)
            variance = rankdata(own).var() * rows
            between += variance * (statistic - len(groups) + 1) / (rows - 1)
            total += variance
    return max(0.0, between / total)


@pytest.mark.parametrize("leak", [0.0, 0.02, 0.1])
def test_strength_is_that_of_kruskal_and_wallis_within_true_values(leak):
    held = leaking(leak)
    found = leakage(held).beyond_value
    for place, name in enumerate("ab"):
        numbers = np.round(held.concept_probabilities[place][:, 1] / 0.01)
        assert found[name] == pytest.approx(explained(numbers, held.labels[:, 0], held.concepts[:, place]), abs=2e-6)
    assert (found["a"] > 0.1) == (leak > 0) and found["b"] < 0.05


def test_what_the_value_alone_explains_is_no_leak():
    codes = np.random.default_rng(0).integers(0, 2, (400, 2))
    sure = 0.7 + 0.2 * codes + 0.05 * np.random.default_rng(1).random((400, 2))
    assert max(leakage(evidence(sure, codes)).beyond_value.values()) < 0.05
    constant = leakage(evidence(np.full((400, 2), 0.8), codes))
    assert constant.beyond_value == {"a": 0.0, "b": 0.0}


@pytest.mark.parametrize(("right", "told"), [(29, False), (30, True)])
def test_thirty_right_answers_are_enough_and_fewer_are_not_tested(right, told):
    held = leaking(0.1, rows=60, right=np.arange(60) < right)
    assert (leakage(held).beyond_value["a"] > 0.1) == told


def test_a_leak_is_noted_of_its_concept_and_none_is_by_chance():
    """Of forty examples, a tenth of the ranks and more is often explained by chance, and no leak."""
    quick, strong = read_thresholds({"verdict.resamples": 0}), 0
    for seed in range(40):
        held = leaking(0.0, seed, 40)
        strong += max(leakage(held).beyond_value.values()) >= 0.1
        assert "share of the ranks" not in " ".join(diagnose({"test": held}, thresholds=quick).notes)
    assert strong > 3
    said = " ".join(diagnose({"test": leaking(0.1)}, thresholds=quick).notes)
    assert "share of the ranks" in said and ": a on y (" in said
