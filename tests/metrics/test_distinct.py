"""Equal rows are put together and counted: every metric, interval and resample says the same as row by row."""

import math
from dataclasses import replace

import numpy as np
import pytest

from assay.arrays import Codes, distinct_rows, find_rows, number_rows
from assay.concepts import Concept, ConceptSpace, Slot, bits
from assay.logic import Constraint, Knowledge, parse
from assay.metrics import METRICS, Evidence, Metric, mean_score, of_mean, score
from assay.metrics.scoring import _draw_again, score_with_resamples
from assay.registry import Entry
from assay.seeds import rng_for
from assay.testing import check_metric
from tests.predictors import random_codes, random_evidence

ROWS = 3000
LOGIC = Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b, c)", "z": "a and b"}, [Constraint("k", parse("a or c"))])
TRANSPOSED = ("rsbench_concept_f1_transposed", "collapse_object_transposed")


def objects() -> Knowledge:
    names = [(f"o{number}.{kind}", values) for number in (1, 2) for kind, values in (("s", "xyz"), ("c", "rb"))]
    slots = tuple(Slot(f"o{number}", "object", ("s", "c")) for number in (1, 2))
    return Knowledge.of(ConceptSpace(tuple(Concept(n, tuple(v)) for n, v in names), slots), {"same": "o1.s == o2.s"})


def probabilities(codes: Codes, size: int, *purpose: object) -> np.ndarray:
    chances = rng_for(0, *purpose).dirichlet(np.ones(size), len(codes))
    return np.where(np.arange(size) == codes[:, None], chances + 1, chances) / 2


def soft(held: Evidence) -> Evidence:
    """Return the evidence with probabilities of every label and concept."""
    labels = [probabilities(c, len(x.values), c.sum()) for c, x in zip(held.predicted_labels.T, held.knowledge.labels, strict=True)]  # fmt: skip
    sizes = held.knowledge.space.sizes
    concepts = [probabilities(c, size, i) for i, (c, size) in enumerate(zip(held.predicted_concepts.T, sizes, strict=True))]  # fmt: skip
    return replace(held, label_probabilities=tuple(labels), concept_probabilities=tuple(concepts))


def holed(held: Evidence, *sides: str) -> Evidence:
    """Return the evidence with a tenth of the true or predicted concepts missing."""
    masks = {side: rng_for(0, "hole", side).random(held.concepts.shape) < 0.1 for side in sides}
    return replace(held, **{side: np.where(mask, -1, getattr(held, side)) for side, mask in masks.items()})


def mostly_right(held: Evidence) -> Evidence:
    """Return the evidence of a model that errs now and then, and never says the first value of the first concept."""
    said = np.where(rng_for(0, "err").random(held.concepts.shape) < 0.2, held.predicted_concepts, held.concepts)
    said[:, 0] = np.maximum(said[:, 0], 1)
    labels = held.knowledge.labels_of(held.concepts)
    return replace(held, predicted_concepts=said, labels=labels, predicted_labels=held.knowledge.labels_of(said))


EVIDENCE = {
    "random": random_evidence(LOGIC, ROWS, "distinct"),
    "right": mostly_right(random_evidence(LOGIC, ROWS, "distinct")),
    "objects": mostly_right(random_evidence(objects(), ROWS, "distinct")),
    "soft": soft(random_evidence(LOGIC, ROWS, "distinct")),
    "unknown": holed(mostly_right(random_evidence(LOGIC, ROWS, "distinct")), "concepts"),
    "silent": holed(mostly_right(random_evidence(LOGIC, ROWS, "distinct")), "predicted_concepts"),
    "both": soft(holed(mostly_right(random_evidence(LOGIC, ROWS, "distinct")), "concepts", "predicted_concepts")),
}


def by_rows(metric: Metric, held: Evidence) -> float:
    """Return the metric by its definition, a row an example."""
    if metric.overall is not None:
        return metric.overall(held)
    assert metric.values is not None
    values = metric.values(held)
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


