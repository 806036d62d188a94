"""Probing a network layer by layer: concept predictions for every split, and a table of what each layer holds.

One fit of a linear classifier a layer serves all concepts. It is done in the space that the fitted examples span, where
the regularised solution lies whatever the width of the layer: one of 25,000 features costs no more than one of as many
as examples. Probes are fitted on the training split, chosen on validation (the penalty, and which layer is best), and
used on the others, so that no number comes from examples that something was fitted on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from assay.base import (
    Array,
    Config,
    ConfigError,
    DataError,
    ProgressCallback,
    Settings,
    UnknownName,
    rng_for,
    suggestion,
    validate,
)
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset, SplitData
from assay.logic import Knowledge
from assay.metrics import Score, gather, score
from assay.models.core.devices import device_of
from assay.models.core.feeds import Feed
from assay.models.core.network import CHUNK
from assay.models.core.tensors import Batch, softmax_each, to_batch
from assay.models.explain.layers import (
    INPUT,
    LayerFacts,
    Span,
    Subject,
    activations,
    choose_layers,
    layers_of,
    sensitivity,
)
from assay.models.explain.tcav import (
    Directions,
    Effect,
    concept_codes,
    concept_directions,
    effects,
    released_directions,
    shuffles,
)
from assay.runs import split_for

STEPS, SLOPE = 200, 1e-4
"""The search for weights ends after so many steps, or where the loss is as flat as this."""
Method = Literal["linear", "tcav"]
METRICS = (
    *("concept_accuracy", "concept_f1", "rsbench_concept_f1", "concept_mean_f1"),
    *("collapse", "collapse_object", "collapse_block"),
)
"""The columns of rsbench's Tables 29 to 31, of digits, of objects and of driving scenes, and our F1."""


class ProbeConfig(Config):
    """How layers are probed."""

    examples: int = Field(2000, ge=2)
    """The most training examples that probes are fitted on."""
    most_features: int = Field(8192, ge=1)
    """Maps with more features are averaged over neighbouring places."""
    strengths: list[float] = Field([1.0, 0.1, 0.01, 0.001, 0.0001], min_length=1)
    """The penalties on large weights, from which validation chooses one for each concept."""
    repetitions: int = Field(199, ge=19)
    """How many random concepts TCAV compares with."""
    ridge: float = Field(0.01, gt=0)
    """The penalty of TCAV's linear classifiers, as a share of the mean variance."""
    vectors: Literal["ridge", "sgd"] = "ridge"
    """TCAV's linear classifiers: least squares on all examples, or, as in the code of rsbench, support vectors by
    stochastic descent on at most 150 examples of each value."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""


@dataclass(frozen=True)
class LinearProbe:
    """A linear classifier of each concept on the features of a layer."""

    span: Span
    weights: Tensor
    bias: Tensor
    sizes: tuple[int, ...]
    strengths: tuple[float, ...]
    """The penalty that validation chose for each concept."""

    def probabilities(self, rows: Tensor) -> list[Tensor]:
        """Return the probabilities of each concept's values."""
        logits = self.span.coordinates(rows) @ self.weights + self.bias
        return softmax_each(torch.split(logits, list(self.sizes), dim=1))


def fit_linear(
    rows: Tensor,
    codes: Tensor,
    valid_rows: Tensor,
    valid_codes: Tensor,
    sizes: Sequence[int],
    strengths: Sequence[float],
) -> LinearProbe:
    """Fit a probe of every concept, with for each the penalty under which validation is most likely."""
    span = Span.of(rows)
    points, valid_points = span.coordinates(rows), span.coordinates(valid_rows)
    width = points.shape[1]
    weights = torch.zeros(width, sum(sizes), dtype=torch.double, device=points.device)
    bias = torch.zeros(sum(sizes), dtype=torch.double, device=points.device)
    edges = np.cumsum([0, *sizes])
    best_weights, best_bias = weights.clone(), bias.clone()
    best, chosen = [float("inf")] * len(sizes), [0.0] * len(sizes)
    for strength in sorted(strengths, reverse=True):  # each solution is where the search for the next one begins
        weights, bias = _solve(points, codes, sizes, strength, weights, bias)
        logits = torch.split(valid_points @ weights + bias, list(sizes), dim=1)
        before = list(best)
        for place, scores in enumerate(logits):
            loss = float(F.cross_entropy(scores, valid_codes[:, place]))
            if loss < best[place]:
                columns = slice(int(edges[place]), int(edges[place + 1]))
                best[place], chosen[place] = loss, strength
                best_weights[:, columns], best_bias[columns] = weights[:, columns], bias[columns]
        if best == before:
            break  # from here on the fit is only closer to the training examples
    return LinearProbe(span, best_weights, best_bias, tuple(sizes), tuple(chosen))


