"""The embedded learner of clauses: it finds the rules of trains, says which rules it can say, and is read as Prolog."""

import numpy as np
import pytest

from assay import Knowledge, digits, evaluate
from assay.logic import ABSENT, Concept, ConceptSpace, Slot
from assay.metrics import relations_in
from assay.prolog import Worlds, formula_of, label, read_program
from assay.tasks import TASKS
from tests.models.symbolic.tables import cars, drawn, notes, said, taught, trains

NARROW = {"counts": 0, "triples": False, "objects": 2, "comparisons": False, "literals": 3}
WIDE = {"objects": 3, "literals": 4, "counts": 3, "triples": True}


def relation(model, knowledge):
    """Return how the learned formula relates to the rule."""
    (found,) = relations_in(model.state(), knowledge)
    assert found.exact
    return found.relation


# -- it finds rules ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "size"), [("theory_x", 250), ("numerical", 250), ("complex", 600)])
def test_rules_of_trains_are_found_exactly(rule, size):
    knowledge, codes = trains(rule, size)
    model = taught("ilp", knowledge, codes, seconds=60, **{**WIDE, "counts": 2})
    assert relation(model, knowledge) == "equal"
    assert notes(model, "east")["errors"] == 0 and notes(model, "east")["bias"]["expressible"]


@pytest.mark.slow
def test_theory_x_is_found_among_wrong_labels():
    knowledge, codes = trains("theory_x", 500)
    labels = knowledge.labels_of(codes).copy()
    wrong = np.random.default_rng(0).permutation(500)[:50]
    labels[wrong] = 1 - labels[wrong]
    model = taught("ilp", knowledge, codes, labels, seconds=60, **NARROW)
    assert relation(model, knowledge) == "equal" and notes(model, "east")["errors"] == 50


@pytest.mark.slow
def test_labels_that_are_noise_are_not_explained():
    knowledge, codes = trains("theory_x", 300)
    labels = np.random.default_rng(1).integers(0, 2, (300, 1))
    assert notes(taught("ilp", knowledge, codes, labels, seconds=60, **NARROW), "east")["clauses"] <= 1


def test_each_value_of_a_label_gets_clauses():
    knowledge = Knowledge.of(digits(["a", "b"], range(4)), {"least": "min(a, b)"})
    codes = np.tile(knowledge.space.all_codes().astype(np.int64), (6, 1))
    model = taught("ilp", knowledge, codes)
    assert notes(model, "least")["3"]["errors"] == 0 and (said(model, codes) == knowledge.labels_of(codes)).all()


def test_a_search_ends_in_its_time_with_the_best_so_far():
    knowledge, codes = trains("complex", 1000)
    told = notes(taught("ilp", knowledge, codes, seconds=1.5, **WIDE), "east")
    assert not told["complete"] and told["errors"] < 500 and told["seconds"] < 10


# -- objects, formulas and Prolog --------------------------------------------------------------------------------------

HAT = {"colour": ("red", "blue", "Sky blue"), "price": (2, 3, 4)}
GROUPS = ConceptSpace(
    (
        *(Concept(f"cup{n}.size", (1, 2, 3, ABSENT)) for n in (1, 2, 3)),
        *(Concept(f"hat{n}.{name}", values) for n in (1, 2) for name, values in HAT.items()),
        Concept("warm", (False, True)),
        Concept("day", (1, 2, 3)),
    ),
    (*(Slot(f"cup{n}", "cups", ("size",)) for n in (1, 2, 3)), *(Slot(f"hat{n}", "hats", tuple(HAT)) for n in (1, 2))),
)
"""Two groups of objects, some absent, and plain concepts."""
NUMBERED = ConceptSpace(
    tuple(Concept(f"{name}.number", (1, 2, 3)) for name in "pq"),
    tuple(Slot(name, "cups", ("number",)) for name in "pq"),
)
"""Objects with a number of their own, which is not their place."""


@pytest.mark.parametrize(
    ("space", "rule"),
    [
        (cars(3), "any(x.colour == 'red' and x.load == 2 for x in cars)"),
        (cars(3, absent=True), "any(x.colour == 'red' for x in cars) or count(x.load == 1 for x in cars) == 2"),
        (cars(3), "any(x.colour == y.colour and x.load == 1 for x, y in pairs(cars))"),
        (GROUPS, "any(x.size == 2 for x in cups) and any(x.colour == 'Sky blue' for x in hats)"),
        (GROUPS, "warm and day > 1 or any(x.price == 4 for x in hats)"),
        (NUMBERED, "any(x.number == 3 for x in cups)"),
        (cars(2), "car1.load == 2"),
    ],
)
def test_a_program_is_what_its_formula_and_its_prolog_say_and_covers_what_is_told(space, rule):
    """Also where no clauses say the rule itself: the answers, the formula, the program and the errors agree."""
    knowledge, codes = Knowledge.of(space, {"y": rule}), drawn(space, 150)
    model = taught("ilp", knowledge, codes, objects=3, literals=3, counts=2, seconds=20)
    told, formula = notes(model), model.formulas["y"]
    fresh = np.concatenate([codes, drawn(space, 70, seed=1)])
    holds = np.asarray(evaluate(formula, space, fresh), dtype=bool)
    assert (said(model, fresh)[:, 0] == holds).all()
    assert told["errors"] == int((holds[:150] != knowledge.labels_of(codes)[:, 0].astype(bool)).sum())
    if told["bias"]["expressible"]:
        assert told["errors"] == 0
    text = "\n".join(told["prolog"])
    assert (label(read_program(text, "learned"), Worlds(space, fresh), head="y") == holds).all()
    assert (np.asarray(evaluate(formula_of(text, space, "y"), space, fresh), dtype=bool) == holds).all()


