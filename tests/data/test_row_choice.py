"""Rows are chosen in the shares asked for, to less than one row; shares that cannot be are refused."""

import numpy as np
import pytest

from assay.concepts import bits
from assay.data.annotation import Annotation
from assay.data.row_choice import choose_rows, quotas
from assay.errors import ConfigError
from assay.logic.knowledge import Knowledge

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
