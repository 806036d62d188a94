"""Robots in words: nothing unfilled, nothing contradicted, and what is stated can be read back."""

import numpy as np
import pytest

from assay.families.robots.description import (
    DRAWS,
    FREE,
    MASKED,
    PHRASES,
    Level,
    Wording,
    describe,
    join_phrases,
    read_description,
)
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


# -- by hand -----------------------------------------------------------------------------------------------------------

ROBOT = {
    "head": "round", "body": "square", "knees": True, "elbows": False, "antennae": True, "ears": "triangle",
    "mouth": "open", "hand": "edgy_square", "foot": "flat_l_shaped",
}  # fmt: skip


def test_draws_come_round_and_choose_among_options() -> None:
    wording = Wording([7, 3, 10])
    assert [wording.number(place, 4) for place in range(5)] == [3, 3, 2, 3, 3]
    assert wording.number(0, 0) == wording.number(0, 1) == 0 and wording.pick(5, ["a", "b", "c"]) == "b"


def test_what_is_masked_or_omitted_is_no_statement() -> None:
    wording = Wording([0], masked=("head", "foot"), omitted=("knees", "foot"))
    assert list(wording.statements(ROBOT)) == [part for part in ROBOT if part not in ("knees", "foot")]
    assert wording.statements(ROBOT)["head"] == MASKED and wording.statements(ROBOT)["ears"] == "triangle"


def test_tables_and_notes_by_hand() -> None:
    wording = Wording([0], masked=("body",), omitted=("hand", "ears"))
    assert describe(ROBOT, ["red", "teal"], "table", wording) == (
        "head=round, body=?, knees=yes, elbows=no, antennae=yes, mouth=open, foot=flat l shaped, left=red, right=teal"
    )
    assert describe(ROBOT, ["red", "teal"], "terse", wording) == (
        "Head: round. Body: unclear. Knees: yes. Elbows: no. Antennae: yes. Mouth: open. Feet: flat l shaped. "
        "Colours: red, teal."
    )
    assert describe({"hand": "round_oval"}, [], "terse", wording) == ""
    assert describe({"hand": "round_oval"}, [], "terse", Wording([0])) == "Hands: round oval."
    assert describe({"knees": False}, [], "table", Wording([0])) == "knees=no"


def test_templates_by_hand() -> None:
    draws = [5, 1, 9, 2, 7, 3, 8, 0, 6, *[0, 1, 2, 0, 1, 2, 0, 1, 3], 1, 0, 2, 0, 1, 0]
    said = describe(ROBOT, ["red", "teal"], "templated", Wording(draws, masked=("mouth",)))
    # the parts in the order of the first nine draws, and of each the phrase that the next nine choose
    order = ["hand", "body", "elbows", "ears", "head", "foot", "antennae", "mouth", "knees"]
    picks = [0, 1, 2, 0, 1, 2, 0, 1, 3]
    values = {**ROBOT, "mouth": MASKED}
    phrases = [PHRASES[p][values[p]][k % len(PHRASES[p][values[p]])] for p, k in zip(order, picks, strict=True)]
    parts = [f"{a}, {b} and {c}" for a, b, c in (phrases[:3], phrases[3:6], phrases[6:])]
    assert said == (
        f"The robot comes with {parts[0]}. It also has {parts[1]}. There is more: {parts[2]}. "
        "Its left side is red, its right side teal."
    )


@pytest.mark.parametrize(("phrases", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_phrases_are_joined_with_commas_and_one_and(phrases: list[str], text: str) -> None:
    assert join_phrases(phrases) == text


def test_prose_by_hand() -> None:
    plain = Wording([0] * DRAWS)
    assert describe(ROBOT, ["red", "teal"], "free", plain) == (
        "Half red, half teal, seen from left to right. "
        "Its head has no corners, and the ears are little wedges; it bares its teeth, while a pair of feelers grows from "
        "its crown. The trunk below is a crate, and its arms are straight rods; the hands are two dice. "
        "Its legs can bend, and it wears flat boots."
    )


def test_prose_says_what_is_alike_in_one_clause() -> None:
    alike = {**ROBOT, "body": "round", "elbows": True}
    draws = [0] * 9 + [1, 1, 1, 0] + [0] * 11
    said = describe(alike, [], "free", Wording(draws))
    assert said.startswith("Head and body match, each round, and the ears") and "barrel" not in said
    assert "Its arms and legs all have joints, and the hands are two dice. It wears flat boots." in said
    neither = describe({**alike, "knees": False, "elbows": False}, [], "free", Wording(draws))
    assert "It has neither knees nor elbows, and the hands" in neither and "joints" not in neither
    for masked in (("head", "body"), ("knees", "elbows")):
        hidden = describe(alike, [], "free", Wording(draws, masked=masked))
        assert (masked[0] == "head") == ("there is a head on top" in hidden.lower())
        assert (masked[0] == "knees") == ("it stands on two legs" in hidden.lower())
    assert "match" not in describe({**alike, "body": "square"}, [], "free", Wording(draws))


def test_prose_begins_anywhere_in_a_group_and_links_go_round() -> None:
    draws = [0] * 14 + [2, 1, 1, 1, 2, 0] + [0] * 4
    said = describe(ROBOT, [], "free", Wording(draws))
    assert said == (
        "It bares its teeth; a pair of feelers grows from its crown, while its head has no corners, and the ears are "
        "little wedges. Its arms are straight rods, while the hands are two dice, and the trunk below is a crate. "
        "It wears flat boots, and its legs can bend."
    )


def test_prose_leaves_out_what_is_omitted() -> None:
    wording = Wording([0] * DRAWS, omitted=("knees", "foot", "body", "elbows"))
    assert describe(ROBOT, [], "free", wording).endswith("its crown. The hands are two dice.")


@pytest.mark.parametrize("level", ["table", "terse", "templated"])
def test_descriptions_are_read_back_with_colours_in_their_order(level: Level) -> None:
    wording = Wording(list(range(DRAWS)), masked=("ears", "hand"), omitted=("foot",))
    for colours in (["red", "teal"], []):
        found = read_description(describe(ROBOT, colours, level, wording))
        assert found.stated == {part: v for part, v in ROBOT.items() if part not in ("ears", "hand", "foot")}
        assert sorted(found.masked) == ["ears", "hand"] and found.colours == tuple(colours)


def test_the_longer_of_two_phrases_is_read() -> None:
    assert read_description("It is a robot with a head of some shape and a head like a ball.").stated == {
        "head": "round"
    }
    assert read_description("It has legs that bend at the knees.").stated == {"knees": True}
    assert read_description("It has legs.").masked == ("knees",)
    assert read_description("A square header, a boxy headdress and antennaeless tops.").stated == {}
