"""Policies one by one on models written down here: what they score, what they may spend, what a plan is by default."""

import math

import numpy as np
import pytest

from assay.concepts import bits
from assay.contracts import EVERY, BottleneckModel, logistic_head
from assay.diagnosis import (
    POLICIES,
    Budget,
    InterventionPlan,
    Point,
    Readout,
    Trial,
    Truth,
    Units,
    budgets_from,
    coverage_curve,
    policy_of,
    rule_head,
)
from assay.diagnosis.automation import Abstention, fit_abstention, fit_threshold
from assay.diagnosis.calibration import Scaling, fit_scaling
from assay.diagnosis.discovery.matching import BINS, FEWEST_TOP, TOP_SHARE, purity, unit_information
from assay.diagnosis.discovery.readout import ValueCurve
from assay.diagnosis.interventions.curve import Automation, by_concept
from assay.diagnosis.interventions.policies import (
    Cooperative,
    FixedOrder,
    Random,
    Responsiveness,
    Uncertainty,
    ValidationRanking,
    expected_changes,
)
from assay.diagnosis.interventions.policy import PolicyState
from assay.diagnosis.interventions.sources import (
    KINDS,
    certain_answers,
    check_answers,
    draw_expert_answers,
    even_confusion,
)
from assay.diagnosis.propagation import chebyshev_points
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.seeds import rng_for

RULE = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b", "z": "c"})
UNITS = Units.of(RULE.space)


def model(*chances, knowledge=RULE):
    """A model with these probabilities of true, a row for each example."""
    columns = np.array(chances, dtype=float).T
    return BottleneckModel("toy", [np.stack([1 - p, p], axis=1) for p in columns], rule_head(knowledge))


def state(made, units=UNITS, open_rows=None, truth=None, seed=0):
    rows = len(made.concepts[0])
    codes = np.ones((rows, 3), dtype=int) if truth is None else np.asarray(truth)
    answers = certain_answers(codes, RULE.space)
    return PolicyState(made, units, answers, np.ones(rows, bool) if open_rows is None else np.asarray(open_rows), seed)


def test_what_policies_need_and_have():
    assert {name: (p.soft, p.scored, p.adaptive, p().threshold) for name, p in ((n, POLICIES[n]) for n in POLICIES)} == {
        "responsiveness": (True, True, False, 0.2), "random": (False, False, False, None),
        "uncertainty": (True, True, False, None), "fixed": (False, False, False, None),
        "cooperative": (True, True, True, None), "validation": (False, False, False, None),
    }  # fmt: skip
    assert Cooperative().weights == (1.0, 1.0, 0.1)


def test_plans_by_default():
    plan = InterventionPlan()
    assert plan.to_dict() == {
        "policy": "responsiveness", "budget": "0-3,max", "source": "perfect", "kind": "confirmation", "split": "test",
        "threshold": None, "order": (), "groups": {}, "costs": {}, "batch_budget": None, "target": None, "baseline": None,
        "seed": 0,
    }  # fmt: skip
    assert InterventionPlan(kind="manipulation").answered_by == "toggle"
    assert InterventionPlan(kind="manipulation", source="toggle").answered_by == "toggle"
    assert InterventionPlan(kind="manipulation", source="self").answered_by == "self"


def test_policies_by_name_take_what_is_theirs():
    assert policy_of("uncertainty", 0.5) == Uncertainty(0.5) and policy_of("responsiveness") == Responsiveness(0.2)
    assert policy_of("fixed", order=[2, 0]) == FixedOrder(order=(2, 0)) and policy_of("random") == Random()
    with pytest.raises(ConfigError, match="'random' has no score"):
        policy_of("random", 0.5)
    with pytest.raises(ConfigError, match="an order of concepts is for policy 'fixed', not 'random'"):
        policy_of("random", order=[1])
    for missing in ({"units": UNITS}, {"ranking": ValidationRanking(model([0.5] * 3), None, None)}):
        with pytest.raises(ConfigError, match="needs a validation split"):
            policy_of("validation", **missing)


