"""Policies, sources and the evaluator, on models whose way from concepts to labels is written down here."""

from itertools import combinations, product

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.contracts import EVERY, BottleneckModel, LinearHead, logistic_head
from assay.diagnosis import (
    POLICIES,
    Budget,
    Trial,
    Truth,
    Units,
    budgets_from,
    model_from_predictions,
    policy_of,
    rule_head,
)
from assay.diagnosis.interventions.policies import ValidationRanking
from assay.diagnosis.interventions.responsiveness import best_sets, responsiveness
from assay.diagnosis.interventions.sources import certain_answers, draw_expert_answers, even_confusion
from assay.errors import ConfigError, DataError, UnknownName
from assay.logic import Knowledge
from assay.predictions import Answer, Predictions
from assay.seeds import rng_for


def spreads(rows, sizes, *purpose):
    """Draw concept probabilities."""
    rng = rng_for(0, "test", *purpose)
    drawn = [rng.random((rows, size)) ** 2 + 1e-3 for size in sizes]
    return [one / one.sum(axis=1, keepdims=True) for one in drawn]


def colours():
    """A space of concepts with two, three and four values, and labels of two and of three."""
    space = ConceptSpace((Concept("a", (False, True)), Concept("b", ("x", "y", "z")), Concept("c", (0, 1, 2, 3))))
    return Knowledge.of(space, {"truth": "a or b == 'x'", "number": "c + a"})


def brute_force(model, sets):
    """Restate responsiveness row by row, world by world; of sets that are equally good the first is taken."""
    own, chosen, scores = model.concepts, [], []
    for row in range(len(own[0])):
        here = [spread[row : row + 1] for spread in own]
        before = [int(p.argmax()) for p in model.head(here)]
        best, found = 0.0, -1
        for number, places in enumerate(sets):
            total = 0.0
            for codes in product(*(range(own[p].shape[1]) for p in places)):
                changed = list(here)
                chance = 1.0
                for place, code in zip(places, codes, strict=True):
                    changed[place] = np.eye(own[place].shape[1])[[code]]
                    chance *= float(own[place][row, code])
                total += chance * ([int(p.argmax()) for p in model.head(changed)] != before)
            if total > best + 1e-12:
                best, found = total, number
        scores.append(best)
        chosen.append(found)
    return np.array(scores), np.array(chosen)


def logistic(rows, concepts):
    weights = rng_for(0, "weights", concepts).normal(size=concepts) * 2
    head = logistic_head(weights, -weights.sum() / 2)
    return BottleneckModel("logistic", spreads(rows, [2] * concepts, concepts), head, linear=head)


def test_responsiveness_is_what_brute_force_finds_on_12_concepts():
    model = logistic(6, 12)
    sets = [chosen for size in (1, 2, 3) for chosen in combinations(range(12), size)]
    scores, chosen = brute_force(model, sets)
    plain = BottleneckModel(model.name, model.concepts, model.head)
    for one in (best_sets(model, sets), best_sets(plain, sets)):
        np.testing.assert_allclose(one.score, scores, atol=1e-12)
        assert (one.choice == chosen).all()


@pytest.mark.parametrize("kind", ["rule", "linear", "two-labels"])
def test_responsiveness_takes_concepts_and_labels_of_any_number_of_values(kind):
    knowledge = colours()
    sizes, rng = knowledge.space.sizes, rng_for(0, kind)
    labels = (2, 3) if kind == "linear" else (2, 2)
    weights = [rng.normal(size=(size, sum(labels))) * 2 for size in sizes]
    head = LinearHead(weights, rng.normal(size=sum(labels)), labels)
    own = spreads(25, sizes, kind)
    model = (
        BottleneckModel(kind, own, rule_head(knowledge))
        if kind == "rule"
        else BottleneckModel(kind, own, head, linear=head)
    )
    sets = [chosen for size in (1, 2, 3) for chosen in combinations(range(3), size)]
    scores, chosen = brute_force(model, sets)
    best = best_sets(model, sets)
    np.testing.assert_allclose(best.score, scores, atol=1e-12)
    assert (best.choice == chosen).all()
    np.testing.assert_allclose(responsiveness(model, sets[3]), brute_force(model, [sets[3]])[0], atol=1e-12)


