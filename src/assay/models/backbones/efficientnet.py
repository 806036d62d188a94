"""EfficientNet-B0 with torchvision's tensor names or timm's."""

import torch
from torch import Tensor, nn

from assay.models.backbones.build import BackbonePlan, Shape
from assay.models.backbones.deep import LITE_STAGES
from assay.models.backbones.dropout import StochasticDepth
from assay.models.backbones.pictures import IMAGENET, Colours
from assay.models.backbones.weights import Names, Weights, begin_from, rename

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
