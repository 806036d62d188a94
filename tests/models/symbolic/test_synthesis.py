"""The synthesiser finds the cheapest program, and with it the rules of COCOLogic-V2 from 24 examples."""

import itertools

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Knowledge, bits, digits, evaluate, parse
from assay.logic import ABSENT, Slot
from assay.tasks import TASKS
from tests.models.symbolic.tables import MIXED, differing, drawn, notes, said, taught

WIDE = {"seconds": 60.0, "programs": 300_000, "largest_group": 4}
PRICES = {"not": 1.0, "and": 1.0, "or": 1.25, "xor": 2.25}
"""What joining programs costs, in bits."""


@pytest.mark.parametrize("seed", [0, 25])
def test_most_rules_of_the_paper_are_found_exactly_from_24_examples(seed):
    exact = []
    for rule, formula in TASKS["cocologic"]().rules.items():
        task = TASKS["cocologic-fs"](rule=rule)
        split = next(one for one in task.splits() if one.name == "train")
        codes = task.source_for(split, seed).codes(np.arange(24))
        model = taught("synthesis", task.knowledge, codes, **WIDE)
        assert notes(model, rule)["errors"] == 0 and notes(model, rule)["complete"]
        exact.append(differing(model.formulas[rule], formula, task.space) == 0)
    assert len(exact) == 10 and sum(exact) >= 8


# -- the cheapest program ----------------------------------------------------------------------------------------------


def cheapest(knowledge, codes, target):
    """Return the cost in bits of the program that is learned, which is right on all examples."""
    model = taught("synthesis", knowledge, codes, target[:, None].astype(int), **{**WIDE, "largest_group": 2})
    told = notes(model)
    assert told["errors"] == 0 and told["complete"] and (said(model, codes)[:, 0] == target).all()
    assert len(told["rivals"]) <= 5
    for text, bits_ in told["rivals"]:  # other programs that explain the examples, none of them cheaper
        assert bits_ >= told["bits"] and (evaluate(parse(text), knowledge.space, codes) == target).all()
    return told["bits"]


@pytest.mark.parametrize("seed", range(3))
def test_no_cheaper_program_explains_the_examples(seed):
    """What joins two programs costs at most both and the operation: a law that only cheapest programs keep."""
    space = ConceptSpace((*(Concept(name, (0, 1, 2, 3), counts=True) for name in "ab"), Concept("c", (False, True))))
    codes = np.random.default_rng(seed).permutation(space.all_codes())[:4].astype(np.int64)
    knowledge = Knowledge.of(space, {"y": "c"})
    targets = {number: np.array([bool(number >> row & 1) for row in range(4)]) for number in range(1, 15)}
    bits_ = {number: cheapest(knowledge, codes, target) for number, target in targets.items()}
    for a, b in itertools.product(bits_, repeat=2):
        assert bits_[15 - a] <= bits_[a] + PRICES["not"]
        for joined, price in ((a & b, PRICES["and"]), (a | b, PRICES["or"]), (a ^ b, PRICES["xor"])):
            assert joined in (0, 15) or bits_[joined] <= bits_[a] + bits_[b] + price


def test_a_truth_value_costs_its_predicate_and_its_name():
    space = bits(["a", "b", "c"])
    codes = space.all_codes().astype(np.int64)
    exists, name = 1.0, np.log2(3)  # each of the three is seen as often
    assert cheapest(Knowledge.of(space, {"y": "c"}), codes, codes[:, 0] == 1) == round(8 * (exists + name)) / 8


# -- other kinds of labels and concepts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "rule"),
    [
        (bits(list("abcde")), "exactly(2, a, b, c, d)"),
        (bits(list("abcde")), "not (a and b) and e"),
        (digits(["a", "b", "c"], range(4)), "a > b and c != 2"),
        (digits(["a", "b", "c"]), "a + c + 1"),
        (MIXED, "n + b"),
        (ConceptSpace(tuple(Concept(n, ("red", "green", "blue")) for n in "xyz")), "x == y and z == 'red'"),
    ],
)
def test_rules_are_found_over_other_concepts(space, rule):
    model = taught("synthesis", Knowledge.of(space, {"y": rule}), space.all_codes().astype(np.int64), **WIDE)
    assert differing(model.formulas["y"], parse(rule), space) == 0


