"""Concepts read along the objects of a figure, as rsbench's notebook reads its LTN: against a reading done by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot, bits
from assay.logic import Knowledge
from assay.metrics import METRICS, Evidence
from assay.metrics.transposed import transpose

RNG = np.random.default_rng(0)
F1, COLLAPSE = METRICS["rsbench_concept_f1_transposed"], METRICS["collapse_object_transposed"]


def figures(objects: int) -> Knowledge:
    """Return three figures of so many objects, each with a shape and a colour of three values."""
    attributes = ("shape", "colour")
    slots = [Slot(f"figure{f}.object{i + 1}", f"figure{f}", attributes) for f in (1, 2, 3) for i in range(objects)]
    concepts = tuple(Concept(slot.concept(a), (0, 1, 2)) for slot in slots for a in attributes)
    encoders = tuple(EncoderGroup(a, tuple(slot.concept(a) for slot in slots)) for a in attributes)
    return Knowledge.of(ConceptSpace(concepts, tuple(slots), encoders), {"y": "figure1.object1.shape == 0"})


def evidence_of(knowledge: Knowledge, probabilities: list[np.ndarray]) -> Evidence:
    """Return evidence with these probabilities, and true concepts at random."""
    codes = np.stack([RNG.integers(size, size=len(probabilities[0])) for size in knowledge.space.sizes], axis=1)
    read = np.stack([each.argmax(axis=1) for each in probabilities], axis=1)
    labels = knowledge.labels_of(codes)
    return Evidence(knowledge, "test", labels, codes, labels, read, (None,), tuple(probabilities))


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return evidence_of(figures(3), [RNG.dirichlet(np.ones(3), 200) for _ in range(18)])


def test_the_likeliest_object_of_each_value_stands_for_the_value_of_each_object(evidence):
    tables = np.stack(evidence.concept_probabilities, axis=1).reshape(
        200, 3, 3, 2, 3
    )  # figure, object, attribute, value
    along = tables.argmax(axis=2)  # figure, attribute, value: an object's number
    truth = evidence.concepts.reshape(200, 3, 3, 2)
    scores = [f1_score(truth[..., a].ravel(), along[:, :, a].ravel(), average="macro") for a in range(2)]
    assert F1(evidence) == pytest.approx(np.mean(scores))
    pairs = {(s, c) for s, c in zip(along[:, :, 0].ravel(), along[:, :, 1].ravel(), strict=True)}
    assert COLLAPSE(evidence) == pytest.approx(1 - len(pairs) / 9)


def test_who_reads_all_objects_alike_says_one_object(evidence):
    alike = tuple(np.tile([0.7, 0.2, 0.1], (200, 1)) for _ in range(18))
    other = transpose(replace(evidence, concept_probabilities=alike))
    assert other is not None and (other.predicted_concepts == 0).all()


def test_it_does_not_apply_without_probabilities_or_objects(evidence):
    silent = replace(evidence, concept_probabilities=(None, *evidence.concept_probabilities[1:]))
    few = evidence_of(figures(2), [RNG.dirichlet(np.ones(3), 5) for _ in range(12)])
    flat = evidence_of(Knowledge.of(bits(["a", "b"]), {"y": "a and b"}), [RNG.dirichlet(np.ones(2), 5) for _ in "ab"])
    for each in (silent, few, flat):
        assert math.isnan(F1(each)) and math.isnan(COLLAPSE(each))
