"""Scores with intervals: the value inside, narrower with more examples, the same each time."""

import json
import math
import tracemalloc

import numpy as np
import pytest

from assay.concepts import digits
from assay.data import Dataset
from assay.errors import UnknownName
from assay.logic import Knowledge
from assay.metrics import FEWEST, METRICS, Evidence, Metric, Score, format_score, mean_score, of_mean, score, wilson
from assay.metrics.interval import from_error
from assay.metrics.scoring import _around, _resample, score_with_resamples
from assay.registry import Entry
from assay.seeds import rng_for
from tests.predictors import constant, labels_only, oracle, random_evidence, shuffled

SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})


@pytest.mark.parametrize("predictor", [oracle, constant, shuffled, labels_only])
def test_the_value_lies_in_its_interval(predictor, evenodd: Dataset) -> None:  # type: ignore[no-untyped-def]
    evidence = predictor(evenodd.symbols("test"))
    found = score(evidence, resamples=50)
    assert list(found) == sorted(METRICS)
    for name, each in found.items():
        assert each.examples == 160 and each.metric == name
        assert each.applies == (not math.isnan(METRICS[name](evidence)))
        if each.applies:
            assert each.value == METRICS[name](evidence)
            assert 0 <= each.low <= each.value <= each.high <= 1
        else:
            assert math.isnan(each.low) and math.isnan(each.high)


def test_joint_collapse_is_not_shifted_out_of_its_interval() -> None:
    found = score(random_evidence(SUM, 60, "few"), ["collapse_joint", "collapse"], resamples=50)
    assert all(each.low <= each.value <= each.high for each in found.values())


@pytest.mark.parametrize("name", ["label_accuracy", "concept_accuracy", "concept_f1"])
def test_intervals_shrink_like_the_root_of_the_number(name: str) -> None:
    few, many = (score(random_evidence(SUM, rows, "shrink"), [name])[name] for rows in (100, 6400))
    assert (many.high - many.low) / (few.high - few.low) == pytest.approx(1 / 8, abs=0.08)


