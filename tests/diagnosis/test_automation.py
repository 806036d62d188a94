"""Abstention, coverage, work saved, and label probabilities from uncertain concepts."""

import math
from itertools import product

import numpy as np
import pytest

from assay.concepts import bits
from assay.contracts import EVERY, BottleneckModel, LinearHead, logistic_head
from assay.diagnosis import Budget, Trial, Truth, Units, coverage_curve, policy_of
from assay.diagnosis.automation import fit_abstention, fit_threshold, net_work_automated
from assay.diagnosis.calibration import Scaling, fit_scaling
from assay.diagnosis.interventions.sources import certain_answers
from assay.diagnosis.propagation import chebyshev_points, through_and, through_any, through_linear, through_rule
from assay.errors import ConfigError, TooLarge
from assay.logic import Knowledge
from assay.seeds import rng_for


def uncertain(rows, concepts):
    chance = rng_for(0, "uncertain", concepts).random((rows, concepts))
    return [np.stack([1 - chance[:, i], chance[:, i]], axis=1) for i in range(concepts)]


def test_the_threshold_is_the_lowest_that_keeps_the_target():
    sure = np.array([0.95, 0.9, 0.9, 0.8, 0.7, 0.6])
    right = np.array([True, True, False, True, True, False])
    assert fit_threshold(sure, right, 0.8) == 0.7  # 4 of 5
    assert fit_threshold(sure, right, 1.0) == 0.95
    assert fit_threshold(sure, right, 0.5) == 0.6
    # rows of equal confidence are decided together or not at all
    with pytest.raises(ConfigError, match="the best is 0.500, deciding 67 %"):
        fit_threshold(np.array([0.9, 0.9, 0.5]), np.array([True, False, False]), 1.0)
    with pytest.raises(
        ConfigError, match=r"no threshold reaches accuracy 0.9 on validation: the best is 0.600, deciding 100 %"
    ):
        fit_threshold(np.full(5, 0.7), np.array([True, True, True, False, False]), 0.9)


def test_abstention_reaches_its_target_on_new_examples():
    rng = rng_for(0, "abstention")
    chance = rng.random(20_000)
    truth = (rng.random(20_000) < chance).astype(int)[:, None]
    said = 1 / (1 + ((1 - chance) / chance) ** 3)  # three times too sure
    spread = np.stack([1 - said, said], axis=1)
    rule = fit_abstention([spread[:10_000]], truth[:10_000], 0.9)
    assert abs(rule.scalings[0].slope - 1 / 3) < 0.02 and abs(rule.scalings[0].shift) < 0.05
    decided = rule.decides([spread[10_000:]])
    right = (spread.argmax(axis=1) == truth[:, 0])[10_000:]
    assert 0.2 < decided.mean() < 0.8 and abs(right[decided].mean() - 0.9) < 0.02
    for target in (0.0, 1.5):
        with pytest.raises(ConfigError, match="a target accuracy is a number above 0 and up to 1"):
            fit_abstention([spread], truth, target)


def test_scaling_mends_overconfidence_of_many_values_and_leaves_what_is_calibrated():
    rng = rng_for(0, "scaling")
    scores = rng.normal(size=(20_000, 4)) * 1.5
    chance = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truth = (rng.random(20_000)[:, None] > np.cumsum(chance, axis=1)).sum(axis=1)
    sharp = chance**2 / (chance**2).sum(axis=1, keepdims=True)
    assert abs(fit_scaling(sharp, truth).slope - 0.5) < 0.02
    assert abs(fit_scaling(chance, truth).slope - 1) < 0.04
    np.testing.assert_allclose(Scaling(0.5)(sharp), chance, atol=1e-9)
    perfect = np.eye(2)[[0, 1, 0, 1]] * 0.8 + 0.1
    assert math.isfinite(fit_scaling(perfect, np.array([0, 1, 0, 1])).slope)


