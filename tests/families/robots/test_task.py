"""Robots: the paper's numbers, one world in every modality and concept set, and splits that share no robot."""

from collections import Counter

import numpy as np
import pytest

from assay.base import AssayError, Settings
from assay.dataset import Dataset, Recipe, make
from assay.families.robots.parts import FEET
from assay.families.robots.task import Robots, read_description
from assay.testing import check_task, require
from assay.worlds import CONTENT, LUCK
from tests.families.drawn import class_indices, split_of, worlds_of

SETS = ("true", "human", "incomplete", "parts", "all")
SETTINGS = {
    "default": {},
    **{preset: {"preset": preset} for preset in ("paper", "paper-human", "paper-balanced", "text")},
    **{f"concepts-{name}": {"concepts": name} for name in SETS},
    "own-concepts": {"concepts": ["foot", "foot_shape", "hand_is_edgy_square", "knees"], "stochastic": True},
    "held-out": {"prop_in_distribution": 0.8},
    "held-out-all": {"prop_in_distribution": 0.7, "concepts": "all"},
    "own-rule": {"rule": "head == 'round' and foot == 'flat_l_shaped' or antennae", "stochastic": True, "scale": 2},
    "grey-prose": {"grey": True, "text": "free", "masked": 0.2, "omitted": {"knees": 0.5}},
    "stages": {"stages": ["head == 'round'", "head == 'square'"]},
    "tied": {"preset": "paper", "colours": "index"},
}
PAPER = Robots(preset="paper")
PARTS = Robots(concepts="all").space
ROBOTS = PARTS.all_codes().astype(int)
HEAD, BODY, KNEES, ELBOWS, ANTENNAE, EARS, MOUTH, HAND, FOOT = ROBOTS.T


def robots_of(task, worlds):
    """Return which robot each world shows; 0 is the first of all 7,680."""
    return np.array([int(task.ingredients(world)[0].removeprefix("robot ")) for world in worlds])


def parts_of(task, world):
    return PARTS.decode(ROBOTS[robots_of(task, [world])[0]])


def every_world(task, name):
    return worlds_of(task, name, split_of(task, name).size)


def chances(**settings):
    """Return the probability that each robot is a glorp."""
    return Robots(concepts="all", **settings).knowledge.chances(ROBOTS)[:, 0]


def labels(task, worlds):
    if not task.knowledge.stochastic:
        return task.knowledge.labels_of(class_indices(worlds))[:, 0].tolist()
    luck = np.array([world.style[LUCK] for world in worlds])
    return task.knowledge.drawn_labels(class_indices(worlds), luck)[:, 0].tolist()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_laws_of_tasks(settings):
    require(check_task(Robots(**settings)), "robots")


# -- the paper's numbers -----------------------------------------------------------------------------------------------


def test_there_are_7680_robots_and_five_sets_of_concepts():
    assert ROBOTS.shape == (7680, 9) and len(FEET) == 10
    assert [len(Robots(concepts=name).space) for name in SETS] == [7, 12, 6, 9, 9]


def test_the_papers_rule_is_true_of_seven_in_eight():
    drent = (MOUTH == 1) & (FOOT < 5) & (KNEES == 1)  # open, flat, with knees
    sure = Robots(concepts="all").knowledge.labels_of(ROBOTS)[:, 0]
    assert (sure == ~drent).all() and drent.mean() == 0.125
    drawn = chances(rule="sparse", stochastic=True)
    assert abs(drawn.mean() - 0.87497) < 1e-4
    assert (drawn[drent] < 4e-6).all() and (drawn[~drent] > 0.9997).all()


def test_what_can_be_reached():
    assert abs(PAPER.ceiling() - 0.875) < 1e-5 and abs(PAPER.ceiling(["head"]) - 0.875) < 1e-4  # no more than guessing
    assert PAPER.ceiling(["mouth", "foot_shape", "knees"]) > 0.9999
    assert Robots().ceiling() == 1.0 and Robots(visible={"knees": 0}).ceiling() == 0.875
    assert Robots(dot_size=0).ceiling() == 0.875 and Robots(contrast=0).ceiling() == 0.875
    assert Robots(dot_size=0.1).ceiling() == 0.875  # a dot inside the leg
    assert 0.875 < Robots(toe=0).ceiling() < 1  # three flat feet look like their pointy twins
    assert abs(PAPER.ceiling(Robots(concepts="human").space.names) - 0.950) < 5e-4
    balanced = Robots(preset="paper-balanced")
    assert abs(balanced.ceiling() - 0.913) < 1e-3 and abs(balanced.ceiling(Robots().space.names) - 0.930) < 1e-3


