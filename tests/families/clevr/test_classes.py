"""The rules of CLEVR-Hans, on random scenes of six objects, as plain Python counts them."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot
from assay.families.clevr.hans_classes import BOTH, HANS3, HANS7
from assay.logic import Evaluator, parse

VALUES = {
    "colour": ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"),
    "shape": ("cube", "sphere", "cylinder"),
    "material": ("rubber", "metal"),
    "size": ("large", "small"),
    "side": ("left", "right"),
    "row": (1, 2, 3, 4, 5, 6),
}
SLOTS = tuple(Slot(f"object{n}", "objects", tuple(VALUES)) for n in range(1, 7))
SPACE = ConceptSpace(tuple(Concept(slot.concept(name), VALUES[name]) for slot in SLOTS for name in VALUES), SLOTS)


def some(scene, number=1, **facts):
    """Return whether so many objects have these values."""
    return sum(all(one[name] == value for name, value in facts.items()) for one in scene) >= number


def in_front(scene, **facts):
    cyan = [one for one in scene if one["colour"] == "cyan" and all(one[name] == facts[name] for name in facts)]
    return any(sum(y["colour"] == "red" and x["row"] < y["row"] for y in scene) >= 2 for x in cyan)


def small_colours(scene):
    return some(scene, 5, size="small") and all(
        some(scene, size="small", colour=c) for c in ("brown", "green", "purple")
    )


def right(scene):
    return some(scene, 3, shape="cylinder", material="metal", side="right")


def left(scene):
    return some(scene, 3, shape="sphere", side="left")


RULES = (
    lambda s: some(s, size="large", shape="cube") and some(s, size="large", shape="cylinder"),
    lambda s: some(s, size="small", shape="cube", material="metal") and some(s, size="small", shape="sphere"),
    in_front,
    small_colours,
    left,
    lambda s: right(s) and not left(s),
    lambda s: (
        some(s, size="large", shape="sphere", colour="blue") and some(s, size="small", shape="sphere", colour="yellow")
    ),
)
CONFOUNDERS = {
    0: (lambda s: some(s, size="large", shape="cube", colour="gray"), 1.0),
    1: (lambda s: some(s, size="small", shape="sphere", material="metal"), 1.0),
    2: (lambda s: in_front(s, size="small", shape="cube"), 1.0),
    4: (lambda s: not right(s), 0.9),
}


def scenes():
    """Return scenes in which every rule holds now and then: some colours and shapes are more frequent."""
    rng, codes = np.random.default_rng(2), []
    for name, values in list(VALUES.items()) * 6:
        weights = np.ones(len(values))
        if name == "colour":
            weights = np.array([1, 5, 2, 2, 2, 2, 4, 2.0])
        codes.append(rng.choice(len(values), 1200, p=weights / weights.sum()))
    spread = np.stack(codes, axis=1)
    spread[::2, 3::6] = rng.random((600, 6)) < 0.85  # nearly all small
    return spread


def same(formula, test):
    codes = scenes()
    found = np.asarray(Evaluator(SPACE, parse(formula))(codes), dtype=bool)
    values = [SPACE.decode(row) for row in codes.tolist()]
    objects = [[{name: one[f"object{n}.{name}"] for name in VALUES} for n in range(1, 7)] for one in values]
    expected = np.array([test(scene) for scene in objects])
    assert 0 < expected.sum() < len(expected) and (found == expected).all()


@pytest.mark.parametrize("number", range(7))
def test_a_rule_holds_where_it_should(number):
    same(HANS7.rules[number], RULES[number])


@pytest.mark.parametrize("number", CONFOUNDERS)
def test_a_confounder_holds_where_it_should(number):
    test, share = CONFOUNDERS[number]
    formula, strength = HANS7.confounders[HANS7.rules[number]]
    assert strength == share
    same(formula, test)


def test_three_classes_are_among_the_seven():
    assert HANS3.rules == (HANS7.rules[0], HANS7.rules[1], HANS7.rules[6]) and len(HANS7.confounders) == 4
    assert HANS3.confounders == {rule: HANS7.confounders[rule] for rule in HANS3.rules[:2]}
    assert (HANS3.least, HANS7.least, BOTH) == ((2, 2, 2), (2, 2, 3, 5, 3, 3, 2), 6)
    first, second, _ = HANS3.rules
    assert HANS3.label == f"1 if {first} else 2 if {second} else 3"
