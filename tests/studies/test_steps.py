"""What a step hands on to those who make, copy, train and score, piece by piece; all of them stand in here."""

import json
from types import SimpleNamespace

import pytest

from assay.code_files import load_file, loaded_files
from assay.config import Settings
from assay.data import Fold
from assay.errors import DataError
from assay.models.core import runs as model_runs
from assay.runs.usage import Usage
from assay.studies import CopyStep, DataStep, RunStep, work
from assay.studies.work import groups_of_seeds, perform, train_side_by_side


def run_step(name="r", **more):
    facts = {
        "data": "d", "task": "t", "challenge": "noise", "model": "cbm", "label": "mine", "settings": Settings({"k": 1}),
        "seed": 4,
    }  # fmt: skip
    return RunStep(name, **{**facts, **more})


def splits(**sizes):
    return SimpleNamespace(splits=[SimpleNamespace(name=name, size=size) for name, size in sizes.items()])


# -- data --------------------------------------------------------------------------------------------------------------


def test_progress_of_data_is_counted_over_all_splits(monkeypatch, tmp_path):
    told, given = [], []

    def make(recipe, folder, workers, count, pool):
        given.append((recipe, folder, workers, pool))
        for more in (3, 5, 2):
            count(more)

    monkeypatch.setattr(work, "make", make)
    recipe = splits(train=8, test=4)
    work._make(DataStep("a", recipe), tmp_path / "a", 2, "pool", lambda *call: told.append(call))
    assert told == [(3, 12), (8, 12), (10, 12)] and given == [(recipe, tmp_path / "a", 2, "pool")]


