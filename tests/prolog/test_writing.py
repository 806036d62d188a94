"""Worlds, labels and rules as Prolog: which facts and clauses, under which names, and worlds as terms of a template."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from assay import TASKS, Concept, ConceptSpace, Constraint, Knowledge, Slot, bits, digits, evaluate, parse
from assay.logic import ABSENT, Var
from assay.prolog import (
    PrologError,
    Vocabulary,
    Worlds,
    facts_text,
    formula_of,
    label,
    label_names,
    labels_text,
    read_program,
    rules_text,
    value_text,
    with_predefined,
)

from .trains import SPACE as TRAINS
from .trains import drawn

SPACE = ConceptSpace(
    (Concept("a.b2.hue", ("red", "blue")), Concept("mood", ("good", ABSENT, "bad")), Concept("a.b1.hue", ("blue", "red"))),
    (Slot("a.b1", "bs", ("hue",)), Slot("a.b2", "bs", ("hue",))),
)  # fmt: skip


CODES = SPACE.encode(
    [{"a.b1.hue": "red", "a.b2.hue": "blue", "mood": ABSENT}, {"a.b1.hue": "blue", "a.b2.hue": "red", "mood": "bad"}]
)


def test_objects_of_slots_with_dots_have_plain_names():
    assert facts_text(Vocabulary(SPACE), CODES).splitlines() == [
        "has_a_b(w0,w0_a_b1).", "has_a_b(w0,w0_a_b2).", "has_a_b(w1,w1_a_b1).", "has_a_b(w1,w1_a_b2).",
        "a_b_num(w0_a_b1,1).", "a_b_num(w0_a_b2,2).", "a_b_num(w1_a_b1,1).", "a_b_num(w1_a_b2,2).",
        "before(w0_a_b1,w0_a_b2).", "before(w1_a_b1,w1_a_b2).",
        "hue(w0_a_b2,blue).", "hue(w0_a_b1,red).", "hue(w1_a_b2,red).", "hue(w1_a_b1,blue).",
        "mood(w0,absent).", "mood(w1,bad).",  # of no slot: it is there, and says so
    ]  # fmt: skip
    known = Knowledge.of(SPACE, {"said": "x == 'red'"}, definitions={"x": Var("a.b1.hue")})
    assert rules_text(known) == "said(W) :- has_a_b(W,A),a_b_num(A,1),hue(A,red).\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(W) :- hue(B, red), a_b_num(B, 1).", [True, False]), ("p(W) :- before(A, B), hue(B, red).", [False, True]),
        ("p(W) :- hue(a_b2, red).", [False, True]), ("p(W) :- has_a_b(W, B), hue(B, blue), mood(W, bad).", [False, True]),
    ],
)  # fmt: skip
def test_programs_about_slots_with_dots(text, expected):
    program = read_program(text)
    assert label(program, Worlds(SPACE, CODES), head="p").tolist() == expected
    assert evaluate(formula_of(program, SPACE, "p"), SPACE, CODES).tolist() == expected


def test_names_that_are_taken_are_made_longer_more_than_once():
    attributes = ("car_length", "length", "before", "has_car")
    slots = tuple(Slot(f"car{number}", "cars", attributes) for number in (1, 2))
    concepts = (*(Concept(name, (0, 1)) for slot in slots for name in slot.concepts), Concept("car_num", (0, 1)))
    words = Vocabulary(ConceptSpace((*concepts, Concept("concept_car_num", (0, 1)), Concept("append", (0, 1))), slots))
    assert [(relation.name, relation.attribute) for relation in words.relations] == [
        ("has_car", ""), ("car_num", ""), ("before", ""), ("car_length", "car_length"), ("car_car_length", "length"),
        ("car_before", "before"), ("car_has_car", "has_car"), ("concept_car_num", "car_num"),
        ("concept_concept_car_num", "concept_car_num"), ("concept_append", "append"),
    ]  # fmt: skip
    assert words.keys == tuple((relation.name, 2) for relation in words.relations)
    rows = dict(zip(words.keys, next(words.facts(np.array([[1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1]]))), strict=True))
    assert rows["car_car_length", 2] == [("car1", 0), ("car2", 0)] and rows["car_before", 2] == [
        ("car1", 1),
        ("car2", 1),
    ]
    assert rows["before", 2] == [("car1", "car2")] and rows["concept_car_num", 2] == [("w", 1)]
    assert rows["concept_concept_car_num", 2] == [("w", 0)] and rows["concept_append", 2] == [("w", 1)]


def test_labels_give_way_until_their_name_is_free():
    names = ("label_member", "member", "Violates", "violates", "reverse", "a", "maplist")
    known = Knowledge.of(bits(["a", "b"]), dict.fromkeys(names, "a != b"))
    assert label_names(known) == {
        "label_member": "label_member", "member": "label_label_member", "Violates": "label_violates",
        "violates": "label_label_violates", "reverse": "label_reverse", "a": "label_a", "maplist": "label_maplist",
    }  # fmt: skip


def test_an_attribute_called_as_its_kind_of_object_is_a_value():
    space = ConceptSpace(
        (Concept("digit1.digit", (3, 4)), Concept("digit2.digit", (3, 4)), Concept("digit", ("x", "y"))),
        (Slot("digit1", "digits", ("digit",)), Slot("digit2", "digits", ("digit",))),
    )
    assert facts_text(Vocabulary(space), np.array([[0, 1, 1]]), first=5).splitlines() == [
        "has_digit(w5,w5_digit1).", "has_digit(w5,w5_digit2).", "digit_num(w5_digit1,1).", "digit_num(w5_digit2,2).",
        "before(w5_digit1,w5_digit2).", "digit(w5_digit1,3).", "digit(w5_digit2,4).", "concept_digit(w5,y).",
    ]  # fmt: skip


COLOURS = ("red", "Dark blue")


def space_of(*slots, plain=()):
    """A space of slots with a colour and a size, of which those that end in a question mark may be absent."""
    made, concepts = [], list(plain)
    for name, group in slots:
        gone = (ABSENT,) if name.endswith("?") else ()
        slot = Slot(name.rstrip("?"), group, ("colour", "size"))
        concepts += [Concept(slot.concept("colour"), (*COLOURS, *gone)), Concept(slot.concept("size"), (1, 2, *gone))]
        made.append(slot)
    return ConceptSpace(tuple(concepts), tuple(made))


BOXES = space_of(("box1", "boxes"), ("box2?", "boxes"), plain=(Concept("n", (3, 5)), Concept("wet", (False, True))))


def test_worlds_are_these_facts():
    codes = BOXES.encode([
        {"n": 5, "wet": True, "box1.colour": "Dark blue", "box1.size": 1, "box2.colour": "red", "box2.size": 2},
        {"n": 3, "wet": False, "box1.colour": "red", "box1.size": 2, "box2.colour": ABSENT, "box2.size": ABSENT},
    ])  # fmt: skip
    assert facts_text(Vocabulary(BOXES), codes, first=7) == (
        "has_box(w7,w7_box1).\nhas_box(w7,w7_box2).\nhas_box(w8,w8_box1).\n"
        "box_num(w7_box1,1).\nbox_num(w7_box2,2).\nbox_num(w8_box1,1).\nbefore(w7_box1,w7_box2).\n"
        "colour(w7_box1,'Dark blue').\ncolour(w7_box2,red).\ncolour(w8_box1,red).\n"
        "size(w7_box1,1).\nsize(w7_box2,2).\nsize(w8_box1,2).\nn(w7,5).\nn(w8,3).\nwet(w7,true).\nwet(w8,false).\n"
    )


def test_labels_and_constraints_are_these_clauses():
    known = Knowledge.of(
        BOXES, {"sum": "n + 1", "n2": "n == 5 or wet", "member": "wet"}, [Constraint("Not wet", parse("not wet"), ())]
    )
    assert label_names(known) == {"sum": "sum", "n2": "n2", "member": "label_member"}
    assert rules_text(known) == (
        "sum(W,A) :- n(W,B),A is B + 1.\nn2(W) :- n(W,5).\nn2(W) :- wet(W,true).\nlabel_member(W) :- wet(W,true).\n"
        "violates(W,not_wet) :- \\+ \\+ wet(W,true).\n"
    )
    assert (
        labels_text(known, np.array([[0, 1, 0], [1, 0, 1]]), first=3)
        == "sum(w3,4).\nsum(w4,6).\nn2(w3).\nlabel_member(w4).\n"
    )


def test_labels_that_are_not_known_are_no_facts():
    known = Knowledge.of(
        digits(["a"], (0, 1)), {"twice": "2 * a", "one": "a == 1", "hue": "'red' if a == 1 else 'Blue'"}
    )
    assert [label.values for label in known.labels] == [(0, 2), (False, True), ("red", "Blue")]
    assert labels_text(known, np.array([[1, 1, 0], [-1, -1, -1], [0, 0, 1]]), first=8) == (
        "twice(w8,2).\ntwice(w9,absent).\ntwice(w10,0).\none(w8).\nhue(w8,red).\nhue(w9,absent).\nhue(w10,'Blue').\n"
    )


LAMPS = ConceptSpace(
    (
        Concept("lamp1.lit", (True, ABSENT, False)), Concept("lamp1.watts", (40, 5, ABSENT)), Concept("n", (3, 1, 2)),
        Concept("lamp2.watts", (5, 40)), Concept("lamp2.lit", (False, True)),
    ),
    (Slot("lamp1", "lamps", ("lit", "watts")), Slot("lamp2", "lamps", ("lit", "watts"))),
)  # fmt: skip


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


def rows_of(task):
    split = task.splits()[0]
    return task.source_for(split, 0).codes(np.arange(min(12, split.size)))


@pytest.mark.parametrize("name", ["trains", "kand-logic", "mnadd", "sudoku-mini", "robots", "clevr"])
def test_the_knowledge_of_a_task_labels_its_worlds_in_prolog(name):
    knowledge = TASKS[name]().knowledge
    codes, text, names = rows_of(TASKS[name]()), rules_text(knowledge), label_names(knowledge)
    true = knowledge.labels_of(codes)
    for place, one in enumerate(knowledge.labels):
        for code, value in enumerate(one.values[:20]):
            if one.kind != "bool" or value is True:
                said = f"{names[one.name]}(W)" if one.kind == "bool" else f"{names[one.name]}(W,{value_text(value)})"
                found = label(f"{text}yes(W) :- {said}.", Worlds(knowledge.space, codes), head="yes")
                assert found.tolist() == (true[:, place] == code).tolist()


def test_constraints_say_which_worlds_break_them():
    space = digits(["a", "b"], (0, 1, 2))
    limits = (Constraint("different", parse("a != b")), Constraint("small", parse("a + b < 3")))
    knowledge = Knowledge.of(space, {"more": "a > b"}, limits)
    codes = space.all_codes()
    text = rules_text(knowledge)
    for place, limit in enumerate(limits):
        found = label(f"{text}yes(W) :- violates(W,{limit.name}).", Worlds(space, codes), head="yes")
        assert found.tolist() == knowledge.violations(codes)[:, place].tolist()


def test_facts_name_what_is_there_and_nothing_else():
    codes = drawn(40)
    text = facts_text(Vocabulary(TRAINS), codes, first=5)
    assert re.search(r"^has_car\(w5,w5_car1\)\.$", text, re.M) and "absent" not in text
    cars = [sum(TRAINS.decode(row)[f"car{n}.colour"] != "absent" for n in range(1, 5)) for row in codes]
    assert text.count("has_car(") == sum(cars) == text.count("colour(") == text.count("car_length(")
    assert text.count("before(") == sum(n * (n - 1) // 2 for n in cars)
    assert not re.search(r"^length\(", text, re.M)  # a name that Prolog has already
    read_program(text)


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
def test_swi_prolog_loads_worlds_and_rules_without_a_word(tmp_path):
    knowledge = Knowledge.of(TRAINS, {"east": "any(c.colour == 'red' and c.loads > c.number for c in cars)"})
    codes = drawn(50)
    (tmp_path / "all.pl").write_text(facts_text(Vocabulary(TRAINS), codes) + rules_text(knowledge))
    goal = "forall(east(W), (write(W), nl))"
    command = ["swipl", "-q", "-f", "none", "-s", str(tmp_path / "all.pl"), "-g", goal, "-t", "halt"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stderr == ""
    expected = {f"w{number}" for number in np.flatnonzero(knowledge.labels_of(codes)[:, 0])}
    assert set(found.stdout.split()) == expected and expected


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("f(X)", "a variable has no value"), ("f({nn})", "no concept or attribute 'nn'; did you mean 'n'"),
        ("{each(bxes, {size})}", "no group of slots bxes; did you mean 'boxes'"), ("{3}", "names no concept, attribute or group"),
        ("{n: [3, 5]}", "other names are written [value-name, ...]"), ("{each(boxes, {weight})}", "no concept or attribute 'weight'"),
        ("{each(boxes, {each(boxes, {size})})}", "names no concept"), ("{each(boxes)}", "names no concept"),
    ],
)  # fmt: skip
def test_templates_that_cannot_be(template, message):
    with pytest.raises(PrologError) as caught:
        label("p(_).", Worlds(BOXES, np.zeros((1, 6), dtype=int), template))
    assert message in str(caught.value)


def test_templates_write_worlds():
    codes = BOXES.encode(
        [{"n": 5, "wet": True, "box1.colour": "Dark blue", "box1.size": 1, "box2.colour": ABSENT, "box2.size": ABSENT}]
    )
    template = "w({n: [5-five]}, {wet}, {each(boxes, b({place}, {colour: [red-r]}, {size}))}, fixed)"
    assert label("p(w(five, true, [b(1, 'Dark blue', 1)], fixed)).", Worlds(BOXES, codes, template)).tolist() == [True]


def test_predefined_predicates_come_once_and_before_those_of_the_library():
    shelf = "last(X, Y) :- own(X, Y). own(1, 2). q(X) :- own(X, _)."
    assert with_predefined("p(X) :- last(X, 2), q(X), last(X, X).", shelf).splitlines()[2:] == [
        "last(X,Y) :- own(X,Y).", "q(X) :- own(X,A).", "own(1,2).",
    ]  # fmt: skip
    own = ":- dynamic q/1.\np(X) :- q(X)."
    assert with_predefined(own, shelf) == own
    assert with_predefined("p(X) :- last(X, 1). last(1, 1).", shelf) == "p(X) :- last(X, 1). last(1, 1)."
    with pytest.raises(PrologError, match="^mine line 1: no predicate qq/1 .*did you mean 'q/1'"):
        with_predefined("p(X) :- qq(X).", shelf, name="mine")


def test_predefined_predicates_are_added_where_they_are_needed_and_not_defined():
    shelf = "q(X) :- r(X), s(X). r(1). s(1). s(2). t(3)."
    first, blank, *added = with_predefined("p(X) :- q(X).", shelf).splitlines()
    assert (first, blank) == ("p(X) :- q(X).", "") and sorted(added) == [
        "q(X) :- r(X),s(X).",
        "r(1).",
        "s(1).",
        "s(2).",
    ]
    own = "p(X) :- q(X). q(7)."
    assert with_predefined(own, shelf) == own  # its own come first
    assert with_predefined("p(X) :- f(X).", shelf, known=[("f", 1)]) == "p(X) :- f(X)."
    assert with_predefined("p(X) :- member(X, [1]).", shelf) == "p(X) :- member(X, [1])."  # of the library
    with pytest.raises(PrologError, match="u/1"):
        with_predefined("p(X) :- u(X).", shelf)
