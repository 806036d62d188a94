"""What a rule distinguishes: classes of values that it treats alike, each with a formula and words that say which."""

from itertools import combinations

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits, digits
from assay.logic import Knowledge, evaluate, ground_formula, parse
from assay.logic.features import ComparedNumbers, GroupedValues, atoms, describe_values, features_of
from assay.logic.variants import boundary_of

CONCEPTS = {
    "truth": Concept("x", (False, True)),
    "digits": Concept("x", (0, 1, 2, 3, 4)),
    "gaps": Concept("x", (1, 2, 4, 8)),
    "counts": Concept("x", (0, 1, 2, 3, 4), counts=True),
    "signed": Concept("x", (1, -1, 2, 0, 5)),
    "words": Concept("x", ("red", "green", "blue")),
    "optional": Concept("x", (1, 2, 3, ABSENT)),
    "optional words": Concept("x", ("red", "green", ABSENT)),
}
CUPS = ConceptSpace((Concept("cup", (0, 1, 2, 3, 4, 5), counts=True), Concept("fork", (0, 1, 2), counts=True)))


def subsets(values):
    return [list(some) for size in range(1, len(values)) for some in combinations(values, size)]


@pytest.mark.parametrize("name", CONCEPTS)
def test_values_are_described_by_a_formula_that_holds_for_them_alone(name):
    concept = CONCEPTS[name]
    space = ConceptSpace((concept,))
    for values in subsets(concept.values):
        formula, words = describe_values(concept, values)
        truths = evaluate(formula, space, space.all_codes())
        assert [value for value, truth in zip(concept.values, truths, strict=True) if truth] == values, words


@pytest.mark.parametrize(
    ("concept", "values", "words"),
    [
        ("counts", [0], "not x"),
        ("counts", [1, 2, 3, 4], "x"),
        ("counts", [2, 3], "2-3 x"),
        ("counts", [3, 4], "x >= 3"),
        ("counts", [0, 1], "x <= 1"),
        ("counts", [0, 1, 2, 4], "x != 3"),
        ("counts", [0, 2], "x in {0, 2}"),
        ("digits", [1, 2, 3], "1 <= x <= 3"),
        ("digits", [1, 2, 3, 4], "x != 0"),
        ("gaps", [2, 4], "2 <= x <= 4"),
        ("signed", [1, 2, 5], "x >= 1"),
        ("signed", [1, -1, 0], "x <= 1"),
        ("signed", [1, 2], "1 <= x <= 2"),
        ("signed", [-1, 0], "x <= 0"),
        ("signed", [0], "x == 0"),
        ("signed", [2, 5], "x >= 2"),
        ("signed", [1, 0, 5], "x in {1, 0, 5}"),
        ("signed", [1, -1, 2, 0], "x != 5"),
        ("counts", [0, 1, 2, 3], "x <= 3"),
        ("counts", [2, 3, 4], "x >= 2"),
        ("counts", [1], "x == 1"),
        ("counts", [0, 2, 3, 4], "x != 1"),
        ("optional", [1, 2, ABSENT], "x != 3"),
        ("optional", [1, 2], "x in {1, 2}"),
        ("optional words", [ABSENT], "x == absent"),
        ("words", ["blue"], "x == blue"),
        ("words", ["red", "blue"], "x != green"),
        ("truth", [False], "not x"),
        ("truth", [True], "x"),
    ],
)
def test_values_in_words(concept, values, words):
    assert describe_values(CONCEPTS[concept], values)[1] == words


def only(rule, space):
    (feature,) = features_of(ground_formula(parse(rule), space), space)
    return feature


@pytest.mark.parametrize(
    ("rule", "classes"),
    [
        ("cup == 3", (0, 1, 1, 2, 3, 3)),  # none, one or two, three, more
        ("cup > 0", (0, 1, 1, 1, 1, 1)),
        ("cup > 1", (0, 1, 2, 2, 2, 2)),  # none is a class of its own
        ("cup % 2 == 0", (0, 1, 2, 3, 4, 5)),  # what is told apart from its neighbours is a class, far ones or not
        ("cup == 2 or cup == 4", (0, 1, 2, 3, 4, 5)),
    ],
)
def test_counts_are_grouped_by_neighbours(rule, classes):
    feature = only(rule, CUPS)
    assert isinstance(feature, GroupedValues) and feature.of == classes and feature.size == max(classes) + 1
    steps = feature.steps
    expected = np.abs(np.subtract.outer(classes, classes)) <= 1
    assert (steps == expected).all()


def test_other_values_are_grouped_by_what_the_rule_says_of_them():
    feature = only("a % 2 == 0", digits(["a"]))
    assert feature.of == (0, 1) * 5 and feature.steps is None


