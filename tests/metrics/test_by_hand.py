"""Every metric of codes on six examples counted by hand."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, EncoderGroup, bits
from assay.errors import DataError
from assay.logic import Constraint, Knowledge, parse
from assay.metrics import (
    METRICS,
    Between,
    Evidence,
    RunningMetric,
    accuracy,
    codes_of,
    collapse,
    concept_f1,
    exact_match,
    rule_consistency,
    uniform_guesser,
)

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


def test_labels_are_what_the_comments_say():
    assert evidence().labels.tolist() == [[0, 0], [1, 1], [1, 3], [0, 2], [1, 2], [0, 2]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("label_accuracy", np.mean([1, 1, 0, 1, 1, 0.5])), ("label_exact", 4 / 6), ("concept_accuracy", np.mean([1, 2 / 3, 2 / 3, 1 / 3, 2 / 3, 1])),
        ("concept_exact", 2 / 6), ("rule_consistency", np.mean([1, 1, 1, 0, 0])), ("violation_rate", 3 / 5), ("mean_violations", 3 / 5),
        # things: a, b always, t where true: 2 hits of 2 + 2; 2 of 3 + 2; 2 of 3 + 3; 1 of 2 + 3; ..; 3 of 3 + 3
        ("set_f1", np.mean([1, 4 / 5, 4 / 6, 2 / 5, 1])), ("sane_f1", np.mean([1, 4 / 5, 0, 0, 0])), ("f1_room", np.mean([0, 0, 4 / 6, 2 / 5, 1])),
        # y: true 0 1 1 0 1 0, said 0 1 0 0 1 1; s: true 0 1 3 2 2 2, said 0 1 4 2 2 2
        ("label_f1", np.mean([np.mean([2 * 2 / 6, 2 * 2 / 6]), np.mean([1, 1, 1, 0])])), ("label_mean_f1", 4 / 6),
        ("rsbench_label_f1", np.mean([4 / 6, np.mean([1, 1, 1, 0, 0])])),
        ("balanced_accuracy", np.mean([np.mean([2 / 3, 2 / 3]), np.mean([1, 1, 1, 0])])),
        # digits pooled: true 0 1 2 1 2 0 0 0 1 1 0 2, said 0 1 2 0 2 0 0 0 2 1 - 2
        ("concept_f1", np.mean([np.mean([2 * 4 / (5 + 5), 2 * 2 / (4 + 2), 2 * 3 / (3 + 4)]), np.mean([2 * 1 / (2 + 2), 2 * 3 / (4 + 4)])])),
        ("concept_mean_f1", np.mean([np.mean([2 * 2 / (2 + 3), 2 * 1 / (2 + 1), 1]), np.mean([2 * 2 / (3 + 2), 2 * 1 / (2 + 1), 2 * 1 / (1 + 2)]), 6 / 8])),
        ("collapse", 0.0),
    ],
)  # fmt: skip
def test_metrics_by_hand(name, expected):
    assert METRICS[name](evidence()) == pytest.approx(expected)


def test_a_value_that_is_never_said_collapses():
    rows = [((a, b, 1), (min(a, 1), min(b, 1), 1), (0, 0)) for a in range(3) for b in range(3)]
    found = evidence(rows)
    assert METRICS["collapse"](found) == pytest.approx((1 / 3 + 0) / 2)
    assert METRICS["collapse_joint"](found) == pytest.approx(1 - 4 / 9)


def test_violations_beside_a_guesser():
    # a guess breaks `less` in 1 of 9 worlds, `odd` in 1 of 6
    assert METRICS["violations_vs_random"](evidence()) == pytest.approx((3 / 5) / (1 / 9 + 1 / 6))


def test_functions_leave_out_what_is_not_known():
    truth, said = [[0, 1], [1, -1], [2, 0]], [[0, 0], [1, 1], [-1, 0]]
    assert accuracy(truth, said) == 3 / 5 and exact_match(truth, said) == 1 / 3
    assert collapse(truth, said) == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert concept_f1([0, 1, 1], [0, 1, 0]) == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert np.isnan(concept_f1([[-1], [-1]], [[0], [1]])) and np.isnan(rule_consistency([[1, 1]], [[0, 1, -1]], RULE))
    assert rule_consistency([[0, 0], [1, 1], [1, 3]], [[0, 0, 1], [1, 0, 1], [0, 0, -1]], RULE) == 1.0
    for groups in ([[0, 2]], [[-1]]):
        with pytest.raises(DataError, match="there are columns 0 to 1"):
            concept_f1(truth, said, groups)


def test_codes_and_probabilities_are_told_apart():
    assert codes_of([[0.2, 0.8], [0.6, 0.4]]).tolist() == [[1], [0]] and codes_of([[0.0], [1.0]]).tolist() == [[0], [1]]
    assert codes_of([np.array([[0.2, 0.8]]), np.array([[0.1, 0.2, 0.7]])]).tolist() == [[1, 2]] and codes_of(
        [True, False]
    ).tolist() == [[1], [0]]
    for wrong in ([0.5, 1.0], [-2, 0], ["a"], [np.nan, 1.0]):
        with pytest.raises(DataError):
            codes_of(wrong)
    metric = RunningMetric(accuracy)
    assert metric([1, 0], [1, 1]) == 0.5 and metric([1, 1], [1, 1]) == 1.0 and metric.compute() == 0.75
    assert repr(metric) == "RunningMetric(accuracy, 4 examples)"
    metric.reset()
    with pytest.raises(DataError, match="has seen no example"):
        metric.compute()


def test_a_guess_of_nothing_is_no_sane_answer_where_something_must_be():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"}, [Constraint("some", parse("a or b"))])
    guesser, nothing = uniform_guesser(knowledge), np.array([[0, 0]])
    assert guesser.set_f1(nothing) == pytest.approx(0.25)  # both guess nothing
    assert guesser.sane_f1(nothing) == Between(0.0, 0.0)
    assert guesser.contradiction_rate().low == pytest.approx(0.25) and guesser.exact_match(nothing) == pytest.approx(
        0.25
    )
