"""Training is that of torch under the settings, keeps the best epoch, stops in time, and fails in one line."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from assay.base import ConfigError, RunFailed
from assay.metrics import METRICS, gather
from assay.models import MODELS, TorchSplit, TrainSpec, train_run
from tests.models.tiles import batch, model_of, tiles
from tests.pixels import NETWORKS, QUICK, Settings

OPTIMIZERS = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": lambda learned, **how: torch.optim.SGD(learned, momentum=0.9, **how),
    "rmsprop": lambda learned, **how: torch.optim.RMSprop(learned, momentum=0.9, **how),
}
WHOLE = {"batch_size": 24, "keeps": "last", "epochs": 5, "optimizer": "sgd", "learning_rate": 0.2}
"""All examples are one batch, so that the order in which they are shuffled does not matter."""


def rate(config, epoch):
    """Return the learning rate of an epoch as the settings have it, counted from 0."""
    if epoch < config.warmup_epochs:
        return config.learning_rate * (epoch + 1) / config.warmup_epochs
    done = epoch - config.warmup_epochs
    if config.schedule == "cosine":
        share = done / max(1, config.epochs - config.warmup_epochs)
        return config.learning_rate * (1 + math.cos(math.pi * share)) / 2
    lowered = done // config.schedule_epochs if config.schedule == "step" else epoch - max(0, config.warmup_epochs - 1)
    return config.learning_rate * config.learning_rate_decay**lowered


def by_hand(model, loss):
    """Train in a plain loop of torch; return the losses of the epochs."""
    config, losses = model.config, []
    how = {"lr": config.learning_rate, "weight_decay": config.weight_decay}
    optimizer = OPTIMIZERS[config.optimizer](model.parameters(), **how)
    for epoch in range(config.epochs):
        optimizer.param_groups[0]["lr"] = rate(config, epoch)
        value = loss(model.train())
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def plain(model):
    return model.phases(batch(missing=False))[0].loss(batch(missing=False))


def require_same_training(settings, loss=plain, name="blackbox"):
    """Fail where a model is not trained as the loop trains it."""
    model = model_of(name, {**WHOLE, **settings})
    other = copy.deepcopy(model)
    model.fit(tiles()["train"], tiles()["valid"])
    losses = by_hand(other, loss)
    assert [epoch.loss for epoch in model.history] == pytest.approx(losses, rel=1e-3)
    for one, wanted in zip(model.parameters(), other.parameters(), strict=True):
        np.testing.assert_allclose(one.detach(), wanted.detach(), atol=2e-4)


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"weight_decay": 0.1}, {"learning_rate_decay": 0.5}, {"warmup_epochs": 3, "learning_rate_decay": 0.5},
        {"schedule": "step", "schedule_epochs": 2, "learning_rate_decay": 0.1},
        {"schedule": "step", "schedule_epochs": 2, "learning_rate_decay": 0.5, "warmup_epochs": 2},
        {"schedule": "cosine"}, {"schedule": "cosine", "warmup_epochs": 2}, {"schedule": "cosine", "warmup_epochs": 9},
        {"optimizer": "adam", "learning_rate": 0.01, "weight_decay": 0.3},
        {"optimizer": "adamw", "learning_rate": 0.01, "weight_decay": 0.9},
        {"optimizer": "rmsprop", "learning_rate": 0.001, "weight_decay": 0.1},
    ],
    ids=str,
)  # fmt: skip
def test_optimisers_and_schedules_are_those_of_torch(settings):
    require_same_training(settings)


def test_usual_settings_of_training():
    wanted = {
        "epochs": 40, "batch_size": 64, "learning_rate": 1e-3, "optimizer": "adam", "momentum": 0.9, "patience": 10,
        "weight_decay": 1e-4, "schedule": "exponential", "learning_rate_decay": 0.99, "warmup_epochs": 0,
        "keeps": "best", "precision": "auto", "memory_share": 0.25, "deterministic": False,
    }  # fmt: skip
    assert {key: getattr(MODELS["blackbox"].Config(), key) for key in wanted} == wanted


# -- which epoch is kept -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "settings"), [("cbm", {}), ("blackbox", {"patience": 3}), ("dpl", {"patience": 1})])
def test_the_best_epoch_on_validation_is_kept_and_training_stops_in_time(name, settings, seed):
    model = model_of(name, {"epochs": 12, "patience": 4, "learning_rate": 0.02, "batch_size": 8, **settings}, seed=seed)
    model.fit(tiles()["train"], tiles()["valid"])
    best, since = (-1.0, -math.inf), 0
    for number, epoch in enumerate(model.history, start=1):
        assert epoch.number == number and since < model.config.patience
        since = 0 if epoch.score > best[0] else since + 1
        assert epoch.best == ((epoch.score, -epoch.loss) > best)  # of the highest score, the lowest loss
        best = max(best, (epoch.score, -epoch.loss))
    assert len(model.history) == 12 or since == model.config.patience
    said = gather(tiles()["valid"], model.predict(tiles()["valid"]))
    assert METRICS["label_f1"](said) == pytest.approx(best[0], abs=1e-6)


def test_the_last_epoch_is_kept_where_that_is_asked():
    model = model_of("cbm", {"keeps": "last", "patience": 1, "epochs": 5})
    model.fit(tiles()["train"], tiles()["valid"])
    assert [epoch.best for epoch in model.history] == [True] * 5


def test_concepts_are_scored_by_their_f1_and_labels_of_an_independent_head_with_true_concepts():
    model, valid = model_of("cbm", {"mode": "independent", "epochs": 2, "keeps": "last"}), tiles()["valid"]
    model.fit(tiles()["train"], valid)
    truth = dict(zip(model.space.names, valid.concepts.T, strict=True))
    own, told = model.predict(valid), model.predict(valid, truth)
    read = [f1_score(codes, own.concepts[name].codes, average="macro") for name, codes in truth.items()]
    scores = {epoch.phase: epoch.score for epoch in model.history}
    assert scores["concepts"] == pytest.approx(np.mean(read), abs=1e-6)
    assert scores["labels"] == pytest.approx(METRICS["label_f1"](gather(valid, told)), abs=1e-6)


def test_a_model_with_nothing_to_learn_is_scored_as_it_is(data, run, tmp_path):
    model = train_run(TrainSpec("dpl", Settings({**QUICK, "perception": str(run)})), data, tmp_path / "run")
    assert [(epoch.phase, epoch.score) for epoch in model.history] == [("as given", 1.0)]


# -- examples and batches ----------------------------------------------------------------------------------------------


class Noting(MODELS["blackbox"]):
    """A network of one's own, whose loss notes the rows that it sees."""

    def phases(self, data):
        self.seen = []
        (phase,) = super().phases(data)
        return [replace(phase, loss=lambda batch: self.noted(batch, phase.loss))]

    def noted(self, batch, loss):
        self.seen.append(batch.rows.tolist())
        return loss(batch)


