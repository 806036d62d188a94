"""Methods of saliency: from scores and pictures to a map of relevance for each score and picture.

`scores` gives one number for each target and picture (targets x examples), such as the log-probability of the predicted
label. Maps are targets x examples x height x width; colours are added up. A network whose layers are drawn anew from
the top down is a check of the methods (Adebayo et al., 2018).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.base import ConfigError
from assay.models.core.devices import seed_of
from assay.models.core.encoder import Reader
from assay.models.explain.layers import hooked
from assay.render import Box

Scores = Callable[[Tensor], Tensor]
"""From pictures (numbers from 0 to 1, examples x channels x height x width) to targets x examples."""
Attribution = Callable[[Scores, Tensor], Tensor]
"""From scores and pictures to maps."""
GREY = 0.5
PATCHES = 8
"""A patch is this part of the smaller side, and moves by half of itself."""
MOST_STAGES = 6


def pixel_gradients(scores: Scores, pictures: Tensor) -> Tensor:
    """Return how each score changes with each pixel and colour: targets x examples x channels x height x width."""
    given = pictures.detach().clone().requires_grad_(True)
    return torch.stack([parts[0] for parts in _gradients(scores, given, [given])])


def _gradients(scores: Scores, given: Tensor, at: Sequence[Tensor]) -> list[list[Tensor]]:
    """Return the gradient of each score at some tensors, zero where it does not depend on one.

    `at` may be filled while scores are computed.
    """
    with torch.enable_grad():
        rows = scores(given)
        if not rows.requires_grad:
            raise ConfigError("its answers have no derivative by pixels; use --method occlusion")
        found = [torch.autograd.grad(row.sum(), list(at), retain_graph=True, allow_unused=True) for row in rows]
    return [
        [torch.zeros_like(tensor) if part is None else part for part, tensor in zip(parts, at, strict=True)]
        for parts in found
    ]


def input_gradient(scores: Scores, pictures: Tensor) -> Tensor:
    """Return the absolute gradient of each pixel, colours added up."""
    return pixel_gradients(scores, pictures).abs().sum(dim=2)


@dataclass(frozen=True)
class IntegratedGradients:
    """Integrated gradients from a baseline picture, by the midpoint rule in so many steps."""

    baseline: Tensor
    """Channels x height x width."""
    steps: int = 32

    def __call__(self, scores: Scores, pictures: Tensor) -> Tensor:
        """Return signed maps; each adds up to the score's change from the baseline, but for the error of the steps."""
        change = pictures - self.baseline
        total = torch.zeros(())
        for step in range(self.steps):
            total = total + pixel_gradients(scores, self.baseline + (step + 0.5) / self.steps * change).cpu()
        return (change.cpu() * total / self.steps).sum(dim=2)

    @torch.no_grad()
    def gaps(self, scores: Scores, pictures: Tensor, maps: Tensor) -> tuple[Tensor, Tensor]:
        """Return by how much each map misses the change of its score, and that change, as absolute numbers."""
        change = (scores(pictures) - scores(self.baseline.expand_as(pictures))).cpu()
        return (maps.sum(dim=(2, 3)) - change).abs(), change.abs()


