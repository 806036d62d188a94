"""Dropout of the features before the linear layer on top of a backbone."""

import pytest
import torch
from torch import nn

from assay.config import Settings
from assay.errors import ConfigError
from assay.models import MODELS
from assay.models.backbones.dropout import HeadLayer
from assay.models.core.fitting import fit_together
from tests.pixels import QUICK

NETWORKS = ("blackbox", "embedding", "cbm", "semantic", "dpl", "ltn", "bears", "cem", "probcbm", "ecbm", "dcr")


def built(name, data, seed=0, **settings):
    given = Settings({**QUICK, "epochs": 2, **settings})
    return MODELS[name](data.knowledge, data.layout, given, data.manifest["backbones"], seed)


def heads(model):
    return [part for part in model.modules() if isinstance(part, HeadLayer)]


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_has_the_setting_and_by_default_no_dropout(name, data):
    usual, dropping = built(name, data), built(name, data, dropout=0.3)
    assert heads(usual) and all(part.dropout == 0 for part in heads(usual))
    assert all(part.dropout == 0.3 for part in heads(dropping))
    same = zip(usual.state_dict().items(), dropping.state_dict().items(), strict=True)
    assert all(a == b and torch.equal(x, y) for (a, x), (b, y) in same)  # it begins from the same weights


def test_features_are_dropped_in_training_only():
    torch.manual_seed(0)
    layer = HeadLayer(4000, 1).requires_grad_(False)
    nn.init.ones_(layer.weight)
    nn.init.zeros_(layer.bias)
    ones = torch.ones(1, 4000)
    before = torch.random.get_rng_state()
    assert float(layer(ones)) == 4000 and torch.equal(before, torch.random.get_rng_state())
    layer.dropout = 0.1
    kept = float(layer(ones)) * 0.9
    assert kept != 4000 and abs(kept - 3600) < 120  # six standard deviations
    assert float(layer.eval()(ones)) == 4000


def test_it_changes_training_and_the_seed_decides_it(data):
    def weights(**settings):
        model = built("blackbox", data, **settings)
        model.fit(data["train"], data["valid"])
        return torch.cat([p.detach().flatten() for p in model.parameters()])

    assert torch.equal(weights(dropout=0.3), weights(dropout=0.3))
    assert not torch.equal(weights(dropout=0.3), weights())


def test_seeds_are_trained_side_by_side_with_it(data):
    together = [built("cbm", data, seed, dropout=0.3) for seed in (3, 4)]
    fit_together(together, data["train"], data["valid"])
    first, second = (model.predict(data["test"]).labels["y"].probabilities for model in together)
    assert not (first == second).all()


@pytest.mark.parametrize("share", [-0.1, 1, "much"])
def test_other_shares_are_refused(share, data):
    with pytest.raises(ConfigError, match="dropout") as caught:
        built("blackbox", data, dropout=share)
    assert "\n" not in str(caught.value)
