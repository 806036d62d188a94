"""The literals that a space gives: which, by what names, and that table, formula and Prolog say the same."""

from itertools import product

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits, digits
from assay.logic import Quantified, evaluate
from assay.prolog import (
    Bias,
    CountLiteral,
    IlpProblem,
    Language,
    Literal,
    Worlds,
    aleph_files,
    formula_of,
    label,
    literals_by_terms,
)
from assay.prolog.bias import _ways
from assay.prolog.ilp_files import aleph_modes, definitions_text, popper_bias
from assay.prolog.literals import Term
from assay.seeds import rng_for

COLOURS = ("red", "blue", "Green")
ATTRIBUTES = {
    "car1": {"colour": COLOURS, "trim": COLOURS, "axles": (1, 2, 3)},
    "car2": {"colour": COLOURS, "trim": COLOURS, "axles": (1, 2, 3)},
    "car3": {"colour": (*COLOURS, ABSENT), "trim": (*COLOURS, ABSENT), "axles": (1, 2, 3, ABSENT)},
    "dog1": {"colour": COLOURS, "age": (-1, 4), "tail": (False, True)},
    "dog2": {"colour": COLOURS, "age": (-1, 4)},
}
SPACE = ConceptSpace(
    (
        Concept("a", (0, 1, 2, 3)), Concept("b", (3, 7)), Concept("light", ("on", "off", "dim")),
        *(Concept(f"{slot}.{name}", values) for slot, own in ATTRIBUTES.items() for name, values in own.items()),
        Concept("c", (8, 9)), Concept("lamp", ("off", "dim", "on")), Concept("wet", (False, True)),
    ),
    tuple(Slot(name, f"{name[:3]}s", tuple(own)) for name, own in ATTRIBUTES.items()),
)  # fmt: skip


def drawn(count):
    rng = rng_for(5, "literals")
    codes = np.stack([rng.integers(len(concept.present), size=count) for concept in SPACE.concepts], axis=1)
    for name in SPACE.groups["cars"][2].concepts:
        codes[::3, SPACE.place(name)] = 3
    return codes


CODES = drawn(24)


def names(kind, groups=None, **language):
    bias = Bias(SPACE, Language(**language))
    return " ".join(one.name for one in bias.literals if one.kind == kind and groups in (None, one.groups))


def test_values_their_opposites_and_bounds_are_declared():
    assert names("value", ()) == (
        "a_0 a_1 a_2 a_3 b_3 b_7 light_on light_off light_dim c_8 c_9 lamp_off lamp_dim lamp_on wet_false wet_true"
    )
    assert names("value", ("dogs",)) == (
        "dog_num_1 dog_num_2 dog_colour_red dog_colour_blue dog_colour_green age_minus_1 age_4"
    )
    assert names("other", ()) == "light_not_on light_not_off light_not_dim lamp_not_off lamp_not_dim lamp_not_on"
    assert names("other", ("dogs",)) == "dog_colour_not_red dog_colour_not_blue dog_colour_not_green"
    assert names("bound") == (
        "a_at_least_1 a_at_most_1 a_at_least_2 a_at_most_2 car_num_at_least_2 car_num_at_most_2"
        " axles_at_least_2 axles_at_most_2"
    )
    assert names("bound", others=False) == names("other", others=False) == ""


def test_what_is_comparable_is_compared():
    assert names("compare", ()) == "a_is_b a_not_b a_less_b a_more_b light_is_lamp light_not_lamp"
    assert names("compare", ("cars",)) == (
        "car_num_is_axles car_num_not_axles car_num_less_axles car_num_more_axles colour_is_trim colour_not_trim"
    )
    assert names("relate", ("cars", "cars")) == (
        "same_colour different_colour same_trim different_trim same_axles different_axles less_axles"
        " car_num_is_axles_of car_num_less_axles_of car_num_more_axles_of colour_is_trim_of"
    )
    between = [one for one in names("relate", ("cars", "dogs")).split() if "_num" not in one]
    assert " ".join(between) == (
        "colour_is_dog_colour colour_not_dog_colour trim_is_dog_colour trim_not_dog_colour"
        " axles_is_age axles_not_age axles_less_age axles_more_age"
    )
    assert names("compare", comparisons=False) == names("relate", comparisons=False) == ""
    assert names("order", comparisons=False) == names("order") != ""
    assert names("relate", objects=1) == names("order", objects=1) == ""
    assert names("relate", ("cars", "dogs"), objects=2) == names("relate", ("cars", "dogs"))


