"""Where the truth about a concept is not known, nothing is judged by it; without a rule, nothing is judged by a rule."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from assay.concepts import Concept, ConceptSpace
from assay.diagnosis import diagnose
from assay.errors import RuleUnknown
from assay.logic import NO_RULE, Knowledge, Label
from assay.metrics import Evidence, score

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("b", (0, 1, 2)), Concept("c", (False, True))))
RULED = Knowledge.of(SPACE, {"y": "a and b >= 1"})
UNRULED = Knowledge(SPACE, (Label("y", NO_RULE, (False, True)),))
OF_RULE = ("rule_consistency", "variant_accuracy", "near_accuracy", "far_accuracy")
OF_CONCEPTS = (
    *("concept_accuracy", "concept_exact", "concept_f1", "concept_mean_f1", "rsbench_concept_f1", "concept_ece"),
    *("collapse", "collapse_joint", "set_f1"),
)


def evidence(knowledge=RULED, rows=400, wrong=0.1, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.stack([rng.integers(size, size=rows) for size in SPACE.sizes], axis=1)
    answers = np.where(rng.random(truth.shape) < wrong, (truth + 1) % np.array(SPACE.sizes), truth)
    soft = tuple(0.8 * np.eye(size)[answers[:, i]] + 0.2 / size for i, size in enumerate(SPACE.sizes))
    labels, said = RULED.labels_of(truth), RULED.labels_of(answers)
    return Evidence(knowledge, "test", labels, truth, said, answers, (None,), soft)


def with_gaps(whole, share=0.2, seed=1):
    gaps = np.random.default_rng(seed).random(whole.concepts.shape) < share
    return replace(whole, concepts=np.where(gaps, -1, whole.concepts)), ~gaps


def test_gaps_are_left_out_of_every_metric():
    whole = evidence()
    holed, known = with_gaps(whole)
    found = score(holed, resamples=20)
    right = whole.concepts == whole.predicted_concepts
    rows = known.any(axis=1)
    expected = ((right & known).sum(axis=1)[rows] / known.sum(axis=1)[rows]).mean()
    assert found["concept_accuracy"].value == pytest.approx(expected)
    complete = known.all(axis=1)
    assert found["concept_exact"].value == pytest.approx(right[complete].all(axis=1).mean())
    by_concept = [
        f1_score(whole.concepts[known[:, i], i], whole.predicted_concepts[known[:, i], i], average="macro")
        for i in range(3)
    ]
    assert found["concept_f1"].value == pytest.approx(np.mean(by_concept))
    sure = [p.max(axis=1)[known[:, i]] for i, p in enumerate(whole.concept_probabilities)]
    gaps = [abs(right[known[:, i], i].mean() - sure[i].mean()) for i in range(3)]  # one bin of confidence each
    assert found["concept_ece"].value == pytest.approx(np.mean(gaps))
    for name in OF_CONCEPTS:
        assert found[name].low <= found[name].value <= found[name].high
    same = score(whole, resamples=20)
    for name in ("label_accuracy", "label_f1", "rule_consistency"):  # these need no true concept
        assert found[name] == same[name]


def test_rows_of_which_nothing_is_known_change_no_metric_of_concepts():
    whole = evidence()
    more = whole.take(np.r_[np.arange(400), np.arange(50)])
    holed = replace(more, concepts=np.concatenate([whole.concepts, np.full((50, 3), -1)]))
    before, after = score(whole, resamples=20), score(holed, resamples=20)
    for name in (*OF_CONCEPTS, "variant_accuracy", "near_accuracy", "far_accuracy"):
        assert after[name].value == pytest.approx(before[name].value), name


def test_nothing_known_is_no_number():
    holed = replace(evidence(), concepts=np.full((400, 3), -1))
    found = score(holed, resamples=20)
    assert all(math.isnan(found[name].value) for name in OF_CONCEPTS)
    diagnosis = diagnose({"test": holed})
    assert {state.state for state in diagnosis.concepts["test"]} == {"too few"}


def test_the_diagnosis_is_the_same_with_gaps():
    for wrong, states in ((0.0, {"right"}), (0.25, {"noisy"})):
        holed, _ = with_gaps(evidence(wrong=wrong, rows=1200))
        diagnosis = diagnose({"test": holed})
        assert {state.state for state in diagnosis.concepts["test"]} == states
        share = 100 * float((holed.concepts[:, :2] < 0).mean())  # of `a` and `b`: the rule does not use the third
        assert any(
            f"{share:.0f} % of the true concepts that the rule uses are not known" in n for n in diagnosis.details
        )
    collapsed = evidence(wrong=0.0, rows=1200)
    read = collapsed.predicted_concepts.copy()
    read[:, 1] = np.minimum(read[:, 1], 1)  # 2 is read as 1, which keeps the label
    holed, _ = with_gaps(replace(collapsed, predicted_concepts=read, concept_probabilities=(None,) * 3))
    assert diagnose({"test": holed}).verdict == "shortcut"


def test_without_a_rule_what_needs_one_is_not_judged():
    bare = evidence(UNRULED, wrong=0.0)
    found = score(bare, resamples=20)
    assert all(math.isnan(found[name].value) for name in OF_RULE) and found["concept_accuracy"].value == 1
    sure = replace(bare, concept_probabilities=(None,) * 3)
    diagnosis = diagnose({"test": sure}, training=bare.concepts)
    assert diagnosis.verdict == "no rule" and any("Not judged" in note for note in diagnosis.notes)
    with pytest.raises(RuleUnknown, match="none is known for label 'y'"):
        UNRULED.labels_of(bare.concepts)
    assert Knowledge.from_dict(UNRULED.to_dict()) == UNRULED and not UNRULED.has_rule and RULED.has_rule
