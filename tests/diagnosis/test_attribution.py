"""Wrong labels whose cause is known are attributed to it, by `attribute` as by `diagnose`."""

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.base import ConfigError, RuleUnknown, rng_for
from assay.contracts import EVERY, BottleneckModel, one_hot, rule_head
from assay.diagnosis import attribute, diagnose
from assay.logic import NO_RULE, Concept, ConceptSpace, Knowledge, Label, bits
from assay.metrics import Evidence

CAUSES = ("table", "rule", "perception", "both", "unsure", "unknown")
SUM = Knowledge.of(bits(["a", "b"]), {"y": "a + b"})


def evidence_of(model, knowledge, concepts, labels):
    """Return the truth of examples beside what a model says of them when nothing is set."""
    own = model.answer(EVERY, {})
    said = own.label_codes, own.concept_codes, tuple(own.labels), tuple(own.concepts)
    return Evidence(knowledge, "test", labels, concepts, *said)


def head_of(table):
    """Return a label head that looks labels up by the values of two concepts."""
    labels = np.array(table)
    return lambda concepts: [np.eye(3)[labels[concepts[0].argmax(axis=1), concepts[1].argmax(axis=1)]]]


def attributed(perceived, true, table, **more):
    perceived, true = np.array(perceived), np.array(true)
    model = BottleneckModel("toy", [np.eye(2)[perceived[:, place]] for place in range(2)], head_of(table))
    return attribute(model, evidence_of(model, SUM, true, SUM.labels_of(np.maximum(true, 0))), **more)


ADDS, DOUBLES = [[0, 1], [1, 2]], [[0, 0], [2, 2]]


@pytest.mark.parametrize(
    ("perceived", "true", "table", "cause", "corrected"),
    [
        ([1, 1], [0, 1], ADDS, "perception", 1),
        ([1, 0], [1, 0], DOUBLES, "rule", 0),  # the label head errs on true concepts, too
        ([0, 1], [1, 0], DOUBLES, "rule", 0),  # the misread concepts have the right sum
        ([1, 0], [0, 0], DOUBLES, "both", 1),
        ([1, 1], [1, 0], DOUBLES, "perception", 0),
    ],
)
def test_each_cause_is_told_from_the_others(perceived, true, table, cause, corrected):
    found = attributed([perceived, [1, 1]], [true, [1, 1]], table).whole
    assert {one: getattr(found.errors, one) for one in CAUSES} == {one: int(one == cause) for one in CAUSES}
    assert (found.errors.wrong, found.errors.labels, found.errors.luck, found.accuracy) == (1, 2, 0, 0.5)
    assert (found.swap.corrected[cause], found.swap.still_wrong) == (corrected, 1 - corrected)
    assert found.text.startswith("1 label is wrong: 1 ")


def test_right_labels_of_wrong_concepts_are_luck_and_those_that_true_concepts_spoil_are_counted_apart():
    found = attributed([[0, 0]], [[1, 0]], [[1, 1], [2, 2]]).whole
    assert (found.errors.wrong, found.errors.luck, found.swap.spoiled, found.with_true_concepts) == (0, 1, 1, 0.0)
    assert found.with_true_rule == 0.0 and found.text == "No label is wrong."


def test_what_is_not_known_is_an_unknown_cause_and_no_misreading():
    found = attributed([[1, 1], [1, 1]], [[-1, 1], [0, 1]], ADDS)
    assert (found.whole.errors.unknown, found.whole.errors.perception, found.whole.swap.asked) == (1, 1, 1)
    assert [(blame.concept, blame.misread, blame.mends) for blame in found.concepts] == [("a", 1, 1)]


def test_predictions_alone_have_no_label_head_to_ask():
    found = attributed([[1, 0]], [[1, 0]], DOUBLES, own_head=False)
    assert found.whole.errors.rule == 1 and found.whole.swap is found.whole.with_true_concepts is None
    assert len(found.rows()[0]) == len(found.head) and json.loads(json.dumps(found.to_dict(), allow_nan=False))


def test_concepts_that_would_correct_most_labels_come_first():
    perceived = [[1, 1], [1, 1], [0, 0], [0, 1], [1, 1]]
    found = attributed(perceived, [[0, 1], [0, 1], [0, 1], [1, 0], [1, 1]], ADDS)
    assert [(one.concept, one.misread, one.mends) for one in found.concepts] == [("a", 3, 2), ("b", 2, 1)]


def test_what_cannot_be_attributed_is_refused():
    space = bits(["a"])
    model = BottleneckModel("m", [np.eye(2)], rule_head(Knowledge.of(space, {"y": "a"})))
    codes, bare = np.array([[0], [1]]), Knowledge(space, (Label("y", NO_RULE, (False, True)),))
    with pytest.raises(RuleUnknown, match="attributing errors to perception or the rule needs a rule"):
        attribute(model, evidence_of(model, bare, codes, codes))
    with pytest.raises(ConfigError, match="does not predict every concept"):
        attribute(replace(model, concepts=[]), evidence_of(model, Knowledge.of(space, {"y": "a"}), codes, codes))


MIXED = ConceptSpace((*bits(["a", "b"]).concepts, Concept("n", (0, 1, 2)), Concept("idle", ("x", "y"))))
TWO = Knowledge.of(MIXED, {"y": "a and b or n == 2", "s": "a + n"})


@pytest.mark.parametrize("seed", range(20))
def test_diagnose_and_attribute_count_the_same_errors(seed):
    """Soft concepts, often wrong and at times unknown; a head that is the rule, or another one, or mixes both."""
    rng = rng_for(seed, "errors")
    truth = rng.integers(np.array(MIXED.sizes), size=(60, 4))
    labels = TWO.labels_of(truth)
    said = np.where(rng.random(truth.shape) < 0.7, truth, rng.integers(np.array(MIXED.sizes), size=truth.shape))
    sure = rng.uniform(0.05, 1, size=(60, 1))
    concepts = [sure * one_hot(said[:, i], size) + (1 - sure) / size for i, size in enumerate(MIXED.sizes)]
    rule, noise = rule_head(TWO), [rng.random((2, len(label.values))) for label in TWO.labels]

    def head(given):
        scores = [p + 0.5 * (seed % 3) * given[0] @ extra for p, extra in zip(rule(given), noise, strict=True)]
        return [score / score.sum(axis=1, keepdims=True) for score in scores]

    model = BottleneckModel("mine", concepts, head)
    known = np.where(rng.random(truth.shape) < 0.05 * (seed % 2), -1, truth)
    evidence = evidence_of(model, TWO, known, labels)
    found = attribute(model, evidence)
    assert found.whole.errors.to_dict() == diagnose({"test": evidence}).errors["test"].to_dict()
    for share in (*found.labels, found.whole):
        counts = share.errors.to_dict()
        assert sum(counts[cause] for cause in CAUSES) == counts["wrong"]
        assert sum(share.swap.corrected.values()) + share.swap.still_wrong <= counts["wrong"]
    assert [share.errors.wrong for share in found.labels] == (evidence.predicted_labels != labels).sum(axis=0).tolist()


def test_uncertain_concepts_are_a_cause_of_their_own():
    both = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    model = BottleneckModel("dpl", [np.array([[0.4, 0.6]])] * 2, rule_head(both))  # true together in 0.36
    found = attribute(model, evidence_of(model, both, np.array([[1, 1]]), np.array([[1]]))).whole
    assert found.errors.unsure == 1 and found.swap.corrected["unsure"] == 1
