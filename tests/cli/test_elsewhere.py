"""A run on data that it was not trained on, and its concepts under another rule."""

import json

import numpy as np
import pytest

from assay.base import DataError, Settings
from assay.dataset import Dataset, make, recipe_from
from assay.exchange import read_other_rule
from assay.models import TrainSpec, load_model, train_run
from assay.runs import RunFolder, evidence_of, under_rule
from tests.pixels import QUICK, TASK
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
SIZES = {"n": 96, "splits": {"valid": 32, "test": 32, "hard": 16}}


def made(folder, **settings):
    make(recipe_from("mnlogic", Settings({**TASK, **SIZES, **settings})), folder)
    return Dataset.open(folder)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return made(tmp_path_factory.mktemp("here") / "data")


@pytest.fixture(scope="module")
def run(here, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "cbm"
    train_run(
        TrainSpec("cbm", Settings({**QUICK, "epochs": 30, "backbone": "mlp", "learning_rate": 0.02})), here, folder
    )
    return folder


def test_a_run_answers_for_other_data_with_the_same_concepts(run, tmp_path, assay):
    there = made(tmp_path / "there", seed=5)
    told = assay("predict", run, there.folder)
    assert told.status == 2 and "for other data: assay predict RUN DATA -o FOLDER" in told.err
    told = json.loads(assay("predict", run, there.folder, "-o", tmp_path / "moved", "--json").out)
    assert told["fingerprint"] == there.fingerprint and len(told["predictions"]) == 4
    moved = RunFolder(tmp_path / "moved")
    assert moved.metadata()["data"]["fingerprint"] == there.fingerprint
    expected = load_model(run).predict(there["test"]).labels["y"].codes
    assert np.array_equal(evidence_of(moved, there)["test"].predicted_labels[:, 0], expected)
    for verb in ("score", "diagnose"):
        assert assay(verb, tmp_path / "moved").status in (0, 1)
    with pytest.raises(DataError, match="holds predictions only; the run that made them is"):
        load_model(tmp_path / "moved")


@pytest.mark.parametrize(
    ("settings", "why"), [({"k": 4, "formula": "a and d"}, "other concepts"), ({"formula": "a and b"}, None)]
)
def test_other_concepts_are_refused_and_other_rules_are_not(settings, why, run, tmp_path, assay):
    there = made(tmp_path / "there", **settings)
    moved = assay("predict", run, there.folder, "-o", tmp_path / "moved")
    assert (why is None) == (moved.status == 0) == (tmp_path / "moved").exists() and (why or "") in moved.err


@pytest.fixture
def rule(tmp_path):
    file = tmp_path / "rule.yaml"
    file.write_text("labels: {z: a and not c, both: a == b}\n")
    return file


def test_scores_and_verdicts_under_another_rule(run, here, rule, assay):
    told = json.loads(assay("score", run, "--rule", rule, "--metric", "label_accuracy", "--json").out)
    evidence = evidence_of(RunFolder(run), here)["test"]
    other = under_rule(evidence, read_other_rule(rule, here.knowledge))
    expected = (other.labels == other.predicted_labels).mean()
    assert told["rule"] == str(rule) and told["scores"]["test"]["label_accuracy"]["value"] == pytest.approx(expected)
    verdict = assay("diagnose", run, "--rule", rule)
    assert verdict.status in (0, 1) and "Verdict: " in verdict.out
