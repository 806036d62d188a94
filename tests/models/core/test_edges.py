"""Edges of what models share: checkpoints at their limits, stages, logs without a package, records of orders."""

import sys
from dataclasses import asdict, dataclass
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.config import Settings
from assay.errors import ConfigError, DataError, RunFailed
from assay.models import Epoch, Model, Order, Training, check_log, load_model
from assay.models.core import checkpoints, continual
from assay.models.core.checkpoints import Checkpoint, Progress, _like, _part, _seal
from assay.models.core.continual import count_stages, fit_stages
from assay.models.core.feeds import Feed
from assay.models.core.logs import EpochLog, MlflowLog, TensorBoardLog, WandbLog, _finite, _plain, log_of
from assay.models.core.runs import _is_finished, _size
from assay.models.core.tensors import to_batch
from assay.models.core.training import BestEpoch, Phase, Trainee, _judge_epoch, _score, train
from assay.runs import RunFolder

CPU = torch.device("cpu")


def trainee(number, with_order=True):
    model = nn.Linear(2, 1)
    nn.init.constant_(model.weight, float(number))
    order = torch.Generator().manual_seed(number) if with_order else None
    return Trainee(model, [], lambda name: torch.tensor(0.5), order, number)


def descent_of(trainees):
    learned = [parameter for each in trainees for parameter in each.model.parameters()]
    optimizer = torch.optim.Adam(learned)
    for place, parameter in enumerate(learned):
        parameter.grad = torch.full_like(parameter, place + 1.0)
    optimizer.step()
    rates = []
    feed = SimpleNamespace(device=CPU)
    return SimpleNamespace(
        step=SimpleNamespace(learned=learned), optimizer=optimizer, feed=feed, set_rate=rates.append, rates=rates
    )


def kept(path, trainees, identity=None):
    """Write a checkpoint of two seeds in the third epoch of the second phase."""
    best = [BestEpoch(0.5, 1.5, {"weight": torch.full((1, 2), 7.0)}, 4), BestEpoch(0.25, 2.5, {}, 1)]
    trainees[0].history = [Epoch("a", 1, 0.5, 0.75, True), Epoch("a", 2, 0.25, 0.5, False)]
    descent = descent_of(trainees)
    progress = Progress(2, 3, 0.125, best)
    Checkpoint(path, identity or {"model": "m", "seeds": (0, 1)}).keep(trainees, descent, progress)
    return descent


def test_a_checkpoint_gives_back_all_that_was_kept(tmp_path):
    old, new = [trainee(3), trainee(5, False)], [trainee(0), trainee(1, False)]
    descent = kept(tmp_path / "c", old)
    draws = (torch.rand(2), torch.rand(2, generator=old[0].order))
    found = Checkpoint(tmp_path / "c", {"seeds": [0, 1], "model": "m"}).restore(new)
    assert (found.phase, found.epoch, found.rate) == (2, 3, 0.125)
    assert [(best.score, best.loss, best.since) for best in found.best] == [(0.5, 1.5, 4), (0.25, 2.5, 1)]
    assert found.best[0].weights["weight"].tolist() == [[7.0, 7.0]] and found.best[1].weights == {}
    assert new[0].history == old[0].history and new[1].history == []
    for before, after in zip(old, new, strict=True):
        assert torch.equal(before.model.weight, after.model.weight)
    fresh = descent_of(new)
    best = found.begin(new, fresh, Training())
    assert best is found.best and fresh.rates == [0.125]
    for place, (was, now) in enumerate(zip(descent.step.learned, fresh.step.learned, strict=True)):
        states = descent.optimizer.state[was], fresh.optimizer.state[now]
        assert all(torch.equal(states[0][name], states[1][name]) for name in ("exp_avg", "exp_avg_sq", "step")), place
    assert torch.equal(torch.rand(2), draws[0]) and torch.equal(torch.rand(2, generator=new[0].order), draws[1])