@dataclass(frozen=True)
class Occlusion:
    """How much scores fall where a patch of one brightness hides the picture: the mean over the patches of a pixel."""

    patch: int
    step: int
    fill: float = GREY

    @classmethod
    def of_size(cls, height: int, width: int, patch: int | None = None, step: int | None = None) -> "Occlusion":
        """Return patches that suit pictures of a size, where no other are asked for."""
        side = min(patch or max(1, round(min(height, width) / PATCHES)), height, width)
        if step is not None and step > side:
            raise ConfigError(f"stride {step} is more than the patch's {side} pixels: some would never be hidden")
        return cls(side, step or max(1, side // 2))

    def __call__(self, scores: Scores, pictures: Tensor) -> Tensor:
        """Return signed maps."""
        height, width = pictures.shape[2:]
        with torch.no_grad():
            whole = scores(pictures)
            falls, times = torch.zeros(*whole.shape, height, width), torch.zeros(height, width)
            for top in self._places(height):
                for left in self._places(width):
                    rows, columns = slice(top, top + self.patch), slice(left, left + self.patch)
                    hidden = pictures.clone()
                    hidden[:, :, rows, columns] = self.fill
                    falls[:, :, rows, columns] += (whole - scores(hidden)).cpu()[:, :, None, None]
                    times[rows, columns] += 1
        return falls / times

    def _places(self, size: int) -> list[int]:
        """Return where patches begin along a side; the last one ends with it."""
        last = size - self.patch
        return sorted({*range(0, last + 1, self.step), last})


@dataclass(frozen=True)
class Eye:
    """The last convolution of a network that looks at pictures, and the parts it sees; the whole picture if none."""

    convolution: nn.Module
    boxes: tuple[Box, ...] = ()


def eyes_of(network: nn.Module, name: str) -> tuple[Eye, ...]:
    """Return the last convolution of each encoder in a network, or else of the network as a whole."""
    readers = [part for part in network.modules() if isinstance(part, Reader)]
    seen = [(_last_convolution(part), part.view.boxes) for part in readers] or [(_last_convolution(network), ())]
    eyes = tuple(Eye(convolution, boxes) for convolution, boxes in seen if convolution is not None)
    if not eyes:
        raise ConfigError(f"{name!r} has no convolution, which grad-cam needs; use --method integrated-gradients")
    return eyes


def _last_convolution(network: nn.Module) -> nn.Module | None:
    return next((part for part in reversed(list(network.modules())) if isinstance(part, nn.Conv2d)), None)


@dataclass(frozen=True)
class GradCam:
    """Grad-CAM: what a convolution gives, its channels weighted by their mean gradients; negative sums count as 0.

    Where one network reads several parts of a picture, each part has a map of its own in its place.
    """

    eyes: tuple[Eye, ...]

    def __call__(self, scores: Scores, pictures: Tensor) -> Tensor:
        """Return maps, enlarged to the size of the pictures."""
        outputs: list[Tensor] = []
        owners: list[Eye] = []
        with _listening(self.eyes, outputs, owners):
            gradients = _gradients(scores, pictures.detach().clone().requires_grad_(True), outputs)
        if not outputs:
            raise ConfigError("the last convolution is not used for these answers; use --method integrated-gradients")
        maps = torch.zeros(len(gradients), len(pictures), *pictures.shape[2:])
        for target, parts in enumerate(gradients):
            for eye, output, gradient in zip(owners, outputs, parts, strict=True):
                weights = gradient.mean(dim=(2, 3), keepdim=True)
                self._add(maps[target], eye, (weights * output.detach()).sum(dim=1).relu().cpu())
        return maps

    def _add(self, maps: Tensor, eye: Eye, found: Tensor) -> None:
        """Add what an eye found, a row for each part and picture, in the places that it looks at."""
        boxes = eye.boxes or (Box(0, 0, maps.shape[2], maps.shape[1]),)
        if len(found) != len(boxes) * len(maps):
            raise ConfigError("it is not known which parts of pictures its last convolution sees; use occlusion")
        for box, own in zip(boxes, found.chunk(len(boxes)), strict=True):
            size = (box.bottom - box.top, box.right - box.left)
            large = F.interpolate(own[:, None], size=size, mode="bilinear", align_corners=False)[:, 0]
            maps[:, box.top : box.bottom, box.left : box.right] += large


@contextmanager
def _listening(eyes: Sequence[Eye], outputs: list[Tensor], owners: list[Eye]) -> Iterator[None]:
    """Collect what the convolutions of eyes give, each time they are called."""

    def hook_of(eye: Eye) -> Callable[[nn.Module, object, Tensor], Tensor]:
        def take(part: nn.Module, inputs: object, output: Tensor) -> Tensor:
            outputs.append(output)
            owners.append(eye)
            return output.clone()  # what comes next may write into it

        return take

    with hooked((eye.convolution, hook_of(eye)) for eye in eyes):
        yield


# -- layers drawn anew -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WeightedLayer:
    """A layer with weights of its own, by its name in the network."""

    name: str
    module: nn.Module


def weighted_layers(network: nn.Module, call: Callable[[], object]) -> list[WeightedLayer]:
    """Return the layers with weights, those called last first; layers that are not called come at the end."""
    layers = [
        WeightedLayer(name, part) for name, part in network.named_modules() if list(part.parameters(recurse=False))
    ]
    order: dict[nn.Module, int] = {}

    def note(part: nn.Module, inputs: object, output: object) -> None:
        order[part] = len(order) if part not in order else order[part]

    with torch.no_grad(), hooked((layer.module, note) for layer in layers):
        call()
    return sorted(layers, key=lambda layer: -order.get(layer.module, -1))


@torch.no_grad()
def draw_weights(layer: nn.Module) -> None:
    """Draw the weights of a layer anew: as the layer begins, or else normal with the mean and deviation they have."""
    reset = getattr(layer, "reset_parameters", None)
    if callable(reset):
        reset()
        return
    for weights in layer.parameters(recurse=False):
        deviation = float(weights.float().std(unbiased=False)) if weights.numel() > 1 else 1.0
        weights.normal_(float(weights.float().mean()), deviation or 1.0)


@contextmanager
def kept_weights(network: nn.Module) -> Iterator[None]:
    """Put all weights and buffers back when the block ends."""
    tensors = [*network.parameters(), *network.buffers()]
    before = [tensor.detach().clone() for tensor in tensors]
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, old in zip(tensors, before, strict=True):
                tensor.copy_(old)


def stage_ends(layers: int, cascade: bool, most: int = MOST_STAGES) -> list[int]:
    """Return after how many layers maps are looked at: all of them at the end, and on the way if it is a cascade.

    >>> stage_ends(4, True), stage_ends(20, True), stage_ends(20, False)
    ([1, 2, 3, 4], [1, 4, 8, 12, 16, 20], [20])
    """
    if not cascade:
        return [layers]
    if layers <= most:
        return list(range(1, layers + 1))
    return [1, *(round(layers * stage / (most - 1)) for stage in range(1, most))]


def randomise_downwards(
    network: nn.Module, layers: list[WeightedLayer], ends: list[int], seed: int
) -> Iterator[tuple[int, WeightedLayer]]:
    """Draw layers anew one after the other, and yield after some how many it were and which was last.

    Weights are put back when the iterator ends or is closed.
    """
    with kept_weights(network), torch.random.fork_rng(devices=[]):
        for number, layer in enumerate(layers, start=1):
            torch.manual_seed(seed_of(seed, "saliency", "weights", layer.name))
            draw_weights(layer.module)
            if number in ends:
                yield number, layer
