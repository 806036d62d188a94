import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.logic import TRUE, evaluate, parse
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


MIXED = ConceptSpace((Concept("a", (0, 1, 2)), Concept("p", (False, True)), Concept("n", (0, 1, 2, 3)), Concept("hue", ("red", "blue"))))  # fmt: skip
STEPS = [
    np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool),
    None,
    np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1,
    np.array([[1, 0], [1, 1]], dtype=bool),
]


@pytest.mark.parametrize("limit", ["True", "a + n <= 3", "implies(p, hue == 'red')"])
@pytest.mark.parametrize(
    "text",
    [
        "a + n == 3 and p", "all_different(a, n, 2)", "all_different(a, 2 - a, n, n + p)", "count(p, a == n, hue == 'blue', n > 1) >= 2", "a * n + p", "xor(p, a > n, hue == 'red')", "(a if p else n) == 2 or hue == 'blue'",
        "hue if p or a == n else 'red'", "(a, n) in [(0, 3), (2, 1), (1, 1)] and not p", "implies(a == 2, n - a > 0)",
    ],
)  # fmt: skip
def test_flips_within_limits_and_by_steps_are_those_of_brute_force(text, limit):
    codes, rule, within = MIXED.all_codes(), parse(text), parse(limit)
    now = evaluate(rule, MIXED, codes)
    for steps in (None, STEPS):
        expected = np.zeros(codes.shape, dtype=bool)
        for place, concept in enumerate(MIXED.concepts):
            for code in range(len(concept.values)):
                other = changed(codes, place, code)
                moved = (evaluate(rule, MIXED, other) != now) & evaluate(within, MIXED, other)
                step = None if steps is None else steps[place]
                expected[:, place] |= moved if step is None else moved & step[codes[:, place], code]
        assert np.array_equal(flips(rule, MIXED, codes[::-1], within, steps), expected[::-1])


def test_changes_of_one_concept_after_another_do_not_mix():
    rule = parse("count(p, a == 1, n == 1) + count(a == 1, hue == 'red') * 2")
    changes = Dependencies(rule, MIXED).at(MIXED.all_codes())
    for name, value in (("a", 1), ("p", 1), ("a", 0), ("n", 1), ("a", 1), ("n", 3), ("p", 0)):
        place = MIXED.place(name)
        expected = evaluate(rule, MIXED, changed(MIXED.all_codes(), place, MIXED.concepts[place].values.index(value)))
        assert changes.after(name, value).tolist() == expected.tolist()
    assert changes.now.tolist() == evaluate(rule, MIXED, MIXED.all_codes()).tolist()


HUGE = 2**62
LARGE = ConceptSpace((Concept("a", (1, HUGE)), Concept("b", (-3, HUGE, 2 * HUGE + 1)), Concept("p", (False, True))))


@pytest.mark.parametrize(
    "text",
    [
        "a + a + b", f"a + b + p == {3 * HUGE + 1}", f"all_different(a + a, b, {2 * HUGE + 1})", "a * a - b * p",
        f"count(a + b > {2 * HUGE}, p, a == b) == 2", f"(a + a + 1 if p else b) == {2 * HUGE + 1}",
    ],
)  # fmt: skip
def test_sums_beyond_64_bits_change_exactly(text):
    codes, rule = LARGE.all_codes(), parse(text)
    changes = Dependencies(rule, LARGE).at(codes)
    assert changes.now.tolist() == evaluate(rule, LARGE, codes).tolist()
    for place, concept in enumerate(LARGE.concepts):
        for code, value in enumerate(concept.values):
            expected = evaluate(rule, LARGE, changed(codes, place, code))
            assert changes.after(concept.name, int(value)).tolist() == expected.tolist()
