"""Means, intervals and paired tests over seeds, and the tables that show them beside published numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assay.base import ConfigError, Settings
from assay.lab import Record, study_from, summaries, tables_of

ALL = "all"
NOISY = ["plain", {"challenge": "noisy", "annotate": {"label_noise": 0.1}}]


def record(value, task="two", model="tree", seed=0, metric="label_f1", split="test", challenge="plain", **more):
    run = f"{task}-{challenge}-{model}-{seed}-{more.get('fold', -1)}"
    return Record(
        *(task, challenge, model, seed, more.get("fold", -1), split, metric, value, math.nan, math.nan, 32),
        *(more.get("verdict", "sound"), run, "data", "print", 0, "0.1.0"),
    )


def key(task="two", model="tree", metric="label_f1", split="test", challenge="plain"):
    return (task, challenge, model, split, metric)


def study(published=(), **more):
    tasks = [{"task": "mnlogic", "name": name, "k": k} for name, k in (("two", 2), ("three", 3))]
    given = {"name": "s", "tasks": tasks, "models": ["tree", "linear"], "metrics": ["label_f1", "concept_f1"]}
    return study_from(Settings({**given, "splits": ["test"], "published": list(published), **more}))


VALUES = {("two", "tree"): 0.25, ("three", "tree"): 0.75, ("two", "linear"): 0.5, ("three", "linear"): 1.0}
HELD = [record(value, task, model) for (task, model), value in VALUES.items()]


def table_of(made, held, caption):
    """Return the rows of the table of this caption, each by its head."""
    (table,) = [table for table in tables_of(made, held) if caption in table.caption]
    return [dict(zip(table.head, row, strict=True)) for row in table.rows]


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_a_summary_is_that_of_scipy_and_leaves_out_what_does_not_apply():
    values = [0.2, 0.5, 0.9, 0.4]
    found = summaries([record(value, seed=seed) for seed, value in enumerate([*values, math.nan])])[key()]
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    assert (found.runs, found.mean) == (4, pytest.approx(0.5))
    assert found.deviation == pytest.approx(np.std(values, ddof=1))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert math.isnan(summaries([record(0.2)])[key()].low)


@pytest.mark.parametrize("pairs", [2, 3, 5, 8, 11])
def test_differences_are_the_paired_tests_of_scipy(pairs):
    """The p is that of the exact paired permutation test, ties included; the interval that of the paired t-test."""
    rng = np.random.default_rng(pairs)
    ours, theirs = rng.integers(0, 12, pairs) / 12, rng.integers(0, 12, pairs) / 12
    ours[0] = theirs[0] + 1 / 12  # not all alike
    held = [record(a, model="linear", seed=s) for s, a in enumerate(ours)]
    held += [
        *(record(b, seed=s) for s, b in enumerate(theirs)),
        record(0.1, seed=99),
        record(0.9, seed=98, split="ood"),
    ]
    exact = stats.permutation_test(
        (ours, theirs), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    student = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    (row,) = table_of(study(seeds=list(range(pairs))), held, "Differences from tree")
    assert (row["model"], row["metric"], row["p"]) == ("linear", "label f1", f"{exact.pvalue:.3f}")
    assert row["difference"] == f"{(ours - theirs).mean():+.2f}"
    assert row["95 % interval"] == f"{student.low:+.2f} to {student.high:+.2f}"


def test_differences_of_many_pairs_are_drawn_and_agree_with_scipy():
    rng = np.random.default_rng(3)
    ours, theirs = rng.normal(0.4, 1, 30), np.zeros(30)
    held = [record(a, model="linear", seed=s) for s, a in enumerate(ours)] + [record(0.0, seed=s) for s in range(30)]
    expected = stats.permutation_test(
        (ours - theirs,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(0)
    ).pvalue
    made = study(seeds=list(range(30)))
    (row,) = table_of(made, held, "Differences from tree")
    assert float(row["p"]) == pytest.approx(expected, abs=0.02)
    sure = [record(value, model=model, seed=s) for model, value in (("linear", 1.0), ("tree", 0.0)) for s in range(30)]
    (row,) = table_of(made, sure, "Differences from tree")
    assert float(row["p"]) < 0.001


def test_pairs_are_of_equal_challenge_seed_fold_split_and_metric():
    held = [record(0.9, model="linear", fold=0), record(0.4, fold=0), record(0.7, model="linear", fold=1)]
    held += [record(0.2, fold=2), record(0.1, challenge="noisy", fold=1), record(0.3, seed=1, fold=1)]
    (row,) = table_of(study(folds=3), held, "Differences from tree")
    assert (row["difference"], row["95 % interval"], row["p"]) == ("+0.50", "–", "1.000")  # of one pair


def test_numbers_over_tasks_need_all_tasks():
    held = [record(0.2), record(0.6, "three"), record(0.5, seed=1), record(1.0, model="mlp"),
            record(math.nan, "three", "mlp"), record(0.1, split="ood"), record(0.9, "three", challenge="noisy")]  # fmt: skip
    found = {one: mean for one, mean in summaries(held, over_all=True).items() if one.task == ALL}
    assert list(found) == [key(ALL)] and (found[key(ALL)].mean, found[key(ALL)].runs) == (pytest.approx(0.4), 1)


# -- tables ------------------------------------------------------------------------------------------------------------


def test_published_numbers_stand_beside_ours_and_those_for_all_tasks_beside_our_mean():
    told = {"model": "tree", "metric": "label_f1", "value": 0.5, "deviation": 0.01, "source": "Table 9"}
    rows = table_of(study([{**told, "task": "two"}, {**told, "task": ALL}]), HELD, "split test, one run")
    ours = {(row["task"], row["model"]): (row["label f1"], row["published"], row["concept f1"]) for row in rows}
    published = "0.50 ± 0.01 [Table 9]"
    assert ours == {
        ("two", "tree"): ("0.25", published, "–"), ("two", "linear"): ("0.50", "–", "–"),
        ("three", "tree"): ("0.75", "–", "–"), ("three", "linear"): ("1.00", "–", "–"),
        ("all", "tree"): ("0.50", published, "–"), ("all", "linear"): ("0.75", "–", "–"),
    }  # fmt: skip
    for lack in ("task", "model", "metric", "value"):
        wrong = {name: value for name, value in {**told, "task": "two"}.items() if name != lack}
        with pytest.raises(ConfigError, match="published: expected task, model, metric and value"):
            tables_of(study([wrong]), HELD)


def test_several_seeds_give_deviations_intervals_and_differences():
    held = [*HELD, *(replace(one, value=one.value / 2, seed=1) for one in HELD)]
    made = study(seeds=[0, 1], baseline="linear")
    for row in table_of(made, held, "mean ± deviation over 2 runs"):
        values = np.array([1.0, 0.5]) * VALUES[row["task"], row["model"]]
        low, high = stats.t.interval(0.95, 1, values.mean(), stats.sem(values))
        assert row["label f1"] == f"{values.mean():.2f} ± {values.std(ddof=1):.2f} ({low:.2f}–{high:.2f})"
    rows = table_of(made, held, "Differences from linear, seed by seed")
    assert [(row["task"], row["model"], row["difference"]) for row in rows] == [
        ("two", "tree", "-0.19"), ("three", "tree", "-0.19"),
    ]  # fmt: skip
    assert not [table for table in tables_of(study(), HELD) if "Differences" in table.caption]  # of one seed


def test_challenges_have_a_column_and_splits_a_table_each():
    held = [record(0.2), record(0.4, challenge="noisy"), record(0.6, model="linear", split="ood", metric="concept_f1")]
    made = study(challenges=NOISY, splits=["test", "ood"])
    rows = table_of(made, [*held, record(0.9, split="hard")], "split test")
    assert [(row["challenge"], row["label f1"]) for row in rows] == [("plain", "0.20"), ("noisy", "0.40")]
    (row,) = table_of(made, held, "split ood")
    assert (row["model"], row["label f1"], row["concept f1"]) == ("linear", "–", "0.60")
    others = [table.caption for table in tables_of(made, [record(0.2, split="valid"), record(0.3, split="hard")])]
    assert ["split hard" in others[1], "split valid" in others[2]] == [True, True]  # none of the study's is there
    assert tables_of(made, []) == []


def test_verdicts_are_counted_once_a_run():
    held = [record(0.5, seed=seed, verdict=verdict, metric=metric)
            for seed, verdict in enumerate(("shortcut", "sound", "sound")) for metric in ("label_f1", "collapse")]  # fmt: skip
    (row,) = table_of(study(seeds=[0, 1, 2]), held, "Verdicts")
    assert row == {"task": "two", "model": "tree", "verdict": "shortcut 1 of 3, sound 2 of 3"}
