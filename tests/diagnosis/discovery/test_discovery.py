"""Scores of discovered units: known codes get known scores, random ones get chance, and formulas match independent ones."""

from itertools import permutations

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.diagnosis import (
    ChanceScore,
    UnitSplit,
    concept_values,
    fit_readout,
    live_units,
    score_stability,
    score_units,
)
from assay.diagnosis.discovery.disentanglement import (
    completeness,
    disentanglement,
    information_gap,
    predict_columns,
)
from assay.diagnosis.discovery.matching import BINS, UnitMatch, fit_matches, purity, score_matches, unit_information
from assay.diagnosis.discovery.stability import agreement, stability
from assay.seeds import rng_for

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("b", ("red", "green", "blue")), Concept("c", (0, 1))))
VALUES = concept_values(SPACE)


def worlds(count, seed=0):
    rng = rng_for(seed, "worlds")
    codes = np.stack([rng.integers(0, size, count) for size in SPACE.sizes], axis=1)
    return codes, (codes[:, :1] & codes[:, 2:])


def code_of(codes):
    """Return one unit for each concept value."""
    return np.stack([codes[:, value.concept] == value.value for value in VALUES], axis=1).astype(float)


def split_of(count, seed, change=lambda units: units):
    codes, labels = worlds(count, seed)
    return UnitSplit(change(code_of(codes)), codes, labels)


def test_two_values_need_one_unit_and_three_need_three():
    assert [value.name for value in VALUES] == ["a", "b = red", "b = green", "b = blue", "c = 1"]


def test_a_perfect_code_in_any_order_and_direction_is_found_back():
    def change(units):
        return np.concatenate([np.zeros((len(units), 2)), 3 - 2 * units[:, ::-1]], axis=1)

    fit, test = split_of(200, 1, change), split_of(200, 2, change)
    matches = fit_matches(fit, VALUES)
    assert [match.unit for match in matches] == [6, 5, 4, 3, 2] and {match.direction for match in matches} == {-1}
    scores = score_units(fit, test, SPACE, 0, 2)
    for score in scores.matches:
        assert (score.f1, score.purity) == (1.0, 1.0) and score.information == pytest.approx(1)
    assert scores.scores["completeness"].value == 1 and scores.scores["informativeness"].value == 1
    assert scores.scores["disentanglement"].value > 0.9 and scores.scores["f1"].above_chance


def test_random_units_score_as_chance():
    codes, labels = worlds(1000, 3)
    splits = [UnitSplit(rng_for(s, "noise").normal(size=(500, 12)), codes[s::2], labels[s::2]) for s in (0, 1)]
    scores = score_units(*splits, SPACE, 0, 5).scores
    for name in ("f1", "information", "purity", "completeness", "informativeness", "mig"):
        assert scores[name].value == pytest.approx(scores[name].chance, abs=0.07), name
    assert not scores["informativeness"].value > 0.1


def rotated(split):
    turn = np.linalg.qr(rng_for(0, "turn").normal(size=(split.units.shape[1],) * 2))[0]
    return UnitSplit(split.units @ turn, split.concepts, split.labels)


def test_a_rotated_code_is_informative_but_not_disentangled():
    fit, test = split_of(600, 1), split_of(600, 2)
    plain = score_units(fit, test, SPACE, 0, 1).scores
    turned = score_units(rotated(fit), rotated(test), SPACE, 0, 1).scores
    assert turned["informativeness"].value > 0.95
    for name in ("disentanglement", "dci_completeness", "f1"):
        assert turned[name].value < plain[name].value - 0.1, name
    mixed = UnitSplit(
        test.concepts[:, :1] + 0.5 * test.concepts[:, 2:] * np.array([[1.0, -1.0]]), test.concepts, test.labels
    )
    assert information_gap(mixed, [2, 3, 2]) < 0.05


def test_the_gap_of_one_unit_for_each_concept_is_whole():
    codes, labels = worlds(900, 5)
    split = UnitSplit(codes.astype(float), codes, labels)
    shares = unit_information(split.units, codes, list(SPACE.sizes))
    np.testing.assert_allclose(np.diag(shares), 1, atol=1e-9)
    assert information_gap(split, list(SPACE.sizes)) == pytest.approx(1, abs=0.02)


