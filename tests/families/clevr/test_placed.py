"""Scenes whose objects are placed first: turns of labels, kinds and numbers; and what becomes of places otherwise."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.errors import ConfigError, KnowledgeError
from assay.families.clevr import placed_source
from assay.families.clevr import task as clevr_task
from assay.families.clevr.placed_source import PlacedObjects, PlacedSource, SceneKind, ScenePlanner
from assay.families.clevr.task import Clevr
from assay.logic import Constraint, Knowledge, parse
from assay.worlds import Split, World

SLOTS = tuple(Slot(f"object{n}", "objects", ("colour", "side")) for n in (1, 2, 3, 4))
VALUES = {"colour": ("red", "blue", "gray", ABSENT), "side": ("left", "right", ABSENT)}
SPACE = ConceptSpace(tuple(Concept(slot.concept(name), VALUES[name]) for slot in SLOTS for name in VALUES), SLOTS)
RED, BLUE = (f"any(x.colour == '{name}' for x in objects)" for name in ("red", "blue"))
KNOWLEDGE = Knowledge.of(
    SPACE,
    {"y": f"1 if {RED} else 2"},
    [
        Constraint("first is there", parse("object1.colour != 'absent'")),
        Constraint("not gray", parse("object2.colour != 'gray'")),
    ],
)
KINDS = (
    (SceneKind(parse(f"{RED} and not {BLUE}"), 1), SceneKind(parse(f"{RED} and {BLUE}"), 2)),
    (SceneKind(parse(f"not {RED}"), 3),),
)  # fmt: skip


class Planner:
    """Places objects alternately left and right; refuses now and then, and remembers what it was asked."""

    def __init__(self, refuse=0, hide=0):
        self.refuse, self.hide, self.placed, self.shown = refuse, hide, [], []

    def place(self, rng, count):
        self.placed.append(count)
        if len(self.placed) <= self.refuse:
            return None
        sides = [("left", "right", "right", "left")[i] for i in range(count)]
        return PlacedObjects({"luck": int(rng.integers(10**6)), "count": count}, {"side": sides})

    def shows_all(self, world):
        self.shown.append(world)
        return len(self.shown) > self.hide


def source_of(planner=None, split=None, seed=0, kinds=KINDS):
    planner = planner or Planner()
    split = split or Split("train", 12, parse("object1.colour != 'blue'"))
    return PlacedSource(
        KNOWLEDGE, split, seed, "clevr", 1, kinds=kinds, planner=ScenePlanner(planner.place, planner.shows_all)
    )


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(placed_source, "LOOKS", 64)
    monkeypatch.setattr(placed_source, "LAYOUTS", 6)


def count_of(world):
    return sum(world[f"object{n}.colour"] != ABSENT for n in (1, 2, 3, 4))


def test_labels_kinds_and_numbers_of_objects_come_in_turn():
    found = source_of(split=Split("train", 48, parse("object1.colour != 'blue'")))
    worlds = found.worlds(np.arange(48))
    codes = found.codes(np.arange(48))
    assert [tuple(row) for row in codes.tolist()] == [world.codes for world in worlds]
    labels = KNOWLEDGE.labels_of(codes)[:, 0].reshape(-1, 2)
    assert (np.sort(labels, axis=1) == [0, 1]).all() and len({tuple(row) for row in labels.tolist()}) == 2
    reds = [world for world in worlds if any(world[f"object{n}.colour"] == "red" for n in (1, 2, 3, 4))]
    both = [world for world in reds if any(world[f"object{n}.colour"] == "blue" for n in (1, 2, 3, 4))]
    assert (len(reds), len(both)) == (24, 12)
    numbers = {
        "red": [count_of(world) for world in reds if world not in both],
        "both": [count_of(world) for world in both],
        "none": [count_of(world) for world in worlds if world not in reds],
    }
    assert {name: {n: held.count(n) for n in set(held)} for name, held in numbers.items()} == {
        "red": {1: 3, 2: 3, 3: 3, 4: 3},
        "both": {2: 4, 3: 4, 4: 4},
        "none": {3: 12, 4: 12},
    }


def test_scenes_stand_where_they_were_placed_and_look_as_the_split_allows():
    found = source_of()
    for world in found.worlds(np.arange(12)):
        number = count_of(world)
        assert world.style["count"] == number
        sides = [world[f"object{n}.side"] for n in (1, 2, 3, 4)]
        assert sides == ["left", "right", "right", "left"][:number] + [ABSENT] * (4 - number)
        assert [world[f"object{n}.colour"] == ABSENT for n in (1, 2, 3, 4)] == [n > number for n in (1, 2, 3, 4)]
        assert world["object1.colour"] != "blue" and world["object2.colour"] != "gray"
    rows = np.array([world.codes for world in found.worlds(np.arange(12))])
    assert found.contains(rows).all() and found.total == (4 * 3) ** 4
    blue, gray = rows[:1].copy(), rows[:1].copy()
    blue[0, SPACE.place("object1.colour")] = 1
    gray[0, SPACE.place("object2.colour")] = 2
    assert not found.contains(np.concatenate([blue, gray])).any()


def test_a_scene_is_the_same_again_and_another_for_another_seed_split_or_place():
    found = source_of()
    assert found.worlds(np.array([5, 2])) == [source_of().worlds(np.arange(6))[5], source_of().worlds(np.arange(3))[2]]
    luck = {
        tuple(world.style["luck"] for world in other.worlds(np.arange(4)))
        for other in (found, source_of(seed=1), source_of(split=Split("test", 12)))
    }
    assert len(luck) == 3 and len({world.style["luck"] for world in found.worlds(np.arange(8))}) == 8


def test_a_place_further_on_by_whole_splits_has_the_same_label():
    found = source_of()
    codes = found.codes(np.arange(36))
    labels = KNOWLEDGE.labels_of(codes)[:, 0].reshape(3, 12)
    assert (labels == labels[0]).all() and not (codes[:12] == codes[12:24]).all()


def test_layouts_are_tried_until_all_is_seen_and_no_longer():
    planner = Planner(refuse=2, hide=1)
    world = source_of(planner).worlds(np.array([0]))[0]
    assert len(planner.placed) == 4 and len(set(planner.placed)) == 1 and planner.shown[-1] == world
    assert len(planner.shown) == 2  # one look of each layout
    for hopeless in (Planner(refuse=6), Planner(hide=6)):
        with pytest.raises(KnowledgeError, match=r"^split 'train': no scene of \d objects in which .* in 6 layouts"):
            source_of(hopeless).worlds(np.array([0]))
    assert source_of(Planner(refuse=5)).worlds(np.array([0]))


def test_looks_are_drawn_for_each_row_from_what_can_be_there():
    found = source_of()
    placed = PlacedObjects({}, {"side": ["right", "left"]})
    codes = found._looks(np.random.default_rng(0), 2, placed)
    assert codes.shape == (64, 8)
    column = {name: codes[:, SPACE.place(name)] for name in SPACE.names}
    assert set(column["object1.side"].tolist()) == {1} and set(column["object2.side"].tolist()) == {0}
    for name in ("object1.colour", "object2.colour"):
        assert set(column[name].tolist()) == {0, 1, 2}
    assert (column["object1.colour"] != column["object2.colour"]).any()
    for number in (3, 4):
        assert (column[f"object{number}.colour"] == 3).all() and (column[f"object{number}.side"] == 2).all()


# -- places that are drawn after the looks -----------------------------------------------------------------------------

SMALL = {"width": 96, "height": 72, "quality": "draft"}


class Labels:
    """Pixels of things as they are wanted."""

    def __init__(self, counts):
        self.things = np.repeat(np.arange(len(counts)), counts)


def test_enough_pixels_are_those_of_the_pictures_size(monkeypatch):
    task = Clevr(objects=2, min_pixels=90, **SMALL)  # 8.1 of this size
    monkeypatch.setattr(Clevr, "scene", lambda self, world: type("Scene", (), {"things": ["one", "two"]})())
    for counts, enough in (([0, 9, 20], True), ([900, 8, 9], False), ([900, 9, 8], False), ([900, 9], False)):
        monkeypatch.setattr(clevr_task, "label_pixels", lambda scene, counts=counts: Labels(counts))
        assert task.shows_all(None) is enough
    exact = Clevr(objects=2, min_pixels=100, **SMALL)
    assert exact.config.pixels == 9.0
    monkeypatch.setattr(clevr_task, "label_pixels", lambda scene: Labels([5, 9, 9]))
    assert exact.shows_all(None)


def test_each_lamp_and_the_camera_are_moved_by_what_is_set_for_them():
    task = Clevr(camera_jitter=0.1, key_light_jitter=0.0, fill_light_jitter=2.0, back_light_jitter=0.5, objects=(2, 3))
    moves = [task.draw_moves(np.random.default_rng(seed)) for seed in range(60)]
    most = {"camera": 0.1, "key": 0.0, "fill": 2.0, "back": 0.5}
    assert set(moves[0]) == set(most)
    for name, reach in most.items():
        drawn = np.array([move[name] for move in moves])
        assert drawn.shape == (60, 3) and (np.abs(drawn) <= reach).all() and (drawn == drawn.round(3)).all()
        assert not reach or (drawn.min() < -0.9 * reach and drawn.max() > 0.9 * reach)
    turns = np.array([task.draw_turns(np.random.default_rng(seed)) for seed in range(60)])
    assert turns.shape == (60, 3) and turns.min() >= 0 and 350 < turns.max() <= 360 and (turns == turns.round(1)).all()


def test_places_are_drawn_anew_until_all_is_seen_and_spare_ones_lie_to_the_right(monkeypatch):
    task, asked = Clevr(objects=(2, 4), min_pixels=1, **SMALL), []

    def shows_all(self, world):
        asked.append(world)
        return len(asked) > 2

    monkeypatch.setattr(Clevr, "shows_all", shows_all)
    codes = task.space.encode(
        [dict(zip(task.space.names, ["red", "cube", "metal", "large"] * 2 + [ABSENT] * 8, strict=True))]
    )
    style = task.style(np.random.default_rng(4), codes[0].tolist(), "train")
    assert len(asked) == 3 and asked[-1].style == style and asked[-1].codes == tuple(codes[0].tolist())
    assert asked[0].style["spots"] != style["spots"] and len(style["spots"]) == 4
    there = [spot for spot in style["spots"] if spot is not None]
    assert len(there) >= 2 and style["spots"][len(there) :] == [None] * (4 - len(there))
    placement = task.config.placement.seen_from(style["camera"])
    assert (np.diff(placement.columns(np.array([spot[:2] for spot in there]))) > 0).all()
    turns = [spot[2] for spot in there]
    assert len(set(turns)) == len(turns) and [spot[2] for spot in asked[0].style["spots"][:2]] == turns[:2]
    monkeypatch.setattr(clevr_task, "TRIES", 2)
    monkeypatch.setattr(Clevr, "shows_all", lambda self, world: False)
    with pytest.raises(ConfigError, match="no places for 2 objects of which each shows"):
        task.style(np.random.default_rng(4), codes[0].tolist(), "train")


class Narrow:
    """A placement whose columns are x, and where a candidate fits while there are some left."""

    def __init__(self, fitting):
        self.fitting, self.offered = list(fitting), []

    def draw_candidates(self, rng):
        return np.array([[-5.0, 0.0], [1.0, 1.0], [2.5, 0.0], [7.0, 3.0]])

    def columns(self, spots):
        return spots[:, 0]

    def fitting_spot(self, spots, candidates):
        self.offered.append((len(spots), candidates[:, 0].tolist()))
        take = self.fitting.pop(0)
        return candidates[take : take + 1]


def test_a_spare_place_is_to_the_right_of_all_and_none_comes_after_one_that_is_not_found():
    task, spots = Clevr(objects=(2, 5)), np.array([[2.0, 0.0], [-1.0, 4.0]])
    room = Narrow([0, 0])
    assert task._spare(None, room, spots, [10.0, 20.0]) == [[2.5, 0.0, 10.0], [7.0, 3.0, 20.0]]
    assert room.offered == [(2, [2.5, 7.0]), (3, [7.0])]
    full = Narrow([1, 0])
    assert task._spare(None, full, spots, [10.0, 20.0, 30.0]) == [[7.0, 3.0, 10.0], None, None]
    assert full.offered == [(2, [2.5, 7.0]), (3, [])]
    assert task._spare(None, Narrow([]), spots, []) == []


def world_of(task, count, spots=None):
    """So many objects, each with values of its own."""
    looks = [
        ("red", "cube", "rubber", "large"),
        ("blue", "ring", "metal", "medium"),
        ("gray", "star", "rubber", "small"),
    ]
    values = [value for look in looks[:count] for value in look]
    values += [ABSENT] * (4 * task.config.most - len(values))
    codes = task.space.encode([dict(zip(task.space.names, values, strict=True))])[0]
    places = spots or [[float(i), 0.0, 15.0] for i in range(task.config.most)]
    return World(task.space, tuple(codes.tolist()), {"spots": places, "camera": [0.5, 0.0, -0.2], "floor": "green"})


def test_an_object_joins_like_the_one_before_it_changed_or_not():
    task = Clevr(objects=(1, 3))
    two = world_of(task, 2)
    assert (task._there(two.codes), task._there(world_of(task, 3).codes)) == (2, 3)
    joined = task.change_world(two, {"object2.shape": "cone", "object3.colour": "pink"})
    assert [joined[f"object3.{name}"] for name in ("colour", "shape", "material", "size")] == [
        "pink", "cone", "metal", "medium",
    ]  # fmt: skip
    gone = task.change_world(world_of(task, 3), {"object3.material": ABSENT})
    assert {gone[f"object3.{name}"] for name in ("colour", "shape", "material", "size")} == {ABSENT}
    assert [solid.name for solid in task.objects_of(gone)] == ["object1", "object2"]
    both = task.change_world(world_of(task, 3), {"object3.size": ABSENT, "object2.size": ABSENT})
    assert task._there(both.codes) == 1
    assert task.change_world(both, {"object1.size": ABSENT}) is None
    assert task.change_world(world_of(task, 1), {"object3.colour": "red"}) is None
    crowded = world_of(task, 2, spots=[[0.0, 0.0, 1.0], [1.0, 0.0, 2.0], None])
    assert task.change_world(crowded, {"object3.colour": "pink"}) is None
    assert task.change_world(crowded, {"object2.colour": "pink"})["object2.colour"] == "pink"


def test_objects_stand_at_their_spots_in_the_colours_and_on_the_floor_of_their_world():
    task = Clevr(objects=(1, 3), **SMALL)
    world = world_of(task, 2, spots=[[0.25, 1.0, 10.0], [1.0, -0.5, 20.0], None])
    solids = task.objects_of(world)
    assert [(s.name, s.colour, s.shape, s.material, s.size, s.spot) for s in solids] == [
        ("object1", "red", "cube", "rubber", "large", [0.25, 1.0, 10.0]),
        ("object2", "blue", "ring", "metal", "medium", [1.0, -0.5, 20.0]),
    ]
    assert task.view(world).jitter == (0.5, 0.0, -0.2)
    lamps = {name: [0.1 * i, 0.2, -0.3] for i, name in enumerate(("key", "fill", "back"))}
    scenes = {
        floor: task.scene(World(world.space, world.codes, {**world.style, **lamps, **floor_style}))
        for floor, floor_style in (("green", {}), ("brown", {"floor": "brown"}))
    }
    assert scenes["green"].ground != scenes["brown"].ground and scenes["green"].camera == task.view(world).camera
    plain = {key: value for key, value in {**world.style, **lamps}.items() if key != "floor"}
    grey = task.scene(World(world.space, world.codes, {**plain, "floor": "grey"}))
    assert task.scene(World(world.space, world.codes, plain)).ground == grey.ground != scenes["green"].ground
    moved = [6.0, -3.5 + 0.2, 7.5 - 0.3, -6.5 + 0.1, -5.5 + 0.2, 5.0 - 0.3, -3.0 + 0.2, 6.5 + 0.2, 6.5 - 0.3]
    assert np.ravel([light.position for light in grey.lights]).tolist() == pytest.approx(moved)
    assert [(light.size, light.power) for light in grey.lights] == [(2.0, 380.0), (4.0, 120.0), (2.0, 160.0)]