def _solve(
    points: Tensor, codes: Tensor, sizes: Sequence[int], strength: float, weights: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the weights and bias with the least cross-entropy and penalty, of all concepts together.

    The search is over weights that are stretched so that the loss bends alike in all directions; it ends in the same
    place, in about half the steps.
    """
    stretch = (points.square().mean(dim=0)[:, None] / 4 + strength).rsqrt()
    stretched = points * stretch.T
    weights, bias = (part.clone().requires_grad_(True) for part in (weights / stretch, bias))
    search = torch.optim.LBFGS(
        [weights, bias], max_iter=STEPS, history_size=20, tolerance_grad=SLOPE, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        search.zero_grad()
        logits = torch.split(stretched @ weights + bias, list(sizes), dim=1)
        total = torch.stack([F.cross_entropy(scores, codes[:, place]) for place, scores in enumerate(logits)]).sum()
        total = total + strength / 2 * (stretch * weights).square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    search.step(loss)  # type: ignore[no-untyped-call]
    return (stretch * weights).detach(), bias.detach()


# -- layers of a network -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ask:
    """What to probe: how, which layers (by default all with weights), and with which settings."""

    method: Method = "linear"
    layers: tuple[str, ...] = ()
    every: bool = False
    config: ProbeConfig = field(default_factory=lambda: validate(ProbeConfig, Settings()))
    seed: int = 0

    @classmethod
    def of(cls, method: str, settings: Settings, layers: Sequence[str] = (), **rest: Any) -> "Ask":
        """Return what to probe, the method and its settings checked."""
        if method not in get_args(Method):
            raise UnknownName(f"no method named {method!r}{suggestion(method, get_args(Method))}")
        return cls(cast(Method, method), tuple(layers), config=validate(ProbeConfig, settings), **rest)


class Probe(Protocol):
    """What reads concepts off one layer."""

    def concepts(self, subject: Subject, images: Tensor) -> list[Prediction]:
        """Return an answer for each concept."""


@dataclass(frozen=True)
class LayerProbe:
    """A linear probe of a layer."""

    layer: str
    most: int
    probe: LinearProbe

    def concepts(self, subject: Subject, images: Tensor) -> list[Prediction]:
        """Return the probabilities of each concept."""
        concepts = self.probe.probabilities(activations(subject, self.layer, images, self.most))
        return [Prediction.of(probabilities.cpu().numpy()) for probabilities in concepts]


@dataclass(frozen=True)
class LayerDirections:
    """The concept directions of a layer; a concept's value is the one whose direction moves the answer most."""

    layer: str
    most: int
    directions: Directions

    def concepts(self, subject: Subject, images: Tensor) -> list[Prediction]:
        """Return the value of each concept, without probabilities."""
        gradients = sensitivity(subject, self.layer, images, self.most, self.directions.span.directions)
        return [Prediction(column.cpu().numpy()) for column in concept_codes(self.directions, gradients.gradients).T]


@dataclass(frozen=True)
class LayerResult:
    """What was found at a layer."""

    layer: LayerFacts
    predictions: Mapping[str, Predictions]
    scores: Mapping[str, Mapping[str, Score]]
    effects: tuple[Effect, ...] = ()
    strengths: tuple[float, ...] = ()

    def value(self, split: str, metric: str) -> float:
        """Return a score."""
        return self.scores[split][metric].value

    def effect_rows(self, knowledge: Knowledge) -> list[dict[str, Any]]:
        """Return the effects with names instead of numbers."""
        rows = []
        for effect in self.effects:
            concept, label = knowledge.space.concepts[effect.concept], knowledge.labels[effect.label]
            named = {"concept": concept.name, "value": concept.values[effect.value], "label": label.name}
            rows.append({**effect.to_dict(), **named, "class": label.values[effect.class_]})
        return rows


@dataclass(frozen=True)
class Probed:
    """What was found at every layer, and which of them is the best on validation."""

    results: tuple[LayerResult, ...]
    best: LayerResult
    probe: Probe
    """The probe of the best layer."""

    def to_dict(self, knowledge: Knowledge) -> dict[str, Any]:
        """Return plain data: a row for each layer with the scores of rsbench's Tables 29 to 31, and the effects."""
        layers = [
            {
                "number": number,
                "layer": result.layer.name,
                "kind": result.layer.kind,
                "features": result.layer.features,
                "best": result is self.best,
                **{split: {n: s.to_dict() for n, s in result.scores[split].items()} for split in self.best.predictions},
            }
            for number, result in enumerate(self.results)
        ]
        effects = {result.layer.name: result.effect_rows(knowledge) for result in self.results if result.effects}
        return {"best": self.best.layer.name, "layers": layers, "effects": effects}


def probe_layers(subject: Subject, dataset: Dataset, ask: Ask, report: ProgressCallback = lambda *_: None) -> Probed:
    """Probe layers of a network on a dataset, all by one method.

    Parameters
    ----------
    subject
        The network, and how it answers pictures.
    dataset
        Probes are fitted on its training split and chosen on validation.
    ask
        The method, the layers and the settings.
    report
        Told which layer is probed.
    """
    device = device_of(ask.config.device)
    subject.module.to(device)
    train, valid = (split_for(dataset, name) for name in ("train", "valid"))
    fitted, validation = (_sample(dataset[name], ask, device) for name in (train, valid))
    layers = choose_layers(layers_of(subject, fitted.images[:2].float() / 255), ask.layers, ask.every)
    splits = [dataset[name] for name in dataset.split_names if not name.startswith("train")]
    labels = {split.name: _labels(subject, split, device) for split in splits}
    results, probes = [], []
    for number, layer in enumerate(layers):
        report(f"probing {layer.name}", number, len(layers))
        probe, details = _fit(subject, layer.name, fitted, validation, dataset, ask)
        predictions = {split.name: _predictions(subject, probe, split, labels[split.name], device) for split in splits}
        scores = {split.name: score(gather(split, predictions[split.name]), METRICS) for split in splits}
        results.append(LayerResult(layer, predictions, scores, *details))
        probes.append(probe)
    # what the pictures themselves show is no merit of the network
    order = [(result.layer.name != INPUT, result.value(valid, "concept_f1")) for result in results]
    best = order.index(max(order))
    return Probed(tuple(results), results[best], probes[best])


def _sample(data: SplitData, ask: Ask, device: torch.device) -> Batch:
    """Return at most so many examples of a split whose concepts are all annotated, drawn without favour."""
    whole = np.flatnonzero((data.annotated_concepts >= 0).all(axis=1))
    data = data if len(whole) == len(data) else data.take(whole)
    if len(data) < 2:
        raise DataError(
            f"split {data.name!r} has {len(data)} examples; probes need at least 2 with every concept known"
        )
    rng = rng_for(ask.seed, "probes", data.name, len(data))
    rows = np.sort(rng.permutation(len(data))[: ask.config.examples])
    return to_batch(data.take(rows) if len(rows) < len(data) else data, device)


def _fit(
    subject: Subject, layer: str, fitted: Batch, validation: Batch, dataset: Dataset, ask: Ask
) -> tuple[Probe, tuple[tuple[Effect, ...], tuple[float, ...]]]:
    """Return the probe of a layer, and the effects or penalties that were found on the way."""
    config, sizes, most = ask.config, dataset.knowledge.space.sizes, ask.config.most_features
    rows = activations(subject, layer, fitted.images, most)
    if ask.method == "linear":
        others = activations(subject, layer, validation.images, most)
        linear = fit_linear(rows, fitted.concepts, others, validation.concepts, sizes, config.strengths)
        return LayerProbe(layer, most, linear), ((), linear.strengths)
    if config.vectors == "sgd":
        directions = released_directions(rows, fitted.concepts, sizes, ask.seed)
    else:
        directions = concept_directions(rows, fitted.concepts, sizes, config.ridge)
    gradients = sensitivity(subject, layer, validation.images, most, directions.span.directions)
    orders = shuffles(len(rows), config.repetitions, ask.seed)
    concept_effects = effects(rows, fitted.concepts, directions, gradients, config.ridge, orders)
    return LayerDirections(layer, most, directions), (tuple(concept_effects), ())


@torch.no_grad()
def _labels(subject: Subject, split: SplitData, device: torch.device) -> dict[str, Prediction]:
    """Return what the network itself says of the labels."""
    subject.module.eval()
    chunks = [subject.scores(chunk.float() / 255) for chunk in Feed(split, device).chunks(CHUNK)]
    columns = [torch.cat(parts).double().cpu() for parts in zip(*chunks, strict=True)]
    answers = [_softmax(scores) for scores in columns]
    wanted = [len(label.values) for label in split.knowledge.labels]
    if [probabilities.shape[1] for probabilities in answers] != wanted:
        widths = [scores.shape[1] for scores in columns]
        raise ConfigError(f"the network gives {widths} scores for the labels' {wanted} values")
    return {
        name: Prediction.of(probabilities)
        for name, probabilities in zip(split.knowledge.label_names, answers, strict=True)
    }


def _softmax(scores: Tensor) -> Array:
    two = torch.cat([torch.zeros_like(scores), scores], dim=1) if scores.shape[1] == 1 else scores
    return np.asarray(two.softmax(dim=1).numpy())


def _predictions(
    subject: Subject, probe: Probe, split: SplitData, labels: Mapping[str, Prediction], device: torch.device
) -> Predictions:
    answers = probe.concepts(subject, to_batch(split, device).images)
    concepts = dict(zip(split.knowledge.space.names, answers, strict=True))
    return Predictions(split.fingerprint, split.name, split.index, labels, concepts)


def predict_with(subject: Subject, probe: Probe, split: SplitData, device: torch.device) -> Predictions:
    """Return a network's labels, and the concepts that a probe reads off it, for any split."""
    return _predictions(subject, probe, split, _labels(subject, split, device), device)
