"""What a study will cost: which steps are tried, and how the cost of a trial is scaled to all of them."""

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.config import Settings
from assay.data import recipe_from
from assay.errors import ConfigError
from assay.studies import CopyStep, DataStep, RunStep, plan, plan_of
from assay.studies.plan import Cost
from tests.samples import needs_task


def run_step(name, data, label="cbm", model="cbm", **settings):
    return RunStep(name, data, "t", "", model, label, Settings(settings), 0)


def study_of(output, datasets, runs, copies=()):
    return SimpleNamespace(output=output, datasets=tuple(datasets), copies=tuple(copies), runs=tuple(runs))


def finish(folder, name):
    folder.mkdir(parents=True)
    (folder / name).touch()


def test_a_plan_tries_each_dataset_that_is_needed_with_each_model(tmp_path, monkeypatch):
    for kind, name, file in (("data", "b", "manifest.json"), ("runs", "r5", "records.json")):
        finish(tmp_path / kind / name, file)
    datasets = [DataStep(name, None) for name in ("c", "b", "a")]
    runs = [
        run_step("r1", "b"), run_step("r2", "b-noisy"), run_step("r3", "b", "dpl"), run_step("r4", "a"),
        run_step("r5", "c", "gone"),
    ]  # fmt: skip
    tried, watched = [], []

    def try_step(step, kinds, left, parents, deadline):
        tried.append((step.name, [run.name for run in kinds], [run.name for run in left], parents))
        return Cost(1.0, 10) if step.name != "c" else Cost(100.0, 1000), {f"{step.name}!"}

    monkeypatch.setattr(plan, "_try_step", try_step)
    study = study_of(tmp_path, datasets, runs, [CopyStep("b-noisy", "b", {})])
    made = plan_of(study, lambda *call: watched.append(call))
    left, parents = ["r1", "r2", "r3", "r4"], {"b-noisy": "b"}
    assert tried == [("a", ["r4"], left, parents), ("b", ["r2", "r3"], left, parents), ("c", [], left, parents)]
    assert watched == [("trying", 0, 3), ("trying", 1, 3), ("trying", 2, 3)]
    assert made == plan.StudyPlan(2, 4, 1, Cost(102.0, 1010), ("a!", "b!", "c!"))  # `b` is there: it takes no disk
    assert plan_of(study, trial=False) == plan.StudyPlan(2, 4, 1, None, ()) and len(tried) == 3


def test_a_dataset_that_is_there_is_only_copied(tmp_path):
    (tmp_path / "data" / "train").mkdir(parents=True)
    (tmp_path / "data" / "train" / "0.parquet").write_bytes(b"12345")
    (tmp_path / "data" / "1.parquet").write_bytes(b"123")
    (tmp_path / "data" / "other.json").write_bytes(b"1")
    step = DataStep("a", None, str(tmp_path / "data"))
    assert plan._try_step(step, [run_step("r", "a", "mine")], [], {}) == (Cost(0.0, 8), {"mine"})


@needs_task("mnadd-half")
def test_the_cost_of_a_trial_is_scaled_to_all_examples_and_runs(tmp_path, monkeypatch):
    recipe = recipe_from(
        "mnadd-half", Settings({"splits": {"train": 320, "valid": 40, "test": 2, "ood": 0, "hard": 0}})
    )
    small = plan._small(recipe)
    assert {split.name: split.size for split in small.splits if split.size} == {"train": 32, "valid": 4, "test": 2}
    clock = iter([10.0, 13.0])
    monkeypatch.setattr(plan.time, "perf_counter", lambda: next(clock))
    sizes, asked = [], []

    def make(given, folder):
        folder.mkdir()
        (folder / "x.parquet").write_bytes(b"1" * 19)
        sizes.append(sum(split.size for split in given.splits))

    def seconds(kind, dataset, rows):
        asked.append((kind.label, rows))
        return {"cbm": 7.0, "dpl": 0.5}.get(kind.label)

    monkeypatch.setattr(plan, "make", make)
    monkeypatch.setattr(plan.Dataset, "open", lambda folder: SimpleNamespace(folder=folder))
    monkeypatch.setattr(plan, "_training_seconds", seconds)
    kinds = [run_step("r1", "a"), run_step("r3", "a", "dpl"), run_step("r5", "a", "tree")]
    left = [*kinds, run_step("r2", "a-noisy"), run_step("r4", "b"), run_step("r6", "b-noisy")]
    cost, unknown = plan._try_step(DataStep("a", recipe), kinds, left, {"a-noisy": "a", "b-noisy": "b"})
    rows = sum(split.size for split in recipe.splits)
    assert rows == 362 and sizes == [sum(split.size for split in small.splits)]
    share = rows / sizes[0]
    assert cost.seconds == pytest.approx(3.0 * share + 2 * 7.0 + 0.5) and cost.bytes == int(19 * share)
    assert asked == [("cbm", 320), ("dpl", 320), ("tree", 320)] and unknown == {"tree"}


