"""Scores of maps: by hand, of random maps as chance, of blank maps none; and the words of the check."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from assay.base import rng_for
from assay.metrics import (
    ExampleScores,
    RandomisationCheck,
    RandomisedStage,
    SaliencyScore,
    ScoredTarget,
)

TARGET = ScoredTarget("label y", "label", "its concepts")
SCORES = ("pointing", "energy", "rank")


def score(name: str, maps: np.ndarray, masks: np.ndarray) -> list[float]:
    return ExampleScores.of(maps, masks).values[name].tolist()


def beside_chance(scores: ExampleScores, name: str) -> Any:
    found = SaliencyScore.of(TARGET, scores, ["a"] * len(scores.share))
    assert found is not None
    return getattr(found, name)


def test_scores_by_hand() -> None:
    maps = np.array([[[4.0, 1.0], [3.0, -7.0]]])
    masks = np.array([[[True, False], [False, True]]])
    assert score("pointing", maps, masks) == [1.0] and score("pointing", maps, ~masks) == [0.0]
    assert score("energy", maps, masks) == [0.5] == score("energy", maps, ~masks)
    assert score("rank", maps, masks) == [0.5]  # of the two largest, 4 and 3, one


def test_random_maps_score_as_chance_and_maps_of_the_mask_itself_score_1() -> None:
    rng = rng_for(0, "maps")
    masks = np.zeros((400, 12, 12), dtype=bool)
    masks[:, 2:7, 3:9] = True
    for maps in (rng.random(masks.shape), rng.normal(size=masks.shape)):
        scores = ExampleScores.of(maps, masks)
        assert scores.share == pytest.approx(30 / 144)
        for name in SCORES:
            found = beside_chance(scores, name)
            assert found.low < 30 / 144 < found.high and found.side == "as chance", name
    right = ExampleScores.of(masks * rng.random(masks.shape), masks)
    wrong = ExampleScores.of(~masks * rng.random(masks.shape), masks)
    for name in SCORES:
        assert np.allclose(right.values[name], 1.0)
        assert beside_chance(right, name).side == "above"
        assert beside_chance(wrong, name).side == "below"


def test_a_constant_map_scores_exactly_chance_and_a_blank_one_nothing() -> None:
    masks = np.zeros((1, 4, 4), dtype=bool)
    masks[0, :1] = True
    for name in SCORES:
        assert score(name, np.ones((1, 4, 4)), masks) == [pytest.approx(0.25)]
        assert np.isnan(score(name, -np.ones((1, 4, 4)), masks)).all()
        assert np.isnan(score(name, np.ones((1, 4, 4)), np.zeros_like(masks))).all()


def test_summaries_count_blank_maps_and_leave_out_what_has_no_mask() -> None:
    masks = np.zeros((4, 2, 2), dtype=bool)
    masks[:3, 0, 0] = True
    maps = np.zeros((4, 2, 2))
    maps[[0, 1, 3], 0, 0] = 1.0
    scores = ExampleScores.of(maps, masks)
    found = SaliencyScore.of(TARGET, scores, ["no", "yes", "yes", "yes"], scores)
    assert found is not None and (found.examples, found.blank, found.chance) == (2, 1, 0.25)
    assert found.energy.value == found.pointing.value == found.untrained == 1.0
    assert set(found.by_value) == {"no", "yes"} and found.to_dict()["rank"]["value"] == 1.0
    assert (found.target, found.place, found.examples) == ("label y", "its concepts", 2)
    assert found.blank == 1
    assert SaliencyScore.of(TARGET, ExampleScores.of(maps, np.zeros_like(masks)), ["no"] * 4) is None


@pytest.mark.parametrize(
    ("above", "side"), [((0, 0, 0, 0, 0.01), "as chance"), ((0.5,), "as chance"), ((0.5, 0.4, 0.6, 0.5, 0.5), "above")]
)
def test_few_maps_that_differ_a_little_from_chance_are_as_chance(above: tuple[float, ...], side: str) -> None:
    """Of a single map nothing is said; the mask is one pixel in ten."""
    masks = np.zeros((len(above), 1, 10), dtype=bool)
    masks[:, 0, 0] = True
    maps = np.ones_like(masks, dtype=float) * ((0.9 - np.array(above)) / 9)[:, None, None]
    maps[:, 0, 0] = 0.1 + np.array(above)
    assert beside_chance(ExampleScores.of(maps, masks), "energy").side == side


def test_parts_are_joined_in_order() -> None:
    maps, masks = rng_for(1, "maps").random((6, 3, 3)), rng_for(2, "masks").random((6, 3, 3)) > 0.5
    parts = [ExampleScores.of(maps[rows], masks[rows]) for rows in (slice(0, 4), slice(4, 6))]
    whole, joined = ExampleScores.of(maps, masks), ExampleScores.join(parts)
    assert all(np.array_equal(whole.values[name], joined.values[name], equal_nan=True) for name in SCORES)
    assert np.array_equal(whole.share, joined.share) and np.array_equal(whole.blank, joined.blank)


def test_marks_are_said_to_be_looked_at_or_not() -> None:
    mark = ScoredTarget("label y", "label", "watermark", is_mark=True)
    masks = np.zeros((30, 4, 4), dtype=bool)
    masks[:, 3, 3] = True
    on, off = (
        SaliencyScore.of(mark, ExampleScores.of(maps.astype(float), masks), ["a"] * 30) for maps in (masks, ~masks)
    )
    assert on is not None and off is not None
    said = on.text
    assert said.startswith("100 % of the relevance of label y lies on the watermark, which covers 6 %")
    assert off.text.endswith("less than by chance.")


def test_rank_similarity_is_spearmans() -> None:
    rng = rng_for(0, "ranks")
    first, second = rng.integers(-3, 6, (5, 4, 7)), rng.integers(-3, 6, (5, 4, 7))
    wanted = [
        spearmanr(np.maximum(a, 0).ravel(), np.maximum(b, 0).ravel())[0] for a, b in zip(first, second, strict=False)
    ]
    for a, b, similarity in zip(first, second, wanted, strict=True):
        assert RandomisedStage.of(1, "head", a[None], b[None]).similarity == pytest.approx(similarity)
    blank = np.zeros((1, 4, 7))
    assert RandomisedStage.of(1, "head", first[:1], blank).similarity == 0.0


@pytest.mark.parametrize(
    ("mixed", "witness", "words"),
    [
        (0.0, "no witness", "This method is no witness here, whatever its scores are."),
        (0.9, "weak witness", "to a good part they show the picture"),
        (9.0, "witness", "they depend on what was learned."),
    ],
)
def test_a_method_whose_maps_do_not_change_is_no_witness(mixed: float, witness: str, words: str) -> None:
    rng = rng_for(0, "check")
    trained = rng.random((30, 8, 8))
    check = RandomisationCheck((RandomisedStage.of(3, "body.0", trained, trained + mixed * rng.random(trained.shape)),))
    assert check.witness == witness and words in check.text
    assert check.to_dict()["stages"][0]["layers"] == 3


def test_blank_maps_are_no_witness_of_anything() -> None:
    check = RandomisationCheck((RandomisedStage.of(1, "head", np.zeros((3, 2, 2)), np.ones((3, 2, 2))),))
    assert "says nothing" in check.text and check.to_dict()["stages"][0]["similarity"] is None
