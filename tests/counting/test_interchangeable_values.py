"""Values called alike can be exchanged: solutions stay solutions, and no value that a constraint names is among them."""

from itertools import islice, permutations, product

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.counting.counterexample_guided import counterexample, sample_worlds
from assay.counting.interchangeable_values import Interchange
from assay.counting.problem import Problem
from assay.counting.readings import Readings
from assay.counting.solver import Solver
from assay.logic import Knowledge, conjunction, evaluate, parse

VALUES = (2, 5, 7, 9)
SPACE = ConceptSpace(tuple(Concept(name, VALUES) for name in "abcd"))
CASES = {
    ("a == b", "a"): ((0, 1, 2, 3), "ab"),
    ("a != b and b != c", "a"): ((0, 1, 2, 3), "abc"),
    ("a == 5", "a"): ((0, 2, 3), "a"),
    ("5 == a", "a"): ((0, 2, 3), "a"),
    ("a == b and b != 7", "a"): ((0, 1, 3), "ab"),
    ("a == b and c == 7", "a"): ((0, 1, 2, 3), "ab"),
    ("all_equal(a, b, c) or a == 9", "b"): ((0, 1, 2), "abc"),
    ("all_different(a, b, d)", "d"): ((0, 1, 2, 3), "abd"),
    ("a == 6", "a"): ((0, 1, 2, 3), "a"),
    ("a + 1 == b", "a"): ((), "a"),
    ("a < b", "b"): ((), "b"),
    ("a == b and b > c", "a"): ((), "a"),
    ("2 * a == 14", "a"): ((0, 1, 3), "a"),
    ("a + b == 9", "a"): ((), "a"),
}


@pytest.mark.parametrize("case", CASES)
def test_values_that_are_alike(case):
    solver = Solver(SPACE)
    found = solver.interchange.alike(solver.part([parse(case[0])]), SPACE.place(case[1]))
    assert (found.codes, "".join(sorted(SPACE.names[place] for place in found.entries))) == CASES[case]


@pytest.mark.parametrize("text", sorted({text for text, _ in CASES}))
def test_an_exchange_keeps_solutions(text):
    solver, codes = Solver(SPACE), SPACE.all_codes()
    part, truth = solver.part([parse(text)]), evaluate(parse(text), SPACE, codes)
    numbers = np.array(SPACE.sizes[::-1]).cumprod()[::-1] // SPACE.sizes[-1]
    assert solver.total(part) == truth.sum()
    for place in range(len(SPACE)):
        alike = Interchange(solver.terms).alike(part, place)
        for one, other in permutations(alike.codes, 2):
            swap = np.arange(len(VALUES))
            swap[[one, other]] = other, one
            moved = codes.copy()
            moved[:, sorted(alike.entries)] = swap[codes[:, sorted(alike.entries)]]
            assert (truth[moved @ numbers] == truth).all()


def test_concepts_of_other_values_are_not_exchanged_together():
    space = ConceptSpace((Concept("a", (1, 2, 3)), Concept("b", (1, 2, 4))))
    solver = Solver(space)
    assert solver.interchange.alike(solver.part([parse("a == b")]), 0).codes == ()


GROUPED = Knowledge.of(
    ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("c", (False, True)))),
    {"y": "a + b == 2 or c"},
)


@pytest.mark.parametrize("family", ["per-concept", "shared"])
def test_a_counterexample_is_a_world_whose_labels_the_reading_changes(family):
    problem = Problem(GROUPED, family, GROUPED.space.all_codes())
    worlds, labels = GROUPED.space.all_codes(), GROUPED.labels_of(GROUPED.space.all_codes())
    sizes = [len(entry.values) for entry in problem.entries]
    optimal = set(Readings(problem))
    for reading in islice(product(*map(range, sizes)), 150):
        tables = {}
        for entry, code in zip(problem.entries, reading, strict=True):
            tables[entry.owner, entry.truth[0]] = entry.values[code]
        read = np.array([
            [
                concept.code(tables[cell.owner, concept.values[world[place]]])
                for place, (cell, concept) in enumerate(zip(problem.cells, GROUPED.space.concepts, strict=True))
            ]
            for world in worlds
        ])  # fmt: skip
        refuting = worlds[(GROUPED.labels_of(read) != labels).any(axis=1)].tolist()
        found = counterexample(problem, reading)
        assert (found is None) == (not refuting) == (reading in optimal)
        assert found is None or found[0].tolist() in refuting


def test_samples_hold_every_entry_and_labels_evenly():
    few = sample_worlds(GROUPED, "per-concept", 4)
    assert all(set(few[:, place]) == set(range(size)) for place, size in enumerate(GROUPED.space.sizes))
    many = sample_worlds(GROUPED, "per-concept", 12)
    assert len(np.unique(many, axis=0)) == len(many) and set(np.bincount(GROUPED.labels_of(many)[:, 0])) <= {6, 7}


def test_conjunctions_are_taken_together():
    solver = Solver(SPACE)
    whole = conjunction(parse("a == b"), parse("b != 2"))
    assert solver.part([whole]) == solver.part([parse("a == b"), parse("b != 2")])


NEAR = ConceptSpace(tuple(Concept(name, (0, 1, 2, -1)) for name in "abc"))
NEAR_CASES = {
    ("a == 0", "a"): ((1, 2, 3), "a"),
    ("a + 1 == 0", "a"): ((0, 1, 2), "a"),
    ("1 - a == 0", "a"): ((0, 2, 3), "a"),
    ("a - 1 == 0 or a == 2", "a"): ((0, 3), "a"),
    ("not (a == b or a == 1)", "b"): ((0, 2, 3), "ab"),
    ("xor(a == b, c == 0)", "a"): ((0, 1, 2, 3), "ab"),
    ("xor(a == b, c == 0)", "c"): ((1, 2, 3), "c"),
    ("(a == b and c == 1) or (a == 0 and c != 1)", "b"): ((1, 2, 3), "ab"),
    ("all_different(a, b, 2) or c == a", "c"): ((0, 1, 3), "abc"),
    ("all_equal(a, 1, c) or b == 0", "c"): ((0, 2, 3), "c"),
    ("a == b or b > c", "a"): ((), "a"),
    ("a == b + 1 or c == b", "c"): ((), "c"),
    ("a - b == 1", "b"): ((), "b"),
    ("a in (0, 2)", "a"): ((), "a"),
    ("(a == c) if b == 1 else a == 2", "c"): ((0, 1, 3), "ac"),
}


@pytest.mark.parametrize("case", NEAR_CASES)
def test_values_near_zero_that_are_alike(case):
    solver, codes = Solver(NEAR), NEAR.all_codes()
    part = solver.part([parse(case[0])])
    found = solver.interchange.alike(part, NEAR.place(case[1]))
    assert (found.codes, "".join(sorted(NEAR.names[place] for place in found.entries))) == NEAR_CASES[case]
    assert solver.total(part) == evaluate(parse(case[0]), NEAR, codes).sum()
