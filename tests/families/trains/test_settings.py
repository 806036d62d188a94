"""Trains by their settings: splits and pools, styles and columns, draws from words, laws, and what V-LoL's files say."""

import json
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from assay.errors import ConfigError, KnowledgeError
from assay.families.trains import export, source
from assay.families.trains.rules import cars_at_least, cars_at_most, laws_of, michalski_cars
from assay.families.trains.settings import RELEASED, TrainsConfig, rule_of
from assay.families.trains.source import (
    ATTRIBUTES,
    VALUES,
    CarKinds,
    TrainDistribution,
    TrainSource,
    cars_of,
    kinds_of,
    michalski_car,
    train_space,
)
from assay.families.trains.task import MichalskiTrains
from assay.logic import TRUE, Knowledge, evaluate, parse
from assay.render import Box, ObjectBox
from assay.tasks import TASKS
from assay.worlds import Quota, Split, World

CAR = ("yellow", "short", "solid", "none", 2, 1, "box")
BLUE = ("blue", "long", "braced", "peaked", 3, 2, "diamond")  # which Michalski's trains have not
GREEN = ("green", "short", "solid", "solid", 2, 1, "barrel")
GONE = [len(VALUES[name]) for name in ATTRIBUTES]


def codes(*cars, slots=None):
    """A train as a row of codes, with empty slots at its end."""
    rows = [[VALUES[name].index(value) for name, value in zip(ATTRIBUTES, car, strict=True)] for car in cars]
    return np.array([*rows, *([GONE] * ((slots or len(cars)) - len(cars)))]).ravel()


def split_of(task, name):
    return next(split for split in task.splits() if split.name == name)


# -- splits ------------------------------------------------------------------------------------------------------------


def test_longer_and_other_trains_have_splits_of_their_own():
    task = MichalskiTrains(min_cars=1, max_cars=2, ood_longer=4, ood_uniform=True, image=False)
    assert (task.config.slots, task.common, len(task.space)) == (4, "uniform", 28)
    trains = np.array([
        codes(CAR, slots=4), codes(CAR, GREEN, slots=4), codes(BLUE, CAR, slots=4), codes(CAR, CAR, GREEN, slots=4),
        codes(CAR, CAR, GREEN, CAR), codes(CAR, CAR, GREEN, BLUE),
    ])  # fmt: skip
    wanted = {
        "train": [1, 1, 0, 0, 0, 0],
        "test": [1, 1, 0, 0, 0, 0],
        "ood_longer": [0, 0, 0, 0, 1, 0],
        "ood_uniform": [0, 0, 1, 0, 0, 0],
    }
    for name, inside in wanted.items():
        assert evaluate(split_of(task, name).where, task.space, trains).astype(int).tolist() == inside, name
    names = tuple(split.name for split in task.splits())
    assert names[-2:] == ("ood_longer", "ood_uniform")
    for name in names[-2:]:
        split = split_of(task, name)
        assert (split.size, split.pool, split.balance, split.disjoint_from) == (300, "test", "label", names[:-2])
    assert not task.knowledge.violations(trains).any()


def test_plain_trains_have_plain_splits():
    task = MichalskiTrains(image=False)
    assert task.common == "michalski" and {split.where for split in task.splits() if split.name != "hard"} == {TRUE}
    assert not {"ood_longer", "ood_uniform"} & {split.name for split in task.splits()}
    longer = MichalskiTrains(image=False, ood_longer=5)
    assert split_of(longer, "train").where == cars_at_most(4) and split_of(longer, "ood_longer").where == cars_at_least(
        5
    )
    assert longer.knowledge.violations(codes(BLUE, CAR, slots=5)[None]).any()
    even = MichalskiTrains(image=False, ood_uniform=True)
    assert split_of(even, "train").where == michalski_cars()


