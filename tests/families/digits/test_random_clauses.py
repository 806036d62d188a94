"""Random clauses hold together, and are drawn evenly."""

from math import comb

import numpy as np
import pytest
from pysat.solvers import Solver

from assay.base import ConfigError, rng_for
from assay.families.digits.random_clauses import random_cnf


@pytest.mark.parametrize(
    ("variables", "clauses", "length"),
    [(1, 1, 1), (4, 4, 1), (2, 3, 2), (3, 7, 3), (6, 20, 3), (10, 40, 3), (50, 30, 5), (5, 70, 3)],
)
@pytest.mark.parametrize("seed", range(3))
def test_random_clauses_keep_their_promises(variables, clauses, length, seed):
    made = random_cnf(variables, clauses, length, rng_for(seed, "cnf"))
    assert len(made) == len(set(made)) == clauses
    assert all(len({abs(literal) for literal in clause}) == len(clause) == length for clause in made)
    assert {abs(literal) for clause in made for literal in clause} <= set(range(1, variables + 1))
    with Solver("cadical153", bootstrap_with=made) as solver:
        assert solver.solve()
    assert made == random_cnf(variables, clauses, length, rng_for(seed, "cnf"))
    assert (clauses, length) in {(1, 1), (3, 2), (7, 3)} or made != random_cnf(
        variables, clauses, length, rng_for(9, "cnf")
    )


@pytest.mark.parametrize(
    ("variables", "clauses", "length"),
    [(2, 1, 3), (3, 1, 0), (3, 0, 2), (3, -1, 2), (1, 2, 1), (3, 13 - 3, 2), (0, 1, 1)],
)
def test_impossible_numbers_are_refused(variables, clauses, length):
    with pytest.raises(ConfigError) as caught:
        random_cnf(variables, clauses, length, rng_for(0))
    assert "\n" not in str(caught.value)


def test_the_most_clauses_that_hold_together():
    assert len(random_cnf(4, comb(4, 2) * 3, 2, rng_for(0))) == 18


def test_both_signs_and_all_variables_are_as_likely():
    literals = np.array([random_cnf(10, 20, 3, rng_for(seed, "even")) for seed in range(50)]).ravel()
    assert abs((literals > 0).mean() - 0.5) < 0.03 and abs(np.bincount(abs(literals))[1:] - 300).max() < 60
