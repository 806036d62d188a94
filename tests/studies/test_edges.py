"""Studies at their edges: ties, one pair, several challenges and folds, defaults, and what is said where nothing is."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.config import Settings
from assay.errors import ConfigError, DataError, RunFailed, UnknownName
from assay.reporting import COLOURS
from assay.studies import Outcome, Record, StudyConfig, analyses, departures, fidelity, find_study, ready, study_from
from assay.studies import run as running
from assay.studies.analyses import (
    ANALYSES,
    Aligning,
    Changing,
    Intervening,
    Leaking,
    Probing,
    SwappingRule,
    Transferring,
    analyses_from,
    run_analysis,
)
from assay.studies.charts import budget_of, charts_of, intervention_chart, seed_charts
from assay.studies.ledger import AsReleased, FidelityRow, StudyFidelity
from assay.studies.published import Published, published_numbers
from assay.studies.ready import ReadyStudy
from assay.studies.results import mean_of, tables_of
from assay.studies.study import _with_place
from assay.studies.summary import ALL, RecordKey, SeedSummary, comparisons, over_tasks, sign_flip, summaries
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")


def record(
    value, model="tree", seed=0, fold=-1, metric="label_f1", split="test", challenge="plain", task="two", **more
):
    run = more.get("run", f"{task}-{challenge}-{model}-{seed}-{fold}")
    return Record(
        *(task, challenge, model, seed, fold, split, metric, value, math.nan, math.nan, 32),
        *(more.get("verdict", "sound"), run, "data", "print", 0, "0.1.0"),
    )


def key(model="tree", metric="label_f1", split="test", challenge="plain", task="two"):
    return RecordKey(task, challenge, model, split, metric)


def study(**more):
    tasks = [{"task": "mnlogic", "name": name, "k": k} for name, k in (("two", 2), ("three", 3))]
    given = {"name": "s", "tasks": tasks, "models": ["tree", "linear"], "metrics": ["label_f1", "concept_f1"]}
    return study_from(Settings({**given, "splits": ["test", "ood"], **more}))


NOISY = ["plain", {"challenge": "noisy", "annotate": {"label_noise": 0.1}}]


# -- numbers over seeds ------------------------------------------------------------------------------------------------


def test_pairs_are_of_the_same_seed_and_fold_split_metric_and_challenge():
    held = [
        *(record(0.9, "mlp", 0, fold) for fold in (0, 1)), record(0.4, "mlp", 1, 0), record(0.7, "tree", 0, 0),
        record(0.8, "tree", 0, 1), record(0.1, "tree", 1, 1), record(0.3, "mlp", 0, 0, split="ood"),
        record(0.2, "mlp", 0, 0, challenge="noisy"), record(0.6, "mlp", 0, 0, metric="collapse"),
        record(0.5, "tree", 0, 0, metric="collapse"), record(math.nan, "cbm", 0, 0),
    ]  # fmt: skip
    found = comparisons(held, "tree")
    assert list(found) == [key("mlp"), key("mlp", "collapse")]
    assert found[key("mlp")].differences == pytest.approx((0.2, 0.1)) and found[key("mlp")].baseline == "tree"
    one = found[key("mlp", "collapse")]
    assert one.pairs == 1 and one.difference == pytest.approx(0.1) and one.p == 1.0
    assert math.isnan(one.low) and math.isnan(one.high)
    assert comparisons(held, "nobody") == {}


def test_sign_flips_are_gone_through_up_to_fourteen_pairs_and_drawn_beyond():
    assert sign_flip(np.zeros(3)) == 1.0 and sign_flip(np.array([1.0, -1.0])) == 1.0
    assert sign_flip(np.full(14, -0.25)) == 2 / 2**14
    assert sign_flip(np.array([0.1, 0.2, 0.3])) == 0.25 and sign_flip(np.array([0.1, 0.2, -0.3])) == 1.0
    drawn = sign_flip(np.ones(15))
    assert drawn * 10_001 == pytest.approx(round(drawn * 10_001)) and 1 <= round(drawn * 10_001) <= 6
    assert sign_flip(np.array([*np.ones(8), *-np.ones(8)])) == 1.0


def test_means_over_tasks_are_of_equal_challenge_model_split_metric_seed_and_fold():
    held = [record(value, task=task, seed=seed) for task, seed, value in
            (("two", 0, 0.2), ("three", 0, 0.8), ("two", 1, 0.5), ("three", 1, 0.6))]  # fmt: skip
    apart = [
        record(0.1, split="ood"), record(0.3, split="hard", task="three"), record(0.1, fold=1), record(0.9, "mlp"),
        record(0.9, challenge="noisy", task="three"), record(0.9, metric="collapse", task="three"),
    ]  # fmt: skip
    found = over_tasks([*held, *apart])
    assert [(one.task, one.seed, one.split, one.model) for one in found] == [
        (ALL, 0, "test", "tree"),
        (ALL, 1, "test", "tree"),
    ]
    assert [one.value for one in found] == pytest.approx([0.5, 0.55])
    assert summaries(found)[key(task=ALL)].mean == pytest.approx(0.525) and over_tasks([]) == []


def test_published_numbers_have_defaults_and_their_own_places():
    told = [
        {"task": "two", "model": "tree", "metric": "label_f1", "value": 1},
        {"task": "two", "model": "tree", "metric": "label_f1", "value": 0.5, "split": "ood", "challenge": "noisy",
         "deviation": 0.25, "source": "T1"},
    ]  # fmt: skip
    first, second = published_numbers(study(published=told)).items()
    assert first[0] == key() and first[1].text == "1.00" and math.isnan(first[1].estimate.low)
    assert second == (key(split="ood", challenge="noisy"), Published(0.5, 0.25, "T1"))
    assert tuple(second[1].estimate) == (0.5, 0.25, 0.75) and second[1].text == "0.50 ± 0.25 [T1]"
    assert Published(0.5, source="T2").text == "0.50 [T2]"
    for lack in ("task", "model", "metric", "value"):
        with pytest.raises(ConfigError, match="published: expected task, model, metric and value"):
            published_numbers(study(published=[{k: v for k, v in told[0].items() if k != lack}]))


# -- tables and charts -------------------------------------------------------------------------------------------------


def test_a_mean_is_told_with_its_deviation_and_interval_if_there_are_several_runs():
    assert mean_of(None) == "–" and mean_of(SeedSummary(key(), 0.127, math.nan, math.nan, math.nan, 1)) == "0.13"
    assert mean_of(SeedSummary(key(), 0.5, 0.125, 0.25, 0.75, 2)) == "0.50 ± 0.12 (0.25–0.75)"


def test_challenges_have_a_column_and_splits_a_table_each():
    held = [
        record(0.2), record(0.4, challenge="noisy"), record(0.6, "linear", split="ood", metric="concept_f1"),
        record(0.9, split="hard"),
    ]  # fmt: skip
    verdicts, test, ood = tables_of(study(challenges=NOISY), held)
    assert verdicts.head == ("task", "challenge", "model", "verdict") and verdicts.stubs == 3
    assert not verdicts.open  # one seed only
    assert verdicts.rows[1] == ("two", "noisy", "tree", "sound 1 of 1")
    assert test.head == ("task", "challenge", "model", "label f1", "concept f1") and test.stubs == 3
    assert test.rows == (("two", "plain", "tree", "0.20", "–"), ("two", "noisy", "tree", "0.40", "–"))
    assert ood.rows == (("two", "plain", "linear", "–", "0.60"),)
    assert [table.caption for table in (test, ood)] == ["s: split test, one run", "s: split ood, one run"]
    assert test.note == "" and not test.open


def test_where_no_split_is_one_of_the_studys_all_are_shown_in_order():
    held = [record(0.2, split="valid"), record(0.3, split="hard")]
    assert [table.caption for table in tables_of(study(), held)[1:]] == [
        "s: split hard, one run",
        "s: split valid, one run",
    ]
    assert tables_of(study(), []) == []


def test_verdicts_are_counted_once_a_run_in_the_order_that_they_come():
    held = [record(0.5, seed=seed, verdict=verdict, metric=metric)
            for seed, verdict in enumerate(("shortcut", "sound", "sound")) for metric in ("label_f1", "collapse")]  # fmt: skip
    table = tables_of(study(seeds=[0, 1, 2]), held)[0]
    assert table.caption == "Verdicts over all seeds" and table.head == ("task", "model", "verdict")
    assert table.rows == (("two", "tree", "shortcut 1 of 3, sound 2 of 3"),) and table.stubs == 2


def test_differences_are_of_the_studys_metrics_and_splits():
    held = [
        *(record(value, "linear", seed) for seed, value in enumerate((0.5, 0.7, 0.9))),
        *(record(value, "tree", seed) for seed, value in enumerate((0.4, 0.4, 0.4))),
        *(record(value, model, metric="concept_f1", split="ood") for model, value in (("linear", 0.2), ("tree", 0.45))),
        *(record(value, model, metric="collapse") for model, value in (("linear", 0.2), ("tree", 0.45))),
        *(record(value, model, split="hard") for model, value in (("linear", 0.2), ("tree", 0.45))),
    ]
    table = tables_of(study(seeds=[0, 1, 2]), held)[-1]
    assert table.head == ("task", "model", "split", "metric", "difference", "95 % interval", "p") and table.stubs == 2
    assert table.rows == (
        ("two", "linear", "test", "label f1", "+0.30", "-0.20 to +0.80", "0.250"),
        ("two", "linear", "ood", "concept f1", "-0.25", "–", "1.000"),
    )
    assert table.note == "Exact sign-flip test on 3 pairs of equal seeds; p cannot be below 0.2500."
    many = [record(0.5 + 0.01 * seed, model, seed) for model in ("tree", "linear") for seed in range(15)]
    assert tables_of(study(seeds=list(range(15))), many)[-1].note.endswith("on 15 pairs of equal seeds; p cannot be below 0.0001.")  # fmt: skip
    assert "Differences" not in tables_of(study(), held)[-1].caption
    assert tables_of(study(folds=2), held)[-1].caption == "Differences from tree, seed by seed"


def test_published_columns_stand_beside_their_metric_in_their_split():
    told = {"task": "two", "model": "linear", "metric": "concept_f1", "value": 0.3, "split": "ood"}
    _, test, ood = tables_of(study(published=[told]), [record(0.2), record(0.6, split="ood")])
    assert test.head == ("task", "model", "label f1", "concept f1")
    assert ood.head == ("task", "model", "label f1", "concept f1", "published")
    assert ood.rows == (("two", "tree", "0.60", "–", "–"), ("two", "linear", "–", "–", "0.30"))


def test_a_curve_has_an_interval_only_if_every_point_has_several_runs():
    held = [
        record(value, seed=seed, metric=f"accuracy_k{k}") for k in (0, 10, 2) for seed, value in ((0, 0.5), (1, 0.7))
    ]
    more = [record(0.2, "mlp", metric="accuracy_k1"), *(record(0.4, "mlp", s, metric="accuracy_k0") for s in (0, 1))]
    chart = intervention_chart([*held, *more])
    tree, mlp = chart.lines
    assert tree.x == [0, 2, 10] and tree.y == pytest.approx([0.6] * 3) and all(low < 0.6 for low in tree.low)
    assert all(high > 0.6 for high in tree.high)
    assert mlp.x == [0, 1] and mlp.y == [0.4, 0.2] and mlp.low is None and mlp.high is None
    assert chart.description == "tree: from 0.60 to 0.60; mlp: from 0.40 to 0.20"
    assert chart.x_label == "concepts that may be asked about" and chart.y_label == "label accuracy"
    assert intervention_chart([record(0.5), record(0.5, metric="accuracy_max")]) is None
    many = [record(0.1, f"m{number}", metric="accuracy_k0") for number in range(len(COLOURS) + 2)]
    assert [line.name for line in intervention_chart(many).lines] == [f"m{n}" for n in range(len(COLOURS))]
    assert [budget_of(m) for m in ("accuracy_k0", "accuracy_k12", "accuracy_k", "accuracy_k1_a")] == [0, 12, None, None]


def test_charts_of_seeds_leave_out_what_does_not_apply_and_single_pairs():
    held = [
        *(record(value, "tree", seed) for seed, value in enumerate((0.25, math.nan, 0.75))),
        *(record(value, "linear", seed) for seed, value in enumerate((math.nan, 0.5, 1.0))),
        *(record(0.5, model, seed, metric="concept_f1") for model in ("tree", "linear") for seed in (0, 1)),
        record(0.5, metric="collapse"),
    ]
    values, concepts, differences = seed_charts(study(seeds=[0, 1, 2]), held, {})
    assert [(row.name, list(row.values)) for row in values.rows] == [("tree", [0.25, 0.75]), ("linear", [0.5, 1.0])]
    assert values.title == "label f1" == values.value_label and not values.zero
    assert concepts.title == "concept f1" and differences.title == "concept f1: difference from tree"
    assert differences.value_label == "difference" and [row.name for row in differences.rows] == ["linear"]
    assert differences.description == "Pairs of equal seeds. linear: +0.00 over 2 pairs, p = 1.000."


def test_charts_are_by_task_and_challenge_and_interventions_come_last():
    held = [record(0.5, seed=s, challenge=c, split=split) for c in ("plain", "noisy") for s in (0, 1) for split in ("ood", "test")]  # fmt: skip
    held.append(record(0.5, metric="accuracy_k1"))
    groups = charts_of(study(challenges=NOISY, seeds=[0, 1]), held)
    assert [(group.task, group.title, group.folded) for group in groups] == [
        ("two", "Over seeds: test", False), ("two", "Over seeds: ood", True), ("two", "Interventions", False),
        ("two, noisy", "Over seeds: test", False), ("two, noisy", "Over seeds: ood", True),
    ]  # fmt: skip
    folds = charts_of(study(folds=2), [record(0.5, fold=fold) for fold in (0, 1)])
    assert [group.title for group in folds] == ["Over seeds: test"]


# -- what a study is ---------------------------------------------------------------------------------------------------


def test_a_study_file_need_not_say_much():
    config = StudyConfig(tasks=["mnlogic"], models=["tree"])
    assert (config.name, config.output, config.about, config.seeds, config.folds) == ("study", "out", "", [0], 0)
    assert config.challenges == ["plain"] and config.analyses == [] == config.published and config.baseline is None
    assert config.metrics == ["label_f1", "concept_f1", "collapse", "rule_consistency"]
    assert config.splits == ["test", "ood", "hard"] and config.n is config.epochs is config.patience is None


def test_runs_are_named_by_task_model_challenge_seed_and_fold_in_this_order():
    made = study(challenges=NOISY, seeds=[3, 1], folds=2, models=["tree", {"model": "linear", "on": ["three"]}])
    names = [run.name.rpartition("-")[0] for run in made.runs]
    assert names[:5] == [*(f"two-tree-seed{s}-fold{f}" for s in (3, 1) for f in (0, 1)), "two-tree-noisy-seed3-fold0"]
    assert len(names) == 24 and names[-1] == "three-linear-noisy-seed1-fold1"
    assert {(run.fold, run.folds) for run in made.runs} == {(0, 2), (1, 2)}
    assert {run.task for run in made.runs if run.label == "linear"} == {"three"}
    assert len(made.datasets) == 2 and [copy.parent for copy in made.copies] == [step.name for step in made.datasets]
    noisy = [run for run in made.runs if run.challenge == "noisy"]
    assert {run.data for run in noisy} == {copy.name for copy in made.copies}
    assert made.baseline == "tree" and study(baseline="linear").baseline == "linear"
    assert {run.log for run in made.with_log("wandb").runs} == {"wandb"} and {run.log for run in made.runs} == {None}
    assert [run.name for run in made.with_log("wandb").runs] == [run.name for run in made.runs]


def test_a_part_of_a_study_has_the_first_seeds_and_what_they_need():
    made = study(challenges=NOISY, seeds=[3, 1, 2], models=["tree", {"model": "linear", "on": ["three"]}])
    part = made.only(["linear"], 2)
    assert {run.seed for run in part.runs} == {3, 1} and {run.task for run in part.runs} == {"three"}
    assert [step.name for step in part.datasets] == [made.datasets[1].name] and part.copies == made.copies[1:]
    first, second = made.runs[0], replace(made.runs[-1], needs=made.runs[0].name)
    chained = replace(made, runs=(*made.runs[:-1], second)).only(["linear"])
    assert first in chained.runs and second in chained.runs and len(chained.runs) == 7
    assert len(made.only(seeds=1).runs) == 6 and len(made.only(["tree", "linear"]).runs) == len(made.runs) == 18
    with pytest.raises(UnknownName, match="the study has no model called 'trea'; did you mean 'tree'"):
        made.only(["trea"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"baseline": "linaer"}, "baseline: no model is called 'linaer'; did you mean 'linear'"),
        ({"models": [{"model": "tree", "on": ["tow"]}]}, "on: no task is called 'tow'; did you mean 'two'"),
        ({"challenges": [{"challenge": "c", "annotat": {}, "a": 1}]}, "challenge 'c': unknown key 'a'; there are annotate, n"),
        ({"seeds": [0, 1, 0]}, r"seeds: each once, not \[0, 1, 0\]"),
        ({"folds": -1}, "folds"), ({"n": 0}, "n: "), ({"epochs": 0}, "epochs"), ({"models": []}, "models"),
    ],
)  # fmt: skip
def test_studies_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        study(**changes)


def test_the_number_of_examples_is_the_challenges_then_the_tasks_then_the_studys():
    tasks = [{"task": "mnlogic", "name": "own", "k": 2, "n": 40}, {"task": "mnlogic", "name": "none", "k": 2}]
    challenges = ["plain", {"challenge": "few", "n": 20}]
    made = study(tasks=tasks, challenges=challenges, n=30, models=["tree"])
    sizes = {step.name: step.recipe.splits[0].size for step in made.datasets}
    assert [(run.task, run.challenge, sizes[run.data]) for run in made.runs] == [
        ("own", "plain", 40), ("own", "few", 20), ("none", "plain", 30), ("none", "few", 20),
    ]  # fmt: skip
    assert made.copies == ()


def test_an_error_is_told_with_its_place_once():
    assert _with_place("s.yaml line 4", ConfigError("k: wrong")) == "s.yaml line 4: k: wrong"
    assert _with_place("s.yaml line 4", ConfigError("s.yaml line 6: k: wrong")) == "s.yaml line 6: k: wrong"
    assert _with_place("", ConfigError("k: wrong")) == "k: wrong"


# -- analyses ----------------------------------------------------------------------------------------------------------


def test_analyses_have_these_defaults():
    assert Intervening().model_dump() == {
        "policy": "responsiveness", "budget": "0,1,3,max", "source": None, "reader": {}, "kind": "confirmation",
        "threshold": None, "target": None, "split": "test", "suffix": "",
    }  # fmt: skip
    assert Leaking().split == "test" and Changing(do=["a=1"]).split == "test" and Aligning(weights={}).budget == ""
    assert Probing().model_dump() == {"method": "linear", "layers": [], "settings": {}, "suffix": ""}
    swap = SwappingRule(labels={"y": "a"})
    assert swap.splits == ["test"] and swap.suffix == "_swapped" and swap.only_predicted is False
    assert swap.metrics == ["label_accuracy", "rsbench_label_f1", "label_mean_f1"]
    other = Transferring(to=["a"])
    assert other.folders == {} and other.split == "test" and other.metrics == ["label_accuracy"]
    assert {name: entry[1] for name, entry in ANALYSES.items()} == {
        "intervene": Intervening, "leakage": Leaking, "probe": Probing, "change": Changing, "align": Aligning,
        "swap_rule": SwappingRule, "transfer": Transferring,
    }  # fmt: skip


def test_analyses_are_those_of_a_model_and_know_the_datasets_of_tasks():
    given = [
        "leakage",
        {"analysis": "probe", "models": ["a", "b"]},
        {"analysis": "transfer", "to": ["y", "x"], "models": []},
    ]
    others = {"x": "data-x", "y": "data-y", "z": "data-z"}
    assert [name for name, _ in analyses_from(given, model="b", others=others)] == ["leakage", "probe"]
    assert [name for name, _ in analyses_from(given, model="c", others=others)] == ["leakage"]
    leak, probe, transfer = analyses_from(given, others=others)
    assert leak[1].values == {} == probe[1].values
    assert list(transfer[1].values["folders"].items()) == [("y", "data-y"), ("x", "data-x")]
    assert "folders" not in analyses_from(given)[2][1].values and "models" in given[1]
    for models in ("a", [1], ["a", 2]):
        with pytest.raises(ConfigError, match="here: models of analysis 'probe': expected a list of names"):
            analyses_from([{"analysis": "probe", "models": models}], "here: ")
    with pytest.raises(ConfigError, match="here: transfer: no task is called 'zz'; did you mean 'z'"):
        analyses_from([{"analysis": "transfer", "to": ["x", "zz"]}], "here: ", "c", others)


# -- ready studies and what was published ------------------------------------------------------------------------------


def test_a_size_adds_to_what_all_sizes_share():
    one = ReadyStudy("a", "about", {"name": "A", "n": 3, "k": 1, "sizes": {"paper": {"n": 9}, "small": {"epochs": 2}}})
    assert one.at_size("paper").values == {"name": "A (paper)", "n": 9, "k": 1}
    assert one.at_size("small").values == {"name": "A (small)", "n": 3, "k": 1, "epochs": 2}
    assert ReadyStudy("a", "", {"name": "B"}).at_size("small").values == {"name": "B (small)"}


def test_all_digits_are_those_of_the_folder_that_is_set(monkeypatch):
    settings = Settings({"tasks": ["mnlogic", {"task": "mnlogic", "k": 2}, "no such task"], "models": ["tree"]})
    monkeypatch.delenv(ready.MNIST, raising=False)
    same, lacking = ready._with_all_digits(settings)
    assert same is settings and len(lacking) == 1 and "set ASSAY_MNIST=FOLDER for all" in lacking[0]
    monkeypatch.setenv("ASSAY_MNIST", "/digits")
    found, lacking = ready._with_all_digits(settings)
    assert lacking == [] and found.values["models"] == ["tree"]
    assert found.values["tasks"] == [
        {"task": "mnlogic", "digits": "/digits"},
        {"task": "mnlogic", "k": 2, "digits": "/digits"},
        {"task": "no such task"},
    ]
    other = Settings({"tasks": ["no such task"]})
    assert ready._with_all_digits(other) == (other, [])


def test_a_study_is_a_file_or_a_ready_one_which_writes_to_a_folder_of_its_name(tmp_path):
    assert find_study("rsbench-table-2").output == Path("out/rsbench-table-2-small")
    assert find_study("rsbench-table-2").name.endswith("(small)")
    (tmp_path / "mine").write_text("{name: m, tasks: [mnlogic], models: [tree]}")
    assert find_study(str(tmp_path / "mine"), output=tmp_path / "there").output == tmp_path / "there"
    with pytest.raises(ConfigError):
        find_study(str(tmp_path / "none.yml"))
    known = list(ready._study_files())
    assert known == sorted(known) and all(ready._study_files()[name].suffix == ".yaml" for name in known)


def test_the_metric_as_released_is_another_or_has_a_suffix():
    released = AsReleased(model="m", metrics={"a": "b"}, suffix="_x", fault="f")
    assert (released.metric("a"), released.metric("c"), released.task) == ("b", "c_x", None)
    assert AsReleased(model="m", fault="f").metric("c") == "c"


def departing(monkeypatch, rows, paper=None, **more):
    made = study(models=[{"model": "blackbox", "batch_size": 16}], seeds=[0, 1, 2], **more)
    monkeypatch.setattr(fidelity, "find_study", lambda name, size: made)
    known = StudyFidelity(table="T", paper=paper or {}, rows={"blackbox": FidelityRow(**rows)})
    monkeypatch.setattr(fidelity, "fidelity_of", lambda name: known)
    return [(one.setting, one.published, one.ours, one.why) for one in departures("mine")]


def test_a_departure_is_what_neither_the_paper_nor_the_released_code_has(monkeypatch):
    paper = {"batch_size": 64, "seeds": 5}
    assert departing(monkeypatch, {}, paper) == [("batch_size", 64, 16, ""), ("seeds", 5, 3, "")]
    assert departing(monkeypatch, {"released": {"batch_size": 16}, "departs": {"seeds": "time"}}, paper) == [
        ("seeds", 5, 3, "time")
    ]
    assert departing(monkeypatch, {"paper": {"batch_size": 16, "seeds": 3}}, paper) == []
    assert departing(monkeypatch, {"paper": {"seeds": 6}}, folds=2) == []
    assert departing(monkeypatch, {"paper": {"task.k": 2}}) == [("task.k", 2, 3, "")]
    with pytest.raises(DataError, match="mine, blackbox: ours does not depart in 'epochs'"):
        departing(monkeypatch, {"departs": {"seeds": "x", "epochs": "y"}}, {"seeds": 4})
    with pytest.raises(DataError, match="s has no model called 'nobody'"):
        fidelity._settings_of(study(), "nobody")


def test_settings_that_follow_from_the_data():
    made = study(models=["blackbox"], challenges=NOISY[1:], n=50)
    found = fidelity._settings_of(made, "blackbox")
    assert (found["examples"], found["seeds"], found["input"], found["task.k"]) == (50, 1, [1, 28, 84], 3)
    assert found["test"] == {split.name: split.size for split in made.datasets[1].recipe.splits}["test"]
    parts = study(models=[{"model": "dpl", "supervised_share": 0.3}], n=50, folds=3, seeds=[0, 1])
    found = fidelity._settings_of(parts, "dpl")  # it looks at one digit at a time
    assert (found["input"], found["supervised_examples"], found["seeds"]) == ([1, 28, 28], 15, 6)


# -- running -----------------------------------------------------------------------------------------------------------


def test_how_a_step_ended_is_said_in_a_line():
    made, said = study(), []
    run, data = made.runs[0], made.datasets[0]
    for step, outcome in (
        (run, Outcome(run.name, True, 2.6)), (data, Outcome(data.name, True, 0.4)), (run, Outcome(run.name, False, 0.0)),
        (data, Outcome(data.name, True, 1.0, "no room")),
    ):  # fmt: skip
        running._say_outcome(SimpleNamespace(output=Path("o")), step, outcome, said.append)
    assert said == [
        f"trained    o/runs/{run.name} (3 s)", f"made    o/data/{data.name} (0 s)", f"kept    o/runs/{run.name}",
        f"failed  o/data/{data.name}: no room",
    ]  # fmt: skip


def test_progress_counts_parts_of_runs_under_way(tmp_path, monkeypatch):
    made = study(seeds=[0, 1])
    kept, first, second, third = made.runs[:4]
    finished = {kept.name}
    parts = {first.name: (1, 4), second.name: (9, 9), third.name: (0, 0)}
    monkeypatch.setattr(running, "is_finished", lambda step, output: step.name in finished)
    monkeypatch.setattr(running, "progress_of", lambda step, output: parts[step.name])
    watched, seen, said = [], [], []

    class Fake:
        def run(self, steps, output, poll):
            assert [step.name for step in steps] == [first.name, second.name, third.name]
            poll()
            yield Outcome(second.name, True, 1.0)
            poll()

    found = running._all(made, made.runs[:4], Fake(), said.append, lambda *words: watched.append(words), seen.append)
    assert [outcome.name for outcome in found] == [kept.name, second.name] == [outcome.name for outcome in seen]
    assert [(name, whole, note) for name, _, whole, note in watched] == [
        ("s", 4, "1 of 4 runs done"), ("s", 4, "2 of 4 runs done"),
    ]  # fmt: skip
    assert [done for _, done, _, _ in watched] == pytest.approx([1 + 0.25 + 0.95, 2 + 0.25 + 0.95])
    assert [text.split()[0] for text in said] == ["kept", "trained"]


def test_the_report_has_the_first_finished_run_of_each_model(tmp_path, monkeypatch):
    made = replace(study(seeds=[0, 1], challenges=NOISY), output=tmp_path)
    lost = {made.runs[0].name, *(run.name for run in made.runs if run.label == "linear" and run.task == "three")}
    monkeypatch.setattr(running, "is_finished", lambda step, output: step.name not in lost)
    names = [path.name.rpartition("-")[0] for path in running._reported_runs(made)]
    assert names == [
        "two-tree-seed1", "two-linear-seed0", "two-tree-noisy-seed0", "two-linear-noisy-seed0", "three-tree-seed0",
        "three-tree-noisy-seed0",
    ]  # fmt: skip


def test_a_study_without_any_run_done_says_what_failed_first(tmp_path, monkeypatch):
    made = replace(study(), output=tmp_path)
    with pytest.raises(RunFailed, match="^every run failed; the first, a: broke$"):
        running._finish(made, [Outcome("a", False, 0.0, "broke"), Outcome("b", False, 0.0, "too")], lambda *_: None)
    with pytest.raises(RunFailed, match="^every run failed; the first, : there is none to run$"):
        running._finish(made, [], lambda *_: None)


# -- numbers of analyses -----------------------------------------------------------------------------------------------


def test_interventions_give_a_number_a_budget(monkeypatch):
    asked = []

    class Point(SimpleNamespace):
        def to_dict(self):
            return self.numbers

    points = [
        Point(whole=False, budget=0, numbers={"accuracy": 0.5, "coverage": None, "other": 1}),
        Point(whole=False, budget=3.0, numbers={"net_work_automated": 2, "selective_accuracy": 0.25, "budget": 3}),
        Point(whole=True, budget=9, numbers={"accuracy": 1, "coverage": 0.75}),
    ]

    def intervene(plan, dataset, answering, redraw, reader):
        asked.append((plan, dataset, answering, redraw, reader))
        return SimpleNamespace(curve=SimpleNamespace(points=points), index=range(7))

    monkeypatch.setattr("assay.diagnosis.interventions.intervene.intervene", intervene)
    monkeypatch.setattr("assay.studies.run_models.answering_for", lambda folder, dataset, split: ((folder, split), {}))
    monkeypatch.setattr("assay.data.rebuild.redrawing_for", lambda kind, dataset: ("redraw", kind))
    monkeypatch.setattr("assay.models.readers.opening.reader_for", lambda source, reader: ("reader", source, reader))
    given = {"policy": "p", "budget": "0,3", "source": "vlm", "reader": {"model": "m"}, "kind": "manipulation", "suffix": "_x",
             "threshold": 0.25, "target": 0.75, "split": "ood"}  # fmt: skip
    found = run_analysis("intervene", Path("r"), "data", Settings(given))
    assert [(one.split, one.metric, one.value, one.examples) for one in found] == [
        ("ood", "accuracy_k0_x", 0.5, 7), ("ood", "net_work_automated_k3_x", 2.0, 7), ("ood", "selective_accuracy_k3_x", 0.25, 7),
        ("ood", "accuracy_max_x", 1.0, 7), ("ood", "coverage_max_x", 0.75, 7),
    ]  # fmt: skip
    ((plan, *others),) = asked
    assert others == ["data", (Path("r"), "ood"), ("redraw", "manipulation"), ("reader", "vlm", {"model": "m"})]
    assert (plan.policy, plan.source, plan.kind, plan.split) == ("p", "vlm", "manipulation", "ood")
    assert (plan.threshold, plan.target) == (0.25, 0.75)


def test_changes_tell_apart_where_the_label_moved(monkeypatch):
    labels = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 0], [1, 1], [0, 1], [0, 1]])  # four worlds, before and after
    said = np.array([[0, 0], [1, 1], [1, 1], [0, 1], [0, 0], [1, 1], [0, 1], [1, 1]])
    did = []

    def intervened(dataset, split, task, do):
        did.append((dataset, split, task, do))
        return type("Pairs", (), {"data": "pairs", "__len__": lambda self: 4})()

    monkeypatch.setattr("assay.data.pairs.intervened", intervened)
    monkeypatch.setattr("assay.data.rebuild.task_of", lambda dataset: "task")
    monkeypatch.setattr("assay.models.core.runs.load_model", lambda folder: SimpleNamespace(predict=lambda data: data))
    evidence = SimpleNamespace(labels=labels, predicted_labels=said)
    monkeypatch.setattr("assay.metrics.evidence.gather", lambda data, predictions: evidence)

    def numbers(*do):
        found = run_analysis("change", Path("r"), "data", Settings({"do": list(do), "split": "ood"}))
        return [(one.split, one.metric, one.value, one.examples) for one in found]

    assert numbers("swap") == [
        ("ood", "before_swap", 0.25, 4), ("ood", "after_swap", 0.75, 4), ("ood", "after_moved_swap", 0.5, 2),
        ("ood", "after_stays_swap", 1.0, 2),
    ]  # fmt: skip
    assert [metric for _, metric, _, _ in numbers("a=1")][:2] == ["before_do", "after_do"]
    assert numbers("a=1", "b=2")[0][1] == "before_do" and did[0] == ("data", "ood", "task", ["swap"])
    labels[4:] = labels[:4]
    assert [metric for _, metric, _, _ in numbers("swap")] == ["before_swap", "after_swap", "after_stays_swap"]


def test_leaks_are_of_the_kinds_that_there_are(monkeypatch):
    found = {"soft": {"ctl": 0.1, "icl": 0.2, "probe": 0.3}, "hard": None, "rows": 12}
    monkeypatch.setattr("assay.diagnosis.leaks.leakage", lambda evidence: SimpleNamespace(to_dict=lambda: found))
    monkeypatch.setattr(analyses, "gather_from", lambda dataset, predictions: predictions)
    monkeypatch.setattr(analyses.RunFolder, "all_predictions", lambda self, knowledge: {"test": 1})
    data = SimpleNamespace(knowledge=None)
    said = run_analysis("leakage", Path("r"), data, Settings({}))
    assert [(one.split, one.metric, one.value, one.examples) for one in said] == [
        ("test", "ctl_soft", 0.1, 12), ("test", "icl_soft", 0.2, 12), ("test", "probe_soft", 0.3, 12),
    ]  # fmt: skip
    found["hard"] = {"ctl": 0.4, "icl": 0.5, "probe": 0.6}
    assert [one.metric for one in run_analysis("leakage", Path("r"), data, Settings({}))][3:] == [
        "ctl_hard", "icl_hard", "probe_hard",
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="no predictions for split 'ood'"):
        run_analysis("leakage", Path("r"), data, Settings({"split": "ood"}))


def test_alignments_give_the_numbers_of_each_label_head(monkeypatch):
    class Row(SimpleNamespace):
        def to_dict(self):
            return {"front_end": self.front_end, "gain": self.gain, "test_accuracy": 0.5}

    rows = [Row(front_end="as trained", gain=0.25), Row(front_end="aligned", gain=0.75)]
    monkeypatch.setattr("assay.models.concept.alignment.align_run", lambda *given: SimpleNamespace(rows=rows))
    asked = []

    def interventions(run, dataset, settings):
        asked.append((run.name, dict(settings.values)))
        return []

    monkeypatch.setattr(analyses, "interventions", interventions)
    data = {"test": range(9)}
    found = run_analysis("align", Path("r"), data, Settings({"weights": {}}))
    assert [(one.split, one.metric, one.value, one.examples) for one in found] == [
        ("test", "gain_as_trained", 0.25, 9), ("test", "test_accuracy_as_trained", 0.5, 9), ("test", "gain_aligned", 0.75, 9),
        ("test", "test_accuracy_aligned", 0.5, 9),
    ]  # fmt: skip
    assert asked == []
    run_analysis("align", Path("r"), data, Settings({"weights": {}, "budget": "0,2"}))
    assert asked == [
        ("r", {"budget": "0,2", "suffix": "_as_trained"}), ("aligned", {"budget": "0,2", "suffix": "_aligned"}),
    ]  # fmt: skip


def test_a_change_of_several_kinds_has_no_name_and_one_example_is_enough(monkeypatch):
    labels = np.array([[0], [1], [1], [1]])  # two worlds, before and after: only the first one moved
    evidence = SimpleNamespace(labels=labels, predicted_labels=np.array([[0], [0], [1], [0]]))
    pairs = type("Pairs", (), {"data": "pairs", "__len__": lambda self: 2})()
    monkeypatch.setattr("assay.data.pairs.intervened", lambda dataset, split, task, do: pairs)
    monkeypatch.setattr("assay.data.rebuild.task_of", lambda dataset: "task")
    monkeypatch.setattr("assay.models.core.runs.load_model", lambda folder: SimpleNamespace(predict=lambda data: data))
    monkeypatch.setattr("assay.metrics.evidence.gather", lambda data, predictions: evidence)
    found = run_analysis("change", Path("r"), "data", Settings({"do": ["swap", "turn"]}))
    assert [(one.split, one.metric, one.value, one.examples) for one in found] == [
        ("test", "before_do", 0.5, 2), ("test", "after_do", 0.5, 2), ("test", "after_moved_do", 1.0, 1),
        ("test", "after_stays_do", 0.0, 1),
    ]  # fmt: skip


def test_another_rule_is_applied_to_the_splits_that_are_asked_for(monkeypatch):
    from assay.concepts import bits

    asked = []

    def under_rule(evidence, rule, only_predicted):
        asked.append((evidence, [str(label.formula) for label in rule.labels], only_predicted))
        return evidence

    def score(evidence, metrics):
        return {m: SimpleNamespace(value=float(len(evidence)), examples=place) for place, m in enumerate(metrics, 3)}

    monkeypatch.setattr("assay.runs.other_rule.under_rule", under_rule)
    monkeypatch.setattr(
        "assay.runs.evidence.evidence_of", lambda run, dataset: {s: f"{s}!" for s in ("valid", "test", "ood")}
    )
    monkeypatch.setattr("assay.metrics.scoring.score", score)
    data = SimpleNamespace(knowledge=SimpleNamespace(space=bits(["a", "b"])))
    given = {
        "labels": {"y": "a and b"},
        "splits": ["ood", "test"],
        "metrics": ["m", "n"],
        "suffix": "_x",
        "only_predicted": True,
    }
    found = run_analysis("swap_rule", Path("r"), data, Settings(given))
    assert [(one.split, one.metric, one.value, one.examples) for one in found] == [
        ("test", "m_x", 5.0, 3), ("test", "n_x", 5.0, 4), ("ood", "m_x", 4.0, 3), ("ood", "n_x", 4.0, 4),
    ]  # fmt: skip
    assert asked == [("test!", ["a and b"], True), ("ood!", ["a and b"], True)]
    found = run_analysis("swap_rule", Path("r"), data, Settings({"labels": {"y": "a"}, "metrics": ["m"]}))
    assert [(one.split, one.metric) for one in found] == [("test", "m_swapped")] and asked[-1] == (
        "test!",
        ["a"],
        False,
    )


def test_a_row_that_is_out_of_date_is_found_even_if_another_departs(monkeypatch):
    models = [{"model": "blackbox", "batch_size": 16}, {"model": "dpl", "name": "cbm", "batch_size": 32}]
    made = study(models=models)
    monkeypatch.setattr(fidelity, "find_study", lambda name, size: made)
    rows = {"blackbox": FidelityRow(), "cbm": FidelityRow(departs={"batch_size": "memory"})}
    known = StudyFidelity(table="T", paper={"batch_size": 32}, rows=rows)
    monkeypatch.setattr(fidelity, "fidelity_of", lambda name: known)
    with pytest.raises(DataError, match="mine, cbm: ours does not depart in 'batch_size'"):
        departures("mine")
    with pytest.raises(DataError, match="s has no model called 'dpl'"):  # it is called otherwise
        fidelity._settings_of(made, "dpl")


@pytest.mark.parametrize(
    ("role", "regions", "shape"),
    [
        ("concept", {"one": (2, 5, 12, 30), "two": (0, 0, 9, 9)}, [3, 25, 10]),
        ("concept", {}, [3, 40, 60]), ("label", {"one": (2, 5, 12, 30)}, [3, 40, 60]),
    ],
)  # fmt: skip
def test_the_input_is_the_picture_or_the_first_region_of_those_who_look_at_regions(monkeypatch, role, regions, shape):
    boxes = {name: SimpleNamespace(left=x, top=y, right=r, bottom=b) for name, (x, y, r, b) in regions.items()}
    layout = SimpleNamespace(width=60, height=40, channels=3, regions=boxes)
    settings = SimpleNamespace(model_dump=lambda mode: {"supervised_share": 0.25, "lr": 0.5})
    task = SimpleNamespace(
        layout=layout, backbones=lambda: {"a": 1}, config=SimpleNamespace(model_dump=lambda mode: {"k": 2})
    )
    asked = []
    model = SimpleNamespace(role=role, configure=lambda given, nets: asked.append((given, nets)) or settings)
    monkeypatch.setattr(fidelity, "MODELS", {"m": model})
    splits = [SimpleNamespace(name=name, size=size) for name, size in (("valid", 7), ("train", 30), ("test", 9))]
    step = SimpleNamespace(recipe=SimpleNamespace(task=task, splits=splits))
    found = fidelity._data_settings(step, SimpleNamespace(model="m", settings="given"))
    assert found == {
        "supervised_share": 0.25, "lr": 0.5, "examples": 30, "test": 9, "input": shape, "supervised_examples": 8, "task.k": 2,
    }  # fmt: skip
    assert asked == [("given", {"a": 1})]


def test_only_the_papers_size_asks_for_all_digits(monkeypatch):
    monkeypatch.delenv(ready.MNIST, raising=False)
    small, paper = find_study("rsbench-table-2", "small"), find_study("rsbench-table-2", "paper")
    assert not [text for text in small.absent if "digits of MNIST" in text]
    assert len([text for text in paper.absent if "digits of MNIST" in text]) == 1


def test_a_study_file_may_run_the_code_that_it_is_given(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(ready, "load_study", lambda path, output, code=(): given.append((path, output, code)))
    for name in ("a.yaml", "b.yml"):
        find_study(name, output=tmp_path, code=[Path("mine.py")])
    assert given == [(Path(name), tmp_path, [Path("mine.py")]) for name in ("a.yaml", "b.yml")]


def test_one_fold_is_a_fold_and_none_is_none():
    assert [(run.fold, run.folds) for run in study(folds=1, models=["tree"]).runs] == [(0, 1), (0, 1)]
    assert all("-fold0-" in run.name for run in study(folds=1).runs)
    assert [(run.fold, run.folds) for run in study(models=["tree"]).runs] == [(None, 0), (None, 0)]
    assert not any("fold" in run.name for run in study().runs)


def test_a_study_that_may_lack_models_lacks_its_baseline_too():
    given = {"tasks": ["mnlogic"], "models": ["gone", "lost"], "baseline": "gone"}
    found = study_from(Settings(given), lenient=True)
    assert (found.runs, found.baseline) == ((), "gone") and len(found.datasets) == 1
    assert found.absent == ("model 'gone', which is not there", "model 'lost', which is not there")
    with pytest.raises(ConfigError, match="baseline: no model is called 'gone'; there is: tree"):
        study_from(Settings({**given, "models": ["gone", "tree"]}), lenient=True)
    with pytest.raises(ConfigError, match="no model named 'gone'"):
        study_from(Settings(given))


def test_settings_of_the_study_know_their_line_and_those_of_a_model_win():
    places = {"epochs": "s line 3", "patience": "s line 4", "n": "s line 5"}
    models = ["dpl", {"model": "dpl", "name": "own", "epochs": 9}, "tree"]
    given = {"tasks": [{"task": "mnlogic", "k": 2}], "models": models, "epochs": 4, "patience": 2, "n": 40}
    usual, own, tree = study_from(Settings(given, places)).runs
    assert dict(usual.settings.values) == {"epochs": 4, "patience": 2} and dict(tree.settings.values) == {}
    assert dict(own.settings.values) == {"epochs": 9, "patience": 2}
    assert (usual.settings.place("epochs"), own.settings.place("patience")) == ("s line 3: ", "s line 4: ")
    assert tree.settings.place("epochs") == ""


def test_copies_are_counted_as_copies(monkeypatch, tmp_path):
    made, watched = replace(study(challenges=NOISY), output=tmp_path), []

    class Fake:
        def run(self, steps, output, poll):
            for step in steps:
                poll()
                yield Outcome(step.name, True, 1.0)
            poll()

    running._all(made, made.copies, Fake(), lambda text: None, lambda *words: watched.append(words), lambda one: None)
    assert watched == [("s", number, 2, f"{number} of 2 copies done") for number in (0, 1, 2)]
