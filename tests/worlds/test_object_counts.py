"""Worlds with few or many objects: every number as often as another, labels evenly in each, by counting or drawing."""

from collections import Counter

import numpy as np
import pytest

from assay.base import KnowledgeError
from assay.logic import ABSENT, Concept, ConceptSpace, Knowledge, Slot, parse
from assay.worlds import Split, object_count_source

RULES = {"some": "any(x.n == 3 for x in things)", "many": "count(x.hue == 'red' for x in things) >= 2"}
TWINS = "any(x.n == y.n and x.hue == y.hue for x, y in pairs(things))"
HUES = ("red", "green", "blue", "pink", "cyan", "brown", "grey", "white")


def things(rules, most=4, always=0, numbers=3, hues=("red", "blue")):
    """Return knowledge of objects, the first of which are always there, with a concept beside them."""
    slots = tuple(Slot(f"o{place}", "things", ("n", "hue")) for place in range(1, most + 1))
    concepts = [
        Concept(slot.concept(name), values if place < always else (*values, ABSENT))
        for place, slot in enumerate(slots)
        for name, values in (("n", tuple(range(1, numbers + 1))), ("hue", hues))
    ]
    return Knowledge.of(ConceptSpace((Concept("day", (False, True)), *concepts), slots), rules)


FEW = things(RULES, always=2)
MANY = things({"twins": TWINS, "night": "not day"}, most=7, numbers=8, hues=HUES)  # no diagram of it is small


def source(knowledge, numbers, seed=0, **facts):
    split = Split(**{"name": "train", "size": 1, **facts})
    return object_count_source(knowledge, split, seed, "test", numbers=numbers, style=lambda rng, _, pool: {"of": pool})


def sizes(knowledge, codes):
    """Return how many objects each world has, which must be the first ones and whole."""
    there = codes != [concept.codes.get((str, ABSENT), -1) for concept in knowledge.space.concepts]
    assert (there[:, 1::2] == there[:, 2::2]).all() and (np.diff(there[:, 1::2].astype(int)) <= 0).all()
    return there[:, 1::2].sum(axis=1)


@pytest.mark.parametrize(("knowledge", "numbers"), [(FEW, (2, 4)), (MANY, (3, 5, 7))], ids=["counted", "drawn"])
def test_every_number_of_objects_is_as_frequent_as_another_and_labels_in_each(knowledge, numbers):
    held = source(knowledge, numbers)
    codes = held.codes(np.arange(240))
    labels = map(tuple, knowledge.labels_of(codes).tolist())
    found = Counter(zip(sizes(knowledge, codes).tolist(), labels, strict=True))
    assert found == {(n, (a, b)): 60 // len(numbers) for n in numbers for a in (0, 1) for b in (0, 1)}
    assert held.worlds(np.array([7]))[0].style == {"of": "train"}


@pytest.mark.parametrize(("knowledge", "numbers"), [(FEW, (2, 4)), (MANY, (3, 5, 7))], ids=["counted", "drawn"])
def test_other_numbers_and_halves_of_objects_are_no_worlds(knowledge, numbers):
    held = source(knowledge, numbers, where=parse("o1.n != 2 or day"))
    codes = held.codes(np.arange(60))
    assert held.contains(codes).all() and ((codes[:, 1] != 1) | (codes[:, 0] == 1)).all()
    absent = [len(concept.values) - 1 for concept in knowledge.space.concepts]
    half, other, shut = codes.copy(), codes.copy(), codes.copy()
    half[:, -1] = np.where(codes[:, -1] == absent[-1], 0, absent[-1])  # a slot of which one attribute is absent
    other = other[sizes(knowledge, codes) == max(numbers)]
    other[:, 2 * max(numbers) - 1 :] = absent[2 * max(numbers) - 1 :]  # one object fewer
    shut[:, 0], shut[:, 1] = 0, 1  # what the split's own formula shuts out
    for wrong in (half, other, shut):
        assert not held.contains(wrong).any()


def test_different_worlds_are_counted():
    assert source(FEW, (2, 3, 4)).total == 2 * (6**2 + 6**3 + 6**4)
    assert source(MANY, (3, 5)).total == 2 * (64**3 + 64**5)


def test_by_world_no_label_is_wanted():
    held = source(MANY, (4,), balance="world")
    share = 1 - (63 * 62 * 61) / 64**3  # the birthday of four
    assert MANY.labels_of(held.codes(np.arange(8000)))[:, 0].mean() == pytest.approx(share, abs=0.02)


def test_a_share_is_about_as_large_as_asked_for():
    """`contains` of worlds of all shares tells how many are of one."""
    codes = source(MANY, (5,)).codes(np.arange(2000))
    parts = [source(MANY, (5,), share=share, name=name) for name, share in (("a", (0, 0.3)), ("b", (0.3, 1)))]
    inside = np.array([part.contains(codes) for part in parts])
    assert (inside.sum(axis=0) == 1).all() and inside[0].mean() == pytest.approx(0.3, abs=0.04)


def test_a_label_that_never_varies_is_refused():
    few = things({**RULES, "few": "count(x.hue == 'red' for x in things) <= 3"}, always=2)
    with pytest.raises(KnowledgeError, match="label 'few' is always True"):
        source(few, (3,))
    with pytest.raises(KnowledgeError, match="with 1 objects label 'twins' is False in all of 20,000 draws"):
        source(MANY, (1, 3))
    with pytest.raises(KnowledgeError, match="is missing in all of 20,000 draws"):
        source(MANY, (3,), where=parse("day and not day"))
