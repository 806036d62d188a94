"""`assay decode` writes predictions that break no constraint."""

import json

import numpy as np
import pandas as pd
import pytest

from assay.base import Settings, rng_for
from assay.contracts import apply_constraints, read_predictions
from assay.dataset import Dataset, Recipe, make


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("boards") / "data"
    make(Recipe("sudoku-mini", Settings({}), sizes=(("train", 8), ("valid", 8), ("test", 40), ("ood", 8))), folder)
    return Dataset.open(folder)


def guessed(dataset, path, drop=""):
    """Write predictions with random probabilities of every concept."""
    rng = rng_for(0, "guessed")
    table = pd.DataFrame({"index": range(40), "split": "test", "fingerprint": dataset.fingerprint})
    table["label_valid"] = rng.random(40) < 0.5
    for concept in dataset.knowledge.space.concepts:
        spread = rng.dirichlet([0.4] * len(concept.values), size=40)
        key = f"concept_{concept.name}"
        if concept.name == drop:
            table[key] = [concept.values[code] for code in spread.argmax(axis=1)]
        else:
            table[key + "_probabilities"] = list(spread)
    table.to_parquet(path)
    return path


def test_decoded_predictions_break_no_constraint(assay, boards, tmp_path):
    given, out = guessed(boards, tmp_path / "given.parquet"), tmp_path / "out.parquet"
    told = assay("decode", given, boards.folder, "-o", out, "--labels-by-rule", "--json")
    assert told.status == 0, told.err
    facts, knowledge = json.loads(told.out), boards.knowledge
    before, after = read_predictions(given, knowledge), read_predictions(out, knowledge)
    codes = {
        n: np.stack([p.concepts[c].codes for c in knowledge.space.names], 1) for n, p in enumerate((before, after))
    }
    broken = knowledge.violations(codes[0]).any(axis=1)
    assert broken.any() and not knowledge.violations(codes[1]).any()
    assert (codes[0][~broken] == codes[1][~broken]).all()
    assert facts["changed"] == broken.sum() and facts["not_proven"] == facts["not_found"] == 0
    assert (after.labels["valid"].codes == knowledge.labels_of(codes[1])[:, 0]).all()
    assert after.about["decoded"]["changed"] == facts["changed"]
    assert (
        assay("score", out, boards.folder, "--metric", "violation_rate").out.count("0.00") == 2
    )  # the value and its lower end


def test_labels_stay_unless_they_are_to_follow(assay, boards, tmp_path):
    given, out = guessed(boards, tmp_path / "given.parquet"), tmp_path / "out.parquet"
    told = assay("decode", given, boards.folder, "-o", out)
    assert told.status == 0 and "of 40 examples changed" in told.err
    before, after = (read_predictions(path, boards.knowledge) for path in (given, out))
    assert (before.labels["valid"].codes == after.labels["valid"].codes).all()


def test_what_cannot_be_decoded_is_refused(assay, boards, data, run, tmp_path):
    given = guessed(boards, tmp_path / "given.parquet", drop="row2")
    error = assay("decode", given, boards.folder, "-o", tmp_path / "out.parquet").error
    assert "needs the probabilities of every concept; add a column 'concept_row2_probabilities'" in error
    plain = run / "predictions" / "test.parquet"
    assert "the rule has no constraints" in assay("decode", plain, data.folder, "-o", tmp_path / "out.parquet").error
    table = pd.read_parquet(guessed(boards, tmp_path / "other.parquet")).assign(fingerprint="f" * 32)
    table.to_parquet(tmp_path / "other.parquet")
    error = assay("decode", tmp_path / "other.parquet", boards.folder, "-o", tmp_path / "out.parquet").error
    assert "dataset with fingerprint ffff" in error
    assert not (tmp_path / "out.parquet").exists()


def test_decoding_twice_changes_nothing_more(boards, tmp_path):
    once = apply_constraints(
        read_predictions(guessed(boards, tmp_path / "p.parquet"), boards.knowledge), boards.knowledge
    )
    again = apply_constraints(once, boards.knowledge)
    for name, answer in once.concepts.items():
        assert (again.concepts[name].codes == answer.codes).all()
