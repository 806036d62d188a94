"""Metrics of plain arrays are those of evidence, whatever the arrays are made of."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

import assay
from assay.concepts import bits
from assay.errors import DataError
from assay.logic import Knowledge
from assay.metrics import METRICS, Evidence, codes_of

RNG = np.random.default_rng(0)
ROWS = 400
KNOWLEDGE = Knowledge.of(bits(["a", "b", "c"], shared=True), {"y": "a and b or c", "z": "a + b + c"})
CONCEPTS = RNG.integers(0, 2, (ROWS, 3))
READ = np.where(RNG.random((ROWS, 3)) < 0.8, CONCEPTS, 1)
LABELS = KNOWLEDGE.labels_of(CONCEPTS)
SAID = np.where(RNG.random((ROWS, 2)) < 0.8, KNOWLEDGE.labels_of(READ), 0)
EVIDENCE = Evidence(KNOWLEDGE, "test", LABELS, CONCEPTS, SAID, READ, (None, None), (None, None, None))
GROUPS = [[0, 1, 2]]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("label_accuracy", assay.accuracy(LABELS, SAID)),
        ("label_exact", assay.exact_match(LABELS, SAID)),
        ("concept_accuracy", assay.accuracy(CONCEPTS, READ)),
        ("label_f1", assay.label_f1(LABELS, SAID)),
        ("concept_f1", assay.concept_f1(CONCEPTS, READ, groups=GROUPS)),
        ("collapse", assay.collapse(CONCEPTS, READ, groups=GROUPS)),
        ("rule_consistency", assay.rule_consistency(SAID, READ, KNOWLEDGE)),
    ],
)
def test_the_numbers_are_those_of_the_metric(name, number):
    assert number == pytest.approx(METRICS[name](EVIDENCE), abs=1e-12)


def test_arrays_lists_tensors_and_frames_say_the_same():
    number = assay.concept_f1(CONCEPTS, READ)
    frame = pd.DataFrame(READ, columns=["a", "b", "c"])
    for given in (READ.tolist(), torch.tensor(READ), frame, [np.eye(2)[READ[:, i]] for i in range(3)]):
        assert assay.concept_f1(CONCEPTS, given) == number
    logits = torch.nn.functional.one_hot(torch.tensor(READ[:, 0]), 2) * 3.0 - 1.0
    assert assay.accuracy(CONCEPTS[:, 0], logits.requires_grad_()) == (CONCEPTS[:, 0] == READ[:, 0]).mean()
    assert assay.accuracy(CONCEPTS == 1, READ == 1) == assay.accuracy(CONCEPTS, READ)


def test_what_is_unknown_is_left_out_and_silence_is_an_error():
    assert assay.accuracy([0, -1, 1], [0, 1, 1]) == 1.0
    assert assay.accuracy([0, 1, 1], [0, -1, 1]) == pytest.approx(2 / 3)
    assert assay.concept_f1([[-1, 0], [-1, 1]], [[0, 0], [1, 1]]) == 1.0
    assert math.isnan(assay.rule_consistency([[0, 0]], [[-1, 0, 0]], KNOWLEDGE))


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
    metric = assay.RunningMetric(assay.label_f1)
    metric.update(torch.tensor([[0.9, 0.1]]), torch.tensor([0]))
    assert metric.compute() == 1.0
    rule = assay.RunningMetric(assay.rule_consistency, knowledge=KNOWLEDGE)
    rule.update(READ, SAID)
    assert rule.compute() == assay.rule_consistency(SAID, READ, KNOWLEDGE)


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        ([0, 1], [0, 1, 1], "expected as many predictions as there are true values"),
        ([0, 1], [0.3, 0.9], "one column of probabilities is no code"),
        ([0, 1], [[0.5, math.nan], [0.5, 0.5]], "codes must be whole numbers"),
        ([0, 1], ["a", "b"], "expected codes or probabilities"),
        ([], [], "expected as many predictions"),
    ],
)
def test_what_does_not_fit_is_one_line(truth, predicted, message):
    with pytest.raises(DataError, match=message):
        assay.accuracy(truth, predicted)


def test_rule_consistency_says_which_columns_it_wants():
    with pytest.raises(DataError, match="expected 2 columns of labels and 3 of concepts"):
        assay.rule_consistency(SAID[:, 0], READ, KNOWLEDGE)
    assert codes_of(np.array([True, False])).tolist() == [[1], [0]]


def test_what_is_not_known_makes_no_example_wrong():
    assert assay.metrics.functions.exact_match([[0, -1], [1, 1], [-1, 0]], [[0, 1], [1, 0], [1, 0]]) == 2 / 3
