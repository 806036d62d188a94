"""Which code of a nuisance goes with a world, and how it is drawn: laws of single couplings, without any picture."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace
from assay.data import REVERSED, UNCONFOUNDED, Confounder, Coupling, couplings_of
from assay.data.confounding.confounder import draw_codes, set_codes, with_choices
from assay.errors import ConfigError
from assay.logic import Knowledge
from assay.seeds import rng_for
from assay.worlds import World

SPACE = ConceptSpace(
    (Concept("hue", ("red", "green", "blue")), Concept("big", (False, True)), Concept("n", (0, 1, 2, 3)))
)
KNOWLEDGE = Knowledge.of(SPACE, {"y": "big and n >= 1", "sum": "n + big"})
ROWS = 3000


def coupling(what="patch", goes_with="y", **settings):
    return Coupling(Confounder(**{"what": what, "with": goes_with, **settings}), KNOWLEDGE)


def drawn(one, partner, split="train", rows=ROWS):
    rng = rng_for(0, "drawn", partner, split)
    return np.array([one.draw(rng, partner, split) for _ in range(rows)])


@pytest.mark.parametrize(
    ("goes_with", "count"), [("y", 2), ("sum", 5), ("hue", 3), ("big", 2), ("n >= 2", 2), ("hue == 'red'", 2)]
)
def test_a_mark_has_a_code_for_each_value_of_what_it_goes_with(goes_with, count):
    one = coupling(goes_with=goes_with)
    assert one.count == one.outcomes == count
    codes = SPACE.all_codes().astype(np.int64)
    found = one.partner(codes, KNOWLEDGE.labels_of(codes))
    expected = {
        "y": (codes[:, 1] == 1) & (codes[:, 2] >= 1),
        "sum": codes[:, 2] + codes[:, 1],
        "hue": codes[:, 0],
        "big": codes[:, 1],
        "n >= 2": codes[:, 2] >= 2,
        "hue == 'red'": codes[:, 0] == 0,
    }[goes_with]
    assert found.tolist() == expected.astype(int).tolist()
    unknown = np.full((1, 3), -1)
    if goes_with in (*KNOWLEDGE.label_names, *SPACE.names):
        assert one.partner(unknown, np.full((1, 2), -1)).tolist() == [-1]


def test_fewer_values_than_outcomes_are_shared():
    one = coupling("style.light", "sum", values=["dark", "dim", "bright"])
    assert (one.outcomes, one.count) == (5, 3) and [one.value(code) for code in range(3)] == ["dark", "dim", "bright"]
    codes = SPACE.all_codes().astype(np.int64)
    labels = KNOWLEDGE.labels_of(codes)
    assert one.partner(codes, labels).tolist() == (labels[:, 1] % 3).tolist()
    two = coupling("style.light", "y", values=["dark", "dim", "bright"])
    assert two.count == 2 and [two.value(0), two.value(1)] == ["dark", "bright"]  # the first and the last


@pytest.mark.parametrize("strength", [1.0, 0.7, 0.0])
def test_the_partner_is_drawn_in_a_share_of_the_examples_and_otherwise_any_other(strength):
    found = drawn(coupling(goes_with="hue", strength=strength), 1)
    shares = np.bincount(found, minlength=3) / ROWS
    assert shares == pytest.approx([(1 - strength) / 2, strength, (1 - strength) / 2], abs=0.03)


def test_where_it_does_not_hold_the_code_is_free():
    one = coupling(goes_with="hue", strength=1.0, where="train")
    assert one.confounder.where == ["train"] and set(drawn(one, 2).tolist()) == {2}
    assert set(drawn(one, 2, "train_1").tolist()) == {2}  # a stage of the split
    for split, partner in (("test", 2), ("train", -1)):
        assert np.bincount(drawn(one, partner, split)) / ROWS == pytest.approx(1 / 3, abs=0.03)
    assert coupling().confounder.holds_in("anything") and not one.confounder.holds_in("test_1")


def test_reversed_is_any_other():
    one, rng = coupling(goes_with="hue"), rng_for(0, "reversed")
    found = np.bincount([one.draw_reversed(rng, 1) for _ in range(ROWS)], minlength=3) / ROWS
    assert found[1] == 0 and found[[0, 2]] == pytest.approx(0.5, abs=0.03)
    free = np.bincount([one.draw_reversed(rng, -1) for _ in range(ROWS)], minlength=3) / ROWS
    assert free == pytest.approx(1 / 3, abs=0.03)


def test_formulas_may_be_one_sided_and_are_free_as_they_come():
    one = coupling("hue == 'red'", "y", strength=1.0, one_sided=True)
    assert one.is_formula and set(drawn(one, 1).tolist()) == {1} and set(drawn(one, 0).tolist()) == {-1}
    rng = rng_for(0, "x")
    assert one.draw_freely(rng) == -1 == one.draw_reversed(rng, 0) and one.draw_reversed(rng, 1) == 0
    assert one.code_shown(np.array([[0, 0, 0], [2, 1, 1]])).tolist() == [1, 0]
    both = coupling("hue == 'red'", "y", strength=1.0)
    assert set(drawn(both, 0).tolist()) == {0} and both.draw_reversed(rng, 0) == 1


def test_codes_of_a_split_and_of_the_splits_beside_it():
    pair = couplings_of(
        [
            Confounder(**{"what": "patch", "with": "hue", "strength": 1.0}),
            Confounder(**{"what": "frame", "with": "big", "strength": 1.0}),
        ],
        KNOWLEDGE,
    )
    places, partners = np.arange(6), np.array([[0, 1], [1, 0], [2, 1], [0, 0], [1, 1], [2, 0]])
    plain = draw_codes(pair, "test", "test", 0, places, partners)
    assert plain == partners.tolist()
    turned = draw_codes(pair, REVERSED, "test", 0, places, partners)
    differ = [[a != b for a, b in zip(row, own, strict=True)] for row, own in zip(turned, plain, strict=True)]
    assert differ == [[True, False], [False, True]] * 3  # of two marks one in turn
    free = np.array(draw_codes(pair, UNCONFOUNDED, "test", 0, np.arange(900), np.zeros((900, 2), int)))
    assert np.bincount(free[:, 0]) / 900 == pytest.approx(1 / 3, abs=0.06) and free[:, 1].mean() == pytest.approx(
        0.5, abs=0.06
    )
    assert draw_codes(pair, "test", "test", 0, places[3:], partners[3:]) == plain[3:]  # a place has its own numbers


def test_a_world_takes_the_values_of_its_codes():
    pair = [coupling("style.light", "y", values=["dark", "bright"]), coupling("n >= 2", "y")]
    world = World(SPACE, (0, 1, 3), {"light": "dim", "seed": 4})
    found = set_codes(world, pair, [1, -1])
    assert found.codes == world.codes and found.style["light"] == "bright" and found.style["seed"] == 4
    assert found.style["nuisances"] == {"style.light": 1, "n >= 2": 1}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"what": "n", "with": "y"}, "must be true or false"),
        ({"what": "hue == 'red'", "with": "hue"}, "must be true or false"),
        ({"what": "patch", "with": "y", "one_sided": True}, "one_sided is for formulas"),
        ({"what": "patch", "with": "n + 1"}, "must be a label, a concept, or true or false"),
        ({"what": "pach", "with": "y"}, "no mark, label or concept named 'pach'; did you mean 'patch'"),
    ],
)
def test_couplings_that_cannot_be(settings, message):
    with pytest.raises(ConfigError, match=message):
        Coupling(Confounder(**settings), KNOWLEDGE)


def test_choices_are_among_those_offered():
    light = Confounder(**{"what": "style.light", "with": "y"})
    offered = {"light": ["dark", "dim", "bright"]}
    assert with_choices(light, offered).values == ["dark", "dim", "bright"]
    assert with_choices(light.model_copy(update={"values": ["dim", "dark"]}), offered).values == ["dim", "dark"]
    mark = Confounder(**{"what": "patch", "with": "y"})
    assert with_choices(mark, offered) is mark
    for wrong, message in (
        (light.model_copy(update={"values": ["dim", "red"]}), "cannot be 'red'"),
        (light.model_copy(update={"values": ["dim"]}), "needs two values or more"),
        (mark.model_copy(update={"values": ["dim"]}), "'patch' takes no values"),
        (Confounder(**{"what": "style.angle", "with": "y"}), "no 'style.angle'; there is style.light"),
    ):
        with pytest.raises(ConfigError, match=message):
            with_choices(wrong, offered)
    with pytest.raises(ConfigError, match="a nuisance is named twice"):
        couplings_of([mark, mark], KNOWLEDGE)


def test_one_value_goes_with_nothing():
    space = ConceptSpace((Concept("a", (False, True)), Concept("only", (ABSENT,))))
    with pytest.raises(ConfigError, match="'only' has one value only"):
        Coupling(Confounder(**{"what": "patch", "with": "only"}), Knowledge.of(space, {"y": "a"}))
