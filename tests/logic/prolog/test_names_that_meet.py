"""Names of slots with dots, names that are taken twice over, and concepts of no slot that may be absent."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits
from assay.logic import Knowledge, Var, evaluate
from assay.prolog import Vocabulary, Worlds, facts_text, formula_of, label, label_names, read_program, rules_text
from assay.prolog.templates import WorldTemplate
from assay.prolog.unfold import unfold

SPACE = ConceptSpace(
    (Concept("a.b2.hue", ("red", "blue")), Concept("mood", ("good", ABSENT, "bad")), Concept("a.b1.hue", ("blue", "red"))),
    (Slot("a.b1", "bs", ("hue",)), Slot("a.b2", "bs", ("hue",))),
)  # fmt: skip
CODES = SPACE.encode(
    [{"a.b1.hue": "red", "a.b2.hue": "blue", "mood": ABSENT}, {"a.b1.hue": "blue", "a.b2.hue": "red", "mood": "bad"}]
)


def test_objects_of_slots_with_dots_have_plain_names():
    words = Vocabulary(SPACE)
    assert [(relation.name, relation.values) for relation in words.relations] == [
        ("has_a_b", ()), ("a_b_num", ()), ("before", ()), ("hue", ("blue", "red")), ("mood", ("good", "bad")),
    ]  # fmt: skip
    assert facts_text(words, CODES).splitlines() == [
        "has_a_b(w0,w0_a_b1).", "has_a_b(w0,w0_a_b2).", "has_a_b(w1,w1_a_b1).", "has_a_b(w1,w1_a_b2).",
        "a_b_num(w0_a_b1,1).", "a_b_num(w0_a_b2,2).", "a_b_num(w1_a_b1,1).", "a_b_num(w1_a_b2,2).",
        "before(w0_a_b1,w0_a_b2).", "before(w1_a_b1,w1_a_b2).",
        "hue(w0_a_b2,blue).", "hue(w0_a_b1,red).", "hue(w1_a_b2,red).", "hue(w1_a_b1,blue).",
        "mood(w0,absent).", "mood(w1,bad).",  # of no slot: it is there, and says so
    ]  # fmt: skip
    known = Knowledge.of(SPACE, {"said": Var("a.b1.hue").eq("red")})
    assert rules_text(known) == "said(W) :- has_a_b(W,A),a_b_num(A,1),hue(A,red).\n"
    (term, _) = WorldTemplate(SPACE, "w({mood}, {each(bs, b({place}, {hue}))}, {'a.b2.hue'})").terms(CODES)
    assert term == ("w", "absent", (".", ("b", 1, "red"), (".", ("b", 2, "blue"), "[]")), "blue")


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
    assert evaluate(unfold(program, "p", SPACE), SPACE, CODES).tolist() == expected
    assert evaluate(formula_of(program, SPACE, "p"), SPACE, CODES).tolist() == expected


def test_a_concept_of_no_slot_that_is_absent_is_a_fact():
    assert label("p(W) :- mood(W, absent).", Worlds(SPACE, CODES)).tolist() == [True, False]
    assert label("p(W) :- \\+ mood(W, good), \\+ mood(W, bad).", Worlds(SPACE, CODES)).tolist() == [True, False]


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
