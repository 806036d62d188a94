"""Profiles of a rule: from all worlds, and from the classes of values alone, which must be the same."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.errors import TooLarge
from assay.logic import TRUE, evaluate, parse, profiles
from assay.logic.features import features_of
from assay.logic.profiles import profiles_of, steps_of

SPACE = ConceptSpace(
    (
        Concept("n", tuple(range(6)), counts=True),
        Concept("hue", ("red", "green", "blue", "grey")),
        Concept("m", tuple(range(5)), counts=True),
        Concept("idle", (False, True)),
    )
)
RULES = [
    "n >= 3 and hue == 'red'",
    "n == 2 or (m > 1 and hue != 'blue')",
    "(n < 2 or n > 4) and m == 3",
    "hue in ('red', 'grey') and m >= 1 and n != 3",
]


def moves_of(found):
    return {
        move.name: {
            (tuple(found.rows[before]), tuple(found.rows[after]))
            for before, after in zip(move.before.tolist(), move.after.tolist(), strict=True)
        }
        for move in found.moves
    }


@pytest.mark.parametrize("text", RULES)
def test_classes_alone_give_the_profiles_of_all_worlds(text, monkeypatch):
    rule = parse(text)
    listed = profiles_of(rule, SPACE, TRUE)
    monkeypatch.setattr(profiles, "MOST_WORLDS", 0)
    classed = profiles_of(rule, SPACE, TRUE)
    assert listed.rows.tolist() == classed.rows.tolist() and listed.holds.tolist() == classed.holds.tolist()
    assert moves_of(listed) == moves_of(classed) and any(moves_of(listed).values())


@pytest.mark.parametrize("text", RULES)
def test_moves_are_the_single_changes_that_make_the_rule_true(text):
    found, rule = profiles_of(parse(text), SPACE, TRUE), parse(text)
    codes = SPACE.all_codes()
    truth = dict(zip(map(tuple, codes.tolist()), evaluate(rule, SPACE, codes).tolist(), strict=True))
    classes = np.stack([feature.classes(SPACE, codes) for feature in found.features], axis=1)
    profile = dict(zip(map(tuple, codes.tolist()), map(tuple, classes.tolist()), strict=True))
    for place, concept in enumerate(SPACE.concepts[:3]):
        own = [i for i, feature in enumerate(found.features) if concept.name in feature.names]
        expected = set()
        for world in truth:
            for code in range(len(concept.values)):
                other = (*world[:place], code, *world[place + 1 :])
                step = max((abs(profile[world][i] - profile[other][i]) for i in own), default=0)
                if not truth[world] and truth[other] and (step <= 1 or not concept.counts):
                    expected.add((profile[world], profile[other]))
        assert moves_of(found).get(concept.name, set()) == expected
    assert {tuple(row): bool(holds) for row, holds in zip(found.rows.tolist(), found.holds, strict=True)} == {
        profile[world]: truth[world] for world in truth
    }


def test_too_many_kinds_of_worlds_are_refused(monkeypatch):
    monkeypatch.setattr(profiles, "MOST_PROFILES", 3)
    assert len(profiles_of(parse("n >= 3"), SPACE, TRUE).rows) == 3  # none, one or two, more
    for worlds in (200_000, 0):
        monkeypatch.setattr(profiles, "MOST_WORLDS", worlds)
        with pytest.raises(TooLarge, match="the rule tells 6 kinds of worlds apart"):
            profiles_of(parse("n >= 3 and m >= 1"), SPACE, TRUE)
    with pytest.raises(TooLarge, match="too many worlds"):
        profiles_of(parse("n >= 3"), SPACE, parse("m >= 1"))
    with pytest.raises(TooLarge, match="too many worlds"):
        profiles_of(parse("n == m"), SPACE, TRUE)


@pytest.mark.parametrize("limit", ["n + m <= 5", "implies(hue == 'red', idle)", "n != 3 or hue == 'blue' or m == 0"])
@pytest.mark.parametrize("text", [*RULES, "n > m and hue != 'grey'"])
def test_only_worlds_within_have_profiles_and_moves_between_them(text, limit):
    rule, within, codes = parse(text), parse(limit), SPACE.all_codes()
    found = profiles_of(rule, SPACE, within)
    worlds = list(map(tuple, codes.tolist()))
    truth = dict(zip(worlds, evaluate(rule, SPACE, codes).tolist(), strict=True))
    inside = dict(zip(worlds, evaluate(within, SPACE, codes).tolist(), strict=True))
    classes = np.stack([feature.classes(SPACE, codes) for feature in found.features], axis=1)
    profile = dict(zip(worlds, map(tuple, classes.tolist()), strict=True))
    rows = {tuple(row): bool(holds) for row, holds in zip(found.rows.tolist(), found.holds, strict=True)}
    assert rows == {profile[world]: truth[world] for world in worlds if inside[world]} and len(rows) == len(found.rows)
    used = [concept.name for concept in SPACE.concepts if any(concept.name in f.names for f in found.features)]
    assert sorted(move.name for move in found.moves) == sorted(used)
    for place, concept in enumerate(SPACE.concepts):
        if concept.name not in used:
            continue
        grouped = steps_of(concept.name, found.features)
        expected = set()
        for world in worlds:
            for code in range(len(concept.values)):
                other = (*world[:place], code, *world[place + 1 :])
                step = grouped is None or bool(grouped[world[place], code])
                if inside[world] and inside[other] and not truth[world] and truth[other] and step:
                    expected.add((profile[world], profile[other]))
        assert moves_of(found)[concept.name] == expected


def test_steps_are_those_of_the_concept_asked_for():
    features = features_of(parse("n >= 3 and hue == 'red' and m > 1"), SPACE)
    assert steps_of("n", features).shape == (6, 6) and steps_of("m", features).shape == (5, 5)
    assert steps_of("hue", features) is None and steps_of("idle", features) is None
    assert steps_of("m", features)[0].tolist() == [True, True, False, False, False]
    related = features_of(parse("n > m"), SPACE)
    assert steps_of("n", related) is None
