"""Robots in words: nothing unfilled, nothing contradicted, and what is stated can be read back."""

import numpy as np
import pytest

from assay.families.robots.task import Robots, read_description
from tests.families.drawn import worlds_of

LEVELS = ("table", "terse", "templated", "free")
COLOURS = (
    *("red", "orange", "yellow", "lime", "green", "teal", "cyan", "blue"),
    *("indigo", "purple", "magenta", "pink", "brown", "olive", "grey", "beige"),
)


def described(level, count=2000, **settings):
    """Return a task whose concepts are all nine parts, some of its worlds, and how they are described."""
    task = Robots(image=False, text=level, concepts="all", balance="world", **settings)
    worlds = worlds_of(task, count=count)
    return task, worlds, [picture.text for picture in task.render_all(worlds)]


@pytest.mark.parametrize("level", ["table", "terse", "templated"])
def test_every_stated_part_is_read_back(level):
    _, worlds, texts = described(level, masked=0.1, omitted=0.1)
    for world, text in zip(worlds, texts, strict=True):
        found, unsaid = read_description(text), {*world.style["masked"], *world.style["omitted"]}
        assert found.stated == {part: value for part, value in world.values.items() if part not in unsaid}, text
        assert set(found.masked) == set(world.style["masked"])
        assert list(found.colours) == [COLOURS[place] for place in world.style["colours"]], text


def test_tables_and_notes_say_part_by_part():
    for level, name, value, between, end in (("table", str, "=", ", ", ""), ("terse", str.capitalize, ": ", ". ", ".")):
        _, worlds, texts = described(level, 20)
        for world, text in zip(worlds, texts, strict=True):
            words = {True: "yes", False: "no"}
            parts = {"hand": "hands", "foot": "feet"} if level == "terse" else {}
            said = [
                f"{name(parts.get(p, p))}{value}{words.get(v, str(v).replace('_', ' '))}"
                for p, v in world.values.items()
            ]
            assert text.startswith(between.join(said) + (end or between)), text


@pytest.mark.parametrize("level", LEVELS)
def test_no_placeholder_and_few_twins(level):
    _, _, texts = described(level)
    assert not [text for text in texts if set("{}[]<>_%$") & set(text)]
    assert not [text for text in texts if "  " in text or ".." in text or ", ." in text or "None" in text]
    assert len(set(texts)) > 0.99 * len(texts)


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_unsaid_does_not_show_and_what_is_stated_does(level):
    task, worlds, texts = described(level, 100, masked=0.3, omitted=0.3)
    for world, text in zip(worlds, texts, strict=True):
        unsaid = {*world.style["masked"], *world.style["omitted"]}
        for concept in task.space.concepts:
            for value in concept.values:
                if value != world[concept.name]:
                    other = task.render(task.change_world(world, {concept.name: value})).text
                    assert (other == text) == (concept.name in unsaid), (concept.name, value, text, other)


def test_parts_are_masked_or_omitted_as_often_as_asked_and_never_both():
    settings = {"masked": {"knees": 1.0, "head": 0.5}, "omitted": {"mouth": 1.0, "head": 0.5}}
    _, worlds, _ = described("terse", 300, **settings)
    heads = [("head" in world.style["masked"], "head" in world.style["omitted"]) for world in worlds]
    assert set(heads) == {(False, False), (True, False), (False, True)}
    assert np.mean(heads, axis=0) == pytest.approx([0.25, 0.5], abs=0.09)  # what is omitted cannot be masked
    assert all({*world.style["masked"]} - {"head"} == {"knees"} for world in worlds)
    assert all({*world.style["omitted"]} - {"head"} == {"mouth"} for world in worlds)


@pytest.mark.parametrize("level", LEVELS)
def test_a_grey_robot_has_no_colours(level):
    for text in described(level, 100, grey=True)[2]:
        assert not any(f" {name}" in text.lower() for name in COLOURS), text
        assert read_description(text).colours == ()


def test_the_longer_of_two_phrases_is_read():
    head = read_description("It is a robot with a head of some shape and a head like a ball.")
    assert head.stated == {"head": "round"}
    assert read_description("It has legs that bend at the knees.").stated == {"knees": True}
    assert read_description("It has legs.").masked == ("knees",)
    assert read_description("A square header, a boxy headdress and antennaeless tops.").stated == {}
