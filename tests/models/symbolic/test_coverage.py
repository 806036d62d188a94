"""The bits of literals and clauses against loops over objects, in more than 64 examples, some objects absent."""

from itertools import product

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.logic import evaluate
from assay.models.symbolic.bits import count_bits, pack_bits, unpack_bits
from assay.models.symbolic.ilp.clauses import IlpClause, PlacedLiteral, placements
from assay.models.symbolic.ilp.coverage import Coverage, covered_examples, expand_axes, refined_covers
from assay.prolog import Bias, Language

COUNT = 70
NAMES = ("u", "v", "w")
SPACE = ConceptSpace(
    (
        *(
            Concept(f"{car}.{name}", values)
            for car in NAMES
            for name, values in (("colour", ("red", "blue", ABSENT)), ("size", (1, 2, 3, ABSENT)))
        ),
        Concept("k", (1, 2, 3)),
    ),
    tuple(Slot(car, "cars", ("colour", "size")) for car in NAMES),
)


@pytest.fixture(scope="module")
def cover():
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, size, COUNT) for size in SPACE.sizes], axis=1)
    for place in range(3):
        gone = rng.random(COUNT) < 0.4
        codes[:, 2 * place] = np.where(gone, 2, codes[:, 2 * place] % 2)
        codes[:, 2 * place + 1] = np.where(gone, 3, codes[:, 2 * place + 1] % 3)
    return Coverage(Bias(SPACE, Language(objects=3, counts=2)), codes)


def present(cover):
    return np.stack([cover.codes[:, 2 * place] != 2 for place in range(3)])


def test_absent_objects_are_not_there(cover):
    assert (cover.size, cover.words) == (COUNT, 2)
    np.testing.assert_array_equal(unpack_bits(cover.present["cars"], COUNT), present(cover))
    start = cover.start(("cars", "cars"))
    assert start.shape == (3, 3, 2)
    there = present(cover)
    for a, b in product(range(3), repeat=2):
        np.testing.assert_array_equal(unpack_bits(start[a, b], COUNT), there[a] & there[b])
    assert unpack_bits(cover.start(())[None], COUNT).all() and cover.start(()).shape == (2,)


def test_each_literal_holds_where_its_formula_does(cover):
    rng = np.random.default_rng(1)
    literals = cover.bias.literals
    chosen = [n for n, one in enumerate(literals) if one.kind in ("count", "order", "together")]
    chosen += rng.permutation(len(literals))[:60].tolist()
    for number in dict.fromkeys(chosen):
        literal = literals[number]
        if literal.arity == 0:
            wanted = np.asarray(evaluate(literal.formula(), SPACE, cover.codes), dtype=bool)
            np.testing.assert_array_equal(unpack_bits(cover.bits[number], COUNT), wanted, err_msg=literal.name)
            continue
        table = literal.table()
        there = present(cover)
        for place in product(range(3), repeat=literal.arity):
            rows = []
            for term in literal.terms:
                slot = place[term.argument]
                if term.attribute == "number":
                    rows.append(np.full(COUNT, slot))
                else:
                    rows.append(cover.codes[:, 2 * slot + (term.attribute == "size")])
            wanted = table[tuple(rows)] & np.logical_and.reduce([there[slot] for slot in place])
            np.testing.assert_array_equal(unpack_bits(cover.bits[number][place], COUNT), wanted, err_msg=literal.name)


def test_clauses_cover_what_some_choice_of_objects_makes_true(cover):
    rng = np.random.default_rng(2)
    groups = ("cars", "cars", "cars")
    fitting = [(n, places) for n, one in enumerate(cover.bias.literals) for places in placements(one, groups)]
    for _ in range(12):
        steps = [fitting[at] for at in rng.permutation(len(fitting))[:3].tolist()]
        clause = IlpClause(groups, tuple(PlacedLiteral(cover.bias.literals[n], places) for n, places in steps))
        wanted = np.zeros(COUNT, dtype=bool)
        there = present(cover)
        for objects in product(range(3), repeat=3):
            holds = there[list(objects)].all(axis=0)
            for n, places in steps:
                holds &= unpack_bits(cover.bits[n][tuple(objects[place] for place in places)], COUNT)
            wanted |= holds
        np.testing.assert_array_equal(unpack_bits(cover.of(clause), COUNT), wanted)


