"""Codes of nuisances as they are drawn: with their strength, where they hold, and in splits where they do not."""

import json

import numpy as np
import pytest

from assay.concepts import bits
from assay.data import Confounder, Coupling, couplings_of
from assay.data.confounding.confounder import draw_codes, set_codes, with_choices
from assay.errors import ConfigError
from assay.logic import Knowledge
from assay.seeds import rng_for
from assay.worlds import World


def coupling(**values):
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b", "n": "a + b + c"})
    return Coupling(Confounder.model_validate({"what": "watermark", "with": "y", **values}), knowledge)


def test_a_nuisance_has_a_code_for_each_value_that_it_goes_with():
    concepts, labels = np.array([[1, 1, 0], [0, 1, 1]]), np.array([[1, 2], [0, -1]])
    assert coupling().count == 2 and coupling(**{"with": "n"}).count == 4 and coupling(**{"with": "a or c"}).count == 2
    assert coupling().partner(concepts, labels).tolist() == [1, 0]
    assert coupling(**{"with": "n"}).partner(concepts, labels).tolist() == [2, -1]
    assert coupling(**{"with": "c"}).partner(concepts, labels).tolist() == [0, 1]
    assert coupling(**{"with": "a and not c"}).partner(concepts, labels).tolist() == [1, 0]
    style = coupling(what="style.ink", values=["r", "g", "b"], **{"with": "n"})
    assert style.count == 3 and [style.value(code) for code in range(3)] == ["r", "g", "b"]
    assert style.partner(concepts, np.array([[1, 3], [0, 2]])).tolist() == [0, 2]
    two = coupling(what="style.ink", values=["r", "g", "b", "k"])
    assert two.count == 2 and [two.value(code) for code in range(2)] == ["r", "k"]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"what": "a", "with": "n"}, "'a' and what it goes with must be true or false"),
        ({"what": "a + b", "with": "y"}, "must be true or false"),
        ({"one_sided": True}, "one_sided is for formulas, not for 'watermark'"),
        ({"with": "a + b"}, "'a . b' must be a label, a concept, or true or false"),
        ({"with": "q"}, "no mark, label or concept named 'q'"),
    ],
)
def test_couplings_that_cannot_be(values, why):
    with pytest.raises(ConfigError, match=why):
        coupling(**values)


def test_codes_are_drawn_with_their_strength():
    strong = coupling(strength=0.8, **{"with": "n"})
    rng = rng_for(0, "draw")
    codes = [strong.draw(rng, 2, "train") for _ in range(2000)]
    shares = np.bincount(codes, minlength=4) / 2000
    np.testing.assert_allclose(shares, [0.2 / 3, 0.2 / 3, 0.8, 0.2 / 3], atol=0.03)
    elsewhere = coupling(where=["valid"], **{"with": "n"})
    free = np.bincount([elsewhere.draw(rng, 2, "train") for _ in range(2000)], minlength=4) / 2000
    np.testing.assert_allclose(free, [0.25] * 4, atol=0.04)
    assert elsewhere.confounder.holds_in("valid_2") and not elsewhere.confounder.holds_in("test")
    always = coupling(strength=1.0)
    assert {always.draw(rng, 1, "train") for _ in range(50)} == {1} and {
        coupling(strength=0.0).draw(rng, 1, "t") for _ in range(50)
    } == {0}
    assert {strong.draw(rng, -1, "train") for _ in range(200)} == {0, 1, 2, 3}
    assert {strong.draw_reversed(rng, 2) for _ in range(200)} == {0, 1, 3}
    one_sided = coupling(what="c", one_sided=True, strength=1.0)
    assert one_sided.draw(rng, 0, "train") == -1 == one_sided.draw_reversed(rng, 0) == one_sided.draw_freely(rng)
    assert one_sided.draw(rng, 1, "train") == 1 and one_sided.draw_reversed(rng, 1) == 0


def test_codes_of_shifted_splits():
    pair = (
        coupling(strength=1.0),
        coupling(what="frame", strength=1.0, **{"with": "a"}),
        coupling(what="c", strength=1.0),
    )
    places, partners = np.arange(40), np.tile([[1, 0, 1]], (40, 1))
    plain_codes = np.array(draw_codes(pair, "test", "test", 0, places, partners))
    assert (plain_codes == [1, 0, 1]).all()
    reversed_codes = np.array(draw_codes(pair, "reversed", "test", 0, places, partners))
    assert (reversed_codes[:, 2] == 0).all()
    assert (reversed_codes[::2, 0] == 0).all() and (reversed_codes[1::2, 0] == 1).all()  # marks in turn
    assert (reversed_codes[::2, 1] == 0).all() and (reversed_codes[1::2, 1] == 1).all()
    freely = np.array(draw_codes(pair, "unconfounded", "test", 0, places, partners))
    assert (freely[:, 2] == -1).all() and set(freely[:, 0]) == {0, 1} == set(freely[:, 1])
    space = pair[0].knowledge.space
    world = set_codes(World(space, (1, 0, 1), {"k": 5}), pair, [1, 0, -1])
    assert world.style == {"k": 5, "nuisances": {"watermark": 1, "frame": 0, "c": 1}}
    ink = coupling(what="style.ink", values=["r", "g"])
    assert set_codes(World(space, (1, 0, 1), {}), [ink], [1]).style == {"ink": "g", "nuisances": {"style.ink": 1}}


