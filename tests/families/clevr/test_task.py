"""CLE4EVR: concepts and rule, counts, splits, places, counterfactuals, rsbench's settings, and what is refused."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from assay.config import Settings, load_yaml
from assay.counting import count_readings
from assay.data import Recipe, make
from assay.errors import ConfigError, KnowledgeError, MissingExtra
from assay.families.clevr.task import Clevr
from assay.logic import evaluate, parse
from assay.render import label_pixels
from assay.seeds import rng_for
from assay.tasks import TASKS
from assay.worlds.object_counts import RejectionSource

SMALL = {"width": 96, "height": 72, "quality": "draft"}


def worlds(task, split="train", count=12):
    chosen = next(one for one in task.splits() if one.name == split)
    return task.worlds_in(chosen, 0).worlds(np.arange(count))


def by_hand(world):
    """The default rule, from the values alone."""
    solids = [(world[f"object{i + 1}.shape"], world[f"object{i + 1}.colour"]) for i in range(len(world.codes) // 4)]
    return max(Counter(solid for solid in solids if solid[0] != "absent").values()) > 1


def label(task, world):
    return bool(task.knowledge.labels_of(np.array([world.codes]))[0, 0])


def test_a_scene_has_colour_shape_material_and_size_of_each_object():
    task = Clevr()
    assert task.space.names[:4] == ("object1.colour", "object1.shape", "object1.material", "object1.size")
    assert task.space.sizes == (10, 10, 2, 3, 10, 10, 2, 3)
    assert [group.name for group in task.space.encoders] == ["colour", "shape", "material", "size"]
    assert (task.layout.width, task.layout.height) == (320, 240)


@pytest.mark.parametrize("name", ["clevr", "clevr-small", "clevr-many"])
def test_labels_follow_from_the_rule_and_are_even(name):
    task = TASKS[name](**SMALL)
    made = worlds(task, count=24)
    truths = [by_hand(world) for world in made]
    assert [label(task, world) for world in made] == truths
    assert sum(truths) == 12


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"objects": 2}, 3_628_800**2),
        ({"objects": 3, "shapes": ["cube", "star", "ring"], "colours": ["red", "blue"]}, 12),
    ],
)
def test_readings_are_as_many_as_the_facts_say(settings, expected):
    task = Clevr(**settings, materials=["rubber"], sizes=["large"])
    assert count_readings(task.knowledge).total == expected


def test_any_formula_over_the_objects_can_be_the_rule():
    task = Clevr(rule="object1.material == 'metal' and any(x.size == 'small' for x in objects)", **SMALL)
    for world in worlds(task):
        small = "small" in (world["object1.size"], world["object2.size"])
        assert label(task, world) == (world["object1.material"] == "metal" and small)


def test_few_and_many_objects_are_as_frequent_whatever_the_label():
    task = TASKS["clevr-many"](**SMALL)
    source = task.worlds_in(task.splits()[0], 0)
    codes = source.codes(np.arange(800))
    numbers, labels = [task._there(row) for row in codes.tolist()], task.knowledge.labels_of(codes)[:, 0].tolist()
    counts = Counter(zip(numbers, labels, strict=True))
    assert set(numbers) == {3, 4, 5, 6} and set(counts.values()) == {100}
    assert not task.knowledge.violations(codes).any() and source.contains(codes).all()


def test_worlds_that_are_drawn_do_not_depend_on_one_another():
    task = Clevr(objects=5, **SMALL)
    source = task.worlds_in(task.splits()[0], 0)
    assert isinstance(source.parts[0], RejectionSource)
    whole = source.codes(np.arange(50))
    assert np.array_equal(source.codes(np.array([31, 7])), whole[[31, 7]])
    assert len(np.unique(whole, axis=0)) == 50


@pytest.mark.parametrize("objects", [3, 5])
def test_a_share_of_the_worlds_is_held_out(objects):
    task = Clevr(objects=objects, prop_in_distribution=0.7, **SMALL)
    sources = {split.name: task.worlds_in(split, 0) for split in task.splits()}
    train, ood = (sources[name].codes(np.arange(300)) for name in ("train", "ood"))
    assert sources["train"].contains(train).all() and not sources["train"].contains(ood).any()


def test_held_out_objects_occur_only_in_ood():
    task = Clevr(objects=3, held_out=["red cube", ["pink ring", "gray sphere"]], **SMALL)
    has = "any(x.colour == {!r} and x.shape == {!r} for x in objects)"
    held = f"{has.format('red', 'cube')} or ({has.format('pink', 'ring')} and {has.format('gray', 'sphere')})"
    for split in task.splits():
        codes = task.worlds_in(split, 0).codes(np.arange(100))
        shown = evaluate(parse(held), task.space, codes)
        assert shown.all() if split.name == "ood" else not shown.any()


def test_shapes_can_be_limited_to_some_colours():
    task = Clevr(shape_colours={"star": ["red", "blue"]}, **SMALL)
    for split in task.splits():
        made = task.worlds_in(split, 0).codes(np.arange(200))
        rows = [task.space.decode(row) for row in made]
        odd = [
            any(r[f"object{i}.shape"] == "star" and r[f"object{i}.colour"] not in ("red", "blue") for i in (1, 2))
            for r in rows
        ]
        assert all(odd) if split.name == "ood" else not any(odd)


def test_objects_are_numbered_from_left_to_right_and_each_shows():
    task = Clevr(objects=(2, 5), min_pixels=120, **SMALL)
    for world in worlds(task, count=10):
        scene = task.scene(world)
        things = label_pixels(scene).things
        counts = np.bincount(things.ravel(), minlength=len(scene.things) + 1)[1:]
        assert counts.min() >= task.config.pixels == 120 * 96 * 72 / (320 * 240)
        placement = task.config.placement.seen_from(world.style["camera"])
        spots = np.array([solid.spot[:2] for solid in task.objects_of(world)])
        assert (np.diff(placement.columns(spots)) > 0).all()


def test_without_occlusion_every_object_shows_wholly():
    task = Clevr(objects=4, occlusion=False, **SMALL)
    for world in worlds(task, count=4):
        scene = task.scene(world)
        whole = np.bincount(label_pixels(scene).things.ravel(), minlength=5)
        for place, one in enumerate(scene.instances):
            alone = (label_pixels(replace(scene, instances=(one,))).things == 1).sum()
            assert alone == whole[place + 1]


def test_changing_any_concept_changes_pixels_and_nothing_else():
    task = Clevr(**SMALL)
    world = worlds(task)[0]
    image = task.render(world).image
    for concept in task.space.concepts:
        value = next(value for value in concept.values if value != world[concept.name])
        other = task.change_world(world, {concept.name: value})
        assert other.style == world.style and (task.render(other).image != image).any(), concept.name


def test_the_last_object_can_leave_and_another_can_join():
    task = Clevr(objects=(2, 4), **SMALL)
    three = next(w for w in worlds(task, count=40) if task._there(w.codes) == 3 and w.style["spots"][3])
    left = task.change_world(three, {"object3.size": "absent"})
    assert task._there(left.codes) == 2 and left["object3.shape"] == "absent"
    assert task.change_world(three, {"object1.size": "absent"}) is None
    assert task.change_world(left, {"object2.size": "absent"}) is None, "two is the least"
    assert task.change_world(three, {"object3.size": "absent", "object3.shape": "cube"}) is None
    joined = task.change_world(three, {"object4.colour": "red"})
    assert joined["object4.colour"] == "red" and joined["object4.shape"] == three["object3.shape"]
    placement = task.config.placement.seen_from(three.style["camera"])
    assert (np.diff(placement.columns(np.array([solid.spot[:2] for solid in task.objects_of(joined)]))) > 0).all()
    assert len(task.render(joined).things) == 4
    assert task.change_world(left, {"object4.colour": "red"}) is None, "there is no third"
    full = next(w for w in worlds(task, count=40) if w.style["spots"][-1] is None)
    assert task.change_world(full, dict.fromkeys(("object3.colour", "object4.colour"), "red")) is None, "no room for it"


def test_places_say_nothing_of_what_stands_there():
    task = Clevr(min_pixels=1, **SMALL)
    one, other = task.space.encode([worlds(task)[0].values, worlds(task)[1].values]).tolist()
    assert task.style(rng_for(3, "x"), one, "train") == task.style(rng_for(3, "x"), other, "train")


# -- rsbench's settings ------------------------------------------------------------------------------------------------


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


def test_the_numbers_of_rsbench_stand_for_values():
    names = [f"{name}_{i}" for i in (1, 2, 3) for name in ("color", "shape", "material", "size")]
    task = Clevr(
        logic="Eq(color_3, 1) & Eq(shape_1, 12) & ~Eq(size_2, 32)", symbols=names, min_objects=3, max_objects=3
    )
    wanted = "object3.colour == 'red' and object1.shape == 'cylinder' and not object2.size == 'small'"
    assert task.config.rule == wanted and task.config.objects == 3
    assert Clevr(min_objects=2, max_objects=4).config.objects == (2, 4)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shapes": ["cube", "spere"]}, "no shape named 'spere'; did you mean 'sphere'?"),
        ({"colours": ["red", "red"]}, "one or more different names"),
        ({"objects": 40}, "40 objects do not fit into the picture, 10 do; lower 'objects' or 'min_dist', or leave out"),
        ({"objects": 8, "occlusion": False}, "do not fit into the picture, [67] do; .*set 'occlusion'"),
        ({"objects": [4, 2]}, "the least and the most"),
        ({"objects": 0}, "a number from 1 up"),
        ({"min_pixels": 5000}, "min_pixels: a small ball far away has about"),
        ({"held_out": ["pink"]}, "'pink' is not a colour and a shape, such as 'pink ring'"),
        ({"held_out": ["pink rong"]}, "held_out: no shape named 'rong'; did you mean 'ring'?"),
        ({"shape_colours": {"cube": ["rde"]}}, "shape_colours: no colour named 'rde'; did you mean 'red'?"),
        ({"logic": "a"}, "logic needs symbols"),
        ({"min_objects": "two"}, "expected a whole number"),
        ({"logic": "Eq(a, b)", "symbols": ["a", "b"], "rule": "true"}, "'logic' and 'rule' mean the same"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_one_line(settings, message):
    with pytest.raises(ConfigError, match=message.replace("?", r"\?") if "[67]" not in message else message) as caught:
        Clevr(**settings)
    assert "\n" not in str(caught.value)


def test_a_rule_over_unknown_concepts_is_refused():
    with pytest.raises(ConfigError, match="rule: .*no concept named 'object1.shap'; did you mean 'object1.shape'"):
        Clevr(rule="object1.shap == 'cube'").knowledge


def test_a_rule_that_never_holds_is_refused():
    task = Clevr(objects=4, rule="count(x.shape == 'cube' for x in objects) > 4")
    with pytest.raises(KnowledgeError, match="always False|is False in all of"):
        task.worlds_in(task.splits()[0], 0)


def test_without_blender_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.render.engines.blender.interpreter", lambda: None)
    recipe = Recipe("clevr", Settings({"engine": "blender", **SMALL}), sizes=(("train", 4),))
    with pytest.raises(MissingExtra, match=r"drawing with Blender needs: pip install '\.\[blender\]'"):
        make(recipe, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_presets_differ_in_what_they_show():
    assert TASKS["clevr-small"]().config.shapes == ["cube", "star", "ring"] and TASKS["clevr-small"]().config.most == 3
    assert (TASKS["clevr-many"]().config.least, TASKS["clevr-many"]().config.most) == (3, 6)


def test_objects_fill_the_first_slots_and_are_enough():
    task = Clevr(objects=(2, 5), **SMALL)
    limits = [limit.name for limit in task.knowledge.constraints]
    assert limits == ["enough objects", "object4 comes last", "object5 comes last"]

    def broken(*there):
        absent = [concept.code("absent") for concept in task.space.concepts]
        row = np.array([0 if place // 4 + 1 in there else code for place, code in enumerate(absent)])
        return [name for name, flag in zip(limits, task.knowledge.violations(row[None])[0], strict=True) if flag]

    assert broken(1, 2) == broken(1, 2, 3) == broken(1, 2, 3, 4) == broken(1, 2, 3, 4, 5) == []
    assert broken(1) == broken() == ["enough objects"]
    assert broken(1, 2, 4) == ["object4 comes last"] and broken(1, 2, 3, 5) == ["object5 comes last"]
    assert broken(1, 3) == ["enough objects"] and Clevr(objects=3, **SMALL).knowledge.constraints == ()
