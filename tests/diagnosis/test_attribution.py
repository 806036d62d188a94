"""Errors whose cause is known are attributed to it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from assay.concepts import bits
from assay.config import Settings
from assay.diagnosis.attribution import CAUSES, attribute
from assay.diagnosis.interventions.intervenable import BottleneckModel
from assay.diagnosis.interventions.label_heads import rule_head
from assay.logic.knowledge import Knowledge
from assay.models.core.runs import Order, train_run
from assay.predictions import Answer
from assay.testing.predictors import oracle
from tests.pixels import pixels

SPACE = bits(["a", "b"])
TRUTH = Knowledge.of(SPACE, {"y": "a and b"})


def shares(perceived, true, learned):
    """Return the attribution where concepts are perceived so, and the learned rule is this."""
    perceived, true = np.array(perceived), np.array(true)
    head = rule_head(Knowledge.of(SPACE, {"y": learned}))
    held = BottleneckModel("toy", [np.eye(2)[perceived[:, place]] for place in range(2)], head)
    return attribute(held, TRUTH, true, TRUTH.labels_of(true))


@pytest.mark.parametrize(
    ("perceived", "true", "learned", "cause"),
    [
        ([1, 1], [0, 1], "a and b", "perception"),
        ([1, 0], [1, 0], "a or b", "rule"),
        ([1, 1], [1, 0], "a or b", "both"),
        ([1, 0], [0, 0], "a or b", "either"),
    ],
)
def test_each_cause_is_told_from_the_others(perceived, true, learned, cause):
    found = shares([perceived, [1, 1]], [true, [1, 1]], learned).whole
    assert {one: getattr(found, one) for one in CAUSES} == {one: int(one == cause) for one in CAUSES}
    assert (found.wrong, found.examples, found.accuracy, found.luck) == (1, 2, 0.5, 0)
    assert found.text == f"Of 1 wrong labels (50.0%): 1 {cause}."


def test_errors_that_cancel_out_are_luck():
    found = shares([[0, 0]], [[1, 0]], "a or b").whole
    assert (found.wrong, found.luck, found.with_true_concepts, found.with_true_rule) == (0, 1, 0.0, 1.0)
    assert found.text == "No label is wrong."


def test_the_concept_behind_an_error_is_named():
    found = shares([[1, 1], [0, 1], [1, 1]], [[1, 0], [1, 1], [1, 1]], "a and b")
    assert [(one.concept, one.misread, one.mends) for one in found.concepts] == [("a", 1, 1), ("b", 1, 1)]
    found = shares([[1, 1], [1, 1]], [[1, 0], [1, 1]], "a and b")
    assert [(one.concept, one.mends) for one in found.concepts] == [("b", 1)]


def test_every_wrong_label_has_one_cause():
    rng = np.random.default_rng(0)
    found = shares(rng.integers(0, 2, (200, 2)), rng.integers(0, 2, (200, 2)), "a ^ b").whole
    assert found.wrong == sum(getattr(found, cause) for cause in CAUSES) > 50


def test_a_weak_detector_is_blamed_by_the_command_line(tmp_path):
    data = pixels(tmp_path / "data")
    eye = tmp_path / "eye"
    eye.mkdir()
    for split in data.split_names:
        said = oracle(data[split])
        blind = Answer(np.zeros(len(said.index), dtype=np.int64))
        replace(said, concepts={**said.concepts, "c": blind}).write(eye / f"{split}.parquet", data.knowledge)
    order = Order("synthesis", Settings({"perception": str(eye), "learn_from": "truth"}))
    train_run(order, data, tmp_path / "run")
    out = CliRunner().invoke(app, ["attribute", str(tmp_path / "run"), "--json"])
    told = json.loads(out.stdout)
    test = data["test"]
    missed = int(((test.concepts[:, 2] == 1) & ~(test.concepts[:, :2] == 1).all(axis=1)).sum())
    assert told["whole"]["wrong"] == told["whole"]["perception"] == missed > 0
    assert told["concepts"][0]["concept"] == "c" and told["concepts"][0]["mends"] == missed
    table = CliRunner().invoke(app, ["attribute", str(tmp_path / "run")]).stdout
    assert "perception" in table and f"Of {missed} wrong labels" in table


def test_concepts_that_would_correct_most_labels_come_first():
    perceived = [[1, 1], [1, 1], [1, 1], [1, 1], [0, 0], [0, 0]]
    true = [[0, 1], [0, 1], [0, 1], [1, 0], [0, 1], [0, 1]]
    found = shares(perceived, true, "a and b")
    assert [(one.concept, one.misread, one.mends) for one in found.concepts] == [("a", 3, 3), ("b", 3, 1)]
    found = shares([[1, 1], [0, 0], [0, 0]], [[1, 0], [1, 0], [1, 0]], "a and b")
    assert [(one.concept, one.misread, one.mends) for one in found.concepts] == [("b", 1, 1), ("a", 2, 0)]
    found = shares([[0, 0], [0, 0], [0, 0]], [[1, 0], [0, 1], [0, 1]], "a and b")
    assert [one.concept for one in found.concepts] == ["b", "a"]  # misread more often
