"""What each policy asks about, against brute force: within every budget, and the same from run to run."""

import math
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest

from assay.base import ConfigError, DataError, UnknownName, rng_for
from assay.contracts import (
    EVERY,
    BottleneckModel,
    LinearHead,
    Prediction,
    Predictions,
    model_from_predictions,
    rule_head,
)
from assay.diagnosis import POLICIES, Budget, Units, budgets_from, policy_of
from assay.logic import Knowledge, bits
from tests.diagnosis.interventions.toys import RULE as KNOWN
from tests.diagnosis.interventions.toys import SPACE, UNITS, by_rule, certain, chances, linear, state, trial

BUDGETS = [Budget(3.5), Budget(6.5), Budget(6.5, 11.0), Budget(4.0, 3.0)]
RANKING = SimpleNamespace(order=lambda units: tuple(reversed(range(len(units)))))
OPEN = np.arange(12) % 5 != 2


def policy(name, threshold=None):
    return policy_of(name, threshold, ranking=RANKING, units=UNITS)


def entropies(model, units=UNITS):
    each = np.stack([-(p * np.log2(p)).sum(axis=1) for p in model.concepts], axis=1)
    return np.stack([each[:, list(places)].sum(axis=1) for places in units.members], axis=1)


def asked_by_score(scores, units, budget, possible):
    """Questions of each row by falling score, what does not fit passed over; then the best of all rows go first."""
    asked = np.zeros(scores.shape, bool)
    for row in range(len(scores)):
        left = budget.each
        for unit in sorted(range(len(units)), key=lambda unit: -scores[row, unit]):
            if possible[row, unit] and units.costs[unit] <= left:
                asked[row, unit], left = True, left - units.costs[unit]
    if budget.total is None:
        return asked
    bought, left = np.zeros_like(asked), budget.total
    for row, unit in sorted(np.argwhere(asked).tolist(), key=lambda pair: -scores[tuple(pair)]):
        if units.costs[unit] <= left:
            bought[row, unit], left = True, left - units.costs[unit]
    return bought


# -- every policy ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(POLICIES))
@pytest.mark.parametrize("total", [None, 7.0])
def test_budgets_are_kept_and_what_is_decided_is_not_asked_about(name, total):
    seen = state(by_rule(12), decided=~OPEN)
    for each in (0.0, 1.0, 2.5, 4.0, UNITS.whole):
        asked = policy(name).ask(seen, Budget(each, total)).units
        spent = asked @ UNITS.cost
        assert (spent <= each + 1e-9).all() and not asked[~OPEN].any()
        assert total is None or spent.sum() <= total + 1e-9
        assert asked.any() == bool(each) or name == "responsiveness"


@pytest.mark.parametrize("name", list(POLICIES))
@pytest.mark.parametrize("model", [by_rule(40), linear(40)], ids=["rule", "linear"])
def test_own_answers_change_nothing_and_all_true_answers_mend_a_model_of_the_rule(name, model):
    budgets = budgets_from("0,2.5,max", UNITS)
    held = trial(model)
    control = type(held)(model, UNITS, model.concepts, held.truth).run(policy(name), budgets)
    for told in control.outputs:
        assert [p.tolist() for p in told.labels] == [p.tolist() for p in control.outputs[0].labels]  # to the last bit
    assert [point.changed for point in control.points] == [0, 0, 0]
    curve = held.run(policy(name), budgets)
    assert curve.points[0].accuracy == control.points[0].accuracy and not curve.asked[0].units.any()
    if name != "responsiveness":
        assert curve.points[-1].asked == 4 and curve.points[-1].concept_accuracy == 1.0


@pytest.mark.parametrize("name", ["random", "fixed", "uncertainty", "cooperative", "validation"])
def test_questions_of_a_larger_budget_hold_those_of_a_smaller(name):
    units = Units.of(SPACE)
    seen = state(by_rule(30), units)
    less, more = (policy_of(name, ranking=RANKING, units=units).ask(seen, Budget(k)).units for k in (1, 3))
    assert (more >= less).all() and (more.sum(axis=1) == 3).all()