def test_entropy_of_units_is_in_bits():
    units = Units.of(RULE.space, {"ab": ["a", "b"]})
    found = state(model([0.5, 0.25, 1.0], [0.0, 0.5, 0.9]), units).entropy
    quarter, tenth = 2 - 0.75 * np.log2(3), -(0.9 * np.log2(0.9) + 0.1 * np.log2(0.1))
    np.testing.assert_allclose(found, [[1 + quarter, 0], [1, tenth]], atol=1e-12)


def test_uncertain_concepts_above_a_threshold_are_asked_about():
    seen = state(model([0.5, 0.4, 0.9], [0.1, 0.5, 0.01], [0.5, 0.5, 0.5]), open_rows=[True, True, False])
    assert Uncertainty().ask(seen, Budget(1)).units.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert Uncertainty().ask(seen, Budget(2)).units.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert Uncertainty(0.98).ask(seen, Budget(3)).units.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert Uncertainty(1.0).ask(seen, Budget(3)).units.tolist() == [[0, 0, 0]] * 3


def test_a_fixed_order_comes_before_the_rest():
    seen = state(model([0.5] * 3, [0.5] * 3), open_rows=[True, False])
    assert FixedOrder().ask(seen, Budget(2)).units.tolist() == [[1, 1, 0], [0, 0, 0]]
    assert FixedOrder(order=(2,)).ask(seen, Budget(2)).units.tolist() == [[1, 0, 1], [0, 0, 0]]
    assert FixedOrder(order=(2, 1)).ask(seen, Budget(2)).units.tolist() == [[0, 1, 1], [0, 0, 0]]
    costly = state(model([0.5] * 3), Units.of(RULE.space, costs={"a": 3}))
    assert FixedOrder().ask(costly, Budget(2)).units.tolist() == [[0, 1, 1]]  # what does not fit is passed over


def test_random_questions_are_the_same_for_every_budget():
    seen = state(model(*[[0.5] * 3] * 40))
    asked = [Random().ask(seen, Budget(budget)).units for budget in (1, 2)]
    assert (
        asked[0].sum(axis=1).tolist() == [1] * 40
        and (asked[0] <= asked[1]).all()
        and len(np.unique(asked[0], axis=0)) == 3
    )
    assert not np.array_equal(Random().ask(state(model(*[[0.5] * 3] * 40), seed=1), Budget(1)).units, asked[0])


def test_the_expected_move_of_labels_by_hand():
    made = model([0.6, 0.9, 0.3])
    # y: 0.54 is the predicted value true; z: 0.7 for false
    found = expected_changes(made, UNITS, {})
    by_a = (0.6 * abs(0.9 - 0.54) + 0.4 * abs(0 - 0.54)) / 2
    by_b = (0.9 * abs(0.6 - 0.54) + 0.1 * abs(0 - 0.54)) / 2
    by_c = (0.3 * 0.7 + 0.7 * 0.3) / 2
    np.testing.assert_allclose(found, [[by_a, by_b, by_c]], atol=1e-12)
    pair = Units.of(RULE.space, {"ab": ["a", "b"]})
    both = (0.54 * 0.46 + 0.46 * 0.54) / 2
    np.testing.assert_allclose(expected_changes(made, pair, {}), [[both, by_c]], atol=1e-12)
    known = expected_changes(made, UNITS, {0: np.array([[0.0, 1.0]])})
    np.testing.assert_allclose(known[0, 1], (0.9 * 0.1 + 0.1 * 0.9) / 2, atol=1e-12)
    scores = Cooperative(weights=(2.0, 3.0, 0.5)).scores(state(made), np.zeros((1, 3), dtype=bool))
    entropy = state(made).entropy
    np.testing.assert_allclose(scores, 2 * entropy + 3 * found - 0.5, atol=1e-12)


