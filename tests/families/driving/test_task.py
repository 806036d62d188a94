"""Driving: the rules by hand, balanced actions, free concepts, the ambulance, changes that follow, and settings."""

from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest

from assay.base import ConfigError, MissingExtra, Settings, rng_for
from assay.counting import count_shortcuts
from assay.families.driving.rules import CONCEPTS, OBSTACLES
from assay.families.driving.task import SddOia
from assay.logic import Concept, ConceptSpace, Knowledge
from assay.tasks import TASKS
from assay.testing import check_task, require
from assay.worlds import World

ACTIONS = ("forward", "stop", "left", "right")
SMALL: dict[str, Any] = dict(SddOia.trial)
MANY = 4000


def dealt(task: Any, split: str, count: int = MANY) -> np.ndarray:
    held = next(one for one in task.splits() if one.name == split)
    return task.source_for(held, 0).codes(np.arange(count))


def worlds(task: SddOia, split: str, count: int) -> list[World]:
    held = next(one for one in task.splits() if one.name == split)
    return task.source_for(held, 0).worlds(np.arange(count))


def columns(codes: np.ndarray) -> dict[str, np.ndarray]:
    names = (*CONCEPTS, "emergency")[: codes.shape[1]]
    return {name: codes[:, place].astype(bool) for place, name in enumerate(names)}


