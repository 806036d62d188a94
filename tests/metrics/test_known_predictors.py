"""Scores that must come out: six examples counted by hand, and the oracle, the constant, the shuffled, the silent."""

import math

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score

from assay import Concept, ConceptSpace, Constraint, EncoderGroup, Evidence, Knowledge, gather, parse
from assay.metrics import METRICS, confusion, label_f1
from tests.predictors import constant, labels_only, oracle, predictions, random_codes, reading, shuffled

SPACE = ConceptSpace(
    (Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("t", (False, True))),
    encoders=(EncoderGroup("digit", ("a", "b")), EncoderGroup("bit", ("t",))),
)
RULE = Knowledge.of(
    SPACE, {"y": "a > b", "s": "a + b"}, [Constraint("less", parse("a + b < 4")), Constraint("odd", parse("not (t and a == 0)"))]
)  # fmt: skip
#                 a  b  t    said        says y, s
ROWS = [
    ((0, 0, 0), (0, 0, 0), (0, 0)),  # all right
    ((1, 0, 1), (1, 0, 0), (1, 1)),  # t is wrong
    ((2, 1, 1), (2, 2, 1), (0, 4)),  # b is wrong, breaks `less`; labels follow from what is said
    ((1, 1, 0), (0, 1, 1), (0, 2)),  # a and t are wrong, breaks `odd`; labels do not follow
    ((2, 0, 1), (2, -1, 1), (1, 2)),  # silent of b
    ((0, 2, 1), (0, 2, 1), (1, 2)),  # right, but breaks `odd`, and y does not follow
]


def evidence(rows=ROWS):
    true, said, labels = (np.array(part) for part in zip(*rows, strict=True))
    return Evidence(RULE, "test", RULE.labels_of(true), true, labels, said, (None, None), (None,) * 3)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("label_accuracy", np.mean([1, 1, 0, 1, 1, 0.5])), ("label_exact", 4 / 6), ("concept_accuracy", np.mean([1, 2 / 3, 2 / 3, 1 / 3, 2 / 3, 1])),
        ("concept_exact", 2 / 6), ("rule_consistency", np.mean([1, 1, 1, 0, 0])), ("violation_rate", 3 / 5), ("mean_violations", 3 / 5),
        # a guess breaks `less` in 1 of 9 worlds, `odd` in 1 of 6
        ("violations_vs_random", (3 / 5) / (1 / 9 + 1 / 6)),
        # things: a, b always, t where true: 2 hits of 2 + 2; 2 of 3 + 2; 2 of 3 + 3; 1 of 2 + 3; ..; 3 of 3 + 3
        ("set_f1", np.mean([1, 4 / 5, 4 / 6, 2 / 5, 1])), ("sane_f1", np.mean([1, 4 / 5, 0, 0, 0])), ("f1_room", np.mean([0, 0, 4 / 6, 2 / 5, 1])),
        # y: true 0 1 1 0 1 0, said 0 1 0 0 1 1; s: true 0 1 3 2 2 2, said 0 1 4 2 2 2
        ("label_f1", np.mean([np.mean([2 * 2 / 6, 2 * 2 / 6]), np.mean([1, 1, 1, 0])])), ("label_mean_f1", 4 / 6),
        ("rsbench_label_f1", np.mean([4 / 6, np.mean([1, 1, 1, 0, 0])])),
        ("balanced_accuracy", np.mean([np.mean([2 / 3, 2 / 3]), np.mean([1, 1, 1, 0])])),
        # digits pooled: true 0 1 2 1 2 0 0 0 1 1 0 2, said 0 1 2 0 2 0 0 0 2 1 - 2
        ("concept_f1", np.mean([np.mean([2 * 4 / (5 + 5), 2 * 2 / (4 + 2), 2 * 3 / (3 + 4)]), np.mean([2 * 1 / (2 + 2), 2 * 3 / (4 + 4)])])),
        ("concept_mean_f1", np.mean([np.mean([2 * 2 / (2 + 3), 2 * 1 / (2 + 1), 1]), np.mean([2 * 2 / (3 + 2), 2 * 1 / (2 + 1), 2 * 1 / (1 + 2)]), 6 / 8])),
        ("collapse", 0.0), ("collapse_joint", 1 - 5 / 9),
    ],
)  # fmt: skip
def test_metrics_by_hand(name, expected):
    assert METRICS[name](evidence()) == pytest.approx(expected)


def test_a_value_that_is_never_said_collapses():
    held = evidence([((a, b, 1), (min(a, 1), min(b, 1), 1), (0, 0)) for a in range(3) for b in range(3)])
    assert METRICS["collapse"](held) == pytest.approx((1 / 3 + 0) / 2)
    assert METRICS["collapse_joint"](held) == pytest.approx(1 - 4 / 9)


