"""Interventions where nothing is alike: concepts of two to four values, groups, unequal costs, several labels and rows."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.contracts import EVERY, BottleneckModel, LinearHead, ModelOutput, override, softmax
from assay.diagnosis import Budget, Trial, Truth, Units, budgets_from, policy_of, rule_head
from assay.diagnosis.automation import Abstention, fit_abstention
from assay.diagnosis.calibration import Scaling
from assay.diagnosis.interventions.policies import (
    Cooperative,
    FixedOrder,
    Random,
    Responsiveness,
    Uncertainty,
    ValidationRanking,
    expected_changes,
)
from assay.diagnosis.interventions.policy import PolicyState, Selection, fill
from assay.diagnosis.interventions.responsiveness import best_sets, responsiveness
from assay.diagnosis.interventions.sources import certain_answers, check_answers
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.seeds import rng_for

SPACE = ConceptSpace(
    (Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("m", (0, 1, 2, 3)), Concept("b", (False, True)))
)
RULE = Knowledge.of(SPACE, {"y": "a and n > 0", "s": "(n + m) % 3", "z": "b"})
UNITS = Units.of(SPACE, {"am": ["a", "m"]}, {"n": 2.5, "am": 3.0})
ROWS = 7


def chances(rows=ROWS, seed=0):
    return [rng_for(seed, "chances", place).dirichlet(np.ones(size), rows) for place, size in enumerate(SPACE.sizes)]


def model(rows=ROWS, seed=0):
    return BottleneckModel("toy", chances(rows, seed), rule_head(RULE))


def linear(rows=ROWS, sizes=(2, 2, 2)):
    rng = rng_for(0, "linear", *sizes)
    weights = [rng.normal(size=(size, sum(sizes))) for size in SPACE.sizes]
    head = LinearHead(weights, rng.normal(size=sum(sizes)), sizes)
    return BottleneckModel("linear", chances(rows), head, head)


def truths(rows=ROWS):
    return np.stack(
        [rng_for(1, "truth", place).integers(0, size, rows) for place, size in enumerate(SPACE.sizes)], axis=1
    )


def state(made, units=UNITS, open_rows=None, seed=0):
    rows = len(made.concepts[0])
    answers = certain_answers(truths(rows), SPACE)
    return PolicyState(made, units, answers, np.ones(rows, bool) if open_rows is None else np.asarray(open_rows), seed)


def spent(asked, units=UNITS):
    return asked @ units.cost


# units


def test_units_of_groups_and_costs():
    assert UNITS.names == ("am", "n", "b") and UNITS.members == ((0, 2), (1,), (3,)) and UNITS.costs == (3.0, 2.5, 1.0)
    assert UNITS.whole == 6.5 and UNITS.concepts([2, 0]) == (3, 0, 2) and UNITS.assignments([0, 1]) == 2 * 4 * 3
    by_concepts = Units.of(SPACE, {"am": ["m", "a"], "bn": ["b", "n"]}, {"a": 0.5, "n": 4.0, "bn": 2.0})
    assert by_concepts.costs == (1.5, 2.0) and by_concepts.names == ("am", "bn")
    with pytest.raises(ConfigError, match="'n' is in two groups, 'x' and 'y'"):
        Units.of(SPACE, {"x": ["a", "n"], "y": ["n"]})
    with pytest.raises(ConfigError, match="group 'b' has the name of a concept that it does not hold"):
        Units.of(SPACE, {"b": ["a", "n"]})
    assert Units.of(SPACE, {"b": ["a", "b"]}).members == ((0, 3), (1,), (2,))


def test_a_budget_that_buys_nothing_is_refused():
    for budget in (Budget(0.5), Budget(5.0, 0.5), Budget(0.99)):
        with pytest.raises(ConfigError, match="buys nothing: the cheapest concept, 'b', costs 1"):
            UNITS.check_budget(budget)
    for budget in (Budget(0), Budget(1.0), Budget(1.0 - 1e-12), Budget(2.0, 1.0), Budget(0, 0.0)):
        UNITS.check_budget(budget)
    for wrong in ((-1.0,), (math.inf,), (math.nan,), (1.0, -0.5), (1.0, math.inf)):
        with pytest.raises(ConfigError, match="a budget must be a number from 0 up"):
            Budget(*wrong)


# what is taken within a budget


def test_filling_by_brute_force():
    rng = rng_for(0, "fill")
    scores, possible = rng.normal(size=(9, 3)), rng.random((9, 3)) < 0.7
    for each in (1.0, 2.5, 3.5, 4.0, 6.5):
        expected = np.zeros((9, 3), bool)
        for row in range(9):
            left = each
            for unit in sorted(range(3), key=lambda unit: -scores[row, unit]):
                if possible[row, unit] and UNITS.costs[unit] <= left:
                    expected[row, unit], left = True, left - UNITS.costs[unit]
        asked = fill(scores, UNITS, Budget(each), possible)
        assert asked.tolist() == expected.tolist()
        for total in (1.0, 6.0, 13.0):
            left, bought = total, np.zeros((9, 3), bool)
            for row, unit in sorted(np.argwhere(asked).tolist(), key=lambda pair: -scores[tuple(pair)]):
                if UNITS.costs[unit] <= left:
                    bought[row, unit], left = True, left - UNITS.costs[unit]
            assert fill(scores, UNITS, Budget(each, total), possible).tolist() == bought.tolist()


def test_answers_are_those_to_what_is_asked():
    seen = state(model())
    asked = np.zeros((ROWS, 3), bool)
    asked[[1, 4], 0], asked[2, 1] = True, True
    found = seen.answers_to(asked)
    assert sorted(found) == [0, 1, 2]
    for place, unit in ((0, 0), (2, 0), (1, 1)):
        for row in range(ROWS):
            wanted = seen.answers[place][row] if asked[row, unit] else np.full(SPACE.sizes[place], np.nan)
            np.testing.assert_array_equal(found[place][row], wanted)


def test_entropy_of_a_group_is_that_of_its_concepts_together():
    made = model()
    bits = [-(p * np.log2(p)).sum(axis=1) for p in made.concepts]
    np.testing.assert_allclose(state(made).entropy, np.stack([bits[0] + bits[2], bits[1], bits[3]], axis=1))


# policies


def test_questions_of_the_simple_policies_keep_to_open_rows_and_costs():
    open_rows = np.array([True, False, True, True, True, False, True])
    seen = state(model(), open_rows=open_rows, seed=3)
    shut = np.zeros((ROWS, 3), bool)
    everything = np.broadcast_to(open_rows[:, None], (ROWS, 3))
    luck = rng_for(3, "interventions", "random").random((ROWS, 3))
    order = np.broadcast_to([-1.0, -2.0, 0.0], (ROWS, 3))  # b first, then am, then n
    for budget in (Budget(1.0), Budget(3.5), Budget(4.0), Budget(6.5), Budget(3.5, 9.0)):
        cases = [
            (Random(), luck, everything),
            (FixedOrder(order=(2, 0)), order, everything),
            (Uncertainty(), seen.entropy, everything),
            (Uncertainty(0.8), seen.entropy, everything & (seen.entropy > 0.8)),
        ]
        for policy, scores, possible in cases:
            found = policy.ask(seen, budget)
            assert found.exact and found.units.tolist() == fill(scores, UNITS, budget, possible).tolist()
    assert FixedOrder().ask(seen, Budget(6.5)).units.tolist() == everything.tolist()
    assert FixedOrder().ask(state(model(), open_rows=np.zeros(ROWS, bool)), Budget(6.5)).units.tolist() == shut.tolist()


def changes_by_hand(made, answers):
    """The mean absolute move of the probability of each predicted label, by asking about every value one by one."""
    before = made.answer(EVERY, answers)
    found = np.zeros((ROWS, len(UNITS)))
    for unit, places in enumerate(UNITS.members):
        for codes in itertools.product(*(range(SPACE.sizes[place]) for place in places)):
            do = dict(answers)
            weight = np.ones(ROWS)
            for place, code in zip(places, codes, strict=True):
                do[place] = np.tile(np.eye(SPACE.sizes[place])[code], (ROWS, 1))
                weight = weight * before.concepts[place][:, code]
            after = made.answer(EVERY, do)
            for row in range(ROWS):
                moves = [
                    abs(new[row, code] - old[row, code])
                    for new, old, code in zip(after.labels, before.labels, before.label_codes[row], strict=True)
                ]
                found[row, unit] += weight[row] * sum(moves) / 3
    return found


def test_expected_changes_of_groups_with_some_answers_given():
    made = model()
    np.testing.assert_allclose(expected_changes(made, UNITS, {}), changes_by_hand(made, {}), atol=1e-12)
    answers = state(made).answers_to(np.array([[False, True, False]] * 3 + [[False, False, False]] * 4))
    np.testing.assert_allclose(expected_changes(made, UNITS, answers), changes_by_hand(made, answers), atol=1e-12)


@pytest.mark.parametrize("budget", [Budget(3.5), Budget(6.5), Budget(6.5, 11.0), Budget(4.0, 3.0)])
@pytest.mark.parametrize("threshold", [None, 0.9])
def test_cooperation_by_brute_force(budget, threshold):
    open_rows = np.array([True, True, False, True, True, True, True])
    seen = state(model(), open_rows=open_rows)
    policy = Cooperative(threshold, weights=(1.0, 2.0, 0.2))
    asked, left = np.zeros((ROWS, 3), bool), [budget.each] * ROWS
    total = math.inf if budget.total is None else budget.total
    while True:
        answers = seen.answers_to(asked)
        scores = seen.entropy + 2 * changes_by_hand(seen.model, answers) - 0.2 * UNITS.cost
        wishes = []
        for row in np.flatnonzero(open_rows).tolist():
            fits = [u for u in range(3) if not asked[row, u] and UNITS.costs[u] <= min(left[row], total)]
            fits = [u for u in fits if threshold is None or scores[row, u] > threshold]
            if fits:
                best = max(fits, key=lambda unit: scores[row, unit])
                wishes.append((-scores[row, best], row, best))
        if not wishes:
            break
        for _, row, unit in sorted(wishes):
            if UNITS.costs[unit] <= total:
                asked[row, unit], left[row], total = True, left[row] - UNITS.costs[unit], total - UNITS.costs[unit]
    assert asked.any() and policy.ask(seen, budget).units.tolist() == asked.tolist()


def test_cooperation_asks_above_its_threshold_only():
    made = BottleneckModel("toy", [np.full((2, size), 1 / size) for size in SPACE.sizes], rule_head(RULE))
    seen = state(made)
    assert seen.entropy[:, 2].tolist() == [1.0, 1.0]
    alone = {"weights": (1.0, 0.0, 0.0)}
    assert Cooperative(1.0, **alone).ask(seen, Budget(6.5)).units.tolist() == [[1, 1, 0]] * 2
    assert Cooperative(0.999, **alone).ask(seen, Budget(6.5)).units.tolist() == [[1, 1, 1]] * 2


def responsiveness_by_hand(made, places):
    before = made.answer(EVERY, {}).label_codes
    found = np.zeros(len(before))
    for codes in itertools.product(*(range(SPACE.sizes[place]) for place in places)):
        do = {p: np.tile(np.eye(SPACE.sizes[p])[code], (len(before), 1)) for p, code in zip(places, codes, strict=True)}
        moved = (made.answer(EVERY, do).label_codes != before).any(axis=1)
        found += moved * np.prod([made.concepts[p][:, code] for p, code in zip(places, codes, strict=True)], axis=0)
    return found


SETS = [(0,), (1,), (3,), (0, 2), (1, 3), (0, 1), (1, 2), (0, 2, 3), (0, 1, 3), (1, 2, 3)]


@pytest.mark.parametrize("at_once", [8192, 15, 1])
def test_responsiveness_by_hand_however_many_rows_are_asked_at_once(at_once, monkeypatch):
    monkeypatch.setattr("assay.diagnosis.interventions.responsiveness.AT_ONCE", at_once)
    made = model()
    for places in SETS:
        np.testing.assert_allclose(responsiveness(made, places), responsiveness_by_hand(made, places), atol=1e-12)


@pytest.mark.parametrize(
    "made", [model(), linear(), linear(sizes=(2, 3)), linear(sizes=(2,))], ids=["rule", "2, 2, 2", "2, 3", "2"]
)
@pytest.mark.parametrize("chunk", [4096, 3])
def test_the_best_set_of_each_row_is_the_first_of_the_highest(made, chunk, monkeypatch):
    monkeypatch.setattr("assay.diagnosis.interventions.responsiveness.CHUNK", chunk)
    each = np.stack([responsiveness_by_hand(made, places) for places in SETS])
    found = best_sets(made, SETS)
    np.testing.assert_allclose(found.score, each.max(axis=0), atol=1e-9)
    for row in range(ROWS):
        best = np.flatnonzero(each[:, row] >= each[:, row].max() - 1e-12)[0] if each[:, row].max() > 0 else -1
        assert found.choice[row] == best


def test_responsiveness_keeps_to_all_budgets():
    made = model(12)
    open_rows = np.arange(12) % 5 != 0
    seen = state(made, open_rows=open_rows)
    sets = [(0,), (1,), (2,), (0, 2), (1, 2)]
    each = np.stack([responsiveness_by_hand(made, UNITS.concepts(chosen)) for chosen in sets])
    for threshold in (0.0, 0.3, None):
        asked = np.zeros((12, 3), bool)
        for row in np.flatnonzero(open_rows).tolist():
            best = int(np.flatnonzero(each[:, row] >= each[:, row].max() - 1e-12)[0])
            if each[best, row] > (threshold or 0):
                asked[row, list(sets[best])] = True
        found = Responsiveness(threshold).ask(seen, Budget(4.0))
        assert found.exact and found.units.tolist() == asked.tolist() and asked.any()
        left, bought = 9.0, np.zeros((12, 3), bool)
        for row in np.argsort(-each.max(axis=0), kind="stable").tolist():
            if 0 < spent(asked[row]) <= left:
                bought[row], left = asked[row], left - spent(asked[row])
        assert Responsiveness(threshold).ask(seen, Budget(4.0, 9.0)).units.tolist() == bought.tolist()


def test_too_many_sets_are_extended_by_single_units(monkeypatch):
    made = model(12)
    seen = state(made, open_rows=np.arange(12) != 3)
    work = 12 * 20  # twenty answers for each row: single units need thirteen
    monkeypatch.setattr(BottleneckModel, "work", work)
    found = Responsiveness(0.1).ask(seen, Budget(4.0))
    alone = np.stack([responsiveness_by_hand(made, places) for places in UNITS.members], axis=1)
    best, wanted = alone.argmax(axis=1), (alone.max(axis=1) > 0.1) & (np.arange(12) != 3)
    scores = alone + 1e-6 * seen.entropy
    scores[np.arange(12), best] += 10
    expected = fill(scores, UNITS, Budget(4.0), np.broadcast_to(wanted[:, None], (12, 3)))
    assert not found.exact and found.units.tolist() == expected.tolist()
    assert expected.sum() > wanted.sum() > 0
    monkeypatch.setattr(BottleneckModel, "work", 12 * 60)
    assert Responsiveness(0.1).ask(seen, Budget(4.0)).exact


def test_units_are_ranked_on_validation_by_accuracy_then_by_chance():
    made, truth = model(30), truths(30)
    labels = RULE.labels_of(truth)
    ranking = ValidationRanking(made, truth, labels)
    gains = []
    for places in ((), *UNITS.members):
        output = made.answer(EVERY, {p: np.eye(SPACE.sizes[p])[truth[:, p]] for p in places})
        likely = np.mean([[p[row, labels[row, i]] for row in range(30)] for i, p in enumerate(output.labels)])
        gains.append(((output.label_codes == labels).mean(), likely))
    assert ranking._quality({}) == pytest.approx(gains[0])
    order = sorted(range(3), key=lambda unit: gains[1 + unit], reverse=True)
    assert ranking.order(UNITS) == tuple(order) != (0, 1, 2)
    assert policy_of("validation", ranking=ranking, units=UNITS).order == tuple(order)
    assert policy_of("cooperative", 0.25) == Cooperative(0.25) and policy_of("responsiveness", 0.0).threshold == 0.0
    with pytest.raises(ConfigError, match="'fixed' has no score"):
        policy_of("fixed", 0.0)


def test_gains_that_are_equal_in_accuracy_go_by_the_chance_of_the_truth():
    rows = np.array([[0.9, 0.1]])
    made = BottleneckModel(
        "toy", [rows, np.array([[0.8, 0.1, 0.1]]), np.array([[0.7, 0.1, 0.1, 0.1]]), rows], rule_head(RULE)
    )
    truth = np.array([[0, 0, 0, 0]])
    order = ValidationRanking(made, truth, RULE.labels_of(truth)).order(Units.of(SPACE))
    # all labels are right before and after; n adds 0.02 to y and 0.14 to s, m 0.14 to s, b 0.1 to z, a 0.02 to y
    assert order == (1, 2, 3, 0)


# models, heads and curves


def test_a_linear_head_of_labels_of_unequal_size():
    made = linear(sizes=(2, 3))
    scores = made.head.bias + sum(p @ w for p, w in zip(made.concepts, made.head.weights, strict=True))
    labels = made.answer(EVERY, {}).labels
    np.testing.assert_allclose(labels[0], np.exp(scores[:, :2]) / np.exp(scores[:, :2]).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(labels[1], np.exp(scores[:, 2:]) / np.exp(scores[:, 2:]).sum(axis=1, keepdims=True))
    assert not made.head.binary and linear().head.binary
    head = linear(sizes=(2, 2)).head
    weights, bias = head.margins()
    last = head.weights[2][3]
    np.testing.assert_allclose(bias, [head.bias[1] - head.bias[0], head.bias[3] - head.bias[2]])
    np.testing.assert_allclose(weights[2][3], [last[1] - last[0], last[3] - last[2]])
    assert softmax(np.array([[1000.0, 1000.0], [-1000.0, -1001.0]])).tolist()[0] == [0.5, 0.5]


def test_answers_are_taken_row_by_row_and_for_some_rows():
    made = model()
    said = np.full((3, 3), np.nan)
    said[1] = [0.0, 0.0, 1.0]
    found = made.answer(np.array([5, 0, 2]), {1: said})
    assert found.concepts[1].tolist() == [made.concepts[1][5].tolist(), [0.0, 0.0, 1.0], made.concepts[1][2].tolist()]
    assert found.concepts[2].tolist() == made.concepts[2][[5, 0, 2]].tolist()
    assert found.concept_codes.tolist() == np.stack([p.argmax(axis=1) for p in found.concepts], axis=1).tolist()
    with pytest.raises(ConfigError, match=r"answers of \(3, 2\) where the model has \(3, 3\)"):
        override(np.zeros((3, 3)), np.zeros((3, 2)))
    assert override(np.zeros((2, 2), dtype=np.float32), np.ones((2, 2))).dtype == np.float32
    output = ModelOutput([np.array([[0.2, 0.8]]), np.array([[0.1, 0.2, 0.7]])], [])
    assert output.label_codes.tolist() == [[1, 2]]


def test_a_point_by_a_plain_loop():
    made, truth = model(), truths()
    labels = RULE.labels_of(truth)
    known = truth.copy()
    known[2, 1], known[5] = -1, -1
    answers = certain_answers(np.where(np.arange(28).reshape(7, 4) % 5 == 0, -1, truth), SPACE)
    rule = Abstention((Scaling(),) * 3, 0.2, 0.9)
    trial = Trial(made, UNITS, answers, Truth(known, labels), 0, rule, 0.4)
    before = made.answer(EVERY, {})
    sure = np.prod([p.max(axis=1) for p in before.labels], axis=0)
    assert trial.state(before).open.tolist() == (sure < 0.2).tolist() and 0 < (sure < 0.2).sum() < ROWS
    asked = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 0, 1]], dtype=bool)
    after = made.answer(EVERY, trial.state(before).answers_to(asked))
    point = trial.point(Budget(4.0), Selection(asked, False), before, after)
    concepts = asked[:, [0, 1, 0, 2]]
    given = np.stack([~np.isnan(p[:, 0]) for p in answers], axis=1)
    own = np.stack([p.argmax(axis=1) for p in made.concepts], axis=1)
    right = after.label_codes == labels
    later = np.prod([p.max(axis=1) for p in after.labels], axis=0) >= 0.2
    assert point.to_dict() == pytest.approx({
        "budget": 4.0, "whole": False, "accuracy": right.mean(), "all_right": right.all(axis=1).mean(),
        "concept_accuracy": (after.concept_codes == known)[known >= 0].mean(), "asked": concepts.sum() / 7,
        "answered": (concepts & given).sum() / 7, "edited": (concepts & given & (own != truth)).sum() / 7,
        "cost": (asked @ [3.0, 2.5, 1.0]).mean(),
        "changed": (after.label_codes != before.label_codes).any(axis=1).mean(), "exact": False,
        "gain": right.mean() - 0.4, "coverage": later.mean(), "selective_accuracy": right.all(axis=1)[later].mean(),
        "net_work_automated": later.mean() - concepts.sum() / 7 / 4,
    })  # fmt: skip
    assert trial.point(Budget(6.5), Selection(asked), before, after).whole
    plain = replace(trial, abstention=None, baseline=None).point(Budget(6.6), Selection(asked), before, after)
    assert plain.whole and plain.automated is None and plain.gain is None and plain.exact
    assert replace(trial, baseline=0.0).point(Budget(0), Selection(asked), before, after).gain == plain.accuracy


def test_a_trial_asks_what_it_is_told_and_hands_on_its_seed():
    made = model()
    trial = Trial(made, UNITS, certain_answers(truths(), SPACE), Truth(truths(), RULE.labels_of(truths())), 5)
    assert trial.state(made.answer(EVERY, {})).seed == 5
    chosen = [Selection(np.eye(7, 3, dtype=bool), False)]
    curve = trial.run(FixedOrder(), [Budget(1.0)], chosen)
    assert curve.asked == tuple(chosen) and curve.points[0].asked == 4 / 7 and not curve.points[0].exact
    bare = replace(trial, model=replace(made, soft=False))
    with pytest.raises(
        ConfigError, match="'uncertainty' needs concept probabilities, .* use fixed, random, validation"
    ):
        bare.run(Uncertainty(), [Budget(1.0)])
    assert len(bare.run(Random(), [Budget(1.0), Budget(2.5)]).outputs) == 2
    with pytest.raises(ConfigError, match="a budget of 0.5 buys nothing"):
        trial.run(Random(), [Budget(1.0), Budget(0.5)])


def test_answers_are_checked_in_every_column():
    good = certain_answers(truths(), SPACE)
    assert len(check_answers(good, ROWS, SPACE.sizes)) == 4
    for place in range(4):
        for change in ("shape", "sum", "negative", "gap"):
            bad = [p.copy() for p in good]
            if change == "shape":
                bad[place] = bad[place][:, :-1]
            elif change == "sum":
                bad[place][3] *= 0.99
            elif change == "negative":
                bad[place][3, :2] = [-0.5, 1.5]
                bad[place][3, 2:] = 0
            else:
                bad[place][3, 0] = np.nan
            with pytest.raises(
                DataError, match="wrong shape" if change == "shape" else "probabilities that add up to 1"
            ):
                check_answers(bad, ROWS, SPACE.sizes)
    with pytest.raises(DataError, match="3 where 4 is needed|wrong shape"):
        check_answers(good[:3], ROWS, SPACE.sizes)


def test_budgets_may_be_fractions():
    assert [(b.each, b.total) for b in budgets_from("1.5,max, 0-1", UNITS, 20.0)] == [
        (0.0, 20.0), (1.0, 20.0), (1.5, 20.0), (6.5, 20.0),
    ]  # fmt: skip


def test_abstention_is_of_all_labels_together():
    rng = rng_for(0, "abstention")
    truth = np.stack([rng.integers(0, size, 400) for size in (2, 3)], axis=1)
    labels = []
    for place, size in enumerate((2, 3)):
        likely = rng.dirichlet(np.ones(size), 400) + 1.2 * np.eye(size)[truth[:, place]] * rng.random((400, 1))
        labels.append(likely / likely.sum(axis=1, keepdims=True))
    rule = fit_abstention(labels, truth, 0.9)
    right = np.all([p.argmax(axis=1) == truth[:, i] for i, p in enumerate(labels)], axis=0)
    sure = np.prod([scaling(p).max(axis=1) for scaling, p in zip(rule.scalings, labels, strict=True)], axis=0)
    decided = rule.decides(labels)
    assert decided.tolist() == (sure >= rule.threshold).tolist() and right[decided].mean() >= 0.9 > right.mean()
    lower = np.sort(sure[sure < rule.threshold])[::-1]
    assert all(right[sure >= threshold].mean() < 0.9 for threshold in lower.tolist())
    assert rule.scalings[0] != rule.scalings[1] and rule.target == 0.9
