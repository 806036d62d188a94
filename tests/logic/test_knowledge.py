"""Knowledge gives labels, flags, diagrams and plain data, and refuses rules that cannot serve."""

import json
from collections import Counter

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Constraint, Knowledge, Slot, bits, digits, evaluate, parse
from assay.base import AssayError, FormulaError, KnowledgeError, RuleUnknown, UnknownName, rng_for
from assay.logic import ABSENT, NO_RULE, TRUE, Label, LabelNoise

CARS = ConceptSpace(
    tuple(
        Concept(f"car{n}.{a}", v)
        for n in (1, 2)
        for a, v in [("hue", ("red", "blue", ABSENT)), ("load", (1, 2, 3, ABSENT))]
    ),
    tuple(Slot(f"car{n}", "cars", ("hue", "load")) for n in (1, 2)),
)


TRAIN = Knowledge.of(
    CARS,
    {"east": "any(x.hue == 'red' and heavy for x in cars)", "most": "car1.load", "first": "car1.hue"},
    [
        Constraint("engine", parse("car1.hue != 'absent'"), ("presence",)),
        Constraint("loads", parse("all(x.load != y.load for x, y in pairs(cars))"), ("counting", "pairs")),
    ],
    {"limit": "1 + 1", "heavy": "count(x.load >= limit for x in cars) >= 1"},
)


COIN = Knowledge.of(
    digits(["a", "b"]),
    {"y": "lead > 0", "plain": "a == b", "sum": "a + b"},
    definitions={"lead": "a - b"},
    odds={"y": LabelNoise(parse("2 * lead - 1"), 0.3)},
)


def test_labels_violations_and_possible_worlds():
    world = {"car1.hue": "red", "car1.load": 3, "car2.hue": "blue", "car2.load": 3}
    none = {"car1.hue": ABSENT, "car1.load": ABSENT, "car2.hue": ABSENT, "car2.load": ABSENT}
    codes = CARS.encode([world, {**world, "car2.load": 1}, none])
    assert TRAIN.labels_of(codes).tolist() == [[1, 2, 0], [1, 2, 0], [0, -1, -1]]
    assert TRAIN.violations(codes).tolist() == [[False, True], [False, False], [True, False]]
    assert TRAIN.label_names == ("east", "most", "first") and TRAIN.label("most").values == (1, 2, 3)
    inside = evaluate(TRAIN.possible, CARS, CARS.all_codes())
    assert inside.sum() == 6 * (1 + 2 * 2)  # any first car; no second one, or one with another load


def test_diagrams_of_all_worlds_and_of_those_within():
    codes = CARS.all_codes()
    inside = evaluate(TRAIN.possible, CARS, codes)
    values = list(zip(*(evaluate(label.formula, CARS, codes).tolist() for label in TRAIN.labels), strict=True))
    plain = [(east, ABSENT if load < 0 else load, hue) for east, load, hue in values]
    assert TRAIN.diagram.counts == Counter(plain)
    assert TRAIN.diagram_within(TRUE).counts == Counter((*row, bool(ok)) for row, ok in zip(plain, inside, strict=True))
    red = evaluate(parse("car1.hue == 'red'"), CARS, codes) & inside
    within = TRAIN.diagram_within(parse("car1.hue == 'red'")).counts
    assert sum(number for outcome, number in within.items() if outcome[-1]) == red.sum()


def test_definitions_name_parts_and_may_use_earlier_ones():
    assert (
        str(TRAIN.label("east").formula)
        == "any(x.hue == 'red' and count(x.load >= 1 + 1 for x in cars) >= 1 for x in cars)"
    )


