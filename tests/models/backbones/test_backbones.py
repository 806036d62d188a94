"""Backbones have the layers of the paper, fit themselves to the picture, and say when they cannot."""

import pytest
import torch
from torch import nn

from assay.base import ConfigError, MissingExtra, UnknownName
from assay.models import BACKBONES, build_backbone

CONV, POOL, LINEAR, DROP = "Conv2d", "MaxPool2d", "Linear", "Dropout"
TABLES = [
    # the backbone, its picture, and of the paper's table: the features before the last layer, layers, parameters
    ("conv-stride", (1, 28, 56), 2688, [CONV, DROP, CONV, DROP, CONV], 164_576),  # Tables 12 and 13
    ("conv-pool", (1, 28, 56), 64, [CONV, POOL, CONV, POOL, LINEAR, LINEAR], 414_592),  # Table 14
    ("conv-pool-6", (3, 387, 469), 64, [*[CONV, POOL] * 6, LINEAR, LINEAR], 4_333_664),  # Table 9
    ("mlp-embedding-small", (1, 512, 1), 64, [LINEAR, LINEAR], 73_920),  # Table 11
    ("mlp-embedding", (1, 1024, 1), 64, [LINEAR, LINEAR], 278_848),  # Table 15
    ("mlp-wide", (3, 28, 28), 128, [LINEAR, LINEAR], 635_264),  # Tables 16 and 18
    ("conv-pool-5", (3, 64, 192), 64, [*[CONV, POOL] * 5, LINEAR, LINEAR], 1_998_816),  # Table 17
    ("mlp-embedding", (1, 1536, 1), 64, [LINEAR, LINEAR], 409_920),  # Table 19
    ("conv-pool-3", (1, 28, 112), 64, [CONV, POOL, CONV, POOL, CONV, LINEAR, LINEAR], 1_637_312),  # Table 20
    ("conv-wide", (1, 28, 28), 128, [CONV, POOL, CONV, POOL, LINEAR], 420_352),  # Table 21
    ("conv-pool-3", (1, 28, 224), 64, [CONV, POOL, CONV, POOL, CONV, LINEAR, LINEAR], 3_242_944),  # Table 22
    ("conv-norm", (1, 16, 16), 128, ["AvgPool2d", CONV, "GroupNorm", POOL, CONV, "GroupNorm", POOL, LINEAR], 51_904),
    ("conv-3", (3, 32, 32), 65_536, [CONV, CONV, CONV], 23_584),  # the concept benchmark's released detector
]


def layers(network):
    kinds = [type(part).__name__ for part in network.modules() if not list(part.children())]
    return [kind for kind in kinds if kind not in ("ReLU", "Flatten")]


@pytest.mark.parametrize(("name", "shape", "features", "kinds", "parameters"), TABLES)
def test_layers_are_those_of_the_paper(name, shape, features, kinds, parameters):
    made = build_backbone(name, shape)
    assert (made.features, layers(made.network)) == (features, kinds)
    assert sum(p.numel() for p in made.network.parameters()) == parameters
    rectified = sum(isinstance(part, nn.ReLU) for part in made.network.modules())
    assert rectified == sum(kind in (CONV, LINEAR) for kind in kinds)


def test_convolutions_have_the_strides_of_the_paper():
    def shapes(name):
        found = [part for part in build_backbone(name, (1, 28, 28)).network.modules() if isinstance(part, nn.Conv2d)]
        return [(c.out_channels, c.kernel_size[0], c.stride[0], c.padding[0]) for c in found]

    assert shapes("conv-stride") == [(32, 4, 2, 1), (64, 4, 2, 1), (128, 4, 2, 1)]
    assert shapes("conv-pool") == [(16, 3, 1, 1), (32, 3, 1, 1)]
    assert shapes("conv-pool-3") == [(16, 3, 1, 1), (32, 3, 1, 1), (64, 3, 1, 1)]
    assert shapes("conv-3") == [(16, 3, 1, 1), (32, 3, 1, 1), (64, 3, 1, 1)]
    assert shapes("conv-wide") == [(32, 3, 1, 1), (64, 3, 1, 1)]


def built(name, shape):
    try:
        return build_backbone(name, shape)
    except MissingExtra as error:
        pytest.skip(str(error))


HUGE = {"vit-l-32", "vit-b-16", "swin-t"}
ANY = [
    pytest.param(name, marks=pytest.mark.slow if name in HUGE else ())
    for name in sorted(BACKBONES)
    if name != "pretrained" and "image" in BACKBONES[name].reads
]


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 17, 40), (3, 0, 0)])
def test_any_picture_large_enough_is_read(name, shape):
    smallest = BACKBONES[name].smallest
    shape = (shape[0], max(shape[1], smallest), max(shape[2], smallest))
    made = built(name, shape)
    assert made.network.training
    assert made.network(torch.rand(2, *shape)).shape == (2, made.features)


@pytest.mark.parametrize("name", [name for name in sorted(BACKBONES) if BACKBONES[name].smallest > 1])
def test_a_picture_too_small_is_refused(name):
    least = BACKBONES[name].smallest
    for width, height in ((3, 1), (least, least - 1), (least - 1, least)):
        said = f"backbone '{name}' cannot read pictures of {width} x {height} pixels; try 'mlp' (it needs {least} x {least})"
        with pytest.raises(ConfigError) as caught:
            build_backbone(name, (1, height, width))
        assert str(caught.value) == said
    assert build_backbone("mlp", (1, 1, 3)).features == 64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conv-pool@weights.safetensors", "^backbone 'conv-pool' cannot begin from weights; ask for it without"),
        ("pretrained", "^backbone 'pretrained' needs weights: backbone=pretrained@FOLDER$"),
        ("resnet-18@", "^backbone 'resnet-18': after '@' comes a file or folder of weights$"),
        ("frozen:conv-pol", "no backbone named 'conv-pol'; did you mean 'conv-pool'"),
    ],
)
def test_what_is_asked_for_wrongly_is_told(text, message):
    with pytest.raises((ConfigError, UnknownName), match=message):
        build_backbone(text, (1, 28, 28))


def test_a_frozen_backbone_has_layers_on_top_that_are_trained():
    made = build_backbone("frozen:conv-pool", (1, 28, 28))
    assert (made.features, layers(made.network)[-2:]) == (64, [LINEAR, LINEAR])
    assert sum(p.numel() for p in made.network.parameters()) == 64 * 256 + 256 + 256 * 64 + 64
    found = made.network(torch.rand(3, 1, 28, 28))
    found.sum().backward()
    assert all(p.grad is not None for p in made.network.parameters())


def test_a_frozen_backbone_is_the_same_for_every_seed():
    pictures = torch.rand(4, 1, 28, 28)
    found = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        found.append(build_backbone("frozen:conv-pool", (1, 28, 28)).network[0](pictures))
    assert torch.equal(*found)


def test_an_unknown_backbone_is_refused():
    with pytest.raises(UnknownName, match="no backbone named 'conv-pol'; did you mean 'conv-pool'"):
        build_backbone("conv-pol", (1, 28, 28))
