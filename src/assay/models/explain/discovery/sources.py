"""Where activations come from: a layer of a trained run, a backbone as it is, or the pictures themselves."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from assay.base import ConfigError, DataError, UnknownName, suggestion
from assay.dataset import Dataset, SplitData
from assay.models.backbones.build import BackboneSpec, frozen_backbone
from assay.models.backbones.frozen import Frozen
from assay.models.core.devices import device_of
from assay.models.core.runs import load_network
from assay.models.explain.discovery.method import SplitRows
from assay.models.explain.probes.activations import (
    INPUT,
    LayerFacts,
    Subject,
    activations,
    choose_layers,
    layers_of,
    rows_of,
)
from assay.models.registered import BACKBONES
from assay.runs import RUN, RunFolder, check_dataset, split_for

AT_ONCE = 512


@dataclass(frozen=True)
class ActivationSource:
    """Activations of pictures: what they are called, and how they are computed from pictures of bytes."""

    name: str
    layer: str
    device: torch.device
    compute: Callable[[Tensor], Tensor]

    def rows(self, data: SplitData) -> SplitRows:
        """Return a row of activations for each example of a split."""
        return SplitRows(
            data, torch.cat([self.compute(images_of(piece, self.device)).cpu() for piece in data.pieces(AT_ONCE)])
        )


def pictures_of(data: SplitData) -> SplitRows:
    """Return the pictures of a split, for a method that learns from them."""
    return SplitRows(data, images_of(data, torch.device("cpu")))


def images_of(data: SplitData, device: torch.device) -> Tensor:
    """Return pictures as bytes: examples x channels x height x width."""
    if "image" not in data.columns:
        raise DataError(f"split {data.name!r} has no pictures; concepts are discovered in pictures only")
    return torch.from_numpy(data.images).permute(0, 3, 1, 2).contiguous().to(device)


def open_source(text: str, layer: str | None, dataset: Dataset, most: int, device: str) -> ActivationSource:
    """Return the source that a text names: a run's folder, a backbone, or `input` for the pictures themselves."""
    chosen = device_of(device)
    if (Path(text) / RUN).is_file():
        return _of_run(Path(text), layer, dataset, most, chosen)
    if text == INPUT:
        if layer is not None:
            raise ConfigError(f"the pictures themselves have no layer {layer!r}; name a run or a backbone")
        return ActivationSource(INPUT, INPUT, chosen, lambda images: rows_of([images.float() / 255], len(images), most))
    if BackboneSpec.of(text).name in BACKBONES:
        return _of_backbone(text, layer, dataset, most, chosen)
    if Path(text).exists():
        raise DataError(f"{text!r} holds no finished run (no {RUN})")
    name = BackboneSpec.of(text).name
    raise UnknownName(
        f"{text!r} is no run's folder, no backbone and not 'input'{suggestion(name, [*BACKBONES, INPUT])}"
    )


def _of_run(folder: Path, layer: str | None, dataset: Dataset, most: int, device: torch.device) -> ActivationSource:
    run = RunFolder(folder)
    check_dataset(run, dataset)
    network = load_network(folder).to(device)
    subject = Subject.of(network)
    chosen = _layer(subject, layer, dataset, device)
    return ActivationSource(
        f"{run.record.model}@{chosen}", chosen, device, lambda images: activations(subject, chosen, images, most)
    )


def _of_backbone(text: str, layer: str | None, dataset: Dataset, most: int, device: torch.device) -> ActivationSource:
    layout = dataset.layout
    network = frozen_backbone(text, (layout.channels, layout.height, layout.width)).network
    name = _without_folder(text)
    if layer is None:
        network.to(device)
        return ActivationSource(
            name, "output", device, lambda images: rows_of([network(images.float() / 255)], len(images), most)
        )
    inside = network.inside[0] if isinstance(network, Frozen) else network
    subject = Subject.of(inside.to(device))
    chosen = _layer(subject, layer, dataset, device)
    return ActivationSource(
        f"{name}@{chosen}", chosen, device, lambda images: activations(subject, chosen, images, most)
    )


def _without_folder(text: str) -> str:
    """Return a backbone's text without where its weights lie."""
    spec = BackboneSpec.of(text)
    return spec.name if spec.source is None else f"{spec.name}@{Path(spec.source).name}"


def _layer(subject: Subject, name: str | None, dataset: Dataset, device: torch.device) -> str:
    """Return the layer of this name, or else the one that is called right before the last layer with weights."""
    first = dataset[split_for(dataset, "train")][:2]
    if len(first) < 2:
        raise DataError(f"split {first.name!r} has {len(first)} examples; concepts are discovered in many")
    layers = layers_of(subject, images_of(first, device).float() / 255)
    if name is not None:
        return choose_layers(layers, (name,), every=True)[0].name
    return _before_last(layers).name


def _before_last(layers: list[LayerFacts]) -> LayerFacts:
    last = max(place for place, layer in enumerate(layers) if layer.weighted)
    return layers[max(0, last - 1)]
