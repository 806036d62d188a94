"""Tasks over images with counted objects, on albums made by hand: names, ranges, pools, styles, changes."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay.errors import ConfigError, DataError, KnowledgeError
from assay.families.coco import image_task
from assay.families.coco.album import Album, AnnotationFilter
from assay.families.coco.coco_files import Photographs
from assay.families.coco.sampling import FewShotPlan, RegionMembership
from assay.families.coco.settings import PAPER_TYPES, RULES, CocoLogicConfig, FewShotConfig, rules_of
from assay.families.coco.task import CocoLogic, CocoLogicFS
from assay.logic import parse
from assay.worlds import CONTENT, Split, World

OWN = {"more": "dog > cup", "none": "kite == 0"}


def photographs(root, dogs, cups, sizes=None, parts=None):
    """Images with so many dogs and cups each, and a kite in every fifth."""
    owners, classes, areas, boxes = [], [], [], []
    for number, (dog, cup) in enumerate(zip(dogs, cups, strict=True)):
        kinds = [1] * dog + [0] * cup + [2] * (number % 5 == 0)
        owners += [number] * len(kinds)
        classes += kinds
        areas += [40.0] * len(kinds)
        boxes += [[8.0 * place, 4.0, 16.0, 8.0] for place in range(len(kinds))]
    count = len(dogs)
    album = Album(
        files=tuple(f"{number}.png" for number in range(count)),
        sizes=np.tile([80.0, 20.0], (count, 1)) if sizes is None else sizes,
        parts=np.arange(count) % 2 if parts is None else parts,
        categories=("cup", "dog", "kite"),
        owners=np.array(owners, dtype=np.int64),
        classes=np.array(classes, dtype=np.int64),
        boxes=np.array(boxes).reshape(-1, 4),
        areas=np.array(areas),
        crowds=np.zeros(len(owners), dtype=bool),
    )
    return Photographs(album, root, "hash")


def task_of(source, cls=CocoLogic, **settings):
    task = cls(coco="somewhere", **{"rules": OWN, **settings})
    task.__dict__["source"] = source
    return task


@pytest.fixture
def held(tmp_path):
    rng = np.random.default_rng(0)
    dogs, cups = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    dogs[[10, 31]] = cups[[10, 31]] = 0  # a kite alone, and nothing at all
    return photographs(tmp_path, dogs, cups)


def test_the_classes_are_the_nineteen_that_are_known_and_those_of_the_rules(held):
    assert task_of(held).names == ("cup", "dog", "kite")  # in the order of the paper, and then of the rules
    assert task_of(held, rules={"more": "dog > cup"}).names == ("cup", "dog")
    with pytest.raises(ConfigError, match=r"rules.more: no object class named 'bird'"):
        _ = task_of(held, rules={"more": "bird > cup"}).names


def test_counts_go_one_beyond_the_largest_and_up_to_five_at_least(held, tmp_path):
    task = task_of(held)
    counts = held.album.counts(("cup", "dog", "kite"), AnnotationFilter())
    assert counts.max() == 3 and task._range == 5 and (task.codes == counts).all()
    many = task_of(photographs(tmp_path, [9, 0, 4, 1], [0, 2, 7, 1]))
    assert many._range == 10 and many.codes[0].tolist() == [0, 9, 1]
    assert many.knowledge.space.concept("dog").values == tuple(range(11))
    capped = task_of(photographs(tmp_path, [9, 0, 4, 1], [0, 2, 7, 1]), most=2)
    assert capped._range == 2 and capped.codes.tolist() == [[0, 2, 1], [2, 0, 0], [2, 2, 0], [1, 1, 0]]
    assert task_of(photographs(tmp_path, [5, 0], [0, 2]))._range == 6


def test_regions_of_images_are_those_of_their_own_counts(held):
    task = task_of(held)
    found, counts = task.membership, task.codes
    assert found.rules.tolist() == [0] * (found.rules == 0).sum() + [1] * (found.rules == 1).sum()
    of_rule = [found.variants[:, found.rules == rule].any(axis=1) for rule in (0, 1)]
    assert (of_rule[0] == (counts[:, 1] > counts[:, 0])).all() and (of_rule[1] == (counts[:, 2] == 0)).all()
    assert found.variants.shape[0] == found.types.shape[0] == 60
    labels = task.knowledge.labels_of(counts)
    assert (labels == np.stack(of_rule, axis=1)).all()


def test_only_images_that_can_be_used_are_in_pools_of_the_shares_set(held):
    task = task_of(held, valid_share=0.4, hard_share=0.1, least_area=0.03, tiny="drop")
    nothing = [number for number in range(60) if not len(held.album.objects_of(number))]
    assert nothing and sorted(np.concatenate(list(task.image_pools.values())).tolist()) == nothing  # all else is tiny
    task = task_of(held, valid_share=0.4, hard_share=0.1)
    assert {name: len(numbers) for name, numbers in task.image_pools.items()} == {
        "train": 18, "valid": 12, "test": 27, "hard": 3,
    }  # fmt: skip
    clear = task_of(held, valid_share=0.4, hard_share=0.1, rules={"more": "dog > cup"}, clear_fill=0.4)
    bare = [number for number in range(60) if not clear.codes[number].any()]
    assert sorted(np.concatenate(list(clear.image_pools.values())).tolist()) == bare  # dogs and cups fill too little


def test_splits_are_as_large_as_the_images_allow_and_empty_ones_are_left_out(held):
    task = task_of(held, valid_share=0.0)
    pools, regions = task.image_pools, task.membership
    near = (regions.positive | regions.near)[pools["hard"]].sum()
    wanted = {"train": 30, "valid": 0, "test": 24, "hard": int(near)}
    assert dict(task.sizes) == wanted and 0 < near <= 6
    assert [(split.name, split.size, split.pool) for split in task.splits()] == [
        (name, size, name) for name, size in wanted.items() if size
    ]
    assert dict(CocoLogic(scenes=600).sizes)["train"] < 600
    source = task.worlds_in(Split("test", 10, pool="test"), 3)
    numbers = [int(world.style[CONTENT]["image"].removesuffix(".png")) for world in source.worlds(np.arange(10))]
    assert set(numbers) <= set(pools["test"].tolist()) and len(set(numbers)) == 10
    assert [world.codes for world in source.worlds(np.arange(10))] == [tuple(task.codes[n].tolist()) for n in numbers]
    chosen = [set(task.worlds_in(Split("test", 10, pool="test"), seed).rows.tolist()) for seed in range(4)]
    assert len({tuple(sorted(one)) for one in chosen}) > 1
    assert source.rows.tolist() == task.worlds_in(Split("test", 10, pool="test"), 3).rows.tolist()


def test_photographs_or_scenes_are_read_as_the_settings_say(monkeypatch):
    asked = []
    monkeypatch.setattr(image_task, "read_coco", lambda *given: asked.append(("photographs", *given)) or "read")
    monkeypatch.setattr(image_task, "synthetic_album", lambda *given: asked.append(("scenes", *given)) or "drawn")
    found = [
        CocoLogic(coco="here", skip_missing=True).source,
        CocoLogic(coco="there", scenes=700).source,
        CocoLogic(scenes=700).source,
        CocoLogicFS().source,
    ]
    assert found == ["read", "read", "drawn", "drawn"]
    assert asked == [
        ("photographs", "here", True),
        ("photographs", "there", False),
        ("scenes", 700),
        ("scenes", 14_000),
    ]


def test_a_rule_of_too_many_variants_has_one_variant_and_one_type(tmp_path):
    task = task_of(photographs(tmp_path, [2, 1, 0, 3, 1], [1, 1, 1, 0, 3]), rules={"more": "dog > cup"})
    asked = []

    def near(codes):
        asked.append(codes.tolist())
        return codes[:, 0] == 1  # one cup

    boundary = SimpleNamespace(label=parse("dog > cup"), explicit=False, near=near)
    variants, types = task._membership_of(boundary)
    assert variants.tolist() == [[True], [False], [False], [True], [False]]
    assert types.tolist() == [[False], [True], [True], [False], [False]]  # near, and not of the rule itself
    assert sorted(asked[0]) == [[0, 3], [1, 0], [1, 1], [1, 2], [3, 1]]  # each pair of counts once
    parted = SimpleNamespace(
        label=parse("cup == 1"), explicit=True, near=near,
        in_variants=lambda codes: codes[:, :1] == [[0, 1]], in_types=lambda codes: codes[:, :1] > [[0, 1, 2]],
    )  # fmt: skip
    variants, types = task._membership_of(parted)
    assert variants.tolist() == [[False, True], [False, True], [False, True], [True, False], [False, False]]
    assert types.tolist() == [[True, False, False]] * 3 + [[False] * 3, [True] * 3]
    assert asked[1] == [[0, 0], [1, 0], [3, 0]]  # only what the rule asks for


def test_sets_are_as_large_as_in_the_paper_and_of_drawn_scenes_smaller(held):
    every = RegionMembership(np.eye(30_000, 1, dtype=bool), np.eye(30_000, 2, -1, dtype=bool), np.array([0]))
    for task, sizes in (
        (task_of(held), {"train": 22_500, "valid": 2500, "test": 3500, "hard": 3}),
        (CocoLogic(scenes=600), {"train": 2000, "valid": 200, "test": 500, "hard": 3}),
    ):
        task.__dict__.update(membership=every, image_pools=dict.fromkeys(sizes, np.arange(30_000)))
        assert dict(task.sizes) == sizes


def test_settings_of_the_sampling_reach_it(held, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "assay.families.coco.task.sample_in_three_steps",
        lambda membership, size, quotas, rest, rng: asked.append((size, quotas, rest)) or np.arange(size),
    )
    regions = RegionMembership(np.ones((40, 1), dtype=bool), np.ones((40, 1), dtype=bool), np.array([0]))
    rng = np.random.default_rng(0)
    task_of(held, per_variant=100, per_type=10, rest=0.3).choose(Split("test", 350), regions, rng)
    task_of(held, per_variant=None, per_type=None).choose(Split("train", 12_500), regions, rng)
    task_of(held, per_variant=50, per_type=20).choose(Split("valid", 99_000), regions, rng)
    assert [(size, (quotas.per_variant, quotas.per_type), rest) for size, quotas, rest in asked] == [
        (350, (10, 1), 0.3),
        (12_500, (20, 0), 0.1),  # of all 40 there are, in proportion
        (99_000, (50, 20), 0.1),  # never more
    ]
    hard = RegionMembership(np.eye(6, 2, dtype=bool), np.eye(6, 3, -2, dtype=bool), np.array([0, 0]))
    assert sorted(task_of(held).choose(Split("hard", 9), hard, rng).tolist()) == [0, 1, 2, 3, 4]


def test_one_rule_is_learned_from_few_images_of_both_kinds(held):
    task = task_of(held, CocoLogicFS, rule="more", rules={"more": "dog > cup"}, clear_area=0.0, clear_fill=0.0)
    assert list(task.rules) == ["more"] and task.rules["more"] == parse("dog > cup")
    assert list(CocoLogicFS(rule="surf_trip", scenes=600).rules) == ["surf_trip"]
    own = CocoLogicFS(rule="surf_trip", rules={"surf_trip": "dog >= 1"}, scenes=600)
    assert own.rules["surf_trip"] == parse("dog >= 1")
    pools = task.image_pools
    for name, plan in task.plans.items():
        regions = task.membership.select(pools[name])
        positive, near = int(regions.positive.sum()), int(regions.near.sum())
        rest = near if name == "hard" else len(pools[name]) - positive
        assert task.sizes[name] == min(plan.positive, positive) + min(plan.negative, rest)
    assert {name: (plan.positive, plan.negative, plan.far) for name, plan in task.plans.items()} == {
        "train": (8, 16, 2), "valid": (8, 16, 2), "test": (20, 20, 2), "hard": (20, 20, 0),
    }  # fmt: skip
    assert isinstance(task.plans["train"], FewShotPlan)
    regions = task.membership.select(pools["train"])
    rows = task.choose(Split("train", 12), regions, np.random.default_rng(0))
    assert regions.positive[rows].sum() == 4 and len(rows) == 12
    for label in (True, False):
        alone = np.flatnonzero(regions.positive == label)
        with pytest.raises(KnowledgeError, match=f"split 'train': 'more' is {label} in every image that there is"):
            task.choose(Split("train", 4), regions.select(alone), np.random.default_rng(0))


def test_types_of_the_paper_are_listed_for_the_rules_of_the_paper_only():
    assert CocoLogic(scenes=600).listed_types == {}
    asked = CocoLogic(scenes=600, types="paper", rules={"surf_trip": None, "empty_seat": "dog >= 1", "own": "cup == 1"})
    assert asked.listed_types == {"surf_trip": PAPER_TYPES["surf_trip"]}
    assert set(CocoLogic(scenes=600, types="paper").listed_types) == set(RULES)


def test_rules_are_names_of_the_ten_or_ones_own():
    known = ("dog", "cup", "person", "surfboard")
    assert rules_of(["surf_trip"], known) == {"surf_trip": parse(RULES["surf_trip"])}
    mixed = rules_of({"surf_trip": None, "mine": "dog == 2"}, known)
    assert mixed == {"surf_trip": parse(RULES["surf_trip"]), "mine": parse("dog == 2")}
    assert rules_of({"surf_trip": "dog == 2"}, known)["surf_trip"] == parse("dog == 2")
    for rules, why in (
        ([], "none is given"), ({}, "none is given"), ({"mine": None}, "no rule named 'mine'"),
        (["surf_trp"], "did you mean 'surf_trip'"), (["car_majority"], "rules.car_majority: no object class named 'car'"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=why):
            rules_of(rules, known)


def test_what_counts_is_what_the_settings_say():
    config = CocoLogicConfig(crowds="drop", least_area=0.1, tiny="drop", clear_area=0.2, clear_fill=0.3)
    assert config.annotation_filter == AnnotationFilter("drop", 0.1, "drop", 0.2, 0.3)
    assert FewShotConfig().annotation_filter == AnnotationFilter("one", 0.0, "ignore", 0.002, 0.15)
    assert CocoLogicConfig().annotation_filter == AnnotationFilter()


# -- photographs -------------------------------------------------------------------------------------------------------


def test_a_photograph_is_fitted_in_with_the_boxes_of_what_counts(tmp_path):
    sizes = np.array([[30.0, 30.0], [80.0, 20.0], [80.0, 20.0]])
    source = photographs(tmp_path, [1, 2, 0], [0, 1, 0], sizes)
    for number in range(3):
        Image.new("RGB", tuple(int(size) for size in sizes[number]), (200, 10, 10)).save(tmp_path / f"{number}.png")
    task = task_of(source, rules={"more": "dog > cup"}, width=40, height=40)
    world = World(task.space, (1, 2), task.style_of(1))
    picture = task.render(world)
    assert (picture.image[16:24] == (200, 10, 10)).all() and (picture.image[:15] == 114).all()
    boxes = [(thing.name, thing.box.left, thing.box.top, thing.box.right, thing.box.bottom) for thing in picture.things]
    assert boxes == [("dog", 0, 17, 8, 21), ("dog", 4, 17, 12, 21), ("cup", 8, 17, 16, 21)]
    assert [thing.name for thing in task.render(World(task.space, (0, 1), task.style_of(0))).things] == [
        "dog"
    ]  # no kite
    tiny = task_of(source, rules={"more": "dog > cup"}, width=40, height=40, least_area=0.03)
    assert tiny.render(World(tiny.space, (0, 0), tiny.style_of(1))).things == ()
    assert task.ingredients(world) == ("1.png",)
    assert task.sources() == {"coco": {"name": "coco", "sha256": "hash", "images": 3}}
    assert task.style_choices == {} and task.change_world(world, {"dog": 3}) is None
    assert task.change_world(world, {"dog": 2}).codes == world.codes


def test_a_style_is_an_image_of_the_pool_with_just_these_counts(held):
    task = task_of(held)
    for pool in ("train", "test"):
        numbers = task.image_pools[pool]
        wanted = task.codes[numbers[3]]
        fitting = [int(n) for n in numbers if (task.codes[n] == wanted).all()]
        drawn = {
            int(task.style(np.random.default_rng(seed), wanted, pool)[CONTENT]["image"].removesuffix(".png"))
            for seed in range(40)
        }
        assert drawn == set(fitting)
    with pytest.raises(DataError, match="no image of pool 'valid' shows these numbers of objects"):
        task.style(np.random.default_rng(0), (5, 5, 5), "valid")


# -- drawn scenes ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    return CocoLogic(scenes=600, width=80, height=60)


def test_a_scene_is_changed_in_what_differs_and_keeps_the_rest_of_its_style(drawn):
    source = drawn.worlds_in(drawn.splits()[0], 0)
    world = next(w for w in source.worlds(np.arange(40)) if w["person"] == 1)
    world = World(world.space, world.codes, {**world.style, "backdrop": "room", "luck": 3})
    assert drawn.change_world(world, {"person": 1, "dog": world["dog"]}) == world
    other = drawn.change_world(world, {"person": 2, "dog": world["dog"]})
    assert other["person"] == 2 and other.style["luck"] == 3 and other.style["backdrop"] == "room"
    names = [row[0] for row in other.style[CONTENT]["objects"] if row[-1]]
    assert names.count("person") == 2 and names.count("dog") == world["dog"]
    assert drawn.change_world(world, {"person": 9, "dog": 9}) is None
    plain = World(world.space, world.codes, {CONTENT: world.style[CONTENT]})
    assert (drawn.render(world).image != drawn.render(plain).image).any() or world.style[CONTENT]["scene"] == "room"
    photograph = World(world.space, world.codes, {CONTENT: {"image": "a.jpg"}})
    with pytest.raises(DataError, match="the world shows the photograph 'a.jpg'; give `coco`"):
        drawn.render(photograph)
    assert drawn.change_world(photograph, {"person": 2}) is None and drawn.sources() == {}
    assert drawn.style_choices == {"backdrop": ["street", "rail", "field", "park", "beach", "room"]}
    assert drawn.ingredients(world) == (world.style[CONTENT]["image"],)


def test_a_drawn_style_has_the_counts_asked_for(drawn):
    for seed, counts in enumerate(({"dog": 2}, {"car": 1, "truck": 3}, {})):
        codes = [counts.get(name, 0) for name in drawn.names]
        style = drawn.style(np.random.default_rng(seed), codes, "test")
        names = [row[0] for row in style[CONTENT]["objects"]]
        assert {name: names.count(name) for name in names} == counts
    numbers = {drawn.style(np.random.default_rng(seed), [0] * 19, "test")[CONTENT]["image"] for seed in range(8)}
    files = {drawn.album.files[number] for number in drawn.image_pools["test"]}
    assert numbers <= files and len(numbers) > 4


def test_tiny_objects_of_a_scene_are_drawn_and_do_not_count():
    task = CocoLogic(scenes=600, least_area=0.01)
    shares = task.album.shares
    number = next(
        n
        for n in range(len(task.album))
        if {bool(shares[r] >= 0.01) for r in task.album.objects_of(n)} == {True, False}
    )
    flags = [row[-1] for row in task.style_of(number)[CONTENT]["objects"]]
    assert flags == [int(shares[r] >= 0.01) for r in task.album.objects_of(number)]
    assert task.style_of(number)[CONTENT]["image"] == task.album.files[number]
    assert task._range == 9  # one more than a scene can have, whatever these have


def test_counts_that_no_scene_can_be_changed_to_are_those_of_a_scene_that_has_them(drawn, monkeypatch):
    monkeypatch.setattr(image_task, "recompose", lambda content, counts: None)
    numbers = drawn.image_pools["test"]
    for number in numbers[[4, 9]].tolist():
        alike = [n for n in numbers.tolist() if (drawn.codes[n] == drawn.codes[number]).all()]
        found = drawn.style(np.random.default_rng(1), drawn.codes[number].tolist(), "test")
        assert found in [drawn.style_of(n) for n in alike]
    with pytest.raises(DataError, match="no image of pool 'test' shows these numbers of objects"):
        drawn.style(np.random.default_rng(1), [9] * 19, "test")