def test_a_checkpoint_of_another_run_or_of_more_seeds_is_not_taken_up(tmp_path):
    kept(tmp_path / "c", [trainee(3), trainee(5)])
    mine = {"model": "m", "seeds": (0, 1)}
    new = [trainee(0), trainee(1)]
    assert Checkpoint(tmp_path / "none", mine).restore(new) is None
    assert Checkpoint(tmp_path / "c", {**mine, "seeds": (0, 2)}).restore(new) is None
    assert Checkpoint(tmp_path / "c", mine).restore(new[:1]) is None
    assert new[0].model.weight.tolist() == [[0.0, 0.0]] and new[0].history == []
    assert Checkpoint(tmp_path / "c", mine).restore(new) is not None


def test_a_checkpoint_is_kept_again_when_its_time_has_come(tmp_path, monkeypatch):
    now, written = [10.0], []
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(checkpoints, "write_atomically", lambda path, content: written.append(now[0]))
    trainees = [trainee(1)]
    descent, progress = descent_of(trainees), Progress(0, 1, 0.5, [BestEpoch()])
    file = Checkpoint(tmp_path / "c", {}, seconds=2.0)
    for now[0] in (10.0, 11.75, 12.0, 13.75, 14.5):
        file.keep(trainees, descent, progress)
    assert written == [10.0, 12.0, 14.5] and checkpoints.SECONDS == 1.0
    assert Checkpoint(tmp_path / "c", {}).seconds == 1.0


def test_training_that_begins_has_its_first_rate_and_no_best_epoch():
    trainees = [trainee(1), trainee(2)]
    descent, progress = descent_of(trainees), Progress(1)
    best = progress.begin(trainees, descent, Training(learning_rate=0.5, warmup_epochs=4))
    assert descent.rates == [0.125] and progress.rate == 0.125 and len(best) == 2
    assert best[0] == BestEpoch() and best[0] is not best[1] and (best[0].score, best[0].since) == (-1.0, 0)


def test_moments_of_another_shape_stay_as_they_are():
    learned, count = torch.zeros(2, 3), torch.tensor(4.0)
    assert _like(learned, count, False) is count and _like(learned, count, True).item() == 4
    moment = torch.arange(6.0, dtype=torch.float64).view(2, 3)
    found = _like(learned, moment, False)
    assert torch.equal(found, moment) and found is not moment and found.dtype == torch.float64
    assert list(_part({"a.1.x": count, "a.12.y": count, "b.1.z": count}, "a.1.")) == ["x"]


def test_a_seal_is_of_names_numbers_and_notes():
    one, two = torch.tensor([1.0]), torch.tensor([2.0])
    seal = _seal({"a": one, "b": two}, "n")
    assert seal == _seal({"b": two, "a": one}, "n") and len(seal) == 64
    assert len({seal, _seal({"a": two, "b": one}, "n"), _seal({"a": one, "b": two}, "m"), _seal({"a": one}, "n")}) == 4


# -- stages ------------------------------------------------------------------------------------------------------------


@dataclass
class Stages(dict):
    """Splits by name, which are their names."""

    def __init__(self, *names):
        super().__init__({name: name for name in names})


class Learner:
    """A model that knows the stage it was last trained on."""

    has_concepts = False

    def __init__(self):
        self.history, self.fitted, self.restored = [], [], []

    def fit(self, train_data, valid, report):
        self.fitted.append((train_data, valid))
        self.history = [Epoch("joint", 1, 0.5, 0.25, True)]

    def predict(self, data):
        return self.fitted[-1][0], data

    def save(self, folder):
        (folder / "saved").write_text("x")

    def restore(self, folder, device):
        self.restored.append((folder.name, device))
        self.fitted.append((f"train_{folder.name}", "restored"))


@pytest.fixture
def scoring(monkeypatch):
    def score(found, names):
        stage, data = found
        value = 1.0 if stage[-1] == data[-1] else 0.25
        return {name: SimpleNamespace(value=value) for name in names}

    monkeypatch.setattr(continual, "gather", lambda data, predicted: predicted)
    monkeypatch.setattr(continual, "score", score)


def test_stages_are_counted_up_to_the_first_gap():
    assert count_stages(Stages("train_1", "train_2", "train_4")) == 2
    assert count_stages(Stages("train", "train_2")) == 0 and count_stages(Stages("train_1")) == 1


