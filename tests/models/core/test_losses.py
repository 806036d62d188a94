"""Losses, optimisers and penalties against their definitions, on a handful of numbers."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from assay.models import Robustness, supervised_labels
from assay.models.core.losses import concept_loss, label_loss
from assay.models.core.optimization import Optimization, make_optimizer
from assay.models.core.robust import Reasons, annotated_rows
from tests.models.core.test_models import fitted

CPU = torch.device("cpu")


def settings(**given):
    usual = {"learning_rate": 0.1, "weight_decay": 0.01, "momentum": 0.5, "optimizer": "adam"}
    return SimpleNamespace(**{**usual, "batch_size": 2, "precision": "float32", "captured": False, **given})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("adam", torch.optim.Adam),
        ("adamw", torch.optim.AdamW),
        ("sgd", torch.optim.SGD),
        ("rmsprop", torch.optim.RMSprop),
    ],
)
def test_optimisers_have_the_rate_the_decay_and_the_momentum_that_are_set(name, kind):
    found = make_optimizer([torch.zeros(1, requires_grad=True)], settings(optimizer=name), CPU)
    group = found.param_groups[0]
    assert type(found) is kind and (group["lr"], group["weight_decay"]) == (0.1, 0.01)
    assert name in ("adam", "adamw") or group["momentum"] == 0.5


def test_an_epoch_takes_a_step_for_each_batch_and_gives_the_mean_loss_of_an_example():
    weight, seen = torch.tensor([3.0], requires_grad=True), []

    def losses(rows, images):
        seen.append(rows.tolist())
        return (weight * rows.float().mean(dim=1)).reshape(1)

    batches = SimpleNamespace(device=CPU, batches=lambda orders, size: ((x, None) for x in orders.split(size, dim=1)))
    step = SimpleNamespace(learned=[weight], losses=losses)
    run = Optimization(step, [torch.nn.Linear(1, 1)], batches, settings(optimizer="sgd", weight_decay=0, momentum=0))
    found = run.epoch(torch.tensor([[0, 1, 2, 3, 10]]))
    first, second = 3.0, 3.0 - 0.1 * 0.5
    third = second - 0.1 * 2.5
    assert seen == [[[0, 1]], [[2, 3]], [[10]]]
    assert found.tolist() == pytest.approx([(2 * first * 0.5 + 2 * second * 2.5 + third * 10) / 5])
    assert weight.item() == pytest.approx(third - 0.1 * 10)
    assert run.epoch(torch.tensor([[0, 0]])).tolist() == [0.0]  # each epoch begins from nothing
    run.set_rate(0.25)
    assert run.optimizer.param_groups[0]["lr"] == 0.25 and run.refusal is None and not run.is_captured


def test_labels_count_alike_and_concepts_where_they_are_supervised():
    logits = [torch.tensor([[0.0, 1.0], [2.0, 0.0]]), torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])]
    truth = torch.tensor([[1, 2], [1, -1]])
    ce = [[-x.log_softmax(1)[row, max(0, int(truth[row, i]))].item() for row in (0, 1)] for i, x in enumerate(logits)]
    mask = torch.tensor([[True, False], [True, False]])
    assert concept_loss(logits, truth, mask).item() == pytest.approx((ce[0][0] + ce[0][1]) / 2)
    every = torch.tensor([[True, True], [True, False]])
    assert concept_loss(logits, truth, every).item() == pytest.approx((ce[0][0] + ce[0][1] + ce[1][0]) / 3)
    assert concept_loss(logits, truth, torch.zeros_like(mask)).item() == 0
    known = truth.clamp(min=0)
    assert label_loss(logits, known).item() == pytest.approx(np.mean(ce))
    assert label_loss(logits[:1], known[:, :1]).item() == pytest.approx(np.mean(ce[0]))


def test_supervised_labels_are_those_that_the_model_learns_from(data):
    train = data["train"]
    none = supervised_labels(fitted("dpl", data, epochs=1), train)
    assert (none == -1).all() and none.shape == train.concepts.shape  # no weight, so nothing is learned from them
    some = supervised_labels(fitted("dpl", data, epochs=1, concept_weight=1.0, supervised_concepts=["b"]), train)
    assert (some[:, 1] == train.concepts[:, 1]).all() and (some[:, [0, 2]] == -1).all()


def test_what_is_robust_and_who_is_annotated():
    assert (
        not Robustness().is_robust and Robustness(group_step=0.1).is_robust and Robustness(reasons_weight=1).is_robust
    )
    assert annotated_rows(5, None, 0).all() and not annotated_rows(5, 0, 0).any() and annotated_rows(9, 4, 1).sum() == 4


def test_the_penalty_is_added_where_pixels_are_annotated(monkeypatch):
    reasons = Reasons.__new__(Reasons)
    reasons.model, reasons.weight = None, 3.0
    reasons.outside, reasons.places = torch.ones(2, 1, 1, 1, dtype=torch.bool), torch.tensor([-1, 1, -1, 0])
    asked = []

    def penalty(model, pictures, outside):
        asked.append((pictures.tolist(), len(outside)))
        return torch.tensor(5.0)

    monkeypatch.setattr("assay.models.core.robust.gradient_outside", penalty)
    loss = reasons.added_to(lambda batch: torch.tensor(1.0))
    batch = SimpleNamespace(device=CPU, rows=torch.tensor([0, 3, 1]), pictures=torch.tensor([10.0, 13.0, 11.0]))
    assert loss(batch).item() == 16 and asked == [([13.0, 11.0], 2)]
    rest = SimpleNamespace(device=CPU, rows=torch.tensor([0, 2]), pictures=torch.tensor([10.0, 12.0]))
    assert loss(rest).item() == 1 and len(asked) == 1 and math.isfinite(loss(batch).item())
