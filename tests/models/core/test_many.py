"""Seeds that are trained side by side end where each would end alone."""

import numpy as np
import pytest

from assay.base import DataError, Settings
from assay.models import MODELS, TrainSpec, load_model, train_together
from assay.runs import RunFolder
from tests.models.tiles import model_of, tiles
from tests.pixels import QUICK

PLANS = [
    ("blackbox", {}),
    ("cbm", {}),
    ("cbm", {"mode": "sequential"}),
    ("cbm", {"mode": "independent", "head": "mlp", "missing": "frequency"}),
    ("dpl", {"entropy_weight": 0.1, "reconstruction_weight": 0.1}),
    ("ltn", {"last_p": 4.0}),
    ("semantic", {}),
    ("bears", {"members": 2}),
    ("blackbox", {"backbone": "resnet-small", "learning_rate": 1e-3}),
    ("blackbox", {"memory_share": 0.0}),
    ("blackbox", {"input": "text", "backbone": "text-transformer"}),
]


@pytest.mark.parametrize(("name", "settings"), PLANS, ids=str)
def test_each_seed_ends_as_if_alone(name, settings):
    def built(seed):
        return model_of(
            name, {"epochs": 3, "batch_size": 10, "optimizer": "sgd", "learning_rate": 0.02, **settings}, seed
        )

    together = [built(seed) for seed in (3, 4, 5)]
    assert together[0].fit_together(together[1:], tiles()["train"], tiles()["valid"])
    for model in together:
        alone = built(model.seed)
        alone.fit(tiles()["train"], tiles()["valid"])
        assert [epoch.phase for epoch in alone.history] == [epoch.phase for epoch in model.history]
        np.testing.assert_allclose(*([e.loss for e in m.history] for m in (alone, model)), atol=3e-3)
        one, other = (m.predict(tiles()["test"]).labels["y"].probabilities for m in (alone, model))
        np.testing.assert_allclose(one, other, atol=1e-2)
    assert together[0].history != together[1].history


@pytest.mark.slow  # real sizes: there are no smaller ones of these
@pytest.mark.parametrize("backbone", ["vit-b-16", "swin-t"])
def test_seeds_of_large_transformers_are_trained_side_by_side(backbone):
    settings = {"backbone": backbone, "epochs": 1, "batch_size": 24, "learning_rate": 1e-5}
    together = [model_of("blackbox", settings, seed) for seed in (3, 4)]
    few = tiles()["train"][:4]
    assert together[0].fit_together(together[1:], few, tiles()["valid"][:4])
    alone = model_of("blackbox", settings, 4)
    alone.fit(few, tiles()["valid"][:4])
    if backbone == "vit-b-16":  # the other drops blocks at random, for all seeds at once
        assert alone.history[0].loss == pytest.approx(together[1].history[0].loss, abs=1e-3)
    assert np.isfinite([model.history[0].loss for model in together]).all()


def test_runs_are_saved_one_each(data, tmp_path):
    folders = train_together(TrainSpec("dpl", Settings({**QUICK, "epochs": 2})), [0, 7], data, tmp_path)
    assert [folder.name for folder in folders] == ["seed0", "seed7"]
    assert [RunFolder(folder).metadata()["seed"] for folder in folders] == [0, 7]
    said = load_model(folders[1]).predict(data["test"])
    held = RunFolder(folders[1]).all_predictions(data.knowledge)["test"]
    assert np.allclose(said.labels["y"].probabilities, held.labels["y"].probabilities, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [{"supervised_share": 0.5}, {"supervised_replay": 1}, {"backbone": "conv-stride"}, {"group_step": 0.1}],
    ids=str,
)
def test_what_cannot_be_stacked_is_trained_one_after_the_other(settings, tmp_path):
    given = {**QUICK, "backbone": "mlp", "epochs": 1, "concept_weight": 1.0, **settings}
    assert not MODELS["dpl"](tiles(), settings=given).fit_together([], tiles()["train"], tiles()["valid"])
    folders = train_together(TrainSpec("dpl", Settings(given)), [0, 1], tiles(), tmp_path)
    assert all(RunFolder(folder).is_finished for folder in folders)


def test_seeds_of_other_settings_are_not_taken_for_these(data, tmp_path):
    quick = Settings({**QUICK, "epochs": 1, "backbone": "mlp"})
    train_together(TrainSpec("cbm", quick), [0], data, tmp_path)
    first = (tmp_path / "seed0" / "run.json").read_bytes()
    other = Settings({**QUICK, "epochs": 1, "backbone": "mlp", "concept_weight": 0.5})
    with pytest.raises(DataError, match="holds a finished run; choose another folder"):
        train_together(TrainSpec("cbm", other), [0, 1], data, tmp_path)
    assert (tmp_path / "seed0" / "run.json").read_bytes() == first
    folders = train_together(TrainSpec("cbm", quick), [0, 1], data, tmp_path)  # the first is kept, the second trained
    assert [folder.name for folder in folders] == ["seed0", "seed1"]
    assert (tmp_path / "seed0" / "run.json").read_bytes() == first
