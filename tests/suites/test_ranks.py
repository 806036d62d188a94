"""Ranks are those that can be worked out by hand, within a level, with refusals last and honest intervals."""

import math

import numpy as np
import pytest

from assay.suites import BoardRow
from assay.suites.ranks import ranks_of


def rows_of(values, level="rule", **more):
    """Return rows of models by the values of datasets and seeds; None is a refusal."""
    rows = []
    for model, cells in values.items():
        for place, cell in enumerate(cells):
            for seed, value in enumerate(cell):
                done = {"status": "refused"} if value is None else {"status": "done", "label_f1": value, **more}
                rows.append(BoardRow("s", f"d{place}", model, level, seed, **done))
    return rows


def means(ranks, measure="label_f1"):
    return {rank.model: rank.mean for rank in ranks if rank.measure == measure}


def test_the_greater_is_the_better_except_for_errors():
    rows = rows_of({"a": [[0.9]], "b": [[0.5]]})
    assert means(ranks_of(rows)) == {"a": 1, "b": 2}
    worse = [BoardRow("s", "d", m, "rule", 0, "done", collapse=c) for m, c in (("a", 0.9), ("b", 0.1))]
    assert means(ranks_of(worse), "collapse") == {"a": 2, "b": 1}


def test_ranks_are_means_over_datasets_of_means_over_seeds():
    rows = rows_of({"a": [[0.9, 0.1], [0.2, 0.2]], "b": [[0.4, 0.4], [0.3, 0.3]]})
    assert means(ranks_of(rows)) == {"a": 1.5, "b": 1.5}


def test_seeds_that_a_model_lacks_do_not_lower_its_mean():
    rows = rows_of({"a": [[0.5]], "b": [[0.4, 0.4, 0.4]], "c": [[0.3, 0.3]]})
    assert means(ranks_of(rows)) == {"a": 1, "b": 2, "c": 3}


def test_a_refusal_ranks_last_and_ties_share():
    rows = rows_of({"a": [[None], [0.5]], "b": [[0.1], [0.5]], "c": [[0.2], [0.1]]})
    assert means(ranks_of(rows)) == {"a": (3 + 1.5) / 2, "b": (2 + 1.5) / 2, "c": (1 + 3) / 2}


def test_levels_are_ranked_apart():
    rows = [*rows_of({"a": [[0.9]], "b": [[0.8]]}), *rows_of({"c": [[0.7]], "d": [[0.6]]}, "concepts")]
    assert means(ranks_of(rows)) == {"a": 1, "b": 2, "c": 1, "d": 2}


def test_a_measure_that_never_applies_to_a_model_does_not_rank_it():
    rows = [*rows_of({"a": [[0.9]], "b": [[0.8]]}, ood=0.5), *rows_of({"c": [[0.7]]})]
    ranks = ranks_of(rows)
    assert set(means(ranks, "ood")) == {"a", "b"} and len(means(ranks)) == 3
    assert not means(ranks, "follows")


def test_one_model_alone_is_not_ranked():
    assert ranks_of(rows_of({"a": [[0.9]]})) == []


def test_intervals_hold_the_mean_and_are_points_where_nothing_varies():
    sure = ranks_of(rows_of({"a": [[0.9, 0.9]] * 4, "b": [[0.1, 0.1]] * 4}))
    assert [(rank.low, rank.high) for rank in sure if rank.measure == "label_f1"] == [(1, 1), (2, 2)]
    values = {name: np.random.default_rng(place).random((6, 3)).tolist() for place, name in enumerate("abc")}
    drawn = ranks_of(rows_of(values))
    assert all(rank.low <= rank.mean <= rank.high and rank.low < rank.high for rank in drawn)
    assert drawn == ranks_of(rows_of(values))


@pytest.mark.parametrize("seeds", [2, 3])
def test_seeds_widen_the_interval(seeds):
    """A model that is first with one seed and last with another has an interval over both."""
    rows = rows_of({"a": [[0.9, *[0.1] * (seeds - 1)]] * 3, "b": [[0.5] * seeds] * 3})
    rank = next(rank for rank in ranks_of(rows) if rank.model == "a")
    assert rank.low < 1.5 < rank.high and not math.isnan(rank.mean)
