"""Metrics of plain arrays are those of evidence, whatever the arrays are made of."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import f1_score

import assay
from assay import METRICS, Evidence, Knowledge, bits, class_indices
from assay.base import DataError

RNG = np.random.default_rng(0)
ROWS = 400
KNOWLEDGE = Knowledge.of(bits(["a", "b", "c"], shared=True), {"y": "a and b or c", "z": "a + b + c"})
CONCEPTS = RNG.integers(0, 2, (ROWS, 3))
READ = np.where(RNG.random((ROWS, 3)) < 0.8, CONCEPTS, 1)
LABELS = KNOWLEDGE.labels_of(CONCEPTS)
SAID = np.where(RNG.random((ROWS, 2)) < 0.8, KNOWLEDGE.labels_of(READ), 0)
GROUPS = [[0, 1, 2]]


@pytest.mark.parametrize(
    ("truth", "said"), [([0, 1, 3, 3], [0, 1, 0, 1]), ([0, 0, 1, 1], [0, 4, 1, 4]), ([2, 2], [2, 2])]
)
def test_f1_is_of_every_value_that_occurs(truth, said):
    expected = f1_score(truth, said, labels=np.unique(truth), average="macro", zero_division=0)
    assert assay.label_f1(truth, said) == assay.concept_f1(truth, said) == pytest.approx(expected)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_the_numbers_are_those_of_the_metric(gaps):
    concepts = np.where(RNG.random(CONCEPTS.shape) < gaps, -1, CONCEPTS)
    read = np.where(RNG.random(CONCEPTS.shape) < gaps, -1, READ)
    held = Evidence(KNOWLEDGE, "test", LABELS, concepts, SAID, read, (None, None), (None, None, None))
    numbers = {
        "label_accuracy": assay.accuracy(LABELS, SAID), "label_exact": assay.exact_match(LABELS, SAID),
        "label_f1": assay.label_f1(LABELS, SAID), "concept_f1": assay.concept_f1(concepts, read, groups=GROUPS),
        "collapse": assay.collapse(concepts, read, groups=GROUPS), "rule_consistency": assay.rule_consistency(SAID, read, KNOWLEDGE),
    }  # fmt: skip
    assert numbers == {name: pytest.approx(METRICS[name](held), abs=1e-12) for name in numbers}


def test_arrays_lists_tensors_and_frames_say_the_same():
    number = assay.concept_f1(CONCEPTS, READ)
    frame = pd.DataFrame(READ, columns=["a", "b", "c"])
    tables = [np.eye(2)[READ[:, i]] for i in range(3)]
    for given in (READ.tolist(), torch.tensor(READ), frame, tables, tuple(tables)):
        assert assay.concept_f1(CONCEPTS, given) == number
    logits = torch.nn.functional.one_hot(torch.tensor(READ[:, 0]), 2) * 3.0 - 1.0
    assert assay.accuracy(CONCEPTS[:, 0], logits.requires_grad_()) == (CONCEPTS[:, 0] == READ[:, 0]).mean()
    assert assay.accuracy(CONCEPTS == 1, READ == 1) == assay.accuracy(CONCEPTS, READ)


def test_codes_and_probabilities_are_told_apart():
    for given, codes in (
        ([[0.2, 0.8], [0.6, 0.4]], [[1], [0]]), ([[0.0], [1.0]], [[0], [1]]), ([True, False], [[1], [0]]), ([[3, -1]], [[3, -1]]),
        ([np.array([[0.2, 0.8]]), np.array([[0.1, 0.2, 0.7]])], [[1, 2]]), ([[-1.0], [2.0]], [[-1], [2]]),
    ):  # fmt: skip
        assert class_indices(given).tolist() == codes
    for wrong in ([0.5, 1.0], [-2, 0], [[0, 1], [-3, 0]], [np.nan, 1.0], [math.inf]):
        with pytest.raises(DataError, match="codes must be whole numbers from 0, or -1"):
            class_indices(wrong)
    for wrong in (["a"], np.zeros((2, 2, 2))):
        with pytest.raises(DataError, match="in one or two dimensions"):
            class_indices(wrong)


def test_what_is_unknown_is_left_out_and_silence_is_an_error():
    truth, said = [[0, 1], [1, -1], [2, 0]], [[0, 0], [1, 1], [-1, 0]]
    assert assay.accuracy(truth, said) == 3 / 5 and assay.exact_match(truth, said) == 1 / 3
    assert assay.collapse(truth, said) == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert assay.exact_match([[0, -1], [1, 1], [-1, 0]], [[0, 1], [1, 0], [1, 0]]) == 2 / 3
    assert assay.concept_f1([0, 0, 1], [0, 3, 1]) == pytest.approx(
        (2 / 3 + 1) / 2
    )  # 3 is said, and no value of its own
    assert math.isnan(assay.concept_f1([[-1], [-1]], [[0], [1]])) and math.isnan(
        assay.concept_f1(truth, said, groups=[])
    )
    assert math.isnan(assay.rule_consistency([[0, 0]], [[-1, 0, 0]], KNOWLEDGE))


def test_groups_pool_what_is_known_of_their_columns():
    truth, said = [[0, 1, -1], [1, -1, -1], [1, 0, -1]], [[0, 0, 1], [-1, 1, 1], [1, 0, 0]]
    # of 0: two true, two said right and one said wrongly; of 1: three true, one said right
    assert assay.concept_f1(truth, said, groups=[[1, 0], [2]]) == pytest.approx((4 / 5 + 2 / 4) / 2)
    for groups in ([[0, 3]], [[-1]]):
        with pytest.raises(DataError, match="there are columns 0 to 2"):
            assay.concept_f1(truth, said, groups)


def test_a_loop_gives_the_number_of_all_examples_at_once():
    metric = assay.RunningMetric(assay.concept_f1, groups=GROUPS)
    with pytest.raises(DataError, match=r"call update\(preds, target\) first"):
        metric.compute()
    for rows in np.array_split(np.arange(ROWS), 7):
        alone = metric(READ[rows], CONCEPTS[rows])
        assert alone == assay.concept_f1(CONCEPTS[rows], READ[rows], groups=GROUPS)
    assert metric.compute() == assay.concept_f1(CONCEPTS, READ, groups=GROUPS)
    assert repr(metric) == "RunningMetric(concept_f1, 400 examples)"
    metric.reset()
    metric.update([0], [0])
    with pytest.raises(DataError, match=r"groups: there are columns 0 to 0, not all of \[\[0, 1, 2\]\]"):
        metric.compute()
    rule = assay.RunningMetric(assay.rule_consistency, knowledge=KNOWLEDGE)
    rule.update(READ, SAID)
    assert rule.compute() == assay.rule_consistency(SAID, READ, KNOWLEDGE)


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        ([0, 1], [0, 1, 1], "expected as many predictions as there are true values"),
        ([0, 1], [[0, 1], [1, 1]], r"not \(2, 2\) for \(2, 1\)"),
        ([0, 1], [0.3, 0.9], "one column of probabilities is no code"),
        ([0, 1], [[0.5, math.nan], [0.5, 0.5]], "codes must be whole numbers"),
        ([0, 1], ["a", "b"], "expected codes or probabilities"),
        ([], [], "expected as many predictions"),
    ],
)
@pytest.mark.parametrize(
    "function", [assay.accuracy, assay.exact_match, assay.label_f1, assay.concept_f1, assay.collapse]
)
def test_what_does_not_fit_is_one_line(function, truth, predicted, message):
    with pytest.raises(DataError, match=message):
        function(truth, predicted)


def test_rule_consistency_says_which_columns_it_wants():
    for labels, concepts in ((SAID[:, 0], READ), (SAID[:4], READ)):
        with pytest.raises(DataError, match="expected 2 columns of labels and 3 of concepts, with as many rows"):
            assay.rule_consistency(labels, concepts, KNOWLEDGE)
