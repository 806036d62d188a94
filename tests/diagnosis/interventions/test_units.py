"""What can be asked within a budget: groups, costs and sets; and how much is decided alone at which confidence."""

import math
from itertools import combinations

import numpy as np
import pytest

from assay.base import ConfigError, UnknownName
from assay.diagnosis import Budget, Units, budgets_from, coverage_curve
from assay.logic import Concept, ConceptSpace, bits

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


def test_coverage_and_accuracy_where_rows_of_equal_confidence_stay_together():
    rng = np.random.default_rng(0)
    confidence, right = np.round(rng.random(60), 1), rng.random(60) < 0.7
    found = coverage_curve(confidence, right)
    levels = np.unique(confidence)[::-1]
    assert found[0] == pytest.approx([(confidence >= level).mean() for level in levels])
    assert found[1] == pytest.approx([right[confidence >= level].mean() for level in levels])
