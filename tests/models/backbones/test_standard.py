"""Networks of the usual sizes: published sizes and names, weights of torchvision and timm, attention and windows."""

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from assay.errors import DataError
from assay.models import BACKBONES
from assay.models.backbones import efficientnet, swin
from assay.models.backbones.build import rebuilding
from assay.models.backbones.vit import SelfAttention, VisionTransformer, vision_transformer
from assay.models.backbones.weights import begin_from

SIZES = {
    # parameters as published, and those of the layer of the 1000 classes
    "vit-b-16": (86_567_656, 769_000),
    "vit-l-32": (306_535_400, 1_025_000),
    "swin-t": (28_288_354, 769_000),
    "efficientnet-b0": (5_288_548, 1_281_000),
}
TENSORS = {
    "vit-b-16": {
        "class_token": [1, 1, 768],
        "conv_proj.weight": [768, 3, 16, 16],
        "encoder.pos_embedding": [1, 197, 768],
        "encoder.layers.encoder_layer_11.self_attention.in_proj_weight": [2304, 768],
        "encoder.layers.encoder_layer_0.self_attention.out_proj.bias": [768],
        "encoder.layers.encoder_layer_0.mlp.0.weight": [3072, 768],
        "encoder.layers.encoder_layer_0.mlp.3.bias": [768],
        "encoder.layers.encoder_layer_0.ln_2.weight": [768],
        "encoder.ln.bias": [768],
    },
    "vit-l-32": {"encoder.pos_embedding": [1, 50, 1024], "encoder.layers.encoder_layer_23.ln_1.weight": [1024]},
    "swin-t": {
        "features.0.0.weight": [96, 3, 4, 4],
        "features.0.2.bias": [96],
        "features.1.1.attn.relative_position_bias_table": [169, 3],
        "features.5.5.attn.qkv.weight": [1152, 384],
        "features.2.reduction.weight": [192, 384],
        "features.6.norm.weight": [1536],
        "features.7.1.mlp.3.weight": [768, 3072],
        "norm.weight": [768],
    },
    "efficientnet-b0": {
        "features.0.0.weight": [32, 3, 3, 3],
        "features.1.0.block.1.fc1.weight": [8, 32, 1, 1],
        "features.1.0.block.2.1.running_var": [16],
        "features.6.3.block.1.0.weight": [1152, 1, 5, 5],
        "features.7.0.block.3.0.weight": [320, 1152, 1, 1],
        "features.8.1.weight": [1280],
    },
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_names_are_the_published_ones(name):
    with torch.device("meta"):
        network = BACKBONES[name].make((3, 224, 224), None)[-1]
    whole, classes = SIZES[name]
    assert sum(p.numel() for p in network.parameters()) == whole - classes
    held = {key: list(tensor.shape) for key, tensor in network.state_dict().items()}
    assert {key: held.get(key) for key in TENSORS[name]} == TENSORS[name]


# -- weights under the names of torchvision and of timm ----------------------------------------------------------------


def small_vit(size=(32, 48)):
    return VisionTransformer(size, 16, layers=2, width=32, heads=2)


def small_swin():
    return swin.Swin((60, 40), ((2, 2), (2, 4)), 16)


def both(prefix, other, parts):
    """Return pairs of names, torchvision's and timm's, of layers with a weight and a bias."""
    return [(f"{prefix}{p}.{kind}", f"{other}{q}.{kind}") for p, q in parts.items() for kind in ("weight", "bias")]


def vit_names():
    names = [("class_token", "cls_token"), ("encoder.pos_embedding", "pos_embed")]
    names += both("", "", {"conv_proj": "patch_embed.proj", "encoder.ln": "norm"})
    for n in range(2):
        ours, theirs = f"encoder.layers.encoder_layer_{n}.", f"blocks.{n}."
        names += both(ours, theirs, {"ln_1": "norm1", "ln_2": "norm2", "mlp.0": "mlp.fc1", "mlp.3": "mlp.fc2"})
        names += both(ours, theirs, {"self_attention.out_proj": "attn.proj"})
        names += [(f"{ours}self_attention.in_proj_{kind}", f"{theirs}attn.qkv.{kind}") for kind in ("weight", "bias")]
    return dict(names)


def swin_names(old):
    names = both("", "", {"features.0.0": "patch_embed.proj", "features.0.2": "patch_embed.norm", "norm": "norm"})
    for stage in range(2):
        for n in range(2):
            ours, theirs = f"features.{2 * stage + 1}.{n}.", f"layers.{stage}.blocks.{n}."
            names += both(ours, theirs, {"norm1": "norm1", "norm2": "norm2", "mlp.0": "mlp.fc1", "mlp.3": "mlp.fc2"})
            names += both(ours, theirs, {"attn.qkv": "attn.qkv", "attn.proj": "attn.proj"})
            names += [(f"{ours}attn.relative_position_bias_table", f"{theirs}attn.relative_position_bias_table")]
    merging = f"layers.{0 if old else 1}.downsample."
    names += [(f"features.2.{part}", merging + part) for part in ("norm.weight", "norm.bias", "reduction.weight")]
    return dict(names)


def efficientnet_names():
    norm = ("weight", "bias", "running_mean", "running_var")
    pairs = {"features.0.0.weight": "conv_stem.weight", "features.8.0.weight": "conv_head.weight"}
    pairs |= {f"features.0.1.{k}": f"bn1.{k}" for k in norm} | {f"features.8.1.{k}": f"bn2.{k}" for k in norm}
    for stage, count in enumerate((1, 2, 2, 3, 3, 4, 1)):
        parts = [("conv_pw", "bn1"), ("conv_dw", "bn2"), None, ("conv_pwl", "bn3")]
        if stage == 0:
            parts = [("conv_dw", "bn1"), None, ("conv_pw", "bn2")]
        for n in range(count):
            ours, theirs = f"features.{stage + 1}.{n}.block.", f"blocks.{stage}.{n}."
            for place, part in enumerate(parts):
                if part is None:
                    pairs |= dict(both(f"{ours}{place}.", f"{theirs}se.", {"fc1": "conv_reduce", "fc2": "conv_expand"}))
                else:
                    pairs[f"{ours}{place}.0.weight"] = f"{theirs}{part[0]}.weight"
                    pairs |= {f"{ours}{place}.1.{kind}": f"{theirs}{part[1]}.{kind}" for kind in norm}
    return pairs


CASES = {
    "vit": (small_vit, vit_names(), lambda network: network.adapt, (32, 48)),
    "swin": (small_swin, swin_names(old=False), lambda network: swin.from_timm, (60, 40)),
    "swin, older": (small_swin, swin_names(old=True), lambda network: swin.from_timm, (60, 40)),
    "efficientnet": (efficientnet.EfficientNet, efficientnet_names(), lambda network: efficientnet.from_timm, (40, 40)),
}


@pytest.mark.parametrize("case", CASES)
def test_files_of_torchvision_and_timm_give_equal_networks(case, tmp_path):
    make, names, adapt, size = CASES[case]
    torch.manual_seed(0)
    fresh = make().state_dict().items()
    state = {k: v + 0.01 * torch.rand(v.shape) for k, v in fresh if not k.endswith("num_batches_tracked")}
    assert set(names) == set(state)  # timm has a name for every tensor
    save_file({**state, "head.weight": torch.zeros(10, 4)}, tmp_path / "torchvision.safetensors")
    save_file({names[k]: v for k, v in state.items()} | {"head.fc.bias": torch.zeros(2)}, tmp_path / "timm.safetensors")
    pictures, outputs = torch.rand(2, 3, *size), []
    for kind in ("torchvision", "timm"):
        network = make().eval()
        begin_from(network, str(tmp_path / f"{kind}.safetensors"), adapt(network))
        assert all(torch.equal(network.state_dict()[k], v) for k, v in state.items())
        outputs.append(network(pictures))
    assert torch.equal(*outputs) and outputs[0].isfinite().all() and outputs[0].std() > 0


def test_names_of_torchvisions_older_files_are_known():
    network = small_vit()
    old = {
        k.replace("mlp.0", "mlp.linear_1").replace("mlp.3", "mlp.linear_2"): v for k, v in network.state_dict().items()
    }
    assert any("linear_2" in name for name in old)
    assert set(network.adapt(old)) == set(network.state_dict())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.pop("encoder.ln.bias"), r"have no tensor 'encoder.ln.bias', which the backbone needs"),
        (lambda w: w.update(dist_token=torch.zeros(1, 1, 32)), r"another network: .* no tensor 'dist_token'"),
        (
            lambda w: w.update({"encoder.pos_embedding": torch.zeros(1, 6, 32)}),
            r"of size \[1, 6, 32\], not \[1, 7, 32\]",
        ),
        (lambda w: w.update(class_token=torch.zeros(32)), r"tensor 'class_token' is of size \[32\], not \[1, 1, 32\]"),
    ],
)
def test_files_that_do_not_fit_are_told_in_one_line(change, message, tmp_path):
    network, path = small_vit(), tmp_path / "weights.safetensors"
    weights = network.state_dict()
    change(weights)
    save_file(weights, path)
    with pytest.raises(DataError, match=message) as caught:
        begin_from(network, str(path), network.adapt)
    assert "\n" not in str(caught.value)