@pytest.mark.parametrize("kind", EVIDENCE)
@pytest.mark.parametrize("name", sorted(METRICS))
def test_metrics_are_those_of_the_rows(name: str, kind: str) -> None:
    metric, held = METRICS[name], EVIDENCE[kind]
    assert len(held.distinct) * 2 < len(held) == held.distinct.examples
    found = score(held, [name])[name]
    assert found.examples == ROWS and found.applies != math.isnan(found.value)
    for value in (found.value, metric(held)):
        assert value == pytest.approx(by_rows(metric, held), abs=1e-12, rel=1e-12, nan_ok=True)
    if metric.values is not None:
        expected = mean_score(name, metric.values(held))
        bounds = expected.low, expected.high
    else:
        assert metric.interval is not None
        bounds = metric.interval(held) if found.applies else (math.nan, math.nan)
        bounds = min(bounds[0], found.value), max(bounds[1], found.value)
    assert (found.low, found.high) == pytest.approx(bounds, abs=1e-12, rel=1e-12, nan_ok=True)


def test_most_metrics_are_counted() -> None:
    singly = {"closed_label_f1", "concept_ece", "label_ece", *TRANSPOSED}
    assert {name for name in METRICS if not METRICS[name].counted} == singly


def test_every_metric_applies_to_some_of_it() -> None:
    never = {name for name in METRICS if all(math.isnan(METRICS[name](held)) for held in EVIDENCE.values())}
    assert never == {"closed_label_f1", *TRANSPOSED}  # for labels with values that never occur, and groups of objects


def test_rows_that_differ_are_left_as_they_are() -> None:
    few = random_evidence(LOGIC, 20, "few")
    assert few.distinct is few and few.singly is few and few.examples == 20
    again = EVIDENCE["random"].distinct
    assert again.distinct is again and again.singly.examples == ROWS == len(again.singly)
    for name in ("label_f1", "rule_consistency"):
        assert METRICS[name](again.singly) == METRICS[name](again) == METRICS[name](EVIDENCE["random"])


def test_sides_are_those_of_the_rows() -> None:
    held = EVIDENCE["unknown"]
    rows = replace(held)
    rows.__dict__["distinct"] = rows
    for found, expected in zip(held.sides, rows.sides, strict=True):
        assert (found.in_variants == expected.in_variants).all() and (found.in_types == expected.in_types).all()
        assert (found.placed == expected.placed).all() and not found.placed.all()


@pytest.mark.parametrize("name", ["label_f1", "concept_f1", "balanced_accuracy", "near_accuracy", "collapse_joint"])
def test_counts_drawn_anew_vary_as_resampled_rows_do(name: str) -> None:
    """Of 300 resamples a standard deviation has an error of 4 %, and two of them differ by 6 %."""
    held, metric, rng = EVIDENCE["right"].take(np.arange(400)), METRICS[name], rng_for(0, "resamples")
    assert held.distinct is not held
    rows, counts = ([metric(_draw_again(drawn, rng)) for _ in range(300)] for drawn in (held, held.distinct))
    assert np.mean(counts) == pytest.approx(np.mean(rows), abs=4 * np.std(rows) / np.sqrt(300) + 1e-12)
    assert np.std(counts) == pytest.approx(np.std(rows), rel=0.2, abs=1e-12)


def test_counts_are_as_many_examples_and_none_is_empty() -> None:
    held = EVIDENCE["right"].distinct
    for _ in range(5):
        again = _draw_again(held, rng_for(0, "again"))
        assert again.examples == ROWS and (again.weights > 0).all() and len(again) <= len(held)


