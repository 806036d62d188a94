"""Worlds with two groups of objects, whose columns are mixed and whose numbers come in no order: facts, terms, formulas."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.logic import Knowledge, evaluate, parse
from assay.prolog import (
    PrologError,
    Vocabulary,
    Worlds,
    facts_text,
    formula_of,
    label,
    oracle,
    read_program,
    rule_of,
    rules_text,
)
from assay.prolog.open_worlds import open_worlds
from assay.prolog.oracles import _whole
from assay.prolog.templates import WorldTemplate
from assay.prolog.unfold import unfold

SPACE = ConceptSpace(
    (
        Concept("box1.hue", ("red", "blue")), Concept("n", (5, 3, 4)), Concept("dog1.age", (2, 1, ABSENT)),
        Concept("box2.size", (1, 2, ABSENT)), Concept("box1.size", (2, 1)), Concept("dog1.hue", (ABSENT, "blue", "grey")),
        Concept("box2.hue", (ABSENT, "red", "blue")), Concept("dog2.age", (3, 1)), Concept("dog2.hue", ("red", "blue")),
        Concept("dog2.tail", (True, False)),
    ),
    (
        Slot("dog1", "dogs", ("age", "hue")), Slot("box1", "boxes", ("hue", "size")),
        Slot("dog2", "dogs", ("age", "hue", "tail")), Slot("box2", "boxes", ("size", "hue")),
    ),
)  # fmt: skip
CODES = (codes := SPACE.all_codes())[_whole(SPACE, codes)][::7]
WORLDS = [SPACE.decode(row) for row in CODES]


def there(world, group):
    """The objects of a group that are there: their numbers and attributes."""
    return [
        {"number": place, **{name: world.get(slot.concept(name)) for name in slot.attributes}}
        for place, slot in enumerate(SPACE.groups[group], 1)
        if world[slot.concepts[0]] != ABSENT
    ]


def world(**changes):
    usual = {
        "n": 3, "box1.hue": "blue", "box1.size": 2, "box2.hue": "red", "box2.size": 1, "dog1.age": 1, "dog1.hue": "grey",
        "dog2.age": 3, "dog2.hue": "red", "dog2.tail": True,
    }  # fmt: skip
    return {**usual, **{name.replace("_", "."): value for name, value in changes.items()}}


def test_facts_are_by_group_and_of_what_is_there():
    gone = {f"dog1_{name}": ABSENT for name in ("age", "hue")}
    text = facts_text(Vocabulary(SPACE), SPACE.encode([world(), world(n=5, dog2_tail=False, **gone)]), first=3)
    assert text.splitlines() == [
        "has_dog(w3,w3_dog1).", "has_dog(w3,w3_dog2).", "has_dog(w4,w4_dog2).",
        "dog_num(w3_dog1,1).", "dog_num(w3_dog2,2).", "dog_num(w4_dog2,2).",
        "has_box(w3,w3_box1).", "has_box(w3,w3_box2).", "has_box(w4,w4_box1).", "has_box(w4,w4_box2).",
        "box_num(w3_box1,1).", "box_num(w3_box2,2).", "box_num(w4_box1,1).", "box_num(w4_box2,2).",
        "before(w3_dog1,w3_dog2).", "before(w3_box1,w3_box2).", "before(w4_box1,w4_box2).",
        "age(w3_dog1,1).", "age(w3_dog2,3).", "age(w4_dog2,3).",
        "hue(w3_dog1,grey).", "hue(w3_dog2,red).", "hue(w4_dog2,red).", "tail(w3_dog2,true).", "tail(w4_dog2,false).",
        "box_hue(w3_box1,blue).", "box_hue(w3_box2,red).", "box_hue(w4_box1,blue).", "box_hue(w4_box2,red).",
        "size(w3_box2,1).", "size(w3_box1,2).", "size(w4_box2,1).", "size(w4_box1,2).", "n(w3,3).", "n(w4,5).",
    ]  # fmt: skip


def test_relations_have_the_values_of_all_their_slots():
    found = {relation.name: relation.values for relation in Vocabulary(SPACE).relations if relation.values}
    assert found == {
        "age": (2, 1, 3), "hue": ("blue", "grey", "red"), "tail": (True, False), "box_hue": ("red", "blue"), "size": (2, 1),
        "n": (5, 3, 4),
    }  # fmt: skip
    assert dict(Vocabulary(SPACE).kinds) == {"dogs": "dog", "boxes": "box"}
    assert [Vocabulary(SPACE).relation("has", group).name for group in ("", "dogs", "boxes")] == [
        "has_dog",
        "has_dog",
        "has_box",
    ]
    alike = ConceptSpace(
        tuple(Concept(f"{name}.x", (0, 1)) for name in ("car1", "car2", "car_3", "car_4")),
        tuple(Slot(f"car{end}", group, ("x",)) for end, group in (("1", "a"), ("2", "b"), ("_3", "a"), ("_4", "c"))),
    )
    words = Vocabulary(alike)
    assert dict(words.kinds) == {"a": "car", "b": "car_", "c": "car__"}
    assert [relation.name for relation in words.relations] == [
        "has_car", "car_num", "has_car_", "car__num", "has_car__", "car___num", "before", "x", "car__x", "car___x",
    ]  # fmt: skip


def test_names_that_would_clash_are_made_longer_until_they_do_not():
    concepts = [Concept(name, (0, 1)) for name in ("has_cat", "before", "append", "X", "x", "cat1.num", "cat2.num")]
    slots = tuple(Slot(f"cat{n}", "cats", ("num",)) for n in (1, 2))
    words = Vocabulary(ConceptSpace(tuple(concepts), slots))
    assert [(relation.name, relation.attribute) for relation in words.relations] == [
        ("has_cat", ""), ("cat_num", ""), ("before", ""), ("num", "num"), ("concept_has_cat", "has_cat"),
        ("concept_before", "before"), ("concept_append", "append"), ("x", "X"), ("concept_x", "x"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("p(W) :- before(A, B), hue(A, grey), hue(B, H), H = blue.",
         lambda w, d, b: [x["hue"] for x in d] == ["grey", "blue"]),
        ("p(W) :- before(A, B), size(A, 1).", lambda w, d, b: len(b) == 2 and b[0]["size"] == 1),
        ("p(W) :- has_dog(W, D), has_box(W, B), before(D, B).", lambda w, d, b: False),
        ("p(W) :- has_dog(W, D), has_box(W, B), D = B.", lambda w, d, b: False),
        ("p(W) :- has_dog(W, D), has_box(W, B), hue(D, H), box_hue(B, H), age(D, N), size(B, N).",
         lambda w, d, b: any(x["hue"] == y["hue"] and x["age"] == y["size"] for x in d for y in b)),
        ("p(W) :- has_dog(W, D), dog_num(D, N), has_box(W, B), box_num(B, N), age(D, A), size(B, S), A > S, n(W, M), M >= 4.",
         lambda w, d, b: w["n"] >= 4 and any(x["number"] == y["number"] and x["age"] > y["size"] for x in d for y in b)),
        ("p(W) :- aggregate_all(count, (has_dog(W, D), age(D, 1)), K), aggregate_all(count, has_box(W, _), K).",
         lambda w, d, b: sum(x["age"] == 1 for x in d) == len(b)),
        ("p(W) :- forall(has_dog(W, D), (age(D, A), n(W, N), A + 2 =< N)).", lambda w, d, b: all(x["age"] + 2 <= w["n"] for x in d)),
        ("p(W) :- \\+ (before(A, B), box_hue(A, H), box_hue(B, H)), n(W, N), N \\= 5.",
         lambda w, d, b: w["n"] != 5 and not (len(b) == 2 and b[0]["hue"] == b[1]["hue"])),
        ("p(W) :- tail(D, true), age(D, 1).", lambda w, d, b: w["dog2.tail"] and w["dog2.age"] == 1),
        ("p(W) :- ( has_dog(W, D), age(D, 2) -> n(W, 5) ; has_box(W, B), size(B, 1), n(W, 3) ).",
         lambda w, d, b: w["n"] == 5 if any(x["age"] == 2 for x in d) else w["n"] == 3 and any(y["size"] == 1 for y in b)),
    ],
)  # fmt: skip
def test_programs_tell_the_groups_apart(text, test):
    program = read_program(text)
    expected = [bool(test(w, there(w, "dogs"), there(w, "boxes"))) for w in WORLDS]
    assert label(program, Worlds(SPACE, CODES), head="p").tolist() == expected
    assert evaluate(formula_of(program, SPACE, "p"), SPACE, CODES).tolist() == expected
    assert evaluate(unfold(program, "p", SPACE), SPACE, CODES).tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        "any(d.hue == 'blue' and any(b.hue == d.hue and b.number > d.number for b in boxes) for d in dogs)",
        "any(any(b.size == 2 for b in boxes) and d.age == 1 and n > d.age + 2 for d in dogs)",
        "count(d.age < n - 2 for d in dogs) == count(b.size == 1 for b in boxes)",
        "count(any(b.size == d.age for b in boxes) for d in dogs) == 2",
        "any(a.hue == b.hue for a, b in pairs(boxes)) or all(d.age != 1 for d in dogs)",
        "count(a.age > b.age for a, b in pairs(dogs)) == 0 and not dog2.tail",
        "implies(n == 4, dog2.age == 3)", "iff(n > 3, dog2.tail)", "(n > 3) == dog2.tail", "xor(n == 5, dog2.tail, box1.size == 2)",
        "all_different(box1.hue, box2.hue, dog2.hue)", "all_different(n, dog2.age, box1.size + 2)", "all_equal(box1.size, box2.size, 2)",
        "dog1.hue == 'absent' or dog1.hue != dog2.hue", "(dog2.age if dog2.tail else n) >= 3", "(dog1.age if dog2.tail else n) == 1", "(box2.hue if dog2.tail else dog1.hue) == 'blue'",
        "n in (3, 4)", "(n, dog2.hue) in ((3, 'red'), (5, 'blue'))", "(box2.hue, dog2.tail) in (('absent', True), ('red', False))",
        "(n - 9) // 4 == -1", "(2 - n) % 3 == dog2.age - 1", "n ** 2 - 3 * n == 4", "max(n, dog2.age, 4) - min(n, 4) == abs(dog2.age - 2)",
        "dog2.tail + (n == 3) + (dog2.age == 1) >= 2", "not (dog2.tail and n == 3) and (n == 5 or dog2.tail)", "-n + dog2.age < -2 * dog2.age",
    ],
)  # fmt: skip
def test_formulas_mean_the_same_in_prolog(text):
    expected = evaluate(parse(text), SPACE, CODES)
    assert 0 < expected.sum() < len(CODES)
    written = rules_text(Knowledge.of(SPACE, {"said": text}))
    assert np.array_equal(label(written, Worlds(SPACE, CODES), head="said"), expected)


TEMPLATE = (
    "w({n: [5-many]}, {each(dogs, d({place}, {age}, {hue: [grey-dark]}))}, {each(boxes, b({hue}, {size}, {place}))})"
)


def test_templates_take_columns_from_wherever_they_are():
    codes = SPACE.encode([world(), world(n=5, box2_hue=ABSENT, box2_size=ABSENT), world(box1_size=1, dog1_hue="blue")])
    boxes = [
        [("b", "blue", 2, 1), ("b", "red", 1, 2)],
        [("b", "blue", 2, 1)],
        [("b", "blue", 1, 1), ("b", "red", 1, 2)],
    ]
    dogs = [[("d", 1, 1, hue), ("d", 2, 3, "red")] for hue in ("dark", "dark", "blue")]

    def listed(items):
        return (".", items[0], listed(items[1:])) if items else "[]"

    assert list(WorldTemplate(SPACE, TEMPLATE).terms(codes)) == [
        ("w", n, listed(d), listed(b)) for n, d, b in zip((3, "many", 3), dogs, boxes, strict=True)
    ]


def test_open_worlds_say_who_is_there_and_keep_their_numbers():
    found = [([str(guard) for guard in guards], term) for guards, term in open_worlds(SPACE, TEMPLATE, packed=False)]
    dog, box = "dog1.age {} 'absent'", "box2.size {} 'absent'"
    assert [guards for guards, _ in found] == [
        [dog.format(one), box.format(two)] for one in ("==", "!=") for two in ("==", "!=")
    ]
    places = [([d[1] for d in _listed(term[2])], [b[3] for b in _listed(term[3])]) for _, term in found]
    assert places == [([2], [1]), ([2], [1, 2]), ([1, 2], [1]), ([1, 2], [1, 2])]
    (_, n, dogs, boxes) = found[-1][1]
    assert (str(n), n.meaning) == ("n", {"many": 5, 3: 3, 4: 4})
    first, second = _listed(dogs)
    assert [str(part) for part in first[2:]] == ["dog1.age", "dog1.hue"] and first[3].meaning == {
        "blue": "blue",
        "dark": "grey",
    }
    assert [str(part) for part in second[2:]] == ["dog2.age", "dog2.hue"]
    assert [[str(part) for part in b[1:3]] for b in _listed(boxes)] == [[f"box{n}.hue", f"box{n}.size"] for n in (1, 2)]


def _listed(term):
    items = []
    while term != "[]":
        items.append(term[1])
        term = term[2]
    return items


@pytest.mark.parametrize("packed", [True, False])
def test_programs_on_terms_of_two_groups(packed):
    program = read_program(
        "p(w(N, Ds, Bs)) :- member(d(K, A, H), Ds), member(b(G, S, K), Bs), ( H = G, A > S ; H = dark, N = many )."
    )
    expected = [
        any(
            d["number"] == b["number"] and ((d["hue"] == b["hue"] and d["age"] > b["size"]) or (d["hue"] == "grey" and w["n"] == 5))
            for d in there(w, "dogs") for b in there(w, "boxes")
        ) for w in WORLDS
    ]  # fmt: skip
    assert label(program, Worlds(SPACE, CODES, TEMPLATE), head="p").tolist() == expected
    full = [w["dog1.age"] != ABSENT for w in WORLDS] if packed else [True] * len(WORLDS)  # dog2 without dog1 is a gap
    found = evaluate(unfold(program, "p", SPACE, TEMPLATE, packed), SPACE, CODES)
    assert [bool(one) for one, kept in zip(found, full, strict=True) if kept] == [
        one for one, kept in zip(expected, full, strict=True) if kept
    ]
    rule = rule_of(str(program), SPACE, template=TEMPLATE, packed=False)
    assert evaluate(rule, SPACE, CODES).tolist() == expected


def test_facts_are_not_known_where_worlds_are_terms():
    with pytest.raises(PrologError, match="no predicate n/2"):
        label("p(W) :- n(W, 3).", Worlds(SPACE, CODES[:2], TEMPLATE))
    assert label("p(W) :- n(W, 3).", Worlds(SPACE, CODES[:9])).tolist() == [w["n"] == 3 for w in WORLDS[:9]]


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("p(W) :- has_box(W, B), age(B, _).", lambda d, b: False), ("p(W) :- has_box(W, B), hue(B, H).", lambda d, b: False),
        ("p(W) :- has_dog(W, D), has_box(W, B), dog_num(D, N), box_num(B, M), N < M, age(D, A), size(B, A).",
         lambda d, b: any(x["number"] < y["number"] and x["age"] == y["size"] for x in d for y in b)),
        ("p(W) :- has_dog(W, B), box_num(B, _).", lambda d, b: False),
    ],
)  # fmt: skip
def test_objects_of_one_group_have_nothing_of_the_other(text, test):
    test_programs_tell_the_groups_apart(text, lambda w, d, b: test(d, b))


def test_numbers_of_their_own_are_not_places():
    slots = tuple(Slot(f"box{n}", "boxes", ("number", "hue")) for n in (1, 2))
    concepts = [
        Concept(slot.concept(name), values)
        for slot in slots
        for name, values in (("number", (4, 2)), ("hue", ("red", "blue")))
    ]
    space = ConceptSpace(tuple(concepts), slots)
    codes = space.all_codes()
    for text in ("any(b.number == 2 and b.hue == 'red' for b in boxes)", "count(b.number > 3 for b in boxes) == 1"):
        expected = evaluate(parse(text), space, codes)
        assert 0 < expected.sum() < len(codes)
        written = rules_text(Knowledge.of(space, {"said": text}))
        assert "number(" in written and "box_num(" not in written
        assert np.array_equal(label(written, Worlds(space, codes), head="said"), expected)
        assert np.array_equal(evaluate(formula_of(written, space, "said"), space, codes), expected)
    places = label("p(W) :- box_num(B, 2), number(B, 4).", Worlds(space, codes))
    assert places.tolist() == [space.decode(row)["box2.number"] == 4 for row in codes]
    found = evaluate(formula_of("p(W) :- box_num(B, 2), number(B, 4).", space, "p"), space, codes)
    assert np.array_equal(found, places)


def test_concepts_may_have_many_values():
    space = ConceptSpace((Concept("n", tuple(range(300))), Concept("m", tuple(range(299, -1, -1)))))
    rule = oracle("p(W) :- n(W, X), m(W, Y), X > 140, Y < 40, X + Y =\\= 250.", space)
    codes = np.array([[150, 290], [150, 200], [140, 290], [299, 299], [241, 290], [255, 261]])
    expected = [n > 140 and 299 - m < 40 and n + 299 - m != 250 for n, m in codes.tolist()]
    assert evaluate(rule, space, codes).tolist() == expected == [True, False, False, True, False, True]


def test_objects_that_are_nothing_but_a_zero_are_there():
    slots = tuple(Slot(f"box{n}", "boxes", ("size",)) for n in (1, 2, 3))
    space = ConceptSpace(tuple(Concept(slot.concept("size"), (0, 1, ABSENT)) for slot in slots), slots)
    codes = np.array([[0, 1, 0], [0, 2, 1], [2, 2, 0]])
    lists = [_listed(term) for term in WorldTemplate(space, "{each(boxes, {size})}").terms(codes)]
    assert lists == [[0, 1, 0], [0, 1], [0]]
    program = read_program("p(W) :- before(A, B), size(A, 1), size(B, 0), box_num(B, 3).")
    every = space.all_codes()
    expected = [row[2] == 0 and 1 in row[:2] for row in every.tolist()]
    assert label(program, Worlds(space, every), head="p").tolist() == expected
    assert evaluate(unfold(program, "p", space), space, every).tolist() == expected
    assert evaluate(formula_of(program, space, "p"), space, every).tolist() == expected


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("p(W) :- has_dog(W, D), hue(D, H), has_box(W, B), box_hue(B, H), n(W, N), N > 3.",
         "any(any(a.hue == b.hue and n > 3 for b in boxes) for a in dogs)"),
        ("p(W) :- has_box(W, B), \\+ size(B, 2).", "any(a.size != 2 for a in boxes)"),
        ("p(W) :- n(W, N), has_dog(W, D), age(D, N).", "any(n == a.age for a in dogs)"),
        ("p(W) :- n(W, 5) ; has_box(W, B), size(B, 1).", "n == 5 or any(a.size == 1 for a in boxes)"),
        ("p(W) :- forall(has_box(W, B), box_hue(B, red)).", "not any(a.hue != 'red' for a in boxes)"),
        ("p(W) :- aggregate_all(count, (has_dog(W, D), age(D, 1)), K), n(W, N), K < N - 2.",
         "count(a.age == 1 for a in dogs) < n - 2"),
        ("p(W) :- before(A, B), hue(A, grey).", "any(a.hue == 'grey' for a, b in pairs(dogs))"),
        ("p(W) :- has_dog(W, D), dog_num(D, 2), age(D, A), A + 1 =:= 4.", "any(a.number == 2 and a.age + 1 == 4 for a in dogs)"),
        ("p(W) :- has_box(W, A), has_box(W, B), A \\= B, size(A, S), size(B, S).",
         "any(any(a.number != b.number and a.size == b.size for b in boxes) for a in boxes)"),
    ],
)  # fmt: skip
def test_programs_about_two_groups_come_back_as_these_formulas(text, formula):
    found = formula_of(text, SPACE, "p")
    assert str(found) == formula
    expected = label(text, Worlds(SPACE, CODES), head="p")
    assert 0 < expected.sum() < len(CODES) and np.array_equal(evaluate(found, SPACE, CODES), expected)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("p(W) :- n(W, N), has_dog(W, D), age(D, N).", "n == dog2.age or (dog1.age != 'absent' and n == dog1.age)"),
        ("p(W) :- before(A, B), size(B, 1).", "box2.size != 'absent' and box2.size == 1"),
        ("p(W) :- tail(D, T), T = false.", "dog2.tail == False"), ("p(W) :- \\+ has_box(W, box2).", "box2.size == 'absent'"),
        ("p(W) :- dog_num(D, 1), hue(D, blue).", "dog1.age != 'absent' and dog1.hue == 'blue'"),
    ],
)  # fmt: skip
def test_paths_name_who_must_be_there(text, formula):
    assert unfold(read_program(text), "p", SPACE) == parse(formula)
    expected = label(text, Worlds(SPACE, CODES), head="p")
    assert np.array_equal(evaluate(parse(formula), SPACE, CODES), expected) and 0 < expected.sum() < len(CODES)
