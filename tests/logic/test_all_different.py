"""The search for concepts that differ is exact: it agrees with listing all worlds, and says where it gave up."""

from itertools import product

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.logic import Constraint, Decoder, DifferentGroups, Knowledge, parse, some_different
from assay.logic.all_different import _avoidable, _fewest, _least_costs, _Node, _Search, most_probable_different
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


def test_groups_know_the_peers_of_each_concept_and_which_need_every_value():
    assert LOOSE.peers == [(1, 2, 4), (0, 2), (0, 1, 3, 4), (2, 4), (0, 2, 3)]
    assert LOOSE.full == [[]] * 5 and SQUARE.full[4] == [(3, 4, 5), (1, 4, 7)]


def test_the_least_cost_of_each_set_of_values():
    inf = np.inf
    assert _least_costs([3.0, 1.0, 2.0]) == [inf, 3.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0]


def test_the_smallest_domain_is_decided_first():
    assert _fewest([0b111, 0b100, 0b110, 0b011]) == 2 and _fewest([0b1, 0b10]) is None


def test_costs_that_no_world_can_avoid_are_taken_out():
    costs = rng_for(7, "costs").exponential(size=(9, 3)) + 2
    reduced = _avoidable(SQUARE, costs)
    assert reduced.min(axis=1) == pytest.approx(np.zeros(9))
    worlds = lawful(SQUARE)
    places = np.arange(9)
    taken = costs[places, worlds].sum(axis=1) - reduced[places, worlds].sum(axis=1)
    assert taken == pytest.approx(np.full(len(worlds), taken[0]))
    assert taken[0] > costs.min(axis=1).sum() + 0.1  # the bound is nearer than the least costs alone
    loose = rng_for(7, "costs").exponential(size=(5, 4))
    assert _avoidable(LOOSE, loose) == pytest.approx(loose - loose.min(axis=1, keepdims=True))


def test_few_branches_are_tried():
    square = [
        [0, 1, 4],
        [0, 2, 1.5],
        [3, 0, 0.5],
        [0.2, 0, 2],
        [0, 0.9, 0.3],
        [1, 0, 0],
        [0.7, 0, 5],
        [0, 0.1, 0.2],
        [0, 3, 1],
    ]
    loose = [[0, 1, 2, 4], [0, 2, 3, 1], [0, 5, 1, 3], [0, 3, 1, 2], [1, 0, 4, 2]]
    for groups, costs, codes, branches in (
        (SQUARE, square, [0, 1, 2, 2, 0, 1, 1, 2, 0], 2), (LOOSE, loose, [0, 3, 2, 0, 1], 3),
    ):  # fmt: skip
        arrays = [np.array(cost, dtype=float) for cost in costs]
        found = most_probable_different(groups, arrays, nodes=branches + 1)
        assert found.codes.tolist() == codes and found.proven
        assert not most_probable_different(groups, arrays, nodes=branches).proven


def test_worlds_are_found_within_their_domains():
    found = some_different(LOOSE, [0b0011, 0b0110, 0b1100, 0b0001, 0b1111], 100)
    allowed = [(0, 1), (1, 2), (2, 3), (0,), (0, 1, 2, 3)]
    expected = [
        world for world in lawful(LOOSE).tolist() if all(v in own for v, own in zip(world, allowed, strict=True))
    ]
    assert sorted(found.tolist()) == expected and len(expected) > 3


