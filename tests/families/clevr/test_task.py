"""CLE4EVR: concepts and rule, counts, splits, changed worlds, rsbench's settings, and what is refused."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from assay.base import ConfigError, KnowledgeError, MissingExtra, Settings, load_yaml
from assay.counting import count_shortcuts
from assay.dataset import Recipe, make
from assay.families.clevr.task import Clevr
from assay.logic import evaluate, parse
from assay.tasks import TASKS

SMALL = {"width": 96, "height": 72, "quality": "draft"}
ATTRIBUTES = ("colour", "shape", "material", "size")


def source(task, split="train"):
    return task.source_for(next(one for one in task.splits() if one.name == split), 0)


def worlds(task, split="train", count=12):
    return source(task, split).worlds(np.arange(count))


def number_of(world):
    return sum(value != "absent" for value in list(world.values.values())[::4])


def by_hand(world):
    """The default rule, from the values alone."""
    solids = [(world[f"object{i + 1}.shape"], world[f"object{i + 1}.colour"]) for i in range(len(world.codes) // 4)]
    return max(Counter(solid for solid in solids if solid[0] != "absent").values()) > 1


def label(task, world):
    return bool(task.knowledge.labels_of(np.array([world.codes]))[0, 0])


def row_of(task, values):
    """Return a scene as a row of codes, from its values in order."""
    return task.space.encode([dict(zip(task.space.names, values, strict=True))])


def test_a_scene_has_colour_shape_material_and_size_of_each_object():
    task = Clevr()
    assert task.space.names[:4] == tuple(f"object1.{name}" for name in ATTRIBUTES)
    assert task.space.sizes == (10, 10, 2, 3, 10, 10, 2, 3)
    assert [group.name for group in task.space.encoders] == list(ATTRIBUTES)
    assert (task.layout.width, task.layout.height) == (320, 240)


@pytest.mark.parametrize("name", ["clevr", "clevr-small", "clevr-many"])
def test_labels_follow_from_the_rule_and_are_even(name):
    task = TASKS[name](**SMALL)
    made = worlds(task, count=24)
    truths = [by_hand(world) for world in made]
    assert [label(task, world) for world in made] == truths
    assert sum(truths) == 12


def test_presets_differ_in_what_they_show():
    small, many = TASKS["clevr-small"](), TASKS["clevr-many"]()
    assert small.config.shapes == ["cube", "star", "ring"] and small.config.objects == 3
    assert many.config.objects == (3, 6)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"objects": 2}, 3_628_800**2),
        ({"objects": 3, "shapes": ["cube", "star", "ring"], "colours": ["red", "blue"]}, 12),
    ],
)
def test_readings_are_as_many_as_the_facts_say(settings, expected):
    task = Clevr(**settings, materials=["rubber"], sizes=["large"])
    assert count_shortcuts(task.knowledge).total == expected


def test_any_formula_over_the_objects_can_be_the_rule():
    task = Clevr(rule="object1.material == 'metal' and any(x.size == 'small' for x in objects)", **SMALL)
    for world in worlds(task):
        small = "small" in (world["object1.size"], world["object2.size"])
        assert label(task, world) == (world["object1.material"] == "metal" and small)


def test_few_and_many_objects_are_as_frequent_whatever_the_label():
    task = TASKS["clevr-many"](**SMALL)
    found = source(task)
    codes = found.codes(np.arange(400))
    numbers = (codes[:, ::4] != len(task.config.colours)).sum(axis=1).tolist()
    counts = Counter(zip(numbers, task.knowledge.labels_of(codes)[:, 0].tolist(), strict=True))
    assert set(numbers) == {3, 4, 5, 6} and set(counts.values()) == {50}
    assert not task.knowledge.violations(codes).any() and found.contains(codes).all()


def test_objects_fill_the_first_slots_and_are_enough():
    task = Clevr(objects=(2, 5), **SMALL)
    for there in product((True, False), repeat=5):
        row = row_of(
            task, [value for one in there for value in (["red", "cube", "metal", "large"] if one else ["absent"] * 4)]
        )
        lawful = there[0] and there[1] and list(there) == sorted(there, reverse=True)
        assert bool(task.knowledge.can_be(row)[0]) is lawful
    assert Clevr(objects=3, **SMALL).knowledge.constraints == ()


def test_worlds_that_are_drawn_do_not_depend_on_one_another():
    found = source(Clevr(objects=5, **SMALL))
    whole = found.codes(np.arange(50))
    assert np.array_equal(found.codes(np.array([31, 7])), whole[[31, 7]])
    assert len(np.unique(whole, axis=0)) == 50


# -- what is held out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objects", [3, 5])
def test_a_share_of_the_worlds_is_held_out(objects):
    task = Clevr(objects=objects, prop_in_distribution=0.7, **SMALL)
    train, ood = (source(task, name).codes(np.arange(100)) for name in ("train", "ood"))
    assert source(task).contains(train).all() and not source(task).contains(ood).any()


def test_held_out_objects_occur_only_in_ood():
    task = Clevr(objects=3, held_out=["red cube", ["pink ring", "gray sphere"]], **SMALL)
    has = "any(x.colour == {!r} and x.shape == {!r} for x in objects)"
    held = f"{has.format('red', 'cube')} or ({has.format('pink', 'ring')} and {has.format('gray', 'sphere')})"
    for split in task.splits():
        shown = evaluate(parse(held), task.space, task.source_for(split, 0).codes(np.arange(60)))
        assert shown.all() if split.name == "ood" else not shown.any()


def test_shapes_can_be_limited_to_some_colours():
    task = Clevr(shape_colours={"star": ["red", "blue"]}, **SMALL)
    for split in task.splits():
        rows = [task.space.decode(row) for row in task.source_for(split, 0).codes(np.arange(100))]
        odd = [
            any(r[f"object{i}.shape"] == "star" and r[f"object{i}.colour"] not in ("red", "blue") for i in (1, 2))
            for r in rows
        ]
        assert all(odd) if split.name == "ood" else not any(odd)


def test_all_that_is_held_out_is_left_to_ood_at_once():
    task = Clevr(
        objects=(1, 2), colours=["red", "blue", "gray"], shapes=["cube", "ring"], rule="object1.shape == 'cube'",
        held_out=["red ring", ["blue cube", "gray ring"]], shape_colours={"cube": ["blue", "red"]},
    )  # fmt: skip
    for colours, shapes in product(product(("red", "blue", "gray"), repeat=2), product(("cube", "ring"), repeat=2)):
        pairs = set(zip(colours, shapes, strict=True))
        codes = row_of(
            task, [value for pair in zip(colours, shapes, strict=True) for value in (*pair, "metal", "large")]
        )
        held = {("red", "ring"), ("gray", "cube")} & pairs or {("blue", "cube"), ("gray", "ring")} <= pairs
        assert bool(evaluate(task.in_distribution(), task.space, codes)[0]) != bool(held)


def test_objects_held_out_and_combinations_listed_go_together():
    some = {"colours": ["red", "blue"], "shapes": ["ring", "cube"], "materials": ["metal"], "sizes": ["large"]}
    listed = [
        [colour, shape, "metal", "large"] for colour, shape in (("red", "ring"), ("blue", "ring"), ("blue", "cube"))
    ]
    rows = [[colour, shape, "metal", "large"] for colour in ("red", "blue") for shape in ("ring", "cube")]
    for held, wanted in ((["red ring"], [False, False, True, True]), ([], [True, False, True, True])):
        task = Clevr(
            objects=1, held_out=held, combinations_in_distribution=listed, rule="object1.shape == 'ring'", **some
        )
        codes = np.concatenate([row_of(task, values) for values in rows])
        assert evaluate(task.in_distribution(), task.space, codes).tolist() == wanted


# -- changed worlds ----------------------------------------------------------------------------------------------------


def test_the_last_object_can_leave_and_another_can_join():
    task = Clevr(objects=(2, 4), **SMALL)
    drawn = worlds(task, count=40)
    three = next(w for w in drawn if number_of(w) == 3 and w.style["spots"][3])
    left = task.change_world(three, {"object3.size": "absent"})
    assert number_of(left) == 2 and left["object3.shape"] == "absent" and left.style == three.style
    assert task.change_world(three, {"object1.size": "absent"}) is None
    assert task.change_world(left, {"object2.size": "absent"}) is None, "two is the least"
    assert task.change_world(three, {"object3.size": "absent", "object3.shape": "cube"}) is None
    joined = task.change_world(three, {"object3.shape": "cone", "object4.colour": "red"})
    assert joined["object4.colour"] == "red" and joined["object4.shape"] == "cone", "it is like the one before it"
    spots = np.array([[*one.spot[:2], 0.0] for one in task.objects_of(joined)])
    assert (np.diff(task.view(joined).project(spots)[:, 0]) > 0).all()
    assert len(task.render(joined).things) == 4
    assert task.change_world(left, {"object4.colour": "red"}) is None, "there is no third"
    full = next(w for w in drawn if w.style["spots"][-1] is None)
    assert task.change_world(full, dict.fromkeys(("object3.colour", "object4.colour"), "red")) is None, "no room for it"


# -- rsbench's settings ------------------------------------------------------------------------------------------------

EIGHT = [f"{name}{i}" for i in (1, 2) for name in "csmz"]


def test_the_settings_of_rsbench_are_understood(tmp_path):
    path = tmp_path / "clevr.yml"
    path.write_text(
        "symbols: [color_1, shape_1, mat_1, size_1, color_2, shape_2, mat_2, size_2]\n"
        "logic: And(Eq(color_1, color_2), Eq(shape_1, shape_2), Eq(mat_1, mat_2))\n"
        "shapes: [cube, star, toroid]\ncolors: [red, blue]\nmin_pixels_per_object: 100\nno_occlusion: true\n"
    )
    task = Clevr(load_yaml(path))
    assert task.config.shapes == ["cube", "star", "ring"] and task.config.colours == ["red", "blue"]
    assert task.config.min_pixels == 100 and not task.config.occlusion and task.config.objects == 2
    for world in worlds(task):
        same = [world[f"object1.{name}"] == world[f"object2.{name}"] for name in ("colour", "shape", "material")]
        assert label(task, world) == all(same)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"colors": ["grey", "red"], "sizes": ["small"]}, {"colours": ["gray", "red"], "sizes": ["small"]}),
        ({"shapes": ["SmoothCube_v2", "torus"]}, {"shapes": ["cube", "ring"]}),
        ({"min_pixels_per_object": 9, "shape_color_combos": {"cube": ["red"]}},
         {"min_pixels": 9, "shape_colours": {"cube": ["red"]}}),
        ({"no_occlusion": False}, {"occlusion": True}),
        ({"min_objects": 2, "max_objects": 4}, {"objects": (2, 4)}),
        ({"min_objects": 3}, {"objects": 3}),
        ({"max_objects": 5, "objects": 2}, {"objects": 2}),
        # rsbench numbers colours from 0, shapes from 10, materials from 20 and sizes from 30
        ({"logic": "Eq(c1, c2)", "symbols": EIGHT}, {"rule": "object1.colour == object2.colour", "objects": 2}),
        ({"logic": "Eq(m1, 20)", "symbols": EIGHT[:5]}, {"rule": "object1.material == 'rubber'", "objects": 2}),
        ({"logic": "Eq(z2, 31)", "symbols": EIGHT, "max_objects": 3},
         {"rule": "object2.size == 'medium'", "objects": 3}),
        ({"logic": "Eq(s2, 11)", "symbols": EIGHT, "shapes": ["toroid", "cone"]}, {"rule": "object2.shape == 'cone'"}),
        ({"logic": "Eq(c1, 0)", "symbols": EIGHT, "colors": ["pink", "red"]}, {"rule": "object1.colour == 'pink'"}),
    ],
)  # fmt: skip
def test_each_key_of_rsbench_in_our_words(given, wanted):
    config = Clevr(**given).config
    for key, value in wanted.items():
        assert parse(config.rule) == parse(value) if key == "rule" else getattr(config, key) == value


def test_what_is_wrong_with_a_key_of_rsbench_is_told_at_its_place(tmp_path):
    path = tmp_path / "clevr.yml"
    path.write_text("min_objects: 2\nmax_objects: two\n")
    with pytest.raises(ConfigError, match=r"clevr.yml.*2.*max_objects: expected a whole number, not 'two'"):
        Clevr(load_yaml(path))


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shapes": ["cube", "spere"]}, r"no shape named 'spere'; did you mean 'sphere'\?"),
        ({"materials": ["rubbre"]}, "no material named 'rubbre'"),
        ({"colours": ["red", "red"]}, "one or more different names"),
        ({"objects": 40}, "40 objects do not fit into the picture, 10 do; lower 'objects' or 'min_dist', or leave out"),
        ({"objects": 8, "occlusion": False}, "do not fit into the picture, [67] do; .*set 'occlusion'"),
        ({"objects": [4, 2]}, "the least and the most"),
        ({"objects": 0}, "a number from 1 up"),
        ({"min_pixels": 5000}, "min_pixels: a small ball far away has about"),
        ({"held_out": ["pink"]}, "'pink' is not a colour and a shape, such as 'pink ring'"),
        ({"held_out": [["red cube", "pink rong"]]}, r"held_out: no shape named 'rong'; did you mean 'ring'\?"),
        ({"held_out": ["red cube"], "shapes": ["ring", "star"]}, "held_out: no shape named 'cube'"),
        ({"shape_colours": {"cube": ["rde"]}}, r"shape_colours: no colour named 'rde'; did you mean 'red'\?"),
        ({"shape_colours": {"cobe": ["red"]}}, "shape_colours: no shape named 'cobe'"),
        ({"logic": "a"}, "logic needs symbols"),
        ({"logic": "Eq(a, 1)", "symbols": ["a", 2]}, "logic needs symbols, a list of names"),
        ({"logic": 3, "symbols": ["a"]}, "logic: expected a formula, not 3"),
        ({"min_objects": "two"}, "expected a whole number"),
        ({"max_objects": 2.0}, "expected a whole number, not 2.0"),
        ({"logic": "Eq(a, b)", "symbols": ["a", "b"], "rule": "true"}, "'logic' and 'rule' mean the same"),
        ({"no_occlusion": True, "occlusion": True}, "'no_occlusion' and 'occlusion' mean the same"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_one_line(settings, message):
    with pytest.raises(ConfigError, match=message) as caught:
        Clevr(**settings)
    assert "\n" not in str(caught.value)


def test_as_many_pixels_can_be_asked_for_as_the_refusal_says():
    with pytest.raises(ConfigError, match="about") as caught:
        Clevr(min_pixels=5000)
    most = int(str(caught.value).split("about ")[1].split()[0])
    assert Clevr(min_pixels=most - 1).config.min_pixels == most - 1
    with pytest.raises(ConfigError, match="about"):
        Clevr(min_pixels=most + 1)


def test_a_rule_over_unknown_concepts_is_refused():
    with pytest.raises(ConfigError, match="rule: .*no concept named 'object1.shap'; did you mean 'object1.shape'"):
        Clevr(rule="object1.shap == 'cube'").knowledge


def test_a_rule_that_never_holds_is_refused():
    task = Clevr(objects=4, rule="count(x.shape == 'cube' for x in objects) > 4")
    with pytest.raises(KnowledgeError, match="always False|is False in all of"):
        source(task)


def test_without_blender_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv("ASSAY_BLENDER_PYTHON", raising=False)
    recipe = Recipe("clevr", Settings({"engine": "blender", **SMALL}), sizes=(("train", 4),))
    with pytest.raises(MissingExtra, match=r"drawing with Blender needs: pip install '\.\[blender\]'"):
        make(recipe, tmp_path / "data")
    assert not (tmp_path / "data").exists()
