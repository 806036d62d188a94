"""Robots: the paper's numbers, one world in every modality and concept set, and splits that share no robot."""

from collections import Counter

import numpy as np
import pytest

from assay.concepts import Value
from assay.config import Settings
from assay.data import Dataset, Recipe, make
from assay.errors import AssayError
from assay.families.robots.parts import FEET, PARTS, ROBOTS, SETS, RobotRule, Views, part_view
from assay.families.robots.source import RobotSource
from assay.families.robots.task import PRESETS, Robots, read_description
from assay.logic import Var
from assay.testing import check_task, require
from assay.worlds import CONTENT, LUCK, World

SETTINGS: dict[str, dict[str, object]] = {
    "default": {},
    **{preset: {"preset": preset} for preset in PRESETS},
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


def worlds(task: Robots, name: str = "train", count: int = 300) -> list[World]:
    split = next(split for split in task.splits() if split.name == name)
    return task.worlds_in(split, 0).worlds(np.arange(count))


def rows(task: Robots, name: str, count: int | None = None) -> np.ndarray:
    split = next(split for split in task.splits() if split.name == name)
    source = task.worlds_in(split, 0)
    assert isinstance(source, RobotSource)
    return source.rows_at(np.arange(count or split.size))


def robots(task: Robots, name: str, count: int | None = None) -> np.ndarray:
    return rows(task, name, count) % len(ROBOTS)


def labels(task: Robots, some: list[World]) -> list[int]:
    codes = np.array([world.codes for world in some])
    if not task.knowledge.stochastic:
        return task.knowledge.labels_of(codes)[:, 0].tolist()
    return task.knowledge.drawn_labels(codes, np.array([world.style[LUCK] for world in some]))[:, 0].tolist()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_laws_of_tasks(settings: dict[str, object]) -> None:
    require(check_task(Robots(**settings)), "robots")


# -- the paper's numbers -----------------------------------------------------------------------------------------------


def test_there_are_7680_robots_and_the_foot_changes_fastest() -> None:
    assert len(ROBOTS) == 7680 and ROBOTS[1].tolist() == [0] * 8 + [1] and ROBOTS[10].tolist() == [0] * 7 + [1, 0]
    assert [len(SETS[name]) for name in ("true", "human", "incomplete", "parts", "all")] == [7, 12, 6, 9, 9]


def test_the_papers_rule_is_true_of_seven_in_eight() -> None:
    chances = PAPER.rule.of_robots.chances(ROBOTS)[:, 0]
    assert abs(chances.mean() - 0.87497) < 1e-4
    drent = (ROBOTS[:, 6] == 1) & (ROBOTS[:, 8] < 5) & (ROBOTS[:, 2] == 1)
    assert (PAPER.rule.of_robots.labels_of(ROBOTS)[:, 0] == ~drent).all() and drent.mean() == 0.125
    assert (chances[drent] < 4e-6).all() and (chances[~drent] > 0.9997).all()


def test_what_can_be_reached() -> None:
    assert abs(PAPER.ceiling() - 0.875) < 1e-5 and abs(PAPER.ceiling(["head"]) - 0.875) < 1e-4  # no more than guessing
    assert PAPER.ceiling(["mouth", "foot_shape", "knees"]) > 0.9999
    assert Robots().ceiling() == 1.0 and Robots(visible={"knees": 0}).ceiling() == 0.875
    assert Robots(dot_size=0).ceiling() == 0.875 and Robots(contrast=0).ceiling() == 0.875
    assert Robots(dot_size=0.1).ceiling() == 0.875  # a dot inside the leg
    assert 0.875 < Robots(toe=0).ceiling() < 1  # three flat feet look like their pointy twins
    assert abs(PAPER.ceiling(SETS["human"]) - 0.950) < 5e-4
    balanced = Robots(preset="paper-balanced")
    assert abs(balanced.ceiling() - 0.913) < 1e-3 and abs(balanced.ceiling(SETS["true"]) - 0.930) < 1e-3


def test_the_balanced_rule_is_that_of_version_04() -> None:
    head, body, knees, elbows, antennae, ears, mouth, _, foot = ROBOTS.T
    score = 6 * (1 - mouth) + 6 * body + 6 * head + 6 * antennae + 6 * ears + 8 * (foot > 4) - 3 * knees - 2 * elbows
    chances = Robots(preset="paper-balanced").rule.of_robots.chances(ROBOTS)[:, 0]
    assert np.allclose(chances, 1 / (1 + np.exp(-4.2 * (score - 16.5))))


def test_knees_cannot_be_seen_in_the_papers_pictures() -> None:
    for world in worlds(PAPER, count=5):
        same = PAPER.change_world(world, {"knees": not world["knees"]})
        other = PAPER.change_world(world, {"mouth": "open" if world["mouth"] == "closed" else "closed"})
        assert same is not None and other is not None
        assert (PAPER.render(world).image == PAPER.render(same).image).all()
        assert (PAPER.render(world).image != PAPER.render(other).image).any()


def test_the_papers_split_procedure() -> None:
    train, valid, test = (rows(PAPER, name) for name in ("train", "valid", "test"))
    assert [len(set(held)) for held in (train, valid, test)] == [3800, 3384, 10_000]
    assert not set(train) & set(test) and not set(train) & set(valid) and not set(valid) & set(test)
    feet = {name: Counter(ROBOTS[robots(PAPER, name), 8].tolist()) for name in ("train", "valid", "test")}
    assert {FEET[code]: count / 3800 for code, count in feet["train"].items()} == PRESETS["paper"]["skew"]
    assert len(feet["test"]) == len(feet["valid"]) == 10
    assert feet["valid"][FEET.index("flat_five_sided")] < 0.02 * 3384  # training took most of them
    shared = set(train % 7680) & set(test % 7680)
    assert len(shared) > 0.7 * len(set(train % 7680))  # of the released data 1,256 of 1,583 robots
    human = Robots(preset="paper-human")
    unnamed = human.views.concepts_of(ROBOTS[test % 7680])[:, 6:].sum(axis=1) == 0
    assert abs(unnamed.mean() - 0.4) < 0.02


# -- splits ------------------------------------------------------------------------------------------------------------


def test_splits_share_no_robot_by_default() -> None:
    task = Robots()
    shown = {
        name: {task.ingredients(world) for world in worlds(task, name, 4000)}
        for name in ("train", "valid", "test", "hard")
    }
    assert not shown["train"] & shown["test"] and not shown["train"] & shown["valid"]
    assert not shown["valid"] & shown["test"] and not shown["train"] & shown["hard"]


def test_hard_robots_are_of_every_variant_and_type_and_of_the_test_pool() -> None:
    task = Robots()
    (boundary,) = task.knowledge.boundaries
    codes = np.array([world.codes for world in worlds(task, "hard", 400)])
    assert (
        boundary.explicit
        and boundary.in_variants(codes).any(axis=0).all()
        and boundary.in_types(codes).any(axis=0).all()
    )
    pool = set(robots(task, "test").tolist())
    assert {task.robot_number(world) for world in worlds(task, "hard", 400)} <= pool
    human = Robots(concepts="human", per_type=10)
    assert len(worlds(human, "hard", 100)) == 100


def test_skew_holds_in_every_pack_and_the_rest_is_any_robot() -> None:
    task = Robots(skew={"flat_square": 0.5, "pointy_square": 0.25}, balance="world")
    feet = ROBOTS[robots(task, "train", 4000), 8].reshape(-1, 4)
    assert ((feet == FEET.index("flat_square")).sum(axis=1) >= 2).all()
    assert ((feet == FEET.index("pointy_square")).sum(axis=1) >= 1).all()
    assert len(np.unique(feet)) == 10
    assert np.bincount(ROBOTS[robots(task, "test"), 8]).max() < 1300  # others are as they were
    both = Robots(skew={"flat_square": 0.5, "pointy_square": 0.5}, skewed=["train", "test"])
    assert set(ROBOTS[robots(both, "test"), 8]) == {FEET.index("flat_square"), FEET.index("pointy_square")}


def test_held_out_combinations_never_occur_in_training() -> None:
    task = Robots(prop_in_distribution=0.8)
    seen = {name: {world.codes for world in worlds(task, name, 2000)} for name in ("train", "test", "ood")}
    assert not seen["ood"] & seen["train"] and not seen["ood"] & seen["test"]
    assert len(seen["train"]) == 103 and len(seen["ood"]) == 25  # of 16 drents 13, of 112 glorps 90


def test_labels_are_even_unless_asked_otherwise() -> None:
    assert np.mean(labels(Robots(), worlds(Robots(), "test", 1000))) == 0.5
    natural = Robots(balance="world")
    assert abs(np.mean(labels(natural, worlds(natural, "test", 3000))) - 0.875) < 0.02


# -- one world, many views ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"stochastic": True, "scale": 0.3}, {"rule": "balanced", "stochastic": True}])
def test_pictures_and_labels_do_not_depend_on_the_concepts_annotated(settings: dict[str, object]) -> None:
    tasks = {name: Robots(concepts=name, balance="world", **settings) for name in SETS}
    drawn = {name: worlds(task) for name, task in tasks.items()}
    images = {name: [p.image.tobytes() for p in task.render_all(drawn[name])] for name, task in tasks.items()}
    given = {name: labels(task, drawn[name]) for name, task in tasks.items()}
    assert all(images[name] == images["all"] and given[name] == given["all"] for name in SETS)
    assert len({len(world.codes) for some in drawn.values() for world in some}) == 4


def test_modalities_show_the_same_world() -> None:
    image, text = Robots(stochastic=True, scale=0.3), Robots(preset="text", stochastic=True, scale=0.3)
    pairs = list(zip(worlds(image), worlds(text), strict=True))
    assert all(a.codes == b.codes and a.style["colours"] == b.style["colours"] for a, b in pairs)
    assert all(a.style[LUCK] == b.style[LUCK] for a, b in pairs)
    for world, picture in zip(worlds(text), text.render_all(worlds(text)), strict=True):
        assert read_description(picture.text).stated == PARTS.decode(text.robot(world))
        assert picture.image.size == 0


def test_what_is_left_unsaid_is_recorded() -> None:
    task = Robots(text="templated", masked={"ears": 0.5}, omitted={"knees": 1, "ears": 0.3})
    for world, picture in zip(worlds(task), task.render_all(worlds(task)), strict=True):
        found = read_description(picture.text)
        assert world.style["omitted"][0] == "knees" and "knees" not in found.stated
        assert list(found.masked) == world.style["masked"]
        assert ("ears" in found.stated) == ("ears" not in [*world.style["masked"], *world.style["omitted"]])
    assert 0.25 < np.mean([world.style["masked"] == ["ears"] for world in worlds(task)]) < 0.45


def test_hidden_parts_make_labels_a_matter_of_luck_that_is_fair() -> None:
    task = Robots(concepts="incomplete", balance="world")
    some = worlds(task, "test", 4000)
    luck = np.array([world.style[LUCK][0] for world in some])
    open_and_flat = np.array([world["mouth"] == "open" and world["foot_shape"] == "flat" for world in some])
    truth = [bool(task.catalogue.labels[task.robot_number(world)]) for world in some]
    assert labels(task, some) == truth
    assert np.abs(np.quantile(luck, [0.1, 0.5, 0.9]) - [0.1, 0.5, 0.9]).max() < 0.04
    assert abs(np.mean(np.array(truth)[open_and_flat]) - 0.5) < 0.06 and np.array(truth)[~open_and_flat].all()
    assert set(task.knowledge.chances(task.catalogue.concepts)[:, 0].round(6)) == {0.5, 1.0}


def test_content_holds_what_concepts_do_not_tell() -> None:
    world = worlds(Robots(), count=1)[0]
    assert set(world.style[CONTENT]) == {"elbows", "hand", "foot"}
    assert CONTENT not in worlds(Robots(concepts="all"), count=1)[0].style


def changed(task: Robots, world: World, **changes: Value) -> dict[str, Value]:
    other = task.change_world(world, changes)
    assert other is not None and all(other[name] == value for name, value in changes.items())
    assert task.views.concepts_of(np.array([task.robot(other)]))[0].tolist() == list(other.codes)
    return PARTS.decode(task.robot(other))


def test_a_change_keeps_all_else_and_stays_one_robot() -> None:
    task = Robots(concepts="human")
    for world in worlds(task, count=60):
        before = PARTS.decode(task.robot(world))
        assert {**before, "foot": "flat_square"} == changed(task, world, foot_is_flat_square=True)
        assert {**before, "knees": True} == changed(task, world, knees=True)
        if before["foot"] == "flat_square":
            assert changed(task, world, foot_is_flat_square=False)["foot"] == "flat_rounded"  # flat, and not named
    assert task.change_world(world, {"foot_is_flat_square": True, "foot_is_pointy_square": True}) is None
    coarse = Robots()
    for world in worlds(coarse, count=60):
        before = PARTS.decode(coarse.robot(world))
        twin = FEET[(FEET.index(str(before["foot"])) + 5) % 10]
        shape = "flat" if world["foot_shape"] == "pointy" else "pointy"
        assert {**before, "foot": twin} == changed(coarse, world, foot_shape=shape)


# -- nuisances ---------------------------------------------------------------------------------------------------------


def test_colours_are_drawn_and_say_nothing() -> None:
    task = Robots(concepts="all", balance="world")
    some = worlds(task, "test", 6000)
    pairs = np.array([world.style["colours"] for world in some])
    assert (pairs[:, 0] != pairs[:, 1]).all() and len({tuple(sorted(pair)) for pair in pairs.tolist()}) == 120
    truth = np.array(labels(task, some))
    shares = np.array([truth[pairs[:, 0] == colour].mean() for colour in range(16)])
    assert np.abs(shares - truth.mean()).max() < 0.08


def test_colours_can_follow_from_the_number_as_in_the_release() -> None:
    task = Robots(preset="paper", colours="index")
    schemes = {tuple(world.style["colours"]) for world in worlds(task, "test", 3000)}
    assert len(schemes) == 71
    numbers = rows(task, "test", 500) % 71
    pairs = [tuple(world.style["colours"]) for world in worlds(task, "test", 500)]
    assert len(set(zip(numbers.tolist(), pairs, strict=True))) == len(set(numbers.tolist()))


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
def test_bad_settings_get_one_clear_line(settings: dict[str, object], message: str) -> None:
    with pytest.raises(AssayError) as caught:
        Robots(**settings)
    assert message in str(caught.value) and "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_a_rule_that_the_concepts_have_no_part_in() -> None:
    with pytest.raises(AssayError, match="the concepts head have no part in the rule"):
        Robots(concepts=["head"]).knowledge
    with pytest.raises(AssayError, match="split 'train' \\(True\\): the label is always True"):
        worlds(Robots(rule="knees or not knees"))
    with pytest.raises(AssayError, match="no robot has the foot 'flat_square' that 'skew' wants"):
        worlds(Robots(skew={"flat_square": 0.5}, concepts="all", stages=["foot != 'flat_square'"]), "train_1")


def test_the_released_systems_keys() -> None:
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


def test_own_settings_go_above_the_preset() -> None:
    assert Robots(preset="paper", size=64, visible={}).config.size == 64
    assert Robots(preset="paper", visible={}).ceiling() > 0.9999


def test_a_rule_over_subtypes_is_shared_out_over_coarse_concepts() -> None:
    rule = RobotRule(Var("foot").eq("flat_square"))
    known = rule.knowledge_for(Views.of(["foot_shape", "knees"]))
    shares = known.chances(Views.of(["foot_shape", "knees"]).concepts_of(ROBOTS))[:, 0]
    assert np.allclose(shares, np.where(ROBOTS[:, 8] < 5, 0.2, 0.0), atol=1e-6)
    exact = rule.knowledge_for(Views.of(["foot_is_flat_square", "head"]))
    assert not exact.stochastic and exact.chances(np.array([[1, 0], [0, 1]]))[:, 0].tolist() == [1.0, 0.0]
    assert part_view("hand_shape").table == (0, 0, 0, 1, 1, 1)


def test_on_disk(tmp_path) -> None:
    sizes = (("train", 40), ("valid", 10), ("test", 10), ("hard", 10))
    make(Recipe("robots", Settings({"preset": "paper-human", "text": "terse"}), sizes=sizes), tmp_path / "data")
    split = Dataset.open(tmp_path / "data")["train"]
    assert split.images.shape == (40, 32, 32, 3) and split.lawful.all()
    assert all(read_description(text).stated for text in split.texts)
    assert not split.knowledge.violations(split.concepts).any()
