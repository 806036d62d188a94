"""Accuracy on variants, near the boundary and far from it: by hand, on a lazy predictor, and where nothing is there."""

import math

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from assay.arrays import Codes
from assay.concepts import bits, digits
from assay.data import Dataset
from assay.logic import Boundary, Knowledge
from assay.metrics import METRICS, Evidence, accuracy_by_region, balanced_accuracy, gather, score
from tests.conftest import Made
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


def evidence(knowledge: Knowledge, codes: Codes, said: Codes) -> Evidence:
    silent = (None,) * len(knowledge.labels), (None,) * len(knowledge.space)
    return Evidence(knowledge, "test", knowledge.labels_of(codes), codes, said, codes, *silent)


def by_hand() -> Evidence:
    codes, right = np.array([row for row, _ in WORLDS]), np.array([[right] for _, right in WORLDS])
    truth = RULE.labels_of(codes)
    return evidence(RULE, codes, np.where(right, truth, 1 - truth))


def values(held: Evidence) -> dict[str, float]:
    return {name: METRICS[name](held) for name in NAMES}


def test_values_by_hand() -> None:
    assert values(by_hand()) == {
        "balanced_accuracy": pytest.approx((2 / 3 + 3 / 5) / 2),
        "variant_accuracy": pytest.approx((1 / 2 + 1 / 2) / 2),
        "near_accuracy": pytest.approx((1 / 2 + 0 + 0) / 3),  # not a and b; a and not b and not c; not a and c
        "far_accuracy": 1.0,
    }


def test_where_examples_lie_by_hand() -> None:
    side = by_hand().sides[0]
    assert side.variants == ("a and b", "a and c")
    assert set(side.types) == {"not a and b", "not a and c", "a and not b and not c"}
    assert side.in_variants.sum(axis=0).tolist() == [2, 2] and side.far.tolist() == [False] * 6 + [True] * 2
    both = dict(zip(side.types, side.in_types.T.tolist(), strict=True))
    assert np.flatnonzero(both["not a and b"]).tolist() == [4, 5] and np.flatnonzero(both["not a and c"]).tolist() == [
        5
    ]


@pytest.mark.parametrize("case", range(10))
def test_balanced_accuracy_is_that_of_scikit_learn(case: int) -> None:
    truth, said = random_codes(20 + 5 * case, (2 + case % 4,) * 2, "balanced", case).T
    said = np.where(np.isin(said, truth), said, truth[0])  # scikit-learn warns of values that never are true
    assert balanced_accuracy(truth, said) == pytest.approx(balanced_accuracy_score(truth, said))


def test_who_tells_the_clear_cases_apart_only_fails_near_the_boundary(made: Made) -> None:
    sizes = {"train": 64, "valid": 8, "test": 400, "hard": 600}
    rule = {"k": 8, "formula": "a & b & c", "prop_in_distribution": 1.0}
    dataset = made("mnlogic", pixels=True, **rule, splits=sizes, balance="world")
    found = {}
    for split in ("test", "hard"):
        data = dataset.symbols(split)
        said = (data.concepts[:, :3].sum(axis=1) >= 2).astype(np.int64)  # two of the three are enough for it
        found[split] = values(gather(data, predictions(data, said[:, None])))
        plain = METRICS["label_accuracy"](gather(data, predictions(data, said[:, None])))
        assert plain == pytest.approx((said == data.labels[:, 0]).mean())
    expected = {"variant_accuracy": 1.0, "near_accuracy": 0.0, "far_accuracy": 1.0}
    assert {name: found["hard"][name] for name in expected} == expected
    assert {name: found["test"][name] for name in expected} == expected
    assert found["hard"]["balanced_accuracy"] == pytest.approx(
        (1 + 1 / 4) / 2
    )  # of 3 types and the far ones, one right
    assert found["test"]["balanced_accuracy"] > 0.7 > found["hard"]["balanced_accuracy"]


def test_the_constant_is_right_on_one_side_only(made: Made) -> None:
    dataset = made("mnlogic", pixels=True, k=4, formula="a & b | c & d", n=40)
    data = dataset.symbols("hard")
    found = values(constant(data))
    assert found["balanced_accuracy"] == 0.5
    assert (found["variant_accuracy"], found["near_accuracy"]) == ((1, 0) if data.labels[0, 0] else (0, 1))


# -- rules without variants --------------------------------------------------------------------------------------------


