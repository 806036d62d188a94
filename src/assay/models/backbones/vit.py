"""Vision transformers of the usual sizes, ViT-B/16 and ViT-L/32, with torchvision's tensor names or timm's.

A picture is stretched to whole patches. Position embeddings are those of the picture's patches; a file's, which are of
another size, are interpolated.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.models.backbones.build import BackbonePlan, Shape
from assay.models.backbones.pictures import IMAGENET, Colours, Resized, next_multiple
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
