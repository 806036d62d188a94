"""Whether labels follow from the model's own concepts, and whether those concepts are possible."""

import math

import numpy as np
import pytest

from assay.concepts import bits, digits
from assay.data import Dataset
from assay.logic import Constraint, Knowledge, parse
from assay.metrics import METRICS, Evidence, gather
from tests.predictors import labels_only, oracle, predictions, random_evidence, reading


def test_a_wrong_reading_can_be_consistent(evenodd: Dataset) -> None:
    data = evenodd.symbols("ood")
    held = reading(data, np.array([np.roll(np.arange(10), 3)] * 2))
    assert METRICS["rule_consistency"](held) == 1 and METRICS["concept_accuracy"](held) == 0


def test_right_labels_need_not_be_consistent(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    held = gather(data, predictions(data, data.labels, np.zeros_like(data.concepts)))
    assert METRICS["label_accuracy"](held) == 1 and METRICS["rule_consistency"](held) == 0


def test_each_example_by_a_plain_loop() -> None:
    knowledge = Knowledge.of(digits(["a", "b"]), {"sum": "a + b", "more": "a > b"}, [Constraint("c", parse("a != b"))])
    held = random_evidence(knowledge, 400, "consistency")
    said, labels = held.predicted_concepts.tolist(), held.predicted_labels.tolist()
    follows = [[a + b, int(a > b)] == row for (a, b), row in zip(said, labels, strict=True)]
    assert METRICS["rule_consistency"].values(held).tolist() == follows
    assert METRICS["violation_rate"].values(held).tolist() == [a == b for a, b in said]
    assert METRICS["violation_rate"](held) == pytest.approx(0.1, abs=0.05)


def test_where_nothing_can_be_said(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    assert math.isnan(METRICS["rule_consistency"](labels_only(data)))
    assert math.isnan(METRICS["violation_rate"](oracle(data)))  # the rule has no constraint
    said = data.concepts.copy()
    said[::2, 1] = -1
    half = METRICS["rule_consistency"].values(gather(data, predictions(data, data.labels, said)))
    assert np.isnan(half[::2]).all() and (half[1::2] == 1).all()


def test_the_room_is_the_f1_of_what_breaks_a_constraint() -> None:
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a"}, [Constraint("two", parse("count(a, b, c) <= 2"))])
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1]])
    said = np.array([[1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]])
    labels = truth[:, :1]
    evidence = Evidence(knowledge, "test", labels, truth, labels, said, (None,), (None,) * 3)
    f1 = [2 / 4, 2 / 3, 1.0, 4 / 5]
    assert METRICS["set_f1"](evidence) == pytest.approx(np.mean(f1))
    assert METRICS["sane_f1"](evidence) == pytest.approx((f1[1] + f1[2]) / 4)
    assert METRICS["f1_room"](evidence) == pytest.approx((f1[0] + f1[3]) / 4)
    assert METRICS["violation_rate"](evidence) == METRICS["mean_violations"](evidence) == 0.5
    assert METRICS["violations_vs_random"](evidence) == pytest.approx(0.5 / (1 / 8))