def test_trains_of_a_split_are_drawn_as_it_says():
    task = MichalskiTrains(min_cars=1, max_cars=3, ood_longer=6, ood_uniform=True, image=False)
    assert task.trains_of("train") == task.trains_of("hard") == TrainDistribution("michalski", 1, 3)
    assert task.trains_of("ood_uniform") == TrainDistribution("uniform", 1, 3)
    assert task.trains_of("ood_longer") == TrainDistribution("michalski", 6, 6)
    even = MichalskiTrains(distribution="uniform", ood_longer=6, image=False)
    assert even.trains_of("ood_longer") == TrainDistribution("uniform", 6, 6)
    assert type(task.worlds_in(split_of(task, "train"), 0)) is TrainSource
    hard = Split("hard", 10, quota=Quota(per_variant=1))
    assert type(task.worlds_in(hard, 0)).__name__ == "HardSource"


def test_columns_styles_and_networks_are_those_of_the_settings():
    text, picture = MichalskiTrains(image=False), MichalskiTrains(width=130, background="fisheye")
    assert text.columns == ("text",) and (text.layout.width, text.layout.height) == (0, 0) and text.style_choices == {}
    assert picture.columns == ("image", "things", "instances", "parts", "depth")
    assert (picture.layout.width, picture.layout.height) == (130, 73)  # 73.125
    assert MichalskiTrains(width=100).layout.height == 56 and MichalskiTrains(width=104).layout.height == 58  # 58.5
    assert picture.style_choices == {"background": ("base", "desert_sky", "desert")}
    assert MichalskiTrains(width=128).backbones() == {"concept": "resnet-18", "label": "resnet-18"}
    assert MichalskiTrains(width=127).backbones() == {"concept": "conv-pool-5", "label": "conv-pool-5"}
    looks = MichalskiTrains(width=64, visualization="blocks", max_cars=3, ood_longer=7).appearance("desert")
    assert (looks.visualization, looks.background, looks.most, looks.width, looks.height) == (
        "blocks",
        "desert",
        3,
        64,
        36,
    )
    assert text.render(World(text.space, tuple(codes(CAR, GREEN, slots=4).tolist()), {})).text == (
        "1 rectangle short not_double none 2 rectangle 1 2 bucket short not_double flat 2 circle 1"
    )


@pytest.mark.parametrize(("occlusion", "steepest"), [(False, 60), (True, 70)])
def test_trains_turn_to_either_side_and_face_either_way(occlusion, steepest):
    task = MichalskiTrains(image=False, occlusion=occlusion)
    angles = {task.style(np.random.default_rng(seed), (), "train")["angle"] for seed in range(4000)}
    assert angles == {*range(-steepest, steepest + 1), *range(180 - steepest, 180 + steepest + 1)}


def test_a_scene_has_the_background_of_its_style():
    task = MichalskiTrains(width=64, background="desert")
    world = World(task.space, tuple(codes(CAR, GREEN, slots=4).tolist()), {"angle": 20})
    studio = World(world.space, world.codes, {"angle": 20, "background": "base"})
    base = MichalskiTrains(width=64)
    assert task.scene(studio).ground == base.scene(world).ground != task.scene(world).ground
    turned = World(world.space, world.codes, {"angle": 50})
    assert (task.scene(turned).instances[0].matrix != task.scene(world).instances[0].matrix).any()


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_at_their_ends():
    assert TrainsConfig(min_cars=4).min_cars == TrainsConfig(min_cars=4).max_cars == 4
    assert TrainsConfig(ood_longer=5).slots == 5 and TrainsConfig(max_cars=3).slots == 3
    for settings in ({"ood_longer": 4}, {"ood_longer": 13}, {"combinations_in_distribution": []}, {"min_cars": 0}):
        with pytest.raises(ConfigError, match=next(iter(settings))):
            MichalskiTrains(**settings)
    assert RELEASED["max_train_length"] == "max_cars"


def test_a_rule_is_a_name_or_a_formula_that_is_true_or_false():
    assert rule_of("car1.axles == 3") == parse("car1.axles == 3")
    with pytest.raises(ConfigError, match="no rule named 'easyy'; did you mean 'easy'"):
        rule_of("easyy")
    for text in ("car1.loads", "car1.colour", "count(c.axles == 3 for c in cars)"):
        with pytest.raises(ConfigError, match="must be true or false of a train, not a number or a word"):
            rule_of(text)
    assert rule_of("car12.axles==3") == parse("car12.axles == 3")  # no spaces, and the last car that can be


