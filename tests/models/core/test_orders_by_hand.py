"""What is done in which order when models are fitted, trained, kept and logged, with stand-ins for all that takes time."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.config import Settings
from assay.errors import ConfigError, DataError, RunFailed
from assay.models import Epoch, Model, Order, Training
from assay.models.backbones.build import is_rebuilding
from assay.models.core import checkpoints, feeds, fitting, neural, optimization, runs, steps, training
from assay.models.core.checkpoints import Progress
from assay.models.core.feeds import Feed as SplitFeed
from assay.models.core.neural import NeuralModel
from assay.models.core.optimization import Optimization
from assay.models.core.steps import ManySeeds, OneSeed
from assay.models.core.training import BestEpoch, Phase, Trainee, train
from tests.models.tiles import model_of

CPU = torch.device("cpu")


# -- fitting -----------------------------------------------------------------------------------------------------------


class Network:
    """A network of a seed, which notes what is done to it."""

    def __init__(self, seed, config, log):
        self.seed, self.config, self.log, self.name = seed, config, log, "net"
        self.checkpoint, self.history, self.training_facts = f"checkpoint {seed}", [], None

    def training_precision(self, device):
        return "bfloat16" if device.type == "cuda" else "float32"

    def see(self, data):
        self.log.append((self.seed, "see", data))

    def to(self, device=None, memory_format=None):
        self.log.append((self.seed, "to", str(device) if memory_format is None else memory_format))

    def feed(self, data, device, channels_last, repeats):
        self.log.append((self.seed, "feed", data, channels_last, repeats))
        return SimpleNamespace(data=SimpleNamespace(subconcepts=None), annotations=data, name=data)

    def phases(self, annotations):
        return [f"phase of {self.seed} on {annotations}"]

    def validation_f1(self, feed, what):
        return torch.tensor({"train": 0.75, "valid": 0.5}[feed.name])


class Config(SimpleNamespace):
    """Settings that can be changed."""

    def model_copy(self, update):
        return Config(**{**vars(self), **update})


def settings(**changed):
    usual = {"channels_last": True, "is_robust": False, "captured": True, "precision": "auto", "group_step": 0.0}
    return Config(**{**usual, "reasons_weight": 0.0, **changed})


@pytest.mark.parametrize(
    ("kind", "wanted", "step", "last"),
    [
        ("cuda", True, OneSeed, True), ("cuda", False, OneSeed, False), ("cuda", True, ManySeeds, False),
        ("cpu", True, OneSeed, False),
    ],
)  # fmt: skip
def test_networks_are_put_on_the_device_and_taken_back(monkeypatch, kind, wanted, step, last):
    log, told = [], []
    device = type("Device", (SimpleNamespace,), {"__str__": lambda self: self.type})(type=kind)
    monkeypatch.setattr(fitting, "device_for", lambda config: device)
    monkeypatch.setattr(fitting, "reuse_memory", lambda: log.append("reuse"))
    monkeypatch.setattr(fitting, "_seeded_orders", lambda models, device: ["order 1", "order 2"])
    monkeypatch.setattr(fitting, "_seeded_alone", lambda model: [None])

    def training(trainees, feed, config, step, report, checkpoint):
        told.append((trainees, feed.name, config, step, report, checkpoint))
        trainees[0].history.append("epoch")
        return {"held": True}

    monkeypatch.setattr(fitting, "train", training)
    models = [Network(seed, settings(channels_last=wanted), log) for seed in ((4, 9) if step is ManySeeds else (4,))]
    fitting.fit_models(models, "train", "valid", "report", step)
    ((trainees, feed, config, used, report, checkpoint),) = told
    assert (feed, used, report, checkpoint) == ("train", step, "report", "checkpoint 4")
    assert config.precision == ("bfloat16" if kind == "cuda" else "float32") and config.captured
    assert [own.phases for own in trainees] == [[f"phase of {model.seed} on train"] for model in models]
    assert [own.order for own in trainees] == (["order 1", "order 2"] if step is ManySeeds else [None])
    begun = ["reuse"] if kind == "cpu" else []
    for model in models:
        begun += [(model.seed, "see", "train"), (model.seed, "to", kind)]
        begun += [(model.seed, "to", torch.channels_last)] if last else []
    begun += [(4, "feed", "train", last, True), (4, "feed", "valid", last, True)]
    assert log == [*begun, *((model.seed, "to", torch.contiguous_format) for model in models)]
    assert models[0].history == ["epoch"] and all(model.training_facts == {"held": True} for model in models)
    if step is ManySeeds:
        assert models[1].history == [Epoch("as given", 1, 0.25, 0.5, True)]


def test_what_is_set_of_supervision_keeps_seeds_apart(monkeypatch):
    model = SimpleNamespace(config=None, modules=list)
    monkeypatch.setattr(fitting, "device_of", lambda name: CPU)
    for share, replay, why in ((1.0, 0, None), (0.99, 0, "shown the concepts"), (1.0, 1, "shown other examples")):
        model.config = SimpleNamespace(is_robust=False, device="cpu", supervised_share=share, supervised_replay=replay)
        monkeypatch.setattr(fitting, "Supervision", SimpleNamespace)
        found = fitting.why_not_together(model)
        assert found is None if why is None else why in found


# -- training ----------------------------------------------------------------------------------------------------------


class Feed:
    """Three examples."""

    device, is_held = CPU, False

    def __len__(self):
        return 3


@pytest.fixture
def noted(monkeypatch):
    """Note which phase runs with which progress, and train nothing."""
    log = []

    class Descent:
        is_captured, refusal = True, None

        def __init__(self, step, models, feed, config):
            self.step = step
            log.append(("phase", step, config.batch_size))

    def run(trainees, phases, descent, config, report, progress, checkpoint):
        log.append((phases[0].name, progress.phase, progress.epoch, progress.rate, config.batch_size, checkpoint))

    monkeypatch.setattr(training, "Optimization", Descent)
    monkeypatch.setattr(training, "_run", run)
    return log


def test_training_goes_on_in_the_phase_where_it_stopped(noted):
    parameters = [nn.Parameter(torch.zeros(1))]
    phases = [
        Phase("one", parameters, None), Phase("two", parameters, None, batch_size=5), Phase("none", [], None),
        Phase("three", parameters, None),
    ]  # fmt: skip
    trainee = Trainee(nn.Linear(1, 1), phases, None)
    checkpoint = SimpleNamespace(restore=lambda trainees: Progress(1, 4, 0.25, [BestEpoch()]))
    facts = train([trainee], Feed(), Training(batch_size=9), lambda *given: given[1][0].name, checkpoint=checkpoint)
    assert noted == [
        ("phase", "two", 5), ("two", 1, 4, 0.25, 9, checkpoint), ("phase", "three", 9), ("three", 3, 0, 0.0, 9, checkpoint),
    ]  # fmt: skip
    assert facts == {"device": "cpu", "precision": "auto", "held": False, "captured": True}
    noted.clear()
    checkpoint.restore = lambda trainees: None
    train([trainee], Feed(), Training(batch_size=9), lambda *given: given[1][0].name, checkpoint=checkpoint)
    assert [own[:3] for own in noted if own[0] != "phase"] == [("one", 0, 0), ("two", 1, 0), ("three", 3, 0)]


def test_examples_are_shuffled_for_each_seed_by_its_own_order():
    def generators(*seeds):
        return [SimpleNamespace(order=torch.Generator().manual_seed(seed)) for seed in seeds]

    found = training._shuffle(generators(3, 8), 40, CPU)
    assert found.shape == (2, 40) and all(sorted(own.tolist()) == list(range(40)) for own in found)
    for place, seed in enumerate((3, 8)):
        alone = torch.randperm(40, generator=torch.Generator().manual_seed(seed))
        assert torch.equal(found[place], alone)
    torch.manual_seed(5)
    usual = training._shuffle([SimpleNamespace(order=None)], 40, CPU)
    torch.manual_seed(5)
    assert torch.equal(usual[0], torch.randperm(40))


def test_every_epoch_is_kept_with_where_it_stands(monkeypatch):
    kept = []

    class Descent:
        def __init__(self):
            self.feed, self.step = Feed(), SimpleNamespace(write_back=lambda seed: None)

        def set_rate(self, rate):
            pass

        def epoch(self, orders):
            assert sorted(orders[0].tolist()) == [0, 1, 2]
            return torch.tensor([2.0])

    scores = iter([0.5, 0.25, 0.75])
    model = nn.Linear(1, 1)
    trainee = Trainee(model, [], lambda what: torch.tensor(next(scores)))
    keep = SimpleNamespace(keep=lambda trainees, descent, progress: kept.append((progress.phase, progress.epoch, progress.rate, progress.best[0].since)))  # fmt: skip
    progress = Progress(2)
    config = Training(epochs=3, learning_rate=1.0, learning_rate_decay=0.5)
    phase = Phase("p", list(model.parameters()), None)
    training._run([trainee], [phase], Descent(), config, lambda *epoch: None, progress, keep)
    assert kept == [(2, 1, 0.5, 0), (2, 2, 0.25, 1), (2, 3, 0.125, 0)]
    assert [epoch.best for epoch in trainee.history] == [True, False, True]
    last = Training(epochs=2, keeps="last", patience=1)
    scores = iter([0.5, 0.25])
    trainee.history = []
    training._run([trainee], [phase], Descent(), last, lambda *epoch: None, Progress(0), None)
    assert [epoch.best for epoch in trainee.history] == [True, True]


@pytest.mark.parametrize(("precision", "short"), [("bfloat16", True), ("float32", False), ("auto", False)])
def test_numbers_are_short_only_where_that_is_asked(precision, short):
    seen = []
    weight = torch.ones(1, requires_grad=True)

    def losses(rows, images):
        seen.append((torch.is_autocast_enabled("cpu"), rows.tolist(), images))
        return weight * torch.tensor([3.0])

    step = SimpleNamespace(learned=[weight], losses=losses)
    feed = SimpleNamespace(device=CPU, batches=lambda orders, size: [(orders[:, :2], "images"), (orders[:, 2:], None)])
    config = Training(
        precision=precision, optimizer="sgd", learning_rate=0.5, momentum=0.0, weight_decay=0.0, batch_size=2
    )
    run = Optimization(step, [nn.Linear(1, 1)], feed, config)
    assert run.epoch(torch.tensor([[2, 0, 1]])).tolist() == pytest.approx([(2 * 3.0 + 1 * (1 - 1.5) * 3) / 3])
    assert seen == [(short, [[2, 0]], "images"), (short, [[1]], None)]


def test_a_loss_is_compiled_where_that_is_asked(monkeypatch):
    monkeypatch.setattr(steps.torch, "compile", lambda loss: ("compiled", loss))
    phase = Phase("p", [], "loss")
    assert OneSeed([], [phase], None, Training(compiled=True)).loss == ("compiled", "loss")
    assert OneSeed([], [phase], None, Training()).loss == "loss"


def test_pictures_that_are_streamed_reach_each_seed():
    models = [nn.Linear(1, 1, bias=False) for _ in range(2)]
    for number, model in enumerate(models):
        nn.init.constant_(model.weight, number + 1.0)
    feed = SimpleNamespace(take=lambda rows, images: SimpleNamespace(rows=rows, images=images))
    phase = Phase("p", [models[0].weight], lambda batch: (models[0](batch.images) * batch.rows[:, None]).sum())
    step = ManySeeds(models, [phase], feed, Training())
    images = torch.tensor([[[1.0], [2.0]], [[3.0], [5.0]]])
    assert step.losses(torch.tensor([[1, 0], [2, 1]]), images).tolist() == [1.0, (3 * 2 + 5) * 2.0]


# -- runs --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def train_run(monkeypatch, tmp_path):
    """Return a function that trains a run of stand-ins, and what was done."""
    done = []

    class Run:
        def __init__(self, folder):
            self.folder = folder

        def claim(self):
            done.append("claim")

        def release(self):
            done.append("release")

    @contextlib.contextmanager
    def log_of(kind, model, dataset, run):
        done.append(("log", kind))
        yield SimpleNamespace(
            add=lambda epoch: done.append(("add", epoch)), add_scores=lambda dataset, run: done.append("scores")
        )

    def fit(model, order, dataset, run, report):
        report("epoch", 9)
        return {"fold": 3}

    monkeypatch.setattr(runs, "RunFolder", Run)
    monkeypatch.setattr(runs, "log_of", log_of)
    monkeypatch.setattr(runs, "check_log", lambda kind: done.append(("check", kind)))
    monkeypatch.setattr(runs, "_build", lambda order, dataset, seed: f"model {seed}")
    monkeypatch.setattr(runs, "_fit", fit)
    monkeypatch.setattr(runs, "finish_run", lambda model, dataset, run, more: done.append((model, more)))

    def go():
        order = Order("m", Settings(), 7, log="wandb", called={"task": "T"})
        return runs.train_run(order, "dataset", tmp_path, lambda *epoch: done.append(epoch))

    return SimpleNamespace(go=go, done=done)


def test_a_run_is_claimed_trained_finished_and_logged(train_run, monkeypatch):
    assert train_run.go() == "model 7"
    assert train_run.done == [
        ("check", "wandb"), "claim", ("log", "wandb"), ("epoch", 9), ("add", "epoch"),
        ("model 7", {"fold": 3, "called": {"task": "T"}}), "scores",
    ]  # fmt: skip
    train_run.done.clear()

    def broken(*given):
        raise RunFailed("broken")

    monkeypatch.setattr(runs, "finish_run", broken)
    with pytest.raises(RunFailed, match="broken"):
        train_run.go()
    assert train_run.done[-1] == "release"


@pytest.mark.parametrize(("columns", "sees", "seen"), [(["image"], True, []), (["text"], False, ["train of data"])])
def test_what_a_network_reads_is_learned_before_its_record_is_written(monkeypatch, columns, sees, seen):
    asked, learned = [], []

    def make(*given):
        asked.append(given)
        return "model"

    monkeypatch.setattr(runs.MODELS, "find", lambda name: make if name == "mine" else None)
    network = SimpleNamespace(sees_pictures=lambda own: own == ["image"], see=learned.append)
    monkeypatch.setattr(runs, "network_of", lambda model: network)
    monkeypatch.setattr(runs, "split_for", lambda dataset, name: f"{name} of data")

    class Data(dict):
        knowledge, layout, manifest = "knowledge", "layout", {"backbones": "hints", "columns": columns}

    data = Data({"train of data": "train of data"})
    assert runs._build(Order("mine", "settings"), data, 5) == "model"
    assert asked == [("knowledge", "layout", "settings", "hints", 5)] and learned == seen and sees is (not seen)
    del data.manifest["columns"]
    runs._build(Order("mine", "settings"), data, 5)
    assert learned == seen  # without a list of columns there are pictures
    monkeypatch.setattr(runs, "network_of", lambda model: None)
    assert runs._build(Order("mine", "settings"), data, 5) == "model"


def test_several_seeds_have_a_folder_each(monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr(runs, "check_log", lambda kind: done.append(kind))
    monkeypatch.setattr(runs, "count_stages", lambda dataset: int(dataset))
    monkeypatch.setattr(
        runs, "train_seeds", lambda order, folders, dataset, report: done.append((dict(folders), report))
    )
    order = Order("m", Settings(), log="mlflow")
    found = runs.train_together(order, [3, 1], "1", tmp_path, "report")
    assert found == [tmp_path / "seed3", tmp_path / "seed1"]
    (kind, (folders, report)) = done
    assert kind == "mlflow" and list(folders) == [3, 1] and report == "report"
    assert folders[1].folder == tmp_path / "seed1"
    with pytest.raises(ConfigError, match="several seeds at once are not trained stage by stage"):
        runs.train_together(order, [3, 1], "2", tmp_path)

    def broken(*given):
        raise DataError("broken")

    monkeypatch.setattr(runs, "train_seeds", broken)
    released = []
    monkeypatch.setattr(runs.RunFolder, "release", lambda self: released.append(self.folder))
    with pytest.raises(DataError, match="broken"):
        runs.train_together(order, [3, 1], "0", tmp_path)
    assert released == [tmp_path]


def test_predictions_for_a_split_are_written_after_the_dataset_is_checked(monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr(runs, "check_dataset", lambda run, dataset: done.append((run.folder, dataset.knowledge)))
    said = SimpleNamespace(write=lambda path, knowledge: done.append((path, knowledge)))
    monkeypatch.setattr(
        runs, "load_model", lambda folder: SimpleNamespace(predict=lambda data: said if data == "rows" else None)
    )

    class Data(dict):
        knowledge = "knowledge"

    path = runs.predict_run(tmp_path, Data(ood="rows"), "ood")
    assert path == tmp_path / "predictions" / "ood.parquet"
    assert done == [(tmp_path, "knowledge"), (path, "knowledge")]


# -- networks ----------------------------------------------------------------------------------------------------------


def test_a_network_is_loaded_without_the_weights_it_began_from(monkeypatch):
    asked = []

    def load(cls, folder, about, device):
        asked.append((folder, about, device, is_rebuilding()))
        return "model"

    monkeypatch.setattr(Model, "load", classmethod(load))
    assert NeuralModel.load("folder", {"seed": 1}, "cuda:1") == "model"
    assert asked == [("folder", {"seed": 1}, "cuda:1", True)] and not is_rebuilding()


def test_the_record_of_a_network_names_torch_and_its_perception(monkeypatch):
    monkeypatch.setattr(Model, "about", lambda self: {"seed": 1, "versions": {"assay": "1"}})
    monkeypatch.setattr(neural, "with_perception", lambda record, perception: {**record, "perceived": perception})
    model = model_of("cbm", {})
    told = {"seed": 1, "versions": {"assay": "1", "torch": torch.__version__}}
    assert NeuralModel.about(model) == told
    model.perception = "run"
    assert NeuralModel.about(model) == {**told, "perceived": "run"}


def test_settings_of_a_run_name_perception_where_it_is_now(monkeypatch, tmp_path):
    monkeypatch.setattr(neural, "saved_perception", lambda about, folder: {"perception": str(folder)})
    about = {"config": {"epochs": 3, "perception": "old place"}}
    assert NeuralModel.saved_settings(tmp_path, about) == {"epochs": 3, "perception": str(tmp_path)}
    assert NeuralModel.saved_settings(tmp_path, {"config": {"perception": None}}) == {"perception": None}


def test_settings_are_those_of_the_class_and_those_that_were_saved(tmp_path):
    made = SimpleNamespace(Config=Training)
    assert Model.configure.__func__(made, Settings({"epochs": 3}), {"concept": "mlp"}) == Training(epochs=3)
    with pytest.raises(ConfigError, match="unknown key 'epoch'"):
        Model.configure.__func__(made, Settings({"epoch": 3}), {})
    about = {"config": {"epochs": 5}}
    found = Model.saved_settings(tmp_path, about)
    assert found == {"epochs": 5} and found is not about["config"]


# -- what a GPU would be asked for -------------------------------------------------------------------------------------

GPU = SimpleNamespace(type="cuda")


@pytest.mark.parametrize(
    ("optimizer", "captured", "device", "wanted"),
    [("adam", True, GPU, True), ("adamw", True, GPU, True), ("sgd", True, GPU, False), ("adam", False, GPU, False), ("adam", True, CPU, False)],
)  # fmt: skip
def test_steps_are_captured_on_a_gpu_with_what_they_change(monkeypatch, optimizer, captured, device, wanted):
    made = []
    models = [nn.BatchNorm1d(2, affine=False), nn.Linear(1, 1)]
    zeros = torch.zeros
    monkeypatch.setattr(optimization.torch, "zeros", lambda count, device: zeros(count))
    monkeypatch.setattr(optimization, "make_optimizer", lambda *given: made.append(given) or "optimizer")
    monkeypatch.setattr(optimization, "Captured", lambda function, state: (function, state))
    config = SimpleNamespace(optimizer=optimizer, captured=captured)
    run = Optimization(SimpleNamespace(learned="learned"), models, SimpleNamespace(device=device), config)
    assert made == [("learned", config, device)] and run.total.tolist() == [0, 0]
    if wanted:
        function, state = run.graphs
        assert run.take is run.graphs and function == run._take and len(state) == 4
        assert all(one is other for one, other in zip(state, [*models[0].buffers(), run.total], strict=True))
    else:
        assert run.graphs is None and run.take == run._take


def test_the_randomness_of_a_gpu_is_kept_too(monkeypatch):
    states = {"cuda": torch.tensor([1], dtype=torch.uint8)}
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: states[device.type])
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: states.update({device.type: state}))
    descent = SimpleNamespace(step=SimpleNamespace(learned=[]), optimizer=None, feed=SimpleNamespace(device=GPU))
    found = dict(checkpoints._tensors_of([], descent, Progress()))
    assert set(found) == {"random.cpu", "random.cuda"} and found["random.cuda"].tolist() == [1]
    descent.feed.device = CPU
    assert set(dict(checkpoints._tensors_of([], descent, Progress()))) == {"random.cpu"}
    other = torch.tensor([2], dtype=torch.uint8)
    before = torch.get_rng_state()
    checkpoints._set_randomness([], CPU, {"cpu": before, "cuda": other})
    assert states["cuda"].tolist() == [1]
    checkpoints._set_randomness([], GPU, {"cpu": before, "cuda": other})
    assert states["cuda"].tolist() == [2]
    checkpoints._set_randomness([], GPU, {"cpu": before})


@pytest.mark.parametrize(("device", "kind"), [(GPU, "uploaded"), (CPU, "list")])
def test_pictures_are_decoded_into_memory_that_a_gpu_can_copy_from(monkeypatch, device, kind):
    asked = []
    pictures = np.arange(2 * 2 * 3 * 3, dtype=np.uint8).reshape(2, 2, 3, 3)

    def decode_ahead(*given):
        asked.append(given)
        return [(None, pictures)]

    monkeypatch.setattr(feeds, "decode_ahead", decode_ahead)
    monkeypatch.setattr(feeds, "upload", lambda batches, device: [("uploaded", *batches)])
    feed = SplitFeed.__new__(SplitFeed)
    feed.device, feed._fill, feed.as_decoded = device, "fill", False
    feed.data = SimpleNamespace(picture_shape=(2, 3, 3))
    found = list(feed._stream("order", 5))
    ((fill, shape, order, size, _, allocate),) = asked
    assert (fill, shape, order, size) == ("fill", (2, 3, 3), "order", 5)
    assert allocate is (feeds._allocate_pinned if device is GPU else feeds.allocate_bytes)
    images = found[0][1] if kind == "uploaded" else found[0]
    assert images.shape == (2, 3, 2, 3) and images[1, 2, 0, 1] == pictures[1, 0, 1, 2] and images.is_contiguous()
    given = []
    monkeypatch.setattr(feeds.torch, "empty", lambda *what, **how: given.append((what, how)) or torch.zeros(2))
    assert feeds._allocate_pinned((2, 3)).tolist() == [0, 0]
    assert given == [(((2, 3),), {"dtype": torch.uint8, "pin_memory": True})]