def test_a_number_has_no_variants_and_is_near_where_a_change_moves_it(evenodd: Dataset) -> None:
    held = random_evidence(SUM, 200, "sums")
    found = values(held)
    assert math.isnan(found["variant_accuracy"]) and math.isnan(found["far_accuracy"])
    assert found["near_accuracy"] == pytest.approx(METRICS["label_accuracy"](held))
    assert held.sides[0].types == ("change a", "change b") and held.sides[0].in_types.all()
    assert METRICS["near_accuracy"](constant(evenodd.symbols("hard"))) < 1


def test_types_of_a_number_are_the_concepts_that_change_it() -> None:
    knowledge = Knowledge.of(bits([*"abc"]), {"s": "1 + a * (1 + b)"})
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])  # b matters only where a is true, c never
    truth = knowledge.labels_of(codes)
    held = evidence(knowledge, codes, np.where(np.arange(4)[:, None] == 3, 0, truth))  # the last is wrong
    assert held.sides[0].in_types.tolist() == [[True, False, False]] * 2 + [[True, True, False]] * 2
    assert METRICS["near_accuracy"](held) == pytest.approx((3 / 4 + 1 / 2) / 2)  # c, which changes nothing, aside


# -- where nothing is --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "there"),
    [([6, 7], {"far_accuracy"}), ([0, 1, 2], {"variant_accuracy"}), ([3, 4, 5], {"near_accuracy"}), ([0, 6], {*NAMES} - {"near_accuracy"})],
)  # fmt: skip
def test_an_empty_region_gives_nan(rows: list[int], there: set[str]) -> None:
    found = values(by_hand().take(np.array(rows)))
    assert {name for name in NAMES if not math.isnan(found[name])} == there | {"balanced_accuracy"}


def test_an_empty_region_is_left_out_of_the_average() -> None:
    held = by_hand().take(np.array([0, 3, 4]))  # one variant and two types are there
    assert METRICS["variant_accuracy"](held) == 1 and METRICS["near_accuracy"](held) == pytest.approx(1 / 2)
    assert np.isnan(accuracy_by_region(np.array([True]), np.zeros((1, 2), dtype=bool))).all()


def test_labels_without_a_region_are_left_out_too() -> None:
    codes = np.array([[0, 0, 0], [1, 1, 0]])  # of z the first is near, the second a variant; of y far, and a variant
    held = evidence(TWO, codes, np.array([[0, 1], [0, 1]]))
    assert values(held) == {
        "balanced_accuracy": pytest.approx((1 / 2 + 1 / 2) / 2),
        "variant_accuracy": pytest.approx((0 + 1) / 2),
        "near_accuracy": 0.0,
        "far_accuracy": 1.0,
    }


# -- intervals ---------------------------------------------------------------------------------------------------------


def test_intervals_hold_the_value_and_shrink() -> None:
    spans = []
    for rows in (200, 5000):
        found = score(random_evidence(RULE, rows, "boundary"), NAMES, resamples=60)
        for each in found.values():
            assert 0 <= each.low < each.value < each.high <= 1
            assert rows == 200 or each.value == pytest.approx(0.5, abs=0.06)
        spans.append(found["near_accuracy"].high - found["near_accuracy"].low)
    assert spans[1] < spans[0] / 3


def test_intervals_of_what_does_not_apply_are_nan() -> None:
    found = score(random_evidence(SUM, 50, "sums"), NAMES, resamples=5)
    assert [found[name].applies for name in NAMES] == [True, False, True, False]
    assert found["far_accuracy"].to_dict() == {
        **{"metric": "far_accuracy", "value": None, "low": None, "high": None, "examples": 50}
    }


def test_a_resample_keeps_where_its_examples_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    held, rows = random_evidence(TWO, 40, "take"), np.array([3, 3, 0, 39])
    fresh = held.take(rows).sides  # before the sides of all examples are known
    known = held.sides
    monkeypatch.setattr(Boundary, "flips", lambda *_: pytest.fail("the boundary is computed for each resample"))
    again = held.take(rows).sides
    for one, other, whole in zip(fresh, again, known, strict=True):
        assert (one.in_variants == other.in_variants).all() and (one.in_types == other.in_types).all()
        assert (one.in_types == whole.in_types[rows]).all() and (one.variants, one.types) == (
            whole.variants,
            whole.types,
        )
