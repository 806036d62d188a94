"""Where examples lie in a rule: variants, near-boundary types and far, by hand, on a lazy predictor, and without any."""

import math

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from assay import METRICS, Evidence, Knowledge, bits, digits, gather
from assay.metrics import balanced_accuracy, score
from tests.predictors import constant, predictions, random_codes, random_evidence

RULE = Knowledge.of(bits([*"abcd"]), {"y": "a and (b or c)"})
TWO = Knowledge.of(bits([*"abc"]), {"y": "a and b", "z": "b or c"})
SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
NAMES = ["balanced_accuracy", "variant_accuracy", "near_accuracy", "far_accuracy"]
WORLDS = [  # codes of a, b, c, d; whether the model is right
    ((1, 1, 0, 0), True),  # a and b
    ((1, 1, 1, 0), False),  # both variants
    ((1, 0, 1, 0), True),  # a and c
    ((1, 0, 0, 0), False),  # a and not b and not c
    ((0, 1, 0, 0), True),  # not a and b
    ((0, 1, 1, 1), False),  # not a and b, not a and c
    ((0, 0, 0, 0), True),  # far
    ((0, 0, 0, 1), True),  # far
]


def evidence(knowledge, codes, said):
    silent = (None,) * len(knowledge.labels), (None,) * len(knowledge.space)
    return Evidence(knowledge, "test", knowledge.labels_of(codes), codes, said, codes, *silent)


def by_hand():
    codes, right = np.array([row for row, _ in WORLDS]), np.array([[right] for _, right in WORLDS])
    truth = RULE.labels_of(codes)
    return evidence(RULE, codes, np.where(right, truth, 1 - truth))


def values(held):
    return {name: METRICS[name](held) for name in NAMES}


def test_values_by_hand():
    assert values(by_hand()) == {
        "balanced_accuracy": pytest.approx((2 / 3 + 3 / 5) / 2),
        "variant_accuracy": pytest.approx((1 / 2 + 1 / 2) / 2),
        "near_accuracy": pytest.approx((1 / 2 + 0 + 0) / 3),  # not a and b; a and not b and not c; not a and c
        "far_accuracy": 1.0,
    }


def test_where_examples_lie_by_hand():
    side = by_hand().sides[0]
    assert side.variants == ("a and b", "a and c")
    assert set(side.types) == {"not a and b", "not a and c", "a and not b and not c"}
    assert side.in_variants.sum(axis=0).tolist() == [2, 2] and side.far.tolist() == [False] * 6 + [True] * 2
    both = dict(zip(side.types, side.in_types.T.tolist(), strict=True))
    assert np.flatnonzero(both["not a and b"]).tolist() == [4, 5]
    assert np.flatnonzero(both["not a and c"]).tolist() == [5]


def test_examples_lie_nowhere_where_a_concept_is_not_known_and_keep_where_they_lie():
    held = random_evidence(TWO, 300, "sides")
    gaps = held.concepts.copy()
    gaps[::7, 0], gaps[3::11, 1] = -1, -1
    gone = (gaps < 0).any(axis=1)
    holed = Evidence(TWO, "test", held.labels, gaps, held.predicted_labels, held.concepts, (None, None), (None,) * 3)
    rows = np.array([0, 0, 5, 299])
    for side, whole, taken in zip(holed.sides, held.sides, holed.take(rows).sides, strict=True):
        assert not side.in_types[gone].any() and not side.in_variants[gone].any() and not side.far[gone].any()
        assert side.in_types[~gone].tolist() == whole.in_types[~gone].tolist()
        assert side.far[~gone].tolist() == whole.far[~gone].tolist()
        assert taken.in_types.tolist() == side.in_types[rows].tolist() and taken.far.tolist() == side.far[rows].tolist()


