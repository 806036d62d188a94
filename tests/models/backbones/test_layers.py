"""Layers by hand: texts, dropout, frozen features, sentences; loops where the networks compute at once."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from assay.errors import DataError
from assay.models.backbones import frozen as frozen_module
from assay.models.backbones import sentences, texts
from assay.models.backbones.deep import VGG_11, VGG_16, Block, Bottleneck, LiteNet, ResNet, SameConv, Vgg
from assay.models.backbones.dropout import Dropout, HeadLayer, StochasticDepth
from assay.models.backbones.frozen import Frozen, Memory, signature
from assay.models.backbones.sentences import SentenceModel
from assay.models.backbones.small import conv_norm, conv_pool_3, conv_stride
from assay.models.backbones.texts import AttentionBlock, BagOfNgrams, TextTransformer, bag_of_ngrams, text_transformer
from assay.models.backbones.vit import attend

SHAPE = (11, 1, 5)
"""Ten words and padding; texts of up to five."""
TEXTS = torch.tensor([[[3, 7, 2, 0, 0]], [[1, 10, 4, 9, 5]], [[6, 0, 0, 0, 0]]])


def close(found, wanted, atol=1e-5):
    np.testing.assert_allclose(found.detach(), wanted.detach(), atol=atol)


# -- texts -------------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_a_bag_of_ngrams_is_the_greatest_over_the_places_of_words():
    torch.manual_seed(0)
    network = BagOfNgrams(SHAPE)
    found = network(TEXTS)
    assert found.shape == (3, 3 * 64) and [gram.kernel_size[0] for gram in network.grams] == [1, 2, 3]
    for row, length in enumerate((3, 5, 1)):
        words = network.words(TEXTS[row, 0])
        wanted = []
        for size, gram in zip((1, 2, 3), network.grams, strict=True):
            padded = torch.cat([torch.zeros(size // 2, 64), words, torch.zeros(size, 64)])
            places = [
                torch.einsum("oik,ki->o", gram.weight, padded[at : at + size]) + gram.bias for at in range(length)
            ]
            wanted.append(torch.stack(places).amax(dim=0).relu())
        close(found[row], torch.cat(wanted))
    assert (network.words.weight[0] == 0).all() and network.words.num_embeddings == 11


@torch.no_grad()
def test_attention_is_paid_to_words_only():
    torch.manual_seed(1)
    block, words = AttentionBlock(), torch.randn(2, 4, 64)
    padding = torch.tensor([[0, 0, 0, texts.NEVER], [0, 0, 0, 0.0]])
    found = block(words, padding)
    for row, length in enumerate((3, 4)):
        queries, keys, values = (part.reshape(4, 4, 16) for part in block.ask(block.first(words[row])).split(64, dim=1))
        mixed = torch.zeros(4, 4, 16)
        for head in range(4):
            scores = queries[:, head] @ keys[:length, head].T / 4
            mixed[:, head] = scores.softmax(dim=1) @ values[:length, head]
        middle = words[row] + block.out(mixed.reshape(4, 64))
        close(found[row], middle + block.layer(block.second(middle)))
    assert [block.layer[0].out_features, block.layer[2].in_features] == [128, 128] and texts.HEADS == 4


@torch.no_grad()
def test_a_text_is_the_mean_of_its_words_wherever_it_ends():
    torch.manual_seed(2)
    network = TextTransformer(SHAPE)
    found = network(TEXTS)
    assert found.shape == (3, 64) and len(network.blocks) == 2 and network.places.shape == (5, 64)
    assert network.places.std().item() == pytest.approx(0.02, rel=0.3)
    for row, length in enumerate((3, 5, 1)):
        words = (network.words(TEXTS[row, 0]) + network.places)[None, :length]
        for block in network.blocks:
            words = block(words, torch.zeros(1, length))
        close(found[row], network.norm(words)[0].mean(dim=0), atol=1e-4)
    assert (network(torch.zeros(1, 1, 5, dtype=torch.long)) == 0).all()
    assert bag_of_ngrams.reads == text_transformer.reads == ("text",)


@torch.no_grad()
def test_heads_attend_by_themselves():
    torch.manual_seed(3)
    joined = torch.randn(2, 3, 3 * 8)
    found = attend(joined, 2)
    for row in range(2):
        for head in range(2):
            own = slice(4 * head, 4 * head + 4)
            queries, keys, values = (joined[row, :, 8 * part : 8 * part + 8][:, own] for part in range(3))
            close(found[row][:, own], (queries @ keys.T / 2).softmax(dim=1) @ values)


# -- dropout -----------------------------------------------------------------------------------------------------------


def test_dropout_doubles_one_half_and_drops_the_other():
    torch.manual_seed(0)
    features, layer = torch.rand(300, 7) + 1, Dropout()
    found = layer(features)
    kept = found > 0
    close(found[kept], 2 * features[kept])
    assert 0.45 < kept.float().mean() < 0.55 and layer.eval()(features) is features
    assert set((layer.train()(torch.ones(3))).tolist()) <= {0.0, 2.0}


def test_stochastic_depth_keeps_examples_as_a_whole():
    torch.manual_seed(0)
    layer, added = StochasticDepth(0.2), torch.ones(500, 2, 3)
    found = layer(added)
    rows = found.flatten(1)
    assert (rows == rows[:, :1]).all() and set(rows[:, 0].tolist()) == {0.0, 1.25}
    assert 0.1 < (rows[:, 0] == 0).float().mean() < 0.3
    assert layer.eval()(added) is added and StochasticDepth(0)(added) is added and layer.extra_repr() == "0.2"


def test_a_head_drops_features_in_training_only():
    layer = HeadLayer(4, 3)
    inputs = torch.rand(2, 4)
    close(layer(inputs), F.linear(inputs, layer.weight, layer.bias))
    layer.dropout = 1.0
    close(layer(inputs), layer.bias.expand(2, 3))
    close(layer.eval()(inputs), F.linear(inputs, layer.weight, layer.bias))
    assert HeadLayer.dropout == 0.0 and layer.extra_repr().endswith("dropout=1")


# -- frozen features ---------------------------------------------------------------------------------------------------


class Sums(nn.Module):
    """A network that adds up pixels, and remembers what it was shown."""

    def __init__(self, weight=1.0):
        super().__init__()
        self.weight, self.seen = nn.Parameter(torch.full((2,), weight)), []

    def forward(self, pictures):
        self.seen.append(len(pictures))
        return pictures.flatten(1).sum(dim=1, keepdim=True) * self.weight


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr(frozen_module, "CHUNK", 3)
    return tmp_path / "embeddings"


def pictures(*values):
    return torch.tensor(values)[:, None, None, None].expand(-1, 1, 1, 2) / 255


def test_features_are_computed_once_and_in_chunks(cache):
    network = Sums()
    frozen = Frozen(network, None)
    found = frozen(pictures(1, 2, 2, 3, 4, 5))
    close(found, torch.tensor([1.0, 2, 2, 3, 4, 5])[:, None] * 2 / 255 * torch.ones(2))
    assert network.seen == [3, 2] and not found.requires_grad and not network.training
    frozen(pictures(5, 6, 1))
    assert network.seen == [3, 2, 1] and not any(p.requires_grad for p in network.parameters())
    assert not cache.exists() and frozen.memory.folder is None and list(frozen.parameters()) == []


def test_features_are_written_when_there_are_enough_or_training_ends(cache):
    frozen = Frozen(Sums(), "weights")
    frozen(pictures(1, 2))
    assert not cache.exists() and len(frozen.memory.unsaved) == 2
    frozen.train(False)
    (folder,) = cache.iterdir()
    assert folder.name == signature(Sums()).hex()[:32] and len(list(folder.iterdir())) == 1
    assert frozen.memory.unsaved == [] and not frozen.training
    frozen(pictures(3, 4, 5))
    assert len(list(folder.iterdir())) == 2  # three are a chunk here
    frozen.memory.save()
    assert len(list(folder.iterdir())) == 2
    (folder / "junk.safetensors").write_bytes(b"junk")
    again = Sums()
    close(Frozen(again, "weights")(pictures(1, 5, 9)), torch.tensor([1.0, 5, 9])[:, None] * 2 / 255 * torch.ones(2))
    assert again.seen == [1]
    other = Sums(2.0)
    Frozen(other, "weights")(pictures(1, 5))
    assert other.seen == [2]


def test_a_memory_is_opened_once(cache):
    memory = Memory(cache)
    memory.add([b"a" * 16, b"b" * 16], torch.tensor([[1.0], [2.0]]))
    assert not cache.exists()
    memory.add([b"b" * 16], torch.tensor([[3.0]]))
    (path,) = cache.iterdir()
    assert memory.unsaved == [] and len(path.stem) == 16
    found = Memory(cache)
    found.open()
    assert {key: row.item() for key, row in found.rows.items()} == {b"a" * 16: 1.0, b"b" * 16: 3.0}
    found.rows.clear()
    found.open()
    assert found.rows == {} and found.opened


def test_other_weights_than_those_of_training_are_refused(cache):
    for source, message in ((None, "the weights are not those"), ("here", "the weights in 'here' are not those")):
        frozen = Frozen(Sums(), source)
        frozen.load_state_dict(Frozen(Sums(2.0), None).state_dict())
        with pytest.raises(DataError, match=message):
            frozen(pictures(1))
    assert signature(Sums()) != signature(nn.Sequential(Sums())) and signature(Sums()) == signature(Sums())


# -- sentences ---------------------------------------------------------------------------------------------------------


def test_a_sentence_is_the_mean_of_its_tokens_and_equal_ones_are_read_once(monkeypatch):
    monkeypatch.setattr(sentences, "AT_ONCE", 2)
    asked = []

    def tokenizer(given, **how):
        asked.append((given, how))
        longest = max(map(len, given))
        mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in given])
        codes = torch.tensor([[ord(c) for c in text] + [999] * (longest - len(text)) for text in given])
        return {"attention_mask": mask, "codes": codes}

    def model(attention_mask, codes):
        return SimpleNamespace(last_hidden_state=torch.stack([codes, -codes], dim=2).float())

    made = SentenceModel(model, tokenizer, 2, "digest")
    found = made.features(["ab", "c", "ab", "dddd", ""])
    assert found.tolist() == [[97.5, -97.5], [99, -99], [97.5, -97.5], [100, -100], [0, 0]]
    assert found.dtype == np.float32 and [given for given, _ in asked] == [["ab", "c"], ["dddd", ""]]
    how = {"padding": True, "truncation": True, "max_length": 512, "return_tensors": "pt"}
    assert asked[0][1] == how and made.features([]).shape == (0, 2)


def test_a_text_model_is_opened_from_a_local_folder_only(monkeypatch, tmp_path):
    asked, model = [], nn.Linear(2, 3)
    model.config = SimpleNamespace(hidden_size=7)
    model.train()

    def opened(what):
        def from_pretrained(folder, **how):
            asked.append((folder, how))
            return what

        return SimpleNamespace(from_pretrained=from_pretrained)

    library = SimpleNamespace(AutoModel=opened(model), AutoTokenizer=opened("tokenizer"))
    monkeypatch.setattr(sentences, "import_extra", lambda *what: library)
    with pytest.raises(DataError, match="is no folder of a text model: it has no config.json"):
        SentenceModel.open(str(tmp_path))
    (tmp_path / "config.json").touch()
    found = SentenceModel.open(str(tmp_path))
    local = {"local_files_only": True, "trust_remote_code": False}
    assert asked == [(str(tmp_path), {"use_safetensors": True, **local}), (str(tmp_path), local)]
    assert (found.width, found.tokenizer, found.digest) == (7, "tokenizer", signature(model).hex()[:32])
    assert not model.training


# -- deep and small networks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stride", "inputs"), [(1, 4), (2, 4), (1, 3)])
@torch.no_grad()
def test_blocks_add_to_what_came_in(stride, inputs):
    torch.manual_seed(0)
    block, maps = Block(inputs, 4, stride).eval(), torch.randn(2, inputs, 6, 6)
    around = block.downsample(maps) if stride > 1 or inputs != 4 else maps
    assert (len(block.downsample) == 2) is (stride > 1 or inputs != 4)
    first = F.relu(block.bn1(F.conv2d(maps, block.conv1.weight, None, stride, 1)))
    close(block(maps), F.relu(block.bn2(F.conv2d(first, block.conv2.weight, None, 1, 1)) + around))
    narrow = Bottleneck(inputs, 1, stride).eval()
    first = F.relu(narrow.bn1(F.conv2d(maps, narrow.conv1.weight)))
    second = F.relu(narrow.bn2(F.conv2d(first, narrow.conv2.weight, None, stride, 1)))
    around = narrow.downsample(maps) if stride > 1 or inputs != 4 else maps
    close(narrow(maps), F.relu(narrow.bn3(F.conv2d(second, narrow.conv3.weight)) + around))
    assert (len(narrow.downsample) == 2) is (stride > 1 or inputs != 4)


def convolutions(network):
    kinds = nn.Conv2d
    return [(m.in_channels, m.out_channels, m.kernel_size[0], m.stride[0], m.padding[0], m.groups, m.bias is not None)
            for m in network.modules() if isinstance(m, kinds)]  # fmt: skip


def test_a_resnet_has_stages_of_half_the_size_and_twice_the_depth():
    small = ResNet((2, 4), (2, 1), large=False)
    assert convolutions(small) == [
        (3, 2, 3, 1, 1, 1, False), (2, 2, 3, 1, 1, 1, False), (2, 2, 3, 1, 1, 1, False), (2, 2, 3, 1, 1, 1, False),
        (2, 2, 3, 1, 1, 1, False), (2, 4, 3, 2, 1, 1, False), (4, 4, 3, 1, 1, 1, False), (2, 4, 1, 2, 0, 1, False),
    ]  # fmt: skip
    large = ResNet((2, 4), (1, 2), True, Bottleneck)
    assert convolutions(large)[0] == (3, 2, 7, 2, 3, 1, False) and small.stages == ["layer1", "layer2"]
    assert (large.pool.kernel_size, large.pool.stride, large.pool.padding) == (3, 2, 1)
    assert isinstance(small.pool, nn.Identity) and large.layer2[1].conv1.in_channels == 16
    maps = torch.rand(1, 3, 8, 8)
    with torch.no_grad():
        inside = small.eval().layer2(small.layer1(F.relu(small.bn1(small.conv1(maps)))))
        assert inside.shape == (1, 4, 4, 4)
        close(small(maps), inside.mean(dim=(2, 3)))


def test_vgg_is_pooled_after_each_group():
    network = Vgg(((2,), (4, 5)))
    assert convolutions(network) == [(3, 2, 3, 1, 1, 1, True), (2, 4, 3, 1, 1, 1, True), (4, 5, 3, 1, 1, 1, True)]
    kinds = [type(layer).__name__ for layer in network.features]
    assert kinds == ["Conv2d", "ReLU", "MaxPool2d", "Conv2d", "ReLU", "Conv2d", "ReLU", "MaxPool2d"]
    maps = torch.rand(2, 3, 8, 8)
    with torch.no_grad():
        close(network(maps), network.features(maps).mean(dim=(2, 3)))
        assert network.features(maps).shape == (2, 5, 2, 2)
    assert [len(group) for group in VGG_11] == [1, 1, 2, 2, 2] and [len(group) for group in VGG_16] == [2, 2, 3, 3, 3]


@pytest.mark.parametrize(
    ("size", "kernel", "stride"), [(7, 3, 2), (8, 3, 2), (8, 5, 2), (5, 1, 1), (6, 5, 1), (1, 3, 2)]
)
@torch.no_grad()
def test_the_odd_row_of_padding_is_at_the_end(size, kernel, stride):
    layer, maps = SameConv(2, 3, kernel, stride, bias=False), torch.randn(1, 2, size, size + 1)
    found = layer(maps)
    padded = maps
    for axis, length in ((3, size + 1), (2, size)):
        outputs = -(-length // stride)
        need = max((outputs - 1) * stride + kernel - length, 0)
        pads = [need // 2, need - need // 2, 0, 0] if axis == 3 else [0, 0, need // 2, need - need // 2]
        padded = F.pad(padded, pads)
        assert found.shape[axis] == outputs
    close(found, F.conv2d(padded, layer.weight, stride=stride))


def test_lite0_has_the_layers_of_its_paper():
    network = LiteNet()
    layers = convolutions(network)
    assert layers[0][:4] == (3, 32, 3, 2) and layers[-1][:3] == (320, 1280, 1) and len(network.blocks) == 16
    depthwise = [layer for layer in layers if layer[5] > 1]
    assert [layer[2] for layer in depthwise] == [3, 3, 3, 5, 5, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 3]
    assert [layer[3] for layer in depthwise] == [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    assert [block.around for block in network.blocks] == [
        bool(x) for x in (0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0)
    ]
    assert [block.widens for block in network.blocks] == [False] + [True] * 15 and network.bn0.eps == 1e-3
    assert [layer[5] for layer in depthwise] == [32, 96, 144, 144, 240, 240, 480, 480, 480, 672, 672, 672, 1152, 1152, 1152, 1152]  # fmt: skip
    block, maps = network.eval().blocks[2], torch.rand(1, 24, 4, 4)
    with torch.no_grad():
        inside = F.relu6(block.bn0(block.expand_conv(maps)))
        inside = F.relu6(block.bn1(block.depthwise_conv(inside)))
        close(block(maps), block.bn2(block.project_conv(inside)) + maps)


def test_small_networks_have_the_layers_of_rsbench():
    strided = conv_stride.make((1, 16, 16), None)
    assert convolutions(strided) == [(1, 32, 4, 2, 1, 1, True), (32, 64, 4, 2, 1, 1, True), (64, 128, 4, 2, 1, 1, True)]
    normed = conv_norm.make((1, 16, 16), None)
    assert convolutions(normed) == [(1, 32, 3, 1, 1, 1, True), (32, 64, 3, 1, 1, 1, True)]
    assert [m.num_groups for m in normed.modules() if isinstance(m, nn.GroupNorm)] == [8, 8]
    pooled = conv_pool_3.make((1, 16, 16), None)
    assert convolutions(pooled) == [(1, 16, 3, 1, 1, 1, True), (16, 32, 3, 1, 1, 1, True), (32, 64, 3, 1, 1, 1, True)]

    def widths(network):
        return [(m.in_features, m.out_features) for m in network.modules() if isinstance(m, nn.Linear)]

    assert widths(normed) == [(64 * 2 * 2, 128)] and widths(pooled) == [(64 * 4 * 4, 128), (128, 64)]
    assert sum(isinstance(m, Dropout) for m in strided.modules()) == 2
    assert (conv_stride.smallest, conv_norm.smallest, conv_pool_3.smallest) == (8, 8, 4)