def test_programs_come_as_text_or_from_a_file(tmp_path, monkeypatch):
    path = tmp_path / "rule.pl"
    program = "eastbound(T) :- has_car(T, C), short(C), closed(C)."
    path.write_text(program)
    assert TrainsConfig(prolog=f"  {path} \n").prolog == program
    held = MichalskiTrains(prolog=str(path), image=False)
    trains = np.array([codes(CAR, CAR, slots=4), codes(CAR, GREEN, slots=4)])
    assert held.knowledge.labels_of(trains)[:, 0].tolist() == [0, 1]
    facts = MichalskiTrains(prolog=program, prolog_form="facts", image=False)
    assert facts.knowledge.labels_of(trains)[:, 0].tolist() == [0, 1]
    with pytest.raises(ConfigError, match=r"the file '.*none.pl' cannot be read: No such file"):
        MichalskiTrains(prolog=str(tmp_path / "none.pl"))
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigError, match="cannot be read: it is not UTF-8 text"):
        MichalskiTrains(prolog=str(path))
    with pytest.raises(ConfigError, match="prolog: "):
        MichalskiTrains(prolog="eastbound(T) :- has_kar(T, C).")


# -- laws --------------------------------------------------------------------------------------------------------------


def test_cars_follow_one_another_without_a_gap_and_are_enough():
    names = [law.name for law in laws_of("uniform", 4, 2)]
    assert names[:2] == ["cars_without_gap", "cars_2_or_more"] and len(names) == 5
    assert next(law.name for law in laws_of("michalski", 3, 3)) == "load_is_seen"
    assert len(laws_of("michalski", 3, 2)) == 2 + 3 + 8
    tags = {law.name: law.tags for law in laws_of("michalski", 4, 2)}
    assert tags["cars_without_gap"] == ("length",) and tags["load_is_seen"] == ("cars",)
    assert tags["long_yellow"] == ("cars", "michalski")
    space = train_space(4, 2)
    knowledge = Knowledge.of(space, {"y": "car1.axles == 2"}, laws_of("uniform", 4, 2))
    rows = np.array(
        [codes(CAR, CAR, slots=4), codes(CAR, slots=4), codes(CAR, CAR, CAR, CAR), codes(CAR, CAR, slots=4)]
    )
    rows[3, 21:] = codes(CAR)  # a fourth car behind a gap
    broken = [
        [law.name for law, flag in zip(knowledge.constraints, row, strict=True) if flag]
        for row in knowledge.violations(rows)
    ]
    assert broken == [[], ["cars_2_or_more"], [], ["cars_without_gap"]]


# -- draws -------------------------------------------------------------------------------------------------------------


def test_absent_is_a_value_only_where_cars_can_be_absent():
    assert train_space(3, 2).concept("car1.axles").values == (2, 3, "absent")
    assert train_space(3, 3).concept("car3.axles").values == (2, 3)
    encoders = {group.name: group.concepts for group in train_space(2, 1).encoders}
    assert encoders["roof"] == ("car1.roof", "car2.roof") and list(encoders) == list(ATTRIBUTES)


def test_a_car_is_drawn_where_its_word_falls_among_the_chances():
    kinds = CarKinds(np.array([[0] * 7, [1] * 7, [2] * 7]), (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)))
    assert kinds.steps.tolist() == [2**51, 3 * 2**51, 2**53]
    words = np.array([[0, 2**62 - 1], [2**62, 3 * 2**62 - 1], [3 * 2**62, 2**64 - 1]], dtype=np.uint64)
    assert kinds.draw(words)[:, :, 0].tolist() == [[0, 0], [1, 1], [2, 2]] and kinds.draw(words).shape == (3, 2, 7)


def test_trains_are_as_long_as_the_first_word_says_and_absent_behind():
    trains = TrainDistribution("michalski", 2, 4)
    kinds = len(kinds_of("michalski").codes)
    assert trains.total == kinds**2 + kinds**3 + kinds**4 and TrainDistribution("uniform", 1, 1).total == 2550
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, size=(300, 5), dtype=np.uint64, endpoint=False)
    drawn = trains.draw(words, 6).reshape(300, 6, 7)
    cars = kinds_of("michalski").draw(words[:, 1:])
    lengths = 2 + np.floor(words[:, 0] / 2**64 * 3).astype(int)
    assert set(lengths.tolist()) == {2, 3, 4}
    for train, length, own in zip(drawn, lengths, cars, strict=True):
        assert (train[:length] == own[:length]).all() and (train[length:] == GONE).all()


