"""Settings of CLE4EVR: what is in use, how much fits, what is held out, and each of rsbench's keys."""

from math import pi

import numpy as np
import pytest

from assay.config import Settings
from assay.errors import ConfigError
from assay.families.clevr import settings as clevr_settings
from assay.families.clevr.hans import ClevrHans
from assay.families.clevr.hans_classes import HANS3, HANS7, LEFT, RIGHT
from assay.families.clevr.placement import CameraView, OrderedPlacement
from assay.families.clevr.settings import ClevrConfig, from_rsbench
from assay.families.clevr.task import Clevr
from assay.logic import TRUE, evaluate, parse
from assay.worlds import Split, World


def test_what_is_smallest_and_largest_goes_by_size_and_not_by_order():
    config = ClevrConfig(sizes=["medium", "small", "large"], objects=(2, 5), width=640, height=120, min_pixels=10)
    assert (config.smallest, config.largest, config.least, config.most) == ("small", "large", 2, 5)
    assert config.values("size") == ("medium", "small", "large") and config.values("material") == ("rubber", "metal")
    assert config.pixels == 10 * 640 * 120 / (320 * 240)
    placement = config.placement
    assert placement.view == CameraView(640, 120, 1.6 + 5 * 0.2)
    assert (placement.least, placement.most, placement.apart, placement.margin) == (0.3, 0.7, 0.25, 0.4)
    assert placement.share == 0.4


def test_objects_that_may_not_hide_one_another_stand_farther_apart_up_to_the_edge():
    apart = ClevrConfig(objects=3, occlusion=False, sizes=["small"], min_dist=0.1, margin=0.3).placement
    assert apart.view.reach == pytest.approx(1.6 + 3 * 0.4) and apart.share == 1.0
    assert (apart.least, apart.most, apart.apart, apart.margin) == (0.3, 0.3, 0.1, 0.3)
    assert ClevrConfig(objects=6, occlusion=False, sizes=["small"]).placement.view.reach == 3.6
    assert ClevrConfig(objects=1).least == ClevrConfig(objects=1).most == 1


def ball(config):
    """How many pixels, as in 320 x 240, the smallest ball has that is farthest away."""
    view = config.placement.view
    distance = view.project(np.array([0.0, view.reach, 0.0]))[2]
    return pi * (config.placement.least * view.focus / distance) ** 2 * (320 * 240) / (config.width * config.height)


@pytest.mark.parametrize("settings", [{}, {"width": 640, "height": 480}, {"sizes": ["medium", "large"]}])
def test_as_many_pixels_can_be_asked_for_as_the_smallest_ball_has(settings):
    most = int(ball(ClevrConfig(**settings)))
    assert ClevrConfig(min_pixels=most, **settings).min_pixels == most
    size = "medium" if "sizes" in settings else "small"
    with pytest.raises(ValueError, match=f"min_pixels: a {size} ball far away has about {most}|{most + 1} of them"):
        ClevrConfig(min_pixels=most + 1, **settings)


def room_for(count):
    """A room that holds so many objects."""
    return lambda self, number: number <= count


@pytest.mark.parametrize(
    ("held", "settings", "why"),
    [
        (3, {"objects": (2, 4)}, "4 objects do not fit into the picture, 3 do; lower 'objects' or 'min_dist', or leave "
         "out size 'large'"),
        (3, {"objects": 4, "sizes": ["medium"]}, "4 objects .* 3 do; lower 'objects' or 'min_dist'$"),
        (2, {"objects": 3, "sizes": ["small", "medium"], "occlusion": False},
         "3 objects .* 2 do; lower 'objects' or 'min_dist', or set 'occlusion', or leave out size 'medium'$"),
        (99, {"objects": 17}, "17 objects do not fit into the picture, 16 do; "),
    ],
)  # fmt: skip
def test_what_does_not_fit_says_how_many_do_and_what_helps(monkeypatch, held, settings, why):
    monkeypatch.setattr(ClevrConfig, "_holds", room_for(held))
    with pytest.raises(ConfigError, match=why):
        Clevr(**settings)
    monkeypatch.setattr(clevr_settings, "MOST_OBJECTS", 99)
    fits = {**settings, "objects": min(held, 16)}
    assert Clevr(**fits).config.most == min(held, 16)


