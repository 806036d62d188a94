"""Random clauses have the numbers that are asked for, and what satisfies clauses is found where trying all finds it."""

from itertools import product

import numpy as np
import pytest

from assay.errors import ConfigError
from assay.logic import random_cnf
from assay.logic.random_clauses import solution
from assay.seeds import rng_for


def satisfied(clauses, literals):
    return all(any(literal in literals for literal in clause) for clause in clauses)


def test_clauses_are_satisfied_where_some_assignment_does():
    rng, found = np.random.default_rng(0), set()
    for _ in range(150):
        count = int(rng.integers(1, 14))
        clauses = [
            tuple(int(v + 1) * int(rng.choice([-1, 1])) for v in rng.choice(4, size=rng.integers(1, 4), replace=False))
            for _ in range(count)
        ]
        every = [{(v + 1) * sign for v, sign in enumerate(signs)} for signs in product((-1, 1), repeat=4)]
        possible = any(satisfied(clauses, literals) for literals in every)
        literals = solution(clauses)
        assert (literals is not None) == possible
        if literals is not None:
            assert satisfied(clauses, literals) and not any(-literal in literals for literal in literals)
        found.add(possible)
    assert found == {True, False} and solution([]) == frozenset() and solution([()]) is None


def test_clauses_are_the_same_everywhere_and_as_many_as_are_asked_for():
    assert random_cnf(5, 4, 3, rng_for(1, "cnf")) == ((3, 4, -5), (1, 2, 4), (1, 2, -5), (1, -3, 4))
    every = random_cnf(2, 3, 2, rng_for(0, "cnf"))  # all but one of the four clauses of two variables
    assert len(set(every)) == 3 and solution(every) is not None
    for variables, clauses, length, says in (
        (2, 4, 2, "allow 1 to 3 clauses of 2 literals together, not 4"), (2, 0, 2, "not 0"), (2, 1, 3, "need at least 3 variables, there are 2"),
        (2, 1, 0, "clauses of 0 literals"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=says):
            random_cnf(variables, clauses, length, rng_for(0, "cnf"))
