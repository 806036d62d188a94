import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.logic.evaluate import evaluate
from assay.logic.formula import TRUE
from assay.logic.parse import parse
from assay.logic.sensitivity import Dependencies, flips
from tests.logic.formulas import CASES, case


def changed(codes: np.ndarray, place: int, code: int) -> np.ndarray:
    other = codes.copy()
    other[:, place] = code
    return other


@pytest.mark.parametrize("number", range(CASES))
def test_a_change_gives_what_the_changed_world_gives(number):
    made = case(number)
    space, codes = made.space, made.space.all_codes()
    parts = Dependencies(made.formula, space)
    changes = parts.at(codes)
    words = {number: word for word, number in parts.evaluator.words.items()}
    for place, concept in enumerate(space.concepts):
        for code, value in enumerate(concept.values):
            found = changes.after(concept.name, parts.evaluator.number(value))
            expected = evaluate(made.formula, space, changed(codes, place, code))
            if parts.evaluator.shape.kind == "symbol":
                found = np.array([words[int(one)] for one in found], dtype=object)
            assert np.array_equal(found.astype(expected.dtype), expected)


@pytest.mark.parametrize("number", range(0, CASES, 4))
def test_flips_are_those_of_brute_force(number):
    made = case(number)
    space, codes = made.space, made.space.all_codes()
    now = evaluate(made.formula, space, codes)
    expected = np.zeros(codes.shape, dtype=bool)
    for place, concept in enumerate(space.concepts):
        for code in range(len(concept.values)):
            expected[:, place] |= evaluate(made.formula, space, changed(codes, place, code)) != now
    assert np.array_equal(flips(made.formula, space, codes), expected)


def test_only_changes_that_keep_the_limits_count():
    space = bits(["a", "b"])
    codes = space.all_codes()
    assert flips(parse("a"), space, codes, within=parse("not (a and b)"))[:, 0].tolist() == [True, False, True, True]


def test_steps_limit_how_far_a_count_moves():
    space = ConceptSpace((Concept("n", (0, 1, 2, 3)),))
    near = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1
    found = flips(parse("n == 3"), space, space.all_codes(), TRUE, [near])
    assert found[:, 0].tolist() == [False, False, True, True]
