"""Constrained decoding never breaks a constraint, and is the best of all worlds that do not."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits
from assay.errors import KnowledgeError
from assay.logic.circuit import compile_diagram
from assay.logic.decode import Decoder, _walk, decode
from assay.logic.knowledge import Constraint, Knowledge
from assay.logic.limits import Limits, best_completions
from assay.logic.parse import parse
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