def test_every_example_is_seen_once_an_epoch_in_another_order():
    model = Noting(tiles(), settings={"backbone": "mlp", "device": "cpu", "epochs": 2, "batch_size": 10})
    model.fit(tiles()["train"], tiles()["valid"])
    assert [len(rows) for rows in model.seen] == [10, 10, 4] * 2
    epochs = [[row for rows in part for row in rows] for part in (model.seen[:3], model.seen[3:])]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(24)) and epochs[0] != epochs[1]


def test_the_loss_of_an_epoch_is_the_mean_over_its_examples():
    settings = {"batch_size": 10, "epochs": 1, "learning_rate": 1e-12, "weight_decay": 0.0}
    model = model_of("blackbox", settings)
    model.fit(tiles()["train"], tiles()["valid"])
    assert model.history[0].loss == pytest.approx(plain(model).item(), abs=1e-5)  # hardly anything is learned


def test_dropout_changes_training_and_not_the_beginning():
    for name in NETWORKS:
        more = {"members": 2} if name == "bears" else {"steps": 2} if name == "ecbm" else {}
        usual, dropping = (model_of(name, {**more, "dropout": share}) for share in (0.0, 0.5))
        assert all(map(torch.equal, usual.state_dict().values(), dropping.state_dict().values()))
        pictures = batch().pictures
        assert torch.equal(usual.eval().answer(pictures, {}).labels[0], dropping.eval().answer(pictures, {}).labels[0])
    for share, same in ((0.0, True), (0.5, False)):
        model = model_of("blackbox", {"dropout": share}).train()
        assert torch.equal(model.answer(pictures, {}).labels[0], model.answer(pictures, {}).labels[0]) == same