def test_batches_refine_a_clause_by_each_literal(cover):
    groups = ("cars", "cars")
    choices = cover.start(groups)
    seen = 0
    for batch in cover.batches(groups):
        covers = refined_covers(choices, batch)
        for row in {0, len(batch.numbers) - 1}:
            number = int(batch.numbers[row])
            clause = IlpClause(groups, (PlacedLiteral(cover.bias.literals[number], batch.places),))
            np.testing.assert_array_equal(covers[row], cover.of(clause))
        seen += len(batch.numbers)
    assert seen == sum(len(list(placements(one, groups))) for one in cover.bias.literals)
    assert (1, 0) in {batch.places for batch in cover.batches(groups)}


def test_axes_of_other_objects_have_length_1():
    bits = np.arange(12, dtype=np.uint64).reshape(2, 3, 2)
    assert expand_axes(bits, (0, 2), 4).shape == (2, 1, 3, 1, 2) and expand_axes(bits[0], (1,), 2).shape == (1, 3, 2)
    assert covered_examples(np.array([[[1], [2]], [[4], [0]]], dtype=np.uint64)).tolist() == [7]
    assert unpack_bits(pack_bits(np.eye(70, dtype=bool)), 70).tolist() == np.eye(70, dtype=bool).tolist()


@pytest.mark.parametrize(("count", "words"), [(1, 1), (63, 1), (64, 1), (65, 2), (128, 2)])
def test_words_hold_64_examples_each_and_nothing_beyond_them(count, words):
    made = Coverage(Bias(SPACE, Language(objects=1, counts=1)), np.zeros((count, len(SPACE)), dtype=int))
    assert made.words == words and made.start(()).tolist() == pack_bits(np.ones(count, dtype=bool)).tolist()
    assert made.start(("cars",)).shape == (3, words) and (made.start(("cars",)) == made.start(())).all()


def test_a_batch_of_turned_arguments_refines_an_uneven_clause(cover):
    groups = ("cars", "cars")
    number = next(n for n, one in enumerate(cover.bias.literals) if one.name == "size_3")
    first = PlacedLiteral(cover.bias.literals[number], (0,))
    choices = cover.start(groups) & cover.literal_bits(number, (0,), 2)
    for batch in cover.batches(groups):
        covers = refined_covers(choices, batch)
        for row, literal in enumerate(batch.numbers.tolist()):
            placed = PlacedLiteral(cover.bias.literals[literal], batch.places)
            np.testing.assert_array_equal(covers[row], cover.of(IlpClause(groups, (first, placed))))


def test_bits_are_counted_beyond_a_byte_and_the_first_example_is_the_lowest():
    truth = np.zeros((2, 400), dtype=bool)
    truth[0, :300], truth[1, [0, 2, 65]] = True, True
    words = pack_bits(truth)
    assert words.shape == (2, 7) and words[1].tolist() == [5, 2, 0, 0, 0, 0, 0] and words.dtype == np.uint64
    assert count_bits(words).tolist() == [300, 3] and unpack_bits(words, 400).tolist() == truth.tolist()


def test_a_number_of_their_own_is_not_the_place_of_objects():
    slots = tuple(Slot(name, "cups", ("number",)) for name in ("p", "q"))
    space = ConceptSpace(tuple(Concept(f"{name}.number", (1, 2, 3)) for name in ("p", "q")), slots)
    made = Coverage(Bias(space, Language(objects=1, counts=0)), np.array([[2, 0], [1, 1], [0, 2]]))
    (number,) = (n for n, one in enumerate(made.bias.literals) if one.value == 3 and one.way == "==" and one.arity == 1)
    assert unpack_bits(made.bits[number], 3).tolist() == [[True, False, False], [False, False, True]]
