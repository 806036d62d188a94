"""Discovered units by brute force: values that are rare, unknown or constant, units with ties, in either direction."""

import itertools
import math

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.diagnosis import UnitSplit, concept_values, fit_readout, score_stability, score_units
from assay.diagnosis.discovery import scores as scoring
from assay.diagnosis.discovery.disentanglement import (
    completeness,
    disentanglement,
    information_gap,
    predict_columns,
)
from assay.diagnosis.discovery.matching import fit_matches, purity, score_matches, unit_information
from assay.diagnosis.discovery.stability import agreement, stability
from assay.seeds import rng_for

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", ("x", "y", "z")), Concept("w", ("u", "v"))))
VALUES = concept_values(SPACE)


def split(rows=60, seed=0):
    """Five units, some of them rounded, that follow values of a and n; w has one value, and some truth is not known."""
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


def best_by_hand(held, unit, value):
    """The highest F1 of a unit for a value over both directions and all thresholds, among rows whose truth is known."""
    known = held.concepts[:, value.concept] >= 0
    holds = held.concepts[known, value.concept] == value.value
    best = 0.0
    for sign in (1, -1):
        numbers = sign * held.units[known, unit]
        for threshold in {-math.inf, *numbers.tolist()}:
            said = numbers >= threshold
            best = max(best, 2 * (said & holds).sum() / max(1, said.sum() + holds.sum()))
    return best


def test_values_have_names_and_two_of_them_need_one():
    assert [(v.concept, v.value, v.name) for v in VALUES] == [
        (0, 1, "a"), (1, 0, "n = x"), (1, 1, "n = y"), (1, 2, "n = z"), (2, 1, "w = v"),
    ]  # fmt: skip


def test_the_sum_of_f1_is_the_largest_of_all_assignments():
    held = split()
    table = np.array([[best_by_hand(held, unit, value) for value in VALUES[:4]] for unit in range(5)])
    most = max(
        sum(table[unit, place] for place, unit in enumerate(units)) for units in itertools.permutations(range(5), 4)
    )
    matches = fit_matches(held, VALUES)
    assert matches[4].unit is None and len({match.unit for match in matches[:4]}) == 4
    assert sum(table[match.unit, place] for place, match in enumerate(matches[:4])) == pytest.approx(most)
    for place, match in enumerate(matches[:4]):
        known = held.concepts[:, match.value.concept] >= 0
        holds, said = held.concepts[known, match.value.concept] == match.value.value, match.predicted(held.units[known])
        assert 2 * (said & holds).sum() / (said.sum() + holds.sum()) == pytest.approx(table[match.unit, place])
    assert -1 in {match.direction for match in matches} and 1 in {match.direction for match in matches}


def test_matches_are_scored_on_what_is_known_of_another_split():
    held, other = split(), split(90, seed=1)
    matches = fit_matches(held, VALUES)
    scores = score_matches(other, matches)
    for score, match in zip(scores[:4], matches[:4], strict=True):
        known = other.concepts[:, match.value.concept] >= 0
        holds = other.concepts[known, match.value.concept] == match.value.value
        numbers = match.direction * other.units[known, match.unit]
        said = numbers >= match.threshold
        assert score.share == pytest.approx(holds.mean())
        assert score.f1 == pytest.approx(2 * (said & holds).sum() / (said.sum() + holds.sum()))
        top = min(int(holds.sum()), max(8, round(0.05 * len(holds))))
        order = sorted(range(len(holds)), key=lambda row: -numbers[row])[:top]
        assert score.purity == pytest.approx(np.mean([holds[row] for row in order]))
        table = unit_information(other.units[known][:, [match.unit]], holds[:, None].astype(int), [2])
        assert score.information == pytest.approx(table[0, 0])
    assert math.isnan(scores[4].f1) and scores[4].share == 0.0 and scores[4].to_dict()["f1"] is None


def test_information_of_bins_by_a_plain_loop():
    held = split(83)
    found = unit_information(held.units, held.concepts, [2, 3, 2])
    for unit in range(5):
        column = np.sort(held.units[:, unit])
        edges = sorted({column[math.ceil(83 * share / 10) - 1] for share in range(1, 10)})
        bins = np.array([sum(number > edge for edge in edges) for number in held.units[:, unit]])
        for place in range(2):
            known = held.concepts[:, place] >= 0
            pairs = list(zip(bins[known].tolist(), held.concepts[known, place].tolist(), strict=True))
            shares = {pair: pairs.count(pair) / len(pairs) for pair in set(pairs)}
            by_bin, by_code = {}, {}
            for (one, code), share in shares.items():
                by_bin[one], by_code[code] = by_bin.get(one, 0) + share, by_code.get(code, 0) + share
            told = sum(share * math.log(share / by_bin[one] / by_code[code]) for (one, code), share in shares.items())
            whole = -sum(share * math.log(share) for share in by_code.values())
            assert found[unit, place] == pytest.approx(told / whole)
    assert found[:, 2].tolist() == pytest.approx([0.0] * 5, abs=1e-12)
    ahead = [np.sort(found[:, place])[-1] - np.sort(found[:, place])[-2] for place in (0, 1)]
    assert information_gap(held, [2, 3, 2]) == pytest.approx(np.mean(ahead))


def test_purity_of_few_and_of_many():
    numbers = np.arange(400.0)
    holds = np.arange(400) % 4 == 0
    assert purity(numbers, holds) == 5 / 20 and purity(numbers[:100], holds[:100]) == 2 / 8
    assert purity(numbers[:20], np.arange(20) >= 17) == 1.0 and math.isnan(purity(numbers, np.zeros(400, bool)))


