"""Stages are learned one after another, each from where the last one ended, and all are scored after each."""

import json

import numpy as np
import pytest

from assay.base import ConfigError, Settings
from assay.dataset import Dataset, make, recipe_from
from assay.metrics import stage_metrics
from assay.models import MODELS, TrainSpec, train_run, train_together
from tests.pixels import QUICK, TASK
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("staged") / "data"
    sizes = {"splits": {"train_1": 48, "train_2": 48, "valid_1": 24, "valid_2": 24, "test_1": 24, "test_2": 24}}
    make(recipe_from("mnlogic", Settings({**TASK, **sizes, "stages": ["a", "not a"]})), folder)
    return Dataset.open(folder)


def order(name="cbm", **settings):
    given = {} if name == "tree" else {**QUICK, "epochs": 2, "backbone": "mlp", **settings}
    return TrainSpec(name, Settings(given), 0)


def test_a_model_that_learns_each_stage_anew_forgets(staged, tmp_path):
    train_run(order("tree"), staged, tmp_path / "run")
    stages = json.loads((tmp_path / "run" / "run.json").read_text())["stages"]
    accuracy = np.array([row["label_accuracy"] for row in stages["after_each"]])
    assert accuracy[0, 0] == accuracy[1, 1] == 1 and accuracy[1, 0] < 1
    assert stages["label_accuracy"]["forgetting"] == pytest.approx(1 - accuracy[1, 0])
    assert stages["label_accuracy"]["average"] == pytest.approx((accuracy[1, 0] + 1) / 2)


def test_a_network_goes_on_from_the_stage_before(staged, tmp_path):
    model = train_run(order(), staged, tmp_path / "run")
    phases = [epoch.phase for epoch in model.history]
    assert phases == ["stage 1, joint"] * 2 + ["stage 2, joint"] * 2
    alone = MODELS["cbm"](staged.knowledge, staged.layout, order().settings, staged.manifest.backbones)
    alone.fit(staged["train_2"], staged["valid_2"])
    assert model.history[2].loss != alone.history[0].loss  # it does not begin anew
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert set(about["stages"]) == {"after_each", "label_accuracy", "label_f1", "concept_f1"}
    blind = train_run(order("blackbox"), staged, tmp_path / "blind")
    assert "concept_f1" not in json.loads((tmp_path / "blind" / "run.json").read_text())["stages"] and blind.history


def test_a_run_that_is_killed_goes_on_in_its_stage(staged, tmp_path):
    train_run(order(), staged, tmp_path / "quiet")

    class Killed(BaseException):
        pass

    def kill(epoch, epochs):
        if "stage" not in epoch.phase and (tmp_path / "run" / "stages" / "1" / "scores.json").exists():
            raise Killed

    with pytest.raises(Killed):
        train_run(order(), staged, tmp_path / "run", kill)
    seen = []
    train_run(order(), staged, tmp_path / "run", lambda epoch, epochs: seen.append(epoch.number))
    assert seen == [1, 2]
    for name in ("model.safetensors", "history.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "quiet" / name).read_bytes()


def test_seeds_side_by_side_have_no_stages(staged, tmp_path):
    with pytest.raises(ConfigError, match="stage by stage"):
        train_together(order(), [0, 1], staged, tmp_path)


def test_forgetting_is_measured_from_the_best_earlier_score():
    scores = np.array([[0.9, 0.1, 0.0], [0.95, 0.7, 0.0], [0.5, 0.75, 0.8]])
    found = stage_metrics(scores)
    assert found.forgetting == pytest.approx(((0.95 - 0.5) + (0.7 - 0.75)) / 2)
    assert found.backward_transfer == pytest.approx(((0.5 - 0.9) + (0.75 - 0.7)) / 2)
    assert found.average == pytest.approx((0.5 + 0.75 + 0.8) / 3)
    assert stage_metrics(np.array([[0.6]])).forgetting == 0