# -- one by one --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("threshold", [None, 1.2])
def test_uncertainty_asks_by_entropy_in_bits(budget, threshold):
    model = by_rule(12)
    scores = entropies(model)
    possible = OPEN[:, None] & (scores > (-1 if threshold is None else threshold))
    found = policy("uncertainty", threshold).ask(state(model, decided=~OPEN), budget).units
    assert found.tolist() == asked_by_score(scores, UNITS, budget, possible).tolist() and found.any()


@pytest.mark.parametrize("order", [(), (2,), (2, 1), (1, 0, 2)])
def test_a_fixed_order_comes_before_the_rest_and_what_does_not_fit_is_passed_over(order):
    rest = [unit for unit in range(3) if unit not in order]
    scores = np.tile(-np.argsort([*order, *rest]).astype(float), (12, 1))
    for each in (1.0, 3.0, 3.5, 6.5):
        found = policy_of("fixed", order=order).ask(state(by_rule(12), decided=~OPEN), Budget(each)).units
        expected = asked_by_score(scores, UNITS, Budget(each), np.tile(OPEN[:, None], (1, 3)))
        assert found.tolist() == expected.tolist()


def test_random_questions_differ_by_seed_alone_and_are_about_everything():
    model, units = by_rule(60), Units.of(SPACE)
    first, again, other = (policy("random").ask(state(model, units, seed=s), Budget(1)).units for s in (0, 0, 1))
    assert first.tolist() == again.tolist() != other.tolist()
    assert first.sum(axis=1).tolist() == [1] * 60 and first.any(axis=0).all()


def moves_by_hand(model, answers):
    """How far the probability of the predicted labels is expected to move when each unit is answered."""
    before = model.answer(EVERY, answers)
    found = np.zeros((len(model.concepts[0]), len(UNITS)))
    for unit, places in enumerate(UNITS.members):
        for codes in product(*(range(SPACE.sizes[place]) for place in places)):
            weight = np.prod([before.concepts[p][:, c] for p, c in zip(places, codes, strict=True)], axis=0)
            do = {p: np.tile(np.eye(SPACE.sizes[p])[c], (len(weight), 1)) for p, c in zip(places, codes, strict=True)}
            after = model.answer(EVERY, {**answers, **do}).labels
            for row in range(len(found)):
                moves = [
                    abs(new[row, code] - old[row, code])
                    for new, old, code in zip(after, before.labels, before.label_codes[row], strict=True)
                ]
                found[row, unit] += weight[row] * sum(moves) / len(moves)
    return found


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("threshold", [None, 0.9])
def test_cooperation_asks_one_by_one_for_what_is_uncertain_moves_the_label_and_is_cheap(budget, threshold):
    open_rows = np.array([True, True, False, True, True, True, True])
    seen = state(by_rule(), decided=~open_rows)
    asked, left = np.zeros((7, 3), bool), [budget.each] * 7
    total = math.inf if budget.total is None else budget.total
    while True:
        scores = entropies(seen.model) + 2 * moves_by_hand(seen.model, seen.answers_to(asked)) - 0.2 * UNITS.cost
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
    found = POLICIES["cooperative"](threshold, weights=(1.0, 2.0, 0.2)).ask(seen, budget).units
    assert asked.any() and found.tolist() == asked.tolist()


@pytest.mark.parametrize("name", ["uncertainty", "cooperative"])
def test_scores_must_be_above_the_threshold(name):
    """Nothing is known of any concept: a and b have one bit each, n and m more."""
    even = BottleneckModel("even", [np.full((2, size), 1 / size) for size in SPACE.sizes], rule_head(KNOWN))
    more = {"weights": (1.0, 0.0, 0.0)} if name == "cooperative" else {}
    for threshold, asked in ((1.0, [0, 1, 1, 0]), (0.999, [1, 1, 1, 1])):
        found = POLICIES[name](threshold, **more).ask(state(even, Units.of(SPACE)), Budget(4.0))
        assert found.units.tolist() == [asked] * 2


# -- responsiveness ----------------------------------------------------------------------------------------------------