def test_importance_by_rows_and_columns_of_unequal_number():
    importance = np.array([[0.6, 0.2], [0.4, 0.0], [0.0, 0.8], [0.0, 0.0]])

    def spread(shares, size):
        return 1 + sum(share * math.log(share) for share in shares if share) / math.log(size)

    by_unit = 0.8 / 2 * spread([0.75, 0.25], 2) + 0.4 / 2 * 1 + 0.8 / 2 * 1
    assert disentanglement(importance) == pytest.approx(by_unit)
    assert completeness(importance) == pytest.approx((spread([0.6, 0.4], 4) + spread([0.2, 0.8], 4)) / 2)
    assert math.isnan(disentanglement(importance[:, :1])) and math.isnan(disentanglement(importance * 0))
    assert math.isnan(completeness(importance[:1])) and math.isnan(completeness(importance[:, :0]))


def test_concepts_read_off_units_add_up_and_follow_their_curves():
    held = split(120)
    matches = fit_matches(held, VALUES)
    readout = fit_readout(held, matches, SPACE)
    units = split(30, seed=2).units
    a, n, w = readout.probabilities(units)
    assert [p.shape for p in (a, n, w)] == [(30, 2), (30, 3), (30, 2)]
    raw = [
        curve(np.zeros(30) if m.unit is None else units[:, m.unit])
        for m, curve in zip(matches, readout.curves, strict=True)
    ]
    np.testing.assert_allclose(a, np.stack([1 - raw[0], raw[0]], axis=1), atol=1e-6)
    np.testing.assert_allclose(n, np.stack(raw[1:4], axis=1) / np.sum(raw[1:4], axis=0)[:, None], atol=1e-6)
    np.testing.assert_allclose(w, np.stack([1 - raw[4], raw[4]], axis=1), atol=1e-6)
    assert w[:, 1].max() < 0.01  # it never occurs
    for match, curve in zip(matches[:4], readout.curves, strict=False):
        known = held.concepts[:, match.value.concept] >= 0
        numbers = held.units[known, match.unit]
        assert (curve.mean, curve.scale) == (pytest.approx(numbers.mean()), pytest.approx(numbers.std()))
        holds = (held.concepts[known, match.value.concept] == match.value.value).astype(float)
        steps = (numbers - curve.mean) / curve.scale
        chances = 1 / (1 + np.exp(-(curve.bias + curve.slope * steps)))
        assert (holds - chances).sum() == pytest.approx(0.01 * curve.bias, abs=1e-6)
        assert ((holds - chances) * steps).sum() == pytest.approx(0.001 * known.sum() * curve.slope, abs=1e-6)


def test_scores_are_of_the_test_split_and_chance_is_of_shuffled_rows(monkeypatch):
    fit, test = split(80), split(50, seed=3)
    monkeypatch.setattr("assay.diagnosis.discovery.disentanglement.TREES", 3)
    found = score_units(fit, test, SPACE, 5, 2)
    matches = score_matches(test, fit_matches(fit, VALUES))
    assert [score.match for score in found.matches] == [score.match for score in matches]
    concepts = predict_columns(fit.units, fit.concepts, test.units, test.concepts, 5)
    labels = predict_columns(fit.units, fit.labels, test.units, test.labels, 5)
    expected = {
        **{name: np.nanmean([getattr(score, name) for score in matches]) for name in ("f1", "information", "purity")},
        "completeness": labels.skill, "disentanglement": disentanglement(concepts.importance),
        "dci_completeness": completeness(concepts.importance), "informativeness": concepts.skill,
        "mig": information_gap(test, [2, 3, 2]),
    }  # fmt: skip
    assert {name: score.value for name, score in found.scores.items()} == pytest.approx(expected)
    shuffled = []
    for repetition in range(2):
        rng = rng_for(5, "chance", repetition)
        others = [UnitSplit(s.units[rng.permutation(len(s.units))], s.concepts, s.labels) for s in (fit, test)]
        shuffled.append(scoring._numbers(*others, score_matches(others[1], fit_matches(others[0], VALUES)), SPACE, 5))
    for name, score in found.scores.items():
        values = [numbers[name] for numbers in shuffled]
        assert (score.chance, score.highest) == (pytest.approx(np.mean(values)), pytest.approx(max(values))), name
    assert len(found.of_concept(1)) == 3 and found.of_concept(2) == ()


def test_stability_is_of_all_pairs_and_its_chance_of_rows_shuffled_apart():
    seeds = [split(40).units, split(40).units[:, [3, 1, 0]] * -1.0, split(40, seed=6).units]
    each = [agreement(first, second) for first, second in itertools.combinations(seeds, 2)]
    assert each[0] == pytest.approx(3 / 5) and stability(seeds) == pytest.approx(np.mean(each))
    found = score_stability(seeds, 4, 3)
    by_chance = []
    for repetition in range(3):
        rng = rng_for(4, "chance of stability", repetition)
        by_chance.append(stability([rows[rng.permutation(40)] for rows in seeds]))
    assert (found.value, found.chance, found.highest) == (
        pytest.approx(np.mean(each)), pytest.approx(np.mean(by_chance)), pytest.approx(max(by_chance)),
    )  # fmt: skip


def test_agreement_by_correlations():
    first, second = split(40).units, split(40, seed=8).units[:, :3]
    still = np.concatenate([first, np.full((40, 1), 2.0)], axis=1)
    table = np.abs(np.corrcoef(first.T, second.T)[:5, 5:])
    best = max(
        sum(table[unit, place] for place, unit in enumerate(chosen)) for chosen in itertools.permutations(range(5), 3)
    )
    for pair in ((first, second), (still, second), (second, still)):
        assert agreement(*pair) == pytest.approx(best / 5)