# -- what ends a run ---------------------------------------------------------------------------------------------------


def test_a_learning_rate_far_too_high_ends_the_run():
    with pytest.raises(RunFailed, match="became NaN.*; lower the learning rate") as caught:
        model_of("dpl", {"learning_rate": 1e30}).fit(tiles()["train"], tiles()["valid"])
    assert caught.value.exit_code == 1 and "\n" not in str(caught.value)


class Greedy(Noting):
    """A network for which there is not enough memory."""

    def noted(self, batch, loss):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate\nmuch")


def test_too_little_memory_ends_the_run():
    with pytest.raises(RunFailed, match="^device cpu has not enough memory; lower batch_size$"):
        Greedy(tiles(), settings={"backbone": "mlp", "device": "cpu"}).fit(tiles()["train"], tiles()["valid"])


@pytest.mark.parametrize("name", ["nowhere", "cuda:99", "", "cpu:x"])
def test_a_device_that_is_not_there_is_refused(name):
    with pytest.raises(ConfigError, match=f"^device '{name}' cannot be used: ") as caught:
        model_of("blackbox", {"device": name}).fit(tiles()["train"], tiles()["valid"])
    assert "\n" not in str(caught.value)


def test_deterministic_training_repeats_itself_and_is_switched_off_again():
    weights = []
    for _ in range(2):
        model = model_of("dpl", {"deterministic": True, "epochs": 2})
        model.fit(tiles()["train"], tiles()["valid"])
        weights.append(model.state_dict())
    assert all(map(torch.equal, weights[0].values(), weights[1].values()))
    assert not torch.are_deterministic_algorithms_enabled()


# -- splits for a loop of one's own ------------------------------------------------------------------------------------


def test_a_split_as_a_torch_dataset(data):
    split = data["test"]
    loader = torch.utils.data.DataLoader(TorchSplit(split), batch_size=len(split))
    pictures, labels, concepts = next(iter(loader))
    assert pictures.shape == (64, 1, 1, 3) and torch.equal(pictures[:, 0, 0], concepts.float())
    assert (labels.numpy() == split.labels).all() and (concepts.numpy() == split.concepts).all()
    whole = TorchSplit(split)
    assert all(map(torch.equal, whole[-1], whole[63])) and len(list(iter(split.torch()))) == 64
    some = torch.utils.data.DataLoader(whole, batch_size=8, sampler=[5, 4, 60])
    assert [concepts.tolist() for _, _, concepts in some] == [whole.concepts[[5, 4, 60]].tolist()]
    assert (
        "images" not in data["valid"].__dict__
        and TorchSplit(data["valid"])[0]
        and "images" not in data["valid"].__dict__
    )
    for row in (64, -65):
        with pytest.raises(IndexError, match=f"has 64 examples, so no example {row}"):
            whole[row]


@pytest.mark.parametrize("channels_last", [False, True])
def test_what_is_annotated_and_not_what_is_true_is_learned_from(channels_last):
    given = batch(missing=True)
    assert (given.concepts[1::5, 2] == -1).all() and (given.concepts >= 0).sum() == 4 * 24 - 5
    whole = model_of("blackbox").feed(tiles()["train"], torch.device("cpu"), channels_last).take(torch.arange(24))
    assert torch.equal(whole.images, torch.from_numpy(tiles()["train"].images).permute(0, 3, 1, 2))
    assert torch.equal(whole.pictures, whole.images / 255)