def test_definitions_reach_labels_constraints_and_odds():
    space = digits(["a", "b"], range(3))
    knowledge = Knowledge.of(
        space, {"y": "far > 1"}, [Constraint("near", parse("far < 2 or a == 0"), ("t",))],
        {"lead": "a - b", "far": "abs(lead)"}, {"y": LabelNoise(parse("far - 1"), 2.0)},
    )  # fmt: skip
    assert str(knowledge.label("y").formula) == "abs(a - b) > 1"
    assert str(knowledge.constraints[0].formula) == "abs(a - b) < 2 or a == 0"
    assert str(knowledge.label("y").odds.score) == "abs(a - b) - 1" and knowledge.label("y").odds.scale == 2.0
    codes = space.all_codes()
    broken = [not (abs(a - b) < 2 or a == 0) for a, b in codes.tolist()]
    assert knowledge.violations(codes)[:, 0].tolist() == broken and any(broken)


def test_definitions_have_names_of_their_own():
    with pytest.raises(KnowledgeError, match="definition 'a' has the name of a concept"):
        Knowledge.of(bits(["a", "b"]), {"y": "a"}, definitions={"a": "b"})


def test_values_of_labels():
    space = digits(["a", "b"], (0, 1, 5))
    values = {name: Knowledge.of(space, {"y": text}).label("y").values for name, text in
              [("gaps", "a + b"), ("signs", "a - b"), ("big", "a ** 60"), ("truth", "a == b")]}  # fmt: skip
    assert values["gaps"] == (0, 1, 2, 5, 6, 10) and values["signs"] == (-5, -4, -1, 0, 1, 4, 5)
    assert values["big"] == (0, 1, 5**60) and values["truth"] == (False, True)
    assert Knowledge.of(CARS, {"y": "'red' if car1.load == 1 else car2.hue"}).label("y").values == ("red", "blue")
    codes = space.encode([{"a": 5, "b": 0}])
    assert Knowledge.of(space, {"y": "a ** 60"}).labels_of(codes).tolist() == [[2]]


def test_symbols_that_a_label_can_take_are_in_the_order_of_the_concept():
    space = ConceptSpace((Concept("hue", ("red", "blue", "grey", ABSENT)), Concept("n", (0, 1))))
    label = Knowledge.of(space, {"y": "hue if n == 1 else 'blue'"}).label("y")
    assert label.values == ("red", "blue", "grey") and label.kind == "symbol"
    two = Knowledge.of(space, {"y": "'grey' if hue == 'red' else 'blue' if n == 1 else 'grey'"}).label("y")
    assert two.values == ("grey", "blue")
    never = Knowledge.of(space, {"y": "'red' if n > 1 else hue if hue in ('blue', 'grey') else 'grey'"}).label("y")
    assert never.values == ("blue", "grey")  # red never comes out


def test_a_value_that_is_none_of_the_labels_has_no_code():
    space = ConceptSpace((Concept("a", (3, 1, 2, 7)), Concept("hue", ("red", "blue", "grey"))))
    labels = (Label("n", parse("a"), (2, 3)), Label("hue_too", parse("hue"), ("grey", "red")))
    codes = np.array([[0, 0], [1, 1], [2, 2], [3, 0]])
    assert Knowledge(space, labels).labels_of(codes).tolist() == [[1, 1], [-1, -1], [0, 0], [-1, 1]]


@pytest.mark.parametrize(
    ("labels", "limits", "kind", "says"),
    [
        ({}, [], KnowledgeError, "without a label"),
        ({"y": "a - a"}, [], KnowledgeError, "label 'y' is always 0: 'a - a' leaves nothing to learn"),
        ({"y": "'red'"}, [], KnowledgeError, "always red"),
        ({"my label": "a"}, [], KnowledgeError, "is no identifier"),
        ({"y": "a + bb"}, [], FormulaError, "no concept named 'bb'"),
        ({"y": "a +"}, [], FormulaError, "cannot be read"),
        ({"y": "a"}, [Constraint("c", parse("a + b"))], FormulaError, "constraint 'c' must be true or false"),
        ({"y": "a"}, [Constraint("c", parse("a and b"))], FormulaError, "not true or false"),
    ],
)
def test_rules_that_cannot_serve_are_refused(labels, limits, kind, says):
    with pytest.raises(kind) as caught:
        Knowledge.of(digits(["a", "b"]), labels, limits)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_unknown_labels_are_refused():
    with pytest.raises(UnknownName, match="no label named 'esat'; did you mean 'east'"):
        TRAIN.label("esat")


