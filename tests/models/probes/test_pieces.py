"""Pieces of probes by hand: layers for those who know no torch, random concepts one by one, the bypass."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.errors import ConfigError, UnknownName
from assay.models import ProbeConfig, bypass, layer_features, layer_names
from assay.models.probes import layers, tcav
from assay.models.probes.activations import Sensitivity, Subject, log_odds, rows_of, sensitivity, smaller
from assay.models.probes.bypass import Bypass
from assay.models.probes.linear import Span
from assay.models.probes.tcav import Directions, concept_directions, effects
from assay.seeds import rng_for
from tests.models.limits import COUNT, POSITIVE, require_limits


def test_usual_settings_of_probes():
    config = ProbeConfig()
    assert (config.examples, config.most_features, config.repetitions, config.ridge) == (2000, 8192, 199, 0.01)
    assert config.strengths == [1.0, 0.1, 0.01, 0.001, 0.0001] and config.vectors == "ridge"
    limits = {"examples": ((2, 1),), "most_features": COUNT, "repetitions": ((19, 18),), "ridge": POSITIVE}
    require_limits(ProbeConfig, {**limits, "strengths": (([0.5], []),)})


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(6, 4), nn.Linear(4, 3)

    def forward(self, pictures):
        return self.second(self.first(pictures.flatten(1)).relu())


@pytest.fixture
def split(monkeypatch):
    """Return a split of bytes, whose network is a plain one."""
    rng = np.random.default_rng(0)
    images = torch.from_numpy(rng.integers(0, 256, (5, 1, 2, 3), dtype=np.uint8))
    net = Net()
    monkeypatch.setattr(layers, "network_of", lambda model: net if model.name == "net" else None)
    monkeypatch.setattr(layers, "to_batch", lambda data, device: SimpleNamespace(images=data))
    return images, net


def test_layers_are_named_and_read_as_plain_numbers(split):
    images, net = split
    model = SimpleNamespace(name="net")
    assert layer_names(model, images) == ["input", "first", "second"]
    found = layer_features(model, images, "first")
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, net.first(images.flatten(1) / 255).detach(), atol=1e-5)
    np.testing.assert_allclose(layer_features(model, images, "input"), images.flatten(1) / 255, atol=1e-6)
    with pytest.raises(UnknownName, match="no layer named 'frist'"):
        layer_features(model, images, "frist")
    with pytest.raises(ConfigError, match="'tree' is no network: it has no layers to look into"):
        layer_names(SimpleNamespace(name="tree"), images)
    with pytest.raises(ConfigError, match="only layers of networks that read pictures are looked into"):
        layer_names(model, images.float())


def test_gradients_of_a_layer_are_those_of_the_log_odds_of_the_answer(split):
    images, net = split
    found = sensitivity(Subject.of(net), "first", images, 99)
    inside = net.first(images.flatten(1) / 255).detach().requires_grad_()
    scores = net.second(inside.relu())
    best = scores.argmax(dim=1)
    odds = sum(
        scores[r, best[r]] - torch.cat([scores[r, : best[r]], scores[r, best[r] + 1 :]]).logsumexp(0) for r in range(5)
    )
    (gradient,) = torch.autograd.grad(odds, inside)
    np.testing.assert_allclose(found.gradients[0], gradient, atol=1e-5)
    assert found.classes[0].tolist() == best.tolist()
    assert log_odds(torch.tensor([[2.0], [3.0]]), torch.zeros(2, dtype=torch.long)).tolist() == [2, 3]


def test_maps_and_tokens_are_averaged_down():
    maps = torch.arange(2 * 2 * 4 * 6.0).reshape(2, 2, 4, 6)
    assert smaller(maps, 48) is maps
    found = smaller(maps, 12)
    assert found.shape == (2, 2, 2, 3) and found[0, 0, 0, 0] == maps[0, 0, :2, :2].mean()
    tokens = torch.arange(2 * 4 * 3.0).reshape(2, 4, 3)
    half = smaller(tokens, 6)
    assert half.shape == (2, 2, 3) and half[1, 0].tolist() == tokens[1, :2].mean(dim=0).tolist()
    assert smaller(torch.ones(2, 9), 3).shape == (2, 9) and smaller(maps, 1).shape == (2, 2, 1, 1)
    parts = [torch.arange(8.0).reshape(4, 2), torch.arange(2.0).reshape(2, 1)]
    assert rows_of(parts, 2, 99).tolist() == [[0, 1, 4, 5, 0], [2, 3, 6, 7, 1]]


def test_effects_are_tested_against_concepts_that_are_shuffled(monkeypatch):
    rng = np.random.default_rng(1)
    rows = torch.from_numpy(rng.normal(size=(12, 3)))
    codes = torch.from_numpy(rng.integers(0, [2, 3], (12, 2)))
    codes[:3, 1] = torch.arange(3)
    directions = concept_directions(rows, codes, (2, 3), 0.1)
    gradients = torch.from_numpy(rng.normal(size=(7, 3)))
    classes = torch.tensor([0, 2, 0, 2, 2, 0, 2])
    orders = np.stack([rng.permutation(12) for _ in range(9)])
    monkeypatch.setattr(tcav, "AT_ONCE", 12 * 5 * 2)  # two shuffles at a time
    felt = Sensitivity([classes], [gradients])
    found = effects(rows, codes, directions, felt, 0.1, orders)
    assert [(e.concept, e.value, e.label, e.class_, e.examples) for e in found] == [
        (c, v, 0, k, n) for k, n in ((0, 3), (2, 4)) for c, size in ((0, 2), (1, 3)) for v in range(size)
    ]
    real = np.zeros((2, 5))
    random = np.zeros((9, 2, 5))
    means = [gradients[classes == k].mean(dim=0) for k in (0, 2)]
    for at, order in enumerate([np.arange(12), *orders]):
        columns = concept_directions(rows, codes[order], (2, 3), 0.1).columns
        for k in range(2):
            values = (means[k] @ columns).numpy()
            if at == 0:
                real[k] = values
            else:
                random[at - 1, k] = values
    scale = np.sqrt((np.concatenate([real[None], random]) ** 2).mean(axis=0))
    most = (np.abs(random) / scale).reshape(9, -1).max(axis=1)
    for place, effect in enumerate(found):
        k, column = divmod(place, 5)
        own = gradients[classes == (0, 2)[k]]
        assert effect.score == pytest.approx(float((own @ directions.columns[:, column] > 0).double().mean()))
        assert effect.derivative == pytest.approx(real[k, column], abs=1e-6)
        assert effect.p == pytest.approx((1 + (np.abs(random[:, k, column]) >= abs(real[k, column])).sum()) / 10)
        family = (1 + (most >= abs(real[k, column]) / scale[k, column]).sum()) / 10
        assert effect.p_family == pytest.approx(family)
    assert found[0].to_dict()["class"] == 0 and isinstance(directions, Directions)


def test_a_span_leaves_out_directions_without_variance():
    rows = torch.tensor([[1.0, 2, 5, 0], [3, 2, 1, 0], [2, 2, 0, 0]])
    span = Span.of(rows)
    assert span.basis.shape == (4, 2) and span.coordinates(rows).square().mean().item() == pytest.approx(1, abs=1e-5)
    gradient = torch.tensor([[1.0, -2, 0.5, 3]])
    close = (span.coordinates(rows)[:1] - span.coordinates(rows)[1:2]) @ span.directions(gradient).T
    assert close.item() == pytest.approx(((rows[0] - rows[1]) @ gradient[0]).item(), abs=1e-4)


# -- the bypass --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accuracy", "own", "chance", "survival"),
    [(0.9, 0.7, 0.5, 0.5), (0.9, 0.95, 0.5, 1.0), (0.9, 0.4, 0.5, 0.0), (0.5, 0.5, 0.5, 0.0), (0.4, 0.3, 0.5, 0.0)],
)
def test_survival_is_the_share_above_chance(accuracy, own, chance, survival):
    found = Bypass(9, accuracy, 1.0, own, 0.2, chance, 0.1, 0.3, 0.6)
    assert found.survival == pytest.approx(survival) and found.to_dict()["survival"] == pytest.approx(survival)


class Split(SimpleNamespace):
    def __len__(self):
        return len(self.labels)

    def with_known_concepts(self, what):
        return self

    def take(self, rows):
        return Split(concepts=self.concepts[rows], labels=self.labels[rows], pictures=self.pictures[rows])


def test_the_bypass_by_hand(monkeypatch):
    rng = np.random.default_rng(0)
    concepts, pictures = rng.integers(0, 3, (40, 2)), rng.integers(0, 2, (40, 1))
    data = Split(concepts=concepts, labels=(concepts[:, :1] + pictures) % 2, pictures=pictures)

    def answer(codes, split):
        return (codes[:, :1] + split.pictures * (codes[:, 1:] > 0)) % 2  # the picture has its say at times

    def predict(split, do):
        codes = split.concepts if do is None else np.stack([do["a"], do["b"]], axis=1)
        said = answer(codes, split) if do is not None else split.labels
        return SimpleNamespace(labels={"y": SimpleNamespace(codes=said[:, 0])})

    knowledge = SimpleNamespace(space=SimpleNamespace(names=("a", "b")), label_names=("y",))
    model = SimpleNamespace(name="m", can_intervene=True, knowledge=knowledge, predict=predict)
    monkeypatch.setattr("assay.models.probes.bypass.MOST_ROWS", 40)
    found = bypass(model, data, 3)
    other = rng_for(3, "bypass", "shuffle").permutation(40)
    mixed, true, labels = answer(concepts[other], data), answer(concepts, data), data.labels
    common = np.array([[np.bincount(column).argmax() for column in concepts.T]] * 40)
    assert found == Bypass(
        40, 1.0, (true == labels).mean(), (mixed == labels).mean(), (mixed == labels[other]).mean(),
        (labels == labels[other]).mean(), (mixed != true[other]).mean(), (answer(common, data) == labels).mean(),
        max(labels.mean(), 1 - labels.mean()),
    )  # fmt: skip
    monkeypatch.setattr("assay.models.probes.bypass.MOST_ROWS", 39)
    assert bypass(model, data, 3).rows == 39
    model.can_intervene = False
    with pytest.raises(ConfigError, match="model 'm' has no concepts that can be set"):
        bypass(model, data)
