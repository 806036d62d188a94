"""Scores: plain data and text, resamples of metrics of your own, and the same numbers from the same seed."""

import json
import math
import tracemalloc

import numpy as np
import pytest

from assay import METRICS, Evidence, Knowledge, check_metric, digits
from assay.base import UnknownName, rng_for
from assay.metrics import Metric, Score, format_score, mean_score, of_mean, score
from tests.predictors import labels_only, oracle, random_evidence

SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})


@pytest.fixture
def own():
    """Register metrics for one test."""
    added = []

    def add(metric):
        METRICS.add(metric.name, metric.summary, metric)
        added.append(metric.name)
        return metric.name

    yield add
    for name in added:
        del METRICS.entries[name]


def test_plain_data(evenodd):
    found = score(labels_only(evenodd.symbols("test")), ["label_accuracy", "collapse"], resamples=5)
    text = json.dumps({name: each.to_dict() for name, each in found.items()}, allow_nan=False)
    assert json.loads(text)["collapse"] == {"metric": "collapse", "value": None, "low": None, "high": None, "examples": 160}  # fmt: skip
    assert Score("x", 0.5, 0.251, math.inf, 7).to_dict() == {"metric": "x", "value": 0.5, "low": 0.251, "high": None, "examples": 7}  # fmt: skip


def test_scores_as_text():
    found = Score("x", 0.125, 0.1, math.inf, 30)
    assert format_score(found) == "0.12 (0.10–inf)" and format_score(found, interval=False) == "0.12"
    assert format_score(Score("x", math.nan, math.nan, math.nan, 7)) == format_score(None) == "–"
    assert [mean_score("x", np.ones(count)).few for count in (29, 30, 31)] == [True, False, False]


def test_unknown_metrics_are_refused(evenodd):
    with pytest.raises(UnknownName, match="no metric named 'label_acuracy'; did you mean 'label_accuracy'"):
        score(oracle(evenodd.symbols("test")), ["label_acuracy"])


@pytest.mark.parametrize("counted", [False, True])
def test_metrics_without_an_interval_are_resampled_the_same_from_the_same_seed(own, counted):
    held = random_evidence(Knowledge.of(digits(["a", "b"]), {"y": "a > b"}), 2000, "resampled").take(
        np.arange(2000) % 150
    )  # equal rows, which may be counted
    size = Metric("size", "", "higher", overall=lambda e: float(10 * e.weights @ e.labels[:, 0] / e.examples), counted=counted)  # fmt: skip
    share = Metric("share", "", "higher", overall=lambda e: float(e.weights @ e.labels[:, 0] / e.examples), counted=counted)  # fmt: skip
    names = [own(size), own(share)]
    found, again, other = (score(held, names, 400, seed) for seed in (0, 0, 1))
    low, high = of_mean(held.labels[:, 0].astype(float))
    assert found == again and found["share"].low != other["share"].low and found["share"].value == other["share"].value
    assert (found["share"].low, found["share"].high) == pytest.approx((low, high), abs=0.15 * (high - low))
    assert (found["size"].low, found["size"].high) == pytest.approx((10 * low, 10 * high), abs=1.5 * (high - low))


def test_a_metric_of_yours_sees_every_example_and_its_probabilities(own):
    seen, held = [], random_evidence(SUM, 40, "look").take(np.zeros(80, dtype=int))
    tables = (np.full((80, 19), 1 / 19),)
    held = Evidence(SUM, "test", held.labels, held.concepts, held.predicted_labels, held.predicted_concepts, tables, (None, None))  # fmt: skip

    def look(e):
        seen.append((len(e), e.counts, e.label_probabilities[0] is not None))
        return float(e.labels[0, 0])

    score(held, [own(Metric("look", "", "higher", overall=look))], 3)
    assert set(seen) == {(80, None, True)} and len(seen) == 4


def test_a_counted_metric_that_forgets_the_counts_is_caught():
    def spread(e):
        return -float((e.labels != e.predicted_labels).mean())

    for counted in (True, False):
        checks = check_metric(Metric("x", "", "higher", overall=spread, counted=counted))
        assert {check.law: check.passed for check in checks}["equal examples can be counted"] is not counted
    with pytest.raises(TypeError, match="metric 'x' has no function"):
        Metric("x", "", "higher")(random_evidence(SUM, 3, "none"))


def test_what_gives_no_number_for_some_resamples_has_the_interval_of_the_others(own):
    held = random_evidence(SUM, 50, "sometimes")
    first = held.labels[0, 0]

    def sometimes(e):
        return float(e.labels.mean() / 20) if (e.labels == first).any() else math.nan

    always = Metric("always", "", "higher", overall=lambda e: float(e.labels.mean() / 20))
    names = [own(Metric("sometimes", "", "higher", overall=sometimes)), own(always)]
    found = score(held, names, 200)
    assert found["sometimes"].value == found["always"].value
    assert found["sometimes"].low == pytest.approx(found["always"].low, abs=0.03)
    nothing = score(held, [own(Metric("never", "", "higher", overall=lambda e: math.nan))], 5)["never"]
    assert not nothing.applies and math.isnan(nothing.low) and nothing.examples == 50


def test_resamples_are_drawn_one_at_a_time(own):
    """All rows of all resamples at once would be 32 MB here, and 1.6 GB for a million examples."""
    rows, resamples = 20_000, 200
    ones = rng_for(0, "resamples").integers(2, size=(rows, 1))
    held = Evidence(Knowledge.of(digits(["a"]), {"y": "a"}), "test", ones, ones, ones, ones, (None,), (None,))
    name = own(Metric("first", "the share of ones", "higher", overall=lambda e: float(e.labels.mean())))
    tracemalloc.start()
    score(held, [name], resamples, seed=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows * resamples
