"""Deep backbones compute what the published networks do, from weights under the published names, in any picture."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from assay.models import BACKBONES, build_backbone

STAGES = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320))  # fmt: skip
"""Of EfficientNet-B0, and of its light kin: blocks, kernel, stride, widening, depth."""


def in_use(name, shape):
    """Return a network whose weights and running means all differ from those at first, and its state."""
    torch.manual_seed(0)
    network = build_backbone(name, shape).network
    with torch.no_grad():
        for part in network.parameters():
            part += 0.05 * torch.randn(part.shape)
        for key, part in network.named_buffers():
            if key.endswith(("running_mean", "running_var")):
                part += torch.rand(part.shape)
    return network.double().eval(), {key: part.double() for key, part in network[-1].state_dict().items()}


def norm(maps, s, name, eps=1e-5):
    means = (s[f"{name}.{kind}"] for kind in ("running_mean", "running_var", "weight", "bias"))
    return F.batch_norm(maps, *means, eps=eps)


def layer_norm(tokens, s, name, eps):
    return F.layer_norm(tokens, tokens.shape[-1:], s[f"{name}.weight"], s[f"{name}.bias"], eps)


def linear(tokens, s, name):
    return F.linear(tokens, s[f"{name}.weight"], s[f"{name}.bias"])


def resnet(maps, s, blocks):
    large = s["conv1.weight"].shape[2] == 7
    maps = norm(F.conv2d(maps, s["conv1.weight"], None, 1 + large, 3 if large else 1), s, "bn1").relu()
    maps = F.max_pool2d(maps, 3, 2, 1) if large else maps
    for stage, count in enumerate(blocks, start=1):
        for number in range(count):
            name, stride, inside = f"layer{stage}.{number}", 1 + (stage > 1 and number == 0), maps
            last = 3 if f"{name}.conv3.weight" in s else 2
            for place in range(1, last + 1):
                weight = s[f"{name}.conv{place}.weight"]
                own = stride if place == last - 1 else 1
                inside = norm(F.conv2d(inside, weight, None, own, weight.shape[2] // 2), s, f"{name}.bn{place}")
                inside = inside.relu() if place < last else inside
            if f"{name}.downsample.0.weight" in s:
                maps = norm(F.conv2d(maps, s[f"{name}.downsample.0.weight"], None, stride), s, f"{name}.downsample.1")
            maps = (inside + maps).relu()
    return maps.mean(dim=(2, 3))


def vgg(maps, s, groups):
    place = 0
    for count in groups:
        for _ in range(count):
            maps = F.conv2d(maps, s[f"features.{place}.weight"], s[f"features.{place}.bias"], 1, 1).relu()
            place += 2
        maps, place = F.max_pool2d(maps, 2), place + 1
    return maps.mean(dim=(2, 3))


def same(maps, weight, stride=1, groups=1):
    """Convolve as TensorFlow does: the output is the size over the stride, the odd row of padding at the end."""
    pads = []
    for size in (maps.shape[3], maps.shape[2]):
        need = max((-(-size // stride) - 1) * stride + weight.shape[2] - size, 0)
        pads += [need // 2, need - need // 2]
    return F.conv2d(F.pad(maps, pads), weight, None, stride, groups=groups)


def light(maps, s):
    def step(maps, name, bn, stride=1, groups=1):
        return norm(same(maps, s[f"{name}.weight"], stride, groups), s, bn, 1e-3)

    maps, number = step(maps, "conv_stem", "bn0", 2).clamp(0, 6), 0
    for count, _, stride, widening, _ in STAGES:
        for place in range(count):
            name, own, inside = f"blocks.{number}", 1 if place else stride, maps
            if widening > 1:
                inside = step(inside, f"{name}.expand_conv", f"{name}.bn0").clamp(0, 6)
            inside = step(inside, f"{name}.depthwise_conv", f"{name}.bn1", own, inside.shape[1]).clamp(0, 6)
            inside = step(inside, f"{name}.project_conv", f"{name}.bn2")
            maps = inside + maps if maps.shape == inside.shape else inside
            number += 1
    return step(maps, "conv_head", "bn1").clamp(0, 6).mean(dim=(2, 3))


def efficientnet(maps, s):
    def step(maps, name, stride=1, groups=1):
        weight = s[f"{name}.0.weight"]
        return norm(F.conv2d(maps, weight, None, stride, weight.shape[2] // 2, groups=groups), s, f"{name}.1")

    maps = F.silu(step(maps, "features.0", 2))
    for stage, (count, _, stride, widening, _) in enumerate(STAGES, start=1):
        for place in range(count):
            name, own, inside, part = f"features.{stage}.{place}.block", 1 if place else stride, maps, 0
            if widening > 1:
                inside, part = F.silu(step(inside, f"{name}.0")), 1
            inside = F.silu(step(inside, f"{name}.{part}", own, inside.shape[1]))
            squeezed = inside.mean(dim=(2, 3), keepdim=True)
            for layer, act in (("fc1", F.silu), ("fc2", torch.sigmoid)):
                key = f"{name}.{part + 1}.{layer}"
                squeezed = act(F.conv2d(squeezed, s[f"{key}.weight"], s[f"{key}.bias"]))
            inside = step(inside * squeezed, f"{name}.{part + 2}")
            maps = inside + maps if maps.shape == inside.shape else inside
    return F.silu(step(maps, "features.8")).mean(dim=(2, 3))


def window_attention(maps, s, name, heads, shifted):
    """Attend inside each window of 7 x 7 patches, one by one; by half a window further where it is shifted."""
    rows, high, wide, _ = maps.shape
    padded = F.pad(maps, (0, 0, 0, -wide % 7, 0, -high % 7))
    found, patch = torch.zeros_like(padded), torch.arange(49)
    sides = padded.shape[1:3]
    orders = [(torch.arange(side) + (3 if shifted and side > 7 else 0)) % side for side in sides]
    away = (patch // 7)[:, None] - patch // 7, (patch % 7)[:, None] - patch % 7
    bias = s[f"{name}.relative_position_bias_table"][(away[0] + 6) * 13 + away[1] + 6].permute(2, 0, 1)
    for top in range(0, sides[0], 7):
        for left in range(0, sides[1], 7):
            y, x = orders[0][top : top + 7].repeat_interleave(7), orders[1][left : left + 7].repeat(7)
            queries, keys, values = (
                linear(padded[:, y, x], s, f"{name}.qkv").view(rows, 49, 3, heads, -1).permute(2, 0, 3, 1, 4)
            )
            apart = ((y[:, None] - y).abs() >= 7) | ((x[:, None] - x).abs() >= 7)  # together by the shift only
            scores = queries @ keys.transpose(2, 3) / np.sqrt(keys.shape[3]) + bias - 100.0 * apart
            mixed = (scores.softmax(dim=3) @ values).transpose(1, 2).flatten(2)
            found[:, y, x] = linear(mixed, s, f"{name}.proj")
    return found[:, :high, :wide]


def swin(maps, s):
    maps = F.pad(maps, (0, -maps.shape[3] % 4, 0, -maps.shape[2] % 4))
    maps = F.conv2d(maps, s["features.0.0.weight"], s["features.0.0.bias"], 4).permute(0, 2, 3, 1)
    maps = layer_norm(maps, s, "features.0.2", 1e-5)
    for stage, (blocks, heads) in enumerate(((2, 3), (2, 6), (6, 12), (2, 24))):
        if stage:
            maps = F.pad(maps, (0, 0, 0, maps.shape[2] % 2, 0, maps.shape[1] % 2))
            maps = torch.cat([maps[:, down::2, right::2] for right in (0, 1) for down in (0, 1)], dim=3)
            maps = (
                layer_norm(maps, s, f"features.{2 * stage}.norm", 1e-5) @ s[f"features.{2 * stage}.reduction.weight"].T
            )
        for number in range(blocks):
            name = f"features.{2 * stage + 1}.{number}"
            maps = maps + window_attention(
                layer_norm(maps, s, f"{name}.norm1", 1e-5), s, f"{name}.attn", heads, number % 2
            )
            inside = F.gelu(linear(layer_norm(maps, s, f"{name}.norm2", 1e-5), s, f"{name}.mlp.0"))
            maps = maps + linear(inside, s, f"{name}.mlp.3")
    return layer_norm(maps, s, "norm", 1e-5).mean(dim=(1, 2))


def vit(maps, s):
    tokens = F.conv2d(maps, s["conv_proj.weight"], s["conv_proj.bias"], 16).flatten(2).transpose(1, 2)
    tokens = torch.cat([s["class_token"].expand(len(tokens), -1, -1), tokens], dim=1) + s["encoder.pos_embedding"]
    for number in range(12):
        name = f"encoder.layers.encoder_layer_{number}"
        attention = nn.MultiheadAttention(768, 12, batch_first=True).double()
        start = f"{name}.self_attention."
        attention.load_state_dict({key.removeprefix(start): part for key, part in s.items() if key.startswith(start)})
        inside = layer_norm(tokens, s, f"{name}.ln_1", 1e-6)
        tokens = tokens + attention(inside, inside, inside, need_weights=False)[0]
        inside = F.gelu(linear(layer_norm(tokens, s, f"{name}.ln_2", 1e-6), s, f"{name}.mlp.0"))
        tokens = tokens + linear(inside, s, f"{name}.mlp.3")
    return layer_norm(tokens, s, "encoder.ln", 1e-6)[:, 0]


REFERENCES = {
    "resnet-18": ((3, 40, 56), lambda maps, s: resnet(maps, s, (2, 2, 2, 2))),
    "resnet-50": ((3, 33, 20), lambda maps, s: resnet(maps, s, (3, 4, 6, 3))),
    "resnet-small": ((3, 10, 13), lambda maps, s: resnet(maps, s, (3, 3, 3))),
    "vgg-11": ((3, 33, 64), lambda maps, s: vgg(maps, s, (1, 1, 2, 2, 2))),
    "vgg-16": ((3, 32, 40), lambda maps, s: vgg(maps, s, (2, 2, 3, 3, 3))),
    "efficientnet-lite0": ((3, 32, 45), light),
    "efficientnet-b0": ((3, 32, 45), efficientnet),
    "swin-t": ((3, 60, 37), swin),
    "vit-b-16": ((3, 16, 48), vit),
}


@pytest.mark.parametrize("name", REFERENCES)
@torch.no_grad()
def test_features_are_those_of_the_published_network(name):
    shape, reference = REFERENCES[name]
    network, state = in_use(name, shape)
    pictures = torch.rand(2, *shape, dtype=torch.double)
    wanted = reference(network[:-1](pictures), state)
    assert wanted.std() > 0
    np.testing.assert_allclose(network(pictures), wanted, atol=1e-7 * max(1, float(wanted.abs().max())))


IMAGENET = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


@pytest.mark.parametrize(
    ("name", "colours"), [("efficientnet-lite0", ([127 / 255] * 3, [128 / 255] * 3)), ("resnet-small", IMAGENET)]
)
def test_colours_are_scaled_as_the_weights_of_a_network_expect(name, colours):
    scale, picture = build_backbone(name, (3, 16, 20)).network[0], torch.rand(1, 3, 16, 20)
    mean, deviation = (torch.tensor(numbers).view(1, 3, 1, 1) for numbers in colours)
    assert torch.allclose(scale(picture), (picture - mean) / deviation)
    grey = torch.rand(2, 1, 16, 20)
    assert torch.allclose(scale(grey), (grey.expand(-1, 3, -1, -1) - mean) / deviation)


PUBLISHED = {
    # parameters as published, and those of the layer of the 1000 classes (VGG: without its 3 layers)
    "resnet-18": (11_689_512, 513_000),
    "resnet-34": (21_797_672, 513_000),
    "resnet-50": (25_557_032, 2_049_000),
    "resnet-101": (44_549_160, 2_049_000),
    "efficientnet-lite0": (4_652_008, 1_281_000),
    "efficientnet-b0": (5_288_548, 1_281_000),
    "vgg-11": (9_220_480, 0),
    "vgg-16": (14_714_688, 0),
    "vit-b-16": (86_567_656, 769_000),
    "vit-l-32": (306_535_400, 1_025_000),
    "swin-t": (28_288_354, 769_000),
}
TENSORS = {
    "vit-b-16": {
        "class_token": [1, 1, 768], "conv_proj.weight": [768, 3, 16, 16], "encoder.pos_embedding": [1, 197, 768],
        "encoder.layers.encoder_layer_11.self_attention.in_proj_weight": [2304, 768],
        "encoder.layers.encoder_layer_0.self_attention.out_proj.bias": [768],
        "encoder.layers.encoder_layer_0.mlp.0.weight": [3072, 768], "encoder.layers.encoder_layer_0.mlp.3.bias": [768],
    },
    "vit-l-32": {"encoder.pos_embedding": [1, 50, 1024], "encoder.layers.encoder_layer_23.ln_1.weight": [1024]},
    "swin-t": {
        "features.0.0.weight": [96, 3, 4, 4], "features.1.1.attn.relative_position_bias_table": [169, 3],
        "features.5.5.attn.qkv.weight": [1152, 384], "features.2.reduction.weight": [192, 384],
        "features.7.1.mlp.3.weight": [768, 3072], "norm.weight": [768],
    },
    "efficientnet-b0": {
        "features.0.0.weight": [32, 3, 3, 3], "features.1.0.block.1.fc1.weight": [8, 32, 1, 1],
        "features.6.3.block.1.0.weight": [1152, 1, 5, 5], "features.8.1.weight": [1280],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_and_names_are_the_published_ones(name):
    with torch.device("meta"):
        network = BACKBONES[name]((3, 224, 224))[-1]
    whole, classes = PUBLISHED[name]
    assert sum(p.numel() for p in network.parameters()) == whole - classes
    held = {key: list(tensor.shape) for key, tensor in network.state_dict().items()}
    wanted = TENSORS.get(name, {})
    assert {key: held.get(key) for key in wanted} == wanted


def parts(network, kind):
    return [part for part in network.modules() if type(part).__name__ == kind]


def test_deeper_blocks_are_dropped_more_often_as_a_whole_and_the_mean_stays():
    for name, count in (("efficientnet-b0", 16), ("swin-t", 12)):
        layers = parts(build_backbone(name, (3, 32, 32)).network, "StochasticDepth")
        assert len(layers) == count and layers[0](torch.ones(5, 1)).sum() == 5
        rate = 0.2 * (1 if name == "swin-t" else 15 / 16)
        torch.manual_seed(0)
        found = layers[-1](torch.ones(20_000, 3, 2))
        assert torch.equal(found, found[:, :1, :1].expand_as(found)) and abs(float(found.mean()) - 1) < 0.02
        assert (found == 0).float().mean().item() == pytest.approx(rate, abs=0.02)
        assert torch.equal(layers[-1].eval()(found), found)


@pytest.mark.parametrize("shape", [(100_003,), (100, 32, 14, 3), (7,)])
def test_dropout_keeps_half_and_the_mean(shape):
    torch.manual_seed(0)
    layer, _ = parts(build_backbone("conv-stride", (1, 28, 28)).network, "Dropout")
    ones = torch.ones(shape, requires_grad=True)
    found = layer(ones)
    assert set(found.unique().tolist()) <= {0.0, 2.0}
    assert found.numel() < 100 or abs(float(found.detach().mean()) - 1) < 0.02  # six standard deviations
    assert (torch.autograd.grad(found.sum(), ones)[0] == found).all()
    assert found.numel() < 100 or not torch.equal(found, layer(ones))
    assert torch.equal(layer.eval()(ones), ones)


def test_dropout_drops_each_place_alike():
    torch.manual_seed(0)
    layer, _ = parts(build_backbone("conv-stride", (1, 28, 28)).network, "Dropout")
    kept = torch.stack([layer(torch.ones(64)) for _ in range(4000)]).bool().float()
    assert (kept.mean(dim=0) - 0.5).abs().max() < 0.05
    assert torch.corrcoef(kept.T).fill_diagonal_(0).abs().max() < 0.1


# -- texts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bag-of-ngrams", "text-transformer"])
@torch.no_grad()
def test_padding_is_not_read_and_the_order_of_words_is(name):
    torch.manual_seed(0)
    network = build_backbone(name, (11, 1, 6)).network.eval()
    texts = torch.tensor([[3, 7, 2, 0, 0, 0], [7, 3, 2, 0, 0, 0], [1, 10, 4, 9, 5, 2], [6, 0, 0, 0, 0, 0]]).view(
        4, 1, 1, 6
    )
    whole = network(texts)
    assert whole.isfinite().all() and not torch.allclose(whole[0], whole[1], atol=1e-4)
    with torch.no_grad():
        network.words.weight[0] = 5.0  # what stands for padding
    assert name == "bag-of-ngrams" or torch.allclose(network(texts), whole, atol=1e-5)
    alone = torch.cat([network(row[None]) for row in texts])
    assert torch.allclose(alone, network(texts), atol=1e-5)


@torch.no_grad()
def test_a_bag_of_ngrams_is_the_greatest_over_runs_of_words():
    torch.manual_seed(0)
    network = build_backbone("bag-of-ngrams", (11, 1, 5)).network.eval()
    state, text = network.state_dict(), torch.tensor([3, 7, 2])
    found = network(F.pad(text, (0, 2)).view(1, 1, 1, 5))[0]
    words, wanted = state["words.weight"][text], []
    for place, size in enumerate((1, 2, 3)):
        padded = F.pad(words, (0, 0, size // 2, size))
        runs = [
            torch.einsum("oik,ki->o", state[f"grams.{place}.weight"], padded[at : at + size])
            + state[f"grams.{place}.bias"]
            for at in range(3)
        ]
        wanted.append(torch.stack(runs).amax(dim=0).relu())
    np.testing.assert_allclose(found, torch.cat(wanted), atol=1e-5)


@torch.no_grad()
def test_a_text_transformer_is_that_of_torch():
    torch.manual_seed(1)
    network = build_backbone("text-transformer", (11, 1, 5)).network.eval()
    s, text = network.state_dict(), torch.tensor([3, 7, 2])
    tokens = s["words.weight"][text][None] + s["places"][:3]
    for number in range(2):
        name = f"blocks.{number}"
        attention = nn.MultiheadAttention(64, 4, batch_first=True)
        attention.load_state_dict(
            {
                "in_proj_weight": s[f"{name}.ask.weight"], "in_proj_bias": s[f"{name}.ask.bias"],
                "out_proj.weight": s[f"{name}.out.weight"], "out_proj.bias": s[f"{name}.out.bias"],
            }
        )  # fmt: skip
        inside = layer_norm(tokens, s, f"{name}.first", 1e-5)
        tokens = tokens + attention(inside, inside, inside, need_weights=False)[0]
        inside = F.gelu(linear(layer_norm(tokens, s, f"{name}.second", 1e-5), s, f"{name}.layer.0"))
        tokens = tokens + linear(inside, s, f"{name}.layer.2")
    wanted = layer_norm(tokens, s, "norm", 1e-5).mean(dim=1)
    np.testing.assert_allclose(network(F.pad(text, (0, 2)).view(1, 1, 1, 5)), wanted, atol=1e-4)