def test_the_balanced_rule_is_that_of_version_04():
    score = 6 * (1 - MOUTH) + 6 * BODY + 6 * HEAD + 6 * ANTENNAE + 6 * EARS + 8 * (FOOT > 4) - 3 * KNEES - 2 * ELBOWS
    drawn = chances(rule="balanced", stochastic=True)
    assert np.allclose(drawn, 1 / (1 + np.exp(-4.2 * (score - 16.5))))


@pytest.mark.parametrize(("rule", "scores"), [("knees", 2 * KNEES - 1), ("3 * knees - 1", 3 * KNEES - 1)])
def test_drawn_labels_have_the_odds_of_their_score(rule, scores):
    assert np.allclose(chances(rule=rule, stochastic=True, scale=0.7), 1 / (1 + np.exp(-0.7 * scores)))
    sure = Robots(concepts="all", rule=rule).knowledge.labels_of(ROBOTS)[:, 0]
    assert (sure == (scores > 0)).all()


def test_knees_cannot_be_seen_in_the_papers_pictures():
    for world in worlds_of(PAPER, count=5):
        same = PAPER.change_world(world, {"knees": not world["knees"]})
        other = PAPER.change_world(world, {"mouth": "open" if world["mouth"] == "closed" else "closed"})
        assert (PAPER.render(world).image == PAPER.render(same).image).all()
        assert (PAPER.render(world).image != PAPER.render(other).image).any()


def test_the_papers_splits_hold_the_papers_feet():
    held = {name: robots_of(PAPER, every_world(PAPER, name)) for name in ("train", "valid", "test")}
    assert {name: len(robots) for name, robots in held.items()} == {"train": 3800, "valid": 3384, "test": 10_000}
    feet = {name: Counter(FOOT[robots].tolist()) for name, robots in held.items()}
    assert {FEET[code]: count / 3800 for code, count in feet["train"].items()} == PAPER.config.skew
    assert len(feet["test"]) == len(feet["valid"]) == 10
    assert feet["valid"][FEET.index("flat_five_sided")] < 0.02 * 3384  # training took most of them
    shared = set(held["train"]) & set(held["test"])
    assert len(shared) > 0.7 * len(set(held["train"]))  # of the released data 1,256 of 1,583 robots
    human = Robots(preset="paper-human")
    unnamed = ~class_indices(worlds_of(human, "test", 4000))[:, 6:].any(axis=1)
    assert abs(unnamed.mean() - 0.4) < 0.02


# -- splits ------------------------------------------------------------------------------------------------------------


def test_splits_share_no_robot_by_default():
    task = Robots()
    shown = {name: set(robots_of(task, worlds_of(task, name, 3000))) for name in ("train", "valid", "test", "hard")}
    assert not shown["train"] & shown["test"] and not shown["train"] & shown["valid"]
    assert not shown["valid"] & shown["test"] and not shown["train"] & shown["hard"]


def test_splits_are_declared_disjoint_where_concepts_tell_robots_apart():
    def disjoint(**settings):
        return {split.name: split.disjoint_from for split in Robots(**settings).splits()}

    assert set(disjoint().values()) == {()} == set(disjoint(concepts="all", split_by="rendering").values())
    found = disjoint(concepts="all")
    assert (found["train"], found["valid"], found["test"]) == ((), ("train",), ("train", "valid"))
    assert found["hard"] == ("train", "valid")  # of the same pool as test


def test_hard_robots_are_of_every_variant_and_type_and_of_the_test_pool():
    task = Robots()
    (boundary,) = task.knowledge.boundaries
    hard = worlds_of(task, "hard", 400)
    codes = class_indices(hard)
    assert boundary.in_variants(codes).any(axis=0).all() and boundary.in_types(codes).any(axis=0).all()
    assert set(robots_of(task, hard)) <= set(robots_of(task, every_world(task, "test")))
    assert len(worlds_of(Robots(concepts="human", per_type=10), "hard", 100)) == 100


def test_skew_holds_in_every_pack_and_the_rest_is_any_robot():
    task = Robots(skew={"flat_square": 0.5, "pointy_square": 0.25}, balance="world")
    feet = FOOT[robots_of(task, worlds_of(task, count=4000))].reshape(-1, 4)
    assert ((feet == FEET.index("flat_square")).sum(axis=1) >= 2).all()
    assert ((feet == FEET.index("pointy_square")).sum(axis=1) >= 1).all()
    assert len(np.unique(feet)) == 10
    others = FOOT[robots_of(task, worlds_of(task, "test", 4000))]
    assert np.bincount(others).max() < 0.13 * 4000  # they are as they were
    both = Robots(skew={"flat_square": 0.5, "pointy_square": 0.5}, skewed=["train", "test"])
    assert {FEET[code] for code in FOOT[robots_of(both, worlds_of(both, "test", 1000))]} == set(both.config.skew)


