"""Random clauses have the numbers that are asked for, and what satisfies clauses is found where trying all finds it."""

from itertools import product

import numpy as np

from assay.logic.random_cnf import solution


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