def test_a_counted_metric_without_an_interval_is_resampled_by_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def ones(held: Evidence) -> float:
        return float(np.average(held.labels[:, 0], weights=held.weights))

    metrics = [Metric(f"ones {counted}", "", "higher", overall=ones, counted=counted) for counted in (False, True)]
    for metric in metrics:
        monkeypatch.setitem(METRICS.entries, metric.name, Entry(metric.name, "", metric))
    held = EVIDENCE["random"]
    rows, counts = score(held, [metric.name for metric in metrics], 400).values()
    low, high = of_mean(held.labels[:, 0])
    assert rows.value == pytest.approx(counts.value, abs=1e-12)
    for found in (rows, counts):
        assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * (high - low))


def test_a_metric_of_yours_sees_every_example_and_its_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def look(held: Evidence) -> float:
        seen.append((len(held), held.counts, held.label_probabilities[0] is not None))
        return float(held.labels[0, 0])

    monkeypatch.setitem(METRICS.entries, "look", Entry("look", "", Metric("look", "", "higher", overall=look)))
    score(EVIDENCE["soft"], ["look"], 3)
    assert set(seen) == {(ROWS, None, True)} and len(seen) == 4


def test_a_counted_metric_that_forgets_the_counts_is_caught() -> None:
    def spread(held: Evidence) -> float:
        return -float((held.labels != held.predicted_labels).mean())

    for counted in (True, False):
        checks = check_metric(Metric("x", "", "higher", overall=spread, counted=counted))
        passed = {check.law: check.passed for check in checks}
        assert passed["equal examples can be counted"] is not counted


def test_weighted_means_have_the_interval_of_the_values_that_they_stand_for() -> None:
    values, weights = np.array([0.0, 0.5, 1.0, np.nan, 3.0]), np.array([4, 3, 9, 2, 1])
    for some in (slice(0, 4), slice(0, 5)):
        expected = of_mean(np.repeat(values[some], weights[some]))
        assert of_mean(values[some], weights=weights[some]) == pytest.approx(expected, abs=1e-12)


def test_an_interval_from_resamples_needs_a_value() -> None:
    assert math.isnan(score_with_resamples("x", math.nan, [0.5], 10).low)


@pytest.mark.parametrize("sizes", [(1,), (2, 2), (3, 1, 7), (50, 50), (9,) * 30])
@pytest.mark.parametrize("rows", [1, 40, 2000])
def test_distinct_rows_are_those_of_numpy(sizes: tuple[int, ...], rows: int) -> None:
    codes = random_codes(rows, sizes, "rows") - 1
    codes = np.concatenate([codes, codes[: rows // 2]])
    expected, first, which, counts = np.unique(
        codes, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    found = distinct_rows(codes[:, :1], codes[:, 1:])
    assert (codes[found.first] == expected).all() and len(found) == len(expected)
    assert (found.first == first).all() and (found.which == which.ravel()).all() and (found.counts == counts).all()
    order = np.argsort(number_rows(codes), kind="stable")
    assert (codes[order] == codes[np.lexsort(codes.T[::-1])]).all()


def test_no_rows_and_no_columns() -> None:
    assert len(distinct_rows(np.zeros((0, 3), dtype=np.int64))) == 0
    assert distinct_rows(np.zeros((4, 0), dtype=np.int64)).counts.tolist() == [4]


def test_rows_are_taken_by_number_or_by_mask() -> None:
    held = EVIDENCE["both"]
    mask = held.known.all(axis=1)
    by_mask, by_number = held.take(mask), held.take(np.flatnonzero(mask))
    assert 0 < len(by_mask) == int(mask.sum()) and (by_mask.concepts == held.concepts[mask]).all()
    for found, expected in zip(by_mask.concept_probabilities, by_number.concept_probabilities, strict=True):
        assert found is not None and expected is not None and (found == expected).all()


def test_rows_are_found_in_any_order() -> None:
    index = np.array([4, 7, 9])
    assert find_rows(index, index).tolist() == [0, 1, 2] and find_rows(index[::-1], index).tolist() == [2, 1, 0]