def responsiveness_by_hand(model, places):
    """The chance that true answers to these concepts change the predicted labels."""
    before, sizes = model.answer(EVERY, {}).label_codes, [p.shape[1] for p in model.concepts]
    found = np.zeros(len(before))
    for codes in product(*(range(sizes[place]) for place in places)):
        do = {p: np.tile(np.eye(sizes[p])[code], (len(before), 1)) for p, code in zip(places, codes, strict=True)}
        moved = (model.answer(EVERY, do).label_codes != before).any(axis=1)
        found += moved * np.prod([model.concepts[p][:, code] for p, code in zip(places, codes, strict=True)], axis=0)
    return found


def logistic_head(weights, bias):
    tables = [np.array([[0.0, 0.0], [0.0, weight]]) for weight in weights]
    return LinearHead(tables, np.array([0.0, bias]), (2,))


def logistic(rows, concepts):
    rng = rng_for(0, "logistic", concepts)
    weights = rng.normal(size=concepts) * 2
    drawn = rng.random((concepts, rows)) ** 2
    head = logistic_head(weights, -weights.sum() / 2)
    return BottleneckModel("logistic", [np.stack([1 - p, p], axis=1) for p in drawn], head, linear=head)


@pytest.mark.parametrize(
    "model",
    [by_rule(12), linear(12), linear(12, (2, 3)), linear(12, (2,)), logistic(12, 6)],
    ids=["rule", "2, 2, 2", "2, 3", "2", "six bits"],
)
@pytest.mark.parametrize("threshold", [None, 0.0, 0.3])
def test_responsiveness_asks_about_the_set_most_likely_to_change_the_prediction(model, threshold):
    space = SPACE if len(model.concepts) == 4 else bits([*"abcdef"])
    units = UNITS if space is SPACE else Units.of(space)
    truth = np.zeros((12, len(space)), dtype=int)
    seen = state(model, units, truth, space, decided=~OPEN)
    sets = [s for size in range(1, len(units) + 1) for s in combinations(range(len(units)), size)]
    sets = [s for s in sets if sum(units.costs[unit] for unit in s) <= 4]
    each = np.stack([responsiveness_by_hand(model, units.concepts(chosen)) for chosen in sets])
    asked = np.zeros((12, len(units)), bool)
    for row in np.flatnonzero(OPEN).tolist():
        best = int(np.flatnonzero(each[:, row] >= each[:, row].max() - 1e-12)[0])  # of equals, the first
        asked[row, list(sets[best])] = each[best, row] > (threshold or 0)
    found = POLICIES["responsiveness"](threshold).ask(seen, Budget(4.0))
    assert found.exact and found.units.tolist() == asked.tolist() and asked.any()
    left, bought = 9.0, np.zeros_like(asked)
    for row in np.argsort(-each.max(axis=0), kind="stable").tolist():
        price = asked[row] @ units.cost
        if 0 < price <= left:
            bought[row], left = asked[row], left - price
    assert POLICIES["responsiveness"](threshold).ask(seen, Budget(4.0, 9.0)).units.tolist() == bought.tolist()


def test_ties_of_a_linear_head_go_the_way_of_any_other_head():
    for weights, bias in (([1.0, -1.0], 0.0), ([-2.0, 1.0], 1.0)):
        head = logistic_head(weights, bias)
        certainly = [np.eye(2)[[0, 1, 0, 1]], np.eye(2)[[0, 0, 1, 1]]]
        for own in (certainly, [0.5 * one + 0.25 for one in certainly]):
            space = bits(["a", "b"])
            models = (BottleneckModel("x", own, head, linear=head), BottleneckModel("x", own, head))
            asked = [
                policy("responsiveness", 0.0).ask(state(made, Units.of(space), np.zeros((4, 2), int), space), Budget(2))
                for made in models
            ]
            assert asked[0].units.tolist() == asked[1].units.tolist()


def surely(concepts):
    """Say yes where a and b are sure together, or c or d alone; e plays no part."""
    a, b, c, d, _ = (p[:, 1] > 0.95 for p in concepts)
    yes = a & b | c | d
    return [np.stack([~yes, yes], axis=1).astype(float)]


