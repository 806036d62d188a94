"""The model that is explained: its targets, its log-probabilities, and pictures in the place of a split's own."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import Concept, ConceptSpace
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from assay.models import ExaminedPredictor, examine_model
from assay.models.saliency import examined
from assay.models.saliency.examined import (
    SMALLEST,
    UNSURE,
    ExaminedNetwork,
    SaliencyTarget,
    scores_of,
    targets_of,
    with_pictures,
)
from assay.predictions import Answer
from tests.models.tiles import tiles

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("c", ("x", "y"))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n"})
Y, Z, C, N = targets_of(KNOWLEDGE, ["c", "n"])
LABELS = [torch.tensor([[0.25, 0.75], [1.0, 0.0]]), torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])]
CONCEPTS = [torch.zeros(2, 2), torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]), torch.tensor([[0.9, 0.1], [0.3, 0.7]])]


def logs_of(probabilities, least):
    return np.log(np.maximum(np.asarray(probabilities, dtype=np.float64), least))


class Network(nn.Module):
    """A network whose answers are known, and whose logits are not what its probabilities follow from."""

    reads, name, has_concepts, perception, device = None, "net", True, None, torch.device("cpu")

    def __init__(self, concepts=CONCEPTS):
        super().__init__()
        self.concepts = concepts

    def answer(self, pictures, do):
        return SimpleNamespace(labels=LABELS, concepts=self.concepts)

    def logits(self, pictures):
        return [torch.tensor([[0.0, 200.0]]), torch.tensor([[1.0, 2.0, 4.0]])]

    def about(self):
        return {"who": "net"}


def test_targets_are_all_labels_and_the_named_concepts_in_their_places():
    assert targets_of(KNOWLEDGE, ["c", "n"]) == [
        SaliencyTarget("label", "y", 0, (False, True)),
        SaliencyTarget("label", "z", 1, (0, 1, 2)),
        SaliencyTarget("concept", "c", 2, ("x", "y")),
        SaliencyTarget("concept", "n", 1, (0, 1, 2)),
    ]
    assert [target.title for target in (Z, C)] == ["label z", "concept c"] and len(targets_of(KNOWLEDGE, [])) == 2


def test_a_network_gives_the_logs_of_the_targets_that_are_asked_for():
    network = Network().train()
    model = ExaminedNetwork(network)
    assert (model.name, model.has_concepts, model.about(), model.device) == (
        "net",
        True,
        {"who": "net"},
        network.device,
    )
    found = model.answerer(None, [Z, N, Y, C])(None)
    assert not network.training
    for logs, wanted in zip(found, (LABELS[1], CONCEPTS[1], LABELS[0], CONCEPTS[2]), strict=True):
        np.testing.assert_allclose(logs, logs_of(wanted, SMALLEST), rtol=1e-6)
    assert [codes.tolist() for codes in model.predict_codes(None, [Z, N, Y], None)] == [[0, 2], [2, 0], [1, 0]]
    silent = ExaminedNetwork(Network(None)).answerer(None, [Y])(None)
    np.testing.assert_allclose(silent[0], logs_of(LABELS[0], SMALLEST), rtol=1e-6)


def test_the_logits_of_a_black_box_are_used_unless_concepts_are_asked_for(monkeypatch):
    monkeypatch.setattr(examined, "BlackBox", Network)
    model = ExaminedNetwork(Network())
    second, first = model.answerer(None, [Z, Y])(None)
    assert first.tolist() == [[-200.0, 0.0]]
    np.testing.assert_allclose(second.exp().sum(dim=1), 1, atol=1e-6)
    np.testing.assert_allclose(second[0, 2] - second[0, 0], 3, atol=1e-6)
    both = model.answerer(None, [Y, C])(None)
    np.testing.assert_allclose(both[0], logs_of(LABELS[0], SMALLEST), rtol=1e-6)


def test_a_network_that_reads_no_pictures_is_refused():
    network = Network()
    network.reads = SimpleNamespace(kind="texts")
    with pytest.raises(ConfigError, match="'net' reads texts, not pictures: there is no map"):
        ExaminedNetwork(network)


def test_a_predictor_is_asked_about_other_pictures(monkeypatch):
    monkeypatch.setattr(examined, "with_pictures", lambda data, pictures: (data, pictures))
    asked = []
    said = SimpleNamespace(
        labels={"y": Answer.of(np.array([[0.0, 1.0], [0.5, 0.5]])), "z": Answer(np.array([1, 0]))},
        concepts={"n": Answer(np.array([0, 1]))},
    )
    model = ExaminedPredictor(lambda data: asked.append(data) or said, "outside", {"who": "else"}, False)
    answer = model.answerer("split", [N, Z, Y])
    found = answer("pictures")
    assert asked == [("split", "pictures")] and model.network is None and model.device == torch.device("cpu")
    assert (model.name, model.about(), model.has_concepts) == ("outside", {"who": "else"}, False)
    for logs, wanted in zip(found, ([[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [1, 0, 0]], [[0, 1], [0.5, 0.5]]), strict=True):
        np.testing.assert_allclose(logs, logs_of(wanted, UNSURE))
    with pytest.raises(DataError, match="the model says nothing of concept c"):
        model.answerer("split", [C])("pictures")


def test_scores_are_the_logs_of_each_examples_own_value():
    logs = [torch.tensor([[0.0, -1.0, -2.0], [-3.0, -4.0, -5.0]]), torch.tensor([[-6.0, -7.0], [-8.0, -9.0]])]
    scores = scores_of(lambda pictures: [pictures * own for own in logs], [torch.tensor([2, 1]), torch.tensor([0, 1])])
    assert scores(2.0).tolist() == [[-4, -8], [-12, -18]]


@pytest.mark.parametrize("stored", [True, False])
def test_other_pictures_take_the_place_of_those_of_a_split(stored):
    data = tiles()["test"][2:5]
    levels = np.arange(3 * 3 * 11 * 16).reshape(3, 3, 11, 16) % 251
    if not stored:  # pictures that are in the table already
        data = with_pictures(data, torch.ones(3, 3, 11, 16))
        assert (data.images == 255).all()
    found = with_pictures(data, torch.from_numpy((levels + 0.4) / 255))
    assert found.images.tolist() == levels.transpose(0, 2, 3, 1).tolist()
    above = with_pictures(data, torch.from_numpy((levels + 0.6) / 255))
    assert above.images.tolist() == (levels + 1).transpose(0, 2, 3, 1).tolist()
    assert found.stored is None and sorted(found.table.column_names) == sorted({*data.table.column_names, "image"})
    assert (found.concepts == data.concepts).all() and found.index.tolist() == data.index.tolist()


def test_a_model_is_examined_as_a_network_or_through_what_it_reads(monkeypatch):
    monkeypatch.setattr(examined, "network_of", lambda model: model.network)

    def model(network, perception):
        config = SimpleNamespace(perception=perception)
        return SimpleNamespace(
            network=network, config=config, name="m", has_concepts=True, predict="predict", about=lambda: {"who": "m"}
        )

    plain, sees = Network(), Network()
    sees.perception = "run"
    assert examine_model(model(plain, None)).network is plain
    for network in (sees, None):
        outside = examine_model(model(network, "run"))
        assert isinstance(outside, ExaminedPredictor) and outside.network is None
        assert (outside.predict, outside.name, outside.about(), outside.has_concepts) == (
            "predict", "m", {"who": "m"}, True,
        )  # fmt: skip
        with pytest.raises(ConfigError, match="'m' reads true concepts, not pictures: there is no map"):
            examine_model(model(network, None))
    with pytest.raises(ConfigError, match="'m' reads true concepts"):
        examine_model(SimpleNamespace(network=None, config=SimpleNamespace(), name="m"))
