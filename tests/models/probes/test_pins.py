"""Probes, directions and the bypass find what they found in small networks that are not trained."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from assay.config import Settings, validate
from assay.models import Ask, ProbeConfig, bypass, effect_rows, layer_features, layer_names, table
from assay.models.probes.activations import Subject, activations, layers_of, sensitivity
from assay.models.probes.linear import Span, fit_linear
from assay.models.probes.probing import predict_with, probe_layers
from assay.models.probes.tcav import (
    concept_codes,
    concept_directions,
    effects,
    released_directions,
    shuffles,
    targets,
)
from tests.models.pins import require_pins, summary
from tests.models.tiles import batch, model_of, tiles

CPU = torch.device("cpu")
SIZES = (3, 2)
CONV = {"backbone": "conv-pool"}


def rows(count: int, features: int, seed: int = 0) -> Tensor:
    """Return features of examples."""
    noise = torch.randn(count, features, generator=torch.Generator().manual_seed(seed))
    return noise * torch.linspace(0.3, 2, features) + 0.5


def codes(inputs: Tensor) -> Tensor:
    """Return concepts that follow from features, but for noise."""
    drawn = torch.Generator().manual_seed(9)
    first = (inputs[:, 0] > 0.6).long() + (inputs[:, 1] > 0.2).long()
    second = (inputs[:, 2] + 0.4 * torch.randn(len(inputs), generator=drawn) > 0.5).long()
    return torch.stack([first, second], dim=1)


def linear(count: int, features: int, strengths: list[float]) -> Any:
    """Return a linear probe of some features."""
    inputs, others = rows(count, features), rows(14, features, 1)
    probe = fit_linear(inputs, codes(inputs), others, codes(others), SIZES, strengths)
    span = Span.of(inputs)
    return {
        "strengths": list(probe.strengths),
        "answers": [summary(own) for own in probe.probabilities(others)],
        "shapes": [list(part.shape) for part in (probe.weights, probe.bias, span.basis)],
        "span": [*summary(span.mean), *summary(span.coordinates(others).norm(dim=1))],
        "gradients": summary(span.directions(others).norm(dim=1)),
    }


def directions(count: int, features: int, ridge: float) -> Any:
    """Return the directions of concepts at some features, by both ways."""
    inputs = rows(count, features)
    ours = concept_directions(inputs, codes(inputs), SIZES, ridge)
    theirs = released_directions(inputs, codes(inputs), SIZES, 3)
    points = [found.span.coordinates(rows(9, features, 2)) @ found.columns for found in (ours, theirs)]
    moved = [rows(9, ours.columns.shape[0], 4).double(), rows(9, ours.columns.shape[0], 5).double()]
    return {
        "points": [summary(own) for own in points],
        "codes": concept_codes(ours, moved).tolist(),
        "targets": summary(targets(codes(inputs), SIZES)),
        "orders": summary(shuffles(7, 3, 1)),
    }


def layers(name: str, settings: Mapping[str, Any], most: int) -> Any:
    """Return the layers of a network, what they give, and how answers change with it."""
    model, images = model_of(name, settings), batch().images[:6]
    subject = Subject.of(model)
    facts = layers_of(subject, images.float() / 255)
    weighted = [layer.name for layer in facts if layer.weighted]
    measured = {}
    for layer in ("input", *weighted[:-1]):
        felt = sensitivity(subject, layer, images, most)
        parts = [*felt.classes, *felt.gradients]
        given = activations(subject, layer, images, most)
        measured[layer] = [list(given.shape), summary(given), *(summary(own) for own in parts)]
    data = tiles()["test"]
    return {
        "layers": [str(layer) for layer in facts],
        "names": layer_names(model, data),
        "features": summary(layer_features(model, data, weighted[0])),
        "given": measured,
    }


def effects_at_a_layer(settings: Mapping[str, Any], ridge: float) -> Any:
    """Return the effects of concepts on a network's answers at one layer."""
    model, shown = model_of("blackbox", settings), batch(missing=False)
    subject = Subject.of(model)
    layer = next(own.name for own in layers_of(subject, shown.pictures[:2]) if own.weighted)
    inputs = activations(subject, layer, shown.images, 40)
    found = concept_directions(inputs, shown.concepts, model.space.sizes, ridge)
    felt = sensitivity(subject, layer, shown.images[:9], 40, found.span.directions)
    orders = shuffles(len(inputs), 19, 2)
    return [list(effect.to_dict().values()) for effect in effects(inputs, shown.concepts, found, felt, ridge, orders)]


def probed(name: str, settings: Mapping[str, Any], **ask: Any) -> Any:
    """Return what probes of all layers find."""
    subject = Subject.of(model_of(name, settings))
    config = validate(
        ProbeConfig, Settings({"device": "cpu", "examples": 20, "repetitions": 19, **ask.pop("config", {})})
    )
    result = probe_layers(subject, tiles(), Ask(config=config, **ask))
    again = predict_with(subject, result.probe, tiles()["test"], CPU)
    first = result.results[0].predictions["valid"]
    return {
        "table": [
            [row["number"], row["layer"], row["kind"], row["features"], row["best"], len(row["valid"])]
            for row in table(result, ["valid"])
        ],
        "strengths": [list(own.strengths) for own in result.results],
        "effects": summary([float(row["derivative"]) for row in effect_rows(result.best, tiles().knowledge)]),
        "labels": [summary(answer.probabilities) for answer in again.labels.values()],
        "concepts": [
            [] if answer.probabilities is None else summary(answer.probabilities)
            for answer in (*again.concepts.values(), *first.concepts.values())
        ],
    }


def passed(name: str, settings: Mapping[str, Any], seed: int) -> Any:
    """Return what setting concepts does to labels."""
    return bypass(model_of(name, settings), tiles()["test"], seed).to_dict()


CASES: dict[str, Callable[[], Any]] = {
    "linear": partial(linear, 30, 6, [1.0, 0.1, 0.01]),
    "linear, wide": partial(linear, 12, 20, [0.001, 0.5]),
    "linear, one strength": partial(linear, 25, 4, [0.2]),
    "directions": partial(directions, 30, 6, 0.01),
    "directions, wide": partial(directions, 11, 15, 0.5),
    "layers of a black box": partial(layers, "blackbox", CONV, 50),
    "layers of a bottleneck": partial(layers, "cbm", CONV, 1000),
    "layers of cem": partial(layers, "cem", {"width": 2}, 20),
    "effects": partial(effects_at_a_layer, CONV, 0.01),
    "effects, ridge": partial(effects_at_a_layer, {}, 0.6),
    "probed": partial(probed, "blackbox", CONV, config={"most_features": 30, "strengths": [1.0, 0.05]}),
    "probed by directions": partial(probed, "cbm", {}, method="tcav", seed=4),
    "one layer probed": partial(probed, "blackbox", {}, layers=("head",), seed=1),
    "bypass of cem": partial(passed, "cem", {}, 0),
    "bypass of cbm": partial(passed, "cbm", {}, 5),
}


def measure(name: str) -> Any:
    """Return what a case gives."""
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_it_finds_what_it_found(name: str) -> None:
    require_pins(__file__, name, measure(name))
