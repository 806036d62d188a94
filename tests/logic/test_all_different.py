"""The search for concepts that differ is exact: it agrees with listing all worlds, and says where it gave up."""

from itertools import product

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.logic.all_different import DifferentGroups, most_probable_different, some_different
from assay.logic.parse import parse
from assay.seeds import rng_for

SQUARE = DifferentGroups(9, 3, ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8)))
LOOSE = DifferentGroups(5, 4, ((0, 1, 2), (2, 3, 4), (0, 4)))


def lawful(groups):
    worlds = np.array(list(product(range(groups.values), repeat=groups.concepts)))
    return worlds[[all(len({*world[list(group)]}) == len(group) for group in groups.groups) for world in worlds]]


@pytest.mark.parametrize("groups", [SQUARE, LOOSE], ids=["square", "loose"])
def test_the_best_world_is_the_best_of_all(groups):
    worlds = lawful(groups)
    for seed in range(40):
        rng = rng_for(seed, "costs")
        costs = rng.exponential(size=(groups.concepts, groups.values)) * rng.integers(0, 3, (groups.concepts, 1))
        totals = costs[np.arange(groups.concepts), worlds].sum(axis=1)
        found = most_probable_different(groups, list(costs - costs.min(axis=1, keepdims=True)))
        assert found.proven
        assert costs[np.arange(groups.concepts), found.codes].sum() == pytest.approx(totals.min(), abs=1e-6)


@pytest.mark.parametrize("groups", [SQUARE, LOOSE], ids=["square", "loose"])
def test_all_worlds_are_found(groups):
    everything = [(1 << groups.values) - 1] * groups.concepts
    found = some_different(groups, everything, 10_000)
    assert sorted(found.tolist()) == lawful(groups).tolist()
    assert len(some_different(groups, everything, 2)) == 2
    assert len(some_different(groups, [1, 1, *everything[2:]], 2)) == 0


def test_a_search_that_gives_up_says_so():
    costs = list(rng_for(0, "costs").exponential(size=(9, 3)))
    found = most_probable_different(SQUARE, costs, nodes=0)
    assert not found.proven and (found.codes == -1).all()


def test_groups_that_cannot_differ_have_no_world():
    found = most_probable_different(DifferentGroups(3, 2, ((0, 1), (1, 2), (0, 2))), [np.zeros(2)] * 3)
    assert found.proven and (found.codes == -1).all()


def test_other_constraints_are_not_for_this_search():
    space = ConceptSpace(tuple(Concept(name, (1, 2, 3)) for name in "abc"))
    different = parse("all_different(a, b, c)", space.names)
    assert DifferentGroups.of([different], space) == DifferentGroups(3, 3, ((0, 1, 2),))
    assert DifferentGroups.of([different, parse("a < b", space.names)], space) is None
    assert DifferentGroups.of([parse("all_different(a, b, 1)", space.names)], space) is None
    mixed = ConceptSpace((*space.concepts, Concept("d", (1, 2))))
    assert DifferentGroups.of([different], mixed) is None