def test_held_out_combinations_never_occur_in_training():
    task = Robots(prop_in_distribution=0.8)
    seen = {name: {world.codes for world in worlds_of(task, name, 2000)} for name in ("train", "test", "ood")}
    assert not seen["ood"] & seen["train"] and not seen["ood"] & seen["test"]
    assert len(seen["train"]) == 103 and len(seen["ood"]) == 25  # of 16 drents 13, of 112 glorps 90


def test_labels_are_even_unless_asked_otherwise():
    assert np.mean(labels(Robots(), worlds_of(Robots(), "test", 1000))) == 0.5
    natural = Robots(balance="world")
    assert abs(np.mean(labels(natural, worlds_of(natural, "test", 3000))) - 0.875) < 0.02


# -- one world, many views ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"stochastic": True, "scale": 0.3}, {"rule": "balanced", "stochastic": True}])
def test_pictures_and_labels_do_not_depend_on_the_concepts_annotated(settings):
    seen = set()
    for name in SETS:
        task = Robots(concepts=name, balance="world", **settings)
        worlds = worlds_of(task, count=300)
        seen.add((b"".join(picture.image.tobytes() for picture in task.render_all(worlds)), *labels(task, worlds)))
    assert len(seen) == 1


def test_modalities_show_the_same_world():
    image, text = (Robots(**given, stochastic=True, scale=0.3) for given in ({}, {"preset": "text"}))
    pairs = list(zip(worlds_of(image, count=300), worlds_of(text, count=300), strict=True))
    assert all(a.codes == b.codes and a.style["colours"] == b.style["colours"] for a, b in pairs)
    assert all(a.style[LUCK] == b.style[LUCK] for a, b in pairs)
    for _, world in pairs[:100]:
        picture = text.render(world)
        assert read_description(picture.text).stated == parts_of(text, world) and picture.image.size == 0


def test_hidden_parts_make_labels_a_matter_of_luck_that_is_fair():
    task = Robots(concepts="incomplete", balance="world")
    some = worlds_of(task, "test", 4000)
    luck = np.array([world.style[LUCK][0] for world in some])
    assert np.abs(np.quantile(luck, [0.1, 0.5, 0.9]) - [0.1, 0.5, 0.9]).max() < 0.04
    robots = robots_of(task, some)
    truth = ~((MOUTH == 1) & (FOOT < 5) & (KNEES == 1))[robots]
    assert labels(task, some) == truth.tolist()
    open_and_flat = ((MOUTH == 1) & (FOOT < 5))[robots]
    assert abs(truth[open_and_flat].mean() - 0.5) < 0.06 and truth[~open_and_flat].all()
    assert set(task.knowledge.chances(class_indices(some))[:, 0].round(6)) == {0.5, 1.0}


def test_a_rule_over_subtypes_is_shared_out_over_coarse_concepts():
    coarse, exact = (Robots(rule="foot == 'flat_square'", concepts=[name, "knees"]).knowledge for name in
                     ("foot_shape", "foot_is_flat_square"))  # fmt: skip
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert np.allclose(coarse.chances(codes)[:, 0], [0.2, 0.2, 0, 0], atol=1e-6) and coarse.stochastic
    assert not exact.stochastic and exact.labels_of(codes)[:, 0].tolist() == [0, 0, 1, 1]


def test_content_holds_what_concepts_do_not_tell():
    world = worlds_of(Robots(), count=1)[0]
    assert set(world.style[CONTENT]) == {"elbows", "hand", "foot"}
    assert CONTENT not in worlds_of(Robots(concepts="all"), count=1)[0].style


def changed(task, world, **changes):
    """Return the parts of a robot after a change, which must be what its concepts say."""
    other = task.change_world(world, changes)
    assert all(other[name] == value for name, value in changes.items())
    parts = parts_of(task, other)
    assert all(parts[name] == other[name] for name in task.space.names if name in parts)
    return parts


def test_a_change_keeps_all_else_and_stays_one_robot():
    task = Robots(concepts="human")
    for world in worlds_of(task):
        before = parts_of(task, world)
        assert {**before, "foot": "flat_square"} == changed(task, world, foot_is_flat_square=True)
        assert {**before, "knees": True} == changed(task, world, knees=True)
        if before["foot"] == "flat_square":
            assert changed(task, world, foot_is_flat_square=False)["foot"] == "flat_rounded"  # flat, and not named
    assert task.change_world(world, {"foot_is_flat_square": True, "foot_is_pointy_square": True}) is None
    coarse = Robots()
    for world in worlds_of(coarse):
        before = parts_of(coarse, world)
        twin = FEET[(FEET.index(str(before["foot"])) + 5) % 10]
        shape = "flat" if world["foot_shape"] == "pointy" else "pointy"
        assert {**before, "foot": twin} == changed(coarse, world, foot_shape=shape)