@pytest.mark.parametrize("case", range(8))
def test_collapse_is_that_of_the_papers_confusion_matrix(case):
    truth, said = random_codes(3 + 5 * case, (8, 8), "collapse", case).T
    values = sorted({*truth.tolist(), *said.tolist()})
    matrix = confusion_matrix(truth, said, labels=values)
    space = ConceptSpace((Concept("c", tuple(range(8))),))
    labels = np.zeros((len(truth), 1), dtype=int)
    both = truth[:, None], labels, said[:, None]
    held = Evidence(Knowledge.of(space, {"y": "c > 3"}), "test", labels, *both, (None,), (None,))
    assert METRICS["collapse"](held) == pytest.approx(1 - np.clip(matrix.max(axis=0), 0, 1).sum() / len(values))


@pytest.mark.parametrize("case", range(6))
def test_confusions_are_those_of_scikit_learn_with_a_column_for_silence(case):
    truth, said = random_codes(1 + 30 * case, (2 + case, 2 + case), "confusion", case).T
    weights = 1 + np.arange(len(truth)) % 3
    matrix = confusion_matrix(truth, said, labels=range(2 + case), sample_weight=weights)
    silent, unknown = np.append(said, [-1, 0]), np.append(truth, [1, -1])
    found = confusion(unknown, silent, 2 + case, np.append(weights, [5, 9]))
    assert found[:, :-1].tolist() == matrix.tolist() and found[:, -1].tolist() == [0, 5, *[0] * case]
    assert label_f1(truth, said) == pytest.approx(
        f1_score(truth, said, labels=np.unique(truth), average="macro", zero_division=0)
    )


# -- predictors on datasets --------------------------------------------------------------------------------------------


def test_the_constant_gets_what_is_frequent(evenodd, mnlogic):
    data, bits = evenodd.symbols("test"), mnlogic.symbols("test")
    held, share = constant(data), (data.labels[:, 0] == data.labels[0, 0]).mean()
    assert METRICS["label_accuracy"](held) == METRICS["label_exact"](held) == pytest.approx(share)
    assert METRICS["label_f1"](held) == pytest.approx(2 * share / (1 + share) / 3)  # three sums occur
    assert METRICS["concept_exact"](held) == pytest.approx(1 / 16)  # one of 16 pairs
    assert METRICS["collapse"](held) == pytest.approx(1 - len(set(data.concepts[0].tolist())) / 10)
    assert METRICS["collapse_joint"](held) == pytest.approx(15 / 16)
    assert METRICS["label_accuracy"](constant(bits)) == METRICS["collapse"](constant(bits)) == 0.5


def test_the_shuffled_is_right_by_chance_only_and_loses_no_value(evenodd):
    held = shuffled(evenodd.symbols("test"))
    assert METRICS["label_accuracy"](held) == pytest.approx(0.25**2 + 0.5**2 + 0.25**2, abs=0.1)
    assert METRICS["concept_exact"](held) == pytest.approx(1 / 16, abs=0.06)
    assert METRICS["collapse"](held) == METRICS["collapse_joint"](held) == 0


def test_a_wrong_reading_can_be_consistent_and_right_labels_need_not_be(evenodd):
    data, test = evenodd.symbols("ood"), evenodd.symbols("test")
    held = reading(data, np.array([np.roll(np.arange(10), 3)] * 2))
    assert METRICS["rule_consistency"](held) == 1 and METRICS["concept_accuracy"](held) == 0
    lucky = gather(test, predictions(test, test.labels, np.zeros_like(test.concepts)))
    assert METRICS["label_accuracy"](lucky) == 1 and METRICS["rule_consistency"](lucky) == 0
    halves = reading(test, np.array([np.arange(10) // 2 * 2] * 2))
    assert METRICS["collapse"](halves) == 0.5
    assert math.isnan(METRICS["violation_rate"](oracle(test)))  # the rule has no constraint


def test_silence_about_concepts_is_no_number(evenodd):
    held = labels_only(evenodd.symbols("test"))
    spoken = {name for name in METRICS if not math.isnan(METRICS[name](held))}
    of_labels = {"label_accuracy", "label_exact", "label_f1", "rsbench_label_f1"}
    assert spoken == {*of_labels, "balanced_accuracy", "near_accuracy"}  # any change of a digit changes the sum


def test_less_is_better_of_errors_and_collapse_and_more_of_all_else():
    assert {name for name in METRICS if METRICS[name].better == "lower"} == {
        "collapse", "collapse_block", "collapse_joint", "collapse_object", "collapse_object_transposed", "concept_ece",
        "f1_room", "label_ece", "mean_violations", "violation_rate", "violations_vs_random",
    }  # fmt: skip