def test_what_changes_nothing_is_not_asked_about():
    head = logistic_head([3.0, 0.0], -1.5)
    model = BottleneckModel("x", [np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]])], head, linear=head)
    units = Units.of(bits(["a", "b"]))
    trial = Trial(model, units, model.concepts, Truth(np.array([[1, 1]]), np.array([[1]])))
    asked = policy_of("responsiveness").ask(trial.state(model.answer(EVERY, {})), Budget(2))
    assert asked.units.tolist() == [[True, False]] and asked.exact


def test_ties_of_a_linear_front_go_the_way_of_argmax():
    for weights, bias in (([1.0, -1.0], 0.0), ([-2.0, 1.0], 1.0)):
        head = logistic_head(weights, bias)
        certain = [np.eye(2)[[0, 1, 0, 1]], np.eye(2)[[0, 0, 1, 1]]]
        half = [0.5 * one + 0.25 for one in certain]
        for own in (certain, half):
            sets = [(0,), (1,), (0, 1)]
            fast = best_sets(BottleneckModel("x", own, head, linear=head), sets)
            slow = best_sets(BottleneckModel("x", own, head), sets)
            assert (fast.choice == slow.choice).all()


def state_of(model, truth, units, open_rows=None):
    trial = Trial(model, units, certain_answers(truth, bits(list(units.names))), Truth(truth, truth[:, :1]))
    return trial.state(model.answer(EVERY, {}))


@pytest.mark.parametrize("name", list(POLICIES))
@pytest.mark.parametrize("total", [None, 7.0])
def test_costs_and_budgets_are_honoured(name, total):
    model = logistic(20, 6)
    costs = {"a": 5.0, "b": 2.0, "c": 1.0, "d": 0.5, "e": 2.5, "f": 3.0}
    units = Units.of(bits([*"abcdef"]), {"pair": ["c", "d"]}, costs)
    truth = np.stack([p.argmax(axis=1) for p in model.concepts], axis=1)
    trial = Trial(model, units, certain_answers(truth, bits([*"abcdef"])), Truth(truth, truth[:, :1]))
    ranking = ValidationRanking(model, truth, truth[:, :1])
    state = trial.state(model.answer(EVERY, {}))
    for each in (0.0, 1.5, 3.0, 5.0, units.whole):
        asked = policy_of(name, ranking=ranking, units=units).ask(state, Budget(each, total))
        spent = asked.units @ units.cost
        assert (spent <= each + 1e-9).all()
        assert total is None or spent.sum() <= total + 1e-9
        if each and name != "responsiveness":
            assert asked.units.any()
    assert units.costs[units.names.index("pair")] == 1.5


def test_budgets_are_spent_where_they_fit():
    units = Units.of(bits([*"abc"]), costs={"a": 2.0})
    model = logistic(4, 3)
    truth = np.ones((4, 3), dtype=int)
    asked = policy_of("fixed").ask(state_of(model, truth, units), Budget(1.0))
    assert asked.units.tolist() == [[False, True, False]] * 4  # the first is too dear, and passed over
    ordered = policy_of("fixed", order=[2]).ask(state_of(model, truth, units), Budget(3.0))
    assert ordered.units.tolist() == [[True, False, True]] * 4


def test_groups_are_asked_together():
    units = Units.of(bits([*"abcd"]), {"g": ["b", "d"]})
    assert units.names == ("a", "g", "c") and units.members == ((0,), (1, 3), (2,)) and units.costs == (1, 2, 1)
    model = logistic(5, 4)
    truth = np.ones((5, 4), dtype=int)
    trial = Trial(model, units, certain_answers(truth, bits([*"abcd"])), Truth(truth, truth[:, :1]))
    curve = trial.run(policy_of("fixed", order=[1]), budgets_from("0,2", units))
    assert [point.asked for point in curve.points] == [0, 2]


