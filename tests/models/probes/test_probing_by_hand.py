"""Probing piece by piece: examples that are drawn, layers that are called twice, ties, edges, and what is written."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.errors import ConfigError, DataError
from assay.models import Ask, ProbeConfig, Probed, bypass, table
from assay.models.probes import activations, layers, probing, runs, tcav
from assay.models.probes import bypass as bypass_module
from assay.models.probes.activations import (
    INPUT,
    LayerFacts,
    Sensitivity,
    Subject,
    _by_parts,
    _gradients,
    choose_layers,
    layers_of,
    rows_of,
    sensitivity,
    smaller,
)
from assay.models.probes.bypass import Bypass
from assay.models.probes.linear import LinearProbe, Span, fit_linear
from assay.models.probes.probing import LayerDirections, LayerProbe, LayerResult, probe_layers
from assay.models.probes.tcav import Directions, Effect, concept_codes, effects, released_directions
from assay.predictions import Answer, Predictions
from assay.seeds import rng_for
from tests.models.tiles import model_of, tiles

CPU = torch.device("cpu")


def span(width, scale=1.0):
    """Return a span that is the space itself, up to its scale."""
    return Span(torch.zeros(width), torch.eye(width), torch.tensor(scale, dtype=torch.double))


# -- activations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "parts"),
    [
        (torch.ones(2, 3), torch.zeros(2, 3), True),
        (torch.ones(3, 3), torch.ones(3, 3), False),
        (torch.ones(4, 3), torch.ones(4, 3), True),
        (torch.ones(4, 3), torch.tensor([[1.0] * 3, [0] * 3, [1] * 3, [5] * 3]), True),
        (torch.ones(4, 3), torch.tensor([[1.0] * 3, [0] * 3, [1.1] * 3, [1] * 3]), False),
        (torch.ones(4, 3), torch.ones(4, 2), False),
        (torch.ones(4), torch.ones(4), False),
        (torch.ones(0, 3), torch.ones(0, 3), False),
    ],
)
def test_rows_belong_to_pictures_in_turn(first, second, parts):
    assert _by_parts(first, second) is parts


def test_layers_are_chosen_in_the_order_in_which_they_are_asked_for():
    facts = [LayerFacts("a", "Linear", 3, True), LayerFacts("b", "ReLU", 3, False), LayerFacts("c", "Linear", 2, True)]
    assert [layer.name for layer in choose_layers(facts, ("c", "b", "a"), every=False)] == ["c", "b", "a"]
    assert [layer.name for layer in choose_layers(facts, (), every=False)] == ["a", "c"]
    assert [layer.name for layer in choose_layers(facts, (), every=True)] == ["a", "b", "c"]


class Nested(nn.Module):
    """A module whose weights are all inside of a part, and which is called twice."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.inside = nn.Sequential(nn.Linear(6, 5), nn.Tanh())
        self.last = nn.Linear(10, 1)

    def forward(self, pictures):
        flat = pictures.flatten(1)
        return (self.last(torch.cat([self.inside(flat), self.inside(1 - flat)], dim=1)), -flat[:, :2])