def test_chances_of_equal_cars_are_added_and_the_last_of_a_table_takes_the_rest():
    held = kinds_of("michalski")
    chances = {tuple(row): chance for row, chance in zip(held.codes.tolist(), held.chances, strict=True)}
    empty = codes(("yellow", "long", "solid", "none", 2, 0, "none"))
    assert chances[tuple(empty.tolist())] == Fraction("0.3") * Fraction("0.333") * Fraction("0.56") * Fraction("0.11")
    assert source._table(a="0.25", b="0.5", c="0.1") == {"a": Fraction(1, 4), "b": Fraction(1, 2), "c": Fraction(1, 4)}
    even = kinds_of("uniform")
    assert len(even.chances) == 2550 and sum(even.chances) == 1
    seen = {tuple(row): chance for row, chance in zip(even.codes.tolist(), even.chances, strict=True)}
    short, long = (
        codes(("red", "short", "solid", "none", 2, 0, "none")),
        codes(("red", "long", "solid", "none", 2, 3, "box")),
    )
    assert seen[tuple(short.tolist())] == 6 * Fraction(1, 2 * 5 * 2 * 5 * 3 * 6)
    assert seen[tuple(long.tolist())] == Fraction(1, 2 * 5 * 2 * 5 * 2 * 4 * 6)


def train_source(rule="any(c.colour == 'green' for c in cars)", split=None, seed=0, style=lambda *given: {}):
    knowledge = Knowledge.of(train_space(3, 1), {"east": rule}, laws_of("michalski", 3, 1))
    split = split or Split("train", 50)
    return TrainSource(knowledge, TrainDistribution("michalski", 1, 3), split, seed, "t", style=style)


def test_each_split_and_seed_draws_trains_of_its_own_from_one_share():
    places = np.arange(40)
    trains = {
        "usual": train_source().codes(places),
        "seed": train_source(seed=1).codes(places),
        "split": train_source(split=Split("test", 50)).codes(places),
    }
    assert len({rows.tobytes() for rows in trains.values()}) == 3
    every = np.concatenate([*trains.values()])
    low, high = (
        train_source(split=Split(name, 9, share=share)) for name, share in (("a", (0.0, 0.4)), ("b", (0.4, 1.0)))
    )
    assert (low.contains(every) ^ high.contains(every)).all() and 0.2 < low.contains(every).mean() < 0.6
    middle = train_source(split=Split("c", 9, share=(0.2, 0.4)))
    assert (middle.contains(every) <= low.contains(every)).all() and 0 < middle.contains(every).sum() < low.contains(
        every
    ).sum()
    other = train_source(split=Split("a", 9, share=(0.0, 0.4)), seed=1)
    assert (other.contains(every) != low.contains(every)).any()  # another seed shares them out otherwise


def test_a_split_holds_what_is_possible_and_its_formula_lets_in():
    held = train_source(split=Split("a", 9, where=parse("car1.axles == 2"), balance="world"))
    rows = np.array(
        [codes(CAR, slots=3), codes(BLUE, slots=3), codes(("yellow", "long", "solid", "none", 3, 1, "box"), slots=3)]
    )
    assert held.contains(rows).tolist() == [True, False, False] and held.total == 190 + 190**2 + 190**3
    drawn = held.codes(np.arange(60))
    assert held.contains(drawn).all()
    assert 0 < held.knowledge.labels_of(drawn).mean() != 0.5
    first = train_source(split=Split("a", 9, balance="world")).codes(np.arange(60))
    raw = train_source(split=Split("a", 9, balance="world"))._draw_tries(np.arange(60), 0, 1)
    assert (first == raw).all()  # the first that fits is taken, and all of them do


