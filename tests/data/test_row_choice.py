"""Rows are chosen in the shares asked for, to less than one row; shares that cannot be are refused."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.data import Annotation
from assay.data.row_choice import choose_rows, quotas
from assay.errors import ConfigError
from assay.logic import Knowledge
from assay.seeds import rng_for

KNOWLEDGE = Knowledge.of(bits(["a", "b"]), {"y": "a"})
WORLDS = np.tile(KNOWLEDGE.space.all_codes(), (25, 1))


def chosen(**settings):
    return choose_rows(Annotation(**settings), KNOWLEDGE, "train", WORLDS, KNOWLEDGE.labels_of(WORLDS))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("wanted", [None, 1, 7, 40])
def test_quotas_are_the_shares_to_less_than_one_row(share, wanted):
    there, shares = np.array([60, 50]), np.array([share, 1 - share])
    counts = np.array(quotas(there, shares, wanted, "train"))
    total = counts.sum()
    assert (np.abs(counts - shares * total) < 1).all() and (counts <= there).all() and total == (wanted or total)


def test_the_last_rows_go_where_most_of_a_row_is_lacking():
    there = np.array([50, 50, 50])
    assert quotas(there, np.array([0.21, 0.29, 0.5]), 10, "train") == [2, 3, 5]
    assert quotas(there, np.array([0.29, 0.21, 0.5]), 10, "train") == [3, 2, 5]


def test_more_rows_than_there_are_cannot_be():
    assert quotas(np.array([60, 40]), np.array([0.5, 0.5]), 80, "train") == [40, 40]
    with pytest.raises(ConfigError, match="split 'train' has rows for 80 examples in the shares asked for, not 81"):
        quotas(np.array([60, 40]), np.array([0.5, 0.5]), 81, "train")


def test_rows_have_the_shares_of_labels_and_of_formulas():
    rows = chosen(label_shares={True: 0.8}, examples=50)
    assert len(rows) == 50 and (np.diff(rows) > 0).all() and WORLDS[rows, 0].sum() == 40
    rows = chosen(shares={"a and b": 0.5, "not a and not b": 0.5}, examples=30)
    assert len(rows) == 30 and WORLDS[rows].all(axis=1).sum() == 15 and (~WORLDS[rows].any(axis=1)).sum() == 15


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"label_shares": {True: 0.6, False: 0.45}}, "the shares add up to 1.05, more than 1"),
        ({"shares": {"a": 0.5, "b": 0.2}}, "two of the formulas hold in one row"),
        ({"shares": {"a": 0.5, "not a": 0.4}}, "add up to 0.9, and no row is left for the rest"),
        ({"where": "a and not a"}, "holds in no row of split 'train'"),
        ({"where": "a + 1"}, "is not true or false"),
    ],
)
def test_shares_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        chosen(**settings)


@pytest.mark.parametrize(
    ("there", "shares", "wanted", "counts"),
    [
        ([60, 40], [0.9, 0.1], None, [59, 7]),  # 60 / 0.9 = 66.7: 59.4 and 6.6 of 66
        ([50, 60], [0.9, 0.1], None, [50, 5]),  # 49.5 and 5.5 of 55: the first of equal ones
        ([10, 11, 40], [0.25, 0.25, 0.5], None, [10, 10, 20]),
        ([10, 11, 40], [0.3, 0.3, 0.4], 7, [2, 2, 3]),
        ([10, 11, 40], [1 / 3, 1 / 3, 1 / 3], 4, [2, 1, 1]),
        ([10, 11, 40], [1 / 3, 1 / 3, 1 / 3], 5, [2, 2, 1]),
        ([0, 11, 7], [0.0, 0.5, 0.5], None, [0, 7, 7]),
        ([100, 100], [0.29, 0.71], 100, [29, 71]),
        ([1, 1], [0.5, 0.5], 1, [1, 0]),
    ],
)
def test_so_many_rows_of_each_cell(there, shares, wanted, counts):
    assert quotas(np.array(there), np.array(shares), wanted, "train") == counts


@pytest.mark.parametrize(
    ("there", "wanted", "told"), [([0, 9], None, "0 examples .* not 1$"), ([3, 9], 7, "6 .* not 7$")]
)
def test_a_split_that_has_too_few_rows_of_a_cell_says_how_many_it_could_give(there, wanted, told):
    with pytest.raises(ConfigError, match=f"split 'odd' has rows for {told}"):
        quotas(np.array(there), np.array([0.5, 0.5]), wanted, "odd")


def test_the_rows_that_are_kept_are_the_first_of_each_cell_in_a_shuffled_order():
    space = ConceptSpace((*bits(["a", "b"]).concepts, Concept("shape", ("round", "square", "cross"))))
    knowledge = Knowledge.of(space, {"y": "a", "kind": "shape"})
    concepts = np.array([[i % 2, i * i % 5 == 1, i // 3 % 3] for i in range(47)])
    labels = knowledge.labels_of(concepts)
    asked = Annotation(
        where="not b", shares={"shape == 'cross'": 0.5, "a and shape == 'round'": 0.2}, examples=13, seed=5
    )
    rows = np.flatnonzero(concepts[:, 1] == 0)
    rows = rows[rng_for(5, "annotate", "valid", "rows").permutation(len(rows))]
    cross = [row for row in rows if concepts[row, 2] == 2]
    some = [row for row in rows if concepts[row, 2] == 0 and concepts[row, 0]]
    rest = [row for row in rows if concepts[row, 2] == 1 or (concepts[row, 2] == 0 and not concepts[row, 0])]
    expected = sorted(
        [*cross[:6], *some[:3], *rest[:4]]
    )  # 6.5, 2.6 and 3.9: the most is lacking of the last, then of some
    assert choose_rows(asked, knowledge, "valid", concepts, labels).tolist() == expected and len(expected) == 13
    named = Annotation(label_shares={"kind": {"square": 0.25}}, examples=8, seed=2)
    order = rng_for(2, "annotate", "train", "rows").permutation(47)
    square = [row for row in order if labels[row, 1] == 1][:2]
    other = [row for row in order if labels[row, 1] != 1][:6]
    assert choose_rows(named, knowledge, "train", concepts, labels).tolist() == sorted([*square, *other])