def test_only_what_is_abstained_on_is_asked_about():
    head = logistic_head([4.0, 4.0], -6.0)
    own = [np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])]
    model = BottleneckModel("x", own, head, linear=head)
    truth = Truth(np.array([[1, 1], [1, 1], [0, 0]]), np.array([[1], [1], [0]]))
    told = model.answer(EVERY, {}).labels
    rule = fit_abstention([np.repeat(told[0], 50, axis=0)], np.repeat([[1], [1], [0]], 50, axis=0), 1.0)
    answers = certain_answers(truth.concepts, bits(["a", "b"]))
    trial = Trial(model, Units.of(bits(["a", "b"])), answers, truth, abstention=rule, baseline=0.5)
    none, all_asked = trial.run(policy_of("uncertainty"), [Budget(0), Budget(2)]).points
    assert none.automated.coverage == pytest.approx(2 / 3) and none.automated.selective_accuracy == 1
    assert all_asked.asked == pytest.approx(2 / 3)  # both concepts of one example in three
    assert all_asked.automated.coverage == 1 and all_asked.automated.net_work_automated == pytest.approx(1 - 1 / 3)
    assert all_asked.gain == all_asked.accuracy - 0.5 == 0.5


def test_net_work_and_coverage_are_as_the_paper_has_them():
    assert net_work_automated(0.45, 0.555 * 27, 27) == pytest.approx(-0.105)  # its own figures
    coverage, accuracy = coverage_curve(np.array([0.9, 0.9, 0.6, 0.5]), np.array([True, False, True, True]))
    np.testing.assert_allclose(coverage, [0.5, 0.75, 1.0])
    np.testing.assert_allclose(accuracy, [0.5, 2 / 3, 0.75])


def brute_force(head, concepts):
    sizes = [p.shape[1] for p in concepts]
    total = 0.0
    for codes in product(*(range(size) for size in sizes)):
        chance = np.prod([p[:, code] for p, code in zip(concepts, codes, strict=True)], axis=0)
        total = (
            total + chance[:, None] * head([np.eye(size)[[code]] for size, code in zip(sizes, codes, strict=True)])[0]
        )
    return total


@pytest.mark.parametrize("concepts", [1, 2, 5, 12])
def test_labels_from_uncertain_concepts_are_exact(concepts):
    held = uncertain(7, concepts)
    weights = rng_for(0, "weights", concepts).normal(size=concepts) * 3
    head = logistic_head(weights, -1.0)
    true = brute_force(head, held)
    np.testing.assert_allclose(through_linear(head, held)[0], true, atol=1e-12)
    np.testing.assert_allclose(through_any(head, held)[0], true, atol=1e-12)


def test_interpolation_keeps_within_its_bound():
    """Where halves are large, the logistic head is interpolated: sixteen concepts against the sum over all worlds."""
    held = uncertain(5, 16)
    head = logistic_head(rng_for(0, "wide").normal(size=16), 0.3)
    assert chebyshev_points(float(sum(abs(w[1, 1]) for w in head.weights[:8])) / 2, 1e-6) < 2**8
    exact = through_any(head, held)[0]
    for error in (1e-3, 1e-6, 1e-9):
        assert np.abs(through_linear(head, held, error)[0] - exact).max() <= error


def test_heads_of_many_values_and_many_labels_are_exact():
    rng, sizes = rng_for(0, "many"), (2, 3, 4)
    held = [one / one.sum(axis=1, keepdims=True) for one in (rng.random((6, size)) for size in sizes)]
    three = LinearHead([rng.normal(size=(size, 3)) for size in sizes], rng.normal(size=3), (3,))
    np.testing.assert_allclose(through_linear(three, held)[0], brute_force(three, held), atol=1e-12)
    with pytest.raises(TooLarge, match="too many to ask a head about"):
        through_any(three, held * 7)


def test_propagation_through_a_rule_of_27_concepts_is_exact():
    names = [f"c{i}" for i in range(27)]
    knowledge = Knowledge.of(bits(names), {"y": " and ".join(names)})
    held = uncertain(200, 27)
    found = through_rule(knowledge, held)[0][:, 1]
    np.testing.assert_allclose(found, through_and(held), atol=1e-15)


