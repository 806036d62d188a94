"""Vision transformers of the usual sizes, ViT-B/16, ViT-L/32 and Swin-T, with torchvision's tensor names or timm's.

For ViT a picture is stretched to whole patches. Position embeddings are those of the picture's patches; a file's, which
are of another size, are interpolated. For Swin-T a picture is padded to whole patches, and the patches of each stage to
whole windows, with zeros at the lower right.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.models.backbones.build import IMAGENET, BackbonePlan, Colours, Resized, Shape, StochasticDepth, next_multiple
from assay.models.backbones.weights import Names, Weights, begin_from, rename

POSITIONS = "encoder.pos_embedding"
LAYER = r"encoder.layers.encoder_layer_\1."
NAMES: Names = (
    (r"^cls_token$", "class_token"),
    (r"^pos_embed$", POSITIONS),
    (r"^patch_embed\.proj\.", "conv_proj."),
    (r"^norm\.", "encoder.ln."),
    (r"^blocks\.(\d+)\.norm([12])\.", LAYER + r"ln_\2."),
    (r"^blocks\.(\d+)\.attn\.qkv\.", LAYER + "self_attention.in_proj_"),
    (r"^blocks\.(\d+)\.attn\.proj\.", LAYER + "self_attention.out_proj."),
    (r"^blocks\.(\d+)\.", LAYER),
    (r"\.mlp\.(fc|linear_)1\.", ".mlp.0."),
    (r"\.mlp\.(fc|linear_)2\.", ".mlp.3."),
)
"""timm's names, and `linear_1` and `linear_2` of torchvision's older files."""


def attend(joined: Tensor, heads: int, bias: Tensor | None = None) -> Tensor:
    """Return what tokens take from one another; queries, keys and values come joined (rows x tokens x 3 widths)."""
    rows, tokens, _ = joined.shape
    queries, keys, values = joined.view(rows, tokens, 3, heads, -1).permute(2, 0, 3, 1, 4)
    mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
    return mixed.transpose(1, 2).reshape(rows, tokens, -1)


def perceptron(width: int) -> nn.Sequential:
    """Return two layers, the inner one four times as wide; their names are 0 and 3, as dropout is layer 2 elsewhere."""
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Identity(), nn.Linear(4 * width, width))


class SelfAttention(nn.Module):
    """Attention of all tokens to all."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(3 * width, width)))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)
        nn.init.zeros_(self.out_proj.bias)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return what the tokens take from one another."""
        mixed: Tensor = self.out_proj(attend(F.linear(tokens, self.in_proj_weight, self.in_proj_bias), self.heads))
        return mixed


class TransformerLayer(nn.Module):
    """Attention and a perceptron, each of which adds to the tokens."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, eps=1e-6)
        self.self_attention = SelfAttention(width, heads)
        self.ln_2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = perceptron(width)
        for layer in self.mlp:
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.normal_(layer.bias, std=1e-6)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens of the next layer."""
        tokens = tokens + self.self_attention(self.ln_1(tokens))
        inside: Tensor = self.mlp(self.ln_2(tokens))
        return tokens + inside


class TransformerEncoder(nn.Module):
    """Layers over tokens that know their position."""

    def __init__(self, tokens: int, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.randn(1, tokens, width) * 0.02)
        self.layers = nn.Sequential()
        for number in range(layers):
            self.layers.add_module(f"encoder_layer_{number}", TransformerLayer(width, heads))
        self.ln = nn.LayerNorm(width, eps=1e-6)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens after the last layer."""
        outputs: Tensor = self.ln(self.layers(tokens + self.pos_embedding))
        return outputs


