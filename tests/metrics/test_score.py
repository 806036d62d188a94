"""Scores with intervals: the value inside, narrower with more examples, the same each time."""

import json
import math

import numpy as np
import pytest

from assay.concepts import digits
from assay.data.dataset import Dataset
from assay.errors import UnknownName
from assay.logic.knowledge import Knowledge
from assay.metrics import METRICS
from assay.metrics.score import score
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


def test_an_interval_covers_as_often_as_it_says() -> None:
    truth = 1 / 10  # two random digits agree
    found = [score(random_evidence(SUM, 150, "cover", i), ["concept_accuracy"], 100) for i in range(100)]
    inside = [each["concept_accuracy"].low <= truth <= each["concept_accuracy"].high for each in found]
    assert 0.88 <= np.mean(inside) <= 1


def test_the_same_each_time_and_other_by_another_seed(evenodd: Dataset) -> None:
    held = shuffled(evenodd.symbols("test"))
    once, again, other = (score(held, ["label_accuracy", "label_f1"], 50, seed) for seed in (0, 0, 1))
    assert once == again
    assert once["label_f1"].value == other["label_f1"].value and once["label_f1"].low != other["label_f1"].low


def test_plain_data(evenodd: Dataset) -> None:
    found = score(labels_only(evenodd.symbols("test")), ["label_accuracy", "collapse"], resamples=5)
    text = json.dumps({name: each.to_dict() for name, each in found.items()}, allow_nan=False)
    assert json.loads(text)["collapse"] == {
        **{"metric": "collapse", "value": None, "low": None, "high": None, "examples": 160}
    }


def test_unknown_metrics_are_refused(evenodd: Dataset) -> None:
    with pytest.raises(UnknownName, match="no metric named 'label_acuracy'; did you mean 'label_accuracy'"):
        score(oracle(evenodd.symbols("test")), ["label_acuracy"])
