"""Clauses that other learners wrote are read as ours: each object once, in any order, and nothing undeclared."""

import pytest

from assay.concepts import Concept, ConceptSpace, Slot
from assay.models.symbolic.ilp.clauses import canonical, program_formula
from assay.models.symbolic.ilp.external import read_clauses
from assay.prolog import Bias
from tests.models.symbolic.test_ilp import two_groups

SLOTS = tuple(Slot(f"car{n}", "cars", ("hue", "size")) for n in (1, 2, 3))
SPACE = ConceptSpace(
    tuple(c for slot in SLOTS for c in (Concept(slot.concept("hue"), ("red", "blue")), Concept(slot.concept("size"), (1, 2)))),
    SLOTS,
)  # fmt: skip
BIAS = Bias(SPACE)


def read(text):
    (clause,) = read_clauses([text], "east", BIAS)
    return clause


def test_an_object_that_is_introduced_twice_is_one():
    once = read("east(A) :- has_car(A,B), hue_red(B).")
    assert once.groups == ("cars",) and len(once.body) == 1
    assert read("east(A) :- has_car(A,B), has_car(A,B), hue_red(B).") == once
    assert read("east(A) :- hue_red(B), has_car(A,B).").groups == ("cars",)
    assert read("east(W) :- hue_red(X).").groups == ("cars",)  # an object that only literals name is there


def test_two_objects_are_two():
    clause = read("east(A) :- has_car(A,B), has_car(A,C), hue_red(B), hue_blue(C).")
    assert clause.groups == ("cars", "cars") and [placed.places for placed in clause.body] == [(0,), (1,)]
    assert read(clause.text("east", BIAS)) == clause


def test_clauses_say_what_their_formulas_say():
    clauses = [read("east(A) :- has_car(A,B), hue_red(B)."), read("east(A) :- has_car(A,X), hue_red(X).")]
    assert str(program_formula(clauses)) == str(program_formula(clauses[:1]))  # the same clause is one


@pytest.mark.parametrize("text", ["east(A) :- has_car(A,B), shiny(B).", "east(A) :- fast(A)."])
def test_what_the_bias_does_not_declare_is_left_out(text):
    assert read_clauses([text], "east", BIAS) == []


def test_names_of_objects_make_no_difference():
    cars = ("cars", "cars")
    assert canonical(cars, [(3, (0,), False), (5, (1,), False)]) == canonical(
        cars, [(5, (0,), False), (3, (1,), False)]
    )
    assert canonical(cars, [(3, (0, 1), True)]) == canonical(cars, [(3, (1, 0), True)])
    assert canonical(("cars", "dogs"), [(3, (0,), False)]) != canonical(("cars", "dogs"), [(3, (1,), False)])


def test_objects_have_the_groups_of_their_places_and_worlds_are_none():
    bias = Bias(two_groups())
    literal = next(one for one in bias.literals if len(set(one.groups)) == 2 and one.groups[0] == "cups")

    def told(body):
        return [
            (clause.groups, [(placed.literal.name, placed.places) for placed in clause.body])
            for clause in read_clauses([f"east(A) :- {body}."], "east", bias)
        ]

    name = literal.name
    assert told(f"{name}(X,Y)") == [(("cups", "hats"), [(name, (0, 1))])]
    assert told(f"has_hat(A,H), {name}(C,H), true") == [(("hats", "cups"), [(name, (1, 0))])]
    twice = [(("cups", "hats", "cups"), [(name, (0, 1)), (name, (2, 1)), ("warm_true", ())])]
    assert told(f"{name}(C,H), {name}(D,H), warm_true(A)") == twice
    assert told("warm_true(B)") == [] and told("warm_true(A), true") == [((), [("warm_true", ())])]
    several = read_clauses(["east(A) :- warm_true(A). east(B) :- day_2(B). west(B) :- day_1(B)."], "east", bias)
    assert [clause.body[0].literal.name for clause in several] == ["warm_true", "day_2"]


def test_objects_are_written_in_their_order_and_each_in_its_group():
    bias = Bias(two_groups())
    (clause,) = read_clauses(
        ["east(A) :- has_hat(A,H), has_cup(A,C), has_hat(A,I), colour_red(H), size_2(C), same_price(H,I)."],
        "east",
        bias,
    )
    assert clause.groups == ("hats", "cups", "hats")
    assert clause.text("east", bias) == (
        "east(W) :- has_hat(W,X1), has_cup(W,X2), has_hat(W,X3), colour_red(X1), size_2(X2), same_price(X1,X3)."
    )
    assert clause._tied() == [{0, 2}, {1}]
    text = str(clause.formula())
    assert text.index("hats") < text.index("cups") and "any(b.size == 2 for b in cups)" in text
