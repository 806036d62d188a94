"""Sparse autoencoders and bottlenecks by hand: losses, learning rates, heads and what is left out."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from assay.concepts import bits
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.models.discovery import bottlenecks, sparse
from assay.models.discovery.bottlenecks import (
    LabelFreeCBM,
    LabelFreeConfig,
    NamedUnits,
    PosthocCBM,
    PosthocConfig,
    SparseHead,
    cubed_similarity,
)
from assay.models.discovery.method import DiscoveryConfig, Scaler, SplitRows
from assay.models.discovery.sparse import Dictionary, L1Autoencoder, L1Config, TopKAutoencoder, TopKConfig


def silent(*_):
    pass


def close(found, wanted, atol=1e-5):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), atol=atol)


def test_usual_settings_of_discovery():
    plain, topk, l1, posthoc, free = DiscoveryConfig(), TopKConfig(), L1Config(), PosthocConfig(), LabelFreeConfig()
    assert (plain.units, plain.examples, plain.most_features, plain.learner, plain.repetitions) == (
        64, 2000, 2048, "tree", 5,
    )  # fmt: skip
    assert (topk.steps, topk.batch_size, topk.learning_rate, topk.active, l1.penalty) == (1500, 256, 3e-3, 8, 0.1)
    assert (posthoc.ridge, posthoc.head_penalty) == (0.01, 0.002)
    assert (free.steps, free.learning_rate, free.cutoff, free.clip, free.concepts) == (300, 0.02, 0.45, "", [])


def test_rows_are_scaled_by_their_mean_length():
    rows = torch.tensor([[1.0, 0.0, 3.0], [3.0, 4.0, 3.0], [5.0, 2.0, 0.0], [3.0, 2.0, 2.0]])
    centred = rows - rows.mean(dim=0)
    scale = centred.norm(dim=1).mean() / 3**0.5
    close(Scaler.of(rows)(rows), centred / scale)
    assert Scaler.of(torch.ones(3, 2)).scale.item() == pytest.approx(1e-12)


# -- sparse autoencoders -----------------------------------------------------------------------------------------------


def autoencoder(kind=TopKAutoencoder, config=None, features=3, **settings):
    made = kind((config or kind.Config)(device="cpu", **settings), 4)
    torch.manual_seed(0)
    made.dictionary = Dictionary(features, made.config.units)
    return made


@torch.no_grad()
def test_units_are_what_rows_have_of_each_direction():
    made = autoencoder(units=5)
    parts = made.dictionary
    close(parts.directions.norm(dim=1), np.ones(5))
    close(parts.encoder, parts.directions)
    parts.bias.copy_(torch.arange(5.0))
    parts.centre.copy_(torch.tensor([0.5, -1, 2]))
    parts.encoder.mul_(2)
    rows = torch.randn(4, 3)
    close(parts.raw(rows), (rows - parts.centre) @ parts.encoder.T + parts.bias)
    close(parts.draw(torch.ones(1, 5)), parts.directions.sum(dim=0)[None] + parts.centre)
    parts.directions.mul_(3)
    parts.normalise()
    close(parts.directions.norm(dim=1), np.ones(5))


def test_the_largest_units_above_0_are_kept():
    raw = torch.tensor([[3.0, -1, 2, 1], [-4, -3, -2, 5]])
    assert autoencoder(units=4, active=2).sparse(raw).tolist() == [[3, 0, 2, 0], [0, 0, 0, 5]]
    assert autoencoder(units=4, active=9).sparse(raw).tolist() == [[3, 0, 2, 1], [0, 0, 0, 5]]
    assert autoencoder(L1Autoencoder, units=4).sparse(raw).tolist() == [[3, 0, 2, 1], [0, 0, 0, 5]]


@torch.no_grad()
def test_dead_units_draw_what_the_others_left():
    made, rows = autoencoder(units=4, active=1), torch.randn(6, 3)
    raw = made.dictionary.raw(rows)
    units = made.sparse(raw)
    error = rows - units @ made.dictionary.directions
    loss, found = made.loss(rows, torch.tensor([50.0, 50, 50, 50]))
    close(found, units)
    assert loss.item() == pytest.approx(error.square().mean().item(), abs=1e-6)
    loss, _ = made.loss(rows, torch.tensor([51.0, 0, 0, 60]))
    only = raw[:, [0, 3]]
    best = only.argmax(dim=1)
    revived = torch.zeros(6, 4)
    revived[torch.arange(6), torch.tensor([0, 3])[best]] = only.amax(dim=1).relu()
    more = (error - revived @ made.dictionary.directions).square().mean()
    assert loss.item() == pytest.approx((error.square().mean() + more / 32).item(), abs=1e-6)


@torch.no_grad()
def test_the_penalty_is_of_the_sum_of_units():
    made, rows = autoencoder(L1Autoencoder, units=4, penalty=0.3), torch.randn(6, 3)
    units = made.dictionary.raw(rows).relu()
    error = (rows - units @ made.dictionary.directions).square().sum(dim=1).mean()
    wanted = (error + 0.3 * 3**0.5 * units.sum(dim=1).mean()) / 3
    loss, found = made.loss(rows, None)
    close(found, units)
    assert loss.item() == pytest.approx(wanted.item(), abs=1e-6)


def test_the_rate_falls_in_the_last_fifth_and_idle_units_are_counted(monkeypatch):
    rates, idle, told, seen = [], [], [], []

    class Watched(torch.optim.SGD):
        def step(self, closure=None):
            rates.append(self.param_groups[0]["lr"])
            return super().step(closure)

    monkeypatch.setattr(torch.optim, "Adam", Watched)
    made = autoencoder(units=2, steps=60, batch_size=3, learning_rate=0.5)

    def loss(rows, idle_steps):
        idle.append(idle_steps.tolist())
        seen.append(rows[:, 0].tolist())
        units = torch.tensor([[1.0, 0.0], [0.0, float(len(idle) == 3)]])
        return made.dictionary.directions.sum() * 2, units

    made.loss = loss
    rows = torch.arange(15.0).reshape(5, 3)
    made._descend(rows, torch.Generator().manual_seed(1), lambda *said: told.append(said))
    assert rates == pytest.approx([0.5 * min(1, 5 * (1 - step / 60)) for step in range(60)])
    assert idle[:6] == [[0, 0], [0, 1], [0, 2], [0, 0], [0, 1], [0, 2]]
    assert told == [("sae-topk, seed 4", 0, 60), ("sae-topk, seed 4", 50, 60)] and sparse.TOLD == 50
    generator = torch.Generator().manual_seed(1)
    assert seen[1] == [rows[torch.randint(5, (3,), generator=generator)][:, 0].tolist() for _ in range(2)][1]
    close(made.dictionary.directions.detach().norm(dim=1), np.ones(2))


def test_units_that_are_never_active_are_told(monkeypatch):
    made = TopKAutoencoder(TopKConfig(device="cpu", units=3, active=3), 0)
    monkeypatch.setattr(TopKAutoencoder, "_descend", lambda *_: None)
    monkeypatch.setattr(TopKAutoencoder, "units", lambda self, split: np.array([[1.0, 0, 0], [0, 0, 2]]))
    made.fit(SplitRows(None, torch.rand(4, 2)), None, silent)
    assert made.notes == ["1 of 3 units are never active"] and made.directions.shape == (3, 2)


# -- label heads -------------------------------------------------------------------------------------------------------

KNOWLEDGE = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "n": "a + b", "same": "a or b"})


class Watching:
    """Stands for scikit-learn's classifier; notes what it is given."""

    made = []

    def __init__(self, **how):
        self.how = how
        Watching.made.append(self)

    def fit(self, inputs, labels):
        self.inputs, self.labels = inputs, labels
        count = len(np.unique(labels))
        rows = 1 if count == 2 else count
        self.coef_ = np.arange(1.0, 1 + rows * inputs.shape[1]).reshape(rows, -1)
        self.coef_[0, 0] = 0
        self.intercept_ = np.arange(rows) + 0.5


