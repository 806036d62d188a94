"""The literals that a space gives: which, by what names, and that table, formula and Prolog say the same."""

from itertools import product

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Slot, bits, digits, evaluate
from assay.base import rng_for
from assay.logic import ABSENT, Quantified
from assay.prolog import Bias, CountLiteral, IlpProblem, Language, Worlds, aleph_files, formula_of, label, popper_files

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


def test_numbers_need_not_come_in_order():
    space = ConceptSpace((Concept("a", (5, 1, 9, 3)),))
    assert [one.name for one in Bias(space).literals if one.kind == "bound"] == [
        "a_at_least_3", "a_at_most_3", "a_at_least_5", "a_at_most_5",
    ]  # fmt: skip
    assert [one.value for one in Bias(space).literals if one.kind == "bound"] == [3, 3, 5, 5]


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


SMALL = ConceptSpace(
    (Concept("wet", (False, True)), Concept("box1.hue", ("red",)), Concept("box2.hue", ("red",))),
    tuple(Slot(f"box{n}", "boxes", ("hue",)) for n in (1, 2)),
)


def test_the_whole_language_of_a_small_space_is_written_for_both_systems():
    bias = Bias(SMALL, Language(objects=2, literals=1, clauses=3, counts=1))
    arguments = {
        "wet_false": 0, "wet_true": 0, "box_num_1": 1, "box_num_2": 1, "hue_red": 1, "box_before": 2, "box_right_before": 2,
        "same_hue": 2, "different_hue": 2, "hue_red_count_0": 0, "hue_red_count_1": 0,
    }  # fmt: skip
    kinds = {name: ["box"] * number or ["world"] for name, number in arguments.items()}
    problem = IlpProblem(bias, "good", "wet(w0,true).\n", ["w0"], ["w1", "w2"])
    aleph, popper = aleph_files(problem, noise=4, nodes=70, search="bf"), popper_files(problem)
    assert (
        problem.background
        == "\n".join(["wet(w0,true).", *(one.definition for one in bias.literals)]) + "\n"
        == popper["bk.pl"]
    )
    assert aleph[".b"].splitlines()[:8] == [
        ":- set(clauselength,4).", ":- set(i,2).", ":- set(minpos,2).", ":- set(noise,4).", ":- set(nodes,70).",
        ":- set(verbosity,0).", ":- set(search,bf).", ":- set(openlist,500).",
    ]  # fmt: skip
    assert aleph[".b"].splitlines()[8:].index("wet(w0,true).") == 4 + 2 * len(kinds) - 1
    assert (aleph[".f"], aleph[".n"]) == ("good(w0).\n", "good(w1).\ngood(w2).\n")
    assert popper["exs.pl"] == "pos(good(w0)).\nneg(good(w1)).\nneg(good(w2)).\n"
    assert aleph[".b"].splitlines()[8 : 11 + 2 * len(kinds)] == [
        ":- modeh(1,good(+world)).", ":- modeb(*,has_box(+world,-box)).",
        *(f":- modeb(1,{name}({','.join(f'+{kind}' for kind in own)}))." for name, own in kinds.items()),
        ":- determination(good/1,has_box/2).",
        *(f":- determination(good/1,{name}/{len(own)})." for name, own in kinds.items()),
    ]  # fmt: skip
    tuples = {name: f"({own[0]},)" if len(own) == 1 else f"({','.join(own)})" for name, own in kinds.items()}
    ways = {name: "(in,)" if len(own) == 1 else "(in,in)" for name, own in kinds.items()}
    assert popper["bias.pl"].splitlines() == [
        "max_vars(3).", "max_body(3).", "max_clauses(3).", "head_pred(good,1).", "type(good,(world,)).",
        "direction(good,(in,)).", "body_pred(has_box,2).", "type(has_box,(world,box)).", "direction(has_box,(in,out)).",
        *(line for name, own in kinds.items() for line in (
            f"body_pred({name},{len(own)}).", f"type({name},{tuples[name]}).", f"direction({name},{ways[name]})."
        )),
    ]  # fmt: skip
