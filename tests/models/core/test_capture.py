"""On a GPU, steps run as CUDA graphs and give what they give one by one. Skipped where there is none."""

import numpy as np
import pytest
import torch

from tests.models.tiles import model_of, tiles
from tests.pixels import NETWORKS

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
GPU = {"device": "cuda", "epochs": 6, "batch_size": 10, "tf32": False}


@pytest.mark.parametrize("name", NETWORKS)
def test_captured_steps_learn_what_single_ones_learn(name):
    losses = []
    for captured in (False, True):
        model = model_of(name, {**GPU, "captured": captured})
        model.fit(tiles()["train"], tiles()["valid"])
        assert model.training_facts["captured"] == captured, model.training_facts
        losses.append([epoch.loss for epoch in model.history])
    assert np.allclose(*losses, rtol=0.05, atol=0.02)


def test_steps_that_wait_for_the_gpu_are_taken_one_by_one_and_say_why():
    model = model_of("blackbox", {**GPU, "optimizer": "sgd"})
    model.fit(tiles()["train"], tiles()["valid"])
    assert not model.training_facts["captured"] and model.training_facts["not_captured"] == "sgd is not captured"


def test_seeds_with_batch_norms_are_stacked():
    models = [model_of("blackbox", {**GPU, "backbone": "resnet-small"}, seed) for seed in range(2)]
    assert models[0].fit_together(models[1:], tiles()["train"], tiles()["valid"])
    assert all(np.isfinite([epoch.loss for epoch in model.history]).all() for model in models)