class VisionTransformer(nn.Module):
    """ViT without its classes: the features are the class token after the last layer."""

    def __init__(self, size: tuple[int, int], patch: int, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.patches = size[0] // patch, size[1] // patch
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.conv_proj = nn.Conv2d(3, width, patch, patch)
        nn.init.trunc_normal_(self.conv_proj.weight, std=math.sqrt(1 / (3 * patch**2)))
        if self.conv_proj.bias is not None:
            nn.init.zeros_(self.conv_proj.bias)
        self.encoder = TransformerEncoder(1 + self.patches[0] * self.patches[1], layers, width, heads)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the features."""
        tokens = self.conv_proj(pictures).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(len(tokens), -1, -1), tokens], dim=1)
        outputs: Tensor = self.encoder(tokens)
        return outputs[:, 0]

    def adapt(self, weights: Weights) -> Weights:
        """Return weights under the names here, with position embeddings interpolated to these patches."""
        weights = rename(weights, NAMES)
        positions = weights.get(POSITIONS)
        if positions is None or positions.ndim != 3 or positions.shape == self.encoder.pos_embedding.shape:
            return weights
        side = math.isqrt(positions.shape[1] - 1)
        if 1 + side**2 != positions.shape[1]:
            return weights
        grid = positions[:, 1:].float().transpose(1, 2).reshape(len(positions), -1, side, side)
        grid = F.interpolate(grid, self.patches, mode="bicubic", align_corners=True)
        return {**weights, POSITIONS: torch.cat([positions[:, :1].float(), grid.flatten(2).transpose(1, 2)], dim=1)}


def vision_transformer(patch: int, layers: int, width: int, heads: int) -> BackbonePlan:
    """Declare a vision transformer of this size."""

    def make(shape: Shape, source: str | None) -> nn.Module:
        size = next_multiple(shape, patch)
        network = VisionTransformer(size, patch, layers, width, heads)
        return nn.Sequential(Resized(size), Colours(*IMAGENET), begin_from(network, source, network.adapt))

    return BackbonePlan(make, smallest=8, weights="may", deep=True)


vit_b_16 = vision_transformer(16, layers=12, width=768, heads=12)
vit_l_32 = vision_transformer(32, layers=24, width=1024, heads=16)


PATCH, WINDOW = 4, 7
STAGES = ((2, 3), (2, 6), (6, 12), (2, 24))
"""Blocks and heads of each stage of Swin-T."""
WIDTH = 96
DEPTH_DROPOUT = 0.2
SHUT = -100.0
"""What is added to the attention between patches that are no neighbours in the picture."""
Size = tuple[int, int]


def from_timm(weights: Weights) -> Weights:
    """Return weights under torchvision's names; patches are merged first in a stage, and in older files last."""
    old = any(name.startswith("layers.0.downsample.") for name in weights)
    stages = range(len(STAGES))
    names = [
        (r"^patch_embed\.proj\.", "features.0.0."),
        (r"^patch_embed\.norm\.", "features.0.2."),
        *((rf"^layers\.{stage}\.blocks\.", f"features.{2 * stage + 1}.") for stage in stages),
        *((rf"^layers\.{stage}\.downsample\.", f"features.{2 * (stage + old)}.") for stage in stages),
        (r"\.mlp\.fc1\.", ".mlp.0."),
        (r"\.mlp\.fc2\.", ".mlp.3."),
    ]
    return rename(weights, names)


class WindowAttention(nn.Module):
    """Attention within windows of a map (rows x height x width x depth), every second time shifted by half a window."""

    def __init__(self, size: Size, width: int, heads: int, shifted: bool) -> None:
        super().__init__()
        self.heads, self.size = heads, size
        self.padded = next_multiple((0, *size), WINDOW)
        high, wide = (WINDOW // 2 if shifted and side > WINDOW else 0 for side in self.padded)
        self.shifts = high, wide
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.relative_position_bias_table = nn.Parameter(torch.empty((2 * WINDOW - 1) ** 2, heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)
        self.register_buffer("places", _relative_places(), persistent=False)
        self.register_buffer("shut", _shut_out(self.padded, self.shifts), persistent=False)

    def forward(self, maps: Tensor) -> Tensor:
        """Return what the patches take from those in their windows."""
        (high, wide), (down, right) = self.size, self.shifts
        maps = F.pad(maps, (0, 0, 0, self.padded[1] - wide, 0, self.padded[0] - high))
        windows = _windows(_roll(maps, (-down, -right)))
        mixed: Tensor = self.proj(attend(self.qkv(windows), self.heads, self._bias(len(maps))))
        return _roll(_joined(mixed, self.padded), (down, right))[:, :high, :wide]

    def _bias(self, rows: int) -> Tensor:
        """Return what is added to the attention by relative position, and in shifted windows by neighbourhood."""
        bias = self.relative_position_bias_table[self.get_buffer("places")].permute(2, 0, 1)[None]
        shut = self.get_buffer("shut")
        return (bias + shut[:, None]).repeat(rows, 1, 1, 1) if len(shut) else bias


def _roll(maps: Tensor, shifts: Size) -> Tensor:
    return torch.roll(maps, shifts, (1, 2)) if any(shifts) else maps


def _windows(maps: Tensor) -> Tensor:
    """Return the windows of maps, each as a row of patches."""
    rows, high, wide, depth = maps.shape
    cut = maps.view(rows, high // WINDOW, WINDOW, wide // WINDOW, WINDOW, depth)
    return cut.transpose(2, 3).reshape(-1, WINDOW**2, depth)


def _joined(windows: Tensor, size: Size) -> Tensor:
    """Return maps from their windows."""
    high, wide = size
    cut = windows.view(-1, high // WINDOW, wide // WINDOW, WINDOW, WINDOW, windows.shape[2])
    return cut.transpose(2, 3).reshape(-1, high, wide, windows.shape[2])


def _relative_places() -> Tensor:
    """Return where the bias of each pair of patches in a window stands in the table."""
    across = torch.arange(WINDOW)
    patches = torch.cartesian_prod(across, across)
    apart = patches[:, None] - patches[None] + WINDOW - 1
    return apart[..., 0] * (2 * WINDOW - 1) + apart[..., 1]


def _shut_out(size: Size, shifts: Size) -> Tensor:
    """Return for each shifted window which pairs of its patches are no neighbours in the picture."""
    if not any(shifts):
        return torch.zeros(0, WINDOW**2, WINDOW**2)
    bands = []
    for side, shift in zip(size, shifts, strict=True):
        place = torch.arange(side)
        last, wrapped = place >= side - WINDOW, place >= side - shift
        bands.append(last.int() + wrapped.int() if shift else torch.zeros_like(place))
    parts = _windows((3 * bands[0][:, None] + bands[1][None])[None, :, :, None])[:, :, 0]
    return SHUT * (parts[:, None] != parts[:, :, None]).float()


class SwinBlock(nn.Module):
    """Attention in windows and a perceptron, each of which adds to the map, in training not for every example."""

    def __init__(self, size: Size, width: int, heads: int, shifted: bool, dropped: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = WindowAttention(size, width, heads, shifted)
        self.mlp = perceptron(width)
        self.stochastic_depth = StochasticDepth(dropped)

    def forward(self, maps: Tensor) -> Tensor:
        """Return the next map."""
        maps = maps + self.stochastic_depth(self.attn(self.norm1(maps)))
        added: Tensor = self.stochastic_depth(self.mlp(self.norm2(maps)))
        return maps + added


class PatchMerging(nn.Module):
    """Four patches become one of twice the depth."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)
        self.norm = nn.LayerNorm(4 * width)

    def forward(self, maps: Tensor) -> Tensor:
        """Return the smaller map."""
        maps = F.pad(maps, (0, 0, 0, maps.shape[2] % 2, 0, maps.shape[1] % 2))
        four = [maps[:, down::2, right::2] for right in (0, 1) for down in (0, 1)]
        merged: Tensor = self.reduction(self.norm(torch.cat(four, dim=3)))
        return merged


class Patches(nn.Sequential):
    """A picture cut into patches, the depth last."""

    def __init__(self, width: int) -> None:
        super().__init__(nn.Conv2d(3, width, PATCH, PATCH), nn.Identity(), nn.LayerNorm(width))

    def forward(self, input: Tensor) -> Tensor:
        """Return the map of patches."""
        convolution, _, norm = self
        high, wide = input.shape[2:]
        maps: Tensor = norm(convolution(F.pad(input, (0, -wide % PATCH, 0, -high % PATCH))).permute(0, 2, 3, 1))
        return maps


class Swin(nn.Module):
    """A Swin transformer without its classes, for pictures of one size; the features are averaged over the picture."""

    def __init__(self, size: Size, stages: tuple[Size, ...], width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [Patches(width)]
        high, wide = (-(-side // PATCH) for side in size)
        total, done = sum(blocks for blocks, _ in stages), 0
        for number, (blocks, heads) in enumerate(stages):
            if number:
                layers.append(PatchMerging(width))
                high, wide, width = -(-high // 2), -(-wide // 2), 2 * width
            rates = [DEPTH_DROPOUT * (done + block) / (total - 1) for block in range(blocks)]
            layers.append(
                nn.Sequential(
                    *(SwinBlock((high, wide), width, heads, bool(block % 2), rates[block]) for block in range(blocks))
                )
            )
            done += blocks
        self.features = nn.Sequential(*layers)
        self.norm = nn.LayerNorm(width)
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.trunc_normal_(part.weight, std=0.02)
                if part.bias is not None:
                    nn.init.zeros_(part.bias)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the features."""
        maps: Tensor = self.norm(self.features(pictures))
        return maps.mean(dim=(1, 2))


def _swin_t(shape: Shape, source: str | None) -> nn.Module:
    network = Swin(shape[1:], STAGES, WIDTH)
    return nn.Sequential(Colours(*IMAGENET), begin_from(network, source, adapt=from_timm))


swin_t = BackbonePlan(_swin_t, smallest=8, weights="may", deep=True)
