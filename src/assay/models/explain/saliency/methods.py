"""Methods of saliency: from scores and pictures to a map of relevance for each score and picture.

`scores` gives one number for each target and picture (targets x examples), such as the log-probability of the predicted
label. Maps are targets x examples x height x width; colours are added up.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.base import ConfigError
from assay.models.core.encoder import Reader
from assay.render import Box

Scores = Callable[[Tensor], Tensor]
"""From pictures (numbers from 0 to 1, examples x channels x height x width) to targets x examples."""
Attribution = Callable[[Scores, Tensor], Tensor]
"""From scores and pictures to maps."""
GREY = 0.5
PATCHES = 8
"""A patch is this part of the smaller side, and moves by half of itself."""


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

    hooks = [eye.convolution.register_forward_hook(hook_of(eye)) for eye in eyes]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