def test_a_large_space_of_different_concepts_is_decoded_by_the_search():
    names = [f"c{n}" for n in range(25)]
    space = ConceptSpace(tuple(Concept(name, (1, 2, 3, 4, 5)) for name in names))
    groups = [*(range(5 * n, 5 * n + 5) for n in range(5)), *(range(n, 25, 5) for n in range(5))]
    limits = [
        Constraint(f"g{n}", parse(f"all_different({', '.join(names[p] for p in own)})", names))
        for n, own in enumerate(groups)
    ]
    knowledge = Knowledge.of(space, {"y": "c0 == 1"}, limits)
    square = (np.arange(5)[:, None] * 2 + np.arange(5)[None, :]) % 5  # a latin square
    probabilities = np.full((2, 25, 5), 0.05)
    probabilities[:, np.arange(25), square.ravel()] = 0.8
    probabilities[1, 7] = [0.3, 0.3, 0.2, 0.1, 0.1]
    probabilities[1, 7, square.ravel()[7]] = 0.05
    decoder = Decoder(knowledge)
    assert decoder.different is not None and len(decoder.different.groups) == 10
    decoded = decoder(list(probabilities.transpose(1, 0, 2)))
    assert decoded.codes.tolist() == [square.ravel().tolist()] * 2 and decoded.proven.all()
    assert decoded.changed.tolist() == [0, 1] and decoded.logs == pytest.approx(
        [25 * np.log(0.8), 24 * np.log(0.8) + np.log(0.05)]
    )


# -- the search step by step -------------------------------------------------------------------------------------------


def test_domains_keep_what_the_limit_leaves_and_lose_what_others_take():
    costs = [np.array(row) for row in ([0.0, 1.0, 2.0, 4.0], [0.0, 3.0, 1.0, 2.0], [5.0, 0.0, 1.0, 0.5])]
    search = _Search(DifferentGroups(3, 4, ((0, 1, 2),)), costs, 100)
    search.limit = 0.6
    assert not search._affordable(_Node([0b1111] * 3, 0.0)) and search.exceeded == 1.0  # both 0 and 1 would be code 0
    search.exceeded = np.inf
    search.limit, node = 2.0, _Node([0b1111] * 3, 0.0)
    assert search._affordable(node)  # costs of 2 are just affordable
    assert (node.domains, node.bound, search.exceeded) == ([0b0111, 0b1101, 0b1110], 0.0, 3.0)
    assert search.restrict(node, [(0, 0b0001)])
    assert (node.domains, node.bound) == ([0b0001, 0b1100, 0b1110], 1.0)
    assert search.restrict(node, [(1, 0b0100)])
    assert (node.domains, node.bound) == ([0b0001, 0b0100, 0b1010], 1.0)
    late = node.copy()
    search.limit = 1.2
    assert not search.restrict(late, [(2, 0b1000)]) and search.exceeded == 1.5 and node.domains[2] == 0b1010
    search.limit = 1.5
    assert search.restrict(node, [(2, 0b1000)]) and (node.domains, node.bound) == ([0b0001, 0b0100, 0b1000], 1.5)
    assert not search.restrict(node, [(0, 0b0010)])  # nothing is left


def test_a_value_that_one_concept_alone_can_have_is_its_own():
    search = _Search(DifferentGroups(4, 3, ((0, 1, 2), (2, 3))), [np.zeros(3)] * 4, 100)
    node = _Node([0b111] * 4, 0.0)
    assert search.restrict(node, [(0, 0b011), (1, 0b011)])
    assert node.domains == [0b011, 0b011, 0b100, 0b011]  # 2 has the value, so that 3 has it not
    assert not search.restrict(_Node([0b111] * 4, 0.0), [(0, 0b011), (1, 0b011), (2, 0b011)])
    loose = _Search(DifferentGroups(3, 4, ((0, 1, 2),)), [np.zeros(4)] * 3, 100)
    node = _Node([0b1111] * 3, 0.0)
    assert loose.restrict(node, [(0, 0b0011), (1, 0b0011)]) and node.domains == [0b0011, 0b0011, 0b1111]


