"""Ranks are those that loops give, within a level, with refusals last and honest intervals."""

import math
import random

import numpy as np
import pytest

from assay.lab import BoardRow, SuiteBoard
from tests.lab.suites.conftest import CONFIG, suite_of


def ranks_of(rows):
    return list(SuiteBoard(suite_of(CONFIG), tuple(rows)).ranks.values())


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


def ranks_in_loops(values):
    """Return the mean ranks of models by the values of their datasets and seeds; without any value one is last."""
    seeds = {model: [[v for v in cell if v is not None] for cell in cells] for model, cells in values.items()}
    known = {model: [sum(cell) / len(cell) if cell else -math.inf for cell in cells] for model, cells in seeds.items()}
    ranked = {}
    for model, own in known.items():
        each = []
        for place, mean in enumerate(own):
            others = [cells[place] for name, cells in known.items() if name != model]
            each.append(1 + sum(one > mean for one in others) + sum(one == mean for one in others) / 2)
        ranked[model] = sum(each) / len(each)
    return ranked


@pytest.mark.parametrize("seed", range(30))
def test_ranks_are_means_over_datasets_of_ranks_of_means_over_seeds(seed):
    """Seeds that a model lacks do not lower its mean, what it refuses ranks last, ties share their ranks."""
    rng = random.Random(seed)
    names, datasets, seeds = "abcde"[: rng.randrange(2, 6)], rng.randrange(1, 5), rng.randrange(1, 4)
    values = {
        name: [[rng.choice((None, 0.0, 0.25, 0.5, 1.0)) for _ in range(seeds)] for _ in range(datasets)]
        for name in names
    }
    for cells in values.values():
        cells[0][0] = 0.5  # a model without any value is not ranked
    found = ranks_of(rows_of(values))
    assert means(found) == pytest.approx(ranks_in_loops(values))
    assert {rank.of for rank in found} == {len(names)} and all(rank.low <= rank.high for rank in found)


def test_intervals_are_those_of_drawing_datasets_and_seeds_again():
    values = {name: np.random.default_rng(place).random((6, 3)) for place, name in enumerate("abc")}
    rng, drawn = np.random.default_rng(7), []
    for _ in range(4000):
        columns = rng.integers(6, size=6)
        one = {name: [[cells[column][rng.integers(3)]] for column in columns] for name, cells in values.items()}
        drawn.append([*ranks_in_loops(one).values()])
    wanted = np.percentile(drawn, [2.5, 97.5], axis=0).T
    found = {
        rank.model: (rank.low, rank.high) for rank in ranks_of(rows_of({n: v.tolist() for n, v in values.items()}))
    }
    assert np.abs(np.array([found[name] for name in "abc"]) - wanted).max() < 0.2


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


def test_the_table_of_ranks_has_each_measure_in_its_place():
    rows = [
        BoardRow("s", "d0", model, "rule", 0, "done", label_f1=f1, collapse=collapse)
        for model, f1, collapse in (("a", 0.9, 0.5), ("b", 0.5, 0.1))
    ]
    table = SuiteBoard(suite_of(CONFIG), tuple(rows)).rank_table
    told = {row[1]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert {(name, told["a"][name]) for name in table.head[2:] if told["a"][name] != "–"} == {
        ("label F1", "1.0 (1.0–1.0)"), ("collapse", "2.0 (2.0–2.0)"),
    }  # fmt: skip