def usual(c: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the actions by the traffic rules, written down a second time."""
    obstacle = np.logical_or.reduce([c[name] for name in OBSTACLES])
    stop = (c["red_light"] & ~c["green_light"]) | c["stop_sign"] | obstacle
    made = {"forward": (c["green_light"] | c["follow"] | c["clear"]) & ~stop, "stop": stop}
    for side in ("left", "right"):
        can = c[f"{side}_lane"] | c[f"{side}_green_light"] | c[f"{side}_follow"]
        made[side] = can & ~c[f"no_{side}_lane"] & ~c[f"{side}_obstacle"] & ~c[f"{side}_solid_line"]
    return made


def urgent(c: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the actions of an ambulance, written down a second time."""
    obstacle = np.logical_or.reduce([c[name] for name in OBSTACLES])
    turns = {s: c[f"{s}_lane"] & ~c[f"no_{s}_lane"] & ~c[f"{s}_obstacle"] for s in ("left", "right")}
    return {"forward": ~obstacle, "stop": obstacle, **turns}


def test_the_rules_are_those_of_the_facts() -> None:
    knowledge = SddOia().knowledge
    codes = rng_for(0, "driving").integers(2, size=(20_000, 22))
    c = columns(codes)
    labels = knowledge.labels_of(codes).astype(bool)
    for place, action in enumerate(ACTIONS):
        wanted = np.where(c["emergency"], urgent(c)[action], usual(c)[action])
        assert np.array_equal(labels[:, place], wanted), action
    plain = SddOia(ambulance=False).knowledge.labels_of(codes[:, :21]).astype(bool)
    assert all(np.array_equal(plain[:, place], usual(c)[action]) for place, action in enumerate(ACTIONS))


@pytest.mark.parametrize("settings", [{}, {"tied": True}, {"most_obstacles": 2}, {"ambulance": False, "tied": True}])
@pytest.mark.parametrize("split", ["train", "test", "ood", "hard"])
def test_worlds_keep_the_exclusions_and_every_concept_varies(settings: dict[str, Any], split: str) -> None:
    if split == "ood" and not settings.get("ambulance", True):
        settings = {**settings, "prop_in_distribution": 0.5}
    task = SddOia(**settings)
    codes = dealt(task, split)
    c = columns(codes)
    obstacles = np.sum([c[name] for name in OBSTACLES], axis=0)
    assert np.array_equal(c["clear"], obstacles == 0)
    names = [limit.name for limit in task.knowledge.constraints]
    assert names[0] == "clear_or_not" and ("few_obstacles" in names) == ("most_obstacles" in settings)
    assert obstacles.max() == settings.get("most_obstacles", 4)
    assert not task.knowledge.violations(codes).any()
    assert all(0.02 < c[name].mean() < 0.98 for name in CONCEPTS)
    if "emergency" in c:
        assert (c["emergency"] == (split == "ood")).all()


@pytest.mark.parametrize("split", ["train", "valid", "test", "ood"])
@pytest.mark.parametrize("settings", [{}, {"tied": True}])
def test_actions_are_balanced(split: str, settings: dict[str, Any]) -> None:
    task = SddOia(**settings)
    labels = task.knowledge.labels_of(dealt(task, split))
    kinds, counts = np.unique(labels, axis=0, return_counts=True)
    wanted = [(forward, 1 - forward, left, right) for forward, left, right in product((0, 1), repeat=3)]
    assert [tuple(kind) for kind in kinds.tolist()] == wanted  # forward or stop, never both, never neither
    assert counts.max() - counts.min() <= 1
    assert np.abs(labels.mean(axis=0) - 0.5).max() < 0.001


def test_concepts_that_were_tied_are_free_by_default() -> None:
    c, t = columns(dealt(SddOia(), "train")), columns(dealt(SddOia(tied=True), "train"))
    for side in ("left", "right"):
        assert (t[f"{side}_lane"] != t[f"no_{side}_lane"]).all()
        assert (t["green_light"] == t[f"{side}_green_light"]).all()
        for one, other in product((False, True), repeat=2):
            assert ((c[f"{side}_lane"] == one) & (c[f"no_{side}_lane"] == other)).any()
            assert ((c["green_light"] == one) & (c[f"{side}_green_light"] == other)).any()
    assert not (t["stop_sign"] & (t["red_light"] | t["green_light"])).any()
    assert (c["stop_sign"] & c["red_light"]).any() and (c["stop_sign"] & c["green_light"]).any()
    assert (c["red_light"] & c["green_light"]).any()


def test_an_ambulance_does_otherwise_where_its_rules_say_so() -> None:
    task = SddOia()
    codes = dealt(task, "ood")
    c = columns(codes)
    labels = {name: task.knowledge.labels_of(codes)[:, place].astype(bool) for place, name in enumerate(ACTIONS)}
    calm = usual(c)
    told = c["stop_sign"] | (c["red_light"] & ~c["green_light"])
    assert np.array_equal(labels["stop"] != calm["stop"], c["clear"] & told)
    assert np.array_equal(labels["forward"] != calm["forward"], c["clear"] & told)
    for side in ("left", "right"):
        free = ~c[f"no_{side}_lane"] & ~c[f"{side}_obstacle"]
        invited = c[f"{side}_green_light"] | c[f"{side}_follow"]
        crosses = free & c[f"{side}_lane"] & c[f"{side}_solid_line"]
        waits = free & ~c[f"{side}_lane"] & invited & ~c[f"{side}_solid_line"]
        assert np.array_equal(labels[side] & ~calm[side], crosses) and np.array_equal(calm[side] & ~labels[side], waits)
        assert crosses.any() and waits.any()
    assert 0.1 < (labels["stop"] != calm["stop"]).mean() < 0.9


def test_how_many_readings_fit() -> None:
    assert count_shortcuts(SddOia(ambulance=False).knowledge, "per-concept").total == 10
    space = ConceptSpace(tuple(Concept(name, (False, True)) for name in CONCEPTS if name != "clear"))
    known = SddOia(ambulance=False).knowledge
    clear = f"not ({' or '.join(OBSTACLES)})"
    texts = {name: str(known.label(name).formula).replace("clear", clear) for name in known.label_names}
    assert count_shortcuts(Knowledge.of(space, texts), "per-concept").total == 4  # `clear` derived: `follow` is free


@pytest.mark.parametrize("settings", [{}, {"tied": True}, {"most_obstacles": 1}])
def test_changes_take_what_must_follow_with_them(settings: dict[str, Any]) -> None:
    task = SddOia(**settings)
    refused = 0
    for world in worlds(task, "train", 60):
        for name in task.space.names:
            other = task.change_world(world, {name: not world[name]})
            if other is None:
                refused += 1
                continue
            assert other[name] != world[name] and other.style == world.style
            assert not task.knowledge.violations(np.array([other.codes])).any()
            moved = {one for one in task.space.names if other[one] != world[one]}
            if not settings and name not in (*OBSTACLES, "clear"):
                assert moved == {name}
            if name == "clear" and not other["clear"]:
                assert len(moved) == 2
    assert (refused > 0) == ("most_obstacles" in settings)


def test_every_change_of_a_concept_is_seen() -> None:
    task = SddOia(**SMALL)
    for world in worlds(task, "train", 2):
        before = task.render(world).image
        for name in task.space.names:
            other = task.change_world(world, {name: not world[name]})
            assert other is not None
            assert np.abs(before.astype(int) - task.render(other).image).sum() > 200, name


GREENS = ("green_light", "left_green_light", "right_green_light")


@pytest.mark.parametrize(
    ("tied", "true", "changes", "follows"),
    [
        (False, ["clear"], {"car": True}, {"clear": False}),
        (False, ["car", "person"], {"clear": True}, {"car": False, "person": False}),
        (False, ["car", "person"], {"car": False}, {}),
        (False, ["car"], {"car": False}, {"clear": True}),
        (False, ["clear"], {"clear": False, "person": True}, {}),
        (False, ["car"], {"person": True, "car": False}, {}),
        (False, ["clear"], {"clear": True, "car": True}, None),
        (True, ["clear"], {"left_green_light": True}, dict.fromkeys(GREENS, True)),
        (True, ["clear", *GREENS], {"right_green_light": False}, dict.fromkeys(GREENS, False)),
        (True, ["clear"], {"left_lane": True}, {"no_left_lane": False}),
        (True, ["clear", "right_lane"], {"no_right_lane": True}, {"right_lane": False}),
        (True, ["clear", "red_light", *GREENS], {"stop_sign": True}, dict.fromkeys(("red_light", *GREENS), False)),
        (True, ["clear", "stop_sign"], {"red_light": True}, {"stop_sign": False}),
        (True, ["clear", "stop_sign"], {"follow": True}, {}),
        (True, ["clear"], {"left_lane": True, "no_left_lane": True}, None),
    ],
)
def test_what_must_follow_from_a_change_follows_and_no_more(tied, true, changes, follows):
    task = SddOia(tied=tied, ambulance=not tied)
    if tied:  # there is a lane or there is none
        true = [*true, *(f"no_{side}_lane" for side in ("left", "right") if f"{side}_lane" not in true)]
    codes = tuple(int(name in true) for name in task.space.names)
    before = World(task.space, codes, task.style(rng_for(0, "style"), codes, "train"))
    after = task.change_world(before, changes)
    if follows is None:
        assert after is None
    else:
        assert after.values == {**before.values, **changes, **follows}


class Few(SddOia):
    """The same in small splits."""

    sizes: ClassVar[Mapping[str, int]] = {"train": 8, "valid": 8, "test": 8, "ood": 8}


@pytest.mark.slow
def test_the_laws_hold_for_the_published_ties() -> None:
    task = Few(tied=True, ambulance=False, prop_in_distribution=0.8, **SMALL)
    require(check_task(task), "sdd-oia, tied")


def test_bdd_oia_without_photographs_has_drawn_scenes() -> None:
    task = TASKS["bdd-oia"](**SMALL)
    assert task.space.names == CONCEPTS and "ood" not in {split.name for split in task.splits()}
    assert not task.knowledge.violations(dealt(task, "train")).any()
    assert task.sources() == {} and task.columns == ("image", "things", "instances", "depth")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"ambulanc": True}, "did you mean 'ambulance'"),
        ({"prop_in_distribution": 0.5}, "prop_in_distribution does not go with an ambulance"),
        ({"combinations_in_distribution": ["0" * 22]}, "does not go with an ambulance"),
        ({"most_obstacles": 5}, "most_obstacles"),
        ({"quality": "best"}, "quality"),
        ({"engine": "povray"}, "engine"),
        ({"width": 10}, "width"),
    ],
)
def test_bad_settings_are_named_in_one_line(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as error:
        SddOia(Settings(settings))
    assert "\n" not in str(error.value)


def test_blender_that_is_not_there_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_BLENDER_PYTHON", raising=False)
    task = SddOia(engine="blender", **SMALL)
    with pytest.raises(MissingExtra, match=r"\.\[blender\]") as error:
        task.render(worlds(task, "train", 1)[0])
    assert "\n" not in str(error.value)
