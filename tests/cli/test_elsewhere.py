"""A run on data that it was not trained on, and its concepts under another rule."""

import json

import numpy as np
import pytest

from assay.config import Settings
from assay.data import Dataset, make, recipe_from
from assay.errors import ConfigError, DataError
from assay.models import Order, load_model, train_run, transfer_run
from assay.runs import RunFolder, evidence_of, read_other_rule, under_rule
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
    train_run(Order("cbm", Settings({**QUICK, "epochs": 30, "backbone": "mlp", "learning_rate": 0.02})), here, folder)
    return folder


def test_a_run_answers_for_other_data_with_the_same_concepts(run, tmp_path, assay):
    there = made(tmp_path / "there", seed=5)
    transfer_run(run, there, tmp_path / "moved")
    about = RunFolder(tmp_path / "moved").about()
    assert about["data"]["fingerprint"] == there.fingerprint != about["transfer"]["data"]["fingerprint"]
    evidence = evidence_of(RunFolder(tmp_path / "moved"), there)
    assert set(evidence) == {"test", "hard", "valid"}
    expected = load_model(run).predict(there["test"]).labels["y"].codes
    assert np.array_equal(evidence["test"].predicted_labels[:, 0], expected)
    for verb in ("score", "diagnose"):
        assert assay(verb, tmp_path / "moved").status in (0, 1)
    with pytest.raises(DataError, match="holds predictions only; the run that made them is"):
        load_model(tmp_path / "moved")


def test_the_command_says_where_to_go(run, tmp_path, assay):
    there = made(tmp_path / "there", seed=5)
    told = assay("predict", run, there.folder)
    assert told.status == 2 and "for other data: assay predict RUN DATA -o FOLDER" in told.err
    assert assay("predict", run, there.folder, "-o", tmp_path / "moved").status == 0
    assert (tmp_path / "moved" / "predictions" / "test.parquet").exists()


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"k": 4, "formula": "a and d"}, "other concepts"), ({"formula": "a and b"}, None)],
)
def test_other_concepts_are_refused_and_other_rules_are_not(settings, why, run, tmp_path):
    there = made(tmp_path / "there", **settings)
    if why is None:
        assert transfer_run(run, there, tmp_path / "moved")
    else:
        with pytest.raises(DataError, match=why):
            transfer_run(run, there, tmp_path / "moved")
        assert not (tmp_path / "moved").exists()


@pytest.fixture
def rule(tmp_path):
    file = tmp_path / "rule.yaml"
    file.write_text("labels: {z: a and not c, both: a == b}\n")
    return file


def test_labels_follow_another_rule(run, here, rule):
    other = read_other_rule(rule, here.knowledge)
    evidence = evidence_of(RunFolder(run), here)["test"]
    swapped = under_rule(evidence, other)
    said, true = evidence.predicted_concepts, evidence.concepts
    assert swapped.knowledge.label_names == ("z", "both")
    assert np.array_equal(swapped.predicted_labels[:, 0], (said[:, 0] == 1) & (said[:, 2] == 0))
    assert np.array_equal(swapped.labels[:, 1], true[:, 0] == true[:, 1])


def test_scores_and_verdicts_under_another_rule(run, here, rule, assay):
    told = json.loads(assay("score", run, "--rule", rule, "--metric", "label_accuracy", "--json").out)
    evidence = evidence_of(RunFolder(run), here)["test"]
    other = under_rule(evidence, read_other_rule(rule, here.knowledge))
    expected = (other.labels == other.predicted_labels).mean()
    assert told["rule"] == str(rule) and told["scores"]["test"]["label_accuracy"]["value"] == pytest.approx(expected)
    verdict = assay("diagnose", run, "--rule", rule)
    assert verdict.status in (0, 1) and "Verdict: " in verdict.out


def test_a_model_without_concepts_and_a_file_without_a_rule_are_refused(here, run, tmp_path, rule):
    train_run(Order("blackbox", Settings({**QUICK, "epochs": 1, "backbone": "mlp"})), here, tmp_path / "blind")
    evidence = evidence_of(RunFolder(tmp_path / "blind"), here)["test"]
    with pytest.raises(ConfigError, match="says no concepts"):
        under_rule(evidence, read_other_rule(rule, here.knowledge))
    empty = tmp_path / "empty.yaml"
    empty.write_text("labels: {}\n")
    with pytest.raises(ConfigError, match="gives no formula for a label"):
        read_other_rule(empty, here.knowledge)