RULES = {
    "one": ("a + b > 3 and not c == 2 or a == b", digits(["a", "b", "c"], range(4))),
    "two": ("count(a, b, c) == 2 and a", bits(["a", "b", "c"])),
    "three": ("cup == 3 and fork > cup", CUPS),
    "four": ("(cup if fork > 1 else 0) > 2", CUPS),
}


@pytest.mark.parametrize("name", RULES)
def test_the_rule_is_a_function_of_its_features(name):
    text, space = RULES[name]
    codes = space.all_codes()
    features = features_of(ground_formula(parse(text), space), space)
    truth = evaluate(parse(text), space, codes)
    by_class = {}
    for row, value in zip(
        zip(*(feature.classes(space, codes).tolist() for feature in features), strict=True), truth.tolist(), strict=True
    ):
        by_class.setdefault(row, set()).add(value)
    assert all(len(values) == 1 for values in by_class.values()) and len(by_class) > 1


@pytest.mark.parametrize("name", RULES)
def test_classes_part_the_worlds_and_have_their_formulas(name):
    text, space = RULES[name]
    codes = space.all_codes()
    for feature in features_of(ground_formula(parse(text), space), space):
        classes = feature.classes(space, codes)
        truths = np.stack([evaluate(formula, space, codes) for formula in feature.formulas], axis=1)
        assert (truths.sum(axis=1) == 1).all() and (truths.argmax(axis=1) == classes).all()
        for allowed in (frozenset([0]), frozenset(range(1, feature.size))):
            if allowed:
                inside = evaluate(feature.formula(allowed), space, codes)
                assert (inside == np.isin(classes, list(allowed))).all() and feature.text(allowed)


def test_two_numbers_are_less_equal_or_more_whatever_the_rule_asks():
    space = digits(["a", "b"], range(3))
    for rule in ("a > b", "b < a", "a >= b", "a != b"):
        feature = only(rule, space)
        assert isinstance(feature, ComparedNumbers) and feature.words == ("a == b", "a < b", "a > b")
    ways = {(0,): "a == b", (1,): "a < b", (2,): "a > b", (0, 1): "a <= b", (0, 2): "a >= b", (1, 2): "a != b"}
    assert {way: feature.text(frozenset(way)) for way in ways} == ways


def test_symbols_and_truths_are_the_same_or_not():
    words = ConceptSpace((Concept("a", ("x", "y")), Concept("b", ("x", "y"))))
    assert only("a == b", words).words == ("a == b", "a != b")
    assert only("a == b", bits(["a", "b"])).words == ("a == b", "a != b")


def test_counts_of_truths_are_connectives():
    flat = ground_formula(parse("exactly(2, a, b, c) or d and True"), bits([*"abcd"]))
    assert [str(atom) for atom in atoms(flat)] == ["a", "b", "c", "d"]
    mixed = ground_formula(
        parse("count(a, b) + n > 2"), ConceptSpace((*bits(["a", "b"]).concepts, Concept("n", (0, 1, 2))))
    )
    assert [str(atom) for atom in atoms(mixed)] == ["count(a, b) + n > 2"]  # n's own value enters


def test_what_needs_objects_says_that_they_are_there():
    slots = (Slot("o1", "things", ("size",)), Slot("o2", "things", ("size",)))
    space = ConceptSpace((Concept("o1.size", (1, 2, ABSENT)), Concept("o2.size", (1, 2, ABSENT))), slots)
    knowledge = Knowledge.of(space, {"y": "any(o.size > 1 for o in things)"})
    features = features_of(ground_formula(knowledge.labels[0].formula, space), space)
    codes = space.all_codes()
    assert [feature.of for feature in features] == [(0, 1, 2)] * 2  # small, large, absent
    for place, feature in enumerate(features):
        assert (evaluate(feature.formulas[1], space, codes) == (codes[:, place] == 1)).all()


MANY = ConceptSpace(
    (
        Concept("p", (False, True)), Concept("q", (False, True)), Concept("n", (0, 1, 2)), Concept("m", (5, 3, 4)),
        Concept("hue", ("red", "blue", "grey")), Concept("k", (1, 2, ABSENT)), Concept("j", (1, 2, ABSENT)),
        Concept("c", (0, 1, 2, 3, 4), counts=True),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "inside"),
    [
        ("n == m and n > m", ["n == m", "n > m"]), ("(1 if p else 2) + n > 2", ["(1 if p else 2) + n > 2"]),
        ("(1 if p else (2 if q else 3)) > 1", ["p", "q"]), ("(n if p else 0) > 1", ["(n if p else 0) > 1"]),
        ("min(count(p, q), 1) == 1", ["p", "q"]), ("abs(count(p, q) - n) == 1", ["abs(count(p, q) - n) == 1"]),
        ("p if q else n > 1", ["q", "p", "n > 1"]), ("xor(p, k == 2, n + m == 5)", ["p", "k == 2", "n + m == 5"]),
        ("count(p, n > 1, hue == 'red') == 2", ["p", "n > 1", "hue == 'red'"]), ("iff(p, implies(q, n == 1))", ["p", "q", "n == 1"]),
    ],
)  # fmt: skip
def test_the_truths_that_a_rule_combines(rule, inside):
    assert [str(atom) for atom in atoms(ground_formula(parse(rule), MANY))] == inside


