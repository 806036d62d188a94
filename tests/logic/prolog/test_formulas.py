"""Programs come back as formulas that say the same, of every kind of program that can."""

import numpy as np
import pytest

from assay.concepts import digits
from assay.errors import NoSymbols
from assay.logic import Const, Knowledge, Oracle, evaluate, parse
from assay.prolog import Bias, Worlds, formula_of, label, merge_pairs, read_program, rule_of, rules_text
from assay.prolog.ilp_files import definitions_text
from assay.prolog.unfold import unfold

from .trains import ASKED, FACTS, FLAT, HEAD, LISTS, ON_LISTS, SPACE, TEMPLATE, drawn

CODES = drawn(1500)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("packed", [True, False])
def test_a_program_on_lists_is_a_formula(name, packed):
    program = read_program(ON_LISTS + LISTS[name], name)
    found = unfold(program, HEAD, SPACE, TEMPLATE, packed)
    assert np.array_equal(evaluate(found, SPACE, CODES), label(program, Worlds(SPACE, CODES, TEMPLATE), head=HEAD))


@pytest.mark.parametrize(
    ("name", "text"), [*FLAT.items(), *((f"{name} on facts", text) for name, text in FACTS.items())]
)
def test_a_program_on_facts_is_a_formula(name, text):
    program = read_program(text, name)
    found = label(program, Worlds(SPACE, CODES), head=HEAD)
    assert np.array_equal(evaluate(formula_of(program, SPACE, HEAD), SPACE, CODES), found)
    assert np.array_equal(evaluate(unfold(program, HEAD, SPACE), SPACE, CODES), found)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (FLAT["theory_x"], "any(a.length == 'short' and a.roof != 'none' for a in cars) or any(a.load == 'golden_vase' and"
         " a.loads > 0 and b.load == 'barrel' and b.loads > 0 for a, b in pairs(cars))"),
        (FLAT["negation"], "any(a.colour == 'red' and not any(b.colour == 'blue' for b in cars) and a.roof != 'none' for a"
         " in cars) or any(a.number == 2 and a.loads >= a.axles - 1 for a in cars) or"
         " not any(a.length != 'short' for a in cars)"),
        (FACTS["count"], "count(a.colour == 'red' for a in cars) >= 2"),
        ("eastbound(T) :- has_car(T, C), colour(C, X), has_car(T, D), roof(D, R), X == blue, D \\= C.",
         "any(any(a.colour == 'blue' and b.number != a.number for b in cars) for a in cars)"),
        ("eastbound(T) :- colour(_, red).", "any(a.colour == 'red' for a in cars)"),
        ("eastbound(T) :- has_car(T, C), colour(C, pink).", "False"),
        ("eastbound(_).", "True"),
    ],
)  # fmt: skip
def test_flat_programs_come_back_with_quantifiers(text, formula):
    assert str(formula_of(text, SPACE, HEAD)) == formula


def test_learned_rules_with_the_literals_definitions_come_back():
    learned = "eastbound(A) :- has_car(A,B), colour_red(B), car_num_less_loads(B).\n"
    found = formula_of(definitions_text(Bias(SPACE)) + learned, SPACE, HEAD)
    assert found == parse("any(a.colour == 'red' and a.number < a.loads for a in cars)")


def test_a_rule_survives_the_way_there_and_back():
    rule = "any(c.colour == 'red' and c.roof != 'none' for c in cars) and not all(c.loads >= 1 for c in cars)"
    text = rules_text(Knowledge.of(SPACE, {"east": rule}))
    found = evaluate(formula_of(text, SPACE, "east"), SPACE, CODES)
    assert np.array_equal(found, evaluate(parse(rule), SPACE, CODES)) and 0 < found.sum() < len(CODES)


@pytest.mark.parametrize("name", ASKED)
def test_other_programs_are_asked(name):
    program = ON_LISTS + ASKED[name]
    with pytest.raises(NoSymbols):
        unfold(read_program(program), HEAD, SPACE, TEMPLATE, packed=True)
    rule = rule_of(program, SPACE, HEAD, TEMPLATE, packed=True)
    assert isinstance(rule, Oracle)
    found = label(program, Worlds(SPACE, CODES[:200], TEMPLATE), head=HEAD)
    assert np.array_equal(evaluate(rule, SPACE, CODES[:200]), found)


def test_rules_that_can_are_formulas():
    rule = rule_of(ON_LISTS + LISTS["theory_x"], SPACE, HEAD, TEMPLATE, packed=True)
    assert not isinstance(rule, Oracle)
    assert rule_of(FLAT["theory_x"], SPACE, HEAD) == formula_of(FLAT["theory_x"], SPACE, HEAD)


def test_a_program_that_recurses_for_ever_has_no_formula():
    with pytest.raises(NoSymbols, match="it may recurse for ever"):
        unfold(read_program("p(W) :- p(W)."), "p", digits(["a"]))
    assert formula_of("p(W) :- fail.", digits(["a"])) == Const(False)


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("any(any(a.number < b.number and a.x and b.x for b in cars) for a in cars)", "any(a.x and b.x for a, b in pairs(cars))"),
        ("any(a.y and any(a.number < b.number and b.x for b in cars) and a.z for a in cars)", "any(a.y and a.z and b.x for a, b in pairs(cars))"),
        ("not any(any(b.x and a.number < b.number for b in cars) for a in cars) or p", "not any(b.x for a, b in pairs(cars)) or p"),
        ("any(any(a.number < b.number for b in cars) for a in cars)", "any(True for a, b in pairs(cars))"),
        *((text, text) for text in (
            "any(any(b.number < a.number and b.x for b in cars) for a in cars)", "any(any(a.number <= b.number and b.x for b in cars) for a in cars)",
            "any(any(a.number < b.number and b.x for b in dogs) for a in cars)", "any(all(a.number < b.number and b.x for b in cars) for a in cars)",
            "all(any(a.number < b.number and b.x for b in cars) for a in cars)", "any(a.x for a in cars)", "any(any(b.x for b in cars) for a in cars)",
            "any(any(a.number < b.number and b.x for b in cars) and any(c.y for c in cars) for a in cars)",
            "any(any(a.number < c.number and c.x for c in cars) for a, b in pairs(cars))", "p and x > 3",
        )),
    ],
)  # fmt: skip
def test_nested_objects_are_pairs_where_one_comes_before_the_other(text, merged):
    assert merge_pairs(parse(text)) == parse(merged)