def test_a_room_is_tried_with_as_many_objects_as_are_asked_for():
    config = ClevrConfig(objects=(2, 3))
    tried = []
    room = type("Room", (), {"holds": lambda self, rng, count: tried.append(count) or True})()
    config.__dict__["placement"] = room
    assert config._holds(7) and tried == [7]


def codes_of(space, values):
    """A scene as a row of codes, from its values in order."""
    return space.encode([dict(zip(space.names, values, strict=True))])


def test_nothing_held_out_lets_every_world_in():
    assert ClevrConfig().inside() == TRUE == Clevr().in_distribution()


def test_what_is_held_out_alone_or_together_and_colours_of_shapes_are_one_formula():
    task = Clevr(
        objects=(1, 2),
        colours=["red", "blue", "gray"],
        shapes=["cube", "ring"],
        held_out=["red ring", ["blue cube", "gray ring"]],
        shape_colours={"cube": ["blue", "red"]},
        rule="object1.shape == 'cube'",
    )
    inside, space = task.config.inside(), task.space
    for colours in [(a, b) for a in ("red", "blue", "gray") for b in ("red", "blue", "gray")]:
        for shapes in [(a, b) for a in ("cube", "ring") for b in ("cube", "ring")]:
            pairs = list(zip(colours, shapes, strict=True))
            codes = codes_of(space, [value for pair in pairs for value in (*pair, "metal", "large")])
            wanted = ("red", "ring") not in pairs
            wanted &= not ({("blue", "cube"), ("gray", "ring")} <= set(pairs))
            wanted &= ("gray", "cube") not in pairs
            assert bool(evaluate(inside, space, codes)[0]) is wanted, pairs
    alone = codes_of(space, ["gray", "ring", "metal", "large"] + ["absent"] * 4)
    assert evaluate(inside, space, alone).all()
    limited = Clevr(held_out=["red ring"], combinations_in_distribution=None, prop_in_distribution=0.5)
    assert limited.in_distribution() == limited.config.inside()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"held_out": [["red cube", "pink rong"]]}, "held_out: no shape named 'rong'"),
        ({"held_out": ["pinkk ring"]}, "held_out: no colour named 'pinkk'"),
        ({"shape_colours": {"cube": ["red", "gren"]}}, "shape_colours: no colour named 'gren'"),
        ({"shape_colours": {"cobe": ["red"]}}, "shape_colours: no shape named 'cobe'"),
        ({"held_out": ["red cube"], "shapes": ["ring", "star"]}, "held_out: no shape named 'cube'"),
        ({"objects": [0, 2]}, "a number from 1 up"),
        ({"materials": ["rubbre"]}, "no material named 'rubbre'"),
    ],
)
def test_names_that_are_not_in_use_are_refused(settings, why):
    with pytest.raises(ConfigError, match=why):
        Clevr(**settings)


# -- rsbench's keys ----------------------------------------------------------------------------------------------------

