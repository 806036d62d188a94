"""A rule that is a program labels worlds wherever a formula does; what needs symbols says that it cannot."""

import pickle

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Knowledge, Split, digits, evaluate, latex, parse
from assay.base import FormulaError, KnowledgeError, NoSymbols, TooLarge
from assay.logic import ABSENT, Oracle
from assay.prolog import PrologError, Worlds, label, oracle, rule_of, rules_text
from assay.worlds import ProgramSource

from .trains import ASKED, HEAD, LISTS, ON_LISTS, SPACE, TEMPLATE, drawn

SMALL = digits(["a", "b"])


BIG = "big(W) :- a(W, X), b(W, Y), X + Y > 8, \\+ X = Y."


CODES = drawn(200)


def trains(name="call"):
    return Knowledge.of(SPACE, {"east": oracle(ON_LISTS + {**ASKED, **LISTS}[name], SPACE, HEAD, TEMPLATE)})


def test_a_program_is_a_formula_with_a_text():
    rule = oracle(BIG, SMALL)
    assert rule == parse(str(rule)) == pickle.loads(pickle.dumps(rule))
    assert latex(rule).startswith(r"\mathrm{prolog: big}")
    knowledge = Knowledge.of(SMALL, {"y": rule})
    assert Knowledge.from_dict(knowledge.to_dict()) == knowledge


def test_a_program_may_be_told_of_some_concepts_only():
    rule = parse("prolog('odd(W) :- b(W, X), 1 is X mod 2.', 'odd', '', b)")
    assert evaluate(rule, SMALL, np.array([[0, 3], [1, 2]])).tolist() == [True, False]


def test_where_worlds_are_few_everything_can_read_it():
    knowledge = Knowledge.of(SMALL, {"y": oracle(BIG, SMALL)})
    plain = Knowledge.of(SMALL, {"y": "a + b > 8 and a != b"})
    assert knowledge.symbolic and knowledge.diagram.counts == plain.diagram.counts
    codes = SMALL.all_codes()
    assert np.array_equal(knowledge.boundaries[0].near(codes), plain.boundaries[0].near(codes))


def test_where_they_are_many_it_labels_and_says_what_it_cannot():
    knowledge = trains()
    found = label(ON_LISTS + ASKED["call"], Worlds(SPACE, CODES, TEMPLATE), head=HEAD)
    assert knowledge.labels_of(CODES)[:, 0].tolist() == found.tolist() and not knowledge.symbolic
    with pytest.raises(NoSymbols) as caught:
        knowledge.diagram
    assert str(caught.value).startswith(
        "the rule 'eastbound' is a Prolog program: it labels worlds, but this needs a formula"
    )
    assert issubclass(NoSymbols, TooLarge)


def test_changes_of_one_concept_are_asked_again():
    program, plain = trains("cut"), Knowledge.of(SPACE, {"east": "car1.colour == 'red'"})
    formula = Knowledge.of(SPACE, {"east": rule_of(ON_LISTS + LISTS["cut"], SPACE, HEAD, TEMPLATE, packed=True)})
    assert np.array_equal(program.boundaries[0].flips(CODES[:20]), formula.boundaries[0].flips(CODES[:20]))
    assert not np.array_equal(program.boundaries[0].flips(CODES[:20]), plain.boundaries[0].flips(CODES[:20]))


def test_a_slot_that_is_half_there_is_never_asked_about():
    codes = CODES[:5].copy()
    column = SPACE.place("car4.axles")
    codes[:, column] = SPACE.concept("car4.axles").code(ABSENT)
    codes[:, SPACE.place("car4.colour")] = 0
    rule = oracle("eastbound(T) :- forall(member(c(_, _, _, _, W, _), T), W >= 2).", SPACE, HEAD, TEMPLATE)
    assert not evaluate(rule, SPACE, codes).any()


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("prolog('p(', 'p', '', a)", PrologError, "p line 1 column 2: the text ends too early"),
        ("prolog('p(W) :- c(W, 1).', 'p', '', a)", PrologError, "no predicate c/2"),
        ("prolog('p(W).', 'q', '', a)", PrologError, "q defines no q/1"),
        ("prolog('p(W).', 'p', '')", FormulaError, "must be given names of concepts"),
        ("prolog('p(W).', 'p', '', a, a)", FormulaError, "each once"),
        ("prolog('p(W).', 'p', '', c)", FormulaError, "no concept named 'c'"),
        ("prolog('p(W).', 'p', '', a + b)", FormulaError, "names of concepts"),
        ("prolog('p(W).', 'p', 3, a)", FormulaError, "takes the texts"),
    ],
)
def test_a_program_that_does_not_fit_is_refused(text, error, why):
    with pytest.raises(error, match=why):
        Knowledge.of(SMALL, {"y": parse(text)})


