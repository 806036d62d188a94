"""What a study's settings ask for: which data, copies and runs, what they are called, and what they learn from."""

from pathlib import Path

import pytest

from assay.base import AssayError, ConfigError, Settings, UnknownName, forget_files
from assay.dataset import Dataset
from assay.lab import find_study, study_from
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
NOISE = {"challenge": "noise", "annotate": {"label_noise": 0.25}}
TASKS = [{"task": "mnlogic", "name": name, "k": k} for name, k in (("two", 2), ("three", 3))]


def made(*tasks, **more):
    return study_from(Settings({"tasks": list(tasks), "models": ["tree"], **more}))


@pytest.fixture
def folder(mnlogic: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "named").symlink_to(mnlogic.folder)
    monkeypatch.chdir(tmp_path)
    return "named"


def test_a_dataset_is_called_by_its_folder_and_known_by_its_fingerprint(folder: str, mnlogic: Dataset) -> None:
    study = made({"task": folder, "name": "mine"}, challenges=["plain", NOISE], n=7)
    (step,) = study.datasets
    assert step.name == f"mnlogic-{mnlogic.fingerprint[:8]}" and step.source == str(mnlogic.folder.resolve())
    (copy,) = study.copies
    assert copy.parent == step.name and copy.name.startswith("mnlogic-noise-") and copy.annotation == NOISE["annotate"]
    assert [(run.task, run.challenge, run.data) for run in study.runs] == [
        ("mine", "plain", step.name), ("mine", "noise", copy.name),
    ]  # fmt: skip
    assert [run.task for run in made(folder).runs] == [mnlogic.folder.resolve().name]  # a link is called by what it is