def test_stages_are_learned_once_and_scored_on_all(tmp_path, scoring):
    dataset = Stages("train_1", "train_2", "valid", "valid_2", "test_1", "test_2")
    model, begun = Learner(), []
    found = fit_stages(model, dataset, RunFolder(tmp_path), print, begun.append)
    assert model.fitted == [("train_1", "valid"), ("train_2", "valid_2")] and begun == [1, 2]
    assert found["after_each"] == [
        {"label_accuracy": [1.0, 0.25], "label_f1": [1.0, 0.25]},
        {"label_accuracy": [0.25, 1.0], "label_f1": [0.25, 1.0]},
    ]
    assert found["label_f1"]["forgetting"] == 0.75 and set(found) == {"after_each", "label_accuracy", "label_f1"}
    assert [epoch.phase for epoch in model.history] == ["stage 1, joint", "stage 2, joint"]
    (tmp_path / "stages" / "2" / "scores.json").unlink()
    again, begun = Learner(), []
    assert fit_stages(again, dataset, RunFolder(tmp_path), print, begun.append) == found
    assert begun == [2] and again.restored == [("1", "cpu")] and again.history == model.history
    (tmp_path / "stages" / "1" / "scores.json").write_text("{")
    with pytest.raises(DataError, match=r"1/scores.json' is damaged; delete the folder of this stage"):
        fit_stages(Learner(), dataset, RunFolder(tmp_path), print, begun.append)


# -- logs --------------------------------------------------------------------------------------------------------------


class Recorder(ModuleType):
    """Stands for a package of logs: every call is recorded with what it was given."""

    def __init__(self, name):
        super().__init__(name)
        self.calls = []

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def call(*words, **named):
            self.calls.append((name, words, named))
            return self

        return call


def header(folder, **parameters):
    return SimpleNamespace(name="mine", folder=folder, parameters=parameters)


@pytest.fixture
def package(monkeypatch):
    """Return a function that puts a recorder in the place of a package."""

    def use(name):
        recorder = Recorder(name)
        monkeypatch.setitem(sys.modules, name, recorder)
        return recorder

    return use


def test_tensorboard_gets_parameters_only_of_a_run_that_ends_well(tmp_path, package):
    writer = package("torch.utils.tensorboard")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "old").write_text("of a run that was stopped")
    log = TensorBoardLog(header(tmp_path / "logs", rate=0.5, layers=[1, 2], nothing=None, on=True))
    assert not (tmp_path / "logs" / "old").exists()
    log.log({"loss": 0.25, "f1": 0.5}, 7)
    log.finish({"test/f1": 1.0})
    plain = {"rate": 0.5, "layers": "[1, 2]", "nothing": "None", "on": True}
    assert writer.calls == [
        ("SummaryWriter", (str(tmp_path / "logs"),), {}),
        ("add_scalar", ("loss", 0.25, 7), {}),
        ("add_scalar", ("f1", 0.5, 7), {}),
        ("flush", (), {}),
        ("add_hparams", (plain, {"test/f1": 1.0}), {"run_name": "."}),
        ("close", (), {}),
    ]
    writer.calls.clear()
    log.finish({}, failed=True)
    assert writer.calls == [("close", (), {})] and [_plain(x) for x in (1, "a", (1,))] == [1, "a", "(1,)"]


def test_wandb_is_told_the_project_and_how_the_run_ended(tmp_path, package, monkeypatch):
    library, run = package("wandb"), SimpleNamespace(summary={}, ended=[])
    run.finish = lambda exit_code: run.ended.append(exit_code)
    library.init = lambda **about: library.calls.append(about) or run
    monkeypatch.setenv("WANDB_PROJECT", "theirs")
    log = WandbLog(header(tmp_path / "deep" / "logs", seed=3))
    folder = str(tmp_path / "deep" / "logs")
    assert library.calls == [{"project": "theirs", "name": "mine", "config": {"seed": 3}, "dir": folder}]
    log.finish({"f1": 0.5}, failed=True)
    assert run.summary == {"f1": 0.5} and run.ended == [1] and (tmp_path / "deep" / "logs").is_dir()


