"""Frozen embeddings: computed once, kept on disk under what they depend on, and never trained."""

import numpy as np
import pytest
import torch

from assay.config import Settings
from assay.errors import DataError
from assay.models import MODELS, load_model
from assay.models.backbones.build import build_network
from assay.models.backbones.frozen import Frozen, Memory, signature
from assay.models.concept.embedding import parts_of
from assay.render import Box, Layout
from tests.models.backbones.test_deep import folder_of
from tests.pixels import trained


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embeddings"


class Counted(torch.nn.Module):
    """A network that counts the pictures it has seen."""

    def __init__(self, weight=1.0):
        super().__init__()
        self.linear = torch.nn.Linear(6, 2, bias=False)
        torch.nn.init.constant_(self.linear.weight, weight)
        self.seen = 0

    def forward(self, pictures):
        self.seen += len(pictures)
        return self.linear(pictures.flatten(1))


def bytes_as_pictures(count, seed=0):
    return torch.randint(0, 256, (count, 1, 2, 3), generator=torch.Generator().manual_seed(seed)).float() / 255


def files(cache):
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*.safetensors"))


def test_each_picture_is_embedded_once():
    network = Counted()
    frozen = Frozen(network, None)
    pictures = bytes_as_pictures(10)
    for _ in range(3):
        assert torch.allclose(frozen(pictures), network.linear(pictures.flatten(1)), atol=1e-6)
    frozen(torch.cat([pictures[:4], pictures[:4], bytes_as_pictures(5, seed=1)]))
    assert network.seen >= 10 + 5 and len(frozen.memory.rows) == 15
    assert not frozen(pictures).requires_grad


def test_embeddings_are_found_again_on_disk_under_weights_and_pictures(cache):
    pictures = bytes_as_pictures(20)
    first = Frozen(Counted(), "weights")
    wanted = first(pictures)
    assert files(cache) == []  # few are kept in memory until they are worth a file
    first.memory.save()
    assert len(files(cache)) == 1
    again = Counted()
    assert torch.equal(Frozen(again, "weights")(pictures), wanted) and again.seen == 0
    other = Counted(weight=2.0)
    assert torch.allclose(Frozen(other, "weights")(pictures), 2 * wanted) and other.seen == 20
    turned = Counted()
    Frozen(turned, "weights")(pictures.transpose(2, 3).reshape(20, 1, 3, 2))
    assert turned.seen == 20  # the same bytes in another shape are other pictures


def test_many_are_written_as_they_come(cache):
    Frozen(Counted(), "weights")(bytes_as_pictures(700))
    assert len(files(cache)) == 2


def test_what_has_no_weights_from_outside_leaves_nothing_on_disk(cache):
    frozen = Frozen(Counted(), None)
    frozen(bytes_as_pictures(700))
    frozen.memory.save()
    assert not cache.exists()


def test_a_damaged_file_is_computed_again(cache):
    first = Frozen(Counted(), "weights")
    wanted = first(bytes_as_pictures(20))
    first.memory.save()
    path = next(cache.rglob("*.safetensors"))
    for damage in (b"", b"junk", path.read_bytes()[:-7]):
        path.write_bytes(damage)
        again = Counted()
        assert torch.equal(Frozen(again, "weights")(bytes_as_pictures(20)), wanted) and again.seen == 20


def test_memory_without_a_folder_is_only_memory():
    memory = Memory(None)
    memory.open()
    memory.add([b"k" * 16], torch.ones(1, 2))
    memory.save()
    assert list(memory.rows) == [b"k" * 16]


def test_the_signature_knows_layers_sizes_and_weights():
    one = build_network("mlp", (1, 4, 4)).network
    found = {signature(one), signature(build_network("mlp-wide", (1, 4, 4)).network), signature(torch.nn.Identity())}
    with torch.no_grad():
        next(one.parameters())[0, 0] += 1e-6
    assert len(found | {signature(one)}) == 4


def test_parts_are_the_distinct_regions_of_one_size():
    left, right = Box(0, 0, 4, 4), Box(4, 0, 8, 4)
    assert parts_of(Layout(8, 4, 1, {"a": left, "b": right, "c": left})) == (left, right)
    assert parts_of(Layout(8, 4, 1, {"a": left, "b": Box(4, 0, 7, 4)})) == (Box(0, 0, 8, 4),)
    assert parts_of(Layout(8, 4)) == (Box(0, 0, 8, 4),)


def test_only_what_is_on_top_is_trained_and_saved(data, tmp_path):
    model = trained("embedding", data, tmp_path / "run", {"epochs": 2})
    fresh = MODELS["embedding"](data.knowledge, data.layout, Settings(), data.manifest["backbones"], seed=9)
    pictures = torch.rand(5, 1, 1, 1)
    assert torch.equal(model.body(pictures), fresh.body(pictures))
    assert {name.split(".")[0] for name, _ in model.named_parameters()} == {"layers", "head"}
    assert {name for name in model.state_dict() if name.startswith("body")} == {"body.signature"}


def test_labels_are_learned_from_an_embedding_that_was_never_trained(data, tmp_path):
    said = trained("embedding", data, tmp_path / "run").predict(data["test"])
    assert (said.labels["y"].codes == data["test"].labels[:, 0]).mean() > 0.9 and not said.concepts


def test_other_weights_than_those_of_training_are_noticed(mnlogic, tmp_path):
    torch.manual_seed(0)
    from safetensors.torch import save_file

    path = tmp_path / "weights.safetensors"
    save_file(build_network("resnet-small", (1, 28, 28)).network[-1].state_dict(), path)
    settings = {"epochs": 1, "backbone": f"resnet-small@{path}"}
    model = trained("embedding", mnlogic, tmp_path / "run", settings)
    before = model.predict(mnlogic["test"]).labels["y"].probabilities
    assert np.array_equal(load_model(tmp_path / "run").predict(mnlogic["test"]).labels["y"].probabilities, before)
    torch.manual_seed(1)
    save_file(build_network("resnet-small", (1, 28, 28)).network[-1].state_dict(), path)
    with pytest.raises(
        DataError, match="the weights in '.*weights.safetensors' are not those that the model was trained"
    ):
        load_model(tmp_path / "run").predict(mnlogic["test"])


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("embedding", {"backbone": "pretrained@FOLDER"}),
        ("cbm", {"backbone": "frozen:pretrained@FOLDER"}),
        ("dpl", {"backbone": "frozen:pretrained@FOLDER", "concept_weight": 1.0}),
    ],
)
def test_bits_are_read_from_the_embeddings_of_a_clip_model(name, settings, made, cache, tmp_path):
    transformers = pytest.importorskip("transformers")
    folder, _ = folder_of("clip", tmp_path, transformers)
    given = {**settings, "backbone": settings["backbone"].replace("FOLDER", str(folder))}
    dataset = made(
        "mnlogic", k=2, formula="a or b", prop_in_distribution=1.0, splits={"train": 128, "valid": 32, "test": 64}
    )
    model = trained(name, dataset, tmp_path / "run", {**given, "epochs": 30, "learning_rate": 0.01})
    said, test = model.predict(dataset["test"]), dataset["test"]
    right = [said.labels["y"].codes == test.labels[:, 0]]
    right += [answer.codes == test.concepts[:, i] for i, answer in enumerate(said.concepts.values())]
    assert np.mean(right, axis=1).min() > 0.8
    assert files(cache)
    loaded = load_model(tmp_path / "run").predict(test)
    assert np.allclose(loaded.labels["y"].probabilities, said.labels["y"].probabilities, atol=1e-6)