def test_a_head_has_a_column_for_each_class_that_occurs(monkeypatch):
    monkeypatch.setattr(bottlenecks, "import_extra", lambda *_: SimpleNamespace(SGDClassifier=Watching))
    Watching.made.clear()
    units = np.array([[1.0, 5.0], [3.0, 5.0], [8.0, 5.0], [0.0, 5.0]])
    labels = np.array([[0, 0, 1], [1, 1, -1], [0, 2, 1], [-1, 0, 1]])
    head = SparseHead.fit(units, labels, KNOWLEDGE, 0.25, 7)
    scaled = np.stack([(units[:, 0] - 3) / units[:, 0].std(), np.zeros(4)], axis=1)
    first, second = Watching.made
    assert first.how == {
        "loss": "log_loss",
        "penalty": "elasticnet",
        "alpha": 0.25,
        "l1_ratio": 0.99,
        "random_state": 7,
    }
    close(first.inputs, scaled[:3])
    close(second.inputs, scaled)
    assert first.labels.tolist() == [0, 1, 0] and head.sizes == (2, 3, 2)
    assert [classes.tolist() for classes in head.classes] == [[0, 1], [0, 1, 2], [1]]
    close(head.weights[0], [[0, 0], [-2, 2]])
    close(head.weights[1], [[0, 3, 5], [2, 4, 6]])
    close(head.biases[0], [-0.5, 0.5])
    assert head.weights[2].shape == (2, 1) and head.used == 2 + 5 + 0
    fresh = np.array([[4.0, 6.0]])
    inputs = np.array([(4 - 3) / units[:, 0].std(), 1.0])
    y, n, same = head.probabilities(fresh)
    chances = 1 / (1 + np.exp(-(inputs @ head.weights[0] + head.biases[0])))
    close(y[0], chances / chances.sum())
    chances = 1 / (1 + np.exp(-(inputs @ head.weights[1] + head.biases[1])))
    close(n[0], chances / chances.sum())
    close(same[0], [0, 1])
    far = SparseHead(np.zeros(1), np.ones(1), (2,), (np.array([0, 1]),), (np.array([[-1.0, 1.0]]),), (np.zeros(2),))
    assert np.isfinite(far.probabilities(np.array([[1e6]]))[0]).all()
    labels[:, 0] = -1
    with pytest.raises(DataError, match="no training example has the label 'y'"):
        SparseHead.fit(units, labels, KNOWLEDGE, 0.25, 7)