EIGHT = [f"{name}{i}" for i in (1, 2) for name in "csmz"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"colors": ["grey", "red"], "sizes": ["small"]}, {"colours": ["gray", "red"], "sizes": ["small"]}),
        ({"shapes": ["SmoothCube_v2", "torus", 3]}, {"shapes": ["cube", "ring", 3]}),
        ({"shapes": "toroid"}, {"shapes": "toroid"}),
        ({"min_pixels_per_object": 9, "shape_color_combos": {"cube": ["red"]}},
         {"min_pixels": 9, "shape_colours": {"cube": ["red"]}}),
        ({"no_occlusion": True}, {"occlusion": False}),
        ({"no_occlusion": False}, {"occlusion": True}),
        ({"min_objects": 2, "max_objects": 4}, {"objects": (2, 4)}),
        ({"min_objects": 3}, {"objects": 3}),
        ({"max_objects": 5}, {"objects": 5}),
        ({"min_objects": 3, "max_objects": 3}, {"objects": 3}),
        ({"max_objects": 5, "objects": 2}, {"objects": 2}),
        ({"logic": "Eq(c1, c2)", "symbols": EIGHT}, {"rule": "object1.colour == object2.colour", "objects": 2}),
        ({"logic": "Eq(m1, 20)", "symbols": EIGHT[:5]}, {"rule": "object1.material == 'rubber'", "objects": 2}),
        ({"logic": "Eq(z2, 31)", "symbols": EIGHT, "max_objects": 3},
         {"rule": "object2.size == 'medium'", "objects": 3}),
        ({"logic": "Eq(s2, 11)", "symbols": EIGHT, "shapes": ["ring", "toroid", "cone"], "objects": (2, 3)},
         {"rule": "object2.shape == 'ring'", "shapes": ["ring", "ring", "cone"], "objects": (2, 3)}),
        ({"logic": "Eq(c1, 0)", "symbols": EIGHT, "colors": ["pink"]},
         {"rule": "object1.colour == 'pink'", "objects": 2, "colours": ["pink"]}),
        ({"logic": "Eq(c1, 2) & Eq(1, s1)", "symbols": EIGHT},
         {"rule": "object1.colour == 'blue' and 'red' == object1.shape", "objects": 2}),
        ({"objects": 4, "rule": "true"}, {"objects": 4, "rule": "true"}),
    ],
)  # fmt: skip
def test_each_key_of_rsbench_in_our_words(given, wanted):
    found = from_rsbench(Settings(given)).values
    rule = wanted.pop("rule", None)
    if rule is None:
        assert "rule" not in found
    else:
        assert parse(found["rule"]) == parse(rule)
    assert {key: value for key, value in found.items() if key != "rule"} == wanted


def test_places_of_rsbenchs_keys_are_told_for_ours():
    settings = Settings(
        {"logic": "Eq(c1, c2)", "symbols": EIGHT, "max_objects": 3, "width": 64},
        {"logic": "file.yml:3", "max_objects": "file.yml:5", "width": "file.yml:6"},
    )
    places = from_rsbench(settings).places
    assert [places.get(key) for key in ("rule", "objects", "width")] == ["file.yml:3", "file.yml:5", "file.yml:6"]
    given = Settings({"max_objects": 3, "objects": 2}, {"max_objects": "file.yml:5"})
    assert "objects" not in from_rsbench(given).places


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"no_occlusion": True, "occlusion": True}, "'no_occlusion' and 'occlusion' mean the same"),
        ({"max_objects": 2.0}, "max_objects: expected a whole number, not 2.0|min_objects"),
        ({"min_objects": 2, "max_objects": "4"}, "max_objects: expected a whole number, not '4'"),
        ({"min_objects": True, "max_objects": 4}, "min_objects: expected a whole number, not True"),
        ({"logic": "Eq(a, 1)", "symbols": []}, "logic needs symbols, a list of names"),
        ({"logic": "Eq(a, 1)", "symbols": ["a", 2]}, "logic needs symbols, a list of names"),
        ({"logic": ["Eq(a, 1)"], "symbols": ["a"]}, "logic: expected a formula"),
        ({"logic": 3, "symbols": ["a"]}, "logic: expected a formula, not 3"),
    ],
)
def test_keys_of_rsbench_that_make_no_sense_are_refused(given, why):
    with pytest.raises(ConfigError, match=why):
        from_rsbench(Settings(given))


# -- CLEVR-Hans --------------------------------------------------------------------------------------------------------


SEVEN = {"classes": 7, "rule": "1 if object1.shape == 'cube' else 2"}  # whose own rule takes seconds to check


def test_the_strength_of_confounders_is_the_least_of_what_is_set_and_published():
    assert [one["strength"] for one in ClevrHans(strength=0.95).planted] == [0.95, 0.95]
    seven = ClevrHans(classes=7, objects=(3, 6), strength=0.95)
    assert [one["strength"] for one in seven.planted] == [0.95, 0.95, 0.95, 0.9]
    assert [one["strength"] for one in ClevrHans(classes=7, objects=(3, 6), strength=0.5).planted] == [0.5] * 4
    assert all(one["one_sided"] is True for one in seven.planted)
    assert [one["with"] for one in seven.planted] == list(seven.classes.confounders)
    assert "seven classes" in seven.summary and "three classes" in ClevrHans().summary


