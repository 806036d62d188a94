"""Group weights follow the losses of groups, and gradients are penalised outside of masks only."""

import json

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import nn

from assay.data import NUISANCES
from assay.errors import ConfigError
from assay.models.core.neural import Outputs
from assay.models.core.robust import GroupLoss, annotated_rows, gradient_outside, group_numbers
from assay.models.core.tensors import Batch
from tests.pixels import trained


def batch_of(losses):
    """Return a batch whose picture bytes are the losses of its rows."""
    rows = torch.arange(len(losses))
    return Batch(rows[:, None], rows[:, None], rows, torch.tensor(losses, dtype=torch.float64)[:, None])


def test_weights_rise_by_the_exponential_of_the_loss_and_add_up_to_one():
    groups = torch.tensor([0, 0, 1, 2])
    loss = GroupLoss(lambda batch: batch.images.mean(), groups, step=0.5)
    found = loss(batch_of([1.0, 3.0, 4.0]))  # the third group is not there
    raw = np.exp(0.5 * np.array([2.0, 4.0, 0.0])) / 3
    weights = raw / raw.sum()
    assert np.allclose(loss.weights.numpy(), weights) and np.isclose(float(found), weights[0] * 2 + weights[1] * 4)
    loss(batch_of([1.0, 3.0, 4.0]))
    again = weights * np.exp(0.5 * np.array([2.0, 4.0, 0.0]))
    assert np.allclose(loss.weights.numpy(), again / again.sum())


def test_groups_are_labels_with_nuisances_and_zero_is_not_annotated(data):
    train = data["train"]
    styles = [json.dumps({NUISANCES: {"frame": row % 2}}) for row in range(len(train))]
    table = train.table.set_column(train.table.column_names.index("style"), "style", pa.array(styles))
    shown = type(train)(train.name, train.fingerprint, train.knowledge, train.layout, table, train.where)
    annotated = annotated_rows(len(train), 100, 0)
    groups = group_numbers(shown, annotated)
    assert annotated.sum() == 100 and set(groups[~annotated]) == {0} and set(groups[annotated]) == {1, 2, 3, 4}
    for number in (1, 2, 3, 4):
        same = groups == number
        assert len(set(zip(train.labels[same, 0], np.flatnonzero(same) % 2, strict=True))) == 1
    with pytest.raises(ConfigError, match="name no nuisances"):
        group_numbers(train, annotated)


def test_more_annotations_include_those_of_fewer():
    few, many = annotated_rows(50, 10, 3), annotated_rows(50, 30, 3)
    assert few.sum() == 10 and many.sum() == 30 and (many | ~few).all() and annotated_rows(5, None, 0).all()


class TwoClasses(nn.Module):
    """Log odds are a weighted sum of the pixels."""

    def __init__(self, weights):
        super().__init__()
        self.weights = nn.Parameter(torch.tensor(weights))

    def answer(self, pictures, do):
        chance = torch.sigmoid((pictures * self.weights).flatten(1).sum(1))
        return Outputs([torch.stack([1 - chance, chance], dim=1)])


def test_the_penalty_is_the_squared_gradient_of_the_log_probabilities_outside():
    weights = [[[0.5, -1.0], [2.0, 0.25]]]
    model = TwoClasses(weights)
    pictures = torch.rand(3, 1, 2, 2)
    outside = torch.tensor([[[[True, False], [False, True]]]]).expand(3, 1, 2, 2)
    chance = torch.sigmoid((pictures * torch.tensor(weights)).flatten(1).sum(1)).numpy()
    expected = np.mean((1 - 2 * chance) ** 2) * (0.5**2 + 0.25**2)  # d/dz of log p + log (1 - p) is 1 - 2 p
    penalty = gradient_outside(model, pictures, outside)
    assert np.isclose(penalty.item(), expected, rtol=1e-4)
    penalty.backward()
    gradient = model.weights.grad
    assert gradient is not None and gradient.abs().sum() > 0
    assert gradient_outside(model, pictures, torch.zeros(3, 1, 2, 2, dtype=torch.bool)).item() == 0


def test_settings_that_the_data_cannot_serve_are_refused(data, tmp_path):
    with pytest.raises(ConfigError, match="name no nuisances"):
        trained("dpl", data, tmp_path / "a", {"group_step": 0.1})
    with pytest.raises(ConfigError, match="has no masks, neither instances nor parts"):
        trained("dpl", data, tmp_path / "b", {"reasons_weight": 1.0})


def test_the_last_epoch_is_kept_where_that_is_asked(data, tmp_path):
    model = trained("dpl", data, tmp_path / "run", {"keeps": "last", "patience": 1, "epochs": 5})
    assert [epoch.best for epoch in model.history] == [True] * 5