# -- nuisances ---------------------------------------------------------------------------------------------------------


def test_colours_are_drawn_and_say_nothing():
    task = Robots(concepts="all", balance="world")
    some = worlds_of(task, "test", 6000)
    pairs = np.array([world.style["colours"] for world in some])
    assert (pairs[:, 0] != pairs[:, 1]).all() and len({tuple(sorted(pair)) for pair in pairs.tolist()}) == 120
    truth = np.array(labels(task, some))
    shares = np.array([truth[pairs[:, 0] == colour].mean() for colour in range(16)])
    assert np.abs(shares - truth.mean()).max() < 0.08


def test_colours_can_follow_from_the_number_as_in_the_release():
    task = Robots(preset="paper", colours="index")
    assert len({tuple(world.style["colours"]) for world in worlds_of(task, "test", 3000)}) == 71


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"skew": {"flat_square": 0.7, "pointy_square": 0.5}}, "skew: the shares sum to 1.2, more than 1"),
        ({"skew": {"flat_sqare": 0.5}}, "skew: no foot named 'flat_sqare'; did you mean 'flat_square'?"),
        ({"skew": {"flat_square": -0.5}}, "skew: -0.5 is no share from 0 to 1"),
        ({"rule": "sprase"}, "rule: no rule or part named 'sprase'; did you mean 'sparse'?"),
        ({"rule": "knees and nose"}, "rule: formula 'knees and nose': no concept named 'nose'"),
        ({"rule": "head"}, "rule: rule 'head' gives a word; it must be true or false, or a number"),
        ({"concepts": "humans"}, "concepts: no set of concepts named 'humans'; did you mean 'human'?"),
        ({"concepts": ["foot_is_flat_sqare"]}, "concepts: robots have no concept 'foot_is_flat_sqare'; did you mean"),
        ({"preset": "papers"}, "no preset named 'papers'; did you mean 'paper'?"),
        ({"visible": {"knee": 0}}, "visible: no part named 'knee'; did you mean 'knees'?"),
        ({"masked": 1.5}, "masked: 1.5 is no share from 0 to 1"),
        ({"image": False}, "neither image nor text: a robot must be shown or described"),
        ({"size": 4}, "size: Input should be greater than or equal to 8"),
    ],
)
def test_bad_settings_get_one_clear_line(settings, message):
    with pytest.raises(AssayError) as caught:
        Robots(**settings)
    assert message in str(caught.value) and "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_a_rule_that_the_concepts_have_no_part_in():
    with pytest.raises(AssayError, match="the concepts head have no part in the rule"):
        Robots(concepts=["head"]).knowledge
    with pytest.raises(AssayError, match="split 'train' \\(True\\): the label is always True"):
        worlds_of(Robots(rule="knees or not knees"))
    with pytest.raises(AssayError, match="no robot has the foot 'flat_square' that 'skew' wants"):
        worlds_of(Robots(skew={"flat_square": 0.5}, concepts="all", stages=["foot != 'flat_square'"]), "train_1")


def test_the_released_systems_keys():
    task = Robots(
        image_size="large",
        color_mode="grayscale",
        concept_preset="foot_subtypes",
        label_rule="balanced",
        renders_per_robot=2,
    )
    assert (task.config.size, task.config.grey, task.config.concepts) == (600, True, "human")
    assert (task.config.rule, task.config.renders) == ("balanced", 2)
    assert Robots(data_type="text", template_complexity="high").columns == ("text",)
    assert Robots(data_type="text").config.text == "templated"


def test_own_settings_go_above_the_preset():
    assert Robots(preset="paper", size=64, visible={}).config.size == 64
    assert Robots(preset="paper", visible={}).ceiling() > 0.9999


def test_on_disk(tmp_path):
    sizes = (("train", 40), ("valid", 10), ("test", 10), ("hard", 10))
    make(Recipe("robots", Settings({"preset": "paper-human", "text": "terse"}), sizes=sizes), tmp_path / "data")
    split = Dataset.open(tmp_path / "data")["train"]
    assert split.images.shape == (40, 32, 32, 3) and split.lawful.all()
    assert all(read_description(text).stated for text in split.texts)
    assert not split.knowledge.violations(split.concepts).any()
