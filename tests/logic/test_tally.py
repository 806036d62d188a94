"""Rules compiled by what they count agree with every other way, and large boards are small diagrams."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits, digits
from assay.errors import TooLarge
from assay.logic import (
    Count,
    Var,
    chance_of,
    compile_diagram,
    conjunction,
    evaluate,
    parse,
    tally,
    true_outcomes,
    uniform,
)
from assay.logic.tally import Automaton, NotTallied, Skeleton, Sweep, Tally, TallyTerm, compile_tallied, truth_diagram
from tests.logic.formulas import CASES, case

BITS = [f"b{number}" for number in range(64)]


def test_random_formulas_agree_with_the_plain_reading():
    tallied = 0
    for place in range(CASES):
        one = case(place)
        if not all(isinstance(value, bool) for value in one.values):
            continue
        try:
            diagram = compile_tallied(one.formula, one.space)
        except NotTallied:
            continue
        tallied += 1
        assert true_outcomes(diagram)[diagram.outcome_of(one.codes)].tolist() == one.values, str(one.formula)
    assert tallied > 40


@pytest.mark.parametrize(
    "text",
    [
        "count(a == 1, b == 1, c == 1, d == 2) == 2",
        "a + b + c + d > 7 and a != d",
        "max(0, count(a == 1, b == 1, c == 1) - 1) + count(b == 2, c == 2) <= d",
        "implies(count(a > b, b > c, c > d) >= 2, a + 2 * d == 4)",
        "xor(a == b, c == d) or a * d == 6",
        "iff(count(a == 0, b == 0, c == 0) == 1, d - a - b < 0)",
        "(count(a == b, c == d, a == d) if b > 2 else a + c) == 2",
    ],
)
@pytest.mark.parametrize("order", [None, ["c", "a", "d", "b"]])
def test_written_formulas_agree_with_every_world(text, order):
    space = digits(["a", "b", "c", "d"], range(4))
    codes = space.all_codes()
    diagram = compile_tallied(parse(text), space, order)
    assert (true_outcomes(diagram)[diagram.outcome_of(codes)] == evaluate(parse(text), space, codes)).all()
    assert diagram.size <= compile_diagram([parse(text)], space, order or space.names).size


def test_what_is_no_formula_of_tallies_is_compiled_in_the_general_way():
    space = digits(["a", "b", "c"], range(3))
    with pytest.raises(NotTallied):
        compile_tallied(parse("all_different(a, b, c)"), space)
    assert truth_diagram(parse("all_different(a, b, c)"), space).counts[(True,)] == 6


def test_a_rule_that_is_always_or_never_true():
    space = bits(["a", "b", "c"])
    assert compile_tallied(parse("count(a, b, c) <= 3"), space).counts == {(True,): 8}
    assert compile_tallied(parse("count(a, b, c) > 3"), space).counts == {(False,): 8}


def test_too_large_is_refused():
    with pytest.raises(TooLarge, match="outgrows 50 nodes"):
        compile_tallied(Count(tuple(map(Var, BITS))).eq(32), bits(BITS), budget=50)
    halves = conjunction(*(Count(tuple(map(Var, BITS[n::8]))).eq(4) for n in range(8)))
    with pytest.raises(TooLarge, match="tallies have 1,679,616 combinations, more than 400,000"):
        compile_tallied(halves, bits(BITS))


@pytest.mark.parametrize(
    "text",
    [
        "count(a == 1, b == 2, a + b + c > 5) == 2", "count(a + b + d == 4, b + c + d > 6, a == 3) >= 1", "a > 1 and a + b + c > 4 and d < 3",
        "a == 3 or a + b + c == 2 or d == 1", "a + (b if a + c + d > 4 else 1) - 2 * d > 0", "(a == 1 and b == 2) or (c + d + a) % 3 == 1",
        "not (a + b + c + d == 6)", "a + b - c - d == -2", "-a - b - c < -4", "(b > 1) + (c > 1) + (d > 1) == a",
    ],
)  # fmt: skip
def test_parts_that_look_at_many_concepts_are_counted_beside_those_that_look_at_few(text):
    space = digits(["a", "b", "c", "d"], (0, 1, 2, 3))
    codes = space.all_codes()
    expected = evaluate(parse(text), space, codes)
    diagram = truth_diagram(parse(text), space)
    assert (true_outcomes(diagram)[diagram.outcome_of(codes)] == expected).all() and 0 < expected.sum() < len(codes)
    try:
        tallied = compile_tallied(parse(text), space)
    except NotTallied:
        return
    assert tallied.counts[(True,)] == expected.sum()


def test_terms_are_tables_from_their_least_value_on():
    space = digits(["a", "b", "c"], (1, 2, 4))
    skeleton = Skeleton(parse("a + b + c > 6 and a * b != 4"), space)
    tables = [[term.table.tolist() for term in tally.terms] for tally in skeleton.tallies]
    assert [[0, 1, 3]] * 3 in tables and [tally.most for tally in skeleton.tallies if len(tally.terms) == 3] == [9]
    pairs = [term for tally in skeleton.tallies for term in tally.terms if len(term.places) == 2]
    assert all(term.table.min() == 0 and term.table.shape == (3, 3) for term in pairs) and len(pairs) == 1
    with pytest.raises(NotTallied, match="a constant"):
        Skeleton(parse("True"), space)


def test_terms_look_at_one_or_two_concepts_of_so_many_values(monkeypatch):
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2, 3)), Concept("c", (0, 1))))
    for largest, shapes in ((12, [[(3, 4)]]), (11, [[(3,), (4,)]])):
        monkeypatch.setattr(tally, "LARGEST_TERM", largest)
        skeleton = Skeleton(parse("a + b == 3"), space)
        assert [[term.table.shape for term in own.terms] for own in skeleton.tallies] == shapes
        codes = space.all_codes()
        made = compile_tallied(parse("a + b == 3"), space)
        assert true_outcomes(made)[made.outcome_of(codes)].tolist() == (codes[:, 0] + codes[:, 1] == 3).tolist()
    monkeypatch.setattr(tally, "LARGEST_TERM", 4096)
    three = Skeleton(parse("a + b + c == 3"), space)
    assert [[term.places for term in own.terms] for own in three.tallies] == [[(0,), (1,), (2,)]]


def test_the_general_way_has_a_budget_of_its_own(monkeypatch):
    space, rule = digits([*"abcd"], range(4)), parse("all_different(a, b, c, d)")
    size = truth_diagram(rule, space).size
    monkeypatch.setattr(tally, "SLOW_BUDGET", 10)
    with pytest.raises(TooLarge, match="outgrows 10 nodes"):
        truth_diagram(rule, space)
    monkeypatch.setattr(tally, "SLOW_BUDGET", 50_000)
    with pytest.raises(TooLarge, match="outgrows 10 nodes"):
        truth_diagram(rule, space, budget=10)
    assert truth_diagram(rule, space, budget=5 * size).size == size


def test_the_budget_of_a_tallied_diagram_is_met_exactly():
    space, rule = bits([*"abcd"]), parse("count(a, b, c, d) == 2")
    nodes = 1 + 2 + 3 + 4  # so many tallies before each concept, three ones and more together
    assert compile_tallied(rule, space, budget=nodes).counts[(True,)] == 6
    with pytest.raises(TooLarge, match=f"outgrows {nodes - 1} nodes"):
        compile_tallied(rule, space, budget=nodes - 1)


@pytest.mark.parametrize("order", [None, ["e", "c", "a", "d", "b"], ["b", "d", "e", "a", "c"]])
@pytest.mark.parametrize(
    "text",
    [
        "count(a > e, b > d, c == a, d == 2, e + b == 3) >= 3",
        "2 * a - 3 * b + c * d - e > 1",
        "count(a == 1, b == 1, c == 1) == 1 and 2 * d + e >= 4 or a * e == 2",
        "max(a + b + c - 3, d) == e",
        "iff(a + 2 * b > c, count(c == d, d == e, a == e) == 1)",
    ],
)
def test_concepts_of_several_sizes_are_tallied_in_any_order(text, order):
    sizes = {"a": 3, "b": 2, "c": 4, "d": 3, "e": 4}
    space = ConceptSpace(tuple(Concept(name, tuple(range(size))) for name, size in sizes.items()))
    codes = space.all_codes()
    made = compile_tallied(parse(text), space, order)
    expected = evaluate(parse(text), space, codes)
    assert (true_outcomes(made)[made.outcome_of(codes)] == expected).all() and 0 < expected.sum() < len(codes)
    assert made.order == tuple(space.place(name) for name in order or space.names)
    rng = np.random.default_rng(1)
    chances = [rng.dirichlet(np.ones(size), size=3) for size in space.sizes]
    mass = np.prod([one[:, codes[:, place]] for place, one in enumerate(chances)], axis=0)
    assert chance_of(made, chances) == pytest.approx(mass[:, expected].sum(axis=1))
    assert chance_of(made, uniform(space)) == pytest.approx([expected.mean()])


def test_words_and_what_may_be_absent_are_not_tallied():
    slots = (Slot("o", "things", ("hue", "n")),)
    values = {"hue": ("red", "blue", ABSENT), "n": (1, 2, ABSENT)}
    space = ConceptSpace(
        (*(Concept(f"o.{name}", own) for name, own in values.items()), *digits(["a", "b"], range(3)).concepts), slots
    )
    codes = space.all_codes()
    for text in ("o.hue == 'red' or a + b > 2", "o.n == 2 and a > b", "any(x.n > 1 for x in things) or a + b == 3"):
        made = truth_diagram(parse(text), space)
        assert (true_outcomes(made)[made.outcome_of(codes)] == evaluate(parse(text), space, codes)).all()
    with pytest.raises(NotTallied):
        Skeleton(parse("('red' if a + b > 2 else o.hue) == ('blue' if a * b > 1 else o.hue)"), space)


def test_classes_are_split_until_every_step_leads_to_one():
    steps = [np.array([1, 2, 3, 3, 5, 5]), np.array([4, 4, 5, 5, 4, 5])]
    labels = tally._merged(np.array([0, 0, 0, 1, 0, 1]), steps)
    same = {(i, j) for i in range(6) for j in range(6) if labels[i] == labels[j]}
    assert {(3, 3), (5, 5)} <= same and labels.max() + 1 == len(set(labels.tolist()))
    for i, j in same:
        assert all(labels[step[i]] == labels[step[j]] for step in steps)
    assert tally._merged(np.array([7, 7, 7]), [np.array([1, 2, 2])]).tolist() == [0, 0, 0]
    chain = tally._merged(np.array([0, 0, 0, 0, 1]), [np.array([1, 2, 3, 4, 4])])
    assert len(set(chain.tolist())) == 5


def test_tallies_grow_up_to_where_more_makes_no_difference():
    grid = np.indices((3, 4)).reshape(2, -1)
    assert tally._step(grid, (3, 4), (0, 2)).tolist() == [8 + n % 4 for n in range(12)]
    assert tally._step(grid, (3, 4), (1, 1)).tolist() == [1, 2, 3, 3, 5, 6, 7, 7, 9, 10, 11, 11]
    one, other = TallyTerm((0,), np.array([0, 3, 1])), TallyTerm((1, 2), np.array([[0, 1], [5, 3]]))
    both = Tally((one, other))
    assert tally._growths(both) == [1, 3, 5] and both.most == 8


def test_an_automaton_is_settled_where_no_step_leads_away():
    space = bits([*"abc"])
    made = tally._automaton(Skeleton(parse("count(a, b, c) == 1"), space))
    classes = [made.start]
    for _ in range(3):
        classes.append(int(made.after(np.array([classes[-1]]), 0, np.array([1]))[0]))
    assert [bool(made.holds[number]) for number in classes] == [False, True, False, False]
    assert [bool(made.is_settled[number]) for number in classes] == [False, False, True, True]
    moved = made.after(np.array([classes[0]] * 3 + [classes[1]]), 0, np.array([0, 1, 0, 1]))
    assert moved.tolist() == [classes[0], classes[1], classes[0], classes[2]]
    assert set(made.steps) == {(0, 1)}
    still = Automaton(0, {}, np.array([True, False]))
    assert still.is_settled.tolist() == [True, True]


FIVE = ConceptSpace(
    tuple(Concept(name, tuple(range(size))) for name, size in {"a": 3, "b": 4, "c": 2, "d": 3, "e": 4}.items())
)


def sweep(order):
    rule = parse("count(a == b, b == 3, c == 1, a == 2, e > 1) >= 2")
    return Sweep(Skeleton(rule, FIVE), tuple(FIVE.place(name) for name in order), 1000)


def test_codes_that_every_term_treats_alike_have_one_letter():
    letters = {FIVE.names[place]: own.tolist() for place, own in sweep("abcde").letters.items()}
    assert letters == {"a": [2, 1, 0], "b": [3, 2, 1, 0], "c": [0, 1], "d": [0, 0, 0], "e": [0, 0, 1, 1]}


@pytest.mark.parametrize(
    ("order", "needed"),
    [("abcde", {"a": 1, "b": 1, "c": 2, "d": -1, "e": 4}), ("cbead", {"a": 3, "b": 3, "c": 0, "d": -1, "e": 2})],
)
def test_a_concept_is_kept_until_the_last_term_that_looks_at_it_is_read(order, needed):
    made = sweep(order)
    assert {FIVE.names[place]: last for place, last in made.needed.items()} == needed
    codes = FIVE.all_codes()
    a, b, c, _, e = codes.T
    diagram = made.diagram()
    expected = (a == b) * 1 + (b == 3) + (c == 1) + (a == 2) + (e > 1) >= 2
    assert true_outcomes(diagram)[diagram.outcome_of(codes)].tolist() == expected.tolist()
    assert made.automaton.holds.sum() == 1 and len(made.automaton.holds) == 3  # none, one, and more


def test_states_have_numbers_as_long_as_numbers_hold_them():
    made = sweep("abcde")
    assert made._keys(np.array([0, 1]), {0: np.array([2, 1]), 1: np.array([3, 0])}).tolist() == [11, 16]
    assert made._keys(np.array([2, 0]), {}).tolist() == [2, 0]
    made.letters = {place: np.array([0, 2**21 - 1]) for place in range(3)}
    zeros = {place: np.array([0, 0]) for place in range(3)}
    with pytest.raises(TooLarge, match="ties too many concepts together"):
        made._keys(np.array([0, 1]), zeros)
    assert made._keys(np.array([0, 1]), {0: zeros[0], 1: zeros[1]}).tolist() == [0, 2**42]


def test_combinations_of_tallies_are_listed_up_to_their_number(monkeypatch):
    rule = parse("count(a == 1, c == 1, e > 1) == 1 and count(b == 3, d == 1, e == 0) <= 1")
    monkeypatch.setattr(tally, "MOST_TALLIES", 9)  # none, one or more of the one, and of the other
    assert compile_tallied(rule, FIVE).counts[(True,)] == int(evaluate(rule, FIVE, FIVE.all_codes()).sum())
    monkeypatch.setattr(tally, "MOST_TALLIES", 8)
    with pytest.raises(TooLarge, match="tallies have 9 combinations, more than 8"):
        compile_tallied(rule, FIVE)


@pytest.mark.parametrize("large", [10**9, 2**40, 2**63, 2**80])
def test_sums_of_large_numbers_are_compiled_in_the_general_way(large):
    values = {"a": (0, large), "b": (-large, 3, large), "c": (1, large + 1)}
    space = ConceptSpace((*(Concept(name, own) for name, own in values.items()), *bits(["p"]).concepts))
    codes = space.all_codes()
    for text in (f"a + b + c > {large + 3}", f"count(a == {large}, b == c, p) == 2 and a - b + c != {2 * large + 1}"):
        made = truth_diagram(parse(text), space)
        expected = evaluate(parse(text), space, codes)
        assert true_outcomes(made)[made.outcome_of(codes)].tolist() == expected.tolist() and 0 < expected.sum() < 24
    with pytest.raises(NotTallied):
        compile_tallied(parse(f"a + b + c > {large + 3}"), space)
    near = ConceptSpace(tuple(Concept(name, (large, large + 2)) for name in "abc"))  # large, and not far apart
    made = compile_tallied(parse(f"a + b + c == {3 * large + 4}"), near)
    assert made.counts == {(False,): 5, (True,): 3}


def test_a_tally_may_have_so_many_values(monkeypatch):
    space = ConceptSpace(tuple(Concept(name, (0, 4)) for name in "abc"))
    monkeypatch.setattr(tally, "LARGEST_TALLY", 12)
    assert compile_tallied(parse("a + b + c == 8"), space).counts[(True,)] == 3
    for largest in (11, 3):  # too many together, and each
        monkeypatch.setattr(tally, "LARGEST_TALLY", largest)
        with pytest.raises(NotTallied):
            compile_tallied(parse("a + b + c == 8"), space)
        assert truth_diagram(parse("a + b + c == 8"), space).counts[(True,)] == 3
