"""Where each call about a model leads: to a run, a file, predictions, or a model that is asked."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.api import Run, answers, judging
from assay.data import Dataset
from assay.errors import ConfigError, DataError
from assay.predictions import Answer, Predictions
from assay.testing import TwoSquares, small_dataset


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(TwoSquares(), tmp_path_factory.mktemp("squares") / "data")


def said(split):
    return Predictions("f", split, np.arange(2), {"brighter": Answer(np.array([0, 1]))})


def test_predictions_in_any_number(squares):
    test, ood = said("test"), said("ood")
    assert (
        judging.predictions_of(squares, [test, ood])
        == {"test": test, "ood": ood}
        == judging.predictions_of(squares, {"a": test, "b": ood})
    )
    for wrong, named in (([], r"\[\]"), ([test, 3], r"\['int'\]"), ({"x": "y"}, r"\['str'\]")):
        with pytest.raises(ConfigError, match=f"expected predictions, as .* not {named}"):
            judging.predictions_of(squares, wrong)


def test_a_model_is_asked_about_tests_first(monkeypatch, squares):
    monkeypatch.setattr(judging, "predictor_of", lambda model, data, transform: lambda rows: rows.name)
    assert list(judging.predictions_of(squares, len)) == ["test", "valid", "hard"]
    assert list(judging.predictions_of(squares, len, ["hard"])) == ["hard"]
    with_pairs = type(
        "Data", (dict,), {"split_names": ("train", "train_2", "ood", "test_1"), "pairs": {"split": "test_1"}}
    )
    data = with_pairs({name: SimpleNamespace(name=name) for name in ("train", "ood", "test_1", "pairs")})
    assert list(judging.predictions_of(data, len)) == ["test_1", "ood", "pairs"] and list(
        judging.predictions_of(data, len, ["ood"])
    ) == ["ood"]


def test_interventions_and_the_viewer(monkeypatch):
    calls = []
    monkeypatch.setattr(judging, "carry_out", lambda *given: calls.append(given) or "result")
    monkeypatch.setattr(judging, "redrawing_for", lambda kind, data: f"redraw {kind} {data}")
    monkeypatch.setattr(judging, "reader_for", lambda source, settings: (source, settings))
    run = Run(Path("r"), "its data")
    run.__dict__["model"] = SimpleNamespace(intervene="answering")
    assert judging.intervene(run, policy="random", budget="0,1", source="vlm", reader={"k": 1}) == "result"
    plan, data, answering, redraw, reader = calls[0]
    assert (plan.policy, plan.budget, data, answering, redraw, reader) == (
        "random",
        "0,1",
        "its data",
        "answering",
        "redraw confirmation its data",
        ("vlm", {"k": 1}),
    )
    judging.intervene(run, "other")
    assert calls[1][1] == "other"
    with pytest.raises(ConfigError, match="intervene: no setting named 'polcy'; there are baseline, batch_budget, "):
        judging.intervene(run, polcy="random")
    with pytest.raises(DataError, match="nothing to look at; name datasets or runs"):
        judging.view()


def test_numbers_become_answers():
    values = ("u", "v", "w")
    assert answers._codes(np.array([2, -1, 0]), values, "x").tolist() == [2, -1, 0] and answers._codes(
        np.array(["w", "u"]), values, "x"
    ).tolist() == [2, 0]
    assert answers._codes(np.array([True, False]), (False, True), "x").tolist() == [1, 0] and answers._codes(
        np.array([2.0]), values, "x"
    ).tolist() == [2]
    for wrong in ([3], [-2], [0.5]):
        with pytest.raises(DataError, match="is no code; codes are 0 to 2, the places of u, v, w$"):
            answers._codes(np.array(wrong), values, "x")
    with pytest.raises(DataError, match="x: no value 'q'"):
        answers._codes(np.array(["q"]), values, "x")
    one = answers._answer([0.25, 0.75], (False, True), "x", 2)
    assert one.codes.tolist() == [0, 1] and one.probabilities.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert answers._answer([0.0, 1.0], (False, True), "x", 2).probabilities is None and answers._answer(
        [[1], [0]], values, "x", 2
    ).codes.tolist() == [1, 0]
    for wrong in ([1, 0, 1], 3, np.zeros((2, 2, 2))):
        with pytest.raises(DataError, match="x: expected 2 rows"):
            answers._answer(wrong, values, "x", 2)
    assert answers._probabilities(np.array([[1.0005, -0.0005]]), 2, "x").tolist() == [[1.0005, 0.0]]
    for wrong, why in (
        ([[0.5, 0.6]], "add up to 1"),
        ([[1.5, -0.5]], "add up to 1"),
        ([[np.nan, 1.0]], "add up to 1"),
        ([[1.0]], "expected 2 probabilities in each row, one for each value, not 1"),
    ):
        with pytest.raises(DataError, match=why):
            answers._probabilities(np.array(wrong), 2, "x")
    assert answers._spread_over(np.array([[0.25, 0.75]]), ["w", "u"], values).tolist() == [[0.75, 0.0, 0.25]]
    assert answers._flat(np.array([[[[255]], [[51]]]], dtype=np.uint8)).tolist() == [[1.0, pytest.approx(0.2)]]


def test_what_a_function_says_of_batches_is_joined():
    assert (
        answers._parts(("c", "l")) == ("c", "l")
        and answers._parts({"labels": 1, "concepts": 2}) == (2, 1)
        and answers._parts({"labels": 1}) == (None, 1)
        and answers._parts("l") == (None, "l")
    )
    assert answers._joined([[1, 2], [3]]).tolist() == [1, 2, 3]
    joined = answers._joined([{"a": [1], "b": [2]}, {"a": [3], "b": [4]}])
    assert {name: column.tolist() for name, column in joined.items()} == {"a": [1, 3], "b": [2, 4]}
    lists = answers._joined([[np.array([1]), np.array([2])], [np.array([3]), np.array([4])]])
    assert [column.tolist() for column in lists] == [[1, 3], [2, 4]]
    with pytest.raises(ConfigError, match="a int is no model"):
        answers.predictor_of(3, None)
    ours = SimpleNamespace(predict=lambda data: f"said of {data}", answers=None)
    assert answers.predictor_of(ours, None)("rows") == "said of rows" and not answers.is_torch_module(3)