def test_groups_of_other_values_or_of_more_than_names_are_not_for_this_search():
    other = ConceptSpace((Concept("a", (1, 2, 3)), Concept("b", (1, 2, 4))))
    assert DifferentGroups.of([parse("all_different(a, b)")], other) is None  # as many values, not the same
    space = ConceptSpace(tuple(Concept(name, (1, 2, 3, 4)) for name in "abcde"))
    found = DifferentGroups.of([parse("all_different(d, b)"), parse("all_different(e, a, c)")], space)
    assert found == DifferentGroups(5, 4, ((3, 1), (4, 0, 2))) and found.peers == [(2, 4), (3,), (0, 4), (1,), (0, 2)]
    assert DifferentGroups.of([parse("all_different(a + 1, b + 2)")], space) is None and DifferentGroups.of([], space) is None  # fmt: skip
    tight = DifferentGroups(5, 2, ((3, 1), (1, 2), (0, 4, 2)))
    assert tight.full == [[], [(3, 1), (1, 2)], [(1, 2)], [(3, 1)], []]


def test_worlds_are_found_up_to_the_number_asked_for():
    everything = [0b111] * 9
    for most in (0, 1, 5, 12, 13):
        assert len(some_different(SQUARE, everything, most)) == min(most, 12)
    assert some_different(SQUARE, [0b011, 0b011, 0b011, *everything[3:]], 9).shape == (0, 9)
    one = some_different(SQUARE, [0b001, 0b010, *everything[2:]], 9)
    assert sorted(one.tolist()) == [world for world in lawful(SQUARE).tolist() if world[:2] == [0, 1]]


def test_the_best_world_is_found_though_the_first_limit_holds_none():
    groups = DifferentGroups(4, 4, ((0, 1, 2, 3),))
    for scale in (0.01, 1.0, 300.0):
        costs = rng_for(5, "steep").exponential(size=(4, 4)) * scale
        costs[:, 0] = 0.0  # all want the same value
        worlds = lawful(groups)
        totals = costs[np.arange(4), worlds].sum(axis=1)
        found = most_probable_different(groups, list(costs))
        assert found.proven and found.codes.tolist() == worlds[totals.argmin()].tolist()


@pytest.mark.parametrize(
    ("concepts", "values", "searched"),
    [(40, 2, False), (41, 2, True), (12, 12, True), (12, 13, False), (11, 12, False)],
)
def test_the_search_is_for_many_worlds_of_few_values(concepts, values, searched):
    space = ConceptSpace(tuple(Concept(f"c{n}", tuple(range(values))) for n in range(concepts)))
    limits = [Constraint("one", parse("all_different(c0, c1)")), Constraint("two", parse("all_different(c3, c2)"))]
    decoder = Decoder(Knowledge.of(space, {"y": "c0 == 1"}, limits))
    expected = DifferentGroups(concepts, values, ((0, 1), (3, 2)))
    assert decoder.different == (expected if searched else None)


def test_each_example_of_a_large_space_is_searched_by_itself():
    space = ConceptSpace(tuple(Concept(f"c{n}", (0, 1)) for n in range(41)))
    pairs = [Constraint(f"p{n}", parse(f"all_different(c{n}, c{n + 1})")) for n in range(0, 40, 2)]
    knowledge = Knowledge.of(space, {"y": "c0 == 1"}, pairs)
    rng = np.random.default_rng(4)
    chances = [rng.dirichlet([1.0, 1.0], size=5) for _ in range(41)]
    found = Decoder(knowledge)(chances)
    expected = np.zeros((5, 41), dtype=int)
    for row in range(5):
        for n in range(0, 40, 2):
            first = chances[n][row, 0] * chances[n + 1][row, 1] > chances[n][row, 1] * chances[n + 1][row, 0]
            expected[row, [n, n + 1]] = [0, 1] if first else [1, 0]
        expected[row, 40] = chances[40][row].argmax()
    assert found.codes.tolist() == expected.tolist() and found.proven.all()
    assert found.logs == pytest.approx([sum(np.log(chances[n][row, code]) for n, code in enumerate(expected[row])) for row in range(5)])  # fmt: skip
    likely = np.stack([one.argmax(axis=1) for one in chances], axis=1)
    assert found.changed.tolist() == (likely != expected).sum(axis=1).tolist()
