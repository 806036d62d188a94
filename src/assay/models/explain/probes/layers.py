"""What a layer of a trained model gives for pictures, as plain numbers for those who know no torch."""

import torch

from assay.base import Array, ConfigError
from assay.dataset import SplitData
from assay.models.core.model import Model
from assay.models.core.runs import network_of
from assay.models.core.tensors import to_batch
from assay.models.explain.probes.activations import Subject, activations, choose_layers, layers_of

MOST_FEATURES = 512
"""How many numbers a layer gives for a picture; larger maps are averaged over neighbouring places."""


def layer_names(model: Model, data: SplitData) -> list[str]:
    """Return the layers with weights that a network calls, in that order; the first is the input."""
    subject, pictures = _subject(model), _pictures(data)[:2].float() / 255
    return [layer.name for layer in choose_layers(layers_of(subject, pictures), (), every=False)]


def layer_features(model: Model, data: SplitData, layer: str) -> Array:
    """Return what a layer gives for the pictures of a split, a row each."""
    subject, pictures = _subject(model), _pictures(data)
    choose_layers(layers_of(subject, pictures[:2].float() / 255), (layer,), every=False)
    features: Array = activations(subject, layer, pictures, MOST_FEATURES).cpu().numpy()
    return features


def _subject(model: Model) -> Subject:
    network = network_of(model)
    if network is None:
        raise ConfigError(f"{model.name!r} is no network: it has no layers to look into")
    return Subject.of(network)


def _pictures(data: SplitData) -> torch.Tensor:
    images = to_batch(data, torch.device("cpu")).images
    if images.dtype != torch.uint8:
        raise ConfigError("only layers of networks that read pictures are looked into")
    return images