def test_scaling_has_the_least_cross_entropy():
    rng = rng_for(0, "least")
    for size in (2, 4):
        logs = rng.normal(size=(400, size))
        chance = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
        truth = np.array([rng.choice(size, p=row) for row in chance**2 / (chance**2).sum(axis=1, keepdims=True)])
        found = fit_scaling(chance, truth)

        def loss(slope, shift, chance=chance, truth=truth):
            return -np.log(Scaling(slope, shift)(chance)[np.arange(400), truth]).mean()

        least = loss(found.slope, found.shift)
        for slope, shift in ((1.05, 0.0), (0.95, 0.0), (1.0, 0.1), (1.0, -0.1)):
            moved = found.slope * slope, found.shift + (shift if size == 2 else 0.0)
            assert loss(*moved) >= least - 1e-9
        assert found.slope > 1.3 and (size == 2 or found.shift == 0)


def test_scaled_probabilities_by_hand():
    odds = 2 * np.log(0.2 / 0.8) + 0.5
    assert Scaling(2.0, 0.5)(np.array([[0.8, 0.2]]))[0, 1] == pytest.approx(1 / (1 + np.exp(-odds)))
    three = np.array([[0.5, 0.3, 0.2]])
    assert Scaling(2.0, 0.5)(three) == pytest.approx(three**2 / (three**2).sum())  # no shift where there are three
    assert Scaling()(three).tolist() == three.tolist() and Scaling(2.0, 0.5).to_dict() == {"slope": 2.0, "shift": 0.5}
    backwards = np.tile([[0.6, 0.2, 0.2]], (50, 1))
    assert fit_scaling(backwards, np.ones(50, dtype=int)) == Scaling()  # confidence that falls with accuracy


@pytest.mark.parametrize("sure", [0.6, 0.9])
def test_a_slope_that_has_no_limit_is_where_the_penalty_stops_it(sure):
    """All answers are right, so that surer ones are always better; a millionth of the slope beyond 1 is taken off."""
    right = np.array([0, 1, 1, 0])
    found = fit_scaling(np.where(np.eye(2)[right] == 1, sure, 1 - sure), right)
    odds = math.log(sure / (1 - sure))
    assert odds / (1 + math.exp(odds * found.slope)) == pytest.approx(1e-6 * (found.slope - 1), rel=1e-6)
    assert found.shift == pytest.approx(0.0, abs=1e-9) and found.slope > 5


def test_sharp_scaling_stays_finite_and_shifts_two_values_only():
    np.testing.assert_allclose(Scaling(60.0)(np.array([[1.0, 0.0], [0.0, 1.0]])), np.eye(2), atol=1e-12)
    three = np.array([[0.2, 0.3, 0.5]])
    np.testing.assert_allclose(Scaling(1.0, 5.0)(three), three)
    np.testing.assert_allclose(Scaling(1.0, np.log(3.0))(np.array([[0.5, 0.5]])), [[0.25, 0.75]])
    np.testing.assert_allclose(Scaling(2.0)(np.array([[0.25, 0.75]])), [[0.1, 0.9]])


def test_rows_of_equal_confidence_are_decided_together():
    confidence, right = np.array([0.5, 0.9, 0.5, 0.7]), np.array([True, True, False, True])
    coverage, accuracy = coverage_curve(confidence, right)
    assert coverage.tolist() == [0.25, 0.5, 1.0] and accuracy.tolist() == [1.0, 1.0, 0.75]
    assert [fit_threshold(confidence, right, target) for target in (0.75, 0.76, 1.0)] == [0.5, 0.7, 0.7]
    with pytest.raises(ConfigError, match=r"no threshold reaches accuracy 0.9 on validation: the best is 0.750, dec"):
        fit_threshold(np.ones(4), right, 0.9)
