"""A world that refutes a reading is found exactly where one is, and samples hold every label and use every entry."""

from itertools import product

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.counting import cells
from assay.counting.counterexample_guided import _unmet, counterexample, sample_worlds
from assay.counting.problem import Problem
from assay.counting.reading_classes import Cell, entry_of
from assay.counting.solver import OutOfTime
from assay.logic import TRUE, Constraint, Knowledge, parse

XOR = Knowledge.of(bits(["a", "b"]), {"y": "xor(a, b)"})
LESS = Knowledge.of(digits(["a", "b"], range(3)), {"y": "a + b == 2"}, [Constraint("less", parse("a < b"))])


@pytest.mark.parametrize(("knowledge", "family"), [(XOR, "per-concept"), (LESS, "per-concept"), (LESS, "shared")])
def test_readings_are_refuted_by_worlds_whose_labels_they_change(knowledge, family):
    space = knowledge.space
    possible = space.all_codes()[knowledge.can_be(space.all_codes())].astype(np.int64)
    problem = Problem(knowledge, family, possible)
    numbers, kept = problem.numbers, 0
    for reading in product(*(range(len(entry.values)) for entry in problem.entries)):
        read = []
        for codes in possible.tolist():
            entries = [entry_of(space, cell, codes) for cell in problem.cells]
            values = [entry.values[reading[numbers[entry.owner, entry.truth]]] for entry in entries]
            read.append([space.concepts[i].code(value) for i, value in enumerate(values)])
        wrong = (knowledge.labels_of(possible) != knowledge.labels_of(np.array(read))).any(axis=1)
        found = counterexample(problem, reading)
        assert (found is not None) == wrong.any()
        if found is not None:
            assert found[0].tolist() in possible[wrong].tolist()
        kept += not wrong.any()
    assert kept > 1
    with pytest.raises(OutOfTime):
        counterexample(problem, problem.truth, deadline=0.0)


@pytest.mark.parametrize("family", ["per-concept", "shared"])
@pytest.mark.parametrize("size", [1, 2, 50])
def test_samples_are_possible_worlds_of_every_label_that_use_every_entry(family, size):
    worlds = sample_worlds(LESS, family, size)
    assert LESS.can_be(worlds).all() and len(np.unique(worlds, axis=0)) == len(worlds)
    assert set(LESS.labels_of(worlds)[:, 0].tolist()) == {0, 1}
    possible = LESS.space.all_codes()[LESS.can_be(LESS.space.all_codes())]
    for cell in cells(LESS.space, family):
        assert set(worlds[:, list(cell.columns)].ravel().tolist()) == set(
            possible[:, list(cell.columns)].ravel().tolist()
        )
    assert size < 50 or len(worlds) == len(possible)


def test_every_entry_that_some_world_uses_is_met_even_if_that_is_one_world_alone():
    limits = [Constraint("two", parse("a < 2 or b == 1")), Constraint("none", parse("b != 3 and c != 0"))]
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2, 3)), Concept("c", (5, 0, 7))))
    diagram = Knowledge.of(space, {"y": "a + b == 2"}, limits).diagram_within(TRUE)

    def added(columns, *worlds):
        return [world.tolist() for world in _unmet(diagram, Cell("it", columns, columns[0]), np.array(worlds))]

    assert added((0,), [0, 0, 0], [1, 2, 0]) in ([[[2, 1, 0]]], [[[2, 1, 2]]])  # one world of `b`, two of `c`
    assert [row[0][1] for row in added((1,), [0, 2, 0])] == [0, 1]  # 2 is met, and 3 cannot be
    pairs = added((0, 1), [0, 0, 0], [1, 1, 2], [0, 2, 2])
    assert [tuple(row[0][:2]) for row in pairs] == [(0, 1), (1, 0), (1, 2), (2, 1)]
    turned = added((2, 0), [0, 0, 0], [1, 1, 2])
    assert [(row[0][2], row[0][0]) for row in turned] == [(0, 1), (0, 2), (2, 0), (2, 2)]
    assert all(row[0][1] == 1 for row in turned if row[0][0] == 2)
    only = Knowledge.of(space, {"y": "a + b == 2"}, [*limits, Constraint("one", parse("a < 2 or c == 7"))])
    found = _unmet(only.diagram_within(TRUE), Cell("a", (0,), 0), np.array([[0, 0, 0], [1, 0, 0]]))
    assert [world.tolist() for world in found] == [[[2, 1, 2]]]
