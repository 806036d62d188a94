"""Robots by hand: views and rules on a few robots, who is dealt where, and words, shapes and inks in numbers."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from assay.errors import AssayError, UnknownName
from assay.families.robots import drawing, parts, source
from assay.families.robots.drawing import (
    BANDS,
    BLACK,
    BLANK,
    LEFT,
    RIGHT,
    Pen,
    RobotAppearance,
    arms,
    draw_robots,
    foot_shape,
    hand_shape,
    head,
    ink_tables,
    legs,
    picture_codes,
    ring,
)
from assay.families.robots.parts import FEET, HANDS, PARTS, ROBOTS, RobotRule, Views, best_accuracy, part_view
from assay.families.robots.settings import rule_of
from assay.families.robots.source import Allocation
from assay.families.robots.task import Robots
from assay.logic import Var, parse
from assay.render import Canvas
from assay.seeds import rng_for
from assay.worlds import CONTENT, World

PLAIN = [0] * 9


def robot(**values):
    """Return the codes of a robot, plain but for these parts."""
    codes = list(PLAIN)
    for part, value in values.items():
        codes[PARTS.place(part)] = PARTS.concept(part).code(value)
    return codes


# -- views -------------------------------------------------------------------------------------------------------------


def test_views_read_parts_whole_coarsely_or_one_subtype():
    whole, coarse, one = part_view("foot"), part_view("foot_shape"), part_view("hand_is_edgy_square")
    assert whole.table == tuple(range(10)) and coarse.table == (0,) * 5 + (1,) * 5
    assert coarse.concept.values == ("flat", "pointy") and coarse.part == "foot"
    assert one.table == (0, 0, 0, 0, 1, 0) and one.part == "hand" and one.concept.values == (False, True)
    for view in (whole, coarse, one, part_view("hand_shape"), part_view("foot_is_pointy_square")):
        table = {value: view.table[code] for code, value in enumerate(PARTS.concept(view.part).values)}
        codes = np.array([robot(**{view.part: value}) for value in table])
        names = {bool: (False, True)}.get(type(view.concept.values[0]), view.concept.values)
        truth = RobotRule(view.meaning if names == (False, True) else view.meaning.eq(view.concept.values[1]))
        wanted = [code == 1 for code in table.values()]
        assert truth.of_robots.labels_of(codes)[:, 0].tolist() == [int(one) for one in wanted]
    for unknown in ("flat_square", "foot_is_edgy_square", "nose"):
        with pytest.raises(UnknownName, match=f"robots have no concept '{unknown}'"):
            part_view(unknown)


def test_views_tell_which_parts_are_seen_by_what():
    views = Views.of(["foot_shape", "knees", "foot_is_flat_square", "hand"])
    assert {part: places for part, places in views.by_part.items() if places} == {
        **{"knees": (1,), "hand": (3,), "foot": (0, 2)}
    }
    assert views.hidden == ("head", "body", "elbows", "antennae", "ears", "mouth", "foot")
    codes = np.array([robot(foot="flat_square", knees=True, hand="edgy_square"), robot(foot="pointy_square")])
    assert views.concepts_of(codes).tolist() == [[0, 1, 1, 4], [1, 0, 0, 0]]
    (one,) = views.constraints
    assert one.name == "one_foot" and str(one.formula).count("'flat'") == 2 and "'pointy', True" not in str(one.formula)
    assert Views.of(["foot_shape", "knees"]).constraints == ()
    with pytest.raises(AssayError, match="no set of concepts named 'foot'"):
        Views.of("foot")


def test_codes_of_a_part_fit_all_that_is_wanted_of_it():
    views = Views.of(["foot_shape", "foot_is_flat_square", "foot_is_pointy_square", "knees"])
    assert views.fits("foot", {"foot_shape": "pointy"}) == [5, 6, 7, 8, 9]
    assert views.fits("foot", {"foot_shape": "flat", "foot_is_flat_square": False}) == [0, 1, 3, 4]
    assert views.fits("foot", {"foot_shape": "flat", "foot_is_pointy_square": True}) == []
    assert views.fits("foot", {}) == list(range(10)) and views.fits("knees", {"knees": True}) == [1]


@pytest.mark.parametrize(
    ("observed", "before", "among", "found"),
    [
        ((1, 0, 0), 2, None, 5),  # pointy, but not the square one at the same place: the first
        ((1, 0, 1), 2, None, 7),
        ((0, 0, 0), 8, None, 3),  # at the same place in the other half
        ((0, 0, 0), 4, None, 4),  # the same
        ((0, 0, 0), 7, None, 0),  # its twin is the square one, which is not seen
        ((1, 1, 0), 2, None, 2),  # two of three agree: the flat square one as before
        ((1, 0, 0), 2, (0, 1, 6), 6),
        ((0, 1, 0), 3, (0, 1, 4), 0),
    ],
)
def test_the_nearest_code_agrees_with_most_and_is_like_before(observed, before, among, found):
    views = Views.of(["foot_shape", "foot_is_flat_square", "foot_is_pointy_square"])
    assert views.nearest("foot", observed, before, among) == found


# -- rules -------------------------------------------------------------------------------------------------------------


def test_a_score_is_true_above_zero_only():
    rule = rule_of("2 * knees - (mouth == 'open') - 1")
    codes = np.array([robot(knees=True), robot(knees=True, mouth="open"), robot(), robot(mouth="open")])
    assert rule.of_robots.labels_of(codes)[:, 0].tolist() == [1, 0, 0, 0] and rule.odds is None


@pytest.mark.parametrize(
    ("rule", "scale", "scores"),
    [
        ("knees", 2.0, (2.0, -2.0)),
        ("3 * knees - 1", 0.5, (1.0, -0.5)),
        ("sparse", 1.0, (2.0, 7.0)),
        ("balanced", 1.0, ((12 - 6 - 33) / 2, (12 - 33) / 2)),
    ],
)
def test_drawn_labels_have_the_odds_of_their_score(rule, scale, scores):
    found = rule_of(rule, stochastic=True, scale=scale).of_robots.chances(np.array([robot(knees=True), robot()]))[:, 0]
    assert found == pytest.approx(1 / (1 + np.exp(-np.array(scores))), rel=1e-9)


def test_a_part_by_itself_is_a_rule_and_a_word_is_none():
    assert rule_of("knees").names == {"knees"} and rule_of("foot_shape == 'flat'").names == {"foot_shape"}
    drawn = rule_of("sparse", stochastic=True)
    assert drawn.names == {"mouth", "foot_shape", "knees"}
    with pytest.raises(AssayError, match="gives a word"):
        rule_of("foot")


def test_rules_over_the_concepts_are_the_same_as_over_the_robots():
    rule = rule_of("foot_shape == 'pointy' and knees", stochastic=True, scale=1.5)
    truth = rule.of_robots.chances(ROBOTS)[:, 0]
    for names in (["knees", "foot_shape"], ["foot", "knees"], ["knees", "foot", "foot_shape"]):
        views = Views.of(names)
        known = rule.knowledge_for(views)
        assert known.chances(views.concepts_of(ROBOTS))[:, 0] == pytest.approx(truth)
        assert len(known.constraints) == (len(names) == 3)


def test_what_hidden_parts_decide_is_shared_out():
    rule = rule_of("knees and mouth == 'open' or foot == 'flat_square' and not knees")
    views = Views.of(["foot_shape", "knees", "head"])
    known = rule.knowledge_for(views)
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    assert known.stochastic and known.chances(codes)[:, 0] == pytest.approx([0.2, 0.5, 0.0, 0.5], abs=1e-6)
    assert known.labels_of(codes)[:, 0].tolist() == [0, 0, 0, 0]
    sure = rule_of("foot_shape == 'pointy' and knees").knowledge_for(Views.of(["foot_is_flat_square", "foot", "knees"]))
    assert not sure.stochastic
    one = rule_of("knees").knowledge_for(Views.of(["knees"]))
    assert not one.stochastic and one.labels_of(np.array([[0], [1]])).tolist() == [[0], [1]]


def test_rare_shares_keep_their_odds():
    rule = RobotRule(Var("foot").eq("flat_square"), None)
    shares = rule.knowledge_for(Views.of(["hand", "foot_shape"])).chances(np.array([[0, 0], [3, 1]]))[:, 0]
    assert shares == pytest.approx([0.2, 0.0], abs=1e-7)
    drawn = rule_of("40 * knees - 1", stochastic=True, scale=0.3)
    views = Views.of(["elbows", "knees"])
    known = drawn.knowledge_for(views)
    assert known.chances(np.array([[0, 1], [1, 0]]))[:, 0] == pytest.approx(
        [1 / (1 + np.exp(-0.3 * 39)), 1 / (1 + np.exp(0.3))], rel=1e-5
    )


@pytest.mark.parametrize("holds", [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]])
def test_rows_are_listed_by_those_that_hold_or_those_that_do_not(holds):
    terms, rows = (Var("head"), Var("body")), [(a, b) for a in ("square", "round") for b in ("square", "round")]
    flags = np.isin(np.arange(4), holds)
    formula = parts._rows_where(terms, rows, flags)
    known = RobotRule(formula).of_robots if len(holds) < 4 else None
    if known is not None:
        codes = np.array([robot(head=a, body=b) for a, b in rows])
        assert known.labels_of(codes)[:, 0].tolist() == flags.astype(int).tolist()
    assert str(formula).startswith("not") == (len(holds) > 2)


def test_numbers_of_rows_are_the_commonest_and_steps_from_it():
    rows = [("square", False), ("square", True), ("round", False), ("round", True)]
    formula = parts._table((Var("head"), Var("knees")), rows, np.array([7, -2, 7, 30]))
    codes = np.array([robot(head=a, knees=b) for a, b in rows])
    for limit, wanted in ((6, [1, 0, 1, 1]), (7, [0, 0, 0, 1]), (-3, [1, 1, 1, 1]), (29, [0, 0, 0, 1])):
        known = RobotRule((formula > limit) & (Var("mouth").eq("closed"))).of_robots
        assert known.labels_of(codes)[:, 0].tolist() == wanted


def test_the_best_accuracy_counts_every_robot():
    rule = RobotRule(parse("foot == 'flat_square' or knees"))
    assert best_accuracy(rule, Views.of(["foot_is_flat_square"]).concepts_of(ROBOTS)) == pytest.approx(0.1 + 0.9 / 2)
    assert best_accuracy(rule, Views.of(["knees"]).concepts_of(ROBOTS)) == pytest.approx(0.5 + 0.5 * 0.9)
    task = Robots(rule="foot == 'flat_square' or knees", visible={"knees": 0})
    assert task.ceiling(["knees"]) == pytest.approx(0.95) and task.ceiling() == pytest.approx(0.55)


# -- who is dealt where ------------------------------------------------------------------------------------------------


def test_pools_of_robots_are_cut_at_six_and_seven_tenths():
    pools = {pool: Allocation().rows(pool, 3) for pool in ("train", "valid", "test", "all")}
    assert [len(rows) for rows in pools.values()] == [4608, 768, 2304, 7680]
    joined = np.concatenate([pools["train"], pools["valid"], pools["test"]])
    assert (joined == pools["all"]).all() and sorted(joined.tolist()) == list(range(7680))
    assert (Allocation().rows("train", 4)[:20] != pools["train"][:20]).any()


def test_renderings_are_drawn_for_testing_then_for_training_by_their_feet():
    skew = (("flat_square", 0.3), ("pointy_square", 0.01))
    pools = {pool: Allocation(2, skew).rows(pool, 0) for pool in ("train", "valid", "test", "all")}
    count = 2 * 7680
    assert [len(pools[pool]) for pool in ("test", "train")] == [
        round(count * 10000 / 30720),
        round(count * 3800 / 30720),
    ]
    joined = np.concatenate([pools["train"], pools["valid"], pools["test"]])
    assert sorted(joined.tolist()) == list(range(count)) and sorted(pools["all"].tolist()) == list(range(count))
    feet = np.bincount(ROBOTS[pools["train"] % 7680, 8], minlength=10)
    assert feet[FEET.index("flat_square")] >= int(0.3 * 1900) and feet[FEET.index("flat_rounded")] > 90
    assert (pools["test"] == pools["all"][: len(pools["test"])]).all()
    rest = pools["all"][len(pools["test"]) :]
    square = rest[ROBOTS[rest % 7680, 8] == FEET.index("flat_square")][: int(0.3 * 1900)]
    assert np.isin(square, pools["train"]).all()


@pytest.mark.parametrize(
    ("skew", "packs"),
    [
        ((), [(None, 1)]),
        ((("flat_square", 0.5),), [("flat_square", 1), (None, 1)]),
        ((("flat_square", 0.5), ("flat_rounded", 0.5)), [("flat_square", 1), ("flat_rounded", 1)]),
        ((("flat_square", 0.25), ("flat_rounded", 0.0), ("pointy_square", 0.1)),
         [("flat_square", 5), ("pointy_square", 2), (None, 13)]),
        ((("flat_square", 0.995),), [("flat_square", 199), (None, 1)]),
    ],
)  # fmt: skip
def test_packs_hold_the_shares_of_feet(skew, packs):
    held = Allocation(0, skew, ("train", "test"))
    assert held.packs("train") == held.packs("train_2") == held.packs("test") == packs
    assert held.packs("valid") == [(None, 1)] and Allocation(4, skew).packs("train") == [(None, 1)]


def test_skewed_places_have_their_feet_in_every_pack_and_the_rest_evenly():
    task = Robots(skew={"flat_square": 0.5, "pointy_rounded": 0.25}, balance="world")
    rows = task.worlds_in(task.splits()[0], 0).rows_at(np.arange(400))
    feet = ROBOTS[rows % 7680, 8].reshape(100, 4)
    assert ((feet == FEET.index("flat_square")).sum(axis=1) >= 2).all()
    assert ((feet == FEET.index("pointy_rounded")).sum(axis=1) >= 1).all()
    assert len(set(rows.tolist())) > 330  # robots come again only when all have been dealt
    square = rows[ROBOTS[rows % 7680, 8] == FEET.index("flat_square")]
    assert len(set(square.tolist())) >= 200 - 15
    alone = task.worlds_in(task.splits()[0], 0).rows_at(np.array([399, 7]))
    assert alone.tolist() == [rows[399], rows[7]]


def test_labels_are_dealt_evenly_and_each_robot_of_a_label_once():
    task = Robots(rule="knees and head == 'round'")
    split = next(one for one in task.splits() if one.name == "valid")
    rows = task.worlds_in(split, 0).rows_at(np.arange(300))
    labels = ((ROBOTS[rows, 2] == 1) & (ROBOTS[rows, 0] == 1)).astype(int)
    assert (labels.reshape(-1, 2).sum(axis=1) == 1).all()
    for label in (0, 1):
        assert len(set(rows[labels == label].tolist())) == 150


def test_a_label_is_drawn_the_same_given_parts_or_concepts():
    rule = rule_of("knees", stochastic=True, scale=1.0)
    catalogue = source.Catalogue(rule, Views.of(["knees"]), rule.knowledge_for(Views.of(["knees"])))
    assert catalogue.luck(0, 0.4, 0.9) == 0.4  # nothing is hidden
    held = SimpleNamespace(chances=(np.array([0.25, 0.75]), np.array([0.5, 0.5])))
    luck = source.Catalogue.luck
    assert luck(held, 0, 0.2, 0.8) == pytest.approx(0.4) and luck(held, 0, 0.25, 0.8) == pytest.approx(0.9)
    assert luck(held, 1, 0.7, 0.1) == pytest.approx(0.05) and luck(held, 1, 0.8, 0.0) == pytest.approx(0.5)


def test_concepts_identify_robots_only_if_all_parts_are_seen():
    def catalogue(names):
        views = Views.of(names)
        return source.Catalogue(rule_of("knees"), views, rule_of("knees").knowledge_for(views))

    assert catalogue("all").tells_apart and not catalogue(list(PARTS.names[:8])).tells_apart
    few = catalogue(["knees", "foot_shape", "hand"])
    assert few.keys_of(np.array([[0, 0, 5], [1, 0, 0], [1, 1, 2]])).tolist() == [5, 12, 20]
    number = int(np.ravel_multi_index(robot(foot="pointy_square", mouth="open", hand="edgy_square"), PARTS.sizes))
    assert few.content(number) == {
        **{"head": "square", "body": "square", "elbows": False, "antennae": False, "ears": "square", "mouth": "open"},
        "foot": "pointy_square",
    }


def test_a_share_of_the_combinations_is_held_out_label_by_label():
    task = Robots(concepts="true", prop_in_distribution=0.75)
    splits = {split.name: split for split in task.splits()}
    train, ood = (task.worlds_in(splits[name], 0) for name in ("train", "ood"))
    keys, labels = task.catalogue.keys, task.catalogue.labels
    for label in (0, 1):
        mine = np.unique(keys[labels == label])
        inside = np.unique(keys[(labels == label) & train.inside])
        assert len(inside) == round(0.75 * len(mine))
        assert set(mine) - set(inside) == set(np.unique(keys[(labels == label) & ood.inside]))
    codes = ood.codes(np.arange(40))
    assert not train.contains(codes).any() and ood.contains(codes).all()


def test_worlds_of_given_concepts_are_robots_of_the_split():
    task = Robots(concepts=["mouth", "foot_shape", "knees"])
    held = task.worlds_in(task.splits()[0], 0)
    codes = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0], [1, 1, 0]])
    worlds = held.style_worlds(np.array([3, 4, 9, 5]), codes)
    assert [world.codes for world in worlds] == [tuple(row) for row in codes.tolist()]
    numbers = [task.robot_number(world) for world in worlds]
    assert np.isin(numbers, held.rows).all() and numbers[0] != numbers[2]
    assert held.total == len(held.rows) == 4608


def test_colours_follow_from_the_rendering_where_they_are_tied():
    task = Robots(preset="paper", colours="index")
    held = task.worlds_in(task.splits()[0], 0)
    rows = held.rows_at(np.arange(50))
    worlds = held.worlds(np.arange(50))
    assert rows.max() > 7680
    assert [tuple(world.style["colours"]) for world in worlds] == [source.SCHEMES[row % 71] for row in rows.tolist()]
    assert len(source.SCHEMES) == 120 and source.SCHEMES[0] == (0, 1)
    assert source.PAPER_SHARES["train"] == Fraction(3800, 30720)


# -- tasks -------------------------------------------------------------------------------------------------------------


def test_two_different_colours_are_drawn_evenly():
    task = Robots()
    pairs = [tuple(task.style(rng_for(k, "style"), (), "train")["colours"]) for k in range(3000)]
    assert len(set(pairs)) == 16 * 15 and all(left != right for left, right in pairs)


def test_parts_are_masked_or_omitted_as_often_as_asked_and_never_both():
    task = Robots(text="terse", masked={"knees": 1.0, "head": 0.5}, omitted={"mouth": 1.0, "head": 0.5})
    assert [task.config.chance(kind, "head") for kind in ("masked", "omitted")] == [0.5, 0.5]
    assert task.config.chance("masked", "foot") == 0.0 and Robots(text="terse", masked=0.3).config.chance("masked", "ears") == 0.3  # fmt: skip
    found = [task.style(rng_for(k, "style"), (), "train") for k in range(300)]
    heads = [("head" in one["masked"], "head" in one["omitted"]) for one in found]
    assert (True, True) not in heads and set(heads) == {(False, False), (True, False), (False, True)}
    assert np.mean([masked for masked, _ in heads]) == pytest.approx(0.25, abs=0.08)
    assert np.mean([omitted for _, omitted in heads]) == pytest.approx(0.5, abs=0.09)
    assert all({*one["masked"]} - {"head"} == {"knees"} and {*one["omitted"]} - {"head"} == {"mouth"} for one in found)


def test_settings_exactly_at_their_bounds_are_taken():
    task = Robots(
        skew={"flat_square": 0.5, "pointy_square": 0.5}, visible={"knees": 1, "head": 0}, masked=1.0, text="terse"
    )
    assert task.appearance.visible == (0.0, *(1.0,) * 8)
    assert Robots(skew={"flat_square": 1.0}).allocation.packs("train") == [("flat_square", 1)]
    for wrong in ({"visible": {"foot_shape": 0}}, {"visible": {"knees": -0.1}}, {"omitted": {"head": 1.01}}):
        with pytest.raises(AssayError):
            Robots(text="terse", **wrong)
    assert Robots(image=False, text="table").columns == ("text",) and Robots().columns == ("image",)
    assert Robots(text="table").columns == ("image", "text")


def test_settings_are_passed_on_to_the_look():
    task = Robots(size=16, dot_size=0.4, toe=0.2, line=0.1, contrast=0.9, blur=0.3, visible={"ears": 0.5}, grey=True)
    look = task.appearance
    assert (look.size, look.dot, look.toe, look.line, look.contrast, look.blur) == (16, 0.4, 0.2, 0.1, 0.9, 0.3)
    assert look.visible == (1, 1, 1, 1, 1, 0.5, 1, 1, 1)
    assert (task.layout.width, task.layout.height, task.layout.channels) == (16, 16, 1) and task.style_choices == {}
    assert Robots(size=16).backbones() and not Robots(size=15).backbones()
    assert Robots(image=False, text="terse").style_choices == {} and list(Robots().style_choices) == ["paper"]
    released = {size: Robots(image_size=size).config.size for size in ("small", "medium", "large")}
    assert released == {"small": 8, "medium": 32, "large": 600}


def test_splits_are_declared_disjoint_where_concepts_tell_robots_apart():
    def disjoint(**settings):
        return {split.name: split.disjoint_from for split in Robots(**settings).splits()}

    assert set(disjoint().values()) == {()} == set(disjoint(concepts="all", split_by="rendering").values())
    found = disjoint(concepts="all")
    assert found["train"] == () and found["valid"] == ("train",) and found["test"] == ("train", "valid")
    assert found["hard"] == ("train", "valid")  # of the same pool as test


def test_allocations_follow_the_settings():
    base = Robots(skew={"flat_square": 0.2}, skewed=["test"], renders=9).allocation
    assert base == Allocation(0, (("flat_square", 0.2),), ("test",), 0)
    assert Robots(split_by="rendering", renders=9, colours="index").allocation == Allocation(9, (), ("train",), 71)


def test_a_whole_robot_is_what_concepts_and_content_say():
    task = Robots(concepts=["knees", "foot_shape", "hand"])
    content = {"head": "round", "foot": "pointy_square", "mouth": "open", "elbows": True}
    style = {"colours": [0, 1], CONTENT: content}
    world = World(task.space, (1, 1, 4), style)
    whole = robot(knees=True, hand="edgy_square", **content)
    assert task.robot(world) == whole
    flat = World(task.space, (1, 0, 4), style)
    assert task.robot(flat) == [*whole[:8], FEET.index("flat_square")]  # the twin of what it was
    assert task.ingredients(world) == (f"robot {np.ravel_multi_index(whole, PARTS.sizes)}",)
    changed = task.change_world(world, {"foot_shape": "flat", "hand": "round_oval"})
    assert changed.codes == (1, 0, 1) and changed.style[CONTENT]["foot"] == "flat_square"
    assert set(changed.style[CONTENT]) == set(task.views.hidden) and changed.style["colours"] == [0, 1]
    subtypes = Robots(concepts=["foot_shape", "foot_is_flat_square", "knees"])
    square = World(subtypes.space, (0, 1, 0), {"colours": [0, 1], CONTENT: {"foot": "flat_square"}})
    assert subtypes.change_world(square, {"foot_shape": "pointy", "foot_is_flat_square": True}) is None
    assert subtypes.change_world(square, {"foot_shape": "pointy"}).codes == (1, 0, 0)


def test_each_picture_has_the_paper_of_its_own_world():
    task = Robots(size=12)
    worlds = [
        World(task.space, (0,) * 7, {"colours": [0, 7], **paper})
        for paper in ({"paper": "yellow"}, {}, {"paper": "blue"})
    ]
    corners = [picture.image[0, 0].tolist() for picture in task.render_all(worlds)]
    assert corners == [[255, 238, 170], [255, 255, 255], [190, 215, 255]]
    grey, coloured = (Robots(size=120, grey=grey).render(worlds[1]).image for grey in (True, False))
    assert grey.shape == (120, 120) and coloured.shape == (120, 120, 3)
    assert grey[60, 50] == round(214 * 0.299 + 48 * 0.587 + 49 * 0.114) and coloured[60, 50].tolist() == [214, 48, 49]


def test_words_tell_what_is_masked_and_what_is_omitted():
    task = Robots(text="terse", size=8)
    style = {"colours": [0, 5], "words": [0] * 24, "masked": ["head"], "omitted": ["body", "foot"]}
    said = task.describe_robot(robot(knees=True), style)
    assert said == (
        "Head: unclear. Knees: yes. Elbows: no. Antennae: no. Ears: square. Mouth: closed. Hands: round circle. "
        "Colours: red, teal."
    )
    assert Robots(text="terse", grey=True).describe_robot(PLAIN, style).endswith("Hands: round circle.")
    assert Robots().describe_robot(PLAIN, {}) == ""


# -- drawing -----------------------------------------------------------------------------------------------------------


def test_many_pictures_are_drawn_in_steps_each_in_its_own_colours():
    robots, look = ROBOTS[::12][:600], RobotAppearance(32)  # 512 at once
    colours = rng_for(0, "colours").integers(80, 250, size=(600, 2, 3)).astype(np.float32)
    together = draw_robots(robots, colours, look)
    some = [0, 1, 511, 512, 513, 599]
    assert (together[some] == draw_robots(robots[some], colours[some], look)).all()


def test_pictures_are_rounded_and_cut_off():
    look = RobotAppearance(120)
    pair = np.array([[[100.4, 0, 0], [0, 200.6, 0]]], dtype=np.float32)
    image = draw_robots(np.array([PLAIN]), pair, look)[0]
    assert image[60, 50].tolist() == [100, 0, 0] and image[60, 70].tolist() == [0, 201, 0]
    half = draw_robots(np.array([PLAIN]), pair, RobotAppearance(120, contrast=0.5))[0]
    assert half[60, 50].tolist() == [178, 128, 128] and half[0, 0].tolist() == [255] * 3


def test_picture_codes_tell_looks_apart_band_by_band():
    look = RobotAppearance(32, visible=(1, 1, 0, 1, 1, 1, 1, 1, 1))
    codes = picture_codes(ROBOTS, look)
    assert codes.shape == (7680, 3) and [len(np.unique(column)) for column in codes.T] == [16, 24, 10]
    same = [robot(knees=value, foot="flat_square") for value in (False, True)]
    assert (picture_codes(np.array(same), look)[0] == picture_codes(np.array(same), look)[1]).all()
    assert len(np.unique(picture_codes(ROBOTS, RobotAppearance(32, contrast=0.0)), axis=0)) == 1
    assert len(np.unique(picture_codes(ROBOTS, RobotAppearance(32)), axis=0)) == 7680


def test_partly_visible_parts_lie_between_their_value_and_the_mean_of_all():
    share = (1.0, 1.0, 0.25, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5)
    full, part = (ink_tables(RobotAppearance(24, visible=visible))[2] for visible in ((1.0,) * 9, share))
    inks = full.inks.reshape(2, 10, *full.shape, 3)
    knees = 0.25 * inks + 0.75 * inks.mean(axis=0, keepdims=True)
    wanted = 0.5 * knees + 0.5 * knees.mean(axis=1, keepdims=True)
    assert part.inks.reshape(inks.shape) == pytest.approx(wanted, abs=1e-6)


def test_a_band_reaches_as_far_as_its_blur():
    band = BANDS[2]  # from 4.4 to 7.6, and from 7.75 to 11.3 of twelve
    sharp, soft = (drawing._ink_table(band, RobotAppearance(48, blur=blur)) for blur in (0.0, 0.5))
    assert (sharp.left, sharp.top, *sharp.shape) == (17, 31, 46 - 31, 31 - 17)
    assert (soft.left, soft.top, *soft.shape) == (11, 25, 48 - 25, 37 - 11)  # six more pixels, as far as there are any
    assert soft.inks.sum() == pytest.approx(sharp.inks.sum(), rel=0.03)
    middle = soft.inks[0, 6:21, 6:20]
    assert (np.abs(middle - sharp.inks[0]) > 0.05).any() and soft.inks[0, 3].max() > 0.01


def pen(size=240, look=None):
    return Pen(Canvas(size, size, BLANK), size / 12, (0, 0), 1, look or RobotAppearance(size))


def test_a_pen_draws_in_units_from_its_corner():
    look = RobotAppearance(120)
    held = Pen(Canvas(50, 50, BLANK), 20.0, (30, 40), 2, look)
    assert held.at(np.array([[4.0, 5.0]])).tolist() == [[20.0, 20.0]]
    held.disc(4.0, 5.0, 0.5)
    rows, columns = np.nonzero(held.canvas.image[:, :, 2] > 128)
    assert (rows.min() + rows.max()) / 2 == pytest.approx(19.5, abs=0.6) and (columns.max() - columns.min()) == pytest.approx(20, abs=1.1)  # fmt: skip
    before = held.canvas.image
    held.disc(4.0, 5.0, 0.0, LEFT)
    assert (held.canvas.image == before).all()


def test_halves_meet_in_the_middle_with_a_line_all_around():
    held = pen()
    held.halves(ring(6.0, 6.0, 2.0, 1.0))
    image = held.canvas.image
    assert image[120, 100].tolist() == list(LEFT) and image[120, 140].tolist() == list(RIGHT)
    assert (image[120, 117:119] == LEFT).all() and (image[120, 121:123] == RIGHT).all()
    for y, x in ((120, 80), (120, 160), (100, 120), (140, 120)):
        assert image[y - 1 : y + 1, x - 1 : x + 1, 2].max() > 150
    rows, columns = np.nonzero(image.any(axis=2))
    assert columns.max() - columns.min() == pytest.approx(80, abs=4) and rows.max() - rows.min() == pytest.approx(
        40, abs=4
    )


def test_outlines_have_their_width_and_closed_shapes_their_corners():
    held = pen(look=RobotAppearance(240, line=0.4))
    held.shape(np.array([[3.0, 3.0], [9.0, 3.0], [9.0, 9.0], [3.0, 9.0]]), LEFT)
    across = held.canvas.image[120]
    assert (across[:, 2] > 128).sum() == pytest.approx(2 * 0.4 * 20, abs=3) and across[120].tolist() == list(LEFT)
    bare = pen()
    bare.shape(np.array([[3.0, 3.0], [9.0, 3.0], [9.0, 9.0]]), RIGHT, line=False)
    assert not bare.canvas.image[:, :, 2].any()


def shown(draw, *codes):
    """Return the inks of one band on its own, as 20 pixels a unit."""
    held = pen()
    draw(held, *codes)
    return held.canvas.image.astype(int)


def at(image, x, y):
    return image[int(y * 20) - 1 : int(y * 20) + 2, int(x * 20) - 1 : int(x * 20) + 2].mean(axis=(0, 1))


def test_heads_have_ears_antennae_and_mouths_where_they_should():
    plain, triangle = shown(head, 0, 0, 0, 0), shown(head, 0, 0, 1, 0)
    for x, paint in ((6 - 0.875 - 0.25, LEFT), (6 + 0.875 + 0.25, RIGHT)):
        assert at(plain, x, 2.875).tolist() == list(paint) and at(triangle, x, 2.875) @ paint > 200 * 255
    corner = (6 + 0.875 + 0.45, 2.875 - 0.25)  # inside the square ear, outside the triangle
    assert at(plain, *corner).any() and not at(triangle, *corner).any()
    feelers = shown(head, 0, 1, 0, 0)
    for side in (-1, 1):
        assert at(feelers, 6 + 0.85 * side, 2 - 0.62).tolist() == list(BLACK)
    assert not at(plain, 6.85, 1.38).any()
    low, mouths = round((2 + 0.67 * 1.75) * 80), []
    for mouth in (0, 1):
        large = pen(960)
        head(large, 0, 0, 0, mouth)
        mouths.append(large.canvas.image[low - 20 : low + 20, 440:520, 2] > 128)
    assert [int(part.any(axis=1).sum()) for part in mouths] == pytest.approx([8, 26], abs=2)
    bars = np.diff(mouths[1][20].astype(int), prepend=0)
    assert (bars == 1).sum() == 5 and (np.diff(mouths[0][20].astype(int)) == 1).sum() == 1  # four teeth, or none
    square, round_ = shown(head, 0, 0, 0, 0), shown(head, 1, 0, 0, 0)
    assert square[42, 106].any() and not round_[42, 106].any()


def test_arms_have_elbows_half_way_and_hands_that_mirror():
    without, with_ = shown(arms, 0, 0, 4), shown(arms, 0, 1, 4)
    elbow = (1.75 + 4.35 - 0.4) / 2
    for side in (-1, 1):
        assert (
            at(with_, 6 + side * elbow, 5.07 - 0.17)[2] > 200 and not at(without, 6 + side * elbow, 5.07 - 0.17).any()
        )
    flared = shown(arms, 0, 0, 5)
    assert (flared[:, ::-1].any(axis=2) == flared.any(axis=2)).mean() > 0.995
    assert at(flared, 6 + 4.35 + 0.3, 5.07 - 0.45).any() and not at(flared, 6 + 4.35 - 0.3, 5.07 - 0.45).any()
    assert at(shown(arms, 1, 0, 0), 6, 3.75 + 0.3).any() and shown(arms, 0, 0, 0)[76, 92].any()
    assert not shown(arms, 1, 0, 0)[76, 92].any()  # a corner of the square body


def test_legs_have_knees_and_feet_that_mirror():
    without, with_ = shown(legs, 0, 2), shown(legs, 1, 2)
    for side in (-1, 1):
        knee = (6 + side * 0.875 + 0.15, (7.75 + 10.2) / 2)
        assert at(with_, *knee)[2] > 200 and not at(without, *knee).any()
    boots = shown(legs, 0, 4)
    assert (boots[:, ::-1].any(axis=2) == boots.any(axis=2)).mean() > 0.995
    assert boots[218, 150].any() and not boots[206, 150].any()
    flat, deep = (pen(look=RobotAppearance(240, toe=toe)) for toe in (0.0, 0.5))
    for held in (flat, deep):
        legs(held, 0, 7)
    assert flat.canvas.image[218, 146].any() and not deep.canvas.image[218, 146].any()


@pytest.mark.parametrize(("kind", "corners", "width", "height"), [
    (0, 96, 1.0, 1.0), (1, 96, 1.5, 0.84), (2, 96, 0.84, 1.5), (3, 3, 1.1, 1.1), (4, 4, 1.0, 1.0), (5, 4, 1.0, 1.2),
])  # fmt: skip
def test_hands_have_their_outlines(kind, corners, width, height):
    outline = hand_shape(kind)
    assert len(outline) == corners and len(HANDS) == 6
    assert np.ptp(outline, axis=0) == pytest.approx([width, height], abs=2e-3)
    assert outline[:, 0].mean() == pytest.approx({1: 0.1, 3: -0.4 / 3}.get(kind, 0.0), abs=1e-9)


@pytest.mark.parametrize(("kind", "corners", "lowest"), [
    (0, 4, 2), (1, 26, 2), (2, 4, 2), (3, 5, 2), (4, 6, 2), (5, 5, 1), (6, 27, 1), (7, 5, 1), (8, 3, 1), (9, 4, 1),
])  # fmt: skip
def test_flat_feet_stand_on_two_corners_and_pointy_ones_on_one(kind, corners, lowest):
    outline = foot_shape(kind, 0.3)
    assert len(outline) == corners and (outline[:, 1] == 1.0).sum() == lowest
    assert outline[:, 1].min() == pytest.approx(0.0, abs=2e-3) and outline[:, 1].max() == 1.0
    if kind in (5, 6, 7):
        assert sorted(outline[np.isclose(outline[:, 1], 0.7)][:, 0].tolist()) == [-0.5, 0.5]
    if kind in (0, 5):
        assert outline[0].tolist() == [-0.25, 0.0]
    if kind in (2, 7, 8):
        assert outline[0].tolist() == [-0.5, 0.0]
