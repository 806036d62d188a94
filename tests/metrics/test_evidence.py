"""Predictions beside the truth: rows by their number, in any order; what does not belong together is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

from assay import METRICS, Concept, ConceptSpace, Evidence, Knowledge, Prediction, bits, gather
from assay.base import DataError, RuleUnknown
from assay.diagnosis import diagnose
from assay.logic import NO_RULE, Label
from assay.metrics import gather_from
from tests.predictors import oracle, predictions, random_evidence
from tests.toys import Shelf, written


def test_rows_are_found_by_their_number(evenodd):
    data = evenodd.symbols("test")
    rows = np.array([7, 3, 159, 0])
    some = replace(
        predictions(data, data.labels, data.concepts),
        index=data.index[rows],
        labels={"sum": Prediction(np.array([1, 2, 3, 4]))},
        concepts={"b": Prediction.of(np.eye(10)[[5, 6, 7, 8]])},
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
    assert repr(found) == "Evidence(split test: 4 examples, 1 labels, 1 of 2 concepts predicted)"


def test_the_split_is_the_one_that_the_predictions_name(evenodd):
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
def test_what_does_not_belong_together_is_refused(change, message, evenodd):
    data = evenodd.symbols("test")
    with pytest.raises(DataError, match=message):
        gather(data, replace(predictions(data, data.labels), **change))


def test_labels_and_concepts_stand_in_the_order_of_the_knowledge(tmp_path):
    data = written(Shelf(), tmp_path / "data", train=4, test=9)["test"]
    said = predictions(data, data.labels, data.concepts)
    for gone, kept in (("same", "pile"), ("pile", "same")):
        with pytest.raises(DataError, match=f"say nothing of label '{gone}'; add a column 'label_{gone}'"):
            gather(data, replace(said, labels={kept: said.labels[kept]}))
    rows = np.array([8, 0, 5])
    labels = {
        "pile": Prediction.of(np.array([[0.3, 0.7], [0.9, 0.1], [0.2, 0.8]])),
        "same": Prediction(np.array([1, -1, 0])),
    }
    concepts = {"two": Prediction.of(np.eye(3)[[2, 0, 1]]), "one": Prediction(np.array([0, 1, -1]))}
    found = gather(data, replace(said, index=data.index[rows], labels=labels, concepts=concepts))
    assert found.concepts.tolist() == data.concepts[rows].tolist()
    assert found.predicted_labels.tolist() == [[1, 1], [-1, 0], [0, 1]]
    assert found.predicted_concepts.tolist() == [[0, 2, -1], [1, 0, -1], [-1, 1, -1]]
    assert found.label_probabilities[0] is None and found.label_probabilities[1].tolist()[1] == [0.9, 0.1]
    assert [p is None for p in found.concept_probabilities] == [True, False, True]


# -- rows that stand for several ---------------------------------------------------------------------------------------


def test_equal_rows_are_counted_and_put_back(evenodd):
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


def test_rows_that_differ_in_any_column_are_not_equal():
    held = random_evidence(Knowledge.of(bits(["a", "b"]), {"y": "a", "z": "a and b"}), 6, "equal").take(
        np.zeros(6, int)
    )
    for field in ("labels", "concepts", "predicted_labels", "predicted_concepts"):
        codes = getattr(held, field).copy()
        codes[2, -1] = 1 - codes[2, -1]
        few = replace(held, **{field: codes}).distinct
        assert sorted(few.weights.tolist()) == [1, 5] and few.examples == 6, field


def test_rows_are_taken_by_number_or_by_mask_with_all_that_is_theirs():
    held = random_evidence(Knowledge.of(bits(["a", "b"]), {"y": "a and b"}), 5, "take")
    tables = tuple(np.arange(10).reshape(5, 2) + place for place in range(2))
    held = replace(held, counts=np.array([1, 20, 300, 4, 5]), concept_probabilities=tables)
    assert held.examples == 330 and len(held) == 5
    for rows in (np.array([4, 2, 2]), np.array([False, True, True, False, True])):
        some = held.take(rows)
        assert some.counts.tolist() == held.counts[rows].tolist() and some.labels.tolist() == held.labels[rows].tolist()
        assert [table.tolist() for table in some.concept_probabilities] == [table[rows].tolist() for table in tables]


# -- gaps and rules that are not known ---------------------------------------------------------------------------------

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("b", (0, 1, 2)), Concept("c", (False, True))))
RULED = Knowledge.of(SPACE, {"y": "a and b >= 1"})
UNRULED = Knowledge(SPACE, (Label("y", NO_RULE, (False, True)),))


def noisy(knowledge=RULED, rows=1200, wrong=0.1, gaps=0.0):
    rng = np.random.default_rng(0)
    sizes = np.array(SPACE.sizes)
    truth = rng.integers(sizes, size=(rows, 3))
    said = np.where(rng.random(truth.shape) < wrong, (truth + 1) % sizes, truth)
    labels = RULED.labels_of(truth), RULED.labels_of(said)
    known = np.where(rng.random(truth.shape) < gaps, -1, truth)
    return Evidence(knowledge, "test", labels[0], known, labels[1], said, (None,), (None,) * 3)


def test_the_diagnosis_is_the_same_with_gaps():
    for wrong, states in ((0.0, {"right"}), (0.25, {"noisy"})):
        held = noisy(wrong=wrong, gaps=0.2)
        found = diagnose({"test": held})
        assert {state.state for state in found.concepts["test"]} == states
        share = 100 * float((held.concepts[:, :2] < 0).mean())  # of `a` and `b`: the rule does not use the third
        assert any(f"{share:.0f} % of the true concepts that the rule uses are not known" in n for n in found.details)
    collapsed = noisy(wrong=0.0, gaps=0.2)
    read = collapsed.predicted_concepts.copy()
    read[:, 1] = np.minimum(read[:, 1], 1)  # 2 is read as 1, which keeps the label
    assert diagnose({"test": replace(collapsed, predicted_concepts=read)}).verdict == "shortcut"
    nothing = replace(collapsed, concepts=np.full_like(read, -1))
    assert {state.state for state in diagnose({"test": nothing}).concepts["test"]} == {"too few"}


def test_without_a_rule_what_needs_one_is_not_judged():
    bare = noisy(UNRULED, wrong=0.0)
    for name in ("rule_consistency", "variant_accuracy", "near_accuracy", "far_accuracy", "collapse_block"):
        assert math.isnan(METRICS[name](bare))
    found = diagnose({"test": bare}, training=bare.concepts)
    assert found.verdict == "no rule" and any("Not judged" in note for note in found.notes)
    with pytest.raises(RuleUnknown, match="none is known for label 'y'"):
        UNRULED.labels_of(bare.concepts)
