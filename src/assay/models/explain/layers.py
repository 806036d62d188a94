"""What the layers of any network do with pictures: activations, and how the prediction changes with them.

A layer is any module that the network calls and that gives one tensor. Where it is called on several parts of a
picture, or several times, all that it gives for one picture is one row of features. Large maps are averaged over
neighbouring places.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.base import Array, ConfigError, UnknownName, suggestion
from assay.dataset import SplitData
from assay.models.concept.blackbox import BlackBox
from assay.models.core.model import Model
from assay.models.core.network import NeuralModel
from assay.models.core.tensors import to_batch

RANK = 1e-6
"""Directions whose variance is a smaller part of the largest are left out of a span."""
INPUT = "input"
"""The pictures themselves, as the layer before all others."""
CHUNK = 256
MOST_FEATURES = 512
"""How many numbers a layer gives for a picture; larger maps are averaged over neighbouring places."""


@dataclass(frozen=True)
class Subject:
    """A network to look into: its modules, and how it answers pictures from 0 to 1.

    `scores` gives one tensor a label: logits, or log-probabilities, a column a value; one column alone is a score.
    """

    module: nn.Module
    scores: Callable[[Tensor], list[Tensor]]

    @classmethod
    def of(cls, module: nn.Module) -> "Subject":
        """Return the subject of a model of ours, or of any other network that gives a tensor or several."""
        if isinstance(module, NeuralModel):
            if module.perception is not None:
                raise ConfigError(
                    f"{module.name!r} reads no pictures, its concepts come from elsewhere: probe that run"
                )
            return cls(module, _scores_of(module))

        def scores(pictures: Tensor) -> list[Tensor]:
            outputs = module(pictures)
            return [outputs] if isinstance(outputs, Tensor) else list(outputs)

        return cls(module, scores)


def _scores_of(model: NeuralModel) -> Callable[[Tensor], list[Tensor]]:
    if isinstance(model, BlackBox):
        return model.logits
    return lambda pictures: [
        probabilities.clamp_min(1e-30).log() for probabilities in model.answer(pictures, {}).labels
    ]


@dataclass(frozen=True)
class LayerFacts:
    """A layer by its name in the network, its kind, and how many features it gives for a picture."""

    name: str
    kind: str
    features: int
    weighted: bool
    """Whether it has weights of its own."""


def layers_of(subject: Subject, pictures: Tensor) -> list[LayerFacts]:
    """Return the layers that a network calls for pictures (two or more), in the order of the calls, the input first."""
    layers = [LayerFacts(INPUT, "pictures", pictures[0].numel(), True)]
    first, second = pictures[:2], torch.stack([pictures[0], 1 - pictures[1]])
    before, after = _calls(subject, first), _calls(subject, second)
    for name, outputs in before.items():
        if all(_by_parts(first, second) for first, second in zip(outputs, after.get(name, []), strict=True)):
            module = subject.module.get_submodule(name)
            weighted = any(True for _ in module.parameters(recurse=False))
            features = sum(output.numel() for output in outputs) // 2
            layers.append(LayerFacts(name, type(module).__name__, features, weighted))
    return layers


def _calls(subject: Subject, pictures: Tensor) -> dict[str, list[Tensor]]:
    """Return what each module of a network gives, each time it is called."""
    names = {module: name for name, module in subject.module.named_modules() if name}
    outputs: dict[str, list[Tensor]] = {}

    def note(module: nn.Module, inputs: object, output: object) -> None:
        if isinstance(output, Tensor):
            outputs.setdefault(names[module], []).append(output.clone())

    with _eval(subject.module), torch.no_grad(), hooked((module, note) for module in names):
        subject.scores(pictures)
    return outputs


def _by_parts(first: Tensor, second: Tensor) -> bool:
    """Return whether rows belong to pictures in turn (first, second, first, ...): those of the first do not change."""
    if first.ndim < 2 or len(first) == 0 or len(first) % 2 or first.shape != second.shape:
        return False
    return len(first) == 2 or torch.allclose(first[::2], second[::2], atol=1e-5)


def choose_layers(facts: Sequence[LayerFacts], names: Sequence[str], every: bool) -> list[LayerFacts]:
    """Return the layers of these names; if there are none all that have weights, or every one."""
    known = {layer.name: layer for layer in facts}
    for name in names:
        if name not in known:
            raise UnknownName(f"no layer named {name!r}{suggestion(name, known)}")
    return [known[name] for name in names] if names else [layer for layer in facts if every or layer.weighted]


@contextmanager
def _eval(module: nn.Module) -> Iterator[None]:
    """Use a network as it is used, without dropout, and leave it as it was."""
    training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(training)


@contextmanager
def hooked(hooks: Iterable[tuple[nn.Module, Callable[..., Any]]]) -> Iterator[None]:
    """Let functions see, or change, what modules give while a block runs."""
    handles = [module.register_forward_hook(hook) for module, hook in hooks]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _tap(module: nn.Module, name: str) -> Iterator[list[Tensor]]:
    """Collect what a layer gives, each time it is called."""
    outputs: list[Tensor] = []

    def take(part: nn.Module, inputs: object, output: Tensor) -> Tensor:
        if torch.is_grad_enabled() and not output.requires_grad:
            output.requires_grad_(True)
        outputs.append(output)
        return output.clone()  # what comes next may write into it

    with hooked([(module.get_submodule(name), take)]):
        yield outputs


def rows_of(parts: Sequence[Tensor], examples: int, most: int) -> Tensor:
    """Return one row of features an example from all that a layer gave, maps averaged down to `most` features."""
    rows = []
    for part in parts:
        for features in smaller(part, most).flatten(1).chunk(len(part) // examples):
            rows.append(features)
    return torch.cat(rows, dim=1)


def smaller(maps: Tensor, most: int) -> Tensor:
    """Return maps (examples x depth x height x width) or tokens (examples x tokens x depth) of at most `most` numbers.

    >>> smaller(torch.ones(2, 4, 8, 8), 64).shape
    torch.Size([2, 4, 4, 4])
    """
    if maps[0].numel() <= most or maps.ndim not in (3, 4):
        return maps
    if maps.ndim == 3:
        tokens = max(1, most // maps.shape[2])
        return F.adaptive_avg_pool1d(maps.transpose(1, 2), tokens).transpose(1, 2)
    share = (most / maps[0].numel()) ** 0.5
    return F.adaptive_avg_pool2d(maps, (max(1, int(maps.shape[2] * share)), max(1, int(maps.shape[3] * share))))


@torch.no_grad()
def activations(subject: Subject, layer: str, images: Tensor, most: int) -> Tensor:
    """Return what a layer gives for pictures, a row a picture.

    Parameters
    ----------
    subject
        The network, and how it answers pictures.
    layer
        The name of a layer, or `input` for the pictures themselves.
    images
        Pictures of bytes: examples x channels x height x width.
    most
        Larger maps are averaged over neighbouring places down to so many features.
    """
    rows = []
    with _eval(subject.module):
        for chunk in torch.split(images, CHUNK):
            pictures = chunk.float() / 255
            if layer == INPUT:
                rows.append(rows_of([pictures], len(pictures), most))
                continue
            with _tap(subject.module, layer) as outputs:
                subject.scores(pictures)
            rows.append(rows_of(outputs, len(pictures), most))
    return torch.cat(rows)


@dataclass(frozen=True)
class Sensitivity:
    """For each label the class that each example is given, and how its log-odds change with each feature of a layer."""

    classes: list[Tensor]
    gradients: list[Tensor]


def sensitivity(
    subject: Subject, layer: str, images: Tensor, most: int, reduce: Callable[[Tensor], Tensor] = lambda rows: rows
) -> Sensitivity:
    """Return the gradients at a layer: one backward pass a label, whatever the number of classes and concepts.

    Parameters
    ----------
    subject
        The network, and how it answers pictures.
    layer
        The name of a layer, or `input` for the pictures themselves.
    images
        Pictures of bytes: examples x channels x height x width.
    most
        Larger maps are averaged over neighbouring places down to so many features.
    reduce
        Shrinks the rows of each chunk of pictures, such as to coordinates in the span of others.
    """
    classes: list[list[Tensor]] = []
    gradients: list[list[Tensor]] = []
    with _eval(subject.module), torch.enable_grad():
        for chunk in torch.split(images, CHUNK):
            pictures = (chunk.float() / 255).requires_grad_(True)
            if layer == INPUT:
                scores, outputs = subject.scores(pictures), [pictures]
            else:
                with _tap(subject.module, layer) as outputs:
                    scores = subject.scores(pictures)
            predicted = [_classes(score.detach()) for score in scores]
            by_label = _gradients(
                [log_odds(score, k) for score, k in zip(scores, predicted, strict=True)], outputs, layer
            )
            classes.append(predicted)
            gradients.append([reduce(rows_of(parts, len(chunk), most)) for parts in by_label])
    return Sensitivity(
        [torch.cat(parts) for parts in zip(*classes, strict=True)],
        [torch.cat(parts) for parts in zip(*gradients, strict=True)],
    )


def _classes(scores: Tensor) -> Tensor:
    return (
        scores.argmax(dim=1) if scores.shape[1] > 1 else torch.zeros(len(scores), dtype=torch.int64).to(scores.device)
    )


def _gradients(outputs: Sequence[Tensor], layer_outputs: Sequence[Tensor], layer: str) -> list[list[Tensor]]:
    """Return the gradient of each output at all that a layer gave, zero where an output does not come from it."""
    try:
        gradients = [
            torch.autograd.grad(output.sum(), list(layer_outputs), retain_graph=True, allow_unused=True)
            for output in outputs
        ]
    except RuntimeError:
        gradients = []
    if not any(part is not None for parts in gradients for part in parts):
        raise ConfigError(f"layer {layer!r}: the answer has no derivative there; probe it by method 'linear'")
    return [
        [torch.zeros_like(tensor) if part is None else part for part, tensor in zip(parts, layer_outputs, strict=True)]
        for parts in gradients
    ]


def log_odds(scores: Tensor, classes: Tensor) -> Tensor:
    """Return the log-odds of each example's class. They are the same for logits and for log-probabilities.

    >>> log_odds(torch.tensor([[0.25, 0.75]]).log(), torch.tensor([1])).exp()
    tensor([3.])
    """
    if scores.shape[1] == 1:
        return scores[:, 0]
    own = scores.gather(1, classes[:, None])[:, 0]
    others = scores.scatter(1, classes[:, None], -torch.inf)
    return own - others.logsumexp(dim=1)


# -- rows --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """The space that some rows span around their mean: `(rows - mean) @ basis / scale` are coordinates in it."""

    mean: Tensor
    basis: Tensor
    scale: Tensor

    @classmethod
    def of(cls, rows: Tensor) -> "Span":
        """Return the span of some rows, by the smaller of the two products of the rows with themselves."""
        centred = (rows - rows.mean(dim=0)).double()
        wide = centred.shape[1] > centred.shape[0]
        values, vectors = torch.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
        large = values > RANK * values.max().clamp_min(1e-30)
        values, vectors = values[large], vectors[:, large]
        basis = centred.T @ vectors / values.sqrt() if wide else vectors
        scale = (values.sum() / max(1, len(rows) * len(values))).sqrt().clamp_min(1e-30)
        return cls(rows.mean(dim=0), basis.to(rows.dtype), scale)

    def coordinates(self, rows: Tensor) -> Tensor:
        """Return where rows are, in units of the mean deviation along a direction."""
        return ((rows - self.mean) @ self.basis).double() / self.scale

    def directions(self, gradients: Tensor) -> Tensor:
        """Return gradients as they are along the directions of the space."""
        return (gradients @ self.basis).double() * self.scale


# -- for those who know no torch ---------------------------------------------------------------------------------------


def layer_names(model: Model, data: SplitData) -> list[str]:
    """Return the layers with weights that a network calls, in that order; the first is the input."""
    subject, pictures = _subject(model), _pictures(data)[:2].float() / 255
    return [layer.name for layer in choose_layers(layers_of(subject, pictures), (), every=False)]


def layer_features(model: Model, data: SplitData, layer: str) -> Array:
    """Return what a layer gives for the pictures of a split, a row each.

    Parameters
    ----------
    model
        A network that reads pictures.
    data
        The split.
    layer
        A name that `layer_names` gives.
    """
    subject, pictures = _subject(model), _pictures(data)
    choose_layers(layers_of(subject, pictures[:2].float() / 255), (layer,), every=False)
    features: Array = activations(subject, layer, pictures, MOST_FEATURES).cpu().numpy()
    return features


def _subject(model: Model) -> Subject:
    if not isinstance(model, NeuralModel):
        raise ConfigError(f"{model.name!r} is no network: it has no layers to look into")
    return Subject.of(model)


def _pictures(data: SplitData) -> torch.Tensor:
    images = to_batch(data, torch.device("cpu")).images
    if images.dtype != torch.uint8:
        raise ConfigError("only layers of networks that read pictures are looked into")
    return images