def test_cooperation_asks_one_by_one_within_all_budgets():
    made = model([0.5, 0.95, 0.05], [0.9, 0.5, 0.97], [0.5, 0.5, 0.5])
    seen = state(made)
    assert Cooperative().ask(seen, Budget(1)).units.tolist()[:2] == [[1, 0, 0], [0, 1, 0]]
    assert Cooperative().ask(seen, Budget(3)).units.all() and not Cooperative().ask(seen, Budget(0)).units.any()
    assert (
        Cooperative().ask(seen, Budget(3, 4)).units.sum() == 4
        and Cooperative().ask(seen, Budget(1, 2)).units.sum() == 2
    )
    closed = state(made, open_rows=[False, True, True])
    assert Cooperative().ask(closed, Budget(1)).units.any(axis=1).tolist() == [False, True, True]
    assert not Cooperative(threshold=9.0).ask(seen, Budget(3)).units.any()
    few = Cooperative(threshold=1.0).ask(seen, Budget(3)).units
    assert few[:2].tolist() == [[1, 0, 0], [0, 1, 0]]


def test_the_most_responsive_set_is_asked_about_above_the_threshold():
    made = model([0.9, 0.6, 0.05], [0.9, 0.9, 0.3], [0.99, 0.99, 0.9])
    asked = Responsiveness().ask(state(made), Budget(1))
    assert asked.units.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]] and asked.exact
    assert Responsiveness(0.05).ask(state(made), Budget(1)).units.tolist()[2] == [0, 0, 1]
    assert Responsiveness(0.5).ask(state(made), Budget(1)).units.sum() == 0
    limited = Responsiveness().ask(state(made), Budget(1, 1)).units
    assert limited.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]  # 0.4 is more than 0.3
    assert Responsiveness().ask(state(made, open_rows=[False, True, True]), Budget(1)).units.tolist()[0] == [0, 0, 0]


def test_concepts_are_ranked_by_how_much_they_would_have_helped():
    made = model([0.1, 0.9, 0.9], [0.1, 0.9, 0.2], [0.1, 0.9, 0.8])
    truth = np.array([[1, 1, 1], [1, 1, 1], [0, 1, 1]])
    ranking = ValidationRanking(made, truth, RULE.labels_of(truth))
    accuracy, chance = ranking._quality({})
    assert accuracy == pytest.approx(3 / 6)
    assert chance == pytest.approx((np.mean([0.09, 0.09, 0.91]) + np.mean([0.9, 0.2, 0.8])) / 2)
    assert ranking.order(UNITS) == (0, 2, 1) and ranking.order(Units.of(RULE.space, {"bc": ["b", "c"]})) == (0, 1)


def test_points_as_plain_data():
    point = Point(1.0, False, 0.5, 0.4, math.nan, 1.0, 1.0, 0.5, 1.0, 0.1, True, Automation(0.5, 0.9, 0.2), 0.1)
    plain = point.to_dict()
    assert (
        plain["concept_accuracy"] is None
        and plain["coverage"] == 0.5
        and plain["selective_accuracy"] == 0.9
        and "automated" not in plain
    )
    assert by_concept(np.array([[True, False], [False, True]]), Units.of(RULE.space, {"ac": ["a", "c"]})).tolist() == [
        [True, False, True], [False, True, False],
    ]  # fmt: skip
    units = Units.of(RULE.space, costs={"a": 2.5})
    assert [b.each for b in budgets_from("2-3, 0,max,1.5", units, 7.0)] == [0, 1.5, 2, 3, 4.5]
    assert budgets_from("1", units, 7.0)[0].total == 7.0 and [b.each for b in budgets_from("2-2", units)] == [2.0]
    for text in ("3-2", "a", "1,,2"):
        with pytest.raises(ConfigError, match="expected numbers, ranges"):
            budgets_from(text, units)


