"""Frozen embeddings: computed once, kept on disk under what they depend on, and never trained."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from assay.base import DataError, Settings
from assay.models import MODELS, build_backbone, load_model
from tests.models.backbones.test_weights import folder_of
from tests.pixels import trained


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embeddings"


def files(cache):
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*.safetensors"))


@pytest.fixture
def weights(tmp_path):
    """A file of weights from outside, and a backbone that begins from it."""
    torch.manual_seed(0)
    path = tmp_path / "weights.safetensors"
    save_file(build_backbone("resnet-small", (1, 28, 28)).network[-1].state_dict(), path)
    return path


def frozen(path):
    return build_backbone(f"frozen:resnet-small@{path}", (1, 28, 28)).network[0]


def test_features_of_weights_from_outside_are_kept_on_disk_and_read_again(cache, weights):
    pictures = torch.randint(0, 256, (40, 1, 28, 28)).float() / 255
    first = frozen(weights)
    wanted = first(pictures)
    assert not wanted.requires_grad and list(first.parameters()) == []
    first.eval()  # where training ends, what was not yet worth a file is written
    (path,) = cache.rglob("*.safetensors")
    held = load_file(path)
    save_file({**held, "features": held["features"] + 1}, path)
    assert torch.equal(frozen(weights)(pictures), wanted + 1)  # read, not computed again
    for damage in (b"", b"junk", path.read_bytes()[:-7]):
        path.write_bytes(damage)
        assert torch.allclose(frozen(weights)(pictures), wanted, atol=1e-6)


def test_what_has_no_weights_from_outside_leaves_nothing_on_disk(cache, data, tmp_path):
    trained("embedding", data, tmp_path / "run", {"epochs": 1})
    assert not cache.exists()


def test_pictures_that_are_alike_have_the_same_features_in_any_company(weights):
    pictures = torch.randint(0, 256, (6, 1, 28, 28)).float() / 255
    made = frozen(weights)
    whole = made(torch.cat([pictures, pictures[:3]]))
    assert torch.equal(whole[:3], whole[6:]) and torch.allclose(frozen(weights)(pictures[4:5]), whole[4:5], atol=1e-5)


def test_only_what_is_on_top_is_trained_and_saved(data, tmp_path):
    model = trained("embedding", data, tmp_path / "run", {"epochs": 2})
    fresh = MODELS["embedding"](data.knowledge, data.layout, Settings(), data.manifest.backbones, seed=9)
    pictures = torch.rand(5, 1, 1, 1)
    assert torch.equal(model.body(pictures), fresh.body(pictures))
    assert {name.split(".")[0] for name, _ in model.named_parameters()} == {"layers", "head"}
    assert {name for name in model.state_dict() if name.startswith("body")} == {"body.signature"}


def test_labels_are_learned_from_an_embedding_that_was_never_trained(data, tmp_path):
    said = trained("embedding", data, tmp_path / "run").predict(data["test"])
    assert (said.labels["y"].codes == data["test"].labels[:, 0]).mean() > 0.9 and not said.concepts


def test_other_weights_than_those_of_training_are_noticed(mnlogic, weights, tmp_path):
    settings = {"epochs": 1, "backbone": f"resnet-small@{weights}"}
    model = trained("embedding", mnlogic, tmp_path / "run", settings)
    before = model.predict(mnlogic["test"]).labels["y"].probabilities
    assert np.array_equal(load_model(tmp_path / "run").predict(mnlogic["test"]).labels["y"].probabilities, before)
    torch.manual_seed(1)
    save_file(build_backbone("resnet-small", (1, 28, 28)).network[-1].state_dict(), weights)
    with pytest.raises(DataError, match="the weights in '.*weights.safetensors' are not those that the model was"):
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
