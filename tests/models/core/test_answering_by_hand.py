"""Which way a network is asked again under intervention, and what rows it is then asked about, by stand-ins."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.contracts import EVERY, BottleneckModel, ModelOutput
from assay.models.core import answering
from assay.models.core.answering import CLOSE, ReadOnce, Rerun, labels_given, network_answerer
from assay.models.core.encoder import ConceptEncoder, ReadPictures
from assay.models.core.neural import Outputs
from tests.models.tiles import model_of

CPU = torch.device("cpu")
PICTURES = torch.arange(5.0)[:, None]
PLACES = np.arange(5.0)[:, None]


class Encoder(ConceptEncoder):
    """Reads two concepts, of two and of three values, off pictures that are numbers."""

    def __init__(self, inner=None):
        nn.Module.__init__(self)
        self.inner = inner

    def forward(self, images):
        return images.numbers if isinstance(images, ReadPictures) else [images.repeat(1, 2), images.repeat(1, 3) * 10]


class Feed:
    """Five pictures, or some of them."""

    def __init__(self, rows=slice(None)):
        self.rows, self.device = rows, CPU

    def choose(self, rows):
        return Feed(rows)


class Network(nn.Module):
    """Says of each example labels that follow from its number and what concepts are set to."""

    name, answer_cost, device = "net", 7, CPU

    def __init__(self, encoders=(), shift=0.0, head=None):
        super().__init__()
        self.encoders, self.shift, self.head = nn.ModuleList(encoders), shift, head

    def said(self, pictures, do):
        numbers = pictures.numbers[0][:, :1] if isinstance(pictures, ReadPictures) else pictures
        set_to = sum(own.sum(dim=1, keepdim=True) for own in do.values())
        read = self.shift if isinstance(pictures, ReadPictures) else 0.0
        labels = [(numbers + set_to).repeat(1, 2), (numbers * 2 + read).repeat(1, 3)]
        return Outputs(labels, [numbers.repeat(1, 2), numbers.repeat(1, 3) * 10])

    def probabilities(self, feed, do):
        return self.said(PICTURES[feed.rows], do)

    def answer_chunks(self, chunks, do):
        (pictures,) = chunks
        return self.said(pictures, do)

    def chunks(self, feed):
        return [PICTURES[:2], PICTURES[2:4], PICTURES[4:]]

    def labels_from_concepts(self, concepts):
        return None if self.head is None else self.head(concepts)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [(0.0, 0.0, BottleneckModel), (0.9 * CLOSE, 0.0, BottleneckModel), (0.0, 1.2 * CLOSE, Rerun), (-1.2 * CLOSE, 0, Rerun)],
)  # fmt: skip
def test_labels_follow_from_concepts_where_every_label_does(first, second, kind):
    def head(concepts):
        labels = [concepts[0].clone(), concepts[0][:, :1].repeat(1, 3) * 2]
        labels[0][3, 1] += first
        labels[1][4, 2] += second
        return labels

    made = Network(head=head).double()
    made.register_parameter("any", nn.Parameter(torch.zeros(1, dtype=torch.double)))
    made.probabilities = lambda feed, do: Outputs(
        [PICTURES.double().repeat(1, 2), PICTURES.double().repeat(1, 3) * 2], [PICTURES.double().repeat(1, 2)] * 2
    )
    found = network_answerer(made, Feed())
    assert isinstance(found, kind) and not made.training and found.name == "net"
    if kind is BottleneckModel:
        assert [own.tolist()[1] for own in found.answer(EVERY, {}).labels] == [[1, 1], [2, 2, 2]]


def test_labels_given_are_all_labels_in_the_numbers_of_the_network():
    network = Network(head=lambda concepts: [concepts[0] * 2, concepts[1] - 1])
    first, second = labels_given(network, [np.array([[0.25, 0.75]]), np.array([[1.0, 2.0, 3.0]])])
    assert first.tolist() == [[0.5, 1.5]] and second.tolist() == [[0, 1, 2]] and first.dtype == np.float32
    network.register_parameter("any", nn.Parameter(torch.zeros(1, dtype=torch.double)))
    assert labels_given(network, [np.ones((1, 2)), np.ones((1, 3))])[1].dtype == np.float64
    assert labels_given(Network(), [np.ones((1, 2))]) is None


@pytest.mark.parametrize(
    ("encoders", "shift", "kind"),
    [
        ([Encoder()], 0.0, ReadOnce),
        ([Encoder(Encoder())], 0.0, ReadOnce),
        ([Encoder(Encoder(Encoder()))], 0.9 * CLOSE, ReadOnce),
        ([Encoder()], 0.5, Rerun),
        ([Encoder(), Encoder()], 0.0, Rerun),
        ([], 0.0, Rerun),
    ],
)
def test_pictures_are_read_once_where_one_encoder_reads_all(encoders, shift, kind):
    found = network_answerer(Network(encoders, shift), Feed())
    assert isinstance(found, kind) and (found.soft, found.linear) == (True, None)
    assert [own.tolist() for own in found.concepts] == [own.tolist() for own in found.own.concepts]
    if kind is ReadOnce:
        assert len(found.read) == 5 and found.read.numbers[1].tolist() == (PICTURES.repeat(1, 3) * 10).tolist()
        assert found.work == 4_000_000 // 7
    else:
        assert found.work == 400_000


@pytest.mark.parametrize("rows", [EVERY, slice(1, 4), np.array([4, 0, 4, 2]), slice(None, None, 2)])
@pytest.mark.parametrize("encoders", [(), (Encoder(),)])
def test_rows_are_those_asked_for_in_their_order(rows, encoders):
    found = network_answerer(Network(encoders), Feed())
    wanted = PLACES[rows]
    given = np.stack([np.linspace(0.1, 0.4, len(wanted))] * 2, axis=1)
    given[1] = np.nan
    set_to = np.where(np.isnan(given[:, :1]), 2 * wanted, 2 * given[:, :1])  # the sum over values
    said = found.answer(rows, {0: given})
    np.testing.assert_allclose(said.labels[0], np.repeat(wanted + set_to, 2, axis=1), atol=1e-6)
    np.testing.assert_allclose(said.labels[1], np.repeat(wanted * 2, 3, axis=1), atol=1e-6)
    np.testing.assert_allclose(said.concepts[1], np.repeat(wanted * 10, 3, axis=1), atol=1e-6)
    plain = found.answer(rows, {})
    np.testing.assert_allclose(plain.labels[0], np.repeat(wanted, 2, axis=1), atol=1e-6)


def test_a_long_answer_is_given_in_parts(monkeypatch):
    found = network_answerer(Network([Encoder()]), Feed())
    monkeypatch.setattr(answering, "AT_ONCE", 2)
    asked = []

    def answer_chunks(chunks, do):
        asked.extend(part.numbers[0][:, 0].tolist() for part in chunks)
        return Outputs([torch.zeros(1, 2)])

    found.model.answer_chunks = answer_chunks
    assert found.answer(np.array([3, 1, 4]), {}).concepts == [] and asked == [[3, 1], [4]]


def test_what_a_network_says_becomes_arrays_label_by_label():
    labels = [torch.rand(3, 2), torch.rand(3, 4)]
    concepts = [torch.rand(3, 3), torch.rand(3, 2), torch.rand(3, 1)]
    for changed in (concepts, [concepts[0].double(), *concepts[1:]]):
        found = answering._plain(Outputs(labels, changed))
        assert isinstance(found, ModelOutput)
        for ours, theirs in zip([*found.labels, *found.concepts], [*labels, *changed], strict=True):
            assert ours.tolist() == theirs.tolist() and ours.dtype == theirs.numpy().dtype
        assert len(found.labels) == 2 and len(found.concepts) == 3
    assert answering._plain(Outputs(labels)).concepts == []


def test_the_linear_head_of_soft_concepts_is_cut_by_concept():
    model = model_of("cbm", {"head": "linear"})
    found = answering._linear(model)
    weights, bias = model.linear.weight.detach().numpy(), model.linear.bias.detach().numpy()
    np.testing.assert_allclose(np.concatenate(found.weights), weights.T)
    assert [len(own) for own in found.weights] == list(model.space.sizes)
    np.testing.assert_allclose(found.bias, bias)
    assert found.sizes == tuple(len(label.values) for label in model.knowledge.labels) and found.bias.dtype == float
    assert answering._linear(model_of("cbm", {"head": "linear", "hard": True})) is None
    assert answering._linear(model_of("cbm", {"head": "mlp"})) is None
    assert answering._linear(SimpleNamespace(linear=None)) is None