def five_bits(*rows, kind=BottleneckModel):
    columns, space = np.array(rows).T, bits([*"abcde"])
    model = kind("toy", [np.stack([1 - p, p], axis=1) for p in columns], surely)
    return state(model, Units.of(space), np.ones((len(rows), 5), dtype=int), space)


def test_a_pair_that_tells_more_than_any_single_question_is_kept_when_more_are_added():
    class Slow(BottleneckModel):
        work = 3 * 60  # single units and pairs have 50 answers, triples 80 more

    rows = [0.9, 0.92, 0.3, 0.4, 0.5], [0.9, 0.8, 0.0, 0.0, 0.5], [0.1, 0.1, 0.05, 0.05, 0.5]
    found = policy("responsiveness").ask(five_bits(*rows, kind=Slow), Budget(3))
    # a and b together change 0.83 and 0.72; then d (0.4), or e, uncertain where c and d are not; 0.1 is too low
    assert found.units.tolist() == [[1, 1, 0, 1, 0], [1, 1, 0, 0, 1], [0, 0, 0, 0, 0]] and not found.exact
    whole = policy("responsiveness").ask(five_bits(*rows), Budget(2))
    assert whole.exact and whole.units.tolist() == [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]


@pytest.mark.parametrize(("threshold", "asked"), [(0.25, 0), (0.2499, 1), (0.0, 1)])
def test_a_set_must_be_likelier_than_the_threshold(threshold, asked):
    found = policy("responsiveness", threshold).ask(five_bits([0.0, 0.0, 0.25, 0.0, 0.5]), Budget(1))
    assert found.units.tolist() == [[0, 0, asked, 0, 0]]


def test_too_many_sets_are_extended_not_compared():
    space, model = bits([f"b{i}" for i in range(24)]), logistic(2000, 24)
    seen = state(model, Units.of(space), np.ones((2000, 24), dtype=int), space)
    small, large = (policy("responsiveness").ask(seen, Budget(k)) for k in (2, 24))
    assert small.exact and not large.exact
    sure = large.units.any(axis=1)
    assert sure.any() and (large.units[sure].sum(axis=1) == 24).all()


# -- what cannot be ----------------------------------------------------------------------------------------------------


def test_policies_that_need_probabilities_refuse_bare_values():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    codes = np.array([0, 1, 1])
    said = Predictions(
        "f", "test", np.arange(3), {}, {"a": Prediction(codes), "b": Prediction(codes)}, {"model": "mine"}
    )
    space = knowledge.space
    held = trial(model_from_predictions(said, knowledge), Units.of(space), np.ones((3, 2), int), space)
    for name in POLICIES:
        if POLICIES[name].soft:
            with pytest.raises(ConfigError, match=f"'{name}' needs concept probabilities, and 'mine .* rule' gives"):
                held.run(policy(name), [Budget(1)])
        else:
            held.run(policy_of(name, ranking=RANKING, units=held.units), [Budget(1)])


def test_policies_by_name_take_what_is_theirs():
    with pytest.raises(UnknownName, match="no policy named 'responsivness'; did you mean 'responsiveness'"):
        policy_of("responsivness")
    for name in POLICIES:
        if not POLICIES[name].scored:
            with pytest.raises(ConfigError, match=f"'{name}' has no score"):
                policy_of(name, 0.5)
        if name != "fixed":
            with pytest.raises(ConfigError, match=f"an order of concepts is for policy 'fixed', not '{name}'"):
                policy_of(name, order=[1])
    with pytest.raises(ConfigError, match="needs a validation split"):
        policy_of("validation", units=UNITS)