# -- against independent computations ----------------------------------------------------------------------------------


def best_by_hand(numbers, holds):
    """Return the highest F1 of any threshold in any direction."""
    scores = [0.0]
    for sign in (1, -1):
        for threshold in sign * numbers:
            predicted = sign * numbers >= threshold
            scores.append(2 * (predicted & holds).sum() / (predicted.sum() + holds.sum()))
    return max(scores)


def test_matching_is_the_best_of_all_assignments():
    codes, labels = worlds(40, 7)
    units = np.round(code_of(codes) @ rng_for(1, "mix").normal(size=(5, 6)) + rng_for(2, "mix").normal(size=(40, 6)), 1)
    split = UnitSplit(units, codes, labels)
    table = np.array([[best_by_hand(u, h.astype(bool)) for h in code_of(codes).T] for u in units.T])
    wanted = max(sum(table[u, v] for v, u in enumerate(chosen)) for chosen in permutations(range(6), 5))
    scores = score_matches(split, fit_matches(split, VALUES))
    assert sum(score.f1 for score in scores) == pytest.approx(wanted)


def test_information_is_that_of_scikit_learn():
    from sklearn.metrics import mutual_info_score

    rng = rng_for(0, "numbers")
    units, codes = rng.normal(size=(300, 2)), worlds(300, 8)[0]
    units[:, 1] = np.maximum(units[:, 1] + codes[:, 1], 0)  # a sparse unit: half of its numbers are equal
    shares = unit_information(units, codes, list(SPACE.sizes))
    for unit in range(2):
        edges = np.unique(np.quantile(units[:, unit], np.arange(1, BINS) / BINS, method="inverted_cdf"))
        bins = np.array([(number > edges).sum() for number in units[:, unit]])
        for place, size in enumerate(SPACE.sizes):
            entropy = mutual_info_score(codes[:, place], codes[:, place])
            assert shares[unit, place] == pytest.approx(mutual_info_score(bins, codes[:, place]) / entropy), size


def test_dci_is_that_of_its_definition():
    from scipy.stats import entropy

    importance = rng_for(0, "importance").random((6, 3)) ** 4
    importance[5] = 0
    rows = [1 - entropy(row, base=3) if row.sum() else 0 for row in importance]
    weights = importance.sum(axis=1) / importance.sum()
    assert disentanglement(importance) == pytest.approx(np.dot(rows, weights))
    assert completeness(importance) == pytest.approx(np.mean([1 - entropy(column, base=6) for column in importance.T]))


def test_what_cannot_be_told_is_not_a_number():
    codes, labels = worlds(30, 0)
    still = np.zeros_like(codes)
    assert np.isnan(predict_columns(codes * 1.0, still, codes * 1.0, still, 0).skill)
    assert np.isnan(disentanglement(np.zeros((4, 2)))) and np.isnan(
        information_gap(UnitSplit(codes * 1.0, still, labels), [2, 3, 2])
    )
    assert ChanceScore.of(0.5, [np.nan]).to_dict() == {"value": 0.5, "chance": None, "highest_chance": None}


# -- honesty -----------------------------------------------------------------------------------------------------------


def test_thresholds_come_from_one_split_and_scores_from_another():
    codes, labels = worlds(300, 1)
    noise = UnitSplit(rng_for(4, "noise").normal(size=(300, 40)), codes, labels)
    other = UnitSplit(rng_for(5, "noise").normal(size=(300, 40)), codes, labels)
    matches = fit_matches(noise, VALUES)
    own, honest = (np.mean([s.f1 for s in score_matches(split, matches)]) for split in (noise, other))
    assert own > honest + 0.02


def test_values_that_are_not_known_or_do_not_vary_are_left_out():
    fit, test = split_of(200, 1), split_of(200, 2)
    unknown = test.concepts.copy()
    unknown[:100] = -1
    wrong = np.where(np.arange(200)[:, None] < 100, 1 - test.units, test.units)
    scores = score_matches(UnitSplit(wrong, unknown, test.labels), fit_matches(fit, VALUES))
    assert [score.f1 for score in scores] == [1.0] * 5
    still = UnitSplit(fit.units, np.zeros_like(fit.concepts), fit.labels)
    assert all(match.unit is None for match in fit_matches(still, VALUES))
    assert all(np.isnan(score.f1) for score in score_matches(still, fit_matches(fit, VALUES)))