def test_a_curve_counts_what_was_asked_answered_and_changed():
    made = model([0.1, 0.9, 0.9], [0.9, 0.9, 0.9])
    truth = np.array([[1, 1, 0], [1, 0, 1]])
    answers = certain_answers(np.array([[1, -1, 0], [1, 0, 1]]), RULE.space)
    trial = Trial(
        made,
        Units.of(RULE.space, costs={"b": 2}),
        answers,
        Truth(np.array([[1, 1, 0], [1, 0, -1]]), RULE.labels_of(truth)),
        baseline=0.25,
    )
    none, most = trial.run(FixedOrder(), [Budget(0), Budget(4)]).points
    assert (none.accuracy, none.all_right, none.asked, none.cost, none.changed, none.whole) == (
        0.25,
        0.0,
        0,
        0,
        0,
        False,
    )
    assert none.concept_accuracy == pytest.approx(2 / 5) and none.gain == 0.0  # a of the second, b of the first
    assert (most.asked, most.answered, most.edited, most.cost, most.whole) == (3.0, 2.5, 1.5, 4.0, True)
    assert (most.accuracy, most.all_right, most.changed, most.gain) == (
        1.0,
        1.0,
        1.0,
        0.75,
    ) and most.concept_accuracy == 1.0


def test_answers_that_are_no_probabilities_are_refused():
    good = [np.array([[0.2, 0.8], [np.nan, np.nan]])]
    assert check_answers(good, 2, [2])[0].tolist()[0] == [0.2, 0.8]
    for bad in ([[0.2, 0.79], [1, 0]], [[0.2, np.nan], [1, 0]], [[-0.1, 1.1], [1, 0]]):
        with pytest.raises(DataError, match="must be probabilities"):
            check_answers([np.array(bad, dtype=float)], 2, [2])
    assert len(check_answers([np.array([[0.2, 0.8005]])], 1, [2])) == 1
    with pytest.raises(DataError, match=r"\(1, 2\) where \(2, 2\) is needed"):
        check_answers([np.array([[0.2, 0.8]])], 2, [2])
    with pytest.raises(DataError, match="beyond the values"):
        certain_answers(np.array([[0, 2, 0]]), RULE.space)


def test_experts_err_by_their_confusions():
    matrix = np.array([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
    truth = np.tile(np.arange(3), 3000)[:, None]
    said = draw_expert_answers(truth, [matrix], 0, "test")[:, 0]
    for value in range(3):
        shares = np.bincount(said[truth[:, 0] == value], minlength=3) / 3000
        assert shares == pytest.approx(matrix[value], abs=0.04)
    assert even_confusion(4, 0.4).tolist()[1] == pytest.approx([0.2, 0.4, 0.2, 0.2]) and len(KINDS) == 8


def test_thresholds_are_the_lowest_that_reach_the_target():
    confidence, right = np.array([0.9, 0.8, 0.8, 0.7, 0.6]), np.array([True, True, False, True, True])
    coverage, accuracy = coverage_curve(confidence, right)
    assert coverage == pytest.approx([0.2, 0.6, 0.8, 1.0]) and accuracy == pytest.approx([1, 2 / 3, 3 / 4, 4 / 5])
    assert [fit_threshold(confidence, right, target) for target in (1.0, 0.8, 0.75, 0.81)] == [0.9, 0.6, 0.6, 0.9]
    with pytest.raises(ConfigError, match="the best is 0.500, deciding 100 %"):
        fit_threshold(np.array([0.9, 0.8]), np.array([False, True]), 0.9)
    for target in (0.0, 1.01):
        with pytest.raises(ConfigError, match="a target accuracy"):
            fit_abstention([np.full((2, 2), 0.5)], np.zeros((2, 1), dtype=int), target)
    rule = Abstention((Scaling(), Scaling(2.0, 0.0)), 0.72, 0.9)
    labels = [np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.75, 0.25], [0.5, 0.5]])]
    assert rule.confidence(labels) == pytest.approx([0.81, 0.45]) and rule.decides(labels).tolist() == [True, False]


