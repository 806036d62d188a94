"""Probing a network layer by layer: concept predictions for every split, and a table of what each layer holds.

Probes are fitted on the training split, chosen on validation (the penalty, and which layer is best), and used on the
others, so that no number comes from examples that something was fitted on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from assay.base import Array, ConfigError, DataError, ProgressCallback, Settings, rng_for, validate
from assay.contracts import Answer, Predictions
from assay.dataset import Dataset, SplitData
from assay.metrics import Score, gather, score
from assay.models.core.devices import device_of
from assay.models.core.feeds import Feed
from assay.models.core.neural import CHUNK
from assay.models.core.tensors import Batch, to_batch
from assay.models.explain.probes.activations import (
    INPUT,
    LayerFacts,
    Subject,
    activations,
    choose_layers,
    layers_of,
    sensitivity,
)
from assay.models.explain.probes.linear import LinearProbe, ProbeConfig, fit_linear
from assay.models.explain.probes.tcav import (
    Directions,
    Effect,
    concept_codes,
    concept_directions,
    effects,
    released_directions,
    shuffles,
)
from assay.runs import split_for

Method = Literal["linear", "tcav"]
METRICS = (
    *("concept_accuracy", "concept_f1", "rsbench_concept_f1", "concept_mean_f1"),
    *("collapse", "collapse_object", "collapse_block"),
)
"""The columns of rsbench's Tables 29 to 31, of digits, of objects and of driving scenes, and our F1."""


@dataclass(frozen=True)
class Ask:
    """What to probe: how, which layers (by default all with weights), and with which settings."""

    method: Method = "linear"
    layers: tuple[str, ...] = ()
    every: bool = False
    config: ProbeConfig = field(default_factory=lambda: validate(ProbeConfig, Settings()))
    seed: int = 0


class Probe(Protocol):
    """What reads concepts off one layer."""

    def concepts(self, subject: Subject, images: Tensor) -> list[Answer]:
        """Return an answer for each concept."""


@dataclass(frozen=True)
class LayerProbe:
    """A linear probe of a layer."""

    layer: str
    most: int
    probe: LinearProbe

    def concepts(self, subject: Subject, images: Tensor) -> list[Answer]:
        """Return the probabilities of each concept."""
        concepts = self.probe.probabilities(activations(subject, self.layer, images, self.most))
        return [Answer.of(probabilities.cpu().numpy()) for probabilities in concepts]


@dataclass(frozen=True)
class LayerDirections:
    """The concept directions of a layer; a concept's value is the one whose direction moves the answer most."""

    layer: str
    most: int
    directions: Directions

    def concepts(self, subject: Subject, images: Tensor) -> list[Answer]:
        """Return the value of each concept, without probabilities."""
        gradients = sensitivity(subject, self.layer, images, self.most, self.directions.span.directions)
        return [Answer(column.cpu().numpy()) for column in concept_codes(self.directions, gradients.gradients).T]


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


@dataclass(frozen=True)
class Probed:
    """What was found at every layer, and which of them is the best on validation."""

    results: tuple[LayerResult, ...]
    best: LayerResult
    probe: Probe
    """The probe of the best layer."""


def probe_layers(subject: Subject, dataset: Dataset, ask: Ask, report: ProgressCallback = lambda *_: None) -> Probed:
    """Probe layers of a network on a dataset, all by one method."""
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
    whole = np.flatnonzero((data.given_concepts >= 0).all(axis=1))
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
def _labels(subject: Subject, split: SplitData, device: torch.device) -> dict[str, Answer]:
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
        name: Answer.of(probabilities) for name, probabilities in zip(split.knowledge.label_names, answers, strict=True)
    }


def _softmax(scores: Tensor) -> Array:
    two = torch.cat([torch.zeros_like(scores), scores], dim=1) if scores.shape[1] == 1 else scores
    return np.asarray(two.softmax(dim=1).numpy())


def _predictions(
    subject: Subject, probe: Probe, split: SplitData, labels: Mapping[str, Answer], device: torch.device
) -> Predictions:
    answers = probe.concepts(subject, to_batch(split, device).images)
    concepts = dict(zip(split.knowledge.space.names, answers, strict=True))
    return Predictions(split.fingerprint, split.name, split.index, labels, concepts)


def predict_with(subject: Subject, probe: Probe, split: SplitData, device: torch.device) -> Predictions:
    """Return a network's labels, and the concepts that a probe reads off it, for any split."""
    return _predictions(subject, probe, split, _labels(subject, split, device), device)


def table(probed: Probed, splits: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each layer with the scores of rsbench's Tables 29 to 31 on these splits."""
    return [
        {
            "number": number,
            "layer": result.layer.name,
            "kind": result.layer.kind,
            "features": result.layer.features,
            "best": result is probed.best,
            **{split: {name: score.to_dict() for name, score in result.scores[split].items()} for split in splits},
        }
        for number, result in enumerate(probed.results)
    ]
