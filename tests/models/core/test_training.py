"""The training loop keeps the best epoch, stops in time, depends on the seed alone, and fails in one line."""

import pytest
import torch
from torch import nn

from assay.config import Settings
from assay.data.split_pictures import SplitPictures
from assay.errors import ConfigError, RunFailed, UnknownName
from assay.models import MODELS, Order, TorchSplit, Training, train_run
from assay.models.core.devices import device_of
from assay.models.core.losses import Supervision, concept_loss, entropy_loss, supervision_mask
from assay.models.core.optimization import make_optimizer
from assay.models.core.steps import OneSeed
from assay.models.core.tensors import Annotations, Batch, to_batch
from assay.models.core.training import BestEpoch, Phase, Trainee, first_rate, next_rate, train
from tests.pixels import NETWORKS, QUICK

CPU = torch.device("cpu")


class Ten:
    """Ten examples that are nothing but their rows."""

    device, is_held = torch.device("cpu"), True
    annotations = Annotations(torch.zeros(10, 1), torch.zeros(10, 1), torch.arange(10))

    def __len__(self):
        return 10

    def take(self, rows, images=None):
        return Batch(torch.zeros(len(rows), 1), torch.zeros(len(rows), 1), rows, torch.zeros(len(rows), 1, 1, 1))

    def batches(self, orders, size):
        return ((rows, None) for rows in torch.split(orders, size, dim=1))


