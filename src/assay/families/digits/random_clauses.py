"""Random l-CNF rules: clauses of distinct variables that hold together."""

import math
from collections.abc import Sequence

import numpy as np

from assay.base import ConfigError
from assay.logic import Formula, Not, Var, conjunction, disjunction

Clause = tuple[int, ...]


def random_rule(names: Sequence[str], clauses: int, length: int, rng: np.random.Generator) -> Formula:
    """Return random clauses over named bits as a formula."""
    chosen = random_cnf(len(names), clauses, length, rng)
    return conjunction(
        *(disjunction(*(Var(names[n - 1]) if n > 0 else Not(Var(names[-n - 1])) for n in clause)) for clause in chosen)
    )


def random_cnf(variables: int, clauses: int, length: int, rng: np.random.Generator) -> tuple[Clause, ...]:
    """Return random clauses of distinct variables: none a tautology, none twice, all of them together satisfiable."""
    if not 1 <= length <= variables:
        raise ConfigError(f"clauses of {length} literals need at least {length} variables, there are {variables}")
    most = math.comb(variables, length) * (2**length - 1)
    if not 1 <= clauses <= most:
        raise ConfigError(
            f"{variables} variables allow 1 to {most} clauses of {length} literals together, not {clauses}"
        )
    chosen: dict[Clause, None] = {}
    refused = set[Clause]()
    witness = frozenset[int]()  # an assignment that satisfies what is chosen: most new clauses need no search
    while len(chosen) < clauses:
        picked = np.sort(rng.choice(variables, size=length, replace=False)) + 1
        signs = rng.choice([-1, 1], size=length)
        clause = tuple(int(literal) for literal in picked * signs)
        if clause in chosen or clause in refused:
            continue
        if witness.isdisjoint(clause):
            assignment = solution([*chosen, clause])
            if assignment is None:
                refused.add(clause)
                continue
            witness = assignment
        chosen[clause] = None
    return tuple(chosen)


def solution(clauses: Sequence[Clause]) -> frozenset[int] | None:
    """Return literals that satisfy all clauses, or None if none do (Davis, Putnam, Logemann, Loveland).

    >>> solution([(1, 2), (-1,), (-2,)]) is None
    True
    """
    stack = [(tuple(clauses), frozenset[int]())]
    while stack:
        current, literals = stack.pop()
        if not current:
            return literals
        if any(not clause for clause in current):
            continue
        unit = next((clause[0] for clause in current if len(clause) == 1), None)
        literal = current[0][0] if unit is None else unit
        if unit is None:
            stack.append((_assigned(current, -literal), literals | {-literal}))
        stack.append((_assigned(current, literal), literals | {literal}))
    return None


def _assigned(clauses: tuple[Clause, ...], literal: int) -> tuple[Clause, ...]:
    return tuple(tuple(x for x in clause if x != -literal) for clause in clauses if literal not in clause)