def test_mlflow_has_short_parameters_and_the_experiment_of_the_environment(tmp_path, package, monkeypatch):
    library = package("mlflow")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "theirs")
    MlflowLog(header(tmp_path, long="x" * 501, fits="y" * 500)).finish({"f1": 0.5}, failed=True)
    assert library.calls == [
        ("start_run", (), {"run_name": "mine"}),
        ("log_params", ({"long": "x" * 500, "fits": "y" * 500},), {}),
        ("log_metrics", ({"f1": 0.5},), {}),
        ("end_run", (), {"status": "FAILED"}),
    ]
    check_log("mlflow")


def test_epochs_are_counted_and_numbers_that_are_none_left_out():
    steps = []
    log = EpochLog(SimpleNamespace(log=lambda numbers, step: steps.append((step, numbers))))
    log.add(Epoch("a", 1, 0.5, 0.25, True))
    log.add(Epoch("b", 1, float("inf"), 0.75, True))
    assert steps == [(1, {"a/loss": 0.5, "a/validation_f1": 0.25}), (2, {"b/validation_f1": 0.75})]
    quiet = EpochLog(None)
    quiet.add(Epoch("a", 1, 0.5, 0.25, True))
    quiet.add_scores(None, None)
    assert (quiet.step, quiet.summary) == (1, {})
    assert _finite({"a": np.float32(2), "b": float("nan"), "c": 0.0}) == {"a": 2.0, "c": 0.0}


def test_a_log_ends_with_the_finite_numbers_or_as_failed(tmp_path, package, monkeypatch):
    library = package("mlflow")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    model = SimpleNamespace(name="dpl", seed=4, config=Training(epochs=3))
    dataset = SimpleNamespace(manifest={"task": {"name": "t"}}, fingerprint="f")
    with log_of("mlflow", model, dataset, RunFolder(tmp_path / "run")) as log:
        log.summary = {"a": 1.0, "b": float("nan")}
    assert library.calls[0] == ("set_experiment", ("assay",), {})
    parameters = library.calls[2][1][0]
    wanted = {"model": "dpl", "seed": "4", "task": "t", "fingerprint": "f", "epochs": "3"}
    assert wanted.items() <= parameters.items()
    assert library.calls[3:] == [("log_metrics", ({"a": 1.0},), {}), ("end_run", (), {"status": "FINISHED"})]
    with pytest.raises(KeyboardInterrupt), log_of("mlflow", model, dataset, RunFolder(tmp_path / "run")):
        raise KeyboardInterrupt
    assert library.calls[-2:] == [("log_metrics", ({},), {}), ("end_run", (), {"status": "FAILED"})]
    with pytest.raises(RunFailed), log_of(None, model, dataset, RunFolder(tmp_path / "run")):
        raise RunFailed("it fails")


# -- runs, training, models --------------------------------------------------------------------------------------------


def test_an_order_is_recorded_by_what_a_study_calls_it():
    assert Order("m", Settings()).record == {} and Order("m", Settings()).seed == 0
    assert Order("m", Settings(), called={"model": "M"}).record == {"called": {"model": "M"}}
    assert [_size((3, 4, 1)), _size((3, 4, 2))] == ["3 x 4 in 1 channel", "3 x 4 in 2 channels"]


def test_a_run_is_finished_if_it_is_of_this_model_and_these_data():
    about = {"model": "m", "seed": 1, "config": {"a": 2}, "data": {"fingerprint": "f"}, "versions": {"x": 1}}
    model = SimpleNamespace(about=lambda: {"model": "m", "seed": 1, "config": {"a": 2}, "versions": {"x": 2}})
    dataset = SimpleNamespace(fingerprint="f")

    def finished(done=True, **other):
        return _is_finished(SimpleNamespace(is_finished=done, about=lambda: {**about, **other}), model, dataset)

    assert finished() and not finished(False)
    assert not finished(seed=2) and not finished(config={"a": 3}) and not finished(model="n")
    assert not finished(data={"fingerprint": "g"}) and not finished(data={})


def test_a_record_that_names_no_model_or_only_predictions_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(RunFolder, "about", lambda self: {"model": "dpl", "transfer": {"run": "first"}})
    with pytest.raises(DataError, match="holds predictions only; the run that made them is 'first'"):
        load_model(tmp_path)
    monkeypatch.setattr(RunFolder, "about", lambda self: {"model": "mine.py:Mine"})
    with pytest.raises(DataError):
        load_model(tmp_path)