def test_a_label_with_names_gets_a_program_for_each():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "'both' if a and b else 'one' if a ^ b else 'none'"})
    codes = knowledge.space.all_codes().astype(np.int64)
    model = taught("synthesis", knowledge, codes)
    assert (said(model, codes) == knowledge.labels_of(codes)).all() and len(model.describe()) == 3


def test_rules_about_slots_are_found():
    values = {"colour": (ABSENT, "red", "blue", "green"), "shape": (ABSENT, "disc", "box", "star")}
    slots = tuple(Slot(f"thing{i}", "things", ("colour", "shape")) for i in range(3))
    concepts = tuple(Concept(slot.concept(a), values[a]) for slot in slots for a in slot.attributes)
    space = ConceptSpace(concepts, slots)
    rng = np.random.default_rng(0)
    codes = rng.integers(1, 4, (300, 6)) * np.repeat(rng.random((300, 3)) < 0.8, 2, axis=1)
    for rule in (
        "any(x.colour == 'red' and x.shape == 'disc' for x in things)",
        "count(x.colour == 'blue' for x in things) > count(x.shape == 'box' for x in things)",
        "count(x.colour == 'green' for x in things) == 2",
    ):
        model = taught("synthesis", Knowledge.of(space, {"y": rule}), codes, **WIDE)
        assert notes(model)["errors"] == 0 and differing(model.formulas["y"], parse(rule), space) == 0, rule


# -- noise, many examples, budgets -------------------------------------------------------------------------------------


def test_a_few_wrong_labels_do_not_hide_the_rule():
    knowledge = Knowledge.of(bits(list("abcdef")), {"y": "a and b or c"})
    codes = np.random.default_rng(3).integers(0, 2, (120, 6))
    labels = knowledge.labels_of(codes).copy()
    labels[[4, 50, 90]] ^= 1
    model = taught("synthesis", knowledge, codes, labels, programs=3000)
    assert differing(model.formulas["y"], knowledge.labels[0].formula, knowledge.space) == 0
    assert notes(model)["errors"] == 3


def test_errors_that_cost_little_make_programs_short():
    knowledge, codes = Knowledge.of(bits(list("abcd")), {"y": "a and b or c and d"}), drawn(bits(list("abcd")), 60)
    labels = knowledge.labels_of(codes).copy()
    labels[::7] ^= 1
    dear, cheap = (
        notes(taught("synthesis", knowledge, codes, labels, programs=300, error_bits=bits_)) for bits_ in (20.0, 0.1)
    )
    assert cheap["errors"] >= dear["errors"] and cheap["bits"] < dear["bits"]


def test_many_examples_are_met_by_those_that_are_got_wrong():
    space = digits(["a", "b", "c", "d"])
    knowledge = Knowledge.of(space, {"y": "a > b and c == 7"})
    codes = np.random.default_rng(0).integers(0, 10, (5000, 4))
    model = taught("synthesis", knowledge, codes, **WIDE)
    assert differing(model.formulas["y"], knowledge.labels[0].formula, space) == 0


def test_time_is_kept_and_the_best_so_far_is_given():
    space = digits([f"d{i}" for i in range(6)])
    knowledge = Knowledge.of(space, {"y": "(d0 * d1 + d2 * d3 + d4 * d5) % 2 == 0"})
    codes = np.random.default_rng(0).integers(0, 10, (200, 6))
    told = notes(taught("synthesis", knowledge, codes, seconds=0.5, programs=10**9))  # without a limit, hours
    assert not told["complete"] and 0 < told["errors"] < 100
