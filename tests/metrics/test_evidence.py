"""Predictions beside the truth: rows by their number, in any order; what does not belong together is refused."""

from dataclasses import replace

import numpy as np
import pytest

from assay.data import Dataset
from assay.errors import DataError
from assay.metrics import gather, gather_from
from assay.predictions import Answer
from tests.predictors import oracle, predictions


def test_rows_are_found_by_their_number(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    rows = np.array([7, 3, 159, 0])
    some = replace(
        predictions(data, data.labels, data.concepts),
        index=data.index[rows],
        labels={"sum": Answer(np.array([1, 2, 3, 4]))},
        concepts={"b": Answer.of(np.eye(10)[[5, 6, 7, 8]])},
    )
    found = gather(data, some)
    assert found.labels.tolist() == data.labels[rows].tolist()
    assert found.concepts.tolist() == data.concepts[rows].tolist()
    assert found.predicted_labels.tolist() == [[1], [2], [3], [4]]
    assert found.predicted_concepts.tolist() == [[-1, 5], [-1, 6], [-1, 7], [-1, 8]]
    assert found.label_probabilities == (None,) and found.concept_probabilities[0] is None
    assert found.concept_probabilities[1].argmax(axis=1).tolist() == [5, 6, 7, 8]
    assert (found.split, found.examples, found.answered, found.has_concepts) == ("test", 4, (1,), True)
    assert list(found.groups.values()) == [[1]]


def test_the_split_is_the_one_that_the_predictions_name(evenodd: Dataset) -> None:
    data = evenodd.symbols("ood")
    found = gather_from(evenodd, predictions(data, data.labels, data.concepts))
    assert found.split == "ood" and len(found) == 168
    assert (found.labels == found.predicted_labels).all() and (found.concepts == data.concepts).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fingerprint": "other"}, "for a dataset with fingerprint other, this one has"),
        ({"split": "ood"}, "for split 'ood', not 'test'"),
        ({"index": np.array([], dtype=np.int64)}, "hold no example"),
        ({"index": np.r_[np.arange(159), 1000]}, r"split 'test' has no example 1000 \(it has 160\)"),
        ({"labels": {}}, "say nothing of label 'sum'; add a column 'label_sum'"),
    ],
)
def test_what_does_not_belong_together_is_refused(change: dict, message: str, evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    with pytest.raises(DataError, match=message):
        gather(data, replace(predictions(data, data.labels), **change))


def test_equal_rows_are_counted_and_put_back(evenodd: Dataset) -> None:
    whole = oracle(evenodd.symbols("test"))
    few = whole.distinct
    assert len(few) == len(np.unique(whole.concepts, axis=0)) and few.examples == 160 == len(few.singly)
    for rows in np.unique(whole.concepts, axis=0):
        times = (whole.concepts == rows).all(axis=1).sum()
        assert few.weights[(few.concepts == rows).all(axis=1)].tolist() == [times]
    assert sorted(few.singly.concepts.tolist()) == sorted(whole.concepts.tolist())
    assert few.distinct is few and whole.singly is whole and few.singly.counts is None
    alone = whole.take(np.unique(whole.concepts, axis=0, return_index=True)[1])
    assert alone.distinct is alone  # nothing is gained where every row occurs once
    assert whole.take(np.arange(160) < 3).labels.tolist() == whole.labels[:3].tolist()


def test_the_text_says_how_many(evenodd: Dataset) -> None:
    text = repr(oracle(evenodd.symbols("test")))
    assert text == "Evidence(split test: 160 examples, 1 labels, 2 of 2 concepts predicted)"