def test_a_value_without_a_unit_scores_nothing():
    fit, test = (split_of(200, seed, lambda units: units[:, :2]) for seed in (1, 2))
    scores = score_matches(test, fit_matches(fit, VALUES))
    assert [score.match.unit for score in scores].count(None) == 3
    assert [score.f1 for score in scores if score.match.unit is None] == [0.0] * 3


def test_purity_looks_at_no_more_examples_than_have_the_value():
    numbers, holds = np.arange(100.0), np.arange(100) >= 97
    assert purity(numbers, holds) == 1 and purity(-numbers, holds) == 0


# -- the readout -------------------------------------------------------------------------------------------------------


def test_concepts_are_read_off_matched_units():
    fit, test = split_of(400, 1), split_of(200, 2)
    readout = fit_readout(fit, fit_matches(fit, VALUES), SPACE)
    read = readout.probabilities(test.units)
    assert [probabilities.shape for probabilities in read] == [(200, 2), (200, 3), (200, 2)]
    for place, probabilities in enumerate(read):
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(probabilities.argmax(axis=1), test.concepts[:, place])


def test_without_a_unit_a_value_is_as_probable_as_it_is_common():
    fit = split_of(900, 1)
    readout = fit_readout(fit, tuple(UnitMatch(value, None) for value in VALUES), SPACE)
    for place, probabilities in enumerate(readout.probabilities(fit.units[:1])):
        shares = np.bincount(fit.concepts[:, place], minlength=SPACE.sizes[place]) / 900
        np.testing.assert_allclose(probabilities[0], shares, atol=0.01)


def test_probabilities_are_those_of_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    codes, labels = worlds(2000, 9)
    units = codes[:, :1] + rng_for(0, "blur").normal(size=(2000, 1))
    fit = UnitSplit(units, codes, labels)
    readout = fit_readout(fit, (UnitMatch(VALUES[0], 0), *(UnitMatch(value, None) for value in VALUES[1:])), SPACE)
    wanted = LogisticRegression(C=1e6).fit(units, codes[:, 0]).predict_proba(units)
    np.testing.assert_allclose(readout.probabilities(units)[0], wanted, atol=0.01)


# -- stability ---------------------------------------------------------------------------------------------------------


def test_units_in_another_order_and_direction_are_the_same():
    units = rng_for(0, "units").normal(size=(200, 6))
    same = -2 * units[:, [3, 1, 0, 5, 4, 2]]
    assert agreement(units, same) == pytest.approx(1)
    dead = np.concatenate([same, np.zeros((200, 3))], axis=1)
    assert agreement(units, dead) == pytest.approx(1) and live_units(dead).tolist() == [0, 1, 2, 3, 4, 5]
    assert agreement(units, same[:, :3]) == pytest.approx(0.5)
    assert agreement(units, np.zeros((200, 2))) == 0 and np.isnan(stability([units]))


def test_stability_of_unrelated_units_is_chance():
    units = [rng_for(seed, "units").normal(size=(300, 8)) for seed in range(3)]
    found = score_stability(units, 0, 5)
    assert found.value == pytest.approx(found.chance, abs=0.03)
    assert score_stability([units[0], units[0]], 0, 5).above_chance


def test_two_units_or_two_concepts_are_enough():
    importance = np.array([[0.9, 0.1], [0.1, 0.9]])
    entropy = -(0.9 * np.log(0.9) + 0.1 * np.log(0.1)) / np.log(2)
    assert completeness(importance) == pytest.approx(1 - entropy) == disentanglement(importance)
    assert completeness(np.array([[1.0], [0.0]])) == 1 and np.isnan(completeness(np.array([[1.0, 1.0]])))
    assert disentanglement(np.array([[1.0, 0.0]])) == 1 and np.isnan(disentanglement(np.array([[1.0], [1.0]])))
    assert np.isnan(disentanglement(np.zeros((2, 2)))) and completeness(np.zeros((2, 2))) == 0
