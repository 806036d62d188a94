"""Backbones at their edges: what a text asks for, what is refused, and models of folders."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.errors import ConfigError, DataError
from assay.models.backbones import vision
from assay.models.backbones.build import (
    BackbonePlan,
    BackboneSpec,
    _refuse_source,
    build_network,
    can_read,
    dense,
    is_deep,
    is_rebuilding,
    rebuilding,
    require_reads,
)
from assay.models.backbones.frozen import Frozen, Memory, signature
from assay.models.backbones.pictures import Colours, Resized, next_multiple
from assay.models.backbones.vision import Pooled, _refuse_gaps, _seeing, load_pretrained, preprocessing
from assay.models.backbones.vit import POSITIONS, VisionTransformer
from assay.models.backbones.weights import begin_from, fill, rename


def close(found, wanted, atol=1e-5):
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(wanted), atol=atol)


def test_what_a_text_asks_for():
    assert BackboneSpec.of("mlp") == BackboneSpec("mlp", None, False)
    assert BackboneSpec.of("vit@a@b") == BackboneSpec("vit", "a@b", False)
    assert BackboneSpec.of("frozen:vit@") == BackboneSpec("vit", "", True)
    assert is_deep("resnet-18") and not is_deep("frozen:resnet-18") and not is_deep("mlp")
    assert can_read("mlp", "image") and can_read("frozen:mlp", "image") and not can_read("resnet-18", "text")
    assert can_read("mlp", "numbers") and not can_read("frozen:mlp", "numbers")
    with pytest.raises(ConfigError, match="backbone 'resnet-18' does not read texts; these do: "):
        require_reads("resnet-18", "text")


def test_weights_where_there_are_none_or_must_be():
    plans = {weights: BackbonePlan(None, weights=weights) for weights in ("no", "may", "must")}
    for weights, source in (("no", None), ("may", None), ("may", "w"), ("must", "w")):
        _refuse_source(BackboneSpec("b", source), plans[weights])
    for weights, source, said in (
        ("no", "w", "cannot begin from weights; ask for it without '@w'"),
        ("must", None, "needs weights: backbone=b@FOLDER"),
        ("must", "", "needs weights: backbone=b@FOLDER"),
        ("may", "", "after '@' comes a file or folder of weights"),
    ):
        with pytest.raises(ConfigError, match=said):
            _refuse_source(BackboneSpec("b", source), plans[weights])


def test_the_smallest_picture_is_read_and_a_smaller_one_refused():
    assert build_network("mlp", (1, 1, 3)).features > 0
    with pytest.raises(ConfigError, match="'vit-b-16' cannot read pictures of 9 x 7 pixels; try 'mlp'"):
        build_network("vit-b-16", (3, 7, 9))


def test_rebuilding_ends_with_its_block():
    assert not is_rebuilding()
    with rebuilding():
        assert is_rebuilding()
        with rebuilding(False):
            assert not is_rebuilding()
        assert is_rebuilding()
    assert not is_rebuilding()
    layer = nn.Linear(1, 1)
    with rebuilding():
        assert begin_from(layer, "no such file") is layer
    assert begin_from(layer, None) is layer
    with pytest.raises(DataError, match="weights 'no such file' cannot be read"):
        begin_from(layer, "no such file")


def test_dense_layers_have_a_rectifier_each():
    layers = dense(3, [4, 2])
    assert [type(layer).__name__ for layer in layers] == ["Linear", "ReLU"] * 2
    assert [(layer.in_features, layer.out_features) for layer in layers[::2]] == [(3, 4), (4, 2)]
    assert dense(3, ()) == []


def test_weights_fill_a_network_or_are_told():
    network = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
    good = {name: torch.full_like(tensor, 2) for name, tensor in network.state_dict().items()}
    counted = good.pop("1.num_batches_tracked")
    fill(network, {**good, "fc.weight": torch.ones(3), "x.attn_mask": torch.ones(1)}, "w")
    assert network[0].weight.tolist() == [[2.0, 2.0]] and counted.item() == 2
    assert network[1].num_batches_tracked.item() == 0
    without = {name: tensor for name, tensor in good.items() if name != "0.bias"}
    with pytest.raises(DataError, match="weights 'w' have no tensor '0.bias', which the backbone needs"):
        fill(network, without, "w")
    with pytest.raises(DataError, match=r"weights 'w': tensor '0.bias' is of size \[2\], not \[1\]"):
        fill(network, {**good, "0.bias": torch.ones(2)}, "w")
    with pytest.raises(DataError, match="weights 'w' are of another network: the backbone has no tensor 'a.x'"):
        fill(network, {**good, "b": torch.ones(1), "a.x": torch.ones(1)}, "w")
    assert list(rename({"a.1": counted, "b.a": counted}, [("^a", "c"), ("^c", "d")])) == ["d.1", "b.a"]


def test_positions_that_are_no_square_are_left():
    network = VisionTransformer((8, 16), 4, 1, 4, 2)
    assert network.encoder.pos_embedding.shape == (1, 9, 4)
    odd = torch.rand(1, 7, 4)
    assert network.adapt({POSITIONS: odd})[POSITIONS] is odd
    flat = torch.rand(7, 4)
    assert network.adapt({POSITIONS: flat})[POSITIONS] is flat and network.adapt({}) == {}
    square = torch.rand(1, 5, 4)
    found = network.adapt({POSITIONS: square})[POSITIONS]
    assert found.shape == (1, 9, 4)
    close(found[0, 0], square[0, 0])
    close(found[0, [1, 4, 5, 8]], square[0, 1:])


def test_pictures_are_scaled_by_colour_and_rounded_up():
    grey = torch.tensor([0.5]).view(1, 1, 1, 1)
    close(Colours((0.1, 0.2, 0.3), (0.5, 1.0, 2.0))(grey).flatten(), [0.8, 0.3, 0.1])
    four = torch.arange(4.0).view(1, 4, 1, 1)
    close(Colours((0.0,) * 3, (1.0,) * 3)(four).flatten(), [0, 1, 2])
    picture = torch.rand(1, 1, 2, 3)
    assert Resized((2, 3))(picture) is picture and Resized((3, 2))(picture).shape == (1, 1, 3, 2)
    assert next_multiple((3, 16, 17), 16) == (16, 32) and str(Resized((4, 5))) == "Resized((4, 5))"


def test_what_a_network_says_first_is_its_features():
    class Says(nn.Module):
        def __init__(self, **outputs):
            super().__init__()
            self.outputs = outputs

        def forward(self, pixel_values):
            return SimpleNamespace(**self.outputs)

    last = torch.arange(12.0).view(1, 3, 4)
    close(Pooled(Says(last_hidden_state=last, pooler_output=None))(None), [[4, 5, 6, 7]])
    close(Pooled(Says(last_hidden_state=last.view(1, 3, 2, 2)))(None), [[1.5, 5.5, 9.5]])
    both = Says(image_embeds=torch.ones(1, 2), pooler_output=torch.zeros(1, 2, 1), last_hidden_state=last)
    close(Pooled(both)(None), [[1, 1]])
    close(Pooled(Says(pooler_output=torch.zeros(1, 2, 1), last_hidden_state=last))(None), [[0, 0]])


def test_colours_of_a_folder_are_its_own_or_the_usual(tmp_path):
    def scale(clip):
        resized, colours = preprocessing(tmp_path, (4, 5), clip)
        assert resized.size == (4, 5)
        return colours.mean.flatten().tolist(), colours.deviation.flatten().tolist()

    assert scale(False) == ([0.5] * 3, [0.5] * 3)
    assert scale(True)[0][0] == pytest.approx(0.48145466) and scale(True)[1][2] == pytest.approx(0.27577711)
    path = tmp_path / "preprocessor_config.json"
    path.write_text(json.dumps({"image_mean": [0.25, 0.5, 0.75], "image_std": None}))
    assert scale(False) == ([0.25, 0.5, 0.75], [0.5] * 3)
    for text in ("{", "[1]"):
        path.write_text(text)
        with pytest.raises(DataError, match="preprocessor_config.json' is damaged: it is no JSON object"):
            scale(False)


def test_only_a_pooler_may_be_missing(tmp_path):
    network = SimpleNamespace(pooler="kept")
    _refuse_gaps(network, [], tmp_path)
    assert network.pooler == "kept"
    _refuse_gaps(network, ["pooler.weight"], tmp_path)
    assert network.pooler is None
    with pytest.raises(DataError, match="lacks the tensor 'b', or has it in another size"):
        _refuse_gaps(network, ["pooler.weight", "b", "a"], tmp_path)
    whole = SimpleNamespace(projection_dim=7, vision_config=SimpleNamespace(projection_dim=3))
    assert _seeing(whole) is whole.vision_config and whole.vision_config.projection_dim == 7
    half = SimpleNamespace(projection_dim=7)
    assert _seeing(half) is half


def test_a_model_of_a_folder_is_of_the_type_asked_for_and_local(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "vit"}')
    with pytest.raises(ConfigError, match="holds a model of type 'vit', not 'clip'"):
        load_pretrained(None, None, tmp_path, "clip")
    with pytest.raises(ConfigError, match="holds no safetensors file of weights"):
        load_pretrained(None, None, tmp_path, "vit")
    (tmp_path / "w.safetensors").touch()
    asked, missing, network = [], {"missing_keys": [], "mismatched_keys": []}, SimpleNamespace()

    class Auto:
        @staticmethod
        def from_pretrained(folder, **how):
            asked.append(how)
            return (network, missing) if "output_loading_info" in how else "config"

    library = SimpleNamespace(AutoConfig=Auto, AutoModel=Auto, CLIPVisionModelWithProjection=None)
    assert load_pretrained(library, Auto, tmp_path) is network
    assert asked[0] == {"local_files_only": True}
    assert asked[1] == {
        "config": "config", "local_files_only": True, "use_safetensors": True, "dtype": torch.float32,
        "output_loading_info": True,
    }  # fmt: skip
    missing["mismatched_keys"] = [("x", 1, 2)]
    with pytest.raises(DataError, match="lacks the tensor 'x'"):
        load_pretrained(library, Auto, tmp_path)
    with pytest.raises(ConfigError, match="none/config.json' cannot be read: No such file"):
        vision._json(tmp_path / "none" / "config.json")


def test_features_without_weights_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    memory = Memory(None)
    memory.add([b"k" * 16] * 300, torch.arange(300.0)[:, None])
    memory.save()
    memory.open()
    assert len(memory.unsaved) == 300 and not memory.opened and memory.rows[b"k" * 16].item() == 299
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    frozen = Frozen(network, None)
    pictures = torch.tensor([[0.0, 51, 102, 255], [1.0, 2, 3, 4], [0.0, 51, 102, 255]]).view(3, 1, 2, 2) / 255
    close(frozen(pictures), network(pictures).detach())
    assert len(frozen.memory.rows) == 2 and not list(tmp_path.iterdir()) and list(frozen.parameters()) == []
    assert not any(p.requires_grad for p in network.parameters()) and not network.training
    turned = frozen(pictures.view(3, 1, 4, 1))
    close(turned, network(pictures).detach())
    assert len(frozen.memory.rows) == 4 and set(frozen.state_dict()) == {"signature"}
    assert signature(nn.Linear(1, 1).double()) != signature(nn.Linear(1, 1))