def test_answers_of_the_wrong_shape_and_those_that_are_no_probabilities_are_refused():
    held = trial(by_rule())
    good = certain(held.truth.concepts)
    changes = {
        "shape": lambda p: p[:, :-1],
        "rows": lambda p: p[:-1],
        "sum": lambda p: 0.99 * p,
        "negative": lambda p: np.where(np.arange(p.shape[1]) == 0, -0.5, 1.5 / (p.shape[1] - 1)),
        "gap": lambda p: np.where(np.arange(p.shape[1]) == 0, np.nan, p),
    }
    for place in range(4):
        for what, change in changes.items():
            answers = [change(p) if i == place else p for i, p in enumerate(good)]
            if what == "negative":
                answers[place] = np.broadcast_to(answers[place], good[place].shape)
            match = "wrong shape" if what in ("shape", "rows") else "probabilities that add up to 1"
            with pytest.raises(DataError, match=match):
                type(held)(held.model, UNITS, answers, held.truth).run(policy("fixed"), [Budget(1)])
    with pytest.raises(DataError, match="wrong shape: 3 where 4 is needed"):
        type(held)(held.model, UNITS, good[:3], held.truth).run(policy("fixed"), [Budget(1)])
    with pytest.raises(ConfigError, match="a budget of 0.5 buys nothing"):
        held.run(policy("fixed"), [Budget(0.5)])


# -- models that can be asked ------------------------------------------------------------------------------------------


def test_a_model_answers_rows_and_keeps_its_own_where_nothing_is_said():
    made = by_rule()
    said = np.full((3, 3), np.nan)
    said[1] = [0.0, 0.0, 1.0]
    found = made.answer(np.array([5, 0, 2]), {1: said})
    own = chances()
    assert found.concepts[1].tolist() == [own[1][5].tolist(), [0.0, 0.0, 1.0], own[1][2].tolist()]
    assert found.concepts[2].tolist() == own[2][[5, 0, 2]].tolist()
    with pytest.raises(ConfigError, match=r"answers of \(3, 2\) where the model has \(3, 3\)"):
        made.answer(np.array([5, 0, 2]), {1: np.zeros((3, 2))})


def test_a_linear_head_is_a_softmax_for_each_label():
    made = linear(sizes=(2, 3))
    scores = made.head.bias + sum(p @ w for p, w in zip(made.concepts, made.head.weights, strict=True))
    for found, part in zip(made.answer(EVERY, {}).labels, (scores[:, :2], scores[:, 2:]), strict=True):
        np.testing.assert_allclose(found, np.exp(part) / np.exp(part).sum(axis=1, keepdims=True))
    huge = LinearHead([np.array([[0.0, 0.0], [1000.0, 1000.0]])], np.zeros(2), (2,))
    assert huge([np.array([[0.0, 1.0]])])[0].tolist() == [[0.5, 0.5]]


def test_a_rule_head_is_the_sum_over_all_worlds():
    concepts = chances()
    expected = [np.zeros((7, len(label.values))) for label in KNOWN.labels]
    for codes in product(*(range(size) for size in SPACE.sizes)):
        chance = np.prod([p[:, code] for p, code in zip(concepts, codes, strict=True)], axis=0)
        for place, code in enumerate(KNOWN.labels_of(np.array([codes]))[0]):
            expected[place][:, code] += chance
    for found, right in zip(rule_head(KNOWN)(concepts), expected, strict=True):
        np.testing.assert_allclose(found, right, atol=1e-12)
    wide = Knowledge.of(bits([f"c{i}" for i in range(27)]), {"y": " and ".join(f"c{i}" for i in range(27))})
    true = rng_for(0, "wide").random((20, 27))
    found = rule_head(wide)([np.stack([1 - p, p], axis=1) for p in true.T])[0]
    np.testing.assert_allclose(found[:, 1], true.prod(axis=1), atol=1e-15)


def test_a_model_by_its_predictions_needs_every_concept():
    rule = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})

    def model(**concepts):
        return model_from_predictions(Predictions("f", "test", np.arange(2), {}, concepts, {"model": "m"}), rule)

    soft, hard = Prediction.of(np.array([[0.25, 0.75], [0.5, 0.5]])), Prediction(np.array([1, 0]))
    mixed = model(a=soft, b=hard)
    assert (mixed.name, mixed.soft) == ("m + rule", False) and model(a=soft, b=soft).soft
    assert mixed.concepts[0].tolist() == [[0.25, 0.75], [0.5, 0.5]] and mixed.concepts[1].tolist() == [[0, 1], [1, 0]]
    for bad in ({"a": soft}, {"a": soft, "b": Prediction(np.array([1, -1]))}):
        with pytest.raises(DataError, match="interventions need every concept of every example; 'b' is not answered"):
            model(**bad)
