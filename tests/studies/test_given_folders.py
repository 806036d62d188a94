"""In place of a task, a study may name the folder of a dataset that is there; how its copies and runs are called."""

from pathlib import Path

import pytest

from assay.code_files import CodeFile
from assay.config import Settings
from assay.data import Dataset
from assay.errors import ConfigError, UnknownName
from assay.studies import study as studies
from assay.studies import study_from
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
NOISE = {"challenge": "noise", "annotate": {"label_noise": 0.25}}
TASKS = [{"task": "mnlogic", "name": name, "k": k} for name, k in (("two", 2), ("three", 3))]


def made(*tasks, **more):
    return study_from(Settings({"tasks": list(tasks), "models": ["tree"], **more}))


@pytest.fixture
def folder(mnlogic: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "given data").symlink_to(mnlogic.folder)
    (tmp_path / "named").symlink_to(mnlogic.folder)
    monkeypatch.chdir(tmp_path)
    return "named"


def test_a_dataset_is_called_by_its_folder_and_known_by_its_fingerprint(folder: str, mnlogic: Dataset) -> None:
    study = made({"task": folder, "name": "mine"}, challenges=["plain", NOISE], n=7)
    (step,) = study.datasets
    assert step.name == f"mnlogic-{mnlogic.fingerprint[:8]}" and step.recipe is None
    assert step.source == str(mnlogic.folder.resolve())
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


def test_copies_of_like_tasks_have_names_of_their_own() -> None:
    study = made(*TASKS, challenges=[NOISE, {**NOISE, "challenge": "more", "annotate": {"label_noise": 0.5}}])
    assert len({copy.name for copy in study.copies}) == 4 and [copy.parent for copy in study.copies] == [
        step.name for step in study.datasets for _ in range(2)
    ]
    assert [copy.name.rpartition("-")[0] for copy in study.copies] == ["mnlogic-noise", "mnlogic-more"] * 2
    empty = made(TASKS[0], challenges=[{"challenge": "nothing", "annotate": {}}])
    assert empty.copies == () and empty.runs[0].data == empty.datasets[0].name


def names(**more):
    return [run.name for run in made(TASKS[0], **more).runs]


def test_all_that_decides_a_run_is_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = names()
    assert names() == usual and names(name="other", splits=["test"], metrics=["label_f1"]) == usual
    others = [
        names(analyses=["leakage"]), names(n=50), names(models=[{"model": "tree", "name": "tree", "depth": 2}]),
        names(seeds=[1]), names(folds=2)[:1],
    ]  # fmt: skip
    for sha in ("a" * 64, "b" * 64):
        monkeypatch.setattr(studies, "_code_of", lambda model, config, sha=sha: [CodeFile(Path("mine.py"), sha)])
        others.append(names())
    assert len({tuple(one) for one in [usual, *others]}) == len(others) + 1


def test_the_code_of_a_run_is_that_of_its_model_and_of_the_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entries(dict):
        def entry(self, name):
            return self[name]

    def entry(code):
        return type("Entry", (), {"code": code})

    files = {name: CodeFile(Path(f"{name}.py"), name * 64) for name in "abc"}
    monkeypatch.setattr(studies, "MODELS", Entries(mine=entry(files["a"]), tree=entry(None)))
    monkeypatch.setattr(studies, "METRICS", Entries(own=entry(files["b"]), f1=entry(None), two=entry(files["c"])))
    config = type("Config", (), {"metrics": ["f1", "own", "accuracy_k1", "two"]})
    models = [type("Model", (), {"name": name}) for name in ("mine", "tree")]
    assert studies._code_of(models[0], config) == [files["a"], files["b"], files["c"]]
    assert studies._code_of(models[1], config) == [files["b"], files["c"]]


def test_no_file_is_run_because_a_study_names_a_metric() -> None:
    with pytest.raises(UnknownName, match="no metric named 'mine.py:own'"):
        made(TASKS[0], metrics=["label_f1", "mine.py:own"])
    assert made(TASKS[0], metrics=["label_f1", "accuracy_k1"]).config.metrics == ["label_f1", "accuracy_k1"]


def test_runs_are_tried_on_the_data_of_their_own_challenge() -> None:
    study = made(*TASKS, challenges=["plain", NOISE], analyses=[{"analysis": "transfer", "to": ["three"]}])
    data = {(run.task, run.challenge): run.data for run in study.runs}
    assert {(run.task, run.challenge): dict(run.analyses[0][1].values["folders"]) for run in study.runs} == {
        (task, challenge): {"three": data["three", challenge]}
        for task in ("two", "three")
        for challenge in ("plain", "noise")
    }
    assert len(set(data.values())) == 4


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


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ({"model": "tree", "on": ["two", "tow"]}, "on: no task is called 'tow'; did you mean 'two'"),
        ({"model": "tree", "deep": 2}, "unknown key 'deep'"),
    ],
)
def test_every_task_and_setting_of_a_model_is_checked(model, why) -> None:
    with pytest.raises(ConfigError, match=why):
        made(*TASKS, models=[model])


def test_models_are_chosen_by_what_the_study_calls_them() -> None:
    study = made(
        *TASKS, models=[{"model": "tree", "name": "oak"}, {"model": "tree", "name": "elm", "depth": 2}], seeds=[2, 0]
    )
    part = study.only(["elm"], 1)
    assert [(run.label, run.task, run.seed) for run in part.runs] == [("elm", "two", 2), ("elm", "three", 2)]
    assert part.datasets == study.datasets and study.only() == study and study.baseline == "oak"
    with pytest.raises(UnknownName, match="the study has no model called 'tree'; there is: elm, oak"):
        study.only(["tree"])