@pytest.mark.parametrize("key", ["concepts", "slots", "encoders", "labels", "constraints"])
@pytest.mark.parametrize("wrong", [None, 3, [3], [{"name": 3}], [{}]])
def test_damaged_data_is_refused(key, wrong):
    with pytest.raises(AssayError):
        Knowledge.from_dict({**TRAIN.to_dict(), key: wrong})
    with pytest.raises(KnowledgeError, match="not in the form that assay writes"):
        Knowledge.from_dict({name: value for name, value in TRAIN.to_dict().items() if name != key})


@pytest.mark.parametrize("name", [3, "a b", "class"])
def test_damaged_names_are_refused(name):
    data = Knowledge.of(bits(["a"]), {"y": "a"}).to_dict()
    with pytest.raises(AssayError):
        Knowledge.from_dict({**data, "concepts": [{"name": name, "values": [False, True]}]})


def test_plain_data_in_full():
    data = json.loads(json.dumps(TRAIN.to_dict()))
    assert data["slots"] == [{"name": f"car{n}", "group": "cars", "attributes": ["hue", "load"]} for n in (1, 2)]
    assert data["encoders"] == [{"name": g.name, "concepts": list(g.concepts)} for g in CARS.encoders]
    assert data["constraints"] == [
        {"name": "engine", "formula": "car1.hue != 'absent'", "tags": ["presence"]},
        {"name": "loads", "formula": "all(x.load != y.load for x, y in pairs(cars))", "tags": ["counting", "pairs"]},
    ]
    assert "subconcepts" not in data and Knowledge.from_dict(data) == TRAIN
    assert [one.tags for one in Knowledge.from_dict(data).constraints] == [("presence",), ("counting", "pairs")]


def test_odds_read_back():
    again = Knowledge.from_dict(json.loads(json.dumps(COIN.to_dict())))
    assert again == COIN and again.stochastic and not TRAIN.stochastic
    assert again.label("y").odds == LabelNoise(parse("2 * (a - b) - 1"), 0.3)  # what `lead` stands for
    assert again.label("plain").odds is None and "odds" not in COIN.to_dict()["labels"][1]


def test_chances_by_hand():
    chances = COIN.chances(np.array([[5, 4], [4, 5], [9, 0], [3, 3]]))
    assert chances[:, 0] == pytest.approx([1 / (1 + np.exp(-0.3 * score)) for score in (1, -3, 17, -1)])
    assert chances[:, 1].tolist() == [0, 0, 0, 1] and np.isnan(chances[:, 2]).all()
    certain = Knowledge.of(bits(["a"]), {"y": "a"}, odds={"y": LabelNoise(parse("2 * a - 1"), 10_000)})
    assert certain.chances(np.array([[0], [1]])).tolist() == [[0], [1]]


def test_drawn_labels_are_true_where_luck_is_below_chance():
    codes = COIN.space.all_codes()
    chance, plain = COIN.chances(codes)[:, 0], COIN.labels_of(codes)
    for luck in (0.0, 0.2, 0.5, 0.999999):
        found = COIN.drawn_labels(codes, np.full((len(codes), 3), luck))
        assert (found[:, 0] == (luck < chance)).all() and (found[:, 1:] == plain[:, 1:]).all()
    assert (COIN.labels_of(codes) == plain).all()  # what is drawn does not change the rule


