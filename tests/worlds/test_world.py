"""A world is what its text says, and changes only where it is told to."""

import pytest

from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.errors import ConfigError, DataError, UnknownName
from assay.worlds.split import Split
from assay.worlds.world import World

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
    "wrong",
    [{"name": "a b"}, {"size": 0}, {"size": -3}, {"share": (0.5, 0.5)}, {"share": (0.9, 0.2)}, {"share": (0, 2)}],
)
def test_split_refuses_what_makes_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Split(**{"name": "train", "size": 10, **wrong})  # type: ignore[arg-type]