def test_a_head_tells_how_many_weights_it_uses(monkeypatch):
    head = SimpleNamespace(used=1200, weights=[np.zeros((40, 30)), np.zeros((40, 2))], probabilities=lambda units: "p")
    asked = []
    monkeypatch.setattr(SparseHead, "fit", lambda *given: asked.append(given) or head)
    made = PosthocCBM(PosthocConfig(head_penalty=0.5), 0)
    made.units = lambda split: "units"
    NamedUnits.fit_head(made, SimpleNamespace(data=SimpleNamespace(knowledge="k", given_labels="labels")))
    assert made.notes == ["the label head uses 1,200 of 1,280 weights"] and made.label_probabilities("u") == "p"
    assert asked == [("units", "labels", "k", 0.5, made.torch_seed())]


def test_a_posthoc_unit_is_the_projection_on_its_vector(monkeypatch):
    monkeypatch.setattr(PosthocCBM, "fit_head", lambda self, train: None)
    codes = np.array([[0, 1], [1, 0], [-1, 1], [1, 1], [0, 0]])
    data = SimpleNamespace(name="train", knowledge=KNOWLEDGE, given_concepts=codes)
    torch.manual_seed(0)
    rows = torch.randn(5, 3)
    made, told = PosthocCBM(PosthocConfig(ridge=0.5), 2), []
    made.fit(SplitRows(data, rows), None, lambda *said: told.append(said))
    assert told == [("posthoc-cbm, seed 2", 0, 1)] and made.names == ("a", "b") and made.columns == [1, 3]
    known = rows[[0, 1, 3, 4]]
    centred = (known - known.mean(dim=0)).double()
    values, vectors = torch.linalg.eigh(centred.T @ centred)
    scale = (values.sum() / (4 * 3)).sqrt()
    points = centred @ vectors / scale
    products = points.T @ points
    damped = products + 0.5 * products.diagonal().mean() * torch.eye(3)
    ones = torch.tensor([[0.0, 1], [1, 0], [1, 1], [0, 0]]).double() - 0.5
    own = torch.linalg.solve(damped, points.T @ ones)
    wanted = ((rows - known.mean(dim=0)).double() @ vectors / scale) @ (own / own.norm(dim=0))
    close(made.units(SplitRows(data, rows)), wanted, atol=1e-4)
    data.given_concepts = np.array([[0, 1], [-1, 0]])
    with pytest.raises(DataError, match="'train' has 1 examples with every concept annotated; posthoc-cbm needs at"):
        made.fit(SplitRows(data, rows[:2]), None, silent)