def images(count=7):
    return torch.randint(0, 256, (count, 1, 2, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


@torch.no_grad()
def test_how_models_of_ours_answer():
    pictures = torch.rand(3, 3, 11, 16)
    box = model_of("blackbox", {})
    for ours, theirs in zip(Subject.of(box).scores(pictures), box.logits(pictures), strict=True):
        assert torch.equal(ours, theirs)
    net = model_of("cbm", {})
    net.answer = lambda given, do: SimpleNamespace(labels=[torch.tensor([[0.0, 1.0]]), torch.tensor([[0.25, 0.75]])])
    first, second = Subject.of(net).scores(pictures)
    assert first.exp().tolist() == [pytest.approx([0, 1])] and first.isfinite().all()
    assert second.exp().tolist() == [pytest.approx([0.25, 0.75])]
    net.perception = "a run"
    with pytest.raises(ConfigError, match="'cbm' reads no pictures, its concepts come from elsewhere: probe that run"):
        Subject.of(net)
    several = Subject.of(Nested()).scores(images(2) / 255)
    assert [tuple(own.shape) for own in several] == [(2, 1), (2, 2)]


def test_a_layer_has_weights_of_its_own_or_not():
    found = layers_of(Subject.of(Nested()), images(2).float() / 255)
    assert [(layer.name, layer.kind, layer.features, layer.weighted) for layer in found] == [
        (INPUT, "pictures", 6, True), ("inside.0", "Linear", 10, True), ("inside.1", "Tanh", 10, False),
        ("inside", "Sequential", 10, False), ("last", "Linear", 1, True),
    ]  # fmt: skip


def test_each_label_has_gradients_and_one_that_does_not_come_from_a_layer_has_none(monkeypatch):
    monkeypatch.setattr(activations, "CHUNK", 3)
    net, pictures = Nested(), images()
    net.train()
    found = sensitivity(Subject.of(net), "inside", pictures, 99, lambda rows: rows * 2)
    assert net.training and [own.tolist() for own in found.classes] == [
        [0] * 7, (-pictures.flatten(1)[:, :2].float()).argmax(dim=1).tolist(),
    ]  # fmt: skip
    weights = net.last.weight.detach()[0] * 2
    assert found.gradients[0].shape == (7, 10) and torch.allclose(found.gradients[0], weights.expand(7, 10), atol=1e-6)
    assert (found.gradients[1] == 0).all() and found.gradients[1].shape == (7, 10)
    at_input = sensitivity(Subject.of(net), INPUT, pictures, 99)
    signs = torch.zeros(7, 6)
    for row, class_ in enumerate(found.classes[1].tolist()):
        signs[row, class_], signs[row, 1 - class_] = -1, 1
    assert torch.allclose(at_input.gradients[1], signs)
    net.eval()
    sensitivity(Subject.of(net), INPUT, pictures, 99)
    assert not net.training


def test_a_layer_that_no_answer_comes_from_is_told():
    one = torch.ones(2, requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    assert [own.tolist() for own in _gradients([one * 3, other * 2], [one], "x")[1]] == [[0, 0]]
    with pytest.raises(ConfigError, match="layer 'x': the answer has no derivative there"):
        _gradients([other * 2], [one], "x")


def test_a_layer_behind_what_is_not_differentiated_has_a_derivative_still():
    class Cut(nn.Module):
        def __init__(self):
            super().__init__()
            self.part, self.head = nn.Linear(6, 4), nn.Linear(4, 1)
            self.requires_grad_(False)

        def forward(self, pictures):
            return self.head(self.part(pictures.flatten(1).detach()))

    net = Cut()
    found = sensitivity(Subject.of(net), "part", images(3), 99)
    assert torch.allclose(found.gradients[0], net.head.weight.expand(3, 4))
    with pytest.raises(ConfigError, match="layer 'input': the answer has no derivative there"):
        sensitivity(Subject.of(net), INPUT, images(3), 99)


def test_maps_are_averaged_down_side_by_side():
    maps = torch.arange(2 * 3 * 6 * 4.0).reshape(2, 3, 6, 4)
    found = smaller(maps, 18)  # half of each side
    assert found.shape == (2, 3, 3, 2) and torch.allclose(found, nn.functional.avg_pool2d(maps, 2))
    assert smaller(maps, 72) is maps and smaller(maps, 71).shape == (2, 3, 5, 3)
    tokens = torch.arange(2 * 6 * 4.0).reshape(2, 6, 4)
    assert smaller(tokens, 12).shape == (2, 3, 4) and smaller(tokens, 3).shape == (2, 1, 4)
    assert torch.allclose(smaller(tokens, 12)[1, 2], tokens[1, 4:].mean(dim=0))
    parts = [torch.arange(12.0).reshape(6, 2), torch.arange(24.0).reshape(2, 3, 2, 2)]
    found = rows_of(parts, 2, 3)
    assert found.shape == (2, 9) and found[0].tolist() == [0, 1, 4, 5, 8, 9, 1.5, 5.5, 9.5]


def test_layers_give_no_more_numbers_than_are_asked_for(monkeypatch):
    assert (layers.MOST_FEATURES, bypass_module.MOST_ROWS) == (512, 2000)
    pictures = images(3)
    monkeypatch.setattr(layers, "network_of", lambda model: Nested())
    monkeypatch.setattr(layers, "to_batch", lambda data, device: SimpleNamespace(images=pictures))
    monkeypatch.setattr(layers, "MOST_FEATURES", 5)
    model = SimpleNamespace(name="net")
    found = layers.layer_features(model, "data", INPUT)
    np.testing.assert_allclose(found, smaller(pictures / 255, 5).flatten(1), atol=1e-6)
    assert found.shape == (3, 2) and layers.layer_names(model, "data") == [INPUT, "inside.0", "last"]


# -- directions --------------------------------------------------------------------------------------------------------


def test_some_of_each_value_are_drawn_and_at_most_so_many():
    values = np.array([2] * 151 + [0] * 150 + [1] * 3)
    chosen = tcav._some_of_each(values, 4, 1)
    assert (np.bincount(values[chosen]) == [150, 3, 150]).all() and (np.diff(chosen) > 0).all()
    order = rng_for(4, "directions", 1).permutation(304)
    last = [place for place in order if values[place] == 2][150]
    assert set(range(151)) - set(chosen[chosen < 151]) == {last}
    assert not np.array_equal(chosen, tcav._some_of_each(values, 4, 2))
    assert not np.array_equal(chosen, tcav._some_of_each(values, 5, 1))


def test_directions_of_every_concept_are_fitted_on_its_own_examples(monkeypatch):
    asked = []

    class Classifier:
        def __init__(self, alpha, random_state):
            self.how = alpha, random_state

        def fit(self, features, values):
            asked.append((self.how, features.shape, values.tolist()))
            seen = len(np.unique(values))
            self.coef_ = np.arange(1.0, 1 + (seen if seen > 2 else 1) * 2).reshape(-1, 2)
            return self

    monkeypatch.setattr(tcav, "import_extra", lambda name, what: SimpleNamespace(SGDClassifier=Classifier))
    monkeypatch.setattr(tcav, "RELEASED_MOST", 2)
    rows = torch.tensor([[0.0, 2], [1, 0], [3, 1], [0, 5], [2, 2], [4, 4], [1, 3]])
    codes = torch.tensor([[0, 3, 1], [1, 0, 1], [2, 0, 1], [2, 3, 1], [0, 3, 1], [2, 3, 1], [1, 0, 1]])
    found = released_directions(rows, codes, (3, 4, 2), 6)
    drawn = [tcav._some_of_each(codes[:, place].numpy(), 6, place) for place in (0, 1)]
    assert asked == [
        ((1e-3, 6), (len(own), 2), codes[own, place].tolist()) for place, own in enumerate(drawn)
    ]  # fmt: skip
    assert found.sizes == (3, 4, 2)
    wanted = np.zeros((9, 2))
    wanted[:3] = [[1, 2], [3, 4], [5, 6]]
    wanted[3], wanted[6] = [-1, -2], [1, 2]  # the values 0 and 3 of the second
    inside = (wanted @ found.span.basis.double().numpy()).T
    norms = np.linalg.norm(inside, axis=0, keepdims=True)
    np.testing.assert_allclose(found.columns, inside / np.where(norms == 0, 1, norms), atol=1e-6)


def test_directions_are_damped_by_a_share_of_the_mean_variance():
    points = torch.tensor([[3.0, 1.0], [-1.0, 2.0], [0.5, -4.0], [2.0, 0.0], [1.0, 1.0]], dtype=torch.double)
    wanted = torch.tensor([[1.0], [0.0], [-1.0], [2.0], [0.5]], dtype=torch.double)
    squares = points.numpy().T @ points.numpy()
    damped = squares + 0.3 * np.diag(squares).mean() * np.eye(2)
    found = tcav._solver(points, 0.3) @ wanted
    np.testing.assert_allclose(found, np.linalg.inv(damped) @ points.numpy().T @ wanted.numpy(), atol=1e-10)
    columns = torch.tensor([[[3.0, 0.0], [4.0, 0.0]], [[0.0, 1.0], [2.0, 1.0]]])
    np.testing.assert_allclose(tcav._units(columns), [[[0.6, 0], [0.8, 0]], [[0, 0.5**0.5], [1, 0.5**0.5]]], atol=1e-6)
    ones = tcav.targets(torch.tensor([[0, 2], [1, 2], [1, 0], [1, 0]]), (2, 3))
    np.testing.assert_allclose(ones.mean(dim=0), np.zeros(5), atol=1e-12)
    assert ones[0].tolist() == [0.75, -0.75, -0.5, 0, 0.5] and ones[3].tolist() == [-0.25, 0.25, 0.5, 0, -0.5]


def test_a_concept_is_read_where_some_direction_moves_the_answer_even_back():
    columns = torch.tensor([[1.0, 0.5, 0, 0], [0, 0, 1, -1]], dtype=torch.double)
    found = Directions(span(2), columns, (2, 2))
    one = torch.tensor([[-2.0, 0], [1, -3], [0, 0]], dtype=torch.double)
    other = torch.tensor([[0.0, 0], [0, 1], [0, 2]], dtype=torch.double)
    assert concept_codes(found, [one, other]).tolist() == [[1, -1], [0, 1], [-1, 0]]


def test_only_what_moves_towards_a_class_counts_as_such():
    rows = torch.tensor([[1.0, 0], [0, 1], [-1, 0], [0, -1], [2, 1], [-2, -1]])
    codes = torch.tensor([[1], [0], [0], [1], [1], [0]])
    columns = torch.tensor([[-1.0, 1.0], [0, 0]], dtype=torch.double)
    slopes = torch.tensor([[0.0, 4], [3, 0], [-1, 0], [2, 2]], dtype=torch.double)
    felt = Sensitivity([torch.tensor([1, 1, 1, 0])], [slopes])
    found = effects(rows, codes, Directions(span(2), columns, (2,)), felt, 0.1, np.stack([np.arange(6)] * 3))
    assert [(e.concept, e.value, e.label, e.class_, e.examples) for e in found] == [
        (0, 0, 0, 0, 1), (0, 1, 0, 0, 1), (0, 0, 0, 1, 3), (0, 1, 0, 1, 3),
    ]  # fmt: skip
    assert [e.score for e in found] == pytest.approx([0, 1, 1 / 3, 1 / 3])  # a slope of 0 moves nothing
    assert [e.derivative for e in found] == pytest.approx([-2, 2, -2 / 3, 2 / 3])


# -- linear probes -----------------------------------------------------------------------------------------------------


def test_a_probe_has_a_bias_and_concepts_of_several_sizes():
    weights = torch.tensor([[1.0, -1, 0, 2, 0.5], [0, 1, 1, -1, 0]], dtype=torch.double)
    bias = torch.tensor([0.1, 0.2, -0.3, 0.4, 0], dtype=torch.double)
    probe = LinearProbe(
        Span(torch.tensor([1.0, 2]), torch.eye(2), torch.tensor(2.0)), weights, bias, (2, 3), (1.0, 1.0)
    )
    first, second = probe.probabilities(torch.tensor([[3.0, 1], [1, 2]]))
    logits = torch.tensor([[1.0, -0.5], [0, 0]], dtype=torch.double) @ weights + bias
    assert torch.allclose(first, logits[:, :2].softmax(dim=1)) and torch.allclose(second, logits[:, 2:].softmax(dim=1))


def test_each_concept_keeps_the_first_of_equally_good_penalties():
    rows = torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    codes = torch.stack([(rows[:, 0] > 0).long(), (rows[:, 1] > 0.3).long() + (rows[:, 1] > 1).long()], dim=1)
    same = fit_linear(rows, codes, rows, codes, (2, 3), [0.01, 0.5, 0.1])
    assert same.strengths == (0.01, 0.01)  # on the fitted examples the least penalty is the best
    wrong = torch.stack([1 - codes[:, 0], codes[:, 1]], dim=1)
    mixed = fit_linear(rows, codes, rows, wrong, (2, 3), [0.01, 0.5, 0.1])
    assert mixed.strengths == (0.5, 0.01)
    strong = fit_linear(rows, codes, rows, codes, (2, 3), [0.5])
    assert torch.allclose(mixed.weights[:, :2], strong.weights[:, :2], atol=1e-3)
    assert torch.allclose(mixed.weights[:, 2:], same.weights[:, 2:], atol=1e-3)
    assert torch.allclose(mixed.bias[2:], same.bias[2:], atol=1e-3)


def test_a_span_is_scaled_by_the_mean_variance_along_its_directions():
    rows = torch.tensor([[4.0, 1], [-4, 1], [0, 3], [0, -1]])
    found = Span.of(rows)
    assert found.mean.tolist() == [0, 1] and found.scale.item() == pytest.approx(np.sqrt((32 + 8) / (4 * 2)))
    wide = Span.of(torch.cat([rows, torch.zeros(4, 5)], dim=1))
    assert wide.basis.shape == (7, 2) and wide.scale.item() == pytest.approx(np.sqrt(5), abs=1e-5)
    assert torch.allclose(wide.basis.T @ wide.basis, torch.eye(2), atol=1e-5)
    thin = Span.of(torch.tensor([[1.0, 0], [-1, 0], [0, 9e-4], [0, -9e-4]]))
    assert thin.basis.shape == (2, 1)  # less than a millionth of the variance
    thick = Span.of(torch.tensor([[1.0, 0], [-1, 0], [0, 2e-3], [0, -2e-3]]))
    assert thick.basis.shape == (2, 2)


# -- probing -----------------------------------------------------------------------------------------------------------


class Rows:
    """A split whose examples are numbered."""

    def __init__(self, concepts, places=None):
        self.given_concepts, self.name = concepts, "train"
        self.places = np.arange(len(concepts)) if places is None else places

    def __len__(self):
        return len(self.given_concepts)

    def take(self, rows):
        return Rows(self.given_concepts[rows], self.places[rows])


def test_examples_are_drawn_from_those_with_every_concept(monkeypatch):
    monkeypatch.setattr(probing, "to_batch", lambda data, device: data.places.tolist())
    codes = np.zeros((12, 2), dtype=int)
    codes[[1, 4], 0], codes[7, 1] = -1, -1
    whole = [0, 2, 3, 5, 6, 8, 9, 10, 11]

    def drawn(examples, seed=0, rows=codes):
        return probing._sample(Rows(rows), Ask(config=ProbeConfig(examples=examples), seed=seed), CPU)

    assert drawn(9) == drawn(99) == whole
    some = drawn(4)
    wanted = np.sort(rng_for(0, "probes", "train", 9).permutation(9)[:4])
    assert some == [whole[place] for place in wanted] and some != drawn(4, seed=3)
    assert drawn(2, rows=codes[[0, 1, 2]]) == [0, 2]
    with pytest.raises(
        DataError, match="split 'train' has 1 examples; probes need at least 2 with every concept known"
    ):
        drawn(2, rows=codes[[0, 1, 4]])


@pytest.mark.parametrize("vectors", ["ridge", "sgd"])
def test_directions_are_found_on_training_and_felt_on_validation(monkeypatch, vectors):
    asked = {}

    def noted(name, answer):
        return lambda *given: asked.setdefault(name, given) and answer

    monkeypatch.setattr(probing, "activations", lambda subject, layer, images, most: f"{layer} of {images} to {most}")
    found = SimpleNamespace(span=SimpleNamespace(directions="reduce"))
    monkeypatch.setattr(probing, "concept_directions", noted("ridge", found))
    monkeypatch.setattr(probing, "released_directions", noted("sgd", found))
    monkeypatch.setattr(probing, "sensitivity", noted("felt", "gradients"))
    monkeypatch.setattr(probing, "shuffles", lambda *given: given)
    monkeypatch.setattr(probing, "effects", noted("effects", ["e"]))
    monkeypatch.setattr(probing, "fit_linear", noted("linear", SimpleNamespace(strengths=(0.5,))))
    config = ProbeConfig(ridge=0.25, repetitions=20, most_features=7, vectors=vectors, strengths=[3.0])
    fitted, valid = SimpleNamespace(images="A", concepts="ca"), SimpleNamespace(images="B", concepts="cb")
    data = SimpleNamespace(knowledge=SimpleNamespace(space=SimpleNamespace(sizes=(2, 3))))
    probe, details = probing._fit("subject", "layer", fitted, valid, data, Ask("tcav", config=config, seed=5))
    rows = "layer of A to 7"
    assert asked.pop(vectors) == ((rows, "ca", (2, 3), 0.25) if vectors == "ridge" else (rows, "ca", (2, 3), 5))
    assert asked["felt"] == ("subject", "layer", "B", 7, "reduce")
    assert asked["effects"] == (rows, "ca", found, "gradients", 0.25, (len(rows), 20, 5))
    assert set(asked) == {"felt", "effects"} and details == (("e",), ())
    assert probe == LayerDirections("layer", 7, found)
    probe, details = probing._fit("subject", "layer", fitted, valid, data, Ask(config=config))
    assert asked["linear"] == (rows, "ca", "layer of B to 7", "cb", (2, 3), [3.0]) and details == ((), (0.5,))
    assert (probe.layer, probe.most) == ("layer", 7)


def test_a_probe_reads_the_features_that_it_was_fitted_on(monkeypatch):
    asked = []
    monkeypatch.setattr(probing, "activations", lambda *given: asked.append(given) or "rows")
    soft = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    probe = LayerProbe("layer", 7, SimpleNamespace(probabilities=lambda rows: [soft]))
    (answer,) = probe.concepts("subject", "images")
    assert asked == [("subject", "layer", "images", 7)] and answer.probabilities.tolist() == soft.tolist()
    monkeypatch.setattr(probing, "sensitivity", lambda *given: asked.append(given) or SimpleNamespace(gradients="g"))
    monkeypatch.setattr(probing, "concept_codes", lambda found, gradients: torch.tensor([[0, 2], [1, -1]]))
    found = SimpleNamespace(span=SimpleNamespace(directions="reduce"))
    first, second = LayerDirections("layer", 8, found).concepts("subject", "images")
    assert (first.codes.tolist(), second.codes.tolist(), first.probabilities) == ([0, 1], [2, -1], None)
    assert asked[1] == ("subject", "layer", "images", 8, "reduce")


def test_one_score_is_that_of_the_second_value():
    one = probing._softmax(torch.log(torch.tensor([[3.0], [1.0]], dtype=torch.double)))
    assert one.tolist() == [pytest.approx([0.25, 0.75]), pytest.approx([0.5, 0.5])]
    three = probing._softmax(torch.log(torch.tensor([[1.0, 2.0, 5.0]], dtype=torch.double)))
    assert three.tolist() == [pytest.approx([0.125, 0.25, 0.625])]


class Splits(dict):
    """Splits by name, of a dataset."""

    split_names = ("train", "train_2", "valid", "test")


def test_the_best_layer_is_the_first_of_the_best_on_validation_and_not_the_input(monkeypatch):
    scores = {"input": 0.9, "one": 0.5, "two": 0.75, "three": 0.75, "four": 0.25}
    facts = [LayerFacts(name, "Linear", place, True) for place, name in enumerate(scores)]
    told, moved = [], []
    batch = SimpleNamespace(images=torch.zeros(3, 1))
    monkeypatch.setattr(probing, "device_of", lambda name: f"device {name}")
    monkeypatch.setattr(probing, "split_for", lambda dataset, name: name)
    monkeypatch.setattr(probing, "_sample", lambda data, ask, device: batch)
    monkeypatch.setattr(probing, "layers_of", lambda subject, pictures: facts)
    monkeypatch.setattr(probing, "_labels", lambda subject, split, device: f"labels of {split.name}")
    monkeypatch.setattr(probing, "_fit", lambda subject, layer, *more: (f"probe of {layer}", (("e",), (layer,))))
    monkeypatch.setattr(probing, "_predictions", lambda subject, probe, split, labels, device: (probe, labels))
    monkeypatch.setattr(probing, "gather", lambda split, said: (split.name, said[0]))

    def score(evidence, metrics):
        split, probe = evidence
        value = scores[probe.removeprefix("probe of ")]
        return {metric: SimpleNamespace(value=value if split == "valid" else 1 - value) for metric in metrics}

    monkeypatch.setattr(probing, "score", score)
    dataset = Splits({name: SimpleNamespace(name=name) for name in Splits.split_names})
    subject = SimpleNamespace(module=SimpleNamespace(to=moved.append))
    found = probe_layers(subject, dataset, Ask(every=True), lambda *words: told.append(words))
    assert [result.layer.name for result in found.results] == list(scores) and moved == ["device auto"]
    assert found.best is found.results[2] and found.probe == "probe of two"
    assert found.best.predictions == {name: ("probe of two", f"labels of {name}") for name in ("valid", "test")}
    assert found.best.effects == ("e",) and found.best.strengths == ("two",)
    assert found.best.value("test", "concept_f1") == 0.25
    assert told == [(f"probing {name}", place, 5) for place, name in enumerate(scores)]


def test_predictions_are_of_the_examples_by_their_numbers():
    split = tiles()["test"].take(np.array([9, 3, 4]))
    subject = Subject.of(model_of("blackbox", {}))
    said = [Answer(np.array([place, 0, 1])) for place in range(4)]
    probe = SimpleNamespace(concepts=lambda subject, images: said if images.shape[0] == 3 else None)
    found = probing.predict_with(subject, probe, split, CPU)
    assert found.index.tolist() == split.index.tolist() != [0, 1, 2]
    assert (found.split, found.fingerprint) == ("test", split.fingerprint)
    assert list(found.concepts) == list(split.knowledge.space.names)
    assert list(found.concepts.values()) == said and list(found.labels) == ["y", "total"]
    subject.module.train()
    again = probing._labels(subject, split, CPU)
    pictures = torch.from_numpy(split.images).permute(0, 3, 1, 2) / 255
    for label, logits in zip(again.values(), subject.module.logits(pictures), strict=True):
        np.testing.assert_allclose(label.probabilities, logits.detach().softmax(dim=1), atol=1e-5)


# -- what is written ---------------------------------------------------------------------------------------------------


def result(name, kind="Linear", value=0.5, effects=()):
    predictions = {
        split: Predictions("ff", split, np.arange(2), {}, {"a": Answer(np.array([place, 1]))})
        for place, split in enumerate(("valid", "test"))
    }
    told = SimpleNamespace(value=value, to_dict=lambda: {"value": value})
    scores = {split: dict.fromkeys(probing.METRICS, told) for split in predictions}
    return LayerResult(LayerFacts(name, kind, 4, True), predictions, scores, effects)


def test_what_is_written_tells_the_model_the_layer_and_the_probe(monkeypatch, tmp_path):
    wrote, records, asked = {}, [], []
    effect = Effect(2, 1, 1, 3, 9, 0.5, 0.25, 0.1, 0.2)
    first, second, third = result("one"), result("two", value=0.0, effects=(effect,)), result("three", "Conv2d")
    probed = Probed((first, second, third), second, "probe")

    def write(self, path, knowledge):
        wrote[path.relative_to(tmp_path).as_posix()] = (self.split, dict(self.about), self.concepts["a"].codes.tolist())

    monkeypatch.setattr(Predictions, "write", write)
    monkeypatch.setattr(runs, "write_record", lambda run, dataset, record: records.append((run.folder, record)))

    def write_pairs(predict, dataset, run):
        asked.append(predict("pairs").about)
        return "pairs"

    def predict_with(subject, probe, data, device):
        asked.append((probe, data, device))
        return Predictions("ff", "pairs", np.arange(1), {}, {})

    monkeypatch.setattr(runs, "write_pairs", write_pairs)
    monkeypatch.setattr(runs, "predict_with", predict_with)
    monkeypatch.setattr(runs, "device_of", lambda name: f"device {name}")
    knowledge = tiles().knowledge
    dataset = SimpleNamespace(knowledge=knowledge, fingerprint="ff", layout=tiles().layout)
    ask = Ask("tcav", config=ProbeConfig(device="cpu", examples=33), seed=8)
    about = {"model": "box", "seed": 1, "config": {"epochs": 2}, "versions": {"assay": "1"}, "data": "elsewhere"}
    runs.write_probed(probed, SimpleNamespace(module=nn.Identity()), dataset, tmp_path, ask, about)

    def told(layer):
        config = ask.config.model_dump(mode="json")
        probe = {"of": "box", "method": "tcav", "layer": layer, "seed": 8, "config": config}
        return {**about, "model": f"box+tcav@{layer}", "seed": 8, "probe": probe}

    folders = {"": "two", **{f"layers/{name}/": name for name in ("one", "two", "three")}}
    assert wrote == {
        f"{folder}predictions/{split}.parquet": (
            split, {key: value for key, value in told(layer).items() if key != "data"}, [place, 1],
        )
        for folder, layer in folders.items() for place, split in enumerate(("valid", "test"))
    }  # fmt: skip
    assert asked == [("probe", "pairs", "device cpu"), {"model": "box+tcav@two"}]
    rule = {"knowledge": knowledge.to_dict(), "layout": dataset.layout.to_dict()}
    assert records == [(tmp_path, {**told("two"), **rule, "pairs": "pairs"})]
    content = json.loads((tmp_path / "probes.json").read_text())
    named = {"concept": "right.shade", "value": 1, "label": "total", "class": 3}
    numbers = {"examples": 9, "score": 0.5, "derivative": 0.25, "p": 0.1, "p_family": 0.2}
    assert content == {
        **{"model": "box", "method": "tcav", "seed": 8, "config": ask.config.model_dump(mode="json")},
        **{"fingerprint": "ff", "best": "two", "layers": table(probed, ["valid", "test"])},
        "effects": {"two": [{**named, **numbers}]},
    }
    head, *lines = (tmp_path / "probes.csv").read_text().splitlines()
    wanted = [f"{split}_{metric}" for split in ("valid", "test") for metric in probing.METRICS]
    assert head.split(",")[5:] == wanted and [line.split(",")[:5] for line in lines] == [
        ["0", "one", "Linear", "4", "False"], ["1", "two", "Linear", "4", "True"], ["2", "three", "Conv2d", "4", "False"],
    ]  # fmt: skip
    assert set(lines[1].split(",")[5:]) == {"0.0000"} and set(lines[0].split(",")[5:]) == {"0.5000"}
    records.clear()
    runs.write_probed(probed, SimpleNamespace(module=nn.Identity()), dataset, tmp_path, ask, {})
    assert records[0][1]["model"] == "Identity+tcav@two" and records[0][1]["config"] == {}


def test_each_split_has_its_own_columns():
    metrics = {split: {m: {"value": base + n / 100} for n, m in enumerate(probing.METRICS)} for split, base in (("b", 0.5), ("a", 0.25))}  # fmt: skip
    row = {"number": 0, "layer": "x", "kind": "Linear", "features": 2, "best": False, **metrics}
    _, line = runs._csv([row]).splitlines()
    wanted = [f"{base + n / 100:.4f}" for base in (0.5, 0.25) for n in range(len(probing.METRICS))]
    assert line.split(",")[5:] == wanted


# -- the bypass --------------------------------------------------------------------------------------------------------


class Split(SimpleNamespace):
    """A split of labels and concepts."""

    def __len__(self):
        return len(self.labels)

    def with_known_concepts(self, what):
        return self

    def take(self, rows):
        return Split(concepts=self.concepts[rows], labels=self.labels[rows], places=self.places[rows])


def test_a_large_split_is_drawn_from_without_favour(monkeypatch):
    rng = np.random.default_rng(4)
    concepts = rng.integers(0, 3, (30, 2))
    labels = np.stack([concepts[:, 0], (concepts[:, 1] > 0).astype(int)], axis=1)
    data = Split(concepts=concepts, labels=labels, places=np.arange(30))
    asked = []

    def predict(split, do):
        asked.append((split.places.tolist(), do))
        codes = split.concepts if do is None else np.stack([do["a"], do["b"]], axis=1)
        odd = (split.places % 2)[:, None] if do is not None else 0
        said = np.stack([codes[:, 0], (codes[:, 1] > 0).astype(int)], axis=1) * (1 - odd)
        return SimpleNamespace(labels={name: SimpleNamespace(codes=said[:, i]) for i, name in enumerate("yz")})

    knowledge = SimpleNamespace(space=SimpleNamespace(names=("a", "b")), label_names=("y", "z"))
    model = SimpleNamespace(name="m", can_intervene=True, knowledge=knowledge, predict=predict)
    monkeypatch.setattr("assay.models.probes.bypass.MOST_ROWS", 11)
    found = bypass(model, data, 6)
    rows = np.sort(rng_for(6, "bypass", "rows").permutation(30)[:11])
    other = rng_for(6, "bypass", "shuffle").permutation(11)
    own, truth, odd = concepts[rows], labels[rows], (rows % 2)[:, None]

    def answer(codes):
        return np.stack([codes[:, 0], (codes[:, 1] > 0).astype(int)], axis=1) * (1 - odd)

    mixed, true = answer(own[other]), answer(own)
    common = np.tile([np.bincount(column).argmax() for column in own.T], (11, 1))
    majority = np.mean([np.bincount(column).max() / 11 for column in truth.T])
    assert found == Bypass(
        11, 1.0, (true == truth).mean(), (mixed == truth).mean(), (mixed == truth[other]).mean(),
        (truth == truth[other]).mean(), (mixed != true[other]).mean(), (answer(common) == truth).mean(), majority,
    )  # fmt: skip
    assert all(places == rows.tolist() for places, _ in asked)
