"""Activations and gradients of any layer of any network are those that it has, a row a picture."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from assay.errors import ConfigError, UnknownName
from assay.models import load_model
from assay.models.probes.activations import (
    INPUT,
    Subject,
    activations,
    choose_layers,
    layers_of,
    log_odds,
    sensitivity,
    smaller,
)

MOST = 10_000


class Net(nn.Module):
    """Convolutions, an activation that writes in place, and a part that is used twice."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1)
        self.act = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(0.5)
        self.twice = nn.Linear(12, 12)
        self.unused = nn.Linear(2, 2)
        self.head = nn.Linear(12, 4)

    def forward(self, pictures):
        features = self.drop(self.act(self.conv(pictures))).flatten(1)
        return self.head(torch.tanh(self.twice(torch.tanh(self.twice(features)))))


class Windows(nn.Module):
    """A network that cuts each picture into rows of its own: those of one picture lie together."""

    def __init__(self):
        super().__init__()
        self.window, self.head = nn.Linear(2, 3), nn.Linear(6, 2)

    def forward(self, pictures):
        return self.head(self.window(pictures.reshape(-1, 2)).reshape(len(pictures), -1))


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net()


@pytest.fixture
def images():
    return torch.randint(0, 256, (5, 1, 2, 2), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def test_layers_come_in_the_order_of_their_calls(net, images):
    found = layers_of(Subject.of(net), images.float() / 255)
    assert [(one.name, one.features, one.weighted) for one in found] == [
        (INPUT, 4, True),
        ("conv", 12, True),
        ("act", 12, False),
        ("drop", 12, False),
        ("twice", 24, True),
        ("head", 4, True),
    ]


def test_layers_are_chosen_by_name_or_weights(net, images):
    facts = layers_of(Subject.of(net), images.float() / 255)

    def names(*wanted, every=False):
        return [one.name for one in choose_layers(facts, wanted, every)]

    assert names() == [INPUT, "conv", "twice", "head"]
    assert names(every=True) == [one.name for one in facts]
    assert names("head", "act") == ["head", "act"]
    with pytest.raises(UnknownName, match="no layer named 'haed'; did you mean 'head'"):
        names("haed")


def test_activations_are_those_of_the_layer_in_use_and_the_network_stays_as_it_was(net, images):
    net.train()
    pictures = images.float() / 255
    convolved = net.conv(pictures).flatten(1)
    assert torch.allclose(activations(Subject.of(net), "conv", images, MOST), convolved)  # not what `act` made of it
    assert torch.equal(activations(Subject.of(net), "drop", images, MOST), convolved.relu())
    assert torch.equal(activations(Subject.of(net), INPUT, images, MOST), pictures.flatten(1))
    first = net.twice(convolved.relu())
    both = torch.cat([first, net.twice(first.tanh())], dim=1)
    assert torch.allclose(activations(Subject.of(net), "twice", images, MOST), both)
    assert net.training and not net.conv._forward_hooks


def test_gradients_are_the_slopes_of_the_log_odds(net, images):
    felt = sensitivity(Subject.of(net), "drop", images, MOST)
    net.eval()
    with torch.no_grad():
        features = net.drop(net.act(net.conv(images.float() / 255))).flatten(1).double()
        above = net.double()

        def odds(moved):
            logits = above.head(torch.tanh(above.twice(torch.tanh(above.twice(moved)))))
            return log_odds(logits, felt.classes[0])

        step = 1e-6 * torch.eye(12, dtype=torch.double)
        slopes = torch.stack([(odds(features + row) - odds(features - row)) / 2e-6 for row in step], dim=1)
    assert torch.allclose(felt.gradients[0].double(), slopes, atol=1e-5)


def test_log_odds_are_the_same_for_logits_and_log_probabilities():
    logits, classes = torch.randn(6, 4, dtype=torch.double), torch.tensor([0, 1, 2, 3, 0, 1])
    own = logits.softmax(dim=1).gather(1, classes[:, None])[:, 0]
    for scores in (logits, logits.log_softmax(dim=1), logits + 7):
        assert torch.allclose(log_odds(scores, classes), (own / (1 - own)).log())
    assert torch.equal(log_odds(logits[:, :1], classes), logits[:, 0])


def test_rows_that_cannot_be_told_apart_are_no_layer(images):
    found = layers_of(Subject.of(Windows()), images.float() / 255)
    assert [one.name for one in found] == [INPUT, "head"]


def test_parts_of_one_picture_are_one_row(run, data):
    model = load_model(run)
    facts = {one.name: one for one in layers_of(Subject.of(model), torch.rand(2, 1, 1, 3))}
    images = torch.from_numpy(data["test"].images).permute(0, 3, 1, 2)
    name = next(n for n in facts if n.endswith("body.1"))
    rows = activations(Subject.of(model), name, images, MOST)
    assert rows.shape == (len(images), facts[name].features)
    alone = activations(Subject.of(model), name, images[3:4], MOST)
    assert torch.allclose(rows[3], alone[0], atol=1e-6)


def test_large_maps_are_averaged():
    maps = torch.rand(2, 3, 8, 16)
    assert torch.equal(smaller(maps, 3 * 8 * 16), maps)
    assert torch.allclose(smaller(maps, 3 * 4 * 8), F.avg_pool2d(maps, 2))
    assert smaller(maps, 1).shape == (2, 3, 1, 1) and smaller(torch.rand(2, 50), 10).shape == (2, 50)
    assert torch.allclose(smaller(torch.arange(8.0).view(1, 4, 2), 4), torch.tensor([[[1.0, 2], [5, 6]]]))


def test_a_layer_without_a_derivative_is_told(images):
    class Blind(nn.Module):
        def __init__(self):
            super().__init__()
            self.part, self.head = nn.Flatten(), nn.Linear(4, 2)

        def forward(self, pictures):
            with torch.no_grad():
                features = self.part(pictures)
            return self.head(features.detach())

    with pytest.raises(
        ConfigError, match="layer 'part': the answer has no derivative there; probe it by method 'linear'"
    ):
        sensitivity(Subject.of(Blind()), "part", images, MOST)


def test_a_model_of_ours_gives_logits_or_the_logarithms_of_its_probabilities(run, data):
    model = load_model(run)
    pictures = torch.rand(4, 1, 1, 3)
    scores = Subject.of(model).scores(pictures)
    assert torch.allclose(scores[0].exp(), model.answer(pictures, {}).labels[0], atol=1e-6)