@pytest.mark.parametrize("case", range(6))
def test_balanced_accuracy_is_that_of_scikit_learn_and_rows_may_stand_for_several(case):
    truth, said = random_codes(20 + 5 * case, (2 + case % 4,) * 2, "balanced", case).T
    said = np.where(np.isin(said, truth), said, truth[0])  # scikit-learn warns of values that never are true
    often = 1 + np.arange(len(truth)) % 4
    assert balanced_accuracy(truth, said) == pytest.approx(balanced_accuracy_score(truth, said))
    expected = balanced_accuracy_score(truth, said, sample_weight=often)
    assert balanced_accuracy(truth, said, often) == pytest.approx(expected)


def test_who_tells_the_clear_cases_apart_only_fails_near_the_boundary(made):
    sizes = {"train": 64, "valid": 8, "test": 400, "hard": 600}
    rule = {"k": 8, "formula": "a & b & c", "prop_in_distribution": 1.0}
    dataset = made("mnlogic", pixels=True, **rule, splits=sizes, balance="world")
    found = {}
    for split in ("test", "hard"):
        data = dataset.symbols(split)
        said = (data.concepts[:, :3].sum(axis=1) >= 2).astype(np.int64)  # two of the three are enough for it
        found[split] = values(gather(data, predictions(data, said[:, None])))
        assert (found[split]["variant_accuracy"], found[split]["near_accuracy"]) == (1, 0)
        assert found[split]["far_accuracy"] == 1
    # of 3 types and the far ones, one right
    assert found["hard"]["balanced_accuracy"] == pytest.approx((1 + 1 / 4) / 2)
    assert found["test"]["balanced_accuracy"] > 0.7 > found["hard"]["balanced_accuracy"]


def test_the_constant_is_right_on_one_side_only(mnlogic):
    data = mnlogic.symbols("hard")
    found = values(constant(data))
    assert found["balanced_accuracy"] == 0.5
    assert (found["variant_accuracy"], found["near_accuracy"]) == ((1, 0) if data.labels[0, 0] else (0, 1))


def test_a_number_has_no_variants_and_is_near_where_a_change_moves_it(evenodd):
    held = random_evidence(SUM, 200, "sums")
    found = values(held)
    assert math.isnan(found["variant_accuracy"]) and math.isnan(found["far_accuracy"])
    assert found["near_accuracy"] == pytest.approx(METRICS["label_accuracy"](held))
    assert held.sides[0].types == ("change a", "change b") and held.sides[0].in_types.all()
    assert METRICS["near_accuracy"](constant(evenodd.symbols("hard"))) < 1
    knowledge = Knowledge.of(bits([*"abc"]), {"s": "1 + a * (1 + b)"})
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])  # b matters only where a is true, c never
    held = evidence(knowledge, codes, np.where(np.arange(4)[:, None] == 3, 0, knowledge.labels_of(codes)))
    assert held.sides[0].in_types.tolist() == [[True, False, False]] * 2 + [[True, True, False]] * 2
    assert METRICS["near_accuracy"](held) == pytest.approx((3 / 4 + 1 / 2) / 2)  # c, which changes nothing, aside


@pytest.mark.parametrize(
    ("rows", "there"),
    [([6, 7], {"far_accuracy"}), ([0, 1, 2], {"variant_accuracy"}), ([3, 4, 5], {"near_accuracy"}), ([0, 6], {*NAMES} - {"near_accuracy"})],
)  # fmt: skip
def test_an_empty_region_gives_nan(rows, there):
    found = score(by_hand().take(np.array(rows)), NAMES)
    assert {name for name in NAMES if found[name].applies} == there | {"balanced_accuracy"}


def test_labels_and_regions_without_an_example_are_left_out_of_the_average():
    held = by_hand().take(np.array([0, 3, 4]))  # one variant and two types are there
    assert METRICS["variant_accuracy"](held) == 1 and METRICS["near_accuracy"](held) == pytest.approx(1 / 2)
    codes = np.array([[0, 0, 0], [1, 1, 0]])  # of z the first is near, the second a variant; of y far, and a variant
    assert values(evidence(TWO, codes, np.array([[0, 1], [0, 1]]))) == {
        "balanced_accuracy": pytest.approx((1 / 2 + 1 / 2) / 2),
        "variant_accuracy": pytest.approx((0 + 1) / 2),
        "near_accuracy": 0.0,
        "far_accuracy": 1.0,
    }