def test_position_embeddings_are_interpolated_to_the_picture(tmp_path):
    plan = vision_transformer(16, layers=1, width=32, heads=2)
    torch.manual_seed(0)
    weights = VisionTransformer((64, 64), 16, layers=1, width=32, heads=2).state_dict()
    ramp = torch.linspace(0, 1, 4)[:, None, None].expand(4, 4, 32)  # grows from the top to the bottom
    weights["encoder.pos_embedding"] = torch.cat([torch.full((1, 1, 32), 9.0), ramp.reshape(1, 16, 32)], dim=1)
    path = tmp_path / "weights.safetensors"
    save_file(weights, path)
    for shape in ((3, 64, 64), (3, 100, 30), (1, 28, 28)):
        network = plan(shape, str(path))
        assert network.eval()(torch.rand(2, *shape)).shape == (2, 32)
        found = network[-1].encoder.pos_embedding
        high, wide = -(-shape[1] // 16), -(-shape[2] // 16)
        assert found.shape == (1, 1 + high * wide, 32) and (found[:, 0] == 9).all()
        grid = found[0, 1:].view(high, wide, 32)
        assert torch.allclose(grid, grid[:, :1].expand_as(grid), atol=1e-6)
        assert torch.allclose(grid[[0, -1], 0, 0], torch.tensor([0.0, 1.0]), atol=1e-6)
        assert (grid.diff(dim=0) > 0).all()
    with rebuilding():  # the size follows from the picture, not from the file
        assert plan((3, 100, 30), "gone.safetensors")[-1].encoder.pos_embedding.shape == (1, 15, 32)


# -- layers ------------------------------------------------------------------------------------------------------------


def test_attention_is_that_of_torch():
    torch.manual_seed(0)
    ours, theirs = SelfAttention(24, 3), nn.MultiheadAttention(24, 3, batch_first=True)
    theirs.load_state_dict(ours.state_dict())
    tokens = torch.rand(2, 5, 24)
    assert torch.allclose(ours(tokens), theirs(tokens, tokens, tokens, need_weights=False)[0], atol=1e-6)


@pytest.mark.parametrize("shifted", [False, True])
def test_patches_see_their_window_and_never_the_other_edge(shifted):
    torch.manual_seed(0)
    attention = swin.WindowAttention((14, 14), 8, 2, shifted)
    maps = torch.rand(1, 14, 14, 8)
    changed = maps.clone()
    changed[0, 8, 8] += 1
    seen = (attention(changed) - attention(maps)).abs().amax(dim=3)[0] > 1e-6
    first, last = (3, 10) if shifted else (7, 14)
    expected = torch.zeros(14, 14, dtype=torch.bool)
    expected[first:last, first:last] = True
    assert torch.equal(seen, expected)
    changed = maps.clone()
    changed[0, 13, 13] += 1  # a shifted window holds this corner and the three others
    seen = (attention(changed) - attention(maps)).abs().amax(dim=3)[0] > 1e-6
    first = 10 if shifted else 7
    assert seen[first:, first:].all() and seen.sum() == (14 - first) ** 2


def test_a_window_is_read_by_relative_position():
    """A bias that only one distance has moves a patch's attention to the patch at that distance."""
    attention = swin.WindowAttention((7, 7), 4, 1, shifted=False)
    with torch.no_grad():
        for weight in (
            attention.qkv.weight,
            attention.qkv.bias,
            attention.proj.bias,
            attention.relative_position_bias_table,
        ):
            weight.zero_()
        attention.qkv.weight[8:] = torch.eye(4)  # values are the inputs
        attention.proj.weight.copy_(torch.eye(4))
        attention.relative_position_bias_table[(6 + 2) * 13 + (6 - 1)] = 50  # two below, one to the left of the other
    maps = torch.rand(1, 7, 7, 4)
    assert torch.allclose(attention(maps)[0, 5, 2], maps[0, 3, 3], atol=1e-5)
