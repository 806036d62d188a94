"""Concepts keep their values apart, spaces keep their concepts in order, and what does not fit is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.base import AssayError, ConfigError, UnknownName, suggestion
from assay.logic import (
    ABSENT,
    ABSENT_NUMBER,
    Concept,
    ConceptSpace,
    EncoderGroup,
    Slot,
    Var,
    bits,
    digits,
    listing,
    parse,
)
from tests.logic.formulas import CASES, case

CAR = tuple(Concept(f"car{n}.{a}", v) for n in (1, 2) for a, v in [("hue", ("red", ABSENT)), ("axles", (2, 3, ABSENT))])
CARS = (Slot("car1", "cars", ("hue", "axles")), Slot("car2", "cars", ("hue", "axles")))


def refusal(kind, make, *arguments, **more):
    with pytest.raises(kind) as caught:
        make(*arguments, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "kind", "optional"),
    [
        ((False, True), "bool", False),
        ((0, 1), "int", False),
        ((-3, 7, ABSENT), "int", True),
        (("red", ABSENT), "symbol", True),
        ((ABSENT,), "symbol", False),
        ((True, ABSENT), "bool", True),
    ],
)
def test_kind_of_a_concept(values, kind, optional):
    concept = Concept("a", values)
    assert (concept.kind, concept.optional) == (kind, optional)
    assert [concept.code(value) for value in values] == list(range(len(values)))


def test_truth_values_may_be_written_as_0_and_1_but_numbers_not_as_truth_values():
    assert [Concept("a", (False, True)).code(value) for value in (0, 1)] == [0, 1]
    assert [Concept("a", (True, False, ABSENT)).code(value) for value in (0, 1, ABSENT)] == [1, 0, 2]
    assert refusal(UnknownName, Concept("a", (0, 1)).code, True) == "concept 'a' has no value True; it has: 0, 1"


@pytest.mark.parametrize(
    "name", ["", "1a", "a b", "a-b", "a.", "a..b", "class", "in", "car.is", "true", "__import__", "ﬁ"]
)
def test_names_that_no_formula_could_hold_are_refused(name):
    assert repr(name) in refusal(ConfigError, Concept, name, (0, 1))


@settings(deadline=None, derandomize=True)
@given(st.text(min_size=1, max_size=4))
def test_a_name_that_is_taken_can_be_read_in_a_formula(name):
    try:
        Concept(name, (0, 1))
    except ConfigError:
        return
    assert parse(str(Var(name))) == Var(name)


@pytest.mark.parametrize(
    "values",
    [(), (1, 1), (0, True), (1, "a"), ("a", "a"), (1.5,), (None,), (np.int64(1), np.int64(2)), (0, ABSENT_NUMBER)],
)
def test_values_that_do_not_fit_are_refused(values):
    assert "'a'" in refusal(ConfigError, Concept, "a", values)


@pytest.mark.parametrize(
    ("concepts", "slots", "encoders", "says"),
    [
        ((), (), (), "empty"),
        ((Concept("a", (0,)), Concept("a", (1,))), (), (), "twice: ['a']"),
        (CAR, (Slot("car1", "cars", ("hue", "axels")),), (), "did you mean 'car1.axles'?"),
        (CAR, (Slot("car1", "cars", ()),), (), "no attributes"),
        (
            (Concept("x.a", (0, ABSENT)), Concept("x.b", (0, 1))),
            (Slot("x", "g", ("a", "b")),),
            (),
            "may be absent or none",
        ),
        (CAR, (), (EncoderGroup("g", ("car1.hue", "car2.hue")),), "exactly once"),
        (CAR[:2], (), (EncoderGroup("g", ("car1.hue", "car1.axles")),), "different values"),
    ],
)
def test_spaces_that_do_not_fit_are_refused(concepts, slots, encoders, says):
    assert says in refusal(AssayError, ConceptSpace, concepts, slots, encoders)


def test_a_space_knows_its_names_places_groups_and_sizes():
    space = ConceptSpace(CAR, CARS)
    assert space.names == ("car1.hue", "car1.axles", "car2.hue", "car2.axles")
    assert [space.place(name) for name in space.names] == [0, 1, 2, 3] and len(space) == 4
    assert space.groups == {"cars": CARS} and space.sizes == (2, 3, 2, 3) and space.worlds == 36
    assert [group.concepts for group in space.encoders] == [(name,) for name in space.names]
    assert refusal(UnknownName, space.concept, "car1.huh") == "no concept named 'car1.huh'; did you mean 'car1.hue'?"


@pytest.mark.parametrize("place", range(0, CASES, 10))
def test_encode_inverts_decode_and_all_codes_are_all_worlds(place):
    space, codes = case(place).space, case(place).codes
    assert (space.encode([space.decode(row) for row in codes]) == codes).all()
    assert len({tuple(row) for row in codes.tolist()}) == space.worlds == len(codes)


def test_encoding_refuses_what_is_not_there():
    space = digits(["a", "b"])
    assert space.encode([]).shape == (0, 2)
    assert refusal(UnknownName, space.encode, [{"a": 1}]) == "a row without the concept 'b'; it has: a"
    assert "has no value 10; it has: 0, 1" in refusal(UnknownName, space.encode, [{"a": 1, "b": 10}])


def test_digits_share_one_encoder_and_bits_only_when_asked():
    assert digits(["a", "b"]).encoders == (EncoderGroup("digit", ("a", "b")),)
    assert len(bits(["a", "b"]).encoders) == 2 and len(bits(["a", "b"], shared=True).encoders) == 1
    assert bits([f"x{n}" for n in range(200)]).worlds == 2**200


def test_messages_list_a_few_of_many():
    assert listing(range(3)) == "0, 1, 2" and listing(range(20)).endswith("11, ... (20 in all)")
    assert suggestion("x", []) == "; there is none" and suggestion("zzz", ["a", "b"]) == "; there is: a, b"


@pytest.mark.parametrize(
    ("concept", "code"),
    [
        (Concept("a", (False, True)), 0),
        (Concept("a", (True, False)), 1),
        (Concept("a", (0, 1, 2)), -1),  # a digit 0 is a thing
        (Concept("a", (0, 1, 2), counts=True), 0),
        (Concept("a", ("red", ABSENT)), 1),
        (Concept("a", (1, 2, ABSENT)), 2),
        (Concept("a", ("red", "none")), -1),
        (Concept("a", ("red", "none"), nothing="none"), 1),
        (Concept("a", (False, True), nothing=True), 1),
    ],
)
def test_the_value_that_says_nothing_is_there(concept, code):
    assert concept.nothing_code == code


def test_slots_of_a_kind_have_the_same_attributes_with_the_same_values():
    values = {"x": (1, 2), "y": (1, 2), "z": (1, 2, 3), "w": (1, 2)}
    slots = [
        Slot("x", "one", ("size",)),
        Slot("y", "two", ("size",)),
        Slot("z", "one", ("size",)),
        Slot("w", "one", ("age",)),
    ]
    concepts = [Concept(slot.concepts[0], values[slot.name]) for slot in slots]
    space = ConceptSpace(tuple(concepts), tuple(slots))
    assert [[slot.name for slot in kind] for kind in space.kinds] == [["x", "y"], ["z"], ["w"]]
    assert {name: [slot.name for slot in own] for name, own in space.groups.items()} == {
        **{"one": ["x", "z", "w"], "two": ["y"]}
    }


def test_a_space_in_words():
    assert repr(bits(["a", "b"])) == "ConceptSpace(2 concepts: a, b)"


def test_what_is_not_known_is_left_out_when_decoding():
    assert digits(["a", "b"]).decode([-1, 3]) == {"b": 3} and digits(["a", "b"]).decode([0, -1]) == {"a": 0}


def test_counts_begin_at_0_and_nothing_is_one_of_the_values():
    with pytest.raises(ConfigError, match="counts things, so its values are 0, 1, 2"):
        Concept("n", (1, 2), counts=True)
    with pytest.raises(ConfigError, match="says nothing by 'none', which is none of its values"):
        Concept("a", ("red", "blue"), nothing="none")


@pytest.mark.parametrize("name", ["_x", "a._b", "x1", "été", "none", "True_"])
def test_names_that_look_odd_may_still_be_taken(name):
    assert Concept(name, (0, 1)).name == name


@pytest.mark.parametrize("name", ["false", "a.true", "a.false", "a.__b", "None", "car.a b", "car.1"])
def test_no_part_of_a_name_may_be_reserved(name):
    assert repr(name) in refusal(ConfigError, Concept, name, (0, 1))


def test_kinds_are_of_what_is_present_wherever_absent_stands():
    for values, kind in (((ABSENT, 2, 1), "int"), ((ABSENT, "a"), "symbol"), ((ABSENT, True), "bool"), ((1, 0), "int")):
        concept = Concept("a", values)
        assert concept.kind == kind and concept.present == tuple(value for value in values if value != ABSENT)
    for wrong in ((ABSENT, 1, "a"), (1, True, ABSENT), ("a", False)):
        assert "mixes kinds of values" in refusal(ConfigError, Concept, "a", wrong)
    assert Concept("a", (ABSENT,)).present == (ABSENT,)


def test_nothing_may_be_said_by_what_python_takes_for_false():
    assert Concept("a", (5, 0, 3), nothing=0).nothing_code == 1
    assert Concept("a", (True, False, ABSENT), nothing=False).nothing_code == 1
    assert (
        Concept("a", (True, ABSENT, False)).nothing_code == 1 and Concept("a", ("", "x"), nothing="").nothing_code == 0
    )
    for nothing in (False, True, 2, "0"):
        assert "which is none of its values" in refusal(ConfigError, Concept, "a", (0, 1), nothing=nothing)


@pytest.mark.parametrize("values", [(0, 2), (1, 0), (0, 1, 3), (0, 1, ABSENT), (False, True)])
def test_what_counts_goes_up_one_by_one(values):
    if values == (False, True):  # equal to 0 and 1 in Python
        assert Concept("n", values, counts=True).kind == "bool"
    else:
        assert "counts things" in refusal(ConfigError, Concept, "n", values, counts=True)


def test_encoders_hold_each_concept_once():
    concepts = (Concept("a", (0, 1)), Concept("b", (0, 1)), Concept("c", (0, 1)))
    for groups in ((("a", "b"), ("b", "c")), (("a", "a"), ("b", "c")), (("a", "b"),), (("a", "b", "c", "d"),)):
        encoders = tuple(EncoderGroup(str(number), names) for number, names in enumerate(groups))
        assert "exactly once" in refusal(ConfigError, ConceptSpace, concepts, (), encoders)
    encoders = (EncoderGroup("x", ("c", "a")), EncoderGroup("y", ("b",)))
    assert ConceptSpace(concepts, (), encoders).encoders == encoders
    other = (Concept("a", (0, 1)), Concept("b", (1, 0)))
    assert "different values" in refusal(ConfigError, ConceptSpace, other, (), (EncoderGroup("x", ("a", "b")),))


def test_all_worlds_come_in_order_however_many_values_there_are():
    mixed = ConceptSpace((Concept("a", (5, 3)), Concept("b", ("x", "y", "z")), Concept("c", (True,))))
    assert mixed.all_codes().tolist() == [[a, b, 0] for a in range(2) for b in range(3)]
    for many in (2**15 - 1, 2**15, 40_000):
        codes = digits(["n"], range(many)).all_codes()
        assert codes.shape == (many, 1) and (codes[:, 0] == np.arange(many)).all()
    assert digits(["n"], (7, 2, 4)).concepts[0].values == (7, 2, 4) and digits(["n"]).concepts[0].values == tuple(
        range(10)
    )
    assert [group.name for group in bits(["p", "q"], shared=True).encoders] == ["bit"]
    assert [(group.name, group.concepts) for group in bits(["p", "q"]).encoders] == [("p", ("p",)), ("q", ("q",))]


def test_a_space_of_many_concepts_is_told_in_part():
    told = repr(bits([f"concept{n}" for n in range(100)]))
    assert told.startswith("ConceptSpace(100 concepts: concept0, concept1, ") and told.endswith(" ...)")
    assert len(told) == len("ConceptSpace(100 concepts: )") + 160


def test_slots_that_are_partly_optional_are_refused_wherever_the_odd_one_is():
    concepts = tuple(Concept(f"s.{name}", (0, 1, ABSENT) if name != "c" else (0, 1)) for name in "abc")
    assert "may be absent or none" in refusal(ConfigError, ConceptSpace, concepts, (Slot("s", "g", ("a", "b", "c")),))
    assert ConceptSpace(concepts, (Slot("s", "g", ("a", "b")),)).slots[0].concepts == ("s.a", "s.b")
    thrice = (Concept("z", (0,)), Concept("a", (0,)), Concept("z", (1,)), Concept("a", (1,)), Concept("b", (1,)))
    assert "twice: ['a', 'z']" in refusal(ConfigError, ConceptSpace, thrice)


def test_names_are_suggested_from_afar_and_one_alone_is_listed():
    assert suggestion("colour", ["colours_of", "size"]) == "; did you mean 'colours_of'?"
    assert suggestion("x", ["abc"]) == "; there is: abc"


def test_slots_of_a_kind_come_in_the_order_of_the_space():
    slots = (
        Slot("z", "g", ("a", "b")),
        Slot("c", "h", ("a", "b")),
        Slot("b", "g", ("b", "a")),
        Slot("a", "g", ("a", "b")),
    )
    space = ConceptSpace(tuple(Concept(name, (0, 1)) for slot in slots for name in slot.concepts), slots)
    assert [[slot.name for slot in kind] for kind in space.kinds] == [["z", "c", "a"], ["b"]]
    assert {group: [slot.name for slot in own] for group, own in space.groups.items()} == {
        "g": ["z", "b", "a"],
        "h": ["c"],
    }
