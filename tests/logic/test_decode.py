"""Constrained decoding never breaks a constraint, and is the best of all worlds that do not."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits, digits
from assay.errors import KnowledgeError
from assay.logic import Constraint, Decoder, Knowledge, Limits, compile_diagram, parse
from assay.logic.decode import _distinct, _walk, decode
from assay.logic.limits import best_completions
from assay.seeds import rng_for
from tests.boards import solutions, sudoku


def spreads(space, rows, sharpness=0.5, seed=0):
    rng = rng_for(seed, "spreads")
    return [rng.dirichlet(np.full(size, sharpness), size=rows) for size in space.sizes]


def best_of(worlds, distributions):
    """Return the log probability of the best of some worlds, for each example."""
    with np.errstate(divide="ignore"):
        logs = [np.log(one)[:, worlds[:, place]] for place, one in enumerate(distributions)]
    return np.sum(logs, axis=0).max(axis=1)


@pytest.mark.parametrize("budget", [150_000, 600, 300])
def test_sudoku_is_decoded_to_the_best_of_its_288_boards(budget):
    knowledge = sudoku()
    given = spreads(knowledge.space, 40)
    decoder = Decoder(knowledge, Limits(knowledge, budget))
    found = decoder(given)
    assert decoder.limits.exact == (budget == 150_000)
    assert not knowledge.violations(found.codes).any() and found.proven.all()
    assert np.allclose(found.logs, best_of(solutions(), given), atol=1e-9)


def test_too_few_states_are_told():
    knowledge = sudoku()
    given = spreads(knowledge.space, 20, 5.0)
    narrow = Decoder(knowledge, Limits(knowledge, 300), states=3)
    import assay.logic.decode as module

    usual = module.BEAM
    module.BEAM = 2
    try:
        found = narrow(given)
    finally:
        module.BEAM = usual
    best = best_of(solutions(), given)
    assert not found.proven.all()
    assert not knowledge.violations(found.codes[found.solved]).any()
    assert (found.logs <= best + 1e-9).all() and np.allclose(found.logs[found.proven], best[found.proven])
    assert (found.codes[~found.solved] == -1).all(axis=None) and np.isneginf(found.logs[~found.solved]).all()


def test_a_full_search_makes_up_for_a_narrow_beam(monkeypatch):
    monkeypatch.setattr("assay.logic.decode.BEAM", 2)
    knowledge = sudoku()
    given = spreads(knowledge.space, 5, 5.0)
    found = Decoder(knowledge, Limits(knowledge, 300))(given)
    assert found.proven.all() and np.allclose(found.logs, best_of(solutions(), given), atol=1e-9)


def test_the_most_promising_states_are_kept():
    space = bits(["a", "b", "c", "d"])
    diagram = compile_diagram([parse("count(a, b, c, d) == 2")], space)
    lawful = [world for world in space.all_codes() if world.sum() == 2]
    for seed in range(20):
        costs = list(rng_for(seed, "costs").uniform(size=(4, 2)))
        best = min(sum(costs[place][code] for place, code in enumerate(world)) for world in lawful)
        walk = _walk([diagram], [best_completions(diagram, costs)], costs, 1, np.inf)
        assert walk.cost == pytest.approx(best)  # the bounds of one diagram are exact, so that one state is enough


def test_what_the_model_rules_out_is_taken_only_if_it_must_be():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"}, [Constraint("one", parse("count(a, b) == 1"))])
    sure = [np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0.4, 0.6], [0.0, 1.0]])]
    found = decode(knowledge, sure)
    assert found.codes[0].tolist() == [1, 0] and found.logs[0] == pytest.approx(np.log(0.4))
    assert found.codes[1].sum() == 1 and found.logs[1] < -1e8


def test_empty_slots_are_decoded_whole():
    values = ("red", "blue", ABSENT)
    space = ConceptSpace(
        (Concept("o.fill", values), Concept("o.edge", values)), (Slot("o", "things", ("fill", "edge")),)
    )
    knowledge = Knowledge.of(space, {"y": "o.fill == 'red'"})
    found = decode(knowledge, [np.array([[0.1, 0.0, 0.9]]), np.array([[0.5, 0.1, 0.4]])])
    assert found.codes.tolist() == [[2, 2]]


def test_nothing_to_decode_to_and_too_large_are_told():
    space = bits(["a", "b"])
    limits = [Constraint("one", parse("count(a, b) == 1")), Constraint("same", parse("iff(a, b)"))]
    half = [np.full((1, 2), 0.5)] * 2
    with pytest.raises(KnowledgeError, match="no world keeps all constraints"):
        decode(Knowledge.of(space, {"y": "a"}, limits), half)
    knowledge = sudoku()
    with pytest.raises(KnowledgeError, match="too large to decode under: constraint 'u0'"):
        Decoder(knowledge, Limits(knowledge, 20))(spreads(knowledge.space, 2))


def test_changed_concepts_are_counted():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a"}, [Constraint("one", parse("count(a, b, c) == 1"))])
    found = decode(knowledge, [np.array([[0.1, 0.9]]), np.array([[0.3, 0.7]]), np.array([[0.2, 0.8]])])
    assert found.codes.tolist() == [[1, 0, 0]] and found.changed.tolist() == [2]


# -- constraints of many kinds at once ---------------------------------------------------------------------------------


def mixed():
    """Return knowledge of concepts of several sizes, of a slot that may be empty, and constraints of several kinds."""
    slots = (Slot("o", "things", ("hue", "n")),)
    concepts = (
        Concept("a", (0, 1, 2)), Concept("b", (False, True)), Concept("o.hue", ("red", "blue", ABSENT)), Concept("c", (3, 1, 4, 2)),
        Concept("o.n", (1, 2, ABSENT)),
    )  # fmt: skip
    rules = {
        "sum": "a + c in (3, 4, 5)", "some": "b or o.hue != 'absent'", "tied": "implies(a == 2, not b)", "far": "o.hue == 'absent' or c != 4",
    }  # fmt: skip
    limits = [Constraint(name, parse(text)) for name, text in rules.items()]
    return Knowledge.of(ConceptSpace(concepts, slots), {"y": "a > 1"}, limits)


@pytest.mark.parametrize("budget", [150_000, 25, 16])
def test_worlds_under_constraints_of_many_kinds_are_the_best_that_there_are(budget):
    knowledge = mixed()
    codes = knowledge.space.all_codes()
    worlds = codes[knowledge.can_be(codes)]
    assert 10 < len(worlds) < len(codes) // 4
    given = spreads(knowledge.space, 60, 1.0, seed=3)
    decoder = Decoder(knowledge, Limits(knowledge, budget))
    found = decoder(given)
    assert knowledge.can_be(found.codes).all() and found.proven.all() and found.solved.all()
    assert np.allclose(found.logs, best_of(worlds, given), atol=1e-9)
    likely = np.stack([one.argmax(axis=1) for one in given], axis=1)
    assert found.changed.tolist() == (found.codes != likely).sum(axis=1).tolist() and found.changed.max() > 2
    lawful = knowledge.can_be(likely)
    assert (found.changed[lawful] == 0).all() and (found.changed[~lawful] > 0).all() and 0 < lawful.sum() < 60


def test_what_each_world_breaks_has_a_column_for_slots_first():
    knowledge = mixed()
    codes = knowledge.space.encode(
        [
            {"a": 2, "b": True, "o.hue": ABSENT, "o.n": 1, "c": 3},
            {"a": 0, "b": False, "o.hue": ABSENT, "o.n": ABSENT, "c": 1},
            {"a": 0, "b": True, "o.hue": "red", "o.n": 2, "c": 4},
        ]
    )
    assert Decoder(knowledge)._broken(codes).astype(int).tolist() == [[1, 0, 0, 1, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 1]]


def test_a_search_over_several_groups_is_exact_or_says_that_it_is_not(monkeypatch):
    knowledge = mixed()
    limits = Limits(knowledge, 16)
    assert len(limits.groups) > 1
    worlds = knowledge.space.all_codes()[knowledge.can_be(knowledge.space.all_codes())]
    given = spreads(knowledge.space, 30, 0.7, seed=5)
    best = best_of(worlds, given)
    for beam, states, exact in ((256, 50_000, True), (1, 50_000, True), (1, 1, False), (2, 2, False)):
        monkeypatch.setattr("assay.logic.decode.BEAM", beam)
        decoder = Decoder(knowledge, limits, states)
        rows = [decoder._searched([one[row] for one in given]) for row in range(30)]
        logs = np.array(
            [
                sum(np.log(one[row, code]) for one, code in zip(given, codes, strict=True))
                if codes[0] >= 0
                else -np.inf
                for row, (codes, _) in enumerate(rows)
            ]
        )
        proven = np.array([proven for _, proven in rows])
        assert proven.all() == exact and np.allclose(logs[proven], best[proven]) and (logs <= best + 1e-9).all()
        assert all(codes.tolist() in worlds.tolist() for codes, _ in rows if codes[0] >= 0)


def test_of_states_in_the_same_nodes_the_cheapest_is_kept_whatever_their_order():
    rng = np.random.default_rng(2)
    reached = rng.integers(0, 3, size=(6, 5, 2)) * np.array([1, 4])  # the nodes of two diagrams, few and many
    total = rng.permutation(30).reshape(6, 5).astype(float)
    parents, codes = np.nonzero(total < 27)
    found = set(zip(*(one.tolist() for one in _distinct(reached, total, parents, codes)), strict=True))
    best = {}
    for parent, code in sorted(zip(parents.tolist(), codes.tolist(), strict=True), key=lambda pair: total[pair]):
        best.setdefault(tuple(reached[parent, code].tolist()), (parent, code))
    assert found == set(best.values()) and len(found) == 8
    wide = reached.astype(np.int64) * 2**31  # products of widths that no number of 64 bits holds
    assert set(zip(*(one.tolist() for one in _distinct(wide, total, parents, codes)), strict=True)) == found


def test_slots_too_large_to_decode_under_are_told():
    knowledge = mixed()
    with pytest.raises(KnowledgeError, match="the slots of this space are too large to decode under"):
        Decoder(knowledge, Limits(knowledge, 2))(spreads(knowledge.space, 2))


def test_where_no_world_keeps_all_groups_nothing_is_found_and_nothing_proven():
    rules = [Constraint("three", parse("a + b + c == 3")), Constraint("four", parse("a + b + c == 4"))]
    knowledge = Knowledge.of(digits(["a", "b", "c"], range(3)), {"y": "a"}, rules)
    limits = Limits(knowledge)
    limits._made[frozenset(["three", "four"])] = None  # as if they were too large together
    sure = np.eye(3) * 0.7 + 0.1
    found = Decoder(knowledge, limits)([sure[[0, 1, 2]], sure[[0, 1, 0]], sure[[0, 1, 2]]])  # 0, 3 and 4 in all
    assert found.codes.tolist() == [[-1] * 3] * 3 and np.isneginf(found.logs).all()
    assert not found.proven.any() and not found.solved.any() and found.changed.tolist() == [3, 3, 3]
