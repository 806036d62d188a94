"""Laws of randomness: streams that depend on their purpose, and decks that deal evenly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.base import Draws, SeededPermutation, Streams, digest, fractions, numbers_below, rng_for

SIZES = [1, 2, 3, 1023, 1024, 1025, 4097, 10**8, 2**61, 2**62 - 1, 2**62, 2**63, 10**30]
PARTS = st.one_of(st.integers(), st.booleans(), st.text(alphabet="a1:\x1f,'() ", max_size=6), st.none())


def test_golden_values_of_streams_and_decks():  # a change here changes every dataset: raise the versions of all tasks
    assert digest(1, "mnadd", "train", 7).hex() == "5f4397a889a252e56d901b46cd7a020a"
    assert rng_for(1, "mnadd", 1, "train", 7).integers(2**32, size=4).tolist() == [
        3977272961,
        2047113522,
        176333049,
        3934398358,
    ]
    assert rng_for(0).random() == 0.9806978328782014
    assert SeededPermutation(10, 0, "a").deal(np.arange(12)).tolist() == [9, 4, 8, 2, 0, 1, 7, 5, 3, 6, 3, 8]
    assert SeededPermutation(10**8, 0, "a").deal(np.arange(3)).tolist() == [66748511, 84847625, 94602585]
    assert SeededPermutation(2**64, 0, "a").deal(np.arange(2)).tolist() == [8612241105935847451, 16492431751449294647]


@settings(deadline=None, derandomize=True)
@given(st.lists(PARTS, max_size=4), st.lists(PARTS, max_size=4))
def test_digest_tells_any_two_purposes_apart(one, other):
    alike = [(type(part), part) for part in one] == [(type(part), part) for part in other]
    assert (digest(*one) == digest(*other)) == alike


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab",), ("a", "b")), (("a\x1fstr:b",), ("a", "b")), ((1,), ("1",)), ((1,), (True,)), (("a", 1), (1, "a"))],
)
def test_neighbouring_purposes_share_no_number(one, other):
    drawn = [set(rng_for(0, *purpose).integers(2**62, size=1000).tolist()) for purpose in (one, other)]
    assert not drawn[0] & drawn[1]


def test_neighbouring_seeds_and_items_share_no_number():
    drawn = [rng_for(seed, "task", item).integers(2**62, size=20).tolist() for seed in range(20) for item in range(20)]
    assert len({number for numbers in drawn for number in numbers}) == 20 * 20 * 20


def test_numbers_of_numpy_count_as_numbers_of_python():
    assert digest(np.int64(7), np.str_("a"), np.bool_(True)) == digest(7, "a", True)


def test_streams_are_even():
    means = [rng_for(seed, "mean").random() for seed in range(4000)]
    assert abs(np.mean(means) - 0.5) < 0.02 and abs(np.var(means) - 1 / 12) < 0.01


@pytest.mark.parametrize("size", [1, 2, 3, 10, 1023, 1024, 1025, 4097])
def test_every_round_deals_each_card_once_and_in_another_order(size):
    dealt = SeededPermutation(size, 5, "round").deal(np.arange(4 * size)).reshape(4, size)
    assert (np.sort(dealt, axis=1) == np.arange(size)).all()
    assert size < 10 or len({tuple(row) for row in dealt.tolist()}) == 4


@pytest.mark.parametrize("size", [1, 2, 7, 1024, 1025])
def test_every_prefix_is_balanced(size):
    dealt = SeededPermutation(size, 6, "prefix").deal(np.arange(3 * size + 2))
    for length in {1, 2, size - 1, size, size + 1, 2 * size + 1, 3 * size + 2}:
        counts = np.bincount(dealt[:length], minlength=size)
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("size", SIZES)
def test_place_inverts_deal(size):
    deck = SeededPermutation(size, 7, "place")
    places = np.unique([place % size for place in [0, 1, 2, 5, 77, 1022, 1024, size // 2, size - 2, size - 1]])
    cards = deck.deal(places)
    assert deck.place(cards).tolist() == places.tolist()
    assert len(set(cards.tolist())) == len(places) and all(0 <= card < size for card in cards.tolist())


@pytest.mark.parametrize("size", SIZES)
def test_any_place_can_be_asked_for_alone(size):
    deck = SeededPermutation(size, 8, "alone")
    places = [0, 1, 2, 3, 1000, 10**9, 2**62]
    together = deck.deal(np.array(places)).tolist()
    assert together == [deck.deal(np.array([place])).tolist()[0] for place in places]


@pytest.mark.parametrize("size", [1025, 10**8, 2**61])
def test_large_decks_are_shuffled_well(size):
    cards = SeededPermutation(size, 9, "well").deal(np.arange(1000)).astype(float) / size
    assert abs(cards.mean() - 0.5) < 0.05
    assert abs(np.corrcoef(cards[:-1], cards[1:])[0, 1]) < 0.1


@pytest.mark.parametrize("size", [6, 2000])
def test_decks_differ_by_seed_and_purpose(size):
    orders = [
        SeededPermutation(size, seed, word).deal(np.arange(size)).tolist() for seed in range(3) for word in ("a", "b")
    ]
    assert len({tuple(order) for order in orders}) == 6


def test_every_order_of_a_small_deck_is_as_likely():
    orders = SeededPermutation(3, 1, "orders").deal(np.arange(3 * 6000)).reshape(-1, 3)
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 6 and abs(counts - 1000).max() < 150


def test_nothing_asked_is_nothing_dealt():
    assert [len(SeededPermutation(size, 0).deal(np.arange(0))) for size in SIZES] == [0] * len(SIZES)


def test_golden_values_of_words_and_of_wide_decks():
    draws = Draws(3, "t")
    assert draws.words(np.array([5, 0]), 3).tolist() == [
        [345091833672214738, 8537985073949326114, 4258071732407710111],
        [16015407271070052276, 12749855446063437312, 8112705750862919481],
    ]
    assert draws.words(np.array([5]), 2, turn=2).tolist() == [[3142248811936893338, 15492634908154010605]]
    assert SeededPermutation(2000, 1, "b").deal(np.array([0, 1999, 2000, 4001])).tolist() == [94, 1130, 1789, 855]
    assert SeededPermutation(1024, 1, "b").deal(np.array([0, 1023, 1024, 3000])).tolist() == [782, 107, 379, 745]
    wide = SeededPermutation(2**300, 0, "a")
    cards = wide.deal(np.array([0, 7]))
    assert [hex(card)[2:14] for card in cards] == ["2cb233ba3d66", "41cf5d1f9a58"] and wide.place(cards).tolist() == [
        0,
        7,
    ]
    assert all(2**280 < card < 2**300 for card in cards)


@pytest.mark.parametrize("size", [2**62, 2**64 + 13, 2**70 - 1, 10**40])
def test_wide_decks_are_dealt_anew_in_every_round(size):
    deck = SeededPermutation(size, 3, "rounds")
    places = np.array([5, size - 1, size + 5, 2 * size - 1, 2 * size + 5], dtype=object)
    cards = deck.deal(places).tolist()
    assert len(set(cards)) == 5 and all(0 <= card < size for card in cards)
    assert deck.place(np.array(cards[:2], dtype=object)).tolist() == [5, size - 1]


def test_streams_of_items_do_not_depend_on_what_was_asked_before():
    streams = Streams(5, "x")
    for place in (3, 4, 3, np.int64(4)):
        assert (
            streams[place].integers(2**32, size=2).tolist()
            == rng_for(5, "x", int(place)).integers(2**32, size=2).tolist()
        )
    assert streams[3].integers(2**32, size=2).tolist() == [811287390, 2787518371]


def test_fractions_and_numbers_of_words():
    words = np.array([0, 2**63, 2**64 - 1], dtype=np.uint64)
    assert fractions(words).tolist() == [0.0, 0.5, 1 - 2.0**-53] and numbers_below(words, 10).tolist() == [0, 5, 9]
    assert numbers_below(words[[1, 1]], np.array([4, 7])).tolist() == [2, 3]
    assert abs(fractions(Draws(0, "a").words(np.arange(4000), 1)).mean() - 0.5) < 0.02


def test_words_of_an_item_depend_on_the_item_the_turn_and_the_purpose_alone():
    draws = Draws(0, "a")
    words = draws.words(np.arange(3), 4)
    assert words.shape == (3, 4) and len(set(words.ravel().tolist())) == 12
    assert (draws.words(np.array([2, 0]), 4) == words[[2, 0]]).all()
    assert (draws.words(np.arange(3), 2) == words[:, :2]).all()
    for other in (draws.words(np.arange(3), 4, turn=1), Draws(0, "b").words(np.arange(3), 4)):
        assert (other != words).all()