def test_worlds_are_dealt_evenly_over_labels_by_asking():
    knowledge = trains()
    source = ProgramSource(knowledge, Split("train", 100), 0, "trains")
    codes = source.codes(np.arange(100))
    assert knowledge.labels_of(codes)[:, 0].sum() == 50
    assert np.array_equal(source.codes(np.arange(40, 50)), codes[40:50])
    assert source.contains(codes).all() and evaluate(knowledge.possible, SPACE, codes).all()
    assert len(np.unique(codes, axis=0)) == 100 and source.total > 10**9


def test_shares_of_asked_worlds_are_disjoint():
    knowledge = trains()
    inside = ProgramSource(knowledge, Split("train", 50, share=(0.0, 0.5)), 0, "trains")
    outside = ProgramSource(knowledge, Split("ood", 50, share=(0.5, 1.0)), 0, "trains")
    assert not outside.contains(inside.codes(np.arange(50))).any()
    assert outside.contains(outside.codes(np.arange(50))).all()


def test_a_program_that_never_changes_its_mind_is_refused():
    rule = oracle("eastbound(T) :- msort(T, _).", SPACE, HEAD, TEMPLATE)
    assert isinstance(rule, Oracle)
    with pytest.raises(KnowledgeError, match="label 'east' is True in all of 4,000 worlds"):
        ProgramSource(Knowledge.of(SPACE, {"east": rule}), Split("train", 10), 0, "trains")


def test_concepts_may_be_told_in_another_order():
    space = digits(["a", "b"], (3, 1, 2))
    rule = parse("prolog('p(W) :- a(W, X), b(W, Y), X > Y.', 'p', '', b, a)")
    codes = space.all_codes()
    assert evaluate(rule, space, codes).tolist() == [a > b for a in (3, 1, 2) for b in (3, 1, 2)]


def test_a_program_is_tried_when_it_becomes_a_rule():
    space = digits(["a", "b"], (0, 1))
    for text, why in (
        ("p(W) :- z(W, 1).", "no predicate z/2"),
        ("p(", "^mine.pl line 1 column 2"),
        ("p(W) :- 3.", "3 is no goal"),
    ):
        for make in (oracle, rule_of):
            with pytest.raises(PrologError, match=why):
                make(text, space, name="mine.pl")
    with pytest.raises(PrologError, match="defines no q/1"):
        oracle("p(W) :- a(W, 1).", space, head="q")
    two = "p(W) :- a(W, 1). q(W) :- b(W, 1)."
    assert [oracle(two, space, head).head for head in (None, "p", "q")] == ["q", "p", "q"]
    assert [str(rule_of(two, space, head)) for head in (None, "p", "q")] == ["b == 1", "a == 1", "b == 1"]


def test_a_rule_that_is_a_program_is_not_written_as_clauses():
    space = digits(["a"], (0, 1))
    known = Knowledge.of(space, {"y": oracle("p(W) :- a(W, 1).", space), "z": "a == 0"})
    with pytest.raises(FormulaError, match="label 'y' is a Prolog program already; its text is in the knowledge"):
        rules_text(known)


def test_concepts_may_have_many_values():
    space = ConceptSpace((Concept("n", tuple(range(300))), Concept("m", tuple(range(299, -1, -1)))))
    rule = oracle("p(W) :- n(W, X), m(W, Y), X > 140, Y < 40, X + Y =\\= 250.", space)
    codes = np.array([[150, 290], [150, 200], [140, 290], [299, 299], [241, 290], [255, 261]])
    expected = [n > 140 and 299 - m < 40 and n + 299 - m != 250 for n, m in codes.tolist()]
    assert evaluate(rule, space, codes).tolist() == expected == [True, False, False, True, False, True]