def cubed_by_hand(one, other):
    one, other = ((x - x.mean()) / x.std() for x in (one, other))
    return float((one**3 @ other**3) / np.linalg.norm(one**3) / np.linalg.norm(other**3))


def test_similarity_is_of_cubes():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    found = cubed_similarity(torch.from_numpy(one), torch.from_numpy(other))
    close(found, [cubed_by_hand(one[:, k], other[:, k]) for k in range(2)])


def label_free(monkeypatch, follows, **settings):
    """Return a label-free bottleneck whose projection is the identity, and what is told of its texts."""
    made = LabelFreeCBM(LabelFreeConfig(clip="here", device="cpu", **settings), 0)
    monkeypatch.setattr(LabelFreeCBM, "_texts", lambda self, knowledge: (["t", "u", "v"], ["a t", "a u", "a v"]))
    monkeypatch.setattr(LabelFreeCBM, "_similarities", lambda self, data, texts, report: (data, tuple(texts)))
    monkeypatch.setattr(LabelFreeCBM, "_learn", lambda self, rows, wanted, report: torch.eye(3))
    monkeypatch.setattr(LabelFreeCBM, "fit_head", lambda self, train: None)
    asked = []
    monkeypatch.setattr(bottlenecks, "cubed_similarity", lambda u, w: asked.append((u, w)) or torch.tensor(follows))
    return made, asked


def test_texts_that_are_not_followed_are_left_out(monkeypatch):
    made, asked = label_free(monkeypatch, [0.5, 0.3, 0.4], cutoff=0.4)
    rows, valid = torch.randn(8, 3), torch.randn(4, 3)
    train = SplitRows(SimpleNamespace(knowledge=None), rows)
    made.fit(train, SplitRows(SimpleNamespace(knowledge="v"), valid), silent)
    assert made.names == ("t", "v") and made.notes == ["1 of 3 texts are left out: the layer does not follow"]
    close(asked[0][0], Scaler.of(rows)(valid))
    assert asked[0][1][0].knowledge == "v" and asked[0][1][1] == ("a t", "a u", "a v")
    projected = Scaler.of(rows)(rows)[:, [0, 2]]
    close(made.units(train), (projected - projected.mean(dim=0)) / projected.std(dim=0))
    every, _ = label_free(monkeypatch, [0.5, 0.4, 0.4], cutoff=0.4)
    every.fit(train, train, silent)
    assert every.notes == [] and len(every.names) == 3
    none, _ = label_free(monkeypatch, [0.1, 0.237, 0.0], cutoff=0.4)
    with pytest.raises(ConfigError, match=r"follow none of 3 texts by 0.4 \(at most by 0.24\)"):
        none.fit(train, train, silent)


def test_a_projection_is_learned_by_adam():
    made, told = LabelFreeCBM(LabelFreeConfig(steps=52, learning_rate=0.1), 3), []
    torch.manual_seed(0)
    rows, wanted = torch.randn(7, 3), torch.randn(7, 2)
    found = made._learn(rows, wanted, lambda *said: told.append(said))
    assert told == [("label-free-cbm, seed 3", 0, 52), ("label-free-cbm, seed 3", 50, 52)] and not found.requires_grad
    torch.manual_seed(made.torch_seed())
    weights = torch.nn.Parameter(0.01 * torch.randn(3, 2))
    adam = torch.optim.Adam([weights], lr=0.1)
    for _ in range(52):
        adam.zero_grad()
        (-F.cosine_similarity(cube(rows @ weights), cube(wanted), dim=0).mean()).backward()
        adam.step()
    close(found, weights.detach(), atol=1e-3)


def cube(columns):
    centred = columns - columns.mean(dim=0)
    return (centred / centred.std(dim=0, unbiased=False)) ** 3


def test_texts_are_given_or_made_of_the_values():
    made = LabelFreeCBM(LabelFreeConfig(concepts=["a wheel", "a hat"]), 0)
    assert made._texts(KNOWLEDGE) == (["a wheel", "a hat"], ["a wheel", "a hat"])
    names, texts = LabelFreeCBM(LabelFreeConfig(), 0)._texts(KNOWLEDGE)
    assert names == ["a", "b"] and len(texts) == 2 and texts[0] != texts[1]