def test_seven_classes_ask_where_objects_stand_and_three_do_not():
    three, seven = ClevrHans(objects=(3, 4)), ClevrHans(objects=(3, 6), **SEVEN)
    assert three.attributes == ("colour", "shape", "material", "size")
    assert seven.attributes == (*three.attributes, "side", "row")
    assert seven.values_of("row") == (1, 2, 3, 4, 5, 6) and seven.values_of("side") == ("left", "right")
    assert seven.values_of("size") == ("large", "small")
    assert [one.name for one in three.constraints()] == ["enough objects"]
    names = [one.name for one in seven.constraints()]
    assert names[-2:] == ["objects are numbered from left to right", "each row has one object"]
    assert names[:-2] == ["enough objects", "object5 comes last", "object6 comes last"]
    assert "hard" not in {split.name for split in seven.splits()}
    assert {split.name for split in three.splits()} - {split.name for split in seven.splits()} <= {"hard"}
    assert ClevrHans(classes=7, objects=(3, 6)).config.most == 6
    for settings in (
        {"objects": (3, 5)},
        {"balance": "world", "objects": (3, 6)},
        {"objects": (3, 6), "balance": None},
    ):
        with pytest.raises(ConfigError, match="objects|balance"):
            ClevrHans(classes=7, **settings)


def standing(task, sides, rows):
    """Whether scenes with these sides and rows break what holds of every scene."""
    values = []
    for side, row in zip(sides, rows, strict=True):
        values += ["absent"] * 6 if side is None else ["red", "cube", "metal", "large", side, row]
    codes = codes_of(task.space, values)
    broken = task.knowledge.violations(codes)[0]
    return [limit.name for limit, flag in zip(task.knowledge.constraints, broken, strict=True) if flag]


def test_objects_are_numbered_from_left_to_right_each_in_a_row_of_its_own():
    task = ClevrHans(objects=(4, 6), **SEVEN)
    order, alone = "objects are numbered from left to right", "each row has one object"
    left, right = "left", "right"
    assert standing(task, [left, left, right, right, None, None], [4, 1, 3, 2, None, None]) == []
    assert standing(task, [left, right, left, right, None, None], [4, 1, 3, 2, None, None]) == [order]
    assert standing(task, [right] * 6, [6, 5, 4, 3, 2, 1]) == []
    assert standing(task, [left, left, left, right, None, None], [4, 1, 3, 4, None, None]) == [alone]  # far apart
    assert standing(task, [left, left, left, right, right, None], [1, 2, 3, 4, 3, None]) == [alone]
    always = ClevrHans(objects=6, **SEVEN)
    assert standing(always, [left] * 6, [1, 2, 3, 4, 5, 1]) == [alone]
    assert standing(always, [left] * 6, [1, 2, 3, 4, 5, 6]) == []


def test_of_seven_classes_looks_can_change_and_nothing_can_move_leave_or_join():
    task = ClevrHans(objects=(3, 6), **SEVEN)
    values = []
    for number in range(6):
        values += ["absent"] * 6 if number > 3 else ["red", "cube", "metal", "large", "left", number + 1]
    world = World(task.space, tuple(codes_of(task.space, values)[0].tolist()), {"spots": []})
    changed = task.change_world(world, {"object1.colour": "blue", "object2.shape": "sphere", "object1.row": 1})
    assert changed["object1.colour"] == "blue" and changed["object2.shape"] == "sphere" and changed.style == world.style
    for changes in (
        {"object1.row": 5},
        {"object2.side": "right"},
        {"object4.size": "absent"},
        {"object5.size": "small"},
    ):
        assert task.change_world(world, changes) is None
    same = task.change_world(world, {"object5.size": "absent", "object2.side": "left"})
    assert same.codes == world.codes


def test_what_is_held_out_and_what_is_listed_are_both_left_to_ood():
    some = {"colours": ["red", "blue"], "shapes": ["ring", "cube"], "materials": ["metal"], "sizes": ["large"]}
    tail = ["metal", "large"]
    listed = [["red", "ring", *tail], ["blue", "ring", *tail], ["blue", "cube", *tail]]
    both = Clevr(
        objects=1, held_out=["red ring"], combinations_in_distribution=listed, rule="object1.shape == 'ring'", **some
    )
    codes = np.concatenate([
        codes_of(both.space, [colour, shape, *tail]) for colour in ("red", "blue") for shape in ("ring", "cube")
    ])  # fmt: skip
    assert evaluate(both.in_distribution(), both.space, codes).tolist() == [False, False, True, True]
    alone = Clevr(objects=1, combinations_in_distribution=listed, rule="object1.shape == 'ring'", **some)
    assert evaluate(alone.in_distribution(), alone.space, codes).tolist() == [True, False, True, True]


