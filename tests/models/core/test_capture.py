"""On a GPU, steps run as CUDA graphs and give what they give one by one. Skipped where there is none."""

import numpy as np
import pytest
import torch

from assay.config import Settings
from assay.models import MODELS
from assay.models.core.capture import Captured
from assay.models.core.devices import own_stream
from assay.models.core.fitting import fit_together
from tests.pixels import NETWORKS, QUICK

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def fitted(name, data, seed=0, **settings):
    given = Settings({**QUICK, "device": "cuda", "epochs": 6, "backbone": "mlp", "tf32": False, **settings})
    model = MODELS[name](data.knowledge, data.layout, given, seed=seed)
    model.fit(data["train"], data["valid"])
    return model


@pytest.mark.parametrize("name", NETWORKS)
def test_captured_steps_learn_what_single_ones_learn(name, data):
    one, other = (fitted(name, data, captured=captured) for captured in (False, True))
    assert other.training_facts["captured"], other.training_facts
    losses = [[epoch.loss for epoch in model.history] for model in (one, other)]
    assert np.allclose(*losses, rtol=0.05, atol=0.02)


def test_what_waits_for_the_gpu_is_refused_and_run_once():
    device = torch.device("cuda")
    total = torch.zeros((), device=device)

    def step(rows):
        total.add_(1)
        if rows.sum().item() > 0:
            total.add_(10)

    captured = Captured(step, [total])
    with own_stream(device):
        for _ in range(6):
            captured(torch.ones(3, device=device))
    assert captured.refusal and total.item() == 66


def test_each_size_has_its_own_graph():
    device = torch.device("cuda")
    total = torch.zeros((), device=device)
    captured = Captured(lambda rows: total.add_(rows.sum()) and None, [total])
    with own_stream(device):
        for round_ in range(6):
            captured(torch.full((4,), float(round_), device=device))
            captured(torch.full((2,), float(round_), device=device))
    assert captured.refusal is None and total.item() == 6 * sum(range(6))


def test_seeds_with_batch_norms_are_stacked(data):
    models = [
        MODELS["blackbox"](
            data, settings={**QUICK, "device": "cuda", "epochs": 4, "backbone": "resnet-small"}, seed=seed
        )
        for seed in range(2)
    ]
    fit_together(models, data["train"], data["valid"])
    assert all(np.isfinite([epoch.loss for epoch in model.history]).all() for model in models)
