"""`assay attribute` counts wrong labels as `assay diagnose` does, and lists the concepts behind them."""

import json
import re
from dataclasses import replace

import numpy as np

from assay.base import Settings
from assay.contracts import Prediction
from assay.models import TrainSpec, train_run
from assay.testing import oracle
from tests.pixels import pixels
from tests.predictors import predictions


def test_as_many_concepts_as_asked_for_are_listed(assay, data, tmp_path):
    test = data["test"]
    said = test.concepts.copy()
    said[::4, 0] ^= 1
    said[::2, 1] ^= 1
    predictions(test, data.knowledge.labels_of(said), said).write(tmp_path / "said.parquet", data.knowledge)
    told = json.loads(assay("attribute", tmp_path / "said.parquet", data.folder, "--json").out)
    assert told["fingerprint"] == data.fingerprint and told["split"] == "test"
    assert told["whole"]["examples"] == len(test) and told["whole"]["wrong"] == told["whole"]["perception"] > 0
    misread = {one["concept"]: one["misread"] for one in told["concepts"]}
    assert misread == {"a": len(test) // 4, "b": len(test) // 2}
    for most in (0, 1, 2):
        text = assay("attribute", tmp_path / "said.parquet", data.folder, "--concepts", most).out
        table = text.partition("misread in")[2]
        listed = [one["concept"] for one in told["concepts"]][:most]
        assert re.findall(r"(?m)^\W*([ab])\b", table) == listed


def test_a_weak_detector_is_blamed_by_the_command_line(assay, tmp_path):
    data = pixels(tmp_path / "data")
    eye = tmp_path / "eye"
    eye.mkdir()
    for split in data.split_names:
        said = oracle(data[split])
        blind = Prediction(np.zeros(len(said.index), dtype=np.int64))
        replace(said, concepts={**said.concepts, "c": blind}).write(eye / f"{split}.parquet", data.knowledge)
    order = TrainSpec("synthesis", Settings({"perception": str(eye), "learn_from": "truth"}))
    train_run(order, data, tmp_path / "run")
    told = json.loads(assay("attribute", tmp_path / "run", "--json").out)
    test = data["test"]
    missed = int(((test.concepts[:, 2] == 1) & ~(test.concepts[:, :2] == 1).all(axis=1)).sum())
    assert told["whole"]["wrong"] == told["whole"]["perception"] == missed > 0
    assert told["whole"]["swap"]["corrected"]["perception"] == missed
    assert told["concepts"][0]["concept"] == "c" and told["concepts"][0]["mends"] == missed
    diagnosed = json.loads(assay("diagnose", tmp_path / "run", "--json").out)["errors"]["test"]
    causes = told["whole"].keys() & diagnosed.keys()
    assert "perception" in causes and all(told["whole"][cause] == diagnosed[cause] for cause in causes)
    assert f"{missed} labels are wrong" in assay("attribute", tmp_path / "run").out
    training = json.loads(assay("attribute", tmp_path / "run", "--split", "train", "--json").out)  # not predicted for
    assert training["whole"]["examples"] == len(data["train"]) and training["whole"]["swap"]["still_wrong"] == 0


def test_the_labels_of_a_predictions_file_are_those_that_are_counted(assay, data, tmp_path):
    test = data["test"]
    flipped = 1 - test.labels  # concepts right, labels all wrong: none but the label head
    rows = np.random.default_rng(0).permutation(len(test))[:50]
    file = tmp_path / "said.parquet"
    predictions(test.take(rows), flipped[rows], test.concepts[rows]).write(file, data.knowledge)
    told = json.loads(assay("attribute", file, data.folder, "--json").out)
    assert (told["whole"]["wrong"], told["whole"]["rule"], told["whole"]["swap"]) == (50, 50, None)
    assert told["concepts"] == []