def test_drawn_labels_are_true_as_often_as_their_chance():
    rows = np.repeat([[5, 4], [2, 6]], 4000, axis=0)
    found = COIN.drawn_labels(rows, rng_for(0, "luck").random((len(rows), 3)))[:, 0].reshape(2, -1).mean(axis=1)
    assert found == pytest.approx([1 / (1 + np.exp(-0.3)), 1 / (1 + np.exp(2.7))], abs=0.025)


def test_each_label_has_a_luck_of_its_own():
    even = LabelNoise(parse("a - a"), 1.0)
    knowledge = Knowledge.of(bits(["a"]), {"x": "a", "y": "a"}, odds={"x": even, "y": even})
    luck = np.array([[0.1, 0.9], [0.9, 0.1], [0.1, 0.1]])
    assert knowledge.drawn_labels(np.zeros((3, 1), dtype=int), luck).tolist() == [[1, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("odds", "kind", "says"),
    [
        ({"sum": LabelNoise(parse("a"), 1.0)}, KnowledgeError, "label 'sum': odds are for true-or-false labels"),
        ({"z": LabelNoise(parse("a"), 1.0)}, UnknownName, "odds for no label: 'z'; there is: sum, y"),
        ({"y": LabelNoise(parse("c"), 1.0)}, AssayError, "no concept named 'c'"),
    ],
)
def test_odds_that_cannot_serve_are_refused(odds, kind, says):
    with pytest.raises(kind) as caught:
        Knowledge.of(digits(["a", "b"]), {"y": "a > b", "sum": "a + b"}, odds=odds)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_a_symbol_is_no_score():
    with pytest.raises(KnowledgeError, match="with a number as score"):
        Knowledge.of(CARS, {"y": "car1.load == 2"}, odds={"y": LabelNoise(parse("car1.hue"), 1.0)})


@pytest.mark.parametrize("odds", [3, {}, {"score": "a"}, {"score": "a", "scale": None}])
def test_damaged_odds_are_refused(odds):
    data = Knowledge.of(bits(["a"]), {"y": "a"}).to_dict()
    with pytest.raises(KnowledgeError, match="not in the form that assay writes"):
        Knowledge.from_dict({**data, "labels": [{**data["labels"][0], "odds": odds}]})


CELLS = digits(["p", "q"], range(3))


FINER = Knowledge.of(CELLS, {"total": "p + q", "even": "p == q"})


COARSE = ConceptSpace((Concept("total", tuple(range(5))), Concept("even", (False, True))))


def test_two_levels_read_back_and_can_be_asked_for_some_concepts():
    knowledge = Knowledge.of(COARSE, {"y": "total >= 2 and even"}, subconcepts=FINER)
    again = Knowledge.from_dict(json.loads(json.dumps(knowledge.to_dict())))
    assert again == knowledge and again.subconcepts == FINER
    assert FINER.giving(["even"]).label_names == ("even",) and FINER.giving(["other"]) is None
    assert FINER.giving(["total", "even"]) == FINER


@pytest.mark.parametrize(
    ("finer", "says"),
    [
        (Knowledge.of(CELLS, {"sum": "p + q"}), "subconcepts give 'sum'"),
        (Knowledge.of(CELLS, {"total": "p + q + 1"}), "subconcepts give 'total'"),
        (Knowledge.of(CELLS, {"total": "p + 2 * q"}), "subconcepts give 'total'"),
        (Knowledge.of(digits(["even", "q"], range(3)), {"total": "even + q"}), "'even' is both a concept and a"),
    ],
)
def test_subconcepts_that_give_something_else_are_refused(finer, says):
    with pytest.raises(KnowledgeError, match=says):
        Knowledge.of(COARSE, {"y": "even"}, subconcepts=finer)


def test_counts_and_what_means_nothing_read_back():
    space = ConceptSpace((Concept("n", (0, 1, 2), counts=True), Concept("piece", ("none", "pawn"), nothing="none")))
    knowledge = Knowledge.of(space, {"y": "n >= 1 and piece == 'pawn'"})
    data = json.loads(json.dumps(knowledge.to_dict()))
    assert data["concepts"] == [
        {"name": "n", "values": [0, 1, 2], "counts": True},
        {"name": "piece", "values": ["none", "pawn"], "nothing": "none"},
    ]
    again = Knowledge.from_dict(data)
    assert again == knowledge and [c.counts for c in again.space.concepts] == [True, False]
    assert [c.nothing for c in again.space.concepts] == [None, "none"]


def test_listed_types_are_all_that_is_near():
    types = {"y": {"lamp out": "bus and not lamp", "no bus": "lamp and not bus"}}
    space = bits(["lamp", "bus", "tram"])
    knowledge = Knowledge.of(space, {"y": "lamp and (bus or tram)"}, types=types)
    again = Knowledge.from_dict(json.loads(json.dumps(knowledge.to_dict())))
    assert again == knowledge and [region.name for region in again.label("y").types] == ["lamp out", "no bus"]
    boundary, codes = again.boundaries[0], space.all_codes()
    worlds = [dict(zip(space.names, row, strict=True)) for row in codes.tolist()]
    false = [not (w["lamp"] and (w["bus"] or w["tram"])) for w in worlds]
    expected = [
        [f and w["bus"] and not w["lamp"], f and w["lamp"] and not w["bus"]] for f, w in zip(false, worlds, strict=True)
    ]
    assert boundary.in_types(codes).tolist() == [[bool(x) for x in row] for row in expected]
    assert boundary.near(codes).tolist() == [any(row) for row in expected]
    assert boundary.in_variants(codes).any(axis=1).tolist() == [not f for f in false]
    tags = dict(zip(map(tuple, codes.tolist()), boundary.tags(codes), strict=True))
    assert tags[0, 1, 0] == tags[0, 1, 1] == "lamp out" and tags[1, 0, 0] == "no bus" and tags[0, 0, 1] == "far"
    assert tags[1, 1, 1] == "; ".join(region.name for region in boundary.variants)


def test_types_that_cannot_serve_are_refused():
    space = digits(["a", "b"])
    with pytest.raises(FormulaError, match="type 'odd' of label 'y' must be true or false"):
        Knowledge.of(space, {"y": "a > b"}, types={"y": {"odd": "a + b"}})
    listed = Knowledge.of(space, {"y": "a + b"}, types={"y": {"small": "a < 3"}})
    with pytest.raises(KnowledgeError, match="types cannot be listed for 'a \\+ b'"):
        listed.boundaries


def test_types_are_of_the_label_that_they_are_listed_for():
    rules = {"x": "a and b", "y": "b or c", "z": "c"}
    types = {"y": {"none": "not b and not c"}, "w": {"no label": "a"}, "x": {"one": "a ^ b", "no a": "not a"}}
    odds = {"y": LabelNoise(parse("2 * b - 1"), 0.25), "x": LabelNoise(parse("a + 2"), 3.0)}
    knowledge = Knowledge.of(bits(["a", "b", "c"]), rules, types=types, odds=odds)
    found = {label.name: {region.name: str(region.formula) for region in label.types} for label in knowledge.labels}
    assert found == {"x": {"one": "xor(a, b)", "no a": "not a"}, "y": {"none": "not b and not c"}, "z": {}}
    assert [label.odds for label in knowledge.labels] == [odds["x"], odds["y"], None] and knowledge.stochastic
    data = json.loads(json.dumps(knowledge.to_dict()))
    assert data["labels"] == [
        {"name": "x", "formula": "a and b", "values": [False, True], "types": {"one": "xor(a, b)", "no a": "not a"},
         "odds": {"score": "a + 2", "scale": 3.0}},
        {"name": "y", "formula": "b or c", "values": [False, True], "types": {"none": "not b and not c"},
         "odds": {"score": "2 * b - 1", "scale": 0.25}},
        {"name": "z", "formula": "c", "values": [False, True]},
    ]  # fmt: skip
    assert Knowledge.from_dict(data) == knowledge
    assert [boundary.listed for boundary in knowledge.boundaries] == [True, True, False]


def test_a_knowledge_in_words():
    assert repr(COIN).startswith("Knowledge(y = a - b > 0; plain = a == b; sum = a + b; concepts a, b; 0 constraints")
    unruled = Knowledge(bits(["a"]), (Label("y", NO_RULE, (False, True)),))
    assert "y by no known rule" in repr(unruled)
    for asked in ("labels_of", "diagram", "boundaries"):
        with pytest.raises(RuleUnknown, match="none is known for label 'y'"):
            unruled.labels_of(np.zeros((1, 1), int)) if asked == "labels_of" else getattr(unruled, asked)


def test_a_rule_is_known_where_that_of_every_label_is():
    known, unknown = Label("x", parse("a"), (False, True)), Label("y", NO_RULE, (False, True))
    both = Knowledge(bits(["a"]), (known, unknown))
    assert not both.has_rule and Knowledge(bits(["a"]), (known,)).has_rule
    assert (known.equation, unknown.equation) == ("x = a", "y by no known rule")
    with pytest.raises(RuleUnknown, match="^drawing needs a rule, and none is known for label 'y'"):
        both.require_rule("drawing")
    assert both.giving(["x"]) == Knowledge(bits(["a"]), (known,)) and both.giving(["y", "x"]) == both


def test_a_diagram_has_labels_then_stages_then_whether_a_world_is_within():
    space = digits(["a", "b"], range(4))
    knowledge = Knowledge.of(space, {"sum": "a + b", "even": "a == b"}, [Constraint("small", parse("a + b < 6"))])
    diagram = knowledge.diagram_within(parse("a > 0"), [parse("b > 1"), parse("a > b")])
    worlds = [(a, b) for a in range(4) for b in range(4)]
    assert diagram.counts == Counter((a + b, a == b, b > 1, a > b, a > 0 and a + b < 6) for a, b in worlds)
    assert knowledge.diagram_within(parse("a > 0"), [parse("b > 1"), parse("a > b")]) is diagram
    assert knowledge.diagram_within(parse("a > 0"), [parse("a > b"), parse("b > 1")]) is not diagram


def test_boundaries_and_chances_are_of_each_label_in_its_place():
    space = bits(["a", "b", "c"])
    knowledge = Knowledge.of(space, {"x": "a and b", "n": "a + c", "z": "b or c"}, [Constraint("limit", parse("a or b"))], odds={"z": LabelNoise(parse("3 * b - c"), 0.5)})  # fmt: skip
    assert [str(boundary.label) for boundary in knowledge.boundaries] == ["a and b", "a + c", "b or c"]
    assert [boundary.explicit for boundary in knowledge.boundaries] == [True, False, True]
    assert {str(boundary.within) for boundary in knowledge.boundaries} == {"a or b"}
    codes = space.all_codes()
    chances = knowledge.chances(codes)
    assert chances[:, 0].tolist() == [float(a and b) for a, b, _ in codes.tolist()] and np.isnan(chances[:, 1]).all()
    assert chances[:, 2] == pytest.approx([1 / (1 + np.exp(-0.5 * (3 * b - c))) for _, b, c in codes.tolist()])
    luck = np.tile([0.9, 0.9, 0.5], (8, 1))
    drawn = knowledge.drawn_labels(codes, luck)
    assert drawn.tolist() == [[int(a and b), a + c, int(3 * b - c > 0)] for a, b, c in codes.tolist()]
    assert knowledge.can_be(codes).tolist() == [bool(a or b) for a, b, _ in codes.tolist()]
    assert knowledge.violations(codes).tolist() == [[not (a or b)] for a, b, _ in codes.tolist()]
