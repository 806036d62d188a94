"""Robots in words: nothing unfilled, nothing contradicted, and what is stated can be read back."""

import numpy as np
import pytest

from assay.families.robots.description import DRAWS, FREE, MASKED, PHRASES, Level, Wording, describe, read_description
from assay.families.robots.drawing import PALETTE
from assay.families.robots.parts import PARTS, ROBOTS
from assay.seeds import rng_for

LEVELS: tuple[Level, ...] = ("table", "terse", "templated", "free")
COUNT = 10_000


def cases(count: int, unsaid: float = 0.2):
    rng = rng_for(0, "descriptions")
    names, palette = np.array(PARTS.names), np.array(list(PALETTE))
    for number in rng.integers(len(ROBOTS), size=count):
        kinds = rng.random(9)
        masked = tuple(names[kinds < unsaid / 2].tolist())
        omitted = tuple(names[kinds > 1 - unsaid / 2].tolist())
        wording = Wording(rng.integers(2**31, size=DRAWS).tolist(), masked, omitted)
        yield PARTS.decode(ROBOTS[number]), rng.choice(palette, 2, replace=False).tolist(), wording


@pytest.mark.parametrize("level", ["table", "terse", "templated"])
def test_every_stated_part_is_read_back(level: Level) -> None:
    for robot, colours, wording in cases(COUNT):
        text = describe(robot, colours, level, wording)
        said = {part: value for part, value in wording.statements(robot).items() if value != MASKED}
        found = read_description(text)
        assert found.stated == said, text
        assert set(found.masked) == set(wording.masked) and list(found.colours) == colours, text


@pytest.mark.parametrize("level", LEVELS)
def test_no_placeholder_and_few_twins(level: Level) -> None:
    texts = [describe(*case[:2], level, case[2]) for case in cases(COUNT, 0.0)]
    assert not [text for text in texts if set("{}[]<>_%$") & set(text.replace("_", "" if level == "table" else "_"))]
    assert not [text for text in texts if "  " in text or ".." in text or ", ." in text or "None" in text]
    assert len(set(texts)) > 0.99 * COUNT


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_unsaid_does_not_show_and_what_is_stated_does(level: Level) -> None:
    for robot, colours, wording in cases(150, 0.6):
        text = describe(robot, colours, level, wording)
        for concept in PARTS.concepts:
            for value in concept.values:
                if value == robot[concept.name]:
                    continue
                other = describe({**robot, concept.name: value}, colours, level, wording)
                unsaid = concept.name in (*wording.masked, *wording.omitted)
                assert (other == text) == unsaid, (concept.name, value, text, other)


def test_free_prose_says_nothing_twice() -> None:
    for robot, colours, wording in cases(2000):
        text = describe(robot, colours, "free", wording).lower()
        for part, options in FREE.items():
            spoken = [value for value, clauses in options.items() if any(clause in text for clause in clauses)]
            stated = wording.statements(robot).get(part)
            assert set(spoken) <= {stated}, (part, spoken, text)


def test_words_say_one_thing() -> None:
    for words in (PHRASES, FREE):
        phrases = [phrase for values in words.values() for some in values.values() for phrase in some]
        assert len(set(phrases)) == len(phrases)
        assert {part: set(values) for part, values in words.items()} == {
            concept.name: {*concept.values, MASKED} for concept in PARTS.concepts
        }


def test_a_grey_robot_has_no_colours() -> None:
    robot, wording = PARTS.decode(ROBOTS[0]), Wording(list(range(DRAWS)))
    for level in LEVELS:
        text = describe(robot, [], level, wording)
        assert not any(f" {name}" in text.lower() for name in PALETTE), text
        assert read_description(text).colours == ()