@needs_task("mnadd-half")
def test_what_cannot_be_tried_in_time_is_named(monkeypatch):
    recipe = recipe_from("mnadd-half", Settings({"splits": {"train": 4, "valid": 2, "test": 0, "ood": 0, "hard": 0}}))
    kinds = [run_step("r1", "a"), run_step("r2", "a", "dpl"), run_step("r3", "a", "tree")]
    study = study_of(Path("nowhere"), [DataStep("a", recipe)], kinds)
    assert plan_of(study, seconds=0) == plan.StudyPlan(1, 3, 0, Cost(), ("a", "cbm", "dpl", "tree"))
    clock = iter([100.0, 159.9, 159.9, 160.0, 160.1])  # the trial ends a minute after it began
    monkeypatch.setattr(plan, "time", SimpleNamespace(monotonic=lambda: next(clock), perf_counter=time.perf_counter))
    monkeypatch.setattr(plan, "_training_seconds", lambda kind, dataset, rows: 7.0)
    made = plan_of(study)
    assert made.unknown == ("dpl", "tree") and made.cost.bytes > 0 and made.cost.seconds > 7.0


@needs_task("mnadd-half")
def test_a_dataset_that_cannot_be_tried_is_named(monkeypatch):
    def refuse(recipe, folder):
        raise ConfigError("too few")

    monkeypatch.setattr(plan, "make", refuse)
    step = DataStep("a", recipe_from("mnadd-half", Settings({})))
    assert plan._try_step(step, [], [], {}) == (Cost(), {"a"})


class Trained:
    """A model whose epochs take 2 s and then 5 s."""

    stamps = (1.0, 3.0, 8.0)
    Config = SimpleNamespace(model_fields={"epochs": SimpleNamespace(default=11)})
    seen: list

    def __init__(self, knowledge, layout, settings, backbones, seed):
        type(self).seen = [dict(settings.values), seed]

    def fit(self, train, valid, watch):
        self.seen.append((train, valid))
        for number, _ in enumerate(self.stamps):
            watch(number, 3)


class Split(str):
    def __len__(self):
        return 20


class Toy(dict):
    knowledge = layout = None
    manifest = {"backbones": {}}

    @property
    def split_names(self):
        return list(self)


def timed(monkeypatch, model, data, **settings):
    monkeypatch.setattr(plan, "MODELS", {"cbm": model})
    clock = iter(model.stamps)
    monkeypatch.setattr(plan.time, "perf_counter", lambda: next(clock))
    return plan._training_seconds(run_step("r", "a", **settings), data, rows=100)


def test_training_takes_the_last_epoch_for_all_examples_and_epochs(monkeypatch):
    data = Toy(valid=Split("valid"), train=Split("train"))
    assert timed(monkeypatch, Trained, data, lr=0.1) == pytest.approx(5.0 / 20 * 100 * 11)
    assert Trained.seen == [{"lr": 0.1, "epochs": 3}, 0, ("train", "train")]
    assert timed(monkeypatch, Trained, data, epochs=4) == pytest.approx(5.0 / 20 * 100 * 4)
    assert timed(monkeypatch, Trained, Toy(one=Split("one"), two=Split("two"))) is not None
    assert Trained.seen[-1] == ("one", "one")


def test_what_has_no_epochs_or_fails_is_not_known(monkeypatch):
    class Short(Trained):
        stamps = (1.0,)

    class Still(Trained):
        Config = SimpleNamespace(model_fields={})

    class Failing(Trained):
        def fit(self, train, valid, watch):
            raise ConfigError("no")

    for model in (Short, Still, Failing):
        assert timed(monkeypatch, model, Toy(train=Split("train"))) is None

    class Two(Trained):
        stamps = (1.0, 3.0)

    assert timed(monkeypatch, Two, Toy(train=Split("train"))) == pytest.approx(2.0 / 20 * 100 * 11)
    assert replace(Cost(1.0, 2), bytes=0) == Cost(1.0) and plan.TRIAL == 32