class Stop(Exception):
    """Ends training once its settings are known."""


@pytest.mark.parametrize(("own", "size"), [(None, 64), (5, 5)])
def test_a_phase_may_have_batches_of_its_own(own, size):
    seen = []

    def step(models, phases, feed, config):
        seen.append((phases[0].name, config.batch_size))
        raise Stop

    parameters = [nn.Parameter(torch.zeros(1))]
    phases = [Phase("idle", [], lambda batch: None), Phase("busy", parameters, lambda batch: None, batch_size=own)]
    feed = SimpleNamespace(device=CPU, is_held=True)
    with pytest.raises(Stop):
        train([Trainee(nn.Linear(1, 1), phases, lambda name: torch.tensor(0.0))], feed, Training(), step)
    assert seen == [("busy", size)]


def test_the_best_epoch_has_the_highest_score_and_then_the_lowest_loss():
    model, best = nn.Linear(1, 1), BestEpoch()
    judged = [best.judge(score, loss, model) for score, loss in [(0.5, 2), (0.5, 1), (0.5, 1), (0.4, 0), (0.6, 9)]]
    assert judged == [True, True, False, False, True] and (best.score, best.loss, best.since) == (0.6, 9, 0)
    assert best.judge(0.6, 8, model) and best.since == 1
    last = BestEpoch(keeps_last=True)
    assert [last.judge(score, 1, model) for score in (0.5, 0.1)] == [True, True] and (last.score, last.since) == (
        0.1,
        0,
    )


def test_numbers_that_are_none_end_training_by_their_seed():
    phase, one, alone = Phase("joint", [], lambda batch: None), trainee(7), trainee(7, False)
    nan = float("nan")
    with pytest.raises(RunFailed, match="the loss of seed 7 became NaN in phase 'joint'; lower the learning rate"):
        _judge_epoch(one, phase, 1, (nan, 0.5), BestEpoch())
    with pytest.raises(RunFailed, match="^the answers became NaN"):
        _judge_epoch(alone, phase, 1, (0.5, nan), BestEpoch())
    assert asdict(_judge_epoch(one, phase, 3, (0.5, 0.25), BestEpoch())) == asdict(Epoch("joint", 3, 0.5, 0.25, True))
    phases = [Phase("a", [], None, "concepts"), Phase("a", [], None), Phase("a", [], None, "all")]
    scores = {"concepts": 0.125, "labels": 0.25, "all": 0.5}
    trainees = [Trainee(None, [], lambda name: torch.tensor(scores[name])) for _ in phases]
    assert _score(trainees, phases, torch.tensor([1.0, 2.0, 3.0]), [0, 2]) == [(1.0, 0.125), (3.0, 0.5)]


def test_only_concepts_that_there_are_can_be_set():
    for can, has in ((True, False), (False, True)):
        model = SimpleNamespace(can_intervene=can, has_concepts=has, name="m", answerer=lambda data: "ready")
        with pytest.raises(ConfigError, match="model 'm' has no concepts that can be set"):
            Model.intervene(model, None)
    model.can_intervene = True
    assert Model.intervene(model, None) == "ready"


class Sized(SimpleNamespace):
    """Something of a length."""

    def __len__(self):
        return self.size


def test_pictures_become_channels_first(data):
    split = data["test"]
    batch = to_batch(split, CPU)
    assert torch.equal(batch.images, torch.from_numpy(split.images).movedim(3, 1)) and batch.images.is_contiguous()
    assert torch.equal(batch.rows, torch.arange(len(split)))
    reads = SimpleNamespace(array=lambda split: np.arange(3.0 * len(split)).reshape(-1, 3))
    names = ("given_labels", "given_concepts", "decode_into", "picture_shape")
    parts = {name: getattr(split, name) for name in names}
    colourful = Sized(layout=SimpleNamespace(channels=3), size=len(split), **parts)
    feed = Feed(colourful, CPU, reads=reads)
    assert feed.is_held and feed.as_decoded and feed.images[1].tolist() == [3.0, 4.0, 5.0]