def test_kinds_of_seven_classes_ask_for_as_many_objects_as_their_rules_need():
    task = ClevrHans(objects=(3, 7), **SEVEN)
    split = Split("train", 70)
    source = task.worlds_in(split, 5)
    assert [[kind.least for kind in kinds] for kinds in source.kinds] == [[3], [3], [3], [5], [3, 6], [3], [3]]
    assert [kinds[0].where for kinds in source.kinds[:4]] == [parse(rule) for rule in HANS7.rules[:4]]
    alone, both = (kind.where for kind in source.kinds[4])
    assert alone == parse(f"{LEFT} and not ({RIGHT})") and both == parse(f"{LEFT} and {RIGHT}")
    assert source.kinds[5][0].where == parse(HANS7.rules[5]) and source.seed == 5 and source.split is split
    assert source.planner.place == task.place_objects and source.planner.shows_all == task.shows_all
    many = ClevrHans(objects=(7, 7), **SEVEN).worlds_in(split, 5)
    assert {kind.least for kinds in many.kinds for kind in kinds} == {7}
    assert (
        type(ClevrHans(objects=(3, 4)).worlds_in(ClevrHans(objects=(3, 4)).splits()[0], 0)).__name__ != "PlacedSource"
    )


def test_objects_are_placed_with_the_side_and_the_row_that_they_are_seen_in(monkeypatch):
    task = ClevrHans(objects=(3, 7), **SEVEN)
    placed = task.place_objects(np.random.default_rng(2), 4)
    spots = placed.style["spots"]
    assert len(spots) == 7 and spots[4:] == [None] * 3 and all(len(spot) == 3 for spot in spots[:4])
    view = task.config.placement.seen_from(placed.style["camera"]).view
    seen = [view.project(np.array([*spot[:2], 0.0])) for spot in spots[:4]]
    assert placed.positions["side"] == ["right" if column > 160 else "left" for column, _, _ in seen]
    depths = [depth for _, _, depth in seen]
    assert placed.positions["row"] == [1 + sum(other < own for other in depths) for own in depths]
    assert sorted(placed.positions["row"]) == [1, 2, 3, 4] != placed.positions["row"]
    assert set(placed.style) == {"camera", "key", "fill", "back", "spots"}
    monkeypatch.setattr(OrderedPlacement, "find_spots", lambda self, rng, count, tries: None)
    assert task.place_objects(np.random.default_rng(2), 4) is None
    with pytest.raises(ConfigError, match="stands where its concepts say"):
        task.style(np.random.default_rng(2), (), "train")


def test_scenes_are_of_one_class_alone_and_without_what_is_held_out():
    task = ClevrHans(objects=3, held_out=["cyan cube"])
    large = [("gray", "cube", "metal", "large"), ("red", "cylinder", "rubber", "large")]
    small = [("green", "cube", "metal", "small"), ("red", "sphere", "rubber", "small")]
    balls = [("blue", "sphere", "metal", "large"), ("yellow", "sphere", "rubber", "small")]
    other, cyan = ("brown", "cylinder", "metal", "small"), ("cyan", "cube", "rubber", "large")
    scenes = {
        (*large, other): True,
        (*balls, other): True,
        (*small, other): True,
        (large[0], small[1], other): False,  # of no class
        (*balls, small[0]): False,  # of two
        (*large, cyan): False,
        (cyan, *small): False,
    }
    codes = np.concatenate([codes_of(task.space, [value for one in scene for value in one]) for scene in scenes])
    assert evaluate(task.in_distribution(), task.space, codes).tolist() == list(scenes.values())
    assert task.knowledge.labels_of(codes[:3])[:, 0].tolist() == [0, 2, 1]
    assert task.classes is HANS3 and ClevrHans(objects=(3, 6), **SEVEN).classes is HANS7
