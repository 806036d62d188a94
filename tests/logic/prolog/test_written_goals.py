"""Formulas as goals, clause by clause: kinds of values, what may be absent, names that clash, and formulas back."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, digits
from assay.errors import FormulaError, NoSymbols
from assay.logic import Knowledge, Label, evaluate, parse
from assay.logic import formula as f
from assay.prolog import Variable, Vocabulary, Worlds, label, labels_text, plain_name, read_program, rules_text
from assay.prolog.goal_writer import GoalWriter
from assay.prolog.lift import DEEPEST, Lifter
from assay.prolog.oracles import _whole
from assay.prolog.unfold import unfold
from tests.logic.prolog.test_two_groups import CODES, SPACE

LAMPS = ConceptSpace(
    (
        Concept("lamp1.lit", (True, ABSENT, False)), Concept("lamp1.watts", (40, 5, ABSENT)), Concept("n", (3, 1, 2)),
        Concept("lamp2.watts", (5, 40)), Concept("lamp2.lit", (False, True)),
    ),
    (Slot("lamp1", "lamps", ("lit", "watts")), Slot("lamp2", "lamps", ("lit", "watts"))),
)  # fmt: skip
ALL = (codes := LAMPS.all_codes())[_whole(LAMPS, codes)]


def agree(text, space, rows):
    expected = evaluate(parse(text), space, rows)
    assert 0 < expected.sum() < len(rows)
    written = rules_text(Knowledge.of(space, {"said": text}))
    assert np.array_equal(label(written, Worlds(space, rows), head="said"), expected)


@pytest.mark.parametrize(
    "text",
    [
        "(n, dog2.hue) in ((3, 'red'),)", "dog2.hue in ('red',)", "(dog1.age, n) in (('absent', 3), (1, 5), (2, 4))",
        "(dog2.tail, n, box2.hue) in ((True, 3, 'absent'), (False, 5, 'red'))", "dog1.age == 'absent'", "dog1.age != 'absent'",
        "dog1.age != n - 3", "box2.size == dog1.age", "all_equal(dog1.age, box2.size)", "box2.hue != dog1.hue", "dog1.age != dog2.age",
        "(n if dog1.age == 2 else dog1.age) == 'absent'", "xor(dog2.tail, n == 3)", "not (n == 5 or dog2.hue == 'blue')", "iff(dog2.tail, n != 4)",
    ],
)  # fmt: skip
def test_what_may_be_absent_is_compared_as_formulas_compare_it(text):
    agree(text, SPACE, CODES)


@pytest.mark.parametrize(
    "text",
    [
        "lamp1.lit == lamp2.lit", "lamp1.lit != lamp2.lit", "lamp1.lit == 'absent'", "lamp1.lit == (n == 3)", "lamp1.lit in (False, 'absent')",
        "(lamp1.lit, n) in (('absent', 3), (False, 1))", "any(x.lit and x.watts > 5 for x in lamps)", "all(not x.lit for x in lamps)",
        "count(x.lit for x in lamps) == 1", "any(a.lit == b.lit and a.watts < b.watts for a, b in pairs(lamps))",
        "(lamp1.watts if lamp2.lit else n) == 5", "lamp1.watts == max(lamp2.watts, n)", "lamp2.lit and not lamp1.lit",
    ],
)  # fmt: skip
def test_truth_values_that_may_be_absent_are_neither_true_nor_false(text):
    agree(text, LAMPS, ALL)


def test_rules_about_objects_are_these_clauses():
    def written(text):
        return rules_text(Knowledge.of(LAMPS, {"said": text}))

    assert written("any(x.watts == 5 and x.watts < y.watts for x, y in pairs(lamps))") == (
        "said(W) :- has_lamp(W,A),has_lamp(W,B),lamp_num(A,C),lamp_num(B,D),C < D,watts(A,5),watts(A,E),watts(B,F),E < F.\n"
    )
    assert written("lamp1.watts == n") == (
        "said(W) :- (has_lamp(W,A),lamp_num(A,1),watts(A,B) -> true ; B = -2147483648),n(W,C),B =:= C.\n"
    )
    assert written("lamp2.watts - n >= 2") == (
        "said(W) :- has_lamp(W,A),lamp_num(A,2),watts(A,B),n(W,C),B + -(C) >= 2.\n"
    )
    assert written("all(x.lit for x in lamps) or count(x.watts == n for x in lamps) == 1") == (
        "said(W) :- forall(has_lamp(W,A),lit(A,true)).\n"
        "said(W) :- aggregate_all(count,(has_lamp(W,A),once((watts(A,B),n(W,C),B =:= C))),D),D =:= 1.\n"
    )


def test_kinds_of_formulas_and_concepts_of_bound_objects():
    writer = GoalWriter(Vocabulary(SPACE))
    writer.bound = {"d": (Variable(), "dogs")}
    kinds = {
        "n": "int", "dog2.tail": "bool", "box1.hue": "symbol", "d.number": "int", "d.tail": "bool", "d.age": "int", "'red'": "symbol",
        "'red' if dog2.tail else 3": "symbol", "(n == 3) if dog2.tail else 3": "int", "n if dog2.tail else 3": "int",
        "dog2.tail if n == 3 else n > 4": "bool", "n + 1": "int", "-n": "int", "2 * n": "int", "n // 2": "int", "max(n, 2)": "int",
        "count(b.size == 1 for b in boxes)": "int", "any(b.size == 1 for b in boxes)": "bool", "n > 3": "bool", "not dog2.tail": "bool",
    }  # fmt: skip
    assert {text: writer.kind(parse(text)) for text in kinds} == kinds
    assert writer.kind(f.Count((parse("dog2.tail"), parse("n == 3")))) == "int"
    names = {"d.tail": "dog2.tail", "d.age": "dog1.age", "box2.size": "box2.size"}
    assert {text: writer.concept(f.Var(text)).name for text in names} == names
    assert writer.concept(f.Var("d.number")) is None


def test_constants_are_goals_and_numbers_are_none():
    writer = GoalWriter(Vocabulary(SPACE))
    assert (writer.goal(f.Const(True)), writer.goal(f.Const(False))) == ("true", "fail")
    with pytest.raises(FormulaError, match="n \\+ 1 is not true or false, so it is no goal"):
        writer.goal(parse("n + 1"))


def test_names_of_one_group_may_be_taken_by_another():
    def relations(*names):
        slots = tuple(Slot(f"{name}{n}", name, ("x",)) for name in names for n in (1, 2))
        return [
            r.name
            for r in Vocabulary(ConceptSpace(tuple(Concept(s.concept("x"), (0, 1)) for s in slots), slots)).relations
        ]

    assert relations("has_a", "a_num")[:4] == ["has_has_a", "has_a_num", "has_a_num_", "a_num_num"]
    assert relations("a_num", "has_a")[:4] == ["has_a_num", "a_num_num", "has_has_a", "has_a_num_"]
    assert relations("a_num", "b", "has_a")[:6] == [
        "has_a_num",
        "a_num_num",
        "has_b",
        "b_num",
        "has_has_a",
        "has_a_num_",
    ]
    assert [plain_name(text) for text in ("redOne", "RedOne", "RED", "a.B-c")] == ["redOne", "redOne", "rED", "a_B_c"]


def test_labels_are_facts_by_their_values_whatever_their_order():
    space = digits(["a"], (0, 1))
    known = Knowledge(space, (Label("one", parse("a == 1"), (True, False)), Label("twice", parse("2 * a"), (2, 0))))
    codes = np.array([[0, 0], [1, 1], [-1, -1], [0, 1]])
    assert labels_text(known, codes, first=2) == (
        "one(w2).\none(w5).\ntwice(w2,2).\ntwice(w3,0).\ntwice(w4,absent).\ntwice(w5,0).\n"
    )


def test_objects_get_so_many_names_and_clauses_go_so_deep():
    words = Vocabulary(digits(["a", "c"], (0, 1)))
    letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in "ac"]
    numbered = [f"{letter}_1" for letter in "abcdefghijklmnop"]
    assert Lifter(read_program("p(W)."), words).names == [*letters, *numbered] and DEEPEST == 40

    def lifted(steps):
        clauses = [f"q{n}(W) :- q{n + 1}(W)." for n in range(steps)]
        program = read_program(f"{' '.join(clauses)} q{steps}(W) :- a(W, 1).")
        return Lifter(program.complete(words.keys), words).holds(("q0", "w"))

    assert lifted(39) == parse("a == 1")
    with pytest.raises(NoSymbols, match="is not flat: it recurses"):
        lifted(40)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (f"p(W) :- {'true, ' * 200}a(W, 1).", "a == 1"),
        ("p(W) :- a(W, X), ( X = 1, X = 2 ; b(W, X), X > 1 ).", "a == b and a > 1"),
        ("p(W) :- a(W, X), X > 1, X > 1, b(W, 2). p(W) :- b(W, 2), a(W, X), X > 1, X < 3.", "a > 1 and b == 2"),
        ("p(W) :- a(W, X), b(W, Y), sum_list([X, 1, Y], 4).", "a + 1 + b == 4"),
        ("p(W) :- a(W, X), aggregate_all(count, member(X, [1, 2, 7]), N), N > 0.", "count(a == 1, a == 2) > 0"),
    ],
)  # fmt: skip
def test_paths_are_written_without_what_is_known(text, formula):
    space = digits(["a", "b"], (0, 1, 2, 3))
    found = unfold(read_program(text), "p", space)
    rows = space.all_codes()
    assert np.array_equal(evaluate(found, space, rows), label(text, Worlds(space, rows), head="p"))
    assert str(found) == formula
