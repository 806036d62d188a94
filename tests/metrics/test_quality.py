"""Accuracy and F1 against scikit-learn, and the scores that known predictors must get."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from assay.concepts import bits, digits
from assay.data import Dataset
from assay.logic import Knowledge
from assay.metrics import METRICS, Evidence, confusion, gather, macro_f1
from assay.metrics.quality import f1_by_value
from assay.seeds import rng_for
from tests.predictors import constant, labels_only, oracle, predictions, random_codes, random_evidence, shuffled

SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
TWO = Knowledge.of(bits(["a", "b", "c"]), {"y": "a ^ b ^ c", "z": "a & b"})


@pytest.mark.parametrize("case", range(30))
def test_f1_is_that_of_scikit_learn(case: int) -> None:
    rows, size = 1 + 7 * case, 2 + case % 6
    truth, predicted = random_codes(rows, (size, size), "f1", case).T
    if case % 3 == 1:
        truth = np.maximum(truth, 1)  # a value that is predicted only
    if case % 3 == 2:
        predicted = np.minimum(predicted, size - 2)  # a value that is true only
    occurring = f1_score(truth, predicted, labels=np.unique(truth), average="macro", zero_division=0)
    assert macro_f1(truth, predicted, size) == pytest.approx(occurring)
    here = sorted(set(truth) | set(predicted))
    by_value = f1_score(truth, predicted, labels=here, average=None, zero_division=0)
    assert f1_by_value(truth, predicted, size)[here] == pytest.approx(by_value)
    matrix = confusion_matrix(truth, predicted, labels=range(size))
    assert (confusion(truth, predicted, size) == np.pad(matrix, ((0, 0), (0, 1)))).all()


def test_f1_of_what_never_occurs() -> None:
    zeros = np.zeros(3, dtype=np.int64)
    assert np.isnan(f1_by_value(zeros, zeros, 2)[1])
    assert macro_f1(zeros, zeros, 2) == 1


def test_silence_is_wrong_and_no_value() -> None:
    truth, predicted = np.array([0, 0, 1, 1]), np.array([0, -1, -1, -1])
    assert f1_by_value(truth, predicted, 2).tolist() == [pytest.approx(2 / 3), 0]
    assert macro_f1(truth, predicted, 2) == pytest.approx(1 / 3)


def test_metrics_of_random_answers_are_those_of_scikit_learn() -> None:
    held = random_evidence(SUM, 300, "quality")
    assert METRICS["label_accuracy"](held) == pytest.approx(accuracy_score(held.labels, held.predicted_labels))
    union = f1_score(held.labels, held.predicted_labels, average="macro")
    assert METRICS["label_f1"](held) == METRICS["rsbench_label_f1"](held) == pytest.approx(union)  # all 19 sums occur
    pooled = held.concepts.ravel(), held.predicted_concepts.ravel()  # one encoder reads both digits
    both = METRICS["concept_f1"](held), METRICS["rsbench_concept_f1"](held)
    assert both == pytest.approx((f1_score(*pooled, average="macro"),) * 2)
    assert METRICS["concept_accuracy"](held) == pytest.approx(accuracy_score(*pooled))
    columns = zip(held.concepts.T, held.predicted_concepts.T, strict=True)
    each = [f1_score(truth, said, average="macro") for truth, said in columns]
    assert METRICS["concept_mean_f1"](held) == pytest.approx(np.mean(each))


def test_rsbench_averages_over_what_is_predicted_too() -> None:
    held = random_evidence(SUM, 300, "rsbench")
    held = replace(held, labels=held.labels // 2, concepts=held.concepts // 2)  # truth 0 .. 4, answers 0 .. 9
    held.predicted_concepts[:150], held.predicted_labels[:150] = held.concepts[:150], held.labels[:150]
    for what, truth, answer in (
        ("label", held.labels, held.predicted_labels),
        ("concept", held.concepts, held.predicted_concepts),
    ):
        theirs = f1_score(truth.ravel(), answer.ravel(), average="macro", zero_division=0)
        assert METRICS[f"rsbench_{what}_f1"](held) == pytest.approx(theirs)
        assert METRICS[f"{what}_f1"](held) > 1.5 * theirs  # a value that never occurs is no value with F1 = 0


def test_metrics_of_truth_values_are_those_of_scikit_learn() -> None:
    held = random_evidence(TWO, 300, "truth values")
    assert METRICS["label_mean_f1"](held) == pytest.approx(
        f1_score(held.labels, held.predicted_labels, average="macro")
    )
    assert METRICS["concept_mean_f1"](held) == pytest.approx(
        f1_score(held.concepts, held.predicted_concepts, average="macro")
    )
    assert METRICS["label_exact"](held) == pytest.approx(accuracy_score(held.labels, held.predicted_labels))
    assert METRICS["concept_exact"](held) == pytest.approx(accuracy_score(held.concepts, held.predicted_concepts))
    columns = zip(held.labels.T, held.predicted_labels.T, strict=True)
    each = [f1_score(truth, said, average="macro") for truth, said in columns]
    assert METRICS["label_f1"](held) == pytest.approx(np.mean(each))


@pytest.mark.parametrize("fixture", ["evenodd", "mnlogic"])
@pytest.mark.parametrize("name", sorted(METRICS))
def test_the_oracle_is_perfect(name: str, fixture: str, request: pytest.FixtureRequest) -> None:
    dataset: Dataset = request.getfixturevalue(fixture)
    found = METRICS[name](oracle(dataset.symbols("test")))
    assert math.isnan(found) or found == {"higher": 1.0, "lower": 0.0}[METRICS[name].better]


def test_the_constant_gets_what_is_frequent(evenodd: Dataset, mnlogic: Dataset) -> None:
    held, truth = constant(evenodd.symbols("test")), evenodd.symbols("test").labels[:, 0]
    share = (truth == truth[0]).mean()
    assert METRICS["label_accuracy"](held) == METRICS["label_exact"](held) == pytest.approx(share)
    assert METRICS["label_f1"](held) == pytest.approx(2 * share / (1 + share) / 3)  # three sums occur
    assert METRICS["concept_exact"](held) == pytest.approx(1 / 16)  # one of 16 pairs
    assert METRICS["label_accuracy"](constant(mnlogic.symbols("test"))) == 0.5


def test_the_shuffled_is_right_by_chance_only(evenodd: Dataset) -> None:
    held = shuffled(evenodd.symbols("test"))
    assert METRICS["label_accuracy"](held) == pytest.approx(0.25**2 + 0.5**2 + 0.25**2, abs=0.1)
    assert METRICS["concept_exact"](held) == pytest.approx(1 / 16, abs=0.06)


def test_silence_about_concepts_gives_nan(evenodd: Dataset) -> None:
    held = labels_only(evenodd.symbols("test"))
    spoken = {name for name in METRICS if not math.isnan(METRICS[name](held))}
    of_labels = {"label_accuracy", "label_exact", "label_f1", "rsbench_label_f1"}
    assert spoken == {*of_labels, "balanced_accuracy", "near_accuracy"}  # any change of a digit changes the sum
    assert np.isnan(METRICS["concept_accuracy"].values(held)).all()


def test_silence_about_some_concepts(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    said = data.concepts.copy()
    said[:, 1] = -1
    held = gather(data, predictions(data, data.labels, said))
    assert METRICS["concept_accuracy"](held) == METRICS["concept_f1"](held) == 1
    assert math.isnan(METRICS["concept_exact"](held)) and math.isnan(METRICS["rule_consistency"](held))


def test_an_answer_that_is_missing_is_no_value() -> None:
    truth, predicted = np.array([0, 0, 0, 1, -1]), np.array([0, -1, -1, -1, 0])
    assert confusion(truth, predicted, 2).tolist() == [[1, 0, 2], [0, 0, 1]]
    assert f1_by_value(truth, predicted, 2).tolist() == [2 * 1 / (3 + 1), 0.0]  # not 2 * 3 / (3 + 4)
    knowledge = Knowledge.of(bits(["a"]), {"y": "a"})
    silent = np.full((4, 1), -1)
    truths = np.array([[0], [0], [0], [1]])
    evidence = Evidence(knowledge, "test", truths, truths, silent, silent, (None,), (None,))
    scores = {name: METRICS[name](evidence) for name in ("label_f1", "rsbench_label_f1", "label_accuracy")}
    assert set(scores.values()) == {0.0}


def test_a_closed_set_of_labels_is_that_of_the_values_that_occur() -> None:
    held = random_evidence(SUM, 300, "closed")
    probabilities = rng_for(0, "closed").dirichlet(np.ones(19), size=300)
    held = replace(held, labels=held.labels % 3 + 6, label_probabilities=(probabilities,))  # only 6, 7 and 8 occur
    allowed = np.array([6, 7, 8])[probabilities[:, [6, 7, 8]].argmax(axis=1)]
    theirs = f1_score(held.labels[:, 0], allowed, average="macro")
    assert METRICS["closed_label_f1"](held) == pytest.approx(theirs)
    assert METRICS["rsbench_label_f1"](held) < theirs
    silent = replace(held, label_probabilities=(None,))
    assert math.isnan(METRICS["closed_label_f1"](silent))


def test_a_closed_set_is_nothing_of_its_own_where_all_values_occur() -> None:
    assert math.isnan(METRICS["closed_label_f1"](random_evidence(SUM, 300, "quality")))


def test_a_label_that_is_never_true_nor_said_to_be_has_no_f1_to_add() -> None:
    held = random_evidence(TWO, 60, "never")
    held.labels[:, 1] = held.predicted_labels[:, 1] = 0
    first = f1_score(held.labels[:, 0], held.predicted_labels[:, 0])
    assert METRICS["label_mean_f1"](held) == pytest.approx(first / 2)
    assert METRICS["label_f1"](held) > first / 2  # where "false" counts as a value, it is always right