@pytest.mark.parametrize("name", ["label_accuracy", "label_f1", "concept_f1", "balanced_accuracy", "near_accuracy"])
def test_all_right_is_not_certainty(name: str, evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    few, many = (score(oracle(data).take(np.arange(rows)), [name])[name] for rows in (20, 160))
    assert few.value == few.high == many.value == many.high == 1
    assert 0.7 < few.low < 0.86 < 0.95 < many.low < 0.985  # 20 / (20 + 1.96**2) = 0.84 for a share


def test_one_example_says_next_to_nothing(evenodd: Dataset) -> None:
    found = score(constant(evenodd.symbols("test")).take(np.array([5])))
    assert all(each.few for each in found.values())
    for name in ("label_accuracy", "label_f1", "concept_f1", "balanced_accuracy"):
        assert found[name].high - found[name].low > 0.7


def test_few_examples(evenodd: Dataset) -> None:
    held = oracle(evenodd.symbols("test"))
    few, enough = (score(held.take(np.arange(rows)), ["label_f1"])["label_f1"] for rows in (FEWEST - 1, FEWEST))
    assert few.few and not enough.few


SIZE = Metric("size", "a metric without an interval of its own", "higher", overall=lambda e: float(e.labels.mean()))
SHARE = Metric("odd", "the same within 0 and 1", "higher", overall=lambda e: float((e.labels % 2).mean()))


def test_other_metrics_are_resampled(monkeypatch: pytest.MonkeyPatch) -> None:
    for metric in (SIZE, SHARE):
        monkeypatch.setitem(METRICS.entries, metric.name, Entry(metric.name, metric.summary, metric))
    held = random_evidence(SUM, 400, "resampled")
    found = score(held, ["size", "odd"])
    low, high = of_mean(held.labels[:, 0])
    assert (found["size"].low, found["size"].high) == pytest.approx((low, high), abs=0.1)
    assert (found["odd"].low, found["odd"].high) == pytest.approx(of_mean(held.labels[:, 0] % 2), abs=0.01)
    once, again, other = (score(held, ["odd"], 50, seed)["odd"] for seed in (0, 0, 1))
    assert once == again and once.value == other.value and once.low != other.low


def test_intervals_by_formula_are_those_by_resamples() -> None:
    held = random_evidence(SUM, 2000, "formula")
    for name in (
        "label_f1",
        "concept_f1",
        "rsbench_concept_f1",
        "concept_mean_f1",
        "balanced_accuracy",
        "near_accuracy",
    ):
        rows = rng_for(0, "formula").integers(len(held), size=(150, len(held)))
        resampled = score_with_resamples(
            name, METRICS[name](held), [METRICS[name](held.take(each)) for each in rows], len(held)
        )
        found = score(held, [name])[name]
        width = resampled.high - resampled.low
        assert found.high - found.low == pytest.approx(width, rel=0.25)
        assert (found.low, found.high) == pytest.approx((resampled.low, resampled.high), abs=0.3 * width)


def test_plain_data(evenodd: Dataset) -> None:
    found = score(labels_only(evenodd.symbols("test")), ["label_accuracy", "collapse"], resamples=5)
    text = json.dumps({name: each.to_dict() for name, each in found.items()}, allow_nan=False)
    assert json.loads(text)["collapse"] == {
        **{"metric": "collapse", "value": None, "low": None, "high": None, "examples": 160}
    }


def test_unknown_metrics_are_refused(evenodd: Dataset) -> None:
    with pytest.raises(UnknownName, match="no metric named 'label_acuracy'; did you mean 'label_accuracy'"):
        score(oracle(evenodd.symbols("test")), ["label_acuracy"])


def test_resamples_are_drawn_one_at_a_time() -> None:
    """All rows of all resamples at once would be 32 MB here, and 1.6 GB for a million examples."""
    rows, resamples = 20_000, 200
    bits = rng_for(0, "resamples").integers(2, size=(rows, 1))
    evidence = Evidence(Knowledge.of(digits(["a"]), {"y": "a"}), "test", bits, bits, bits, bits, (None,), (None,))
    metric = Metric("first", "the share of ones", "higher", overall=lambda held: float(held.labels.mean()))
    tracemalloc.start()
    found = _resample([metric], evidence, resamples, seed=3)["first"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows * resamples * 8 / 8
    drawn = rng_for(3, "bootstrap", rows).integers(rows, size=(resamples, rows))
    assert found == [float(bits[some].mean()) for some in drawn]


def test_intervals_are_those_of_95_percent() -> None:
    repeated = rng_for(0, "repeated").normal(5.0, 2.0, size=20_000).tolist()
    found = score_with_resamples("x", 5.0, repeated, 100)
    low, high = np.quantile(repeated, [0.025, 0.975])
    assert abs(found.low - low) < 0.1 and abs(found.high - high) < 0.1  # 90 % would be 0.63 narrower on each side
    error = 0.03
    shares = (0.9 + error * (np.array(repeated) - 5) / 2).clip(0, 1).tolist()
    inside = score_with_resamples("x", 0.9, shares, 100)
    np.testing.assert_allclose((inside.low, inside.high), wilson(90, 100), atol=0.002)
    assert wilson(90, 100) == pytest.approx((0.8256, 0.9448), abs=1e-4)


def test_the_true_mean_lies_in_the_interval_in_95_of_100() -> None:
    hits = []
    for number in range(400):
        drawn = rng_for(number, "coverage").random(200) < 0.7
        found = mean_score("x", drawn.astype(float))
        hits.append(found.low <= 0.7 <= found.high)
    assert 0.92 < np.mean(hits) < 0.98


def test_an_interval_holds_its_value_whatever_rounding_did() -> None:
    assert _around("x", 1.0, (0.8, 1 - 1e-12), 9).high == 1.0 and _around("x", 0.0, (1e-12, 0.2), 9).low == 0.0


def test_fewer_than_thirty_examples_are_few() -> None:
    assert [mean_score("x", np.ones(count)).few for count in (29, 30, 31)] == [True, False, False]


def test_scores_as_text_and_as_data() -> None:
    found = Score("x", 0.5, 0.251, math.inf, 7)
    assert format_score(found) == "0.50 (0.25–inf)" and format_score(found, interval=False) == "0.50"
    assert format_score(Score("x", math.nan, math.nan, math.nan, 7)) == format_score(None) == "–"
    assert found.to_dict() == {"metric": "x", "value": 0.5, "low": 0.251, "high": None, "examples": 7}


def test_resamples_outside_of_0_and_1_give_no_share() -> None:
    for repeated in ([0.5, 1.2, 0.7], [-0.1, 0.3, 0.4]):
        found = score_with_resamples("x", 0.5, repeated, 100)
        half = 1.96 * np.std(repeated)
        assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))
    known = score_with_resamples("x", 0.5, [0.4, math.nan, 0.6], 100)
    assert (known.low, known.high) == pytest.approx(from_error(0.5, 0.1, 100))
    for nothing in (score_with_resamples("x", 0.5, [math.nan], 9), score_with_resamples("x", math.nan, [0.5], 9)):
        assert math.isnan(nothing.low) and math.isnan(nothing.high) and nothing.examples == 9


def test_equal_rows_are_drawn_as_often_as_examples_are() -> None:
    bits = (np.arange(400)[:, None] % 4 == 0).astype(np.int64)
    evidence = Evidence(Knowledge.of(digits(["a"]), {"y": "a"}), "test", bits, bits, bits, bits, (None,), (None,))
    metric = Metric("x", "x", "higher", overall=lambda held: float(held.weights @ held.labels[:, 0]), counted=True)
    repeated = _resample([metric], evidence, 300, seed=0)["x"]
    assert np.mean(repeated) == pytest.approx(100, abs=2) and np.std(repeated) == pytest.approx(75**0.5, rel=0.15)
    one = Metric("x", "x", "higher", overall=lambda held: float(held.examples), counted=True)
    assert set(_resample([one], evidence, 5, seed=0)["x"]) == {400.0}