def test_a_dataset_that_is_there_cannot_be_changed(folder: str) -> None:
    for task, challenges, key in (
        ({"task": folder, "k": 3}, ["plain"], "k"), ({"task": folder, "n": 3, "k": 2}, ["plain"], "n"),
        (folder, ["plain", {"challenge": "few", "n": 8}], "n"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=f"'named' is a dataset that is there; '{key}' cannot change it"):
            made(task, challenges=challenges)
    with pytest.raises(ConfigError, match="no task named 'nowhere'"):
        made("nowhere")


def test_every_task_challenge_model_seed_and_fold_is_a_run_in_this_order() -> None:
    models = ["tree", {"model": "linear", "on": ["three"]}]
    study = made(*TASKS, challenges=["plain", NOISE], seeds=[3, 1], folds=2, models=models)
    names = [run.name.rpartition("-")[0] for run in study.runs]
    assert names[:5] == [*(f"two-tree-seed{s}-fold{f}" for s in (3, 1) for f in (0, 1)), "two-tree-noise-seed3-fold0"]
    assert len({run.name for run in study.runs}) == 24 and names[-1] == "three-linear-noise-seed1-fold1"
    assert {run.data for run in study.runs if run.challenge == "noise"} == {copy.name for copy in study.copies}
    assert [(run.fold, run.folds) for run in made(TASKS[0], folds=1).runs] == [(0, 1)]
    assert [(run.fold, run.folds) for run in made(TASKS[0]).runs] == [(None, 0)]


def test_copies_of_like_tasks_have_names_of_their_own() -> None:
    study = made(*TASKS, challenges=[NOISE, {**NOISE, "challenge": "more", "annotate": {"label_noise": 0.5}}])
    assert len({copy.name for copy in study.copies}) == 4
    empty = made(TASKS[0], challenges=[{"challenge": "nothing", "annotate": {}}])
    assert empty.copies == () and empty.runs[0].data == empty.datasets[0].name


def names(**more):
    return [run.name for run in made(TASKS[0], **more).runs]


def test_all_that_decides_a_run_is_in_its_name() -> None:
    usual = names()
    assert names() == usual and names(name="other", splits=["test"], metrics=["label_f1"]) == usual
    others = [
        names(analyses=["leakage"]), names(n=50), names(models=[{"model": "tree", "name": "tree", "depth": 2}]),
        names(seeds=[1]), names(folds=2)[:1],
    ]  # fmt: skip
    assert len({tuple(one) for one in [usual, *others]}) == len(others) + 1


OWN = '''
"""A model of one's own."""

from assay.models.symbolic.tree import Tree


class Oak(Tree):
    """A tree."""

    name = "oak"
'''


def test_the_code_of_a_run_is_in_its_name_and_is_run_only_if_that_is_allowed(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.yaml").write_text("{tasks: [{task: mnlogic, k: 2}], models: ['mine.py:Oak', tree]}")
    found = []
    for text in (OWN, OWN + "# another line\n"):
        Path("mine.py").write_text(text)
        with pytest.raises(
            ConfigError, match=r"study.yaml line 1: 'mine.py:Oak' is code.*--allow-code mine.py \(mine.py"
        ):
            find_study("study.yaml")
        found.append([run.name for run in find_study("study.yaml", code=[Path("mine.py")]).runs])
        forget_files()
    assert found[0][0] != found[1][0] and found[0][1] == found[1][1]  # the tree is not of this file
    Path("study.yaml").write_text("{tasks: ['gone.py'], models: [tree]}")
    with pytest.raises(ConfigError, match=r"'gone.py' is code.*--allow-code gone.py$"):
        find_study("study.yaml")


def test_no_file_is_run_because_a_study_names_a_metric() -> None:
    with pytest.raises(UnknownName, match="no metric named 'mine.py:own'"):
        made(TASKS[0], metrics=["label_f1", "mine.py:own"])
    assert made(TASKS[0], metrics=["label_f1", "accuracy_k1"]).config.metrics == ["label_f1", "accuracy_k1"]


def test_runs_are_tried_on_the_data_of_their_own_challenge() -> None:
    study = made(*TASKS, challenges=["plain", NOISE], analyses=[{"analysis": "transfer", "to": ["three"]}])
    data = {(run.task, run.challenge): run.data for run in study.runs}
    assert len(set(data.values())) == 4
    for run in study.runs:
        assert dict(run.analyses[0][1].values["folders"]) == {"three": data["three", run.challenge]}


def test_each_seed_and_fold_learns_from_the_run_of_its_own() -> None:
    models = [
        {"model": "tree", "perception": "eye"},
        {"model": "cbm", "name": "eye"},
        {"model": "linear", "perception": "/a/path"},
    ]
    study = made(TASKS[0], models=models, seeds=[3, 1], folds=2)
    eyes = {(run.seed, run.fold): run.name for run in study.runs if run.label == "eye"}
    assert {(run.seed, run.fold): run.needs for run in study.runs if run.label == "tree"} == eyes and len(eyes) == 4
    assert {run.needs for run in study.runs if run.label in ("eye", "linear")} == {""}
    order = [run.label for run in study.runs]
    assert order.index("tree") > max(place for place, label in enumerate(order) if label == "eye")


def test_the_number_of_examples_is_the_challenges_then_the_tasks_then_the_studys() -> None:
    tasks = [{**TASKS[0], "name": "own", "n": 40}, {**TASKS[0], "name": "none"}]
    study = made(*tasks, challenges=["plain", {"challenge": "few", "n": 20}], n=30)
    sizes = {step.name: step.recipe.splits[0].size for step in study.datasets}
    assert [(run.task, run.challenge, sizes[run.data]) for run in study.runs] == [
        ("own", "plain", 40), ("own", "few", 20), ("none", "plain", 30), ("none", "few", 20),
    ]  # fmt: skip


def test_settings_of_the_study_are_for_networks_and_those_of_a_model_win() -> None:
    models = ["dpl", {"model": "dpl", "name": "own", "epochs": 9}, "tree"]
    study = made(TASKS[0], models=models, epochs=4, patience=2)
    assert [dict(run.settings.values) for run in study.runs] == [
        {"epochs": 4, "patience": 2}, {"epochs": 9, "patience": 2}, {},
    ]  # fmt: skip


def test_a_part_of_a_study_has_the_first_seeds_and_the_data_and_runs_that_it_needs() -> None:
    models = [{"model": "tree", "name": "oak"}, {"model": "tree", "name": "elm", "depth": 2, "on": ["three"]}]
    study = made(*TASKS, models=models, seeds=[2, 0, 1], challenges=["plain", NOISE])
    part = study.only(["elm"], 2)
    assert {(run.label, run.task, run.seed) for run in part.runs} == {("elm", "three", 2), ("elm", "three", 0)}
    assert [step.name for step in part.datasets] == [study.datasets[1].name] and part.copies == study.copies[1:]
    assert {run.name for run in part.runs} <= {run.name for run in study.runs} and study.baseline == "oak"
    assert study.only() == study and len(study.only(seeds=1).runs) == 6
    with pytest.raises(UnknownName, match="the study has no model called 'tree'; there is: elm, oak"):
        study.only(["tree"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"baseline": "linaer"}, "baseline: no model is called 'linaer'"),
        ({"challenges": [{"challenge": "c", "annotat": {}, "a": 1}]}, "challenge 'c': unknown key 'a'"),
        ({"challenges": [{"challenge": "x", "annotate": {"label_nois": 1}}]}, "unknown key 'label_nois'"),
        ({"seeds": [0, 1, 0]}, r"seeds: each once, not \[0, 1, 0\]"),
        ({"folds": -1}, "folds"), ({"n": 0}, "n: "), ({"epochs": 0}, "epochs"), ({"models": []}, "models"),
        ({"analyses": ["leek"]}, "no analysis named 'leek'; there is: align, change, intervene, leakage, probe"),
        ({"analyses": [{"split": "test"}]}, "no analysis named ''"),
        ({"analyses": [{"analysis": "change"}]}, "do"),
        ({"analyses": [{"analysis": "change", "do": [], "doo": 1}]}, "unknown key 'doo'"),
        ({"analyses": [{"analysis": "leakage", "models": "cbm"}]}, "expected a list of names, not 'cbm'"),
        ({"analyses": [{"analysis": "transfer", "to": ["nowhere"]}]}, "transfer: no task is called 'nowhere'"),
        ({"diagnose": {"labels.mosty": 0.01}}, "did you mean 'labels.mostly'"),
    ],
)  # fmt: skip
def test_studies_that_cannot_be_are_refused_in_one_line(changes, message) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        made(*TASKS, **changes)
    assert "\n" not in str(caught.value)