def walk(scores, loss=lambda batch, model: model.weight.sum() * 1.0, **settings):
    """Train one weight downhill, with these scores on validation; return the model and its history."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    given = iter(scores)
    weights = []

    def score(what):
        weights.append(model.weight.item())
        return torch.tensor(next(given), dtype=torch.float64)

    config = Training(device="cpu", epochs=len(scores), **{"patience": 3, **settings})
    phase = Phase("walk", list(model.parameters()), lambda batch: loss(batch, model))
    trainee = Trainee(model, [phase], score)
    train([trainee], Ten(), config, OneSeed)
    return model, weights, trainee.history


def test_the_best_epoch_is_kept():
    model, weights, history = walk([0.1, 0.5, 0.3, 0.4, 0.2])
    assert model.weight.item() == weights[1] and len(set(weights)) == 5
    assert [epoch.best for epoch in history] == [True, True, False, False, False]


def test_training_stops_after_epochs_without_a_better_score():
    _, _, history = walk([0.1, 0.5, 0.5, 0.5, 0.5, 0.9], patience=3)
    assert [epoch.score for epoch in history] == [0.1, 0.5, 0.5, 0.5, 0.5]
    assert len(walk([0.5] * 6, patience=6)[2]) == 6


def test_the_learning_rate_decays():
    _, weights, _ = walk([0.1, 0.2, 0.3], batch_size=10, learning_rate=1.0, learning_rate_decay=0.5, weight_decay=0.0)
    assert weights == pytest.approx([-1.0, -1.5, -1.75], abs=1e-4)  # Adam's steps are as long as its rate


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"schedule": "step", "schedule_epochs": 2, "learning_rate_decay": 0.1}, [1, 1, 0.1, 0.1, 0.01]),
        ({"schedule": "cosine", "epochs": 4}, [1, 0.8536, 0.5, 0.1464, 0]),
        ({"warmup_epochs": 2, "learning_rate_decay": 0.5}, [0.5, 1, 0.5, 0.25, 0.125]),
        ({"warmup_epochs": 1, "schedule": "cosine", "epochs": 3}, [1, 1, 0.5, 0]),
    ],
)
def test_schedules_are_what_they_say(settings, expected):
    config = Training(learning_rate=1.0, **settings)
    rates = [first_rate(config)]
    for epoch in range(1, len(expected)):
        rates.append(next_rate(config, epoch, rates[-1]))
    assert rates == pytest.approx(expected, abs=1e-4)


def test_adamw_takes_the_decay_off_the_weights_and_adam_does_not():
    def weight(name):
        start = nn.Parameter(torch.tensor([2.0]))
        optimizer = make_optimizer([start], Training(optimizer=name, learning_rate=0.1, weight_decay=0.5), CPU)
        start.grad = torch.zeros(1)
        optimizer.step()
        return start.item()

    assert weight("adamw") == pytest.approx(2 - 0.1 * 0.5 * 2)  # no gradient: nothing but the decay
    assert weight("adam") == pytest.approx(2 - 0.1, abs=1e-6)  # the decay is a gradient, of which Adam sees the sign
    assert weight("sgd") == pytest.approx(2 - 0.1 * 0.5 * 2) and weight("rmsprop") < 2


@pytest.mark.parametrize("name", ["adamw", "sgd", "rmsprop"])
def test_every_optimizer_goes_downhill_and_on_after_a_kill(name, data, tmp_path):
    settings = Settings({**QUICK, "epochs": 4, "backbone": "mlp", "optimizer": name, "learning_rate": 0.01})
    order = Order("cbm", settings, 0)
    model = train_run(order, data, tmp_path / "quiet")
    assert model.history[-1].loss < model.history[0].loss

    class Killed(BaseException):
        pass

    def kill(epoch, epochs):
        if epoch.number == 3:
            raise Killed

    with pytest.raises(Killed):
        train_run(order, data, tmp_path / "run", kill)
    train_run(order, data, tmp_path / "run")
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == (
        tmp_path / "quiet" / "model.safetensors"
    ).read_bytes()


def test_every_example_is_seen_once_an_epoch():
    seen = []

    def loss(batch, model):
        seen.append(batch.rows.tolist())
        return model.weight.sum()

    walk([0.1, 0.2], loss, batch_size=4)
    assert [len(rows) for rows in seen] == [4, 4, 2] * 2
    for epoch in (seen[:3], seen[3:]):
        assert sorted(row for rows in epoch for row in rows) == list(range(10))
    assert seen[:3] != seen[3:]


def test_a_loss_that_is_no_number_ends_the_run():
    with pytest.raises(RunFailed, match="the loss became NaN in phase 'walk'; lower the learning rate"):
        walk([0.1], lambda batch, model: model.weight.sum() * float("nan"))
    assert RunFailed.exit_code == 1


def test_a_learning_rate_far_too_high_ends_the_run(data):
    model = MODELS["dpl"](data.knowledge, data.layout, Settings({**QUICK, "learning_rate": 1e30, "backbone": "mlp"}))
    with pytest.raises(RunFailed, match="lower the learning rate"):
        model.fit(data["train"], data["valid"])


@pytest.mark.parametrize("name", ["nowhere", "cuda:99", "", "cpu:x"])
def test_a_device_that_is_not_there_is_refused(name):
    with pytest.raises(ConfigError, match=f"^device '{name}' cannot be used: ") as caught:
        device_of(name)
    assert "\n" not in str(caught.value)


def test_too_little_memory_ends_the_run(data, monkeypatch):
    model = MODELS["blackbox"](data.knowledge, data.layout, Settings({**QUICK, "backbone": "mlp"}))

    def exhaust(pictures):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate\nmuch")

    monkeypatch.setattr(model, "logits", exhaust)
    with pytest.raises(RunFailed, match="^device cpu has not enough memory; lower batch_size$"):
        model.fit(data["train"], data["valid"])


@pytest.mark.parametrize("name", NETWORKS)
def test_the_seed_decides_the_weights(name, data):
    def weights(seed, others):
        torch.manual_seed(others)  # what others draw must not matter
        settings = Settings({**QUICK, "epochs": 2, "backbone": "mlp"})
        model = MODELS[name](data.knowledge, data.layout, settings, seed=seed)
        torch.manual_seed(others)
        model.fit(data["train"], data["valid"])
        return torch.cat([p.detach().ravel() for p in model.parameters()])

    first = weights(3, others=0)
    assert torch.equal(first, weights(3, others=1)) and not torch.allclose(first, weights(4, others=0))


# -- which concepts are shown ------------------------------------------------------------------------------------------


def mask(data, seed=0, **rules):
    batch = to_batch(data["train"], torch.device("cpu"))
    return supervision_mask(Supervision(**rules), data.knowledge.space, batch, seed), batch


def test_all_concepts_are_shown_unless_told(data):
    assert mask(data)[0].all()


def test_only_some_concepts_are_shown(data):
    shown, _ = mask(data, supervised_concepts=["b"])
    assert shown.all(dim=0).tolist() == [False, True, False] and shown.sum() == len(shown)


def test_only_some_values_are_shown(data, evenodd):
    shown, batch = mask(evenodd, supervised_values=[3, 4, 8, 9])
    assert (
        torch.equal(shown, torch.isin(batch.concepts, torch.tensor([3, 4, 8, 9]))) and 0 < shown.sum() < shown.numel()
    )
    shown, batch = mask(data, supervised_values=[True])
    assert torch.equal(shown, batch.concepts == 1)


def test_only_a_share_of_the_examples_is_shown(data):
    shown, _ = mask(data, supervised_share=0.25)
    assert shown[:, 0].sum() == len(shown) / 4 and (shown == shown[:, :1]).all()
    assert torch.equal(shown, mask(data, supervised_share=0.25)[0])
    assert not torch.equal(shown, mask(data, seed=1, supervised_share=0.25)[0])
    assert not mask(data, supervised_share=0.0)[0].any()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"supervised_concepts": ["a", "z"]}, "no concept named 'z'; there is: a, b, c"),
        ({"supervised_values": [True, 7]}, "supervised_values: no concept has the value 7"),
    ],
)
def test_what_cannot_be_shown_is_refused(rules, message, data):
    with pytest.raises((ConfigError, UnknownName), match=message):
        mask(data, **rules)


def test_the_concept_loss_is_the_mean_over_what_is_shown():
    logits = [torch.tensor([[0.0, 0.0], [9.0, 0.0]]), torch.tensor([[0.0, 0.0], [0.0, 0.0]])]
    concepts = torch.tensor([[0, 1], [1, 0]])
    shown = torch.tensor([[True, False], [False, True]])
    assert float(concept_loss(logits, concepts, shown)) == pytest.approx(0.6931, abs=1e-4)
    assert float(concept_loss(logits, concepts, torch.zeros(2, 2, dtype=torch.bool))) == 0


def test_the_entropy_loss_runs_from_even_to_collapsed():
    even, collapsed = torch.full((4, 5), 0.2), torch.eye(5)[[2, 2, 2, 2]]
    assert float(entropy_loss([even], [[0]])) == pytest.approx(0)
    assert float(entropy_loss([collapsed], [[0]])) == pytest.approx(1)
    assert float(entropy_loss([torch.eye(5), collapsed], [[0], [1]])) == pytest.approx(0.5)
    assert entropy_loss([torch.ones(4, 1)], [[0]]).isfinite()  # a concept with one value


def test_a_split_as_a_torch_dataset(data):
    split = data["test"]
    loader = torch.utils.data.DataLoader(TorchSplit(split), batch_size=len(split))
    pictures, labels, concepts = next(iter(loader))
    assert pictures.shape == (64, 1, 1, 3) and torch.equal(pictures[:, 0, 0], concepts.float())
    assert (labels.numpy() == split.labels).all() and (concepts.numpy() == split.concepts).all()


def test_a_torch_dataset_decodes_what_is_asked_for(data, monkeypatch):
    whole = TorchSplit(data["test"])
    asked = []
    monkeypatch.setattr(SplitPictures, "images", property(lambda self: pytest.fail("the whole split was decoded")))
    plain = SplitPictures.pictures
    monkeypatch.setattr(SplitPictures, "pictures", lambda self, rows: asked.extend(rows) or plain(self, rows))
    pictures, labels, concepts = whole[-1]
    assert (
        asked == [63] and torch.equal(pictures[0, 0], concepts.float()) and labels.tolist() == whole.labels[63].tolist()
    )
    loader = torch.utils.data.DataLoader(whole, batch_size=8, sampler=[5, 4, 60])
    assert [concepts.tolist() for _, _, concepts in loader] == [whole.concepts[[5, 4, 60]].tolist()]
    assert asked == [63, 5, 4, 60] and len(list(iter(data["test"].torch()))) == 64
    with pytest.raises(IndexError, match="has 64 examples, so no example 64"):
        whole[64]


def test_of_epochs_with_the_highest_score_the_one_with_the_lowest_loss_is_kept():
    standing, model = BestEpoch(), nn.Linear(1, 1, bias=False)
    epochs = [(0.5, 0.9), (1.0, 0.8), (1.0, 0.1), (1.0, 0.3), (0.9, 0.01)]
    judged = []
    for number, (score, loss) in enumerate(epochs):
        model.weight.data.fill_(number)
        judged.append(standing.judge(score, loss, model))
    assert judged == [True, True, True, False, False] and standing.weights["weight"].item() == 2
    assert (standing.score, standing.loss) == (1.0, 0.1) and standing.since == 3  # since the last higher score