@pytest.mark.parametrize("name", list(POLICIES))
def test_own_answers_change_nothing_and_all_true_answers_are_on_the_same_curve(name):
    knowledge = colours()
    own = [p.astype(np.float32) for p in spreads(60, knowledge.space.sizes, name)]
    model = BottleneckModel("rule", own, rule_head(knowledge))
    truth = np.stack(
        [rng_for(1, name, i).integers(size, size=60) for i, size in enumerate(knowledge.space.sizes)], axis=1
    )
    labels = knowledge.labels_of(truth)
    units = Units.of(knowledge.space)
    policy = policy_of(name, ranking=ValidationRanking(model, truth, labels), units=units)
    budgets = budgets_from("0-2,max", units)
    control = Trial(model, units, own, Truth(truth, labels)).run(policy, budgets)
    for told in control.outputs:
        for one, before in zip(told.labels, control.outputs[0].labels, strict=True):
            assert (one == before).all()  # to the last bit
    assert [point.changed for point in control.points] == [0, 0, 0, 0]
    answers = certain_answers(truth, knowledge.space)
    curve = Trial(model, units, answers, Truth(truth, labels)).run(policy, budgets)
    assert curve.points[0].accuracy == control.points[0].accuracy
    assert (curve.asked[0].units == 0).all()
    if name == "responsiveness":
        assert curve.points[-1].accuracy > curve.points[0].accuracy
    else:
        assert curve.points[-1].accuracy == 1.0 and curve.points[-1].asked == 3


def test_questions_of_a_larger_budget_hold_those_of_a_smaller():
    model = logistic(30, 6)
    units = Units.of(bits([*"abcdef"]))
    state = state_of(model, np.ones((30, 6), dtype=int), units)
    for name in ("random", "fixed", "uncertainty", "cooperative"):
        less, more = (policy_of(name).ask(state, Budget(k)).units for k in (2, 4))
        assert (more >= less).all() and (more.sum(axis=1) == 4).all()


def test_uncertainty_and_cooperation_ask_about_what_is_open_and_matters():
    head = logistic_head([4.0, 0.1, 4.0], -4.0)
    own = [np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]]), np.array([[0.01, 0.99]])]
    model = BottleneckModel("x", own, head, linear=head)
    units = Units.of(bits([*"abc"]))
    state = state_of(model, np.array([[1, 1, 1]]), units)
    assert policy_of("cooperative").ask(state, Budget(1)).units.tolist() == [[True, False, False]]
    assert policy_of("uncertainty", 0.9).ask(state, Budget(3)).units.tolist() == [[True, True, False]]


def test_too_many_sets_are_extended_not_compared():
    model = logistic(2000, 24)
    units = Units.of(bits([f"b{i}" for i in range(24)]))
    truth = np.ones((2000, 24), dtype=int)
    trial = Trial(model, units, certain_answers(truth, bits([f"b{i}" for i in range(24)])), Truth(truth, truth[:, :1]))
    state = trial.state(model.answer(EVERY, {}))
    small, large = (policy_of("responsiveness").ask(state, Budget(k)) for k in (2, 24))
    assert small.exact and not large.exact
    sure = large.units.any(axis=1)
    assert sure.any() and (large.units[sure].sum(axis=1) == 24).all()


def test_an_expert_errs_as_often_as_said_and_the_same_way_each_time():
    truth = rng_for(0, "truth").integers(3, size=(20_000, 2))
    confusions = [even_confusion(3, 0.8), np.array([[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1.0]])]
    said = draw_expert_answers(truth, confusions, 0, "test")
    assert abs((said[:, 0] == truth[:, 0]).mean() - 0.8) < 0.01
    assert (said[truth[:, 1] == 0, 1] == 0).all()
    assert abs((said[truth[:, 1] == 1, 1] == 2).mean() - 0.5) < 0.02
    assert (said == draw_expert_answers(truth, confusions, 0, "test")).all()
    assert not (said == draw_expert_answers(truth, confusions, 1, "test")).all()