def test_tries_of_a_place_are_one_row_however_many_are_drawn_at_once():
    held, places = train_source(), np.array([5, 0, 9])
    whole = held._draw_tries(places, 0, 6).reshape(3, 6, -1)
    parts = [held._draw_tries(places, turn, 2).reshape(3, 2, -1) for turn in (0, 2, 4)]
    assert (np.concatenate(parts, axis=1) == whole).all()
    assert len(np.unique(whole.reshape(18, -1), axis=0)) > 12
    labels = held.knowledge.labels_of(held.codes(np.arange(60)))[:, 0]
    for place in range(12):
        tries = held._draw_tries(np.array([place]), 0, 64)
        found = held.knowledge.labels_of(tries)[:, 0]
        wanted = tries[(found == labels[place]).argmax()]
        assert (held.codes(np.array([place]))[0] == wanted).all()


def test_what_cannot_be_found_is_told(monkeypatch):
    monkeypatch.setattr(source, "TRIES", 32)
    never = train_source("any(c.colour == 'red' and c.length == 'long' for c in cars)")
    with pytest.raises(KnowledgeError, match=r"of 32 trains drawn for a place none has the label east = True and fits"):
        never.codes(np.arange(6))
    none = train_source(
        split=Split("a", 9, where=parse("car1.colour == 'red' and car1.length == 'long'"), balance="world")
    )
    with pytest.raises(
        KnowledgeError, match=r"split 'a': of 32 trains drawn for a place none fits \(6 places are left\)"
    ):
        none.codes(np.arange(6))
    west = train_source("any(c.axles >= 2 for c in cars)")
    with pytest.raises(KnowledgeError, match="east = False and fits"):
        west.codes(np.arange(6))


def test_cars_are_told_from_the_engine_on_without_those_that_are_not_there():
    assert cars_of(codes(BLUE, CAR, slots=4)) == [dict(zip(ATTRIBUTES, car, strict=True)) for car in (BLUE, CAR)]
    assert cars_of(np.array(GONE)) == []
    car = dict(zip(ATTRIBUTES, BLUE, strict=True))
    assert michalski_car(3, car) == (3, "u_shaped", "long", "double", "peaked", 3, "diamond", 2)


# -- changes -----------------------------------------------------------------------------------------------------------


def test_changes_are_made_among_the_cars_that_there_can_be():
    task = MichalskiTrains(min_cars=2, max_cars=3, image=False)
    world = World(task.space, tuple(codes(CAR, GREEN, slots=3).tolist()), {"angle": 5})
    changed = task.change_world(world, {"car2.colour": "red", "car1.axles": 2})
    assert (
        cars_of(changed.codes)[1]["roof"] == "solid"
        and changed["car2.colour"] == "red"
        and changed.style == world.style
    )
    assert cars_of(changed.codes)[0] == dict(zip(ATTRIBUTES, CAR, strict=True))
    assert task.change_world(world, {"car1.length": "long", "car1.colour": "red"}) is None
    assert task.change_world(world, {"car2.colour": "absent"}) is None  # two are the fewest
    three = World(task.space, tuple(codes(CAR, GREEN, CAR).tolist()), {"angle": 5})
    assert task.change_world(three, {"car3.roof": "absent"}).codes == world.codes
    assert task.change_world(world, {"car3.load": "box"})["car3.colour"] == "green"
    other = MichalskiTrains(min_cars=2, max_cars=3, ood_uniform=True, image=False)
    same = World(other.space, world.codes, world.style)
    long = other.change_world(same, {"car1.length": "long", "car1.colour": "red"})  # where cars of all kinds may be
    assert cars_of(long.codes)[0] == {**dict(zip(ATTRIBUTES, CAR, strict=True)), "length": "long", "colour": "red"}
    assert set(task.interventions) == {"swap_loads", "remove_roofs"}


def test_loads_are_swapped_and_roofs_removed_in_every_car():
    task = MichalskiTrains(max_cars=3, image=False)
    vase = ("green", "short", "solid", "peaked", 2, 1, "golden_vase")
    world = World(task.space, tuple(codes(vase, GREEN, slots=3).tolist()), {})
    swapped = task.interventions["swap_loads"](world)
    assert [swapped[f"car{n}.load"] for n in (1, 2, 3)] == ["barrel", "golden_vase", "absent"]
    bare = task.interventions["remove_roofs"](world)
    assert [bare[f"car{n}.roof"] for n in (1, 2, 3)] == ["none", "none", "absent"]
    plain = World(task.space, tuple(codes(CAR, slots=3).tolist()), {})
    assert task.interventions["swap_loads"](plain) is None and task.interventions["remove_roofs"](plain) is None


