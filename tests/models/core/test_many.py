"""Seeds that are trained side by side end where each would end alone."""

import numpy as np
import pytest

from assay.config import Settings
from assay.errors import ConfigError
from assay.models import MODELS, Order, load_model, train_together
from assay.models.backbones import swin, vit
from assay.models.core.fitting import fit_together
from assay.runs import RunFolder
from tests.pixels import QUICK

PLANS = [
    ("blackbox", {}),
    ("cbm", {"mode": "sequential"}),
    ("dpl", {"entropy_weight": 0.1, "reconstruction_weight": 0.1}),
    ("ltn", {"last_p": 4.0}),
]


def built(name, data, seed, **settings):
    given = Settings({**QUICK, "epochs": 4, "patience": 2, **settings})
    return MODELS[name](data.knowledge, data.layout, given, data.manifest["backbones"], seed)


@pytest.mark.parametrize(("name", "settings"), PLANS)
def test_each_seed_ends_as_if_alone(name, settings, data):
    together = [built(name, data, seed, **settings) for seed in (3, 4, 5)]
    fit_together(together, data["train"], data["valid"])
    for model in together:
        alone = built(name, data, model.seed, **settings)
        alone.fit(data["train"], data["valid"])
        assert [epoch.phase for epoch in alone.history] == [epoch.phase for epoch in model.history]
        assert np.allclose([e.loss for e in alone.history], [e.loss for e in model.history], atol=1e-3)
        one, other = (m.predict(data["test"]).labels["y"].probabilities for m in (alone, model))
        assert np.allclose(one, other, atol=1e-2)


def test_runs_are_saved_one_each(data, tmp_path):
    folders = train_together(Order("dpl", Settings({**QUICK, "epochs": 2})), [0, 7], data, tmp_path)
    assert [folder.name for folder in folders] == ["seed0", "seed7"]
    assert [RunFolder(folder).about()["seed"] for folder in folders] == [0, 7]
    said = load_model(folders[1]).predict(data["test"])
    held = RunFolder(folders[1]).all_predictions(data.knowledge)["test"]
    assert np.allclose(said.labels["y"].probabilities, held.labels["y"].probabilities, atol=1e-6)


def test_what_cannot_be_stacked_is_trained_one_after_the_other(data, tmp_path):
    settings = {**QUICK, "epochs": 1, "supervised_share": 0.5, "concept_weight": 1.0}
    with pytest.raises(ConfigError, match="shown the concepts of other examples"):
        fit_together([built("dpl", data, 0, **settings)], data["train"], data["valid"])
    assert len(train_together(Order("dpl", Settings(settings)), [0, 1], data, tmp_path)) == 2


def test_dropout_on_a_cpu_is_drawn_for_one_seed_at_a_time(evenodd, tmp_path):
    settings = Settings({**QUICK, "epochs": 1, "backbone": "conv-stride"})
    assert len(train_together(Order("dpl", settings), [0, 1], evenodd, tmp_path)) == 2


@pytest.mark.parametrize("backbone", ["vit-b-16", "swin-t"])
def test_seeds_of_transformers_are_trained_side_by_side(backbone, evenodd, monkeypatch):
    """In small sizes: attention on stacked weights gives what it gives alone."""
    monkeypatch.setattr(swin, "STAGES", ((1, 2), (2, 4)))
    monkeypatch.setattr(swin, "WIDTH", 16)
    monkeypatch.setattr(swin, "DEPTH_DROPOUT", 0.0)  # drawn anew for each seed
    monkeypatch.setattr(vit, "vit_b_16", vit.vision_transformer(16, layers=1, width=32, heads=2))
    together = [built("blackbox", evenodd, seed, backbone=backbone, epochs=1) for seed in (3, 4)]
    fit_together(together, evenodd["train"], evenodd["valid"])
    for model in together:
        alone = built("blackbox", evenodd, model.seed, backbone=backbone, epochs=1)
        alone.fit(evenodd["train"], evenodd["valid"])
        assert np.allclose([e.loss for e in alone.history], [e.loss for e in model.history], atol=1e-3)
