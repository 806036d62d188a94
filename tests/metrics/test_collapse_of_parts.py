"""Collapse by object and by the concepts of each label, as rsbench measures Kand-Logic and SDD-OIA."""

import math

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot
from assay.logic import Knowledge
from assay.metrics import METRICS, Evidence
from assay.metrics.concept_collapse import collapse_of_vectors, joint_collapse_interval

SHAPES, COLOURS = ("square", "circle", "triangle"), ("red", "yellow", "blue")


def objects():
    names = [
        (f"o{number}.{kind}", values) for number in (1, 2) for kind, values in (("shape", SHAPES), ("colour", COLOURS))
    ]
    space = ConceptSpace(
        tuple(Concept(name, values) for name, values in names),
        tuple(Slot(f"o{number}", "object", ("shape", "colour")) for number in (1, 2)),
    )
    return Knowledge.of(space, {"same": "o1.shape == o2.shape", "red": "o1.colour == 'red' or o2.colour == 'red'"})


def judged(knowledge, truth, predicted):
    labels = [knowledge.labels_of(np.maximum(codes, 0)) for codes in (truth, predicted)]
    nothing = (None,) * len(knowledge.labels), (None,) * truth.shape[1]
    return Evidence(knowledge, "test", labels[0], truth, labels[1], predicted, *nothing)


@pytest.fixture
def truth():
    every = np.array([[a, b, c, d] for a in range(3) for b in range(3) for c in range(3) for d in range(3)])
    return np.concatenate([every] * 3)


def test_an_object_is_one_value_of_nine(truth):
    knowledge = objects()
    blind = truth.copy()
    blind[:, [1, 3]] = 0  # all colours are read as red: three of nine objects are said
    evidence = judged(knowledge, truth, blind)
    assert METRICS["collapse_object"](evidence) == pytest.approx(1 - 3 / 9)
    assert METRICS["collapse_object"](judged(knowledge, truth, truth)) == 0
    assert METRICS["collapse_joint"](evidence) == pytest.approx(1 - 9 / 81)  # another quantity


def test_blocks_are_the_concepts_of_each_label(truth):
    evidence = judged(objects(), truth, np.where([False, True, False, True], 0, truth))
    assert METRICS["collapse_block"](evidence) == pytest.approx((0 + (1 - 1 / 9)) / 2)


def test_blocks_of_a_rule_that_quantifies_over_objects(truth):
    quantified = Knowledge.of(objects().space, {"same": "any(x.shape == y.shape for x, y in pairs(object))"})
    evidence = judged(quantified, truth, np.where([True, False, True, False], 0, truth))
    assert METRICS["collapse_block"](evidence) == pytest.approx(1 - 1 / 9)  # of the nine pairs of shapes one is said


def test_parts_that_are_not_there_have_no_collapse(truth):
    space = ConceptSpace((Concept("a", (False, True)), Concept("b", (False, True))))
    plain = Knowledge.of(space, {"y": "a and b"})
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert math.isnan(METRICS["collapse_object"](judged(plain, codes, codes)))
    silent = truth.copy()
    silent[:, 0] = -1
    for name in ("collapse_object", "collapse_block"):
        assert math.isnan(METRICS[name](judged(objects(), truth, silent)))


@pytest.mark.parametrize("name", ["collapse_object", "collapse_block"])
def test_the_interval_holds_the_value(name, truth):
    rows = np.random.default_rng(0).integers(0, len(truth), 60)
    evidence = judged(objects(), truth[rows], np.where([False, True, False, True], 0, truth)[rows])
    low, high = METRICS[name].interval(evidence)
    assert 0 <= low <= METRICS[name](evidence) <= high <= 1


def test_the_interval_of_objects_pools_their_rows(truth):
    rows = np.random.default_rng(0).integers(0, len(truth), 60)
    blind = np.where([False, True, False, True], 0, truth)[rows]
    evidence = judged(objects(), truth[rows], blind)
    pooled = [np.concatenate([side[:, :2], side[:, 2:]]) for side in (truth[rows], blind)]
    assert METRICS["collapse_object"].interval(evidence) == pytest.approx(joint_collapse_interval(*pooled))
    bounds = [joint_collapse_interval(truth[rows][:, own], blind[:, own]) for own in ([0, 2], [1, 3])]
    values = [collapse_of_vectors(truth[rows][:, own], blind[:, own]) for own in ([0, 2], [1, 3])]
    (low, high), mean = METRICS["collapse_block"].interval(evidence), np.mean(values)
    expected = [np.hypot(*(bounds[i][side] - values[i] for i in (0, 1))) / 2 for side in (0, 1)]
    assert (low, high) == pytest.approx((max(0, mean - expected[0]), min(1, mean + expected[1])))
    silent = judged(objects(), truth, np.where([True, False, False, False], -1, truth))
    assert np.isnan(METRICS["collapse_block"].interval(silent)).all()


def test_a_label_without_concepts_has_no_block(truth):
    knowledge = Knowledge.of(objects().space, {"same": "o1.shape == o2.shape", "always": "true"})
    evidence = judged(knowledge, truth, np.where([True, False, True, False], 0, truth))
    assert METRICS["collapse_block"](evidence) == pytest.approx(1 - 1 / 9)
