"""What can be asked within a budget: groups, costs, sets, and how a budget is filled, against trying every set."""

import math
from itertools import combinations

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.diagnosis import Budget, Units, budgets_from
from assay.diagnosis.interventions.curve import by_concept
from assay.diagnosis.interventions.manipulation import toggle_concepts
from assay.diagnosis.interventions.policy import fill
from assay.errors import ConfigError, UnknownName

SPACE = ConceptSpace((*bits(["a", "b", "c"]).concepts, Concept("d", (0, 1, 2))))
UNITS = Units.of(SPACE, {"pair": ["a", "c"]}, {"a": 2.0, "d": 0.5})


def test_groups_stand_where_their_first_concept_does_and_cost_what_it_does_together():
    assert UNITS.names == ("pair", "b", "d") and UNITS.members == ((0, 2), (1,), (3,))
    assert UNITS.costs == (3.0, 1.0, 0.5) and UNITS.whole == 4.5 and len(UNITS) == 3
    priced = Units.of(SPACE, {"pair": ["a", "c"]}, {"a": 2.0, "pair": 7.0})
    assert priced.costs == (7.0, 1.0, 1.0)
    assert UNITS.concepts([0, 2]) == (0, 2, 3) and UNITS.assignments([0, 2]) == 2 * 2 * 3
    assert UNITS.to_dict(SPACE)[0] == {"name": "pair", "concepts": ["a", "c"], "cost": 3.0}


@pytest.mark.parametrize(
    ("groups", "costs", "why"),
    [
        ({"g": ["a"], "h": ["a"]}, {}, "concept 'a' is in two groups, 'g' and 'h'"),
        ({"b": ["a"]}, {}, "group 'b' has the name of a concept that it does not hold"),
        ({}, {"z": 1.0}, "a cost for no concept or group: 'z'"),
        ({}, {"a": 0.0}, "the cost of 'a' must be a number above 0, not 0"),
        ({}, {"a": math.inf}, "must be a number above 0"),
        ({"g": ["z"]}, {}, "no concept named 'z'"),
    ],
)
def test_what_cannot_be_asked_is_told(groups, costs, why):
    with pytest.raises((ConfigError, UnknownName), match=why):
        Units.of(SPACE, groups, costs)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("budget", [0.0, 0.5, 1.5, 3.5, 4.0, 4.5])
def test_sets_are_those_that_the_budget_buys(size, budget):
    expected = [s for s in combinations(range(3), size) if sum(UNITS.costs[unit] for unit in s) <= budget + 1e-9]
    assert list(UNITS.sets(budget, size)) == expected


def test_budgets_of_a_text():
    assert [budget.each for budget in budgets_from("0-2, 4,max,1", UNITS)] == [0, 1, 2, 4, 4.5]
    assert {budget.total for budget in budgets_from("1,2", UNITS, 9.0)} == {9.0}
    for text in ("", "a", "1-", "1--2", "3-1"):
        with pytest.raises(ConfigError, match="expected numbers, ranges and 'max'"):
            budgets_from(text, UNITS)
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(ConfigError, match="a budget must be a number from 0 up"):
            Budget(wrong)
    UNITS.check_budget(Budget(0.0))
    UNITS.check_budget(Budget(0.5))
    with pytest.raises(ConfigError, match="a budget of 0.4 buys nothing: the cheapest concept, 'd', costs 0.5"):
        UNITS.check_budget(Budget(0.4))
    with pytest.raises(ConfigError, match="a budget of 0.1 buys nothing"):
        UNITS.check_budget(Budget(3.0, 0.1))


def test_units_are_taken_by_falling_score_and_what_does_not_fit_is_passed_over():
    scores = np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    possible = np.array([[True] * 3, [True] * 3, [False, True, True]])
    asked = fill(scores, UNITS, Budget(1.5), possible)
    assert asked.tolist() == [[False, True, True], [False, True, True], [False, True, True]]
    asked = fill(scores, UNITS, Budget(3.0), possible)
    assert asked.tolist() == [[True, False, False], [False, True, True], [False, True, True]]
    assert not fill(scores, UNITS, Budget(0.0), possible).any()
    assert fill(scores, UNITS, Budget(4.5), possible).sum() == 8


def test_one_budget_for_all_goes_to_the_highest_scores():
    scores = np.array([[0.1, 0.9, 0.2], [0.1, 0.8, 0.7], [0.1, 0.3, 0.6]])
    asked = fill(scores, UNITS, Budget(1.5, 2.5), np.ones((3, 3), dtype=bool))
    assert asked.tolist() == [[False, True, False], [False, True, True], [False, False, False]]
    assert (asked @ UNITS.cost).sum() == 2.5


def test_concepts_of_units():
    asked = np.array([[True, False, False], [False, True, True]])
    assert by_concept(asked, UNITS).tolist() == [[True, False, True, False], [False, True, False, True]]


def test_toggled_concepts_are_others_and_any_other():
    truth = np.random.default_rng(0).integers(0, 3, (900, 4)) % np.array(SPACE.sizes)
    other = toggle_concepts(truth, SPACE.sizes, 0)
    assert (other != truth).all() and (other >= 0).all() and (other < np.array(SPACE.sizes)).all()
    steps = (other - truth)[:, 3] % 3
    assert np.bincount(steps)[1:].min() > 380
    assert (toggle_concepts(truth, SPACE.sizes, 0) == other).all() and (
        toggle_concepts(truth, SPACE.sizes, 1) != other
    ).any()
