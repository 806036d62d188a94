"""Scores of discovered units: known codes get known scores, random ones chance, and all are those of brute force."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from assay.base import rng_for
from assay.logic import Concept, ConceptSpace
from assay.metrics import ChanceScore, Readout, UnitScores, UnitSplit, concept_values, live_units, score_stability

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


def uneven(rows=60, seed=0):
    """Five units with ties, in either direction; c has one value, and some truth is not known."""
    rng = rng_for(seed, "unlike units")
    concepts = np.stack([rng.integers(0, 2, rows), rng.choice(3, rows, p=[0.5, 0.3, 0.2]), np.zeros(rows, int)], axis=1)
    units = rng.normal(size=(rows, 5))
    units[:, 1] -= 2.0 * (concepts[:, 1] == 1)
    units[:, 3] += 1.5 * (concepts[:, 1] == 2)
    units[:, 4] -= 1.0 * concepts[:, 0]
    units[:, [1, 3]] = np.round(units[:, [1, 3]])
    concepts[::7, 0], concepts[3::11, 1] = -1, -1
    labels = np.stack([concepts[:, 0].clip(0), concepts[:, 1].clip(0)], axis=1)
    return UnitSplit(units, concepts, labels)


def scored(fit, test, repetitions=0):
    return UnitScores.of(fit, test, SPACE, 0, repetitions)


def test_values_are_named_and_two_of_them_need_one_unit():
    space = ConceptSpace((Concept("c", ("red", "blue")), Concept("t", (False, True)), Concept("one", (4,)),
                          Concept("n", (0, 1, 2))))  # fmt: skip
    assert [(value.concept, value.value, value.name) for value in concept_values(space)] == [
        (0, 1, "c = blue"), (1, 1, "t"), (2, 0, "one = 4"), (3, 0, "n = 0"), (3, 1, "n = 1"), (3, 2, "n = 2"),
    ]  # fmt: skip


# -- known codes -------------------------------------------------------------------------------------------------------


def test_a_perfect_code_in_any_order_and_direction_is_found_back():
    def change(units):
        return np.concatenate([np.zeros((len(units), 2)), 3 - 2 * units[:, ::-1]], axis=1)

    scores = scored(split_of(200, 1, change), split_of(200, 2, change), 2)
    assert [score.match.unit for score in scores.matches] == [6, 5, 4, 3, 2]
    assert {score.match.direction for score in scores.matches} == {-1}
    for score in scores.matches:
        assert (score.f1, score.purity) == (1.0, 1.0) and score.information == pytest.approx(1)
    assert scores.scores["completeness"].value == 1 and scores.scores["informativeness"].value == 1
    assert scores.scores["disentanglement"].value > 0.9 and scores.scores["f1"].above_chance


def test_random_units_score_as_chance():
    codes, labels = worlds(1000, 3)
    splits = [UnitSplit(rng_for(s, "noise").normal(size=(500, 12)), codes[s::2], labels[s::2]) for s in (0, 1)]
    scores = scored(*splits, 5).scores
    for name in ("f1", "information", "purity", "completeness", "informativeness", "mig"):
        assert scores[name].value == pytest.approx(scores[name].chance, abs=0.07), name
        assert scores[name].highest >= scores[name].chance, name
    assert not scores["informativeness"].value > 0.1


def test_a_rotated_code_is_informative_but_not_disentangled():
    turn = np.linalg.qr(rng_for(0, "turn").normal(size=(5, 5)))[0]
    fit, test = split_of(600, 1), split_of(600, 2)
    plain = scored(fit, test).scores
    turned = scored(*(replace(part, units=part.units @ turn) for part in (fit, test))).scores
    assert turned["informativeness"].value > 0.95
    for name in ("disentanglement", "dci_completeness", "f1", "mig"):
        assert turned[name].value < plain[name].value - 0.1, name


def test_concepts_spread_over_units_are_less_complete_and_units_of_two_concepts_less_disentangled():
    def twice(units):
        return np.concatenate([units, units], axis=1)

    def merged(units):  # one number for a and c together
        return np.concatenate([units[:, :1] + 2 * units[:, 4:], units[:, 1:4]], axis=1)

    plain, spread, joined = (
        scored(split_of(600, 1, change), split_of(600, 2, change)).scores for change in (lambda u: u, twice, merged)
    )
    assert spread["dci_completeness"].value < plain["dci_completeness"].value - 0.1
    assert spread["disentanglement"].value == pytest.approx(plain["disentanglement"].value, abs=0.05)
    assert joined["disentanglement"].value < plain["disentanglement"].value - 0.1
    assert spread["mig"].value == pytest.approx(0, abs=1e-9)  # two units say the same of each concept


def test_thresholds_come_from_one_split_and_scores_from_another():
    codes, labels = worlds(300, 1)
    noise, other = (UnitSplit(rng_for(s, "noise").normal(size=(300, 40)), codes, labels) for s in (4, 5))
    own, honest = (scored(noise, part).scores["f1"].value for part in (noise, other))
    assert own > honest + 0.02


# -- against brute force -----------------------------------------------------------------------------------------------


def rows_of(held, value):
    known = held.concepts[:, value.concept] >= 0
    return known, held.concepts[known, value.concept] == value.value


def best_by_hand(held, unit, value):
    """The highest F1 of a unit for a value over both directions and all thresholds, among rows whose truth is known."""
    known, holds = rows_of(held, value)
    best = 0.0
    for sign in (1, -1):
        numbers = sign * held.units[known, unit]
        for threshold in {-math.inf, *numbers.tolist()}:
            said = numbers >= threshold
            best = max(best, 2 * (said & holds).sum() / max(1, said.sum() + holds.sum()))
    return best


def test_matching_is_the_best_of_all_assignments():
    held = uneven()
    table = np.array([[best_by_hand(held, unit, value) for value in VALUES[:4]] for unit in range(5)])
    most = max(
        sum(table[unit, place] for place, unit in enumerate(units)) for units in itertools.permutations(range(5), 4)
    )
    scores = scored(held, held).matches
    assert scores[4].match.unit is None and len({score.match.unit for score in scores[:4]}) == 4
    assert sum(score.f1 for score in scores[:4]) == pytest.approx(most)
    assert {score.match.direction for score in scores[:4]} == {-1, 1}


def test_no_threshold_lies_between_equal_numbers():
    space = ConceptSpace((Concept("a", (False, True)),))
    for codes, f1 in (([1, 1, 0, 0], 0.8), ([1, 1, -1, 0], 1.0)):  # what is not known does not count
        held = UnitSplit(np.array([[4.0], [3.0], [3.0], [1.0]]), np.array(codes)[:, None], np.array([[1, 1, 0, 0]]).T)
        (score,) = UnitScores.of(held, held, space, 0, 0).matches
        assert (score.match.unit, score.match.direction, score.match.threshold) == (0, 1, 2.0)
        assert score.f1 == pytest.approx(f1)


def test_matches_are_scored_on_what_is_known_of_another_split():
    from sklearn.metrics import mutual_info_score

    held, other = uneven(), uneven(90, seed=1)
    found = scored(held, other)
    for score in found.matches[:4]:
        match = score.match
        known, holds = rows_of(other, match.value)
        numbers = match.direction * other.units[known, match.unit]
        said = numbers >= match.threshold
        assert score.share == pytest.approx(holds.mean())
        assert score.f1 == pytest.approx(2 * (said & holds).sum() / (said.sum() + holds.sum()))
        top = min(int(holds.sum()), max(8, round(0.05 * len(holds))))
        order = sorted(range(len(holds)), key=lambda row: -numbers[row])[:top]
        assert score.purity == pytest.approx(np.mean([holds[row] for row in order]))
        column = other.units[known, match.unit]  # in ten bins, equal numbers in one
        edges = np.unique(np.quantile(column, np.arange(1, 10) / 10, method="inverted_cdf"))
        bins = np.array([(number > edges).sum() for number in column])
        entropy = mutual_info_score(holds, holds)
        assert score.information == pytest.approx(mutual_info_score(bins, holds) / entropy)
    still = found.matches[4]
    assert math.isnan(still.f1) and still.share == 0.0 and still.to_dict()["f1"] is None
    assert len(found.of_concept(1)) == 3 and found.of_concept(2) == ()
    assert found.scores["f1"].value == pytest.approx(np.mean([score.f1 for score in found.matches[:4]]))


def test_the_gap_is_by_how_much_the_best_unit_of_a_concept_is_ahead():
    rows = np.arange(12)
    concepts = np.stack([rows % 2, rows % 3, rows * 0], axis=1)
    units = np.stack([rows * 0, rows % 2, np.minimum(rows % 3, 1)], axis=1).astype(float)
    merged = -(math.log(1 / 3) + 2 * math.log(2 / 3)) / 3  # what is told of b where green and blue look alike
    held = UnitSplit(units, concepts, concepts[:, :1])
    assert scored(held, held).scores["mig"].value == pytest.approx((1 + merged / math.log(3)) / 2)


def test_what_is_not_known_or_does_not_vary_is_left_out():
    fit, test = split_of(200, 1), split_of(200, 2)
    unknown = test.concepts.copy()
    unknown[:100] = -1
    wrong = np.where(np.arange(200)[:, None] < 100, 1 - test.units, test.units)
    assert [score.f1 for score in scored(fit, UnitSplit(wrong, unknown, test.labels)).matches] == [1.0] * 5
    still = UnitSplit(fit.units, np.zeros_like(fit.concepts), np.zeros_like(fit.labels))
    found = scored(still, test)
    assert all(score.match.unit is None for score in found.matches)
    assert np.isnan([found.scores[name].value for name in ("informativeness", "disentanglement", "completeness")]).all()
    assert all(np.isnan(score.f1) for score in scored(fit, still).matches)
    few = scored(*(split_of(200, seed, lambda units: units[:, :2]) for seed in (1, 2))).matches
    assert [score.f1 for score in few if score.match.unit is None] == [0.0] * 3


def test_scores_stand_beside_chance():
    found = ChanceScore.of(0.5, [0.25, math.nan, 0.5])
    assert (found.chance, found.highest, found.above_chance) == (0.375, 0.5, False)
    assert ChanceScore(0.51, 0.4, 0.5).above_chance and not ChanceScore(math.nan, 0.4, 0.5).above_chance
    assert ChanceScore.of(0.5, [math.nan]).to_dict() == {"value": 0.5, "chance": None, "highest_chance": None}


# -- the readout -------------------------------------------------------------------------------------------------------


def matches_of(held, test=None):
    return tuple(score.match for score in scored(held, test or held).matches)


def test_concepts_are_read_off_matched_units():
    fit, test = split_of(400, 1), split_of(200, 2)
    read = Readout.of(fit, matches_of(fit), SPACE).probabilities(test.units)
    for place, (probabilities, size) in enumerate(zip(read, SPACE.sizes, strict=True)):
        assert probabilities.shape == (200, size)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(probabilities.argmax(axis=1), test.concepts[:, place])


def test_without_a_unit_a_value_is_as_probable_as_it_is_common():
    fit = split_of(900, 1)
    without = tuple(replace(match, unit=None) for match in matches_of(fit))
    for place, probabilities in enumerate(Readout.of(fit, without, SPACE).probabilities(fit.units[:1])):
        shares = np.bincount(fit.concepts[:, place], minlength=SPACE.sizes[place]) / 900
        np.testing.assert_allclose(probabilities[0], shares, atol=0.01)
    held = uneven(120)
    assert Readout.of(held, matches_of(held), SPACE).probabilities(held.units)[2][:, 1].max() < 0.01  # never there


def test_probabilities_are_those_of_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    codes, labels = worlds(2000, 9)
    codes[::9, 0] = -1
    units = codes[:, :1] + rng_for(0, "blur").normal(size=(2000, 1))
    fit = UnitSplit(units, codes, labels)
    matches = tuple(replace(match, unit=0 if match.value.concept == 0 else None) for match in matches_of(fit))
    known = codes[:, 0] >= 0
    wanted = LogisticRegression(C=1e6).fit(units[known], codes[known, 0]).predict_proba(units)
    np.testing.assert_allclose(Readout.of(fit, matches, SPACE).probabilities(units)[0], wanted, atol=0.01)


# -- stability ---------------------------------------------------------------------------------------------------------


def stability(*units):
    return score_stability(units, 0, 0).value


def test_units_in_another_order_and_direction_are_the_same():
    units = rng_for(0, "units").normal(size=(200, 6))
    same = -2 * units[:, [3, 1, 0, 5, 4, 2]]
    assert stability(units, same) == pytest.approx(1)
    still = np.concatenate([same, np.zeros((200, 3))], axis=1)
    assert stability(units, still) == pytest.approx(1) and live_units(still).tolist() == [0, 1, 2, 3, 4, 5]
    assert stability(units, same[:, :3]) == pytest.approx(0.5)
    assert stability(units, np.zeros((200, 2))) == 0 and np.isnan(stability(units))
    assert live_units(np.zeros((3, 2))).tolist() == [] and live_units(units * 1e-20).tolist() == [*range(6)]


def test_stability_is_the_mean_correlation_of_the_best_pairs():
    seeds = [uneven(40).units, uneven(40, seed=8).units[:, :3], uneven(40, seed=6).units]

    def agreement(first, second):
        more, fewer = sorted((first, second), key=lambda units: -units.shape[1])
        table = np.abs(np.corrcoef(more.T, fewer.T)[: more.shape[1], more.shape[1] :])
        chosen = itertools.permutations(range(more.shape[1]), fewer.shape[1])
        return max(sum(table[unit, place] for place, unit in enumerate(pick)) for pick in chosen) / more.shape[1]

    expected = np.mean([agreement(*pair) for pair in itertools.combinations(seeds, 2)])
    assert stability(*seeds) == pytest.approx(expected)


def test_stability_of_unrelated_units_is_chance():
    units = [rng_for(seed, "units").normal(size=(300, 8)) for seed in range(3)]
    found = score_stability(units, 0, 5)
    assert found.value == pytest.approx(found.chance, abs=0.03)
    assert score_stability([units[0], units[0]], 0, 5).above_chance