def test_order_and_numbers_go_together():
    assert names("order") == "car_before car_right_before dog_before dog_right_before"
    assert names("order", order=False) == "" and "num" not in names("compare", order=False)
    numbered = ConceptSpace(
        tuple(Concept(f"box{n}.number", (1, 2, 3)) for n in (1, 2)),
        tuple(Slot(f"box{n}", "boxes", ("number",)) for n in (1, 2)),
    )
    terms = {term.relation for one in Bias(numbered).literals for term in one.terms}
    assert terms == {"number"}  # their own, not their place
    alone = ConceptSpace((Concept("box1.size", (1, 2)),), (Slot("box1", "boxes", ("size",)),))
    assert [one.name for one in Bias(alone).literals] == [
        "size_1", "size_2", "size_1_count_0", "size_1_count_1", "size_2_count_0", "size_2_count_1",
    ]  # fmt: skip


def test_three_objects_are_all_different_or_all_the_same():
    assert names("together") == (
        "all_different_colour all_same_colour all_different_trim all_same_trim all_different_axles all_same_axles"
    )
    assert names("together", triples=False) == names("together", objects=2) == ""
    values = {"few": (0, 1), "many": tuple(range(12)), "more": tuple(range(13))}
    slots = tuple(Slot(f"box{n}", "boxes", tuple(values)) for n in (1, 2, 3))
    space = ConceptSpace(tuple(Concept(s.concept(name), values[name]) for s in slots for name in values), slots)
    together = [one.name for one in Bias(space).literals if one.kind == "together"]
    assert together == ["all_same_few", "all_different_many", "all_same_many"]


def test_objects_are_counted_up_to_a_number():
    counted = names("count").split()
    assert counted[:6] == [f"cars_{how}_{n}" for n in (1, 2, 3) for how in ("at_least", "exactly")]
    assert not any(name.startswith("dogs_") for name in counted)  # both are always there
    assert counted[6:12] == [
        "colour_red_count_0", "colour_red_count_1", "colour_red_count_2", "colour_red_count_3",
        "colour_red_count_at_least_2", "colour_red_count_at_least_3",
    ]  # fmt: skip
    assert counted[-4:] == ["age_4_count_0", "age_4_count_1", "age_4_count_2", "age_4_count_at_least_2"]
    assert len(counted) == 6 + 9 * 6 + 5 * 4 and Bias(SPACE).count("count") == len(counted)
    assert names("count", counts=0) == "" and names("count", counts=2).split()[6:10] == [
        "colour_red_count_0", "colour_red_count_1", "colour_red_count_2", "colour_red_count_at_least_2",
    ]  # fmt: skip


def test_a_clause_has_so_much_by_default():
    usual = Language()
    assert (usual.literals, usual.objects, usual.clauses, usual.counts) == (4, 3, 10, 3)
    assert usual.others and usual.comparisons and usual.order and usual.triples


def test_structures_have_few_objects_first():
    c, d = "cars", "dogs"
    assert Bias(SPACE, Language(objects=2)).structures == ((), (c,), (d,), (c, c), (c, d), (d, d))
    assert Bias(SPACE).structures[6:] == ((c, c, c), (c, c, d), (c, d, d), (d, d, d))
    assert Bias(bits(["p"])).structures == ((),)