def test_a_dataset_that_is_there_is_looked_at_and_copied_whole(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(work.Dataset, "open", opened.append)
    (tmp_path / "source" / "train").mkdir(parents=True)
    (tmp_path / "source" / "train" / "x").write_text("1")
    work._make(DataStep("a", None, str(tmp_path / "source")), tmp_path / "out" / "a", 1, None, lambda *_: None)
    assert (tmp_path / "out" / "a" / "train" / "x").read_text() == "1" and opened == [str(tmp_path / "source")]

    def refuse(source):
        raise DataError("no dataset")

    monkeypatch.setattr(work.Dataset, "open", refuse)
    found = perform(DataStep("b", None, str(tmp_path / "source")), tmp_path / "out")
    assert (found.fault, found.refused) == ("no dataset", True) and not (tmp_path / "out" / "data" / "b").exists()


def test_a_copy_is_annotated_by_the_machine_that_its_settings_name(monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr(work.Dataset, "open", lambda folder: f"dataset {folder.name}")
    monkeypatch.setattr(work, "machine_of", lambda annotation, dataset: ("machine", annotation.label_noise, dataset))
    monkeypatch.setattr(work, "annotate", lambda *given: done.append(given))
    work._copy(CopyStep("b", "a", {"label_noise": 0.25}), tmp_path, tmp_path / "data" / "b")
    ((dataset, annotation, folder, machine),) = done
    assert (dataset, folder, machine) == ("dataset a", tmp_path / "data" / "b", ("machine", 0.25, "dataset a"))
    assert annotation.label_noise == 0.25


def test_what_was_noted_of_a_step_goes_when_it_is_done(monkeypatch, tmp_path):
    (tmp_path / "mine.py").write_text("x = 1\n")
    file = load_file(tmp_path / "mine.py").file
    seen = []

    def do(step, output, workers, pool, watch):
        (output / ".steps" / "a.progress").write_text("[1, 2]")
        seen.append((step.name, workers, pool, watch, [loaded.file for loaded in loaded_files()]))

    monkeypatch.setattr(work, "_perform", do)
    monkeypatch.setattr(work, "load_files", lambda files: seen.append(list(files)))
    (tmp_path / ".steps").mkdir()
    (tmp_path / ".steps" / "a.fault").write_text("before")
    found = perform(DataStep("a", None), tmp_path, 3, "pool", [file], print)
    assert found.done and found.fault is None and list((tmp_path / ".steps").iterdir()) == []
    assert seen == [[file], ("a", 3, "pool", print, [file])]


# -- training ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def trained(monkeypatch):
    """What was trained, with which order, and what was scored."""
    calls = []

    def train_run(order, dataset, folder, watch):
        calls.append(("train", order, dataset, folder))
        folder.mkdir(parents=True)
        watch(SimpleNamespace(number=2), 5)

    def measure(task):
        task()
        return Usage(8.0, 100.0, 0.0)

    monkeypatch.setattr(model_runs, "train_run", train_run)
    monkeypatch.setattr(work, "measure_usage", measure)
    monkeypatch.setattr(work, "_score", lambda step, run, dataset: {"scored": step.name, "of": dataset})
    return calls


def test_a_run_is_trained_as_its_step_says(trained, tmp_path):
    told = []
    for number, step in enumerate(
        (
            run_step("a"), run_step("b", fold=0, folds=3), run_step("c", fold=2, folds=3, log="wandb", seed=0),
            run_step("d", needs="a", seed=0), run_step("e", needs="a", challenge="plain"),
        )
    ):  # fmt: skip
        work._train(step, "data", tmp_path / step.name, lambda *call: told.append(call))
        order = trained[number][1]
        assert trained[number][2:] == ("data", tmp_path / step.name)
        assert (order.model, order.seed, order.log) == ("cbm", step.seed, step.log)
        assert order.fold == (None if step.fold is None else Fold(step.fold, 3))
        needed = {"perception": str(tmp_path / "a")} if step.needs else {}
        assert dict(order.settings.values) == {"k": 1, **needed}
        assert order.called == {"model": "mine", "task": "t" if step.challenge == "plain" else "t, noise"}
        assert json.loads((tmp_path / step.name / "usage.json").read_text())["seconds"] == 8.0
        assert json.loads((tmp_path / step.name / "records.json").read_text()) == {"scored": step.name, "of": "data"}
    assert told == [(2, 5)] * 5


def test_a_run_that_is_trained_is_only_scored(trained, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "run.json").touch()
    work._train(run_step("a"), "data", tmp_path / "a", lambda *_: None)
    assert trained == [] and sorted(path.name for path in (tmp_path / "a").iterdir()) == ["records.json", "run.json"]


def test_seeds_that_are_trained_together_share_the_time(monkeypatch, tmp_path):
    calls, noted = [], []

    def train_seeds(order, folders, dataset, watch):
        calls.append((order, {seed: run.folder.name for seed, run in folders.items()}, dataset))
        watch(SimpleNamespace(number=3), 9)
        for run in folders.values():
            run.folder.mkdir(parents=True)

    def measure(task):
        task()
        return Usage(9.0, 50.0, None)

    monkeypatch.setattr(model_runs, "train_seeds", train_seeds)
    monkeypatch.setattr(work, "measure_usage", measure)
    monkeypatch.setattr(work.Dataset, "open", lambda folder: folder)
    monkeypatch.setattr(work, "load_files", lambda files: noted.append(list(files)))
    steps = [run_step(f"r{seed}", seed=seed, log="mlflow") for seed in (7, 2, 5)]
    train_side_by_side(steps, tmp_path, ["file"])
    ((order, folders, dataset),) = calls
    assert (order.model, order.seed, order.fold, order.log) == ("cbm", 7, None, "mlflow") and noted == [["file"]]
    assert order.called == {"model": "mine", "task": "t, noise"} and dict(order.settings.values) == {"k": 1}
    assert folders == {7: "r7", 2: "r2", 5: "r5"} and dataset == tmp_path / "data" / "d"
    for step in steps:
        usage = json.loads((tmp_path / "runs" / step.name / "usage.json").read_text())
        assert usage == {"seconds": 3.0, "memory_mb": 50.0, "programs_mb": None}
    assert json.loads((tmp_path / ".steps" / "r7.progress").read_text()) == [3, 9]


def test_only_seeds_that_differ_in_nothing_else_are_trained_together(tmp_path):
    steps = [
        run_step("a1", seed=1), run_step("a2", seed=2), run_step("b1", label="other", seed=1), run_step("b2", label="other", seed=2),
        run_step("c1", data="e"), run_step("d1", challenge="plain"), run_step("e1", settings=Settings({"k": 2})),
        run_step("f1", fold=0, folds=2), run_step("f2", fold=0, folds=2, seed=9), run_step("g1", needs="a1"), run_step("g2", needs="a1", seed=8),
        DataStep("h", None), CopyStep("i", "h", {}), run_step("a3", seed=3, settings=Settings({"k": 1}, {"k": "here"})),
    ]  # fmt: skip
    assert [[step.name for step in group] for group in groups_of_seeds(steps, tmp_path)] == [
        ["a1", "a2", "a3"],
        ["b1", "b2"],
    ]
    (tmp_path / "runs" / "b2").mkdir(parents=True)
    assert [[step.name for step in group] for group in groups_of_seeds(steps, tmp_path)] == [["a1", "a2", "a3"]]