def test_no_answer_leaves_the_concept():
    space, model = bits(["a", "b"]), logistic(8, 2)
    codes = np.full((8, 2), -1)
    units = Units.of(space)
    trial = Trial(model, units, certain_answers(codes, space), Truth(np.ones((8, 2), int), np.ones((8, 1), int)))
    point = trial.run(policy_of("fixed"), [Budget(2)]).points[0]
    assert (point.asked, point.answered, point.edited, point.changed) == (2, 0, 0, 0)


def test_answers_of_the_wrong_shape_are_refused():
    space, model = bits(["a", "b"]), logistic(8, 2)
    truth = Truth(np.ones((8, 2), int), np.ones((8, 1), int))
    for answers, told in [
        (certain_answers(np.ones((7, 2), int), space), r"wrong shape: \(7, 2\) where \(8, 2\) is needed"),
        (certain_answers(np.ones((8, 2), int), space)[:1], "wrong shape: 1 where 2"),
        ([np.full((8, 2), 0.7)] * 2, "add up to 1"),
    ]:
        with pytest.raises(DataError, match=told):
            Trial(model, Units.of(space), answers, truth).run(policy_of("fixed"), [Budget(1)])
    with pytest.raises(DataError, match="expected a row an example, and 2 columns"):
        certain_answers(np.ones((8, 3), int), space)
    with pytest.raises(DataError, match="beyond the values"):
        certain_answers(np.full((8, 2), 2), space)


def test_policies_that_need_probabilities_refuse_bare_values():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    codes = np.array([0, 1, 1])
    said = Predictions("f", "test", np.arange(3), {}, {"a": Answer(codes), "b": Answer(codes)}, {"model": "mine"})
    model = model_from_predictions(said, knowledge)
    truth = Truth(np.ones((3, 2), int), np.ones((3, 1), int))
    trial = Trial(model, Units.of(knowledge.space), certain_answers(truth.concepts, knowledge.space), truth)
    for name in ("responsiveness", "uncertainty", "cooperative"):
        with pytest.raises(
            ConfigError, match=f"policy '{name}' needs concept probabilities, and 'mine [+] rule' gives only"
        ):
            trial.run(policy_of(name), [Budget(1)])
    assert trial.run(policy_of("fixed"), [Budget(2)]).points[0].accuracy == 1


def test_bad_plans_are_refused():
    space = bits(["a", "b"])
    with pytest.raises(ConfigError, match="a budget of 1 buys nothing: the cheapest concept, 'b', costs 2"):
        Units.of(space, costs={"a": 3, "b": 2}).check_budget(Budget(1))
    with pytest.raises(ConfigError, match="a budget of 1 buys nothing"):
        Units.of(space, costs={"a": 3, "b": 2}).check_budget(Budget(5, 1))
    with pytest.raises(UnknownName, match="no policy named 'responsivness'; did you mean 'responsiveness'"):
        policy_of("responsivness")
    with pytest.raises(ConfigError, match="'random' has no score"):
        policy_of("random", 0.3)
    with pytest.raises(ConfigError, match="two groups"):
        Units.of(space, {"g": ["a"], "h": ["a"]})
    with pytest.raises(UnknownName, match="a cost for no concept or group: 'z'"):
        Units.of(space, costs={"z": 1})
    with pytest.raises(ConfigError, match="must be a number above 0"):
        Units.of(space, costs={"a": 0})
    for text in ("0-x", "many", ""):
        with pytest.raises(ConfigError, match="expected numbers, ranges and 'max'"):
            budgets_from(text, Units.of(space))
    with pytest.raises(ConfigError, match="needs a validation split"):
        policy_of("validation")