def test_values_of_a_style_must_be_offered():
    offered = {"ink": ["r", "g", "b"]}

    def chosen(**values):
        return with_choices(Confounder.model_validate({"what": "style.ink", "with": "y", **values}), offered).values

    assert chosen() == ["r", "g", "b"] and chosen(values=["b", "r"]) == ["b", "r"]
    for values, why in (
        ({"what": "style.odd"}, "no 'style.odd'; there is style.ink, or a mark"), ({"values": ["r", "k"]}, "style.ink cannot be 'k'"),
        ({"values": ["r"]}, "style.ink needs two values or more"), ({"what": "frame", "values": [1, 2]}, "'frame' takes no values"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=why):
            chosen(**values)
    twice = [Confounder.model_validate({"what": "frame", "with": name}) for name in ("y", "a")]
    with pytest.raises(ConfigError, match="a nuisance is named twice"):
        couplings_of(twice, coupling().knowledge)
    single = Confounder.model_validate({"what": "frame", "with": "y", "where": "train"})
    assert single.where == ["train"] and single.strength == 0.95 and not single.one_sided
    assert json.loads(json.dumps(single.to_dict()))["with"] == "y"


def test_every_place_draws_its_chance_its_step_and_then_what_the_split_asks_for():
    several = (
        coupling(what="frame", strength=0.5, **{"with": "n"}),
        coupling(what="a != c", strength=0.4),
        coupling(what="patch", strength=0.3, **{"with": "n"}),
    )
    places = np.array([5, 2, 900, 3])
    partners = np.array([[3, 1, 0], [-1, 0, 2], [1, 1, 3], [2, 0, -1]])
    strengths, counts = (0.5, 0.4, 0.3), (4, 2, 4)

    def expected(split):
        rows = []
        for place, goes_with in zip(places.tolist(), partners.tolist(), strict=True):
            rng, codes = rng_for(7, "confound", "test_1", place), []
            for number, partner in enumerate(goes_with):
                chance, step = rng.random(), int(rng.integers(1, counts[number]))
                if partner < 0:
                    codes.append(int(rng.integers(counts[number])))
                else:
                    codes.append(partner if chance < strengths[number] else (partner + step) % counts[number])
            if split == "unconfounded":
                codes = [int(rng.integers(4)), -1, int(rng.integers(4))]
            if split == "reversed":
                for number in (1, (0, 2)[place % 2]):  # the formula, and of the two marks one in turn
                    step = int(rng.integers(1, counts[number]))
                    partner = goes_with[number]
                    codes[number] = (partner + step) % counts[number] if partner >= 0 else int(rng.integers(4))
            rows.append(codes)
        return rows

    for split in ("test_1", "unconfounded", "reversed"):
        assert draw_codes(several, split, "test_1", 7, places, partners) == expected(split)


def test_a_confounder_as_plain_data_is_read_back():
    given = {
        "what": "style.ink",
        "with": "y",
        "strength": 0.25,
        "one_sided": False,
        "values": ["r", 2],
        "where": ["train", "my_test"],
    }
    assert Confounder.model_validate(given).to_dict() == given
    assert Confounder.model_validate({"what": "c", "with": "y"}).to_dict() == {
        "what": "c", "with": "y", "strength": 0.95, "one_sided": False, "values": None, "where": None,
    }  # fmt: skip


def test_a_label_is_no_nuisance_and_a_mark_takes_not_even_an_empty_list_of_values():
    with pytest.raises(ConfigError, match="no mark, label or concept named 'y'"):
        coupling(what="y", **{"with": "a"})
    with pytest.raises(ConfigError, match="'frame' takes no values; only style.KEY does"):
        with_choices(Confounder.model_validate({"what": "frame", "with": "y", "values": []}), {"ink": ["r", "g"]})
    for strength in (-0.01, 1.01):
        with pytest.raises(ValueError, match="strength"):
            Confounder.model_validate({"what": "frame", "with": "y", "strength": strength})


@pytest.mark.parametrize(
    ("values", "shown"),
    [("pqrst", "pqst"), ("pqr", "pqr"), ("pq", "pq"), ("pqrs", "pqrs"), ("pqrstuvwxy", "psvy")],
)  # fmt: skip
def test_codes_stand_for_values_from_the_first_to_the_last(values, shown):
    one = coupling(what="style.ink", values=list(values), **{"with": "n"})  # of four values
    assert (one.outcomes, one.count) == (4, min(4, len(values)))
    assert "".join(one.value(code) for code in range(one.count)) == shown
    partners = one.partner(np.zeros((5, 3), int), np.array([[0, code] for code in (3, 0, -1, 2, 1)]))
    assert partners.tolist() == [3 % one.count, 0, -1, 2 % one.count, 1]


def test_parts_of_a_style_are_put_in_by_their_own_codes():
    space = coupling().knowledge.space
    several = [
        coupling(what="style.ink", values=["r", "g"]),
        coupling(what="frame"),
        coupling(what="style.paper", values=["w", "x", "y", "z"], **{"with": "n"}),
        coupling(what="a and c"),
    ]
    world = World(space, (1, 0, 1), {"paper": "old", "pen": 3})
    made = set_codes(world, several, [1, 0, 2, -1])
    assert made.codes == (1, 0, 1) and made.space is space and world.style == {"paper": "old", "pen": 3}
    assert made.style == {
        "paper": "y", "pen": 3, "ink": "g", "nuisances": {"style.ink": 1, "frame": 0, "style.paper": 2, "a and c": 1},
    }  # fmt: skip
    assert set_codes(World(space, (0, 0, 1), {}), several[3:], [1]).style == {"nuisances": {"a and c": 0}}