# -- V-LoL's files -----------------------------------------------------------------------------------------------------


def test_what_scenes_of_a_split_have_in_common_in_v_lols_words():
    task = TASKS["trains-ood"](background="desert_sky", visualization="blocks", rule="easy")
    assert export._settings(task, "train") == {
        "base_scene": "sky_scene", "train_description": "MichalskiTrains", "classification_rule": "easy",
        "visualization": "SimpleObjects", "min_cars": 2, "max_cars": 4,
    }  # fmt: skip
    assert export._settings(task, "ood_uniform")["train_description"] == "RandomTrains"
    longer = export._settings(task, "ood_longer")
    assert (longer["min_cars"], longer["max_cars"], longer["train_description"]) == (7, 7, "MichalskiTrains")
    assert export._settings(MichalskiTrains(), "test")["classification_rule"] == "theoryx"
    own = MichalskiTrains(rule="car1.axles == 3", image=False)
    assert export._settings(own, "test")["classification_rule"] == "custom"


def test_parts_of_a_car_have_labels_and_those_that_are_seen_masks():
    masks = {"car2/roof": {"m": 1}, "car2/wheels": {"m": 2}, "car2/payload1": {"m": 3}, "car2/payload2": {"m": 4}}
    car = dict(zip(ATTRIBUTES, BLUE, strict=True))
    assert export._parts(car, 2, masks) == {
        "roof": {"label": "peaked_roof", "m": 1},
        "wall": {"label": "braced_wall"},
        "wheels": {"label": "3_wheels", "m": 2},
        "color": {"label": "blue"},
        "length": {"label": "long"},
        "payload_0": {"label": "diamond", "m": 3},
        "payload_1": {"label": "diamond", "m": 4},
    }
    bare = export._parts({**car, "loads": 0, "load": "none", "roof": "none"}, 2, masks)
    assert "payload_0" not in bare and bare["roof"] == {"label": "none", "m": 1}
    assert "payload_0" not in export._parts({**car, "load": "none"}, 2, masks)
    assert [export._roof(kind) for kind in VALUES["roof"]] == [
        "none", "roof_foundation", "solid_roof", "braced_roof", "peaked_roof",
    ]  # fmt: skip
    assert export._corner_and_size(Box(3, 5, 10, 25)) == [3, 5, 7, 20]


def test_masks_are_those_of_cars_or_of_their_parts():
    names = ["rail", "locomotive", "car1", "car1/roof", "car2", "car1/payload1"]
    things = [ObjectBox(name, Box(place, 0, place + 2, 3)) for place, name in enumerate(names)]
    instances = np.array([[[1, 2, 3, 3], [5, 0, 0, 0]]])
    parts = np.array([[[0, 0, 4, 6], [0, 0, 0, 0]]])
    data = SimpleNamespace(things=[things], instances=instances, parts=parts)
    at = {name: (float(place), 1.0, 2.0) for place, name in enumerate(names)}
    cars = [
        dict(zip(ATTRIBUTES, car, strict=True)) for car in (GREEN, ("blue", "short", "solid", "none", 2, 0, "none"))
    ]
    found = export._masks(data, 0, cars, at)
    assert list(found) == ["loco", "rail", "car_1", "car_2"]
    assert found["rail"] == {
        "mask": export.mask(instances[0] == 1),
        "b_box": [0, 0, 2, 3],
        "world_cord": [0.0, 1.0, 2.0],
    }
    assert found["loco"]["mask"] == export.mask(instances[0] == 2) and found["loco"]["world_cord"][0] == 1.0
    assert found["car_1"]["mask"] == export.mask(instances[0] == 3) and found["car_2"]["mask"] == export.mask(
        instances[0] == 5
    )
    assert (
        found["car_1"]["roof"]["mask"] == export.mask(parts[0] == 4) and found["car_1"]["roof"]["label"] == "solid_roof"
    )
    assert found["car_1"]["payload_0"]["mask"] == export.mask(parts[0] == 6) and "payload_0" not in found["car_2"]


