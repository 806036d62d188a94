"""What a model says comes in many forms and means the same: codes, probabilities, values, tables, functions."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from assay.api import count, diagnose, make, predictions_for, score
from assay.base import ConfigError, DataError
from assay.dataset import Dataset
from assay.logic import Concept, ConceptSpace, Knowledge, bits
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


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """More examples than a model is asked about at once."""
    sizes = {"train": 8, "valid": 4, "test": 600, "hard": 4, "ood": 0, "pairs": 0}
    return make("mnlogic", tmp_path_factory.mktemp("many") / "data", k=3, pixels=True, splits=sizes)


def right(model: Any, data: Dataset, metric: str = "label_accuracy", **how: Any) -> float:
    """Return how often a model is right on the test split."""
    return float(diagnose(data, model, splits=["test"], **how).scores["test"][metric].value)


def test_functions_and_estimators_are_asked_about_every_picture(many: Dataset) -> None:
    data = many["test"]
    asked: list[int] = []

    def share(images: np.ndarray) -> float:
        return pytest.approx((brightness(images) == data.labels[:, 0]).mean())

    def counted(images: np.ndarray) -> np.ndarray:
        asked.append(len(images))
        return brightness(images)

    assert right(counted, many) == share(data.images) and len(asked) > 1 and sum(asked) == len(data)
    assert right(brightness, many, transform=lambda images: images // 2) == share(data.images // 2)
    first = pytest.approx((brightness(data.images) == data.concepts[:, 0]).mean())
    said = {"a": data.concepts[:, 0], "b": data.concepts[:, 1], "c": data.concepts[:, 2]}
    done = [0]

    def both(images: np.ndarray) -> Any:
        rows = slice(done[0], done[0] + len(images))
        done[0] += len(images)
        return {name: codes[rows] for name, codes in said.items()}, brightness(images)

    assert right(both, many, "concept_accuracy") == 1
    assert right(lambda images: {"labels": brightness(images), "concepts": None}, many) == share(data.images)
    ones = pytest.approx((data.labels == 1).mean())
    assert right(Estimator(), many) == ones  # probabilities by class, not by place
    certain = type("Certain", (), {"classes_": Estimator.classes_, "predict": Estimator.predict})()
    assert right(certain, many) == ones and 0 < first.expected < 1
    with pytest.raises(ConfigError, match="a int is no model"):
        diagnose(many, 3)


def test_a_model_is_asked_about_all_but_training_tests_first(mnlogic: Dataset) -> None:
    assert list(score(mnlogic, brightness)) == ["test", "valid", "ood", "hard"]
    assert list(diagnose(mnlogic, brightness, splits=["hard", "valid"]).scores) == ["hard", "valid"]
    one = mnlogic["valid"].predictions(brightness(mnlogic["valid"].images))
    for answers in (one, [one], {"x": one}):
        assert list(score(mnlogic, answers)) == ["valid"]
    for wrong in ([], [3], {"x": "y"}):
        with pytest.raises(ConfigError, match="expected predictions"):
            score(mnlogic, wrong)


@pytest.mark.parametrize("total", [0.9991, 1.0009, 0.9985, 1.0015])
def test_sums_of_probabilities_may_be_off_by_a_thousandth(total: float, shelf: Dataset) -> None:
    labels = {"same": np.tile([0.5, total - 0.5], (6, 1)), "pile": PILE}
    if abs(total - 1) < 1e-3:
        assert predictions_for(shelf["test"], labels).labels["same"].codes is not None
        return
    with pytest.raises(DataError, match="add up to 1"):
        predictions_for(shelf["test"], labels)


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