@pytest.mark.parametrize(
    ("rule", "features"),
    [
        ("n != m or m < n or p", [(("n", "m"), ("m == n", "m < n", "m > n"), None), (("p",), ("not p", "p"), (0, 1))]),
        ("k == j", [(("k", "j"), ("j == k", "j != k"), None)]), ("k != j", [(("k", "j"), ("j == k", "j != k"), None)]),
        ("p == (n > 1)", [(("p", "n"), ("(n > 1) == p", "(n > 1) != p"), None)]),
        ("p + n == 1", [(("p", "n"), ("1 == p + n", "1 < p + n", "1 > p + n"), None)]),
        ("p == n", [(("p", "n"), ("n == p", "n < p", "n > p"), None)]),
        ("p >= q", [(("p", "q"), ("p == q", "p < q", "p > q"), None)]),
        ("k == n", [(("k", "n"), ("k == n", "k != n"), None)]),
        ("all_different(n, m)", [(("n", "m"), ("all_different(n, m)", "not all_different(n, m)"), None)]),
        ("q and n > 1 and p and n == 0", [(("q",), ("not q", "q"), (0, 1)), (("n",), ("n == 0", "n == 1", "n == 2"), (0, 1, 2)), (("p",), ("not p", "p"), (0, 1))]),
        ("c >= 1 and c <= 3", [(("c",), ("not c", "1-3 c", "c == 4"), (0, 1, 1, 1, 2))]),
        ("m >= 4", [(("m",), ("m != 3", "m == 3"), (0, 1, 0))]), ("m <= 4", [(("m",), ("m == 5", "m != 5"), (0, 1, 1))]),
        ("k == 1 or hue in ('grey', 'red')", [(("k",), ("k == 1", "k != 1"), (0, 1, 1)), (("hue",), ("hue != blue", "hue == blue"), (0, 1, 0))]),
        ("hue == 'red' or True", [(("hue",), ("hue == red", "hue != red"), (0, 1, 1))]),
    ],
)  # fmt: skip
def test_features_in_order_of_their_first_use(rule, features):
    found = features_of(ground_formula(parse(rule), MANY), MANY)
    assert [(one.names, one.words, getattr(one, "of", None)) for one in found] == features


def test_some_classes_of_a_feature_in_words_and_as_a_formula():
    words = only("hue == 'red' and hue != 'grey'", MANY)
    assert words.of == (0, 1, 2)
    assert words.text(frozenset([2, 0])) == "hue != blue" and str(words.formula(frozenset([1, 2]))) == "hue != 'red'"
    told = only("all_different(n, m)", MANY)
    assert told.text(frozenset([1])) == "not all_different(n, m)" and told.size == 2
    assert told.text(frozenset([1, 0])) == "(all_different(n, m) or not all_different(n, m))"
    assert str(told.formula(frozenset([1, 0]))) == "all_different(n, m) or not all_different(n, m)"
    codes = MANY.all_codes()[::-7]
    n, m = codes[:, 2], np.array([5, 3, 4])[codes[:, 3]]
    assert told.classes(MANY, codes).tolist() == (n == m).astype(int).tolist()
    single = only("c > 2", MANY)
    assert single.classes(MANY, codes).tolist() == [(0, 1, 1, 2, 2)[code] for code in codes[:, 7]]


@pytest.mark.parametrize("rule", ["p == q or p > q", "p > q or p == q", "p != q and p < q", "xor(p == q, p >= q, p)"])
def test_truths_that_are_compared_for_order_are_less_equal_or_more_wherever_that_is_said(rule):
    feature, *others = features_of(ground_formula(parse(rule), MANY), MANY)
    assert feature.words == ("p == q", "p < q", "p > q") and [one.names for one in others] == [("p",)] * ("p)" in rule)
    space = bits(["p", "q"])
    found, codes = boundary_of(parse(rule), space), space.all_codes()
    assert found.in_variants(codes).any(axis=1).tolist() == evaluate(parse(rule), space, codes).tolist()