def test_many_concepts_are_not_compared():
    few, many = digits([f"x{n}" for n in range(28)], (0, 1)), digits([f"x{n}" for n in range(29)], (0, 1))
    assert Bias(few).count("compare") == 4 * 28 * 27 // 2 and Bias(many).count("compare") == 0


def test_names_that_are_taken_get_an_underscore():
    space = ConceptSpace((Concept("a", (0, 1)), Concept("a_1", (0, 1))))
    found = [one.name for one in Bias(space).literals if one.kind == "value"]
    assert found == ["a_0", "a_1_", "a_1_0", "a_1_1"] and set(Bias(space).by_name) >= set(found)


def holds(literal, world):
    """Whether some objects, which may be the same, make a literal true: by its table."""
    there = {
        group: [(place, slot) for place, slot in enumerate(slots, 1) if world[slot.concepts[0]] != ABSENT]
        for group, slots in SPACE.groups.items()
    }
    if isinstance(literal, CountLiteral):
        one = literal.counted
        own = [
            s for _, s in there[literal.group] if one is None or world[s.concept(one.terms[0].attribute)] == one.value
        ]
        return len(own) >= literal.value if literal.way == ">=" else len(own) == literal.value
    table = literal.table()
    for objects in product(*(there[group] for group in literal.groups)):
        cell = []
        for term in literal.terms:
            place, slot = objects[term.argument] if term.argument >= 0 else (0, None)
            value = (
                world[term.attribute]
                if slot is None
                else place
                if term.attribute == "number"
                else world[slot.concept(term.attribute)]
            )
            cell.append(term.values.index(value))
        if table[tuple(cell)]:
            return True
    return False


@pytest.mark.parametrize("kind", ["value", "other", "bound", "compare", "relate", "order", "together", "count"])
def test_table_formula_and_prolog_of_a_literal_agree(kind):
    bias = Bias(SPACE)
    worlds = [SPACE.decode(row) for row in CODES]
    changing = 0
    for literal in [one for one in bias.literals if one.kind == kind][:: 5 if kind in ("count", "relate") else 2]:
        expected = [holds(literal, world) for world in worlds]
        objects = "ABC"[: literal.arity]
        having = [f"has_{group[:-1]}(W,{name})" for name, group in zip(objects, literal.groups, strict=True)]
        rule = f"yes(W) :- {', '.join([*having, literal.head(objects or 'W')])}."
        program = f"{literal.definition}\n{rule}"
        formula = literal.formula(objects)
        for name, group in zip(objects, literal.groups, strict=True):
            formula = Quantified("any", (name,), group, formula)
        assert evaluate(formula, SPACE, CODES).tolist() == expected, literal.name
        assert label(program, Worlds(SPACE, CODES), head="yes").tolist() == expected, literal.name
        assert evaluate(formula_of(program, SPACE, "yes"), SPACE, CODES).tolist() == expected, literal.name
        changing += 0 < sum(expected) < len(expected)
    assert changing or kind == "order"  # two cars are always there


