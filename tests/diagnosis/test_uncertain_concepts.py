"""Labels that the rule itself makes wrong: concepts are read right, and too uncertain."""

from dataclasses import replace

import numpy as np
import pytest

from assay.diagnosis import diagnose
from assay.logic import Knowledge, bits
from assay.metrics import Evidence

ALL = Knowledge.of(bits("abcd"), {"y": "a and b and c"})
ROWS = 400


def evidence_of(confidence, labels, knowledge=ALL):
    """Every second example is all true, the others have one false concept; all concepts are read right."""
    worlds = np.ones((ROWS, 4), dtype=np.int64)
    worlds[1::2, 0] = 0
    sure = np.broadcast_to(confidence, (ROWS, 4))
    chances = tuple(
        np.where(worlds[:, [i]] == [0, 1], sure[:, [i]], 1 - sure[:, [i]]) for i in range(4)
    )  # fmt: skip
    truth = knowledge.labels_of(worlds)
    return Evidence(
        knowledge, "test", truth, worlds, np.broadcast_to(labels, (ROWS, 1)).copy(), worlds, (None,), chances
    )


def test_a_label_that_the_rule_makes_more_probable_is_no_sign_of_another_rule():
    found = diagnose({"test": evidence_of(0.7, 0)})  # 0.7 ** 3 = 0.34: not all three, says the rule
    assert found.kinds == ("underfit",) and found.findings[0].claim == "uncertain"
    errors = found.errors["test"]
    assert (errors.wrong, errors.unsure, errors.rule, errors.perception) == (200, 200, 0, 0)


def test_where_the_rule_would_make_the_right_label_more_probable_the_rule_is_wrong():
    found = diagnose({"test": evidence_of(0.8, 0)})  # 0.8 ** 3 = 0.512
    assert found.verdict == "wrong rule" and found.errors["test"].unsure == 0 and found.errors["test"].rule == 200


def test_labels_are_excused_one_by_one():
    confidence = np.full((ROWS, 4), 0.9)
    confidence[: ROWS // 4] = 0.6
    found = diagnose({"test": evidence_of(confidence, 0)})
    errors = found.errors["test"]
    assert (errors.unsure, errors.rule) == (50, 150) and found.verdict == "wrong rule"
    assert found.findings[0].numbers == {"examples": 350, "wrong": 150}  # where concepts are sure enough


def test_a_tenth_wrong_because_of_uncertain_concepts_is_told():
    confidence = np.full((ROWS, 4), 0.99)
    confidence[:80] = 0.7
    labels = ALL.labels_of(evidence_of(0.9, 0).concepts)
    labels[:80] = 0
    found = diagnose({"test": evidence_of(confidence, labels)})
    assert (found.verdict, found.findings[0].claim, found.findings[0].wrong_labels) == ("underfit", "uncertain", 40)


@pytest.mark.parametrize("silent", [0, 1, 2])
def test_nothing_is_excused_without_the_probabilities_of_every_concept_of_the_rule(silent):
    told = evidence_of(0.7, 0)
    chances = tuple(None if place == silent else p for place, p in enumerate(told.concept_probabilities))
    assert diagnose({"test": replace(told, concept_probabilities=chances)}).verdict == "wrong rule"


def test_probabilities_of_concepts_that_the_rule_does_not_use_are_not_needed():
    told = evidence_of(np.array([0.7, 0.7, 0.7, 0.5]), 0)
    given = (*told.concept_probabilities[:3], None)
    assert diagnose({"test": replace(told, concept_probabilities=given)}).errors["test"].unsure == 200