def test_scaling_has_a_slope_and_a_shift():
    chances = np.array([[0.8, 0.2], [0.5, 0.5]])
    scaled = Scaling(0.5, 1.0)(chances)
    odds = np.sqrt(0.2 / 0.8) * np.e
    assert scaled[:, 1] == pytest.approx([odds / (1 + odds), np.e / (1 + np.e)])
    three = Scaling(2.0, 5.0)(np.array([[0.5, 0.3, 0.2]]))
    assert three[0] == pytest.approx(np.array([0.25, 0.09, 0.04]) / 0.38)  # a shift is for two values
    rng = rng_for(6, "scaling")
    true = 1 / (1 + np.exp(-rng.normal(size=4000) * 2))
    labels = (rng.random(4000) < true).astype(int)
    logit = np.log(true / (1 - true)) * 2 - 1  # twice as sure, and shifted
    found = fit_scaling(np.stack([1 / (1 + np.exp(logit)), 1 / (1 + np.exp(-logit))], axis=1), labels)
    assert found.slope == pytest.approx(0.5, abs=0.05) and found.shift == pytest.approx(0.5, abs=0.1)


def test_points_that_interpolate_a_logistic_function():
    assert chebyshev_points(0.0, 1e-9) == 1
    for half, error in ((1.0, 1e-6), (5.0, 1e-9), (0.01, 0.1)):
        rise = math.pi / 2 / half
        r = rise + math.sqrt(rise**2 + 1)
        found = chebyshev_points(half, error)
        assert found >= 2 and 4 / ((r - 1) * r ** (found - 1)) <= error * (1 + 1e-9)
        assert found == 2 or 4 / ((r - 1) * r ** (found - 2)) > error


def test_curves_of_values():
    curve = ValueCurve(2.0, 4.0, 3.0, -1.0)
    assert curve(np.array([2.0, 6.0])) == pytest.approx([1 / (1 + np.e), 1 / (1 + np.exp(-2))])
    assert Readout(RULE.space, (), ()).probabilities(np.zeros((2, 1)))[0].sum(axis=1) == pytest.approx([1, 1])


def test_purity_looks_at_the_largest():
    assert (BINS, FEWEST_TOP, TOP_SHARE) == (10, 8, 0.05)
    numbers = np.arange(400.0)
    assert purity(numbers, numbers >= 390) == 1.0 and purity(numbers, numbers < 200) == 0.0
    assert purity(numbers, (numbers >= 390) | (numbers < 50)) == 0.5  # ten of the twenty largest
    information = unit_information(
        np.stack([numbers % 2, numbers], axis=1), np.stack([numbers % 2, numbers // 200], axis=1).astype(int), [2, 2]
    )
    assert information[0] == pytest.approx([1, 0], abs=1e-9) and information[1] == pytest.approx([0, 1], abs=1e-9)


def test_a_model_answers_rows_and_keeps_its_own_where_nothing_is_said():
    head = logistic_head([2.0, -1.0], 0.5)
    made = BottleneckModel("toy", [np.array([[0.5, 0.5], [0.2, 0.8]])] * 2, head, linear=head)
    given = np.array([[0.0, 1.0], [np.nan, np.nan]])
    output = made.answer(EVERY, {1: given})
    assert output.concepts[1].tolist() == [[0, 1], [0.2, 0.8]] and output.concepts[0].tolist() == [
        [0.5, 0.5],
        [0.2, 0.8],
    ]
    assert output.labels[0][0, 1] == pytest.approx(1 / (1 + np.exp(-(1.0 - 1 + 0.5))))
    assert made.work == 200_000_000 and model([0.5] * 3).work == 25_000_000
    assert made.answer(np.array([1]), {}).concepts[0].tolist() == [[0.2, 0.8]] and output.label_codes.tolist() == [
        [1],
        [1],
    ]
