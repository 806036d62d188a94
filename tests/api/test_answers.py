"""What a model says comes in many forms and means the same: codes, probabilities, values, tables, functions."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from assay.api import count, diagnose, predictions_for, score
from assay.api.answers import predictor_of
from assay.api.judging import predictions_of, read_answers
from assay.concepts import Concept, ConceptSpace, bits
from assay.data import Dataset
from assay.errors import ConfigError, DataError
from assay.logic import Knowledge
from tests.predictors import oracle
from tests.toys import Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Two labels, and concepts of two and three values."""
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=8, valid=4, test=6, hard=4)


def said(found: Any) -> dict[str, list[int]]:
    return {name: answer.codes.tolist() for name, answer in {**found.labels, **found.concepts}.items()}


SAME, PILE = [0, 1, 1, 0, 0, 1], [1, 1, 0, 0, 1, 0]
TWO = [0, 1, 2, 2, 1, 0]
FORMS = {
    "codes by name": lambda: ({"same": SAME, "pile": np.array(PILE)}, {"two": TWO}),
    "columns of one array": lambda: (np.array([SAME, PILE]).T, {"two": torch.tensor(TWO)}),
    "an array for each": lambda: ([np.array(SAME), np.array(PILE)], {"two": np.array(TWO)[:, None]}),
    "truth values": lambda: ({"same": np.array(SAME, dtype=bool), "pile": PILE}, {"two": TWO}),
    "words": lambda: ({"same": SAME, "pile": PILE}, {"two": np.array(["red", "blue", "none"])[TWO]}),
    "one probability": lambda: ({"same": 0.2 + 0.6 * np.array(SAME), "pile": PILE}, {"two": TWO}),
    "probabilities": lambda: ({"same": SAME, "pile": PILE}, {"two": 0.1 + 0.7 * np.eye(3)[TWO]}),
    "certain numbers": lambda: ({"same": np.array(SAME, dtype=float), "pile": PILE}, {"two": np.array(TWO, float)}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(form: str, shelf: Dataset) -> None:
    labels, concepts = FORMS[form]()
    found = predictions_for(shelf["test"], labels, concepts, {"model": "mine"})
    assert said(found) == {"same": SAME, "pile": PILE, "two": TWO}
    assert (found.fingerprint, found.split, dict(found.about)) == (shelf.fingerprint, "test", {"model": "mine"})
    assert found.index.tolist() == shelf["test"].index.tolist()


def test_probabilities_are_kept_and_codes_have_none(shelf: Dataset) -> None:
    labels = {"same": 0.2 + 0.6 * np.array(SAME), "pile": np.array(PILE, dtype=float)}
    found = predictions_for(shelf["test"], labels, {"two": torch.eye(3)[TWO]}).labels
    assert found["same"].probabilities.tolist() == [[1 - p, p] for p in labels["same"].tolist()]
    assert found["pile"].probabilities is None  # only 0 and 1: codes


@pytest.mark.parametrize("kind", ["mapping", "pandas", "arrow"])
def test_a_table_holds_values(kind: str, shelf: Dataset) -> None:
    columns = {
        "label_same": [bool(x) for x in SAME],
        "label_pile": [bool(x) for x in PILE],
        "concept_two": [("red", "blue", "none")[x] for x in TWO],
    }
    table = {"mapping": columns, "pandas": pd.DataFrame(columns), "arrow": pa.table(columns)}[kind]
    assert said(predictions_for(shelf["test"], table)) == {"same": SAME, "pile": PILE, "two": TWO}
    with pytest.raises(DataError, match="the table has 6 rows, split 'hard' has 4"):
        predictions_for(shelf["hard"], table)


REFUSED = {
    "nothing is said of label 'pile'": ({"same": SAME}, None),
    "no label named 'sam'; did you mean 'same'": ({"sam": SAME, "pile": PILE}, None),
    r"codes of shape \(6, 2\), not an array of shape \(6,\)": (np.array(SAME), None),
    "concept 'two': 3 is no code; codes are 0 to 2, the places of red, blue, none": (FORMS["codes by name"]()[0], {"two": [3] * 6}),
    "concept 'two': -2 is no code": (FORMS["codes by name"]()[0], {"two": [-2] * 6}),
    "concept 'two': 0.5 is no code|0 is no code": (FORMS["codes by name"]()[0], {"two": [0.5] * 6}),
    "no value 'green'": (FORMS["codes by name"]()[0], {"two": np.array(["green"] * 6)}),
    "expected 3 probabilities in each row": (FORMS["codes by name"]()[0], {"two": np.full((6, 2), 0.5)}),
    "rows must be probabilities that add up to 1": (FORMS["codes by name"]()[0], {"two": np.full((6, 3), 0.4)}),
    "expected 6 rows": (FORMS["codes by name"]()[0], {"two": TWO[:5]}),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_does_not_fit_is_told(why: str, shelf: Dataset) -> None:
    with pytest.raises(DataError, match=why) as caught:
        predictions_for(shelf["test"], *REFUSED[why])
    assert "\n" not in str(caught.value)


def test_nothing_said_is_a_code_too(shelf: Dataset) -> None:
    found = predictions_for(shelf["test"], FORMS["codes by name"]()[0], {"two": [-1, 0, 1, 2, -1, 0]})
    assert said(found)["two"] == [-1, 0, 1, 2, -1, 0]


def brightness(images: np.ndarray) -> np.ndarray:
    return (images.reshape(len(images), -1).mean(axis=1) > 127).astype(int)


class Estimator:
    """Says the first class it knows."""

    classes_ = np.array([1, 0])

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return np.ones(len(rows), dtype=int)

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        assert rows.max() <= 1 and rows.ndim == 2  # pictures as rows from 0 to 1
        return np.tile([0.9, 0.1], (len(rows), 1))


def test_functions_and_estimators_are_asked_in_batches(mnlogic: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.api.answers.BATCH", 7)
    data = mnlogic["test"]
    found = predictor_of(brightness, mnlogic)(data)
    assert found.labels["y"].codes.tolist() == brightness(data.images).tolist() and found.about["model"] == "brightness"
    halved = predictor_of(brightness, mnlogic, lambda images: images // 2)(data)
    assert halved.labels["y"].codes.tolist() == brightness(data.images // 2).tolist()
    both = predictor_of(lambda images: ({"a": brightness(images)}, brightness(images)), mnlogic)(data)
    assert both.concepts["a"].codes.tolist() == both.labels["y"].codes.tolist()
    named = predictor_of(lambda images: {"labels": brightness(images), "concepts": None}, mnlogic)(data)
    assert named.labels["y"].codes.tolist() == found.labels["y"].codes.tolist() and not named.concepts
    sure = predictor_of(Estimator(), mnlogic)(data).labels["y"]
    assert set(sure.codes.tolist()) == {1} and sure.probabilities[0].tolist() == [0.1, 0.9]  # by class, not by place
    certain = type("Certain", (), {"classes_": Estimator.classes_, "predict": Estimator.predict})()
    plain = predictor_of(certain, mnlogic)(data).labels["y"]
    assert set(plain.codes.tolist()) == {1} and plain.probabilities is None
    with pytest.raises(ConfigError, match="a int is no model"):
        predictor_of(3, mnlogic)


def test_a_model_is_asked_about_all_but_training_tests_first(mnlogic: Dataset) -> None:
    found = predictions_of(mnlogic, brightness)
    assert list(found) == ["test", "valid", "ood", "hard", "pairs"]
    assert list(predictions_of(mnlogic, brightness, ["hard", "valid"])) == ["hard", "valid"]
    one = found["valid"]
    assert predictions_of(mnlogic, one) == {"valid": one} and list(predictions_of(mnlogic, [one])) == ["valid"]
    assert list(read_answers(mnlogic, {"x": one})) == ["valid"]
    for wrong in ([], [3]):
        with pytest.raises(ConfigError, match="expected predictions"):
            predictions_of(mnlogic, wrong)


def test_scores_are_those_of_each_split_but_pairs(mnlogic: Dataset) -> None:
    found = score(mnlogic, brightness, metrics=["label_accuracy"])
    assert list(found) == ["test", "valid", "ood", "hard"] and list(found["test"]) == ["label_accuracy"]
    right = (brightness(mnlogic["ood"].images) == mnlogic["ood"].labels[:, 0]).mean()
    assert found["ood"]["label_accuracy"].value == pytest.approx(right)
    evidence = oracle(mnlogic.symbols("test"))
    assert score(evidence, metrics=["label_accuracy"])["test"]["label_accuracy"].value == 1
    assert diagnose(evidence).verdict in ("sound", "too few")
    for wrong in (lambda: score(mnlogic), lambda: diagnose(mnlogic)):
        with pytest.raises(ConfigError, match="needs a dataset and what a model says"):
            wrong()


def test_counts_of_rules_datasets_and_tasks(evenodd: Dataset) -> None:
    xor = Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b, c)"})
    assert count(xor, family="per-concept").total == 4 and count(xor, family="per-concept", a=True).total == 2
    assert (
        count(xor, family="per-concept", a=[True]).total == 2 and count(xor, family="per-concept", a=False).total == 4
    )
    assert count(evenodd).worlds == 16
    space = ConceptSpace((Concept("a", (0, 1, 2)),))
    assert count(Knowledge.of(space, {"y": "a"})).total == 1
