"""Wrong labels by cause: each has exactly one, as it can be counted by hand."""

import numpy as np
import pytest

from assay.base import rng_for
from assay.diagnosis import diagnose
from assay.logic import Knowledge, bits
from tests.diagnosis.models import FINE, Model, clear_case, evidence, on_test, rule, signs, some, turned, unruled

CAUSES = ("table", "rule", "perception", "both", "unsure", "unknown")

AND = rule("a and b")
CASES = [  # true a, b, c; predicted a, b, c; annotated label; predicted label; its cause
    ((1, 1, 0), (1, 1, 0), 1, 1, None),
    ((1, 1, 0), (1, 1, 1), 1, 0, "rule"),
    ((1, 1, 0), (0, 1, 0), 1, 0, "perception"),
    ((1, 0, 0), (1, 1, 0), 0, 1, "perception"),
    ((1, 1, 0), (0, 1, 0), 1, 1, "luck"),
    ((1, 1, 0), (-1, 1, 0), 1, 0, "unknown"),
    ((1, 1, 0), (1, 1, -1), 1, 0, "rule"),  # the rule does not use what is not predicted
    ((-1, 1, 0), (1, 1, 0), 1, 0, "unknown"),
    ((1, 1, 0), (1, 1, 0), 0, 1, "table"),  # by the rule, the annotated concepts have the label that is predicted
]


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_label_has_the_cause_that_the_rule_tells(case: tuple) -> None:
    true, said, label, predicted, cause = case
    held = evidence(AND, np.array([true]), np.array([said]), [[predicted]], np.array([[label]]))
    counts = diagnose({"test": held}).errors["test"].to_dict()
    assert counts.pop("labels") == 1 and counts.pop("wrong") == (cause in CAUSES)
    assert {name: count for name, count in counts.items() if count} == ({cause: 1} if cause else {})


@pytest.mark.parametrize(
    ("true", "said", "label", "cause"),
    [((1, 1, 0), (0, 1, 0), 0, "both"), ((0, 0, 0), (1, 0, 0), 2, "both"), ((0, 1, 0), (1, 1, 0), 2, "perception")],
)
def test_of_three_values_a_label_can_be_wrong_for_both_causes(true: tuple, said: tuple, label: int, cause: str) -> None:
    held = evidence(rule("a + b"), np.array([true]), np.array([said]), [[label]])
    errors = diagnose({"test": held}).errors["test"]
    assert (errors.wrong, getattr(errors, cause)) == (1, 1)


def test_labels_of_one_example_are_counted_one_by_one() -> None:
    two = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "z": "a"})
    test, said = np.array([[1, 1], [1, 0], [0, 1]]), np.array([[1, 1], [1, 1], [0, 1]])
    errors = diagnose({"test": evidence(two, test, said, np.array([[1, 0], [1, 1], [0, 0]]))}).errors["test"]
    assert (errors.labels, errors.wrong, errors.rule, errors.perception, errors.luck) == (6, 2, 1, 1, 0)


def test_causes_are_told_in_a_sentence_with_their_counts() -> None:
    errors = clear_case("underfit", "mixed").diagnosed().errors["test"]
    counts = [getattr(errors, cause) for cause in CAUSES if getattr(errors, cause)]
    assert errors.text.startswith(f"{errors.wrong} labels are wrong: ") and len(counts) == 3
    assert all(f"{count} because of" in errors.text for count in counts)
    assert errors.text in clear_case("underfit", "mixed").diagnosed().details
    assert clear_case("sound").diagnosed().errors["test"].text == ""


def test_without_a_rule_every_cause_is_unknown() -> None:
    rng = rng_for(0, "no rule")
    training, test, labels = signs(200, rng)
    wrong = turned(labels, some(200, 0.2, rng))
    found = on_test(unruled(FINE.space), test, None, wrong, labels, training=training).diagnosed()
    errors = found.errors["test"]
    assert errors.wrong == errors.unknown == 40 and any("No rule is known" in note for note in found.notes)


def test_every_split_has_its_own_count() -> None:
    rng = rng_for(0, "splits")
    _, test, labels = signs(100, rng)
    splits = {
        name: evidence(FINE, test, predicted=turned(labels, some(100, share, rng)), split=name)
        for name, share in (("test", 0.1), ("ood", 0.3))
    }
    assert [errors.rule for errors in Model(splits).diagnosed().errors.values()] == [10, 30]