def unpacked(text):
    """Run lengths from COCO's letters, by its own decoder in plain Python."""
    runs, place = [], 0
    while place < len(text):
        number, shift, more = 0, 0, True
        while more:
            low = ord(text[place]) - 48
            number |= (low & 31) << shift
            more, place, shift = bool(low & 32), place + 1, shift + 5
            if not more and low & 16:
                number |= -1 << shift
        runs.append(number + (runs[-2] if len(runs) > 2 else 0))
    return runs


@pytest.mark.parametrize(
    "runs", [[3], [0, 5], [7, 16, 1], [40, 15, 31, 32, 1, 900, 16, 2], [1, 2, 3, 4, 5], [5, 1, 99_999, 3]]
)
def test_run_lengths_are_packed_as_coco_reads_them(runs):
    assert unpacked(export._compressed(runs)) == runs


class Piece(SimpleNamespace):
    """Some rows of a split."""

    def __len__(self):
        return len(self.labels)

    def world(self, row):
        return self.worlds[row]

    def files(self, column):
        return [f"{column} {png.decode()}".encode() for png in self.pngs]


def pieces(task):
    trains = [
        codes(BLUE, CAR, slots=4),
        codes(GREEN, slots=4),
        codes(CAR, ("yellow", "long", "solid", "none", 2, 0, "none"), slots=4),
    ]
    worlds = [World(task.space, tuple(train.tolist()), {"angle": 10 * n}) for n, train in enumerate(trains)]
    return [
        Piece(labels=np.array([[1], [0]]), worlds=worlds[:2], pngs=[b"p0", b"p1"]),
        Piece(labels=np.array([[0]]), worlds=worlds[2:], pngs=[b"p2"]),
    ]


def test_scenes_are_numbered_from_piece_to_piece(monkeypatch, tmp_path):
    task = MichalskiTrains(width=64, min_cars=1)
    monkeypatch.setattr(export, "_masks", lambda data, row, train, at: {"row": row, "cars": len(train), "at": at})
    monkeypatch.setattr(export, "positions", lambda scene: scene)
    monkeypatch.setattr(MichalskiTrains, "scene", lambda self, world: world.style["angle"])
    held = pieces(task)
    data = Piece(name="test", fingerprint="f", labels=[0, 1, 2], pieces=lambda rows: held if rows == 64 else None)
    assert export._write(data, task, tmp_path) == 3
    inside = tmp_path / "Trains_theoryx_MichalskiTrains_base_scene_len_1-4"
    written = json.loads((inside / "all_scenes" / "all_scenes.json").read_text())
    assert written["info"] == {"version": "0.1", "license": None, "source": "f", "depth_farthest": 40.0}
    scenes = written["scenes"]
    for number, scene in enumerate(scenes):
        assert (scene["image_index"], scene["angle"]) == (number, 10 * number)
        assert scene["image_filename"] == scene["depth_map_filename"] == f"{number}_m_train.png"
        assert scene["blender_filename"] == f"{number}_m_train.blend"
        assert (inside / "images" / f"{number}_m_train.png").read_bytes() == f"p{number}".encode()
        assert (inside / "depths" / f"{number}_m_train.png").read_bytes() == f"depth p{number}".encode()
        assert (scene["min_cars"], scene["max_cars"], scene["visualization"]) == (1, 4, "Trains")
    assert [scene["train"] for scene in scenes] == [
        "east 0 1 u_shaped long double peaked 3 diamond 2 2 rectangle short not_double none 2 rectangle 1",
        "west 10 1 bucket short not_double flat 2 circle 1",
        # a car without loads is written with a shape, which V-LoL's reader wants
        "west 20 1 rectangle short not_double none 2 rectangle 1 2 rectangle long not_double none 2 rectangle 0",
    ]
    assert [scene["car_masks"] for scene in scenes] == [
        {"row": 0, "cars": 2, "at": 0}, {"row": 1, "cars": 1, "at": 10}, {"row": 0, "cars": 2, "at": 20},
    ]  # fmt: skip
