"""Activations and gradients of any layer of any network are those that it has, a row a picture."""

import numpy as np
import pytest
import torch
from torch import nn

import assay
from assay.base import ConfigError, Settings, UnknownName
from assay.models import Subject, activations, layer_features, layer_names, load_model, sensitivity

INPUT, MOST = "input", 10_000


class Net(nn.Module):
    """Convolutions, an activation that writes in place, and a part that is used twice."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1)
        self.act = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(0.5)
        self.twice = nn.Linear(9, 9)
        self.unused = nn.Linear(2, 2)
        self.head = nn.Linear(9, 2)

    def forward(self, pictures):
        features = self.drop(self.act(self.conv(pictures))).flatten(1)
        return self.head(torch.tanh(self.twice(torch.tanh(self.twice(features)))))


class Windows(nn.Module):
    """A network that cuts each picture into rows of its own: those of one picture lie together."""

    def __init__(self):
        super().__init__()
        self.window, self.head = nn.Linear(1, 4), nn.Linear(12, 2)

    def forward(self, pictures):
        return self.head(self.window(pictures.reshape(-1, 1)).reshape(len(pictures), -1))


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net()


@pytest.fixture(scope="module")
def images(data):
    return torch.from_numpy(data["test"].images).permute(0, 3, 1, 2)


def test_layers_with_weights_come_in_the_order_of_their_calls(net, data):
    """Without those that are not called, nor those whose rows cannot be told apart."""
    assert layer_names(assay.wrap(net, data), data["test"]) == [
        INPUT,
        *(f"module.{n}" for n in ("conv", "twice", "head")),
    ]
    assert layer_names(assay.wrap(Windows(), data), data["test"]) == [INPUT, "module.head"]


def test_activations_are_those_of_the_layer_in_use_and_the_network_stays_as_it_was(net, images):
    net.train()
    pictures = images.float() / 255
    convolved = net.conv(pictures).flatten(1)
    assert torch.allclose(activations(Subject.of(net), "conv", images, MOST), convolved)  # not what `act` made of it
    assert torch.equal(activations(Subject.of(net), "drop", images, MOST), convolved.relu())
    assert torch.equal(activations(Subject.of(net), INPUT, images, MOST), pictures.flatten(1))
    first = net.twice(convolved.relu())
    both = torch.cat([first, net.twice(first.tanh())], dim=1)
    assert torch.allclose(activations(Subject.of(net), "twice", images, MOST), both, atol=1e-6)
    assert net.training and not net.conv._forward_hooks


def test_features_of_a_layer_are_plain_numbers(net, data, images):
    model = assay.wrap(net, data)
    found = layer_features(model, data["test"], "module.conv")
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, net.conv(images.float() / 255).detach().flatten(1), atol=1e-6)
    np.testing.assert_allclose(layer_features(model, data["test"], INPUT), images.flatten(1) / 255, atol=1e-6)
    with pytest.raises(UnknownName, match=r"no layer named 'module\.cnov'; did you mean 'module\.conv'"):
        layer_features(model, data["test"], "module.cnov")


def test_only_networks_that_read_pictures_have_layers(data):
    tree = assay.MODELS["tree"](data.knowledge, data.layout, Settings({}), {}, 0)
    with pytest.raises(ConfigError, match="'tree' is no network: it has no layers to look into"):
        layer_names(tree, data["test"])


@pytest.mark.parametrize("layer", ["drop", "conv", INPUT])
def test_gradients_are_the_slopes_of_the_log_odds(layer, net, images):
    """By differences: of the log-odds of the class that is answered, by each feature of the layer."""
    felt = sensitivity(Subject.of(net), layer, images, MOST)
    net.eval().double()
    steps = {
        INPUT: lambda x: net(x.reshape(-1, 1, 1, 3)),
        "conv": lambda x: net.head(torch.tanh(net.twice(torch.tanh(net.twice(x.relu()))))),
        "drop": lambda x: net.head(torch.tanh(net.twice(torch.tanh(net.twice(x))))),
    }
    with torch.no_grad():
        pictures = (images.double() / 255).flatten(1)
        convolved = net.conv(images.double() / 255).flatten(1)
        given = {INPUT: pictures, "conv": convolved, "drop": convolved.relu()}[layer]
        classes = net(images.double() / 255).argmax(dim=1)

        def odds(moved):
            scores = steps[layer](moved)
            return scores.gather(1, classes[:, None])[:, 0] - scores.gather(1, 1 - classes[:, None])[:, 0]

        step = 1e-6 * torch.eye(given.shape[1], dtype=torch.double)
        slopes = torch.stack([(odds(given + row) - odds(given - row)) / 2e-6 for row in step], dim=1)
    assert torch.equal(felt.classes[0], classes)
    assert torch.allclose(felt.gradients[0].double(), slopes, atol=1e-4)


def test_parts_of_one_picture_are_one_row(run, images):
    model = load_model(run)
    name = "encoder.readers.0.body.1"
    rows = activations(Subject.of(model), name, images, MOST)
    alone = activations(Subject.of(model), name, images[3:4], MOST)
    assert len(rows) == len(images) and torch.allclose(rows[3], alone[0], atol=1e-6)


@pytest.mark.parametrize(("most", "size"), [(24 * 6, (4, 6)), (36, (2, 3)), (1, (1, 1))])
def test_large_maps_are_averaged_over_neighbouring_places(most, size):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.Flatten(), nn.Linear(6 * 24, 2))
    pictures = torch.randint(0, 256, (5, 1, 4, 6), dtype=torch.uint8)
    maps = net[0](pictures.float() / 255).detach()
    wanted = nn.functional.adaptive_avg_pool2d(maps, size).flatten(1)
    assert torch.allclose(activations(Subject.of(net), "0", pictures, most), wanted, atol=1e-6)


def test_a_layer_without_a_derivative_is_told(images):
    class Blind(nn.Module):
        def __init__(self):
            super().__init__()
            self.part, self.head = nn.Flatten(), nn.Linear(3, 2)

        def forward(self, pictures):
            with torch.no_grad():
                features = self.part(pictures)
            return self.head(features.detach())

    with pytest.raises(
        ConfigError, match="layer 'part': the answer has no derivative there; probe it by method 'linear'"
    ):
        sensitivity(Subject.of(Blind()), "part", images, MOST)


def test_a_label_that_does_not_come_from_a_layer_has_no_slope_there(images):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.part, self.head = nn.Linear(3, 2), nn.Linear(2, 1)

        def forward(self, pictures):
            flat = pictures.flatten(1)
            return self.head(self.part(flat)), flat[:, :2]

    net = Two().requires_grad_(False)  # a layer has slopes though no weight is learned
    felt = sensitivity(Subject.of(net), "part", images, MOST)
    assert torch.allclose(felt.gradients[0], net.head.weight.expand(len(images), 2))
    assert (felt.gradients[1] == 0).all()


def test_a_model_of_ours_gives_logits_or_the_logarithms_of_its_probabilities(run, data):
    model = load_model(run)
    pictures = torch.from_numpy(data["test"].images).permute(0, 3, 1, 2).float() / 255
    scores = Subject.of(model).scores(pictures)
    own = model.predict(data["test"]).labels["y"].probabilities
    np.testing.assert_allclose(scores[0].softmax(dim=1).detach(), own, atol=1e-6)
