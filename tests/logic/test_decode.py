"""Constrained decoding never breaks a constraint, and is the best of all worlds that do not, or says that it may not be."""

from itertools import product

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Constraint, Knowledge, Slot, bits, parse
from assay.base import KnowledgeError, rng_for
from assay.logic import ABSENT, Decoder, Limits, some_different
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


@pytest.mark.parametrize(("states", "proven"), [(3, False), (100_000, True)])
def test_a_search_of_too_few_states_says_that_there_may_be_better_worlds(monkeypatch, states, proven):
    monkeypatch.setattr("assay.logic.decode.BEAM", 2)  # a limit: the first walk is narrow, the second makes up for it
    knowledge = sudoku()
    given = spreads(knowledge.space, 12)
    found = Decoder(knowledge, Limits(knowledge, 300), states=states)(given)
    best = best_of(solutions(), given)
    assert found.proven.all() == proven and not knowledge.violations(found.codes[found.solved]).any()
    assert (found.logs <= best + 1e-9).all() and np.allclose(found.logs[found.proven], best[found.proven], atol=1e-9)


def test_what_the_model_rules_out_is_taken_only_if_it_must_be():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"}, [Constraint("one", parse("count(a, b) == 1"))])
    sure = [np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0.4, 0.6], [0.0, 1.0]])]
    found = Decoder(knowledge)(sure)
    assert found.codes[0].tolist() == [1, 0] and found.logs[0] == pytest.approx(np.log(0.4))
    assert found.codes[1].sum() == 1 and found.logs[1] < -1e8


def test_empty_slots_are_decoded_whole():
    values = ("red", "blue", ABSENT)
    space = ConceptSpace(
        (Concept("o.fill", values), Concept("o.edge", values)), (Slot("o", "things", ("fill", "edge")),)
    )
    knowledge = Knowledge.of(space, {"y": "o.fill == 'red'"})
    found = Decoder(knowledge)([np.array([[0.1, 0.0, 0.9]]), np.array([[0.5, 0.1, 0.4]])])
    assert found.codes.tolist() == [[2, 2]]


def test_nothing_to_decode_to_and_too_large_are_told():
    space = bits(["a", "b"])
    limits = [Constraint("one", parse("count(a, b) == 1")), Constraint("same", parse("iff(a, b)"))]
    half = [np.full((1, 2), 0.5)] * 2
    with pytest.raises(KnowledgeError, match="no world keeps all constraints"):
        Decoder(Knowledge.of(space, {"y": "a"}, limits))(half)
    knowledge = sudoku()
    with pytest.raises(KnowledgeError, match="too large to decode under: constraint 'u0'"):
        Decoder(knowledge, Limits(knowledge, 20))(spreads(knowledge.space, 2))


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


def test_slots_too_large_to_decode_under_are_told():
    knowledge = mixed()
    with pytest.raises(KnowledgeError, match="the slots of this space are too large to decode under"):
        Decoder(knowledge, Limits(knowledge, 2))(spreads(knowledge.space, 2))


SQUARE = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8)]


LOOSE = [(0, 1, 2), (2, 3, 4), (0, 4)]


def lawful(groups, concepts, values):
    worlds = np.array(list(product(range(values), repeat=concepts)))
    return worlds[[all(len({*world[list(group)]}) == len(group) for group in groups) for world in worlds]]


@pytest.mark.parametrize(("groups", "concepts", "values"), [(SQUARE, 9, 3), (LOOSE, 5, 4)], ids=["square", "loose"])
def test_all_worlds_are_found(groups, concepts, values):
    everything = [(1 << values) - 1] * concepts
    found = some_different(groups, values, everything, 10_000)
    assert sorted(found.tolist()) == lawful(groups, concepts, values).tolist()
    assert len(some_different(groups, values, everything, 2)) == 2
    assert len(some_different(groups, values, [1, 1, *everything[2:]], 2)) == 0


def test_worlds_are_found_up_to_the_number_asked_for():
    everything = [0b111] * 9
    for most in (0, 1, 5, 12, 13):
        assert len(some_different(SQUARE, 3, everything, most)) == min(most, 12)
    assert some_different(SQUARE, 3, [0b011, 0b011, 0b011, *everything[3:]], 9).shape == (0, 9)
    one = some_different(SQUARE, 3, [0b001, 0b010, *everything[2:]], 9)
    assert sorted(one.tolist()) == [world for world in lawful(SQUARE, 9, 3).tolist() if world[:2] == [0, 1]]


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