# -- what can be said --------------------------------------------------------------------------------------------------

NUMBERS = tuple(Concept(name, (0, 1, 2, 3)) for name in "nmk")
WAGONS = tuple(
    Concept(f"car{place}.{name}", values)
    for place in (1, 2, 3)
    for name, values in (("colour", ("red", "blue", "green", "white")), ("wheels", (1, 2, 3)))
)
SPACE = ConceptSpace(
    (*WAGONS, *NUMBERS, Concept("on", (False, True))),
    tuple(Slot(f"car{place}", "cars", ("colour", "wheels")) for place in (1, 2, 3)),
)
BARE = {"order": False, "comparisons": False, "others": False, "triples": False, "counts": 1}
REDS = "count(c.colour == 'red' for c in cars)"


def told(rule, space=SPACE, **language):
    """Return what is recorded of a rule in a language: one example, in which there is nothing to be searched."""
    model = taught("ilp", Knowledge.of(space, {"y": rule}), np.zeros((1, len(space)), dtype=int), **language)
    return notes(model)["bias"]


@pytest.mark.parametrize(
    ("rule", "wide", "bare"),
    [
        ("on", 1, 1),
        ("n > 1", 1, 2),  # as 2 and 3, where nothing compares
        ("n == 1 or on", 2, 2),
        ("not (on and n == 1)", 3, 4),  # not on, or below 1, or above
        ("n == 2 and m == 3 if on else m == 1", 2, 2),
        ("n < m", 1, 6),
        ("n + m == 3", 4, 4),
        ("n < 0 or on", 1, 1),
        ("all_equal(n, m)", 1, 4),
        ("any(c.colour == 'red' for c in cars)", 1, 1),
        ("not all(c.colour == 'red' for c in cars)", 1, 3),
        ("all(c.colour == 'red' for c in cars)", None, None),
        ("all(c.colour != 'red' for c in cars)", 1, 1),
        ("any(c.colour == 'red' and c.wheels > 1 for c in cars)", 1, 2),
        ("any(c.number == 2 and c.wheels == 3 for c in cars)", 1, None),
        ("any(a.colour == b.colour for a, b in pairs(cars))", 1, None),
        (f"{REDS} == 2", 1, None),
        (f"{REDS} < 2", 2, 2),
        (f"not {REDS} == 2", 3, None),
        ("car1.colour == 'red'", None, None),  # no object is called by its name
    ],
)
def test_a_rule_is_expressible_in_so_many_clauses(rule, wide, bare):
    for language, clauses in ((WIDE, wide), (BARE, bare)):
        found = told(rule, clauses=9, **{**WIDE, **language})
        assert (found["clauses"] if found["expressible"] else None) == clauses
        if clauses is not None and clauses > 1:
            small = told(rule, **{**WIDE, **language, "clauses": clauses - 1})
            assert not small["expressible"] and f"{clauses - 1} are allowed" in small["why"]


def test_why_a_rule_cannot_be_said_is_told():
    assert told("n == 1 and on", literals=1)["why"] == "a clause takes 2 literals"
    assert told("any(c.wheels == 1 for c in cars)", objects=0)["why"] == "a clause speaks of 1 objects"
    assert "it counts" in told("all(c.wheels == 1 for c in cars)")["why"]
    assert "no literal says" in told("n + m + k + on != 0")["why"]
    assert "clauses" in told("n * 0 + m * 0 + k * 0 + on == 1", clauses=9, literals=4)["why"]


@pytest.mark.parametrize("rule", ["theory_x", "numerical", "complex", "easy", "color", "multi"])
def test_the_rules_of_trains_can_be_said(rule):
    space = TASKS["trains"](image=False).space
    formula = str(TASKS["trains"](image=False, rule=rule).knowledge.labels[0].formula)
    assert told(formula, space, **WIDE)["expressible"]
    assert not told(formula, space, **{**BARE, "counts": 0, "clauses": 2})["expressible"]


@pytest.mark.parametrize("seed", range(4))
def test_a_rule_that_can_be_said_is_learned_without_error(seed):
    """Rules drawn over objects and plain concepts, from all that a few hundred worlds show of them."""
    rng = np.random.default_rng(seed)
    space = ConceptSpace((*cars(2).concepts, Concept("n", (0, 1, 2)), Concept("on", (False, True))), cars(2).slots)
    parts = ["on", "not on", "n > 0", "n == 2", "any(x.colour == 'red' for x in cars)",
             "any(x.load == 2 and x.colour == 'blue' for x in cars)", "count(x.load == 1 for x in cars) == 1"]  # fmt: skip
    one, two, three = rng.choice(parts, 3, replace=False)
    knowledge, codes = Knowledge.of(space, {"y": f"{one} and {two} or {three}"}), drawn(space, 250, seed)
    model = taught("ilp", knowledge, codes, counts=1, literals=4, seconds=30)
    assert notes(model)["bias"]["expressible"] and notes(model)["errors"] == 0
