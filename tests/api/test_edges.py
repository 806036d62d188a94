"""Answers just at the limits of what is taken, and calls with their defaults."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from assay.api import answers, judging
from assay.concepts import bits
from assay.errors import DataError
from assay.logic import Knowledge


def named(count):
    return [(f"n{place}", (0, 1)) for place in range(count)]


def test_long_lists_of_names_and_values_are_cut():
    with pytest.raises(
        DataError, match=r"names \(n0, n1, n2, n3\) to arrays, or codes of shape \(2, 4\), not .*\(3,\)"
    ):
        answers._stacked(np.zeros(3), named(4), "label", 2)
    with pytest.raises(DataError, match=r"names \(n0, n1, n2, n3, \.\.\.\) to arrays"):
        answers._stacked(np.zeros(3), named(5), "label", 2)
    with pytest.raises(DataError, match=r"places of 0, 1, 2, 3, 4, 5$"):
        answers._codes(np.array([6]), range(6), "x")
    with pytest.raises(DataError, match=r"places of 0, 1, 2, 3, 4, 5, \.\.\.$"):
        answers._codes(np.array([7]), range(7), "x")


def test_truth_values_of_three_values_are_codes_or_refused():
    assert answers._codes(np.array([True, False]), ("True", "False", "x"), "x").tolist() == [0, 1]
    with pytest.raises(DataError, match="x: no value 'True'"):
        answers._codes(np.array([True]), ("u", "v", "w"), "x")
    assert answers._answer([0.0, 2.0], ("u", "v", "w"), "x", 2).codes.tolist() == [0, 2]


def test_sums_may_be_off_by_a_thousandth():
    for total in (0.9991, 1.0009):
        assert answers._probabilities(np.array([[0.5, total - 0.5]]), 2, "x").sum() == pytest.approx(total)
    for total in (0.9985, 1.0015):
        with pytest.raises(DataError, match="add up to 1"):
            answers._probabilities(np.array([[0.5, total - 0.5]]), 2, "x")


def test_tables_are_known_by_their_columns():
    assert answers._as_table({"y": [1]}) is None and answers._as_table([1]) is None
    for given in ({"label_y": [1, 2]}, {"concept_a": [1, 2]}, pd.DataFrame({"label_y": [1, 2]})):
        assert answers._as_table(given).num_rows == 2
    assert answers._as_table(pd.DataFrame({"y": [1]})) is None
    joined = answers._joined([pd.DataFrame({"label_y": [1, 2]}), pd.DataFrame({"label_y": [3]})])
    assert joined == {"label_y": [1, 2, 3]}


def test_estimators_of_several_labels_say_values():
    model = SimpleNamespace(predict=lambda rows: ("said", rows), predict_proba=lambda rows: np.array([[0.25, 0.75]]), classes_=[1, 0])  # fmt: skip
    one, two = ([SimpleNamespace(values=(0, 1))] * count for count in (1, 2))

    def ask(model, labels):
        data = SimpleNamespace(knowledge=SimpleNamespace(labels=labels))
        return answers._estimator(model, data, lambda images: f"rows of {images}")("x")

    assert ask(model, one).tolist() == [[0.75, 0.25]] and ask(model, two) == ("said", "rows of x")
    del model.predict_proba
    assert ask(model, one) == ("said", "rows of x")


def test_a_count_hands_on_what_is_supervised(monkeypatch):
    asked = []
    monkeypatch.setattr(judging, "count_readings", lambda *given: asked.append(given))
    monkeypatch.setattr(judging, "training_support", lambda task, settings, seed: (task, seed))
    rule = Knowledge.__new__(Knowledge)
    judging.count(rule)
    judging.count("task", family="free", seconds=2.0, a=True, b=False, c=(3, 4))
    assert asked == [(rule, "shared", None, {}, 60.0), ("task", "free", 0, {"a": None, "c": [3, 4]}, 2.0)]


def test_a_model_that_is_called_goes_by_its_name_or_its_kind():
    class Constant:
        def __call__(self, images):
            return {"labels": np.full(len(images), 1), "concepts": {"a": images[:, 0]}}

    def zeros(images):
        return np.zeros(len(images), dtype=int)

    space = bits(["a"])
    batches = [(None, np.array([[1], [0]])), (None, np.array([[0]]))]

    class Rows(SimpleNamespace):
        def __len__(self):
            return 3

    rows = Rows(
        knowledge=Knowledge.of(space, {"y": "a"}), fingerprint="f", name="ood", index=np.array([4, 2, 9]),
        batches=lambda size: iter(batches),
    )  # fmt: skip
    found = answers.predictor_of(Constant(), None)(rows)
    assert (dict(found.about), found.split, found.index.tolist()) == ({"model": "Constant"}, "ood", [4, 2, 9])
    assert found.labels["y"].codes.tolist() == [1, 1, 1] and found.concepts["a"].codes.tolist() == [1, 0, 0]
    plain = answers.predictor_of(zeros, None, lambda images: images[:, :1])(rows)
    assert dict(plain.about) == {"model": "zeros"} and plain.concepts == {}
    assert plain.labels["y"].codes.tolist() == [0, 0, 0]
    with pytest.raises(DataError, match="labels: no label named 'label_y'"):
        answers.predictions_for(rows, {"label_y": [True] * 3}, {"a": [0, 1, 0]})  # a table has its own concepts
