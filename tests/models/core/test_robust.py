"""Training against confounders: group DRO and right for the right reasons, as their papers have them."""

import json

import numpy as np
import pytest
import torch

from assay.base import ConfigError
from assay.dataset import NUISANCES, decode
from tests.models.core.test_training import plain, require_same_training
from tests.models.tiles import batch, model_of, tiles
from tests.pixels import trained


def groups():
    """Return the group of each training example: its labels and its nuisances."""
    train = tiles()["train"]
    frames = [json.loads(style)[NUISANCES]["frame"] for style in train.table["style"].to_pylist()]
    cells = np.concatenate([train.labels, np.array(frames)[:, None]], axis=1)
    return np.unique(cells, axis=0, return_inverse=True)[1].ravel()


def test_the_loss_of_group_dro_is_weighted_by_exponentiated_gradient_ascent():
    numbers, step = groups(), 0.5
    weights = torch.full((numbers.max() + 2,), 1 / (numbers.max() + 2))  # one is of examples without annotation

    def loss(model):
        given = batch(missing=False)
        each = []
        for number in range(numbers.max() + 1):
            rows = torch.from_numpy(np.flatnonzero(numbers == number))
            part = type(given)(given.labels[rows], given.concepts[rows], given.rows[rows], given.images[rows])
            each.append(model.phases(given)[0].loss(part))
        each = torch.stack(each)
        weights[1:] *= (step * each.detach()).exp()
        weights.div_(weights.sum())
        return (weights[1:] * each).sum()

    require_same_training({"group_step": step, "epochs": 3}, loss)


@pytest.mark.parametrize("name", ["blackbox", "cbm"])
def test_gradients_are_penalised_at_pixels_that_show_nothing(name):
    train = tiles()["train"]
    masks = [decode(file)[:, :, 0] == 0 for file in train.files(np.arange(24), "instances")]
    outside = torch.from_numpy(np.array(masks))[:, None]
    assert 0 < outside.float().mean() < 1

    def loss(model):
        pictures = batch(missing=False).pictures.requires_grad_()
        said = model.answer(pictures, {})
        logs = sum(own.log().sum() for own in [*said.labels, *(said.concepts or [])])
        (slope,) = torch.autograd.grad(logs, pictures, create_graph=True)
        return plain(model) + 0.01 * ((slope * outside) ** 2).sum() / 24

    require_same_training({"reasons_weight": 0.01, "epochs": 3, "learning_rate": 0.05}, loss, name)


@pytest.mark.parametrize(
    "settings", [{"group_step": 0.5, "group_examples": 0}, {"reasons_weight": 2.0, "reasons_examples": 0}]
)
def test_without_annotations_nothing_changes(settings):
    losses = []
    for given in ({}, settings):
        model = model_of("blackbox", {"epochs": 2, **given})
        model.fit(tiles()["train"], tiles()["valid"])
        losses.append([epoch.loss for epoch in model.history])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_what_the_data_or_the_model_cannot_serve_is_refused(data, tmp_path):
    with pytest.raises(ConfigError, match="name no nuisances"):
        trained("dpl", data, tmp_path / "a", {"group_step": 0.1})
    with pytest.raises(ConfigError, match="has no masks, neither instances nor parts"):
        trained("dpl", data, tmp_path / "b", {"reasons_weight": 1.0})
    text = model_of("blackbox", {"input": "text", "backbone": "bag-of-ngrams", "reasons_weight": 1.0})
    with pytest.raises(ConfigError, match="this model reads no pictures; set it to 0"):
        text.fit(tiles()["train"], tiles()["valid"])