def test_a_table_has_a_last_place_for_absent():
    term = Term(0, "n", "n", (1, 2, 3))
    assert Literal("x", "bound", ("g",), (term,), "<=", 2).table().tolist() == [True, True, False, False]
    assert Literal("x", "bound", ("g",), (term,), ">=", 2).table().tolist() == [False, True, True, False]
    assert Literal("x", "other", ("g",), (term,), "!=", 2).table().tolist() == [True, False, True, False]
    both = (term, Term(1, "n", "n", (2, 3)))
    tables = {
        way: Literal("x", "relate", ("g", "g"), both, way).table().astype(int).tolist() for way in ("<", ">", "next")
    }
    assert tables["<"] == [[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert tables[">"] == [[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert tables["next"] == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_only_like_arguments_may_be_swapped():
    swapped = {one.name for one in Bias(SPACE).literals if one.symmetric}
    assert swapped == {
        "same_colour", "different_colour", "same_trim", "different_trim", "same_axles", "different_axles",
        "same_dog_colour", "different_dog_colour", "same_age", "different_age", "all_different_colour", "all_same_colour",
        "all_different_trim", "all_same_trim", "all_different_axles", "all_same_axles",
    }  # fmt: skip
    term = Term(0, "colour", "colour", ("red",))
    assert not Literal("x", "relate", ("cars", "dogs"), (term, Term(1, "colour", "colour", ("red",))), "==").symmetric


def test_literals_of_the_same_terms_are_found_together():
    bias = Bias(digits(["a"], (0, 1, 2, 3)))
    (terms, groups), numbers = next(iter(literals_by_terms(bias.literals).items()))
    assert [term.attribute for term in terms] == ["a"] and groups == () and numbers == list(range(8))
    found = literals_by_terms(Bias(SPACE).literals)
    counts = {n for n, one in enumerate(Bias(SPACE).literals) if one.kind == "count"}
    assert sorted(n for own in found.values() for n in own) == sorted(set(range(len(Bias(SPACE).literals))) - counts)


def test_the_files_of_both_systems_say_how_large_clauses_get():
    bias = Bias(SPACE, Language(objects=2, literals=5, clauses=7))
    lines = popper_bias(bias, "east").splitlines()
    assert lines[:12] == [
        "max_vars(3).", "max_body(7).", "max_clauses(7).", "head_pred(east,1).", "type(east,(world,)).",
        "direction(east,(in,)).", "body_pred(has_car,2).", "type(has_car,(world,car)).", "direction(has_car,(in,out)).",
        "body_pred(has_dog,2).", "type(has_dog,(world,dog)).", "direction(has_dog,(in,out)).",
    ]  # fmt: skip
    assert "type(a_0,(world,))." in lines and "direction(a_0,(in,))." in lines and "body_pred(a_0,1)." in lines
    assert "type(colour_is_dog_colour,(car,dog))." in lines and "direction(colour_is_dog_colour,(in,in))." in lines
    problem = IlpProblem(bias, "east", "", [], [])
    text = aleph_files(problem, noise=4, nodes=70, search="bf")[".b"].splitlines()
    assert text[:8] == [
        ":- set(clauselength,8).", ":- set(i,2).", ":- set(minpos,2).", ":- set(noise,4).", ":- set(nodes,70).",
        ":- set(verbosity,0).", ":- set(search,bf).", ":- set(openlist,500).",
    ]  # fmt: skip
    assert ":- modeb(1,colour_is_dog_colour(+car,+dog))." in text and ":- determination(east/1,same_colour/2)." in text
    usual = aleph_files(problem)[".b"]
    assert ":- set(noise,0)." in usual and ":- set(nodes,5000)." in usual and ":- set(search,heuristic)." in usual


@pytest.mark.parametrize(
    ("name", "formula", "definition"),
    [
        ("a_at_most_2", "a <= 2", "a(A,X0), X0 =< 2"), ("wet_true", "wet == True", "wet(A,true)"),
        ("light_not_off", "light != 'off'", "light(A,X0), X0 \\= off"), ("a_is_b", "a == b", "a(A,X0), b(A,X1), X0 =:= X1"),
        ("a_more_b", "a > b", "a(A,X0), b(A,X1), X0 > X1"), ("age_minus_1", "x.age == -1", "age(A,-1)"),
        ("light_not_lamp", "light != lamp", "light(A,X0), lamp(A,X1), X0 \\= X1"),
        ("colour_not_green", "x.colour != 'Green'", "colour(A,X0), X0 \\= 'Green'"),
        ("car_num_at_least_2", "x.number >= 2", "car_num(A,X0), X0 >= 2"),
        ("car_num_less_axles", "x.number < x.axles", "car_num(A,X0), axles(A,X1), X0 < X1"),
        ("car_before", "x.number < y.number", "car_num(A,X0), car_num(B,X1), X0 < X1"),
        ("car_right_before", "x.number + 1 == y.number", "car_num(A,X0), car_num(B,X1), X1 =:= X0 + 1"),
        ("same_age", "x.age == y.age", "age(A,X0), age(B,X1), X0 =:= X1"),
        ("less_axles", "x.axles < y.axles", "axles(A,X0), axles(B,X1), X0 < X1"),
        ("car_num_more_axles_of", "x.number > y.axles", "car_num(A,X0), axles(B,X1), X0 > X1"),
        ("colour_is_trim_of", "x.colour == y.trim", "colour(A,X0), trim(B,X1), X0 = X1"),
        ("trim_not_dog_colour", "x.trim != y.colour", "trim(A,X0), dog_colour(B,X1), X0 \\= X1"),
        ("axles_less_age", "x.axles < y.age", "axles(A,X0), age(B,X1), X0 < X1"),
        ("all_different_colour", "all_different(x.colour, y.colour, z.colour)",
         "colour(A,X0), colour(B,X1), colour(C,X2), X1 \\= X0, X2 \\= X0, X2 \\= X1"),
        ("all_same_axles", "all_equal(x.axles, y.axles, z.axles)", "axles(A,X0), axles(B,X1), axles(C,X2), X1 = X0, X2 = X0"),
        ("cars_at_least_2", "count(True for x in cars) >= 2", "aggregate_all(count, has_car(A,B), N), N >= 2"),
        ("colour_green_count_0", "count(x.colour == 'Green' for x in cars) == 0",
         "aggregate_all(count, (has_car(A,B), colour(B,'Green')), N), N =:= 0"),
        ("dog_colour_red_count_at_least_2", "count(x.colour == 'red' for x in dogs) >= 2",
         "aggregate_all(count, (has_dog(A,B), dog_colour(B,red)), N), N >= 2"),
    ],
)  # fmt: skip
def test_formula_and_definition_have_the_arguments_in_their_places(name, formula, definition):
    literal = Bias(SPACE).by_name[name]
    arguments = ",".join("ABC"[: max(1, literal.arity)])
    assert str(literal.formula(["x", "y", "z"])) == formula
    assert literal.definition == f"{name}({arguments}) :- {definition}."
    assert literal.head("PQR") == f"{name}({arguments.translate(str.maketrans('ABC', 'PQR'))})"


def test_numbers_need_not_come_in_order():
    space = ConceptSpace((Concept("a", (5, 1, 9, 3)),))
    assert [one.name for one in Bias(space).literals if one.kind == "bound"] == [
        "a_at_least_3", "a_at_most_3", "a_at_least_5", "a_at_most_5",
    ]  # fmt: skip
    assert [one.value for one in Bias(space).literals if one.kind == "bound"] == [3, 3, 5, 5]


def test_objects_of_one_group_are_compared_even_in_two_numbers():
    related = [name for name in names("relate", ("dogs", "dogs")).split() if "_num" not in name]
    assert related == ["same_dog_colour", "different_dog_colour", "same_age", "different_age", "less_age"]


def test_values_are_comparable_if_they_are_the_same_or_numbers_that_overlap():
    def ways(left, right):
        return _ways(Term(0, "l", "l", left), Term(1, "r", "r", right))

    assert ways((1, 4), (4, 9)) == ways((4, 9), (1, 4)) == ways((1, 9), (4, 5)) == ("==", "!=", "<", ">")
    assert ways((1, 3), (4, 9)) == ways((4, 9), (1, 3)) == ()
    assert ways(("red", "blue"), ("blue", "red")) == ("==", "!=") == ways((False, True), (True, False))
    assert (
        ways(("red", "blue"), ("red",)) == ways(("red", "blue"), ("red", "grey")) == ways((False, True), (0, 1)) == ()
    )


def test_many_attributes_of_an_object_are_not_compared():
    def compared(count, objects):
        slots = tuple(Slot(f"box{n}", "boxes", tuple(f"x{k}" for k in range(count))) for n in range(1, objects + 1))
        space = ConceptSpace(tuple(Concept(name, (0, 1)) for slot in slots for name in slot.concepts), slots)
        bias = Bias(space, Language(order=False, counts=0))
        return bias.count("compare"), bias.count("relate")

    assert compared(28, 1) == (4 * 28 * 27 // 2, 0) and compared(29, 1) == (0, 0)
    assert compared(28, 2) == (4 * 28 * 27 // 2, 3 * 28 + 3 * 28 * 27 // 2) and compared(29, 2) == (0, 3 * 29)


def test_literals_are_apart_where_a_term_or_a_group_differs():
    bias = Bias(SPACE)
    found = {
        (tuple((term.relation, term.argument) for term in terms), groups): [bias.literals[n].name for n in numbers]
        for (terms, groups), numbers in literals_by_terms(bias.literals).items()
    }
    car, number = ("cars",), ("car_num", 0)
    assert found[(("wet", -1),), ()] == ["wet_false", "wet_true"]
    assert found[(("a", -1), ("b", -1)), ()] == ["a_is_b", "a_not_b", "a_less_b", "a_more_b"]
    assert found[(number, ("axles", 0)), car] == [f"car_num_{way}_axles" for way in ("is", "not", "less", "more")]
    assert found[(number, ("axles", 1)), car * 2] == [f"car_num_{way}_axles_of" for way in ("is", "less", "more")]
    assert found[(number, ("car_num", 1)), car * 2] == ["car_before", "car_right_before"]
    assert found[tuple(("trim", place) for place in range(3)), car * 3] == ["all_different_trim", "all_same_trim"]
    assert found[(("colour", 0), ("dog_colour", 1)), ("cars", "dogs")] == [
        "colour_is_dog_colour",
        "colour_not_dog_colour",
    ]


SMALL = ConceptSpace(
    (Concept("wet", (False, True)), Concept("box1.hue", ("red",)), Concept("box2.hue", ("red",))),
    tuple(Slot(f"box{n}", "boxes", ("hue",)) for n in (1, 2)),
)


def test_the_whole_language_of_a_small_space_is_written_for_both_systems():
    bias = Bias(SMALL, Language(objects=2, literals=1, clauses=3, counts=1))
    assert definitions_text(bias).splitlines() == [one.definition for one in bias.literals]
    arguments = {
        "wet_false": 0, "wet_true": 0, "box_num_1": 1, "box_num_2": 1, "hue_red": 1, "box_before": 2, "box_right_before": 2,
        "same_hue": 2, "different_hue": 2, "hue_red_count_0": 0, "hue_red_count_1": 0,
    }  # fmt: skip
    kinds = {name: ["box"] * number or ["world"] for name, number in arguments.items()}
    assert aleph_modes(bias, "good").splitlines() == [
        ":- modeh(1,good(+world)).", ":- modeb(*,has_box(+world,-box)).",
        *(f":- modeb(1,{name}({','.join(f'+{kind}' for kind in own)}))." for name, own in kinds.items()),
        ":- determination(good/1,has_box/2).",
        *(f":- determination(good/1,{name}/{len(own)})." for name, own in kinds.items()),
    ]  # fmt: skip
    tuples = {name: f"({own[0]},)" if len(own) == 1 else f"({','.join(own)})" for name, own in kinds.items()}
    ways = {name: "(in,)" if len(own) == 1 else "(in,in)" for name, own in kinds.items()}
    assert popper_bias(bias, "good").splitlines() == [
        "max_vars(3).", "max_body(3).", "max_clauses(3).", "head_pred(good,1).", "type(good,(world,)).",
        "direction(good,(in,)).", "body_pred(has_box,2).", "type(has_box,(world,box)).", "direction(has_box,(in,out)).",
        *(line for name, own in kinds.items() for line in (
            f"body_pred({name},{len(own)}).", f"type({name},{tuples[name]}).", f"direction({name},{ways[name]})."
        )),
    ]  # fmt: skip
