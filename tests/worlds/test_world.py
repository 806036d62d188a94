"""A world is what its text says, and changes only where it is told to."""

from typing import Any

import pytest

from assay.base import ConfigError, DataError, UnknownName
from assay.logic import Concept, ConceptSpace, bits, digits, parse
from assay.worlds import Quota, Split, World

WORLD = World(digits(["a", "b"]), (3, 4), {"pool": "test", "draw": [7, 9]})
MIXED = ConceptSpace((Concept("hue", ("red", "blue")), Concept("big", (False, True)), Concept("n", (-1, 5))))


@pytest.mark.parametrize(
    "world",
    [WORLD, World(bits(["p", "q"]), (1, 0), {}), World(MIXED, (1, 1, 0), {"note": "a | b=c", "x": [0.1, None]})],
)
def test_text_is_read_back(world: World) -> None:
    assert World.from_text(world.text, world.space) == world
    assert "\n" not in world.text


def test_the_text_of_a_world() -> None:
    assert WORLD.text == 'a=3 b=4 | {"draw":[7,9],"pool":"test"}'


def test_do_sets_concepts_and_keeps_the_style() -> None:
    changed = WORLD.do(a=9).do({"b": 0})
    assert changed.values == {"a": 9, "b": 0} and changed["a"] == 9
    assert changed.style == WORLD.style
    assert WORLD.values == {"a": 3, "b": 4}


def test_do_refuses_what_there_is_not() -> None:
    with pytest.raises(UnknownName, match="no concept named 'c'"):
        WORLD.do(c=1)
    with pytest.raises(UnknownName, match="'a' has no value 10"):
        WORLD.do(a=10)


@pytest.mark.parametrize(
    "text", ["", "a=3 b=4", "a=3 | {}", "a=3 b=4 c=5 | {}", "a=3 b=10 | {}", "a=3 b=4 | {", "a b | {}"]
)
def test_other_text_is_no_world(text: str) -> None:
    with pytest.raises(DataError, match="not a world") as caught:
        World.from_text(text, WORLD.space)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"name": "a b"}, "must be letters, digits"),
        ({"size": 0}, "needs at least one example, not 0"),
        ({"size": -3}, "needs at least one example"),
        *(({"share": share}, "a share runs from a smaller to a larger part") for share in
          ((0.5, 0.5), (0.9, 0.2), (0, 2), (-0.1, 0.5), (0.2, 1.01))),
    ],
)  # fmt: skip
def test_split_refuses_what_makes_no_sense(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        Split(**{"name": "so-far_2", "size": 10, "share": (0.0, 1.0), **wrong})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_do_takes_a_mapping_and_names_together() -> None:
    space = ConceptSpace((Concept("a", (2, 0, 1)), Concept("b", (9, 8)), Concept("c", ("x", "y", "z"))))
    world = World(space, (0, 1, 2), {"k": 1})
    assert (world["a"], world["b"], world["c"]) == (2, 8, "z")
    assert world.do({"a": 1, "c": "y"}, b=9).codes == (2, 0, 1)
    assert world.do({"a": 1, "b": 9}, a=0).codes == (1, 0, 2)  # what is named counts
    assert world.do() == world and world.do(None, c="x").codes == (0, 1, 0)


def test_concepts_are_read_by_their_names_in_any_order() -> None:
    space = ConceptSpace((Concept("a", (2, 0, 1)), Concept("word", ("k=v", "x"))))
    assert World.from_text('word=k=v a=1 | {"b":2,"a":1}', space) == World(space, (2, 0), {"a": 1, "b": 2})
    assert World(space, (2, 0), {"b": 2, "a": {"d": 1, "c": 0}}).text == 'a=1 word=k=v | {"a":{"c":0,"d":1},"b":2}'
    assert repr(World(space, (1, 1), {})) == "World(a=0 word=x | {})"
    for text, why in (
        ("a=1 word=x word2=3 | {}", "expected the concepts a, word"),
        ("a=1 word=y | {}", "'word' has no value 'y'"),
        ("a=3 word=x | {}", "'a' has no value '3'"),
    ):
        with pytest.raises(DataError, match=why):
            World.from_text(text, space)


@pytest.mark.parametrize(
    ("given", "formula"),
    [
        ({}, "True"),
        ({"stage": 0}, "a"),
        ({"stage": 1}, "b or c"),
        ({"where": parse("c")}, "c"),
        ({"where": parse("c"), "stage": 0}, "c and a"),
        ({"where": parse("c"), "stage": 1}, "c and (b or c)"),
    ],
)
def test_the_formula_of_a_split_is_its_own_and_that_of_its_stage(given: dict[str, Any], formula: str) -> None:
    assert str(Split("train", 1, stages=(parse("a"), parse("b or c")), **given).formula) == formula


@pytest.mark.parametrize(
    ("quota", "is_set", "of_variants", "of_types"),
    [(Quota(), False, 0, 0), (Quota(3), True, 3, 3), (Quota(None, 2), True, 2, 2), (Quota(3, 2), True, 3, 2)],
)
def test_one_number_of_a_quota_stands_for_both(quota: Quota, is_set: bool, of_variants: int, of_types: int) -> None:
    assert (quota.is_set, quota.of_variants, quota.of_types) == (is_set, of_variants, of_types)
