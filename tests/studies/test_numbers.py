"""Means, intervals and paired tests over seeds; the tables and curves that show them beside published numbers."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assay.config import Settings
from assay.errors import ConfigError
from assay.studies import Record, study_from
from assay.studies.charts import charts_of, intervention_chart
from assay.studies.results import tables_of
from assay.studies.summary import ALL, RecordKey, comparisons, over_tasks, sign_flip, summaries


def record(value, task="mnlogic", model="tree", seed=0, metric="label_f1", split="test", challenge="plain"):
    return Record(
        *(task, challenge, model, seed, -1, split, metric, value, math.nan, math.nan, 32, "sound"),
        *(f"{task}-{model}-{seed}", "data", "print", 0, "0.1.0"),
    )


def place(task="mnlogic", model="tree", metric="label_f1", split="test", challenge="plain"):
    return RecordKey(task, challenge, model, split, metric)


def test_a_summary_is_that_of_scipy_and_leaves_out_what_does_not_apply():
    values = [0.2, 0.5, 0.9, 0.4]
    held = [record(value, seed=seed) for seed, value in enumerate([*values, math.nan])]
    found = summaries(held)[place()]
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    assert (
        found.runs == 4
        and found.mean == pytest.approx(0.5)
        and found.deviation == pytest.approx(np.std(values, ddof=1))
    )
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert math.isnan(summaries(held[:1])[place()].low)


def test_models_are_compared_on_the_seeds_that_both_have():
    ours = [record(value, model="mlp", seed=seed) for seed, value in enumerate([0.9, 0.8, 0.7, 0.6])]
    theirs = [record(value, seed=seed) for seed, value in ((0, 0.5), (1, 0.6), (2, 0.4), (9, 0.0))]
    found = comparisons([*ours, *theirs], "tree")
    assert list(found) == [place(model="mlp")]
    one = found[place(model="mlp")]
    assert one.pairs == 3 and one.difference == pytest.approx(0.3) and one.p == 0.25


@pytest.mark.parametrize("seed", range(20))
def test_the_sign_flip_test_counts_every_flip(seed):
    differences = np.random.default_rng(seed).normal(0.4, 1, 7)
    flips = [
        sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in itertools.product((1, -1), repeat=7)
    ]
    counted = np.mean([abs(total) >= abs(differences.sum()) - 1e-12 for total in flips])
    assert sign_flip(differences) == pytest.approx(counted)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("pairs", [2, 3, 5, 8, 11])
def test_paired_tests_are_those_of_scipy(pairs, scale):
    """The p is that of the exact paired permutation test, ties included; the interval that of the paired t-test."""
    rng = np.random.default_rng(pairs)
    ours, theirs = scale * rng.integers(0, 12, pairs) / 12, scale * rng.integers(0, 12, pairs) / 12
    ours[0] = theirs[0] + scale / 12  # not all alike
    rows = [record(a, model="mlp", seed=s) for s, a in enumerate(ours)] + [
        record(b, seed=s) for s, b in enumerate(theirs)
    ]
    found = comparisons(rows, "tree")[place(model="mlp")]
    exact = stats.permutation_test(
        (ours, theirs), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    student = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    assert found.pairs == pairs and found.p == pytest.approx(exact.pvalue)
    assert (found.low, found.high) == (pytest.approx(student.low), pytest.approx(student.high))


@pytest.mark.parametrize("seed", range(5))
def test_the_sign_flip_test_of_ranks_is_wilcoxons(seed):
    rng = np.random.default_rng(seed)
    signed = rng.permutation(np.arange(1, 10)) * rng.choice([-1, 1], 9)
    assert sign_flip(signed.astype(float)) == pytest.approx(stats.wilcoxon(signed, method="exact").pvalue)


def test_many_pairs_are_drawn_and_agree_with_scipy():
    differences = np.random.default_rng(3).normal(0.4, 1, 30)
    expected = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(0)
    ).pvalue
    assert sign_flip(differences) == pytest.approx(expected, abs=0.02) and sign_flip(np.ones(30)) > 0


def test_numbers_over_tasks_need_all_tasks():
    held = [
        record(0.2, "a"),
        record(0.6, "b"),
        record(0.5, "a", seed=1),
        record(1.0, "a", "mlp"),
        record(math.nan, "b", "mlp"),
    ]
    found = summaries(over_tasks(held))
    assert list(found) == [place(ALL)] and found[place(ALL)].mean == pytest.approx(0.4) and found[place(ALL)].runs == 1


def study(published=(), **more):
    tasks = [{"task": "mnlogic", "name": name, "k": k} for name, k in (("two", 2), ("three", 3))]
    given = {"name": "s", "tasks": tasks, "models": ["tree", "linear"], "metrics": ["label_f1", "concept_f1"]}
    return study_from(Settings({**given, "splits": ["test"], "published": list(published), **more}))


VALUES = {("two", "tree"): 0.25, ("three", "tree"): 0.75, ("two", "linear"): 0.5, ("three", "linear"): 1.0}
HELD = [record(value, task, model) for (task, model), value in VALUES.items()]


def test_a_published_number_stands_beside_ours():
    told = {"task": "two", "model": "tree", "metric": "label_f1", "value": 0.5, "deviation": 0.01, "source": "Table 9"}
    verdicts, table = tables_of(study([told]), HELD)
    assert verdicts.rows[0] == ("two", "tree", "sound 1 of 1")
    assert table.head == ("task", "model", "label f1", "published", "concept f1")
    assert table.rows[0] == ("two", "tree", "0.25", "0.50 ± 0.01 [Table 9]", "–")
    assert table.rows[-1] == ("three", "linear", "1.00", "–", "–") and "one run" in table.caption


def test_a_number_published_for_all_tasks_stands_beside_our_mean_over_them():
    told = {"task": ALL, "model": "tree", "metric": "label_f1", "value": 0.6}
    table = tables_of(study([told]), HELD)[1]
    assert table.rows[-2:] == (("all", "tree", "0.50", "0.60", "–"), ("all", "linear", "0.75", "–", "–"))
    assert len(table.rows) == 6


def test_several_seeds_give_deviations_and_differences():
    held = [*HELD, *(record(value / 2, task, model, 1) for (task, model), value in VALUES.items())]
    _, table, differences = tables_of(study(seeds=[0, 1], baseline="linear"), held)
    assert table.rows[0][2].startswith("0.19 ± 0.09 (") and "mean ± deviation over 2 runs" in table.caption
    assert differences.caption == "Differences from linear, seed by seed"
    assert [row[:2] for row in differences.rows] == [("two", "tree"), ("three", "tree")]
    assert differences.rows[0][4] == "-0.19" and differences.rows[0][-1] == "0.500"


@pytest.mark.parametrize(
    "wrong", [{"task": "two"}, {"task": "two", "model": "tree", "metric": "label_f1", "value": 1, "by": "me"}]
)
def test_published_numbers_that_lack_something_are_refused(wrong):
    with pytest.raises(ConfigError, match="published: expected task, model, metric and value"):
        tables_of(study([wrong]), HELD)


def test_a_curve_of_concepts_told():
    held = [
        record(value, metric=f"accuracy_k{k}", seed=s) for k, value in ((3, 0.9), (0, 0.5), (1, 0.7)) for s in (0, 1)
    ]
    chart = intervention_chart([*held, record(0.8, metric="accuracy_max"), record(0.1)])
    assert chart.lines[0].name == "tree" and chart.lines[0].x == [0, 1, 3] and chart.lines[0].y == [0.5, 0.7, 0.9]
    assert "tree: from 0.50 to 0.90" in chart.description


TOLD = {"task": "two", "model": "tree", "metric": "label_f1", "value": 0.5, "deviation": 0.01}


def test_charts_show_every_seed_the_mean_what_was_published_and_differences():
    held = [*HELD, *(record(value / 2, task, model, 1) for (task, model), value in VALUES.items())]
    groups = charts_of(study([TOLD], seeds=[0, 1], baseline="linear"), held)
    assert [(group.task, group.title, group.folded) for group in groups] == [
        ("two", "Over seeds: test", False),
        ("three", "Over seeds: test", False),
    ]
    values, differences = groups[0].charts
    tree, linear = values.rows
    assert (tree.name, tuple(tree.values), tree.mean.value) == ("tree", (0.25, 0.125), 0.1875)
    assert tree.mean.low < 0.125 < 0.25 < tree.mean.high
    assert tree.published == pytest.approx((0.5, 0.49, 0.51)) and linear.published is None
    assert "tree: mean 0.19" in values.description and "published 0.50 (0.49 to 0.51)" in values.description
    (row,) = differences.rows
    assert differences.zero and row.name == "tree" and list(row.values) == [-0.25, -0.125]
    assert "tree: -0.19 over 2 pairs, p = 0.500" in differences.description


def test_other_splits_are_folded_and_one_seed_without_published_numbers_has_no_chart():
    both = [*HELD, *(replace(one, split="ood", seed=1) for one in HELD)]
    folded = [group.folded for group in charts_of(study(splits=["test", "ood"]), both) if group.task == "two"]
    assert folded == [False, True]
    assert charts_of(study(), HELD) == []
    (group,) = charts_of(study([TOLD]), [one for one in HELD if one.task == "two"])
    assert group.charts[0].rows[0].published.value == 0.5


def test_numbers_published_for_all_tasks_have_a_chart_of_the_mean_over_them():
    groups = charts_of(study([{**TOLD, "task": ALL}]), HELD)
    assert [row.mean.value for row in groups[-1].charts[0].rows] == [0.5, 0.75] and groups[-1].task == ALL


def test_rows_of_charts_are_of_one_split_and_challenge_with_their_intervals():
    noisy = [replace(one, challenge="noise", value=one.value / 2, seed=seed) for one in HELD for seed in (0, 1)]
    held = [*HELD, *(record(value / 2, task, model, 1) for (task, model), value in VALUES.items()), *noisy]
    held += [replace(one, split="ood", value=1.0 - one.value) for one in held if one.challenge == "plain"]
    challenges = ["plain", {"challenge": "noise", "annotate": {"label_noise": 0.1}}]
    groups = charts_of(study(seeds=[0, 1], splits=["hard", "ood", "test"], challenges=challenges), held)
    assert [(group.task, group.title, group.folded) for group in groups][:3] == [
        ("two", "Over seeds: ood", False), ("two", "Over seeds: test", True), ("three", "Over seeds: ood", False),
    ]  # fmt: skip
    (ood, _), (test, differences) = (group.charts for group in groups[:2])
    assert [(row.name, list(row.values)) for row in ood.rows] == [("tree", [0.75, 0.875]), ("linear", [0.5, 0.75])]
    assert [(row.name, list(row.values)) for row in test.rows] == [("tree", [0.25, 0.125]), ("linear", [0.5, 0.25])]
    low, high = stats.t.interval(0.95, 1, 0.1875, stats.sem([0.25, 0.125]))
    assert tuple(test.rows[0].mean) == pytest.approx((0.1875, low, high))
    (row,) = differences.rows
    low, high = stats.t.interval(0.95, 1, 0.1875, stats.sem([0.25, 0.125]))
    assert tuple(row.mean) == pytest.approx((0.1875, low, high)) and list(row.values) == [0.25, 0.125]
    noise = next(group for group in groups if group.task == "two, noise")
    assert [(row.name, list(row.values)) for row in noise.charts[0].rows] == [
        ("tree", [0.125] * 2),
        ("linear", [0.25] * 2),
    ]


def test_means_over_tasks_stand_in_the_rows_of_their_challenge():
    challenges = ["plain", {"challenge": "noise", "annotate": {"label_noise": 0.1}}]
    held = [*HELD, *(replace(one, challenge="noise", value=one.value / 4) for one in HELD)]
    told = {"task": ALL, "model": "tree", "metric": "label_f1", "value": 0.6, "challenge": "noise"}
    table = tables_of(study([told], challenges=challenges), held)[1]
    assert table.rows[-4:] == (
        ("all", "plain", "tree", "0.50", "–", "–"), ("all", "plain", "linear", "0.75", "–", "–"),
        ("all", "noise", "tree", "0.12", "0.60", "–"), ("all", "noise", "linear", "0.19", "–", "–"),
    )  # fmt: skip


def test_a_table_tells_the_largest_number_of_runs():
    held = [*HELD[:2], *(record(0.5, "two", "linear", seed) for seed in range(3))]
    table = tables_of(study(seeds=[0, 1, 2]), held)[1]
    assert table.caption == "s: split test, mean ± deviation over 3 runs"
    assert table.note == "In brackets the 95 % interval of the mean (Student's t)."
    assert [row[:3] for row in table.rows] == [
        ("two", "tree", "0.25"),
        ("two", "linear", "0.50 ± 0.00 (0.50–0.50)"),
        ("three", "tree", "0.75"),
    ]


def test_charts_are_told_in_words():
    held = [record(value, "two", "tree", seed) for seed, value in enumerate((0.25, 0.5, 0.75))]
    held += [record(value, "two", "linear", seed) for seed, value in enumerate((0.5, 0.5, 0.5, 1.0))]
    values, differences = charts_of(study([TOLD], seeds=[0, 1, 2, 3]), held)[0].charts
    assert values.description == (
        "tree: mean 0.50 (-0.12 to 1.12) of 3, published 0.50 (0.49 to 0.51); linear: mean 0.62 (0.23 to 1.02) of 4."
    )
    assert differences.description == "Pairs of equal seeds. linear: +0.00 over 3 pairs, p = 1.000."
    assert (values.title, values.value_label) == ("label f1", "label f1")
    assert (differences.title, differences.value_label) == ("label f1: difference from tree", "difference")
